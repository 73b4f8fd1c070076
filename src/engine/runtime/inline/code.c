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
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/code.h"
#include "engine/runtime/translate/translation.h"

static void jump_if(struct emit *e, unsigned condition, const uint8_t *to) /* to NULL: in a probe */
{
	encode_jump_if(&e->p, condition, to ? (uint32_t)((uint64_t)to - (emit_address(e) + 6)) : 0);
}

enum { EQUAL = 4, NOT_EQUAL = 5 };

/* ---- flags ---- */

static void flags_keep(struct emit *e, unsigned k)
{
	gs_store(e, X86_RAX, AT_SPILL_FLAGS);
	e->stream_spills |= 8;
	mark(e, MARK_INSN, k, 0, 0, 0);
	encode_lahf(&e->p);
	encode_set_overflow_al(&e->p);
	e->stream_third |= FLAGS_IN_AX << 4;
	mark(e, MARK_INSN, k, 0, 0, 0);
}

static void flags_give_back(struct emit *e, unsigned k)
{
	encode_add_al(&e->p, 127);
	e->stream_third = (uint8_t)((e->stream_third & 15) | FLAGS_IN_AH << 4);
	mark(e, MARK_INSN, k, 0, 0, 0);
	encode_sahf(&e->p);
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

/* The granule of an address in a; from: a, or i, if that has an address whose granule it is also to be. out: of a
 * merged one; else it has a stub */
static void look_up_data(struct emit *e, struct inline_site *site, const struct inline_segment *s, unsigned from,
			 const uint8_t *out)
{
	const struct model_inline *where = &inline_where[site->machine];
	unsigned a = s->reg[0], i = s->reg[1];
	uint8_t by = (uint8_t)(where->shift - 4);
	if (rt.has_bmi2 && where->shift + (unsigned)__builtin_ctz(where->data_entries) <= 32) {
		encode_rotate_right32(&e->p, i, from, by);
	} else {
		if (from != i)
			encode_move32(&e->p, i, from);
		encode_shift_right32(&e->p, i, by);
	}
	encode_and32(&e->p, i, (where->data_entries - 1) << 4);
	encode_and(&e->p, a, site->record.mask);
	encode_compare_gs_indexed(&e->p, a, i, where->data);
	jump_if(e, NOT_EQUAL, site->parts ? out : inline_out(e, site, s));
	encode_load_gs_indexed32(&e->p, a, i, where->data + 8);
	encode_load_gs_indexed32(&e->p, i, i, where->data + 12);
}

/* Past the check if none of the `bytes` from the address in a on is in a line that is sampled. Returns where the
 * distance is to be written, or NULL: all lines are. */
static uint8_t *skip_unsampled(struct emit *e, const struct inline_site *site, const struct inline_segment *s,
			       unsigned bytes)
{
	const struct model_inline *where = &inline_where[site->machine];
	unsigned i = s->reg[1], size = 0;
	if (!where->sampled_entries)
		return NULL;
	while (1u << size < bytes)
		size++;
	uint32_t table = where->sampled + size * where->sampled_entries;
	encode_move32(&e->p, i, s->reg[0]);
	encode_and32(&e->p, i, where->sampled_entries - 1);
	encode_compare_gs_indexed_value8(&e->p, i, table, 0);
	encode_jump_if(&e->p, EQUAL, 0);
	return e->p - 4;
}

static void skip_to(const struct emit *e, uint8_t *skip)
{
	if (skip && !e->probe)
		encode_distance(skip, e->p);
}

static unsigned bytes_of(const struct inline_site *site)
{
	return ((unsigned)site->record.mask & ((1u << inline_where[site->machine].shift) - 1)) + 1;
}

static void look_up_fetch(struct emit *e, struct inline_site *site, const struct inline_segment *s)
{
	const struct model_inline *where = &inline_where[site->machine];
	uint32_t at = where->fetch + site->record.index * (uint32_t)sizeof(struct inline_fetch);
	encode_compare_gs_value32(&e->p, at, site->record.tag);
	jump_if(e, NOT_EQUAL, inline_out(e, site, s));
	encode_load_gs16(&e->p, s->reg[0], at + 4);
	if (!site->same_page)
		encode_load_gs16(&e->p, s->reg[1], at + 6);
}

static void touch(struct emit *e, const struct inline_site *site, const struct inline_segment *s)
{
	const struct model_inline *where = &inline_where[site->machine];
	unsigned a = s->reg[0], i = s->reg[1], t = s->reg[2];
	encode_store_gs_word(&e->p, t, a, where->touched);
	if (!site->same_page)
		encode_store_gs_word(&e->p, t, i, where->pages);
	if (site->record.writes)
		encode_store_gs_indexed_value8(&e->p, a, where->written, 1);
}

/* ---- merged sites: see merge.c ---- */

static struct inline_site *parts_of(const struct translation *tr, const struct inline_site *site)
{
	return tr->inlining.site + tr->inlining.n + site->part;
}

static void emit_parts(struct emit *e, struct inline_site *site, const struct inline_segment *s)
{
	struct inline_site *part = parts_of(e->tr, site);
	for (unsigned p = 0; p < site->parts; p++) {
		inline_operand(e, &part[p], s, e->stream_third >> 4 != FLAGS_REAL);
		encode_lea(&e->p, s->reg[2], s->reg[2], 1);
		uint8_t *skip = skip_unsampled(e, &part[p], s, bytes_of(&part[p]));
		look_up_data(e, &part[p], s, s->reg[0], NULL);
		touch(e, &part[p], s);
		skip_to(e, skip);
		inline_in(e, &part[p]);
		part[p].back = e->tr->inlining.way_past;
	}
	encode_jump(&e->p, 0); /* see merged_in() */
}

#define PARTS_BYTES 3072u /* most of a site's: 16 records, each less than 192 */

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
		inline_jump_here(e, parts_of(e->tr, site)[p].back);
		parts_of(e->tr, site)[p].back = e->p;
	}
}

/* The address is in a, and, of one granule, its lowest byte's in i. */
static void emit_merged(struct emit *e, struct inline_site *site, const struct inline_segment *s)
{
	uint8_t *way_back = NULL, *out = merged_out(e, site, s, &way_back);
	uint8_t *skip = NULL;
	if (inline_where[site->machine].sampled_entries) {
		/* of all from the lowest byte on: other is not above 0 */
		if (site->other)
			encode_lea(&e->p, s->reg[0], s->reg[0], site->other);
		skip = skip_unsampled(e, site, s, bytes_of(site) - (unsigned)site->other);
		if (site->other) {
			encode_move(&e->p, s->reg[1], s->reg[0]);
			encode_lea(&e->p, s->reg[0], s->reg[0], -site->other);
		}
	}
	look_up_data(e, site, s, site->other && !site->two ? s->reg[1] : s->reg[0], out);
	touch(e, site, s);
	if (site->two) {
		struct inline_site last = *site;
		last.displacement += site->other;
		inline_operand(e, &last, s, e->stream_third >> 4 != FLAGS_REAL);
		encode_lea(&e->p, s->reg[2], s->reg[2], 1);
		look_up_data(e, site, s, s->reg[0], out);
		touch(e, site, s);
		e->tr->inlining.fresh = (uint16_t) ~(1u << (2 * site->machine + 1));
	}
	skip_to(e, skip);
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
	if ((e->tr->inlining.fresh & side) == side) {
		e->tr->inlining.fresh &= (uint16_t)~side;
		return;
	}
	encode_lea(&e->p, s->reg[2], s->reg[2], 1);
	e->tr->inlining.fresh = (uint16_t)~side;
}

/* Flags are left in ax until the segment's next site: nobody asks for them, or for rax, before. */
static bool stay_kept(const struct translation *tr, const struct inline_site *site, const struct inline_segment *s)
{
	const struct inline_site *next = site + 1;
	if (next == tr->inlining.site + s->first + s->n || next->base == X86_RAX || next->index == X86_RAX)
		return false;
	for (unsigned k = site->record.insn; k < next->record.insn; k++) {
		const struct x86_insn *in = &tr->decoded.insn[k];
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
	bool live = e->tr->inlining.live[k] != 0, kept = e->stream_third >> 4 != FLAGS_REAL;
	if (!site->record.fetch && !site->record.called)
		inline_address(e, site, s);
	if (site->parts && site->other && !site->two)
		lea_sum(e, s->reg[1], site->base, site->index, site->scale,
			(int32_t)site->displacement + site->other, false);
	if (site->record.called)
		e->tr->inlining.fresh = 0;
	else
		take_time(e, site, s);
	if (live && !kept)
		flags_keep(e, k);
	uint8_t *over = NULL, *skip = NULL;
	if (site->record.skip == INLINE_SKIP) { /* a = the block's pc: what was executed before it ended there? */
		move_immediate(e, s->reg[0], e->tr->decoded.pc);
		encode_compare_gs(&e->p, s->reg[0], AT_BEHIND);
		encode_jump_if(&e->p, EQUAL, 0);
		over = e->p - 4;
	}
	if (site->parts) {
		emit_merged(e, site, s);
	} else if (site->record.called) {
		jump_to(e, inline_out(e, site, s));
		inline_in(e, site);
	} else {
		if (site->record.fetch)
			look_up_fetch(e, site, s);
		else {
			skip = skip_unsampled(e, site, s, bytes_of(site));
			look_up_data(e, site, s, s->reg[0], NULL);
		}
		touch(e, site, s);
		skip_to(e, skip);
		inline_in(e, site);
	}
	if (over)
		encode_distance(over, e->p);
	if (live && !stay_kept(e->tr, site, s))
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
	encode_store_value(&e->p, p, 0, e->id);
	encode_lea(&e->p, p, p, 8);
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
	move_immediate(e, reg, e->tr->decoded.pc + e->tr->decoded.length);
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
	bool first = s == e->tr->inlining.segment, notes = first && any_skips();
	if (s->from == at) {
		spill(e, s);
		if (first)
			publish(e, s, place);
		if (s->n) {
			gs_load(e, s->reg[2], inline_where[0].recency);
			e->tr->inlining.fresh = 0;
			e->recency = s->reg[2] + 1;
			mark(e, MARK_INSN, at, 0, 0, 0);
		}
	}
	for (unsigned n = s->first; n < s->first + (unsigned)s->n; n++)
		if (e->tr->inlining.site[n].record.insn == at)
			emit_site(e, &e->tr->inlining.site[n], s, at);
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
	bool live = e->tr->inlining.live[at] != 0;
	if (live)
		flags_keep(e, at);
	jump_to(e, inline_out(e, e->tr->inlining.site, NULL));
	inline_in(e, e->tr->inlining.site);
	e->stream_groups = (uint8_t)(e->tr->plan.n_groups + 1);
	mark(e, MARK_INSN, at, 0, 0, 0);
	if (live)
		flags_give_back(e, at);
}

void inline_store(struct emit *e, unsigned at, struct counter_place place)
{
	if (e->tr->inlining.apart) {
		stream_store(e, at, place);
		if (at == (e->tr->plan.rep ? e->tr->decoded.count : e->tr->decoded.count - 1))
			emit_apart(e, at);
		return;
	}
	for (unsigned n = 0; n < e->tr->inlining.n_segments; n++)
		if (e->tr->inlining.segment[n].from <= at && at <= e->tr->inlining.segment[n].to)
			emit_segment(e, &e->tr->inlining.segment[n], at, place);
}

void inline_made(struct emit *e, unsigned at)
{
	for (unsigned n = 0; e->tr->inlining.inlined && n < e->tr->inlining.n_segments; n++)
		if (e->tr->inlining.segment[n].to == at)
			e->stream_spills = 0;
}
