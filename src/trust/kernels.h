/* The kernels: small programs that come with tare, each with what it must count (kernels/README.md).
 *
 * A kernel can be run in two ways:
 *
 *     KERNEL_COMMAND   PATH N                       the whole command is counted
 *     KERNEL_REGION    REGION_PATH N                the function REGION of it is counted (tare count --region REGION)
 *                      REGION_PATH N EVENT          it counts the same call itself, with libtare, and prints "count X"
 *
 * What always holds: a prediction that is there is a number; that there is none is told apart from 0. */
#ifndef TARE_TRUST_KERNELS_H
#define TARE_TRUST_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum kernel_interface { KERNEL_COMMAND, KERNEL_REGION };
enum { KERNEL_INTERFACES = 2 };

struct kernel_prediction {
	const char *event;   /* canonical name, as `tare list events` shows it */
	const char *formula; /* over n, `start` and the machine's parameters (kernel_formula.h) */
	const char *why;     /* a phrase; "" where the formula says it */
	/* For which interfaces: bits 1 << enum kernel_interface. */
	unsigned interfaces;
	/* The event counts something else besides that does not depend on n: the count is formula + a constant
	 * (page faults: the program's start has some). */
	bool beyond_start;
	/* What `start` is in the formula, for each interface: a formula of what runs before and after the
	 * kernel's own instructions. */
	const char *start[KERNEL_INTERFACES];
	/* Of the first process alone: processes that it starts are not in it (tare count --no-children). */
	bool first_process;
};

struct kernel {
	const char *name;                 /* "array" */
	const char *sentence;             /* what it does: "a[i] = a[i] + 1 over n elements …" */
	const char *paper;                /* "Korn, third kernel"; NULL: of none */
	const char *path;                 /* of the executable for this architecture; NULL: it is not there */
	const char *region_path, *region; /* NULL: there is no region */
	const char
		*why_not; /* why it cannot run here: not installed, this CPU lacks an instruction; NULL: it can */
	uint64_t n_most;  /* the largest argument that it takes */
	const uint64_t *sizes; /* arguments to try, ascending; about 25, and 10 for a quick look */
	size_t n_sizes;
	const uint64_t *quick;
	size_t n_quick;
	const struct kernel_prediction *predictions;
	size_t n_predictions;
	unsigned interfaces; /* bits 1 << enum kernel_interface that it has */
};

struct kernels {
	struct arena arena; /* all that they point to */
	const struct kernel *all;
	size_t count;
};

/* folder: of NAME.truth files; NULL: those that tare carries in it. The executables are looked for as
 * helper_kernel() does (TARE_KERNELS, the installation, the build); one that is missing is not an error here, but
 * its why_not. On success freed by kernels_free(); on failure there is nothing to free. */
bool kernels_load(const char *folder, struct kernels *out, struct error *err);
void kernels_free(struct kernels *kernels);
/* NULL: no kernel has that name. */
const struct kernel *kernels_find(const struct kernels *kernels, const char *name);

/* What formulas may ask of a machine, by the names that kernels/README.md lists ("l1d.line"). */
enum { KERNEL_PARAMETERS_MOST = 96 };
struct kernel_machine {
	const char *name; /* for messages; borrowed */
	bool known[KERNEL_PARAMETERS_MOST];
	int64_t value[KERNEL_PARAMETERS_MOST]; /* in kernel_predict.c's order */
};
/* False: there is no such parameter. */
bool kernel_machine_set(struct kernel_machine *machine, const char *parameter, int64_t value);

/* What the event must count of `kernel n`. machine NULL: an unknown one.
 * False when there is no prediction: ERROR_NOT_FOUND where no row has the event, or none holds on this machine or
 * for this n; ERROR_UNSUPPORTED where the machine lacks what the formula needs; ERROR_LIMIT for a broken formula.
 * *value is written on success only. Where beyond_start is set the count may be larger by a constant. */
bool kernel_predict(const struct kernel *kernel, const char *event, uint64_t n,
		    const struct kernel_machine *machine, double *value, struct error *err);
/* The same of the region alone. */
bool kernel_predict_region(const struct kernel *kernel, const char *event, uint64_t n,
			   const struct kernel_machine *machine, double *value, struct error *err);
/* Of one row, which must hold for the interface. */
bool kernel_prediction_value(const struct kernel_prediction *row, enum kernel_interface interface, uint64_t n,
			     const struct kernel_machine *machine, double *value, struct error *err);

/* A file of truths: NAME.truth. */
struct kernel_text {
	const char *text, *source; /* source: for messages */
	size_t length;
};

/* Reads a kernel's truth, start: what start.truth says. Everything lives in arena; path, region_path and why_not
 * are left out. */
bool kernel_read(const struct kernel_text *truth, const struct kernel_text *start, struct arena *arena,
		 struct kernel *out, struct error *err);

#endif
