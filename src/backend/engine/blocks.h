/*
 * The record as basic blocks: where, how long, how often. A pure function of a view.
 *
 * What always holds:
 *  1. A row is a run of instructions that was only entered at its start and left at its end: it is split at every
 *     leader, behind every control transfer, and wherever the counts of neighbours differ (code left by a fault
 *     and entered again in the middle).
 *  2. Rows do not overlap, but for code whose instructions overlap and code that was replaced at its place by
 *     other bytes.
 *  3. The sum of count × insns over the rows of a group is the group's instructions, or blocks_new() fails.
 *  4. Rows are in the order of group, module, offset.
 */
#ifndef TARE_BACKEND_ENGINE_BLOCKS_H
#define TARE_BACKEND_ENGINE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "engine/inject/view.h"

enum blocks_groups { BLOCKS_TOGETHER, BLOCKS_BY_PROCESS, BLOCKS_BY_THREAD };

struct block_row {
	uint32_t pid, tid; /* 0: together */
	/* a path, "[vdso]", or "" for memory of no file: offset is the address then. Lives as long as the view */
	const char *module;
	uint64_t offset; /* in the file */
	uint32_t length_bytes, insns;
	uint64_t count;
};

struct blocks {
	struct block_row *rows;
	size_t count;
	uint64_t instructions; /* of all rows */
	const char *why;       /* not exact, as in struct tally; the rows must not be used then */
	char why_text[320];
};

bool blocks_new(const struct view *view, bool children, enum blocks_groups groups, struct blocks **out,
		struct error *err);
void blocks_free(struct blocks *blocks);

/* Appends tab-separated lines below a line of column names: [pid [tid]] module offset length_bytes instructions
 * count. Tabs, line ends and backslashes in a module's name are escaped as \t, \n, \\. */
void blocks_write(const struct blocks *blocks, enum blocks_groups groups, struct str *out);

#endif
