/* Marks of a program's regions in time: what libtare appends to the file that MARKS_VARIABLE names, and `tare
 * profile` reads when the program has ended. One write(2) a mark, in append mode: those of several threads and
 * processes do not mix. The file has no other content, and the program could write anything to it. */
#ifndef TARE_BASE_MARKS_H
#define TARE_BASE_MARKS_H

#include <stdint.h>

#define MARKS_VARIABLE "TARE_MARKS"

enum {
	MARKS_MOST = 10000,    /* of a process: then a MARK_LAST, and no more */
	MARK_NAME_MOST = 1000, /* bytes; the rest of a longer name is left out */
};

enum region_mark_kind { MARK_BEGIN, MARK_END, MARK_LAST };

struct mark_head {        /* then the name's bytes, without a 0 */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t thread;
	uint16_t kind;
	uint16_t name_bytes;
};

#endif
