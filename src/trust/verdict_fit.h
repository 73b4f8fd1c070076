/* Whether a form fits what a counter showed: means and spreads of the points, and straight lines through them. See
 * verdict.h. */
#ifndef TARE_TRUST_VERDICT_FIT_H
#define TARE_TRUST_VERDICT_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "trust/verdict.h"

/* One point, in ascending order of its prediction (of those without one: as they came). */
struct fit_point {
	size_t index; /* into event->points */
	double x;     /* predicted */
	double mean, least, most;
	double n;
	double sd;  /* pooled with neighbours */
	double se;  /* of the mean: sd / √n; 0 where all executions of all points agree within their point */
	double t;   /* the factor beyond which a mean does not fit */
	double t95; /* of a single execution, at 95 % */
};

struct fit {
	const struct judged_event *event;
	struct fit_point *points; /* those with executions */
	size_t n;
	bool varies; /* executions of a point differ, somewhere */
};

/* False when memory ran out; to be freed in any case. predicted: only points that have a prediction. */
bool fit_new(const struct judged_event *event, bool predicted, struct fit *out);
void fit_free(struct fit *fit);

/* form[n]: what each point should show. rounding: so far from it is not a difference (a scaled integer). */
bool fit_holds(const struct fit *fit, const double *form, double rounding);

/* Least squares with the points' weights: mean = o + k·z. fixed_k: k is given; fixed_o: o is. se_… : standard
 * errors (0 where nothing varies). False when z does not tell (one value only, and both are free). */
struct fitted_line {
	double o, k, se_o, se_k;
};
bool fit_line(const struct fit *fit, const double *z, bool fixed_o, bool fixed_k, struct fitted_line *line);

/* Is the form off by different numbers at one kernel's sizes? Else it may be that kernels' starts differ. */
bool fit_differs_within_kernel(const struct fit *fit, const double *form);

/* Is a parameter with this standard error something else than `value`? */
bool fit_differs(const struct fit *fit, double parameter, double se, double value);

#endif
