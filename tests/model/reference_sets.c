/*
 * Replacement, for the reference. Rules: model/core/cache/lines.h. Sources: tree PLRU as in any textbook (Hennessy &
 * Patterson, app. B); RRIP: Jaleel et al., ISCA 2010; xorshift64*: Vigna 2016.
 */
#include <stdlib.h>
#include <string.h>

#include "reference_internal.h"

void sets_make(struct sets *s, unsigned n_sets, unsigned n_ways, unsigned policy, unsigned rrip_bits,
	       uint64_t seed)
{
	*s = (struct sets){
		.n_sets = n_sets, .n_ways = n_ways, .policy = policy, .rrip_bits = rrip_bits, .random = seed};
	s->ways = calloc((size_t)n_sets * n_ways, sizeof(*s->ways));
	s->tree = calloc((size_t)n_sets * n_ways * 2, sizeof(*s->tree));
	if (!s->ways || !s->tree)
		abort();
}

void sets_free(struct sets *s)
{
	free(s->ways);
	free(s->tree);
}

static struct way *set_of(struct sets *s, uint64_t tag) { return &s->ways[tag % s->n_sets * s->n_ways]; }

struct way *sets_find(struct sets *s, uint64_t tag)
{
	struct way *set = set_of(s, tag);
	for (unsigned w = 0; w < s->n_ways; w++)
		if (set[w].valid && set[w].tag == tag)
			return &set[w];
	return NULL;
}

/* From the root down to the way: its path's nodes get to point to the other half. */
static void tree_away(struct sets *s, uint64_t tag, unsigned way)
{
	bool *tree = &s->tree[tag % s->n_sets * s->n_ways * 2];
	unsigned low = 0, high = s->n_ways, node = 1;
	while (high - low > 1) {
		unsigned middle = (low + high) / 2;
		bool right = way >= middle;
		tree[node] = !right;
		node = 2 * node + right;
		if (right)
			low = middle;
		else
			high = middle;
	}
}

static unsigned tree_victim(const struct sets *s, uint64_t tag)
{
	const bool *tree = &s->tree[tag % s->n_sets * s->n_ways * 2];
	unsigned low = 0, high = s->n_ways, node = 1;
	while (high - low > 1) {
		unsigned middle = (low + high) / 2;
		bool right = tree[node];
		node = 2 * node + right;
		if (right)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void sets_touch(struct sets *s, struct way *way)
{
	way->used = ++s->time;
	way->rrpv = 0;
	if (s->policy == REPLACE_PLRU)
		tree_away(s, way->tag, (unsigned)(way - set_of(s, way->tag)));
}

static unsigned victim(struct sets *s, uint64_t tag)
{
	struct way *set = set_of(s, tag);
	unsigned found = 0;
	switch (s->policy) {
	case REPLACE_LRU:
		for (unsigned w = 1; w < s->n_ways; w++)
			if (set[w].used < set[found].used)
				found = w;
		return found;
	case REPLACE_FIFO:
		for (unsigned w = 1; w < s->n_ways; w++)
			if (set[w].filled < set[found].filled)
				found = w;
		return found;
	case REPLACE_PLRU: return tree_victim(s, tag);
	case REPLACE_RANDOM:
		s->random ^= s->random >> 12;
		s->random ^= s->random << 25;
		s->random ^= s->random >> 27;
		if (s->scales)
			return (unsigned)((s->random * UINT64_C(0x2545F4914F6CDD1D) >> 32) * s->n_ways >> 32);
		return (unsigned)((s->random * UINT64_C(0x2545F4914F6CDD1D) >> 32) % s->n_ways);
	default:
		for (;;) {
			for (unsigned w = 0; w < s->n_ways; w++)
				if (set[w].rrpv == (1u << s->rrip_bits) - 1)
					return w;
			for (unsigned w = 0; w < s->n_ways; w++)
				set[w].rrpv++;
		}
	}
}

struct way *sets_place(struct sets *s, uint64_t tag, struct way *out)
{
	struct way *set = set_of(s, tag);
	unsigned w = 0, most = (1u << s->rrip_bits) - 1;
	while (w < s->n_ways && set[w].valid)
		w++;
	if (w == s->n_ways)
		w = victim(s, tag);
	*out = set[w];
	s->fills++;
	set[w] = (struct way){.valid = true, .tag = tag};
	sets_touch(s, &set[w]);
	set[w].filled = s->time;
	set[w].rrpv = s->policy == REPLACE_BRRIP && s->fills % 32 ? most : most - 1;
	return &set[w];
}

void list_push(struct list *l, uint64_t item)
{
	if (l->n == l->room) {
		l->room = l->room ? 2 * l->room : 16;
		l->items = realloc(l->items, l->room * sizeof(*l->items));
		if (!l->items)
			abort();
	}
	l->items[l->n++] = item;
}

bool list_has(const struct list *l, uint64_t item)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i] == item)
			return true;
	return false;
}

bool list_take(struct list *l, uint64_t item)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i] == item) {
			memmove(&l->items[i], &l->items[i + 1], (l->n - i - 1) * sizeof(*l->items));
			l->n--;
			return true;
		}
	return false;
}

void list_drop_first(struct list *l) { list_take(l, l->items[0]); }
