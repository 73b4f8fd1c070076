/*
 * Makes a struct profile bit by bit: modules, tasks, nodes and cells are found again by what is in them, so that
 * memory is bounded by how many different ones there are.
 *
 *     profile_builder_open ──► (module, task, node, add)* ──► profile_builder_finish ──► (or profile_builder_close)
 *
 * builder->out is readable at any time but for its cells: indices stay valid, pointers into its arrays until the
 * next call.
 */
#ifndef TARE_RESULT_PROFILE_BUILDER_H
#define TARE_RESULT_PROFILE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "result/profile.h"

#define PROFILE_NO_INDEX UINT32_MAX /* memory ran out */

struct profile_builder {
	struct profile *out; /* the builder's until finish() */
	size_t module_capacity, task_capacity, node_capacity, cell_capacity, arc_capacity, note_capacity;
	struct hash_index modules, tasks, nodes, cells;
};

/* One sample, with its place and task found. */
struct profile_sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t node, task, event, cpu;
	uint64_t gap; /* that it stands for; 0: not known */
};

/* A profile with its root and no events. False when memory ran out. */
bool profile_builder_open(struct profile_builder *builder);

/* The index of what is equal; new ones are copied. PROFILE_NO_INDEX when memory ran out. */
uint32_t profile_builder_module(struct profile_builder *builder, const struct profile_module *module);
uint32_t profile_builder_task(struct profile_builder *builder, uint32_t pid, uint32_t tid);
uint32_t profile_builder_task_of_run(struct profile_builder *builder, uint32_t run, uint32_t pid, uint32_t tid);
uint32_t profile_builder_node(struct profile_builder *builder, uint32_t parent, uint32_t module, uint64_t offset);

/* False when memory ran out; likewise below. */
bool profile_builder_name_task(struct profile_builder *builder, uint32_t task, const char *name);
/* Adds count (not 0) to the cell. A sum that does not fit is UINT64_MAX. */
bool profile_builder_add(struct profile_builder *builder, uint32_t node, uint32_t task, uint32_t event,
			 uint64_t count);
bool profile_builder_note(struct profile_builder *builder, const char *note);

/* Sorts the cells. The profile is the caller's (profile_free(), free()); NULL when memory ran out. The builder is
 * closed either way. */
struct profile *profile_builder_finish(struct profile_builder *builder);
void profile_builder_close(struct profile_builder *builder);

#endif
