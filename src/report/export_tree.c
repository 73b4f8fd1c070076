#include "report/export_tree.h"

#include <stdlib.h>

#include "base/vec.h"

/* UINT32_MAX when memory ran out. */
static uint32_t child(struct export_tree *t, uint32_t parent, uint32_t frame)
{
	uint64_t hash = hash_number(hash_number(HASH_BEGIN, parent), frame);
	struct hash_search search = hash_find(&t->index, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (t->nodes[i].parent == parent && t->nodes[i].frame == frame)
			return i;
	if (t->n >= UINT32_MAX - 1 || !vec_grow((void **)&t->nodes, &t->capacity, t->n, sizeof *t->nodes) ||
	    !hash_add(&t->index, hash, (uint32_t)t->n))
		return UINT32_MAX;
	t->nodes[t->n] = (struct export_node){
		.parent = parent, .frame = frame, .depth = t->nodes[parent].depth + 1};
	return (uint32_t)t->n++;
}

#define ALL_TASKS UINT32_MAX

static bool is_of(const struct profile_cell *cell, size_t event, uint32_t task)
{
	return cell->event == event && (task == ALL_TASKS || cell->task == task);
}

/* Which nodes lead to a cell of the event: others would be nodes without counts. */
static uint8_t *reached_nodes(const struct profile *p, size_t event, uint32_t task)
{
	uint8_t *reached = calloc(p->n_nodes + 1, 1);
	for (size_t i = 0; reached && i < p->n_cells; i++)
		if (is_of(&p->cells[i], event, task))
			for (uint32_t node = p->cells[i].node; node && !reached[node];
			     node = p->nodes[node].parent)
				reached[node] = 1;
	return reached;
}

static bool add_cells(struct export_tree *t, const struct named_profile *named, size_t event, uint32_t task,
		      int column, const uint32_t *frame_of)
{
	const struct profile *p = named->profile;
	uint8_t *reached = reached_nodes(p, event, task);
	uint32_t *at = calloc(p->n_nodes + 1, sizeof *at);
	bool done = reached && at;
	if (done && !t->n) {
		if ((done = vec_grow((void **)&t->nodes, &t->capacity, 0, sizeof *t->nodes)))
			t->nodes[t->n++] = (struct export_node){.frame = UINT32_MAX};
	}
	for (size_t i = 1; done && i < p->n_nodes; i++) {
		if (!reached[i])
			continue;
		const struct named_place *place = &named->places[named->place_of_node[i]];
		at[i] = at[p->nodes[i].parent];
		for (uint32_t level = place->n_frames; done && level-- > 0;) {
			uint32_t function = named->frames[place->first_frame + level].function;
			at[i] = child(t, at[i], frame_of ? frame_of[function] : function);
			done = at[i] != UINT32_MAX;
		}
	}
	for (size_t i = 0; done && i < p->n_cells; i++)
		if (is_of(&p->cells[i], event, task) && p->cells[i].node) {
			uint64_t *self = &t->nodes[at[p->cells[i].node]].self[column];
			if (__builtin_add_overflow(*self, p->cells[i].count, self))
				*self = UINT64_MAX;
		}
	free(reached);
	free(at);
	return done;
}

bool export_tree_add(struct export_tree *t, const struct named_profile *named, size_t event, int column,
		     const uint32_t *frame_of)
{
	return add_cells(t, named, event, ALL_TASKS, column, frame_of);
}

bool export_tree_add_task(struct export_tree *t, const struct named_profile *named, size_t event, uint32_t task)
{
	return add_cells(t, named, event, task, 0, NULL);
}

void export_tree_total(struct export_tree *t)
{
	t->depth = 0;
	for (size_t i = 0; i < t->n; i++)
		for (int c = 0; c < EXPORT_COLUMNS; c++)
			t->nodes[i].total[c] = t->nodes[i].self[c];
	for (size_t i = t->n; i-- > 1;) {
		struct export_node *node = &t->nodes[i], *parent = &t->nodes[node->parent];
		t->depth = node->depth > t->depth ? node->depth : t->depth;
		for (int c = 0; c < EXPORT_COLUMNS; c++)
			if (__builtin_add_overflow(parent->total[c], node->total[c], &parent->total[c]))
				parent->total[c] = UINT64_MAX;
	}
}

void export_tree_free(struct export_tree *t)
{
	free(t->nodes);
	hash_free(&t->index);
	*t = (struct export_tree){0};
}
