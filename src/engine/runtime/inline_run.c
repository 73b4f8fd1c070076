/*
 * What an inline check did not find, and how inline checks end.
 *
 * What always holds: the program's registers are in thread.reg while a model works on a miss; the clock that the code carries is handed to the
 * machine before, and the machine's goes on in the code behind. All machines' times are of one clock.
 */
#include "engine/runtime/inline.h"

static uint64_t *clock_of(struct thread *t, unsigned machine)
{
	return (uint64_t *)((uint8_t *)t + (int32_t)inline_where[machine].clock);
}

uint64_t inline_behind(const struct thread *t, const uint64_t *header)
{
	if (header <= t->behind_at)
		return t->behind_before;
	const struct trace_block *block = &rt.templates[header[-1]];
	return block->pc + block->length;
}

void inline_began(struct thread *t, uint64_t behind)
{
	t->behind_at = t->trace;
	t->behind = t->behind_before = behind;
}

void inline_core(struct model *model, unsigned core, unsigned machine, uint64_t below)
{
	struct model_inline *where = &inline_where[machine];
	model_inline_where(model, core, where);
	uint32_t *offset[] = {&where->data, &where->fetch, &where->touched, &where->pages, &where->written, &where->clock};
	for (unsigned i = 0; i < sizeof offset / sizeof *offset; i++)
		*offset[i] -= (uint32_t)below;
}

static uint64_t register_of(const struct thread *t, const struct inline_site *site, unsigned reg)
{
	return reg == X86_RAX && site->keeps_flags ? t->spill_flags : t->reg[reg];
}

static uint64_t address_of(const struct thread *t, const struct inline_site *site)
{
	uint64_t address = (uint64_t)site->displacement;
	if (!(site->flags & INLINE_CONSTANT)) {
		if (site->base < 16)
			address += register_of(t, site, site->base);
		if (site->index < 16)
			address += register_of(t, site, site->index) * site->scale;
		if (site->flags & INLINE_NARROW)
			address = (uint32_t)address;
	}
	if (site->flags & INLINE_FS)
		address += t->fs_base;
	if (site->flags & INLINE_GS)
		address += t->app_gs;
	return address;
}

/* Its values are complete behind its last instruction. */
static bool plan_is_rep(uint32_t id)
{
	const struct trace_block *block = &rt.templates[id];
	unsigned kind = block->items ? rt.items[block->first_item + block->items - 1u].kind : TRACE_READ;
	return kind == TRACE_REP_READ || kind == TRACE_REP_WRITE;
}

static void make_block(struct thread *t, uint32_t id, const uint64_t *values, uint32_t done, uint64_t behind)
{
	const struct trace_program program = {rt.templates, rt.items};
	uint64_t now = *clock_of(t, 0);
	for (uint32_t m = 0; m < t->models->n; m++) {
		*clock_of(t, m) = now;
		model_inline_block(t->models->machine[m].model, t->slot, &program, id, values, done, behind, t->fs_base);
		now = *clock_of(t, m);
	}
	*clock_of(t, 0) = now;
}

/*
 * What a model does not find is only made if the memory can be accessed: a handler of the fault may never come back to it. And no signal is
 * delivered between an access that counts itself (not aligned, or no simple one) and its instruction: it would be counted again.
 */
static bool counts_itself(const struct inline_site *site, uint64_t address)
{
	int32_t granule = 1 << inline_where[site->machine].shift;
	return !site->record.fetch && (site->record.called || address & (uint64_t)(site->record.mask & (granule - 1)));
}

static bool will_fault(const struct inline_site *site, uint64_t address)
{
	const struct trace_item *item = &rt.items[rt.templates[site->block].first_item + site->record.item];
	uint64_t last = address + item->bytes - 1;
	if (item->kind > TRACE_WRITE)
		return false;
	if (!safe_read((const void *)address) || ((address ^ last) >> 12 && !safe_read((const void *)last)))
		return true;
	return site->record.writes && (!safe_write((void *)address) || ((address ^ last) >> 12 && !safe_write((void *)last)));
}

/* entry.S, with t->inline_site: the header of its block is the newest record. */
void runtime_inline_call(struct thread *t);
void runtime_inline_call(struct thread *t)
{
	const struct inline_site *site = &rt.inline_sites[t->inline_site];
	const struct trace_program program = {rt.templates, rt.items};
	uint64_t behind = inline_behind(t, t->trace - 1), *now = site->clock ? &t->reg[site->clock - 1] : clock_of(t, 0);
	t->inline_back = (uint64_t)site->back;
	t->inline_once = site->apart && !plan_is_rep(site->block);
	if (site->apart) {
		make_block(t, site->block, (const uint64_t *)t->apart, UINT32_MAX, behind);
		return;
	}
	uint64_t address = address_of(t, site), *clock = clock_of(t, site->machine);
	t->inline_once = counts_itself(site, address);
	if (!site->record.fetch && will_fault(site, address))
		return;
	*clock = *now;
	model_inline_miss(t->models->machine[site->machine].model, t->slot, &program, site->block, site->record.record, address, behind,
		t->fs_base);
	*now = *clock;
}

/* There is attention to be paid: as if a signal had come behind it. False: not here, but at the next way out. */
bool runtime_inline_left(struct thread *t);
bool runtime_inline_left(struct thread *t)
{
	if (t->inline_once) {
		lock();
		cache_unlink_all();
		unlock();
		return false;
	}
	for (unsigned i = 0; i < 16; i++)
		t->raw[i] = t->reg[i];
	t->raw[16] = t->inline_back;
	t->raw[17] = t->flags;
	t->raw_valid = 1;
	return true;
}

void inline_left(struct thread *t, uint32_t id, const uint64_t *values, unsigned done)
{
	make_block(t, id, values, done, inline_behind(t, t->trace));
}

void inline_clock(struct thread *t, uint64_t now) { *clock_of(t, 0) = now; }

void inline_forget(const struct thread *t, uint64_t start, uint64_t length)
{
	for (uint32_t m = 0; rt.inline_on && m < t->models->n; m++)
		model_inline_forget(t->models->machine[m].model, t->slot, start, length);
}

void inline_off(struct thread *t)
{
	if (!rt.inline_on)
		return;
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++) {
		struct thread *o = rt.threads[i];
		if (!rt.slot_state[i] || !o->trace || !o->models)
			continue;
		stream_flush(o);
		for (uint32_t m = 0; m < o->models->n; m++)
			model_inline_end(o->models->machine[m].model, o->slot);
	}
	rt.inline_on = 0;
	cache_flush(t);
}
