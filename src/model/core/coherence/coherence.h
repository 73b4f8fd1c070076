/*
 * MESI between the cores of a coherent machine (Papamarcos & Patel 1984; as in Hennessy & Patterson, 5.2), by
 * snooping: the states are two flags on the lines of private caches, kept by the caches (cache/hierarchy.c) and
 * changed here. What a core lost to others' writes is remembered here.
 *
 * The granule has the size of the largest line of all private caches. A core holds a granule if one of its private
 * caches (victim buffers included) holds a line in it. Then the granule is
 *     shared               LINE_SHARED is set on all these lines
 *     exclusive, modified  it is not; modified if one of them is dirty
 * On a machine without a private write-back level on the way of data everything is held shared, and nothing is an
 * upgrade.
 *
 * A read, fetch or prefetch of core k that no private cache of k can serve: the granule's holder (exclusive or
 *     modified) writes it back if it is dirty, to the level behind the last private one on the way of data
 *     (coherence_point()), and holds it shared from now on: an INTERVENTION there. k holds it shared if any other
 *     core does, else exclusive.
 * A write of core k: all others lose it: INVALIDATIONS, and INTERVENTIONS as well where it was exclusive or
 * modified
 *     (dirty: written back). If k held it shared, it is an UPGRADE of k's, whether or not others still held it.
 *
 * Which core counts: INTERVENTIONS and INVALIDATIONS the one that loses, one at each of its private caches for
 * every line of the granule there, but at least one at the point of coherence. UPGRADES the writer, at that point.
 * COHERENCE_MISSES: the misses, at private levels, of the first access of a core to a granule since it lost it to
 *     another's write (of that access alone, not of prefetches that it sets off). They are none of compulsory,
 *     capacity and conflict. A core remembers the latest MIN(lines of the point of coherence, COHERENCE_LOST_MOST)
 *     granules lost; one that a prefetch brought back is forgotten without a count.
 * FALSE_SHARING_MISSES: of these, those that touch no byte which another core wrote since (the write that took it
 *     included); a fetch touches its whole line. Bytes are distinguished in units of granule / 128, at least one byte:
 *     exact up to granules of 128 bytes.
 *
 * What always holds:
 *  1. A granule that one core holds exclusive or modified is held by no other core.
 *  2. LINE_ALONE: not shared, and no core remembers having lost it: a write to it changes nothing here. It is
 *     never set unless that holds.
 *  3. With one core in the model nothing here is called and no flag is ever set; lines then held are exclusive or
 *     modified.
 *  4. Which cores may hold a granule is looked up, not asked of each: in the table of holders a granule is with
 *     all cores that hold it or remember having lost it (and perhaps some that did so before). Of granules that
 *     have the same place there, the latest is; of the others nothing is known, and every core is asked. A place
 *     that is empty is of granules that no core holds or remembers.
 */
#ifndef TARE_MODEL_CORE_COHERENCE_COHERENCE_H
#define TARE_MODEL_CORE_COHERENCE_COHERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/counts.h"
#include "model/core/machine.h"

struct model;
struct coherence_lost; /* of one core */

enum coherence_miss { COHERENCE_NO, COHERENCE_TRUE_SHARING, COHERENCE_FALSE_SHARING /* counted as both */ };

/* Flags of a line of a private cache; they go with it into victim buffers. */
enum coherence_line { LINE_SHARED = 1, LINE_ALONE = 2 };

#define COHERENCE_LOST_MOST 65536u

/* Of a machine, and which cores may hold what. */
/* 4 MiB, whose untouched pages cost nothing: the lines of four L2s of 2 MiB at once */
#define COHERENCE_PLACES (1u << 18)
#define COHERENCE_CORES 64u /* a core's bit is its number modulo this */

struct coherence_place {
	uint64_t granule /* + 1; 0: empty */, cores /* bits */;
};

struct coherence {
	struct coherence_place *places; /* [COHERENCE_PLACES]; or NULL: the machine is not coherent */
	uint8_t point, granule_shift;
	bool writes_back;  /* a private level on the way of data does */
	uint64_t meetings; /* accesses that found their granule held by another core */
	bool all_shared;   /* more cores than a place can tell from each other */
};

/* When the second core of a coherent machine begins; what the first one holds is its own. */
void coherence_begin(struct model *model);
struct coherence *coherence_of(struct model *model);

static inline struct coherence_place *coherence_place(const struct coherence *coherence, uint64_t granule)
{
	/* neighbours side by side, and not where stacks and arenas have theirs, megabytes from each other */
	return &coherence->places[(granule ^ (granule >> 18) * 0x9E3779B1u) & (COHERENCE_PLACES - 1)];
}

/*
 * Whether it is known that no other core holds the granule of that address or remembers having lost it. Nor does
 * this core remember it then: the core that took it is in the table with it, and so is each that had it since.
 */
static inline bool coherence_unshared(const struct coherence *coherence, unsigned core, uint64_t address)
{
	uint64_t granule = address >> coherence->granule_shift;
	const struct coherence_place *place = coherence_place(coherence, granule);
	if (coherence->all_shared)
		return false;
	return !place->granule ||
	       (place->granule == granule + 1 && !(place->cores & ~(1ull << core % COHERENCE_CORES)));
}

/* The core gets the granule, which no other holds or remembers: coherence_unshared(), or the only core. */
static inline void coherence_gain(const struct coherence *coherence, unsigned core, uint64_t address)
{
	uint64_t granule = address >> coherence->granule_shift;
	*coherence_place(coherence, granule) = (struct coherence_place){granule + 1,
									1ull << core % COHERENCE_CORES};
}

/* The last private cache on the way of data; MACHINE_NONE: there is none, or the machine is not coherent. */
unsigned coherence_point(const struct machine *machine);

/* Bytes of a core's memory for what it lost; 0 if the machine is not coherent. Zeroed memory is the empty
 * state. */
uint64_t coherence_core_bytes(const struct machine *machine);

/*
 * ---- the caches call ----  only if machine.coherent, the model has more than one core, and coherence_point() is
 * not MACHINE_NONE.
 *
 * coherence_read: before a private first-level cache that missed (a read or fetch of `bytes` at address, all in
 * one line of it; main and victim buffer) asks behind it. demand false: a private cache of any level is about to
 * prefetch a line. coherence_write: before every write to the first data cache looks there, but for hits on lines
 * with LINE_ALONE.
 *
 * Both return the flags which lines that this access brings into private caches of the core are to have (a
 * prefetch in the midst of it has its own). *missed: whether the caches are to count the private levels' misses of
 * this access as coherence misses; of prefetches: no.
 */
unsigned coherence_read(struct model *model, unsigned core, uint64_t address, uint32_t bytes, bool demand,
			enum coherence_miss *missed);
unsigned coherence_write(struct model *model, unsigned core, uint64_t address, uint32_t bytes,
			 enum coherence_miss *missed);

/*
 * ---- the caches answer (cache/hierarchy.c) ----
 */
const struct machine *coherence_machine(const struct model *model);
/* 0 … n - 1; coherence_memory() of those not there yet is NULL */
unsigned coherence_cores(const struct model *model);
struct coherence_lost *coherence_memory(const struct model *model, unsigned core);
/* coherence_gain() of every granule that the core holds. */
void cache_lines_gained(struct model *model, unsigned core);

/*
 * The line with that number in a private cache of the core, main or victim buffer. State: 0 if it is not held,
 * else HELD, DIRTY if it is, and its flags. The others (held lines only): new flags; no longer dirty, which counts
 * nothing; gone, without eviction or write-back. The core's filter does not have the line then.
 */
enum { CACHE_LINE_HELD = 0x100, CACHE_LINE_DIRTY = 0x200 };
unsigned cache_line_state(struct model *model, unsigned core, unsigned cache, uint64_t line);
void cache_line_flags(struct model *model, unsigned core, unsigned cache, uint64_t line, unsigned flags);
void cache_line_clean(struct model *model, unsigned core, unsigned cache, uint64_t line);
void cache_line_remove(struct model *model, unsigned core, unsigned cache, uint64_t line);

/* A write-back of the granule that arrives at the shared level `cache` (in core's name). */
void cache_write_back_from(struct model *model, unsigned core, unsigned cache, uint64_t address, uint32_t bytes);
/* Counts one, for watches in the name of the access under way. */
void cache_count(struct model *model, unsigned core, unsigned cache, enum model_cache_count what);

#endif
