/*
 * Two profiles of one program, or of two versions of it: what changed, by function or line.
 *
 * Rows of the two are the same where their names are: of functions the name and the last part of the module's
 * path, of lines the last parts of the file's and the module's path and the line. The program that was profiled is
 * one module, whatever its file is called. What has one name in a profile is one row.
 *
 * Amounts are compared where both are known: counts of counted events, and of sampled ones share times total (the
 * event's count of the same execution, which is known without error). Else shares are.
 *
 * The interval of a difference d = a - b of two independent estimates, from the interval of each (la, ua), (lb,
 * ub):
 *
 *     d - sqrt((a - la)² + (ub - b)²)  …  d + sqrt((ua - a)² + (b - lb)²)
 *
 * Newcombe: Interval estimation for the difference between independent proportions, Statistics in Medicine 17
 * (1998), method 10, with Wilson's intervals; with factors, Zou and Donner's MOVER (Statistics in Medicine 27,
 * 2008).
 */
#ifndef TARE_REPORT_PROFILE_DIFFERENCE_H
#define TARE_REPORT_PROFILE_DIFFERENCE_H

#include <stdbool.h>
#include <stdio.h>

#include "report/profile.h"

struct profile_estimate { /* of one profile */
	double value, low, high;
	bool has_interval; /* else, of a counted event, it is exact */
};

struct profile_change {
	double value, low, high; /* after - before */
	bool has_interval;
	bool sure; /* it is not 0: counted, or its interval does not contain 0 */
};

struct profile_change profile_change_of(const struct profile_estimate *before,
					const struct profile_estimate *after, bool exact);

/* Of each event that both have a listing, the largest changes first, those that may be chance behind the others.
 * Uses of the options: text, by, top, one_event and event (of `after`), only, exclude, modules. */
void report_profile_difference(FILE *out, const struct named_profile *after, const struct named_profile *before,
			       const struct profile_report_options *options);

#endif
