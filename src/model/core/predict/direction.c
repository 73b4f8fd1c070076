/*
 * Predictors of direction that are tables of saturating counters.
 *
 *   taken, not taken, backward taken   J. E. Smith, A study of branch prediction strategies, ISCA 1981
 *   bimodal     counter[pc]                          Smith 1981; 2 bits, 512 entries: R10000 (Yeager, IEEE Micro 16(2), 1996)
 *   local       counter[history[pc]]                 Yeh & Patt 1992, PAg: histories by address, one table of counters for all
 *   gshare      counter[pc xor global history]       McFarling, Combining branch predictors, DEC WRL TN-36, 1993; low bits aligned
 *   tournament  local or counter[global history], by choice[global history]    Kessler, The Alpha 21264, IEEE Micro 19(2), 1999:
 *               1024 histories of 10 bits and 1024 counters of 3 bits; 4096 global and 4096 choice counters of 2 bits, 12 bits history
 *
 * "pc" stands for (pc >> address_shift) mod the table's size. A counter says taken from half of its range up,
 * moves by one towards the outcome and stays at its ends. Of a tournament, both sides are trained always, the
 * choice only if they disagreed, towards the one that was right; it says global from half up. Histories hold the
 * newest outcome in bit 0, begin as not taken, and take the outcome in after the counters were trained: nothing
 * here is updated speculatively, since a trace has no wrong path.
 */
#include "model/core/predict/predict.h"

static uint64_t counters_layout(struct counters *c, uint32_t entries, uint32_t bits, uint32_t initial, uint64_t at)
{
	c->at = at;
	c->mask = entries - 1;
	c->max = (1u << bits) - 1;
	c->half = 1u << (bits - 1);
	c->initial = initial < c->max ? initial : c->max;
	for (uint32_t i = 0; i < 32; i++) {
		const uint32_t value = (i + c->initial) & 15, taken = i >> 4, predicted = value >= c->half;
		const uint32_t next = value + (taken && value < c->max) - (!taken && value > 0);
		c->moves[taken][i & 15] = ((next - c->initial) & 15) | predicted << 8 |
					  (uint64_t)(predicted != taken) << 32;
	}
	return at + predict_rounded(entries);
}

uint64_t direction_layout(struct direction *d, const struct machine *machine, uint64_t at)
{
	const struct machine_direction *m = &machine->direction;
	d->kind = m->kind;
	d->address_shift = m->address_shift;
	d->history_mask = (1ull << m->history_bits) - 1;
	if (m->kind == PREDICT_BIMODAL || m->kind == PREDICT_LOCAL || m->kind == PREDICT_GSHARE ||
	    m->kind == PREDICT_TOURNAMENT)
		at = counters_layout(&d->main, m->entries, m->counter_bits, m->initial, at);
	if (m->kind == PREDICT_TOURNAMENT) {
		at = counters_layout(&d->local, m->local_counters, m->local_counter_bits, m->initial, at);
		at = counters_layout(&d->choice, m->choice_entries, m->choice_bits, m->initial, at);
	}
	if (m->kind == PREDICT_LOCAL || m->kind == PREDICT_TOURNAMENT) {
		d->histories_at = at;
		d->histories_mask = m->local_entries - 1;
		d->local_history_mask = m->kind == PREDICT_LOCAL ? d->history_mask : m->local_counters - 1;
		at += predict_rounded(m->local_entries * 4ull);
	}
	return at;
}

/* What a loop keeps in registers: what is stored by bytes may be any of a predictor's state, as far as the
 * compiler knows. */
struct of {
	uint8_t *at;
	const uint64_t *moves;
	uint32_t mask;
};
struct tables {
	struct of main, local, choice;
	uint32_t *histories;
	uint32_t histories_mask, local_history_mask;
	uint64_t history, history_mask;
};

static inline __attribute__((always_inline)) struct of counters_of(struct branches *b, const struct counters *c)
{
	return (struct of){TABLE(b, uint8_t, c->at), c->moves[0], c->mask};
}

static inline __attribute__((always_inline)) struct tables tables_of(struct branches *b)
{
	const struct direction *d = &b->direction;
	return (struct tables){counters_of(b, &d->main),
			       counters_of(b, &d->local),
			       counters_of(b, &d->choice),
			       TABLE(b, uint32_t, d->histories_at),
			       d->histories_mask,
			       d->local_history_mask,
			       d->history,
			       d->history_mask};
}

/* Trains the counter. Bit 8: predicted taken, bit 32: wrong. */
static inline __attribute__((always_inline)) uint64_t resolve_counter(const struct of *c, uint64_t index,
								      bool taken)
{
	uint8_t *counter = c->at + (index & c->mask);
	const uint64_t move = c->moves[16 * taken + *counter];
	*counter = (uint8_t)move;
	return move;
}

/* kind: known where this is inlined into a loop. */
static inline __attribute__((always_inline)) bool resolve_as(struct tables *d, const unsigned kind,
							     uint64_t address, bool taken)
{
	bool predicted = false;
	if (kind == PREDICT_BIMODAL)
		return resolve_counter(&d->main, address, taken) >> 8 & 1;
	if (kind == PREDICT_TAKEN)
		return true;
	if (kind == PREDICT_BACKWARD_TAKEN)
		/* the target of a conditional branch is in the instruction, whether it is taken or not */
		return address & BRANCH_BACKWARD;
	if (kind == PREDICT_GSHARE) {
		predicted = resolve_counter(&d->main, address ^ d->history, taken) >> 8 & 1;
	} else if (kind == PREDICT_LOCAL || kind == PREDICT_TOURNAMENT) {
		uint32_t *history = d->histories + (address & d->histories_mask);
		const uint32_t was = *history;
		if (kind == PREDICT_LOCAL) {
			predicted = resolve_counter(&d->main, was, taken) >> 8 & 1;
		} else {
			bool local = resolve_counter(&d->local, was, taken) >> 8 & 1;
			bool global = resolve_counter(&d->main, d->history, taken) >> 8 & 1;
			uint8_t *choice = d->choice.at + (d->history & d->choice.mask);
			const uint64_t move = d->choice.moves[16 * (global == taken) + *choice];
			predicted = move >> 8 & 1 ? global : local;
			*choice = local != global ? (uint8_t)move : *choice;
		}
		*history = (was << 1 | taken) & d->local_history_mask;
	}
	d->history = (d->history << 1 | taken) & d->history_mask;
	return predicted;
}

bool direction_resolve(struct branches *b, uint64_t address, bool taken)
{
	struct tables tables = tables_of(b);
	bool predicted = resolve_as(&tables, b->direction.kind, address, taken);
	b->direction.history = tables.history;
	return predicted;
}

/* tells: batch.wrong is wanted. */
static inline __attribute__((always_inline)) struct direction_counts batch_as(struct branches *b,
									      const unsigned kind, uint32_t n,
									      const bool tells)
{
	struct direction_counts told = {0, 0};
	struct tables tables = tables_of(b);
	uint64_t moves = 0;
	for (uint32_t i = 0; i < n; i++) {
		const bool taken = b->batch.outcome[i];
		/* one counter: what it says is what is predicted */
		if (kind == PREDICT_BIMODAL || kind == PREDICT_GSHARE) {
			const uint64_t move = resolve_counter(
				&tables.main, b->batch.address[i] ^ (kind == PREDICT_GSHARE ? tables.history : 0),
				taken);
			moves += move >> 8;
			if (tells)
				b->batch.wrong[i / 64] |= (move >> 32 & 1) << i % 64;
			if (kind == PREDICT_GSHARE)
				tables.history = (tables.history << 1 | taken) & tables.history_mask;
			continue;
		}
		bool predicted = resolve_as(&tables, kind, b->batch.address[i], taken);
		told.taken += predicted;
		told.wrong += predicted ^ taken;
		if (tells)
			b->batch.wrong[i / 64] |= (uint64_t)(predicted ^ taken) << i % 64;
	}
	b->direction.history = tables.history;
	told.taken += moves & 0xffffff;
	told.wrong += moves >> 24;
	return told;
}

static inline __attribute__((always_inline)) struct direction_counts batch_of(struct branches *b, uint32_t n,
									      const bool tells)
{
	switch (b->direction.kind) {
	case PREDICT_BIMODAL: return batch_as(b, PREDICT_BIMODAL, n, tells);
	case PREDICT_LOCAL: return batch_as(b, PREDICT_LOCAL, n, tells);
	case PREDICT_GSHARE: return batch_as(b, PREDICT_GSHARE, n, tells);
	case PREDICT_TOURNAMENT: return batch_as(b, PREDICT_TOURNAMENT, n, tells);
	default: return batch_as(b, b->direction.kind, n, tells);
	}
}

struct direction_counts direction_batch(struct branches *b, uint32_t n)
{
	return b->tells ? batch_of(b, n, true) : batch_of(b, n, false);
}
