/*
 * Branches that were put off, resolved by the hundred.
 *
 * For the published TAGE with a BTB of whole tags and LRU, or none, the whole step is here once more, with the sizes compiled in and all
 * that changes with every branch in registers: the same counts as tage.c's and targets.c's (tests/unit/model_branch_test.c compares).
 * Everything else goes branch by branch.
 *
 * Which way a branch goes, and whether it was predicted, is as hard to foresee for the host as for the model: in the common case nothing
 * here jumps by it but one test for "anything rare": a wrong prediction, or a new entry that disagrees with its alternate.
 */
#include "model/core/predict.h"

void branches_site(const struct branches *b, struct branch_site *site, uint64_t pc, uint32_t length, enum trace_ending ending,
		   uint64_t target)
{
	uint64_t address = pc >> b->tage.address_shift;
	*site = (struct branch_site){ .behind = pc + length, .target = target, .key = (pc >> b->targets.address_shift) + 1,
		.base = b->tage.entries + (address & b->tage.base_mask), .length = length, .ending = ending,
		.hash = (uint32_t)(address * TAGE_G >> (64 - TAGE_PUBLISHED_WIDTH)) | TAGE_VALID };
}

/* If the entry at keys[e] has the key, it provides and what provided is the alternate: conditional moves, since gcc 12 makes jumps of it
   that the host cannot predict. */
static inline __attribute__((always_inline)) void take(const uint32_t *entry, uint32_t key, uint8_t *state, uint8_t **provider,
						       uint8_t **alternate)
{
#ifdef __x86_64__
	__asm__("cmpl %[key], %[entry]\n\tcmoveq %[provider], %[alternate]\n\tcmoveq %[state], %[provider]"
		: [provider] "+r"(*provider), [alternate] "+&r"(*alternate)
		: [entry] "m"(*entry), [key] "r"(key), [state] "r"(state)
		: "cc");
#else
	*alternate = *entry == key ? *provider : *alternate;
	*provider = *entry == key ? state : *provider;
#endif
}

/* A wrong prediction or a new entry: what the common case left to do. */
static __attribute__((noinline)) void rare(struct branches *b, unsigned next, unsigned tallied, const uint32_t *keys_now, uint32_t provider)
{
	struct tage *t = &b->tage;
	bool says = tallied & TAGE_TAKEN, taken = tallied >> 8 & 1, predicted = says;
	if (next & TAGE_NEW)
		predicted = tage_new(t, says, taken);
	if (predicted != says)
		t->overruled[says << 1 | taken]++;
	if (predicted != taken)
		tage_allocate(b, keys_now, provider, taken);
}

/* A BTB access whose guess was wrong. */
static __attribute__((noinline)) void look_up(struct branches *b, struct branch_site *site, bool taken)
{
	struct targets *t = &b->targets;
	uint64_t address = site->key - 1;
	if (!taken && PART(b, uint64_t, t->absent_at)[address & (BTB_ABSENT - 1)] == site->key) {
		b->queued_missed++;
		return;
	}
	bool hit = targets_look_up(b, site->behind - site->length, true, taken, site->target, NULL, NULL);
	b->queued_missed += !hit;
	b->queued_missed_taken += !hit && taken;
	if (hit || taken || t->allocation == BTB_ALLOCATE_ALL)
		site->btb_entry = t->last;
}

/* A direct branch's, if the BTB is of whole tags and LRU. */
static inline __attribute__((always_inline)) void btb_access(struct branches *b, struct branch_site *site, bool taken)
{
	b->queued_looked_up++;
	if (__builtin_expect(PART(b, uint64_t, b->targets.keys_at)[site->btb_entry] == site->key, 1))
		PART(b, uint64_t, b->targets.stamps_at)[site->btb_entry] = ++b->targets.clock;
	else
		look_up(b, site, taken);
}

/* Anything but a conditional branch. */
static __attribute__((noinline)) void transfer(struct branches *b, struct branch_site *site, uint64_t target)
{
	struct targets *t = &b->targets;
	unsigned happened = site->ending | BRANCH_WAS_TAKEN;
	if (site->ending == TRACE_END_RETURN && t->return_entries && !(t->holds_returns && t->sets)) {
		if (targets_pop(b) != target && !b->none)
			happened |= BRANCH_WAS_MISPREDICTED;
	} else if ((site->ending == TRACE_END_JUMP || site->ending == TRACE_END_CALL) && !t->counters && (t->fast || !t->sets)) {
		if (t->sets)
			btb_access(b, site, true);
		if (site->ending == TRACE_END_CALL && t->return_entries)
			targets_push(b, site->behind);
	} else {
		branch_resolve_now(b, site->behind - site->length, site->length, (enum trace_ending)site->ending, true, target);
		return;
	}
	b->happened[happened]++;
}

/* The Pentium's: an entry's counter and recency. False: not the entry that was guessed. */
static inline bool counter_access(struct branches *b, const struct branch_site *site, bool taken, bool *predicted)
{
	struct targets *t = &b->targets;
	uint8_t *counter = PART(b, uint8_t, t->counters_at) + site->btb_entry;
	if (PART(b, uint64_t, t->keys_at)[site->btb_entry] != site->key)
		return false;
	PART(b, uint64_t, t->stamps_at)[site->btb_entry] = ++t->clock;
	*predicted = *counter >= t->counter_half;
	*counter += (taken & (*counter < t->counter_max)) - (!taken & (*counter > 0));
	return true;
}

static void any(struct branches *b, uint64_t *word, const uint64_t *end)
{
	struct targets *t = &b->targets;
	const bool quick = !b->none && (t->fast || !t->sets);
	while (word < end) {
		struct branch_site *site = (struct branch_site *)(uintptr_t)(*word & ~1ull);
		bool taken = *word & 1, predicted;
		if (site->ending != TRACE_END_CONDITIONAL) {
			transfer(b, site, word[1]);
			word += 2;
			continue;
		}
		word++;
		if (!quick || (t->counters && !counter_access(b, site, taken, &predicted))) {
			branch_resolve_now(b, site->behind - site->length, site->length, TRACE_END_CONDITIONAL, taken, site->target);
			if (t->counters)
				site->btb_entry = t->last;
			continue;
		}
		if (t->counters)
			b->queued_looked_up++;
		else {
			if (t->sets)
				btb_access(b, site, taken);
			uint64_t pc = site->behind - site->length;
			predicted = b->simple ? direction_resolve(b, pc, taken, site->target) :
				    b->direction.kind == PREDICT_TAGE ? tage_resolve(b, pc, taken) : perceptron_resolve(b, pc, taken);
		}
		b->happened[TRACE_END_CONDITIONAL | taken * BRANCH_WAS_TAKEN | predicted * BRANCH_WAS_PREDICTED_TAKEN |
			    (predicted != taken) * BRANCH_WAS_MISPREDICTED]++;
	}
}

static inline __attribute__((always_inline)) void published(struct branches *b, uint64_t *word, const uint64_t *end, const bool btb)
{
	struct tage *t = &b->tage;
	const uint32_t *keys = PART(b, uint32_t, t->keys_at);
	uint8_t *states = PART(b, uint8_t, t->states_at), *line = t->line + t->newest + 1;
	const uint64_t *btb_keys = PART(b, uint64_t, b->targets.keys_at);
	uint64_t *stamps = PART(b, uint64_t, b->targets.stamps_at), recent = t->recent, rolling = t->tables[3].rolling;
	const uint64_t leaves[2] = { 0, t->tables[3].leaves };
	enum { MASK = TAGE_PUBLISHED_ENTRIES - 1, SHIFT = 64 - TAGE_PUBLISHED_WIDTH };

	while (word < end) {
		struct branch_site *site = (struct branch_site *)(uintptr_t)(*word & ~1ull);
		const unsigned taken = *word & 1;
		if (site->ending != TRACE_END_CONDITIONAL) { /* not of TAGE's concern */
			transfer(b, site, word[1]);
			word += 2;
			continue;
		}
		word++;
		if (btb) {
			if (__builtin_expect(btb_keys[site->btb_entry] == site->key, 1))
				stamps[site->btb_entry] = ++b->targets.clock;
			else
				look_up(b, site, taken);
		}
		const uint32_t hash = site->hash;
		const uint32_t key0 = (recent & 0x1f) ^ hash, key1 = (recent & 0x7fff) ^ hash;
		const uint32_t key2 = (uint32_t)((recent & 0xfffffffffff) * TAGE_K >> SHIFT) ^ hash;
		const uint32_t key3 = (uint32_t)(rolling * TAGE_K >> SHIFT) ^ hash;
		const uint64_t e0 = key0 & MASK, e1 = key1 & MASK, e2 = key2 & MASK, e3 = key3 & MASK;
		uint8_t *provider = states + site->base, *alternate = provider;
		take(keys + e0, key0, states + e0, &provider, &alternate);
		take(keys + e1 + 1024, key1, states + e1 + 1024, &provider, &alternate);
		take(keys + e2 + 2048, key2, states + e2 + 2048, &provider, &alternate);
		take(keys + e3 + 3072, key3, states + e3 + 3072, &provider, &alternate);

		rolling = rolling * TAGE_M + taken - leaves[line[-TAGE_PUBLISHED_HISTORY]];
		recent = recent << 1 | taken;
		*line++ = taken;

		const unsigned state = *provider, differs = (state ^ *alternate) & TAGE_TAKEN;
		const unsigned tallied = differs << 3 | taken << 8 | state, next = t->next[tallied];
		t->tally[tallied]++;
		*provider = next;
		if (__builtin_expect(next & (TAGE_WRONG | TAGE_NEW), 0)) {
			uint32_t keys_now[] = { key0, key1, key2, key3 };
			rare(b, next, tallied, keys_now, provider - states);
		}
	}
	t->newest = line - t->line - 1;
	t->recent = recent;
	t->tables[3].rolling = rolling;
}

void branches_drain(struct branches *b)
{
	struct tage *t = &b->tage;
	struct targets *targets = &b->targets;
	uint64_t *word = b->queue.words, *end = word + b->queue.n, conditional = 0;
	b->queue.n = 0;
	if (!t->published || (targets->sets && !targets->fast) || (t->useful_reset && t->countdown <= BRANCH_QUEUE)) {
		any(b, word, end);
		return;
	}
	tage_make_room(t, BRANCH_QUEUE);
	uint32_t newest = t->newest;
	if (targets->sets)
		published(b, word, end, true);
	else
		published(b, word, end, false);
	conditional = t->newest - newest;
	if (t->useful_reset)
		t->countdown -= conditional;
	if (targets->sets)
		b->queued_looked_up += conditional;
}

void branch_queue_count(struct branches *b, struct model_counts *counts)
{
	struct tage *t = &b->tage;
	uint64_t *c = counts->branch;
	if (t->published) {
		for (unsigned i = 0; i < 4 * 256; i++) {
			uint64_t times = t->tally[i];
			unsigned says = !!(i & TAGE_TAKEN), taken = i >> 8 & 1;
			if (!times)
				continue;
			t->tally[i] = 0;
			c[BRANCH_ALL] += times;
			c[BRANCH_CONDITIONAL] += times;
			c[BRANCH_TAKEN] += times * taken;
			c[BRANCH_PREDICTED_TAKEN] += times * says;
			c[BRANCH_MISPREDICTED] += times * (says != taken);
			c[BRANCH_CONDITIONAL_MISPREDICTED] += times * (says != taken);
		}
		for (unsigned i = 0; i < 4; i++) { /* counted above as the provider said */
			uint64_t times = t->overruled[i];
			unsigned says = i >> 1, taken = i & 1;
			t->overruled[i] = 0;
			c[BRANCH_PREDICTED_TAKEN] += says ? -times : times;
			c[BRANCH_MISPREDICTED] += says == taken ? times : -times;
			c[BRANCH_CONDITIONAL_MISPREDICTED] += says == taken ? times : -times;
		}
	}
	c[BRANCH_BTB_LOOKUPS] += b->queued_looked_up;
	c[BRANCH_BTB_MISSES] += b->queued_missed;
	c[BRANCH_BTB_HITS] += b->queued_looked_up - b->queued_missed;
	c[BRANCH_BTB_MISSES_TAKEN] += b->queued_missed_taken;
	b->queued_looked_up = b->queued_missed = b->queued_missed_taken = 0;
}
