/* What was there before tracking began: the names of tasks and the mappings of processes, out of /proc. */
#ifndef TARE_BACKEND_PERF_SAMPLE_EXISTING_H
#define TARE_BACKEND_PERF_SAMPLE_EXISTING_H

#include <sys/types.h>

#include "backend/sampling.h"
#include "base/vec.h"

struct existing_item {
	bool is_mapping;
	struct sampled_mapping mapping; /* paths and names are owned */
	struct sampled_task task;
};

struct existing {
	VEC(struct existing_item) items;
	uint64_t time_ns; /* when it was read */
};

/* data: also mappings that are not executable. A process that has ended is left out, and so is what may not be
 * read: its samples are then in no mapping. False when memory ran out. */
bool existing_add(struct existing *existing, pid_t pid, bool data);
/* All processes. */
bool existing_add_all(struct existing *existing, bool data);
/* To the sink, names first. */
bool existing_tell(const struct existing *existing, const struct sampling_sink *sink, struct error *err);
void existing_free(struct existing *existing);

#endif
