/*
 * Where branches go: the branch target buffer, the return stack, the table of indirect targets.
 *
 * BTB: sets × ways; set = (pc >> address_shift) mod sets, tag = what is above it, its low btb_tag_bits if not 0
 * (then different branches may share an entry, as in hardware). Looked up by every branch that is executed; a hit
 * moves recency and stores the target if the branch was taken; a miss gets an entry if the branch was taken, or
 * always (BTB_ALLOCATE_ALL). Empty ways are filled first. With whole tags targets of direct branches are not
 * stored: nobody would ask for them. With PREDICT_BTB an entry has the branch's counter (Intel, Pentium Processor
 * Family Developer's Manual vol. 1, 1995, "Branch prediction": 256 entries, 4-way; a branch that misses is taken
 * to be not taken; entries are made when a branch is taken): a hit predicts by it and moves it, an entry begins
 * with `initial`.
 *
 * Return stack (circular, Kaeli & Emma 1991): a call pushes the address behind it, over the oldest if it is full;
 * a return pops; of an empty one nothing is known. R10000: one entry (Yeager 1996: the return cache of the last
 * subroutine call's link).
 *
 * Indirect table (Chang, Hao & Patt, Target prediction for indirect jumps, ISCA 1997; tagless): index = (pc >>
 * address_shift) xor the targets of the last indirect_history indirect jumps and calls, oldest first: h = (h xor
 * target) * 0x9e3779b97f4a7c15; h >> 40. The entry is the last target seen there.
 *
 * Target 0 stands for "unknown": no branch of a program goes there and on.
 */
#include "model/core/fast/btb_two.h"
#include "model/core/predict/predict.h"

uint64_t targets_layout(struct target_predictor *t, const struct machine *machine, uint64_t at)
{
	const struct machine_targets *m = &machine->targets;
	uint64_t n = (uint64_t)m->btb_sets * m->btb_ways;
	t->sets = n ? m->btb_sets : 0;
	t->ways = m->btb_ways;
	t->set_mask_works = !(m->btb_sets & (m->btb_sets - 1));
	t->set_mask = m->btb_sets - 1;
	t->set_shift = predict_log2(m->btb_sets);
	t->replacement = m->btb_replacement;
	t->allocation = m->btb_allocation;
	t->holds_returns = m->btb_holds_returns;
	t->tag_mask = m->btb_tag_bits ? (1ull << m->btb_tag_bits) - 1 : ~0ull >> 1;
	t->address_shift = m->address_shift;
	t->return_entries = m->return_entries;
	t->indirect_mask = m->indirect_entries ? m->indirect_entries - 1 : 0;
	t->indirect_history = m->indirect_history;
	t->whole = !m->btb_tag_bits;
	t->entries = (uint32_t)n;
	t->two_ways = n && m->btb_ways == 2 && m->btb_replacement == REPLACE_LRU && t->whole &&
		      machine->direction.kind != PREDICT_BTB;
	t->stores_direct = m->btb_tag_bits != 0;
	t->random = machine->seed ? machine->seed : 1;
	if (n) {
		t->hints_at = at, at += BTB_HINTS;
		t->keys_at = at, at += predict_rounded((n + 2) * 8);
		t->stamps_at = at, at += predict_rounded((n + 2) * 8);
		t->targets_at = at, at += predict_rounded((n + 2) * 8);
		if (t->two_ways)
			t->two_at = at, at += predict_rounded((t->sets + 1) * sizeof(struct btb_two));
		t->versions_at = at, at += predict_rounded((t->sets + 1) * 4ull);
		if (m->btb_replacement == REPLACE_PLRU)
			t->tree_at = at, at += predict_rounded(t->sets * 8ull);
	}
	if (machine->direction.kind == PREDICT_BTB) {
		t->counters = 1;
		t->counter_max = (1u << machine->direction.counter_bits) - 1;
		t->counter_half = 1u << (machine->direction.counter_bits - 1);
		t->counter_initial = machine->direction.initial < t->counter_max ? machine->direction.initial
										 : t->counter_max;
		t->counters_at = at, at += predict_rounded(n + 2);
	}
	/* one that nobody reads: fast/branch_run.c */
	t->returns_at = at, at += predict_rounded((m->return_entries + 1) * 8ull);
	t->indirect_at = at, at += predict_rounded(m->indirect_entries * 8ull);
	return at;
}

/* ---- BTB ---- */

static void touch(struct branches *b, uint32_t set, uint32_t way, bool filled)
{
	struct target_predictor *t = &b->targets;
	uint64_t base = (uint64_t)set * t->ways;
	if (t->replacement == REPLACE_LRU || (filled && t->replacement == REPLACE_FIFO)) {
		TABLE(b, uint64_t, t->stamps_at)[base + way] = ++t->recency;
	} else if (t->replacement == REPLACE_PLRU) {
		uint64_t *tree = TABLE(b, uint64_t, t->tree_at) + set;
		*tree = tree_used(*tree, t->ways, way);
	}
}

static uint32_t victim(struct branches *b, uint32_t set)
{
	struct target_predictor *t = &b->targets;
	uint64_t base = (uint64_t)set * t->ways;
	const uint64_t *keys = TABLE(b, uint64_t, t->keys_at) + base,
		       *stamps = TABLE(b, uint64_t, t->stamps_at) + base;
	if (t->replacement == REPLACE_LRU || t->replacement == REPLACE_FIFO) {
		uint64_t oldest = stamps[0]; /* 0: empty */
		uint32_t at = 0;
		for (uint32_t way = 1; way < t->ways; way++) { /* which one it is nobody could foresee: no jumps */
			at = stamps[way] < oldest ? way : at;
			oldest = stamps[way] < oldest ? stamps[way] : oldest;
		}
		return at;
	}
	for (uint32_t way = 0; way < t->ways; way++)
		if (!keys[way])
			return way;
	if (t->replacement == REPLACE_PLRU)
		return tree_victim(TABLE(b, uint64_t, t->tree_at)[set], t->ways);
	return (random_next(&t->random) >> 32) * t->ways >> 32;
}

uint32_t targets_enter(struct branches *b, uint32_t set, uint64_t key, uint64_t target)
{
	struct target_predictor *t = &b->targets;
	const uint32_t way = victim(b, set), entry = set * t->ways + way;
	uint32_t *version = TABLE(b, uint32_t, t->versions_at) + set;
	*t->changes += *t->changes < BTB_OLD;
	*version = *t->changes;
	TABLE(b, uint64_t, t->keys_at)[entry] = key;
	TABLE(b, uint64_t, t->targets_at)[entry] = target;
	if (t->counters)
		TABLE(b, uint8_t, t->counters_at)[entry] = t->counter_initial;
	touch(b, set, way, true);
	return entry;
}

bool targets_look_up(struct branches *b, uint64_t pc, bool direct, bool taken, uint64_t target, bool *direction,
		     uint64_t *before)
{
	struct target_predictor *t = &b->targets;
	uint32_t set, way;
	const uint64_t key = targets_key(t, pc, &set), base = (uint64_t)set * t->ways;
	uint64_t *keys = TABLE(b, uint64_t, t->keys_at) + base,
		 *targets = TABLE(b, uint64_t, t->targets_at) + base;
	if (t->two_ways) {
		struct btb_two *two = &TABLE(b, struct btb_two, t->two_at)[set];
		const struct found_two found = targets_two(two, key, taken || t->allocation == BTB_ALLOCATE_ALL);
		if (before)
			*before = targets_two_had(two, &found);
		if (taken && !direct)
			targets_two_store(two, &found, target);
		return found.hit;
	}
	uint8_t *counters = TABLE(b, uint8_t, t->counters_at) + base,
		*hint = TABLE(b, uint8_t, t->hints_at) + (key & (BTB_HINTS - 1));
	way = t->filtered ? *hint : 0;
	if (way >= t->ways || keys[way] != key)
		for (way = 0; way < t->ways && keys[way] != key; way++)
			;
	if (way < t->ways) {
		*hint = way;
		touch(b, set, way, false);
		if (before)
			*before = targets[way];
		if (taken && (!direct || t->stores_direct))
			targets[way] = target;
		if (t->counters) {
			uint8_t counter = counters[way];
			if (direction)
				*direction = counter >= t->counter_half;
			counters[way] = counter + (taken & (counter < t->counter_max)) - (!taken & (counter > 0));
		}
		return true;
	}
	if (before)
		*before = 0;
	if (direction)
		*direction = false;
	if (taken || t->allocation == BTB_ALLOCATE_ALL)
		*hint = targets_enter(b, set, key, taken && (!direct || t->stores_direct) ? target : 0) - base;
	return false;
}

/* ---- indirect table ---- */

uint64_t targets_indirect(struct branches *b, uint64_t pc, uint64_t target)
{
	return targets_indirect_in(b, pc, target, b->targets.indirect_history);
}

/* ---- return stack ---- */

void targets_push(struct branches *b, uint64_t address)
{
	struct target_predictor *t = &b->targets;
	if (++t->top == t->return_entries)
		t->top = 0;
	t->valid += t->valid < t->return_entries;
	TABLE(b, uint64_t, t->returns_at)[t->top] = address;
}

uint64_t targets_pop(struct branches *b)
{
	struct target_predictor *t = &b->targets;
	if (!t->valid)
		return 0;
	uint64_t address = TABLE(b, uint64_t, t->returns_at)[t->top];
	t->top = t->top ? t->top - 1 : t->return_entries - 1;
	t->valid--;
	return address;
}
