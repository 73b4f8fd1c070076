/* Errors as values: what failed, on what, why, and what to do.
 *
 * A function that can fail returns bool (or a pointer) and takes `struct error *err` last. The struct
 * belongs to the caller, is written only on failure, and may be NULL where the caller does not care.
 * Text: lower case, no full stop, the subject in single quotes. Hint: what the user can do, or empty. */
#ifndef TARE_BASE_ERROR_H
#define TARE_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

enum error_code {
	ERROR_NONE = 0,
	ERROR_USAGE,       /* the caller asked for something malformed or unknown */
	ERROR_SYNTAX,      /* a file or an expression does not parse; text has line and column */
	ERROR_NOT_FOUND,   /* a file, program, process or name is not there */
	ERROR_UNSUPPORTED, /* this machine or kernel cannot do it */
	ERROR_PERMISSION,  /* it could, but this user may not */
	ERROR_BUSY,        /* another user holds the resource */
	ERROR_LIMIT,       /* a limit (files, memory lock, size) was reached */
	ERROR_NO_MEMORY,
	ERROR_IO,     /* reading or writing failed */
	ERROR_SYSTEM, /* any other failure of the operating system */
};

struct error {
	enum error_code code;
	int os_errno; /* 0 when the operating system was not the cause */
	char text[512];
	char hint[512];
};

/* Fill *err (a NULL err is accepted) and return false, so that a caller can `return error_set(…)`.
 * Clears the hint. Control characters in the formatted text are escaped. */
bool error_set(struct error *err, enum error_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, with os_errno stored and ": <strerror>" appended. */
bool error_set_errno(struct error *err, enum error_code code, int os_errno, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Adds the hint to an error that is already set; returns false. */
bool error_hint(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "out of memory"; returns false. */
bool error_no_memory(struct error *err);

#endif
