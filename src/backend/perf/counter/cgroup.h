/* Control groups (cgroups(7)): where the hierarchy that perf_event_open(2) knows is mounted, and a group's
 * folder there.
 *
 * perf_event is a controller of version 1 where it is mounted as one; else it belongs to version 2, always. */
#ifndef TARE_BACKEND_PERF_COUNTER_CGROUP_H
#define TARE_BACKEND_PERF_COUNTER_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct cgroup_mount {
	char path[4096]; /* where the hierarchy is mounted; "" when it is not */
	char root[4096]; /* the group that is seen there: "/", or in a container another */
	int version;     /* 1, 2 */
};

/* From the text of /proc/PID/mountinfo. */
void cgroup_mount_find(const char *mountinfo, size_t length, struct cgroup_mount *out);

/* The folder of a group, opened, for PERF_FLAG_PID_CGROUP; -1 and an error. name: below the mount ("a/b",
 * "/a/b"), or a folder's whole path. */
int cgroup_open(const char *name, struct error *err);

/* A group of tare's own, below the one that tare is in. */
struct own_cgroup {
	char above[4096], path[4096]; /* folders; path "": there is none */
};

/* Makes it; *fd is its folder, as cgroup_open() has it, and the caller's. */
bool own_cgroup_make(struct own_cgroup *out, int *fd, struct error *err);
/* Puts a process into it. */
bool own_cgroup_put(const struct own_cgroup *own, pid_t pid, struct error *err);
/* Removes it; what still runs in it goes to the group above. */
void own_cgroup_end(struct own_cgroup *own);

/* The group of a process, by the text of /proc/PID/cgroup, below the mount; false: there is none. */
bool cgroup_of_process(const char *text, size_t length, const struct cgroup_mount *mount, char *out, size_t size);

#endif
