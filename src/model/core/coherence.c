/*
 * The protocol: see coherence.h. What a core lost is a list, oldest first, of at most as many granules as the point of
 * coherence has lines (COHERENCE_LOST_MOST at most), found by a hash:
 *
 *     lost by another's write ──► newest of the list ──► had again: taken out
 *                                        │ list full: the oldest is forgotten
 */
#include <stddef.h>

#include "model/core/coherence.h"

#define MASK_UNITS 128u

struct entry { /* numbers of entries are index + 1; 0: none */
	uint64_t granule;
	uint64_t written[2]; /* units written by others since */
	uint32_t older, newer, chain;
	uint32_t unused;
};

struct coherence_lost {
	uint32_t most, buckets; /* buckets: a power of two */
	uint32_t n, used;       /* in the list; entries ever taken */
	uint32_t oldest, newest, free;
	uint32_t ready; /* the sizes above are set */
			/* then struct entry [most], uint32_t heads[buckets] */
};

/* ---- the machine ---- */

unsigned coherence_point(const struct machine *machine)
{
	unsigned point = MACHINE_NONE;
	if (!machine->coherent)
		return MACHINE_NONE;
	for (unsigned at = machine->first_data; at != MACHINE_NONE && !machine->caches[at].shared;
	     at = machine->caches[at].next)
		point = at;
	return point;
}

static uint32_t granule_bytes(const struct machine *machine)
{
	uint32_t most = 1;
	for (unsigned c = 0; c < machine->n_caches; c++)
		if (!machine->caches[c].shared && machine->caches[c].line_bytes > most)
			most = machine->caches[c].line_bytes;
	return most;
}

static bool writes_back(const struct machine *machine)
{
	for (unsigned at = machine->first_data; at != MACHINE_NONE && !machine->caches[at].shared;
	     at = machine->caches[at].next)
		if (machine->caches[at].write == WRITE_BACK)
			return true;
	return false;
}

static uint32_t lost_most(const struct machine *machine)
{
	const struct machine_cache *point = &machine->caches[coherence_point(machine)];
	uint64_t lines = (uint64_t)point->sets * point->ways;
	return lines < COHERENCE_LOST_MOST ? (uint32_t)lines : COHERENCE_LOST_MOST;
}

static uint32_t buckets_for(uint32_t most)
{
	uint32_t buckets = 1;
	while (buckets < most)
		buckets *= 2;
	return buckets;
}

uint64_t coherence_core_bytes(const struct machine *machine)
{
	uint32_t most;
	if (coherence_point(machine) == MACHINE_NONE)
		return 0;
	most = lost_most(machine);
	return (sizeof(struct coherence_lost) + most * sizeof(struct entry) +
		buckets_for(most) * sizeof(uint32_t) + 63) &
	       ~63ull;
}

/* ---- what a core lost ---- */

static struct entry *entry_at(struct coherence_lost *lost, uint32_t number)
{
	return (struct entry *)(lost + 1) + number - 1;
}

static uint32_t *head_of(struct coherence_lost *lost, uint64_t granule)
{
	uint32_t *heads = (uint32_t *)((struct entry *)(lost + 1) + lost->most);
	return &heads[(granule * 0x9E3779B97F4A7C15ull >> 32) & (lost->buckets - 1)];
}

static struct entry *lost_find(struct coherence_lost *lost, uint64_t granule)
{
	if (!lost || !lost->n)
		return NULL;
	for (uint32_t at = *head_of(lost, granule); at; at = entry_at(lost, at)->chain)
		if (entry_at(lost, at)->granule == granule)
			return entry_at(lost, at);
	return NULL;
}

static void lost_forget(struct coherence_lost *lost, struct entry *entry)
{
	uint32_t number = (uint32_t)(entry - entry_at(lost, 1)) + 1, *link = head_of(lost, entry->granule);
	while (*link != number)
		link = &entry_at(lost, *link)->chain;
	*link = entry->chain;
	*(entry->older ? &entry_at(lost, entry->older)->newer : &lost->oldest) = entry->newer;
	*(entry->newer ? &entry_at(lost, entry->newer)->older : &lost->newest) = entry->older;
	entry->chain = lost->free;
	lost->free = number;
	lost->n--;
}

static void lost_add(struct coherence_lost *lost, const struct machine *machine, uint64_t granule)
{
	struct entry *entry;
	uint32_t number, *head;
	if (!lost->ready) {
		lost->ready = 1;
		lost->most = lost_most(machine);
		lost->buckets = buckets_for(lost->most);
	}
	if (lost->n == lost->most)
		lost_forget(lost, entry_at(lost, lost->oldest));
	number = lost->free;
	if (number)
		lost->free = entry_at(lost, number)->chain;
	else
		number = ++lost->used;
	head = head_of(lost, granule);
	entry = entry_at(lost, number);
	*entry = (struct entry){ .granule = granule, .older = lost->newest, .chain = *head };
	*head = number;
	*(lost->newest ? &entry_at(lost, lost->newest)->newer : &lost->oldest) = number;
	lost->newest = number;
	lost->n++;
}

/* ---- an action ---- */

struct action {
	struct model *model;
	const struct machine *machine;
	unsigned core, point;
	uint64_t granule, first, last; /* bytes of the granule */
	uint32_t granule_bytes;
	bool writes_back;
};

static struct action begin(struct model *model, unsigned core)
{
	const struct machine *machine = coherence_machine(model);
	unsigned point = coherence_point(machine);
	return (struct action){ .model = model,
				.machine = machine,
				.core = core,
				.point = point,
				.granule_bytes = granule_bytes(machine),
				.writes_back = writes_back(machine) };
}

static void of_granule(struct action *a, uint64_t granule)
{
	a->granule = granule;
	a->first = granule * a->granule_bytes;
	a->last = a->first + a->granule_bytes - 1;
}

/* Units that the bytes first … last of the granule are in. */
static void units_of(const struct action *a, uint64_t first, uint64_t last, uint64_t units[2])
{
	uint32_t unit = a->granule_bytes > MASK_UNITS ? a->granule_bytes / MASK_UNITS : 1;
	units[0] = units[1] = 0;
	for (uint64_t at = (first - a->first) / unit; at <= (last - a->first) / unit; at++)
		units[at / 64] |= 1ull << at % 64;
}

struct holding {
	bool held, shared, dirty;
	uint32_t lines[MACHINE_CACHES];
};

enum change { LOOK, SHARE, OWN, OWN_ALONE, REMOVE };

/* The core's lines of the granule, changed. What is written back is counted where it was dirty. */
static struct holding lines_of(const struct action *a, unsigned core, enum change change)
{
	struct holding holding = { 0 };
	for (unsigned c = 0; c < a->machine->n_caches; c++) {
		uint32_t line_bytes = a->machine->caches[c].line_bytes;
		if (a->machine->caches[c].shared)
			continue;
		for (uint64_t line = a->first / line_bytes; line <= a->last / line_bytes; line++) {
			unsigned state = cache_line_state(a->model, core, c, line);
			if (!state)
				continue;
			holding.held = true;
			holding.lines[c]++;
			holding.shared |= !a->writes_back || state & LINE_SHARED;
			holding.dirty |= !!(state & CACHE_LINE_DIRTY);
			if (state & CACHE_LINE_DIRTY && (change == SHARE || change == REMOVE))
				cache_count(a->model, core, c, CACHE_WRITE_BACKS);
			if (state & CACHE_LINE_DIRTY && change == SHARE)
				cache_line_clean(a->model, core, c, line);
			if (change == REMOVE)
				cache_line_remove(a->model, core, c, line);
			else if (change != LOOK)
				cache_line_flags(a->model, core, c, line,
						 change == SHARE ? LINE_SHARED
						 : change == OWN ? 0
								 : LINE_ALONE);
		}
	}
	return holding;
}

static void count_lines(const struct action *a, unsigned core, const struct holding *holding,
			enum model_cache_count what)
{
	for (unsigned c = 0; c < a->machine->n_caches; c++)
		for (uint32_t n = c == a->point && !holding->lines[c] ? 1 : holding->lines[c]; n; n--)
			cache_count(a->model, core, c, what);
}

/* Another core's access takes the granule from `core`, or (read) makes it share. False: it did not hold it. */
static bool snoop(const struct action *a, unsigned core, bool write)
{
	struct holding holding = lines_of(a, core, LOOK);
	if (!holding.held)
		return false;
	if (!holding.shared)
		count_lines(a, core, &holding, CACHE_INTERVENTIONS);
	if (write) {
		count_lines(a, core, &holding, CACHE_INVALIDATIONS);
		lines_of(a, core, REMOVE);
	} else if (!holding.shared) {
		lines_of(a, core, SHARE);
	}
	if (holding.dirty && (write || !holding.shared) && a->machine->caches[a->point].next != MACHINE_NONE)
		cache_write_back_from(a->model, core, a->machine->caches[a->point].next, a->first,
				      a->granule_bytes);
	return true;
}

static bool others_hold(const struct action *a, bool write)
{
	bool held = false;
	for (unsigned k = 0; k < coherence_cores(a->model); k++) {
		struct coherence_lost *lost = k == a->core ? NULL : coherence_memory(a->model, k);
		if (!lost || !snoop(a, k, write))
			continue;
		held = true;
		if (write)
			lost_add(lost, a->machine, a->granule);
	}
	return held;
}

/* The core has the granule again. first … last: the bytes that it touches. */
static enum coherence_miss regain(const struct action *a, uint64_t first, uint64_t last)
{
	struct coherence_lost *lost = coherence_memory(a->model, a->core);
	struct entry *entry = lost_find(lost, a->granule);
	uint64_t units[2];
	if (!entry)
		return COHERENCE_NO;
	units_of(a, first, last, units);
	lost_forget(lost, entry);
	return units[0] & entry->written[0] || units[1] & entry->written[1] ? COHERENCE_TRUE_SHARING
									    : COHERENCE_FALSE_SHARING;
}

unsigned coherence_read(struct model *model, unsigned core, uint64_t address, uint32_t bytes, bool demand,
			enum coherence_miss *missed)
{
	struct action a = begin(model, core);
	struct holding here;
	of_granule(&a, address / a.granule_bytes);
	here = lines_of(&a, core, LOOK);
	*missed = COHERENCE_NO;
	if (here.held)
		return here.shared ? LINE_SHARED : 0; /* not ALONE, though it may be: the first write finds out */
	*missed = regain(&a, address, address + bytes - 1);
	if (!demand)
		*missed = COHERENCE_NO;
	return others_hold(&a, false) ? LINE_SHARED : 0;
}

unsigned coherence_write(struct model *model, unsigned core, uint64_t address, uint32_t bytes,
			 enum coherence_miss *missed)
{
	struct action a = begin(model, core);
	uint64_t units[2];
	bool alone = true;
	struct holding here;
	of_granule(&a, address / a.granule_bytes);
	here = lines_of(&a, core, LOOK);
	*missed = here.held ? COHERENCE_NO : regain(&a, address, address + bytes - 1);
	if (!here.held || here.shared) {
		if (here.held && a.writes_back)
			cache_count(model, core, a.point, CACHE_UPGRADES);
		others_hold(&a, true);
	}
	units_of(&a, address, address + bytes - 1, units);
	for (unsigned k = 0; k < coherence_cores(model); k++) {
		struct entry *entry = k == core ? NULL : lost_find(coherence_memory(model, k), a.granule);
		if (!entry)
			continue;
		alone = false;
		entry->written[0] |= units[0];
		entry->written[1] |= units[1];
	}
	if (!a.writes_back)
		return LINE_SHARED;
	if (here.held)
		lines_of(&a, core, alone ? OWN_ALONE : OWN);
	return alone ? LINE_ALONE : 0;
}
