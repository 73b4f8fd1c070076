/*
 * One job's results together: of the ranks that mpirun or srun started, or of results in files (a fleet's). Each
 * member is one `tare count`; a row is one event (or metric) over all members.
 *
 * What always holds:
 *  1. Every member that the job has is here, also one without a result; `state` says what became of it.
 *  2. A row's sum is known only when every member has counted the event. Else it has the least that it is
 *     (has_least): the sum of those that counted.
 *  3. sum, mean, least and most are struct estimates, as all numbers of reports are.
 *  4. Texts are the job's arena's.
 */
#ifndef TARE_RESULT_JOB_H
#define TARE_RESULT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "result/result.h"

/* Which rank of which job a result is of. */
struct rank_place {
	const char *launcher; /* "Open MPI"; NULL: it is of no job of ranks */
	const char *job;      /* names the job among all, on all of its hosts */
	size_t rank, size;    /* 0 … size - 1 */
	int64_t pid;          /* of the tare that counted it; 0: not known */
};

enum { JOB_RANKS_MOST = 1 << 20 };

enum member_state {
	MEMBER_REPORTED,
	MEMBER_NEVER_BEGAN,
	MEMBER_DIED,    /* it began, and its tare ended without a result: it was killed */
	MEMBER_RUNNING, /* it was still at work when the report was made */
	MEMBER_DAMAGED, /* its result cannot be read; why says the reason */
	MEMBER_NO_FILE, /* a rank of the job, and no file that was given has its result */
};
const char *member_state_name(enum member_state state); /* "reported", "never began", … */

struct job_member {
	enum member_state state;
	bool has_rank; /* else it is known by `name` */
	size_t rank;
	const char *name;    /* of a result in a file: the file's; else NULL */
	const char *host;    /* NULL: not known */
	int64_t pid;         /* of its tare; 0: not known */
	const char *command; /* the program with its arguments, for a reader; NULL */
	const char *target;  /* without a program: "all CPUs" */
	bool has_exit;
	int wait_status; /* of has_exit: as wait4(2) gives it */
	bool interrupted;
	const char *why; /* of MEMBER_DAMAGED */
};

/* What one member says of one row: the parts of its struct estimate that differ between members. */
struct job_cell {
	bool known, has_interval, has_least;
	unsigned char source, trust; /* enum source, enum trust */
	double value, low, high, least;
	const char *why, *note; /* why: when not known */
};

struct job_row {
	const char *region; /* NULL: of the whole program */
	const char *event, *unit, *level, *machine;
	bool is_metric;         /* a ratio: it has no sum, and its mean is that over the members */
	size_t occurrence;      /* the event is asked for several times: which one, from 0 */
	struct job_cell *cells; /* [n_members] */
	/* of those that counted */
	size_t n_known;
	unsigned sources; /* bits 1 << enum source */
	struct estimate sum, mean, least, most;
	size_t least_member, most_member; /* the first ones that have it; of n_known > 0 */
	double imbalance;                 /* most / mean: 1 is balance; NAN where the mean is 0 */
};

struct job_region {
	const char *name, *place;
	size_t n_known; /* members that know their entries */
	uint64_t entries, entries_least, entries_most;
};

/* One remark, and the members that make it. */
struct job_note {
	const char *text;
	VEC(size_t) members;
};

struct job {
	struct arena arena;
	const char *launcher, *id; /* NULL: results of files that name no job */
	struct job_member *members;
	size_t n_members;
	size_t n_reported;
	double confidence;        /* of the members' intervals; 0: they differ, or there are none */
	VEC(struct job_row) rows; /* regions' rows follow the program's, in the order of `regions` */
	VEC(struct job_region) regions;
	VEC(struct job_note) notes;
};

#endif
