/*
 * The judge of a counter: what it showed, against what arithmetic predicts. Pure: numbers in, a verdict out.
 *
 * A point is one kernel at one size: the predicted count x, and the observed counts y of n executions, each a
 * process of its own (Nieto et al., phases 2, 3 and 5; Korn et al., 2001). All points of one event by one
 * interface are judged together. In the order in which they are tried:
 *
 *     exact             y = x, each time; or, of counters and the kernel's accounts, in VERDICT_EXACT_LEAST
 *                       executions and more, each time but in VERDICT_ODD_MOST of them (also of those of each
 *                       kernel; VERDICT_ODD_OF_SIZE of one size's; of either one), by VERDICT_ODD_EVENTS at most, never
 *                       by all, and no more often where counts are large
 *     counts nothing    y = 0, each time, though x > 0
 *     wrong: stuck      y is the same, whatever x
 *     noisy             mean(y) = x. Usable from N events on: |mean(y) − x| + t · s ≤ 5 % of x at all tested x ≥ N
 *                       (Korn, Table 2: "the number at which … is within 5 %, and stays there")
 *     offset            y = x + o
 *     proportional      y = k·x, y = o + k·x, y = x + k·u (u: interrupts and faults of that execution),
 *                       y = x + k·w (0 <= w <= u: some of these), y = x + r·T (T: its CPU time, r: a timer's rate),
 *                       y = x + what is predicted for another event, y = x + k·n (n: the kernel's size),
 *                       y = x ± s·⌊x / m⌋, or y = x + o + k·u with large k: what the kernel executes
 *     wrong             y = what is predicted for another event, for two of them together, or their difference;
 *                       y = x + y of the execution before, x of the execution before, or x + a share of that;
 *                       the mean of both; the larger of both; the largest x so far; r more with each execution;
 *                       a power of two more or less in some of the executions;
 *                       x with one bit that never moves, some bits flipped, a sign, its bytes or halves in reverse
 *                       order, in Gray code, rotated, in decimal digits, in its first decimal digits alone, in
 *                       single precision, or rounded to a power of two;
 *                       y = x mod m; y = min(x, c); y = max(x, c); from a size on x + c, or c;
 *                       y = max(0, x − c); y = x without its low bits; deficits that are multiples of a sampling
 *                       period; y falls behind x from a size on, or grows k times as fast, or is x / k; another share of
 *                       x in each execution, from the first event or from a size on; c·x^p, or another curve: more or
 *                       fewer for each event the more there are; one of these, or no form, in some of the
 *                       executions; a difference that depends on the size and never varies; or no such form
 *     unpredictable     there is no x: Nieto's phase 7, another witness is needed
 *     not counted       no execution gave a y: the measurement was refused
 *
 * "=" is equality where all executions agree. Otherwise the mean of each point has to lie within t · s / √n of the
 * form, at VERDICT_ALPHA for each form and event (Bonferroni over the points). The spread s of a point is pooled
 * with its neighbours' as far as s would fall with growing x (isotonic regression, Ayer et al. 1955: a count's
 * noise does not shrink while the count grows), and is at least half an event. A form that is simpler comes first:
 * what cannot be told from a clean counter is not accused.
 *
 * The threshold law (Korn, Table 2; docs/closed-forms.md 1.2): an overhead of O events is within the share x of k
 * events per iteration from N = O / (x · k) iterations on, so of a predicted count from O / x on.
 */
#ifndef TARE_TRUST_VERDICT_H
#define TARE_TRUST_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "result/result.h"

static const double VERDICT_ALPHA = 1e-6; /* a clean counter fails one form this often, at most */
static const double VERDICT_USABLE = 0.05;
/* A page that had to be read, or a switch more, in one execution of a thousand is not noise of the counter: two
 * looks at the same machine would find it exact once, and noisy once. */
static const double VERDICT_EXACT_LEAST = 1000, VERDICT_ODD_MOST = 0.005, VERDICT_ODD_OF_SIZE = 0.02,
		    VERDICT_ODD_EVENTS = 5;
static const double VERDICT_ODD_GROWS = 4; /* from the smaller half of the points to the larger */

enum verdict_kind {
	VERDICT_UNJUDGED, /* no kernel moves it, or nothing was observed: `why` */
	VERDICT_EXACT,
	VERDICT_OFFSET,
	VERDICT_PROPORTIONAL,
	VERDICT_NOISY,
	VERDICT_WRONG,
	VERDICT_NOTHING,       /* counts nothing here */
	VERDICT_UNPREDICTABLE, /* no prediction: another witness is named */
	VERDICT_NOT_COUNTED,   /* refused in all executions: `why`. Says nothing against the counter */
};
enum { VERDICT_KINDS = VERDICT_NOT_COUNTED + 1 };

enum verdict_shape {
	SHAPE_NONE,
	/* of PROPORTIONAL */
	SHAPE_TIMES,      /* factor · x + offset */
	SHAPE_ALSO,       /* x + factor · `other`'s events */
	SHAPE_INTERRUPTS, /* x + factor for each interrupt or fault, to the last event */
	SHAPE_SOME,       /* x + factor for some of the interrupts, faults and switches, likewise */
	SHAPE_TICKS,      /* x + 1 for each tick of the timer: `factor` a second of CPU time */
	SHAPE_TURNS,      /* x + factor · size: each turn of a kernel's loop counts so many too much */
	SHAPE_EACH,       /* x + factor for each `period` events; it may be negative */
	SHAPE_KERNEL,     /* x + factor for each interrupt or fault: also what the kernel executes */
	/* of WRONG */
	SHAPE_INSTEAD,     /* `other`'s events */
	SHAPE_LEVEL,       /* likewise, and `other` is the same event at another level */
	SHAPE_STUCK,       /* always `offset` */
	SHAPE_WRAPS,       /* begins anew at 2^bits; bits is 0: at `offset` */
	SHAPE_SATURATES,   /* stays at `offset` */
	SHAPE_DROPS,       /* loses samples of `period` events; the share that is left is `factor` */
	SHAPE_THROTTLED,   /* exact up to `offset`; beyond, `factor` of the events (NAN: no fixed share) */
	SHAPE_BEYOND,      /* exact up to `offset`; then `factor` for each, or from `period` on for all */
	SHAPE_SHIFTS,      /* exact up to `offset`; from `period` on `factor` more */
	SHAPE_STOPS,       /* exact up to `offset`; from `period` on always `factor` */
	SHAPE_BITS,        /* loses its low `bits` bits */
	SHAPE_LATE,        /* misses the first `offset` events */
	SHAPE_AT_LEAST,    /* never shows less than `offset` */
	SHAPE_RANDOM,      /* in each execution another share of the events, `least_share` to `most_share` */
	SHAPE_RESTARTS,    /* exact up to `offset`; beyond, it begins anew at any time: likewise */
	SHAPE_BIT_CLEAR,   /* bit number `bits` is always 0 */
	SHAPE_BIT_SET,     /* … 1 */
	SHAPE_SIGNED,      /* its low `bits` bits, as a number with a sign */
	SHAPE_POWERS,      /* nothing but powers of two */
	SHAPE_GRAY,        /* a Gray code of the count */
	SHAPE_BYTES,       /* its low `bits` bits, with their bytes in reverse order */
	SHAPE_HALVES,      /* its low `bits` bits, the upper half of them below the lower one */
	SHAPE_DECIMAL,     /* four bits for each decimal digit */
	SHAPE_SINGLE,      /* rounded to a floating-point number of `bits` bits */
	SHAPE_DIGITS,      /* its first `bits` decimal digits, the others are 0 */
	SHAPE_ROTATED,     /* its low `bits` bits, rotated left by `offset` */
	SHAPE_FLIPPED,     /* the bits of `offset` are the other way round */
	SHAPE_SUM,         /* `other`'s and `another`'s events */
	SHAPE_DIFFERENCE,  /* |`other`'s − `another`'s| events */
	SHAPE_LARGER,      /* the larger number of the two */
	SHAPE_SMALLER,     /* … the smaller */
	SHAPE_BEFORE,      /* the events of the execution before */
	SHAPE_LEAKS,       /* x + factor · the events of the execution before */
	SHAPE_ACCUMULATES, /* the events of all executions so far */
	SHAPE_MIXES,       /* the mean of x and the events of the execution before, which has the share `factor` */
	SHAPE_SMOOTHS,     /* likewise, with what was shown of the execution before */
	SHAPE_PEAK,        /* the most events of all executions so far */
	SHAPE_KEEPS,       /* the most events of the execution and the one before */
	SHAPE_CARRY,  /* 2^bits too many (factor 1) or too few (-1) in the share `sometimes` of the executions */
	SHAPE_DRIFTS, /* `factor` more with each execution */
	SHAPE_POWER_LAW, /* factor · x^period */
	SHAPE_CURVE,     /* any other: `least_share` of the events at `offset`, `most_share` at `period` */
	/* of NOISY */
	SHAPE_RESOLUTION, /* counts in steps of `period` events */
	SHAPE_EXCESS,     /* in the share `sometimes` of the executions up to `offset` more, at any size */
	SHAPE_LAGS,       /* up to `offset` less in each execution, at any size */
};
enum { VERDICT_SHAPES = SHAPE_LAGS + 1 };

struct judged_point {
	const char *kernel;
	double size;
	double predicted;          /* NAN: no prediction */
	size_t n;                  /* executions */
	const double *observed;    /* n, in the order in which they ran */
	size_t refused;            /* further executions, that gave no count */
	const char *why_refused;   /* the first reason; NULL where none was refused */
	const double *interrupts;  /* n: interrupts, faults and switches of the same executions; NULL: not known */
	const double *cpu_seconds; /* n: of the same executions; NULL: not known */
	const double *others;      /* n_others predictions for the same kernel and size; NAN: none */
};

/* All that is known of one event by one interface. All borrowed. */
struct judged_event {
	const char *event;                 /* "instructions:u" */
	const struct judged_point *points; /* in the order in which they ran */
	size_t n_points;
	const char *const *others; /* events that it may be mixed up with; itself is passed over */
	size_t n_others;
	const char *witness; /* of what is not predicted: what else says that the count is reasonable; NULL */
	enum source source;  /* of counters and the kernel's accounts others may disturb a few executions */
};

struct verdict {
	enum verdict_kind kind;
	enum verdict_shape shape;
	double factor;      /* of TIMES and others, see there */
	double offset;      /* events; of OFFSET what is counted too much (negative: too little) */
	double half_width;  /* ± of the offset, at 95 %; 0 where it is always the same */
	size_t other;       /* index into others */
	size_t another;     /* of SUM, DIFFERENCE, LARGER, SMALLER: likewise */
	bool also_other;    /* of TIMES: `other` instead of the event would look the same on these kernels */
	unsigned bits;      /* of WRAPS, BITS, BIT_…, SIGNED, BYTES, HALVES, SINGLE, ROTATED, DIGITS, CARRY */
	unsigned bits_most; /* of WRAPS: up to so many would look the same on these kernels */
	double least_share, most_share; /* of RANDOM, RESTARTS and CURVE: seen */
	/* WRONG (of EXCESS: too much) in this share of the executions, whose shape and parameters these are; 0: in
	 * all. Of EXACT: the share that is not */
	double sometimes;
	double period; /* of DROPS, RESOLUTION, EACH, BEYOND, SHIFTS, STOPS, POWER_LAW and CURVE */
	/* predicted events; 0: from the first on; INFINITY: at no tested size. Of all kinds with a prediction */
	double usable_from;
	double error; /* |mean(y) − x| / x at the largest x; NAN */
	size_t worst; /* the point that differs most, as a share; n_points: none differs */
	size_t points, executions;
	double least, most;         /* predicted counts that were tested */
	size_t refused, refused_of; /* executions that gave no count, of so many at all points */
	const char *why_refused;    /* the first reason; NULL: none was refused */
	const char
		*only; /* WRONG on this kernel, which is judged alone: shape and parameters are of it; else NULL */
	enum verdict_kind only_kind;
	const char *why; /* of UNJUDGED and NOT_COUNTED */
};

/* Judges one event. False when memory ran out. */
bool verdict_judge(const struct judged_event *event, struct verdict *out);

const char *verdict_kind_name(enum verdict_kind kind);    /* "exact", "counts nothing here", … */
const char *verdict_shape_name(enum verdict_shape shape); /* "wraps"; "" of NONE */

/* One clause for a reader: "counts each event twice"; names the known shape where it is one. out is always ended.
 */
void verdict_text(const struct judged_event *event, const struct verdict *verdict, char *out, size_t out_bytes);

/* What a verdict means for a count of so many events (gross); offset_off: the offset was taken off. */
enum trust verdict_trust(enum verdict_kind kind, bool offset_off, double usable_from, double count);

/* Is the counter at fault? (EXACT, OFFSET, NOISY, UNJUDGED and UNPREDICTABLE are not; nor is NOTHING: no count is
 * shown.) */
bool verdict_accuses(enum verdict_kind kind);

#endif
