/* A growing string. Appending never fails visibly: the first failed allocation sets `failed`, later
 * appends do nothing, and str_take() returns NULL; so a writer checks once, at the end. */
#ifndef TARE_BASE_STR_H
#define TARE_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>

struct str {
	char *text; /* NUL-terminated when not NULL; NULL means empty */
	size_t length;
	size_t capacity;
	bool failed;
};

void str_append(struct str *s, const char *text);
void str_append_bytes(struct str *s, const char *bytes, size_t length);
void str_append_char(struct str *s, char c);
void str_appendf(struct str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hands the text over: the caller frees it. NULL when an allocation failed; "" when empty. */
char *str_take(struct str *s);
void str_free(struct str *s);

/* Copies text into out[size], control bytes as \xNN, cut to fit, always NUL-terminated.
 * Bytes >= 0x80 pass unchanged (UTF-8). */
void str_escape_to(char *out, size_t size, const char *text);

/* The text without leading and trailing white space; cuts in place and returns the new start. */
char *str_trim(char *text);

bool str_equal_nocase(const char *a, const char *b); /* ASCII */

/* Whole-string decimal or 0x-hexadecimal number; false on anything else, sign or overflow. */
bool str_to_u64(const char *text, unsigned long long *out);
/* Whole-string finite floating-point number. */
bool str_to_double(const char *text, double *out);

#endif
