/* The study of sampling over programs that a Debian machine has, with inputs that tare makes. */
#ifndef TARE_SESSION_SUITE_H
#define TARE_SESSION_SUITE_H

#include "session/suite_programs.h"
#include "session/verify.h"

enum { SUITE_LEAST = 12 /* programs, for findings to be told */ };

/* Each program before it is studied; number from 0. */
typedef void suite_progress(void *context, const char *name, size_t number, size_t of);

/* Studies each of the suite's programs that is installed, with asked->event, shortest, seed and interrupt; the
 * program's own output is not shown. A program that is not there, or cannot be studied, has `why`. Inputs are
 * files of a folder of its own in TMPDIR, which is removed at the end; they are the same on every machine. On
 * success the caller frees *out with session_suite_free(). ERROR_UNSUPPORTED: none of them could be studied. */
bool session_verify_suite(const struct verify_sampling *asked, suite_progress *progress, void *context,
			  struct sampling_suite *out, struct error *err);
void session_suite_free(struct sampling_suite *suite);

#endif
