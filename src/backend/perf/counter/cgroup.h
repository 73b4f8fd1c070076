/* Control groups (cgroups(7)): where the hierarchy that perf_event_open(2) knows is mounted, and a group's
 * folder there.
 *
 * perf_event is a controller of version 1 where it is mounted as one; else it belongs to version 2, always. */
#ifndef TARE_BACKEND_PERF_COUNTER_CGROUP_H
#define TARE_BACKEND_PERF_COUNTER_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct cgroup_mount {
	char path[4096]; /* where the hierarchy is mounted; "" when it is not */
	int version;     /* 1, 2 */
};

/* From the text of /proc/PID/mountinfo. */
void cgroup_mount_find(const char *mountinfo, size_t length, struct cgroup_mount *out);

/* The folder of a group, opened, for PERF_FLAG_PID_CGROUP; -1 and an error. name: below the mount ("a/b",
 * "/a/b"), or a folder's whole path. */
int cgroup_open(const char *name, struct error *err);

#endif
