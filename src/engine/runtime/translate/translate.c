/*
 * One basic block of the program → its code in the cache: the program's own instructions, the block's counter, and
 * exits.
 *
 * What always holds:
 *  1. The counter's add stands where the flags are dead; else a register that is dead, else a spilled one, is
 *     used.
 *  2. No flag, and no register that is alive, differs from the program's at an instruction of the program's (but
 *     see inline/inline.h, 4).
 *  3. The same bytes at the same place in the cache give the same code: translate_marks repeats the translation to
 *     learn what state each of its bytes stands for.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/kept/kept.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/code.h"
#include "engine/runtime/translate/translation.h"

#define CHAIN_MAX 12

/* Emits what is decoded. Returns as block_end does. */
static bool emit_block(struct emit *e, struct counter_place place, uint64_t *next)
{
	const uint8_t *code = e->tr->decoded.bytes;
	uint64_t pc = e->tr->decoded.pc;
	e->counted = place.how == PLACE_NONE;
	for (unsigned k = 0; k < e->tr->decoded.count; k++) {
		const struct x86_insn *in = &e->tr->decoded.insn[k];
		mark(e, MARK_INSN, k, 0, 0, 0);
		if (e->tr->inlining.inlined)
			inline_store(e, k, place);
		else if (rt.trace)
			stream_store(e, k, place);
		if ((int)k == place.add && rt.trace_quiet && stream_quiet(e->id))
			stream_count_quietly(e, k);
		if (k == place.insn && place.how != PLACE_NONE) {
			if (place.how == PLACE_TWICE) {
				copy(e, in, code, k, pc);
				add_one(e, THREAD_BYTES + e->id * 16);
				e->counted = true;
			}
			count_block(e, place);
			mark(e, MARK_INSN, k, 0, 0, 0);
		}
		if (in->class & X86_CLASS_UNKNOWN)
			kept_cannot(e);
		if ((in->class & X86_CLASS_UNKNOWN) && unknown_needs_moving(in, pc, emit_address(e))) {
			if (!e->probe)
				processor_refuses(
					code, in->length,
					"an unknown instruction whose operand cannot be reached from here:", pc);
			encode_ud2(&e->p);
			mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
			*next = pc + in->length;
			return true;
		}
		if (k == e->tr->decoded.count - 1)
			return block_end(e, place, in, code, k, pc, next);
		copy(e, in, code, k, pc);
		inline_made(e, k);
		code += in->length;
		pc += in->length;
	}
	mark(e, MARK_INSN, 0, 0, 0, 0);
	if (e->tr->decoded.event) {
		simple_exit(e, pc, EXIT_REGION);
		*next = pc;
		return false;
	}
	/* bytes that are not an instruction: #UD there */
	struct x86_insn in;
	/* sixteen bytes are a general protection fault (hlt), all else is #UD */
	bool too_long = e->tr->decoded.sixteen && x86_decode(e->tr->decoded.bytes + 1, 15, &in) == X86_DECODE_OK &&
			in.length == 15;
	if (!too_long && !e->probe) {
		unsigned available = e->tr->decoded.sixteen ? 15 : e->tr->decoded.available;
		const char *why = x86_decode(e->tr->decoded.bytes, available, &in) == X86_DECODE_OK
					  ? "a branch with 16-bit operands:"
					  : "an instruction of unknown length:";
		processor_refuses(e->tr->decoded.bytes, available, why, pc);
	}
	if (too_long) {
		encode_hlt(&e->p);
		encode_nop(&e->p, 1);
	} else {
		encode_ud2(&e->p);
	}
	mark(e, MARK_EXIT0, 0, 0, 0, 0);
	*next = pc;
	return true;
}

static bool same_bytes(const struct translation *tr, uint32_t id)
{
	const struct block *b = &rt.blocks[id];
	if (rt.trace && !rt.inline_on && (rt.templates[id].flags & TRACE_INLINED))
		return false;
	return !(b->flags & BLOCK_STALE) && b->length == tr->decoded.length &&
	       !memcmp(b->bytes, tr->decoded.bytes, tr->decoded.length);
}

static bool is_call(const struct x86_insn *in)
{
	return in->flow == X86_FLOW_CALL || in->flow == X86_FLOW_CALL_REG || in->flow == X86_FLOW_CALL_MEM;
}

static bool is_jump(const struct x86_insn *in)
{
	return in->flow == X86_FLOW_JMP || in->flow == X86_FLOW_JMP_ABS || in->flow == X86_FLOW_JMP_REG ||
	       in->flow == X86_FLOW_JMP_MEM;
}

/* A call or jump may turn out to lead to the end of a region, which moves it into another context
   (region/way.c), and so may an endbr64 that is by itself: that takes a counter of its own. */
static bool may_follow(const struct translation *tr)
{
	const struct x86_insn *last = &tr->decoded.insn[tr->decoded.count - 1];
	bool to_an_end = tr->decoded.count && (is_call(last) || is_jump(last) ||
					       (tr->decoded.count == 1 && x86_is_endbr64(tr->decoded.bytes)));
	return tr->decoded.count && !(to_an_end && context_named(tr->decoded.context));
}

/* The number for what is decoded: the one it had if its bytes are the same, else a new one. */
static uint32_t number(const struct translation *tr, uint64_t pc, uint32_t known, uint32_t parent)
{
	const struct x86_insn *last = tr->decoded.count ? &tr->decoded.insn[tr->decoded.count - 1] : NULL;
	bool conditional = last && last->flow >= X86_FLOW_JCC && last->flow <= X86_FLOW_JRCXZ,
	     fresh = known == NONE || !same_bytes(tr, known);
	uint32_t id = fresh ? record_block_begin(pc) : known;
	/* of a fresh one nothing is read: memory that is read first costs two page faults */
	struct block *b = &rt.blocks[id], old = fresh ? (struct block){0} : *b;
	*b = (struct block){.pc = pc,
			    .bytes = old.bytes,
			    .incoming = NONE,
			    .exit = {NONE, NONE},
			    .page_next = NONE,
			    .tail_from = NONE,
			    .length = (uint16_t)tr->decoded.length,
			    .insns = (uint16_t)tr->decoded.count,
			    .conditional = conditional,
			    .follows = parent,
			    .follower = NONE,
			    .depth = parent == NONE ? 0 : rt.blocks[parent].depth + 1,
			    .branch = last && last->flow != X86_FLOW_NONE && last->flow != X86_FLOW_SYSCALL &&
						      last->flow != X86_FLOW_INT
					      ? 1 + is_call(last)
					      : 0,
			    .context = tr->decoded.context};
	if (!fresh) {
		b->flags = old.flags & (BLOCK_LEADER | BLOCK_LISTED);
		b->page_next = old.page_next;
		b->edge = old.edge;
		b->follower = old.follower;
		b->no_follower = old.no_follower;
		b->copy = old.copy;
		return id;
	}
	const uint8_t *at = record_block_end(id, tr->decoded.bytes, tr->decoded.length, tr->decoded.count,
					     conditional, parent);
	if (at) {
		b->bytes = at;
		if (rt.trace) {
			stream_template(tr, id, record_block_module(id));
			stream_calls_block(tr, id, record_block_module(id));
		}
		if (last && (last->class & X86_CLASS_REP))
			record_site(id, tr->decoded.count - 1, RECORD_SITE_ITERATIONS, id * 2 + 1);
		else if (last && x86_state_kind(last))
			record_site(id, tr->decoded.count - 1, RECORD_SITE_AMOUNT, id * 2 + 1);
	}
	if (parent != NONE)
		rt.blocks[parent].follower = id;
	return id;
}

/*
 * Blocks that follow. Of a conditional branch one way out is counted; if all that goes the other way enters one
 * block, private to it, that block needs no counter: it was entered as often as its parent was passed. The
 * parent's record says so for ever, hence:
 *   - the follower is made when that way is gone for the first time, or never (no_follower);
 *   - code that goes that way and does not enter the follower corrects its count (done = 0);
 *   - a follower is in no table and no map: others that come to its address have a block of their own.
 */
uint32_t translate(struct thread *t, uint64_t pc, bool indirect, enum translate_mode mode, uint32_t thunk_exit,
		   uint32_t before, uint32_t parent)
{
	static struct translation translation; /* under rt.lock */
	struct translation *tr = &translation;
	bool single = mode == TRANSLATE_SINGLE;
	uint64_t begun = rt.no_tsc ? 0 : __builtin_ia32_rdtsc();
	if (!decode_block(tr, t->context, pc, single))
		return NONE;
	struct code_arena *arena = cache_arena(pc);
	if (!cache_room(arena)) {
		cache_flush(t);
		arena = cache_arena(pc);
		thunk_exit = before = NONE;
	}
	if (parent != NONE &&
	    (tr->decoded.checked || !may_follow(tr) ||
	     (rt.blocks[parent].follower != NONE && !same_bytes(tr, rt.blocks[parent].follower)))) {
		parent = NONE;
		uint32_t there = cache_find(t->context, pc);
		if (there != NONE && !(rt.blocks[there].flags & BLOCK_CHECKED))
			return there;
	}
	if (parent == NONE)
		before = NONE;
	if (before != NONE)
		arena->hot -= 5; /* the parent's last jump, which nobody can be in */
	uint32_t first = NONE;
	bool leader = false;
	for (int chain = 0;; chain++) {
		const struct x86_insn *last = tr->decoded.count ? &tr->decoded.insn[tr->decoded.count - 1] : NULL;
		bool copied = mode == TRANSLATE_COPY && first == NONE;
		if (rt.trace)
			stream_plan(tr);
		uint32_t id = number(tr, pc,
				     parent != NONE     ? rt.blocks[parent].follower
				     : single || copied ? NONE
							: cache_known(t->context, pc),
				     parent);
		inline_behold(tr, id);
		inline_plan(tr, id);
		struct block *b = &rt.blocks[id];
		b->tail_from = parent != NONE ? parent : before;
		if (leader)
			record_leader(id);
		rt.process->stats[RECORD_STAT_TRANSLATED_INSNS] += tr->decoded.count;

		struct counter_place place = place_counter(tr, arena, &b->entry_flags_live, &b->scratch);
		if (parent != NONE)
			place.how = PLACE_NONE;
		if (thunk_exit != NONE) {
			rt.exits[thunk_exit].thunk = emit_thunk(arena, thunk_exit, b, arena->hot);
			thunk_exit = NONE;
		}
		struct emit e = {.tr = tr, .p = arena->hot, .arena = arena, .id = id};
		if (indirect) {
			b->flags |= BLOCK_ENTRY_IN_FRONT;
			b->indirect = e.p;
			cache_span(arena, e.p, false, SPAN_INDIRECT, id);
			indirect_entry(&e, pc, t->context);
			indirect = false;
		}
		cache_span(arena, e.p, false, SPAN_BLOCK, id);
		b->code = e.start = e.p;
		uint64_t next;
		bool checked = tr->decoded.checked, event = tr->decoded.event,
		     goes_on = emit_block(&e, place, &next);
		arena->hot = e.p;
		if (checked || single)
			b->flags |= BLOCK_CHECKED;
		if (event)
			b->flags |= BLOCK_EVENT;
		if (!single)
			cache_enter(id, parent == NONE && !copied);
		if (first == NONE)
			first = id;
		b->code_bytes = (uint32_t)(e.p - b->code);
		if (!goes_on)
			break;
		leader = b->branch;
		uint32_t there = cache_find(t->context, next);
		bool follow = b->follower != NONE || (!b->no_follower && there == NONE && b->depth < DEPTH_MAX &&
						      last && last->flow != X86_FLOW_CALL);
		bool room = !single && !checked && !rt.user_faults /* nothing is read ahead */ &&
			    chain < CHAIN_MAX && last && cache_room(arena) && cache_arena(next) == arena;
		if ((there == NONE || b->follower != NONE) && room &&
		    (b->follower == NONE || !(rt.blocks[b->follower].flags & BLOCK_LIVE)) &&
		    decode_block(tr, t->context, next, false) && !tr->decoded.checked && tr->decoded.count &&
		    (b->follower == NONE || same_bytes(tr, b->follower))) {
			follow = follow && may_follow(tr);
			b->flags |= BLOCK_TAIL;
			b->no_follower |= !follow;
			before = id;
			parent = follow ? id : NONE;
			pc = next;
			continue;
		}
		linkable(&e, next, EXIT_NEXT, 16);
		arena->hot = e.p;
		b->code_bytes = (uint32_t)(e.p - b->code);
		if (b->follower != NONE) { /* the dispatcher finds it, or corrects */
			if (rt.blocks[b->follower].flags & BLOCK_LIVE)
				cache_link(b->exit[0], b->follower, rt.blocks[b->follower].code);
		} else if (there != NONE && !(rt.blocks[there].flags & BLOCK_CHECKED)) {
			b->no_follower = 1;
			cache_link(b->exit[0], there, rt.blocks[there].code);
			if (leader)
				record_leader(there);
		}
		break;
	}
	if (!rt.no_tsc)
		rt.process->stats[RECORD_STAT_TRANSLATE_TSC] += __builtin_ia32_rdtsc() - begun;
	uint64_t used = 0;
	for (uint32_t i = 0; i < rt.arena_count; i++)
		used += (uint64_t)(rt.arena[i].hot - rt.arena[i].base) +
			(uint64_t)(rt.arena[i].end - rt.arena[i].cold);
	if (used > rt.process->stats[RECORD_STAT_CACHE_BYTES])
		rt.process->stats[RECORD_STAT_CACHE_BYTES] = used;
	return first;
}

unsigned translate_marks(struct translation *tr, const struct block *block, uint32_t id, struct state_mark *marks,
			 unsigned most, uint64_t *next)
{
	static uint8_t scratch[16384];
	struct emit e = {.tr = tr,
			 .p = scratch,
			 .delta = block->code - scratch,
			 .marks = marks,
			 .mark_most = most,
			 .start = scratch,
			 .probe = true,
			 .id = id};
	uint8_t live, reg;
	memcpy(tr->decoded.bytes, block->bytes, block->length);
	tr->decoded.pc = block->pc;
	tr->decoded.checked = (block->flags & BLOCK_CHECKED) != 0;
	tr->decoded.context = block->context;
	tr->decoded.most = LENGTH_MAX;
	decode_bytes(tr, block->length, block->insns ? block->insns : 1);
	tr->decoded.event = (block->flags & BLOCK_EVENT) != 0;
	if (rt.trace)
		stream_plan(tr);
	inline_plan(tr, id);
	e.arena = arena_of(block->code);
	*next = block->pc + block->length;
	struct counter_place place = place_counter(tr, e.arena, &live, &reg);
	if (block->follows != NONE)
		place.how = PLACE_NONE;
	emit_block(&e, place, next);
	return e.mark_count;
}
