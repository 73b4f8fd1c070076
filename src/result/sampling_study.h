/* How well sampling tells where a program's events take place, at several gaps: what `tare verify sampling`
 * reports. Plain records. Wu and Mencer's study (Evaluating sampling based hotspot detection, ARCS 2009). */
#ifndef TARE_RESULT_SAMPLING_STUDY_H
#define TARE_RESULT_SAMPLING_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One sampled profile against the exact one. A measure that does not exist is NAN. */
struct sampling_accuracy {
	uint64_t period; /* each gap is this + uniform(0, period/8), in the event's unit */
	uint64_t lost, throttled;
	uint64_t judged;           /* samples at instructions that ran in the exact execution */
	uint64_t kernel, unmapped; /* samples in the kernel; in memory of no file. In no measure */
	uint64_t elsewhere;        /* at bytes of files that did not run in the exact execution. In no measure */
	size_t instructions;       /* different ones that were sampled */
	double nrmse, sample_coverage; /* Wu and Mencer's three, by instruction: profile/accuracy.h */
	double order_deviation;
	double distance; /* bytes: earth mover's, within each module, weighted by its samples */
	/* shares by function, of samples and of executed instructions */
	double overlap, total_variation;
	double weight_matching, key_matching; /* Wall's, of ten */
	double kendall;                       /* τ-b; a function weighs the mean of its two shares */
	double top_chance;                    /* that the function with the most samples is the hottest one */
};

enum study_measure {
	STUDY_NRMSE,
	STUDY_COVERAGE,
	STUDY_ORDER,
	STUDY_VARIATION,
	STUDY_WEIGHT,
	STUDY_KEY,
	STUDY_KENDALL,
	STUDY_TOP,
	STUDY_MEASURES,
};

/* Does the error rise with the period? Mann's test (1945), with agreement taken as its negative. */
struct study_trend {
	bool known;
	double tau, p_rises;
};

struct sampling_study {
	const char *event, *unit; /* that was sampled; owned by the study's maker */
	uint64_t seed;
	uint64_t executed; /* instructions, of the exact execution */
	struct sampling_accuracy *periods;
	size_t n_periods;
	struct study_trend trends[STUDY_MEASURES];
};

#endif
