/*
 * The protocol: see coherence.h. What a core lost is a list, oldest first, of at most as many granules as the
 * point of coherence has lines (COHERENCE_LOST_MOST at most), found by a hash:
 *
 *     lost by another's write ──► newest of the list ──► had again: taken out
 *                                        │ list full: the oldest is forgotten
 */
#include <stddef.h>

#include "model/core/coherence/coherence.h"

#define MASK_UNITS 128u

struct lost_granule { /* numbers of entries are index + 1; 0: none */
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
			/* then struct lost_granule [most], uint32_t heads[buckets] */
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
	return (sizeof(struct coherence_lost) + most * sizeof(struct lost_granule) +
		buckets_for(most) * sizeof(uint32_t) + 63) &
	       ~63ull;
}

/* ---- what a core lost ---- */

static struct lost_granule *entry_at(struct coherence_lost *lost, uint32_t number)
{
	return (struct lost_granule *)(lost + 1) + number - 1;
}

static uint32_t *head_of(struct coherence_lost *lost, uint64_t granule)
{
	uint32_t *heads = (uint32_t *)((struct lost_granule *)(lost + 1) + lost->most);
	return &heads[(granule * 0x9E3779B97F4A7C15ull >> 32) & (lost->buckets - 1)];
}

static struct lost_granule *lost_find(struct coherence_lost *lost, uint64_t granule)
{
	if (!lost || !lost->n)
		return NULL;
	for (uint32_t at = *head_of(lost, granule); at; at = entry_at(lost, at)->chain)
		if (entry_at(lost, at)->granule == granule)
			return entry_at(lost, at);
	return NULL;
}

static void lost_forget(struct coherence_lost *lost, struct lost_granule *entry)
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
	struct lost_granule *entry;
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
	*entry = (struct lost_granule){.granule = granule, .older = lost->newest, .chain = *head};
	*head = number;
	*(lost->newest ? &entry_at(lost, lost->newest)->newer : &lost->oldest) = number;
	lost->newest = number;
	lost->n++;
}

/* ---- an action ---- */

struct action {
	struct model *model;
	const struct machine *machine;
	const struct coherence *is;
	unsigned core, point;
	uint64_t granule, first, last; /* bytes of the granule */
	uint32_t granule_bytes;
	bool writes_back;
};

static struct action begin(struct model *model, unsigned core, uint64_t address)
{
	const struct coherence *is = coherence_of(model);
	uint64_t granule = address >> is->granule_shift;
	return (struct action){.model = model,
			       .machine = coherence_machine(model),
			       .is = is,
			       .core = core,
			       .point = is->point,
			       .granule = granule,
			       .first = granule << is->granule_shift,
			       .last = ((granule + 1) << is->granule_shift) - 1,
			       .granule_bytes = 1u << is->granule_shift,
			       .writes_back = is->writes_back};
}

void coherence_begin(struct model *model)
{
	struct coherence *is = coherence_of(model);
	const struct machine *machine = coherence_machine(model);
	uint32_t bytes = granule_bytes(machine);
	is->point = (uint8_t)coherence_point(machine);
	is->writes_back = writes_back(machine);
	for (is->granule_shift = 0; bytes >> is->granule_shift > 1; is->granule_shift++)
		continue;
	for (unsigned k = 0; k < coherence_cores(model); k++)
		if (coherence_memory(model, k))
			cache_lines_gained(model, k);
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
	bool held, shared, alone, dirty;
	uint32_t lines[MACHINE_CACHES];
};

enum change { LOOK, SHARE, OWN, OWN_ALONE, REMOVE };

/* The core's lines of the granule, changed. What is written back is counted where it was dirty. */
static struct holding lines_of(const struct action *a, unsigned core, enum change change)
{
	struct holding holding = {0};
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
			holding.alone |= !!(state & LINE_ALONE);
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

static uint64_t bit_of(unsigned core) { return 1ull << core % COHERENCE_CORES; }

/* Cores that may hold the granule or remember it, as bits (bit_of); nobody else does. */
static uint64_t who_may(const struct action *a)
{
	const struct coherence_place *place = coherence_place(a->is, a->granule);
	if (place->granule && place->granule != a->granule + 1)
		return UINT64_MAX;
	return place->cores;
}

/* Now that all others were asked. */
static void record_holders(const struct action *a, uint64_t others)
{
	*coherence_place(a->is, a->granule) = (struct coherence_place){a->granule + 1, others | bit_of(a->core)};
}

/* Asks all others that may hold it. Returns which hold it or remember it now; *held: whether one held it. */
static uint64_t ask_others(const struct action *a, bool write, bool *held)
{
	uint64_t may = who_may(a), now = 0;
	*held = false;
	for (unsigned k = 0; k < coherence_cores(a->model); k++) {
		struct coherence_lost *lost = k == a->core || !(may & bit_of(k)) ? NULL
										 : coherence_memory(a->model, k);
		bool here;
		if (!lost)
			continue;
		here = snoop(a, k, write);
		*held |= here;
		if (here && write)
			lost_add(lost, a->machine, a->granule);
		if (here || lost_find(lost, a->granule))
			now |= bit_of(k);
	}
	coherence_of(a->model)->meetings += *held;
	return now;
}

/* The core has the granule again. first … last: the bytes that it touches. */
static enum coherence_miss regain(const struct action *a, uint64_t first, uint64_t last)
{
	struct coherence_lost *lost = coherence_memory(a->model, a->core);
	struct lost_granule *entry = lost_find(lost, a->granule);
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
	struct action a = begin(model, core, address);
	struct holding here = lines_of(&a, core, LOOK);
	uint64_t others;
	bool held;
	*missed = COHERENCE_NO;
	if (here.held) /* not ALONE, it may be nevertheless: the first write finds out */
		return here.shared ? LINE_SHARED : here.alone ? LINE_ALONE : 0;
	*missed = regain(&a, address, address + bytes - 1);
	if (!demand)
		*missed = COHERENCE_NO;
	others = ask_others(&a, false, &held);
	record_holders(&a, others);
	if (held)
		return LINE_SHARED;
	return !others && a.writes_back ? LINE_ALONE : 0;
}

unsigned coherence_write(struct model *model, unsigned core, uint64_t address, uint32_t bytes,
			 enum coherence_miss *missed)
{
	struct action a = begin(model, core, address);
	struct holding here = lines_of(&a, core, LOOK);
	uint64_t units[2], others = who_may(&a);
	bool alone = true;
	*missed = here.held ? COHERENCE_NO : regain(&a, address, address + bytes - 1);
	if (!here.held || here.shared) {
		bool held;
		if (here.held && a.writes_back)
			cache_count(model, core, a.point, CACHE_UPGRADES);
		others = ask_others(&a, true, &held);
	}
	units_of(&a, address, address + bytes - 1, units);
	for (unsigned k = 0; k < coherence_cores(model); k++) {
		struct lost_granule *entry = k == core || !(others & bit_of(k))
						     ? NULL
						     : lost_find(coherence_memory(model, k), a.granule);
		if (!entry)
			continue;
		alone = false;
		entry->written[0] |= units[0];
		entry->written[1] |= units[1];
	}
	/* none but those that remember is left: all that were written off above, or held by this core alone */
	record_holders(&a, alone ? 0 : others);
	if (!a.writes_back)
		return LINE_SHARED;
	if (here.held)
		lines_of(&a, core, alone ? OWN_ALONE : OWN);
	return alone ? LINE_ALONE : 0;
}
