/* One program, explained for several values of a parameter: `tare explain --sweep` (Zagha et al. 1996,
 * Figures 4 to 7). A plain record; texts are in its arena or borrowed.
 *
 * What always holds:
 *  1. Points stand in the order in which they were asked for, one for each value.
 *  2. Each point is an explanation of its own, with its own executions: nothing goes from one to the next. */
#ifndef TARE_RESULT_EXPLAINED_SWEEP_H
#define TARE_RESULT_EXPLAINED_SWEEP_H

#include "result/explanation.h"

enum { SWEEP_POINTS_MOST = 64 };

struct explained_point {
	const char *value; /* as it stands in the arguments or in the environment */
	double work;       /* what its time is divided by: per_text's value; 1 without --per */
	struct explanation explanation;
};

struct explained_sweep {
	struct arena arena;
	const char *name;           /* "N" */
	const char *variable;       /* the environment variable that was set; NULL: {N} stands in the arguments */
	const char *const *command; /* as it was given, with {N} */
	bool threads;               /* the values are numbers of threads: speed-up is of interest */
	const char *per;            /* "N^3": times are of one of these; NULL: they are of the program */
	struct explained_point *points;
	size_t n;
};

void explained_sweep_free(struct explained_sweep *sweep);

/* The elapsed time of the first point over that of this one; NAN where one was not measured. */
double explained_sweep_speedup(const struct explained_sweep *sweep, size_t point);

#endif
