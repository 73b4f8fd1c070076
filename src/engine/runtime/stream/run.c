/*
 * The access stream's buffers, and the models that they are run through, in this process.
 *
 *     code of the cache ──► buffer ──(guard page, or the thread leaves for good)──► model_run of every machine ──► counts in the record
 *
 * What always holds:
 *  1. A buffer is [trace_start, trace) of whole records; trace_end is a page that nobody can write to.
 *  2. rt.models_lock is held while a buffer is run or written to from C. It is taken with or without rt.lock,
 *     never the other way round: the handler of a full buffer runs while other threads may hold rt.lock and wait
 *     for this one.
 *  3. The models may use vector registers, which the rest of the runtime may not: their caller keeps the
 *     program's (models_begin), but in a signal's handler, where the kernel has.
 *  4. A forked child, and a vfork's, has models of its own, cold; its parent's unread records are not its own.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/os/state.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/translation.h"

static const struct model_setup *machines; /* of the record, or the one below */
static struct model_setup no_machine;

static uint32_t machine_count(void) { return rt.setup->machine_count ? rt.setup->machine_count : 1; }

/* Those that run: behind them are counts of sampled groups (model/core/sample.h). */
static uint32_t machines_run(void)
{
	uint32_t n = machine_count();
	while (n > 1 && machines[n - 1].options.counts_only)
		n--;
	return n;
}

static uint64_t whole_pages(uint64_t bytes) { return (bytes + 4095) & ~4095ull; }
static uint64_t models_bytes(void) { return whole_pages(machine_count() * sizeof(struct model_counts)); }

/* ---- models ----------------------------------------------------------------------------------- */

static uint8_t *fp_area; /* used under rt.models_lock */
static bool fp_is_kept;  /* by the kernel, in a signal frame */

static void models_begin(void)
{
	lock_word(&rt.models_lock);
	if (!fp_area)
		fp_area = fp_area_new();
	fp_is_kept = false;
}

static void models_end(void) { unlock_word(&rt.models_lock); }

static void fp_keep(void)
{
	if (!fp_is_kept)
		fp_save(fp_area, rt.fp_features);
}

static void fp_give_back(void)
{
	if (!fp_is_kept)
		fp_restore(fp_area, rt.fp_features);
}

static uint64_t site_item_bytes(void) { return (uint64_t)rt.items_max * rt.setup->watch_count * 8; }
static uint64_t site_block_bytes(void) { return (uint64_t)rt.blocks_max * rt.setup->watch_count * 8; }

/* Counts by instruction, of the first machine. Nothing is allocated until it is touched. */
static void sites_open(struct stream_models *models, struct record_process *process)
{
	uint64_t item_bytes = site_item_bytes(), block_bytes = site_block_bytes();
	if (!(rt.setup->flags & RECORD_SITES) || !rt.setup->watch_count)
		return;
	uint64_t item_offset = record_reserve(item_bytes), block_offset = record_reserve(block_bytes);
	uint64_t *items = record_map(item_offset, item_bytes, NULL),
		 *blocks = record_map(block_offset, block_bytes, NULL);
	if (!items || !blocks) {
		inexact("no memory for counts by instruction");
		return;
	}
	models->site_items = items;
	models->site_blocks = blocks;
	process->site_items = item_offset;
	process->site_blocks = block_offset;
}

static void watch(const struct stream_models *models)
{
	if (models->site_items)
		model_watch(models->machine[0].model, (const struct model_watch *)rt.setup->watches,
			    rt.setup->watch_count, models->site_items, models->site_blocks);
	if (models->site_items && rt.setup->overflow_period)
		model_overflow(models->machine[0].model, rt.setup->overflow_period, rt.setup->overflow_skid,
			       site_item_bytes() / 8);
}

static void sites_close(struct stream_models *models)
{
	if (!models->site_items)
		return;
	sys2(SYS_munmap, models->site_items, site_item_bytes());
	sys2(SYS_munmap, models->site_blocks, site_block_bytes());
	models->site_items = models->site_blocks = NULL;
}

/* before: of the process that this is a copy of, or that it shares its memory with; or NULL. whole: nobody was in
 * it. */
static struct stream_models *models_new(struct record_process *process, const struct stream_models *before,
					bool whole)
{
	uint64_t bytes = whole_pages(sizeof(struct stream_models) +
				     machines_run() * sizeof(struct stream_machine));
	struct stream_models *models = memory_private(bytes);
	models->bytes = bytes;
	models->n = machines_run();
	models_begin();
	fp_keep();
	for (uint32_t i = 0; i < models->n; i++) {
		struct stream_machine *m = &models->machine[i];
		m->bytes = model_bytes(&machines[i].machine, &machines[i].options);
		m->core_bytes = model_core_bytes(&machines[i].machine, &machines[i].options);
		m->memory = memory_private(m->bytes);
		m->model = model_init(m->memory, &machines[i].machine, &machines[i].options);
		if (before)
			model_pages(m->model, before->machine[i].model, whole);
	}
	sites_open(models, process);
	watch(models);
	fp_give_back();
	models_end();
	return models;
}

static void models_free(struct stream_models *models)
{
	for (uint32_t i = 0; i < models->n; i++) {
		struct stream_machine *m = &models->machine[i];
		sys2(SYS_munmap, m->memory, m->bytes);
		for (unsigned core = 0; core < MODEL_CORES_MAX; core++)
			if (m->core[core] && m->below &&
			    (uint64_t)m->core[core] + m->below == (uint64_t)rt.threads[core])
				sys3(SYS_madvise, m->core[core], m->core_bytes, MADV_DONTNEED_); /* zeros */
			else if (m->core[core])
				sys2(SYS_munmap, m->core[core], m->core_bytes);
	}
	sites_close(models);
	sys2(SYS_munmap, models, models->bytes);
}

/* The thread's counts are where its core counts now. */
static void take_core(const struct thread *t)
{
	struct stream_models *models = t->models;
	unsigned core = t->slot % MODEL_CORES_MAX;
	for (uint32_t i = 0; i < models->n && models->counts[core] != t->model_counts; i++)
		model_core_counts(models->machine[i].model, core, &t->model_counts[i]);
	models->counts[core] = t->model_counts;
}

void stream_run_models(struct thread *t, const uint64_t *from, size_t n)
{
	const struct trace_program program = {rt.templates, rt.items};
	take_core(t);
	for (uint32_t i = 0; i < t->models->n; i++)
		model_run(t->models->machine[i].model, t->slot % MODEL_CORES_MAX, &program, from, n, t->fs_base);
}

void stream_watched(const struct thread *t, uint64_t watched[])
{
	take_core(t);
	model_watched(t->models->machine[0].model, t->slot % MODEL_CORES_MAX, watched);
}

static void look_for_meetings(struct stream_models *models)
{
	uint64_t meetings = 0;
	for (uint32_t i = 0; i < models->n; i++)
		meetings += model_meetings(models->machine[i].model);
	models->quiet = meetings == models->meetings ? models->quiet + 1 : 0;
	models->meetings = meetings;
}

/* rt.models_lock is held */
static void run(struct thread *t, const uint64_t *from, size_t n)
{
	if (rt.trace_calls_only || !n) {
		stream_calls_run(t, from, n);
		return;
	}
	fp_keep();
	stream_calls_run(t, from, n);
	if (!stream_calls_run_models(t))
		stream_run_models(t, from, n);
	look_for_meetings(t->models);
	fp_give_back();
}

/* Threads run their buffers in turns (turns.c). It costs about as much as the models' work itself. */
static bool in_turns(void)
{
	bool any = false;
	for (uint32_t i = 0; rt.live_threads > 1 && i < machines_run(); i++)
		any |= machines[i].options.in_step != 0;
	return any;
}

/* ---- buffers ---------------------------------------------------------------------------------- */

static uint64_t buffer_bytes(void)
{
	return rt.setup->trace_bytes ? whole_pages(rt.setup->trace_bytes) : STREAM_DEFAULT_BYTES;
}

/* Several threads run short parts in turn. */
static uint64_t *beginning(const struct thread *t)
{
	if (rt.setup->trace_bytes || rt.live_threads < 2 || rt.trace_calls_only)
		return t->trace_end - buffer_bytes() / 8;
	return t->trace_end -
	       (t->models->quiet < STREAM_QUIET || in_turns() ? STREAM_SHARED_BYTES : STREAM_QUIET_BYTES) / 8;
}

static void restart(struct thread *t) { t->trace = t->trace_start = beginning(t); }

/* Most of the buffer was run by other threads already (turns.c): the rest goes on at its beginning, and waits for
 * as much of theirs. */
static bool begin_again(struct thread *t)
{
	uint64_t *to = beginning(t), words = (uint64_t)(t->trace - t->trace_start);
	if (!in_turns() || words > (uint64_t)(t->trace_end - to) / 4)
		return false;
	memcpy(to, t->trace_start, words * 8); /* it is full: what is left lies behind */
	t->trace_start = to;
	t->trace = to + words;
	return true;
}

/* rt.models_lock is held */
static void flush(struct thread *t)
{
	uint64_t behind = rt.inline_on ? inline_behind(t, t->trace) : 0;
	if (in_turns())
		stream_turns(t, run);
	else
		run(t, t->trace_start, (size_t)(t->trace - t->trace_start));
	if (t->trace != t->trace_start)
		t->trace_ran = t->trace;
	restart(t);
	inline_began(t, behind);
}

/* The last n records of blocks in the buffer, in order: where each begins; NULL: there are fewer. */
static bool newest(const struct thread *t, unsigned n, uint64_t **record)
{
	unsigned have = 0;
	for (uint64_t *at = t->trace_start; at < t->trace; at = stream_record_end(at))
		if (!(*at & TRACE_MARK) || trace_mark_kind(*at) == TRACE_PARTIAL)
			record[have++ % n] = at;
	if (have < n)
		return false;
	uint64_t *all[STREAM_TAIL];
	for (unsigned i = 0; i < n; i++)
		all[i] = record[(have + i) % n];
	memcpy(record, all, n * sizeof *all);
	return true;
}

uint32_t stream_newest(const struct thread *t)
{
	uint64_t *record;
	return !newest(t, 1, &record) || *record & TRACE_MARK ? NONE : (uint32_t)*record;
}

/* The buffer is full. rt.models_lock is held */
static void run_most(struct thread *t)
{
	uint64_t *record[STREAM_TAIL], tail[STREAM_TAIL_WORDS];
	if (begin_again(t))
		return;
	if (!t->context || !newest(t, STREAM_TAIL, record) || t->trace - record[0] > (long)STREAM_TAIL_WORDS) {
		flush(t);
		return;
	}
	uint64_t words = (uint64_t)(t->trace - record[0]);
	memcpy(tail, record[0], words * 8);
	t->trace = record[0];
	flush(t);
	memcpy(t->trace, tail, words * 8);
	t->trace += words;
}

/* rt.models_lock is held */
static uint64_t *room(struct thread *t, unsigned words)
{
	if (t->trace + words > t->trace_end)
		run_most(t);
	uint64_t *at = t->trace;
	t->trace += words;
	return at;
}

void stream_flush(struct thread *t)
{
	if (!rt.trace)
		return;
	models_begin();
	flush(t);
	models_end();
}

uint64_t stream_counts(void) { return machine_count() * sizeof(struct model_counts) / 8; }

/* What quiet blocks have counted is of the function that control is in, at pc. models_lock is held */
static void say_quiet(struct thread *t, uint64_t pc)
{
	if (!rt.trace_quiet)
		return;
	uint64_t *at = room(t, 3);
	at[0] = trace_mark(TRACE_QUIET, 0), at[1] = stream_quiet_sum(t), at[2] = pc;
}

/* A mark whose first word is an address: control is, or was, there. */
static void note(struct thread *t, unsigned n, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t words[4] = {a, b, c, d};
	if (!rt.trace)
		return;
	models_begin();
	uint64_t behind = rt.inline_on ? inline_behind(t, t->trace) : 0;
	if (n == 2 || n == 3)
		say_quiet(t, b);
	memcpy(room(t, n), words, n * 8);
	if (n > 1)
		inline_began(t, a == trace_mark(TRACE_BREAK, 0) || a == trace_mark(TRACE_RETURNED, 0) ? 1ull << 63
												      : behind);
	models_end();
}

/* What has no record yet: what quiet blocks have counted, and where the last branch went. Control is at t->pc. */
static void end(struct thread *t)
{
	note(t, 2, trace_mark(TRACE_BREAK, 1), t->pc, 0, 0);
	stream_flush(t);
}

/* Another thread may wait for this call, or see what it does: what this one did is before what that one does then.
 * Without sharing to be counted, and so in larger buffers, that order is not worth its time. A thread that is
 * killed in a call that only waits is counted whole: what is in its buffer then would be lost. */
void stream_call(struct thread *t, bool only_waits)
{
	if (rt.trace && only_waits)
		end(t);
	else if (rt.trace && in_turns())
		stream_flush(t);
}

void stream_end(struct thread *t)
{
	if (!rt.trace)
		return;
	end(t);
	for (uint32_t i = 0; t->process == rt.process && i < rt.slots_max && rt.threads[i]; i++)
		if (rt.threads[i] != t && rt.slot_state[i] && rt.threads[i]->process == rt.process &&
		    rt.threads[i]->trace)
			end(rt.threads[i]);
}

static uint64_t fs_base_now(void)
{
	uint64_t base = 0;
	sys2(SYS_arch_prctl, ARCH_GET_FS_, &base);
	return base;
}

void stream_fs_changed(struct thread *t)
{
	if (!rt.trace)
		return;
	stream_flush(t);
	t->fs_base = fs_base_now();
	stream_objects_thread(t);
}

bool stream_full(struct thread *t, uint64_t address, const uint8_t *ip, uint64_t *reg[16])
{
	struct x86_insn in;
	if (!rt.trace || address < (uint64_t)t->trace_end || address >= (uint64_t)t->trace_end + 4096)
		return false;
	if (x86_decode(ip, X86_MAX_INSN_BYTES, &in) != X86_DECODE_OK || in.memory_count != 1 ||
	    in.memory[0].base >= 16 || *reg[in.memory[0].base] != (uint64_t)t->trace)
		return false;
	if (in_turns())
		stream_wait(t);
	models_begin();
	fp_is_kept = true;
	run_most(t);
	models_end();
	*reg[in.memory[0].base] = (uint64_t)t->trace;
	return true;
}

/* ---- blocks that are left early --------------------------------------------------------------- */

static uint64_t sum_at(const struct translation *tr, const struct thread *t, const struct stream_value *v,
		       unsigned at, bool *known)
{
	uint64_t sum = 0;
	*known = true;
	for (int which = 0; which < 2; which++) {
		unsigned origin = which ? v->b : v->a, reg;
		if (!origin)
			continue;
		for (reg = 0; reg < 16 && tr->plan.state[at][reg].origin != origin; reg++)
			continue;
		if (reg == 16) {
			*known = false;
			return 0;
		}
		sum += (t->reg[reg] - (uint64_t)tr->plan.state[at][reg].constant) * (which ? v->scale : 1);
	}
	return sum + (uint64_t)v->constant;
}

/* The record of a block, or of the part of it that was executed, where quiet blocks have none: they have no values
 * but the sum. */
static void quiet_record(struct thread *t, uint32_t id, unsigned done)
{
	bool whole = done >= rt.templates[id].insns;
	models_begin();
	uint64_t *at = room(t, whole ? 2 : 3);
	if (!whole)
		*at++ = trace_mark(TRACE_PARTIAL, done);
	at[0] = id, at[1] = stream_quiet_sum(t);
	models_end();
}

/* added: the sum has it */
static void quiet_left(struct thread *t, uint32_t id, unsigned done, bool added)
{
	if (added)
		t->quiet[id % QUIET_SUMS] -= stream_quiet(id);
	if (done)
		quiet_record(t, id, done);
}

void stream_left(const struct translation *tr, struct thread *t, uint32_t id, unsigned done, unsigned groups)
{
	uint64_t values[STREAM_RECORD_WORDS];
	unsigned size = 1 + (tr->inlining.inlined ? 0 : tr->plan.words);
	bool rep = tr->plan.rep && done + 1 >= tr->decoded.count, progress = false;
	if (!tr->decoded.count)
		return;
	if (stream_quiet(id)) {
		quiet_left(t, id, done, groups != 0);
		return;
	}
	models_begin();
	if (groups) { /* it is published: taken back first */
		t->trace -= size;
		memcpy(values, tr->inlining.apart ? (const uint64_t *)t->apart : t->trace + 1,
		       tr->inlining.inlined && !tr->inlining.apart ? 0 : tr->plan.words * 8);
	} else {
		memset(values, 0, tr->plan.words * 8);
	}
	for (unsigned i = 0; i < tr->plan.n_values && (!tr->inlining.inlined || tr->inlining.apart); i++) {
		const struct stream_value *v = &tr->plan.values[i];
		bool known;
		uint64_t value;
		if (v->kind >= CAPTURE_AFTER) {
			if (rep && v->kind != CAPTURE_TARGET)
				values[v->index] = v->kind == CAPTURE_AFTER ? t->reg[v->reg]
									    : (uint32_t)t->reg[v->reg];
			continue;
		}
		if (v->group < groups)
			continue;
		if (v->kind == CAPTURE_QUIET)
			values[v->index] = stream_quiet_sum(t);
		if (v->kind == CAPTURE_REG && !v->a) {
			if (rep)
				values[v->index] = t->reg[v->reg]; /* the instruction has not begun */
		} else if (v->kind == CAPTURE_LOW) {
			if (rep)
				values[v->index] = (uint32_t)t->reg[v->reg];
		} else if (v->kind <= CAPTURE_SUM) {
			value = sum_at(tr, t, v, done, &known);
			if (known)
				values[v->index] = value;
		}
	}
	if (rep && done < tr->decoded.count)
		for (unsigned i = 0; i < tr->plan.n_items; i++)
			progress |= tr->plan.items[i].kind >= TRACE_REP_READ &&
				    tr->plan.items[i].kind <= TRACE_REP_WRITE &&
				    values[tr->plan.items[i].value] != values[tr->plan.items[i].second];
	if ((done || progress) && tr->inlining.apart && groups <= tr->plan.n_groups)
		inline_left(t, id, values, done < tr->decoded.count ? done : UINT32_MAX);
	uint64_t behind = rt.inline_on ? inline_behind(t, t->trace) : 0;
	if (done || progress) {
		unsigned mark = done < tr->decoded.count;
		behind = 1ull << 63;
		uint64_t *at = room(t, size + mark);
		if (mark)
			*at++ = trace_mark(TRACE_PARTIAL, done);
		*at++ = id;
		memcpy(at, values, (size - 1) * 8);
		if (!mark)
			behind = rt.templates[id].pc + rt.templates[id].length;
	}
	inline_began(t, behind);
	models_end();
}

void stream_undo(struct thread *t, uint32_t id, unsigned done)
{
	if (!rt.trace)
		return;
	if (id < rt.block_count && stream_quiet(id)) {
		quiet_left(t, id, done, true);
		return;
	}
	models_begin();
	unsigned size = 1 + (id < rt.block_count ? stream_values(id) : 0);
	uint64_t record[STREAM_RECORD_WORDS];
	if (t->trace - t->trace_start >= (long)size && t->trace[-(long)size] == id) {
		t->trace -= size;
		memcpy(record, t->trace, size * 8);
		if (done) {
			uint64_t *at = room(t, size + 1);
			at[0] = trace_mark(TRACE_PARTIAL, done);
			memcpy(at + 1, record, size * 8);
		}
		inline_began(t, done ? 1ull << 63 : inline_behind(t, t->trace));
	} else { /* it was run already, before a call that a signal prevented at the last moment */
		for (uint32_t i = 0; i < t->models->n; i++)
			t->model_counts[i].stream[STREAM_INSTRUCTIONS]--;
		stream_calls_undo(t, id, done);
	}
	models_end();
}

void stream_break(struct thread *t, uint64_t pc) { note(t, 2, trace_mark(TRACE_BREAK, 0), pc, 0, 0); }

void stream_returned(struct thread *t, uint64_t pc, uint64_t slot)
{
	note(t, 3, trace_mark(TRACE_RETURNED, 0), pc, slot, 0);
}

bool stream_tail(struct thread *t, const uint32_t *blocks, unsigned n, struct stream_tail *tail)
{
	uint64_t *record[STREAM_TAIL]; /* of this thread itself, which is in the runtime: nobody else runs it */
	if (n > STREAM_TAIL || !newest(t, n, record) || t->trace - record[0] > (long)STREAM_TAIL_WORDS)
		return false;
	for (unsigned i = 0; i < n; i++) {
		if (*record[i] != blocks[i])
			return false;
		tail->at[i] = (uint16_t)(record[i] - record[0]);
	}
	tail->n = (unsigned)(t->trace - record[0]);
	memcpy(tail->words, record[0], tail->n * 8);
	t->trace = record[0];
	return true;
}

void stream_words(struct thread *t, const uint64_t *words, unsigned n)
{
	models_begin();
	memcpy(room(t, n), words, n * 8);
	models_end();
}

void stream_spans(struct thread *t, uint32_t id, uint64_t address, const struct x86_span *spans, unsigned n)
{
	const struct trace_block *block = &rt.templates[id];
	uint32_t item = block->first_item + block->items - 1u;
	uint64_t words[2 + 2 * X86_SPANS];
	if (!rt.trace || !n)
		return;
	if (block->items > 1 && rt.items[item].kind == TRACE_SPANS_WRITE && !spans->write)
		item--; /* it reads and writes, in this order */
	words[0] = trace_mark(TRACE_SPANS, item);
	words[1] = n;
	for (unsigned i = 0; i < n; i++) {
		words[2 + 2 * i] = address + spans[i].at;
		words[3 + 2 * i] = spans[i].bytes | TRACE_SPAN;
	}
	if (block->flags & TRACE_INLINED)
		inline_spans(t, item, words + 1);
	else
		stream_words(t, words, 2 + 2 * n);
}

void stream_block(struct thread *t, uint32_t id)
{
	if (rt.trace_quiet)
		quiet_record(t, id, UINT32_MAX);
	else
		note(t, 1, id, 0, 0, 0);
}

/* flags: mmap's. The size of the pages is in bits 26 to 31, as a power of two; 0: the default, 2 MB */
void stream_mapped(struct thread *t, uint64_t start, uint64_t length, uint64_t flags)
{
	unsigned log = flags >> 26 & 63;
	if (!(flags & 0x40000)) { /* MAP_HUGETLB */
		if (flags & MAP_FIXED_)
			stream_unmapped(t, start, length);
		return;
	}
	rt.huge_pages = 1;
	inline_off(t);
	log = log ? log : 21;
	length = (length + (1ull << log) - 1) >> log << log; /* as the kernel does */
	note(t, 4, trace_mark(TRACE_PAGES, 0), start, length, 1ull << log);
	stream_flush(t); /* a child's models begin with what these know */
}

void stream_unmapped(struct thread *t, uint64_t start, uint64_t length)
{
	if (rt.huge_pages) {
		note(t, 4, trace_mark(TRACE_PAGES, 0), start, length, 4096);
		stream_flush(t);
	}
}

/* ---- processes and threads -------------------------------------------------------------------- */

static bool areas(struct record_process *process, uint32_t blocks, uint32_t items)
{
	rt.templates_inherited = blocks, rt.items_inherited = items;
	rt.record_templates = record_area(&process->templates,
					  (uint64_t)rt.blocks_max * sizeof(struct trace_block), blocks);
	rt.record_items = record_area(&process->items, (uint64_t)rt.items_max * sizeof(struct trace_item), items);
	return rt.record_templates && rt.record_items;
}

bool stream_open(struct record_process *process)
{
	machines = &no_machine;
	struct machine *none = &no_machine.machine;
	none->fetch_bytes = 16;
	none->seed = 1;
	none->first_instruction = none->first_data = MACHINE_NONE;
	none->first_instruction_tlb = none->first_data_tlb = MACHINE_NONE;
	no_machine.options.no_branches = 1;
	rt.record->models_bytes = (uint32_t)models_bytes();
	if (rt.setup->machine_count)
		machines = (const struct model_setup *)(rt.image + rt.setup->machines);
	rt.templates = memory_private((uint64_t)rt.blocks_max * sizeof *rt.templates);
	rt.items = memory_private((uint64_t)rt.items_max * sizeof *rt.items);
	if (!machines || !areas(process, 0, 0))
		return false;
	rt.trace_calls_only = (rt.setup->flags & (RECORD_CALLS | RECORD_ACCESSES)) == RECORD_CALLS;
	if (!stream_objects_open(process) || !stream_calls_open(process))
		return false;
	rt.models = models_new(process, NULL, true);
	if (inline_start(rt.models)) {
		/* the page of values that are apart, and one that nobody has */
		uint64_t below = SIGNAL_STACK_BYTES + STACK_BYTES + 2 * 4096;
		for (uint32_t i = 0; i < rt.models->n; i++)
			below += rt.models->machine[i].core_bytes;
		rt.inline_front = below - SIGNAL_STACK_BYTES - STACK_BYTES;
		rt.inline_on = 1;
	}
	return true;
}

bool stream_reopen(struct record_process *process)
{
	struct stream_models *before = rt.models;
	bool whole = !rt.models_lock;
	if (!rt.trace)
		return true;
	rt.models_lock = 0; /* whoever held it is not here */
	sys2(SYS_munmap, rt.record_templates, (uint64_t)rt.blocks_max * sizeof(struct trace_block));
	sys2(SYS_munmap, rt.record_items, (uint64_t)rt.items_max * sizeof(struct trace_item));
	if (!stream_objects_reopen(process))
		return false;
	rt.models = models_new(process, before, whole);
	models_free(before);
	return areas(process, rt.block_count, rt.item_count); /* not the parent's record's: it goes on */
}

void stream_inherit(struct record_process *child)
{
	if (!rt.trace)
		return;
	child->templates.inherited = child->templates.count = rt.block_count;
	child->items.inherited = child->items.count = rt.item_count;
}

/* A core of a thread that has ended counts on where that thread did: what others take from its caches. */
static void leave_counts(struct model_counts *counts, unsigned core)
{
	bool used = rt.models && rt.models->counts[core] == counts;
	for (uint32_t i = core; i < rt.slots_max && rt.threads[i] && !used; i += MODEL_CORES_MAX)
		used = rt.threads[i]->model_counts == counts;
	if (counts && !used)
		sys2(SYS_munmap, counts, models_bytes());
}

bool stream_thread(struct thread *t)
{
	struct model_counts *before = t->model_counts, *old;
	if (!rt.trace)
		return true;
	if (!stream_calls_thread(t))
		return false;
	if (!t->trace_base) {
		long p = sys6(SYS_mmap, memory_place(buffer_bytes() + 4096), buffer_bytes() + 4096,
			      PROT_READ_ | PROT_WRITE_, MAP_PRIVATE_ | MAP_ANONYMOUS_ | MAP_NORESERVE_,
			      (uint64_t)-1, 0);
		if (failed(p) || failed(sys3(SYS_mprotect, (uint64_t)p + buffer_bytes(), 4096, PROT_NONE_)))
			return false;
		t->trace_base = (uint64_t *)p;
		t->trace_end = t->trace_base + buffer_bytes() / 8;
	}
	if (!t->record->models || !t->model_counts) {
		uint64_t offset = record_reserve(models_bytes());
		t->model_counts = record_map(offset, models_bytes(), NULL);
		if (!t->model_counts)
			return false;
		t->record->models = offset;
	}
	t->models = t->process == rt.process ? rt.models : models_new(t->process, rt.models, true);
	unsigned core = t->slot % MODEL_CORES_MAX;
	old = t->models->counts[core];
	models_begin();
	fp_keep();
	uint64_t below = SIGNAL_STACK_BYTES + STACK_BYTES + 2 * 4096;
	/* a page, only if there are inline checks */
	t->apart = (uint64_t)t - SIGNAL_STACK_BYTES - STACK_BYTES - 2 * 4096;
	for (uint32_t i = 0; i < t->models->n; i++) { /* now: a program may forbid itself system calls */
		struct stream_machine *m = &t->models->machine[i];
		below += m->core_bytes;
		if (m->core[core]) {
			if (old != t->model_counts)
				model_core_counts(m->model, core, &t->model_counts[i]);
			continue;
		}
		m->below = rt.inline_on ? below : 0;
		m->core[core] = rt.inline_on ? (void *)((uint64_t)t - below) : memory_private(m->core_bytes);
		model_core_init(m->model, core, m->core[core], &t->model_counts[i]);
		if (rt.inline_on)
			inline_core(m->model, core, i, below);
		if (i == 0)
			stream_objects_core(m->model, core, false);
	}
	t->models->counts[core] = t->model_counts;
	fp_give_back();
	restart(t); /* while nobody else looks at it */
	inline_began(t, 1ull << 63);
	models_end();
	leave_counts(before, core);
	if (old != before)
		leave_counts(old, core);
	return true;
}

/*
 * A part ends: no thread is in the cache. What each has done is run, up to where it goes on: a core keeps numbers
 * of blocks only for a branch that is still to go somewhere. (In a system call there is none.)
 */
void stream_part_ends(void)
{
	if (!rt.trace)
		return;
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++) {
		struct thread *t = rt.threads[i];
		if (!rt.slot_state[i] || t->process != rt.process || !t->trace)
			continue;
		if (!t->in_call)
			note(t, 2, trace_mark(TRACE_BREAK, 1), t->pc, 0, 0);
		stream_flush(t);
	}
}

/* … and another begins. remove: nobody will read the one that ended. */
bool stream_part(struct record_process *old, struct record_process *fresh, bool remove)
{
	struct stream_models *models = rt.models;
	bool resolved = true;
	if (!rt.trace)
		return true;
	record_leave(rt.record_templates, (uint64_t)rt.blocks_max * sizeof(struct trace_block), remove);
	record_leave(rt.record_items, (uint64_t)rt.items_max * sizeof(struct trace_item), remove);
	if (!areas(fresh, 0, 0))
		return false;
	stream_calls_part(old, fresh);
	rt.item_count = 0;
	inline_renumber();
	models_begin();
	fp_keep();
	sites_close(models);
	sites_open(models, fresh);
	for (uint32_t i = 0; i < models->n; i++)
		resolved &= model_renumber(models->machine[i].model, i ? NULL : models->site_items,
					   i ? NULL : models->site_blocks);
	fp_give_back();
	models_end();
	if (!resolved)
		inexact("a branch of the access stream was lost between two parts of the record");
	return true;
}

uint64_t stream_counts_moved(struct thread *t)
{
	uint64_t bytes = models_bytes();
	void *kept = memory_private(bytes);
	memcpy(kept, t->model_counts, bytes);
	uint64_t offset = record_reserve(bytes);
	bool mapped = record_map(offset, bytes, t->model_counts) != NULL; /* where it was: cores know the place */
	if (mapped)
		memcpy(t->model_counts, kept, bytes);
	sys2(SYS_munmap, kept, bytes);
	return mapped ? offset : 0;
}

bool stream_record_left(struct record_process *fresh)
{
	if (!rt.trace)
		return true;
	rt.record->models_bytes = (uint32_t)models_bytes();
	return stream_objects_reopen(fresh);
}

/* A child that has no record: it goes on, in memory that nobody reads. */
void stream_orphan(struct thread *t)
{
	if (!rt.trace)
		return;
	rt.record_templates = memory_private((uint64_t)rt.blocks_max * sizeof(struct trace_block));
	rt.record_items = memory_private((uint64_t)rt.items_max * sizeof(struct trace_item));
	t->model_counts = memory_private(models_bytes());
	t->models = rt.models;
	restart(t);
}

void stream_vfork_done(struct thread *child)
{
	if (rt.trace && child->models && child->models != rt.models) {
		models_free(child->models);
		child->models = NULL;
	}
}
