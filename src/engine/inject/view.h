/*
 * The record as the host reads it: processes, their threads' counters, their blocks.
 *
 * What always holds:
 *  1. A view is a copy, of one moment blurred by what programs do while it is taken: what was checked does not
 *     change afterwards. After they have ended it is final.
 *  2. Offsets and counts of the record are checked against its size and each other: a record damaged by a program
 *     that wrote over it makes view_new() fail, or marks the process inexact; it never makes the host read
 *     elsewhere.
 *  3. Blocks of a forked child are its parent's up to the fork, then its own (wire/record.h, 4):
 *     view_block_owner() says whose.
 *  4. A process that went on in another entry of the record is several here, its parts: `head` is the first,
 *     `next_part` leads on.
 *  5. While a view exists, no part is folded.
 */
#ifndef TARE_ENGINE_INJECT_VIEW_H
#define TARE_ENGINE_INJECT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/wire/record.h"

struct injection;

struct view_thread {
	const struct injection *injection;  /* whose record it is in */
	const struct record_thread *record; /* a copy */
	uint64_t *counters;                 /* a copy, up to the last one touched */
	uint64_t n_counters;
	uint64_t *entered; /* of each of the process's blocks, by number: how often */
	uint32_t n_entered;
};

struct view_area {
	const void *entries;            /* own ones, a copy */
	uint32_t own, inherited, count; /* count = inherited + own */
};

struct view_process {
	uint32_t index; /* in the view */
	uint32_t base;  /* of its record's entry 0 in the view */
	const struct injection
		*injection; /* whose record it is in: the view's injection, or a record of its own */
	/* entry of another record that it continues, and the one that continues it there; NULL */
	struct view_process *leaves, *left_for;
	struct record_process entry;         /* a copy */
	const struct record_process *record; /* that one */
	char path[sizeof((struct record_process *)0)->path];
	/* why its counts are not what the program did, or NULL; lives as long as the view */
	const char *inexact;
	char inexact_text[sizeof((struct record_process *)0)->reason + 64];
	/* that it had not ended, or not between two blocks, when it was looked at, is all that is inexact */
	bool unfinished;
	struct view_thread *threads;
	size_t n_threads;
	struct view_area blocks, code, modules, sites, corrections;
	struct view_process *inherits;  /* from which; NULL */
	struct view_process *parent;    /* the one that forked or exec'ed it; NULL for the first */
	struct view_process *head;      /* the first part of the same process; itself, mostly */
	struct view_process *root;      /* by fork and by parts: whose code its code comes from; itself, mostly */
	struct view_process *next_kin;  /* of the same root; a list that begins with it */
	struct view_process *next_part; /* what goes on where this one is RECORD_CONTINUED; NULL */
	const void *totals; /* of a folded part: what injection_fold made of it and of all parts before; NULL */
	size_t totals_bytes;
	bool folded;     /* its counts are in the totals of this part or of a later one */
	bool loaded;     /* false: not looked at (view_part) */
	bool descendant; /* made by a fork, or by an exec in one: not the first program itself */
};

struct view {
	const struct injection *injection; /* borrowed */
	struct view_process *processes;
	size_t n_processes;
	uint64_t claimed, written; /* bytes of the record: by its entries, and in truth */
	bool holds;
};

/* On success *out is the caller's, to be freed before the injection. */
bool view_new(const struct injection *injection, struct view **out, struct error *err);
/* Only that process's entry and what it inherits and continues from is loaded, and nothing is held: for
 * injection_fold. */
bool view_part(const struct injection *injection, uint32_t index, struct view **out, struct error *err);
/* Only that process's: all parts that it continues, and what they inherit; likewise, while it runs. No part is
 * folded meanwhile. */
bool view_process_new(const struct injection *injection, uint32_t index, struct view **out, struct error *err);
void view_free(struct view *view);

/* The process in whose area block `number` of `process` is; NULL when the number is not below its count. */
const struct view_process *view_block_owner(const struct view_process *process, uint32_t number);
/* An owner's own block, module and code bytes. NULL when damaged. */
const struct record_block *view_block(const struct view_process *owner, uint32_t number);
const uint8_t *view_code(const struct view_process *owner, const struct record_block *block);
const struct record_module *view_module(const struct view_process *owner, const struct record_block *block);

/* How often a thread entered a block of its process. */
static inline uint64_t view_entered(const struct view_thread *thread, uint32_t number)
{
	return number < thread->n_entered ? thread->entered[number] : 0;
}

/* A counter of one thread; 0 when it was never touched. */
static inline uint64_t view_counter(const struct view_thread *thread, uint32_t index)
{
	return index < thread->n_counters ? thread->counters[index] : 0;
}

#endif
