#include "result/profile_builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

bool profile_builder_open(struct profile_builder *b)
{
	*b = (struct profile_builder){.out = calloc(1, sizeof *b->out)};
	if (b->out && vec_grow((void **)&b->out->nodes, &b->node_capacity, 0, sizeof *b->out->nodes)) {
		b->out->nodes[0] = (struct profile_node){0};
		b->out->n_nodes = 1;
		return true;
	}
	profile_builder_close(b);
	return false;
}

static bool same_module(const struct profile_module *a, const struct profile_module *b)
{
	return a->kind == b->kind && a->pid == b->pid && a->build_id_bytes == b->build_id_bytes &&
	       memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0 && strcmp(a->path, b->path) == 0;
}

uint32_t profile_builder_module(struct profile_builder *b, const struct profile_module *module)
{
	struct profile *p = b->out;
	uint64_t hash = hash_number(hash_text(HASH_BEGIN, module->path), module->kind);
	hash = hash_bytes(hash_number(hash, module->pid), module->build_id, module->build_id_bytes);
	struct hash_search search = hash_find(&b->modules, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (same_module(&p->modules[i], module))
			return i;
	struct profile_module kept = *module;
	if (p->n_modules >= PROFILE_NO_INDEX - 1 || !(kept.path = arena_strdup(&p->arena, module->path)) ||
	    !vec_grow((void **)&p->modules, &b->module_capacity, p->n_modules, sizeof kept) ||
	    !hash_add(&b->modules, hash, (uint32_t)p->n_modules))
		return PROFILE_NO_INDEX;
	p->modules[p->n_modules] = kept;
	return (uint32_t)p->n_modules++;
}

uint32_t profile_builder_task(struct profile_builder *b, uint32_t pid, uint32_t tid)
{
	return profile_builder_task_of_run(b, 0, pid, tid);
}

uint32_t profile_builder_task_of_run(struct profile_builder *b, uint32_t run, uint32_t pid, uint32_t tid)
{
	struct profile *p = b->out;
	uint64_t hash = hash_number(hash_number(hash_number(HASH_BEGIN, pid), tid), run);
	struct hash_search search = hash_find(&b->tasks, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (p->tasks[i].pid == pid && p->tasks[i].tid == tid && p->tasks[i].run == run)
			return i;
	if (p->n_tasks >= PROFILE_NO_INDEX - 1 ||
	    !vec_grow((void **)&p->tasks, &b->task_capacity, p->n_tasks, sizeof *p->tasks) ||
	    !hash_add(&b->tasks, hash, (uint32_t)p->n_tasks))
		return PROFILE_NO_INDEX;
	p->tasks[p->n_tasks] = (struct profile_task){.pid = pid, .tid = tid, .name = "", .run = run};
	return (uint32_t)p->n_tasks++;
}

bool profile_builder_name_task(struct profile_builder *b, uint32_t task, const char *name)
{
	struct profile_task *t = &b->out->tasks[task];
	if (strcmp(t->name, name) == 0)
		return true;
	const char *kept = arena_strdup(&b->out->arena, name);
	if (kept)
		t->name = kept;
	return kept != NULL;
}

uint32_t profile_builder_node(struct profile_builder *b, uint32_t parent, uint32_t module, uint64_t offset)
{
	struct profile *p = b->out;
	uint64_t hash = hash_number(hash_number(hash_number(HASH_BEGIN, parent), module), offset);
	struct hash_search search = hash_find(&b->nodes, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (p->nodes[i].parent == parent && p->nodes[i].module == module && p->nodes[i].offset == offset)
			return i;
	if (p->n_nodes >= PROFILE_NO_INDEX - 1 ||
	    !vec_grow((void **)&p->nodes, &b->node_capacity, p->n_nodes, sizeof *p->nodes) ||
	    !hash_add(&b->nodes, hash, (uint32_t)p->n_nodes))
		return PROFILE_NO_INDEX;
	p->nodes[p->n_nodes] = (struct profile_node){.parent = parent, .module = module, .offset = offset};
	return (uint32_t)p->n_nodes++;
}

bool profile_builder_add(struct profile_builder *b, uint32_t node, uint32_t task, uint32_t event, uint64_t count)
{
	struct profile *p = b->out;
	uint64_t hash = hash_number(hash_number(hash_number(HASH_BEGIN, node), task), event);
	struct hash_search search = hash_find(&b->cells, hash);
	for (uint32_t i; hash_next(&search, &i);) {
		struct profile_cell *c = &p->cells[i];
		if (c->node != node || c->task != task || c->event != event)
			continue;
		if (__builtin_add_overflow(c->count, count, &c->count))
			c->count = UINT64_MAX;
		return true;
	}
	if (p->n_cells >= PROFILE_NO_INDEX - 1 ||
	    !vec_grow((void **)&p->cells, &b->cell_capacity, p->n_cells, sizeof *p->cells) ||
	    !hash_add(&b->cells, hash, (uint32_t)p->n_cells))
		return false;
	p->cells[p->n_cells++] = (struct profile_cell){node, task, event, count};
	return true;
}

bool profile_builder_note(struct profile_builder *b, const char *note)
{
	struct profile *p = b->out;
	const char *kept = arena_strdup(&p->arena, note);
	if (!kept || !vec_grow((void **)&p->notes, &b->note_capacity, p->n_notes, sizeof *p->notes))
		return false;
	p->notes[p->n_notes++] = kept;
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct profile_cell *x = a, *y = b;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

/* Moves an array into the profile's arena. */
static bool settle(struct arena *arena, void **items, size_t bytes)
{
	void *kept = arena_alloc(arena, bytes + 1);
	if (!kept)
		return false;
	if (bytes)
		memcpy(kept, *items, bytes);
	free(*items);
	*items = kept;
	return true;
}

struct profile *profile_builder_finish(struct profile_builder *b)
{
	struct profile *p = b->out;
	struct {
		void **items;
		size_t bytes;
	} const arrays[] = {{(void **)&p->modules, p->n_modules * sizeof *p->modules},
			    {(void **)&p->tasks, p->n_tasks * sizeof *p->tasks},
			    {(void **)&p->nodes, p->n_nodes * sizeof *p->nodes},
			    {(void **)&p->cells, p->n_cells * sizeof *p->cells},
			    {(void **)&p->arcs, p->n_arcs * sizeof *p->arcs},
			    {(void **)&p->notes, p->n_notes * sizeof *p->notes}};
	enum { ARRAYS = sizeof arrays / sizeof *arrays };
	size_t settled = 0;
	size_t in_order = 1;
	while (in_order < p->n_cells && by_place(&p->cells[in_order - 1], &p->cells[in_order]) < 0)
		in_order++;
	if (in_order < p->n_cells)
		qsort(p->cells, p->n_cells, sizeof *p->cells, by_place);
	while (settled < ARRAYS && settle(&p->arena, arrays[settled].items, arrays[settled].bytes))
		settled++;
	if (settled < ARRAYS) {
		for (; settled < ARRAYS; settled++)
			free(*arrays[settled].items);
		profile_free(p);
		free(p);
		p = NULL;
	}
	b->out = NULL;
	profile_builder_close(b);
	return p;
}

void profile_builder_close(struct profile_builder *b)
{
	struct profile *p = b->out;
	if (p) {
		free(p->modules);
		free(p->tasks);
		free(p->nodes);
		free(p->cells);
		free(p->arcs);
		free(p->notes);
		profile_free(p);
		free(p);
	}
	hash_free(&b->modules);
	hash_free(&b->tasks);
	hash_free(&b->nodes);
	hash_free(&b->cells);
	*b = (struct profile_builder){0};
}
