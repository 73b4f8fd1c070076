/*
 * Probes as events of tracefs, where it can be had: one event for all threads, instead of one for each as the
 * uprobe PMU makes them. Opening that for a thread takes microseconds, where registering a probe takes
 * milliseconds and taking it away tens of them (the kernel waits for all CPUs: perf_trace_event_unreg()); threads
 * are held meanwhile.
 *
 * tracefs is taken where it is mounted, or by a mount that no other process sees.
 *
 * What always holds: no name is used twice. On Linux 6.18 a name that is registered again while its first probe is
 * counted makes the next counter of it follow a null pointer (uprobe_apply()), with the lock of all tracing held:
 * every tracer of the machine then waits until it is restarted. So each opening has a group of its own:
 *
 *     tare_NAMESPACE_PID_RANDOM/p_0, p_1, …
 *
 * PID made it, in the pid namespace with that number. Its child removes what it leaves when it is killed. What is
 * left nevertheless (both were killed; Linux before 5.9) is removed by the next one in its namespace, which alone
 * can tell that it has ended.
 */
#ifndef TARE_BACKEND_PERF_PROBE_TRACE_H
#define TARE_BACKEND_PERF_PROBE_TRACE_H

#include "backend/perf/probe/group.h"

enum { TRACE_GROUP_BYTES = 64 }; /* the kernel's MAX_EVENT_NAME_LEN */

struct trace_probes {
	int folder;                    /* of tracefs; -1: none, and the PMU is taken */
	char group[TRACE_GROUP_BYTES]; /* "": there is no name, and the PMU is taken */
	size_t n;
	int sweeper; /* its child's pidfd; -1: none */
};

void trace_probes_open(struct trace_probes *trace);
/* Fills in trace_id of the probes that it can define and that have none; may be called again, for more. */
void trace_probes_define(struct trace_probes *trace, struct probe_place *probes, size_t n);
/* When no counter of them is open any more. */
void trace_probes_remove(struct trace_probes *trace);

/* Did a process of this pid namespace that is no more make the probe that this line of uprobe_events is of? Then
 * *name is its GROUP/EVENT. */
bool trace_is_left_over(const char *line, char *name, size_t size);

#endif
