/* Lines in sets: see lines.h. */
#include "model/core/cache/lines.h"
#include "model/core/fast/linked_lines.h"
#include "model/core/fast/processor.h"
#include "model/core/fast/timed_lines.h"
#include "model/core/replacement.h"

/* The order of a set is kept, by place, by links or by times. */
static bool in_order(const struct lines *lines)
{
	return lines->policy == REPLACE_LRU || lines->policy == REPLACE_FIFO;
}

static bool linked(const struct lines *lines) { return in_order(lines) && !lines->timed; }

void lines_init(struct lines *lines, struct model_memory *arena, uint32_t sets, uint32_t ways,
		enum machine_replacement policy, unsigned rrip_bits, uint64_t seed, bool timed)
{
	uint64_t all = (uint64_t)sets * ways;
	*lines = (struct lines){
		.sets = sets, .ways = ways, .policy = (uint8_t)policy, .random = seed, .timed = timed};
	lines->set_power = !(sets & (sets - 1));
	lines->set_mask = sets - 1;
	lines->hashed = ways > LINES_SCANNED;
	lines->ordered = linked(lines) && !lines->hashed && !timed;
	lines->age_most = (uint8_t)((1u << rrip_bits) - 1);
	lines->entries = arena_take(arena, all * sizeof *lines->entries);
	if (!lines->ordered)
		lines->lowest = arena_take(arena, sets * sizeof *lines->lowest);
	if (policy == REPLACE_SRRIP || policy == REPLACE_BRRIP)
		lines->ages = arena_take(arena, all);
	if (policy == REPLACE_PLRU)
		lines->trees = arena_take(arena, sets * sizeof *lines->trees);
	if (lines->hashed) {
		unsigned bits = 1;
		while (1ull << bits < all)
			bits++;
		lines->hash_shift = (uint8_t)(64 - bits);
		lines->heads = arena_take(arena, (1ull << bits) * sizeof *lines->heads);
		lines->chain = arena_take(arena, all * sizeof *lines->chain);
	}
	lines->vectors = timed && ways >= VECTORS_LEAST && ways <= 256 && !(ways & 7) &&
			 vectors_here() == VECTORS_AVX512;
	if (timed && policy == REPLACE_FIFO)
		lines->filled = arena_take(arena, all * sizeof *lines->filled);
	if (lines->hashed && linked(lines)) {
		lines->newer = arena_take(arena, all * sizeof *lines->newer);
		lines->older = arena_take(arena, all * sizeof *lines->older);
		lines->newest = arena_take(arena, sets * sizeof *lines->newest);
		lines->oldest = arena_take(arena, sets * sizeof *lines->oldest);
	}
}

/* ---- policies ---- */

uint64_t *lines_touch_fixed(struct lines *lines, uint32_t set, uint64_t *entry)
{
	uint32_t at = (uint32_t)(entry - lines->entries);
	if (lines->timed && lines->policy == REPLACE_LRU) {
		lines->touched[at] = ++*lines->recency;
	} else if (lines->policy == REPLACE_LRU) {
		if (lines->newest[set] != at + 1) {
			lines_unlink(lines, set, at);
			lines_link_newest(lines, set, at);
		}
	} else if (lines->policy == REPLACE_PLRU) {
		lines->trees[set] = tree_used(lines->trees[set], lines->ways, at % lines->ways);
	} else {
		lines->ages[at] = 0;
	}
	return entry;
}

static uint32_t choose_victim(struct lines *lines, uint32_t set)
{
	uint8_t *ages;
	if (linked(lines))
		return lines->oldest[set] - 1 - set * lines->ways;
	if (in_order(lines))
		return lines_earliest(lines, set);
	if (lines->policy == REPLACE_PLRU)
		return tree_victim(lines->trees[set], lines->ways);
	if (lines->policy == REPLACE_RANDOM)
		return (uint32_t)(random_next(&lines->random) >> 32) % lines->ways;
	ages = lines->ages + (uint64_t)set * lines->ways;
	for (;;) {
		for (uint32_t way = 0; way < lines->ways; way++)
			if (ages[way] == lines->age_most)
				return way;
		for (uint32_t way = 0; way < lines->ways; way++)
			ages[way]++;
	}
}

static void place(struct lines *lines, uint32_t set, uint32_t at)
{
	if (lines->hashed)
		lines_hash_add(lines, at);
	if (linked(lines)) {
		lines_link_newest(lines, set, at);
	} else if (in_order(lines)) {
		(lines->filled ? lines->filled : lines->touched)[at] = ++*lines->recency;
	} else if (lines->policy == REPLACE_PLRU) {
		lines_touch_fixed(lines, set, &lines->entries[at]);
	} else if (lines->policy != REPLACE_RANDOM) {
		bool near = lines->policy == REPLACE_SRRIP || ++lines->insertions % 32 == 0;
		lines->ages[at] = near ? lines->age_most - 1 : lines->age_most;
	}
}

uint64_t *lines_insert(struct lines *lines, uint32_t set, uint64_t line, unsigned flags, uint64_t *replaced)
{
	uint64_t *first = lines->entries + (uint64_t)set * lines->ways,
		 entry = line << LINES_FLAGS | LINE_VALID | flags;
	uint32_t way;
	if (lines->ordered) {
		uint64_t carried = entry;
		for (way = 0; way < lines->ways && carried; way++) {
			uint64_t here = first[way];
			first[way] = carried;
			carried = here;
		}
		*replaced = carried;
		return first;
	}
	way = lines->lowest[set];
	while (way < lines->ways && first[way])
		way++;
	lines->lowest[set] = way < lines->ways ? way + 1 : way;
	*replaced = 0;
	if (way == lines->ways) {
		way = choose_victim(lines, set);
		*replaced = lines_remove(lines, set, &first[way]);
		lines->lowest[set] = lines->ways;
	}
	first[way] = entry;
	place(lines, set, (uint32_t)(&first[way] - lines->entries));
	return &first[way];
}

uint64_t lines_remove(struct lines *lines, uint32_t set, uint64_t *entry)
{
	uint64_t *first = lines->entries + (uint64_t)set * lines->ways, *last = first + lines->ways - 1,
		 was = *entry;
	uint32_t at = (uint32_t)(entry - lines->entries);
	if (lines->ordered) {
		for (; entry < last && *entry; entry++)
			entry[0] = entry[1];
		*entry = 0;
		return was;
	}
	if (lines->hashed)
		lines_hash_remove(lines, at);
	if (linked(lines))
		lines_unlink(lines, set, at);
	if (lines->timed && lines->policy == REPLACE_LRU)
		lines->touched[at] = 0; /* free ways are the earliest */
	*entry = 0;
	if (lines->lowest[set] > entry - first)
		lines->lowest[set] = (uint32_t)(entry - first);
	return was;
}
