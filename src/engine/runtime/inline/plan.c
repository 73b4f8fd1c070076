/*
 * A block's inline checks: which records, in which registers, and whether flags matter there.
 *
 * What always holds: a segment's registers are not touched by the instructions between its first and its last
 * site, nor do those sites' operands need them; a site's operand is the one that its instruction accesses, as the
 * program's registers are before it.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/translation.h"

struct model_inline inline_where[INLINE_MACHINES];

static uint32_t sites_most(void) { return rt.items_max; }

bool inline_is_full(void) { return rt.inline_on && rt.inline_used > sites_most() - sites_most() / 8; }

void inline_renumber(void)
{
	rt.inline_used = 0;
	if (rt.inline_count)
		memset(rt.inline_count, 0, rt.blocks_max);
}

bool inline_start(struct stream_models *models)
{
	if (models->n > INLINE_MACHINES || !rt.setup->machine_count ||
	    (rt.setup->flags & (RECORD_OBJECTS | RECORD_NOT_INLINE)) || rt.setup->region_count)
		return false;
	for (uint32_t i = 0; i < models->n; i++)
		if (!model_inline_can(models->machine[i].model))
			return false;
	rt.inline_sites = memory_private((uint64_t)sites_most() * sizeof *rt.inline_sites);
	rt.inline_first = memory_private((uint64_t)rt.blocks_max * sizeof *rt.inline_first);
	rt.inline_count = memory_private(rt.blocks_max);
	rt.inline_ends = memory_private((uint64_t)rt.blocks_max * sizeof *rt.inline_ends);
	rt.inline_live = memory_private(rt.blocks_max);
	rt.inline_slots = memory_private((uint64_t)rt.blocks_max * sizeof *rt.inline_slots);
	return true;
}

/* ---- sites ------------------------------------------------------------------------------------ */

static uint32_t offset_of(const struct translation *tr, unsigned k)
{
	uint32_t offset = 0;
	for (unsigned i = 0; i < k; i++)
		offset += tr->decoded.insn[i].length;
	return offset;
}

/* False: the operand's address is not to be had by one lea. */
static bool operand_of(const struct translation *tr, struct inline_site *site, const struct inline_record *record)
{
	unsigned item = record->item, k = record->insn;
	if (item >= tr->plan.n_items || tr->plan.operand[item] == 0xff || tr->plan.items[item].insn != k ||
	    k >= tr->decoded.count)
		return false;
	const struct x86_insn *in = &tr->decoded.insn[k];
	const struct x86_memory *m = &in->memory[tr->plan.operand[item]];
	if (m->flags & (X86_MEM_INDEX_BYTE | X86_MEM_BIT_OFFSET | X86_MEM_VECTOR_INDEX))
		return false;
	bool narrow = in->address_bytes == 4 && !(m->flags & X86_MEM_STACK);
	site->base = m->base;
	site->index = m->index;
	site->scale = m->scale;
	site->flags = m->segment == X86_FS ? INLINE_FS : m->segment == X86_GS ? INLINE_GS : 0;
	site->displacement = m->displacement;
	if (m->base == X86_RIP) {
		site->displacement += (int64_t)(tr->decoded.pc + offset_of(tr, k) + in->length);
		site->base = X86_NO_REG;
	}
	if (site->base == X86_NO_REG && site->index == X86_NO_REG) {
		if (narrow)
			site->displacement = (int64_t)(uint32_t)site->displacement;
		site->flags |= INLINE_CONSTANT;
		site->displacement += record->displacement;
		return true;
	}
	if (narrow) {
		site->flags |= INLINE_NARROW;
		return site->displacement == (int32_t)site->displacement && !record->displacement;
	}
	site->displacement += record->displacement;
	return site->displacement == (int32_t)site->displacement;
}

static bool sites_of(const struct translation *tr, uint32_t id, struct inline_site *to, unsigned *n)
{
	static struct inline_record records[INLINE_MACHINES][INLINE_RECORDS];
	int count[INLINE_MACHINES];
	unsigned next[INLINE_MACHINES] = {0};
	const struct thread *t = current();
	const struct trace_program program = {rt.templates, rt.items};
	const struct block *parent = rt.blocks[id].follows == NONE ? NULL : &rt.blocks[rt.blocks[id].follows];
	bool sequential = parent && parent->pc + parent->length == tr->decoded.pc;
	uint64_t page[INLINE_MACHINES]; /* of the last fetch: nobody enters the block but from the parent */
	for (uint32_t m = 0; m < t->models->n; m++)
		page[m] = sequential ? (tr->decoded.pc - 1) >> 12 : ~0ull;
	*n = 0;
	for (uint32_t m = 0; m < t->models->n; m++) {
		count[m] = model_inline_plan(t->models->machine[m].model, t->slot % MODEL_CORES_MAX, &program, id,
					     records[m]);
		if (count[m] < 0)
			return false;
		*n += (unsigned)count[m];
	}
	if (*n >= INLINE_SITES)
		return false;
	*n = 0;
	for (unsigned k = 0; k < tr->decoded.count; k++)
		for (uint32_t m = 0; m < t->models->n; m++)
			for (; next[m] < (unsigned)count[m] && records[m][next[m]].insn == k; next[m]++) {
				const struct inline_record *r = &records[m][next[m]];
				if (r->fetch && r->skip != INLINE_ALWAYS && sequential)
					continue; /* the unit was entered before, always */
				struct inline_site *site = &to[*n];
				*site = (struct inline_site){.record = *r,
							     .block = id,
							     .machine = (uint8_t)m,
							     .base = X86_NO_REG,
							     .index = X86_NO_REG,
							     .flags = INLINE_CONSTANT,
							     .displacement = r->displacement};
				if (!r->fetch && !operand_of(tr, site, r))
					return false;
				if (r->fetch) {
					site->same_page = page[m] == (uint64_t)r->displacement >> 12 &&
							  !inline_where[m].skips;
					page[m] = (uint64_t)r->displacement >> 12;
				}
				++*n;
			}
	for (uint32_t m = 0; m < t->models->n; m++)
		if (next[m] != (unsigned)count[m])
			die("lost: an access's place in its block", tr->decoded.pc);
	return true;
}

static void find_live(struct translation *tr, uint8_t live)
{
	tr->inlining.live[tr->decoded.count] = live;
	for (int k = (int)tr->decoded.count - 1; k >= 0; k--) {
		live = x86_flags_live_before(&tr->decoded.insn[k], live) & X86_FLAGS_ARITHMETIC;
		tr->inlining.live[k] = live;
	}
}

static uint16_t operand_registers(const struct inline_site *site)
{
	return (uint16_t)((site->base < 16 ? 1u << site->base : 0) | (site->index < 16 ? 1u << site->index : 0));
}

/* The operand by the registers as they are before instruction k, not behind it. False: it is not to be had. */
static bool by_registers_before(const struct translation *tr, struct inline_site *site, unsigned k)
{
	const struct stream_register *before = tr->plan.state[k], *behind = tr->plan.state[k + 1];
	int64_t moved = 0;
	if (!(tr->decoded.insn[k].gpr_written & operand_registers(site)))
		return true;
	if (site->flags & INLINE_NARROW)
		return false;
	if (site->base < 16) {
		if (before[site->base].origin != behind[site->base].origin)
			return false;
		moved = behind[site->base].constant - before[site->base].constant;
	}
	if (site->index < 16) {
		if (before[site->index].origin != behind[site->index].origin)
			return false;
		moved += (behind[site->index].constant - before[site->index].constant) * site->scale;
	}
	if (moved != (int16_t)moved || site->displacement + moved - 128 < INT32_MIN ||
	    site->displacement + moved + 128 > INT32_MAX)
		return false;
	site->displacement += moved;
	return true;
}

/* A check stands where the flags do not matter, if that is to be had by going back over instructions that neither
   fault nor access memory: if one of them is left, the record is made again (model/core/fast/inline.h, 4). */
static void move_back(struct translation *tr, struct inline_site *site, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned first = i ? site[i - 1].record.insn : 0, to = site[i].record.insn;
		struct inline_site there = site[i];
		while (tr->inlining.live[to] && to > first && !may_fault(&tr->decoded.insn[to - 1]) &&
		       by_registers_before(tr, &there, to - 1))
			to--;
		if (tr->inlining.live[to])
			continue;
		site[i] = there;
		site[i].record.insn = (uint8_t)to;
	}
}

static void find_sites(struct translation *tr, uint32_t id)
{
	unsigned n;
	if (rt.inline_used == sites_most())
		die("the program has more accesses than the engine's table of inline checks holds",
		    tr->decoded.pc);
	struct inline_site *to = rt.inline_sites + rt.inline_used;
	rt.inline_first[id] = rt.inline_used;
	if (rt.inline_used + 2 * INLINE_SITES <= sites_most() && sites_of(tr, id, to, &n)) {
		unsigned parts = inline_merge(tr, to, &n);
		move_back(tr, to, n);
		inline_place_parts(to, n);
		rt.inline_count[id] = (uint8_t)(n + 1);
		rt.inline_used += n + parts;
		return;
	}
	*to = (struct inline_site){.block = id, .apart = 1};
	rt.inline_count[id] = INLINE_APART;
	rt.inline_used++;
}

/* ---- registers and flags ---------------------------------------------------------------------- */

/* Flags that are read before they are overwritten by the instructions at pc, which nobody writes to: as far as a
 * straight look goes. */
static uint8_t live_at(uint64_t pc, const struct watched_mapping *region)
{
	uint8_t bytes[64], open = X86_FLAGS_ARITHMETIC, live = 0;
	struct x86_insn in;
	if (pc < region->start || pc >= region->end)
		return open;
	unsigned n = region->end - pc < sizeof bytes ? (unsigned)(region->end - pc) : (unsigned)sizeof bytes;
	if (!safe_copy(bytes, (const void *)pc, n))
		return open;
	for (unsigned at = 0, k = 0;
	     open && k < 8 && at < n && x86_decode(bytes + at, n - at, &in) == X86_DECODE_OK;
	     k++, at += in.length) {
		live |= in.flags_read & open;
		open &= (uint8_t)~in.flags_killed & (uint8_t)~live;
		if (in.flow != X86_FLOW_NONE || in.special != X86_SPECIAL_NONE || (in.class & X86_CLASS_REP))
			break;
	}
	return live | open;
}

void inline_behold(const struct translation *tr, uint32_t id)
{
	if (!rt.inline_on || !tr->decoded.count)
		return;
	const struct x86_insn *last = &tr->decoded.insn[tr->decoded.count - 1];
	const struct watched_mapping *region = memory_executable(tr->decoded.pc);
	uint64_t next = tr->decoded.pc + tr->decoded.length, target = next + (uint64_t)(int64_t)last->target_rel;
	rt.inline_live[id] = X86_FLAGS_ARITHMETIC;
	if (!region || tr->decoded.checked || (region->protection & PROT_WRITE_) || region->shared ||
	    region->module == RECORD_NONE)
		return;
	if (last->flow == X86_FLOW_JMP || last->flow == X86_FLOW_CALL)
		rt.inline_live[id] = live_at(target, region);
	else if (last->flow == X86_FLOW_JCC)
		rt.inline_live[id] = live_at(target, region) | live_at(next, region);
	else if (last->flow == X86_FLOW_NONE)
		rt.inline_live[id] = live_at(next, region);
}

#define CANDIDATES 0xefefu /* any but rsp and r12, whose encodings are others */

static unsigned count_bits(uint16_t mask)
{
	unsigned n = 0;
	for (; mask; mask &= (uint16_t)(mask - 1))
		n++;
	return n;
}

/* Those that nobody reads from behind instruction k on, where its code is its own: what a spill slot has of them
   until then is all that there is to be kept. */
static uint16_t overwritten(const struct translation *tr, unsigned k)
{
	const struct x86_insn *in = &tr->decoded.insn[k];
	if (k + 1 == tr->decoded.count || in->special != X86_SPECIAL_NONE || in->rip_relative ||
	    (in->prefixes & X86_PREFIX_GS) || (in->class & X86_CLASS_REP))
		return 0;
	return (in->gpr_written | tr->plan.dead[k + 1]) & (uint16_t)~in->gpr_read;
}

static unsigned take(uint16_t *from, uint16_t *free)
{
	static const uint8_t choice[] = {X86_RAX, X86_RCX, X86_RDX, X86_RSI, X86_RDI, X86_RBX, X86_RBP,
					 X86_R8,  X86_R9,  X86_R10, X86_R11, X86_R13, X86_R14, X86_R15};
	for (unsigned i = 0; i < sizeof choice; i++)
		if (*from >> choice[i] & 1) {
			*free &= (uint16_t) ~(1u << choice[i]);
			*from &= (uint16_t) ~(1u << choice[i]);
			return choice[i];
		}
	return X86_NO_REG;
}

/* Bits as spills: the header alone needs one. */
static unsigned needed(const struct inline_segment *s) { return s->n ? 7 : 1; }

/* kept: see rt.inline_slots */
static void choose_registers(const struct translation *tr, struct inline_segment *s, uint16_t free, uint16_t kept)
{
	unsigned need = needed(s);
	uint16_t own = 0, gone = overwritten(tr, s->to);
	for (unsigned i = 0; i < 3; i++) {
		unsigned reg = kept >> 4 * i & 15;
		if (!(need >> i & 1) || !(kept >> (12 + i) & 1) || !(free >> reg & 1) || own >> reg & 1)
			continue;
		own |= (uint16_t)(1u << reg);
		s->reg[i] = (uint8_t)reg;
		s->kept |= (uint8_t)(1u << i);
		s->reloads |= (uint8_t)(!(gone >> reg & 1) << i);
	}
	free &= (uint16_t)~own;
	gone &= free;
	uint16_t dead = s->from == s->to ? free & tr->plan.dead[s->from] : 0;
	for (unsigned i = 0; i < 3; i++) {
		if (!(need >> i & 1) || s->kept >> i & 1)
			continue;
		uint16_t *from = dead & free ? &dead : gone & free ? &gone : &free;
		dead &= free;
		gone &= free;
		bool is_dead = from == &dead, is_gone = from == &gone;
		s->reg[i] = (uint8_t)take(from, &free);
		dead &= free;
		gone &= free;
		if (!is_dead)
			s->spills |= (uint8_t)(1u << i);
		if (!is_dead && !is_gone)
			s->reloads |= (uint8_t)(1u << i);
	}
}

/* What slots still have before instruction `to` of what they had before `from`. */
static uint16_t still_kept(const struct translation *tr, uint16_t slots, unsigned from, unsigned to)
{
	uint16_t written = 0;
	for (unsigned k = from; k < to; k++)
		written |= tr->decoded.insn[k].gpr_written;
	for (unsigned i = 0; i < 3; i++)
		if (written >> (slots >> 4 * i & 15) & 1)
			slots &= (uint16_t) ~(1u << (12 + i));
	return slots;
}

/* What the slots have behind a segment, which had those before it. */
static uint16_t slots_of(const struct inline_segment *s, uint16_t slots)
{
	for (unsigned i = 0; i < 3; i++)
		if (s->spills >> i & 1)
			slots = (uint16_t)((slots & ~(15u << 4 * i)) | (unsigned)s->reg[i] << 4 * i |
					   1u << (12 + i));
	return slots;
}

/* Returns what the slots have at the block's end. */
static uint16_t find_segments(struct translation *tr, uint32_t follows)
{
	uint16_t slots = follows != NONE ? rt.inline_slots[follows] : 0;
	unsigned at = 0, since = 0;
	uint8_t needs_rax = 0;
	for (unsigned i = 0; i < tr->inlining.n; i++)
		needs_rax |= tr->inlining.live[tr->inlining.site[i].record.insn];
	uint16_t candidates = CANDIDATES & (uint16_t) ~(needs_rax ? 1u << X86_RAX : 0);
	tr->inlining.n_segments = 0;
	for (unsigned next = 0; next < tr->inlining.n || !tr->inlining.n_segments;) {
		struct inline_segment *s = &tr->inlining.segment[tr->inlining.n_segments++];
		unsigned from = tr->inlining.n_segments == 1 ? 0 : tr->inlining.site[next].record.insn;
		*s = (struct inline_segment){.from = (uint8_t)from, .to = (uint8_t)from, .first = (uint8_t)next};
		uint16_t free = candidates;
		at = from;
		while (next < tr->inlining.n) { /* all of the next instruction's sites, if registers are left */
			unsigned k = tr->inlining.site[next].record.insn, last = next;
			uint16_t with = free;
			for (unsigned j = at; j < k; j++)
				with &= (uint16_t) ~(tr->decoded.insn[j].gpr_read |
						     tr->decoded.insn[j].gpr_written);
			for (; last < tr->inlining.n && tr->inlining.site[last].record.insn == k; last++)
				with &= (uint16_t)~operand_registers(&tr->inlining.site[last]);
			if (count_bits(with) < 3)
				break;
			free = with;
			at = k;
			s->to = (uint8_t)k;
			s->n = (uint8_t)(last - s->first);
			next = last;
		}
		if (!s->n && from == s->from && tr->inlining.n && s != tr->inlining.segment)
			die("no register is left for inline checks", tr->decoded.pc);
		slots = still_kept(tr, slots, since, s->from);
		choose_registers(tr, s, free, slots);
		slots = slots_of(s, slots);
		/* what the segment's own instructions write is none of its registers, but perhaps another
		 * slot's */
		since = s->from;
	}
	return still_kept(tr, slots, since, tr->decoded.count);
}

void inline_plan(struct translation *tr, uint32_t id)
{
	tr->inlining.inlined = tr->inlining.apart = false;
	tr->inlining.n = tr->inlining.n_segments = 0;
	if (!rt.inline_on)
		return;
	for (unsigned k = 0; k < tr->decoded.count; k++) {
		const struct x86_insn *in = &tr->decoded.insn[k];
		if (in->special == X86_SPECIAL_POPF || in->special == X86_SPECIAL_PKRU ||
		    (in->encoding == X86_LEGACY && in->map == X86_MAP_0 && in->opcode == 0xfd))
			inline_careful();
	}
	rt.inline_ends[id] = (uint32_t)(rt.templates[id].pc + rt.templates[id].length);
	if (!tr->decoded.count)
		return;
	find_live(tr, rt.inline_live[id]);
	if (!rt.inline_count[id])
		find_sites(tr, id);
	tr->inlining.site = rt.inline_sites + rt.inline_first[id];
	tr->inlining.inlined = true;
	tr->inlining.apart = rt.inline_count[id] == INLINE_APART;
	rt.inline_slots[id] = 0;
	if (tr->inlining.apart)
		return;
	tr->inlining.n = rt.inline_count[id] - 1u;
	rt.inline_slots[id] = find_segments(tr, rt.blocks[id].follows);
}
