#include "report/source_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "report/profile_rows.h"

enum { SOURCE_MOST = 16 << 20 /* bytes of a file */ };

static bool split_lines(struct source_text *s)
{
	size_t n = 1;
	for (const char *at = s->bytes; (at = strchr(at, '\n')); at++)
		n++;
	if (!(s->lines = calloc(n, sizeof *s->lines)))
		return false;
	for (char *at = s->bytes; at && *at;) {
		s->lines[s->n++] = at;
		if ((at = strchr(at, '\n')))
			*at++ = '\0';
	}
	return true;
}

/* Not to hang on a FIFO, nor to read a device, that has a source file's name. */
static bool is_regular(const char *path, uint64_t taken_unix, struct source_text *s)
{
	struct stat status;
	if (stat(path, &status) != 0) {
		snprintf(s->why, sizeof s->why, "%s", strerror(errno));
		return false;
	}
	s->newer = taken_unix && status.st_mtime > (time_t)taken_unix;
	if (!S_ISREG(status.st_mode))
		snprintf(s->why, sizeof s->why, "it is not a regular file");
	return S_ISREG(status.st_mode);
}

void source_text_read(const char *path, uint64_t taken_unix, struct source_text *s)
{
	struct error err = {0};
	size_t length;
	*s = (struct source_text){0};
	if (!is_regular(path, taken_unix, s))
		return;
	if (!(s->bytes = file_read(path, SOURCE_MOST, &length, &err)))
		snprintf(s->why, sizeof s->why, "%.200s", err.text);
	else if (strlen(s->bytes) != length)
		snprintf(s->why, sizeof s->why, "it is not text");
	else if (!split_lines(s))
		snprintf(s->why, sizeof s->why, "out of memory");
	if (s->why[0])
		s->n = 0;
}

void source_text_free(struct source_text *s)
{
	free(s->bytes);
	free(s->lines);
}

const char *source_text_shown(struct document *document, const char *text)
{
	struct str plain = {0}, shown = {0};
	for (size_t column = 0; *text && *text != '\r'; text++) {
		size_t n = *text == '\t' ? 8 - column % 8 : 1;
		for (size_t i = 0; *text == '\t' && i < n; i++)
			str_append_char(&plain, ' ');
		if (*text != '\t')
			str_append_char(&plain, *text);
		column += n;
	}
	profile_append_escaped(&shown, plain.text ? plain.text : "");
	str_free(&plain);
	return document_str(document, &shown);
}
