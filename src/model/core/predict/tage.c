/*
 * TAGE: Seznec & Michaud, A case for (partially) tagged geometric history length branch prediction, JILP 8, 2006.
 *
 * A base table of counters by address, and tables 1 … n of tagged entries (3-bit counter, 2 bits "useful"), table
 * i looked up by address and the last table_history[i] outcomes. The provider is the entry that matches with the
 * longest history, else the base counter; the alternate is what would provide without it. As in the paper:
 *   - predicted: the provider's direction; but the alternate's if the provider is weak and not useful (newly
 *     allocated) and the 4-bit counter USE_ALT_ON_NA is in its upper half. That counter moves (towards whichever
 *     was right) when such a provider and the alternate differ. It begins at 8, the bottom of its upper half.
 *   - the provider's counter moves towards the outcome, nobody else's; its useful count goes up if it was right
 *     and the alternate wrong, down if it was wrong and the alternate right.
 *   - a misprediction allocates one entry in a table of longer history than the provider's: among those whose
 *     entry there is not useful, each with twice the probability of the next longer one; it begins weak, in the
 *     outcome's direction, not useful. If all are useful, all of them become less so by one.
 *   - every useful_reset conditional branches (256 K in the paper) the useful counts' upper bits are cleared, next
 *     time the lower bits, …
 *
 * Ours, where the paper leaves it open or speed asked for it:
 *   - the hash. For table i, w = log2(entries) + tag bits and H = its last L outcomes as a number, the newest in
 *     bit 0. X is
 *         H itself                                           if L <= w,
 *         the top w bits of H * TAGE_K                       if L <= 64 - w (the oldest outcome still reaches all w),
 *         the top w bits of TAGE_K * (sum of b_a TAGE_M^a)   else, b_a the outcome a branches ago; all modulo 2^64;
 *     xored with the top w bits of (pc >> address_shift) * TAGE_G. Index: the low log2(entries) bits, tag: those above. No path history.
 *     (Xoring pieces of w bits, as Michaud's registers do each, cannot distinguish outcomes at a distance of w: he has three registers of
 *     different widths for that reason. Here every outcome has a weight of its own.)
 *   - base index: A mod entries. History: conditional branches only.
 *   - probabilities: k candidates, shortest history first, r = (draw >> 32) mod (2^k - 1), the draw xorshift64* of
 *     the machine's seed, only if k > 1: the first if r < 2^(k-1), else the next with r - 2^(k-1) and k - 1, ….
 */
#include "model/core/predict/predict.h"

uint64_t tage_layout(struct tage *t, const struct machine *machine, uint64_t at)
{
	const struct machine_direction *m = &machine->direction;
	uint64_t entries = 0;
	if (m->kind != PREDICT_TAGE)
		return at;
	t->n = m->tables;
	t->base_mask = m->entries - 1;
	t->useful_reset = m->useful_reset;
	t->longest = m->table_history[m->tables - 1];
	t->newest = t->longest - 1;
	for (unsigned i = 0; i < m->tables; i++)
		entries += m->table_entries[i];
	t->entries = entries;
	t->entries_at = at, at += predict_rounded(t->entries * 4ull);
	t->bases_at = at, at += predict_rounded(m->entries);
	return at;
}

/* The successor of a state; differs: provider and alternate disagreed. */
static uint16_t successor(uint8_t state, bool taken, bool differs, unsigned base_bits)
{
	bool base = state & TAGE_BASE;
	unsigned bits = base ? base_bits : 3, shift = base ? TAGE_BASE_AWAY : TAGE_AWAY, half = 1u << (bits - 1);
	unsigned useful = 3 - (state >> TAGE_USEFUL & 3), away = state >> shift & (half - 1);
	unsigned counter = state & TAGE_TAKEN ? 2 * half - 1 - away : away;
	bool was_right = !(state & TAGE_TAKEN) == !taken,
	     is_new = !base && !useful && (counter == half || counter == half - 1);
	counter += (taken && counter < 2 * half - 1) - (!taken && counter > 0);
	away = counter >= half ? 2 * half - 1 - counter : counter;
	if (differs)
		useful += (was_right && useful < 3) - (!was_right && useful > 0);
	unsigned next = (base ? TAGE_BASE : (3 - useful) << TAGE_USEFUL) | (counter >= half ? TAGE_TAKEN : 0) |
			away << shift;
	return next | (was_right ? 0 : TAGE_WRONG) | (differs && is_new ? TAGE_NEW : 0);
}

static void begin_sums(struct tage *t, uint64_t leaves)
{
	for (unsigned four = 0; four < 4; four++)
		for (unsigned bits = 0; bits < 16; bits++) {
			uint64_t sum = 0;
			for (unsigned j = 0; j < 8; j++) {
				unsigned k = j - 4 * (four & 1);
				t->sums.before[four][bits][j] = sum;
				sum *= TAGE_M;
				if (k < 4 && bits >> (3 - k) & 1)
					sum += four < 2 ? TAGE_K : -leaves;
			}
			t->sums.after[four][bits] = sum;
		}
}

void tage_begin(struct branches *b, const struct machine *machine, const struct model_options *options)
{
	const struct machine_direction *m = &machine->direction;
	struct tage *t = &b->tage;
	unsigned half = 1u << (m->counter_bits - 1), initial = m->initial < 2 * half ? m->initial : 2 * half - 1;
	uint8_t *base = TABLE(b, uint8_t, t->bases_at);
	uint32_t *entries = TABLE(b, uint32_t, t->entries_at);
	uint32_t first = 0;
	for (unsigned i = 0; i < m->tables; i++) {
		struct tage_table *table = &t->tables[i];
		table->width = predict_log2(m->table_entries[i]) + m->table_tag_bits[i];
		table->index_mask = m->table_entries[i] - 1;
		table->dropped = table->width > 23 ? table->width - 23 : 0;
		table->first = first;
		first += m->table_entries[i];
		table->oldest = m->table_history[i] - 1;
		table->kind = m->table_history[i] <= table->width        ? TAGE_AS_IT_IS
			      : m->table_history[i] <= 64 - table->width ? TAGE_PRODUCT
									 : TAGE_ROLLING;
		table->window = table->kind == TAGE_ROLLING ? 0 : (1ull << m->table_history[i]) - 1;
		table->leaves = TAGE_K;
		for (unsigned k = 0; k < m->table_history[i]; k++)
			table->leaves *= TAGE_M;
	}
	for (unsigned i = 0; i < 4 * 256; i++)
		t->next[i] = successor(i, i >> 9, !(i >> 8 & 1) != !(i & TAGE_TAKEN), m->counter_bits);
	uint8_t begin = TAGE_BASE | (initial >= half ? TAGE_TAKEN | (2 * half - 1 - initial) << TAGE_BASE_AWAY
						     : initial << TAGE_BASE_AWAY);
	for (uint32_t i = 0; i < m->entries; i++)
		base[i] = begin;
	for (uint32_t i = 0; i < t->entries; i++)
		entries[i] = (uint32_t)TAGE_USELESS << TAGE_STATE;
	t->use_alternate = 8;
	t->countdown = t->useful_reset;
	t->random = machine->seed ? machine->seed : 1;
	t->vectors = options->no_filters ? VECTORS_NONE : vectors_here();
	t->published = m->tables == TAGE_PUBLISHED_TABLES;
	for (unsigned i = 0; i < m->tables && t->published; i++)
		t->published = t->tables[i].width == TAGE_PUBLISHED_WIDTH &&
			       t->tables[i].kind == (i < 2    ? TAGE_AS_IT_IS
						     : i == 2 ? TAGE_PRODUCT
							      : TAGE_ROLLING);
	if (t->published)
		begin_sums(t, t->tables[TAGE_PUBLISHED_TABLES - 1].leaves);
}

/* ---- rare: a misprediction, the ageing ---- */

#define SHARE(k) (~0ull / ((1ull << (k)) - 1) + 1)
const uint64_t tage_shares[MACHINE_TABLES + 1] = {0,         SHARE(1),  SHARE(2),  SHARE(3),  SHARE(4),  SHARE(5),
						  SHARE(6),  SHARE(7),  SHARE(8),  SHARE(9),  SHARE(10), SHARE(11),
						  SHARE(12), SHARE(13), SHARE(14), SHARE(15), SHARE(16)};

static void age(struct branches *b)
{
	struct tage *t = &b->tage;
	uint32_t *entries = TABLE(b, uint32_t, t->entries_at), bit = (t->age_low ? 1u : 2u)
								     << TAGE_USEFUL << TAGE_STATE;
	for (uint32_t e = 0; e < t->entries; e++)
		entries[e] |= bit;
	t->age_low = !t->age_low;
	t->countdown = t->useful_reset;
}

/* ---- every branch, for any configuration ---- */

bool tage_resolve(struct branches *b, uint64_t address, bool taken)
{
	struct tage *t = &b->tage;
	const uint32_t *entries = TABLE(b, uint32_t, t->entries_at);
	uint8_t *states = TABLE(b, uint8_t, t->entries_at);
	uint32_t keys_now[MACHINE_TABLES],
		provider = (uint32_t)(t->bases_at - t->entries_at) + ((uint32_t)address & t->base_mask);
	uint32_t alternate = provider;

	for (unsigned i = 0; i < t->n; i++) {
		struct tage_table *table = &t->tables[i];
		unsigned shift = 64 - table->width;
		uint64_t x = t->recent & table->window;
		if (table->kind == TAGE_ROLLING) {
			x = table->rolling >> shift;
			table->rolling = table->rolling * TAGE_M + (taken ? TAGE_K : 0) -
					 (t->line[t->newest - table->oldest] ? table->leaves : 0);
		} else if (table->kind == TAGE_PRODUCT) {
			x = x * TAGE_K >> shift;
		}
		keys_now[i] = (uint32_t)(x ^ address >> shift);
		uint32_t e = table->first + (keys_now[i] & table->index_mask);
		if ((entries[e] & TAGE_KEY) == (keys_now[i] >> table->dropped | TAGE_VALID))
			alternate = provider, provider = tage_place(e);
	}
	t->recent = t->recent << 1 | taken;
	tage_make_room(t, 1);
	t->line[++t->newest] = taken;

	unsigned state = states[provider], other = states[alternate] & TAGE_TAKEN;
	unsigned next = t->next[(unsigned)taken << 9 | other << 2 | state];
	bool predicted = tage_predict(t, state, next, taken);
	states[provider] = next;
	if (predicted != taken)
		tage_allocate_in(b, keys_now, 1, provider, taken, t->n);
	if (t->useful_reset && --t->countdown == 0)
		age(b);
	return predicted;
}
