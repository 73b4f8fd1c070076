/*
 * Headers of decided blocks (decided.c), sixteen at a time: their counts are summed, and their branches sorted, as branch_run.c does one by one. Of
 * each block that takes half a line (struct plan_head); sixteen of those become vectors, one of each member.
 *
 *     headers ──► heads ──► counts
 *                       ──► where each went: is the next one what is behind it? ──► BTB ──► conditional ones, side by side
 *
 * What always holds:
 *  1. Only headers whose head is there, and whose successor's is, so that where they went is known. Others go decided.c's way.
 *  2. What a head knows of the BTB holds as long as its set has that version; if one of the sixteen is not known they are looked up one by one.
 *
 * For AVX-512, and for what branch_run_heads() lets through; the same counts as without.
 */
#include "model/core/plan.h"
#include "model/core/predict.h"

bool heads_possible(const struct core *core)
{
	return core->model->vectors && (!core->branches || (branch_run_heads(core->branches) && core->branches->targets.entries >> HEAD_TAG == 0));
}

#ifdef __x86_64__
#include <immintrin.h>

#define SIXTEEN 16u
#define AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,bmi,bmi2,popcnt")))
#define INLINE static inline __attribute__((always_inline))
_Static_assert(sizeof(struct plan_head) == 32 && BRANCH_BATCH % SIXTEEN == 0, "half a line each");
_Static_assert(SITE_ABSENT == 1 << 7, "the highest bit of the upper byte");
_Static_assert(BRANCH_BATCH / SIXTEEN * PLAN_MOST * SIXTEEN < 1 << 16, "sums of 16 bits");

#define ALL(x) _mm512_set1_epi32((int)(x))

/* Members of sixteen heads. */
struct heads { __m512i counted, fetched, begins, behind, low, high, version, where; };

INLINE AVX512 __m512i two(const struct plan_head *a, const struct plan_head *b)
{
	return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_load_si256((const __m256i *)a)), _mm256_load_si256((const __m256i *)b), 1);
}

/* Of heads 0 … 3 and 4 … 7: in of[i] members i and, behind each four, i + 4. */
INLINE AVX512 void transpose(const struct plan_head *heads, const uint32_t *slots, __m512i *of)
{
	const __m512i a = two(&heads[slots[0]], &heads[slots[4]]), b = two(&heads[slots[1]], &heads[slots[5]]);
	const __m512i c = two(&heads[slots[2]], &heads[slots[6]]), d = two(&heads[slots[3]], &heads[slots[7]]);
	const __m512i low = _mm512_unpacklo_epi32(a, b), high = _mm512_unpackhi_epi32(a, b);
	const __m512i low_two = _mm512_unpacklo_epi32(c, d), high_two = _mm512_unpackhi_epi32(c, d);
	of[0] = _mm512_unpacklo_epi64(low, low_two);
	of[1] = _mm512_unpackhi_epi64(low, low_two);
	of[2] = _mm512_unpacklo_epi64(high, high_two);
	of[3] = _mm512_unpackhi_epi64(high, high_two);
}

INLINE AVX512 struct heads heads_of(const struct plan_head *heads, const uint32_t *slots)
{
	__m512i x[4], y[4];
	transpose(heads, slots, x);
	transpose(heads, slots + 8, y);
	return (struct heads){
		.counted = _mm512_shuffle_i32x4(x[0], y[0], 0x88), .low = _mm512_shuffle_i32x4(x[0], y[0], 0xdd),
		.fetched = _mm512_shuffle_i32x4(x[1], y[1], 0x88), .high = _mm512_shuffle_i32x4(x[1], y[1], 0xdd),
		.begins = _mm512_shuffle_i32x4(x[2], y[2], 0x88), .version = _mm512_shuffle_i32x4(x[2], y[2], 0xdd),
		.behind = _mm512_shuffle_i32x4(x[3], y[3], 0x88), .where = _mm512_shuffle_i32x4(x[3], y[3], 0xdd),
	};
}
_Static_assert(offsetof(struct plan_head, counted) == 0 && offsetof(struct plan_head, fetched) == 4 && offsetof(struct plan_head, begins) == 8 &&
	       offsetof(struct plan_head, behind) == 12 && offsetof(struct plan_head, low) == 16 && offsetof(struct plan_head, high) == 20 &&
	       offsetof(struct plan_head, version) == 24 && offsetof(struct plan_head, where) == 28, "heads_of()");

struct group { /* sixteen blocks, of which the first `live` ones are done */
	uint32_t at, live;       /* number of the first one in the batch */
	uint32_t taken;          /* bits */
	uint64_t clock;          /* of the first one */
};

static inline struct branch_site *site_of(const struct plans *plans, uint32_t slot)
{
	return &((struct plan *)(plans->memory + plans->at[slot]))->site;
}

/* One of them at least is not known. */
static __attribute__((noinline)) void look_up_each(struct core *core, const struct group *group, struct tally *tally)
{
	struct branches *b = core->branches;
	const struct plans *plans = core->model->plans;
	const uint32_t *slots = core->model->batch->slots + group->at, *versions = PART(b, uint32_t, b->targets.versions_at);
	uint64_t *stamps = PART(b, uint64_t, b->targets.stamps_at);
	const unsigned shift = predict_log2(b->targets.ways);
	for (uint32_t i = 0; i < group->live; i++) {
		struct plan_head *head = &plans->heads[slots[i]];
		const bool taken = group->taken >> i & 1;
		const uint32_t absent = head->counted >> 31, entry = head->where & ((1u << HEAD_TAG) - 1);
		if (versions[entry >> shift] == head->version && !(absent & taken)) {
			stamps[absent ? b->targets.entries : entry] = group->clock + i;
			b->batch.kinds[group->at + i] = (uint8_t)(head->counted >> 24); /* may be known since one of these blocks was looked up */
			continue;
		}
		struct branch_site *site = site_of(plans, slots[i]);
		const bool holds = branch_look_up(b, site, taken | !site->conditional, site_of(plans, slots[i + 1])->begins, group->clock + i, tally);
		head->version = site->version;
		head->where = (head->where & ~0u << HEAD_TAG) | (site->absent ? site->set << shift : site->entry);
		head->counted = (head->counted & ~0u >> 1) | (uint32_t)(site->ending & SITE_ABSENT) << 24;
		b->batch.kinds[group->at + i] = site->ending;
		if (holds)
			stamps[site->entry] = group->clock + i;
	}
}

INLINE AVX512 void stamp(uint64_t *stamps, const struct group *group, __m512i entries)
{
	uint32_t entry[SIXTEEN] __attribute__((aligned(64)));
	_mm512_store_si512(entry, entries);
	if (__builtin_expect(group->live == SIXTEEN, 1)) {
#pragma GCC unroll 16
		for (uint32_t i = 0; i < SIXTEEN; i++)
			stamps[entry[i]] = group->clock + i;
	} else {
		for (uint32_t i = 0; i < group->live; i++)
			stamps[entry[i]] = group->clock + i;
	}
}

static const uint32_t halves[2][SIXTEEN] __attribute__((aligned(64))) = {
	{ 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23 }, { 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31 },
};

INLINE AVX512 size_t run_sixteens(struct core *core, const uint64_t *entries, size_t n, const bool branches, const bool btb)
{
	const struct plans *plans = core->model->plans;
	struct batch *batch = core->model->batch;
	struct branches *b = core->branches;
	const struct plan_head *heads = plans->heads;
	uint32_t *slots = batch->slots;
	const uint32_t *versions = btb ? PART(b, uint32_t, b->targets.versions_at) : NULL;
	uint64_t *stamps = btb ? PART(b, uint64_t, b->targets.stamps_at) : NULL;
	const __m128i way_shift = _mm_cvtsi32_si128(btb ? (int)predict_log2(b->targets.ways) : 0);
	uint8_t *outcome = branches ? branch_run_begin(b) : NULL;
	uint32_t conditional_ones = 0, taken_ones = 0;
	struct tally tally = { 0 };
	const uint64_t clock = branches ? b->targets.clock : 0; /* look_up_each() moves that */
	struct group group = { .at = 0 };
	__m512i outer = _mm512_setzero_si512(), inner = outer, fetches = outer; /* sums: instructions, writes; reads; lines, fetch blocks */
	uint32_t sequential = site_of(plans, (uint32_t)entries[0] % PLAN_SLOTS)->begins == core->next_pc;

	for (;;) {
		const uint32_t at = group.at;
		const size_t left = n - at;
		const __mmask16 there = left < SIXTEEN ? (__mmask16)((1u << left) - 1) : 0xffff;
		const __m512i one = _mm512_maskz_loadu_epi64((__mmask8)there, entries + at), more = _mm512_maskz_loadu_epi64((__mmask8)(there >> 8), entries + at + 8);
		const __m512i numbers = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(one)), _mm512_cvtepi64_epi32(more), 1);
		const __m512i upper = _mm512_set1_epi64((long long)~0xffffffffull);
		const uint32_t none = _mm512_test_epi64_mask(one, upper) | (uint32_t)_mm512_test_epi64_mask(more, upper) << 8;
		_mm512_storeu_si512(slots + at, _mm512_and_si512(numbers, ALL(PLAN_SLOTS - 1)));
		const struct heads head = heads_of(heads, slots + at);
		const __m512i tags = _mm512_add_epi32(_mm512_srli_epi32(numbers, 18), ALL(1));
		uint32_t valid = _mm512_mask_cmpeq_epi32_mask(there, _mm512_srli_epi32(head.where, HEAD_TAG), tags) & ~none, next_begins = 0;
		if (__builtin_expect(left > SIXTEEN, 1)) { /* the seventeenth */
			const uint64_t header = entries[at + SIXTEEN];
			const struct plan_head *next = &heads[slots[at + SIXTEEN] = (uint32_t)header % PLAN_SLOTS];
			next_begins = next->begins;
			valid |= (uint32_t)(next->where >> HEAD_TAG == plan_head_tag(header)) << SIXTEEN;
		}
		const uint32_t passed = (uint32_t)__builtin_ctz(~valid); /* 17 at most */
		if (__builtin_expect(passed < 2, 0))
			break;
		group.live = passed - 1;
		const uint32_t live = (1u << group.live) - 1;
		const __m512i next = _mm512_alignr_epi32(ALL(next_begins), head.begins, 1);
		const uint32_t same = _mm512_mask_cmpeq_epi32_mask((__mmask16)live, next, head.behind);
		const __mmask16 seq = (__mmask16)(same << 1 | sequential);
		sequential = same >> (group.live - 1) & 1;
		const __m512i counted = _mm512_maskz_mov_epi32((__mmask16)live, head.counted);
		const __m512i fetched = _mm512_mask_srli_epi32(head.fetched, seq, head.fetched, 16);
		outer = _mm512_add_epi32(outer, _mm512_and_si512(counted, ALL(0x00ff00ff)));
		inner = _mm512_add_epi32(inner, _mm512_and_si512(counted, ALL(0x0000ff00)));
		fetches = _mm512_mask_add_epi32(fetches, (__mmask16)live, fetches,
			_mm512_or_si512(_mm512_and_si512(fetched, ALL(0xff)), _mm512_slli_epi32(_mm512_and_si512(fetched, ALL(0xff00)), 8)));
		if (branches) {
			const uint32_t taken = live & ~same;
			const uint32_t conditional = _mm512_cmpeq_epi32_mask(_mm512_and_si512(counted, ALL(SITE_ENDING << 24)), ALL(TRACE_END_CONDITIONAL << 24));
			const uint32_t bits = _pext_u32(taken, conditional);
			const __m512i low = _mm512_maskz_compress_epi32((__mmask16)conditional, head.low), high = _mm512_maskz_compress_epi32((__mmask16)conditional, head.high);
			_mm_storeu_si128((__m128i *)(b->batch.kinds + at), _mm512_cvtepi32_epi8(_mm512_srli_epi32(counted, 24)));
			_mm_storeu_si128((__m128i *)(outcome + conditional_ones), _mm_maskz_set1_epi8((__mmask16)bits, 1));
			_mm512_storeu_si512(b->batch.address + conditional_ones, _mm512_permutex2var_epi32(low, _mm512_load_si512(halves[0]), high));
			_mm512_storeu_si512(b->batch.address + conditional_ones + 8, _mm512_permutex2var_epi32(low, _mm512_load_si512(halves[1]), high));
			conditional_ones += (uint32_t)__builtin_popcount(conditional);
			taken_ones += (uint32_t)__builtin_popcount(bits);
			if (btb) {
				const __m512i entry = _mm512_and_si512(head.where, ALL((1u << HEAD_TAG) - 1));
				const __m512i is = _mm512_i32gather_epi32(_mm512_srl_epi32(entry, way_shift), versions, 4);
				const __mmask16 absent = _mm512_movepi32_mask(counted);
				const uint32_t unknown = _mm512_mask_cmpneq_epi32_mask((__mmask16)live, is, head.version) | (absent & taken);
				group.taken = taken;
				group.clock = clock + at + 1;
				if (__builtin_expect(unknown != 0, 0))
					look_up_each(core, &group, &tally);
				else /* of no one, if absent */
					stamp(stamps, &group, _mm512_mask_mov_epi32(entry, absent, ALL(b->targets.entries)));
			}
		}
		group.at += group.live;
		if (group.live < SIXTEEN || group.at == BRANCH_BATCH)
			break;
	}
	if (!group.at)
		return 0;
	const uint32_t outers = (uint32_t)_mm512_reduce_add_epi32(outer), inners = (uint32_t)_mm512_reduce_add_epi32(inner), fetch = (uint32_t)_mm512_reduce_add_epi32(fetches);
	batch->counts = (outers & 0xffff) | (uint64_t)(inners >> 8) << PLAN_FIELD | (uint64_t)(outers >> 16) << 2 * PLAN_FIELD;
	batch->fetches = (fetch & 0xffff) | (uint64_t)(fetch >> 16) << PLAN_FIELD | (uint64_t)group.at << 2 * PLAN_FIELD;
	core->next_pc = site_of(plans, slots[group.at - 1])->behind;
	if (branches) {
		const struct branch_order order = { .slots = slots, .at = plans->at, .memory = plans->memory + offsetof(struct plan, site) / 8 };
		b->targets.clock = clock + group.at;
		branch_run_end(b, &order, group.at, conditional_ones, taken_ones, &tally);
	}
	return group.at;
}

static AVX512 size_t run_hits(struct core *core, const uint64_t *entries, size_t n) { return run_sixteens(core, entries, n, true, true); }
static AVX512 size_t run_branches(struct core *core, const uint64_t *entries, size_t n) { return run_sixteens(core, entries, n, true, false); }
static AVX512 size_t run_counts(struct core *core, const uint64_t *entries, size_t n) { return run_sixteens(core, entries, n, false, false); }

size_t run_heads(struct core *core, const uint64_t *entries, size_t n)
{
	if (!core->model->vectors || n < 2 || !heads_possible(core))
		return 0;
	return !core->branches ? run_counts(core, entries, n) : core->branches->targets.sets ? run_hits(core, entries, n) : run_branches(core, entries, n);
}

#else
size_t run_heads(struct core *core, const uint64_t *entries, size_t n)
{
	(void)core, (void)entries, (void)n;
	return 0;
}
#endif
