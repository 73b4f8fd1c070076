/*
 * What an inline check did not find, and how inline checks end.
 *
 * What always holds: the program's registers are in thread.reg while a model works on a miss; the clock that the
 * code carries is handed to the machine before, and the machine's goes on in the code behind. All machines' times
 * are of one clock.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/inline/inline.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

static uint64_t *recency_of(struct thread *t, unsigned machine)
{
	return (uint64_t *)((uint8_t *)t + (int32_t)inline_where[machine].recency);
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
	uint32_t *offset[] = {&where->data,    &where->fetch,   &where->touched, &where->pages,
			      &where->written, &where->recency, &where->steps,   &where->sampled};
	for (unsigned i = 0; i < sizeof offset / sizeof *offset; i++)
		*offset[i] -= (uint32_t)below;
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
	uint64_t now = *recency_of(t, 0);
	for (uint32_t m = 0; m < t->models->n; m++) {
		*recency_of(t, m) = now;
		model_inline_block(t->models->machine[m].model, t->slot, &program, id, values, done, behind,
				   t->fs_base);
		now = *recency_of(t, m);
	}
	*recency_of(t, 0) = now;
}

void inline_spans(struct thread *t, uint32_t item, const uint64_t *words)
{
	const struct trace_program program = {rt.templates, rt.items};
	uint64_t now = *recency_of(t, 0);
	for (uint32_t m = 0; m < t->models->n; m++) {
		*recency_of(t, m) = now;
		model_inline_spans(t->models->machine[m].model, t->slot, &program, item, words);
		now = *recency_of(t, m);
	}
	*recency_of(t, 0) = now;
}

/*
 * What a model does not find is only made if the memory can be accessed: a handler of the fault may never come
 * back to it. And no signal is delivered between an access that counts itself (not aligned, or no simple one) and
 * its instruction: it would be counted again.
 */
static bool will_fault(uint64_t address, bool writes)
{
	uint64_t page = address >> 12, *seen = &rt.inline_seen[(page ^ page >> 9) % INLINE_SEEN],
		 wanted = page << 2 | 2 | writes;
	if (*seen == wanted || *seen == (wanted | 1))
		return false;
	if (!safe_read((const void *)address) || (writes && !safe_write((void *)address)))
		return true;
	if (!rt.inline_careful) {
		*seen = wanted;
		rt.inline_seen_any = 1;
	}
	return false;
}

/*
 * Pages that were asked for need not be again before a system call of the program's. Else only the engine
 * changes what it may access (memory_watch()), and what only inline_careful() knows of. Of a file that another
 * process cuts see inline.h, 6.
 */
void inline_unseen(void)
{
	if (rt.inline_seen_any)
		memset(rt.inline_seen, 0, sizeof rt.inline_seen);
	rt.inline_seen_any = 0;
}

void inline_careful(void)
{
	if (!rt.inline_on || rt.inline_careful)
		return;
	rt.inline_careful = 1;
	inline_unseen();
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++)
		rt.threads[i]->inline_entry = (uint64_t)&runtime_inline_careful;
}

static void call_apart(struct thread *t)
{
	uint32_t block = (uint32_t)t->trace[-1];
	t->inline_once = !plan_is_rep(block);
	make_block(t, block, (const uint64_t *)t->apart, UINT32_MAX, inline_behind(t, t->trace - 1));
}

/* As inline_behind(); bit 63 instead of what differs from pc, the lower half of the block's: most are told by one
 * word. */
static uint64_t behind_if(const struct thread *t, uint32_t pc)
{
	const uint64_t *header = t->trace - 1;
	return header > t->behind_at && rt.inline_ends[(uint32_t)header[-1]] != pc ? 1ull << 63
										   : inline_behind(t, header);
}

#define STUB_APART 0x65 /* first byte behind the call of a stub that gets its stack from a slot: see out.c */

/* entry.S; back: in the stub. The header of its block is the newest record. */
void runtime_inline_call(struct thread *t, const uint8_t *back);
void runtime_inline_call(struct thread *t, const uint8_t *back)
{
	const struct inline_out *out = (const struct inline_out *)(back + 8);
	if (*back == STUB_APART) {
		call_apart(t);
		return;
	}
	const struct model_inline *where = &inline_where[out->machine];
	const struct trace_program program = {rt.templates, rt.items};
	uint64_t address = t->reg[out->address], last = address + out->last, *now = &t->reg[out->recency],
		 *recency = recency_of(t, out->machine), behind = 0;
	t->inline_once = out->flags & INLINE_OUT_ONCE || address & out->odd;
	if (out->flags & INLINE_OUT_READS) {
		bool writes = out->flags & INLINE_OUT_WRITES;
		__builtin_prefetch((const void *)address); /* the program will wait for less of it */
		if (will_fault(address, writes) || ((address ^ last) >> 12 && will_fault(last, writes))) {
			if (out->flags & INLINE_OUT_PART)
				/* where the stub goes on */
				((uint64_t *)t->runtime_rsp)[-1] = (uint64_t)(out + 1);
			return;
		}
	}
	if (out->flags & INLINE_OUT_BEHIND || ((const uint8_t *)t)[(int32_t)where->steps])
		behind = behind_if(t, out->pc);
	*recency = *now;
	model_inline_miss(t->models->machine[out->machine].model, t->slot, &program, (uint32_t)t->trace[-1],
			  (out->record & 0x1ffffff) | (uint64_t)(out->record >> 25) << 57, address, behind,
			  t->fs_base);
	*now = *recency + 1; /* that no record has: see take_time() */
}

/* Also in a signal's arrival: the lock is nobody's, as no other thread runs. */
void inline_put_off(void)
{
	lock();
	cache_unlink_all();
	unlock();
}

/* There is attention to be paid: as if a signal had come behind it. False: not here, but at the next way out. */
bool runtime_inline_left(struct thread *t);
bool runtime_inline_left(struct thread *t)
{
	const uint64_t *top = (const uint64_t *)t->runtime_rsp;
	const uint8_t *back = (const uint8_t *)top[-1];
	int32_t distance;
	if (t->inline_once) {
		inline_put_off();
		return false;
	}
	if (*back != STUB_APART)
		t->reg[X86_RSP] = t->reg[((const struct inline_out *)(back + 8))->stack];
	back += *back == STUB_APART ? 9 : 3;
	memcpy(&distance, back + 1, sizeof distance);
	for (unsigned i = 0; i < 16; i++)
		t->raw[i] = t->reg[i];
	t->raw[16] = (uint64_t)(back + 5 + distance);
	t->raw[17] = top[-2];
	t->raw_valid = 1;
	return true;
}

void inline_left(struct thread *t, uint32_t id, const uint64_t *values, unsigned done)
{
	make_block(t, id, values, done, inline_behind(t, t->trace));
}

void inline_recency(struct thread *t, uint64_t now) { *recency_of(t, 0) = now; }

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
