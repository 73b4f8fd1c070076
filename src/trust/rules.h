/* What is taken off a count for the measuring itself, and when a count is too small for it. Numbers in, numbers
 * out; libc alone, because libtare also does it.
 *
 *     gross = what the counter said
 *     tare  = passes · region                                 (what an empty region counts)
 *           + enters · enter + leaves · leave                 (what the calls of other regions inside it count)
 *     net   = gross − tare
 *
 * 1. Only events whose overhead is the same every time are subtracted (data/events, `overhead = constant`):
 *    instructions, branches, loads, stores. "This approach cannot be used for the cache-related events, since the
 *    cache state that exists at the time monitoring begins will not be the same" (Nieto, 4.5): those, and times,
 *    get a bound.
 * 2. A net that would be more uncertain than TOO_SMALL of itself is refused. What is said to do about it is Korn's
 *    threshold law: k events in each of N iterations against an overhead of O are within x of the truth from
 *    N = O / (x · k) on, the overhead not subtracted at all (docs/closed-forms.md 1.2). What other regions inside count
 *    is repeated with what they are in: where that alone is too much, no N helps, and none is said.
 * 3. All this is of the measuring only. A count that includes the kernel also has the interrupts that came inside,
 *    whatever they were for; no calibration knows these.
 * 4. A net is never below 0: a gross count under the tare is also refused. */
#ifndef TARE_TRUST_RULES_H
#define TARE_TRUST_RULES_H

#include <stdbool.h>
#include <stddef.h>

/* x of the threshold law, Korn's Table 2: "within 5 %". */
static const double TOO_SMALL = 0.05;

/* The N of the threshold law: the smallest whole number of repetitions from which on an overhead is at most
 * `share` of the count. 0 when there is none (no events per repetition). */
double threshold_repetitions(double overhead, double share, double events_each);

/* What one call or pass counts. */
struct pass_cost {
	double value, sd; /* sd: from one process to another, of the calibration */
	double n;         /* processes of the calibration */
	double site;      /* ± by what the compiler puts around the call: the same in every pass */
};

struct pass_costs {
	struct pass_cost region, enter, leave;
	double first_enter; /* what the first enter of a region in a thread counts more than later ones, at most */
	bool has_enter_leave; /* false: the cost of calls inside is not known */
	double t;             /* t((1 + confidence)/2, n − 1): what makes an interval of sd */
};

/* The t that an interval half_width = t · sd / √n was made with. */
double interval_factor(double half_width, double sd, double n);

/* How often each was in a count. */
struct pass_counts {
	double passes, enters, leaves;
	double first_enters; /* so many of the enters, at most, were the first of their region */
	double again;        /* calls that read nothing (recursion): their cost is not calibrated */
};

enum subtraction_state {
	SUBTRACTED,
	NOT_SUBTRACTED, /* the calls inside are not calibrated: the gross count is all there is */
	TOO_SMALL_TO_MEASURE,
};

struct subtraction {
	enum subtraction_state state;
	double gross, tare;
	double net, half_width; /* of SUBTRACTED; of TOO_SMALL… what it would have been (net may be negative) */
	/* the part of tare and half_width that comes again with each repetition inside the region */
	double inside, inside_half_width;
	double repeat; /* TOO_SMALL…: so often inside the region at least; 0: no number helps */
};

void subtract(double gross, const struct pass_costs *costs, const struct pass_counts *counts,
	      struct subtraction *out);

/* Of a gross count that has an overhead in it that is not taken off: TOO_SMALL… when that is more than TOO_SMALL
 * of what is not overhead (the threshold law), NOT_SUBTRACTED otherwise; net is what it would be. inside: the
 * overhead's part of what is measured inside. */
void weigh(double gross, double overhead, double inside, double half_width, struct subtraction *out);

/* Of a subtraction that is more uncertain than its calibration knows. */
void subtraction_widen(struct subtraction *s, double more);

/* "region 'x' is too small to measure: 40 instructions against an overhead of 139 ± 3; repeat it at least 70 times
 * inside the region". Of one pass, where there were several. fewer: what to do where the overhead is that of other
 * regions inside; NULL: there are none. out is always ended. */
void subtraction_refusal(const struct subtraction *s, const char *what, const char *unit, double passes,
			 const char *fewer, char *out, size_t out_bytes);

#endif
