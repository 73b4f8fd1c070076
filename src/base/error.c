#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* Formats into out[size]; what the user typed may hold control characters, which must not reach a
 * terminal, so every byte below space (and DEL) becomes \xNN. A cut text ends in "...". */
static void format_escaped(char *out, size_t size, const char *format, va_list args)
{
	char raw[512];
	int length = vsnprintf(raw, sizeof raw, format, args);
	if (length < 0) {
		snprintf(out, size, "%s", format);
		return;
	}
	str_escape_to(out, size, raw);
	if ((size_t)length >= sizeof raw && size > 4 && strlen(out) + 4 < size)
		strcat(out, "...");
}

bool error_set(struct error *err, enum error_code code, const char *format, ...)
{
	if (!err)
		return false;
	va_list args;
	va_start(args, format);
	err->code = code;
	err->os_errno = 0;
	err->hint[0] = '\0';
	format_escaped(err->text, sizeof err->text, format, args);
	va_end(args);
	return false;
}

bool error_set_errno(struct error *err, enum error_code code, int os_errno, const char *format, ...)
{
	if (!err)
		return false;
	va_list args;
	va_start(args, format);
	err->code = code;
	err->os_errno = os_errno;
	err->hint[0] = '\0';
	format_escaped(err->text, sizeof err->text, format, args);
	va_end(args);
	char reason[128];
	size_t used = strlen(err->text);
	snprintf(err->text + used, sizeof err->text - used, ": %s", strerror_r(os_errno, reason, sizeof reason));
	/* strerror's texts begin with a capital; ours do not */
	if (err->text[used] == ':' && used + 2 < sizeof err->text && err->text[used + 2] >= 'A' &&
	    err->text[used + 2] <= 'Z' && !(err->text[used + 3] >= 'A' && err->text[used + 3] <= 'Z'))
		err->text[used + 2] = (char)(err->text[used + 2] - 'A' + 'a');
	return false;
}

bool error_hint(struct error *err, const char *format, ...)
{
	if (!err)
		return false;
	va_list args;
	va_start(args, format);
	format_escaped(err->hint, sizeof err->hint, format, args);
	va_end(args);
	return false;
}

bool error_no_memory(struct error *err) { return error_set(err, ERROR_NO_MEMORY, "out of memory"); }
