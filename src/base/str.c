#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool reserve(struct str *s, size_t extra)
{
	if (s->failed)
		return false;
	if (s->length + extra + 1 <= s->capacity)
		return true;
	size_t capacity = s->capacity ? s->capacity : 64;
	while (capacity < s->length + extra + 1)
		capacity *= 2;
	char *text = realloc(s->text, capacity);
	if (!text) {
		s->failed = true;
		return false;
	}
	s->text = text;
	s->capacity = capacity;
	return true;
}

void str_append_bytes(struct str *s, const char *bytes, size_t length)
{
	if (!reserve(s, length))
		return;
	memcpy(s->text + s->length, bytes, length);
	s->length += length;
	s->text[s->length] = '\0';
}

void str_append(struct str *s, const char *text) { str_append_bytes(s, text, strlen(text)); }

void str_append_char(struct str *s, char c) { str_append_bytes(s, &c, 1); }

void str_appendf(struct str *s, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0)
		s->failed = true;
	else if (reserve(s, (size_t)length)) {
		vsnprintf(s->text + s->length, (size_t)length + 1, format, again);
		s->length += (size_t)length;
	}
	va_end(again);
}

char *str_take(struct str *s)
{
	char *text = s->failed ? NULL : s->text ? s->text : calloc(1, 1);
	if (s->failed)
		free(s->text);
	*s = (struct str){0};
	return text;
}

void str_free(struct str *s)
{
	free(s->text);
	*s = (struct str){0};
}

void str_escape_to(char *out, size_t size, const char *text)
{
	size_t used = 0;
	if (size == 0)
		return;
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c < 0x20 || c == 0x7f) {
			if (used + 5 > size)
				break;
			used += (size_t)snprintf(out + used, size - used, "\\x%02x", c);
		} else {
			if (used + 2 > size)
				break;
			out[used++] = (char)c;
		}
	}
	out[used] = '\0';
}

char *str_trim(char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	size_t length = strlen(text);
	while (length > 0 && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

bool str_equal_nocase(const char *a, const char *b) { return strcasecmp(a, b) == 0; }

bool str_to_u64(const char *text, unsigned long long *out)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	if (!(hex ? isxdigit((unsigned char)text[2]) : isdigit((unsigned char)text[0])))
		return false;
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, hex ? 16 : 10);
	if (errno || *end)
		return false;
	*out = value;
	return true;
}

bool str_to_double(const char *text, double *out)
{
	if (!isdigit((unsigned char)text[0]) && text[0] != '-' && text[0] != '.')
		return false;
	char *end;
	double value = strtod(text, &end);
	if (end == text || *end || !isfinite(value))
		return false;
	*out = value;
	return true;
}
