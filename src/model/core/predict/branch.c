/* One control transfer: which component predicts it, and what happened. The rules are in branch.h. */
#include "model/core/predict/branch.h"
#include "model/core/predict/predict.h"

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

struct branches *branches_init(void *memory, const struct machine *machine, const struct model_options *options)
{
	struct branches *b = memory;
	layout(b, machine);
	b->targets.filtered = !options->no_filters;
	b->none = machine->direction.kind == PREDICT_NONE;
	b->simple = machine->direction.kind != PREDICT_TAGE && machine->direction.kind != PREDICT_PERCEPTRON;
	if (machine->direction.kind == PREDICT_TAGE)
		tage_begin(b, machine, options);
	b->sorts = branch_run_sorts(b);
	branches_share(b, &b->targets.own_changes);
	return b;
}

void branches_share(struct branches *b, uint32_t *changes) { b->targets.changes = changes; }

/* The kind of predictor was chosen once: the host predicts these branches. */
static bool direction_of(struct branches *b, uint64_t pc, bool taken, uint64_t target)
{
	uint64_t address = predict_address(b, pc, target);
	if (b->simple)
		return direction_resolve(b, address, taken);
	return b->direction.kind == PREDICT_TAGE ? tage_resolve(b, address, taken)
						 : perceptron_resolve(b, address, taken);
}

static unsigned look_up(struct branches *b, uint64_t pc, bool taken, uint64_t target)
{
	return targets_look_up(b, pc, true, taken, target, NULL, NULL) ? BRANCH_WAS_LOOKED_UP | BRANCH_WAS_HIT
								       : BRANCH_WAS_LOOKED_UP;
}

/* By arithmetic: host branches on these would depend on the program. */
static inline unsigned flags_of(bool taken, bool predicted)
{
	return TRACE_END_CONDITIONAL | taken * BRANCH_WAS_TAKEN | predicted * BRANCH_WAS_PREDICTED_TAKEN |
	       (predicted != taken) * BRANCH_WAS_MISPREDICTED;
}

static unsigned conditional(struct branches *b, uint64_t pc, bool taken, uint64_t target)
{
	bool predicted = false;
	if (b->targets.counters) {
		bool hit = targets_look_up(b, pc, true, taken, target, &predicted, NULL);
		return flags_of(taken, predicted) | BRANCH_WAS_LOOKED_UP | (hit ? BRANCH_WAS_HIT : 0);
	}
	unsigned btb = b->targets.sets ? look_up(b, pc, taken, target) : 0;
	if (b->none)
		return btb | TRACE_END_CONDITIONAL | taken * BRANCH_WAS_TAKEN;
	return btb | flags_of(taken, direction_of(b, pc, taken, target));
}

static unsigned other(struct branches *b, uint64_t pc, uint32_t length, enum trace_ending ending, uint64_t target)
{
	struct target_predictor *t = &b->targets;
	unsigned happened = ending | BRANCH_WAS_TAKEN;
	bool returns = ending == TRACE_END_RETURN, direct = ending == TRACE_END_JUMP || ending == TRACE_END_CALL;
	uint64_t predicted = 0;
	if (t->sets && (!returns || t->holds_returns))
		happened |= BRANCH_WAS_LOOKED_UP |
			    (targets_look_up(b, pc, direct, true, target, NULL, &predicted) ? BRANCH_WAS_HIT : 0);
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

unsigned branch_resolve_now(struct branches *b, uint64_t pc, uint32_t length, enum trace_ending ending, bool taken,
			    uint64_t target)
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

unsigned branches_resolve(struct branches *b, uint64_t pc, uint32_t length, enum trace_ending ending, bool taken,
			  uint64_t target)
{
	return branch_resolve_now(b, pc, length, ending, taken, target);
}

void branches_returned(struct branches *b)
{
	if (b->targets.return_entries)
		targets_pop(b);
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
		events |= 1u << BRANCH_BTB_LOOKUPS |
			  (happened & BRANCH_WAS_HIT ? 1u << BRANCH_BTB_HITS : 1u << BRANCH_BTB_MISSES);
	if ((happened & BRANCH_WAS_LOOKED_UP) && !(happened & BRANCH_WAS_HIT) && (happened & BRANCH_WAS_TAKEN))
		events |= 1u << BRANCH_BTB_MISSES_TAKEN;
	events |= !!(happened & BRANCH_WAS_PREDICTED_TAKEN) << BRANCH_PREDICTED_TAKEN;
	return events;
}

void branches_count(struct branches *b, struct model_counts *counts)
{
	branch_run_count(b, counts);
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
