/* What was verified before (tare verify), beside the numbers of a result. */
#ifndef TARE_SESSION_TRUSTING_H
#define TARE_SESSION_TRUSTING_H

#include "result/profile.h"
#include "session/keep.h"
#include "session/session.h"

/* Fills in trust and evidence by the kept verdicts of this machine; of the engine's counts, by the tests of their
 * release. A metric has the weakest of its events'.
 * A counter that counts nothing here gives no 0. Notes say what is biased or refuted, and that verdicts
 * are stale. After session_take_off(). False when memory ran out: what was not judged is unverified. */
bool session_trust(struct session *session, const struct keeping *keeping);

/* The same for the counters that a profile's samples come from, in trust and evidence of its events, with the same
 * notes. A profile of another machine, or of before this one was started, stays unverified: nothing is known of
 * its microcode. A note that a kept one has already is not added again. False when memory ran out. */
bool session_trust_profile(struct profile *profile, const struct keeping *keeping);

/* What is known of counts while they are still being counted: of the intervals of an execution. */
struct session_trusts;
/* NULL: nothing was verified here, or the session replays. To be freed by session_trusts_free(), which takes NULL.
 */
struct session_trusts *session_trusts_open(const struct session *session, const struct keeping *keeping);
/* False: its counter counts nothing here, so that this 0 is not a count. trusts NULL: the engine's counts alone
 * are verified. */
bool session_trusts_of(const struct session_trusts *trusts, const char *event, enum source source, double value,
		       enum trust *trust);
void session_trusts_free(struct session_trusts *trusts);

#endif
