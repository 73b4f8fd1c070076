/*
 * Laws of conservation: what must hold between counts of one execution, whatever the program. A broken law says
 * that a count is wrong, before anybody knows which one. data/laws/ has the laws between events; two are of all
 * events:
 *
 *     user + kernel = user and kernel together
 *     what was counted twice has one count        (Zagha et al., 2.2: one event on both of the R10000's counters)
 *
 * When a law is broken: counts of the engine and of models are compared execution by execution, and one event
 * too many is too many. Counters of the hardware and the kernel start and stop one after the other: the sides
 * may differ by LAW_SLACK of the larger one and, of the hardware, by LAW_SLACK_EVENTS. Of several executions
 * the most common relation counts: the 95 % interval of the median of what is beyond that must lie above 0 (of
 * fewer than 6 executions, which have none: of the mean). One execution alone breaks a law where its sides are
 * apart, whatever disturbed it: a count of it is wrong. The note then says how to tell. Of several, one that an
 * interrupt disturbed, or whose counters were taken away, neither breaks a law nor hides that it is broken. Scaled
 * counts are compared by their intervals. What was counted in different executions, once each, is not judged.
 */
#ifndef TARE_TRUST_CONSERVATION_H
#define TARE_TRUST_CONSERVATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/embedded.h"
#include "base/error.h"
#include "result/result.h"

#define LAW_SLACK 0.01
#define LAW_SLACK_EVENTS 1000.0

struct laws;

extern const struct embedded_file law_files[]; /* data/laws/ */

struct laws *laws_new(const struct embedded_file *files, struct error *err); /* NULL on failure */
void laws_free(struct laws *laws);
/* Looks at the gross counts of the result and of each of its regions. Of a broken law, the counts in it become
 * TRUST_REFUTED with the law as evidence ("law:loads"), and a note says which law, with both sides. Returns how
 * many were broken; (size_t)-1 when memory ran out. */
size_t laws_check(const struct laws *laws, struct result *result);

#endif
