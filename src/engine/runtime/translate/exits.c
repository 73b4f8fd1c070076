/* How a block ends: exits that can be linked, calls, returns and other indirect branches by way of the tables, the
   ways into the runtime. What always holds: every displacement that is patched later lies within one cache
   line. */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/kept/kept.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/code.h"
#include "engine/runtime/translate/translation.h"

uint8_t *emit_stub(struct code_arena *arena, uint32_t exit)
{
	struct emit s = {.p = arena->cold -= 20};
	uint8_t *at = s.p;
	encode_store_gs_value32(&s.p, AT_EXIT_ID, exit);
	jump_gs(&s, AT_EXIT_ENTRY);
	cache_span(arena, at, true, SPAN_STUB, exit);
	return at;
}

/* Before an instruction whose displacement begins `ahead` bytes on. */
static void align_displacement(struct emit *e, unsigned ahead)
{
	unsigned at = (unsigned)(emit_address(e) + ahead) & 63;
	if (at > 60)
		nops(e, 64 - at);
}

/* A jmp, or with condition < 16 a jcc, that can be linked. */
void linkable(struct emit *e, uint64_t target, enum exit_kind kind, unsigned condition)
{
	align_displacement(e, condition < 16 ? 2 : 1);
	if (condition < 16)
		encode_jump_if(&e->p, condition, 0);
	else
		encode_jump(&e->p, 0);
	if (e->probe)
		return;
	uint32_t id = cache_exit(target, e->id, kind, e->arena);
	struct exit *exit = &rt.exits[id];
	exit->patch = e->p - 4;
	exit->stub = emit_stub(e->arena, id);
	encode_distance(exit->patch, exit->stub);
}

/* The jcc by which a quiet block leaves its function (stream_leaves()). The block's record and the jmp stand in
 * the cold part, where who stays does not pass them. */
static void linkable_away(struct emit *e, uint64_t target, unsigned condition, unsigned k)
{
	encode_jump_if(&e->p, condition, 0);
	if (e->probe)
		return;
	uint32_t id = cache_exit(target, e->id, EXIT_TAKEN, e->arena);
	struct exit *exit = &rt.exits[id];
	exit->stub = emit_stub(e->arena, id);
	e->arena->cold -= STREAM_AWAY_BYTES;
	struct emit away = {.p = e->arena->cold, .arena = e->arena, .id = e->id};
	encode_distance(e->p - 4, away.p);
	cache_span(e->arena, away.p, true, SPAN_AWAY, id);
	stream_away(&away, k);
	align_displacement(&away, 1);
	encode_jump(&away.p, 0);
	exit->patch = away.p - 4;
	encode_distance(exit->patch, exit->stub);
}

/* An exit that always goes to the runtime. */
void simple_exit(struct emit *e, uint64_t target, enum exit_kind kind)
{
	uint32_t id = e->probe ? 0 : cache_exit(target, e->id, kind, e->arena);
	encode_store_gs_value32(&e->p, AT_EXIT_ID, id);
	kept_note(e, e->p - 4, KEPT_EXIT);
	jump_gs(e, AT_EXIT_ENTRY);
}

/* push [rip + ...]: one access, no register, no flag */
static void push_return(struct emit *e, uint64_t pc)
{
	if ((int64_t)pc == (int32_t)pc) {
		encode_push_value(&e->p, (uint32_t)pc);
		return;
	}
	if (e->probe) {
		encode_push_rip(&e->p, 0);
		return;
	}
	e->arena->cold = (uint8_t *)((uint64_t)(e->arena->cold - 8) & ~7ull);
	__builtin_memcpy(e->arena->cold, &pc, 8);
	encode_push_rip(&e->p, (uint32_t)(e->arena->cold - (e->p + 6)));
	if (rt.making)
		kept_note_return(e->p - 4, pc);
}

/* rcx is the target, rax and rcx are spilled */
static void jump_table(struct emit *e, unsigned which)
{
	if (e->tr->decoded.context) {
		jump_gs(e, AT_REGION_MISS);
		return;
	}
	if (which == TABLE_CALL && rt.has_bmi2) {
		encode_rotate_right32(&e->p, X86_RAX, X86_RCX, 4);
		encode_zero_extend16(&e->p, X86_RAX, X86_RAX);
	} else {
		encode_zero_extend16(&e->p, X86_RAX, X86_RCX);
	}
	encode_jump_table(&e->p, X86_RAX, (uint32_t)(uint64_t)(rt.tables + which * TABLE_SLOTS));
	kept_note(e, e->p - 4, KEPT_TABLE);
}

/* rax is spilled: the block's counter, if it is placed here */
static void count_at_end(struct emit *e, struct counter_place place, unsigned k, unsigned spills)
{
	uint32_t offset = THREAD_BYTES + e->id * 16;
	if (place.how != PLACE_END)
		return;
	counter_load(e, X86_RAX, offset);
	lea_one(e, X86_RAX);
	counter_store(e, X86_RAX, offset);
	e->counted = true;
	mark(e, MARK_INSN, k, spills, 0, 0);
}

/* Probably an entry of a PLT: what came to it is more interesting. */
static bool linkage(const struct translation *tr)
{
	return tr->decoded.count == 1 || (tr->decoded.count == 2 && x86_is_endbr64(tr->decoded.bytes));
}

/* For cache/wild.c: an indirect branch that leaves nothing by which it could be told from others. For
   region/way.c: jumps and calls in regions that the program names. */
static void note_at(struct emit *e, uint32_t offset)
{
	encode_store_gs_value32(&e->p, offset, e->id);
	kept_note(e, e->p - 4, KEPT_BLOCK);
}

static void note_branch(struct emit *e) { note_at(e, AT_LAST_INDIRECT); }

static void load_target(struct emit *e, const struct x86_insn *in, const uint8_t *code, unsigned k, uint64_t pc)
{
	gs_store(e, X86_RCX, AT_SPILL_RCX);
	gs_store(e, X86_RAX, AT_SPILL_RAX);
	mark(e, MARK_INSN, k, SPILLED_RAX | SPILLED_RCX, 0, 0);
	if (in->rm != X86_NO_REG) {
		if (in->extended)
			encode_move_from_upper(&e->p, X86_RCX, in->rm);
		else if (in->rm != X86_RCX)
			encode_move(&e->p, X86_RCX, in->rm);
		return;
	}
	if (in->prefixes & X86_PREFIX_GS) {
		encode_lea_operand(&e->p, X86_RCX, in, code);
		gs_load(e, X86_RAX, AT_APP_GS);
		encode_load_sum(&e->p, X86_RCX, X86_RCX, X86_RAX);
		return;
	}
	bool fs = in->prefixes & X86_PREFIX_FS;
	if (in->rip_relative) {
		uint64_t address = pc + in->length + (uint64_t)in->memory[0].displacement;
		int64_t distance = (int64_t)(address - (emit_address(e) + 7));
		if (distance == (int32_t)distance && !fs) {
			encode_load_rip(&e->p, X86_RCX, (uint32_t)distance);
			kept_note(e, e->p - 4, KEPT_OPERAND);
			return;
		}
		kept_cannot(e);
		move_immediate(e, X86_RCX, address);
		if (fs)
			encode_prefix_fs(&e->p);
		encode_load(&e->p, X86_RCX, X86_RCX);
		return;
	}
	if (fs)
		encode_prefix_fs(&e->p);
	encode_load_operand(&e->p, X86_RCX, in, code);
}

/* A repeated string instruction: the site's counter first takes the whole count, then gives back what was left. */
static void repeated(struct emit *e, const struct x86_insn *in, const uint8_t *code, unsigned k)
{
	uint32_t offset = THREAD_BYTES + e->id * 16 + 8;
	if (in->prefixes & X86_PREFIX_ADDRSIZE) {
		if (!e->probe)
			inexact("a repeated string instruction with a 32-bit count");
		put_bytes(e, code, in->length);
		return;
	}
	gs_store(e, X86_RAX, AT_SPILL_RAX);
	mark(e, MARK_INSN, k, SPILLED_RAX, 0, 0);
	counter_load(e, X86_RAX, offset);
	encode_lea_sum(&e->p, X86_RAX, X86_RAX, X86_RCX);
	counter_store(e, X86_RAX, offset);
	mark(e, MARK_REP, k, SPILLED_RAX, 0, 0);
	gs_load(e, X86_RAX, AT_SPILL_RAX);
	mark(e, MARK_REP, k, 0, 0, 0);
	if ((in->prefixes & X86_PREFIX_GS) && in->memory[0].segment == X86_GS)
		die("a repeated string instruction on gs", 0);
	put_bytes(e, code, in->length);
	if ((in->opcode & 0xf6) == 0xa6) { /* cmps, scas: a count may be left */
		mark(e, MARK_REP, k + 1, 0, 0, 0);
		gs_store(e, X86_RAX, AT_SPILL_RAX);
		mark(e, MARK_REP, k + 1, SPILLED_RAX, 0, 0);
		encode_move(&e->p, X86_RAX, X86_RCX);
		encode_not(&e->p, X86_RAX); /* -rcx - 1, no flag */
		gs_store(e, X86_RCX, AT_SPILL_RCX);
		counter_load(e, X86_RCX, offset);
		mark(e, MARK_REP, k + 1, SPILLED_RAX | SPILLED_RCX, 0, 0);
		encode_lea_scaled(&e->p, X86_RAX, X86_RCX, X86_RAX, 1, 1, false);
		counter_store(e, X86_RAX, offset);
		mark(e, MARK_INSN, k + 1, SPILLED_RAX | SPILLED_RCX, 0, 0);
		gs_load(e, X86_RAX, AT_SPILL_RAX);
		gs_load(e, X86_RCX, AT_SPILL_RCX);
	}
}

/* The block's end. Returns true if the block goes on at *next whatever happens, and nothing that leads there is
 * emitted. */
bool block_end(struct emit *e, struct counter_place place, const struct x86_insn *in, const uint8_t *code,
	       unsigned k, uint64_t pc, uint64_t *next_out)
{
	uint64_t next = pc + in->length, target = next + (uint64_t)(int64_t)in->target_rel;
	*next_out = next;
	switch (in->flow) {
	case X86_FLOW_NONE:
		if (is_served(in)) {
			simple_exit(e, next, EXIT_SERVED);
			return false;
		}
		if (stores_x87_address(in)) {
			copy(e, in, code, k, pc);
			mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
			simple_exit(e, next, EXIT_X87);
			return false;
		}
		if (x86_state_kind(in)) {
			copy(e, in, code, k, pc);
			mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
			simple_exit(e, next, EXIT_STATE);
			return false;
		}
		if (rt.places && stack_loaded(in)) {
			gs_store(e, X86_RSP, AT_STACK_LEFT);
			mark(e, MARK_INSN, k, 0, 0, 0);
			copy(e, in, code, k, pc);
			mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
			simple_exit(e, next, EXIT_STACK);
			return false;
		}
		if (in->length == REGION_CALL_BYTES && region_magic(code)) {
			copy(e, in, code, k, pc);
			mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
			simple_exit(e, next, EXIT_PRESENT);
			return false;
		}
		if (rt.trace && (in->special == X86_SPECIAL_WRFSBASE || in->special == X86_SPECIAL_LOAD_FS)) {
			copy(e, in, code, k, pc);
			mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
			simple_exit(e, next, EXIT_FS);
			return false;
		}
		if (in->class & X86_CLASS_REP) {
			repeated(e, in, code, k);
			if (rt.trace && e->tr->plan.rep) {
				mark(e, MARK_INSN, k + 1, 0, 0, 0);
				if (e->tr->inlining.inlined)
					inline_store(e, k + 1, place);
				else
					stream_store(e, k + 1, place);
			}
		} else
			copy(e, in, code, k, pc);
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		return true;
	case X86_FLOW_JMP:
		if (context_named(e->tr->decoded.context))
			note_branch(e);
		*next_out = target;
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		return true;
	case X86_FLOW_JMP_ABS:
		if (context_named(e->tr->decoded.context))
			note_branch(e);
		*next_out = (uint64_t)in->immediate;
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		return true;
	case X86_FLOW_CALL:
		if (context_named(e->tr->decoded.context))
			note_branch(e);
		push_return(e, next);
		*next_out = target;
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		if (context_calls(e->tr->decoded.context)) {
			simple_exit(e, target, EXIT_CALL);
			return false;
		}
		return true;
	case X86_FLOW_JCC:
		if (stream_leaves(e->id))
			linkable_away(e, target, in->condition, k);
		else
			linkable(e, target, EXIT_TAKEN, in->condition);
		mark(e, MARK_EXIT1, k + 1, 0, 0, 0);
		linkable(e, next, EXIT_NEXT, 16);
		return false;
	case X86_FLOW_LOOP:
	case X86_FLOW_JRCXZ: {
		if (in->prefixes & X86_PREFIX_ADDRSIZE)
			encode_prefix_address32(&e->p);
		put(e, in->opcode);
		uint8_t *hole = e->p++;
		mark(e, MARK_EXIT1, k + 1, 0, 0, 0);
		/* exit 0 is the taken one, as with jcc; not taken: jump over the taken one's jmp, which has at
		   most 3 nops in front */
		encode_jump_short(&e->p, 0);
		uint8_t *over = e->p - 1;
		*hole = (uint8_t)(e->p - hole - 1);
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		linkable(e, target, EXIT_TAKEN, 16);
		*over = (uint8_t)(e->p - over - 1);
		mark(e, MARK_EXIT1, k + 1, 0, 0, 0);
		linkable(e, next, EXIT_NEXT, 16);
		return false;
	}
	case X86_FLOW_JMP_REG:
	case X86_FLOW_JMP_MEM:
		load_target(e, in, code, k, pc);
		if (!in->rip_relative)
			note_branch(e);
		else if (context_named(e->tr->decoded.context))
			note_at(e, linkage(e->tr) ? AT_LAST_LINKAGE : AT_LAST_INDIRECT);
		count_at_end(e, place, k, SPILLED_RAX | SPILLED_RCX);
		if (rt.trace_quiet)
			stream_target(e);
		mark(e, MARK_TARGET, k + 1, 0, 0, 0);
		/* jmp [rip + ...] is a call by way of a PLT */
		jump_table(e, in->rip_relative ? TABLE_CALL : TABLE_JUMP);
		return false;
	case X86_FLOW_CALL_REG:
	case X86_FLOW_CALL_MEM:
		load_target(e, in, code, k, pc);
		if (context_named(e->tr->decoded.context))
			note_branch(e);
		count_at_end(e, place, k, SPILLED_RAX | SPILLED_RCX);
		if (rt.trace_quiet)
			stream_target(e);
		push_return(e, next);
		if (context_calls(e->tr->decoded.context)) {
			mark(e, MARK_CALL, k + 1, SPILLED_RAX | SPILLED_RCX, 0, 0);
			gs_store(e, X86_RCX, AT_TARGET);
			gs_load(e, X86_RAX, AT_SPILL_RAX);
			gs_load(e, X86_RCX, AT_SPILL_RCX);
			mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
			simple_exit(e, 0, EXIT_CALL);
			return false;
		}
		mark(e, MARK_TARGET, k + 1, 0, 0, 0);
		jump_table(e, TABLE_CALL);
		return false;
	case X86_FLOW_RET:
		gs_store(e, X86_RCX, AT_SPILL_RCX);
		gs_store(e, X86_RAX, AT_SPILL_RAX);
		mark(e, MARK_INSN, k, SPILLED_RAX | SPILLED_RCX, 0, 0);
		note_branch(e);
		count_at_end(e, place, k, SPILLED_RAX | SPILLED_RCX);
		encode_pop(&e->p, X86_RCX);
		if (rt.trace_quiet) {
			mark(e, MARK_INSN, k, SPILLED_RAX | SPILLED_RCX, 0, -8);
			stream_target(e);
		}
		if (in->immediate_size) {
			mark(e, MARK_INSN, k, SPILLED_RAX | SPILLED_RCX, 0, -8);
			encode_lea_rsp(&e->p, (uint32_t)in->immediate & 0xffff);
		}
		mark(e, MARK_TARGET, k + 1, 0, 0, 0);
		jump_table(e, TABLE_RETURN);
		return false;
	case X86_FLOW_SYSCALL: simple_exit(e, next, EXIT_SYSCALL); return false;
	case X86_FLOW_INT:
		if ((in->immediate & 0xff) == 0x80) {
			simple_exit(e, next, EXIT_INT80);
			return false;
		}
		put_bytes(e, code, in->length); /* faults */
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		return true;
	case X86_FLOW_INT3:
	case X86_FLOW_INT1:
	case X86_FLOW_UD:
	case X86_FLOW_HLT:
	case X86_FLOW_XABORT:
	case X86_FLOW_XEND:
	case X86_FLOW_UIRET:
		put_bytes(e, code, in->length);
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		return true;
	case X86_FLOW_XBEGIN: /* a transaction that aborts at once, without a reason: what any processor may do */
		kept_cannot(e);
		if (!processor_has_transactions(e->probe)) {
			put_bytes(e, code, in->length); /* #UD */
			mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
			return true;
		}
		encode_move_value32(&e->p, X86_RAX, 0);
		*next_out = target;
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		return true;
	/* a fault, natively, for what it returns to; no instruction of AMD's 64-bit mode */
	case X86_FLOW_SYSENTER:
		if (rt.no_sysenter)
			encode_ud2(&e->p);
		else
			encode_hlt(&e->p);
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		return true;
	case X86_FLOW_RET_FAR:
	case X86_FLOW_IRET:
		if (in->map != X86_MAP_0) { /* sysret, sysexit, eretu: the kernel's own, which fault as they are */
			put_bytes(e, code, in->length);
			mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
			return true;
		}
		simple_exit(e, next, EXIT_FAR);
		return false;
	default: die("a control transfer that the engine does not support (far, transactional or privileged)", pc);
	}
}

void indirect_entry(struct emit *e, uint64_t pc, uint32_t context)
{
	move_immediate(e, X86_RAX, -(pc ^ context_key(context)));
	encode_lea_sum(&e->p, X86_RCX, X86_RCX, X86_RAX);
	encode_jump_rcx_zero(&e->p, 5); /* over the jmp */
	jump_to(e, context ? e->arena->miss_check + ARENA_REGION : e->arena->miss_check);
	gs_load(e, X86_RCX, AT_SPILL_RCX);
	gs_load(e, X86_RAX, AT_SPILL_RAX);
}

uint8_t *emit_indirect_entry(struct code_arena *arena, uint32_t id)
{
	arena->cold -= 48;
	struct emit e = {.p = arena->cold, .arena = arena};
	cache_span(arena, e.p, true, SPAN_INDIRECT, id);
	indirect_entry(&e, rt.blocks[id].pc, rt.blocks[id].context);
	jump_to(&e, rt.blocks[id].code);
	return arena->cold;
}

/* The counter of a conditional branch's counted way, in front of `to` or, with to NULL, in the hot part and with a
 * jmp to the target. */
uint8_t *emit_thunk(struct code_arena *arena, uint32_t exit_id, const struct block *target, uint8_t *to)
{
	struct emit e = {.p = arena->hot, .arena = arena};
	uint32_t offset = THREAD_BYTES + rt.exits[exit_id].block * 16 + 8;
	uint8_t *at = e.p;
	cache_span(arena, at, false, SPAN_THUNK, exit_id);
	if (target->entry_flags_live)
		increment_spilled(&e, offset, target->scratch);
	else
		add_one(&e, offset);
	if (!to)
		jump_to(&e, target->code);
	arena->hot = e.p;
	return at;
}

bool thunk_leads_to(const uint8_t *thunk, const uint8_t *code)
{
	const uint8_t *end = thunk + (thunk_spills(thunk) ? THUNK_SPILLING_BYTES : THUNK_BYTES);
	int32_t distance;
	memcpy(&distance, end + 1, sizeof distance);
	return end == code || (*end == 0xe9 && end + 5 + distance == code);
}
