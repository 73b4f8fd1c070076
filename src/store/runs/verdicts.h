/*
 * Verifications in the store of runs: what `tare verify` observed (points), and what follows (verdicts), of one
 * machine under one kernel, microcode and tare. A verdict holds where all of these are the same; else it is stale.
 *
 *     runs_begin_verification ──► runs_put_points (each time that some are done) ──► runs_end_verification
 *
 * One that was never ended is resumed: runs_resume_verification().
 */
#ifndef TARE_STORE_RUNS_VERDICTS_H
#define TARE_STORE_RUNS_VERDICTS_H

#include "result/verification.h"
#include "store/runs/runs.h"

/* Keeps its head (facts, grid, …) and sets v->id. */
bool runs_begin_verification(struct runs *runs, struct verification *v, struct error *err);
/* Keeps points[from …] of v. */
bool runs_put_points(struct runs *runs, const struct verification *v, size_t from, struct error *err);
/* Keeps its verdicts, and that it is finished; sets their evidence. */
bool runs_end_verification(struct runs *runs, struct verification *v, struct error *err);

/* Is there one that began on this machine with this grid and these backends and was not ended? Then v->id and
 * v->points are its, and v->seconds what it took so far. False on failure only. */
bool runs_resume_verification(struct runs *runs, struct verification *v, struct error *err);

/* Those that hold here, the newest of each event, interface, source and modelled machine; texts in the arena. */
struct verdict_list {
	struct arena arena;
	VEC(struct kept_verdict) rows;
	const char *stale; /* there are none, but of this machine as it was: "the kernel was 'Linux 6.1'"; NULL */
};

/* of: facts, microcode and tare_version count. On success *out is to be freed. */
bool runs_find_verdicts(struct runs *runs, const struct verification *of, struct verdict_list *out,
			struct error *err);
void verdict_list_free(struct verdict_list *list);

#endif
