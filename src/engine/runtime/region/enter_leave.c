/*
 * Entering and leaving regions: what a thread's context is.
 *
 *     function   entered at its first instruction; frame: the stack pointer there. Left when an indirect branch (a return, a longjmp,
 *                an unwinder) lands with a higher one: at the return address found on the stack, or anywhere else: without an end
 *     code       entered and left at the ranges' borders (events of translation, region.c). A call from inside: a frame, and while it
 *                lasts the context's members are "not at their own level"
 *     libtare's  entered and left where the program says so; no frame
 *     signal     a handler is as a call, ended by its sigreturn
 *     counters   a call of libtare's counters (counters.c): a frame, and behind it the thread is in its own region again
 *
 * What always holds (under rt.lock):
 *  1. Frames are nested: an inner one is of code executed while the outer one lasts. A thread's region_low and
 *     region_span are the innermost frame's bounds, which every indirect branch in a context of regions looks at
 *     (entry.S).
 *  2. A context changes only in the runtime, with t->pc and t->reg at the boundary of two instructions.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/passes.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/translation.h"

#define FRAMES_MOST 512u

enum frame_kind { FRAME_FUNCTION, FRAME_CALL, FRAME_SIGNAL, FRAME_COUNTERS };

struct region_frame {
	uint64_t low, span;
	uint64_t back; /* where it goes on behind; of a signal 0 */
	uint32_t kind;
	uint32_t region;      /* FUNCTION */
	uint32_t context;     /* CALL, SIGNAL: what it was left from */
	uint64_t interrupted; /* SIGNAL: the stack pointer */
	/* SIGNAL: as the thread had them; the handler's own do not lead to a region's end */
	uint32_t generation, last_indirect, last_linkage;
};

void region_assume(struct thread *t, uint32_t context)
{
	t->context = context;
	t->region_key = context_key(context);
	t->region_salt = context_salt(context);
	t->region_table = (uint64_t)rt.second_regions;
}

/* What is in the buffer of the access stream was executed in the context that ends. */
static void set_context(struct thread *t, uint32_t context)
{
	if (rt.trace && context != t->context && t->record) {
		if (t->trace)
			stream_flush(t);
		regions_counted(t);
	}
	bool begins = context != t->context;
	region_assume(t, context);
	if (begins)
		regions_recounted(t);
}

static void set_bounds(struct thread *t)
{
	const struct region_frame *f = t->frame_count ? &t->frames[t->frame_count - 1] : NULL;
	t->region_low = f ? f->low : 0;
	t->region_span = f ? f->span : ~0ull;
}

void regions_thread(struct thread *t)
{
	t->region_miss = (uint64_t)&runtime_region_miss;
	t->region_tail = (uint64_t)&runtime_miss_tail;
	t->frame_count = 0;
	if (rt.record_regions && !t->frames) /* now: a program may forbid itself system calls */
		t->frames = memory_private(FRAMES_MOST * sizeof *t->frames);
	set_context(t, 0);
	set_bounds(t);
}

static bool on_alternate_stack(const struct thread *t, uint64_t sp)
{
	return t->altstack_size && sp > t->altstack_sp && sp - t->altstack_sp <= t->altstack_size;
}

/* Left when the stack pointer is above `top`, or on another stack. */
static void push(struct thread *t, enum frame_kind kind, uint64_t top, uint64_t back, uint32_t region)
{
	if (!t->frames)
		t->frames = memory_private(FRAMES_MOST * sizeof *t->frames);
	if (t->frame_count == FRAMES_MOST) {
		regions_lost(RECORD_LOST_CONTEXTS);
		return;
	}
	uint64_t low = on_alternate_stack(t, t->reg[X86_RSP]) ? t->altstack_sp : 0;
	t->frames[t->frame_count++] = (struct region_frame){.low = low,
							    .span = top - low,
							    .back = back,
							    .kind = kind,
							    .region = region,
							    .context = t->context};
}

static void enter(struct thread *t, const struct region_place *p)
{
	uint64_t back = 0, sp = t->reg[X86_RSP];
	uint32_t context = context_with(t->context, p->region, p->kind == RECORD_REGION_CODE);
	if (context == t->context)
		return; /* no room */
	region_pass(t, p->region)->entries++;
	if (p->kind == RECORD_REGION_FUNCTION) {
		safe_copy(&back, (const void *)sp, 8);
		push(t, FRAME_FUNCTION, sp, back, p->region);
	}
	set_context(t, context);
}

/* ended: where a pass is to end */
static void leave(struct thread *t, uint32_t region, bool ended)
{
	if (!context_has(t->context, region))
		return;
	if (ended)
		region_pass(t, region)->exits++;
	set_context(t, context_without(t->context, region));
}

/* resumed: as it was interrupted */
static void pop(struct thread *t, bool resumed)
{
	struct region_frame f = t->frames[--t->frame_count];
	const uint32_t *members;
	if (f.kind == FRAME_FUNCTION) {
		leave(t, f.region, t->pc == f.back);
		return;
	}
	if (f.kind == FRAME_COUNTERS) {
		set_context(t, counters_outside(t, t->context));
		return;
	}
	if (resumed)
		set_context(t, counters_as_in(t, t->context, f.context));
	for (uint32_t i = 0, n = context_members(f.context, &members); i < n; i++) {
		uint32_t region = members[i] >> 1;
		if ((members[i] & 1) || !context_has(t->context, region))
			continue;
		if (resumed || regions_contain(region, t->pc))
			set_context(t, context_with(t->context, region, true));
		else
			leave(t, region, t->pc == f.back);
	}
}

/* The regions asked for that the thread is in: what it does on another stack may belong to them or not. */
static void note_switch(struct thread *t)
{
	const uint32_t *members;
	for (uint32_t i = 0, n = context_members(t->context, &members); i < n; i++)
		if (region_is_asked(members[i] >> 1))
			region_pass(t, members[i] >> 1)->switched = 1;
}

/* Frames below `to` are left for good, if it is not a stack that lies above them: stacks.c keeps them until that
 * is known. */
static void note_given_up(const struct thread *t, uint64_t from, uint64_t to)
{
	const uint32_t *members;
	for (uint32_t i = t->frame_count; i--;) {
		const struct region_frame *f = &t->frames[i];
		uint64_t top = f->low + f->span;
		if (to - f->low <= f->span)
			break;
		if (f->kind == FRAME_FUNCTION)
			stacks_give_up(from, top, f->back, f->region);
		for (uint32_t k = 0, n = f->kind == FRAME_CALL ? context_members(f->context, &members) : 0; k < n;
		     k++)
			if (!(members[k] & 1))
				stacks_give_up(from, top, f->back, members[k] >> 1);
	}
}

void regions_stack(struct thread *t)
{
	uint64_t from = t->stack_left, to = t->reg[X86_RSP];
	bool handlers = on_alternate_stack(t, from) && !on_alternate_stack(t, to) && to <= t->stack_high;
	if (from == to || !rt.record_regions)
		return;
	if (handlers) { /* a handler left its stack for the one that the signal came on */
		t->stack_arrived = to;
		return;
	}
	if (stacks_moved(t, from, to))
		note_switch(t);
	else if (to > from)
		note_given_up(t, from, to);
}

void regions_branched(struct thread *t)
{
	while (t->frame_count) {
		const struct region_frame *f = &t->frames[t->frame_count - 1];
		if (t->reg[X86_RSP] - f->low <= f->span)
			break;
		stream_break(t, t->pc);
		pop(t, false);
	}
	set_bounds(t);
}

void regions_call(struct thread *t, uint64_t back)
{
	stream_break(t, t->pc);
	push(t, FRAME_CALL, t->reg[X86_RSP], back, 0);
	set_context(t, context_called(t->context));
	set_bounds(t);
}

void regions_signal(struct thread *t, uint64_t interrupted)
{
	if (!t->context)
		return;
	lock();
	uint32_t n = t->frame_count;
	push(t, FRAME_SIGNAL, t->reg[X86_RSP] + 8, 0, 0); /* + 8: at its sigreturn */
	if (t->frame_count > n) {
		struct region_frame *f = &t->frames[n];
		f->interrupted = interrupted;
		f->generation = rt.generation, f->last_indirect = t->last_indirect,
		f->last_linkage = t->last_linkage;
	}
	/* a handler that interrupts libtare is of the program */
	set_context(t, counters_outside(t, context_called(t->context)));
	set_bounds(t);
	unlock();
}

#define SIGNAL_FRAME_MOST 32768u /* with all of the processor's state */

/* A handler may have changed what its sigreturn goes back to. interrupted: 0 if that is not known. */
static void returned_to(struct thread *t, uint64_t frame, uint64_t interrupted)
{
	uint64_t sp = t->reg[X86_RSP];
	bool near = interrupted ? sp - interrupted + SIGNAL_FRAME_MOST / 2 < SIGNAL_FRAME_MOST
				: sp - frame < SIGNAL_FRAME_MOST;
	if (near || (!interrupted && on_alternate_stack(t, frame)))
		return;
	if (stacks_moved(t, interrupted ? interrupted : frame, sp))
		note_switch(t);
}

void regions_return(struct thread *t, uint64_t frame)
{
	uint64_t interrupted = 0;
	if (!rt.places && !t->frame_count)
		return;
	lock();
	uint32_t i = t->frame_count;
	while (i &&
	       !(t->frames[i - 1].kind == FRAME_SIGNAL && t->frames[i - 1].low + t->frames[i - 1].span == frame))
		i--;
	while (i && t->frame_count > i)
		pop(t, false);
	if (i) {
		const struct region_frame *f = &t->frames[i - 1];
		if (f->generation == rt.generation)
			t->last_indirect = f->last_indirect, t->last_linkage = f->last_linkage;
		interrupted = f->interrupted;
		pop(t, true);
	}
	if (rt.places)
		returned_to(t, frame, interrupted);
	regions_branched(t);
	unlock();
}

/* ---- libtare's -------------------------------------------------------------------------------- */

static const uint8_t red_zone_below[5] = {0x48, 0x8d, 0x64, 0x24, 0x80}; /* lea rsp, [rsp - 128] */
/* lea rsp, [rsp + 128]: around a stub's call */
static const uint8_t red_zone_back[8] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};

/* The way from the call to the end of a region, as blocks: they were executed inside, and belong outside. */
#define WAY_MOST 6u
#define WAY_VALUES 24u
struct way {
	uint64_t back, at;         /* behind the call; where it led */
	uint32_t from, to;         /* contexts */
	uint32_t last, generation; /* last: the jump or call that was executed last */
	/* the call's block; its instructions that stay (NONE: there are none); those that do not */
	uint32_t call, before, after;
	uint32_t n;
	uint32_t inside[WAY_MOST], outside[WAY_MOST];
	/* of the access stream: the record of `call` is to be one of `before` and one of `after` */
	bool divides;
	uint32_t arguments; /* what puts these registers' values there in front of the call is the call's */
	uint8_t before_words, after_words, n_early, n_late;
	int64_t sp; /* what rsp grew by from `after`'s beginning to where it led */
	struct {
		uint8_t from, to, words;
		int64_t more;
	} early[WAY_VALUES]; /* before's, from call's */
	/* after's, from registers: numbers plus one; 0: none */
	struct {
		uint8_t to, a, b, scale;
		int64_t constant;
	} late[WAY_VALUES];
};
#define WAYS 256u

/* under rt.lock: of a block that is divided, and of one of its parts or of what is counted instead */
static struct translation whole_block, part_block;

static void decode_for_plan(struct translation *tr, uint64_t pc, const uint8_t *bytes, unsigned length,
			    unsigned insns, uint32_t context)
{
	memcpy(tr->decoded.bytes, bytes, length);
	tr->decoded.pc = pc;
	tr->decoded.checked = false;
	tr->decoded.context = context;
	tr->decoded.most = LENGTH_MAX;
	decode_bytes(tr, length, insns);
	stream_plan(tr);
}

/* A block of the record that nobody executes: to be counted in. */
static uint32_t block_for(struct translation *tr, uint64_t pc, const uint8_t *bytes, unsigned length,
			  unsigned insns, uint32_t context)
{
	uint32_t id = record_block_begin(pc);
	rt.blocks[id] = (struct block){.pc = pc,
				       .incoming = NONE,
				       .exit = {NONE, NONE},
				       .page_next = NONE,
				       .tail_from = NONE,
				       .length = (uint16_t)length,
				       .insns = (uint16_t)insns,
				       .follows = NONE,
				       .follower = NONE,
				       .context = context};
	rt.blocks[id].bytes = record_block_end(id, bytes, length, insns, false, NONE);
	if (rt.trace) {
		decode_for_plan(tr, pc, bytes, length, insns, context);
		stream_template(tr, id, record_block_module(id));
	}
	return id;
}

static uint64_t executed(const struct thread *t, uint32_t id)
{
	return rt.blocks[id].follows == NONE ? *counter_of(t, id * 2) : 0;
}

/* Where the block's last instruction led, the registers being as it left them. */
static bool next_of(const struct thread *t, uint32_t id, uint64_t *next)
{
	const struct block *b = &rt.blocks[id];
	struct x86_insn in;
	uint64_t pc = last_instruction(b, &in);
	*next = b->pc + b->length;
	switch (in.flow) {
	case X86_FLOW_NONE: return pc != 0;
	case X86_FLOW_JMP_ABS: *next = (uint64_t)in.immediate; return pc != 0;
	case X86_FLOW_JMP:
	case X86_FLOW_CALL: *next += (uint64_t)(int64_t)in.target_rel; return pc != 0;
	case X86_FLOW_JMP_REG:
	case X86_FLOW_JMP_MEM: return pc && branch_operand(t, &in, pc, t->reg[X86_RSP], next);
	case X86_FLOW_CALL_REG:
	case X86_FLOW_CALL_MEM: return pc && branch_operand(t, &in, pc, t->reg[X86_RSP] + 8, next);
	default: return false;
	}
}

static bool same_value(const struct stream_value *v, const struct stream_value *u)
{
	bool followed = v->kind <= CAPTURE_SUM && v->a + v->b;
	return v->kind == u->kind && v->a == u->a && v->b == u->b && v->scale == u->scale &&
	       v->words == u->words && (followed || (v->insn == u->insn && v->reg == u->reg));
}

/* How the values of the part before the call are had from those of the call's whole block. */
static bool divide_before(struct way *w, const struct stream_plan *whole, const struct stream_plan *before)
{
	w->before_words = (uint8_t)before->words;
	if (before->n_values > WAY_VALUES || before->words > STREAM_TAIL_WORDS / 2)
		return false;
	for (unsigned i = 0, k; i < before->n_values; i++) {
		const struct stream_value *v = &before->values[i];
		for (k = 0; k < whole->n_values && !same_value(v, &whole->values[k]); k++)
			continue;
		if (k == whole->n_values)
			return false;
		w->early[w->n_early].from = whole->values[k].index, w->early[w->n_early].to = v->index,
		w->early[w->n_early].words = v->words;
		w->early[w->n_early++].more = v->constant - whole->values[k].constant;
	}
	return true;
}

static unsigned written(struct translation *tr, uint32_t id)
{
	const struct block *b = &rt.blocks[id];
	unsigned registers = 0;
	decode_for_plan(tr, b->pc, b->bytes, b->length, b->insns, b->context);
	for (unsigned k = 0; k < tr->decoded.count; k++)
		registers |= tr->decoded.insn[k].gpr_written;
	return registers;
}

/* How the values of the part behind it are had from registers, should nothing on the way change them. */
static bool divide_after(struct way *w, const struct translation *after)
{
	const struct stream_register *sp = &after->plan.state[after->decoded.count][X86_RSP];
	w->after_words = (uint8_t)after->plan.words;
	w->sp = sp->constant;
	if (after->plan.n_values > WAY_VALUES || sp->origin != ORIGIN_START + X86_RSP)
		return false;
	for (unsigned i = 0; i < after->plan.n_values; i++) {
		const struct stream_value *v = &after->plan.values[i];
		if (v->kind > CAPTURE_SUM || !(v->a + v->b) || v->a >= ORIGIN_NEW || v->b >= ORIGIN_NEW)
			return false;
		w->late[w->n_late].to = v->index, w->late[w->n_late].a = (uint8_t)v->a,
		w->late[w->n_late].b = (uint8_t)v->b;
		w->late[w->n_late].scale = v->scale;
		w->late[w->n_late++].constant = v->constant;
	}
	return true;
}

/* Does it do nothing but give an argument of a call? Behind the call nobody looks at those registers (System V
 * ABI, 3.2.1). Of a call of counters, a mov from memory may do it, too: a handle from its variable. */
static bool gives_argument(const struct x86_insn *in, uint32_t registers)
{
	bool plain = in->encoding == X86_LEGACY && in->map == X86_MAP_0;
	bool loads = registers == REGION_ALL_ARGUMENTS && plain && in->opcode == 0x8b;
	bool zero = plain && (in->opcode == 0x31 || in->opcode == 0x33) && in->reg == in->rm;
	return in->flow == X86_FLOW_NONE && in->gpr_written && !(in->gpr_written & ~registers) &&
	       !(in->class & X86_CLASS_STORE) && (loads || !(in->class & X86_CLASS_LOAD)) &&
	       (in->opcode == 0x8d || zero || !in->flags_written || !in->gpr_read);
}

/* Takes from the instructions in front of the block's call, of which *stay bytes and *n instructions stay, those
 * that give arguments. */
static void take_arguments(const struct block *b, uint32_t registers, unsigned *stay, unsigned *n)
{
	unsigned at = 0, kept_at = 0, kept = 0;
	for (unsigned i = 0; i < *n; i++) {
		struct x86_insn in;
		if (x86_decode(b->bytes + at, b->length - at, &in) != X86_DECODE_OK)
			return;
		at += in.length;
		if (!gives_argument(&in, registers))
			kept_at = at, kept = i + 1;
	}
	*stay = kept_at;
	*n = kept;
}

/* first: the block whose jump or call it was */
static bool find_way_from(const struct thread *t, struct way *w, uint32_t first)
{
	uint32_t id = first;
	uint64_t at;
	w->n = 0;
	if (id >= rt.block_count || rt.blocks[id].context != w->from || !rt.blocks[id].branch || !executed(t, id))
		return false;
	w->call = id;
	if (!next_of(t, id, &at))
		return false;
	while (at != w->at) {
		id = cache_known(w->from, at);
		if (id == NONE || w->n == WAY_MOST || !executed(t, id) || !rt.blocks[id].insns ||
		    !next_of(t, id, &at))
			return false;
		w->inside[w->n++] = id;
	}
	const struct block b = rt.blocks[w->call];
	struct x86_insn in;
	unsigned stay = (unsigned)(last_instruction(&b, &in) - b.pc), n = b.insns - 1u;
	if (n && stay >= sizeof red_zone_below &&
	    !memcmp(b.bytes + stay - sizeof red_zone_below, red_zone_below, sizeof red_zone_below)) {
		stay -= (unsigned)sizeof red_zone_below;
		n--;
	}
	if (w->arguments)
		take_arguments(&b, w->arguments, &stay, &n);
	struct translation *tr = &part_block;
	w->divides = rt.trace;
	w->n_early = w->n_late = 0;
	if (rt.trace && n) {
		decode_for_plan(&whole_block, b.pc, b.bytes, b.length, b.insns, w->from);
		w->divides = whole_block.plan.n_values <= WAY_VALUES;
	}
	w->before = n ? block_for(tr, b.pc, b.bytes, stay, n, w->from) : NONE;
	w->divides = w->divides && (!n || divide_before(w, &whole_block.plan, &tr->plan));
	w->after = block_for(tr, b.pc + stay, b.bytes + stay, b.length - stay, b.insns - n, w->to);
	w->divides = w->divides && divide_after(w, tr);
	for (uint32_t i = 0; i < w->n; i++) {
		const struct block *p = &rt.blocks[w->inside[i]];
		w->outside[i] = block_for(tr, p->pc, p->bytes, p->length, p->insns, w->to);
		unsigned registers = rt.trace ? written(tr, w->inside[i]) : 0;
		for (unsigned k = 0; k < w->n_late; k++)
			for (unsigned r = 0; r < 16; r++)
				w->divides &= !(registers >> r & 1) || (w->late[k].a != ORIGIN_START + r &&
									w->late[k].b != ORIGIN_START + r);
	}
	return true;
}

/* The jump or call that was executed last; or, that not leading there, a jump that may have been of a PLT. */
static bool find_way(const struct thread *t, struct way *w)
{
	return find_way_from(t, w, w->last) || find_way_from(t, w, t->last_linkage);
}

static bool way_known(const struct thread *t, const struct way *w)
{
	bool known = executed(t, w->call) != 0;
	for (uint32_t i = 0; i < w->n; i++)
		known &= executed(t, w->inside[i]) != 0;
	return known;
}

/* The value that a register had where `after` begins; number plus one. */
static uint64_t had(const struct thread *t, const struct way *w, unsigned origin)
{
	if (!origin)
		return 0;
	return t->reg[origin - ORIGIN_START] - (origin == ORIGIN_START + X86_RSP ? (uint64_t)w->sp : 0);
}

/* The newest records of the access stream are the way's: but for what stays they are taken off. False: they cannot
 * be. */
static bool divide_stream(struct thread *t, const struct way *w, struct stream_tail *tail)
{
	uint32_t blocks[1 + WAY_MOST] = {w->call};
	uint64_t words[STREAM_TAIL_WORDS] = {0};
	memcpy(blocks + 1, w->inside, w->n * sizeof *blocks);
	if (!w->divides || !stream_tail(t, blocks, 1 + w->n, tail))
		return false;
	if (w->before == NONE) { /* where the branch in front of it went is known before it is run */
		words[0] = trace_mark(TRACE_BREAK, 1);
		words[1] = rt.blocks[w->after].pc;
		stream_words(t, words, 2);
		return true;
	}
	words[0] = w->before;
	for (unsigned i = 0; i < w->n_early; i++) {
		memcpy(words + 1 + w->early[i].to, tail->words + 1 + w->early[i].from, w->early[i].words * 8);
		words[1 + w->early[i].to] += (uint64_t)w->early[i].more;
	}
	stream_words(t, words, 1u + w->before_words);
	return true;
}

/* … and come back, in the other context. */
static void follow_stream(struct thread *t, const struct way *w, struct stream_tail *tail)
{
	uint64_t words[1 + STREAM_RECORD_WORDS] = {w->after};
	unsigned rest = w->n ? tail->at[1] : 1u + rt.templates[w->call].values;
	for (unsigned i = 0; i < w->n_late; i++)
		words[1 + w->late[i].to] = had(t, w, w->late[i].a) + had(t, w, w->late[i].b) * w->late[i].scale +
					   (uint64_t)w->late[i].constant;
	for (unsigned i = 0; i < w->n; i++)
		tail->words[tail->at[1 + i]] = w->outside[i];
	stream_words(t, words, 1u + w->after_words);
	stream_words(t, tail->words + rest, tail->n - rest);
}

bool region_cross(struct thread *t, struct record_pass *pass, uint32_t to, uint64_t back, uint64_t at,
		  uint32_t arguments)
{
	uint32_t from = t->context;
	struct stream_tail tail;
	static struct way ways[WAYS];
	struct way *w = &ways[(back * 0x9e3779b1u ^ from * 0x85ebca6bu ^ to) >> 4 & (WAYS - 1)];
	bool known = w->back == back && w->at == at && w->from == from && w->to == to &&
		     w->last == t->last_indirect && w->generation == rt.generation && way_known(t, w);
	if (!known) {
		*w = (struct way){.back = back,
				  .at = at,
				  .from = from,
				  .to = to,
				  .last = t->last_indirect,
				  .generation = rt.generation,
				  .arguments = arguments};
		if (!find_way(t, w)) {
			w->back = 0;
			set_context(t, to);
			return false;
		}
	}
	bool divided = rt.trace && divide_stream(t, w, &tail);
	set_context(t, to);
	if (divided)
		follow_stream(t, w, &tail);
	pass->moved += divided ? 0 : rt.blocks[w->after].insns;
	--*counter_of(t, w->call * 2);
	if (w->before != NONE)
		++*counter_of(t, w->before * 2);
	++*counter_of(t, w->after * 2);
	for (uint32_t i = 0; i < w->n; i++) {
		pass->moved += divided ? 0 : rt.blocks[w->inside[i]].insns;
		--*counter_of(t, w->inside[i] * 2);
		++*counter_of(t, w->outside[i] * 2);
	}
	return true;
}

void region_push_counters(struct thread *t, uint64_t back) { push(t, FRAME_COUNTERS, t->reg[X86_RSP], back, 0); }

void region_change(struct thread *t, uint32_t context) { set_context(t, context); }

/* The pass ends. What led there is counted in the context behind it. */
static void leave_by_way(struct thread *t, struct record_pass *pass, uint32_t region, uint64_t back, uint64_t at,
			 uint32_t arguments)
{
	if (!context_has(t->context, region))
		return;
	pass->exits++;
	if (!region_cross(t, pass, context_without(t->context, region), back, at, arguments))
		regions_lost(RECORD_LOST_ENDS);
}

static uint32_t region_of_stub(uint32_t number)
{
	uint64_t region = 0, name;
	char fixed[8] = "asm_";
	unsigned n = 4;
	if (rt.stub_regions && safe_copy(&region, (const void *)(rt.stub_regions + number * 8), 8) && region &&
	    safe_copy(&name, (const void *)region, 8))
		return region_named(region, NULL);
	if (number >= 10)
		fixed[n++] = (char)('0' + number / 10);
	fixed[n] = (char)('0' + number % 10);
	return region_named(number + 1, fixed);
}

/* The `lea` behind a stub's call: of the program, before the pass begins. */
static void skip_red_zone(struct thread *t)
{
	uint8_t code[sizeof red_zone_back];
	if (!safe_copy(code, (const void *)t->pc, sizeof code) || memcmp(code, red_zone_back, sizeof code))
		return;
	uint64_t pc = t->pc;
	uint32_t id = rt.red_zone_block[0];
	if (!rt.red_zone_at || rt.red_zone_at != pc || rt.red_zone_block[1] != t->context ||
	    rt.red_zone_generation != rt.generation)
		id = block_for(&part_block, pc, code, sizeof code, 1, t->context);
	rt.red_zone_at = pc;
	rt.red_zone_block[0] = id;
	rt.red_zone_block[1] = t->context;
	rt.red_zone_generation = rt.generation;
	++*counter_of(t, id * 2);
	stream_block(t, id);
	t->reg[X86_RSP] += 128;
	t->pc += sizeof code;
}

static uint32_t region_of_call(const struct thread *t, uint32_t magic)
{
	if (magic == REGION_STUB_INIT || magic == (REGION_CALL_MAGIC | REGION_CALL_ASK))
		return NONE;
	if (magic >= REGION_STUB_MAGIC)
		return region_of_stub((magic - REGION_STUB_MAGIC) / 2);
	if (magic >= (REGION_CALL_MAGIC | REGION_CALL_ENTER_TEXT))
		return region_of_text(t->reg[X86_RDI], t->reg[X86_RSI]);
	if (magic >= (REGION_CALL_MAGIC | REGION_CALL_ENTER_NAME))
		return region_of_text(t->reg[X86_RDI], ~0ull);
	return region_named(t->reg[X86_RDI], NULL);
}

/* False: it is not the outermost end of a pass */
static bool ends_outermost(struct record_pass *pass)
{
	if (!pass->depth) {
		pass->exits++;
		pass->strays++;
		return false;
	}
	return --pass->depth == 0;
}

static void begin(struct thread *t, struct record_pass *pass, uint32_t region)
{
	if (pass->depth++)
		return;
	pass->entries++;
	set_context(t, context_with(t->context, region, false));
}

/* False: there is no mark */
static bool marked(struct thread *t)
{
	uint64_t rdi, behind;
	uint32_t magic = mark_at(t, &rdi, &behind);
	if (!magic)
		return false;
	stream_break(t, t->pc); /* what comes behind the mark is not a consequence of the branch in front of it */
	t->reg[X86_RDI] = rdi;
	t->pc = behind;
	uint32_t region = region_of_call(t, magic);
	if (region == NONE)
		return true;
	struct record_pass *pass = region_pass(t, region);
	if (!region_call_leaves(magic))
		begin(t, pass, region);
	else if (ends_outermost(pass))
		leave(t, region, true);
	return true;
}

/* False: the stack cannot be read */
static bool called(struct thread *t, uint32_t magic)
{
	uint64_t back, at = t->pc;
	bool stub = magic >= REGION_STUB_MAGIC, ends = region_call_leaves(magic);
	if (!safe_copy(&back, (const void *)t->reg[X86_RSP], 8))
		return false;
	if (magic == (REGION_CALL_MAGIC | REGION_CALL_COUNTERS)) {
		counters_called(t, back);
		return true;
	}
	if (magic == (REGION_CALL_MAGIC | REGION_CALL_ASK))
		t->reg[X86_RAX] = counters_ask(t, t->reg[X86_RDI]);
	uint32_t region = region_of_call(t, magic);
	struct record_pass *pass = region == NONE ? NULL : region_pass(t, region);
	if (pass && ends && ends_outermost(pass))
		leave_by_way(t, pass, region, back, at,
			     magic == (REGION_CALL_MAGIC | REGION_CALL_LEAVE_TEXT) ? 1u << X86_RDI | 1u << X86_RSI
										   : 0);
	stream_returned(t, at, t->reg[X86_RSP]);
	t->reg[X86_RSP] += 8;
	t->pc = back;
	if (pass && !ends) {
		if (stub && !pass->depth)
			skip_red_zone(t);
		begin(t, pass, region);
	}
	return true;
}

/* ---- events ----------------------------------------------------------------------------------- */

void regions_at(struct thread *t, uint32_t block)
{
	uint32_t context = t->context, magic;
	const uint32_t *members;
	uint8_t code[REGION_CALL_BYTES];
	if (rt.blocks[block].flags & BLOCK_LEADER) /* a branch may have led here: it is of the context that ends */
		stream_break(t, t->pc);
	bool usable = rt.record_regions && !(rt.record_regions->lost & RECORD_LOST_CONTEXTS);
	for (uint32_t i = 0, n = usable ? context_members(context, &members) : 0; i < n; i++)
		if (!(members[i] & 1) && !regions_contain(members[i] >> 1, t->pc))
			leave(t, members[i] >> 1, true);
	for (uint32_t i = 0; usable && i < rt.place_count; i++)
		if (rt.places[i].low <= t->pc && t->pc < rt.places[i].high &&
		    !context_has(t->context, rt.places[i].region))
			enter(t, &rt.places[i]);
	bool done = t->context != context;
	if (!done && safe_copy(code, (const void *)t->pc, sizeof code) && (magic = region_magic(code)) &&
	    magic != (REGION_CALL_MAGIC | REGION_CALL_PRESENT))
		done = called(t, magic);
	if (!done)
		done = marked(t);
	if (!done)
		cache_drop(block); /* it is not what it was */
	set_bounds(t);
}

/* A vfork's child is in what its parent is in; its passes are entered where it begins to run. */
void regions_inherit(struct thread *child, const struct thread *t)
{
	if (!t->context)
		return;
	if (!child->frames)
		child->frames = memory_private(FRAMES_MOST * sizeof *child->frames);
	memcpy(child->frames, t->frames, t->frame_count * sizeof *t->frames);
	child->frame_count = t->frame_count;
	set_context(child, counters_none(t, t->context));
	set_bounds(child);
}

void regions_inherited(struct thread *t)
{
	const uint32_t *members;
	if (!t->context)
		return;
	lock();
	regions_recounted(t);
	for (uint32_t i = 0, n = context_members(t->context, &members); i < n; i++) {
		struct record_pass *pass = region_pass(t, members[i] >> 1);
		pass->entries++;
		pass->depth = pass->inherited = 1;
	}
	unlock();
}

void regions_end(struct thread *t)
{
	regions_counted(t);
	for (uint32_t i = 0; rt.trace && t->process == rt.process && i < rt.slots_max && rt.threads[i]; i++)
		if (rt.slot_state[i] && rt.threads[i]->process == rt.process && rt.threads[i]->trace)
			regions_counted(rt.threads[i]);
}
