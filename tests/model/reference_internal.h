/* What the reference's files share. */
#ifndef TARE_TESTS_MODEL_REFERENCE_INTERNAL_H
#define TARE_TESTS_MODEL_REFERENCE_INTERNAL_H

#include "reference.h"

enum { NO_ID = 0x7fffffff };

/* ---- reference_sets.c: one set-associative memory, whatever is in it ---- */

struct way {
	bool valid, dirty, marked;
	uint64_t tag;
	unsigned rrpv;
	uint64_t used, filled; /* times */
	uint64_t page_bytes;
};

struct sets {
	unsigned n_sets, n_ways, policy, rrip_bits;
	struct way *ways; /* [n_sets][n_ways] */
	bool *tree; /* [set][2 * n_ways]: node n's children are 2n and 2n + 1, 1 the root; true: the victim is right */
	uint64_t random, fills, time;
	bool scales; /* random way: the draw's upper half times ways, upper half (a TLB's); else modulo ways */
};

void sets_make(struct sets *s, unsigned n_sets, unsigned n_ways, unsigned policy, unsigned rrip_bits,
	       uint64_t seed);
void sets_free(struct sets *s);
struct way *sets_find(struct sets *s, uint64_t tag); /* NULL: not there; index = tag modulo sets */
void sets_touch(struct sets *s, struct way *way);
/*
 * The way that a new tag is to have; *out: what was in it (valid: it is replaced). The way is then the new one's,
 * neither dirty nor marked.
 */
struct way *sets_place(struct sets *s, uint64_t tag, struct way *out);

/* ---- lists of numbers ---- */

struct list {
	uint64_t *items;
	size_t n, room;
};
void list_push(struct list *l, uint64_t item); /* at the end */
bool list_take(struct list *l, uint64_t item); /* removes it; false: it was not there */
bool list_has(const struct list *l, uint64_t item);
void list_drop_first(struct list *l);

/* ---- reference_cache.c ---- */

struct stride {
	uint32_t id;
	uint64_t last;
	int64_t stride;
	bool valid;
};
struct buffered {
	uint64_t line;
	bool dirty;
};

struct cache_instance {
	struct sets sets;
	struct buffered *buffer; /* oldest first */
	unsigned buffered;
	struct stride *strides;
	struct list seen, shadow; /* shadow: least recently used first */
	struct last_miss {
		bool known;
		uint64_t line;
		int way; /* from the one before */
	} last[256];     /* of regions of 64 lines */
};

struct lost {
	uint64_t granule;
	bool written[128];
};

struct reference_core {
	bool exists;
	struct model_counts counts;
	struct cache_instance caches[MACHINE_CACHES]; /* private ones */
	struct sets tlbs[MACHINE_TLBS];
	struct list shared; /* granules that it holds shared, if it holds them */
	struct lost *lost;  /* oldest first */
	size_t n_lost, lost_room;
	bool fetched;       /* last_byte means something */
	uint64_t last_byte; /* executed */
};

struct region {
	uint64_t start, end, page_bytes;
};

struct reference {
	struct machine machine;
	bool classify, orders;
	unsigned n_cores;
	struct reference_core *cores; /* [MODEL_CORES_MAX] */
	struct cache_instance shared[MACHINE_CACHES];
	struct region *regions; /* the latest counts */
	size_t n_regions;
	const struct model_watch *watches;
	unsigned n_watches;
	uint64_t *item_counts, *block_counts;
};

enum kind { READ, WRITE, FETCH };

void cache_make(struct reference *r, struct cache_instance *c, unsigned cache);
void cache_free(struct cache_instance *c);
struct cache_instance *cache_at(struct reference *r, unsigned core, unsigned cache);

/* A program's access [first, last], all in one line of the first cache of its kind. */
void first_access(struct reference *r, unsigned core, uint64_t first, uint64_t last, enum kind kind, uint32_t id);
/* The prefetch instruction. */
void first_prefetch(struct reference *r, unsigned core, uint64_t address, uint32_t id);

void write_back(struct reference *r, unsigned core, unsigned cache, uint64_t first, uint64_t last);

/* ---- reference_coherence.c ---- */

enum sharing { NOT_LOST, LOST_TRUE, LOST_FALSE };

bool coherent(const struct reference *r);
enum sharing before_read(struct reference *r, unsigned core, uint64_t first, uint64_t last, bool demand);
enum sharing before_write(struct reference *r, unsigned core, uint64_t first, uint64_t last);

/* ---- reference_tlb.c ---- */
void tlb_access(struct reference *r, unsigned core, uint64_t address, uint32_t bytes, enum kind kind);
void tlb_make(struct reference *r, struct sets *s, unsigned tlb);
void tlb_pages(struct reference *r, uint64_t start, uint64_t length, uint64_t page_bytes);

#endif
