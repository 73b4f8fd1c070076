/* The components of a branch predictor, for branch.c only: each has its state as a struct in struct branches and
 * its tables behind it, at offsets from there. All memory begins as zeros; a table that would have to begin
 * otherwise stores the difference. */
#ifndef TARE_MODEL_CORE_PREDICT_PREDICT_H
#define TARE_MODEL_CORE_PREDICT_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/predict/branch.h"
#include "model/core/machine.h"
#include "model/core/fast/processor.h"
#include "model/core/replacement.h"

/* ---- direction.c: static, bimodal, local, gshare, tournament ---- */

/* Taken if ≥ half. Stored: (value - initial) mod 16, and moves[taken][stored] has what is stored next in its
   lowest byte, in the next one whether taken was predicted, and in the upper half whether that was wrong. */
struct counters {
	uint64_t at;
	uint32_t mask;
	uint8_t initial, max, half, unused;
	uint64_t moves[2][16];
};

struct direction {
	uint8_t kind, address_shift, unused[6];
	struct counters main, local, choice;
	uint64_t histories_at; /* local ones, 32 bits each */
	uint32_t histories_mask, local_history_mask;
	uint64_t history, history_mask;
};

/* ---- perceptron.c ---- */

struct perceptron {
	/* a row: bias weight, 7 bytes unused, then a byte for each weight, two's complement */
	uint64_t rows_at;
	uint32_t rows_mask, row_bytes, words;
	int32_t threshold, taken_in_history;
	uint8_t highest, lowest, unused[2]; /* of a weight + 128 */
	uint64_t last_word;                 /* bytes in use of the last word */
	uint64_t history[32];               /* a byte for each branch: 0xff taken; newest first */
};

/* ---- tage.c ---- */

/* A state: of a counter of the base or of a tagged entry, in a byte. d: direction; a: how far the counter is from
   the end of its range on that side; u: how far the useful count is from 3, its end. So a state that an outcome in
   its direction does not move has no bit but d:
       base    1 d a a a - - -        tagged  0 d a a - u u -
   Right or wrong, a provider whose direction is not the alternate's also moves its useful count. */
enum {
	TAGE_BASE = 0x80,
	TAGE_TAKEN = 0x40,
	TAGE_MOVES = 0x78 /* d, a */,
	TAGE_USELESS = 0x06,                /* not useful: all of these; useful to the end: none */
	TAGE_FRESH = 3 << 4 | TAGE_USELESS, /* weak, not useful */
	TAGE_AWAY = 4,
	TAGE_BASE_AWAY = 3,
	TAGE_USEFUL = 1,
	TAGE_TAKEN_SHIFT = 6 /* shifts */
};
/* tage.next[taken << 9 | alternate << 8 | state]: the next state of the provider, alternate: what that one said;
 * and: */
enum {
	TAGE_WRONG = 0x100 /* the provider was */,
	TAGE_NEW = 0x200 /* newly allocated, and the alternate said otherwise */
};

/* A tagged entry: its state in the upper byte, then TAGE_VALID, then the upper bits of the key that made it, 23 at
   most (the lower ones are those of its place). */
#define TAGE_VALID 0x800000u
#define TAGE_KEY 0xffffffu
#define TAGE_STATE 24
#define TAGE_G 0x9e3779b97f4a7c15ull
#define TAGE_K 0xd6e8feb86659fd93ull
#define TAGE_M 0x2545f4914f6cdd1dull

/* The paper's 5 components of 64 Kbit: 4K base counters of 2 bits and 4 × 1K entries of 9 + 3 + 2 bits; histories
 * 5, 15, 44, 130. */
enum { TAGE_PUBLISHED_TABLES = 4, TAGE_PUBLISHED_WIDTH = 19 };

enum tage_kind { TAGE_AS_IT_IS, TAGE_PRODUCT, TAGE_ROLLING };

struct tage_table {
	/* first: number of its first entry; oldest: how old the last outcome of its history is */
	uint32_t first, index_mask, oldest;
	uint8_t width, kind, dropped /* lower bits of a key that no entry keeps */, unused;
	uint64_t window, rolling, leaves; /* the last two: times TAGE_K */
};

/* Of the rolling sum of the paper's last table: what four outcomes that come or leave add to it, by their bits,
   the first one's the highest. [0]: the first four of eight that come, [1] the next four, [2], [3] those that
   leave. */
struct tage_sums {
	uint64_t before[4][16][8]; /* as branch 0, 1, … 7 of eight sees it */
	uint64_t after[4][16];     /* all eight */
};

#define TAGE_LINE 2048 /* twice the longest history */

struct tage {
	uint32_t n, base_mask, newest, use_alternate, countdown, useful_reset, entries, longest;
	uint8_t age_low;
	uint8_t published; /* it is of the paper's sizes: fast/tage_batch.c has them compiled in */
	uint8_t vectors;   /* enum vectors: what fast/tage_batch.c may use */
	uint8_t unused[5];
	uint64_t random, entries_at, bases_at; /* behind them, a byte each */
	uint64_t recent;                       /* the last 64 outcomes, newest in bit 0 */
	struct tage_table tables[MACHINE_TABLES];
	struct tage_sums sums __attribute__((aligned(64)));
	uint16_t next[4 * 256];
	/* outcomes as they came, 0 or 1, up to [newest]; at least `longest` of them. Read in words */
	uint8_t line[TAGE_LINE + 16];
};

/* ---- targets.c: BTB, return stack, indirect table ---- */

#define BTB_HINTS 4096 /* guesses, by low address bits, in which way of its set a branch is; checked */
/* A set's version changes whenever a key in it does: so one comparison tells whether what is known of a branch
   still holds (fast/branch_run.c). 0 is that of every set that has no key yet, of whatever BTB; the others are one
   set's at one time, among all predictors that share static branches. When they have come to BTB_OLD all later
   ones are that, and nothing is known any more. */
#define BTB_OLD 0xfffffffeu
#define BTB_UNKNOWN 0xffffffffu /* of a static branch; no version */

enum { TARGETS_LINE = 128 }; /* at least twice the longest history, 64 */

struct target_predictor {
	uint32_t sets, ways, set_mask, return_entries, indirect_mask;
	uint8_t set_mask_works, replacement, allocation, holds_returns, address_shift, indirect_history, filtered;
	uint8_t set_shift, whole /* tags */, stores_direct,
		two_ways /* of LRU, whole tags, no counters: struct btb_two */, unused;
	uint32_t entries; /* sets × ways; behind them, for two more, one set's of no branch */
	uint8_t counters, counter_initial, counter_max, counter_half; /* PREDICT_BTB */
	uint32_t top, valid;                                          /* of the return stack */
	uint32_t newest;                                              /* of the target history */
	uint32_t unused_too;
	uint64_t tag_mask, recency, random;
	uint32_t *changes,
		own_changes; /* the last version given away; if no other predictor shares its static branches */
	uint64_t hints_at, keys_at /* 0: empty */, stamps_at, two_at, targets_at, counters_at, versions_at,
		tree_at, returns_at, indirect_at;
	/* of indirect jumps' and calls' targets, from [newest] on, the newest first */
	uint64_t history[TARGETS_LINE];
};

/* struct static_branch.ending: enum trace_ending, and: */
enum static_branch_flag {
	ENDING_KIND = 7,
	ENDING_STACK = 8,        /* pushes on the return stack, or pops */
	ENDING_INDIRECT = 16,    /* predicted by the indirect table, or not at all */
	ENDING_STORES = 32,      /* its target in the BTB, where somebody may ask for it */
	ENDING_LAST_TARGET = 64, /* predicted by the BTB's last target */
	ENDING_ABSENT = 128,     /* as `absent` */
};

struct branches {
	struct { /* blocks, sorted; a group of fast/tage_batch.c's may begin at the last one */
		uint64_t address[BRANCH_BATCH + 16]; /* conditional ones: struct static_branch.address */
		uint8_t outcome[BRANCH_BATCH + 16];  /* but TAGE's are in its line */
		uint8_t kinds[BRANCH_BATCH];         /* of all blocks: struct static_branch.ending */
		/* bits, mispredicted: of conditional ones; of all blocks, complete if `tells` */
		uint64_t wrong[BRANCH_BATCH / 64], mispredicted[BRANCH_BATCH / 64];
	} batch;
	struct {                                          /* by fast/branch_run.c, beside happened[] */
		uint64_t looked_up, missed, missed_taken; /* in the BTB */
		uint64_t conditional, taken, predicted_taken, mispredicted; /* conditional ones */
	} batched;
	struct direction direction;
	struct perceptron perceptron;
	struct target_predictor targets;
	uint64_t happened[BRANCH_HAPPENINGS]; /* how often what branches_resolve() returns */
	uint8_t none;                         /* nothing is predicted: PREDICT_NONE */
	uint8_t simple;                       /* direction.c's */
	uint8_t sorts;                        /* fast/branch_run.c may do one component after the other */
	uint8_t tells;                        /* … and is to say which were mispredicted */
	uint8_t unused[4];
	struct tage tage;
};

#define TABLE(branches, type, at) ((type *)((char *)(branches) + (at)))

static inline uint64_t predict_rounded(uint64_t bytes) { return (bytes + 63) & ~63ull; }
static inline uint32_t predict_log2(uint64_t power)
{
	uint32_t bits = 0;
	while ((1ull << bits) < power)
		bits++;
	return bits;
}

/* Layouts: fill in the component's state but what must be written into its tables; `at`: where they may begin;
 * return where they end. */
uint64_t direction_layout(struct direction *direction, const struct machine *machine, uint64_t at);
uint64_t perceptron_layout(struct perceptron *perceptron, const struct machine *machine, uint64_t at);
uint64_t tage_layout(struct tage *tage, const struct machine *machine, uint64_t at);
void tage_begin(struct branches *branches, const struct machine *machine, const struct model_options *options);
uint64_t targets_layout(struct target_predictor *targets, const struct machine *machine, uint64_t at);

/* Predict and train: return the prediction. address: as struct static_branch's. */
bool direction_resolve(struct branches *branches, uint64_t address, bool taken);
bool perceptron_resolve(struct branches *branches, uint64_t address, bool taken);
bool tage_resolve(struct branches *branches, uint64_t address, bool taken); /* address: as predict_address() */
/* TAGE's: the upper half of the hash, and the address' lower one. */
static inline uint64_t predict_address(const struct branches *b, uint64_t pc, uint64_t target)
{
	const uint64_t address = pc >> b->direction.address_shift;
	if (b->direction.kind == PREDICT_TAGE)
		return (address * TAGE_G & ~0xffffffffull) | (address & 0xffffffff);
	return address | (target < pc ? BRANCH_BACKWARD : 0);
}

/* The first n of branches->batch, in order, which also say which are batch.wrong; of TAGE, the outcomes are in its
 * line, behind the newest one. */
struct direction_counts {
	uint64_t taken, wrong;
}; /* predictions */
struct direction_counts direction_batch(struct branches *branches, uint32_t n);
/* taken: how many were */
struct direction_counts tage_batch(struct branches *branches, uint32_t n, uint32_t taken);

/* Where a state is: in bytes from the entries on. A base's lies behind all of them. */
static inline uint32_t tage_place(uint32_t entry) { return 4 * entry + 3; }

/* 2^64 / (2^k - 1), rounded up: x mod d is the upper half of (x times that, modulo 2^64) times d, for any x < 2^32
   (Lemire, Kaser & Kurz, Faster remainder by direct computation, 2019). */
extern const uint64_t tage_shares[MACHINE_TABLES + 1];
_Static_assert(MACHINE_TABLES == 16, "tage_shares[] and the sums of bits below");

static inline uint32_t tage_count_bits(uint32_t bits)
{
	bits -= bits >> 1 & 0x5555;
	bits = (bits & 0x3333) + (bits >> 2 & 0x3333);
	bits = (bits + (bits >> 4)) & 0x0f0f;
	return (bits + (bits >> 8)) & 0x1f;
}

/* After a misprediction; keys_now: the branch's key in each table, `stride` words from the next table's. provider:
 * where its state is. Returns the tables, as bits, in whose entries of these keys something changed. Which tables
 * have room is as good as random: nothing jumps by it, but by whether there is one at all. */
static inline __attribute__((always_inline)) uint32_t tage_allocate_in(struct branches *b,
								       const uint32_t *keys_now, uint32_t stride,
								       uint32_t provider, bool taken,
								       const uint32_t n_tables)
{
	struct tage *t = &b->tage;
	uint32_t entry_of[MACHINE_TABLES], passed = 0, room = 0;
	uint32_t *entries = TABLE(b, uint32_t, t->entries_at);
#pragma GCC unroll 4
	for (uint32_t i = 0; i < n_tables; i++) {
		const struct tage_table *table = &t->tables[i];
		entry_of[i] = table->first + (keys_now[i * stride] & table->index_mask);
		/* tables lie in the order of their histories */
		passed += provider / 4 > table->first + table->index_mask;
		room |= (uint32_t)((entries[entry_of[i]] >> TAGE_STATE & TAGE_USELESS) == TAGE_USELESS) << i;
	}
	const uint32_t first = provider / 4 < t->entries ? passed + 1 : 0; /* the base's lie behind all */
	room &= ~0u << first;
	if (!room) {
		for (uint32_t i = first; i < n_tables; i++)
			entries[entry_of[i]] += 1u << TAGE_USEFUL << TAGE_STATE;
		return (1u << n_tables) - (1u << first);
	}
	const uint32_t n = tage_count_bits(room);
	/* r in [0, 2^n - 1): shares of 2^(n-1), 2^(n-2), … 1. So 2^n - 1 - r has its highest bit at n - 1, n - 2,
	 * … 0 */
	uint64_t drawn = t->random;
	uint32_t share = (1u << n) - 1, chosen;
	share -= (uint32_t)((unsigned __int128)(tage_shares[n] * (random_next(&drawn) >> 32)) * share >> 64);
	t->random = n > 1 ? drawn : t->random;
	chosen = n - 1 - (31 - (uint32_t)__builtin_clz(share));
	for (uint32_t k = 0; k < 3; k++)
		room = k < chosen ? room & (room - 1) : room;
	for (; __builtin_expect(chosen > 3, 0); chosen--)
		room &= room - 1;
	const unsigned i = (unsigned)__builtin_ctz(room);
	entries[entry_of[i]] = (taken ? TAGE_FRESH | TAGE_TAKEN : TAGE_FRESH) << TAGE_STATE | TAGE_VALID |
			       keys_now[i * stride] >> t->tables[i].dropped;
	return 1u << i;
}

/* Makes room for n more outcomes. */
static inline void tage_make_room(struct tage *t, uint32_t n)
{
	if (t->newest + n < TAGE_LINE)
		return;
	for (uint32_t i = 0; i < t->longest; i++)
		t->line[i] = t->line[t->newest + 1 - t->longest + i];
	t->newest = t->longest - 1;
}

/* What is predicted, of a provider's state and what tage.next has for it. If it is new and its alternate differs:
   which one is believed, and which will be. Without jumps, which no processor could predict. */
static inline bool tage_predict(struct tage *t, unsigned state, unsigned next, bool taken)
{
	const bool says = state & TAGE_TAKEN, is_new = next & TAGE_NEW;
	const uint32_t use = t->use_alternate, right = (says != taken) & (use < 15),
		       wrong = (says == taken) & (use > 0);
	t->use_alternate = use + (is_new & right) - (is_new & wrong);
	return says ^ (is_new & (use >= 8));
}

/* Where a branch is in the BTB: the key that it would have; *set: in which set. */
static inline uint64_t targets_key(const struct target_predictor *t, uint64_t pc, uint32_t *set)
{
	const uint64_t address = pc >> t->address_shift;
	const uint64_t quotient = t->set_mask_works ? address >> t->set_shift : address / t->sets;
	*set = (uint32_t)(t->set_mask_works ? address & t->set_mask : address % t->sets);
	return t->whole ? address + 1 : (quotient & t->tag_mask) + 1;
}

/* A BTB access: hit? Trains and allocates. direction: NULL, or where the entry's own prediction goes (PREDICT_BTB;
   a miss: false). before: NULL, or where the target goes that the entry had (0: none). */
bool targets_look_up(struct branches *branches, uint64_t pc, bool direct, bool taken, uint64_t target,
		     bool *direction, uint64_t *before);
/* An indirect jump or call: the target predicted by the indirect table, 0: unknown; trains. */
uint64_t targets_indirect(struct branches *branches, uint64_t pc, uint64_t target);
#define TARGETS_MULTIPLIER 0x9e3779b97f4a7c15ull
static inline __attribute__((always_inline)) uint64_t targets_indirect_in(
	struct branches *b, uint64_t pc, uint64_t target, const unsigned length /* of the history */)
{
	struct target_predictor *t = &b->targets;
	const uint64_t *history = t->history + t->newest;
	uint64_t hash = 0;
#pragma GCC unroll 8
	for (unsigned i = length; i; i--)
		hash = (hash ^ history[i - 1]) * TARGETS_MULTIPLIER;
	uint64_t *entry = TABLE(b, uint64_t, t->indirect_at) +
			  (((pc >> t->address_shift) ^ hash >> 40) & t->indirect_mask);
	uint64_t predicted = *entry;
	*entry = target;
	if (__builtin_expect(!t->newest, 0)) { /* room for as many again */
		t->newest = TARGETS_LINE - 64;
		for (unsigned i = 0; i < 64; i++)
			t->history[t->newest + i] = t->history[i];
	}
	t->history[--t->newest] = target;
	return predicted;
}
/* A branch that the set has not gets an entry: which. */
uint32_t targets_enter(struct branches *branches, uint32_t set, uint64_t key, uint64_t target);
void targets_push(struct branches *branches, uint64_t address);
uint64_t targets_pop(struct branches *branches); /* 0: empty */

/* ---- fast/branch_run.c, which is in two parts for fast/inlined_batch.c ---- */

/* of the BTB; told: of the Pentium's counters */
struct branch_tally {
	uint64_t missed, missed_taken;
	struct direction_counts told;
	uint64_t before; /* recency in front of the batch's first block: that of block i is i + 1 more */
};

/* Blocks that were executed one after the other: here, or by their slots, in a structure so many
 * words behind memory[at[slot]]. */
struct branch_order {
	struct static_branch *const *blocks;
	const uint32_t *slots, *at;
	const uint64_t *memory;
};

/* What the batch's kinds say. */
struct kinds {
	uint64_t of[ENDING_KIND + 1], absent, stack[BRANCH_BATCH / 64],
		indirect[BRANCH_BATCH / 64]; /* how many; bits */
};

/* Where the batch's outcomes go. */
uint8_t *branch_run_begin(struct branches *branches);
/* May fast/inlined_batch.c do this? */
bool branch_run_heads(const struct branches *branches);
/* What was known of the branch may hold no more. Is it in the BTB, or absent and stays so? Then this is known of
   it again. Else it got an entry, and all that comes of a miss is done. */
bool branch_look_up(struct branches *branches, struct static_branch *branch, bool goes, uint64_t went_to,
		    uint64_t recency, struct branch_tally *tally);
/* Block i of the batch went to another place than was predicted. */
static inline void branch_run_mispredicted(struct branches *b, uint64_t i)
{
	b->batch.mispredicted[i / 64] |= 1ull << i % 64;
}
/* fast/branch_charges.c: conditional ones join batch.mispredicted; n: blocks. */
void branch_run_tell(struct branches *branches, uint32_t n);
/* The batch is sorted, the BTB knows of it: the rest. n: blocks */
void branch_run_end(struct branches *branches, const struct branch_order *order, const struct kinds *kinds,
		    uint32_t n, uint32_t conditional, uint32_t taken, const struct branch_tally *tally);
static inline __attribute__((always_inline)) const struct static_branch *branch_at(
	const struct branch_order *order, uint32_t i, const bool by_slot)
{
	return by_slot ? (const struct static_branch *)(order->memory + order->at[order->slots[i]])
		       : order->blocks[i];
}

/* One branch after the other, by whatever predictor: branch.c. */
unsigned branch_resolve_now(struct branches *branches, uint64_t pc, uint32_t length, enum trace_ending ending,
			    bool taken, uint64_t target);
/* May fast/branch_run.c do one component after the other? */
bool branch_run_sorts(const struct branches *branches);
/* Adds what fast/branch_run.c tallied on its own. */
void branch_run_count(struct branches *branches, struct model_counts *counts);

#endif
