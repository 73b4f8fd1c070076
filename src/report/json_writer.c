#include "report/json_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "report/number.h"

static void next_line(struct json *json)
{
	fputc('\n', json->out);
	for (int i = 0; i < json->depth; i++)
		fputs("  ", json->out);
}

static void quote(FILE *out, const char *text)
{
	fputc('"', out);
	const unsigned char *s = (const unsigned char *)text;
	while (*s) {
		/* the lengths and ranges of Unicode 15, table 3-7 */
		unsigned low = 0x80, high = 0xbf, length;
		if (*s < 0x80)
			length = 1;
		else if (*s >= 0xc2 && *s <= 0xdf)
			length = 2;
		else if (*s >= 0xe0 && *s <= 0xef)
			length = 3;
		else if (*s >= 0xf0 && *s <= 0xf4)
			length = 4;
		else
			length = 0;
		if (*s == 0xe0)
			low = 0xa0;
		else if (*s == 0xed)
			high = 0x9f;
		else if (*s == 0xf0)
			low = 0x90;
		else if (*s == 0xf4)
			high = 0x8f;
		for (unsigned i = 1; i < length; i++) {
			if (s[i] < low || s[i] > high) {
				length = 0;
				break;
			}
			low = 0x80;
			high = 0xbf;
		}
		if (length == 0) {
			fputs("\\ufffd", out);
			s++;
		} else if (length > 1) {
			fwrite(s, 1, length, out);
			s += length;
		} else {
			if (*s == '"' || *s == '\\')
				fprintf(out, "\\%c", *s);
			else if (*s == '\n')
				fputs("\\n", out);
			else if (*s == '\t')
				fputs("\\t", out);
			else if (*s < 0x20 || *s == 0x7f)
				fprintf(out, "\\u%04x", *s);
			else
				fputc(*s, out);
			s++;
		}
	}
	fputc('"', out);
}

static void begin(struct json *json, const char *key)
{
	if (json->depth > 0) {
		bool line = json->depth <= json->lines;
		if (json->filled[json->depth])
			fputs(line ? "," : ", ", json->out);
		json->filled[json->depth] = true;
		if (line)
			next_line(json);
	}
	if (key)
		fprintf(json->out, "\"%s\": ", key);
}

void json_write_open(struct json *json, const char *key, char open)
{
	begin(json, key);
	fputc(open, json->out);
	assert(json->depth < JSON_DEPTH_MOST);
	json->filled[++json->depth] = false;
}

void json_write_close(struct json *json, char close)
{
	bool line = json->depth <= json->lines && json->filled[json->depth];
	json->depth--;
	if (line)
		next_line(json);
	fputc(close, json->out);
	if (json->depth == 0)
		fputc('\n', json->out);
}

void json_write_text(struct json *json, const char *key, const char *text)
{
	begin(json, key);
	if (text)
		quote(json->out, text);
	else
		fputs("null", json->out);
}

void json_write_number(struct json *json, const char *key, double value)
{
	char text[NUMBER_BYTES];
	if (!isfinite(value)) {
		json_write_null(json, key);
		return;
	}
	begin(json, key);
	number_exact(text, value);
	fputs(text, json->out);
}

void json_write_integer(struct json *json, const char *key, int64_t value)
{
	begin(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void json_write_bool(struct json *json, const char *key, bool value)
{
	begin(json, key);
	fputs(value ? "true" : "false", json->out);
}

void json_write_null(struct json *json, const char *key)
{
	begin(json, key);
	fputs("null", json->out);
}
