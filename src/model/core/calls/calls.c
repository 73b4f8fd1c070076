#include "model/core/calls/inside.h"

/* ---- tables ---- */

static uint32_t hash(uint64_t a, uint64_t b)
{
	uint64_t h = (a * 0x9e3779b97f4a7c15u) ^ (b * 0xc2b2ae3d27d4eb4fu);
	return (uint32_t)(h ^ h >> 32);
}

uint32_t calls_function(struct calls *calls, uint64_t begins)
{
	struct calls_functions *f = &calls->functions;
	uint32_t at = hash(begins, 0) & (f->n_slots - 1);
	for (; f->slots[at]; at = (at + 1) & (f->n_slots - 1))
		if (f->begins[f->slots[at]] == begins)
			return f->slots[at];
	if (f->n + 1 >= f->most) {
		calls->record->lost |= RECORD_LOST_FUNCTIONS;
		return 0;
	}
	f->begins[++f->n] = begins;
	f->slots[at] = f->n;
	return f->n;
}

uint32_t calls_arc_of(struct calls *calls, const struct calls_frame *frame)
{
	struct record_call_arc *arcs = calls_arcs(calls);
	uint64_t callee = calls->functions.begins[frame->function];
	uint32_t at = hash(frame->site, callee) & (calls->n_slots - 1), n = calls->record->n_arcs;
	for (; calls->slots[at]; at = (at + 1) & (calls->n_slots - 1)) {
		const struct record_call_arc *arc = &arcs[calls->slots[at] - 1];
		if (arc->site == frame->site && arc->callee == callee && arc->site_module == frame->site_module &&
		    arc->callee_module == frame->module)
			return calls->slots[at] - 1;
	}
	if (n == calls->record->most_arcs) {
		calls->record->lost |= RECORD_LOST_ARCS;
		return 0;
	}
	arcs[n] = (struct record_call_arc){.site = frame->site,
					   .callee = callee,
					   .site_module = frame->site_module,
					   .callee_module = frame->module};
	calls->slots[at] = n + 1;
	__atomic_store_n(&calls->record->n_arcs, n + 1, __ATOMIC_RELEASE);
	return n;
}

/* ---- frames ---- */

void calls_settle_frame(struct calls *calls, const struct calls_stack *s, struct calls_frame *f)
{
	struct record_call_arc *arc = &calls_arcs(calls)[f->arc];
	for (uint32_t e = 0; e < calls->record->n_events; e++) {
		if (f->outermost)
			arc->inclusive[e] += s->totals[e] - f->entry[e];
		f->entry[e] = s->totals[e];
	}
}

static void pop(struct calls *calls, struct calls_stack *s)
{
	struct calls_frame *f = calls_top(s);
	calls_settle_frame(calls, s, f);
	s->active[f->function]--;
	/* its calls' slots lie far below what it interrupted: a signal frame is in between */
	if (f->first)
		s->high = 0;
	s->n--;
}

/* Where a frame comes from. Small: one is made for each block, and to clear a whole frame takes longer than the
 * rest. */
struct origin {
	uint64_t slot, site;
	uint32_t site_module;
	bool handler; /* of a signal: s->low and s->bytes are of its stack */
};

static void push(struct calls *calls, struct calls_stack *s, struct origin from, uint32_t function,
		 const struct calls_block *block)
{
	if (s->n == s->most) {
		calls->record->lost |= RECORD_LOST_FRAMES;
		return;
	}
	struct calls_frame *f = &s->frames[s->n++];
	f->slot = from.slot, f->site = from.site, f->site_module = from.site_module;
	f->low = from.handler ? s->low : 0, f->bytes = from.handler ? s->bytes : 0;
	f->kind = from.handler ? CALLS_SIGNAL : CALLS_FRAME;
	f->first = from.handler && !s->high;
	f->function = function, f->module = block->module;
	f->nameless = !block->function;
	f->linkage = (block->flags & CALLS_LINKAGE) != 0;
	f->call = 0, f->resolves = 0;
	f->arc = calls_arc_of(calls, f);
	f->outermost = s->active[f->function]++ == 0;
	for (uint32_t e = 0; e < calls->record->n_events; e++)
		f->entry[e] = s->totals[e];
	calls_arcs(calls)[f->arc].calls++;
}

/* Control came to a block: which function that is the begin of. */
static uint32_t function_at(struct calls *calls, uint64_t pc, const struct calls_block *block)
{
	return block->function ? block->function : calls_function(calls, pc);
}

static void begin(struct calls *calls, struct calls_stack *s, struct origin from, uint64_t pc,
		  const struct calls_block *block)
{
	push(calls, s, from, function_at(calls, pc, block), block);
}

/* Frames whose slot is below `to` have been left. A handler that has a stack of its own: those that lie on it are
 * told from those that it interrupted. */
static void drop_below(struct calls *calls, struct calls_stack *s, uint64_t to)
{
	while (s->n > 1 && calls_top(s)->slot < to) {
		const struct calls_frame *f = calls_top(s);
		if (f->kind == CALLS_SIGNAL && f->bytes && to - f->low <= f->bytes && to != f->slot + 1)
			return; /* it goes on, on its own stack */
		bool done = f->kind == CALLS_SIGNAL && to == f->slot + 1;
		pop(calls, s);
		if (done) /* it returned; the slots below may be of another stack */
			return;
	}
}

/* ---- from function to function ---- */

static bool is_in(const struct calls_frame *f, const struct calls_block *block)
{
	return block->function ? f->function == block->function : f->nameless && f->module == block->module;
}

/* Control came from one block to the next, without a call. */
static void flow(struct calls *calls, struct calls_stack *s, uint64_t pc, const struct calls_block *block)
{
	uint64_t slot = calls_top(s)->slot;
	uint32_t n = s->n;
	while (n && s->frames[n - 1].slot == slot && !is_in(&s->frames[n - 1], block))
		n = s->frames[n - 1].kind == CALLS_SIGNAL ? 0 : n - 1;
	if (n && s->frames[n - 1].slot == slot) { /* back in a function of the group */
		while (s->n > n)
			pop(calls, s);
		return;
	}
	begin(calls, s, (struct origin){slot, s->site, s->site_module, false}, pc, block);
}

/* What an entry of a linkage table was called as goes on at another place. index: its frame's. */
static void forward(struct calls *calls, struct calls_stack *s, uint32_t index, uint64_t pc,
		    const struct calls_block *block)
{
	const struct calls_frame *f = &s->frames[index];
	const struct origin entry = {f->slot, f->site, f->site_module, false};
	bool tail = index && s->frames[index - 1].slot == entry.slot;
	while (s->n > index)
		pop(calls, s);
	s->site = entry.site, s->site_module = entry.site_module;
	if (tail)
		flow(calls, s, pc, block);
	else
		begin(calls, s, entry, pc, block);
}

/* An indirect jump, with the stack pointer that it had. True: it was a linkage table's, and is done. */
static bool jumped(struct calls *calls, struct calls_stack *s, uint64_t pc, const struct calls_block *block)
{
	struct calls_frame *top = calls_top(s);
	if (top->linkage && s->n > 1) {
		top->linkage = 0;
		if (block->flags & CALLS_BINDS) {
			top->resolves = 1;
			return false;
		}
		forward(calls, s, s->n - 1, pc, block);
		return true;
	}
	for (uint32_t n = s->n; s->slot == top->slot && n > 1 && s->frames[n - 1].slot == top->slot; n--)
		if (s->frames[n - 1].resolves) {
			forward(calls, s, n - 1, pc, block);
			return true;
		}
	return false;
}

/* Should a return lead into another function than the call was in, that one was called where the call is. */
static void return_site(struct calls_stack *s)
{
	for (uint32_t n = s->n; n > 1 && s->frames[n - 1].slot <= s->slot; n--)
		if (s->frames[n - 1].slot == s->slot)
			s->site = s->frames[n - 1].site, s->site_module = s->frames[n - 1].site_module;
}

/* What a process, a thread or a coroutine begins with. */
static const struct origin uncalled = {~0ull, RECORD_NO_SITE, RECORD_NONE, false};

static void arrive(struct calls *calls, struct calls_stack *s, uint64_t pc, const struct calls_block *block)
{
	uint32_t pending = s->pending;
	const struct origin from = {s->slot, s->site, s->site_module, pending == CALLS_HANDLER};
	s->pending = CALLS_NOTHING;
	if (!s->n) {
		begin(calls, s, uncalled, pc, block);
		return;
	}
	switch (pending) {
	case CALLS_CALL:
		if (pc == s->behind)
			break;
		drop_below(calls, s, s->slot + 1);
		if (s->slot > s->high)
			s->high = s->slot;
		begin(calls, s, from, pc, block);
		return;
	case CALLS_HANDLER: begin(calls, s, from, pc, block); return;
	case CALLS_RETURN:
		if (s->slot != calls_top(s)->slot)
			calls_switch(calls, s, pc, block);
		if (!s->n)
			break;
		return_site(s);
		drop_below(calls, s, s->slot + 1);
		break;
	case CALLS_JUMP:
		calls_switch(calls, s, pc, block);
		if (!s->n)
			break;
		drop_below(calls, s, s->slot);
		if (jumped(calls, s, pc, block))
			return;
		break;
	default: break;
	}
	if (!s->n) /* on a stack of its own */
		begin(calls, s, uncalled, pc, block);
	else if (!is_in(calls_top(s), block))
		flow(calls, s, pc, block);
}

/* ---- the stream ---- */

/* The address that a block's last item has: of a call's or return's slot, or the stack pointer at an indirect
 * jump. */
static uint64_t last_address(const struct trace_program *program, const struct trace_block *block,
			     const uint64_t *values)
{
	const struct trace_item *item = &program->items[block->first_item + block->items - 1u];
	return (uint64_t)item->displacement + (item->value == TRACE_NO_VALUE ? 0 : values[item->value]);
}

static void end_block(struct calls_stack *s, const struct trace_program *program, const struct trace_block *block,
		      const struct calls_block *known, const uint64_t *values)
{
	s->behind = block->pc + block->length;
	s->site = s->behind - 1;
	s->site_module = known->module;
	s->last = (uint32_t)(block - program->blocks);
	s->pending = CALLS_NOTHING;
	s->conditional = block->ending == TRACE_END_CONDITIONAL;
	if (!block->items)
		return;
	switch (block->ending) {
	case TRACE_END_CALL:
	case TRACE_END_INDIRECT_CALL: s->pending = block->target == s->behind ? CALLS_NOTHING : CALLS_CALL; break;
	case TRACE_END_RETURN: s->pending = CALLS_RETURN; break;
	case TRACE_END_INDIRECT_JUMP: s->pending = CALLS_JUMP; break;
	default: return;
	}
	s->slot = last_address(program, block, values);
	s->went = block->quiet && block->ending != TRACE_END_CALL ? values[0] : 0;
}

void calls_resolve(const struct calls *calls, struct calls_stack *s, uint64_t went_to)
{
	for (uint32_t e = 0; s->conditional && went_to != s->behind && e < calls->record->n_events; e++)
		s->totals[e] += (uint64_t)(int64_t)calls->taken[e];
	s->conditional = false;
}

static void add_units(const struct calls *calls, struct calls_stack *s, const struct calls_block *known,
		      uint64_t units)
{
	for (uint32_t e = 0; e < calls->record->n_events; e++)
		s->totals[e] += known->each[e] * units;
}

/* Of a block whose last instruction is a rep one, which its last item is of: the iterations that it made. */
static uint64_t iterations(const struct trace_program *program, const struct trace_block *block,
			   const uint64_t *values, uint32_t done)
{
	const struct trace_item *item = &program->items[block->first_item + block->items - 1u];
	if (!block->items || (item->kind != TRACE_REP_READ && item->kind != TRACE_REP_WRITE) || item->insn > done)
		return 0;
	int64_t moved = (int64_t)(values[item->second] - values[item->value]);
	return (moved < 0 ? 0 - (uint64_t)moved : (uint64_t)moved) / item->bytes;
}

/* A function of its own: its array is cleared only where it is needed. */
static __attribute__((noinline)) void count_part(const struct calls *calls, struct calls_stack *s, uint32_t number,
						 uint32_t done)
{
	uint64_t counts[RECORD_CALL_EVENTS] = {0};
	calls->partial(number, done, counts);
	for (uint32_t e = 0; e < calls->record->n_events; e++)
		s->totals[e] += counts[e];
}

static void count_block(const struct calls *calls, struct calls_stack *s, const struct trace_program *program,
			uint32_t number, const uint64_t *values, uint32_t done)
{
	const struct trace_block *block = &program->blocks[number];
	const struct calls_block *known = &calls->blocks[number];
	if (done >= block->insns) {
		for (uint32_t e = 0; e < calls->record->n_events; e++)
			s->totals[e] += known->counts[e];
	} else {
		count_part(calls, s, number, done);
	}
	if (known->unit == CALLS_ITERATIONS)
		add_units(calls, s, known, iterations(program, block, values, done));
	s->spans_block = known->unit == CALLS_READ_BYTES || known->unit == CALLS_WRITTEN_BYTES ? number + 1 : 0;
}

/* words: behind the mark */
static void count_spans(const struct calls *calls, struct calls_stack *s, const struct trace_program *program,
			uint32_t item, const uint64_t *words)
{
	const struct calls_block *known = s->spans_block ? &calls->blocks[s->spans_block - 1] : NULL;
	uint64_t bytes = 0;
	if (!known || (program->items[item].kind == TRACE_SPANS_WRITE) != (known->unit == CALLS_WRITTEN_BYTES))
		return;
	for (uint64_t i = 0; i < words[0]; i++)
		bytes += words[2 + 2 * i] & TRACE_SPAN_BYTES;
	add_units(calls, s, known, bytes);
}

/* Quiet blocks of the function were executed since the newest record: control came to one of them. */
static void arrive_quietly(struct calls *calls, struct calls_stack *s, const struct calls_block *known,
			   uint64_t quiet)
{
	const struct calls_block block = {.function = known->function, .module = known->module};
	if (known->function || !s->n)
		arrive(calls, s, s->went, &block);
	s->totals[0] += quiet - s->quiet;
	s->quiet = quiet;
}

static void run_block(struct calls *calls, struct calls_stack *s, const struct trace_program *program,
		      uint32_t number, const uint64_t *values, uint32_t done)
{
	const struct trace_block *block = &program->blocks[number];
	const struct calls_block *known = &calls->blocks[number];
	if (block->quiet && values[block->quiet - 1] != s->quiet)
		arrive_quietly(calls, s, known, values[block->quiet - 1]);
	else
		arrive(calls, s, block->pc, known);
	count_block(calls, s, program, number, values, done);
	if (done >= block->insns)
		end_block(s, program, block, known, values);
}

/* Control went where `address` is, and then elsewhere: a signal came before anything was executed there. */
static void broken(struct calls *calls, struct calls_stack *s, uint64_t address)
{
	struct calls_block block;
	if (s->pending == CALLS_NOTHING || !s->n)
		return;
	calls->place(address, &block);
	arrive(calls, s, address, &block);
}

/* ---- the models, as far as the newest frame stays the same ---- */

struct calls_cut {
	const uint64_t *entries;
	size_t from; /* entries before are run */
};

static void cut(struct calls *calls, struct calls_stack *s, struct calls_cut *at, size_t to, uint64_t went_to)
{
	if (!calls->model)
		return;
	if (to > at->from)
		calls->model(calls->model_context, at->entries + at->from, to - at->from, went_to, s->totals);
	at->from = to;
}

static bool stays(const struct calls_stack *s, const struct calls_block *block)
{
	return s->pending == CALLS_NOTHING && s->n && is_in(&s->frames[s->n - 1], block);
}

void calls_run(struct calls *calls, struct calls_stack *s, const struct trace_program *program,
	       const uint64_t *entries, size_t n)
{
	struct calls_cut run = {entries, 0};
	struct calls_block block;
	for (size_t i = 0; i < n;) {
		if (calls->steps && (i = calls_run_quick(calls, s, entries, i, n)) == n)
			break;
		size_t record = i;
		uint64_t header = entries[i++];
		uint32_t done = UINT32_MAX;
		if (header & TRACE_MARK) {
			switch (trace_mark_kind(header)) {
			case TRACE_PARTIAL:
				done = trace_mark_argument(header);
				header = entries[i++];
				break;
			case TRACE_BREAK:
				calls_resolve(calls, s, entries[i]);
				if (!trace_mark_argument(header)) {
					cut(calls, s, &run, i + 1, CALLS_UNSAID);
					broken(calls, s, entries[i]);
				}
				i++;
				continue;
			case TRACE_HANDLER:
				calls->place(entries[i], &block); /* not of the block before: it may lead there */
				s->pending = CALLS_HANDLER, s->site_module = block.module;
				s->site = entries[i], s->slot = entries[i + 1], s->low = entries[i + 2],
				s->bytes = entries[i + 3];
				i += 4;
				continue;
			case TRACE_RETURNED:
				calls_resolve(calls, s, entries[i]);
				cut(calls, s, &run, i + 2, CALLS_UNSAID);
				if (s->pending != CALLS_NOTHING)
					broken(calls, s, entries[i]);
				drop_below(calls, s, entries[i + 1] + 1);
				i += 2;
				continue;
			case TRACE_QUIET:
				calls->place(entries[i + 1], &block);
				if (entries[i] != s->quiet)
					arrive_quietly(calls, s, &block, entries[i]);
				i += 2;
				continue;
			case TRACE_PAGES:
			case TRACE_ALLOCATED: i += 3; continue;
			case TRACE_FREED: i++; continue;
			case TRACE_SPANS:
				count_spans(calls, s, program, trace_mark_argument(header), entries + i);
				i += 1 + 2 * entries[i];
				continue;
			default: continue;
			}
		}
		calls_resolve(calls, s, program->blocks[(uint32_t)header].pc);
		if (!stays(s, &calls->blocks[(uint32_t)header]))
			cut(calls, s, &run, record, program->blocks[(uint32_t)header].pc);
		run_block(calls, s, program, (uint32_t)header, entries + i, done);
		if (!(program->blocks[(uint32_t)header].flags & TRACE_INLINED))
			i += program->blocks[(uint32_t)header].values;
	}
	cut(calls, s, &run, n, CALLS_UNSAID);
}

void calls_settle(struct calls *calls, struct calls_stack *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		calls_settle_frame(calls, s, &s->frames[i]);
}

void calls_move_kept(struct calls *calls)
{
	for (uint32_t i = 0; i < calls->n_kept; i++)
		for (uint32_t k = 0; k < calls->kept[i].n; k++)
			calls->kept[i].frames[k].arc = calls_arc_of(calls, &calls->kept[i].frames[k]);
}

void calls_move(struct calls *calls, struct calls_stack *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct calls_frame *f = &s->frames[i];
		f->arc = calls_arc_of(calls, f);
		for (uint32_t e = 0; e < RECORD_CALL_EVENTS; e++)
			f->entry[e] = s->totals[e];
	}
}
