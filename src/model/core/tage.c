/*
 * TAGE: Seznec & Michaud, A case for (partially) tagged geometric history length branch prediction, JILP 8, 2006.
 *
 * A base table of counters by address, and tables 1 … n of tagged entries (3-bit counter, 2 bits "useful"), table i looked up by address
 * and the last table_history[i] outcomes. The provider is the entry that matches with the longest history, else the base counter; the
 * alternate is what would provide without it. As in the paper:
 *   - predicted: the provider's direction; but the alternate's if the provider is weak and not useful (newly allocated) and the 4-bit
 *     counter USE_ALT_ON_NA is in its upper half. That counter moves (towards whichever was right) when such a provider and the
 *     alternate differ. It begins at 8, the bottom of its upper half.
 *   - the provider's counter moves towards the outcome, nobody else's; its useful count goes up if it was right and the alternate
 *     wrong, down if it was wrong and the alternate right.
 *   - a misprediction allocates one entry in a table of longer history than the provider's: among those whose entry there is not
 *     useful, each with twice the probability of the next longer one; it begins weak, in the outcome's direction, not useful. If all
 *     are useful, all of them become less so by one.
 *   - every useful_reset conditional branches (256 K in the paper) the useful counts' upper bits are cleared, next time the lower bits, …
 *
 * Ours, where the paper leaves it open or speed asked for it:
 *   - the hash. For table i, w = log2(entries) + tag bits; X = the last L outcomes as a polynomial over GF(2) (the newest is its constant
 *     term), modulo the primitive polynomial of degree w with the smallest low part: a checksum, so that no two outcomes weigh the same.
 *     (Michaud folds into three registers of different widths for that reason; one register of xored pieces cannot tell outcomes that
 *     are w apart, and mispredicts loops that he predicts.) X is xored with w bits of A * 0x9e3779b97f4a7c15, from bit 0 on for tables
 *     1, 3, …, from bit 32 on for 2, 4, …; A = pc >> address_shift. Index: the low log2(entries) bits, tag: those above. No path history.
 *   - base index: A mod entries. History: conditional branches only.
 *   - probabilities: k candidates, shortest history first, r = (draw >> 32) mod (2^k - 1), the draw xorshift64* of the machine's seed,
 *     only if k > 1: the first if r < 2^(k-1), else the next with r - 2^(k-1) and k - 1, ….
 */
#include "model/core/tage.h"

/* Primitive polynomials over GF(2) without their highest term, by degree. tests/unit/model_branch_reference.h finds them again. */
static const uint16_t polynomials[31] = {0x0, 0x1, 0x3, 0x3, 0x3, 0x5, 0x3, 0x3, 0x1d, 0x11, 0x9, 0x5, 0x53, 0x1b, 0x2b, 0x3, 0x2d, 0x9, 0x27, 0x27, 0x9, 0x5, 0x3, 0x21, 0x1b, 0x9, 0x47, 0x27, 0x9, 0x5, 0x53};

uint64_t tage_layout(struct tage *t, const struct machine *machine, uint64_t at)
{
	const struct machine_direction *m = &machine->direction;
	uint64_t entries = 0;
	if (m->kind != PREDICT_TAGE)
		return at;
	t->n = m->tables;
	t->n_pairs = (m->tables + 1) / 2;
	t->base_mask = m->entries - 1;
	t->address_shift = m->address_shift;
	t->useful_reset = m->useful_reset;
	t->ring_mask = (1u << predict_log2(m->table_history[m->tables - 1] + 1u)) - 1; /* no larger: it shares the first-level cache */
	for (unsigned i = 0; i < m->tables; i++)
		entries += m->table_entries[i];
	/* states: the tagged entries' first, so that a table's entry has one number; then the base's; one more key for an absent table */
	t->entries = entries + 1;
	t->keys_at = at, at += predict_rounded(t->entries * 4ull);
	t->states_at = at, at += predict_rounded(t->entries + m->entries);
	return at;
}

/* The successor of a state; differs: provider and alternate disagreed. */
static uint8_t successor(uint8_t state, bool taken, bool differs, unsigned base_bits)
{
	bool base = state & TAGE_BASE;
	unsigned bits = base ? base_bits : 3, shift = base ? TAGE_BASE_STRENGTH : TAGE_STRENGTH;
	unsigned half = 1u << (bits - 1), useful = state >> TAGE_USEFUL & 3;
	unsigned strength = state >> shift & (half - 1);
	unsigned counter = state & TAGE_TAKEN ? half + strength : half - 1 - strength;
	bool was_right = !(state & TAGE_TAKEN) == !taken;
	counter += (taken && counter < 2 * half - 1) - (!taken && counter > 0);
	strength = counter >= half ? counter - half : half - 1 - counter;
	if (differs)
		useful += (was_right && useful < 3) - (!was_right && useful > 0);
	return (base ? TAGE_BASE : useful << TAGE_USEFUL) | (counter >= half ? TAGE_TAKEN : 0) | strength << shift;
}

void tage_begin(struct branches *b, const struct machine *machine)
{
	const struct machine_direction *m = &machine->direction;
	struct tage *t = &b->tage;
	uint32_t first = 0;
	unsigned half = 1u << (m->counter_bits - 1);
	unsigned initial = m->initial < 2 * half ? m->initial : 2 * half - 1;
	for (unsigned i = 0; i < TAGE_PAIRS * 2; i++) {
		struct tage_pair *p = &t->pairs[i / 2];
		unsigned lane = 32 * (i % 2);
		if (i >= m->tables) { /* absent: its fold stays 0, its only entry empty */
			p->carry |= 0x7fffffffull << lane;
			p->first[i % 2] = t->entries - 1;
			p->oldest[i % 2] = 0;
			continue;
		}
		unsigned width = predict_log2(m->table_entries[i]) + m->table_tag_bits[i];
		p->insert |= 1ull << lane;
		p->top |= 1ull << (width + lane);
		p->carry |= (uint64_t)(0x80000000u - (1u << width)) << lane;
		uint32_t out = 1; /* x^L */
		for (unsigned k = 0; k < m->table_history[i]; k++)
			out = out >> (width - 1) ? (out << 1 ^ 1u << width) ^ polynomials[width] : out << 1;
		p->out |= (uint64_t)out << lane;
		p->polynomial |= (uint64_t)polynomials[width] << lane;
		p->key |= (uint64_t)((1u << width) - 1) << lane;
		p->index_mask[i % 2] = m->table_entries[i] - 1;
		p->oldest[i % 2] = m->table_history[i] - 1;
		p->window |= (m->table_history[i] < 32 ? (1ull << m->table_history[i]) - 1 : 0xffffffffull) << lane;
		if (m->table_history[i] > width)
			p->folded = 1;
		p->first[i % 2] = first;
		first += m->table_entries[i];
	}
	for (unsigned i = 0; i < 4 * 256; i++)
		t->next[i] = successor(i, i >> 8 & 1, i >> 9, m->counter_bits);
	uint8_t begin = TAGE_BASE | (initial >= half ? TAGE_TAKEN | (initial - half) << TAGE_BASE_STRENGTH : (half - 1 - initial) << TAGE_BASE_STRENGTH);
	uint8_t *base = PART(b, uint8_t, t->states_at) + t->entries;
	for (uint32_t i = 0; i < m->entries; i++)
		base[i] = begin;
	t->use_alternate = 8;
	t->countdown = t->useful_reset;
	t->random = machine->seed ? machine->seed : 1;
}

/* ---- rare: a misprediction, the ageing ---- */

/* provider: number of its state; a base entry's lies behind all tagged ones. */
void tage_allocate(struct branches *b, const uint64_t *keys_now, uint32_t provider, bool taken)
{
	struct tage *t = &b->tage;
	uint32_t *keys = PART(b, uint32_t, t->keys_at), free_ones[MACHINE_TABLES], all[MACHINE_TABLES];
	uint8_t *states = PART(b, uint8_t, t->states_at);
	unsigned n_free = 0, n_all = 0, table_of[MACHINE_TABLES];
	for (unsigned i = 0; i < t->n; i++) {
		const struct tage_pair *p = &t->pairs[i / 2];
		uint32_t key = keys_now[i / 2] >> 32 * (i % 2);
		uint32_t e = p->first[i % 2] + (key & p->index_mask[i % 2]);
		if (provider < t->entries && e <= provider) /* tables lie in the order of their histories */
			continue;
		all[n_all++] = e;
		if (!(states[e] >> TAGE_USEFUL & 3)) {
			table_of[n_free] = i;
			free_ones[n_free++] = e;
		}
	}
	if (!n_free) {
		for (unsigned i = 0; i < n_all; i++)
			states[all[i]] -= 1 << TAGE_USEFUL;
		return;
	}
	unsigned chosen = 0;
	if (n_free > 1) {
		uint32_t r = (predict_random(&t->random) >> 32) % ((1u << n_free) - 1), share = 1u << (n_free - 1);
		while (r >= share) {
			r -= share;
			share >>= 1;
			chosen++;
		}
	}
	unsigned i = table_of[chosen];
	keys[free_ones[chosen]] = keys_now[i / 2] >> 32 * (i % 2);
	states[free_ones[chosen]] = taken ? TAGE_TAKEN : 0;
}

uint32_t tage_age(struct branches *b)
{
	struct tage *t = &b->tage;
	if (t->useful_reset) { /* else never: the countdown went once around */
		uint8_t *states = PART(b, uint8_t, t->states_at), keep = ~((t->age_low ? 1 : 2) << TAGE_USEFUL);
		for (uint32_t e = 0; e < t->entries; e++)
			states[e] &= keep;
		t->age_low = !t->age_low;
	}
	return t->useful_reset;
}

/* ---- every branch: tage.h ---- */

static inline __attribute__((always_inline)) bool resolve(struct branches *b, uint64_t pc, bool taken, unsigned n_pairs)
{
	struct tage_live live;
	tage_load(b, &live, n_pairs);
	bool predicted = tage_step(b, &live, pc, taken, n_pairs, false);
	tage_store(&b->tage, &live, n_pairs);
	return predicted;
}

bool tage_resolve(struct branches *b, uint64_t pc, bool taken)
{
	unsigned n = b->tage.n_pairs;
	return n <= 2 ? resolve(b, pc, taken, 2) : n <= 4 ? resolve(b, pc, taken, 4) : resolve(b, pc, taken, TAGE_PAIRS);
}
