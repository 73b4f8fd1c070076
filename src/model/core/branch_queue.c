/*
 * Branches that were put off, resolved by the hundred.
 *
 * The parts of a predictor do not ask each other: the BTB, the return stack, the indirect table and the predictor of directions each
 * see their branches in the program's order, whatever the others do meanwhile. So the queue is gone through once, for the BTB and to sort
 * it; then each part has a loop of its own, over the branches that concern it:
 *
 *     queue ──► BTB, sorting ──► conditional branches: tage_batch.c, direction.c, perceptron.c
 *                            ──► calls and returns: the return stack
 *                            ──► indirect ones: the indirect table
 *
 * Which kind of branch comes next, and which way it goes, is as hard to foresee for the host as for the model: sorting and the return
 * stack are without jumps that depend on it.
 *
 * Who asks the BTB for more than a hit (the Pentium's counters), or whose BTB is not of whole tags and LRU, goes branch by branch; so do
 * models without filters. All ways count the same (tests/unit/model_branch_test.c compares).
 */
#include "model/core/predict.h"

void branches_site(const struct branches *b, struct branch_site *site, uint64_t pc, uint32_t length, enum trace_ending ending,
		   uint64_t target)
{
	const struct targets *t = &b->targets;
	bool conditional = ending == TRACE_END_CONDITIONAL, returns = ending == TRACE_END_RETURN;
	bool indirect = ending == TRACE_END_INDIRECT_JUMP || ending == TRACE_END_INDIRECT_CALL;
	*site = (struct branch_site){ .behind = pc + length, .target = target, .address = predict_address(b, pc, target),
		.unit = 1ull << 8 * ending, .length = (uint16_t)length, .ending = ending, .flags = conditional ? SITE_CONDITIONAL : 0 };
	if (t->return_entries && (returns || ending == TRACE_END_CALL || ending == TRACE_END_INDIRECT_CALL))
		site->flags |= SITE_STACK;
	if (t->sets && (!returns || t->holds_returns)) {
		site->flags |= SITE_LOOKS_UP;
		site->key = (pc >> t->address_shift) + 1;
		if (!t->indirect_mask && (indirect || (returns && !t->return_entries)))
			site->flags |= SITE_LAST_TARGET;
	} else {
		site->btb_entry = t->entries; /* where no branch's key is */
	}
	if ((indirect || (returns && !t->return_entries)) && !(site->flags & SITE_LAST_TARGET))
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
	uint32_t absent = t->entries + 1 + (uint32_t)((site->key - 1) & (BTB_ABSENT - 1));
	uint64_t before;
	if (!taken && PART(b, struct btb_entry, t->btb_at)[absent].key == site->key) {
		site->btb_entry = absent;
		b->queued.missed++;
		return;
	}
	bool direct = !(site->flags & SITE_LAST_TARGET);
	bool hit = targets_look_up(b, site->behind - site->length, direct, taken, went_to, NULL, &before);
	b->queued.missed += !hit;
	b->queued.missed_taken += !hit && taken;
	site->btb_entry = hit || taken || t->allocation == BTB_ALLOCATE_ALL ? t->last : absent;
	if (!direct && before != went_to)
		mispredict(b, site);
}

/* Returns how many are conditional. */
static inline __attribute__((always_inline)) uint32_t sort(struct branches *b, uint32_t n, uint8_t *outcome, const bool btb, const bool last_targets)
{
	struct btb_entry *entries = PART(b, struct btb_entry, b->targets.btb_at);
	uint64_t *targets = PART(b, uint64_t, b->targets.targets_at), clock = b->targets.clock, kinds = 0;
	const uint32_t none = b->targets.entries;
	uint32_t conditional_ones = 0, absent_ones = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct branch_site *site = b->queue.posted[i].site;
		const uint64_t went_to = b->queue.posted[i].went_to;
		const unsigned flags = site->flags, conditional = flags & SITE_CONDITIONAL, taken = went_to != site->behind;
		b->batch.flags[i] = (uint8_t)flags;
		b->batch.address[conditional_ones] = site->address;
		outcome[conditional_ones] = taken;
		conditional_ones += conditional;
		kinds += site->unit + (taken & conditional); /* those taken in the byte of TRACE_END_NONE */
		if (btb) {
			struct btb_entry *entry = &entries[site->btb_entry];
			const unsigned absent = site->btb_entry > none, goes = taken | !conditional;
			if (__builtin_expect((entry->key != site->key) | (absent & goes), 0)) {
				b->targets.clock = clock;
				look_up(b, site, goes, went_to);
				clock = b->targets.clock;
				continue;
			}
			absent_ones += absent;
			entry->stamp = ++clock; /* of no one, if absent */
			if (last_targets && flags & SITE_LAST_TARGET) {
				if (targets[site->btb_entry] != went_to)
					mispredict(b, site);
				targets[site->btb_entry] = went_to;
			}
		}
	}
	for (unsigned kind = TRACE_END_JUMP; kind <= TRACE_END_RETURN; kind++)
		b->happened[kind | BRANCH_WAS_TAKEN] += kinds >> 8 * kind & 0xff;
	b->queued.conditional += conditional_ones;
	b->queued.taken += kinds & 0xff;
	if (btb) {
		b->targets.clock = clock;
		b->queued.looked_up += n - (b->targets.holds_returns ? 0 : kinds >> 8 * TRACE_END_RETURN & 0xff);
		b->queued.missed += absent_ones;
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

static void calls_and_returns(struct branches *b, uint32_t n)
{
	struct targets *t = &b->targets;
	uint64_t *stack = PART(b, uint64_t, t->returns_at), found[BRANCH_QUEUE / 64] = { 0 };
	const uint32_t entries = t->return_entries;
	uint32_t top = t->top, valid = t->valid, wrong = 0;
	find(b, n, SITE_STACK, found);
	for (uint32_t k = 0; k < BRANCH_QUEUE / 64; k++)
		for (; found[k]; found[k] &= found[k] - 1) {
			const struct branch_posted *posted = &b->queue.posted[64 * k + (uint32_t)__builtin_ctzll(found[k])];
			const bool returns = posted->site->ending == TRACE_END_RETURN;
			const uint32_t above = top + 1 == entries ? 0 : top + 1, below = top ? top - 1 : entries - 1;
			wrong += returns & ((stack[top] != posted->went_to) | !valid);
			stack[returns ? entries : above] = posted->site->behind; /* a return writes where nobody reads */
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

static void indirect_ones(struct branches *b, uint32_t n)
{
	uint64_t found[BRANCH_QUEUE / 64] = { 0 };
	find(b, n, SITE_INDIRECT, found);
	for (uint32_t k = 0; k < BRANCH_QUEUE / 64; k++)
		for (; found[k]; found[k] &= found[k] - 1) {
			const struct branch_posted *posted = &b->queue.posted[64 * k + (uint32_t)__builtin_ctzll(found[k])];
			const struct branch_site *site = posted->site;
			if (!b->targets.indirect_mask ||
			    targets_indirect(b, site->behind - site->length, posted->went_to) != posted->went_to)
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

static void one_by_one(struct branches *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct branch_site *site = b->queue.posted[i].site;
		uint64_t went_to = b->queue.posted[i].went_to;
		bool conditional = site->ending == TRACE_END_CONDITIONAL;
		branch_resolve_now(b, site->behind - site->length, site->length, (enum trace_ending)site->ending,
				   !conditional || went_to != site->behind, conditional ? site->target : went_to);
	}
}

void branches_drain(struct branches *b)
{
	const uint32_t n = (uint32_t)b->queue.n;
	struct tage *t = &b->tage;
	uint8_t *outcome = b->batch.outcome;
	struct told told = { 0, 0 };
	b->queue.n = 0;
	if (!b->sorts) {
		one_by_one(b, n);
		return;
	}
	if (b->direction.kind == PREDICT_TAGE) {
		tage_make_room(t, BRANCH_QUEUE);
		outcome = t->line + t->newest + 1;
	}
	const uint32_t conditional = !b->targets.sets ? sort(b, n, outcome, false, false) :
				     b->targets.indirect_mask ? sort(b, n, outcome, true, false) : sort(b, n, outcome, true, true);
	if (b->targets.return_entries)
		calls_and_returns(b, n);
	indirect_ones(b, n);
	if (b->direction.kind == PREDICT_TAGE)
		told = tage_batch(b, conditional);
	else if (b->direction.kind == PREDICT_PERCEPTRON)
		told = perceptron_batch(b, conditional);
	else if (!b->none)
		told = direction_batch(b, conditional);
	b->queued.predicted_taken += told.taken;
	b->queued.mispredicted += told.wrong;
}

void branch_queue_count(struct branches *b, struct model_counts *counts)
{
	uint64_t *c = counts->branch;
	c[BRANCH_ALL] += b->queued.conditional;
	c[BRANCH_CONDITIONAL] += b->queued.conditional;
	c[BRANCH_TAKEN] += b->queued.taken;
	c[BRANCH_PREDICTED_TAKEN] += b->queued.predicted_taken;
	c[BRANCH_MISPREDICTED] += b->queued.mispredicted;
	c[BRANCH_CONDITIONAL_MISPREDICTED] += b->queued.mispredicted;
	c[BRANCH_BTB_LOOKUPS] += b->queued.looked_up;
	c[BRANCH_BTB_MISSES] += b->queued.missed;
	c[BRANCH_BTB_HITS] += b->queued.looked_up - b->queued.missed;
	c[BRANCH_BTB_MISSES_TAKEN] += b->queued.missed_taken;
	__builtin_memset(&b->queued, 0, sizeof(b->queued));
}
