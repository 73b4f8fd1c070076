/*
 * What TAGE does for every branch, for branch.c to have inline; the predictor is described in tage.c.
 *
 * Keys live in the halves of 64-bit words, two tables a word. A history that is no longer than the key is taken as it is. Folds of
 * longer ones are advanced, not recomputed: times x, plus the newest outcome, minus the one that leaves the history, modulo the
 * polynomial. An entry is found by one 32-bit comparison (the whole key, index included). Counters of base and tables are one array of
 * state bytes, whose successors are looked up; d: direction, c: how far from the middle, u: useful:
 *
 *     base    1 d c c c - - -        tagged  0 d c c u u - -
 */
#ifndef TARE_MODEL_CORE_TAGE_H
#define TARE_MODEL_CORE_TAGE_H

#include "model/core/predict.h"

#define TAGE_BOTH(value) ((uint64_t)(value) << 32 | (uint64_t)(value)) /* value < 2^32 */
#define TAGE_VALID 0x8000000080000000ull /* in a key: no empty entry matches */

enum { TAGE_BASE = 0x80, TAGE_TAKEN = 0x40, TAGE_STRENGTH = 4, TAGE_BASE_STRENGTH = 3, TAGE_USEFUL = 2 /* shifts */ };

struct tage_live { /* what changes with every branch, apart so that a loop over branches can have it in registers */
	uint64_t recent, fold[TAGE_PAIRS];
	uint64_t position;
	uint32_t countdown;
	const uint32_t *keys;
	uint8_t *states;
};

static inline __attribute__((always_inline)) void tage_load(struct branches *b, struct tage_live *live, unsigned n_pairs)
{
	const struct tage *t = &b->tage;
	live->keys = PART(b, uint32_t, t->keys_at);
	live->states = PART(b, uint8_t, t->states_at);
	for (unsigned i = 0; i < n_pairs; i++)
		live->fold[i] = t->pairs[i].fold;
	live->recent = t->recent, live->position = t->position, live->countdown = t->countdown;
}

static inline __attribute__((always_inline)) void tage_store(struct tage *t, const struct tage_live *live, unsigned n_pairs)
{
	for (unsigned i = 0; i < n_pairs; i++)
		t->pairs[i].fold = live->fold[i];
	t->recent = live->recent, t->position = live->position, t->countdown = live->countdown;
}

/* If entry e has the key, it provides and what provided is the alternate. Whether it has is as hard to predict for the host as the
   program's branch is for TAGE: conditional moves, which gcc 12 turns into jumps unless told so. */
static inline __attribute__((always_inline)) void tage_take(const uint32_t *entry, uint32_t key, uint64_t e, uint64_t *provider, uint64_t *alternate)
{
#ifdef __x86_64__
	__asm__("cmpl %[key], %[entry]\n\tcmoveq %[provider], %[alternate]\n\tcmoveq %[e], %[provider]"
		: [provider] "+r"(*provider), [alternate] "+&r"(*alternate)
		: [entry] "m"(*entry), [key] "r"(key), [e] "r"(e)
		: "cc");
#else
	*alternate = *entry == key ? *provider : *alternate;
	*provider = *entry == key ? e : *provider;
#endif
}

/*
 * n_pairs and plain are constants of the caller's: loops unroll. plain: of two pairs the first needs no folds and the second does, as in
 * the paper's 5-component predictor, and all four keys are of one width; else it is asked. Returns TAGE_TAKEN or 0. One branch here depends on the program: was the prediction right.
 */
static inline __attribute__((always_inline)) unsigned tage_step(struct branches *b, struct tage_live *live, uint64_t pc, bool taken,
							    const unsigned n_pairs, const bool plain)
{
	struct tage *t = &b->tage;
	const uint32_t *keys = live->keys;
	uint8_t *states = live->states;
	uint64_t address = pc >> t->address_shift, recent = TAGE_BOTH(live->recent & 0xffffffff);
	uint64_t hash = address * 0x9e3779b97f4a7c15ull, newest = -(uint64_t)taken, keys_now[TAGE_PAIRS];
	uint32_t *history = t->history + live->position; /* [k]: the outcome k branches ago, 0 the newest */

	uint64_t provider = t->entries + (uint32_t)(address & t->base_mask), alternate = provider;
	if (plain)
		hash = (hash & t->pairs[0].key) | TAGE_VALID;
#pragma GCC unroll 2
	for (unsigned i = 0; i < n_pairs; i++) {
		const struct tage_pair *p = &t->pairs[i];
		uint64_t fold = live->fold[i];
		if (plain ? i == 0 : !p->folded) {
			fold = recent & p->window;
		} else {
			uint64_t old = (uint64_t)history[p->oldest[0]] | (uint64_t)history[p->oldest[1]] << 32;
			uint64_t next = (fold << 1 | (newest & p->insert)) ^ (old & p->out), top = next & p->top;
			uint64_t over = (top + p->carry) >> 31 & p->insert; /* 1 in each half whose top bit is set, and then all ones */
			live->fold[i] = next ^ top ^ (((over << 32) - over) & p->polynomial);
		}
		uint64_t key = plain ? fold ^ hash : ((fold ^ hash) & p->key) | TAGE_VALID, e;
		uint32_t low = key, high = key >> 32;
		keys_now[i] = key;
		e = (uint32_t)(p->first[0] + (low & p->index_mask[0]));
		tage_take(&keys[e], low, e, &provider, &alternate);
		e = (uint32_t)(p->first[1] + (high & p->index_mask[1]));
		tage_take(&keys[e], high, e, &provider, &alternate);
	}
	live->recent = live->recent << 1 | taken;
	live->position = (live->position - 1) & t->ring_mask;
	history = t->history + live->position;
	history[0] = history[(uint64_t)t->ring_mask + 1] = newest;

	unsigned state = states[provider], other = states[alternate] & TAGE_TAKEN, differs = (state & TAGE_TAKEN) ^ other;
	unsigned predicted = state & TAGE_TAKEN, outcome = taken * TAGE_TAKEN;
	states[provider] = t->next[differs << 3 | outcome << 2 | state];
	if (differs && !(state & ~TAGE_TAKEN)) { /* newly allocated: weak, not useful */
		uint32_t use = t->use_alternate;
		predicted = use >= 8 ? other : predicted;
		t->use_alternate = other == outcome ? use + (use < 15) : use - (use > 0);
	}
	if (__builtin_expect(predicted != outcome, 0))
		tage_allocate(b, keys_now, provider, taken);
	if (__builtin_expect(--live->countdown == 0, 0))
		live->countdown = tage_age(b);
	return predicted;
}

#endif
