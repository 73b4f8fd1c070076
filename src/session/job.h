/*
 * Results of several processes become one: struct job (result/job.h).
 *
 *     job_new ──► job_add | job_lose (for each member) ──► job_sum ──► job_free
 *
 * Sum, mean, least and most of a row are over the members that counted it. The interval of a sum is the sum of the
 * members' intervals: it holds however the members depend on each other (the deviation of a sum is at most the sum
 * of the deviations), and is wider than needed where they do not. Imbalance is
 * the largest over the mean: 1 is balance. Where all wait for the largest, they wait 1 - 1/imbalance of
 * the time.
 */
#ifndef TARE_SESSION_JOB_H
#define TARE_SESSION_JOB_H

#include "base/error.h"
#include "result/job.h"

enum {
	JOB_ROWS_MOST = 10000,    /* of a result that was not made to be read */
	JOB_CELLS_MOST = 4 << 20, /* 4,096 ranks with 1,000 rows each; 72 bytes each */
};

/* A job of so many members, all unknown. NULL when memory ran out. */
struct job *job_new(size_t n_members);
void job_free(struct job *job); /* NULL is nothing */

/* What is needed while members are added; the job stays the caller's. NULL when memory ran out. */
struct job_builder;
struct job_builder *job_begin(struct job *job);
void job_builder_free(struct job_builder *builder); /* the job stays */

/* Takes over what `member` has found; result and place are borrowed for the call. name: the result's file; NULL.
 * ERROR_LIMIT: more rows than JOB_ROWS_MOST or JOB_CELLS_MOST allow. */
bool job_add(struct job_builder *builder, size_t member, const struct result *result,
	     const struct rank_place *place, const char *name, struct error *err);

/* A member without a result; host, name and why may be NULL. */
bool job_lose(struct job_builder *builder, size_t member, enum member_state state, const char *host, int64_t pid,
	      const char *name, const char *why);

/* Sums up; the builder is not to be used afterwards but to be freed. False when memory ran out. */
bool job_sum(struct job_builder *builder);

/* What a shell would say of how the worst member ended: the largest of their statuses (128 + signal). */
int job_worst_status(const struct job *job);

#endif
