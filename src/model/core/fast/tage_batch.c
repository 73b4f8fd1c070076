/*
 * TAGE, many branches at a time: the same predictions and the same training as predict/tage.c's, one by one.
 *
 * Keys depend on the program's outcomes and addresses only, not on what the tables hold: eight branches' are
 * computed at once, and sixteen branches' entries are compared with them at once, which gives each its provider
 * and its alternate. Only then comes what has to be done in order: the provider's state moves. Which entry
 * provides changes in between only by an allocation: the branches behind it that would ask for its entry make
 * their group be looked up again.
 *
 * The rolling sum of a table, R = sum of b_a M^a: with d = outcome that comes - M^L outcome that leaves, R' = R M
 * + d. For eight branches from R on, branch j sees R M^j + sum over k < j of d_k M^(j-1-k): a scan by 1, 2, 4
 * lanes with the weights M, M^2, M^4.
 *
 * Written in the compiler's vectors, for any width; two instances, for AVX-512 and for AVX2. A host that has
 * neither goes one by one.
 *
 * Equals   tage_resolve() of predict/tage.c
 * For      PREDICT_TAGE of any size on processors with AVX2; the published sizes have an instance of their own
 * Test     tests/unit/model_branch_test.c, tests/model/branches_test.c
 */
#include "model/core/predict/predict.h"

static struct direction_counts one_by_one(struct branches *b, const uint8_t *line, uint32_t n)
{
	struct direction_counts told = {0, 0};
	for (uint32_t i = 0; i < n; i++) {
		bool predicted = tage_resolve(b, b->batch.address[i], line[i]);
		told.taken += predicted;
		told.wrong += predicted != line[i];
		b->batch.wrong[i / 64] |= (uint64_t)(predicted != line[i]) << i % 64;
	}
	return told;
}

#if defined(__x86_64__)
#include <immintrin.h>

#define LANES 8u
#define GROUP 16u
#define WINDOW 64u
#define KEY_STRIDE                                                                                                \
	(BRANCH_BATCH + GROUP) /* a table's keys from the next one's: the last groups may be partly full */
_Static_assert(BRANCH_BATCH % WINDOW == 0 && WINDOW == 64, "windows of keys; batch.wrong");

typedef uint64_t words __attribute__((vector_size(64)));
typedef uint64_t loose_words __attribute__((vector_size(64), aligned(1), may_alias));
typedef uint32_t lanes __attribute__((vector_size(64)));
typedef uint32_t loose_lanes __attribute__((vector_size(64), aligned(1), may_alias));
typedef uint32_t halves __attribute__((vector_size(32)));
typedef uint32_t loose_halves __attribute__((vector_size(32), aligned(1), may_alias));

#define ALL(x) ((words){0} + (uint64_t)(x))
#define LATER(v, n)                                                                                               \
	__builtin_shufflevector((words){0}, v, 8 - n, 9 - n, 10 - n, 11 - n, 12 - n, 13 - n, 14 - n, 15 - n)
/* Lane j: `value` if outcome j was taken, else 0. Of eight outcomes' bits the first one's is the highest. */
#define TAKEN(bits, value) ((words)((ALL(bits) & (words){128, 64, 32, 16, 8, 4, 2, 1}) != 0) & ALL(value))

#define M1 TAGE_M
#define M2 (M1 * M1)
#define M4 (M2 * M2)
#define M8 (M4 * M4)

#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t bits_of(const uint8_t *outcomes)
{
	uint64_t eight;
	__builtin_memcpy(&eight, outcomes, 8);
	return eight * 0x8040201008040201ull >> 56; /* byte i to bit 7 - i */
}

/* branches: their outcomes, as bits, and how many there are from here on */
struct eight_branches {
	const uint8_t *at;
	uint64_t came, left;
};

/* The rolling sum moves on by eight branches, or by fewer, whose sums are x. */
INLINE void roll_on(struct tage_table *table, const struct eight_branches *eight, const words *x, uint64_t after)
{
	if (__builtin_expect(eight->left >= LANES, 1)) {
		table->rolling = after;
	} else {
		uint64_t each[LANES];
		*(loose_words *)each = *x;
		table->rolling = each[eight->left];
	}
}

INLINE void rolling(struct tage_table *table, const struct eight_branches *eight, words *of)
{
	const uint64_t gone = bits_of(eight->at - table->oldest - 1);
	const words d = TAKEN(eight->came, TAGE_K) - TAKEN(gone, table->leaves);
	const words d_m1 = TAKEN(eight->came, TAGE_K * M1) - TAKEN(gone, table->leaves * M1);
	words sum = d + LATER(d_m1, 1), x;
	sum += LATER(sum, 2) * M2;
	sum += LATER(sum, 4) * M4;
	x = ALL(table->rolling) * (words){1, M1, M2, M2 * M1, M4, M4 * M1, M4 * M2, M4 * M2 * M1} + LATER(sum, 1);
	roll_on(table, eight, &x, table->rolling * M8 + sum[7]);
	*of = x;
}

/* The same from tables, with one multiplication. */
INLINE void rolling_summed(struct tage *t, struct tage_table *table, const struct eight_branches *eight, words *of)
{
	const uint64_t gone = bits_of(eight->at - table->oldest - 1);
	const struct tage_sums *s = &t->sums;
	const unsigned a = eight->came >> 4, b = eight->came & 15, c = gone >> 4, d = gone & 15;
	const words x = ALL(table->rolling) * (words){1, M1, M2, M2 * M1, M4, M4 * M1, M4 * M2, M4 * M2 * M1} +
			((*(const words *)s->before[0][a] + *(const words *)s->before[1][b]) +
			 (*(const words *)s->before[2][c] + *(const words *)s->before[3][d]));
	roll_on(table, eight, &x,
		table->rolling * M8 + ((s->after[0][a] + s->after[1][b]) + (s->after[2][c] + s->after[3][d])));
	*of = x;
}

INLINE void recent_of(struct tage *t, const struct eight_branches *eight, words *of)
{
	const words ages = {0, 1, 2, 3, 4, 5, 6, 7};
	*of = ALL(t->recent) << ages | ALL(eight->came) >> (8 - ages);
	if (__builtin_expect(eight->left >= LANES, 1))
		t->recent = t->recent << LANES | eight->came;
	else
		t->recent = t->recent << eight->left | eight->came >> (LANES - eight->left);
}

/* Keys of all tables for the outcomes line[0 … n): keys[table * KEY_STRIDE + branch]; behind them, as the base's,
 * the addresses' lower halves. Histories move on. */
INLINE void make_keys(struct tage *t, const uint8_t *line, const uint64_t *addresses, uint32_t n, uint32_t *keys)
{
	/* the last round, of n % 8 branches or of none, sets the histories */
	for (uint32_t i = 0; i <= n; i += LANES) {
		const struct eight_branches eight = {.at = line + i, .came = bits_of(line + i), .left = n - i};
		const words hash = *(const loose_words *)(addresses + i);
		words recent, history;
		recent_of(t, &eight, &recent);
		for (uint32_t k = 0; k < t->n; k++) {
			struct tage_table *table = &t->tables[k];
			const unsigned shift = 64u - table->width;
			if (table->kind == TAGE_ROLLING)
				rolling(table, &eight, &history);
			else
				history = recent & ALL(table->window);
			if (table->kind == TAGE_PRODUCT)
				history *= TAGE_K;
			if (table->kind != TAGE_AS_IT_IS)
				history >>= shift;
			*(loose_halves *)(keys + k * KEY_STRIDE +
					  i) = __builtin_convertvector(history ^ hash >> shift, halves);
		}
		*(loose_halves *)(keys + t->n * KEY_STRIDE + i) = __builtin_convertvector(hash, halves);
	}
}

/* The same for the paper's tables, two times eight at once. */
#define LOWER(a, b)                                                                                               \
	__builtin_shufflevector((lanes)(a), (lanes)(b), 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define PUBLISHED (64 - TAGE_PUBLISHED_WIDTH)

INLINE void make_keys_published(struct tage *t, const uint8_t *line, const uint64_t *addresses, uint32_t n,
				uint32_t *keys)
{
	struct tage_table *last = &t->tables[TAGE_PUBLISHED_TABLES - 1];
	for (uint32_t i = 0; i <= n; i += 2 * LANES) {
		const uint32_t left = n - i;
		const struct eight_branches one = {.at = line + i, .came = bits_of(line + i), .left = left};
		const struct eight_branches two = {.at = line + i + LANES,
						   .came = bits_of(line + i + LANES),
						   .left = left < LANES ? 0 : left - LANES};
		const words address = *(const loose_words *)(addresses + i),
			    address_two = *(const loose_words *)(addresses + i + LANES);
		words recent, recent_two, sum, sum_two;
		recent_of(t, &one, &recent), recent_of(t, &two, &recent_two);
		rolling_summed(t, last, &one, &sum), rolling_summed(t, last, &two, &sum_two);
		const words product = (recent & ALL(t->tables[2].window)) * TAGE_K,
			    product_two = (recent_two & ALL(t->tables[2].window)) * TAGE_K;
		const lanes hashes = LOWER(address >> PUBLISHED, address_two >> PUBLISHED),
			    recents = LOWER(recent, recent_two);
		*(loose_lanes *)(keys + i) = (recents & (uint32_t)t->tables[0].window) ^ hashes;
		*(loose_lanes *)(keys + KEY_STRIDE + i) = (recents & (uint32_t)t->tables[1].window) ^ hashes;
		*(loose_lanes *)(keys + 2 * KEY_STRIDE +
				 i) = LOWER(product >> PUBLISHED, product_two >> PUBLISHED) ^ hashes;
		*(loose_lanes *)(keys + 3 * KEY_STRIDE + i) = LOWER(sum >> PUBLISHED, sum_two >> PUBLISHED) ^
							      hashes;
		*(loose_lanes *)(keys + 4 * KEY_STRIDE + i) = LOWER(address, address_two);
	}
}

#define AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,bmi,bmi2")))
#define AVX2 __attribute__((target("avx2")))

static AVX512 __attribute__((noinline)) void make_keys_512(struct tage *t, const uint8_t *line,
							   const uint64_t *addresses, uint32_t n, uint32_t *keys)
{
	if (t->published)
		make_keys_published(t, line, addresses, n, keys);
	else
		make_keys(t, line, addresses, n, keys);
}

static AVX2 __attribute__((noinline)) void make_keys_256(struct tage *t, const uint8_t *line,
							 const uint64_t *addresses, uint32_t n, uint32_t *keys)
{
	if (t->published)
		make_keys_published(t, line, addresses, n, keys);
	else
		make_keys(t, line, addresses, n, keys);
}

/* ---- a window of branches: what each would find and do, if none before it in the window changed anything ---- */

struct window {
	struct branches *b;
	const uint32_t *entries;
	uint32_t bases;       /* where they lie, in bytes from the entries on */
	uint32_t n;           /* branches */
	const uint8_t *line;  /* their outcomes */
	const uint32_t *keys; /* in the first table */
};

struct found {
	uint32_t provider[WINDOW], alternate[WINDOW]; /* where their states are */
	uint64_t moves;                               /* bits: those that move a state or are wrong */
	uint64_t based;                               /* whose alternate is the base's counter */
	uint64_t wrong;                               /* which were mispredicted */
} __attribute__((aligned(64)));

INLINE AVX512 void look_up_512(const struct window *w, const uint32_t n, const bool narrow, struct found *found)
{
	const struct tage *t = &w->b->tage;
	const __m512i valid = _mm512_set1_epi32(TAGE_VALID), key_bits = _mm512_set1_epi32(TAGE_KEY),
		      three = _mm512_set1_epi32(3);
	const __m512i direction = _mm512_set1_epi32(TAGE_TAKEN << TAGE_STATE),
		      moving = _mm512_set1_epi32(TAGE_MOVES << TAGE_STATE);
	const __m512i useless = _mm512_set1_epi32(TAGE_USELESS << TAGE_STATE);
	uint64_t moves = 0, based = 0;
	for (uint32_t at = 0; at < w->n; at += GROUP) {
		const __m512i low = _mm512_loadu_si512(w->keys + n * KEY_STRIDE + at);
		const __m512i base = _mm512_add_epi32(_mm512_and_si512(low, _mm512_set1_epi32((int)t->base_mask)),
						      _mm512_set1_epi32((int)w->bases));
		const __mmask16 taken = _mm_test_epi8_mask(_mm_loadu_si128((const __m128i *)(w->line + at)),
							   _mm_set1_epi8(1));
		__m512i provider = _mm512_i32gather_epi32(base, (const char *)w->entries - 3, 1),
			alternate = provider;
		__m512i provider_at = base, alternate_at = base;
#pragma GCC unroll 4
		for (uint32_t k = 0; k < n; k++) {
			const struct tage_table *table = &t->tables[k];
			const __m512i key = _mm512_loadu_si512(w->keys + k * KEY_STRIDE + at);
			const __m512i entry = _mm512_add_epi32(
				_mm512_and_si512(key, _mm512_set1_epi32((int)table->index_mask)),
				_mm512_set1_epi32((int)table->first));
			const __m512i place = _mm512_add_epi32(_mm512_slli_epi32(entry, 2), three);
			const __m512i is = _mm512_i32gather_epi32(entry, w->entries, 4);
			const __m512i kept = narrow ? key
						    : _mm512_srl_epi32(key, _mm_cvtsi32_si128(table->dropped));
			const __mmask16 hit = _mm512_testn_epi32_mask(
				_mm512_xor_si512(_mm512_xor_si512(kept, is), valid), key_bits);
			alternate = _mm512_mask_mov_epi32(alternate, hit, provider);
			provider = _mm512_mask_mov_epi32(provider, hit, is);
			alternate_at = _mm512_mask_mov_epi32(alternate_at, hit, provider_at);
			provider_at = _mm512_mask_mov_epi32(provider_at, hit, place);
		}
		const __m512i away = _mm512_xor_si512(provider, _mm512_maskz_mov_epi32(taken, direction));
		const __mmask16 differ = _mm512_test_epi32_mask(_mm512_xor_si512(provider, alternate), direction);
		moves |= (uint64_t)(_mm512_test_epi32_mask(away, moving) |
				    _mm512_mask_test_epi32_mask(differ, provider, useless))
			 << at;
		based |= (uint64_t)_mm512_cmpeq_epi32_mask(alternate_at, base) << at;
		_mm512_store_si512(found->provider + at, provider_at);
		_mm512_store_si512(found->alternate + at, alternate_at);
	}
	found->moves = moves;
	found->based = based;
}

/* Of the window, bits: whose value has the same bits under the mask. */
INLINE AVX512 uint64_t same_512(const uint32_t *values, uint32_t value, uint32_t mask)
{
	const __m512i all = _mm512_set1_epi32((int)value), bits = _mm512_set1_epi32((int)mask);
	const __mmask16 a = _mm512_testn_epi32_mask(_mm512_xor_si512(_mm512_loadu_si512(values), all), bits);
	const __mmask16 b = _mm512_testn_epi32_mask(_mm512_xor_si512(_mm512_loadu_si512(values + 16), all), bits);
	const __mmask16 c = _mm512_testn_epi32_mask(_mm512_xor_si512(_mm512_loadu_si512(values + 32), all), bits);
	const __mmask16 d = _mm512_testn_epi32_mask(_mm512_xor_si512(_mm512_loadu_si512(values + 48), all), bits);
	return _mm512_kunpackd(_mm512_kunpackw(d, c), _mm512_kunpackw(b, a));
}

INLINE AVX2 uint32_t bits_256(__m256i all_or_none)
{
	return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(all_or_none));
}
INLINE AVX2 __m256i none_256(__m256i v, uint32_t mask) /* of these bits */
{
	return _mm256_cmpeq_epi32(_mm256_and_si256(v, _mm256_set1_epi32((int)mask)), _mm256_setzero_si256());
}

INLINE AVX2 void look_up_256(const struct window *w, const uint32_t n, const bool narrow, struct found *found)
{
	const struct tage *t = &w->b->tage;
	uint64_t moves = 0, based = 0;
	for (uint32_t at = 0; at < w->n; at += LANES) {
		const __m256i low = _mm256_loadu_si256((const __m256i *)(w->keys + n * KEY_STRIDE + at));
		const __m256i base = _mm256_add_epi32(_mm256_and_si256(low, _mm256_set1_epi32((int)t->base_mask)),
						      _mm256_set1_epi32((int)w->bases));
		const __m256i outcomes = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(w->line + at)));
		__m256i provider = _mm256_i32gather_epi32((const int *)((const char *)w->entries - 3), base, 1),
			alternate = provider;
		__m256i provider_at = base, alternate_at = base;
#pragma GCC unroll 4
		for (uint32_t k = 0; k < n; k++) {
			const struct tage_table *table = &t->tables[k];
			const __m256i key = _mm256_loadu_si256((const __m256i *)(w->keys + k * KEY_STRIDE + at));
			const __m256i entry = _mm256_add_epi32(
				_mm256_and_si256(key, _mm256_set1_epi32((int)table->index_mask)),
				_mm256_set1_epi32((int)table->first));
			const __m256i place = _mm256_add_epi32(_mm256_slli_epi32(entry, 2), _mm256_set1_epi32(3));
			const __m256i is = _mm256_i32gather_epi32((const int *)w->entries, entry, 4);
			const __m256i kept = narrow ? key
						    : _mm256_srl_epi32(key, _mm_cvtsi32_si128(table->dropped));
			const __m256i differ = _mm256_xor_si256(_mm256_xor_si256(kept, is),
								_mm256_set1_epi32(TAGE_VALID));
			const __m256i hit = none_256(differ, TAGE_KEY);
			alternate = _mm256_blendv_epi8(alternate, provider, hit);
			provider = _mm256_blendv_epi8(provider, is, hit);
			alternate_at = _mm256_blendv_epi8(alternate_at, provider_at, hit);
			provider_at = _mm256_blendv_epi8(provider_at, place, hit);
		}
		const __m256i away = _mm256_xor_si256(provider,
						      _mm256_slli_epi32(outcomes, TAGE_STATE + TAGE_TAKEN_SHIFT));
		const uint32_t rests = bits_256(none_256(away, TAGE_MOVES << TAGE_STATE));
		const uint32_t agree = bits_256(
			none_256(_mm256_xor_si256(provider, alternate), TAGE_TAKEN << TAGE_STATE));
		const uint32_t useful = bits_256(none_256(provider, TAGE_USELESS << TAGE_STATE));
		moves |= (uint64_t)(~(rests & (agree | useful)) & 0xff) << at;
		based |= (uint64_t)bits_256(_mm256_cmpeq_epi32(alternate_at, base)) << at;
		_mm256_store_si256((__m256i *)(found->provider + at), provider_at);
		_mm256_store_si256((__m256i *)(found->alternate + at), alternate_at);
	}
	found->moves = moves;
	found->based = based;
}

INLINE AVX2 uint64_t same_256(const uint32_t *values, uint32_t value, uint32_t mask)
{
	uint64_t same = 0;
	for (uint32_t at = 0; at < WINDOW; at += LANES) {
		const __m256i differ = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(values + at)),
							_mm256_set1_epi32((int)value));
		same |= (uint64_t)bits_256(none_256(differ, mask)) << at;
	}
	return same;
}

/* ---- then those that do something, in their turn ---- */

/* What an allocation may have changed: looks for the provider again. */
static __attribute__((noinline)) void find_again(const struct window *w, uint32_t branch, struct found *found)
{
	const struct tage *t = &w->b->tage;
	uint32_t provider = w->bases + (w->keys[t->n * KEY_STRIDE + branch] & t->base_mask), alternate = provider;
	for (uint32_t k = 0; k < t->n; k++) {
		const struct tage_table *table = &t->tables[k];
		const uint32_t key = w->keys[k * KEY_STRIDE + branch],
			       entry = table->first + (key & table->index_mask);
		if ((w->entries[entry] & TAGE_KEY) == (key >> table->dropped | TAGE_VALID))
			alternate = provider, provider = tage_place(entry);
	}
	found->provider[branch] = provider;
	found->alternate[branch] = alternate;
}

/* A branch that rested takes its turn, too, if something changed that it found: a state, or what an entry is.
 * Others find what they found. */
INLINE uint64_t unlikely_or(uint64_t a, uint64_t b)
{
	__asm__("or %1, %0" : "+r"(a) : "r"(b) : "cc"); /* no arithmetic without the jump */
	return a;
}

INLINE void take_turns(const struct window *w, struct found *found, const uint32_t n,
		       struct direction_counts *told,
		       uint64_t (*same)(const uint32_t *values, uint32_t value, uint32_t mask))
{
	struct tage *t = &w->b->tage;
	uint8_t *states = TABLE(w->b, uint8_t, t->entries_at);
	const uint64_t all = w->n < WINDOW ? (1ull << w->n) - 1 : ~0ull;
	uint64_t moves = found->moves & all, unknown = 0 /* whose provider may be another than was found */;
	uint32_t masks[MACHINE_TABLES + 1];
	for (uint32_t k = 0; k < n; k++)
		masks[k] = t->tables[k].index_mask;
	masks[n] = t->base_mask;
	while (moves) {
		const uint32_t i = (uint32_t)__builtin_ctzll(moves);
		const uint64_t later = all & ~1ull << i;
		moves &= moves - 1;
		if (__builtin_expect(unknown >> i & 1, 0))
			find_again(w, i, found);
		const uint32_t provider = found->provider[i];
		const unsigned taken = w->line[i], state = states[provider],
			       other = states[found->alternate[i]] & TAGE_TAKEN;
		const unsigned next = t->next[taken << 9 | other << 2 | state];
		uint32_t passed = 0; /* tables before the provider's */
		states[provider] = (uint8_t)next;
#pragma GCC unroll 4
		for (uint32_t k = 0; k < n; k++)
			passed += provider / 4 > t->tables[k].first + t->tables[k].index_mask;
		const uint32_t *values = w->keys + passed * KEY_STRIDE;
		const uint64_t asking = later & ~moves & (passed < n ? ~0ull : found->based | unknown);
		/* The next one's turn is known without this, nearly always: a jump, which is foreseen, for a
		 * result that would be waited for. */
		const uint64_t affected = same(values, values[i], masks[passed]) & asking;
		if (__builtin_expect(affected != 0, 0))
			moves = unlikely_or(moves, affected);
		const bool predicted = tage_predict(t, state, next, taken);
		if (predicted == taken)
			continue;
		found->wrong |= 1ull << i;
		told->wrong++;
		told->taken += (uint64_t)predicted - taken;
		for (uint32_t tables = tage_allocate_in(w->b, w->keys + i, KEY_STRIDE, provider, taken, n); tables;
		     tables &= tables - 1) {
			const uint32_t k = (uint32_t)__builtin_ctz(tables), *keys = w->keys + k * KEY_STRIDE;
			const uint64_t again = same(keys, keys[i], masks[k]) & later;
			if (__builtin_expect(again != 0, 0)) {
				moves = unlikely_or(moves, again);
				unknown |= again;
			}
		}
	}
}

/* A function for each kind of vectors and of tables, so that these are known in it. */
#define BATCH(vectors, n_tables, narrow)                                                                          \
	struct found found;                                                                                       \
	struct direction_counts told = {0, 0};                                                                    \
	for (uint32_t first = 0; first < n; first += WINDOW, w.line += WINDOW, w.keys += WINDOW) {                \
		w.n = n - first < WINDOW ? n - first : WINDOW;                                                    \
		look_up_##vectors(&w, n_tables, narrow, &found);                                                  \
		found.wrong = 0;                                                                                  \
		take_turns(&w, &found, n_tables, &told, same_##vectors);                                          \
		w.b->batch.wrong[first / WINDOW] = found.wrong;                                                   \
	}                                                                                                         \
	return told

static AVX512 struct direction_counts batch_512(struct window w, uint32_t n) { BATCH(512, w.b->tage.n, false); }
static AVX512 struct direction_counts batch_512_published(struct window w, uint32_t n)
{
	BATCH(512, TAGE_PUBLISHED_TABLES, true);
}
static AVX2 struct direction_counts batch_256(struct window w, uint32_t n) { BATCH(256, w.b->tage.n, false); }
static AVX2 struct direction_counts batch_256_published(struct window w, uint32_t n)
{
	BATCH(256, TAGE_PUBLISHED_TABLES, true);
}

struct direction_counts tage_batch(struct branches *b, uint32_t n, uint32_t taken)
{
	struct tage *t = &b->tage;
	const uint8_t *line = t->line + t->newest + 1;
	struct direction_counts told;
	uint32_t now[(MACHINE_TABLES + 1) * KEY_STRIDE] __attribute__((aligned(64)));
	if (!t->vectors || (t->useful_reset && t->countdown <= n))
		return one_by_one(b, line, n);
	const struct window w = {.b = b,
				 .entries = TABLE(b, uint32_t, t->entries_at),
				 .bases = (uint32_t)(t->bases_at - t->entries_at),
				 .line = line,
				 .keys = now};
	if (t->vectors == VECTORS_AVX512) {
		make_keys_512(t, line, b->batch.address, n, now);
		told = t->published ? batch_512_published(w, n) : batch_512(w, n);
	} else {
		make_keys_256(t, line, b->batch.address, n, now);
		told = t->published ? batch_256_published(w, n) : batch_256(w, n);
	}
	told.taken += taken; /* it was told of those that are wrong */
	t->newest += n;
	if (t->useful_reset)
		t->countdown -= n;
	return told;
}

#else
struct direction_counts tage_batch(struct branches *b, uint32_t n, uint32_t taken)
{
	(void)taken;
	return one_by_one(b, b->tage.line + b->tage.newest + 1, n);
}
#endif
