#include "model/core/overflow/overflow.h"

#include "model/core/internal.h"

static void log_sample(struct model *model, uint32_t block, uint64_t insn)
{
	uint64_t *log = model->item_counts, n = log[OVERFLOW_ENTRIES];
	if (OVERFLOW_FIRST + n >= model->overflow_words) {
		log[OVERFLOW_LOST]++;
		return;
	}
	log[OVERFLOW_FIRST + n] = overflow_entry(block, (uint16_t)insn);
	log[OVERFLOW_ENTRIES]++;
}

static void overflow(struct core *core)
{
	struct overflow_state *o = &core->overflow;
	struct model *model = core->model;
	uint64_t target = o->base + o->insn + model->overflow_skid;
	model->item_counts[OVERFLOW_ALL]++;
	/* without skid at once: an instruction that was interrupted is not among the executed ones. Behind its
	 * block's end (a branch): the block may have the target */
	if (!model->overflow_skid || target < o->retired)
		log_sample(model, o->block, target - o->base);
	else if (o->waiting == OVERFLOW_PENDING)
		model->item_counts[OVERFLOW_LOST]++;
	else
		o->pending[(o->first + o->waiting++) % OVERFLOW_PENDING] = target;
}

void overflow_count(struct core *core, uint64_t events)
{
	struct overflow_state *o = &core->overflow;
	uint64_t period = core->model->overflow_period;
	if (!core->model->item_counts)
		return;
	if (!o->left)
		o->left = period;
	for (; events >= o->left; o->left = period) {
		events -= o->left;
		overflow(core);
	}
	o->left -= events;
}

void overflow_begin(struct core *core, uint32_t block)
{
	struct overflow_state *o = &core->overflow;
	o->base = o->retired;
	o->block = block;
	o->insn = 0;
}

void overflow_end(struct core *core, uint32_t executed)
{
	struct overflow_state *o = &core->overflow;
	o->retired = o->base + executed;
	for (; o->waiting && o->pending[o->first] < o->retired; o->waiting--) {
		log_sample(core->model, o->block, o->pending[o->first] - o->base);
		o->first = (o->first + 1) % OVERFLOW_PENDING;
	}
}
