/*
 * Data objects in the record: what the watched events of a model (record_head.watches) touched. One such area a
 * process, at process->objects, when the record has RECORD_OBJECTS.
 *
 *     struct record_objects | sites | segments | counts of sites | counts of cells
 *
 * What always holds:
 *  1. Every count of a watched event is in exactly one site or one cell: their sum is the process's count.
 *  2. A heap block and a mapping are objects of the site that made them; static data is counted by cells of its
 *     file's mapping, 1 << shift bytes each, so that symbols tell the variables apart.
 */
#ifndef TARE_ENGINE_WIRE_OBJECTS_H
#define TARE_ENGINE_WIRE_OBJECTS_H

#include <stdint.h>

#define RECORD_OBJECT_SITES 65536u
#define RECORD_OBJECT_SEGMENTS 4096u
#define RECORD_OBJECT_CELLS (1u << 26)
#define RECORD_OBJECT_FRAMES 10u
#define RECORD_OBJECT_NO_FILE (~0ull)

enum record_object {                 /* the first sites, there from the start */
		     OBJECT_UNKNOWN, /* memory that was none of the others when it was touched */
		     OBJECT_STACK,   /* a thread's stack */
		     OBJECT_CODE,    /* instruction fetch: it touches no data */
		     /* the heap outside of its blocks: the allocator's own words, and what was freed */
		     OBJECT_ALLOCATOR,
		     OBJECT_OTHERS, /* of sites for which there was no room */
		     OBJECT_FIRST_SITE,
		     OBJECT_HEAP, /* kinds of the sites from OBJECT_FIRST_SITE on */
		     OBJECT_MAPPING,
};

struct record_object_site {
	uint32_t kind; /* enum record_object */
	uint32_t n_frames;
	/* return addresses, the innermost first: the allocation function's caller's */
	uint64_t frames[RECORD_OBJECT_FRAMES];
	uint64_t blocks, bytes; /* that were allocated there, together */
};

enum record_object_file {
	OBJECT_FILE_OTHER,    /* a file that is not a program's: one cell */
	OBJECT_FILE_READ,     /* a program's segment that is not writable, … */
	OBJECT_FILE_WRITABLE, /* … that is: a page of the file may be in both */
	/* thread-local storage: cells of the bytes below the thread pointer, of all threads together; no path.
	 * First of */
	OBJECT_FILE_THREADS,
	/* … a program's part of these: its cells are some of that one's, `start` is how far below it begins */
	OBJECT_FILE_THREAD,
};

struct record_object_segment {
	uint64_t start, length;
	uint64_t file_offset; /* RECORD_OBJECT_NO_FILE: zeroed memory behind the file's */
	uint64_t first_cell;
	uint32_t shift, elf; /* elf: enum record_object_file */
	char path[232];
};

struct record_objects {
	uint32_t n_sites, n_segments;
	/* incomplete: room ran out, and from then on everything is OBJECT_UNKNOWN's */
	uint32_t n_watches, incomplete;
	/* allocation functions that were found; blocks that one of them made, but where was not seen */
	uint32_t functions, unseen;
	uint64_t n_cells;
	uint64_t sites, segments, site_counts, cell_counts; /* offsets from here */
	uint64_t bytes;
};

static inline void record_objects_lay_out(struct record_objects *o, uint32_t n_watches)
{
	o->n_watches = n_watches;
	o->sites = 4096;
	o->segments = o->sites + RECORD_OBJECT_SITES * sizeof(struct record_object_site);
	o->site_counts = o->segments + RECORD_OBJECT_SEGMENTS * sizeof(struct record_object_segment);
	o->cell_counts = o->site_counts + (uint64_t)RECORD_OBJECT_SITES * n_watches * 8;
	o->bytes = o->cell_counts + (uint64_t)RECORD_OBJECT_CELLS * n_watches * 8;
}

_Static_assert(sizeof(struct record_object_site) == 104, "as it says");
_Static_assert(sizeof(struct record_object_segment) == 272, "as it says");
#endif
