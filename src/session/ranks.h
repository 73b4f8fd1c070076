/*
 * The end of a rank's `tare count`: its result is left for the others, and the last to finish makes the report of
 * all. Ranks that have finished wait for the rest, asleep, so that one is left to report whoever is killed.
 *
 *     waiting ──► all others are done or gone ──► reports
 *        │──► another has reported ──► ends
 *        │──► the time is over: others are still at work ──► ends; they report later
 *        └──► the time is over: ranks never began ──► reports, and names them
 *
 * A rank whose program failed does not wait for ranks at work: what started the ranks has to see that it ended.
 */
#ifndef TARE_SESSION_RANKS_H
#define TARE_SESSION_RANKS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "result/job.h"

struct apart;        /* session/apart.h */
struct ranks_folder; /* store/ranks/folder.h */

/* Takes this rank's place before its program starts; *out is to be left by ranks_part(). */
bool ranks_begin(const char *base, const struct rank_place *place, struct ranks_folder **out, struct error *err);
void ranks_part(struct ranks_folder *folder);

struct ranks_waiting {
	uint64_t timeout_ns; /* after this rank has finished */
	const volatile sig_atomic_t *interrupt;
	const struct apart *apart;
	bool failed; /* the program did */
	/* told once, when the waiting gets long: ranks as "1, 3-7"; may be NULL */
	void (*tell)(void *context, const char *at_work, const char *never_began);
	/* told once, when an interrupt finds ranks at work: what started the ranks may kill this one before they
	 * have ended. What is there by then; may be NULL */
	void (*interim)(void *context, const struct job *job);
	void *context;
};

/* Leaves this rank's result (as report_json() writes it) and waits. *out: the job to report, to be freed by
 * job_free() after ranks_reported(); NULL when another rank does. False: the result could not be left, or the job
 * not be put together. */
bool ranks_end(struct ranks_folder *folder, const struct rank_place *place, const char *text, size_t length,
	       const struct ranks_waiting *waiting, struct job **out, struct error *err);

/* Where the results of this round are, for `tare report --merge`: "/tmp/tare-ranks-0/JOB/0.*.json"; to be
 * freed. */
char *ranks_files(const struct ranks_folder *folder);

/* The report is out: the ranks' files go; stay: the user was told where they are. */
void ranks_reported(struct ranks_folder *folder, bool stay);

/* Results in files of `tare count --json`: the ranks of one job (those that no file has are MEMBER_NO_FILE), or of
 * no job: then each file is a member. ERROR_USAGE: a result twice; of several jobs. On success *out is to be freed
 * by job_free(). */
bool ranks_merge(const char *const *paths, size_t n, struct job **out, struct error *err);

struct str;
/* "1, 3-7": the ranks for which of() holds. How many. */
size_t ranks_text(struct str *out, size_t n, bool (*of)(const void *context, size_t rank), const void *context);

#endif
