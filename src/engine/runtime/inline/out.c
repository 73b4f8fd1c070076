/*
 * The way out of an inline check that found nothing, and back: a stub in the cold part, which says all that its
 * site is.
 *
 *     address ──► a     rsp ──► i     the runtime's stack     call ──► trampoline ──► runtime_inline (entry.S) ──► runtime_inline_call()
 *     block's code ◄── jmp ◄── rsp ◄── i ◄── ret ◄─────────────────────────────────────┘       (run.c) reads struct inline_out behind the jmp
 *
 * A part of a merged check (merge.c) that will fault goes past the other parts instead: another mov and jmp,
 * behind what the stub says.
 *
 * What always holds: a call and its ret, on the runtime's stack, so that where it goes back to is known to the
 * processor; no table is read, as one of all sites is in no cache of it; a stub and what it says are in one of its
 * lines. While the stack is the runtime's the program's is in i.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/translate/code.h"
#include "engine/runtime/translate/translation.h"

#define STUB_MOST 96u

/* rax may be in its slot by now, where the flags are in ax. */
void inline_operand(struct emit *e, const struct inline_site *site, const struct inline_segment *s, bool kept)
{
	struct inline_site from = *site;
	if (kept && (site->base == X86_RAX || site->index == X86_RAX)) {
		gs_load(e, s->reg[1], AT_SPILL_FLAGS);
		if (site->base == X86_RAX)
			from.base = s->reg[1];
		if (site->index == X86_RAX)
			from.index = s->reg[1];
	}
	inline_address(e, &from, s);
}

static struct inline_out said_by(const struct emit *e, const struct inline_site *site,
				 const struct inline_segment *s)
{
	struct inline_out out = {.machine = site->machine};
	const struct inline_record *r = &site->record;
	if (r->record & ~(0x1ffffffull | 127ull << 57))
		die("a record of an inline check is larger than its place", e->tr->decoded.pc);
	out.record = (uint32_t)r->record | (uint32_t)(r->record >> 57 << 25);
	out.pc = (uint32_t)e->tr->decoded.pc;
	out.address = s->reg[0];
	out.stack = s->reg[1];
	out.recency = (uint8_t)(e->recency - 1);
	out.flags = r->asks_behind ? INLINE_OUT_BEHIND : 0;
	if (!r->fetch) {
		const struct trace_item *item = &rt.items[rt.templates[e->id].first_item + r->item];
		out.odd = (uint8_t)(r->mask & ((1 << inline_where[site->machine].shift) - 1));
		out.last = (uint16_t)(item->bytes ? item->bytes - 1 : 0);
		out.flags |= (r->called || site->is_part ? INLINE_OUT_ONCE : 0) |
			     (site->is_part ? INLINE_OUT_PART : 0) |
			     (item->kind > TRACE_WRITE ? 0
						       : INLINE_OUT_READS | (r->writes ? INLINE_OUT_WRITES : 0));
	}
	return out;
}

uint8_t *inline_out(struct emit *e, struct inline_site *site, const struct inline_segment *s)
{
	uint8_t code[STUB_MOST];
	struct emit stub = {.tr = e->tr, .p = code};
	if (e->probe)
		return NULL;
	unsigned stack = s ? s->reg[1] : X86_NO_REG;
	if (s) {
		inline_operand(&stub, site, s, e->stream_third >> 4 != FLAGS_REAL);
		encode_move(&stub.p, stack, X86_RSP);
	} else {
		gs_store(&stub, X86_RSP, AT_REG_RSP);
	}
	gs_load(&stub, X86_RSP, AT_RUNTIME_RSP);
	unsigned call = (unsigned)(stub.p - code);
	encode_call(&stub.p, 0);
	if (s)
		encode_move(&stub.p, X86_RSP, stack);
	else
		gs_load(&stub, X86_RSP, AT_REG_RSP);
	encode_jump(&stub.p, 0); /* see inline_in() */
	unsigned jumped = (unsigned)(stub.p - code);
	if (s) {
		struct inline_out out = said_by(e, site, s);
		put_bytes(&stub, &out, sizeof out);
	}
	if (site->is_part) {
		encode_move(&stub.p, X86_RSP, stack);
		encode_jump(&stub.p, 0); /* see way_past */
	}

	unsigned n = (unsigned)(stub.p - code);
	uint8_t *end = e->arena->cold;
	if (n <= 64 && ((uint64_t)end - 1) >> 6 != (uint64_t)(end - n) >> 6)
		end = (uint8_t *)((uint64_t)end & ~63ull);
	uint8_t *at = e->arena->cold = end - n;
	uint32_t distance = (uint32_t)(e->arena->miss_check + ARENA_INLINE - (at + call + 5));
	__builtin_memcpy(code + call + 1, &distance, 4);
	__builtin_memcpy(at, code, n);
	e->tr->inlining.way_back = at + jumped - 4;
	e->tr->inlining.way_past = end - 4;
	site->stack = (uint8_t)stack;
	cache_span(e->arena, at, true, SPAN_INLINE, (uint32_t)(site - rt.inline_sites));
	return at;
}

/* Of a jmp whose displacement is at `from`. */
void inline_jump_here(const struct emit *e, uint8_t *from) { encode_distance(from, e->p); }

void inline_in(struct emit *e, struct inline_site *site)
{
	if (e->probe)
		return;
	inline_jump_here(e, e->tr->inlining.way_back);
	site->back = e->p;
}
