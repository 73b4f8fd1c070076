/*
 * Workers that the attendant gives one request after the other: to fork a process for each, and to end it, costs
 * more than what it does.
 *
 *     request ──► an idle worker, by its pipe ──► done, nothing of it is left: idle again
 *            └──► none is idle: one is forked
 *
 * What always holds:
 *  1. A worker is given a request only when it has ended the one before.
 *     A worker that has ended leaves its place to another one.
 *  2. A worker has what the attendant had when it was forked. When that has changed (workers_renew), none of those
 *     from before is given a request any more.
 *  3. Idle workers end with the attendant, whatever ends it: no process that lives longer holds the other end of
 *     their pipes (workers_forget).
 *
 * For attendant.c only.
 */
#ifndef TARE_ENGINE_INJECT_WORKERS_H
#define TARE_ENGINE_INJECT_WORKERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WORKERS_MOST 16u

/* The worker's side of it. */
struct worker_end {
	int pipe; /* from which it reads requests; -1: there will be none */
	uint32_t *state;
	uint32_t done;
};

struct workers {
	int pipe[WORKERS_MOST]; /* into which requests are written; -1: no worker */
	uint32_t *state[WORKERS_MOST];
	uint32_t *states; /* shared with them: one for each that was ever forked; NULL: each does one request */
	uint32_t forked;
};

void workers_open(struct workers *workers);
/* False: no worker is idle. */
bool workers_give(struct workers *workers, uint32_t request);
/* As fork(). The child is the worker: it begins with a request that it knows. */
pid_t workers_fork(struct workers *workers, struct worker_end *end);
/* In a worker of whose request nothing is left: waits for another. False: there is none. */
bool workers_next(struct worker_end *end, uint32_t *request);
void workers_renew(struct workers *workers);
/* In a process that was forked for something else, and may outlive the attendant. */
void workers_forget(struct workers *workers);

#endif
