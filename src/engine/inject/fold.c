/*
 * Finished parts of programs that run more distinct blocks than one entry of the record holds (wire/record.h, 4
 * and 5).
 *
 *     whole ──(too many blocks in finished parts: the oldest)──► folded: totals ──(nobody inherits from it any more)──► gone
 *
 * What always holds:
 *  1. Totals are written before what they stand for is punched out of the file.
 *  2. A part is folded after the one that it continues, whose totals move into its own: one set for a process.
 *  3. What a forked child inherited stays until that child is folded as well, which it is when it has ended.
 *  4. The caller holds the record's lock alone; views share it.
 * So an injection holds, beside what runs, at most whole_blocks of finished parts and what living children
 * inherited.
 */
#include "engine/inject/fold.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/inject/takeover.h"

static uint64_t whole_pages(uint64_t bytes) { return (bytes + RECORD_PAGE - 1) & ~(uint64_t)(RECORD_PAGE - 1); }

static void punch(const struct injection *injection, uint64_t offset, uint64_t bytes)
{
	if (offset && bytes)
		fallocate(injection_fd(injection), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
			  (off_t)whole_pages(bytes));
}

static bool finished(const struct record_process *p)
{
	uint32_t state = __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
	return state == RECORD_EXITED || state == RECORD_EXECED || state == RECORD_CONTINUED;
}

static bool fold_one(const struct injection *injection, injection_fold *fold, uint32_t index)
{
	struct record_process *p = injection_process(injection, index);
	uint32_t continues = __atomic_load_n(&p->continues, __ATOMIC_RELAXED);
	struct record_process *before = continues && continues <= index
						? injection_process(injection, continues - 1)
						: NULL;
	void *totals = NULL;
	size_t bytes = 0;
	char why[160] = "";
	if (!fold(injection, index, &totals, &bytes, why))
		return false;
	uint64_t offset = injection_reserve(injection_record(injection), bytes);
	bool written = offset && pwrite(injection_fd(injection), totals, bytes, (off_t)offset) == (ssize_t)bytes;
	free(totals);
	if (!written)
		return false;
	if (why[0])
		takeover_inexact(p, "%s", why);
	p->totals = offset, p->totals_bytes = bytes;
	__atomic_store_n(&p->folded, RECORD_FOLDED, __ATOMIC_RELEASE);
	if (before) {
		uint64_t old = before->totals, old_bytes = before->totals_bytes;
		before->totals = before->totals_bytes = 0;
		punch(injection, old, old_bytes);
	}
	for (uint64_t at = p->first_thread; at;) {
		const struct record_thread *thread = injection_map(injection, at, sizeof *thread);
		uint64_t older = thread ? __atomic_load_n(&thread->next, __ATOMIC_RELAXED) : 0,
			 next = older < at ? older : 0;
		if (thread)
			punch(injection, thread->counters, thread->counters_most * 8ull);
		if (thread)
			punch(injection, thread->models, injection_record(injection)->models_bytes);
		injection_unmap(injection, thread, sizeof *thread);
		punch(injection, at, sizeof *thread);
		at = next;
	}
	p->first_thread = 0;
	punch(injection, p->corrections.offset, p->corrections.bytes);
	punch(injection, p->site_items, (uint64_t)p->items.count * injection_record(injection)->watch_count * 8);
	punch(injection, p->site_blocks,
	      (uint64_t)p->templates.count * injection_record(injection)->watch_count * 8);
	p->site_items = p->site_blocks = 0;
	return true;
}

/* Entries whose blocks are still named: those of processes that are not folded, or that these inherit from. */
static void mark_needed(const struct injection *injection, uint32_t count, bool *needed)
{
	const struct record_process *all = injection_process(injection, 0);
	memset(needed, 0, count);
	for (uint32_t i = 0; i < count; i++) {
		if (all[i].folded != RECORD_WHOLE || all[i].state == RECORD_FREE)
			continue;
		for (uint32_t k = i; k < count && !needed[k];
		     k = __atomic_load_n(&all[k].parent, __ATOMIC_RELAXED)) {
			needed[k] = true;
			if (!all[k].forked)
				break;
		}
	}
}

/* Has an ancestor by fork that is folded, and holds its memory. */
static bool holds_folded(const struct injection *injection, uint32_t index)
{
	const struct record_process *all = injection_process(injection, 0);
	for (uint32_t parent;
	     all[index].forked && (parent = __atomic_load_n(&all[index].parent, __ATOMIC_RELAXED)) < index;) {
		index = parent;
		if (all[index].folded == RECORD_FOLDED)
			return true;
	}
	return false;
}

/* Goes on where a part ended that is not folded. */
static bool follows_whole(const struct record_process *all, uint32_t index)
{
	uint32_t continues = __atomic_load_n(&all[index].continues, __ATOMIC_RELAXED);
	return continues && continues <= index && all[continues - 1].folded == RECORD_WHOLE;
}

void fold_parts(const struct injection *injection, injection_fold *fold, uint64_t whole_blocks)
{
	struct record_process *all = injection_process(injection, 0);
	uint32_t count = __atomic_load_n(&injection_record(injection)->process_count, __ATOMIC_ACQUIRE);
	uint64_t whole = 0;
	count = count < RECORD_PROCESSES_MAX ? count : RECORD_PROCESSES_MAX;
	bool *needed = malloc(count + 1u);
	if (!needed)
		return;
	for (uint32_t i = 0; i < count; i++)
		if (all[i].state == RECORD_CONTINUED && all[i].folded == RECORD_WHOLE)
			whole += all[i].blocks.count - all[i].blocks.inherited;
	/* the oldest first: a part's predecessors have smaller numbers, and are folded then */
	for (uint32_t i = 0; i < count && whole > whole_blocks; i++)
		if (__atomic_load_n(&all[i].state, __ATOMIC_ACQUIRE) == RECORD_CONTINUED &&
		    all[i].folded == RECORD_WHOLE) {
			whole -= all[i].blocks.count - all[i].blocks.inherited;
			if (!fold_one(injection, fold, i))
				break;
		}
	for (uint32_t i = 0; i < count; i++)
		if (all[i].folded == RECORD_WHOLE && finished(&all[i]) && !follows_whole(all, i) &&
		    holds_folded(injection, i))
			fold_one(injection, fold, i);
	mark_needed(injection, count, needed);
	for (uint32_t i = 0; i < count; i++)
		if (all[i].folded == RECORD_FOLDED && !needed[i]) {
			const struct record_area *areas[] = {&all[i].blocks,    &all[i].code,  &all[i].sites,
							     &all[i].templates, &all[i].items, &all[i].modules};
			/* allocations that were made in it are named by its modules */
			const unsigned n = sizeof areas / sizeof *areas -
					   !!(injection_record(injection)->flags & RECORD_OBJECTS);
			for (unsigned a = 0; a < n; a++)
				punch(injection, areas[a]->offset, areas[a]->bytes);
			__atomic_store_n(&all[i].folded, RECORD_GONE, __ATOMIC_RELEASE);
		}
	free(needed);
}
