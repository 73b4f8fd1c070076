/* Programs that a Debian machine has, for studies over many programs, with inputs that tare makes: the same on
 * every machine. */
#ifndef TARE_SESSION_SUITE_PROGRAMS_H
#define TARE_SESSION_SUITE_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { SUITE_MOST = 32, SUITE_WORDS_MOST = 10 };

struct suite_program {
	const char *name;
	char *argv[SUITE_WORDS_MOST + 1]; /* borrowed until suite_programs_end() */
	bool quick;                       /* one of the few that stand for all */
	const char *why;                  /* why it cannot run here; NULL: it can */
};

struct suite_programs; /* the folder with their inputs, in TMPDIR */

/* On failure *out is NULL and nothing is left behind. */
bool suite_programs_begin(struct suite_programs **out, struct error *err);
void suite_programs_end(struct suite_programs *programs); /* removes the inputs; programs may be NULL */
size_t suite_programs_count(void);
void suite_programs_at(struct suite_programs *programs, size_t index, struct suite_program *out);

#endif
