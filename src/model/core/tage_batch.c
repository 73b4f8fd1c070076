/*
 * TAGE, many branches at a time: the same predictions and the same training as tage.c's, one by one.
 *
 * Keys depend on the program's outcomes and addresses only, not on what the tables hold: eight branches' are computed at once, and sixteen
 * branches' entries are compared with them at once, which gives each its provider and its alternate. Only then comes what has to be done
 * in order: the provider's state moves. Who is provider changes in between only by an allocation: the branches behind it that would ask
 * for its entry make their group be looked up again.
 *
 * The rolling sum of a table, R = sum of b_a M^a: with d = outcome that comes - M^L outcome that leaves, R' = R M + d. For eight branches
 * from R on, branch j sees R M^j + sum over k < j of d_k M^(j-1-k): a scan by 1, 2, 4 lanes with the weights M, M^2, M^4.
 *
 * Written in the compiler's vectors, for any width; two instances, for AVX-512 and for AVX2. A host that has neither goes one by one.
 */
#include "model/core/predict.h"

static struct told one_by_one(struct branches *b, const uint8_t *line, uint32_t n)
{
	struct told told = { 0, 0 };
	for (uint32_t i = 0; i < n; i++) {
		bool predicted = tage_resolve(b, b->batch.address[i], line[i]);
		told.taken += predicted;
		told.wrong += predicted != line[i];
	}
	return told;
}

#if defined(__x86_64__)
#include <immintrin.h>

#define LANES 8u
#define GROUP 16u
#define APART (BRANCH_BATCH + GROUP) /* a table's keys from the next one's: the last groups may be partly full */

typedef uint64_t words __attribute__((vector_size(64)));
typedef uint64_t loose_words __attribute__((vector_size(64), aligned(1), may_alias));
typedef uint32_t halves __attribute__((vector_size(32)));
typedef uint32_t loose_halves __attribute__((vector_size(32), aligned(1), may_alias));

#define ALL(x) ((words){ 0 } + (uint64_t)(x))
#define LATER(v, n) __builtin_shufflevector((words){ 0 }, v, 8 - n, 9 - n, 10 - n, 11 - n, 12 - n, 13 - n, 14 - n, 15 - n)
/* Lane j: `value` if outcome j was taken, else 0. Of eight outcomes' bits the first one's is the highest. */
#define TAKEN(bits, value) ((words)((ALL(bits) & (words){ 128, 64, 32, 16, 8, 4, 2, 1 }) != 0) & ALL(value))

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

struct eight { const uint8_t *at; uint64_t came, left; }; /* branches: their outcomes, as bits, and how many there are from here on */

/* What a table's keys of eight branches have of the history, which moves on. */
INLINE void histories(struct tage_table *table, const struct eight *eight, const words *recent, const unsigned kind, const unsigned shift,
		      words *of)
{
	if (kind != TAGE_ROLLING) {
		const words window = *recent & ALL(table->window);
		*of = kind == TAGE_AS_IT_IS ? window : window * TAGE_K >> shift;
		return;
	}
	const uint64_t gone = bits_of(eight->at - table->oldest - 1), rolling = table->rolling;
	const words d = TAKEN(eight->came, 1) - TAKEN(gone, table->leaves), d_m1 = TAKEN(eight->came, M1) - TAKEN(gone, table->leaves * M1);
	words sum = d + LATER(d_m1, 1), x;
	sum += LATER(sum, 2) * M2;
	sum += LATER(sum, 4) * M4;
	x = ALL(rolling) * (words){ 1, M1, M2, M2 * M1, M4, M4 * M1, M4 * M2, M4 * M2 * M1 } + LATER(sum, 1);
	if (__builtin_expect(eight->left >= LANES, 1)) {
		table->rolling = rolling * M8 + sum[7];
	} else {
		uint64_t each[LANES];
		*(loose_words *)each = x;
		table->rolling = each[eight->left];
	}
	*of = x * TAGE_K >> shift;
}

/* Keys of all tables for the outcomes line[0 … n): keys[table * APART + branch]. Histories move on. */
INLINE void make_keys(struct tage *t, const uint8_t *line, const uint64_t *addresses, uint32_t n, uint32_t *keys, const bool published)
{
	const words ages = { 0, 1, 2, 3, 4, 5, 6, 7 };
	for (uint32_t i = 0; i <= n; i += LANES) { /* the last round, of n % 8 branches or of none, sets the histories */
		const words hash = (*(const loose_words *)(addresses + i) & ~BRANCH_BACKWARD) * TAGE_G;
		const struct eight eight = { .at = line + i, .came = bits_of(line + i), .left = n - i };
		const words recent = ALL(t->recent) << ages | ALL(eight.came) >> (8 - ages);
		words history;
#define MAKE(k, kind, shift)                                                                                                           \
	histories(&t->tables[k], &eight, &recent, kind, shift, &history);                                                              \
	*(loose_halves *)(keys + (k) * APART + i) = __builtin_convertvector(history ^ hash >> (shift), halves) | TAGE_VALID
		if (published) {
			MAKE(0, TAGE_AS_IT_IS, 64 - TAGE_PUBLISHED_WIDTH);
			MAKE(1, TAGE_AS_IT_IS, 64 - TAGE_PUBLISHED_WIDTH);
			MAKE(2, TAGE_PRODUCT, 64 - TAGE_PUBLISHED_WIDTH);
			MAKE(3, TAGE_ROLLING, 64 - TAGE_PUBLISHED_WIDTH);
		} else {
			for (uint32_t k = 0; k < t->n; k++) {
				MAKE(k, t->tables[k].kind, 64u - t->tables[k].width);
			}
		}
		if (__builtin_expect(eight.left >= LANES, 1))
			t->recent = t->recent << LANES | eight.came;
		else
			t->recent = t->recent << eight.left | eight.came >> (LANES - eight.left);
	}
}

#define AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))
#define AVX2 __attribute__((target("avx2")))

static AVX512 void make_keys_512(struct tage *t, const uint8_t *line, const uint64_t *addresses, uint32_t n, uint32_t *keys)
{
	if (t->published)
		make_keys(t, line, addresses, n, keys, true);
	else
		make_keys(t, line, addresses, n, keys, false);
}

static AVX2 void make_keys_256(struct tage *t, const uint8_t *line, const uint64_t *addresses, uint32_t n, uint32_t *keys)
{
	if (t->published)
		make_keys(t, line, addresses, n, keys, true);
	else
		make_keys(t, line, addresses, n, keys, false);
}

/* Who provides, and who would without it, of a group. now: its first branch's key in the first table. */
struct found { uint32_t provider[GROUP], alternate[GROUP]; } __attribute__((aligned(64)));

static AVX512 __attribute__((noinline)) void look_up_512(const struct tage *t, const uint32_t *keys, const uint32_t *now, const uint64_t *addresses,
							 struct found *found)
{
	const halves low = __builtin_convertvector(*(const loose_words *)addresses, halves);
	const halves high = __builtin_convertvector(*(const loose_words *)(addresses + 8), halves);
	__m512i provider = _mm512_inserti64x4(_mm512_castsi256_si512((__m256i)low), (__m256i)high, 1), alternate;
	provider = _mm512_add_epi32(_mm512_and_si512(provider, _mm512_set1_epi32((int)t->base_mask)), _mm512_set1_epi32((int)t->entries));
	alternate = provider;
	for (uint32_t k = 0; k < t->n; k++) {
		__m512i key = _mm512_loadu_si512(now + k * APART);
		__m512i entry = _mm512_add_epi32(_mm512_and_si512(key, _mm512_set1_epi32((int)t->tables[k].index_mask)),
						 _mm512_set1_epi32((int)t->tables[k].first));
		__mmask16 hit = _mm512_cmpeq_epi32_mask(key, _mm512_i32gather_epi32(entry, keys, 4));
		alternate = _mm512_mask_mov_epi32(alternate, hit, provider);
		provider = _mm512_mask_mov_epi32(provider, hit, entry);
	}
	_mm512_store_si512(found->provider, provider);
	_mm512_store_si512(found->alternate, alternate);
}

static AVX2 __attribute__((noinline)) void look_up_256(const struct tage *t, const uint32_t *keys, const uint32_t *now, const uint64_t *addresses,
						       struct found *found)
{
	for (unsigned half = 0; half < GROUP; half += 8) {
		__m256i provider = (__m256i)((__builtin_convertvector(*(const loose_words *)(addresses + half), halves) & t->base_mask) + t->entries);
		__m256i alternate = provider;
		for (uint32_t k = 0; k < t->n; k++) {
			__m256i key = _mm256_loadu_si256((const __m256i *)(now + k * APART + half));
			__m256i entry = _mm256_add_epi32(_mm256_and_si256(key, _mm256_set1_epi32((int)t->tables[k].index_mask)),
							 _mm256_set1_epi32((int)t->tables[k].first));
			__m256i hit = _mm256_cmpeq_epi32(key, _mm256_i32gather_epi32((const int *)keys, entry, 4));
			alternate = _mm256_blendv_epi8(alternate, provider, hit);
			provider = _mm256_blendv_epi8(provider, entry, hit);
		}
		_mm256_store_si256((__m256i *)(found->provider + half), provider);
		_mm256_store_si256((__m256i *)(found->alternate + half), alternate);
	}
}

/* The branch itself, and another one of its group that has the same entry in that table? */
static bool asked_again(const uint32_t *now, uint32_t key, uint32_t index_mask)
{
	uint32_t n = 0;
	for (unsigned l = 0; l < GROUP; l++)
		n += !((now[l] ^ key) & index_mask);
	return n > 1;
}

struct told tage_batch(struct branches *b, uint32_t n, uint32_t taken_ones)
{
	struct tage *t = &b->tage;
	uint8_t *states = PART(b, uint8_t, t->states_at);
	const uint8_t *line = t->line + t->newest + 1;
	const uint32_t *keys = PART(b, uint32_t, t->keys_at);
	struct told told = { .taken = taken_ones }; /* but for those that are wrong */
	uint32_t now[MACHINE_TABLES * APART] __attribute__((aligned(64)));
	struct found found;
	if (!t->vectors || (t->useful_reset && t->countdown <= n))
		return one_by_one(b, line, n);
	if (t->vectors == VECTORS_AVX512)
		make_keys_512(t, line, b->batch.address, n, now);
	else
		make_keys_256(t, line, b->batch.address, n, now);
	for (uint32_t first = 0; first < n; first += GROUP) {
		const uint32_t *group = now + first, end = n - first < GROUP ? n - first : GROUP;
		bool again = true;
		for (uint32_t i = 0; i < end; i++) {
			if (again)
				(t->vectors == VECTORS_AVX512 ? look_up_512 : look_up_256)(t, keys, group, b->batch.address + first, &found);
			again = false;
			const uint32_t provider = found.provider[i];
			const unsigned taken = line[first + i], state = states[provider], other = states[found.alternate[i]] & TAGE_TAKEN;
			const unsigned next = t->next[taken << 9 | other << 2 | state];
			states[provider] = (uint8_t)next;
			if (__builtin_expect(next & (TAGE_WRONG | TAGE_NEW), 0)) {
				bool says = state & TAGE_TAKEN, predicted = next & TAGE_NEW ? tage_new(t, says, taken) : says;
				if (predicted == taken)
					continue;
				told.wrong++;
				told.taken += (uint64_t)predicted - taken;
				int table = tage_allocate(b, group + i, APART, provider, taken);
				again = table >= 0 && asked_again(group + table * APART, group[table * APART + i], t->tables[table].index_mask);
			}
		}
	}
	t->newest += n;
	if (t->useful_reset)
		t->countdown -= n;
	return told;
}

#else
struct told tage_batch(struct branches *b, uint32_t n, uint32_t taken) { (void)taken; return one_by_one(b, b->tage.line + b->tage.newest + 1, n); }
#endif
