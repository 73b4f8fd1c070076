/*
 * The call graph (model/core/calls/calls.h) in this process: its memory, where functions begin, and what each
 * block counts.
 *
 *     a block is translated ──► its module ──(first block of it: the host is asked)──► its functions ──► calls_block
 *     a buffer is run ──► calls_run() ──► arcs in the record
 *
 * What always holds:
 *  1. rt.models_lock is held where the graph, or the table of functions, changes.
 *  2. Modules of the graph are never forgotten and have numbers of their own: parts of the record and unloaded
 *     libraries change none. A module is known by its place, its file, and its part of that file.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/translation.h"
#include "engine/x86/vector.h"
#include "engine/x86/xstate.h"
#include "model/core/calls/calls.h"

#define FUNCTIONS_MOST (1u << 18)
#define FUNCTIONS_MOST_LIMITED (1u << 14)
#define FRAMES_MOST (1u << 20)
#define FRAMES_MOST_LIMITED (1u << 13)
#define KEPT_MOST 1024u
#define KEPT_MOST_LIMITED 16u

static struct calls calls;
static struct calls_block *blocks;
static uint8_t *quiet; /* by block: see quiet_of() */
static struct calls_step *steps;
static struct {
	struct record_module module;
	const struct record_functions *functions; /* NULL: not known */
} modules[RECORD_CALL_MODULES];
static uint32_t n_modules;
static uint32_t graph_number[RECORD_MODULES_MOST]; /* by the record's number: the graph's + 1; 0: not known yet */

static uint32_t frames_most(void) { return rt.limited ? FRAMES_MOST_LIMITED : FRAMES_MOST; }

/* ---- modules ---- */

static struct record_module *modules_of(struct record_calls *record)
{
	return (struct record_module *)((uint8_t *)record + record->modules);
}

/* The host is asked for the functions of what was entered last (wire/record.h). */
static const struct record_functions *ask_functions(uint32_t module)
{
	struct record_process *process = rt.process;
	struct {
		int64_t seconds, ns;
	} wait = {0, 100000000};
	if (!attendant_lives())
		return NULL;
	process->ask_module = module;
	process->functions = 0;
	__atomic_store_n(&process->ask, RECORD_ASK_FUNCTIONS, __ATOMIC_RELEASE);
	request(process);
	while (__atomic_load_n(&process->ask, __ATOMIC_ACQUIRE) == RECORD_ASK_FUNCTIONS) {
		if (!attendant_lives())
			return NULL;
		sys4(SYS_futex, &process->ask, FUTEX_WAIT_, RECORD_ASK_FUNCTIONS, &wait);
	}
	uint64_t offset = process->functions, bytes = process->functions_bytes;
	return offset ? record_map(offset, bytes, NULL) : NULL;
}

/* Its number in the graph, of one that the record got last. Under rt.lock. */
static uint32_t fresh_module(const struct record_module *module)
{
	uint32_t last;
	for (last = 0; last < n_modules; last++)
		if (!memcmp(&modules[last].module, module, sizeof *module))
			return last;
	if (n_modules == calls.record->most_modules) {
		calls.record->lost |= RECORD_LOST_FUNCTIONS;
		return RECORD_NONE;
	}
	modules[last].module = *module;
	modules_of(calls.record)[last] = *module;
	__atomic_store_n(&calls.record->n_modules, last + 1, __ATOMIC_RELEASE);
	modules[last].functions = module->path[0] ? ask_functions(last) : NULL;
	__atomic_store_n(&n_modules, last + 1, __ATOMIC_RELEASE);
	return last;
}

/* By the record's number, which a forked child has from its parent. Under rt.lock. */
static uint32_t module_of(uint32_t number)
{
	if (number >= RECORD_MODULES_MOST || number >= rt.areas[AREA_MODULES].count)
		return RECORD_NONE;
	if (!graph_number[number]) {
		if (number < rt.modules_inherited)
			return RECORD_NONE; /* no code of it was executed before the fork */
		graph_number[number] = fresh_module(&rt.record_modules[number - rt.modules_inherited]) + 1;
	}
	return graph_number[number] - 1;
}

/* A copy of the process will not have the record's modules. */
void stream_calls_fork(struct thread *t)
{
	if (!calls.record)
		return;
	stream_flush(t); /* the graph goes on in the copy where it is */
	for (uint32_t i = 0; i < rt.areas[AREA_MODULES].count; i++)
		module_of(i);
}

static uint64_t shift_of(uint32_t module) /* from an address to an offset in the file */
{
	return modules[module].module.file_offset - modules[module].module.address;
}

/* How many pieces of functions begin at pc or before. */
static uint64_t pieces_before(uint32_t module, uint64_t pc)
{
	const struct record_functions *f = modules[module].functions;
	uint64_t offset = pc + shift_of(module), low = 0, high = f ? f->n : 0;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (f->all[middle].low <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Where the function begins that pc is in; 0: in none that is known. */
static uint64_t begin_of(uint32_t module, uint64_t pc)
{
	uint64_t n = module == RECORD_NONE ? 0 : pieces_before(module, pc);
	const struct record_function *piece = n ? &modules[module].functions->all[n - 1] : NULL;
	return piece && pc + shift_of(module) < piece->high ? piece->begins - shift_of(module) : 0;
}

uint64_t stream_calls_cut(uint32_t number, uint64_t pc)
{
	uint32_t module = calls.record ? module_of(number) : RECORD_NONE;
	if (module == RECORD_NONE || !modules[module].functions)
		return ~0ull;
	const struct record_functions *f = modules[module].functions;
	uint64_t n = pieces_before(module, pc), shift = shift_of(module);
	if (n && pc + shift < f->all[n - 1].high)
		return f->all[n - 1].high - shift;
	return n < f->n ? f->all[n].low - shift : ~0ull;
}

/* rt.models_lock is held. */
static void describe(uint64_t pc, uint32_t module, struct calls_block *out)
{
	uint64_t begins = begin_of(module, pc);
	*out = (struct calls_block){.module = module, .function = begins ? calls_function(&calls, begins) : 0};
}

static void place(uint64_t pc, struct calls_block *out)
{
	uint32_t n = __atomic_load_n(&n_modules, __ATOMIC_ACQUIRE);
	while (n && pc - modules[n - 1].module.address >= modules[n - 1].module.length)
		n--;
	describe(pc, n - 1, out); /* 0 - 1: RECORD_NONE */
}

/* ---- what a block counts ---- */

/* How often the event has the count in it. */
static unsigned times_in(const struct record_call_event *event, unsigned count)
{
	unsigned n = 0;
	for (unsigned i = 0; i < sizeof event->plus && event->plus[i]; i++)
		n += event->plus[i] == count + 1;
	return n;
}

static uint64_t sum_of(const struct record_call_event *event, const struct exact_vector *vector)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < sizeof event->plus && event->plus[i]; i++)
		if (event->plus[i] <= COUNT_STATIC)
			sum += vector->of[event->plus[i] - 1];
	return sum;
}

static void partial(uint32_t block, uint32_t done, uint64_t counts[RECORD_CALL_EVENTS])
{
	const struct block *b = &rt.blocks[block];
	struct exact_vector vector = {0};
	struct exact_each each;
	struct x86_insn insn;
	for (uint32_t i = 0, at = 0; i < done && at < b->length; i++, at += insn.length) {
		if (x86_decode(b->bytes + at, b->length - at, &insn) != X86_DECODE_OK)
			break;
		exact_vector_add(&vector, &insn, &each);
	}
	for (uint32_t e = 0; e < rt.setup->call_event_count; e++)
		counts[e] = sum_of(&rt.setup->call_events[e], &vector);
}

static uint8_t unit_of(const struct exact_each *each)
{
	bool writes = false;
	for (unsigned i = 0; i < each->n; i++)
		writes |= each->adds[i].of == COUNT_WRITE_BYTES;
	return each->unit == EXACT_NONE         ? CALLS_NO_UNIT
	       : each->unit == EXACT_ITERATIONS ? CALLS_ITERATIONS
	       : writes                         ? CALLS_WRITTEN_BYTES
						: CALLS_READ_BYTES;
}

static void describe_counts(const struct translation *tr, struct calls_block *out)
{
	struct exact_vector vector = {0};
	struct exact_each each = {0}; /* of the last instruction: others have none */
	const struct x86_insn *last = &tr->decoded.insn[tr->decoded.count - 1];
	for (unsigned k = 0; k < tr->decoded.count; k++)
		exact_vector_add(&vector, &tr->decoded.insn[k], &each);
	for (uint32_t e = 0; e < rt.setup->call_event_count; e++) {
		out->counts[e] = (uint32_t)sum_of(&rt.setup->call_events[e], &vector);
		for (unsigned i = 0; i < each.n; i++)
			out->each[e] += (uint16_t)(each.adds[i].times *
						   times_in(&rt.setup->call_events[e], each.adds[i].of));
	}
	for (uint32_t e = 0; e < rt.setup->call_event_count; e++)
		if (out->each[e])
			out->unit = unit_of(&each);
	if (calls.counts_taken && tr->plan.ending == TRACE_END_CONDITIONAL && !last->target_rel)
		calls.record->lost |= RECORD_LOST_BRANCHES;
}

bool stream_calls_needs_items(const struct x86_insn *insn)
{
	struct exact_vector vector = {0};
	struct exact_each each;
	exact_vector_add(&vector, insn, &each);
	for (uint32_t e = 0; e < rt.setup->call_event_count; e++)
		for (unsigned i = 0; i < each.n; i++)
			if (times_in(&rt.setup->call_events[e], each.adds[i].of))
				return true;
	return false;
}

/* ---- events of the models ---- */

static uint64_t watched_sum(const struct record_call_event *event, const uint64_t watched[MODEL_WATCHES])
{
	uint64_t sum = 0;
	for (unsigned w = 0; w < MODEL_WATCHES; w++)
		if (event->parts >> w & 1)
			sum += event->parts_minus >> w & 1 ? 0 - watched[w] : watched[w];
	return sum;
}

/* context: the thread */
static void run_models(void *context, const uint64_t *entries, size_t n, uint64_t went_to,
		       uint64_t totals[RECORD_CALL_EVENTS])
{
	uint64_t before[MODEL_WATCHES], after[MODEL_WATCHES];
	const uint64_t said[2] = {trace_mark(TRACE_BREAK, 1), went_to};
	stream_watched(context, before);
	stream_run_models(context, entries, n);
	if (went_to != CALLS_UNSAID)
		stream_run_models(context, said, 2);
	stream_watched(context, after);
	for (uint32_t e = 0; e < rt.setup->call_event_count; e++)
		totals[e] += watched_sum(&rt.setup->call_events[e], after) -
			     watched_sum(&rt.setup->call_events[e], before);
}

/* ---- blocks ---- */

static uint32_t flags_of(const struct decoded *d)
{
	const struct x86_insn *first = &d->insn[0], *last = &d->insn[d->count - 1];
	unsigned rest = d->count - (x86_is_endbr64(d->bytes) ? 1 : 0);
	if (rest == 1 && last->flow == X86_FLOW_JMP_MEM && last->rip_relative)
		return CALLS_LINKAGE;
	if (rest == 2 && last->flow == X86_FLOW_JMP && first[d->count - 2].opcode == 0x68)
		return CALLS_BINDS;
	return 0;
}

/* Is the instruction at pc in the same function as the block? */
static bool stays_in(const struct calls_block *known, uint64_t pc)
{
	const struct record_module *module = &modules[known->module].module;
	return pc - module->address < module->length &&
	       begin_of(known->module, pc) == calls.functions.begins[known->function];
}

#define QUIET_MOST 127u   /* what an add's short immediate holds */
#define QUIET_LEAVES 128u /* beside the count: see stream_leaves() */

/* For `quiet`. The block stays in its function, or leaves it by a conditional branch that is taken and not
 * otherwise. What it counts is fixed, and not 0, so that the sum tells whether any was executed. Only in context
 * 0: a region's end takes records back (region/way.c). */
static unsigned quiet_of(const struct translation *tr, const struct trace_block *block,
			 const struct calls_block *known)
{
	const struct x86_insn *last = &tr->decoded.insn[tr->decoded.count - 1];
	uint64_t next = block->pc + block->length, target = next + (uint64_t)(int64_t)last->target_rel;
	bool conditional = block->ending == TRACE_END_CONDITIONAL, jump = last->flow == X86_FLOW_JMP;
	if (!calls.quiet || tr->decoded.context || !known->function || known->flags || block->items ||
	    known->unit != CALLS_NO_UNIT || block->values != 1 || !known->counts[0] ||
	    known->counts[0] > QUIET_MOST)
		return 0;
	if (last->flow != X86_FLOW_NONE && !conditional && !jump)
		return 0;
	if (!jump && !stays_in(known, next))
		return 0;
	if (!(jump || conditional) || stays_in(known, target))
		return known->counts[0];
	return last->flow == X86_FLOW_JCC ? known->counts[0] | QUIET_LEAVES : 0;
}

unsigned stream_quiet(uint32_t id) { return rt.trace_quiet ? quiet[id] & QUIET_MOST : 0; }

bool stream_leaves(uint32_t id) { return rt.trace_quiet && quiet[id] & QUIET_LEAVES; }

void stream_calls_block(const struct translation *tr, uint32_t id, uint32_t module)
{
	if (!calls.record || !tr->decoded.count)
		return;
	const struct trace_program program = {rt.templates, rt.items};
	uint32_t own = module_of(module);
	lock_word(&rt.models_lock);
	describe(tr->decoded.pc, own, &blocks[id]);
	unlock_word(&rt.models_lock);
	blocks[id].flags = flags_of(&tr->decoded);
	describe_counts(tr, &blocks[id]);
	quiet[id] = (uint8_t)quiet_of(tr, &rt.templates[id], &blocks[id]);
	calls_describe_step(&calls, &program, id, &steps[id]);
}

/* ---- processes and threads ---- */

static bool open_record(struct record_process *process)
{
	struct record_calls layout = {0};
	record_calls_lay_out(&layout, rt.setup->call_event_count, rt.limited);
	uint64_t offset = record_reserve(layout.bytes);
	struct record_calls *fresh = record_map(offset, layout.bytes, NULL);
	if (!fresh)
		return false;
	*fresh = layout;
	for (uint32_t i = 0; i < n_modules; i++)
		modules_of(fresh)[i] = modules[i].module;
	fresh->n_modules = n_modules;
	if (calls.record) {
		fresh->lost = calls.record->lost;
		sys2(SYS_munmap, calls.record, layout.bytes);
	}
	calls.record = fresh;
	process->calls = offset;
	return true;
}

bool stream_calls_open(struct record_process *process)
{
	struct calls_functions *f = &calls.functions;
	if (!(rt.setup->flags & RECORD_CALLS))
		return true;
	if (!open_record(process))
		return false;
	f->most = rt.limited ? FUNCTIONS_MOST_LIMITED : FUNCTIONS_MOST;
	f->n_slots = 2 * f->most;
	f->begins = memory_private(f->most * sizeof *f->begins);
	f->slots = memory_private(f->n_slots * sizeof *f->slots);
	calls.n_slots = 2 * calls.record->most_arcs;
	calls.slots = memory_private(calls.n_slots * sizeof *calls.slots);
	calls.kept_most = rt.limited ? KEPT_MOST_LIMITED : KEPT_MOST;
	calls.kept = memory_private(calls.kept_most * sizeof *calls.kept);
	struct calls_frame *frames = memory_private((uint64_t)calls.kept_most * CALLS_KEPT_FRAMES *
						    sizeof *frames);
	for (uint32_t i = 0; i < calls.kept_most; i++)
		calls.kept[i].frames = frames + (uint64_t)i * CALLS_KEPT_FRAMES;
	calls.blocks = blocks = memory_private((uint64_t)rt.blocks_max * sizeof *blocks);
	quiet = memory_private((uint64_t)rt.blocks_max * sizeof *quiet);
	steps = memory_private((uint64_t)rt.blocks_max * sizeof *steps);
	for (uint32_t e = 0; e < rt.setup->call_event_count; e++) {
		const struct record_call_event *event = &rt.setup->call_events[e];
		calls.taken[e] = (int8_t)(times_in(event, COUNT_TAKEN) - (event->minus == COUNT_TAKEN + 1));
		calls.counts_taken |= calls.taken[e] != 0;
		if (event->parts)
			calls.model = run_models;
	}
	if (rt.trace_calls_only && !(rt.setup->flags & RECORD_CALLS_PLAIN)) {
		calls.steps = steps;
		calls.quiet = rt.setup->call_event_count == 1 && !calls.counts_taken && !rt.setup->region_count;
		rt.trace_quiet = calls.quiet;
	}
	calls.partial = partial;
	calls.place = place;
	return true;
}

/* A record that goes on in another one, or a copy of the process that does. t: whose stack goes on; NULL: all. */
bool stream_calls_reopen(struct record_process *process, const struct thread *t)
{
	if (!calls.record)
		return true;
	if (!open_record(process))
		return false;
	memset(calls.slots, 0, calls.n_slots * sizeof *calls.slots);
	calls_forget_arcs(&calls, rt.block_count);
	calls_move_kept(&calls);
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++)
		if (rt.threads[i]->calls && rt.slot_state[i] && (!t || rt.threads[i] == t))
			calls_move(&calls, rt.threads[i]->calls);
	return true;
}

void stream_calls_part(struct record_process *old, struct record_process *fresh)
{
	fresh->calls = old->calls;
	old->calls = 0;
	memset(graph_number, 0, sizeof graph_number); /* modules are numbered anew */
}

bool stream_calls_thread(struct thread *t)
{
	if (!calls.record || t->calls)
		return true;
	uint64_t frames = frames_most() * sizeof(struct calls_frame), active = calls.functions.most * 4;
	uint8_t *memory = memory_private(frames + sizeof *t->calls + active);
	t->calls = (struct calls_stack *)(memory + frames);
	t->calls->frames = (struct calls_frame *)memory;
	t->calls->active = (uint32_t *)(memory + frames + sizeof *t->calls);
	t->calls->most = frames_most();
	return true;
}

void stream_calls_begin(struct thread *t)
{
	struct calls_stack *s = t->calls;
	if (!s)
		return;
	while (s->n)
		s->active[s->frames[--s->n].function] = 0;
	memset(s->totals, 0, sizeof s->totals);
	s->quiet = stream_quiet_sum(t);
	s->pending = CALLS_NOTHING;
	s->conditional = false;
	s->spans_block = 0;
}

void stream_calls_copy(struct thread *child, const struct thread *t)
{
	struct calls_stack *to = child->calls;
	const struct calls_stack *from = t->calls;
	if (!to || !from)
		return;
	for (uint32_t i = 0; i < from->n; i++) {
		to->frames[i] = from->frames[i];
		to->active[to->frames[i].function]++;
		memset(to->frames[i].entry, 0, sizeof to->frames[i].entry);
	}
	to->n = from->n, to->pending = from->pending;
}

static bool follows(const struct thread *t)
{
	return t->calls && (t->process == rt.process || !(rt.setup->flags & RECORD_CALLS_ALONE));
}

void stream_calls_run(struct thread *t, const uint64_t *from, size_t n)
{
	const struct trace_program program = {rt.templates, rt.items};
	if (!follows(t))
		return;
	calls.model_context = t;
	calls_run(&calls, t->calls, &program, from, n);
	calls_settle(&calls, t->calls);
}

void stream_calls_undo(struct thread *t, uint32_t block, unsigned done)
{
	uint64_t counts[RECORD_CALL_EVENTS] = {0};
	if (!follows(t) || block >= rt.block_count)
		return;
	partial(block, done, counts);
	for (uint32_t e = 0; e < calls.record->n_events; e++)
		t->calls->totals[e] -= blocks[block].counts[e] - counts[e];
	calls_settle(&calls, t->calls);
}

bool stream_calls_run_models(const struct thread *t) { return calls.model && follows(t); }

void stream_handler(struct thread *t, uint64_t interrupted, uint64_t stack, uint64_t stack_bytes)
{
	uint64_t sp = t->reg[X86_RSP];
	const uint64_t words[5] = {trace_mark(TRACE_HANDLER, 0), interrupted, sp, stack,
				   sp - stack < stack_bytes ? stack_bytes : 0};
	if (calls.record)
		stream_words(t, words, 5);
}
