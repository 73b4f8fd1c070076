/*
 * Coherence in the reference: model/core/coherence/coherence.h's rules, with lists of what each core holds shared and of what it lost.
 */
#include <stdlib.h>
#include <string.h>

#include "model/core/coherence/coherence.h"
#include "reference_internal.h"

static unsigned point(const struct machine *m)
{
	unsigned found = MACHINE_NONE;
	for (unsigned at = m->first_data; at != MACHINE_NONE && !m->caches[at].shared; at = m->caches[at].next)
		found = at;
	return found;
}

static uint64_t granule_bytes(const struct machine *m)
{
	uint64_t most = 0;
	for (unsigned c = 0; c < m->n_caches; c++)
		if (!m->caches[c].shared && m->caches[c].line_bytes > most)
			most = m->caches[c].line_bytes;
	return most;
}

bool coherent(const struct reference *r)
{
	return r->machine.coherent && r->n_cores > 1 && point(&r->machine) != MACHINE_NONE;
}

static bool has_write_back_level(const struct machine *m)
{
	for (unsigned at = m->first_data; at != MACHINE_NONE && !m->caches[at].shared; at = m->caches[at].next)
		if (m->caches[at].write == WRITE_BACK)
			return true;
	return false;
}

struct held {
	bool any, dirty;
	unsigned lines[MACHINE_CACHES];
};

enum what { LOOK, CLEAN, REMOVE };

/* Lines of a core's private caches that overlap the granule. */
static struct held granule_lines(struct reference *r, unsigned core, uint64_t granule, enum what what)
{
	const struct machine *m = &r->machine;
	uint64_t first = granule * granule_bytes(m), last = first + granule_bytes(m) - 1;
	struct held held = {0};
	for (unsigned f = 0; f < m->n_caches; f++) {
		struct cache_instance *c = &r->cores[core].caches[f];
		if (m->caches[f].shared)
			continue;
		for (size_t i = 0; i < (size_t)m->caches[f].sets * m->caches[f].ways; i++) {
			struct way *way = &c->sets.ways[i];
			uint64_t start = way->tag * m->caches[f].line_bytes;
			if (!way->valid || start > last || start + m->caches[f].line_bytes - 1 < first)
				continue;
			held.lines[f]++;
			held.any = true;
			if (way->dirty && what != LOOK)
				r->cores[core].counts.cache[f][CACHE_WRITE_BACKS]++;
			held.dirty |= way->dirty;
			if (what == CLEAN)
				way->dirty = false;
			if (what == REMOVE)
				way->valid = false;
		}
		for (unsigned i = 0; i < c->buffered; i++) {
			struct buffered *b = &c->buffer[i];
			uint64_t start = b->line * m->caches[f].line_bytes;
			if (start > last || start + m->caches[f].line_bytes - 1 < first)
				continue;
			held.lines[f]++;
			held.any = true;
			if (b->dirty && what != LOOK)
				r->cores[core].counts.cache[f][CACHE_WRITE_BACKS]++;
			held.dirty |= b->dirty;
			if (what == CLEAN)
				b->dirty = false;
			if (what == REMOVE) {
				memmove(b, b + 1, (c->buffered - i - 1) * sizeof(*b));
				c->buffered--;
				i--;
			}
		}
	}
	return held;
}

static void count_lines(struct reference *r, unsigned core, const struct held *held, unsigned what)
{
	for (unsigned f = 0; f < r->machine.n_caches; f++)
		r->cores[core].counts.cache[f][what] += f == point(&r->machine) && !held->lines[f]
								? 1
								: held->lines[f];
}

static void to_memory(struct reference *r, unsigned core, uint64_t granule)
{
	const struct machine_cache *m = &r->machine.caches[point(&r->machine)];
	if (m->next != MACHINE_NONE)
		write_back(r, core, m->next, granule * granule_bytes(&r->machine),
			   (granule + 1) * granule_bytes(&r->machine) - 1);
}

static uint64_t bytes_in_unit(const struct reference *r)
{
	return granule_bytes(&r->machine) > 128 ? granule_bytes(&r->machine) / 128 : 1;
}

static struct lost *lost_of(struct reference *r, unsigned core, uint64_t granule)
{
	struct reference_core *k = &r->cores[core];
	for (size_t i = 0; i < k->n_lost; i++)
		if (k->lost[i].granule == granule)
			return &k->lost[i];
	return NULL;
}

static void loses(struct reference *r, unsigned core, uint64_t granule)
{
	struct reference_core *k = &r->cores[core];
	const struct machine_cache *m = &r->machine.caches[point(&r->machine)];
	size_t most = (size_t)m->sets * m->ways;
	if (most > COHERENCE_LOST_MOST)
		most = COHERENCE_LOST_MOST;
	if (k->n_lost == most)
		memmove(k->lost, k->lost + 1, --k->n_lost * sizeof(*k->lost));
	if (k->n_lost == k->lost_room) {
		k->lost_room = k->lost_room ? 2 * k->lost_room : 8;
		k->lost = realloc(k->lost, k->lost_room * sizeof(*k->lost));
		if (!k->lost)
			abort();
	}
	k->lost[k->n_lost++] = (struct lost){.granule = granule};
}

static void others_remember(struct reference *r, unsigned core, uint64_t granule, uint64_t first, uint64_t last)
{
	uint64_t unit = bytes_in_unit(r), start = granule * granule_bytes(&r->machine);
	for (unsigned j = 0; j < r->n_cores; j++) {
		struct lost *lost = j == core || !r->cores[j].exists ? NULL : lost_of(r, j, granule);
		for (uint64_t b = first; lost && b <= last; b++)
			lost->written[(b - start) / unit] = true;
	}
}

/* The core gets a granule back: was it lost, and to whom? */
static enum sharing regains(struct reference *r, unsigned core, uint64_t granule, uint64_t first, uint64_t last)
{
	struct reference_core *k = &r->cores[core];
	struct lost *lost = lost_of(r, core, granule);
	uint64_t unit = bytes_in_unit(r), start = granule * granule_bytes(&r->machine);
	enum sharing sharing = LOST_FALSE;
	if (!lost)
		return NOT_LOST;
	for (uint64_t b = first; b <= last; b++)
		if (lost->written[(b - start) / unit])
			sharing = LOST_TRUE;
	memmove(lost, lost + 1, (size_t)(&k->lost[k->n_lost] - (lost + 1)) * sizeof(*lost));
	k->n_lost--;
	return sharing;
}

static bool is_shared(struct reference *r, unsigned core, uint64_t granule)
{
	return !has_write_back_level(&r->machine) || list_has(&r->cores[core].shared, granule);
}

static void set_shared(struct reference *r, unsigned core, uint64_t granule, bool shared)
{
	struct list *l = &r->cores[core].shared;
	list_take(l, granule);
	if (shared)
		list_push(l, granule);
}

enum sharing before_read(struct reference *r, unsigned core, uint64_t first, uint64_t last, bool demand)
{
	uint64_t g = first / granule_bytes(&r->machine);
	bool others = false;
	enum sharing sharing;
	if (granule_lines(r, core, g, LOOK).any)
		return NOT_LOST;
	sharing = regains(r, core, g, first, last);
	for (unsigned j = 0; j < r->n_cores; j++) {
		struct held held;
		if (j == core || !r->cores[j].exists)
			continue;
		held = granule_lines(r, j, g, LOOK);
		if (!held.any)
			continue;
		others = true;
		if (is_shared(r, j, g))
			continue;
		count_lines(r, j, &held, CACHE_INTERVENTIONS);
		granule_lines(r, j, g, CLEAN);
		if (held.dirty)
			to_memory(r, j, g);
		set_shared(r, j, g, true);
	}
	set_shared(r, core, g, others);
	return demand ? sharing : NOT_LOST;
}

enum sharing before_write(struct reference *r, unsigned core, uint64_t first, uint64_t last)
{
	uint64_t g = first / granule_bytes(&r->machine);
	bool held_here = granule_lines(r, core, g, LOOK).any, was_shared = held_here && is_shared(r, core, g);
	enum sharing sharing = NOT_LOST;
	if (!held_here)
		sharing = regains(r, core, g, first, last);
	if (!held_here || was_shared) {
		if (was_shared && has_write_back_level(&r->machine))
			r->cores[core].counts.cache[point(&r->machine)][CACHE_UPGRADES]++;
		for (unsigned j = 0; j < r->n_cores; j++) {
			struct held held;
			if (j == core || !r->cores[j].exists)
				continue;
			held = granule_lines(r, j, g, LOOK);
			if (!held.any)
				continue;
			if (!is_shared(r, j, g))
				count_lines(r, j, &held, CACHE_INTERVENTIONS);
			count_lines(r, j, &held, CACHE_INVALIDATIONS);
			granule_lines(r, j, g, REMOVE);
			if (held.dirty)
				to_memory(r, j, g);
			loses(r, j, g);
		}
		set_shared(r, core, g, false);
	}
	others_remember(r, core, g, first, last);
	return sharing;
}
