#include "measure/account.h"

#include <string.h>

enum kept {
	KEPT_ELAPSED,
	KEPT_USER,
	KEPT_SYSTEM,
	KEPT_CPU,
	KEPT_MEMORY,
	KEPT_FAULTS,
	KEPT_MINOR,
	KEPT_MAJOR,
	KEPT_SWITCHES,
	KEPT_VOLUNTARY,
	KEPT_INVOLUNTARY,
};

static const struct {
	const char *event;
	enum kept kept;
} kept_events[] = {
	{"elapsed-time", KEPT_ELAPSED},
	{"user-time", KEPT_USER},
	{"system-time", KEPT_SYSTEM},
	{"cpu-time", KEPT_CPU},
	{"peak-memory", KEPT_MEMORY},
	{"page-faults", KEPT_FAULTS},
	{"minor-faults", KEPT_MINOR},
	{"major-faults", KEPT_MAJOR},
	{"context-switches", KEPT_SWITCHES},
	{"voluntary-switches", KEPT_VOLUNTARY},
	{"involuntary-switches", KEPT_INVOLUNTARY},
};

static bool find(const struct event *event, enum kept *kept)
{
	if (!event->definition)
		return false;
	for (size_t i = 0; i < sizeof kept_events / sizeof *kept_events; i++) {
		if (strcmp(kept_events[i].event, event->definition->name) == 0) {
			*kept = kept_events[i].kept;
			return true;
		}
	}
	return false;
}

const char *account_lacks(const struct event *event, const struct target *target)
{
	enum kept kept;
	if (!event->definition || !(event->definition->counted_by & COUNTED_BY_PROCESS) || !find(event, &kept))
		return "the operating system keeps no account of it";
	if (event->levels != (LEVEL_USER | LEVEL_KERNEL))
		return "the operating system's account of it is not split by privilege level";
	if (kept != KEPT_ELAPSED && target->kind != TARGET_COMMAND)
		return "the operating system's account of it is known only for programs that tare starts";
	return NULL;
}

static bool is_time(enum kept kept)
{
	return kept == KEPT_ELAPSED || kept == KEPT_USER || kept == KEPT_SYSTEM || kept == KEPT_CPU;
}

double account_probes(const struct account *account, const struct event *event)
{
	enum kept kept;
	if (!find(event, &kept) || !is_time(kept))
		return 0;
	return (double)(kept == KEPT_ELAPSED ? account->probes_elapsed_ns : account->probes_ns);
}

bool account_value(const struct account *account, const struct event *event, double *value)
{
	enum kept kept;
	if (!find(event, &kept) || (kept != KEPT_ELAPSED && !account->known))
		return false;
	switch (kept) {
	case KEPT_ELAPSED: *value = (double)account->elapsed_ns; break;
	case KEPT_USER: *value = (double)account->user_ns; break;
	case KEPT_SYSTEM: *value = (double)account->system_ns; break;
	case KEPT_CPU: *value = (double)(account->user_ns + account->system_ns); break;
	case KEPT_MEMORY: *value = (double)account->peak_memory_bytes; break;
	case KEPT_FAULTS: *value = (double)(account->minor_faults + account->major_faults); break;
	case KEPT_MINOR: *value = (double)account->minor_faults; break;
	case KEPT_MAJOR: *value = (double)account->major_faults; break;
	case KEPT_SWITCHES: *value = (double)(account->voluntary_switches + account->involuntary_switches); break;
	case KEPT_VOLUNTARY: *value = (double)account->voluntary_switches; break;
	case KEPT_INVOLUNTARY: *value = (double)account->involuntary_switches; break;
	}
	return true;
}
