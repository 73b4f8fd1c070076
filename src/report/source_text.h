/* A source file as lines, for reports that annotate it. */
#ifndef TARE_REPORT_SOURCE_TEXT_H
#define TARE_REPORT_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/document.h"

struct source_text {
	char *bytes;
	const char **lines; /* each ends in '\0'; line 1 is lines[0] */
	size_t n;
	char why[256];
	bool newer; /* it was written after the profile was taken */
};

/* *out is to be freed by source_text_free(). One that cannot be read has no lines, and `why`. taken_unix: when the
 * profile was taken, in seconds; 0: not known. */
void source_text_read(const char *path, uint64_t taken_unix, struct source_text *out);
void source_text_free(struct source_text *source);

/* The text of a line, with tabs as spaces and nothing that acts; the document's. */
const char *source_text_shown(struct document *document, const char *text);

#endif
