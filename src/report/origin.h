/* Where a result comes from, for reports that are read elsewhere and later (pages): what was measured where and
 * with what, and what each source of its numbers is. */
#ifndef TARE_REPORT_ORIGIN_H
#define TARE_REPORT_ORIGIN_H

#include "report/document.h"

/* NULL: not known, or there is none. Texts are borrowed. */
struct report_origin {
	const char *run;  /* "17" */
	const char *name; /* that the user gave it */
	const char *tare_version;
	const char *directory, *git_commit, *cpu_features, *microcode, *calibration;
	const char *const *environment; /* "NAME=value", ended by NULL */
};

/* Facts (BLOCK_FACT): a name and a value each. */
void build_origin(struct document *document, const struct machine_facts *machine, uint64_t started_unix,
		  const struct report_origin *origin);

/* Notes: what limits numbers of each source that these results have. */
void build_sources(struct document *document, const struct result *const *results, size_t n);

#endif
