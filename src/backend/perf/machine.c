#include <stdio.h>
#include <sys/resource.h>

#include "backend/perf/state.h"

const struct machine_state *machine_state(struct backend *backend)
{
	struct machine_state *s = &backend->state;
	if (backend->state_known)
		return s;
	backend->state_known = true;
	s->hypervisor = backend->hypervisor;
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	if (file) {
		s->has_perf = fscanf(file, "%d", &s->paranoid) == 1;
		fclose(file);
	}
	return s;
}
