/*
 * Profiles as files of other tools. A format is a row of the table in export.c and a file of its own
 * (export_folded.c).
 *
 * What always holds:
 *  1. The counts of an event in a file add up to named->sums of it, or the file says what it leaves out.
 *  2. What the profile does not have is not invented: no stacks without stacks, no numbers of calls of samples,
 *     no times of samples.
 *  3. Names come from the program's files. They reach a file as valid UTF-8 without control characters, quoted
 *     as the format asks.
 */
#ifndef TARE_REPORT_EXPORT_H
#define TARE_REPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "result/named_profile.h"

struct export_options {
	size_t event;                       /* of formats of one event */
	bool inverted;                      /* flame graph: the callers above */
	const struct named_profile *before; /* differential flame graph: what it is compared with; NULL */
	size_t event_before;                /* its event */
};

struct export_format {
	const char *name, *suffix; /* "folded", ".folded" */
	const char *what;          /* a few words for help */
	bool one_event;            /* else all events with cells */
	bool flame;                /* takes `inverted` and `before` */
	bool binary;
	bool calls_only; /* has no stacks in any case */
	bool times;      /* takes profile->moments, where they are */
	/* False with *err when memory ran out, or the profile cannot be written so. Whether all arrived is found
	 * by file_finish(). */
	bool (*write)(FILE *out, const struct named_profile *named, const struct export_options *options,
		      struct error *err);
};

#define EXPORT_FORMATS "flamegraph|folded|callgrind|speedscope|firefox|pprof|html|json|csv"

/* NULL: there is none of that name. */
const struct export_format *export_find(const char *name);

/* Is a call stack known of any place? */
bool export_has_stacks(const struct named_profile *named);

/* What a reader of the file has to know of the profile, or NULL. */
const char *export_remark(const struct export_format *format, const struct named_profile *named);

bool export_folded(FILE *out, const struct named_profile *named, const struct export_options *options,
		   struct error *err);
bool export_flame(FILE *out, const struct named_profile *named, const struct export_options *options,
		  struct error *err);
bool export_callgrind(FILE *out, const struct named_profile *named, const struct export_options *options,
		      struct error *err);
bool export_speedscope(FILE *out, const struct named_profile *named, const struct export_options *options,
		       struct error *err);
bool export_pprof(FILE *out, const struct named_profile *named, const struct export_options *options,
		  struct error *err);
/* html/html.h: the report as a page, with all events. */
bool export_html(FILE *out, const struct named_profile *named, const struct export_options *options,
		 struct error *err);
/* report/profile.h: all events, functions, lines and calls, as docs/profile.schema.json has them. */
bool export_json(FILE *out, const struct named_profile *named, const struct export_options *options,
		 struct error *err);
bool export_csv(FILE *out, const struct named_profile *named, const struct export_options *options,
		struct error *err);
bool export_firefox(FILE *out, const struct named_profile *named, const struct export_options *options,
		    struct error *err);

#endif
