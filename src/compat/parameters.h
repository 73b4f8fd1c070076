/* run_p5mon's parameters (Safford, section 4.3, Table C.1, Figure C.1): what was asked for, from a file in the
 * syntax of the IMPACT parameter facility and from -F key=value.
 *
 *     file       = { section | comment }
 *     section    = "(" name { key "=" value ";" } "end" ")"      sections not called p5mon are skipped
 *     value      = text to the ";", on one line, or "quoted text" in which \" and \\ stand for " and \
 *     comment    = "#" to the end of the line, wherever a key or a section could begin
 *
 * 1. An error names the file, line and column. Nothing is printed: warnings are texts for the caller.
 * 2. -F overrides the file, whatever the order. A parameter defined twice has its last value.
 * 3. conf_level_99 (Figure C.1) and confidence_level_99 (Table C.1) are the same parameter. */
#ifndef TARE_COMPAT_PARAMETERS_H
#define TARE_COMPAT_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "compat/p5mon_events.h"

enum {
	PARAMETERS_MOST_BYTES = 1 << 20,  /* of a file */
	PARAMETERS_REPETITIONS = 1000000, /* at most */
	PARAMETERS_REGIONS = 100,
	PARAMETERS_ROWS = 20 + P5MON_EVENTS,
};

struct parameter_set { /* where a parameter got its value */
	bool in_file, overridden;
	unsigned line, column; /* of the last definition in a file */
};

struct parameter_issue; /* something to warn of, if the warnings asked for say so */

struct parameters {
	const char *command; /* "" when there is none */
	unsigned long long repetitions;
	bool user_events, kernel_events;
	bool output_all_results;
	bool confidence_level_99;
	bool errata; /* tare's own: count as the Pentium did, errors included */
	bool use_assembly_regions;
	unsigned long long max_regions;
	const char *output_file; /* "" when there is none */
	bool skip_initialization_run;
	unsigned long long verbose_level;
	bool repeat_first_run;
	bool dump_parms;
	bool warn_parm_not_defined, warn_parm_defined_twice, warn_parm_not_used;
	const char *parm_warn_file_name, *parm_dump_file_name; /* "stderr", "stdout" or a path */
	bool events[P5MON_EVENTS];                             /* in p5mon_event_at()'s order */

	struct parameter_set sets[PARAMETERS_ROWS];
	VEC(struct parameter_issue) issues;
	const char *source; /* of the file; NULL when none was read */
	struct arena arena;
};

/* The defaults of Table C.1. */
void parameters_init(struct parameters *p);
void parameters_free(struct parameters *p);

/* Reads a file's text; source is its name. */
bool parameters_read(struct parameters *p, const char *text, size_t length, const char *source, struct error *err);

/* One "key=value" of -F; an unknown key is an error with the nearest names. */
bool parameters_override(struct parameters *p, const char *assignment, struct error *err);

/* After all were read: refuses what the backend `on` cannot do (regions of the program's own). */
bool parameters_check(const struct parameters *p, const char *on, struct error *err);

/* The words of the parameter `command`, for execve(2): split at blanks when it is only words, else the shell's.
 * They are the parameters'. NULL when it has none, or memory ran out. */
char *const *parameters_command(struct parameters *p);

/* The warnings that the warn_parm_… parameters ask for, a line each. Returns how many. */
size_t parameters_warn(const struct parameters *p, FILE *out);

/* All parameters with their values, as a file that reads back as the same parameters. */
void parameters_dump(const struct parameters *p, FILE *out);

#endif
