/*
 * The branches of many blocks.
 *
 * The components of a predictor do not ask each other: the BTB, the return stack, the indirect table and the
 * predictor of directions each see their branches in the program's order, whatever the others do meanwhile. So the
 * blocks are gone through once, for the BTB and to sort them; then each component has a loop of its own, over the
 * branches that concern it:
 *
 *     blocks ──► BTB, sorting ──► conditional branches: tage_batch.c, predict/direction.c, predict/perceptron.c
 *                             ──► calls and returns: the return stack
 *                             ──► indirect ones: the indirect table
 *
 * Which kind of branch comes next, and which way it goes, is as hard to foresee for the host as for the model:
 * sorting and the return stack are without jumps that depend on it. A block without a branch goes the same way,
 * and leaves nothing.
 *
 * Equals   branches_resolve() of predict/branch.c
 * For      branch_run_sorts(): not BTBs with tree PLRU, nor with partial tags whose targets are asked for, nor
 *          runs without filters: those go branch by branch
 * Test     tests/unit/model_branch_test.c, tests/model/branches_test.c
 */
#include "model/core/fast/btb_two.h"
#include "model/core/predict/predict.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* What an entry is to be touched for by a hit, or asked for. */
enum btb_kind {
	BTB_NONE,
	/* LRU, whole tags, nothing but hits and last targets: looked up anew every time */
	BTB_TWO_WAYS,
	BTB_HITS,         /* LRU, and the indirect table predicts targets */
	BTB_LAST_TARGETS, /* LRU */
	BTB_ANY,          /* LRU, FIFO, random; last targets; the Pentium's counters */
};

static enum btb_kind btb_of(const struct branches *b)
{
	const struct target_predictor *t = &b->targets;
	if (!t->sets)
		return BTB_NONE;
	if (t->two_ways)
		return BTB_TWO_WAYS;
	if (t->replacement != REPLACE_LRU || t->counters)
		return BTB_ANY;
	return t->indirect_mask ? BTB_HITS : BTB_LAST_TARGETS;
}

bool branch_run_sorts(const struct branches *b)
{
	const struct target_predictor *t = &b->targets;
	return t->filtered && t->replacement != REPLACE_PLRU && (!t->sets || t->whole || t->indirect_mask);
}

void branches_static(const struct branches *b, struct static_branch *branch, uint64_t begins, uint64_t pc,
		     uint32_t length, enum trace_ending ending, uint64_t target)
{
	const struct target_predictor *t = &b->targets;
	bool returns = ending == TRACE_END_RETURN,
	     call = ending == TRACE_END_CALL || ending == TRACE_END_INDIRECT_CALL;
	bool indirect = ending == TRACE_END_INDIRECT_JUMP || ending == TRACE_END_INDIRECT_CALL ||
			(returns && !t->return_entries);
	*branch = (struct static_branch){.begins = begins,
					 .behind = pc + length,
					 .length = (uint8_t)length,
					 .set = t->sets,
					 .entry = t->entries /* where no branch's key is, and nothing changes */};
	if (ending == TRACE_END_NONE || ending == TRACE_END_SYSTEM)
		return;
	branch->ending = ending;
	branch->address = predict_address(b, pc, target);
	branch->conditional = ending == TRACE_END_CONDITIONAL;
	if (t->return_entries && (returns || call))
		branch->ending |= ENDING_STACK;
	if (t->sets && (!returns || t->holds_returns)) {
		branch->key = targets_key(t, pc, &branch->set);
		branch->version = BTB_UNKNOWN;
		if (!t->indirect_mask && (indirect || returns))
			branch->ending |= ENDING_STORES;
		if (!t->indirect_mask && indirect)
			branch->ending |= ENDING_LAST_TARGET;
	}
	if (indirect && !(branch->ending & ENDING_LAST_TARGET))
		branch->ending |= ENDING_INDIRECT;
}

static inline unsigned ending_of(const struct static_branch *branch) { return branch->ending & ENDING_KIND; }

/* Block i of the batch. */
static void mispredict(struct branches *b, const struct static_branch *branch, uint64_t i)
{
	if (b->none)
		return;
	branch_run_mispredicted(b, i);
	b->happened[ending_of(branch) | BRANCH_WAS_TAKEN]--; /* as which all are counted */
	b->happened[ending_of(branch) | BRANCH_WAS_TAKEN | BRANCH_WAS_MISPREDICTED]++;
}

bool branch_run_heads(const struct branches *b)
{
	const struct target_predictor *t = &b->targets;
	const enum btb_kind btb = btb_of(b);
	/* these ask for the upper half of an address */
	const bool whole = b->direction.kind == PREDICT_TAGE || b->direction.kind == PREDICT_BACKWARD_TAKEN;
	return b->sorts && (btb == BTB_NONE || (btb == BTB_HITS && !(t->ways & (t->ways - 1))) ||
			    (btb == BTB_TWO_WAYS && !whole));
}

void branches_head(const struct branches *b, const struct static_branch *branch, uint32_t *counted, uint32_t *high,
		   uint32_t *version, uint32_t *where)
{
	*counted |= (uint32_t)branch->ending << 24;
	if (b->targets.two_ways) {
		*version = (uint32_t)branch->key;
		*high = (uint32_t)(branch->key >> 32);
		*where |= branch->set;
		return;
	}
	*version = branch->version;
	*where |= branch->key ? branch->set * b->targets.ways : b->targets.entries;
}

/* ---- the BTB ---- */

__attribute__((noinline)) bool branch_look_up(struct branches *b, struct static_branch *branch, bool goes,
					      uint64_t went_to, uint64_t recency, struct branch_tally *tally)
{
	struct target_predictor *t = &b->targets;
	const uint64_t *keys = TABLE(b, uint64_t, t->keys_at), key = branch->key;
	const uint32_t *version = TABLE(b, uint32_t, t->versions_at) + branch->set, first = branch->set * t->ways;
	uint32_t entry = branch->entry;
	bool enters = false;
	if (keys[entry] != key) {
		entry = t->entries;
		for (uint32_t way = 0; way < t->ways; way++) /* without jumps, again */
			entry = keys[first + way] == key ? first + way : entry;
		if (entry == t->entries && (goes || t->allocation == BTB_ALLOCATE_ALL)) {
			enters = true;
			t->recency = recency - 1;
			entry = targets_enter(
				b, branch->set, key,
				goes && (branch->ending & ENDING_STORES || t->stores_direct) ? went_to : 0);
			tally->missed++;
			tally->missed_taken += goes;
			if (branch->ending & ENDING_LAST_TARGET)
				mispredict(b, branch, recency - 1 - tally->before);
			tally->told.wrong += goes & branch->conditional;
		}
	}
	branch->entry = entry;
	branch->absent = entry == t->entries;
	branch->ending = (uint8_t)((branch->ending & ~ENDING_ABSENT) | (branch->absent ? ENDING_ABSENT : 0));
	branch->version = *version < BTB_OLD ? *version : BTB_UNKNOWN;
	return !enters;
}

/* Of a hit, what BTB_LAST_TARGETS and BTB_ANY may ask for. */
static inline __attribute__((always_inline)) void hit_any(struct branches *b, const struct static_branch *branch,
							  bool taken, uint64_t went_to, const enum btb_kind btb,
							  uint64_t *stamps, uint64_t recency,
							  struct branch_tally *tally)
{
	struct target_predictor *t = &b->targets;
	uint64_t *targets = TABLE(b, uint64_t, t->targets_at);
	if (btb == BTB_LAST_TARGETS || t->replacement == REPLACE_LRU)
		stamps[branch->entry] = recency;
	if (branch->ending & ENDING_STORES) {
		if (branch->ending & ENDING_LAST_TARGET && targets[branch->entry] != went_to)
			mispredict(b, branch, recency - 1 - tally->before);
		targets[branch->entry] = went_to;
	}
	if (btb == BTB_ANY && t->counters) {
		uint8_t *counter = TABLE(b, uint8_t, t->counters_at) + branch->entry, was = *counter;
		const bool predicted = !branch->absent & (was >= t->counter_half);
		*counter = (uint8_t)(was + (taken & (was < t->counter_max)) - (!taken & (was > 0)));
		tally->told.taken += predicted & branch->conditional;
		tally->told.wrong += (predicted != taken) & branch->conditional;
	}
}

struct missed {
	uint32_t all, taken;
};

static inline __attribute__((always_inline)) void look_up_two(struct branches *b, struct btb_two *sets,
							      const unsigned allocation,
							      const struct static_branch *branch, bool goes,
							      uint64_t went_to, uint64_t i, struct missed *missed)
{
	if (!branch->key)
		return;
	struct btb_two *set = &sets[branch->set];
	const struct found_two found = targets_two(set, branch->key, goes | allocation);
	missed->all += !found.hit;
	missed->taken += (unsigned)!found.hit & goes;
	if (branch->ending & ENDING_LAST_TARGET && targets_two_had(set, &found) != went_to)
		mispredict(b, branch, i);
	if (branch->ending & ENDING_STORES)
		targets_two_store(set, &found, went_to);
}
_Static_assert(ENDING_ABSENT == 1 << 7, "count_kinds()");
_Static_assert(BTB_ALLOCATE_ALL == 1 && BTB_ALLOCATE_TAKEN == 0, "sort() counts on it");

/* ---- sorting ---- */

typedef uint8_t sixteen __attribute__((vector_size(16)));

static uint64_t sum_of(sixteen bytes)
{
	uint64_t halves[2], sum = 0;
	__builtin_memcpy(halves, &bytes, 16);
	for (unsigned i = 0; i < 2; i++)
		sum += ((halves[i] & 0x00ff00ff00ff00ffull) + (halves[i] >> 8 & 0x00ff00ff00ff00ffull)) *
			       0x0001000100010001ull >>
		       48;
	return sum;
}

/* Of n bytes, how many are 1; they are 0 or 1. Reads as far as a multiple of 16. */
static uint64_t count_ones(const uint8_t *bytes, uint32_t n)
{
	sixteen sum = {0}, some;
	uint32_t i = 0;
	for (; i + 16 <= n; i += 16) {
		__builtin_memcpy(&some, bytes + i, 16);
		sum += some;
	}
	uint64_t ones = sum_of(sum);
	for (; i < n; i++)
		ones += bytes[i];
	return ones;
}

/* Returns how many are conditional; kinds behind the last one are 0 as far as a multiple of 16. */
static inline __attribute__((always_inline)) uint32_t sort(struct branches *b, struct static_branch *const *blocks,
							   uint32_t n, uint8_t *outcome, const enum btb_kind btb,
							   struct branch_tally *tally)
{
	uint64_t *stamps = TABLE(b, uint64_t, b->targets.stamps_at);
	const uint32_t *versions = TABLE(b, uint32_t, b->targets.versions_at);
	struct btb_two *two = TABLE(b, struct btb_two, b->targets.two_at);
	const unsigned allocation = b->targets.allocation;
	struct missed missed = {0, 0};
	struct static_branch *branch = blocks[0];
	uint32_t conditional_ones = 0;
	/* Recency is the loop's only counter; and no pointer is to be added up from two in every round. */
	const uint64_t begin = b->targets.recency, end = begin + n;
	tally->before = begin;
	uint8_t *kinds = (uint8_t *)((uintptr_t)b->batch.kinds - begin - 1);
	blocks -= begin;
	__asm__("" : "+r"(stamps), "+r"(versions), "+r"(kinds), "+r"(blocks), "+r"(outcome), "+r"(two));
	for (uint64_t recency = begin + 1; recency <= end; recency++) {
		struct static_branch *next = blocks[recency];
		const uint64_t went_to = next->begins;
		const uint32_t taken = went_to != branch->behind;
		kinds[recency] = branch->ending;
		b->batch.address[conditional_ones] = branch->address;
		outcome[conditional_ones] = (uint8_t)taken;
		conditional_ones += branch->conditional;
		if (btb == BTB_TWO_WAYS) {
			look_up_two(b, two, allocation, branch, taken | !branch->conditional, went_to,
				    recency - 1 - begin, &missed);
		} else if (btb != BTB_NONE) {
			/* no taken branch is absent */
			const bool known = ((versions[branch->set] ^ branch->version) |
					    (branch->absent & taken)) == 0;
			if (__builtin_expect(known, 1) ||
			    branch_look_up(b, branch, taken | !branch->conditional, went_to, recency, tally)) {
				if (btb == BTB_HITS)
					stamps[branch->entry] = recency; /* of no one, if absent */
				else
					hit_any(b, branch, taken | !branch->conditional, went_to, btb, stamps,
						recency, tally);
			}
			if (__builtin_expect(!known, 0))
				kinds[recency] = branch->ending;
		}
		branch = next;
	}
	b->targets.recency = end;
	tally->missed += missed.all;
	tally->missed_taken += missed.taken;
	return conditional_ones;
}

/* Bit i % 64 of word i / 64: that branch has the flag. */
static inline __attribute__((always_inline)) void find(const struct branches *b, uint32_t n, const unsigned flag,
						       uint64_t *found)
{
#ifdef __SSE2__
	for (uint32_t i = 0; i < n; i += 16) {
		__m128i some = _mm_loadu_si128((const __m128i *)(b->batch.kinds + i));
		found[i / 64] |=
			(uint64_t)(uint32_t)_mm_movemask_epi8(_mm_slli_epi16(some, __builtin_clz(flag) - 24))
			<< i % 64;
	}
#else
	for (uint32_t i = 0; i < n; i += 8) {
		uint64_t eight;
		__builtin_memcpy(&eight, b->batch.kinds + i, 8);
		/* a byte's bit 0 to bit 56 and on */
		eight = (eight / flag & 0x0101010101010101ull) * 0x0102040810204080ull >> 56;
		found[i / 64] |= eight << i % 64;
	}
#endif
}

/* How many of each kind but conditional ones, and how many are absent from the BTB; which push or pop, which are
 * indirect. */
static struct kinds kinds_of(const struct branches *b, uint32_t n)
{
	struct kinds kinds = {.absent = 0};
	sixteen absent = {0};
	sixteen sums[ENDING_KIND + 1] = {{0}};
	for (uint32_t i = 0; i < n; i += 16) {
		sixteen endings;
		__builtin_memcpy(&endings, b->batch.kinds + i, 16);
		absent += endings >> 7;
		endings &= ENDING_KIND;
#pragma GCC unroll 8
		for (unsigned kind = TRACE_END_JUMP; kind <= TRACE_END_RETURN; kind++)
			sums[kind] -= (sixteen)(endings == (uint8_t)kind);
	}
	kinds.absent = sum_of(absent);
#pragma GCC unroll 8
	for (unsigned kind = TRACE_END_JUMP; kind <= TRACE_END_RETURN; kind++)
		kinds.of[kind] = sum_of(sums[kind]);
	find(b, n, ENDING_STACK, kinds.stack);
	find(b, n, ENDING_INDIRECT, kinds.indirect);
	return kinds;
}

/* ---- the return stack and the indirect table ---- */

static inline __attribute__((always_inline)) void stack(struct branches *b, const struct branch_order *order,
							const uint64_t *found, const bool by_slot)
{
	struct target_predictor *t = &b->targets;
	uint64_t *stack = TABLE(b, uint64_t, t->returns_at);
	const uint32_t entries = t->return_entries;
	uint32_t top = t->top, valid = t->valid, wrong = 0;
	for (uint32_t k = 0; k < BRANCH_BATCH / 64; k++) {
		uint64_t missed = 0;
		for (uint64_t left = found[k]; left; left &= left - 1) {
			const uint32_t i = 64 * k + (uint32_t)__builtin_ctzll(left);
			const bool returns = (b->batch.kinds[i] & ENDING_KIND) == TRACE_END_RETURN;
			const uint32_t above = top + 1 == entries ? 0 : top + 1,
				       below = top ? top - 1 : entries - 1;
			const bool other = returns &
					   ((stack[top] != branch_at(order, i + 1, by_slot)->begins) | !valid);
			wrong += other;
			missed |= (uint64_t)other << i % 64;
			/* a return writes where nobody reads */
			stack[returns ? entries : above] = branch_at(order, i, by_slot)->behind;
			top = !returns ? above : valid ? below : top;
			valid = returns ? valid - (valid != 0) : valid + (valid < entries);
		}
		b->batch.mispredicted[k] |= b->none ? 0 : missed;
	}
	t->top = top;
	t->valid = valid;
	if (b->none)
		return;
	b->happened[TRACE_END_RETURN | BRANCH_WAS_TAKEN] -= wrong;
	b->happened[TRACE_END_RETURN | BRANCH_WAS_TAKEN | BRANCH_WAS_MISPREDICTED] += wrong;
}

static void calls_and_returns(struct branches *b, const struct branch_order *order, const uint64_t *found)
{
	if (order->blocks)
		stack(b, order, found, false);
	else
		stack(b, order, found, true);
}

/* Whether a target was foreseen is as hard to foresee: nothing jumps by it. */
static inline __attribute__((always_inline)) void foretell(struct branches *b, const struct branch_order *order,
							   const uint64_t *found, const unsigned history,
							   const bool by_slot)
{
	uint32_t wrong[ENDING_KIND + 1] = {0};
	for (uint32_t k = 0; k < BRANCH_BATCH / 64; k++) {
		uint64_t missed = 0;
		for (uint64_t left = found[k]; left; left &= left - 1) {
			const uint32_t i = 64 * k + (uint32_t)__builtin_ctzll(left);
			const struct static_branch *branch = branch_at(order, i, by_slot);
			const uint64_t went_to = branch_at(order, i + 1, by_slot)->begins,
				       pc = branch->behind - branch->length;
			const bool other = !b->targets.indirect_mask ||
					   targets_indirect_in(b, pc, went_to, history) != went_to;
			wrong[ending_of(branch)] += other;
			missed |= (uint64_t)other << i % 64;
		}
		b->batch.mispredicted[k] |= b->none ? 0 : missed;
	}
	for (unsigned kind = TRACE_END_JUMP; kind <= TRACE_END_RETURN && !b->none; kind++) {
		b->happened[kind | BRANCH_WAS_TAKEN] -= wrong[kind];
		b->happened[kind | BRANCH_WAS_TAKEN | BRANCH_WAS_MISPREDICTED] += wrong[kind];
	}
}

static void indirect_ones(struct branches *b, const struct branch_order *order, const uint64_t *found)
{
	const unsigned history = b->targets.indirect_history;
	if (order->blocks && history == 8) /* of today's machines, as declared: unrolled */
		foretell(b, order, found, 8, false);
	else if (history == 8)
		foretell(b, order, found, 8, true);
	else
		foretell(b, order, found, history, !order->blocks);
}

/* ---- all of it ---- */

static struct direction_counts perceptron_batch(struct branches *b, uint32_t n)
{
	struct direction_counts told = {0, 0};
	for (uint32_t i = 0; i < n; i++) {
		bool taken = b->batch.outcome[i], predicted = perceptron_resolve(b, b->batch.address[i], taken);
		told.taken += predicted;
		told.wrong += predicted != taken;
		b->batch.wrong[i / 64] |= (uint64_t)(predicted != taken) << i % 64;
	}
	return told;
}

static void one_by_one(struct branches *b, struct static_branch *const *blocks, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct static_branch *branch = blocks[i];
		uint64_t went_to = blocks[i + 1]->begins;
		bool conditional = branch->conditional;
		branch_resolve_now(b, branch->behind - branch->length, branch->length,
				   (enum trace_ending)ending_of(branch), !conditional || went_to != branch->behind,
				   /* of a conditional one that is not taken, its caller asks where it would
				    * go: backward or not */
				   conditional && went_to == branch->behind
					   ? (branch->address & BRANCH_BACKWARD ? 0 : ~0ull)
					   : went_to);
	}
}

uint8_t *branch_run_begin(struct branches *b)
{
	struct tage *t = &b->tage;
	for (uint32_t k = 0; k < BRANCH_BATCH / 64; k++)
		b->batch.wrong[k] = b->batch.mispredicted[k] = 0;
	if (b->direction.kind != PREDICT_TAGE)
		return b->batch.outcome;
	tage_make_room(t, BRANCH_BATCH);
	return t->line + t->newest + 1;
}

void branch_run_end(struct branches *b, const struct branch_order *order, const struct kinds *kinds, uint32_t n,
		    uint32_t conditional, uint32_t taken, const struct branch_tally *tally)
{
	struct direction_counts told = {0, 0};
	for (unsigned kind = TRACE_END_JUMP; kind <= TRACE_END_RETURN; kind++) {
		b->happened[kind | BRANCH_WAS_TAKEN] += kinds->of[kind];
		if (b->targets.sets && (kind != TRACE_END_RETURN || b->targets.holds_returns))
			b->batched.looked_up += kinds->of[kind];
	}
	b->batched.conditional += conditional;
	b->batched.taken += taken;
	if (b->targets.sets)
		b->batched.looked_up += conditional;
	b->batched.missed += tally->missed + kinds->absent;
	b->batched.missed_taken += tally->missed_taken;
	if (b->targets.return_entries)
		calls_and_returns(b, order, kinds->stack);
	indirect_ones(b, order, kinds->indirect);
	if (b->direction.kind == PREDICT_TAGE)
		told = tage_batch(b, conditional, taken);
	else if (b->direction.kind == PREDICT_PERCEPTRON)
		told = perceptron_batch(b, conditional);
	else if (b->targets.counters)
		told = tally->told;
	else if (!b->none)
		told = direction_batch(b, conditional);
	b->batched.predicted_taken += told.taken;
	b->batched.mispredicted += told.wrong;
	if (__builtin_expect(b->tells, 0))
		branch_run_tell(b, n);
}

/* No more than BRANCH_BATCH. */
static void run(struct branches *b, struct static_branch *const *blocks, uint32_t n)
{
	uint8_t *outcome = branch_run_begin(b);
	struct branch_tally tally = {0};
	const struct branch_order order = {.blocks = blocks};
	const enum btb_kind btb = btb_of(b);
	const uint32_t conditional = btb == BTB_HITS       ? sort(b, blocks, n, outcome, BTB_HITS, &tally)
				     : btb == BTB_TWO_WAYS ? sort(b, blocks, n, outcome, BTB_TWO_WAYS, &tally)
				     : btb == BTB_LAST_TARGETS
					     ? sort(b, blocks, n, outcome, BTB_LAST_TARGETS, &tally)
				     : btb == BTB_NONE ? sort(b, blocks, n, outcome, BTB_NONE, &tally)
						       : sort(b, blocks, n, outcome, BTB_ANY, &tally);
	for (uint32_t i = n; i % 16; i++)
		b->batch.kinds[i] = 0;
	const struct kinds kinds = kinds_of(b, n);
	branch_run_end(b, &order, &kinds, n, conditional, (uint32_t)count_ones(outcome, conditional), &tally);
}

void branches_run(struct branches *b, struct static_branch *const *blocks, uint32_t n)
{
	if (!b->sorts) {
		one_by_one(b, blocks, n);
		return;
	}
	for (uint32_t i = 0; i < n; i += BRANCH_BATCH)
		run(b, blocks + i, n - i < BRANCH_BATCH ? n - i : BRANCH_BATCH);
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
