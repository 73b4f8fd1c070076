/*
 * Headers of inlined blocks (inlined.c), sixteen at a time: their counts are summed, and their branches sorted, as
 * branch_run.c does one by one. Of each block that takes half a line (struct plan_head); sixteen of those become
 * vectors, one of each member.
 *
 *     headers ──► heads ──► counts
 *                       ──► where each went: is the next one what is behind it? ──► BTB ──► conditional ones, side by side
 *
 * What always holds:
 *  1. Only headers whose head is there, and whose successor's is, so that where they went is known. Others go the
 *     way of inlined.c.
 *  2. What a head knows of the BTB holds as long as its set has that version; if one of the sixteen is not known
 *     they are looked up one by one.
 *
 * Equals   run_headers_of() of inlined.c, sort() of branch_run.c
 * For      processors with AVX-512; predictors that branch_run_heads() lets through
 * Test     tests/model/branches_test.c (with and without vectors), tests/model/inline_test.c
 */
#include "model/core/fast/btb_two.h"
#include "model/core/fast/plan.h"
#include "model/core/predict/predict.h"

bool heads_possible(const struct core *core)
{
	return core->model->vectors && (!core->branches || (branch_run_heads(core->branches) &&
							    core->branches->targets.entries >> HEAD_TAG == 0));
}

#ifdef __x86_64__
#include <immintrin.h>

#define SIXTEEN 16u
#define AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,bmi,bmi2,popcnt")))
#define INLINE static inline __attribute__((always_inline))
_Static_assert(sizeof(struct plan_head) == 32 && BRANCH_BATCH % SIXTEEN == 0, "half a line each");
_Static_assert(ENDING_ABSENT == 1 << 7, "the highest bit of the upper byte");
_Static_assert(BRANCH_BATCH / SIXTEEN * PLAN_MOST * SIXTEEN < 1 << 16, "sums of 16 bits");

#define ALL(x) _mm512_set1_epi32((int)(x))

/* Members of sixteen heads. */
struct heads {
	__m512i counted, fetched, begins, behind, low, high, version, where;
};

INLINE AVX512 __m512i two(const struct plan_head *a, const struct plan_head *b)
{
	return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_load_si256((const __m256i *)a)),
				  _mm256_load_si256((const __m256i *)b), 1);
}

/* Of heads 0 … 3 and 4 … 7: in of[i] members i and, behind each four, i + 4. */
INLINE AVX512 void transpose(const struct plan_head *heads, const uint64_t *entries, __m512i *of)
{
#define HEAD(i) (&heads[(uint32_t)entries[i] % PLAN_SLOTS])
	const __m512i a = two(HEAD(0), HEAD(4)), b = two(HEAD(1), HEAD(5));
	const __m512i c = two(HEAD(2), HEAD(6)), d = two(HEAD(3), HEAD(7));
	const __m512i low = _mm512_unpacklo_epi32(a, b), high = _mm512_unpackhi_epi32(a, b);
	const __m512i low_two = _mm512_unpacklo_epi32(c, d), high_two = _mm512_unpackhi_epi32(c, d);
	of[0] = _mm512_unpacklo_epi64(low, low_two);
	of[1] = _mm512_unpackhi_epi64(low, low_two);
	of[2] = _mm512_unpacklo_epi64(high, high_two);
	of[3] = _mm512_unpackhi_epi64(high, high_two);
}

INLINE AVX512 struct heads heads_of(const struct plan_head *heads, const uint64_t *entries)
{
	__m512i x[4], y[4];
	transpose(heads, entries, x);
	transpose(heads, entries + 8, y);
	return (struct heads){
		.counted = _mm512_shuffle_i32x4(x[0], y[0], 0x88),
		.low = _mm512_shuffle_i32x4(x[0], y[0], 0xdd),
		.fetched = _mm512_shuffle_i32x4(x[1], y[1], 0x88),
		.high = _mm512_shuffle_i32x4(x[1], y[1], 0xdd),
		.begins = _mm512_shuffle_i32x4(x[2], y[2], 0x88),
		.version = _mm512_shuffle_i32x4(x[2], y[2], 0xdd),
		.behind = _mm512_shuffle_i32x4(x[3], y[3], 0x88),
		.where = _mm512_shuffle_i32x4(x[3], y[3], 0xdd),
	};
}
_Static_assert(offsetof(struct plan_head, counted) == 0 && offsetof(struct plan_head, fetched) == 4 &&
		       offsetof(struct plan_head, begins) == 8 && offsetof(struct plan_head, behind) == 12 &&
		       offsetof(struct plan_head, low) == 16 && offsetof(struct plan_head, high) == 20 &&
		       offsetof(struct plan_head, version) == 24 && offsetof(struct plan_head, where) == 28,
	       "heads_of()");

/* none; one whose branches the heads know; of two ways, looked up anew every time */
enum header_btb { NO_BTB, BTB_KNOWN, BTB_TWO };

/* Of a batch's blocks, what is left to do when they are sorted. */
struct left {
	uint32_t set[BRANCH_BATCH + SIXTEEN], version[BRANCH_BATCH]; /* what is known of the BTB */
	uint32_t entry[BRANCH_BATCH];                                /* that a hit touches */
	uint64_t key[BRANCH_BATCH + SIXTEEN];        /* of BTB_TWO: side by side, with their sets */
	uint32_t what[BRANCH_BATCH + SIXTEEN], keys; /* enum left_what; how many */
	uint16_t taken[BRANCH_BATCH / SIXTEEN], absent[BRANCH_BATCH / SIXTEEN]; /* bits */
} __attribute__((aligned(64)));

enum left_what {                    /* of a key */
		 LEFT_BLOCK = 0xff, /* in the batch */
		 /* endings: in the upper byte */
		 LEFT_STORES = ENDING_STORES << 24,
		 LEFT_LAST_TARGET = ENDING_LAST_TARGET << 24,
		 LEFT_GOES = 1 << 8,
		 LEFT_ENTERS = 1 << 9, /* taken; gets an entry if it has none */
};
_Static_assert(BRANCH_BATCH <= LEFT_BLOCK, "numbers of blocks");

static inline struct static_branch *branch_of_slot(const struct plans *plans, uint32_t slot)
{
	return &((struct block_plan *)(plans->memory + plans->at[slot]))->branch;
}

/* Sixteen blocks, or as many as there are; at least one is not known. recency: before the first one. */
static __attribute__((noinline)) void look_up_each(struct core *core, uint32_t at, uint32_t end, uint32_t taken,
						   uint64_t recency, struct branch_tally *tally)
{
	struct branches *b = core->branches;
	const struct plans *plans = core->model->plans;
	const uint32_t *slots = core->model->batch->slots, *versions = TABLE(b, uint32_t, b->targets.versions_at);
	uint64_t *stamps = TABLE(b, uint64_t, b->targets.stamps_at);
	const unsigned shift = predict_log2(b->targets.ways);
	for (uint32_t i = at; i < end; i++, taken >>= 1) {
		struct plan_head *head = &plans->heads[slots[i]];
		const uint32_t absent = head->counted >> 31, entry = head->where & ((1u << HEAD_TAG) - 1);
		recency++;
		if (versions[entry >> shift] == head->version && !(absent & taken)) {
			stamps[absent ? b->targets.entries : entry] = recency;
			/* may be known since one of these blocks was looked up */
			b->batch.kinds[i] = (uint8_t)(head->counted >> 24);
			continue;
		}
		struct static_branch *branch = branch_of_slot(plans, slots[i]);
		const bool holds = branch_look_up(b, branch, (taken & 1) | !branch->conditional,
						  branch_of_slot(plans, slots[i + 1])->begins, recency, tally);
		head->version = branch->version;
		head->where = (head->where & ~0u << HEAD_TAG) |
			      (branch->absent ? branch->set << shift : branch->entry);
		head->counted = (head->counted & ~0u >> 1) | (uint32_t)(branch->ending & ENDING_ABSENT) << 24;
		b->batch.kinds[i] = branch->ending;
		if (holds)
			stamps[branch->entry] = recency;
	}
}

/* The batch's blocks in the BTB. */
INLINE AVX512 void look_up_all(struct core *core, const struct left *left, uint32_t n, struct branch_tally *tally)
{
	struct branches *b = core->branches;
	const uint32_t *versions = TABLE(b, uint32_t, b->targets.versions_at);
	uint64_t *stamps = TABLE(b, uint64_t, b->targets.stamps_at);
	const uint64_t recency = b->targets.recency; /* look_up_each() moves that */
	uint32_t stamped = 0;
	tally->before = recency;
	for (uint32_t at = 0; at < n; at += SIXTEEN) {
		const uint32_t end = n - at < SIXTEEN ? n : at + SIXTEEN, k = at / SIXTEEN;
		const __m512i is = _mm512_i32gather_epi32(_mm512_load_si512(left->set + at), versions, 4);
		const uint32_t live = (1u << (end - at)) - 1,
			       unknown = _mm512_cmpneq_epi32_mask(is, _mm512_load_si512(left->version + at)) |
					 (left->absent[k] & left->taken[k]);
		if (__builtin_expect((unknown & live) == 0, 1))
			continue;
		for (; stamped < at; stamped++) /* in their order */
			stamps[left->entry[stamped]] = recency + 1 + stamped;
		look_up_each(core, at, end, left->taken[k], recency + at, tally);
		stamped = end;
	}
	for (; stamped < n; stamped++)
		stamps[left->entry[stamped]] = recency + 1 + stamped;
	b->targets.recency = recency + n;
}

static inline void look_up_two(struct core *core, const struct left *left, struct branch_tally *tally)
{
	struct branches *b = core->branches;
	struct btb_two *sets = TABLE(b, struct btb_two, b->targets.two_at);
	const uint32_t keys = left->keys;
	uint64_t missed = 0, missed_taken = 0;
	for (uint32_t i = 0; i < keys; i++) {
		struct btb_two *set = &sets[left->set[i]];
		const uint32_t what = left->what[i];
		const struct found_two found = targets_two(set, left->key[i], what / LEFT_ENTERS & 1);
		missed += !found.hit;
		missed_taken += (uint32_t)!found.hit & what / LEFT_GOES;
		if (__builtin_expect(!(what & LEFT_STORES), 1))
			continue;
		const uint64_t went_to = branch_of_slot(core->model->plans,
							core->model->batch->slots[(what & LEFT_BLOCK) + 1])
						 ->begins;
		if (what & LEFT_LAST_TARGET && !b->none && targets_two_had(set, &found) != went_to) {
			const uint32_t kind = what >> 24 & ENDING_KIND;
			b->happened[kind | BRANCH_WAS_TAKEN]--;
			b->happened[kind | BRANCH_WAS_TAKEN | BRANCH_WAS_MISPREDICTED]++;
			branch_run_mispredicted(b, what & LEFT_BLOCK);
		}
		targets_two_store(set, &found, went_to);
	}
	tally->missed += missed;
	tally->missed_taken += missed_taken;
}

static const uint32_t halves[2][SIXTEEN] __attribute__((aligned(64))) = {
	{0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23},
	{8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31},
};

struct header_batch { /* of a batch */
	struct core *core;
	const uint64_t *entries;
	size_t n;
	struct branches *b;
	const struct plan_head *heads;
	uint32_t *slots;
	struct left *left_over;
	__m128i way_shift;
	uint8_t *outcome;
	uint32_t enters; /* bits: all, if every miss gets an entry */
	uint32_t at, sequential, conditional, taken;
	__m512i outer, inner, fetches; /* sums: instructions, writes; reads; lines, fetch blocks */
};

/* Sixteen headers' heads, and which of them, and of the one behind them, are there. */
INLINE AVX512 struct heads find(struct header_batch *run, uint32_t *there, uint32_t *next_begins)
{
	const uint64_t *entries = run->entries + run->at;
	const size_t left = run->n - run->at;
	const __m512i upper = _mm512_set1_epi64((long long)~0xffffffffull);
	uint32_t *slots = run->slots + run->at, valid = left < SIXTEEN ? (1u << left) - 1 : 0xffff;
	const __m512i one = _mm512_maskz_loadu_epi64((__mmask8)valid, entries),
		      more = _mm512_maskz_loadu_epi64((__mmask8)(valid >> 8), entries + 8);
	const __m512i numbers = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(one)),
						   _mm512_cvtepi64_epi32(more), 1);
	const uint32_t none = _mm512_test_epi64_mask(one, upper) | (uint32_t)_mm512_test_epi64_mask(more, upper)
									   << 8;
	_mm512_storeu_si512(slots, _mm512_and_si512(numbers, ALL(PLAN_SLOTS - 1)));
	uint64_t some[SIXTEEN];
	if (__builtin_expect(left < SIXTEEN, 0)) {
		_mm512_storeu_si512(some, one);
		_mm512_storeu_si512(some + 8, more);
		entries = some;
	}
	const struct heads heads = heads_of(run->heads, entries);
	const __m512i tags = _mm512_add_epi32(_mm512_srli_epi32(numbers, 18), ALL(1));
	valid = _mm512_mask_cmpeq_epi32_mask((__mmask16)valid, _mm512_srli_epi32(heads.where, HEAD_TAG), tags) &
		~none;
	*next_begins = 0;
	if (__builtin_expect(left > SIXTEEN, 1)) {
		const uint64_t header = entries[SIXTEEN];
		const struct plan_head *next = &run->heads[slots[SIXTEEN] = (uint32_t)header % PLAN_SLOTS];
		*next_begins = next->begins;
		valid |= (uint32_t)(next->where >> HEAD_TAG == plan_head_tag(header)) << SIXTEEN;
	}
	*there = valid;
	return heads;
}
_Static_assert(PLAN_SLOTS == 1 << 18, "find()");

INLINE AVX512 void sort(struct header_batch *run, const struct heads *heads, __m512i counted, const uint32_t taken,
			const enum header_btb btb)
{
	struct branches *b = run->b;
	const uint32_t conditional = _mm512_cmpeq_epi32_mask(_mm512_and_si512(counted, ALL(ENDING_KIND << 24)),
							     ALL(TRACE_END_CONDITIONAL << 24));
	const uint32_t bits = _pext_u32(taken, conditional);
	const __m512i low = _mm512_maskz_compress_epi32((__mmask16)conditional, heads->low),
		      high = _mm512_maskz_compress_epi32((__mmask16)conditional, heads->high);
	uint64_t *address = b->batch.address + run->conditional;
	_mm_storeu_si128((__m128i *)(b->batch.kinds + run->at),
			 _mm512_cvtepi32_epi8(_mm512_srli_epi32(counted, 24)));
	_mm_storeu_si128((__m128i *)(run->outcome + run->conditional), _mm_maskz_set1_epi8((__mmask16)bits, 1));
	_mm512_storeu_si512(address, _mm512_permutex2var_epi32(low, _mm512_load_si512(halves[0]), high));
	_mm512_storeu_si512(address + 8, _mm512_permutex2var_epi32(low, _mm512_load_si512(halves[1]), high));
	run->conditional += (uint32_t)__builtin_popcount(conditional);
	run->taken += (uint32_t)__builtin_popcount(bits);
	if (btb == NO_BTB)
		return;
	const __m512i entry = _mm512_and_si512(heads->where, ALL((1u << HEAD_TAG) - 1));
	const __mmask16 absent = _mm512_movepi32_mask(counted);
	struct left *left = run->left_over;
	if (btb == BTB_TWO) { /* those that look it up */
		const __mmask16 live = _mm512_test_epi32_mask(counted, counted),
				looks = _mm512_mask_test_epi32_mask(live, heads->version, heads->version) |
					_mm512_mask_test_epi32_mask(live, heads->high, heads->high);
		const uint32_t goes = taken | ~conditional;
		const __m512i numbers = _mm512_add_epi32(
			_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), ALL(run->at));
		__m512i what = _mm512_or_si512(_mm512_and_si512(counted, ALL(0xff000000)), numbers);
		what = _mm512_mask_or_epi32(what, (__mmask16)goes, what, ALL(LEFT_GOES));
		what = _mm512_mask_or_epi32(what, (__mmask16)(goes | run->enters), what, ALL(LEFT_ENTERS));
		const __m512i key = _mm512_maskz_compress_epi32(looks, heads->version),
			      upper = _mm512_maskz_compress_epi32(looks, heads->high);
		_mm512_storeu_si512(left->set + left->keys, _mm512_maskz_compress_epi32(looks, entry));
		_mm512_storeu_si512(left->what + left->keys, _mm512_maskz_compress_epi32(looks, what));
		_mm512_storeu_si512(left->key + left->keys,
				    _mm512_permutex2var_epi32(key, _mm512_load_si512(halves[0]), upper));
		_mm512_storeu_si512(left->key + left->keys + 8,
				    _mm512_permutex2var_epi32(key, _mm512_load_si512(halves[1]), upper));
		left->keys += (uint32_t)__builtin_popcount(looks);
		return;
	}
	_mm512_store_si512(left->set + run->at, _mm512_srl_epi32(entry, run->way_shift));
	_mm512_store_si512(left->version + run->at, heads->version);
	/* of no one, if absent */
	_mm512_store_si512(left->entry + run->at, _mm512_mask_mov_epi32(entry, absent, ALL(b->targets.entries)));
	left->taken[run->at / SIXTEEN] = (uint16_t)taken;
	left->absent[run->at / SIXTEEN] = absent;
}

/* Of sixteen blocks the first `live` ones: where they went is known. */
INLINE AVX512 void sixteen(struct header_batch *run, const struct heads *heads, uint32_t next_begins,
			   const uint32_t live, const bool branches, const enum header_btb btb)
{
	const __mmask16 all = (__mmask16)(live == SIXTEEN ? 0xffff : (1u << live) - 1);
	const __m512i next = _mm512_alignr_epi32(ALL(next_begins), heads->begins, 1);
	const uint32_t same = _mm512_mask_cmpeq_epi32_mask(all, next, heads->behind);
	const __mmask16 sequential = (__mmask16)(same << 1 | run->sequential);
	const __m512i counted = live == SIXTEEN ? heads->counted : _mm512_maskz_mov_epi32(all, heads->counted);
	const __m512i fetched = _mm512_mask_srli_epi32(heads->fetched, sequential, heads->fetched, 16);
	run->sequential = same >> (live - 1);
	run->outer = _mm512_add_epi32(run->outer, _mm512_and_si512(counted, ALL(0x00ff00ff)));
	run->inner = _mm512_add_epi32(run->inner, _mm512_and_si512(counted, ALL(0x0000ff00)));
	run->fetches = _mm512_mask_add_epi32(
		run->fetches, all, run->fetches,
		_mm512_or_si512(_mm512_and_si512(fetched, ALL(0xff)),
				_mm512_slli_epi32(_mm512_and_si512(fetched, ALL(0xff00)), 8)));
	if (branches)
		sort(run, heads, counted, ~same & all, btb);
}

INLINE AVX512 struct kinds kinds_of(const struct branches *b, uint32_t n)
{
	struct kinds kinds = {.absent = 0};
#pragma GCC unroll 2
	for (uint32_t k = 0; k < BRANCH_BATCH / 64; k++) {
		const uint64_t live = n >= 64 * (k + 1) ? ~0ull : n <= 64 * k ? 0 : (1ull << n % 64) - 1;
		const __m512i all = _mm512_maskz_loadu_epi8(live, b->batch.kinds + 64 * k),
			      endings = _mm512_and_si512(all, _mm512_set1_epi8(ENDING_KIND));
#pragma GCC unroll 8
		for (unsigned kind = TRACE_END_JUMP; kind <= TRACE_END_RETURN; kind++)
			kinds.of[kind] += (uint64_t)__builtin_popcountll(
				_mm512_cmpeq_epi8_mask(endings, _mm512_set1_epi8((char)kind)));
		kinds.absent += (uint64_t)__builtin_popcountll(_mm512_movepi8_mask(all));
		kinds.stack[k] = _mm512_test_epi8_mask(all, _mm512_set1_epi8(ENDING_STACK));
		kinds.indirect[k] = _mm512_test_epi8_mask(all, _mm512_set1_epi8(ENDING_INDIRECT));
	}
	return kinds;
}

INLINE AVX512 size_t run_sixteens(struct core *core, const uint64_t *entries, size_t n, const bool branches,
				  const enum header_btb btb)
{
	const struct plans *plans = core->model->plans;
	struct batch *batch = core->model->batch;
	struct branches *b = core->branches;
	struct branch_tally tally = {0};
	struct left left_over;
	left_over.keys = 0;
	struct header_batch run = {
		.core = core,
		.left_over = &left_over,
		.entries = entries,
		.n = n,
		.b = b,
		.heads = plans->heads,
		.slots = batch->slots,
		.way_shift = _mm_cvtsi32_si128(btb == BTB_KNOWN ? (int)predict_log2(b->targets.ways) : 0),
		.enters = btb && b->targets.allocation == BTB_ALLOCATE_ALL ? 0xffff : 0,
		.outcome = branches ? branch_run_begin(b) : NULL,
		.sequential = branch_of_slot(plans, (uint32_t)entries[0] % PLAN_SLOTS)->begins == core->next_pc};

	while (run.at < BRANCH_BATCH) {
		uint32_t there, next_begins;
		const struct heads heads = find(&run, &there, &next_begins);
		/* a jump: where the next sixteen are does not wait for these */
		if (__builtin_expect(there == (2u << SIXTEEN) - 1, 1)) {
			sixteen(&run, &heads, next_begins, SIXTEEN, branches, btb);
			run.at += SIXTEEN;
			continue;
		}
		const uint32_t passed = (uint32_t)__builtin_ctz(~there);
		if (passed > 1) {
			sixteen(&run, &heads, next_begins, passed - 1, branches, btb);
			run.at += passed - 1;
		}
		break;
	}
	if (!run.at)
		return 0;
	const uint32_t outer = (uint32_t)_mm512_reduce_add_epi32(run.outer),
		       inner = (uint32_t)_mm512_reduce_add_epi32(run.inner);
	const uint32_t fetches = (uint32_t)_mm512_reduce_add_epi32(run.fetches);
	batch->counts = (outer & 0xffff) | (uint64_t)(inner >> 8) << PLAN_FIELD |
			(uint64_t)(outer >> 16) << 2 * PLAN_FIELD;
	batch->fetches = (fetches & 0xffff) | (uint64_t)(fetches >> 16) << PLAN_FIELD |
			 (uint64_t)run.at << 2 * PLAN_FIELD;
	core->next_pc = branch_of_slot(plans, run.slots[run.at - 1])->behind;
	if (branches) {
		const struct branch_order order = {.slots = run.slots,
						   .at = plans->at,
						   .memory = plans->memory +
							     offsetof(struct block_plan, branch) / 8};
		if (btb == BTB_KNOWN)
			look_up_all(core, &left_over, run.at, &tally);
		else if (btb == BTB_TWO)
			look_up_two(core, &left_over, &tally);
		const struct kinds kinds = kinds_of(b, run.at);
		branch_run_end(b, &order, &kinds, run.at, run.conditional, run.taken, &tally);
		if (__builtin_expect(core->charges_branches, 0))
			charge_mispredicted(core, &order);
	}
	return run.at;
}

static AVX512 size_t run_hits(struct core *core, const uint64_t *entries, size_t n)
{
	return run_sixteens(core, entries, n, true, BTB_KNOWN);
}
static AVX512 size_t run_two(struct core *core, const uint64_t *entries, size_t n)
{
	return run_sixteens(core, entries, n, true, BTB_TWO);
}
static AVX512 size_t run_branches(struct core *core, const uint64_t *entries, size_t n)
{
	return run_sixteens(core, entries, n, true, NO_BTB);
}
static AVX512 size_t run_counts(struct core *core, const uint64_t *entries, size_t n)
{
	return run_sixteens(core, entries, n, false, NO_BTB);
}

size_t run_heads(struct core *core, const uint64_t *entries, size_t n)
{
	if (!core->model->vectors || n < 2 || !heads_possible(core))
		return 0;
	if (!core->branches)
		return run_counts(core, entries, n);
	if (!core->branches->targets.sets)
		return run_branches(core, entries, n);
	return core->branches->targets.two_ways ? run_two(core, entries, n) : run_hits(core, entries, n);
}

#else
size_t run_heads(struct core *core, const uint64_t *entries, size_t n)
{
	(void)core, (void)entries, (void)n;
	return 0;
}
#endif
