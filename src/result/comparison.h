/* Commands compared: a baseline (the first) and the others, each against it, event by event.
 *
 * What always holds:
 * 1. Differences are "other − baseline", relative ones "other / baseline − 1" as parts of 1.
 * 2. A row that is not counted in both has the verdict COMPARISON_UNKNOWN and a reason; no field of numbers holds
 *    then. It is never a difference of 0.
 * 3. Estimates belong to the commands' results, which live as long as the comparison. */
#ifndef TARE_RESULT_COMPARISON_H
#define TARE_RESULT_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "result/result.h"

enum comparison_verdict {
	COMPARISON_UNKNOWN,      /* not counted, or too few runs: `why` */
	COMPARISON_EQUAL,        /* all runs of both gave one value */
	COMPARISON_NONE_SEEN,    /* no difference that the spread of the runs shows; one of `detectable` would */
	COMPARISON_WITHIN_FLOOR, /* there is one, but this machine's A/A runs differ as much (`floor`) */
	COMPARISON_LESS,         /* fewer than the baseline … */
	COMPARISON_MORE,         /* … or more, beyond chance in all comparisons together */
};

const char *comparison_verdict_name(enum comparison_verdict verdict); /* "unknown", "equal", "none-seen", … */

/* One command's row. Of the baseline itself `estimate` alone holds. */
struct compared {
	const struct estimate *estimate; /* NULL: this result has no such row */
	enum comparison_verdict verdict;
	const char *why;              /* of COMPARISON_UNKNOWN */
	bool has_numbers;             /* both are counted: what follows holds */
	bool has_interval;            /* else low and high are infinite */
	bool has_relative;            /* likewise */
	double difference, low, high; /* in the event's unit */
	double relative, relative_low, relative_high;
	double p_value, p_adjusted; /* of no difference; adjusted for all comparisons (Holm) */
	double effect;              /* Hedges' g; NAN without spread */
	double superiority;         /* how often a run of this one is above one of the baseline; a tie is a half */
	/* the relative difference that would have been found in 4 of 5 such comparisons; INFINITY: with so few
	 * runs none; NAN: not known, as the baseline is 0 */
	double detectable;
	double floor;    /* of this machine's A/A runs, relative; NAN: none is kept */
	bool misleading; /* of a rate: it improves while the time gets worse */
};

struct comparison_row {
	const char *event;
	const char *region; /* NULL: the whole program */
	bool is_metric;
	struct compared *commands; /* n; commands[0] is the baseline's */
};

enum gate_outcome { GATE_PASSED, GATE_FAILED, GATE_UNDECIDED };

/* What became of one --gate for one command. */
struct gate_result {
	const char *text; /* as it was asked for */
	size_t command;
	enum gate_outcome outcome;
	const char *reason; /* "the interval ends at +0.3 %", "not counted: …, and what would decide it */
};

struct comparison {
	struct arena arena;
	size_t n;
	const char *const *names;
	const struct result *const *results;
	struct comparison_row *rows;
	size_t n_rows;
	double confidence;
	size_t repetitions; /* asked for, of each command */
	size_t tests;       /* that p_adjusted is for */
	uint64_t seed;      /* of the order of executions */
	bool interleaved;   /* false: of stored runs */
	bool interrupted;
	const char *machines;  /* of runs that were kept: in what their machines differ; NULL: in nothing */
	const char *layout;    /* what was drawn anew for each execution; NULL: nothing, or not known any more */
	bool shows_misleading; /* rates were judged against the time */
	const struct result_note *notes;
	size_t n_notes;
	struct gate_result *gates;
	size_t n_gates;
};

/* The worst: failed, undecided, passed (also without gates). */
enum gate_outcome comparison_gates(const struct comparison *comparison);

void comparison_free(struct comparison *comparison); /* not the results; NULL is accepted */

#endif
