/*
 * The common case of model_run(), block by block: what filters decide is decided by a comparison a line, and counted in sums; the rest
 * goes step by step, in the order that run.c says.
 *
 *     plan ──► fetched lines filtered? ──yes──► each group of accesses filtered? ──yes──► nothing but sums
 *                 │ no                             │ no
 *                 ▼                                ▼
 *         one line: fetched first;         its items, step by step. If that moved what the block's
 *         else the block step by step      later lines were looked at for: the rest of it step by step
 */
#include "model/core/plan.h"

struct sums { uint64_t counts, fetches; };

#define FIELD(sum, i) ((sum) >> (i) * PLAN_FIELD & ((1ull << PLAN_FIELD) - 1))

/* Adds what was summed, but for accesses that counted themselves in caches and TLBs. */
static void add_sums(struct core *core, struct sums *sums)
{
	struct model_counts *counts = core->counts;
	uint64_t reads = FIELD(sums->counts, 1), writes = FIELD(sums->counts, 2), lines = FIELD(sums->fetches, 0), units = FIELD(sums->fetches, 1);
	counts->stream[STREAM_INSTRUCTIONS] += FIELD(sums->counts, 0);
	counts->stream[STREAM_READS] += reads;
	counts->stream[STREAM_WRITES] += writes;
	counts->stream[STREAM_FETCH_BLOCKS] += units;
	counts->stream[STREAM_BLOCKS] += FIELD(sums->fetches, 2);
	if (core->first_instruction)
		counts->cache[core->first_instruction->index][CACHE_FETCHES] += lines;
	if (core->pages[TLB_FETCH].pages)
		counts->tlb[core->pages[TLB_FETCH].tlb][TLB_FETCHES] += units;
	step_count_filtered(core, false, reads - core->apart[TRACE_READ], reads - core->apart_pages[TRACE_READ]);
	step_count_filtered(core, true, writes - core->apart[TRACE_WRITE], writes - core->apart_pages[TRACE_WRITE]);
	core->apart[0] = core->apart[1] = core->apart_pages[0] = core->apart_pages[1] = 0;
	*sums = (struct sums){ 0, 0 };
}

static bool page_known(const struct page_filter *filter, uint64_t address)
{
	return (address ^ filter->pages[address >> filter->shift & filter->mask]) < 4096;
}

/* Any number of lines, and two pages. */
static bool many_filtered(const struct core *core, const struct plan *plan)
{
	const struct cache *cache = core->first_instruction;
	const struct page_filter *pages = &core->pages[TLB_FETCH];
	if (cache)
		for (uint64_t line = plan->pc >> cache->line_shift; line <= plan->last >> cache->line_shift; line++)
			if (!cache_filtered(cache, line << cache->line_shift, false))
				return false;
	return !pages->pages || (page_known(pages, plan->pc) && page_known(pages, plan->last));
}

/*
 * Items of the plan's group g, which could not be decided together; the block's record is its header and values. What comes later of a
 * block of several lines was looked at before: if that does not hold any more, the rest is done here too. Returns how many groups are done.
 */
static __attribute__((noinline)) unsigned group_steps(struct core *core, const struct trace_program *program, const struct plan *plan, unsigned g,
						      const uint64_t *record, uint64_t fs_base, struct sums *sums)
{
	const struct plan_group *group = &plan->group[g];
	const struct trace_block *block = &program->blocks[plan->number];
	const bool one_tlb = core->pages[TLB_DATA].pages && core->pages[TLB_DATA].pages == core->pages[TLB_FETCH].pages;
	struct cache *fetched = core->first_instruction;
	uint32_t end = block->first_item + block->items, i = block->first_item + group->first, group_end = i + group->items;
	struct fetch fetch;
	bool stepping = false;

	if (fetched)
		fetched->disturbed = false;
	while (i < end && (stepping || i < group_end)) {
		const struct trace_item *item = &program->items[i];
		uint64_t at = plan->pc + item->offset;
		if (i >= group_end) {
			group = &plan->group[++g];
			group_end += group->items;
		}
		if (stepping) {
			step_fetch_to(core, &fetch, at);
			charge_block(core, plan->number);
		}
		if (group->flags & GROUP_STEPWISE) {
			i += run_item(core, program, i, group_end, record + 1, fs_base);
			charge_item(core, i - 1);
		} else {
			uint64_t base = item->value == TRACE_NO_VALUE ? 0 : record[1 + item->value];
			core->apart[item->kind]++;
			core->apart_pages[item->kind]++;
			step_item(core, base + (uint64_t)item->displacement, item->bytes, item->kind == TRACE_WRITE, i);
			charge_item(core, i);
			i++;
		}
		if (!stepping && !(plan->flags & PLAN_ONE_LINE) && ((fetched && fetched->disturbed) || one_tlb)) {
			unsigned line_shift = fetched ? fetched->line_shift : 6, unit_shift = core->model->fetch_shift;
			stepping = true;
			fetch = (struct fetch){ .line = (at >> line_shift) + 1, .unit = (at >> unit_shift) + 1, .block = plan->number };
			/* these count themselves */
			sums->fetches -= (plan->last >> line_shift) - (at >> line_shift);
			sums->fetches -= ((plan->last >> unit_shift) - (at >> unit_shift)) << PLAN_FIELD;
		}
	}
	if (stepping) {
		step_fetch_to(core, &fetch, plan->last);
		charge_block(core, plan->number);
	}
	return g + 1;
}

/* Whether a page can be told from now on by the filter, once it was used. */
static bool page_tellable(const struct core *core, const struct page_filter *filter)
{
	return filter->fills && !core->model->pages.count;
}

/* A group that was not decided, but is aligned and in one line: its first access is all that may move anything. False: step by step. */
static __attribute__((noinline)) bool group_quick(struct core *core, const struct plan *plan, const struct plan_group *group, uint64_t low, uint64_t high)
{
	const struct page_filter *pages = &core->pages[TLB_DATA];
	struct cache *data = core->first_data;
	if (group->flags & GROUP_STEPWISE || low & group->misaligned || (data && (low ^ high) >= data->is.line_bytes))
		return false;
	if (!(plan->flags & PLAN_ONE_LINE) && ((data && data == core->first_instruction) || (pages->pages && pages->pages == core->pages[TLB_FETCH].pages)))
		return false; /* it could move what the block's later lines were looked at for */
	if (pages->pages && !page_known(pages, low)) {
		bool write = group->flags & GROUP_WRITES_FIRST;
		if (!page_tellable(core, pages) || (low ^ high) >= 4096 || core->model->n_watches)
			return false;
		step_translate(core, TLB_DATA, low, 1, write ? TLB_WRITES : TLB_READS);
		core->apart_pages[write]++; /* it counted itself */
	}
	return !data || cache_filtered(data, low, group->flags & GROUP_WRITES) || cache_quick_hit(core, data, low, group->flags & GROUP_WRITES);
}

/* The same for a block's lines, at most two, in one page, ahead of its accesses: hits in front move nothing that those ask for; and if they
   take such a line away, group_steps() fetches it again. */
static __attribute__((noinline)) bool fetch_quick(struct core *core, const struct plan *plan, bool sequential)
{
	const struct page_filter *pages = &core->pages[TLB_FETCH];
	struct cache *code = core->first_instruction;
	bool unified = code == core->first_data || pages->pages == core->pages[TLB_DATA].pages;
	uint64_t unit = 1ull << core->model->fetch_shift;
	if (plan->flags & PLAN_MANY || (unified && pages->pages) || (unified && !(plan->flags & PLAN_ONE_LINE)))
		return false;
	if (code) {
		bool entered = !(sequential && plan->pc & (code->is.line_bytes - 1));
		if (entered && !cache_filtered(code, plan->pc, false) && !cache_quick_hit(core, code, plan->pc, false))
			return false;
		if ((plan->pc ^ plan->last) >= code->is.line_bytes && !cache_filtered(code, plan->last, false) &&
		    !cache_quick_hit(core, code, plan->last, false))
			return false;
	}
	if (pages->pages && !page_known(pages, plan->pc)) {
		/* the first fetch block is entered first, and the others are in its page */
		if (!page_tellable(core, pages) || (sequential && plan->pc & (unit - 1)) || core->model->n_watches)
			return false;
		step_translate(core, TLB_FETCH, plan->pc, 1, TLB_FETCHES);
		core->counts->tlb[pages->tlb][TLB_FETCHES]--; /* the sums have it */
	}
	return true;
}

static void post_branch(struct core *core, const struct plan *plan, uint64_t went_to)
{
	uint64_t behind = plan->last + 1, pc = behind - plan->ending_length;
	bool taken = plan->ending != TRACE_END_CONDITIONAL || (went_to != behind && plan->target != behind);
	uint64_t target = plan->target ? plan->target : went_to;
	if (core->model->charges_branches)
		step_branch(core, pc, plan->ending_length, (enum trace_ending)plan->ending, taken, target, plan->number);
	else
		branches_post(core->branches, pc, plan->ending_length, (enum trace_ending)plan->ending, taken, target);
}

/* Parts that a machine has: known when the loop is compiled, but for machines that lack some of them. */
enum has { HAS_NOT, HAS, HAS_PERHAPS };
#define THERE(has, pointer) ((has) == HAS_PERHAPS ? (pointer) != NULL : (has) == HAS)

static inline __attribute__((always_inline)) size_t run(struct core *core, const struct trace_program *program, const uint64_t *entries,
							size_t i, size_t n, uint64_t fs_base, enum has caches, enum has tlbs,
							bool branches)
{
	struct plans *plans = core->model->plans;
	const struct cache *data = core->first_data, *code = core->first_instruction;
	const unsigned data_shift = data ? data->line_shift - 4 : 0, code_shift = code ? code->line_shift - 4 : 0;
	const uint64_t data_mask = data ? data->filter_mask << 4 : 0, code_mask = code ? code->filter_mask << 4 : 0;
	const uint64_t data_bytes = data ? data->is.line_bytes : 0, code_bytes = code ? code->is.line_bytes : 0;
	const char *data_filters = data ? (const char *)data->filters : NULL, *code_filters = code ? (const char *)code->filters : NULL;
	const struct page_filter pages = core->pages[TLB_DATA], code_pages = core->pages[TLB_FETCH];
	const struct plan *pending = NULL;
	struct sums sums = { 0, 0 };
	uint64_t next_pc = core->next_pc;

	while (i < n && !(entries[i] & TRACE_MARK)) {
		const uint64_t *record = entries + i;
		uint32_t number = (uint32_t)record[0], at = plans->at[number % PLAN_SLOTS];
		const struct plan *plan = (const struct plan *)(plans->memory + at);
		bool filtered = true, sequential;

		if (__builtin_expect(!at || plan->number != number, 0)) {
			if (pending)
				core->pending = pending->number; /* its plan may have to make room */
			pending = NULL;
			plan = plans_make(plans, core, program, number);
		}
		if (plan->flags & PLAN_NONE)
			break;
		if (branches && pending)
			post_branch(core, pending, plan->pc);
		else if (core->pending != NO_BLOCK)
			resolve(core, program, plan->pc);
		i += 1u + plan->values;
		sequential = plan->pc == next_pc;

		if (plan->flags & PLAN_MANY) {
			filtered = many_filtered(core, plan);
		} else {
			if (THERE(caches, code)) {
				uint64_t a = *(const uint64_t *)(code_filters + (plan->pc >> code_shift & code_mask));
				uint64_t b = *(const uint64_t *)(code_filters + (plan->last >> code_shift & code_mask));
				filtered = (plan->pc ^ a) < code_bytes && (plan->last ^ b) < code_bytes;
			}
			if (THERE(tlbs, code_pages.pages))
				filtered = filtered && (plan->pc ^ code_pages.pages[plan->pc >> code_pages.shift & code_pages.mask]) < 4096;
		}
		if (__builtin_expect(!filtered, 0) && !fetch_quick(core, plan, sequential)) {
			core->next_pc = next_pc;
			if (!(plan->flags & PLAN_ONE_LINE)) {
				run_block(core, program, number, record + 1, UINT32_MAX, fs_base);
				next_pc = core->next_pc;
				pending = NULL;
				continue;
			}
			struct fetch fetch = step_fetch_begin(core, plan->pc, number);
			step_fetch_to(core, &fetch, plan->last);
			charge_block(core, number);
			sums.fetches += 1ull << 2 * PLAN_FIELD;
		} else {
			sums.fetches += plan->fetches[sequential];
		}
		sums.counts += plan->sums;
		next_pc = plan->last + 1;
		pending = branches && plan->flags & PLAN_BRANCHES ? plan : NULL;

		for (unsigned g = 0; g < plan->groups;) {
			const struct plan_group *group = &plan->group[g];
			uint64_t low = record[group->value] + (uint64_t)group->displacement, high = low + group->span;
			bool decided = !(group->flags & GROUP_STEPWISE) && !(low & group->misaligned);
			if (THERE(caches, data)) {
				const uint64_t *filter = (const uint64_t *)(data_filters + (low >> data_shift & data_mask));
				uint64_t line = filter[group->flags & GROUP_WRITES];
				decided = decided && ((low ^ line) | (high ^ line)) < data_bytes;
			}
			if (THERE(tlbs, pages.pages)) {
				uint64_t page = pages.pages[low >> pages.shift & pages.mask];
				decided = decided && ((low ^ page) | (high ^ page)) < 4096;
			}
			if (__builtin_expect(decided, 1) || group_quick(core, plan, group, low, high))
				g++;
			else
				g = group_steps(core, program, plan, g, record, fs_base, &sums);
		}
	}
	core->next_pc = next_pc;
	if (pending)
		core->pending = pending->number;
	add_sums(core, &sums);
	return i;
}

size_t run_fast(struct core *core, const struct trace_program *program, const uint64_t *entries, size_t i, size_t n, uint64_t fs_base)
{
	const struct cache *data = core->first_data, *code = core->first_instruction;
	bool tlbs = core->pages[TLB_DATA].pages && core->pages[TLB_FETCH].pages, none = !core->tlbs;
	size_t end = n - i < PLAN_BATCH ? n : i + PLAN_BATCH; /* a block is an entry at least */
	if ((data && (!data->filters || !data->filter_power || data->line_shift < 4)) ||
	    (code && (!code->filters || !code->filter_power || code->line_shift < 4)))
		return i;
	if (data && code && none)
		return core->branches ? run(core, program, entries, i, end, fs_base, HAS, HAS_NOT, true)
				      : run(core, program, entries, i, end, fs_base, HAS, HAS_NOT, false);
	if (data && code && tlbs && core->branches)
		return run(core, program, entries, i, end, fs_base, HAS, HAS, true);
	return run(core, program, entries, i, end, fs_base, HAS_PERHAPS, HAS_PERHAPS, core->branches);
}
