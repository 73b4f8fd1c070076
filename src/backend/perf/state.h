/* An open perf backend: what it has found out about events and about the machine. */
#ifndef TARE_BACKEND_PERF_STATE_H
#define TARE_BACKEND_PERF_STATE_H

#include "backend/backend.h"
#include "backend/perf/counter/cores.h"
#include "backend/perf/counter/failure.h"
#include "base/vec.h"

/* What is known of one event at its levels. Answers live as long as the backend. */
struct answer {
	char *text; /* the request that it answers */
	char *label;
	unsigned levels;
	unsigned open_levels; /* what the kernel is asked for: for its clocks LEVEL_USER is as good as both */
	struct event_encoding encoding; /* that works; of the last one tried otherwise */
	char how[128];
	struct variants variants; /* what is opened for it */
	bool cpus_only;           /* = variants.whole_cpus */
	struct availability availability;
};

struct backend {
	struct event_machine machine;
	struct machine_state state;
	bool state_known;
	struct core_kinds cores;
	bool cores_known;
	bool raw_codes_tried, raw_codes_absent; /* available.c */
	VEC(struct answer *) answers;
	struct region_bias *bias; /* probe/regions.h; NULL: not asked for yet */
};

/* available.c: by trial once, then from memory. NULL when memory ran out. */
const struct answer *answer_find(struct backend *backend, const struct event *event);
void answers_free(struct backend *backend);

/* machine.c: looked up at the first call (failures and diagnoses need it, counting does not). */
const struct machine_state *machine_state(struct backend *backend);

const struct core_kinds *core_kinds(struct backend *backend);

/* The operations, each in the file of its name. */
void perf_available(struct backend *backend, const struct event *event, struct availability *out);
bool perf_fits(struct backend *backend, const struct event *const *events, size_t n);
bool perf_prepare(struct backend *backend, const struct target *target, const struct event *const *events,
		  size_t n, struct counting **out, struct error *err);
pid_t perf_process(const struct counting *counting);
bool perf_go(struct counting *counting, struct error *err);
bool perf_turn(struct counting *counting, bool on, struct error *err);
bool perf_read_running(struct counting *counting, struct reading *readings, struct error *err);
bool perf_stop(struct counting *counting, struct run *run, struct error *err);
void perf_end(struct counting *counting);
void perf_diagnose(struct backend *backend, struct finding *findings, size_t most, size_t *count);

#endif
