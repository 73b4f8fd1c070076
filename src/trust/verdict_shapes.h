/* The forms that a faulty counter is recognised by (verdict.h). Each is true when it fits, and then sets shape and
 * parameters of the verdict; which kind of verdict that is, is its caller's affair. */
#ifndef TARE_TRUST_VERDICT_SHAPES_H
#define TARE_TRUST_VERDICT_SHAPES_H

#include <stdbool.h>

#include "trust/verdict.h"
#include "trust/verdict_fit.h"

/* form[fit->n]: room to work in. */
bool shape_interrupts(const struct fit *fit, struct verdict *v);
bool shape_some_interrupts(const struct fit *fit, struct verdict *v);
bool shape_interrupts_noisy(const struct fit *fit, double *form, struct verdict *v);
bool shape_ticks(const struct fit *fit, struct verdict *v);
bool shape_drops(const struct fit *fit, struct verdict *v);
bool shape_bits(const struct fit *fit, double *form, struct verdict *v);
bool shape_resolution(const struct fit *fit, double *form, struct verdict *v);
bool shape_times(const struct fit *fit, double *form, struct verdict *v);
bool shape_line(const struct fit *fit, double *form, struct verdict *v);
bool shape_wraps(const struct fit *fit, double *form, struct verdict *v);
bool shape_saturates(const struct fit *fit, double *form, struct verdict *v);
bool shape_throttled(const struct fit *fit, double *form, struct verdict *v);
bool shape_beyond(const struct fit *fit, double *form, struct verdict *v);
bool shape_from(const struct fit *fit, double *form, struct verdict *v);
bool shape_late(const struct fit *fit, double *form, struct verdict *v);
bool shape_at_least(const struct fit *fit, double *form, struct verdict *v);
bool shape_random(const struct fit *fit, struct verdict *v);
bool shape_sometimes(const struct fit *fit, struct verdict *v);
bool shape_restarts(const struct fit *fit, struct verdict *v);
bool shape_excess(const struct fit *fit, struct verdict *v);
bool shape_lags(const struct fit *fit, struct verdict *v);
bool shape_carry(const struct fit *fit, struct verdict *v);
bool shape_each(const struct fit *fit, double *form, struct verdict *v);
bool shape_turns(const struct fit *fit, double *form, struct verdict *v);
bool shape_kernel(const struct fit *fit, struct verdict *v);
bool shape_stuck_bit(const struct fit *fit, double *form, struct verdict *v);
bool shape_signed(const struct fit *fit, double *form, struct verdict *v);
bool shape_powers(const struct fit *fit, double *form, struct verdict *v);
bool shape_code(const struct fit *fit, double *form, struct verdict *v);
bool shape_before(const struct fit *fit, struct verdict *v);
bool shape_leaks(const struct fit *fit, struct verdict *v);
bool shape_accumulates(const struct fit *fit, struct verdict *v);
bool shape_mixes(const struct fit *fit, struct verdict *v);
bool shape_peak(const struct fit *fit, struct verdict *v);
bool shape_keeps(const struct fit *fit, struct verdict *v);
bool shape_drifts(const struct fit *fit, struct verdict *v);
bool shape_power_law(const struct fit *fit, double *form, struct verdict *v);
bool shape_curve(const struct fit *fit, struct verdict *v);
bool shape_pair(const struct fit *fit, double *form, struct verdict *v);
/* of another event: instead of this one, or besides */
bool shape_instead(const struct fit *fit, double *form, struct verdict *v);
bool shape_also(const struct fit *fit, double *form, struct verdict *v);
/* of an event that has no prediction: it grows as the same event of another level is predicted to */
bool shape_level(const struct fit *fit, double *form, struct verdict *v);

/* verdict.c: all of these in their order. whole: executions may also be split. Sets the kind. */
bool verdict_forms(const struct fit *fit, double *form, bool whole, struct verdict *v);

#endif
