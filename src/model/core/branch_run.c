/*
 * The branches of many blocks.
 *
 * The parts of a predictor do not ask each other: the BTB, the return stack, the indirect table and the predictor of directions each
 * see their branches in the program's order, whatever the others do meanwhile. So the blocks are gone through once, for the BTB and to sort
 * them; then each part has a loop of its own, over the branches that concern it:
 *
 *     blocks ──► BTB, sorting ──► conditional branches: tage_batch.c, direction.c, perceptron.c
 *                             ──► calls and returns: the return stack
 *                             ──► indirect ones: the indirect table
 *
 * Which kind of branch comes next, and which way it goes, is as hard to foresee for the host as for the model: sorting and the return
 * stack are without jumps that depend on it. A block without a branch goes the same way, and leaves nothing.
 *
 * Who asks the BTB for more than a hit (the Pentium's counters), or whose BTB is not of whole tags and LRU, goes branch by branch; so do
 * models without filters. All ways count the same (tests/unit/model_branch_test.c compares).
 */
#include "model/core/predict.h"

void branches_site(const struct branches *b, struct branch_site *site, uint64_t begins, uint64_t pc, uint32_t length,
		   enum trace_ending ending, uint64_t target)
{
	const struct targets *t = &b->targets;
	bool returns = ending == TRACE_END_RETURN, call = ending == TRACE_END_CALL || ending == TRACE_END_INDIRECT_CALL;
	bool indirect = ending == TRACE_END_INDIRECT_JUMP || ending == TRACE_END_INDIRECT_CALL || (returns && !t->return_entries);
	*site = (struct branch_site){ .begins = begins, .behind = pc + length, .length = (uint16_t)length,
		.btb_entry = t->entries /* where no branch's key is */ };
	if (ending == TRACE_END_NONE || ending == TRACE_END_SYSTEM)
		return;
	site->ending = ending;
	site->address = predict_address(b, pc, target);
	if (ending == TRACE_END_CONDITIONAL)
		site->flags |= SITE_CONDITIONAL;
	if (t->return_entries && (returns || call))
		site->flags |= SITE_STACK;
	if (t->sets && (!returns || t->holds_returns)) {
		site->key = (pc >> t->address_shift) + 1;
		if (!t->indirect_mask && (indirect || returns))
			site->flags |= SITE_STORES;
		if (!t->indirect_mask && indirect)
			site->flags |= SITE_LAST_TARGET;
	}
	if (indirect && !(site->flags & SITE_LAST_TARGET))
		site->flags |= SITE_INDIRECT;
}

static void mispredict(struct branches *b, const struct branch_site *site)
{
	if (b->none)
		return;
	b->happened[site->ending | BRANCH_WAS_TAKEN]--; /* as which all are counted */
	b->happened[site->ending | BRANCH_WAS_TAKEN | BRANCH_WAS_MISPREDICTED]++;
}

/* ---- the BTB ---- */

/* What was known of the branch does not hold, or not any more. */
static __attribute__((noinline)) void look_up(struct branches *b, struct branch_site *site, bool taken, uint64_t went_to)
{
	struct targets *t = &b->targets;
	const uint64_t key = site->key & ~BTB_IS_ABSENT, absent_key = key | BTB_IS_ABSENT;
	const uint32_t absent = t->entries + 1 + (uint32_t)((key - 1) & (BTB_ABSENT - 1));
	const bool direct = !(site->flags & SITE_STORES);
	uint64_t before = 0;
	bool hit = false;
	if (taken || PART(b, struct btb_entry, t->btb_at)[absent].key != absent_key)
		hit = targets_look_up(b, site->behind - site->length, direct, taken, went_to, NULL, &before);
	b->batched.missed += !hit;
	b->batched.missed_taken += !hit && taken;
	if (hit || taken || t->allocation == BTB_ALLOCATE_ALL) {
		site->btb_entry = t->last;
		site->key = key;
	} else {
		site->btb_entry = absent;
		site->key = absent_key;
	}
	if (site->flags & SITE_LAST_TARGET && before != went_to)
		mispredict(b, site);
}

struct found { uint64_t clock; uint32_t missed, missed_taken; };

struct two_ways { struct btb_entry *entries; uint64_t *targets; uint32_t set_mask, none, allocation; };

/* Sets of two ways are small BTBs, which miss often: nothing is guessed, and nothing jumps by what is there. Who does not enter writes to the
   entry that is no branch's. */
static inline __attribute__((always_inline)) void look_up_two(struct branches *b, const struct two_ways *two, const struct branch_site *site,
							       bool goes, uint64_t went_to, struct found *found)
{
	const uint64_t key = site->key;
	const uint32_t first = 2 * (uint32_t)((key - 1) & two->set_mask);
	const struct btb_entry *set = &two->entries[first];
	const unsigned looks = key != 0, second_hits = set[1].key == key, hits = (set[0].key == key) | second_hits;
	const unsigned way = hits ? second_hits : set[1].stamp < set[0].stamp;
	const unsigned enters = looks & (hits | goes | two->allocation);
	const uint32_t at = enters ? first + way : two->none;
	const uint64_t before = hits ? two->targets[at] : 0;
	found->missed += looks & !hits;
	found->missed_taken += looks & !hits & goes;
	two->entries[at].key = enters ? key : 0;
	two->entries[at].stamp = ++found->clock;
	two->targets[at] = site->flags & SITE_STORES ? went_to : before;
	if (__builtin_expect(site->flags & SITE_LAST_TARGET, 0) && before != went_to)
		mispredict(b, site);
}
_Static_assert(BTB_ALLOCATE_ALL == 1 && BTB_ALLOCATE_TAKEN == 0, "look_up_two() counts on it");

enum btb { BTB_NONE, BTB_TWO_WAYS, BTB_LAST_TARGETS, BTB_HITS_ONLY };

/* Returns how many are conditional. */
static inline __attribute__((always_inline)) uint32_t sort(struct branches *b, struct branch_site *const *sites, uint32_t n, uint8_t *outcome,
							    const enum btb btb)
{
	struct btb_entry *entries = PART(b, struct btb_entry, b->targets.btb_at);
	uint64_t *targets = PART(b, uint64_t, b->targets.targets_at), kinds = 0, looked_up = 0;
	struct found found = { .clock = b->targets.clock };
	const struct two_ways two = { entries, targets, b->targets.set_mask, b->targets.entries, b->targets.allocation };
	struct branch_site *site = sites[0];
	uint32_t conditional_ones = 0, taken_ones = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct branch_site *next = sites[i + 1];
		const uint64_t went_to = next->begins, taken = went_to != site->behind;
		const unsigned flags = site->flags, conditional = flags & SITE_CONDITIONAL;
		b->batch.flags[i] = (uint8_t)flags;
		b->batch.address[conditional_ones] = site->address;
		outcome[conditional_ones] = (uint8_t)taken;
		conditional_ones += conditional;
		taken_ones += taken & conditional;
		kinds += 1ull << 8 * site->ending;
		if (btb == BTB_TWO_WAYS) {
			look_up_two(b, &two, site, taken | !conditional, went_to, &found);
		} else if (btb != BTB_NONE) {
			struct btb_entry *entry = &entries[site->btb_entry];
			const uint64_t key = site->key;
			/* no taken branch is absent */
			if (__builtin_expect(((entry->key ^ key) | (key & taken << 63)) != 0, 0)) {
				b->targets.clock = found.clock;
				look_up(b, site, taken | !conditional, went_to);
				found.clock = b->targets.clock;
			} else {
				found.missed += (uint32_t)(key >> 63);
				entry->stamp = ++found.clock; /* of no one, if absent */
				if (btb == BTB_LAST_TARGETS && flags & SITE_STORES) {
					if (flags & SITE_LAST_TARGET && targets[site->btb_entry] != went_to)
						mispredict(b, site);
					targets[site->btb_entry] = went_to;
				}
			}
		}
		site = next;
	}
	for (unsigned kind = TRACE_END_JUMP; kind <= TRACE_END_RETURN; kind++)
		b->happened[kind | BRANCH_WAS_TAKEN] += kinds >> 8 * kind & 0xff, looked_up += kinds >> 8 * kind & 0xff;
	b->batched.conditional += conditional_ones;
	b->batched.taken += taken_ones;
	if (btb != BTB_NONE) {
		b->targets.clock = found.clock;
		b->batched.looked_up += conditional_ones + looked_up - (b->targets.holds_returns ? 0 : kinds >> 8 * TRACE_END_RETURN & 0xff);
		b->batched.missed += found.missed;
		b->batched.missed_taken += found.missed_taken;
	}
	return conditional_ones;
}

/* Bit i % 64 of word i / 64: that branch has the flag. */
static inline __attribute__((always_inline)) void find(const struct branches *b, uint32_t n, const unsigned flag, uint64_t *found)
{
	for (uint32_t i = 0; i < n; i += 8) {
		uint64_t eight;
		__builtin_memcpy(&eight, b->batch.flags + i, 8);
		if (n - i < 8)
			eight &= (1ull << 8 * (n - i)) - 1;
		/* a byte's bit 0 to bit 56 and on */
		eight = (eight / flag & 0x0101010101010101ull) * 0x0102040810204080ull >> 56;
		found[i / 64] |= eight << i % 64;
	}
}

/* ---- the return stack and the indirect table ---- */

static void calls_and_returns(struct branches *b, struct branch_site *const *sites, uint32_t n)
{
	struct targets *t = &b->targets;
	uint64_t *stack = PART(b, uint64_t, t->returns_at), found[BRANCH_BATCH / 64] = { 0 };
	const uint32_t entries = t->return_entries;
	uint32_t top = t->top, valid = t->valid, wrong = 0;
	find(b, n, SITE_STACK, found);
	for (uint32_t k = 0; k < BRANCH_BATCH / 64; k++)
		for (; found[k]; found[k] &= found[k] - 1) {
			struct branch_site *const *at = &sites[64 * k + (uint32_t)__builtin_ctzll(found[k])];
			const bool returns = at[0]->ending == TRACE_END_RETURN;
			const uint32_t above = top + 1 == entries ? 0 : top + 1, below = top ? top - 1 : entries - 1;
			wrong += returns & ((stack[top] != at[1]->begins) | !valid);
			stack[returns ? entries : above] = at[0]->behind; /* a return writes where nobody reads */
			top = !returns ? above : valid ? below : top;
			valid = returns ? valid - (valid != 0) : valid + (valid < entries);
		}
	t->top = top;
	t->valid = valid;
	if (b->none)
		return;
	b->happened[TRACE_END_RETURN | BRANCH_WAS_TAKEN] -= wrong;
	b->happened[TRACE_END_RETURN | BRANCH_WAS_TAKEN | BRANCH_WAS_MISPREDICTED] += wrong;
}

static void indirect_ones(struct branches *b, struct branch_site *const *sites, uint32_t n)
{
	uint64_t found[BRANCH_BATCH / 64] = { 0 };
	find(b, n, SITE_INDIRECT, found);
	for (uint32_t k = 0; k < BRANCH_BATCH / 64; k++)
		for (; found[k]; found[k] &= found[k] - 1) {
			struct branch_site *const *at = &sites[64 * k + (uint32_t)__builtin_ctzll(found[k])];
			const struct branch_site *site = at[0];
			const uint64_t went_to = at[1]->begins;
			if (!b->targets.indirect_mask || targets_indirect(b, site->behind - site->length, went_to) != went_to)
				mispredict(b, site);
		}
}

/* ---- all of it ---- */

static struct told perceptron_batch(struct branches *b, uint32_t n)
{
	struct told told = { 0, 0 };
	for (uint32_t i = 0; i < n; i++) {
		bool taken = b->batch.outcome[i], predicted = perceptron_resolve(b, b->batch.address[i], taken);
		told.taken += predicted;
		told.wrong += predicted != taken;
	}
	return told;
}

static void one_by_one(struct branches *b, struct branch_site *const *sites, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct branch_site *site = sites[i];
		uint64_t went_to = sites[i + 1]->begins;
		bool conditional = site->ending == TRACE_END_CONDITIONAL;
		branch_resolve_now(b, site->behind - site->length, site->length, (enum trace_ending)site->ending,
				   !conditional || went_to != site->behind,
				   /* of a conditional one that is not taken, who asks wants to know where it would go: backward or not */
				   conditional && went_to == site->behind ? (site->address & BRANCH_BACKWARD ? 0 : ~0ull) : went_to);
	}
}

/* No more than BRANCH_BATCH. */
static void run(struct branches *b, struct branch_site *const *sites, uint32_t n)
{
	struct tage *t = &b->tage;
	uint8_t *outcome = b->batch.outcome;
	struct told told = { 0, 0 };
	if (b->direction.kind == PREDICT_TAGE) {
		tage_make_room(t, BRANCH_BATCH);
		outcome = t->line + t->newest + 1;
	}
	const uint64_t taken_before = b->batched.taken;
	const struct targets *targets = &b->targets;
	const uint32_t conditional = !targets->sets ? sort(b, sites, n, outcome, BTB_NONE) :
				     targets->ways == 2 && targets->set_mask_works ? sort(b, sites, n, outcome, BTB_TWO_WAYS) :
				     !targets->indirect_mask ? sort(b, sites, n, outcome, BTB_LAST_TARGETS) :
							       sort(b, sites, n, outcome, BTB_HITS_ONLY);
	if (b->targets.return_entries)
		calls_and_returns(b, sites, n);
	indirect_ones(b, sites, n);
	if (b->direction.kind == PREDICT_TAGE)
		told = tage_batch(b, conditional, (uint32_t)(b->batched.taken - taken_before));
	else if (b->direction.kind == PREDICT_PERCEPTRON)
		told = perceptron_batch(b, conditional);
	else if (!b->none)
		told = direction_batch(b, conditional);
	b->batched.predicted_taken += told.taken;
	b->batched.mispredicted += told.wrong;
}

void branches_run(struct branches *b, struct branch_site *const *sites, uint32_t n)
{
	if (!b->sorts) {
		one_by_one(b, sites, n);
		return;
	}
	for (uint32_t i = 0; i < n; i += BRANCH_BATCH)
		run(b, sites + i, n - i < BRANCH_BATCH ? n - i : BRANCH_BATCH);
}

void branch_run_count(struct branches *b, struct model_counts *counts)
{
	uint64_t *c = counts->branch;
	c[BRANCH_ALL] += b->batched.conditional;
	c[BRANCH_CONDITIONAL] += b->batched.conditional;
	c[BRANCH_TAKEN] += b->batched.taken;
	c[BRANCH_PREDICTED_TAKEN] += b->batched.predicted_taken;
	c[BRANCH_MISPREDICTED] += b->batched.mispredicted;
	c[BRANCH_CONDITIONAL_MISPREDICTED] += b->batched.mispredicted;
	c[BRANCH_BTB_LOOKUPS] += b->batched.looked_up;
	c[BRANCH_BTB_MISSES] += b->batched.missed;
	c[BRANCH_BTB_HITS] += b->batched.looked_up - b->batched.missed;
	c[BRANCH_BTB_MISSES_TAKEN] += b->batched.missed_taken;
	__builtin_memset(&b->batched, 0, sizeof(b->batched));
}
