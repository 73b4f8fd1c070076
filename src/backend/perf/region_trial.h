/*
 * What probes do to the count of instructions, found by trial: functions of tare's own, of known instructions, are probed and counted.
 *
 * A probe's trap may be counted as an instruction or not, and some probed instructions are done by the kernel itself and then not counted
 * (arm64: arch/arm64/kernel/probes/simulate-insn.c; x86: arch/x86/kernel/uprobes.c, branch_xol_ops and push_xol_ops); which ones differs by
 * kernel. What the trial finds is constant over its rounds, or it finds nothing.
 */
#ifndef TARE_BACKEND_PERF_REGION_TRIAL_H
#define TARE_BACKEND_PERF_REGION_TRIAL_H

#include "backend/perf/region_group.h"

/* classes: bit n asks for class n; the others stay 0 in *out. out->known is false where nothing certain was found. */
void region_trial(const struct group_event *instructions, uint32_t uprobe_type, unsigned classes, struct probe_bias *out);

#endif
