/* Data files carried inside the binary; arrays of these are written by tools/embed, and end with a row
 * whose name is NULL. */
#ifndef TARE_BASE_EMBEDDED_H
#define TARE_BASE_EMBEDDED_H

#include <stddef.h>

struct embedded_file {
	const char *name; /* "kernel.events" */
	const char *text; /* NUL-terminated; the NUL is not counted in length */
	size_t length;
};

#endif
