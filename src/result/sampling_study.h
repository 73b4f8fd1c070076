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
	/* executions of the most sampled instruction (of several the most executed), as a part of the most that
	 * any has: 1: it is the hottest one */
	double top_instruction;
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

/* An instruction that was sampled: for Wu and Mencer's Figure 1. */
struct study_place {
	char name[80];            /* "function+0x12", cut to fit; bytes as the program's file has them */
	double sampled, executed; /* parts of all samples, and of all executed instructions */
};

enum { STUDY_PLACES_MOST = 60 };

struct sampling_study {
	const char *event, *unit; /* that was sampled; owned by the study's maker */
	uint64_t seed;
	uint64_t executed; /* instructions, of the exact execution */
	uint64_t branches; /* of them; 0 where has_branches is false */
	bool has_branches;
	struct study_place places[STUDY_PLACES_MOST]; /* at the first period: the most sampled, descending */
	size_t n_places;
	struct sampling_accuracy *periods;
	size_t n_periods;
	struct study_trend trends[STUDY_MEASURES];
};

/* ---- several programs ---- */

struct studied_program {
	const char *name;            /* a constant */
	char *why;                   /* it was not studied: why; NULL. The suite's */
	struct sampling_study study; /* when `why` is NULL */
};

enum finding_verdict { FINDING_REPRODUCED, FINDING_DIFFERS, FINDING_NOT_SHOWN };

/* One of Wu and Mencer's findings: in so many of the programs that tell it is as they found it. */
struct study_finding {
	enum finding_verdict verdict;
	size_t as_found, of;
	/* of so many or more, were each as likely one way as the other; of FINDING_BRANCHES: Mann's test */
	double p;
};

enum study_finding_kind {
	FINDING_NRMSE_TREND,   /* NRMSE shows no trend */
	FINDING_COVERAGE,      /* sample coverage falls with the period */
	FINDING_ORDER,         /* order deviation rises with the period */
	FINDING_ORDER_BEST,    /* order deviation follows the period better than NRMSE and coverage do */
	FINDING_NRMSE_SIZE,    /* most NRMSE are 0.2 or less */
	FINDING_COVERAGE_SIZE, /* most coverages are 0.5 or more */
	FINDING_ORDER_SIZE,    /* most order deviations are 1 or less */
	FINDING_TOP,           /* the most sampled instruction is not the most executed one */
	FINDING_BRANCHES,      /* programs with more branches have a larger order deviation */
	FINDINGS,
};

struct sampling_suite {
	struct studied_program *programs;
	size_t n;
	struct study_finding findings[FINDINGS];
};

#endif
