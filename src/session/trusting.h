/* What was verified before (tare verify), beside the numbers of a result. */
#ifndef TARE_SESSION_TRUSTING_H
#define TARE_SESSION_TRUSTING_H

#include "session/keep.h"
#include "session/session.h"

/* Fills in trust and evidence by the kept verdicts of this machine; of the engine's counts, by the tests of their
 * release. A metric has the weakest of its events'.
 * A counter that counts nothing here gives no 0. Notes say what is biased or refuted, and that verdicts
 * are stale. After session_take_off(). False when memory ran out: what was not judged is unverified. */
bool session_trust(struct session *session, const struct keeping *keeping);

#endif
