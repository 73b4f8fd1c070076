/* Branch prediction, slow and plain: outcomes are kept in a list of booleans, folded histories are computed from that list every time,
   every way of a set is looked at and has a time, the return stack is a list. Written from the rules stated at the heads of model/core/predict/branch.h,
   model/core/predict/direction.c, model/core/predict/perceptron.c, model/core/predict/tage.c and model/core/predict/targets.c; shares nothing with them but the declaration of a machine. */
#ifndef TARE_TESTS_MODEL_BRANCH_REFERENCE_H
#define TARE_TESTS_MODEL_BRANCH_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/wire/trace.h"
#include "model/core/counts.h"
#include "model/core/machine.h"

#define REF_OUTCOMES 1200000

struct ref_btb_way {
	bool valid;
	uint64_t tag, target, used, filled;
	int counter;
};
struct ref_tagged {
	bool valid;
	uint64_t tag;
	int counter, useful;
};

struct ref_branches {
	const struct machine *m;
	struct model_counts counts;
	bool *outcomes; /* [0] the first conditional branch's … */
	size_t n;
	uint64_t now;
	/* tables, as large as ever needed */
	int *table, *local_counters, *choice;
	bool (*local)[32]; /* [branch][age] */
	int (*weights)[256];
	struct ref_tagged *tagged[MACHINE_TABLES];
	int use_alternate;
	uint64_t since_ageing, ageings, random, btb_random;
	struct ref_btb_way *btb;
	bool *btb_upper_next;
	uint64_t returns[4096];
	unsigned n_returns;
	uint64_t *indirect, targets[64];
};

static int ref_clamped(int initial, int bits) { return initial < 1 << bits ? initial : (1 << bits) - 1; }

static void ref_branches_begin(struct ref_branches *r, const struct machine *m)
{
	const struct machine_direction *d = &m->direction;
	memset(r, 0, sizeof(*r));
	r->m = m;
	r->outcomes = calloc(REF_OUTCOMES, 1);
	r->table = calloc(d->entries + 1, sizeof(int));
	r->local_counters = calloc(d->local_counters + 1, sizeof(int));
	r->choice = calloc(d->choice_entries + 1, sizeof(int));
	r->local = calloc(d->local_entries + 1, sizeof(*r->local));
	r->weights = calloc(d->entries + 1, sizeof(*r->weights));
	for (unsigned i = 0; i < d->entries; i++)
		r->table[i] = ref_clamped(d->initial, d->counter_bits);
	for (unsigned i = 0; i < d->local_counters; i++)
		r->local_counters[i] = ref_clamped(d->initial, d->local_counter_bits);
	for (unsigned i = 0; i < d->choice_entries; i++)
		r->choice[i] = ref_clamped(d->initial, d->choice_bits);
	for (unsigned i = 0; i < d->tables; i++)
		r->tagged[i] = calloc(d->table_entries[i], sizeof(**r->tagged));
	r->use_alternate = 8;
	r->random = r->btb_random = m->seed;
	r->btb = calloc((size_t)m->targets.btb_sets * m->targets.btb_ways + 1, sizeof(*r->btb));
	r->btb_upper_next = calloc((size_t)m->targets.btb_sets * m->targets.btb_ways + 1, 1);
	r->indirect = calloc(m->targets.indirect_entries + 1, sizeof(uint64_t));
}

static void ref_branches_end(struct ref_branches *r)
{
	free(r->outcomes), free(r->table), free(r->local_counters), free(r->choice), free(r->local),
		free(r->weights);
	for (unsigned i = 0; i < r->m->direction.tables; i++)
		free(r->tagged[i]);
	free(r->btb), free(r->btb_upper_next), free(r->indirect);
}

static uint64_t ref_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ull;
}

/* The outcome `age` conditional branches ago; 0: the last one. Before the first: not taken. */
static bool ref_outcome(const struct ref_branches *r, unsigned age)
{
	return age < r->n && r->outcomes[r->n - 1 - age];
}

static uint64_t ref_global(const struct ref_branches *r, unsigned bits)
{
	uint64_t history = 0;
	for (unsigned age = 0; age < bits; age++)
		history |= (uint64_t)ref_outcome(r, age) << age;
	return history;
}

static bool ref_counter(int *counter, int bits, bool taken)
{
	bool predicted = *counter >= 1 << (bits - 1);
	if (taken && *counter < (1 << bits) - 1)
		++*counter;
	if (!taken && *counter > 0)
		--*counter;
	return predicted;
}

static bool ref_perceptron(struct ref_branches *r, uint64_t pc, bool taken)
{
	const struct machine_direction *d = &r->m->direction;
	int *w = r->weights[(pc >> d->address_shift) % d->entries], y = w[0], t = taken ? 1 : -1;
	int highest = (1 << (d->weight_bits - 1)) - 1, lowest = -(1 << (d->weight_bits - 1));
	for (int i = 1; i <= d->history_bits; i++)
		y += w[i] * (ref_outcome(r, i - 1) ? 1 : -1);
	if ((y >= 0) != taken || abs(y) <= d->threshold)
		for (int i = 0; i <= d->history_bits; i++) {
			int to = w[i] + t * (i == 0 || ref_outcome(r, i - 1) ? 1 : -1);
			w[i] = to > highest ? highest : to < lowest ? lowest : to;
		}
	return y >= 0;
}

static unsigned ref_log2(unsigned power)
{
	unsigned bits = 0;
	while (power >>= 1)
		bits++;
	return bits;
}

static bool ref_tage(struct ref_branches *r, uint64_t pc, bool taken)
{
	const struct machine_direction *d = &r->m->direction;
	uint64_t address = pc >> d->address_shift, tag[MACHINE_TABLES];
	struct ref_tagged *entry[MACHINE_TABLES], *provider = NULL, *alternate = NULL;
	int provider_table = -1;
	int *base = &r->table[address % d->entries];
	for (int i = 0; i < d->tables; i++) {
		unsigned index_bits = ref_log2(d->table_entries[i]), width = index_bits + d->table_tag_bits[i];
		uint64_t history = 0, weighted = 0, weight = 1, x;
		for (unsigned age = 0; age < d->table_history[i]; age++, weight *= 0x2545f4914f6cdd1dull) {
			if (!ref_outcome(r, age))
				continue;
			weighted += weight;
			if (age < 64)
				history |= 1ull << age;
		}
		if (d->table_history[i] <= width)
			x = history;
		else if (d->table_history[i] <= 64 - width)
			x = history * 0xd6e8feb86659fd93ull >> (64 - width);
		else
			x = weighted * 0xd6e8feb86659fd93ull >> (64 - width);
		x ^= address * 0x9e3779b97f4a7c15ull >> (64 - width);
		tag[i] = x >> index_bits;
		entry[i] = &r->tagged[i][x & (d->table_entries[i] - 1)];
		if (entry[i]->valid && entry[i]->tag == tag[i])
			alternate = provider, provider = entry[i], provider_table = i;
	}
	bool base_says = *base >= 1 << (d->counter_bits - 1), says = provider ? provider->counter >= 4 : base_says;
	bool other = alternate ? alternate->counter >= 4 : base_says, predicted = says;
	if (provider && provider->useful == 0 && (provider->counter == 3 || provider->counter == 4) &&
	    says != other) {
		predicted = r->use_alternate >= 8 ? other : says;
		if (other == taken)
			r->use_alternate += r->use_alternate < 15;
		else
			r->use_alternate -= r->use_alternate > 0;
	}
	if (provider) {
		ref_counter(&provider->counter, 3, taken);
		if (says != other && says == taken && provider->useful < 3)
			provider->useful++;
		if (says != other && says != taken && provider->useful > 0)
			provider->useful--;
	} else
		ref_counter(base, d->counter_bits, taken);
	if (predicted != taken) {
		int candidates[MACHINE_TABLES], k = 0;
		for (int i = provider_table + 1; i < d->tables; i++)
			if (entry[i]->useful == 0)
				candidates[k++] = i;
		if (k == 0)
			for (int i = provider_table + 1; i < d->tables; i++)
				entry[i]->useful--;
		if (k > 0) {
			int c = 0;
			if (k > 1) {
				uint64_t x = (ref_random(&r->random) >> 32) % ((1u << k) - 1);
				for (int left = k; x >= 1u << (left - 1); left--, c++)
					x -= 1u << (left - 1);
			}
			*entry[candidates[c]] = (struct ref_tagged){true, tag[candidates[c]], taken ? 4 : 3, 0};
		}
	}
	if (d->useful_reset && ++r->since_ageing == d->useful_reset) {
		r->since_ageing = 0;
		for (int i = 0; i < d->tables; i++)
			for (unsigned e = 0; e < d->table_entries[i]; e++)
				r->tagged[i][e].useful &= r->ageings % 2 ? 2 : 1;
		r->ageings++;
	}
	return predicted;
}

static bool ref_direction(struct ref_branches *r, uint64_t pc, bool taken, uint64_t target)
{
	const struct machine_direction *d = &r->m->direction;
	uint64_t address = pc >> d->address_shift;
	bool *own = d->local_entries ? r->local[address % d->local_entries] : NULL, predicted = false;
	uint64_t local_history = 0;
	unsigned local_bits = d->kind == PREDICT_TOURNAMENT ? ref_log2(d->local_counters) : d->history_bits;
	if (own)
		for (unsigned age = 0; age < local_bits && age < 32; age++)
			local_history |= (uint64_t)own[age] << age;
	switch (d->kind) {
	case PREDICT_TAKEN: predicted = true; break;
	case PREDICT_BACKWARD_TAKEN: predicted = target < pc; break;
	case PREDICT_BIMODAL:
		predicted = ref_counter(&r->table[address % d->entries], d->counter_bits, taken);
		break;
	case PREDICT_GSHARE:
		predicted = ref_counter(&r->table[(address ^ ref_global(r, d->history_bits)) % d->entries],
					d->counter_bits, taken);
		break;
	case PREDICT_LOCAL:
		predicted = ref_counter(&r->table[local_history % d->entries], d->counter_bits, taken);
		break;
	case PREDICT_TOURNAMENT: {
		uint64_t global = ref_global(r, d->history_bits);
		bool l = ref_counter(&r->local_counters[local_history], d->local_counter_bits, taken);
		bool g = ref_counter(&r->table[global % d->entries], d->counter_bits, taken);
		int *choice = &r->choice[global % d->choice_entries];
		predicted = *choice >= 1 << (d->choice_bits - 1) ? g : l;
		if (l != g)
			ref_counter(choice, d->choice_bits, g == taken);
		break;
	}
	case PREDICT_PERCEPTRON: predicted = ref_perceptron(r, pc, taken); break;
	case PREDICT_TAGE: predicted = ref_tage(r, pc, taken); break;
	}
	if (own) {
		memmove(own + 1, own, 31);
		own[0] = taken;
	}
	return predicted;
}

static void ref_btb_away(bool *nodes, unsigned node, unsigned low, unsigned high, unsigned way)
{
	unsigned middle = (low + high) / 2;
	if (high - low < 2)
		return;
	nodes[node] = way < middle;
	if (way < middle)
		ref_btb_away(nodes, 2 * node, low, middle, way);
	else
		ref_btb_away(nodes, 2 * node + 1, middle, high, way);
}

static unsigned ref_btb_follow(const bool *nodes, unsigned node, unsigned low, unsigned high)
{
	if (high - low < 2)
		return low;
	return nodes[node] ? ref_btb_follow(nodes, 2 * node + 1, (low + high) / 2, high)
			   : ref_btb_follow(nodes, 2 * node, low, (low + high) / 2);
}

/* Hit? *direction: what the entry's counter says; *before: the target it had. */
static bool ref_btb(struct ref_branches *r, uint64_t pc, bool direct, bool taken, uint64_t target, bool *direction,
		    uint64_t *before)
{
	const struct machine_targets *t = &r->m->targets;
	const struct machine_direction *d = &r->m->direction;
	uint64_t address = pc >> t->address_shift, set = address % t->btb_sets, tag = address / t->btb_sets;
	struct ref_btb_way *ways = r->btb + set * t->btb_ways;
	bool *nodes = r->btb_upper_next + set * t->btb_ways, stores = taken && (!direct || t->btb_tag_bits);
	unsigned n = t->btb_ways, chosen = n;
	if (t->btb_tag_bits)
		tag &= (1ull << t->btb_tag_bits) - 1;
	r->now++;
	*direction = false, *before = 0;
	for (unsigned w = 0; w < n; w++) {
		if (!ways[w].valid || ways[w].tag != tag)
			continue;
		*before = ways[w].target;
		if (d->kind == PREDICT_BTB)
			*direction = ref_counter(&ways[w].counter, d->counter_bits, taken);
		if (stores)
			ways[w].target = target;
		ways[w].used = r->now;
		if (t->btb_replacement == REPLACE_PLRU)
			ref_btb_away(nodes, 1, 0, n, w);
		return true;
	}
	if (!taken && t->btb_allocation == BTB_ALLOCATE_TAKEN)
		return false;
	for (unsigned w = n; w-- > 0;)
		if (!ways[w].valid)
			chosen = w;
	if (chosen == n && t->btb_replacement == REPLACE_RANDOM) {
		chosen = (unsigned)((ref_random(&r->btb_random) >> 32) * n >> 32);
	} else if (chosen == n && t->btb_replacement == REPLACE_PLRU) {
		chosen = ref_btb_follow(nodes, 1, 0, n);
	} else if (chosen == n) {
		chosen = 0;
		for (unsigned w = 1; w < n; w++)
			if (t->btb_replacement == REPLACE_LRU ? ways[w].used < ways[chosen].used
							      : ways[w].filled < ways[chosen].filled)
				chosen = w;
	}
	ways[chosen] = (struct ref_btb_way){true,   tag,    stores ? target : 0,
					    r->now, r->now, ref_clamped(d->initial, d->counter_bits)};
	if (t->btb_replacement == REPLACE_PLRU)
		ref_btb_away(nodes, 1, 0, n, chosen);
	return false;
}

static uint64_t ref_indirect(struct ref_branches *r, uint64_t pc, uint64_t target)
{
	const struct machine_targets *t = &r->m->targets;
	uint64_t hash = 0;
	for (int i = t->indirect_history - 1; i >= 0; i--)
		hash = (hash ^ r->targets[i]) * 0x9e3779b97f4a7c15ull;
	uint64_t *entry = &r->indirect[((pc >> t->address_shift) ^ hash >> 40) % t->indirect_entries],
		 predicted = *entry;
	*entry = target;
	memmove(r->targets + 1, r->targets, sizeof(r->targets) - sizeof(*r->targets));
	r->targets[0] = target;
	return predicted;
}

static void ref_branch(struct ref_branches *r, uint64_t pc, uint32_t length, enum trace_ending ending, bool taken,
		       uint64_t target)
{
	const struct machine_targets *t = &r->m->targets;
	uint64_t *c = r->counts.branch, before = 0;
	bool conditional = ending == TRACE_END_CONDITIONAL,
	     call = ending == TRACE_END_CALL || ending == TRACE_END_INDIRECT_CALL;
	bool indirect = ending == TRACE_END_INDIRECT_JUMP || ending == TRACE_END_INDIRECT_CALL,
	     returns = ending == TRACE_END_RETURN;
	bool direction = false, none = r->m->direction.kind == PREDICT_NONE;
	if (ending == TRACE_END_NONE || ending == TRACE_END_SYSTEM)
		return;
	if (!conditional)
		taken = true;
	c[BRANCH_ALL]++;
	c[BRANCH_CONDITIONAL] += conditional;
	c[BRANCH_TAKEN] += taken;
	c[BRANCH_INDIRECT] += indirect;
	c[BRANCH_CALLS] += call;
	c[BRANCH_RETURNS] += returns;
	if (t->btb_sets && (!returns || t->btb_holds_returns)) {
		bool hit = ref_btb(r, pc, !indirect && !returns, taken, target, &direction, &before);
		c[BRANCH_BTB_LOOKUPS]++;
		c[hit ? BRANCH_BTB_HITS : BRANCH_BTB_MISSES]++;
		c[BRANCH_BTB_MISSES_TAKEN] += !hit && taken;
	}
	if (conditional && !none) {
		bool predicted = r->m->direction.kind == PREDICT_BTB ? direction
								     : ref_direction(r, pc, taken, target);
		c[BRANCH_PREDICTED_TAKEN] += predicted;
		c[BRANCH_MISPREDICTED] += predicted != taken;
		c[BRANCH_CONDITIONAL_MISPREDICTED] += predicted != taken;
	}
	if (conditional)
		r->outcomes[r->n++] = taken;
	uint64_t predicted = before;
	if (returns && t->return_entries) {
		predicted = r->n_returns ? r->returns[--r->n_returns] : 0;
	} else if ((indirect || returns) && t->indirect_entries) {
		predicted = ref_indirect(r, pc, target);
	}
	if ((indirect || returns) && predicted != target && !none) {
		c[BRANCH_MISPREDICTED]++;
		c[indirect ? BRANCH_INDIRECT_MISPREDICTED : BRANCH_RETURN_MISPREDICTED]++;
	}
	if (call && t->return_entries) {
		if (r->n_returns == t->return_entries) /* the oldest is lost */
			memmove(r->returns, r->returns + 1, --r->n_returns * sizeof(*r->returns));
		r->returns[r->n_returns++] = pc + length;
	}
}

#endif
