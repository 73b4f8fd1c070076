/*
 * Random programs, walked at random, for the tests of call graphs: the same walk is written as a stream of all blocks
 * and as one in which blocks that stay in their function are quiet (engine/wire/trace.h).
 *
 * Functions have blocks of 16 bytes and four instructions, the last one returns. Each block also has a second half, where a
 * signal's handler may have come before. choose(n) gives what is below n: of a generator, or a fuzzer's bytes; 0 when these
 * have ended, which means no signal, and no end of a run.
 */
#ifndef TARE_TESTS_UNIT_CALL_WALK_H
#define TARE_TESTS_UNIT_CALL_WALK_H

#include <stdlib.h>

#include "model/core/calls/calls.h"

enum { WALK_FUNCTIONS = 9, WALK_BLOCKS = 6, WALK_STEPS = 2000, WALK_WORDS = 1 << 12, WALK_STREAMS = 4 };
enum { WALK_RESTORER = WALK_FUNCTIONS * WALK_BLOCKS * 2, WALK_NUMBERS };
#define WALK_TEXT 0x400000u
#define WALK_FUNCTION_BYTES 0x1000u

enum walk_ending {
	WALK_ON,
	WALK_BRANCH,   /* within the function, or on */
	WALK_AWAY,     /* a conditional branch to another function's begin, or on */
	WALK_CALL,     /* direct, as the next */
	WALK_NEXT,     /* a call of the next block, to learn its address */
	WALK_TAIL,     /* a jump to another function's begin */
	WALK_SWITCH,   /* an indirect jump within the function */
	WALK_POINTER,  /* an indirect call, of a function's begin or the next block */
	WALK_COMPUTED, /* an indirect tail call */
	WALK_LONGJMP,  /* an indirect jump out of some frames */
	WALK_SYSTEM,
	WALK_ENDINGS,
	WALK_RETURN,
};

struct walk_arc {
	uint64_t site, callee, calls, inclusive;
};

/* A graph in the making, and its stream. */
struct walk_stream {
	struct trace_block blocks[WALK_NUMBERS];
	struct trace_item items[WALK_NUMBERS];
	struct calls_block known[WALK_NUMBERS];
	struct calls_step steps[WALK_NUMBERS];
	bool quiet[WALK_NUMBERS], leaves[WALK_NUMBERS]; /* leaves: quiet, but on its way to another function */
	struct calls calls;
	struct calls_stack stack;
	struct record_calls *record;
	uint64_t words[WALK_WORDS], sum;
	size_t n;
};

struct walk {
	unsigned (*choose)(unsigned n);
	uint8_t ending[WALK_FUNCTIONS][WALK_BLOCKS], to[WALK_FUNCTIONS][WALK_BLOCKS],
		count[WALK_FUNCTIONS][WALK_BLOCKS];
	unsigned locals[WALK_FUNCTIONS]; /* bytes of a frame */
	bool linkage[WALK_FUNCTIONS];    /* its first block is an entry of a linkage table */
	/* the walk: where it is, and the slots of what goes on */
	unsigned function, block, half, depth;
	struct {
		uint64_t slot;
		unsigned function, block; /* where the call returns to */
		bool handler;
		unsigned half;
	} frames[2 * WALK_STEPS];
	/* what the graph must be, where no signal comes: rules 1 to 3 and 5 to 7 of model/core/calls/calls.h */
	struct {
		uint64_t slot, site, entry;
		unsigned function;
		bool outermost;
	} shadow[2 * WALK_STEPS];
	unsigned n_shadow, active[WALK_FUNCTIONS], n_arcs;
	struct walk_arc arcs[4096];
	uint64_t total;
	bool known; /* arcs: not with signals, nor where it ends between a tail call and what that leads to */
	/* of all blocks and with quiet ones, each the plain way and the quick way */
	struct walk_stream *stream[WALK_STREAMS];
};

static inline unsigned walk_number(unsigned function, unsigned block, unsigned half)
{
	return (function * WALK_BLOCKS + block) * 2 + half;
}

static inline uint64_t walk_pc(unsigned function, unsigned block, unsigned half)
{
	return WALK_TEXT + function * WALK_FUNCTION_BYTES + block * 16 + half * 8;
}

/* ---- the program ---- */

static inline void walk_partial(uint32_t number, uint32_t done, uint64_t counts[RECORD_CALL_EVENTS])
{
	(void)number;
	counts[0] = done; /* one an instruction: see walk_counts() */
}

static inline void walk_place(uint64_t address, struct calls_block *out)
{
	uint64_t f = (address - WALK_TEXT) / WALK_FUNCTION_BYTES;
	*out = (struct calls_block){.function = f < WALK_FUNCTIONS ? (uint32_t)f + 1 : 0};
}

/* A half has two instructions; a whole block more, which its last one does several times over. */
static inline unsigned walk_counts(const struct walk *w, unsigned f, unsigned b, unsigned half)
{
	return half ? 2u + w->count[f][b] : 4u + w->count[f][b];
}

static inline void walk_describe(const struct walk *w, struct walk_stream *s, unsigned f, unsigned b,
				 unsigned half, bool silent)
{
	static const uint8_t kinds[] = {[WALK_ON] = TRACE_END_NONE,
					[WALK_BRANCH] = TRACE_END_CONDITIONAL,
					[WALK_AWAY] = TRACE_END_CONDITIONAL,
					[WALK_CALL] = TRACE_END_CALL,
					[WALK_NEXT] = TRACE_END_CALL,
					[WALK_TAIL] = TRACE_END_JUMP,
					[WALK_SWITCH] = TRACE_END_INDIRECT_JUMP,
					[WALK_POINTER] = TRACE_END_INDIRECT_CALL,
					[WALK_COMPUTED] = TRACE_END_INDIRECT_JUMP,
					[WALK_LONGJMP] = TRACE_END_INDIRECT_JUMP,
					[WALK_SYSTEM] = TRACE_END_SYSTEM,
					[WALK_RETURN] = TRACE_END_RETURN};
	unsigned number = walk_number(f, b, half), ending = w->ending[f][b], kind = kinds[ending],
		 to = w->to[f][b];
	bool slot = kind == TRACE_END_CALL || kind == TRACE_END_INDIRECT_CALL || kind == TRACE_END_INDIRECT_JUMP ||
		    kind == TRACE_END_RETURN,
	     dynamic = slot && kind != TRACE_END_CALL;
	struct trace_block *block = &s->blocks[number];
	*block = (struct trace_block){.pc = walk_pc(f, b, half),
				      .length = half ? 8 : 16,
				      .insns = half ? 2 : 4,
				      .first_item = number,
				      .items = slot,
				      .ending = (uint8_t)kind};
	if (ending == WALK_BRANCH)
		block->target = walk_pc(f, to % WALK_BLOCKS, 0);
	else if (ending == WALK_NEXT)
		block->target = walk_pc(f, b + 1, 0);
	else if (ending == WALK_AWAY || ending == WALK_CALL || ending == WALK_TAIL)
		block->target = walk_pc(to % WALK_FUNCTIONS, 0, 0);
	unsigned first = silent ? dynamic + 1u : 0;
	s->items[number] = (struct trace_item){.kind = TRACE_WRITE, .value = (uint8_t)first, .displacement = -8};
	block->values = (uint16_t)(first + slot);
	block->quiet = silent ? (uint8_t)first : 0;
	s->quiet[number] = silent && (ending == WALK_ON || ending == WALK_BRANCH || ending == WALK_AWAY);
	s->leaves[number] = ending == WALK_AWAY && to % WALK_FUNCTIONS != f;
	s->known[number] = (struct calls_block){.function = f + 1,
						.flags = w->linkage[f] && !b && !half ? CALLS_LINKAGE : 0};
	s->known[number].counts[0] = walk_counts(w, f, b, half);
}

static inline void walk_program(struct walk *w)
{
	for (unsigned f = 0; f < WALK_FUNCTIONS; f++) {
		w->locals[f] = 16 * w->choose(3);
		w->linkage[f] = f && w->choose(4) == 0;
		for (unsigned b = 0; b < WALK_BLOCKS; b++) {
			w->ending[f][b] = (uint8_t)(b == WALK_BLOCKS - 1 ? WALK_RETURN : w->choose(WALK_ENDINGS));
			w->to[f][b] = (uint8_t)w->choose(252);
			w->count[f][b] = (uint8_t)w->choose(100);
		}
		if (w->linkage[f])
			w->ending[f][0] = WALK_COMPUTED;
	}
}

/* ---- the streams ---- */

static inline struct walk_stream *walk_stream_new(const struct walk *w, bool silent, bool steps)
{
	struct walk_stream *s = calloc(1, sizeof *s);
	enum { ARCS = 1 << 11, MOST = 2 * WALK_STEPS };
	if (!s || !(s->record = calloc(1, sizeof *s->record + ARCS * sizeof(struct record_call_arc))))
		abort();
	s->record->n_events = 1;
	s->record->most_arcs = ARCS;
	s->record->arcs = sizeof *s->record;
	s->calls = (struct calls){.record = s->record,
				  .n_slots = 2 * ARCS,
				  .blocks = s->known,
				  .partial = walk_partial,
				  .place = walk_place,
				  .quiet = silent};
	s->calls.slots = calloc(2 * ARCS, sizeof *s->calls.slots);
	s->calls.functions = (struct calls_functions){
		.most = 64, .n_slots = 128, .begins = calloc(64, 8), .slots = calloc(128, 4)};
	s->stack = (struct calls_stack){.most = MOST,
					.active_most = 64,
					.frames = calloc(MOST, sizeof *s->stack.frames),
					.active = calloc(64, 4)};
	for (unsigned f = 0; f < WALK_FUNCTIONS; f++)
		if (calls_function(&s->calls, walk_pc(f, 0, 0)) != f + 1)
			abort();
	for (unsigned f = 0; f < WALK_FUNCTIONS; f++)
		for (unsigned b = 0; b < WALK_BLOCKS; b++)
			for (unsigned half = 0; half < 2; half++)
				walk_describe(w, s, f, b, half, silent);
	s->blocks[WALK_RESTORER] = (struct trace_block){.pc = walk_pc(WALK_FUNCTIONS, 0, 0),
							.length = 16,
							.insns = 4,
							.ending = TRACE_END_SYSTEM,
							.values = silent,
							.quiet = silent};
	s->known[WALK_RESTORER].counts[0] = 4;
	const struct trace_program program = {s->blocks, s->items};
	for (uint32_t i = 0; i < WALK_NUMBERS; i++)
		calls_describe_step(&s->calls, &program, i, &s->steps[i]);
	s->calls.steps = steps ? s->steps : NULL;
	return s;
}

static inline void walk_stream_free(struct walk_stream *s)
{
	free(s->calls.slots), free(s->calls.functions.begins), free(s->calls.functions.slots);
	free(s->stack.frames), free(s->stack.active), free(s->record), free(s);
}

static inline void walk_run(struct walk_stream *s)
{
	const struct trace_program program = {s->blocks, s->items};
	calls_run(&s->calls, &s->stack, &program, s->words, s->n);
	calls_settle(&s->calls, &s->stack);
	s->n = 0;
}

static inline void walk_put(struct walk_stream *s, uint64_t word)
{
	if (s->n == WALK_WORDS)
		abort();
	s->words[s->n++] = word;
}

/* The block, or so many of its instructions, is executed; it goes to `went` (0: on, or where it always goes), with `slot`
 * the stack pointer's place. */
static inline void walk_execute(struct walk_stream *s, unsigned number, unsigned done, uint64_t went,
				uint64_t slot)
{
	const struct trace_block *block = &s->blocks[number];
	if (s->quiet[number] && done >= block->insns && !(s->leaves[number] && went)) {
		s->sum += s->known[number].counts[0];
		return;
	}
	if (done < block->insns)
		walk_put(s, trace_mark(TRACE_PARTIAL, done));
	walk_put(s, number);
	if (block->quiet > 1)
		walk_put(s, went);
	if (block->quiet)
		walk_put(s, s->sum);
	if (block->items)
		walk_put(s, slot + 8);
}

static inline void walk_break(struct walk_stream *s, uint64_t pc)
{
	if (s->calls.quiet)
		walk_put(s, trace_mark(TRACE_QUIET, 0)), walk_put(s, s->sum), walk_put(s, pc);
	walk_put(s, trace_mark(TRACE_BREAK, 0)), walk_put(s, pc);
}

/* ---- what the graph must be ---- */

static inline struct walk_arc *walk_arc(struct walk *w, uint64_t site, uint64_t callee)
{
	for (unsigned i = 0; i < w->n_arcs; i++)
		if (w->arcs[i].site == site && w->arcs[i].callee == callee)
			return &w->arcs[i];
	w->arcs[w->n_arcs] = (struct walk_arc){site, callee, 0, 0};
	return &w->arcs[w->n_arcs++];
}

static inline void walk_begin(struct walk *w, uint64_t site, uint64_t slot, unsigned function)
{
	walk_arc(w, site, walk_pc(function, 0, 0))->calls++;
	w->shadow[w->n_shadow].slot = slot, w->shadow[w->n_shadow].site = site;
	w->shadow[w->n_shadow].function = function, w->shadow[w->n_shadow].entry = w->total;
	w->shadow[w->n_shadow++].outermost = w->active[function]++ == 0;
}

static inline void walk_end(struct walk *w)
{
	unsigned i = --w->n_shadow, function = w->shadow[i].function;
	w->active[function]--;
	if (w->shadow[i].outermost)
		walk_arc(w, w->shadow[i].site, walk_pc(function, 0, 0))->inclusive += w->total -
										      w->shadow[i].entry;
}

static inline void walk_end_below(struct walk *w, uint64_t slot) /* frames whose slot is below */
{
	while (w->n_shadow > 1 && w->shadow[w->n_shadow - 1].slot < slot)
		walk_end(w);
}

/* Into a function without a call; of an entry of a linkage table that jumps on, from where that was entered. */
static inline void walk_flow(struct walk *w, uint64_t site, unsigned function)
{
	uint64_t slot = w->shadow[w->n_shadow - 1].slot;
	unsigned n = w->n_shadow;
	while (n && w->shadow[n - 1].slot == slot && w->shadow[n - 1].function != function)
		n--;
	if (n && w->shadow[n - 1].slot == slot)
		while (w->n_shadow > n)
			walk_end(w);
	else
		walk_begin(w, site, slot, function);
}

/* ---- the walk ---- */

static inline uint64_t walk_slot(const struct walk *w) { return w->frames[w->depth].slot; }

static inline void walk_to(struct walk *w, unsigned function, unsigned block)
{
	w->function = function, w->block = block, w->half = 0;
}

static inline void walk_all(struct walk *w, unsigned number, unsigned done, uint64_t went, uint64_t slot)
{
	for (unsigned i = 0; i < WALK_STREAMS; i++)
		walk_execute(w->stream[i], number, done, went, slot);
}

static inline void walk_call(struct walk *w, uint64_t site, uint64_t slot, unsigned function, unsigned back)
{
	w->frames[w->depth].function = w->function, w->frames[w->depth].block = back, w->frames[w->depth].half = 0;
	w->depth++;
	w->frames[w->depth].slot = slot, w->frames[w->depth].handler = false;
	walk_begin(w, site, slot, function);
	walk_to(w, function, 0);
}

/* A signal comes before the block, or in its middle. */
static inline void walk_signal(struct walk *w)
{
	unsigned number = walk_number(w->function, w->block, 0);
	uint64_t slot = walk_slot(w) - 256;
	if (w->half == 0 && w->choose(2)) {
		walk_all(w, number, 2, 0, slot);
		w->half = 1, w->total += 2;
	}
	uint64_t pc = walk_pc(w->function, w->block, w->half);
	for (unsigned i = 0; i < WALK_STREAMS; i++) {
		struct walk_stream *s = w->stream[i];
		walk_break(s, pc);
		walk_put(s, trace_mark(TRACE_HANDLER, 0));
		walk_put(s, pc), walk_put(s, slot), walk_put(s, 0), walk_put(s, 0);
	}
	w->frames[w->depth].function = w->function, w->frames[w->depth].block = w->block;
	w->frames[w->depth].half = w->half;
	w->frames[++w->depth].slot = slot, w->frames[w->depth].handler = true;
	walk_to(w, w->choose(WALK_FUNCTIONS), 0);
}

static inline void walk_restore(struct walk *w)
{
	walk_all(w, WALK_RESTORER, UINT32_MAX, 0, 0);
	w->total += 4;
	for (unsigned i = 0; i < WALK_STREAMS; i++)
		walk_break(w->stream[i], walk_pc(w->function, w->block, w->half));
}

/* Where the function's return leads; 1: the first one's, to no block. */
static inline uint64_t walk_back(const struct walk *w)
{
	if (!w->depth)
		return 1;
	if (w->frames[w->depth].handler)
		return walk_pc(WALK_FUNCTIONS, 0, 0);
	return walk_pc(w->frames[w->depth - 1].function, w->frames[w->depth - 1].block, 0);
}

/* One block. False: the program's first function has returned. */
static inline bool walk_step(struct walk *w)
{
	unsigned f = w->function, b = w->block, number = walk_number(f, b, w->half), ending = w->ending[f][b],
		 to = w->to[f][b], other = to % WALK_FUNCTIONS, next = b + 1;
	uint64_t slot = walk_slot(w), sp = slot - w->locals[f], site = walk_pc(f, b, 0) + 15, went = 0, place = sp;
	bool taken = w->choose(2), from_linkage = w->linkage[f] && !b && !w->half;
	w->total += walk_counts(w, f, b, w->half);
	if (ending == WALK_RETURN)
		place = slot, went = walk_back(w);
	else if (ending == WALK_CALL || ending == WALK_NEXT || ending == WALK_POINTER)
		place = sp - 8;
	else if (ending == WALK_COMPUTED)
		place = slot, went = walk_pc(other, 0, 0);
	if (ending == WALK_POINTER)
		went = taken ? walk_pc(other, 0, 0) : walk_pc(f, next, 0);
	unsigned inside = 1 + to % (WALK_BLOCKS - 1), outer = w->depth;
	if (ending == WALK_SWITCH)
		went = walk_pc(f, inside, 0);
	else if (ending == WALK_AWAY && taken)
		went = walk_pc(other, 0, 0);
	for (unsigned up = 1 + to % 3; ending == WALK_LONGJMP && up && outer && !w->frames[outer].handler; up--)
		outer--;
	if (ending == WALK_LONGJMP && outer < w->depth) {
		unsigned g = w->frames[outer].function; /* which made the call there */
		place = w->frames[outer].slot - w->locals[g], went = walk_pc(g, inside, 0);
	} else if (ending == WALK_LONGJMP) {
		went = walk_pc(f, inside, 0);
	}
	walk_all(w, number, UINT32_MAX, went, place);
	switch (ending) {
	case WALK_BRANCH: walk_to(w, f, taken ? to % WALK_BLOCKS : next); return true;
	case WALK_AWAY:
		if (taken)
			walk_flow(w, site, other);
		walk_to(w, taken ? other : f, taken ? 0 : next);
		return true;
	case WALK_TAIL: walk_flow(w, site, other), walk_to(w, other, 0); return true;
	case WALK_COMPUTED:
		if (from_linkage && w->n_shadow > 1) {
			site = w->shadow[w->n_shadow - 1].site;
			slot = w->shadow[w->n_shadow - 1].slot;
			bool tail = w->shadow[w->n_shadow - 2].slot == slot;
			walk_end(w);
			if (tail)
				walk_flow(w, site, other);
			else
				walk_begin(w, site, slot, other);
		} else if (other != f) {
			walk_flow(w, site, other);
		}
		walk_to(w, other, 0);
		return true;
	case WALK_CALL: walk_call(w, site, place, other, next); return true;
	case WALK_POINTER:
		if (taken)
			walk_call(w, site, place, other, next);
		else
			walk_to(w, f, next);
		return true;
	case WALK_SWITCH: walk_to(w, f, inside); return true;
	case WALK_LONGJMP:
		walk_to(w, outer < w->depth ? w->frames[outer].function : f, inside);
		w->depth = outer;
		walk_end_below(w, place);
		return true;
	case WALK_RETURN:
		if (!w->depth)
			return false;
		w->depth--;
		walk_to(w, w->frames[w->depth].function, w->frames[w->depth].block);
		w->half = w->frames[w->depth].half;
		if (w->frames[w->depth + 1].handler)
			walk_restore(w);
		walk_end_below(w, slot + 1);
		return true;
	default: walk_to(w, f, next); return true;
	}
}

/* Walks at most so many blocks. signals: some come, and the graph that must be is not known (w->arcs). */
static inline void walk(struct walk *w, unsigned steps, bool signals)
{
	walk_program(w);
	for (unsigned i = 0; i < WALK_STREAMS; i++)
		w->stream[i] = walk_stream_new(w, i / 2, i & 1);
	w->frames[0].slot = 0x7fff00000000u;
	walk_begin(w, RECORD_NO_SITE, ~0ull, 0);
	bool goes_on = true, flows = false;
	for (unsigned n = 0; goes_on && (n < steps || (flows && n < WALK_STEPS)); n++) {
		if (signals && !flows && w->choose(16) == 15)
			walk_signal(w);
		unsigned ending = w->ending[w->function][w->block];
		flows = ending == WALK_AWAY || ending == WALK_TAIL;
		goes_on = walk_step(w);
		for (unsigned i = 0; i < WALK_STREAMS; i++)
			if (w->stream[i]->n > WALK_WORDS / 2 || w->choose(50) == 49)
				walk_run(w->stream[i]);
	}
	for (unsigned i = 0; i < WALK_STREAMS; i++) {
		if (goes_on)
			walk_break(w->stream[i], walk_pc(w->function, w->block, w->half));
		walk_run(w->stream[i]);
	}
	while (w->n_shadow)
		walk_end(w);
	w->known = !signals && !flows;
}

static inline void walk_free(struct walk *w)
{
	for (unsigned i = 0; i < WALK_STREAMS; i++)
		walk_stream_free(w->stream[i]);
}

static inline const struct record_call_arc *walk_found(const struct walk_stream *s, uint64_t site, uint64_t callee)
{
	const struct record_call_arc *arcs = (const struct record_call_arc *)((const uint8_t *)s->record +
									      s->record->arcs);
	for (uint32_t i = 0; i < s->record->n_arcs; i++)
		if (arcs[i].site == site && arcs[i].callee == callee)
			return &arcs[i];
	return NULL;
}

/* Two streams have the same graph, and have told the same losses. A thread's other stacks are the only ones: there is
 * no room for them here, and handlers within handlers can look like one (calls_switch()). */
static inline bool walk_same(const struct walk_stream *a, const struct walk_stream *b)
{
	const struct record_call_arc *arcs = (const struct record_call_arc *)((const uint8_t *)a->record +
									      a->record->arcs);
	bool same = a->record->n_arcs == b->record->n_arcs && a->stack.totals[0] == b->stack.totals[0] &&
		    a->record->lost == b->record->lost && !(a->record->lost & ~(uint32_t)RECORD_LOST_STACKS);
	for (uint32_t i = 0; same && i < a->record->n_arcs; i++) {
		const struct record_call_arc *other = walk_found(b, arcs[i].site, arcs[i].callee);
		same = other && other->calls == arcs[i].calls && other->inclusive[0] == arcs[i].inclusive[0];
	}
	return same;
}

/* … and it is the one that must be. */
static inline bool walk_right(const struct walk *w, const struct walk_stream *s)
{
	bool right = s->record->n_arcs == w->n_arcs && s->stack.totals[0] == w->total && !s->record->lost;
	for (unsigned i = 0; right && i < w->n_arcs; i++) {
		const struct record_call_arc *arc = walk_found(s, w->arcs[i].site, w->arcs[i].callee);
		right = arc && arc->calls == w->arcs[i].calls && arc->inclusive[0] == w->arcs[i].inclusive;
	}
	return right;
}

#endif
