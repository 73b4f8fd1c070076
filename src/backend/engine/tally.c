#include "backend/engine/tally.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/engine/decoded.h"
#include "backend/engine/fold.h"
#include "backend/engine/cached_vector.h"
#include "backend/engine/shape_sums.h"
#include "backend/engine/tally_inside.h"
#include "base/vec.h"

/* A row's counters, seen from a block's owner: the row's process has the owner's blocks below limit. */
struct holder {
	uint32_t owner, limit;
	const struct view_thread *thread;
	struct tally_row *row;
};

/* The part of a block that a correction is about. */
struct worked_block {
	struct exact_vector vector;
	uint32_t leaders;
	const struct leaders *known; /* NULL: not wanted */
};

struct tally_sum {
	const struct view *view;
	const struct tally_options *options;
	struct tally *tally;
	VEC(struct holder) holders;
	VEC(struct seat) seats;      /* of every thread that the view has */
	uint32_t *row_of;            /* by process: index of its first row plus one; 0 */
	struct leaders leaders;      /* of root */
	struct knowledge *knowledge; /* the caller's, or own */
	struct knowledge own;
	struct shape_sums *shape_sums; /* NULL: none was needed yet */
	const struct view_process *root;
};

__attribute__((format(printf, 2, 3))) static void mark(struct tally *t, const char *format, ...)
{
	va_list args;
	if (t->why)
		return;
	va_start(args, format);
	vsnprintf(t->why_text, sizeof t->why_text, format, args);
	va_end(args);
	t->why = t->why_text;
}

static void mark_damaged(struct tally *t, const struct view_process *owner, const struct record_block *block)
{
	mark(t, "the record of the block at 0x%llx of '%s' is damaged", (unsigned long long)block->address,
	     owner->path);
}

void tally_add(struct tally *t, uint64_t *to, uint64_t times, uint64_t each)
{
	uint64_t product, sum;
	if (__builtin_mul_overflow(times, each, &product) || __builtin_add_overflow(*to, product, &sum))
		mark(t, "a count does not fit in 64 bits");
	else
		*to = sum;
}

void tally_of_region(struct tally *t, struct execution_regions *regions, bool right)
{
	if (!right || !t->why)
		return;
	t->why = NULL;
	if (!regions->why)
		regions->why =
			"a region's count does not fit in 64 bits, or is corrected by more than was counted";
}

static void subtract(struct tally *t, uint64_t *from, uint64_t times, uint64_t each)
{
	uint64_t product;
	if (__builtin_mul_overflow(times, each, &product) || product > *from)
		mark(t, "the engine's record corrects more than was counted");
	else
		*from -= product;
}

static void work_insn(void *arg, uint32_t index, uint64_t address, const struct x86_insn *insn)
{
	struct worked_block *w = arg;
	struct exact_each each;
	(void)index;
	exact_vector_add(&w->vector, insn, &each);
	w->leaders += w->known && leaders_has(w->known, address);
}

static bool work(struct tally_sum *sum, const struct view_process *owner, const struct record_block *block,
		 uint32_t from, struct worked_block *w)
{
	*w = (struct worked_block){.known = sum->options->blocks ? &sum->leaders : NULL};
	return decoded_each(owner, block, from, work_insn, w);
}

static bool prepare_leaders(struct tally_sum *sum, const struct view_process *owner, struct error *err)
{
	const struct view_process *root = decoded_root(owner);
	if (!sum->options->blocks || root == sum->root)
		return true;
	free(sum->leaders.at);
	sum->root = root;
	return leaders_collect(root, &sum->leaders) || error_no_memory(err);
}

static void add_known(struct tally_sum *sum, uint64_t count[COUNTS], const struct cached_vector *known,
		      uint32_t leaders, uint64_t times)
{
	for (unsigned i = 0; i < known->n_counts; i++)
		tally_add(sum->tally, &count[known->counts[i].of], times, known->counts[i].times);
	tally_add(sum->tally, &count[COUNT_BASIC_BLOCKS], times, leaders);
}

static int by_block(const void *a, const void *b)
{
	const struct record_site *x = *(const struct record_site *const *)a,
				 *y = *(const struct record_site *const *)b;
	return x->block != y->block ? (x->block > y->block) - (x->block < y->block)
				    : (x->insn > y->insn) - (x->insn < y->insn);
}

/* The owner's own sites that count, by block and instruction. */
static bool sort_sites(const struct view_process *owner, const struct record_site ***out, size_t *count)
{
	VEC(const struct record_site *) sites = {0};
	for (uint32_t i = 0; i < owner->sites.own; i++) {
		const struct record_site *site = (const struct record_site *)owner->sites.entries + i;
		if ((site->kind == RECORD_SITE_ITERATIONS || site->kind == RECORD_SITE_AMOUNT) &&
		    !vec_push(&sites, site)) {
			vec_free(&sites);
			return false;
		}
	}
	if (sites.count)
		qsort(sites.items, sites.count, sizeof *sites.items, by_block);
	*out = sites.items, *count = sites.count;
	return true;
}

static void add_each(struct tally_sum *sum, uint64_t count[COUNTS], const struct exact_each *each, uint64_t times)
{
	for (unsigned i = 0; i < each->n; i++)
		tally_add(sum->tally, &count[each->adds[i].of], times, each->adds[i].times);
}

static void each_unknown(struct tally *t, const struct view_process *p, const struct record_block *block,
			 const struct exact_each *each)
{
	if (!t->unknown_text[0])
		snprintf(t->unknown_text, sizeof t->unknown_text, "%s at 0x%llx of '%s' were not counted",
			 each->unit == EXACT_ITERATIONS ? "the iterations of a rep instruction"
							: "the bytes or operations of an instruction",
			 (unsigned long long)block->address, p->path);
	for (unsigned i = 0; i < each->n; i++)
		t->unknown[each->adds[i].of] = t->unknown_text;
}

/* The first instruction of no table, by its bytes; whether it was executed is known when all corrections are. */
static void note_strange_block(struct tally *t, const struct view_process *owner, const struct record_block *block)
{
	const uint8_t *code = view_code(owner, block);
	char bytes[64] = "";
	if (t->strange_text[0] || !code)
		return;
	for (uint32_t i = 0; i < block->length_bytes && i < 15; i++)
		snprintf(bytes + 3 * i, 4, " %02x", code[i]);
	snprintf(t->strange_text, sizeof t->strange_text,
		 "tare does not know the instruction at 0x%llx of '%s':%s", (unsigned long long)block->address,
		 owner->path, bytes);
}

static void note_strange(struct tally *t, const struct cached_vector *known, const struct view_process *owner,
			 const struct record_block *block)
{
	bool strange = false;
	for (unsigned i = 0; i < known->n_counts; i++)
		strange |= known->counts[i].of == COUNT_UNKNOWN;
	if (strange)
		note_strange_block(t, owner, block);
}

static bool counts_fall(const struct record_block *block)
{
	return __atomic_load_n(&block->flags, __ATOMIC_RELAXED) & RECORD_BLOCK_COUNTS_FALL;
}

/* The runtime counts one way out of a conditional branch, the colder one: edge. */
static void add_taken(struct tally *t, uint64_t count[COUNTS], const struct record_block *block, uint64_t times,
		      uint64_t edge)
{
	if (block->taken == RECORD_NONE)
		return;
	tally_add(t, &count[COUNT_TAKEN], counts_fall(block) ? times : edge, 1);
	if (counts_fall(block))
		subtract(t, &count[COUNT_TAKEN], edge, 1);
}

/* Where one execution of a block counts: in the row, then in each region of its context, then, where that is asked
 * for, in the last of them alone. */
struct tally_targets {
	const uint32_t *regions;
	uint32_t n, last; /* last: of the targets, from 0 on */
};

static struct tally_targets targets_of(struct tally_sum *sum, const struct view_process *owner,
				       const struct record_block *block)
{
	struct tally_targets to = {NULL, 0, 0};
	uint32_t context = block->flags >> RECORD_BLOCK_CONTEXT_SHIFT;
	bool damaged = false;
	if (context && sum->options->regions)
		to.regions = regions_of(sum->options->regions, owner, context, &to.n, &damaged);
	if (damaged && !sum->options->regions->why)
		sum->options->regions->why = "the engine's record of regions is damaged";
	to.last = to.n + (to.n && sum->options->regions->exclusive);
	return to;
}

/* Is the block of the one region that is asked for? */
static bool is_of(struct tally_sum *sum, const struct view_process *owner, const struct record_block *block)
{
	struct tally_targets to = targets_of(sum, owner, block);
	for (uint32_t i = 0; i < to.n; i++)
		if (&sum->options->regions->all[to.regions[i]] == sum->options->only)
			return true;
	return false;
}

static uint64_t *target(const struct tally_sum *sum, const struct tally_targets *to, struct tally_row *row,
			uint32_t i)
{
	if (i == 0)
		return row->count;
	return i > to->n ? sum->options->regions->all[to->regions[to->n - 1]].alone
			 : sum->options->regions->all[to->regions[i - 1]].count;
}

/* ---- blocks that one thread alone has ---- */

struct alone {
	struct tally_sum *sum;
	const struct view_process *owner;
	const struct holder *holder;
	uint32_t number; /* of the block */
	const struct record_block *block;
	const struct record_site **sites; /* of it, and of those behind it */
	size_t n_sites;
};

static void alone_add(void *arg, unsigned count, uint64_t times, uint64_t each)
{
	struct alone *a = arg;
	tally_add(a->sum->tally, &a->holder->row->count[count], times, each);
	if (count == COUNT_UNKNOWN)
		note_strange_block(a->sum->tally, a->owner, a->block);
}

static void alone_own(void *arg, uint32_t index, const struct exact_each *each)
{
	struct alone *a = arg;
	size_t s = 0;
	while (s < a->n_sites && a->sites[s]->block == a->number && a->sites[s]->insn != index)
		s++;
	if (s == a->n_sites || a->sites[s]->block != a->number)
		each_unknown(a->sum->tally, a->owner, a->block, each);
	else
		add_each(a->sum, a->holder->row->count, each,
			 view_counter(a->holder->thread, a->sites[s]->counter));
}

/* Nothing but the row's counts is wanted of the owner's blocks. */
static bool may_sum_shapes(struct tally_sum *sum, size_t n)
{
	if (n != 1 || sum->options->blocks || sum->options->only || sum->knowledge != &sum->own)
		return false;
	if (!sum->shape_sums)
		sum->shape_sums = calloc(1, sizeof *sum->shape_sums);
	return sum->shape_sums != NULL;
}

/* The block's part in that; false: its bytes are not what it says. */
static bool add_alone(struct alone *a, const struct shape_sink *sink, uint64_t times)
{
	const uint8_t *code = view_code(a->owner, a->block);
	if (!code || !shape_sums_add(a->sum->shape_sums, sink, code, a->block, times))
		return false;
	if (a->block->taken != RECORD_NONE)
		add_taken(a->sum->tally, a->holder->row->count, a->block, times,
			  view_counter(a->holder->thread, a->block->taken));
	return true;
}

static bool tally_owner(struct tally_sum *sum, const struct view_process *owner, const struct holder *holders,
			size_t n, struct error *err)
{
	struct alone alone = {.sum = sum, .owner = owner, .holder = holders};
	const struct shape_sink sink = {alone_add, alone_own, &alone};
	bool by_shapes = may_sum_shapes(sum, n);
	const struct record_site **sites;
	size_t n_sites, site = 0;
	bool only = sum->options->only != NULL;
	if (!prepare_leaders(sum, owner, err))
		return false;
	if (!sort_sites(owner, &sites, &n_sites))
		return error_no_memory(err);
	for (uint32_t number = owner->blocks.inherited; number < owner->blocks.count; number++) {
		const struct record_block *block = view_block(owner, number);
		const struct cached_vector *known = NULL;
		struct tally_targets to = {NULL, 0, 0};
		uint32_t leaders = 0;
		while (site < n_sites && sites[site]->block < number)
			site++;
		for (size_t h = 0; h < n; h++) {
			uint64_t times = number < holders[h].limit ? view_entered(holders[h].thread, number) : 0;
			if (times == 0)
				continue;
			if (!known && only && !is_of(sum, owner, block))
				break;
			if (by_shapes && (block->flags >> RECORD_BLOCK_CONTEXT_SHIFT) == 0) {
				alone.number = number, alone.block = block;
				alone.sites = n_sites ? sites + site : NULL, alone.n_sites = n_sites - site;
				if (!add_alone(&alone, &sink, times))
					mark_damaged(sum->tally, owner, block);
				continue;
			}
			if (!known) {
				known = known_find(sum->knowledge, owner, block);
				leaders = known && sum->options->blocks
						  ? known_leaders(known, owner, block, &sum->leaders)
						  : 0;
				to = targets_of(sum, owner, block);
				if (known)
					note_strange(sum->tally, known, owner, block);
			}
			if (sum->knowledge->no_memory) {
				free(sites);
				return error_no_memory(err);
			}
			if (!known) {
				mark_damaged(sum->tally, owner, block);
				free(sites);
				return true;
			}
			for (uint32_t i = 0; i <= to.last; i++) {
				uint64_t *count = target(sum, &to, holders[h].row, i);
				bool right = i && !sum->tally->why;
				add_known(sum, count, known, leaders, times);
				add_taken(sum->tally, count, block, times,
					  block->taken == RECORD_NONE
						  ? 0
						  : view_counter(holders[h].thread, block->taken));
				tally_of_region(sum->tally, sum->options->regions, right);
			}
			for (unsigned r = 0; r < known->n_reps; r++) {
				size_t s = site;
				while (s < n_sites && sites[s]->block == number &&
				       sites[s]->insn != known->reps[r].insn)
					s++;
				if (s == n_sites || sites[s]->block != number) {
					each_unknown(sum->tally, owner, block, &known->reps[r].each);
					continue;
				}
				for (uint32_t i = 0; i <= to.last; i++) {
					bool right = i && !sum->tally->why;
					add_each(sum, target(sum, &to, holders[h].row, i), &known->reps[r].each,
						 view_counter(holders[h].thread, sites[s]->counter));
					tally_of_region(sum->tally, sum->options->regions, right);
				}
			}
		}
	}
	if (by_shapes)
		shape_sums_flush(sum->shape_sums, &sink);
	free(sites);
	return true;
}

static struct tally_row *row_of(const struct tally_sum *sum, const struct view_process *p, uint32_t tid)
{
	for (uint32_t i = sum->row_of[p->head->index]; i; i = sum->tally->rows[i - 1].next)
		if (sum->tally->rows[i - 1].tid == tid)
			return &sum->tally->rows[i - 1];
	return NULL;
}

/* A thread goes on in its row in the next part; within one part, a number used again is another thread. */
static struct tally_row *make_row(struct tally_sum *sum, const struct view_process *p, uint32_t tid,
				  uint32_t **last)
{
	struct tally *t = sum->tally;
	struct tally_row *row = p->head == p ? NULL : row_of(sum, p, tid);
	if (row)
		return row;
	for (*last = *last ? *last : &sum->row_of[p->head->index]; **last;)
		*last = &t->rows[**last - 1].next;
	row = &t->rows[t->n_rows++];
	*row = (struct tally_row){.process = p->head->index, .pid = p->record->pid, .tid = tid};
	if (t->models)
		row->models = t->models + t->n_rows * sum->options->machines;
	**last = (uint32_t)t->n_rows;
	return row;
}

static void unknown(struct tally *t, enum exact_count count, const char *text)
{
	if (!t->unknown_text[0])
		snprintf(t->unknown_text, sizeof t->unknown_text, "%s", text);
	t->unknown[count] = t->unknown_text;
}

static void add_totals(struct tally_sum *sum, const struct view_process *p)
{
	static const enum exact_count whole[] = {COUNT_BASIC_BLOCKS, COUNT_CODE_LINES, COUNT_CODE_PAGES};
	bool damaged;
	const struct fold_totals *totals = fold_totals_of(p, &damaged);
	size_t machines = sum->options->machines;
	uint32_t *last = NULL;
	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
		unknown(sum->tally, whole[i],
			"the program ran more basic blocks than the engine's record can hold");
	if (damaged)
		mark(sum->tally, "the totals of '%s' are damaged", p->path);
	for (uint32_t r = 0; totals && r < totals->n_rows; r++) {
		struct tally_row *row = make_row(sum, p, totals->rows[r].tid, &last);
		row->folded += totals->rows[r].folded;
		for (size_t c = 0; c < COUNTS; c++)
			tally_add(sum->tally, &row->count[c], totals->rows[r].count[c], 1);
		if (machines && totals->n_machines != machines)
			tally_mark_models(sum->tally, "the totals of '%s' are damaged", p->path);
		else if (machines &&
			 !tally_add_models(row->models, fold_models_of(totals) + r * machines, machines))
			tally_mark_models(sum->tally, "a count of the access stream does not fit in 64 bits");
	}
	const struct fold_region *regions = totals && sum->options->regions ? fold_regions_of(totals) : NULL;
	for (uint32_t r = 0; regions && r < totals->n_regions; r++) {
		size_t index = regions_index(sum->options->regions, p, regions[r].local);
		bool right = !sum->tally->why;
		for (size_t c = 0; index != SIZE_MAX && c < COUNTS; c++) {
			struct counted_region *to = &sum->options->regions->all[index];
			tally_add(sum->tally, &to->count[c], regions[r].count[c], 1);
			tally_add(sum->tally, &to->alone[c], regions[r].alone[c], 1);
		}
		tally_of_region(sum->tally, sum->options->regions, right);
		if (index == SIZE_MAX)
			mark(sum->tally, "the totals of '%s' are damaged", p->path);
	}
	for (size_t c = 0; totals && c < COUNTS; c++)
		if (totals->unknown[c])
			unknown(sum->tally, (enum exact_count)c,
				totals->unknown_text[0] ? totals->unknown_text
							: "it is not known for a part of the program");
}

static bool correct(struct tally_sum *sum, const struct view_process *p, struct error *err)
{
	for (uint32_t i = 0; i < p->corrections.own; i++) {
		const struct record_correction *c = (const struct record_correction *)p->corrections.entries + i;
		const struct view_process *owner = view_block_owner(p, c->block);
		const struct record_block *block = owner ? view_block(owner, c->block) : NULL;
		struct tally_row *row = row_of(sum, p, c->tid);
		struct worked_block w;
		uint64_t times = __atomic_load_n(&c->times, __ATOMIC_RELAXED);
		if (times == 0)
			continue;
		if (!block || !row || c->done >= block->insns) {
			mark(sum->tally, "the engine's record corrects a block that does not exist");
			return true;
		}
		if (sum->options->only && !is_of(sum, owner, block))
			continue;
		if (!prepare_leaders(sum, owner, err))
			return false;
		if (!work(sum, owner, block, c->done, &w)) {
			mark_damaged(sum->tally, owner, block);
			return true;
		}
		struct tally_targets to = targets_of(sum, owner, block);
		for (uint32_t k = 0; k <= to.last; k++) {
			uint64_t *count = target(sum, &to, row, k);
			bool right = k && !sum->tally->why;
			for (unsigned e = 0; e < COUNT_STATIC; e++)
				if (w.vector.of[e])
					subtract(sum->tally, &count[e], times, w.vector.of[e]);
			subtract(sum->tally, &count[COUNT_BASIC_BLOCKS], times, w.leaders);
			/* entered, and neither taken nor fallen through */
			if (block->taken != RECORD_NONE && counts_fall(block))
				subtract(sum->tally, &count[COUNT_TAKEN], times, 1);
			tally_of_region(sum->tally, sum->options->regions, right);
		}
	}
	return true;
}

/* ---- all ---- */

static bool included(const struct tally_options *options, const struct view_process *p)
{
	return p->record->state != RECORD_FREE && (options->children || !p->descendant) &&
	       (!options->part || p->loaded || p->totals);
}

static int by_owner(const void *a, const void *b)
{
	uint32_t x = ((const struct holder *)a)->owner, y = ((const struct holder *)b)->owner;
	return (x > y) - (x < y);
}

static bool make_rows(struct tally_sum *sum, struct error *err)
{
	struct tally *t = sum->tally;
	size_t n = 0;
	for (size_t i = 0; i < sum->view->n_processes; i++) {
		const struct view_process *p = &sum->view->processes[i];
		bool damaged;
		const struct fold_totals *totals = fold_totals_of(p, &damaged);
		if (included(sum->options, p))
			n += p->n_threads + (totals ? totals->n_rows : 0);
	}
	if (!(t->rows = calloc(n + 1, sizeof *t->rows)) ||
	    !(sum->row_of = calloc(sum->view->n_processes + 1, sizeof *sum->row_of)))
		return error_no_memory(err);
	if (sum->options->machines && !(t->models = calloc((n + 1) * sum->options->machines, sizeof *t->models)))
		return error_no_memory(err);
	for (size_t i = 0; i < sum->view->n_processes; i++) {
		const struct view_process *p = &sum->view->processes[i];
		if (!included(sum->options, p))
			continue;
		if (p->folded)
			add_totals(sum, p);
		uint32_t *last = NULL;
		for (size_t k = 0; k < p->n_threads; k++) {
			const struct view_thread *thread = &p->threads[k];
			struct tally_row *row = make_row(sum, p, thread->record->tid, &last);
			row->folded += thread->record->tids_folded;
			if (!vec_push(&sum->seats, ((struct seat){thread, row})))
				return error_no_memory(err);
			uint32_t limit = p->blocks.count;
			for (const struct view_process *owner = p; owner && limit; owner = owner->inherits) {
				if (!vec_push(&sum->holders, ((struct holder){owner->index, limit, thread, row})))
					return error_no_memory(err);
				if (owner->blocks.inherited < limit)
					limit = owner->blocks.inherited;
			}
		}
	}
	if (sum->holders.count)
		qsort(sum->holders.items, sum->holders.count, sizeof *sum->holders.items, by_owner);
	return true;
}

static void judge(struct tally_sum *sum)
{
	size_t n = 0;
	for (size_t i = 0; i < sum->view->n_processes; i++) {
		const struct view_process *p = &sum->view->processes[i];
		if (!included(sum->options, p))
			continue;
		n++;
		if (!p->loaded)
			continue; /* its own fold said it */
		if (p->inexact && !(sum->options->still_running && p->unfinished))
			mark(sum->tally, "not exact: process %u (%s): %s", p->record->pid, p->path, p->inexact);
	}
	if (n == 0)
		mark(sum->tally, "the engine has no record of the program");
}

/* What is in doubt if such an instruction was executed. */
static void judge_strange(struct tally *t)
{
	bool executed = false;
	for (size_t r = 0; r < t->n_rows; r++)
		executed |= t->rows[r].count[COUNT_UNKNOWN] != 0;
	if (!executed) {
		t->strange_text[0] = 0;
		return;
	}
	if (!t->strange_text[0])
		snprintf(t->strange_text, sizeof t->strange_text, "%s",
			 t->unknown_text[0] ? t->unknown_text
					    : "tare does not know an instruction of the program");
	for (unsigned e = 0; e < COUNTS; e++)
		if (exact_count_needs_kind((enum exact_count)e) && !t->unknown[e])
			t->unknown[e] = t->strange_text;
	tally_mark_models(t, "%s", t->strange_text);
}

/* The access stream does not have what is reached by way of r16 to r31. */
static void judge_extended(struct tally *t)
{
	for (size_t r = 0; r < t->n_rows; r++)
		if (t->rows[r].count[COUNT_EXTENDED])
			tally_mark_models(
				t, "the program uses r16 to r31 (APX), whose accesses the engine does not follow");
}

/*
 * A block is counted when it is entered, and so are those that only follow it (RECORD_BLOCK_FOLLOWS): a thread
 * that is in the middle of one, or ended there, has not executed all of them. The most instructions that one entry
 * stands for.
 */
static bool longest_entry(const struct view_process *p, uint64_t *longest)
{
	uint64_t *insns = calloc(p->blocks.count + 1u, sizeof *insns);
	*longest = 0;
	if (!insns)
		return false;
	/* a block follows one of a smaller number */
	for (uint32_t number = p->blocks.count; number-- > 0;) {
		const struct view_process *owner = view_block_owner(p, number);
		const struct record_block *block = owner ? view_block(owner, number) : NULL;
		if (!block)
			continue;
		insns[number] += block->insns;
		if (__atomic_load_n(&block->flags, __ATOMIC_RELAXED) & RECORD_BLOCK_FOLLOWS &&
		    block->counter < number)
			insns[block->counter] += insns[number];
		else if (insns[number] > *longest)
			*longest = insns[number];
	}
	free(insns);
	return true;
}

static bool find_uncertain(struct tally_sum *sum, struct error *err)
{
	for (size_t i = 0; i < sum->view->n_processes; i++) {
		const struct view_process *p = &sum->view->processes[i];
		uint64_t longest;
		if (!included(sum->options, p) || !p->loaded || !p->unfinished)
			continue;
		if (!longest_entry(p, &longest))
			return error_no_memory(err);
		for (size_t t = 0; t < p->n_threads; t++)
			if (p->threads[t].record->state != RECORD_THREAD_EXITED)
				sum->tally->uncertain_insns += longest;
	}
	return true;
}

bool tally_uncertain(const struct tally *tally, enum exact_count count, uint64_t *most)
{
	enum { OPERATIONS_MOST = 64 }; /* of one instruction: exact_vector */
	static const enum exact_count by_iteration[] = {COUNT_ITERATIONS, COUNT_READS, COUNT_WRITES,
							COUNT_READ_BYTES, COUNT_WRITE_BYTES};
	for (size_t i = 0; i < sizeof by_iteration / sizeof *by_iteration; i++)
		if (count == by_iteration[i])
			return false; /* a rep instruction in the middle may have any number of them to come */
	if (count >= COUNT_STREAM && count < COUNT_STREAM_END)
		return false; /* what runs has not handed in all of its access stream */
	bool operations = count == COUNT_FP_OPERATIONS || count == COUNT_SINGLE_OPERATIONS ||
			  count == COUNT_DOUBLE_OPERATIONS || count == COUNT_HALF_OPERATIONS ||
			  count == COUNT_SSE_OPERATIONS || count == COUNT_X87_OPERATIONS ||
			  count == COUNT_PENTIUM_FLOPS ||
			  (count >= COUNT_FP_WIDTHS && count < COUNT_FP_WIDTHS_END);
	return !__builtin_mul_overflow(tally->uncertain_insns, operations ? OPERATIONS_MOST : 1, most);
}

bool tally_join(struct tally *tally, bool threads, size_t machines)
{
	size_t n = 0;
	for (size_t i = 0; i < tally->n_rows; i++) {
		struct tally_row *row = NULL;
		for (size_t j = 0; j < n && !row; j++)
			if (tally->rows[j].pid == tally->rows[i].pid &&
			    (!threads || tally->rows[j].tid == tally->rows[i].tid))
				row = &tally->rows[j];
		if (!row) {
			tally->rows[n] = tally->rows[i];
			if (!threads)
				tally->rows[n].tid = 0;
			n++;
			continue;
		}
		for (size_t count = 0; count < COUNTS; count++)
			if (__builtin_add_overflow(row->count[count], tally->rows[i].count[count],
						   &row->count[count]))
				return false;
		if (row->models && !tally_add_models(row->models, tally->rows[i].models, machines))
			return false;
	}
	tally->n_rows = n;
	return true;
}

bool tally_new(const struct view *view, const struct tally_options *options, struct tally **out, struct error *err)
{
	struct tally_sum sum = {.view = view, .options = options, .tally = calloc(1, sizeof *sum.tally)};
	bool done = false;
	*out = NULL;
	if (!sum.tally)
		return error_no_memory(err);
	judge(&sum);
	if (!make_rows(&sum, err))
		goto out;
	sum.knowledge = options->knowledge ? options->knowledge : &sum.own;
	sum.own.unshared = sum.holders.count &&
			   sum.holders.items[0].owner == sum.holders.items[sum.holders.count - 1].owner;
	for (size_t i = 0, next; i < sum.holders.count; i = next) {
		next = i;
		while (next < sum.holders.count && sum.holders.items[next].owner == sum.holders.items[i].owner)
			next++;
		if (!tally_owner(&sum, &view->processes[sum.holders.items[i].owner], &sum.holders.items[i],
				 next - i, err))
			goto out;
	}
	for (size_t i = 0; i < view->n_processes; i++) {
		const struct view_process *p = &view->processes[i];
		if (included(options, p) && (!correct(&sum, p, err) || (options->code_lines && p->head == p &&
									!tally_code(sum.tally, p, err))))
			goto out;
	}
	judge_strange(sum.tally);
	judge_extended(sum.tally);
	tally_models(sum.tally, options, sum.seats.items, sum.seats.count);
	for (size_t r = 0; r < sum.tally->n_rows; r++)
		for (unsigned e = 0; e < COUNT_CODE_LINES; e++)
			tally_add(sum.tally, &sum.tally->total[e], sum.tally->rows[r].count[e], 1);
	if (options->still_running && !find_uncertain(&sum, err))
		goto out;
	*out = sum.tally;
	done = true;
out:
	if (!done)
		tally_free(sum.tally);
	vec_free(&sum.holders);
	vec_free(&sum.seats);
	free(sum.row_of);
	knowledge_free(&sum.own);
	free(sum.shape_sums);
	free(sum.leaders.at);
	return done;
}

void tally_free(struct tally *tally)
{
	if (!tally)
		return;
	free(tally->models);
	free(tally->rows);
	free(tally);
}
