/*
 * Mispredicted branches of a batch (branch_run.c), each charged to its block. Few branches are mispredicted, so
 * the predictors leave a bit for each, and only those are looked at.
 *
 *     batch.wrong, bits of conditional branches side by side ──┐
 *     batch.kinds: which blocks end in one ────────────────────┴─► batch.mispredicted, bits of blocks ──► block_counts
 *
 * Equals   step_branch() of step.c, what it charges
 * For      watches on mispredictions and on nothing else of branches (CHARGES_MISPREDICTED); predictors that can
 *          tell: branches_tell()
 * Test     tests/model/branches_test.c (with filters and without), tests/engine/inline/places
 */
#include "model/core/fast/plan.h"
#include "model/core/predict/predict.h"

bool branches_tell(struct branches *b, bool wanted)
{
	/* a BTB's own counters predict while it is looked up, and keep no bit */
	b->tells = wanted && b->sorts && !b->targets.counters;
	return b->tells;
}

void branch_run_tell(struct branches *b, uint32_t n)
{
	uint64_t *wrong = b->batch.wrong;
	uint32_t next = 0; /* conditional branch */
	if (!(wrong[0] | wrong[1]))
		return;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t is = (b->batch.kinds[i] & ENDING_KIND) == TRACE_END_CONDITIONAL;
		b->batch.mispredicted[i / 64] |= (wrong[next / 64] >> next % 64 & is) << i % 64;
		next += (uint32_t)is;
	}
}
_Static_assert(BRANCH_BATCH == 128, "two words");

static void charge_one(const struct model *model, const struct static_branch *branch)
{
	const struct block_plan *plan = (const struct block_plan *)((const char *)branch -
								    offsetof(struct block_plan, branch));
	const uint32_t events = branches_events((branch->ending & ENDING_KIND) | BRANCH_WAS_MISPREDICTED);
	uint64_t *of = model->block_counts + (uint64_t)(uint32_t)plan->header * model->n_watches;
	for (unsigned w = 0; w < model->n_watches; w++)
		if (model->watches[w].component == MODEL_BRANCH)
			of[w] += events >> model->watches[w].count & 1;
}

void charge_mispredicted(const struct core *core, const struct branch_order *order)
{
	const struct model *model = core->model;
	if (!model->block_counts)
		return;
	for (uint32_t k = 0; k < BRANCH_BATCH / 64; k++)
		for (uint64_t left = core->branches->batch.mispredicted[k]; left; left &= left - 1)
			charge_one(model,
				   branch_at(order, 64 * k + (uint32_t)__builtin_ctzll(left), !order->blocks));
}

void branches_run_charged(struct core *core, struct static_branch *const *blocks, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += BRANCH_BATCH) {
		branches_run(core->branches, blocks + i, n - i < BRANCH_BATCH ? n - i : BRANCH_BATCH);
		charge_mispredicted(core, &(struct branch_order){.blocks = blocks + i});
	}
}
