/*
 * Inline checks in a block's code. A record of data, at its instruction:
 *
 *     lea a, [operand]   t + 1   i = a >> shift & mask   and a, mask   cmp a, gs:[data + i]   jne out of line
 *     a, i = way, page   gs:[touched + a * 8] = t   gs:[pages + i * 8] = t   (a write: gs:[written + a] = 1)
 *
 * One of a fetch has nothing to compute. Out of line is a stub (out.c). One of several records in a row: see
 * merge.c.
 *
 * What always holds: the block's header is in the access stream before its first check; the clock is in t from a
 * segment's begin to its end, and in the core's memory else; where the flags matter they are in ax meanwhile, and
 * rax in a spill slot.
 */
#include "engine/runtime/inline/inline.h"

static void rex(struct emit *e, bool wide, unsigned reg, unsigned index)
{
	unsigned b = 0x40u | (wide ? 8u : 0) | (reg >= 8 ? 4u : 0) | (index >= 8 ? 1u : 0);
	if (b != 0x40)
		put(e, (uint8_t)b);
}

/* reg, gs:[index + at]; index is not rsp, r12 */
static void gs_indexed(struct emit *e, uint8_t opcode, bool wide, unsigned reg, unsigned index, uint32_t at)
{
	put(e, 0x65);
	rex(e, wide, reg, index);
	put(e, opcode);
	put(e, (uint8_t)(0x80 | (reg & 7) << 3 | (index & 7)));
	put32(e, at);
}

/* mov gs:[index * 8 + at], reg */
static void gs_store_word(struct emit *e, unsigned reg, unsigned index, uint32_t at)
{
	put(e, 0x65);
	put(e, (uint8_t)(0x48 | (reg >= 8 ? 4 : 0) | (index >= 8 ? 2 : 0)));
	put(e, 0x89);
	put(e, (uint8_t)(0x04 | (reg & 7) << 3));
	put(e, (uint8_t)(0xc5 | (index & 7) << 3));
	put32(e, at);
}

static void gs_absolute(struct emit *e, uint8_t opcode, bool wide, unsigned reg, uint32_t at)
{
	put(e, 0x65);
	unsigned b = 0x40u | (wide ? 8u : 0) | (reg >= 8 ? 4u : 0);
	if (b != 0x40)
		put(e, (uint8_t)b);
	put(e, opcode);
	put(e, (uint8_t)(0x04 | (reg & 7) << 3));
	put(e, 0x25);
	put32(e, at);
}

static void lea_near(struct emit *e, unsigned to, unsigned from, int8_t by) /* from is not rsp, r12 */
{
	put(e, (uint8_t)(0x48 | (to >= 8 ? 4 : 0) | (from >= 8 ? 1 : 0)));
	put(e, 0x8d);
	put(e, (uint8_t)(0x40 | (to & 7) << 3 | (from & 7)));
	put(e, (uint8_t)by);
}

static void move32(struct emit *e, unsigned to, unsigned from)
{
	rex(e, false, from, to);
	put(e, 0x89);
	put(e, (uint8_t)(0xc0 | (from & 7) << 3 | (to & 7)));
}

static void jump_if(struct emit *e, unsigned condition, const uint8_t *to) /* near; to NULL: in a probe */
{
	put(e, 0x0f);
	put(e, (uint8_t)(0x80 | condition));
	put32(e, to ? (uint32_t)((uint64_t)to - (emit_address(e) + 4)) : 0);
}

enum { NOT_EQUAL = 5 };

/* ---- flags ---- */

static void flags_keep(struct emit *e, unsigned k)
{
	gs_store(e, X86_RAX, AT_SPILL_FLAGS);
	e->stream_spills |= 8;
	mark(e, MARK_INSN, k, 0, 0, 0);
	put(e, 0x9f);                    /* lahf */
	put_bytes(e, "\x0f\x90\xc0", 3); /* seto al */
	e->stream_third |= FLAGS_IN_AX << 4;
	mark(e, MARK_INSN, k, 0, 0, 0);
}

static void flags_give_back(struct emit *e, unsigned k)
{
	put_bytes(e, "\x04\x7f", 2); /* add al, 127 */
	e->stream_third = (uint8_t)((e->stream_third & 15) | FLAGS_IN_AH << 4);
	mark(e, MARK_INSN, k, 0, 0, 0);
	put(e, 0x9e); /* sahf */
	e->stream_third &= 15;
	mark(e, MARK_INSN, k, 0, 0, 0);
	gs_load(e, X86_RAX, AT_SPILL_FLAGS);
	e->stream_spills &= (uint8_t)~8;
	mark(e, MARK_INSN, k, 0, 0, 0);
}

/* ---- sites ---- */

void inline_address(struct emit *e, const struct inline_site *site, const struct inline_segment *s)
{
	unsigned a = s->reg[0], i = s->reg[1];
	if (site->flags & INLINE_CONSTANT)
		move_immediate(e, a, (uint64_t)site->displacement);
	else
		lea_sum(e, a, site->base, site->index, site->scale, (int32_t)site->displacement,
			site->flags & INLINE_NARROW);
	if (site->flags & (INLINE_FS | INLINE_GS)) {
		gs_load(e, i,
			site->flags & INLINE_FS ? (uint32_t) __builtin_offsetof(struct thread, fs_base)
						: (uint32_t)AT_APP_GS);
		lea_sum(e, a, a, i, 1, 0, false);
	}
}

/* The granule of an address in a; from: a, or i, if that has an address whose granule it is to be, too. out: of a
 * merged one; else it has a stub */
static void look_up_data(struct emit *e, struct inline_site *site, const struct inline_segment *s, unsigned from,
			 const uint8_t *out)
{
	const struct model_inline *where = &inline_where[site->machine];
	unsigned a = s->reg[0], i = s->reg[1];
	int32_t mask = site->record.mask;
	/* rorx i, from, shift - 4 */
	if (rt.has_bmi2 && where->shift + (unsigned)__builtin_ctz(where->data_entries) <= 32) {
		put(e, 0xc4);
		put(e, (uint8_t)(0x43 | (i >= 8 ? 0 : 0x80) | (from >= 8 ? 0 : 0x20)));
		put_bytes(e, "\x7b\xf0", 2);
		put(e, (uint8_t)(0xc0 | (i & 7) << 3 | (from & 7)));
		put(e, (uint8_t)(where->shift - 4));
	} else {
		if (from != i)
			move32(e, i, from);
		rex(e, false, 0, i);
		put(e, 0xc1); /* shr i, shift - 4 */
		put(e, (uint8_t)(0xe8 | (i & 7)));
		put(e, (uint8_t)(where->shift - 4));
	}
	rex(e, false, 0, i);
	put(e, 0x81); /* and i, (entries - 1) * 16 */
	put(e, (uint8_t)(0xe0 | (i & 7)));
	put32(e, (where->data_entries - 1) << 4);
	rex(e, true, 0, a);
	bool near = mask == (int8_t)mask;
	put(e, near ? 0x83 : 0x81); /* and a, mask */
	put(e, (uint8_t)(0xe0 | (a & 7)));
	if (near)
		put(e, (uint8_t)mask);
	else
		put32(e, (uint32_t)mask);
	gs_indexed(e, 0x3b, true, a, i, where->data);
	jump_if(e, NOT_EQUAL, site->parts ? out : inline_out(e, site, s));
	gs_indexed(e, 0x8b, false, a, i, where->data + 8);
	gs_indexed(e, 0x8b, false, i, i, where->data + 12);
}

static void load_half(struct emit *e, unsigned to, uint32_t at) /* movzx to, word gs:[at] */
{
	put(e, 0x65);
	if (to >= 8)
		put(e, 0x44);
	put_bytes(e, "\x0f\xb7", 2);
	put(e, (uint8_t)(0x04 | (to & 7) << 3));
	put(e, 0x25);
	put32(e, at);
}

static void look_up_fetch(struct emit *e, struct inline_site *site, const struct inline_segment *s)
{
	const struct model_inline *where = &inline_where[site->machine];
	uint32_t at = where->fetch + site->record.index * (uint32_t)sizeof(struct inline_fetch);
	put_bytes(e, "\x65\x81\x3c\x25", 4); /* cmp dword gs:[at], tag */
	put32(e, at);
	put32(e, site->record.tag);
	jump_if(e, NOT_EQUAL, inline_out(e, site, s));
	load_half(e, s->reg[0], at + 4);
	if (!site->same_page)
		load_half(e, s->reg[1], at + 6);
}

static void touch(struct emit *e, const struct inline_site *site, const struct inline_segment *s)
{
	const struct model_inline *where = &inline_where[site->machine];
	unsigned a = s->reg[0], i = s->reg[1], t = s->reg[2];
	gs_store_word(e, t, a, where->touched);
	if (!site->same_page)
		gs_store_word(e, t, i, where->pages);
	if (site->record.writes) {
		put(e, 0x65);
		rex(e, false, 0, a);
		put(e, 0xc6);
		put(e, (uint8_t)(0x80 | (a & 7)));
		put32(e, where->written);
		put(e, 1);
	}
}

/* ---- merged sites: see merge.c ---- */

static struct inline_site *parts_of(const struct inline_site *site)
{
	return inlining.site + inlining.n + site->part;
}

static void emit_parts(struct emit *e, struct inline_site *site, const struct inline_segment *s)
{
	struct inline_site *part = parts_of(site);
	for (unsigned p = 0; p < site->parts; p++) {
		inline_operand(e, &part[p], s, e->stream_third >> 4 != FLAGS_REAL);
		lea_near(e, s->reg[2], s->reg[2], 1);
		look_up_data(e, &part[p], s, s->reg[0], NULL);
		touch(e, &part[p], s);
		inline_in(e, &part[p]);
		part[p].back = inlining.way_past;
	}
	put(e, INLINE_OUT_JMP); /* see merged_in() */
	put32(e, 0);
}

#define PARTS_BYTES 2048u /* most of a site's: 16 records, each less than 128 */

/* Where each record by itself is made. Returns NULL in a probe. */
static uint8_t *merged_out(struct emit *e, struct inline_site *site, const struct inline_segment *s,
			   uint8_t **way_back)
{
	static uint8_t scratch[PARTS_BYTES];
	struct emit out = *e;
	if (e->probe)
		return NULL;
	out.marks = NULL;
	out.probe = true;
	out.p = scratch;
	emit_parts(&out, site, s);
	uint8_t *at = e->arena->cold -= out.p - scratch;
	cache_span(e->arena, at, true, SPAN_INLINE, (uint32_t)(site - rt.inline_sites));
	out.probe = false;
	out.p = at;
	out.delta = 0;
	emit_parts(&out, site, s);
	*way_back = out.p - 4;
	return at;
}

/* As a signal's position, what is made there is made here. */
static void merged_in(struct emit *e, struct inline_site *site, uint8_t *way_back)
{
	if (e->probe)
		return;
	inline_jump_here(e, way_back);
	site->back = e->p;
	site->stack = X86_NO_REG;
	for (unsigned p = 0; p < site->parts; p++) {
		inline_jump_here(e, parts_of(site)[p].back);
		parts_of(site)[p].back = e->p;
	}
}

/* The address is in a, and, of one granule, its lowest byte's in i. */
static void emit_merged(struct emit *e, struct inline_site *site, const struct inline_segment *s)
{
	uint8_t *way_back = NULL, *out = merged_out(e, site, s, &way_back);
	look_up_data(e, site, s, site->other && !site->two ? s->reg[1] : s->reg[0], out);
	touch(e, site, s);
	if (site->two) {
		struct inline_site last = *site;
		last.displacement += site->other;
		inline_operand(e, &last, s, e->stream_third >> 4 != FLAGS_REAL);
		lea_near(e, s->reg[2], s->reg[2], 1);
		look_up_data(e, site, s, s->reg[0], out);
		touch(e, site, s);
		inlining.fresh = (uint16_t) ~(1u << (2 * site->machine + 1));
	}
	merged_in(e, site, way_back);
}

/*
 * t is a time that no record of this one's side has: the order of time matters within a machine's data, and within
 * its fetches, but where one cache or TLB has both. So one time may be a fetch's and an access's. What was not
 * found leaves a time that nobody has (run.c).
 */
static void take_time(struct emit *e, const struct inline_site *site, const struct inline_segment *s)
{
	unsigned side = 1u << (2 * site->machine + !site->record.fetch), both = 3u << 2 * site->machine;
	if (inline_where[site->machine].skips)
		side = both;
	if ((inlining.fresh & side) == side) {
		inlining.fresh &= (uint16_t)~side;
		return;
	}
	lea_near(e, s->reg[2], s->reg[2], 1);
	inlining.fresh = (uint16_t)~side;
}

/* Flags are left in ax until the segment's next site: nobody asks for them, or for rax, before. */
static bool stay_kept(const struct inline_site *site, const struct inline_segment *s)
{
	const struct inline_site *next = site + 1;
	if (next == inlining.site + s->first + s->n || next->base == X86_RAX || next->index == X86_RAX)
		return false;
	for (unsigned k = site->record.insn; k < next->record.insn; k++) {
		const struct x86_insn *in = &decoded.insn[k];
		if ((in->flags_read | in->flags_written | in->flags_maybe | in->flags_undefined |
		     in->flags_killed) ||
		    in->special != X86_SPECIAL_NONE || ((in->gpr_read | in->gpr_written) & 1u << X86_RAX) ||
		    (in->class & X86_CLASS_REP))
			return false;
	}
	return true;
}

static void emit_site(struct emit *e, struct inline_site *site, const struct inline_segment *s, unsigned k)
{
	bool live = inlining.live[k] != 0, kept = e->stream_third >> 4 != FLAGS_REAL;
	if (!site->record.fetch && !site->record.called)
		inline_address(e, site, s);
	if (site->parts && site->other && !site->two)
		lea_sum(e, s->reg[1], site->base, site->index, site->scale,
			(int32_t)site->displacement + site->other, false);
	if (site->record.called)
		inlining.fresh = 0;
	else
		take_time(e, site, s);
	if (live && !kept)
		flags_keep(e, k);
	uint8_t *over = NULL;
	if (site->record.skip == INLINE_SKIP) { /* a = the block's pc: what was executed before it ended there? */
		move_immediate(e, s->reg[0], decoded.pc);
		gs_absolute(e, 0x3b, true, s->reg[0], AT_BEHIND);
		put_bytes(e, "\x0f\x84", 2);
		over = e->p;
		put32(e, 0);
	}
	if (site->parts) {
		emit_merged(e, site, s);
	} else if (site->record.called) {
		jump_to(e, inline_out(e, site, s));
		inline_in(e, site);
	} else {
		if (site->record.fetch)
			look_up_fetch(e, site, s);
		else
			look_up_data(e, site, s, s->reg[0], NULL);
		touch(e, site, s);
		inline_in(e, site);
	}
	if (over) {
		uint32_t distance = (uint32_t)(e->p - (over + 4));
		__builtin_memcpy(over, &distance, 4);
	}
	if (live && !stay_kept(site, s))
		flags_give_back(e, k);
}

/* ---- segments ---- */

static void spill(struct emit *e, const struct inline_segment *s)
{
	static const uint32_t slot[3] = {AT_SPILL_TRACE, AT_SPILL_TRACE2, AT_SPILL_THIRD};
	e->stream_regs = (uint8_t)(s->reg[0] | s->reg[1] << 4);
	e->stream_third = s->reg[2];
	if (s->kept) {
		e->stream_spills |= s->kept;
		mark(e, MARK_INSN, s->from, 0, 0, 0);
	}
	for (unsigned i = 0; i < 3; i++)
		if (s->spills >> i & 1) {
			gs_store(e, s->reg[i], slot[i]);
			e->stream_spills |= (uint8_t)(1u << i);
			mark(e, MARK_INSN, s->from, 0, 0, 0);
		}
}

static void reload(struct emit *e, const struct inline_segment *s)
{
	static const uint32_t slot[3] = {AT_SPILL_TRACE, AT_SPILL_TRACE2, AT_SPILL_THIRD};
	for (unsigned i = 0; i < 3; i++)
		if (s->reloads >> i & 1) {
			gs_load(e, s->reg[i], slot[i]);
			e->stream_spills &= (uint8_t) ~(1u << i);
			mark(e, MARK_INSN, s->to, 0, 0, 0);
		}
}

static void publish(struct emit *e, const struct inline_segment *s, struct counter_place place)
{
	unsigned p = s->reg[0];
	gs_load(e, p, AT_TRACE);
	rex(e, true, 0, p); /* mov qword [p], number */
	put(e, 0xc7);
	put(e, (uint8_t)(0x40 | (p & 7)));
	put(e, 0);
	put32(e, e->id);
	lea_near(e, p, p, 8);
	gs_store(e, p, AT_TRACE);
	e->stream_groups = 1;
	mark(e, MARK_INSN, 0, 0, 0, 0);
	if (place.how == PLACE_STREAM) {
		uint32_t counter = THREAD_BYTES + e->id * 16;
		gs_load(e, p, counter);
		lea_one(e, p);
		gs_store(e, p, counter);
		e->counted = true;
		mark(e, MARK_INSN, 0, 0, 0, 0);
	}
}

/* The block's own end, behind the check that asks for the end of the one before. */
static void note_behind(struct emit *e, unsigned reg)
{
	move_immediate(e, reg, decoded.pc + decoded.length);
	gs_store(e, reg, AT_BEHIND);
}

static bool any_skips(void)
{
	for (unsigned m = 0; m < INLINE_MACHINES; m++)
		if (inline_where[m].skips)
			return true;
	return false;
}

static void emit_segment(struct emit *e, const struct inline_segment *s, unsigned at, struct counter_place place)
{
	bool first = s == inlining.segment, notes = first && any_skips();
	if (s->from == at) {
		spill(e, s);
		if (first)
			publish(e, s, place);
		if (s->n) {
			gs_load(e, s->reg[2], inline_where[0].recency);
			inlining.fresh = 0;
			e->recency = s->reg[2] + 1;
			mark(e, MARK_INSN, at, 0, 0, 0);
		}
	}
	for (unsigned n = s->first; n < s->first + (unsigned)s->n; n++)
		if (inlining.site[n].record.insn == at)
			emit_site(e, &inlining.site[n], s, at);
	if (s->from == at && notes)
		note_behind(e, s->reg[0]);
	if (s->to == at) {
		if (s->n) {
			gs_store(e, s->reg[2], inline_where[0].recency);
			e->recency = 0;
			mark(e, MARK_INSN, at, 0, 0, 0);
		}
		reload(e, s);
	}
}

/* A block whose values are apart: the call that makes all that it accesses. */
static void emit_apart(struct emit *e, unsigned at)
{
	bool live = inlining.live[at] != 0;
	if (live)
		flags_keep(e, at);
	jump_to(e, inline_out(e, inlining.site, NULL));
	inline_in(e, inlining.site);
	e->stream_groups = (uint8_t)(plan.n_groups + 1);
	mark(e, MARK_INSN, at, 0, 0, 0);
	if (live)
		flags_give_back(e, at);
}

void inline_store(struct emit *e, unsigned at, struct counter_place place)
{
	if (inlining.apart) {
		stream_store(e, at, place);
		if (at == (plan.rep ? decoded.count : decoded.count - 1))
			emit_apart(e, at);
		return;
	}
	for (unsigned n = 0; n < inlining.n_segments; n++)
		if (inlining.segment[n].from <= at && at <= inlining.segment[n].to)
			emit_segment(e, &inlining.segment[n], at, place);
}

void inline_made(struct emit *e, unsigned at)
{
	for (unsigned n = 0; inlining.inlined && n < inlining.n_segments; n++)
		if (inlining.segment[n].to == at)
			e->stream_spills = 0;
}
