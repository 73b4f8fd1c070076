/* JSON out (RFC 8259). Keys are tare's own and need no escaping; strings may hold anything: control characters
 * are escaped, and every byte that is not part of valid UTF-8 becomes U+FFFD, because JSON has no bytes. */
#ifndef TARE_REPORT_JSON_WRITER_H
#define TARE_REPORT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH_MOST = 10 };

struct json {
	FILE *out;
	int lines; /* levels whose items stand on lines of their own; deeper ones share a line */
	int depth;
	bool filled[JSON_DEPTH_MOST + 1];
};

/* key is NULL within arrays and for the outermost value. open: '{' or '['. */
void json_write_open(struct json *json, const char *key, char open);
void json_write_close(struct json *json, char close);
void json_write_text(struct json *json, const char *key, const char *text); /* null when text is NULL */
void json_write_number(struct json *json, const char *key, double value);   /* null when it is not finite */
void json_write_integer(struct json *json, const char *key, int64_t value);
void json_write_bool(struct json *json, const char *key, bool value);
void json_write_null(struct json *json, const char *key);

#endif
