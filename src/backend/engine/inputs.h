/* What programs were given that may differ from run to run, where tare chooses what they see of the machine
 * (engine/wire/record.h, enum record_saw). */
#ifndef TARE_BACKEND_ENGINE_INPUTS_H
#define TARE_BACKEND_ENGINE_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "engine/inject/view.h"

/* What of a run holds on one machine, or in one run, only; NULL at the end. notes[] has room for INPUTS_LIMITS. */
enum { INPUTS_LIMITS = 3 };
void inputs_limits(const struct view *view, bool children, const char *notes[INPUTS_LIMITS]);

/* Appends what was given that other machines may give otherwise, and tare does not choose: "what; what …". */
void inputs_seen(const struct view *view, bool children, struct str *out);

/* Appends lines "what<TAB>times<TAB>sum" of all processes together; what was never given has no line. Where sums
 * are equal it was the same, thread by thread, in whichever order they began. */
void inputs_write(const struct view *view, bool children, struct str *out);

/* Appends what it executed (result/given.h): "code<TAB>sum" of the files that code ran from, and "tasks<TAB>one"
 * or "several" where that is known. */
void inputs_write_code(const struct view *view, bool children, struct str *out);

#endif
