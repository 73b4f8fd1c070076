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

/* ---- what the loop below could not decide ---- */

/* One TLB, or one first cache, for both sides: an access may move what the block's later lines were looked at for. */
static bool sides_meet(const struct core *core)
{
	return (core->first_data && core->first_data == core->first_instruction) ||
	       (core->pages[TLB_DATA].pages && core->pages[TLB_DATA].pages == core->pages[TLB_FETCH].pages);
}

/*
 * The plan's items from one on, to the end of its group or, stepping, of the block, with what is still to be fetched of it: that
 * counts itself, and so is taken out of the sums. Returns how many groups are done.
 */
struct rest { const struct plan *plan; const uint64_t *record; uint64_t fs_base; unsigned group; struct fetch fetch; bool stepping; };

static void start_stepping(const struct core *core, struct rest *rest, uint64_t at, struct sums *sums)
{
	unsigned line_shift = core->first_instruction ? core->first_instruction->line_shift : 6, unit_shift = core->model->fetch_shift;
	rest->stepping = true;
	rest->fetch = (struct fetch){ .line = (at >> line_shift) + 1, .unit = (at >> unit_shift) + 1, .block = rest->plan->number };
	sums->fetches -= (rest->plan->last >> line_shift) - (at >> line_shift);
	sums->fetches -= ((rest->plan->last >> unit_shift) - (at >> unit_shift)) << PLAN_FIELD;
}

static __attribute__((noinline)) unsigned run_rest(struct core *core, const struct trace_program *program, struct rest rest, struct sums *sums)
{
	const struct plan *plan = rest.plan;
	const struct trace_block *block = &program->blocks[plan->number];
	struct cache *code = core->first_instruction;
	unsigned g = rest.group, counted = rest.stepping ? plan->groups : g; /* a group that was undecided itself is counted */

	for (; g < plan->groups && (rest.stepping || g == rest.group); g++) {
		const struct plan_group *group = &plan->group[g];
		uint32_t i = block->first_item + group->first, end = i + group->items;
		if (g != counted)
			core->counts->filter[FILTER_UNDECIDED_ACCESSES] += group->items;
		while (i < end) {
			const struct trace_item *item = &program->items[i];
			uint64_t at = plan->pc + item->offset;
			if (rest.stepping) {
				step_fetch_to(core, &rest.fetch, at);
				charge_block(core, plan->number);
			}
			if (code)
				code->disturbed = false;
			if (group->flags & GROUP_STEPWISE) {
				i += run_item(core, program, i, end, rest.record + 1, rest.fs_base);
				charge_item(core, i - 1);
			} else {
				uint64_t base = item->value == TRACE_NO_VALUE ? 0 : rest.record[1 + item->value];
				core->apart[item->kind]++;
				core->apart_pages[item->kind]++;
				step_item(core, base + (uint64_t)item->displacement, item->bytes, item->kind == TRACE_WRITE, i);
				charge_item(core, i++);
			}
			if (!rest.stepping && !(plan->flags & PLAN_ONE_LINE) && ((code && code->disturbed) || sides_meet(core)))
				start_stepping(core, &rest, at, sums);
		}
	}
	if (rest.stepping) {
		step_fetch_to(core, &rest.fetch, plan->last);
		charge_block(core, plan->number);
	}
	return g;
}

/* Whether a page can be told from now on by the filter, once it was used. */
static bool page_tellable(const struct core *core, const struct page_filter *filter)
{
	return filter->fills && !core->model->pages.count;
}

/* The line is there, in a cache whose hits are quick; and so it stays while another one's line is hit, being in another set. */
static bool can_hit(const struct core *core, const struct cache *cache, uint64_t address)
{
	uint64_t line = (address & ADDRESS_MASK) >> cache->line_shift;
	return cache->quick && cache->sets > 1 && !core->model->snoops && cache->is.prefetch == PREFETCH_NONE &&
	       lines_find(&cache->main, (uint32_t)(line & cache->filter_mask), line);
}

/* A group whose lowest byte is at `low`. If it is aligned and in one line, its first access is all that may move more than a dirty bit. */
static __attribute__((noinline)) unsigned run_group_slowly(struct core *core, const struct trace_program *program, const struct plan *plan, unsigned g,
						    const uint64_t *record, uint64_t low, uint64_t fs_base, struct sums *sums)
{
	const struct plan_group *group = &plan->group[g];
	const struct page_filter *pages = &core->pages[TLB_DATA];
	struct cache *data = core->first_data, *code = core->first_instruction;
	struct rest rest = { .plan = plan, .record = record, .fs_base = fs_base, .group = g };
	uint64_t high = low + group->span;
	uint32_t first = program->blocks[plan->number].first_item + group->first;
	bool writes = group->flags & GROUP_WRITES, writes_first = group->flags & GROUP_WRITES_FIRST, two_lines;

	if (core->calls) { /* of a group in one line, the first access is who misses */
		const struct trace_item *item = &program->items[first];
		core->accessed = (item->value == TRACE_NO_VALUE ? 0 : record[1 + item->value]) + (uint64_t)item->displacement;
	}
	if (group->flags & GROUP_STEPWISE || low & group->misaligned || (low ^ high) >= 4096)
		return run_rest(core, program, rest, sums);
	if (!(plan->flags & PLAN_ONE_LINE) && sides_meet(core))
		return run_rest(core, program, rest, sums);
	two_lines = data && (low ^ high) >= data->is.line_bytes;
	/* which of two lines is written to is not known here */
	if (two_lines && ((group->flags & (GROUP_WRITES | GROUP_READS)) == (GROUP_WRITES | GROUP_READS) || !can_hit(core, data, low) ||
			  !can_hit(core, data, high)))
		return run_rest(core, program, rest, sums);
	if (pages->pages && !page_known(pages, low)) {
		if (!page_tellable(core, pages))
			return run_rest(core, program, rest, sums);
		step_page(core, TLB_DATA, low, writes_first ? TLB_WRITES : TLB_READS);
		core->apart_pages[writes_first]++; /* it counted itself */
		charge_item(core, first);
	}
	if (!data || ((cache_filtered(data, low, writes) || cache_quick_hit(core, data, low, writes)) &&
		      (!two_lines || cache_filtered(data, high, writes) || cache_quick_hit(core, data, high, writes))))
		return g + 1;
	if (!core->model->plain || core->model->snoops)
		return run_rest(core, program, rest, sums);
	if (code)
		code->disturbed = false;
	cache_plain_miss(core, data, low, writes_first ? TRACE_WRITE : TRACE_READ);
	charge_item(core, first);
	if (writes && !writes_first)
		cache_quick_hit(core, data, low, true);
	if (plan->flags & PLAN_ONE_LINE || !code || !code->disturbed)
		return g + 1;
	rest.group = g + 1;
	start_stepping(core, &rest, plan->pc + program->items[first].offset, sums);
	return run_rest(core, program, rest, sums);
}

/* Most of them: aligned, in one line, the page known, and the line a hit that the filter did not tell. */
static __attribute__((noinline)) unsigned run_group(struct core *core, const struct trace_program *program, const struct plan *plan, unsigned g,
						    const uint64_t *record, uint64_t low, uint64_t fs_base, struct sums *sums)
{
	const struct plan_group *group = &plan->group[g];
	const struct page_filter *pages = &core->pages[TLB_DATA];
	struct cache *data = core->first_data;
	core->counts->filter[FILTER_UNDECIDED_ACCESSES] += group->items;
	if (!(group->flags & GROUP_STEPWISE) && !(low & group->misaligned) && data && (low ^ (low + group->span)) < data->is.line_bytes &&
	    (plan->flags & PLAN_ONE_LINE || !sides_meet(core)) && (!pages->pages || page_known(pages, low)) &&
	    cache_quick_hit(core, data, low, group->flags & GROUP_WRITES))
		return g + 1;
	return run_group_slowly(core, program, plan, g, record, low, fs_base, sums);
}

static bool all_filtered(const struct core *core, const struct plan *plan, const uint64_t *record)
{
	const struct cache *data = core->first_data;
	const struct page_filter *pages = &core->pages[TLB_DATA];
	for (unsigned g = 0; g < plan->groups; g++) {
		const struct plan_group *group = &plan->group[g];
		uint64_t low = record[group->value] + (uint64_t)group->displacement, high = low + group->span;
		if (group->flags & GROUP_STEPWISE || low & group->misaligned || (data && (low ^ high) >= data->is.line_bytes))
			return false;
		if (data && !cache_filtered(data, low, group->flags & GROUP_WRITES))
			return false;
		if (pages->pages && !(page_known(pages, low) && page_known(pages, high)))
			return false;
	}
	return true;
}

enum fetched { FETCHED, FETCHED_APART, NOT_FETCHED };

/*
 * The lines of a block, ahead of its accesses; the loop found one that is not filtered. Hits in front move nothing that the accesses ask
 * for; should these take such a line away, it is fetched again (start_stepping). FETCHED_APART: they counted themselves.
 */
static __attribute__((noinline)) enum fetched run_fetch(struct core *core, const struct plan *plan, bool sequential, const uint64_t *record)
{
	const struct page_filter *pages = &core->pages[TLB_FETCH];
	struct cache *code = core->first_instruction;
	bool one_line = plan->flags & PLAN_ONE_LINE, meet = sides_meet(core), done = !(meet && !one_line);
	uint64_t unit = 1ull << core->model->fetch_shift;
	struct fetch fetch;

	if (plan->flags & PLAN_MANY) {
		if (many_filtered(core, plan)) {
			((struct plan *)plan)->fetched = code_changes(core);
			return FETCHED;
		}
		done = false;
	}
	core->counts->filter[FILTER_UNDECIDED_FETCHES]++;
	if (done && code) {
		bool entered = !(sequential && plan->pc & (code->is.line_bytes - 1));
		done = !entered || cache_filtered(code, plan->pc, false) || cache_quick_hit(core, code, plan->pc, false);
		if (done && (plan->pc ^ plan->last) >= code->is.line_bytes)
			done = cache_filtered(code, plan->last, false) || cache_quick_hit(core, code, plan->last, false);
	}
	if (done && pages->pages && !page_known(pages, plan->pc)) {
		/* the first fetch block is entered first, and the others are in its page */
		done = !meet && page_tellable(core, pages) && !(sequential && plan->pc & (unit - 1));
		if (done) {
			step_page(core, TLB_FETCH, plan->pc, TLB_FETCHES);
			core->counts->tlb[pages->tlb][TLB_FETCHES]--; /* the sums have it */
			charge_block(core, plan->number);
		}
	}
	if (done)
		return FETCHED;
	/* a miss is to come between accesses in its order, unless those ask for nothing behind the first level */
	if (!one_line && (meet || core->model->includes || core->model->snoops || !all_filtered(core, plan, record)))
		return NOT_FETCHED;
	fetch = step_fetch_begin(core, plan->pc, plan->number);
	step_fetch_to(core, &fetch, plan->last);
	charge_block(core, plan->number);
	return FETCHED_APART;
}

static inline void post_branch(struct core *core, const struct plan *plan, uint64_t went_to)
{
	uint64_t behind = plan->last + 1;
	if (__builtin_expect(!core->model->charges_branches, 1)) {
		branches_post(core->branches, (struct branch_site *)&plan->site, went_to);
		return;
	}
	step_branch(core, behind - plan->ending_length, plan->ending_length, (enum trace_ending)plan->ending,
		    plan->ending != TRACE_END_CONDITIONAL || went_to != behind, plan->target ? plan->target : went_to, plan->number);
}

/* ---- the loop ---- */

/* Parts that a machine has: known when the loop is compiled, but for machines that lack some of them. */
enum has { HAS_NOT, HAS, HAS_PERHAPS };
#define THERE(has, pointer) ((has) == HAS_PERHAPS ? (pointer) != NULL : (has) == HAS)

static inline __attribute__((always_inline)) size_t run(struct core *core, const struct trace_program *program, const uint64_t *entries,
							size_t i, size_t n, uint64_t fs_base, enum has caches, enum has tlbs,
							bool branches, unsigned data_line_shift, unsigned data_page_shift)
{
	const uint64_t *const plan_at = core->model->plans->at;
	const uint64_t *const plan_memory = core->model->plans->memory;
	const struct cache *data = core->first_data, *code = core->first_instruction;
	const unsigned data_shift = data_line_shift - 4;
	const uint64_t data_mask = data ? data->filter_mask << 4 : 0;
	const uint64_t data_bytes = 1ull << data_line_shift, code_bytes = code ? code->is.line_bytes : 0;
	const char *const data_filters = data ? (const char *)data->filters : NULL, *const code_filters = code ? (const char *)code->filters : NULL;
	const char *const data_pages = (const char *)core->pages[TLB_DATA].pages, *const code_pages = (const char *)core->pages[TLB_FETCH].pages;
	const unsigned page_shift = data_page_shift - 3;
	const uint64_t page_mask = core->pages[TLB_DATA].mask << 3;
	const struct plan *pending = NULL;
	const uint64_t *record = entries + i, *const end = entries + n;
	struct sums sums = { 0, 0 };
	uint64_t next_pc = core->next_pc, changes = code_changes(core);

	if (record == end || *record & TRACE_MARK)
		return i;
	if (core->pending != NO_BLOCK)
		resolve(core, program, program->blocks[*record].pc);
	for (; record < end && !(*record & TRACE_MARK);) {
		const uint32_t number = (uint32_t)*record;
		const uint64_t slot = plan_at[number % PLAN_SLOTS];
		const struct plan *plan = (const struct plan *)(plan_memory + (uint32_t)slot);
		const uint64_t *const values = record, *next = record + (slot >> 32);
		const struct plan_group *group, *groups_end;
		bool sequential, fetched;

		if (__builtin_expect(plan->number != number, 0)) {
			/* the pending plan may have to make room */
			if (branches && pending)
				post_branch(core, pending, program->blocks[number].pc);
			pending = NULL;
			plan = plans_make(core->model->plans, core, program, number);
			next = record + 1 + plan->values;
		}
		if (branches && pending)
			post_branch(core, pending, plan->pc);
		pending = NULL;
		if (__builtin_expect(plan->flags & PLAN_NONE, 0))
			break;
		record = next;
		sequential = plan->pc == next_pc;
		fetched = plan->fetched == changes;
		if (!fetched && !(plan->flags & PLAN_MANY)) {
			fetched = true;
			if (THERE(caches, code))
				fetched = (plan->pc ^ *(const uint64_t *)(code_filters + plan->code_at[0])) < code_bytes &&
					  (plan->last ^ *(const uint64_t *)(code_filters + plan->code_at[1])) < code_bytes;
			if (THERE(tlbs, code_pages))
				fetched = fetched && (plan->pc ^ *(const uint64_t *)(code_pages + plan->page_at)) < 4096;
			if (fetched)
				((struct plan *)plan)->fetched = changes;
		}
		if (__builtin_expect(fetched, 1)) {
			sums.fetches += plan->fetches[sequential];
		} else {
			core->next_pc = next_pc;
			switch (run_fetch(core, plan, sequential, values)) {
			case FETCHED:
				sums.fetches += plan->fetches[sequential];
				break;
			case FETCHED_APART:
				sums.fetches += 1ull << 2 * PLAN_FIELD;
				break;
			case NOT_FETCHED:
				run_block(core, program, number, values + 1, UINT32_MAX, fs_base);
				next_pc = core->next_pc;
				pending = branches && core->pending != NO_BLOCK ? plan : NULL;
				core->pending = NO_BLOCK;
				changes = code_changes(core);
				continue;
			}
			changes = code_changes(core);
		}
		sums.counts += plan->sums;
		next_pc = plan->last + 1;
		if (branches && plan->flags & PLAN_BRANCHES)
			pending = plan;

		for (group = plan->group, groups_end = group + plan->groups; group < groups_end; group++) {
			uint64_t low = values[group->value] + (uint64_t)group->displacement;
			if (__builtin_expect(low & group->misaligned, 0))
				goto undecided;
			if (THERE(caches, data)) {
				const char *filter = data_filters + (low >> data_shift & data_mask) + group->filter;
				if (__builtin_expect((low ^ *(const uint64_t *)filter) + group->span >= data_bytes, 0))
					goto undecided;
			}
			if (THERE(tlbs, data_pages)) {
				uint64_t page = *(const uint64_t *)(data_pages + (low >> page_shift & page_mask));
				if (__builtin_expect((low ^ page) + (caches == HAS ? 0 : group->span) >= 4096, 0))
					goto undecided;
			}
			continue;
undecided:
			group = plan->group + run_group(core, program, plan, (unsigned)(group - plan->group), values, low, fs_base, &sums) - 1;
			changes = code_changes(core);
		}
	}
	core->next_pc = next_pc;
	core->pending = pending ? pending->number : NO_BLOCK;
	add_sums(core, &sums);
	return (size_t)(record - entries);
}

size_t run_fast(struct core *core, const struct trace_program *program, const uint64_t *entries, size_t i, size_t n, uint64_t fs_base)
{
	const struct cache *data = core->first_data, *code = core->first_instruction;
	bool tlbs = core->pages[TLB_DATA].pages && core->pages[TLB_FETCH].pages, none = !core->tlbs;
	size_t end = n - i < PLAN_BATCH ? n : i + PLAN_BATCH; /* a block is an entry at least */
	if ((data && (!data->filters || !data->filter_power || data->line_shift < 4)) ||
	    (code && (!code->filters || !code->filter_power || code->line_shift < 4)))
		return i;
	if (data && code && tlbs && data->line_shift == 6 && core->pages[TLB_DATA].shift == 12)
		return core->branches ? run(core, program, entries, i, end, fs_base, HAS, HAS, true, 6, 12)
				      : run(core, program, entries, i, end, fs_base, HAS, HAS, false, 6, 12);
	if (data && code && none && data->line_shift == 6)
		return core->branches ? run(core, program, entries, i, end, fs_base, HAS, HAS_NOT, true, 6, 12)
				      : run(core, program, entries, i, end, fs_base, HAS, HAS_NOT, false, 6, 12);
	return run(core, program, entries, i, end, fs_base, HAS_PERHAPS, HAS_PERHAPS, core->branches, data ? data->line_shift : 6,
		   core->pages[TLB_DATA].pages ? core->pages[TLB_DATA].shift : 12);
}
