/* "auto": each event by the backend that counts it best, under one backend's face.
 *
 * 1. The first member that counts an event by trial counts it; members are in order of preference.
 * 2. Events of different members never share an execution: fits() says so, and a measurement of several runs
 *    splits them.
 * 3. A plain run has one execution. It goes to the member that the user most likely wants:
 *    that of the first event from a hardware counter, else the engine's, else the first. Events of the others fail
 *    with the reason; none is counted under another source than available() named. */
#ifndef TARE_BACKEND_AUTO_H
#define TARE_BACKEND_AUTO_H

#include "backend/backend.h"

struct backend_member {
	const struct backend_operations *operations;
	struct backend *backend;
};

extern const struct backend_operations backend_auto;

/* Takes over the open members (at least one), closing them with the backend; on failure they stay the caller's.
 * For registry.c and tests; open() of backend_auto opens what the registry lists. */
bool backend_auto_join(const struct backend_member *members, size_t n, struct backend **out, struct error *err);

#endif
