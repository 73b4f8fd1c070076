/*
 * What probes do to the count of instructions, found by trial: functions of tare's own, of known instructions, are
 * probed and counted.
 *
 * A probe's trap may be counted as an instruction or not, and some probed instructions are done by the kernel
 * itself and then not counted (arm64: arch/arm64/kernel/probes/simulate-insn.c; x86: arch/x86/kernel/uprobes.c,
 * branch_xol_ops and push_xol_ops); which ones differs by kernel. What the trial finds is constant over its
 * rounds, or it finds nothing.
 */
#ifndef TARE_BACKEND_PERF_PROBE_TRIAL_H
#define TARE_BACKEND_PERF_PROBE_TRIAL_H

#include "backend/perf/probe/group.h"

/* classes: bit n asks for class n; the others stay 0 in *out. out->known is false where nothing certain was
 * found. */
void region_trial(const struct group_event *instructions, uint32_t uprobe_type, unsigned classes,
		  struct probe_bias *out);

/* What one trap of a probe costs in each event of the plan, by empty passes in this process. */
struct trap_cost {
	bool known;
	double median, spread; /* nineteen of twenty passes took no more than median + spread */
	/* the first pass of a process, in which the kernel makes room for the probed instructions */
	double first;
	double own; /* so much of a pass is of the trial's own instructions */
};

/* Opens the plan's events in a group as large as that of the plan, with a probe of its own. costs: [plan->n_events
 * + 1]. The first pass is that of a process only where the calling one was never probed before: call it in a new
 * one. costs[plan->n_events]: in ns of the thread. */
void region_trial_costs(const struct group_plan *plan, struct trap_cost *costs);

/* The trap alone, where the trial's own instructions are not next to nothing beside it. */
struct trap_cost trap_cost_alone(const struct trap_cost *cost);

/* A first pass is measured once in a trial: was it interrupted? Dearer than 20 usual ones, where the kernel's room
 * takes 5 to 10. No count whose usual pass is 0 is doubtful: the first one has a page fault. */
bool trap_cost_is_doubtful(const struct trap_cost *cost);

/* Of three trials the one whose first pass is neither the cheapest nor the dearest; not known when one is not. */
struct trap_cost trap_cost_of_three(const struct trap_cost trials[3]);

#endif
