/*
 * From a place in the code cache to the program's own state: what the program would have seen had the signal, or
 * the stop, come natively.
 *
 * Terms
 *   raw state   the processor's registers when the signal came, with rip in the code cache (t->raw).
 *   spill       a register of the program's that emitted code has borrowed; its value is in a slot of struct thread.
 *   mark        one entry of translate_marks(): from this byte of a block's code on, the program is before its
 *               instruction `insn`, these registers are spilled, and this much of the block is counted.
 *   exit        a place where code leaves its block. Behind the last instruction there is nothing to restore: the
 *               exit is gone through as if the code had reached it.
 *
 * No table of states is kept: it would be larger than the code. When a signal comes, the interrupted block is
 * translated once more, into a scratch buffer, and the marks made on the way say what each byte stands for.
 *
 *     rip ── arena_of() ── no arena: not in the cache (dies)
 *             │
 *             ├─ before ARENA_FIRST: a trampoline ──────────────────────────► leave_by_target(): the branch is redone
 *             │
 *             └─ find_span(): which piece of code
 *                  SPAN_BLOCK     in_block(): the last mark at or before rip ─┬─► t->pc, all registers: a boundary
 *                  SPAN_INLINE    as the check in its block                   └─► an exit, or a target in a register
 *                  SPAN_THUNK     in_thunk(): a taken branch's counter ──────────► the exit, or behind it
 *                  SPAN_INDIRECT  an indirect branch's comparison ───────────────► leave_by_target()
 *                  SPAN_STUB      nothing has taken effect ──────────────────────► the exit
 *                  SPAN_AWAY      in_away(): as before the block's branch, or with its record ──► the exit
 *
 * What always holds:
 *  1. Whatever byte is interrupted, the program is shown at a boundary between two of its own instructions. One
 *     whose emitted sequence had begun and not taken effect is shown as not begun.
 *  2. The counts agree with that boundary. A block's counter stands for all of its instructions: if fewer were
 *     executed, record_correct() says how many; if the counter's add was not reached, it is made up here.
 *  3. The access stream also agrees: stream_left() completes the record of a block that is left in its middle.
 *  4. rt.lock is held; the interrupted thread is the caller or is stopped.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/code.h"
#include "engine/runtime/translate/translation.h"

#define MARKS_MAX 2048u

/* under rt.lock: of the block that was interrupted last */
static struct state_mark marks[MARKS_MAX];
static struct translation interrupted;

static const struct code_span *find_span(const struct code_arena *a, const uint8_t *ip)
{
	uint32_t offset = (uint32_t)(ip - a->base);
	if (ip < a->hot) { /* ascending: the last one at or below */
		uint32_t low = 0, high = a->hot_count;
		while (low < high) {
			uint32_t middle = (low + high) / 2;
			if (a->hot_spans[middle].offset <= offset)
				low = middle + 1;
			else
				high = middle;
		}
		return low ? &a->hot_spans[low - 1] : NULL;
	}
	uint32_t low = 0, high = a->cold_count; /* descending: the first one at or below */
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (a->cold_spans[middle].offset > offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < a->cold_count ? &a->cold_spans[low] : NULL;
}

static void unspill(struct thread *t, unsigned spills, unsigned reg)
{
	if (spills & SPILLED_RAX)
		t->reg[X86_RAX] = t->spill_rax;
	if (spills & SPILLED_RCX)
		t->reg[X86_RCX] = t->spill_rcx;
	if (spills & SPILLED_OPERAND)
		t->reg[reg & 15] = t->spill_operand;
	if (spills & SPILLED_SECOND)
		t->reg[reg >> 4] = t->spill_second;
}

static bool leave_by_target(struct thread *t, uint64_t target)
{
	unspill(t, SPILLED_RAX | SPILLED_RCX, 0);
	t->target = target;
	t->exit_id = EXIT_LOOKUP;
	return false;
}

/* Flags that an inline check keeps in ax: lahf's, and seto's. */
static void flags_from(struct thread *t, enum mark_flags where)
{
	uint64_t ax = t->reg[X86_RAX];
	t->flags = (t->flags & ~LOW_FLAGS) | (ax >> 8 & LOW_FLAGS);
	if (where == FLAGS_IN_AX)
		t->flags = (t->flags & ~FLAG_OF) | (ax & 1) << 11;
}

/* The last of n marks at or before it. */
static const struct state_mark *mark_at(unsigned n, uint32_t offset, const struct block *b)
{
	while (n > 0 && marks[n - 1].offset > offset)
		n--;
	if (!n)
		die("lost: a signal's position in a block is unknown", b->pc);
	return &marks[n - 1];
}

static void unspill_stream(struct thread *t, const struct state_mark *m)
{
	if (m->stream_spills & 4)
		t->reg[m->stream_third & 15] = t->spill_third;
	if (m->stream_spills & 8)
		t->reg[X86_RAX] = t->spill_flags;
	if (m->stream_spills & 1)
		t->reg[m->stream_regs & 15] = t->spill_trace;
	if (m->stream_spills & 2)
		t->reg[m->stream_regs >> 4] = t->spill_trace2;
}

/* Before the instruction that the mark names: of the block that `interrupted` is of. */
static void at_instruction(struct thread *t, uint32_t id, const struct state_mark *m)
{
	const struct block *b = &rt.blocks[id];
	uint64_t *counter = counter_of(t, id * 2);
	unsigned k = m->insn;
	unspill(t, m->spills, m->reg);
	if (m->recency)
		inline_recency(t, t->reg[m->recency - 1]);
	if (m->stream_third >> 4)
		flags_from(t, m->stream_third >> 4);
	unspill_stream(t, m);
	if (m->kind == MARK_REP)
		counter[1] -= t->reg[X86_RCX];
	t->reg[X86_RSP] += (uint64_t)(int64_t)m->rsp;
	uint64_t pc = b->pc;
	struct x86_insn in;
	for (unsigned j = 0, at = 0; j < k; j++) {
		if (x86_decode(b->bytes + at, b->length - at, &in) != X86_DECODE_OK)
			die("lost: a block's bytes", b->pc);
		at += in.length;
		pc = b->pc + at;
	}
	t->pc = pc;
	if (rt.trace && (m->stream_groups || k))
		stream_left(&interrupted, t, id, k, m->stream_groups);
	if (k == b->insns && b->follower != NONE) /* passed, and not entered */
		record_correct(t, b->follower, 0);
	if (m->counted || k) {
		if (!m->counted)
			counter[0]++;
		if (k < b->insns)
			record_correct(t, id, k);
	}
}

static bool in_block(struct thread *t, uint32_t id, uint32_t offset)
{
	const struct block *b = &rt.blocks[id];
	uint64_t next;
	unsigned n = translate_marks(&interrupted, b, id, marks, MARKS_MAX, &next);
	const struct state_mark *m = mark_at(n, offset, b);
	unsigned k = m->insn;

	if (m->kind == MARK_TARGET)
		return leave_by_target(t, t->reg[X86_RCX]);
	if (m->kind == MARK_CALL) {
		t->target = t->reg[X86_RCX];
		unspill(t, m->spills, 0);
	}
	if (m->kind == MARK_EXIT0 || m->kind == MARK_EXIT1 || m->kind == MARK_CALL) {
		uint32_t exit = b->exit[m->kind == MARK_EXIT1];
		if (!m->counted && k) /* a block whose counter was not reached is one without instructions */
			die("lost: a block's end without its count", b->pc);
		if (exit != NONE) {
			t->exit_id = exit;
			return false;
		}
		t->pc = next;
		if (b->follower != NONE && (b->flags & BLOCK_TAIL)) /* passed, and not entered yet */
			record_correct(t, b->follower, 0);
		return true;
	}
	at_instruction(t, id, m);
	return true;
}

/* In front of the jump of an exit by which a quiet block leaves its function. */
static bool in_away(struct thread *t, uint32_t exit, uint32_t offset)
{
	uint8_t scratch[STREAM_AWAY_BYTES];
	uint32_t id = rt.exits[exit].block;
	const struct block *b = &rt.blocks[id];
	uint64_t next;
	struct emit e = {.p = scratch, .start = scratch, .marks = marks, .mark_most = MARKS_MAX, .id = id};
	translate_marks(&interrupted, b, id, marks, MARKS_MAX, &next);
	stream_away(&e, b->insns - 1u);
	const struct state_mark *m = mark_at(e.mark_count, offset, b);
	if (m->kind == MARK_INSN) {
		at_instruction(t, id, m);
		return true;
	}
	unspill_stream(t, m);
	t->exit_id = exit;
	return false;
}

/* thunk: the one that was interrupted, which may be an older one of the exit's. */
static bool in_thunk(struct thread *t, uint32_t id, const uint8_t *thunk, uint32_t offset)
{
	bool spills = thunk_spills(thunk), counted = spills ? offset >= 31 : offset >= THUNK_BYTES;
	if (spills && offset >= 9 && offset < THUNK_SPILLING_BYTES) /* the mov's REX and ModRM bytes say which */
		unspill(t, SPILLED_OPERAND, (thunk[3] >> 3 & 7u) | (thunk[1] == 0x4c ? 8u : 0));
	if (!counted) {
		t->exit_id = id;
		return false;
	}
	t->pc = rt.exits[id].target;
	return true;
}

/*
 * Sets t->reg, t->flags and t->pc from t->raw. False: the position is that of an exit, which t->exit_id (and
 * t->target) now name: it is to be gone through as if the code had reached it.
 */
bool recover(struct thread *t)
{
	const uint8_t *ip = (const uint8_t *)t->raw[16];
	struct code_arena *a = arena_of(ip);
	uint64_t rsp = t->reg[X86_RSP];
	for (int i = 0; i < 16; i++)
		t->reg[i] = t->raw[i];
	t->flags = t->raw[17];
	t->raw_valid = 0;
	if (!a)
		die("lost: a signal's position is not in the cache", (uint64_t)ip);
	if (ip < a->base + ARENA_FIRST) { /* a trampoline */
		uint64_t rcx = t->reg[X86_RCX], rax = t->reg[X86_RAX], offset = (uint64_t)(ip - a->base);
		if (offset >= ARENA_REGION) /* of a context of regions */
			return leave_by_target(t, t->target);
		return leave_by_target(t, offset == 0 ? rcx - rax : offset == 3 ? rcx + rax + 1 : rcx);
	}
	const struct code_span *span = find_span(a, ip);
	if (!span)
		die("lost: a signal's position is in no block", (uint64_t)ip);
	uint32_t offset = (uint32_t)(ip - a->base) - span->offset, id = span->kind_id & 0x1fffffff;
	switch (span->kind_id >> 29) {
	case SPAN_BLOCK: return in_block(t, id, offset);
	case SPAN_THUNK: return in_thunk(t, id, ip - offset, offset);
	case SPAN_AWAY: return in_away(t, id, offset);
	case SPAN_INDIRECT: {
		uint64_t pc = rt.blocks[id].pc, rcx = t->reg[X86_RCX];
		if (rt.blocks[id].context)
			return leave_by_target(t, t->target);
		return leave_by_target(t, offset <= 10 ? rcx : offset <= 16 ? rcx + pc : pc);
	}
	case SPAN_INLINE: { /* as in the check that has not found, or where it goes on */
		const struct inline_site *site = &rt.inline_sites[id];
		bool on_stack = t->reg[X86_RSP] == t->runtime_rsp,
		     done = on_stack ? *ip != INLINE_OUT_CALL : *ip == INLINE_OUT_JMP;
		if (on_stack)
			t->reg[X86_RSP] = site->stack == X86_NO_REG ? rsp : t->reg[site->stack];
		return in_block(t, site->block, (uint32_t)(site->back - !done - rt.blocks[site->block].code));
	}
	default: /* a stub: nothing of it has taken effect */ t->exit_id = id; return false;
	}
}

/* The program single-steps itself: whether the trap's position is the beginning of one of its instructions, or of
 * a rep's further iteration: then it is where the last step began. */
bool recover_at_step(const struct thread *t)
{
	const uint8_t *ip = (const uint8_t *)t->raw[16];
	struct code_arena *a = arena_of(ip);
	const struct code_span *span = a && ip >= a->base + ARENA_FIRST ? find_span(a, ip) : NULL;
	uint64_t next;
	if (!span || span->kind_id >> 29 != SPAN_BLOCK)
		return false;
	uint32_t offset = (uint32_t)(ip - a->base) - span->offset, id = span->kind_id & 0x1fffffff;
	unsigned n = translate_marks(&interrupted, &rt.blocks[id], id, marks, MARKS_MAX, &next), first = 0;
	for (unsigned i = 0; i < n; i++) {
		if (i && marks[i].insn != marks[first].insn)
			first = i;
		if (marks[i].offset != offset)
			continue;
		if (marks[i].kind == MARK_REP)
			return !marks[i].spills && t->resume == (uint64_t)ip;
		return marks[i].kind == MARK_INSN && marks[first].offset == offset && !marks[i].spills &&
		       marks[i].insn < rt.blocks[id].insns;
	}
	return false;
}

/* fnstenv, fnsave, fxsave store where the last x87 instruction was. (So do xsave and its kin: os/state.c.) */
bool stores_x87_address(const struct x86_insn *in)
{
	unsigned extension = in->modrm >> 3 & 7;
	if (in->encoding != X86_LEGACY || !in->has_modrm || in->rm != X86_NO_REG || in->extended ||
	    (in->prefixes & (X86_PREFIX_FS | X86_PREFIX_GS | X86_PREFIX_OPSIZE | X86_PREFIX_ADDRSIZE)))
		return false;
	if (in->map == X86_MAP_0)
		return (in->opcode == 0xd9 || in->opcode == 0xdd) && extension == 6;
	return in->map == X86_MAP_0F && in->opcode == 0xae && extension == 0;
}

/* The program's address of the instruction at a place in the cache; 0: unknown. */
static uint64_t program_address(const uint8_t *ip)
{
	struct code_arena *a = arena_of(ip);
	const struct code_span *span = a ? find_span(a, ip) : NULL;
	uint64_t next;
	if (!span || span->kind_id >> 29 != SPAN_BLOCK)
		return 0;
	const struct block *b = &rt.blocks[span->kind_id & 0x1fffffff];
	unsigned n = translate_marks(&interrupted, b, span->kind_id & 0x1fffffff, marks, MARKS_MAX, &next), i = n;
	while (i > 0 && marks[i - 1].offset > (uint32_t)(ip - a->base) - span->offset)
		i--;
	if (!i)
		return 0;
	struct x86_insn in;
	unsigned at = 0;
	for (unsigned k = 0; k < marks[i - 1].insn && at < b->length; k++, at += in.length)
		if (x86_decode(b->bytes + at, b->length - at, &in) != X86_DECODE_OK)
			return 0;
	return b->pc + at;
}

void recover_x87_word(uint64_t to, bool wide)
{
	uint64_t stored = 0, found = 0;
	if (!safe_copy(&stored, (const void *)to, wide ? 8 : 4))
		return;
	if (wide)
		found = program_address((const uint8_t *)stored);
	for (uint32_t i = 0; i < rt.arena_count && !wide && !found; i++) /* only the low half was stored */
		for (uint64_t high = (uint64_t)rt.arena[i].base >> 32;
		     high <= (uint64_t)rt.arena[i].end >> 32 && !found; high++)
			found = program_address((const uint8_t *)(high << 32 | stored));
	if (found)
		safe_copy((void *)to, &found, wide ? 8 : 4);
}

/* The last instruction of the block has stored such an address: it is made the program's. */
void recover_x87_address(const struct thread *t, const struct block *b)
{
	struct x86_insn in = {0};
	for (unsigned at = 0; at < b->length; at += in.length)
		if (x86_decode(b->bytes + at, b->length - at, &in) != X86_DECODE_OK)
			return;
	const struct x86_memory *m = &in.memory[0];
	uint64_t to = (uint64_t)m->displacement;
	if (m->base == X86_RIP)
		to += b->pc + b->length;
	else if (m->base != X86_NO_REG)
		to += t->reg[m->base];
	if (m->index != X86_NO_REG)
		to += t->reg[m->index] * m->scale;
	bool fxsave = in.opcode == 0xae, wide = fxsave && (in.rex & 8);
	to += fxsave ? 8 : 12;
	recover_x87_word(to, wide);
}

/* For a thread that was sent to runtime_recovered: itself, or one that waits for it to be out of the cache. */
void recover_thread(struct thread *t)
{
	if (recover(t)) {
		t->recovered = 1;
		return;
	}
	t->recovered = 2;
	dispatch_leaves(t, t->exit_id);
}
