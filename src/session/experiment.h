/* SpeedShop's experiments (data/experiments/): what `tare profile --exp NAME` asks for. */
#ifndef TARE_SESSION_EXPERIMENT_H
#define TARE_SESSION_EXPERIMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "result/profile.h"

struct experiment {
	const char *name, *definition;
	const char *event; /* NULL: the user names it, and its gap (prof_hwc) */
	const char *on;    /* a backend; NULL: perf */
	uint64_t gap;      /* 0: not sampled */
	enum profile_stacks stacks;
};

/* Its texts live in arena. ERROR_USAGE with the names that there are: there is none of that name. */
bool experiment_find(const char *name, struct arena *arena, struct experiment *out, struct error *err);

/* Their names; appended. */
void experiment_names(const char *between, struct str *out);

/* "sort.usertime.m1234": SpeedShop's exe.exp.idPID, in the current folder; m is the process that was started. In
 * arena; NULL when memory ran out. */
const char *experiment_file(const struct experiment *experiment, const char *program, int pid,
			    struct arena *arena);

#endif
