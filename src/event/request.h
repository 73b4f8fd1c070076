/* A request cut into its parts; for the files of src/event/ only. */
#ifndef TARE_EVENT_REQUEST_H
#define TARE_EVENT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { REQUEST_LENGTH_MOST = 500 }; /* longer than any name of libpfm4 with all its attributes */

struct request {
	size_t name_length; /* the name is the text's first bytes */
	unsigned levels;    /* LEVEL_USER | LEVEL_KERNEL; never 0 */
	bool levels_given;
	uint64_t period;    /* 0: none */
};

/* Cuts level and period off the end. Checks the name for length and control characters, no more. */
bool request_split(const char *text, struct request *out, struct error *err);

/* "r" and 1 to 16 hexadecimal digits, as perf has it; *config is filled. */
bool request_is_raw(const char *name, uint64_t *config);

#endif
