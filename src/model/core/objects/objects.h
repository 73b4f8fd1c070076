/*
 * Which data object lives at an address, as the access stream goes on: heap blocks by their allocation site,
 * mappings, stacks, static data.
 *
 * Heap blocks come from the stream itself: the templates of allocation functions' first blocks have items of kind
 * TRACE_VALUE with their arguments, those of blocks that return have one with the result; calls and returns keep a
 * stack of return addresses, which names the site. The rest comes from the side of system calls (objects_mapped
 * …), between two runs of the model.
 *
 * What always holds:
 *  1. The granule is 8 bytes: two blocks never share one (allocators align to 8 at least).
 *  2. A block lives from its function's return until the entry of the function that frees it; realloc()'s old one
 *     until realloc() returns. What calloc and realloc write to it themselves, before they return, is found to
 *     have been its when they do (objects_charge()).
 *  3. No room left: everything is OBJECT_UNKNOWN from then on, and the record says incomplete. Nothing is
 *     attributed to a wrong object.
 */
#ifndef TARE_MODEL_CORE_OBJECTS_OBJECTS_H
#define TARE_MODEL_CORE_OBJECTS_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/wire/objects.h"
#include "engine/wire/trace.h"

struct objects;

/* pool_bytes of zeroed memory that need not be there (reserved) behind the rest: 1/2 of the heap that is to be
 * told apart. */
uint64_t objects_bytes(uint64_t pool_bytes);
/* record: zeroed but for its layout (record_objects_lay_out), where sites are written. */
struct objects *objects_init(void *memory, uint64_t bytes, struct record_objects *record);
/* The same objects, recorded elsewhere from now on (a fork's child): sites and segments are copied, counts begin
 * at 0. */
void objects_move(struct objects *objects, struct record_objects *record);

/* A thread's stack of calls; zeroed memory of this many bytes. */
struct object_calls;
uint64_t object_calls_bytes(void);

/* ---- from the stream ---- */

/* Of a block that was executed whole and ends with a call or a return: slot is where the return address is.
 * returns_to: of a call. */
void objects_called(struct objects *objects, struct object_calls *calls, uint64_t slot, uint64_t returns_to);
void objects_returned(struct objects *objects, struct object_calls *calls, uint64_t slot);
/* A TRACE_VALUE item's value. */
void objects_value(struct objects *objects, struct object_calls *calls, const struct trace_item *item,
		   uint64_t value);

/* ---- from outside ---- */

/* A mapping without a program's file: an object of its own, of the site where the call was made. */
void objects_mapped(struct objects *objects, struct object_calls *calls, uint64_t start, uint64_t length);
/* OBJECT_UNKNOWN: it is gone */
void objects_set(struct objects *objects, uint64_t start, uint64_t length, enum record_object object);
/* A new thread's: bytes below top; 0: not said, then as much of what lies there as is one object, at most 64
 * MB. */
void objects_stack(struct objects *objects, uint64_t top, uint64_t bytes);
/* Static data: a file's mapping, or the zeroed memory behind it. */
void objects_file(struct objects *objects, uint64_t start, uint64_t length, uint64_t file_offset,
		  enum record_object_file file, const char *path);
/* Thread-local storage (static TLS): a module's block of `bytes` is, in each thread, `below` bytes below the
 * thread pointer, a multiple of 8. Once of each module, */
void objects_thread_module(struct objects *objects, uint64_t below, uint64_t bytes, const char *path);
/* … and then of each thread. The threads' blocks are one object. */
void objects_thread_local(struct objects *objects, uint64_t pointer, uint64_t below, uint64_t bytes);
/* The segment that ends there, or NULL: whose zeroed memory a mapping at that address is. */
const struct record_object_segment *objects_segment_before(const struct objects *objects, uint64_t address);

/* ---- the question ---- */

/* An access at the address counted `more` of a watch. calls: of its thread. */
void objects_charge(struct objects *objects, struct object_calls *calls, uint64_t address, unsigned watch,
		    uint64_t more);
/* Where the object's counts are: n_watches of them. */
uint64_t *objects_counts(struct objects *objects, uint64_t address);
uint64_t *objects_counts_of(struct objects *objects, enum record_object object);

#endif
