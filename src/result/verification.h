/* What `tare verify` found out about the counters of a machine: a plain record, as it is kept and shown. Texts and
 * arrays are in its arena. */
#ifndef TARE_RESULT_VERIFICATION_H
#define TARE_RESULT_VERIFICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "result/result.h"

/* What a count was compared with. Bits. */
enum { WITNESS_ARITHMETIC = 1, WITNESS_ENGINE = 2 };

/* The verdict on one event by one interface from one source. */
struct kept_verdict {
	const char *event;     /* as reports label it: "instructions:u" */
	const char *interface; /* "command", "region" */
	enum source source;
	const char *machine; /* of SOURCE_MODEL; NULL */
	const char *kind;    /* "exact", "offset", … (trust/verdict.h) */
	const char *shape;   /* "times", … ; "" */
	const char *text;    /* a clause for a reader; "" */
	double factor, offset, half_width;
	double usable_from; /* predicted events; infinite: at no tested size */
	double error;       /* of the largest prediction; NAN */
	double least, most; /* predictions that were tested; NAN: there is none */
	unsigned witnesses;
	size_t kernels, points, executions;
	size_t refused, refused_of; /* executions that gave no count, of so many */
	const char *refused_why;    /* the first reason; NULL: none was refused */
	bool fault;                 /* the counter is wrong, or an exact source is not exact */
	int64_t evidence;           /* the verification's number in the store; 0: not kept */
};

/* One kernel at one size: what was seen of one event. */
struct kept_point {
	const char *kernel;
	uint64_t size;
	const char *event, *interface;
	enum source source;
	const char *machine;
	double predicted; /* NAN: no prediction */
	unsigned witnesses;
	double *observed; /* n_observed */
	size_t n_observed;
	double *interrupts; /* n_interrupts: of the same executions, or 0 of them where they are not known */
	size_t n_interrupts;
	double *cpu_seconds; /* n_cpu_seconds: likewise */
	size_t n_cpu_seconds;
	size_t refused;          /* executions that gave no count */
	const char *refused_why; /* the first reason; NULL: none was refused */
};

struct verification {
	struct arena arena;
	int64_t id; /* in the store; 0: not kept */
	struct machine_facts facts;
	const char *microcode; /* NULL: not known */
	const char *tare_version;
	const char *grid; /* "quick", "full" */
	const char *on;   /* the backends, "exact perf" */
	/* which kernels and events were asked for, "kernels loop; events loads:u"; "": those of the grid. One that
	 * was interrupted goes on only where it is the same */
	const char *selection;
	uint64_t started_unix;
	/* That it took, and as predicted when this part started: of a resumed one both with the interrupted parts,
	 * which took resumed_seconds. */
	double seconds, predicted_seconds, resumed_seconds;
	/* CPU time of the executions, which other work on the machine changes less: since it started or went on,
	 * and as predicted then */
	double cpu_seconds, predicted_cpu_seconds;
	bool finished;
	size_t kernels, executions;
	size_t resumed; /* points that an interrupted verification had already */
	VEC(struct kept_verdict) verdicts;
	VEC(struct kept_point) points;
	VEC(const char *) without_stimulus; /* events that count here and that no kernel moves */
	VEC(const char *) notes;
};

void verification_free(struct verification *v);

#endif
