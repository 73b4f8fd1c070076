/* One control transfer: which part predicts it, and what happened. The rules are in branch.h. */
#include "model/core/branch.h"
#include "model/core/predict.h"
#include "model/core/tage.h"

static uint64_t layout(struct branches *b, const struct machine *machine)
{
	uint64_t at = predict_rounded(sizeof(*b));
	at = direction_layout(&b->direction, machine, at);
	at = perceptron_layout(&b->perceptron, machine, at);
	at = tage_layout(&b->tage, machine, at);
	return targets_layout(&b->targets, machine, at);
}

uint64_t branches_bytes(const struct machine *machine)
{
	struct branches b;
	return layout(&b, machine);
}

struct branches *branches_init(void *memory, const struct machine *machine)
{
	struct branches *b = memory;
	layout(b, machine);
	b->none = machine->direction.kind == PREDICT_NONE;
	b->simple = machine->direction.kind != PREDICT_TAGE && machine->direction.kind != PREDICT_PERCEPTRON;
	if (machine->direction.kind == PREDICT_TAGE) {
		tage_begin(b, machine);
		const struct tage_pair *p = b->tage.pairs;
		b->plain_tage = machine->direction.tables == 4 && !p[0].folded && p[1].folded && p[0].key == p[1].key &&
				p[0].key >> 32 == (uint32_t)p[0].key;
	}
	return b;
}

/* The kind of predictor was chosen once: the host predicts these branches. */
static __attribute__((noinline)) bool direction_of(struct branches *b, uint64_t pc, bool taken)
{
	return b->direction.kind == PREDICT_TAGE ? tage_resolve(b, pc, taken) : perceptron_resolve(b, pc, taken);
}

static __attribute__((noinline)) unsigned look_up(struct branches *b, uint64_t pc, bool taken, uint64_t target)
{
	return targets_look_up(b, pc, true, taken, target, NULL, NULL) ? BRANCH_WAS_LOOKED_UP | BRANCH_WAS_HIT : BRANCH_WAS_LOOKED_UP;
}

/* A conditional branch's BTB access, but for PREDICT_BTB. */
static inline __attribute__((always_inline)) unsigned btb_of(struct branches *b, uint64_t pc, bool taken, uint64_t target)
{
	struct targets *t = &b->targets;
	if (t->fast) {
		uint64_t address = pc >> t->address_shift, way = PART(b, uint8_t, t->hints_at)[address & (BTB_HINTS - 1)];
		uint64_t entry = (address & t->set_mask) * t->ways + way; /* way: was right once, so it is one of the set's */
		if (PART(b, uint64_t, t->keys_at)[entry] == address + 1) {
			PART(b, uint64_t, t->stamps_at)[entry] = ++t->clock << t->stamp_shift | way;
			return BRANCH_WAS_LOOKED_UP | BRANCH_WAS_HIT;
		}
		if (!taken && PART(b, uint64_t, t->absent_at)[address & (BTB_ABSENT - 1)] == address + 1)
			return BRANCH_WAS_LOOKED_UP;
		return look_up(b, pc, taken, target);
	}
	return t->sets ? look_up(b, pc, taken, target) : 0;
}

/* By arithmetic: host branches on these would depend on the program. */
static inline unsigned flags_of(bool taken, bool predicted)
{
	return TRACE_END_CONDITIONAL | taken * BRANCH_WAS_TAKEN | predicted * BRANCH_WAS_PREDICTED_TAKEN |
	       (predicted != taken) * BRANCH_WAS_MISPREDICTED;
}

static inline __attribute__((always_inline)) unsigned conditional(struct branches *b, uint64_t pc, bool taken, uint64_t target)
{
	bool predicted = false;
	if (b->targets.counters) {
		bool hit = targets_look_up(b, pc, true, taken, target, &predicted, NULL);
		return flags_of(taken, predicted) | BRANCH_WAS_LOOKED_UP | (hit ? BRANCH_WAS_HIT : 0);
	}
	unsigned btb = btb_of(b, pc, taken, target);
	if (b->none)
		return btb | TRACE_END_CONDITIONAL | taken * BRANCH_WAS_TAKEN;
	return btb | flags_of(taken, b->simple ? direction_resolve(b, pc, taken, target) : direction_of(b, pc, taken));
}

static __attribute__((noinline)) unsigned other(struct branches *b, uint64_t pc, uint32_t length, enum trace_ending ending, uint64_t target)
{
	struct targets *t = &b->targets;
	unsigned happened = ending | BRANCH_WAS_TAKEN;
	bool returns = ending == TRACE_END_RETURN;
	uint64_t predicted = 0;
	if (t->sets && (!returns || t->holds_returns))
		happened |= BRANCH_WAS_LOOKED_UP | (targets_look_up(b, pc, ending == TRACE_END_JUMP || ending == TRACE_END_CALL, true, target, NULL, &predicted) ? BRANCH_WAS_HIT : 0);
	if (returns && t->return_entries)
		predicted = targets_pop(b);
	else if (ending == TRACE_END_INDIRECT_JUMP || ending == TRACE_END_INDIRECT_CALL || returns) {
		if (t->indirect_mask)
			predicted = targets_indirect(b, pc, target);
	} else
		predicted = target; /* direct */
	if (t->return_entries && (ending == TRACE_END_CALL || ending == TRACE_END_INDIRECT_CALL))
		targets_push(b, pc + length);
	return b->none || predicted == target ? happened : happened | BRANCH_WAS_MISPREDICTED;
}

static inline __attribute__((always_inline)) unsigned resolve(struct branches *b, uint64_t pc, uint32_t length, enum trace_ending ending, bool taken, uint64_t target)
{
	unsigned happened;
	if (ending == TRACE_END_CONDITIONAL)
		happened = conditional(b, pc, taken, target);
	else if (ending == TRACE_END_NONE || ending == TRACE_END_SYSTEM)
		return 0;
	else
		happened = other(b, pc, length, ending, target);
	b->happened[happened]++;
	return happened;
}

unsigned branches_resolve(struct branches *b, uint64_t pc, uint32_t length, enum trace_ending ending, bool taken, uint64_t target)
{
	if (b->queue.n)
		branches_drain(b);
	return resolve(b, pc, length, ending, taken, target);
}

void branches_drain(struct branches *b)
{
	const struct branch_record *r = b->queue.records, *end = r + b->queue.n;
	b->queue.n = 0;
	if (!b->plain_tage) {
		for (; r < end; r++)
			resolve(b, r->pc, r->length, (enum trace_ending)r->ending, r->taken, r->target);
		return;
	}
	struct tage_live live;
	tage_load(b, &live, 2);
	for (; r < end; r++) {
		if (r->ending == TRACE_END_CONDITIONAL) {
			unsigned btb = btb_of(b, r->pc, r->taken, r->target);
			unsigned predicted = tage_step(b, &live, r->pc, r->taken, 2, true) * BRANCH_WAS_PREDICTED_TAKEN / TAGE_TAKEN;
			b->happened[btb | TRACE_END_CONDITIONAL | predicted | r->taken * BRANCH_WAS_TAKEN |
				    (predicted * (BRANCH_WAS_MISPREDICTED / BRANCH_WAS_PREDICTED_TAKEN) ^ r->taken * BRANCH_WAS_MISPREDICTED)]++;
		} else
			branches_resolve(b, r->pc, r->length, (enum trace_ending)r->ending, true, r->target); /* not of TAGE's concern */
	}
	tage_store(&b->tage, &live, 2);
}

uint32_t branches_events(unsigned happened)
{
	enum trace_ending kind = happened & BRANCH_KIND;
	uint32_t events = 0;
	if (kind == TRACE_END_NONE || kind == TRACE_END_SYSTEM)
		return 0;
	bool indirect = kind == TRACE_END_INDIRECT_JUMP || kind == TRACE_END_INDIRECT_CALL;
	events |= 1u << BRANCH_ALL;
	events |= (kind == TRACE_END_CONDITIONAL) << BRANCH_CONDITIONAL;
	events |= !!(happened & BRANCH_WAS_TAKEN) << BRANCH_TAKEN;
	events |= indirect << BRANCH_INDIRECT;
	events |= (kind == TRACE_END_CALL || kind == TRACE_END_INDIRECT_CALL) << BRANCH_CALLS;
	events |= (kind == TRACE_END_RETURN) << BRANCH_RETURNS;
	if (happened & BRANCH_WAS_MISPREDICTED) {
		events |= 1u << BRANCH_MISPREDICTED;
		events |= (kind == TRACE_END_CONDITIONAL) << BRANCH_CONDITIONAL_MISPREDICTED;
		events |= indirect << BRANCH_INDIRECT_MISPREDICTED;
		events |= (kind == TRACE_END_RETURN) << BRANCH_RETURN_MISPREDICTED;
	}
	if (happened & BRANCH_WAS_LOOKED_UP)
		events |= 1u << BRANCH_BTB_LOOKUPS | (happened & BRANCH_WAS_HIT ? 1u << BRANCH_BTB_HITS : 1u << BRANCH_BTB_MISSES);
	if ((happened & BRANCH_WAS_LOOKED_UP) && !(happened & BRANCH_WAS_HIT) && (happened & BRANCH_WAS_TAKEN))
		events |= 1u << BRANCH_BTB_MISSES_TAKEN;
	events |= !!(happened & BRANCH_WAS_PREDICTED_TAKEN) << BRANCH_PREDICTED_TAKEN;
	return events;
}

void branches_count(struct branches *b, struct model_counts *counts)
{
	branches_drain(b);
	for (unsigned h = 0; h < BRANCH_HAPPENINGS; h++) {
		uint64_t times = b->happened[h];
		if (!times)
			continue;
		b->happened[h] = 0;
		uint32_t events = branches_events(h);
		for (unsigned e = 0; e < BRANCH_COUNTS; e++)
			if (events >> e & 1)
				counts->branch[e] += times;
	}
}
