/*
 * Probes as events of tracefs, where it can be had: one event for all threads, instead of one for each as the
 * uprobe PMU makes them. Opening that for a thread takes microseconds, where registering a probe takes
 * milliseconds and taking it away tens of them (the kernel waits for all CPUs: perf_trace_event_unreg()); threads
 * are held meanwhile.
 *
 * tracefs is taken where it is mounted, or by a mount that no other process sees. Events are named tare_PID/…, PID
 * being the process that made them: what a killed one left is removed by the next one.
 */
#ifndef TARE_BACKEND_PERF_PROBE_TRACE_H
#define TARE_BACKEND_PERF_PROBE_TRACE_H

#include "backend/perf/probe/group.h"

struct trace_probes {
	int folder; /* of tracefs; -1: none, and the PMU is taken */
	size_t n;
};

/* Fills in trace_id of the probes that it can define; may be called again, for more. */
void trace_probes_open(struct trace_probes *trace);
void trace_probes_define(struct trace_probes *trace, struct probe_place *probes, size_t n);
/* When no counter of them is open any more. */
void trace_probes_remove(struct trace_probes *trace);

#endif
