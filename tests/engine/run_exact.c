/*
 * run_exact [--cache BYTES] [--blocks-most N] [--whole-blocks N] [--no-fold] [--memory] [--counts] [--model NAME]… [--fixed] [--processes] [--quiet] [--keep FOLDER] [--share]
 * PROGRAM ARGS: runs a program under the exact engine with no other layer, for the trap tests and the engine's author; what the record holds goes
 * to stderr. --model: the access stream is run through that machine (none: through no machine), and its counts are printed as well, thread
 * by thread: `model I rowN PART INDEX COUNT`, `both NAME MODEL EXACT` of what both count, `broken law`. Ends as the program ended.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/engine/fold.h"
#include "backend/engine/kept.h"
#include "backend/engine/syscalls.h"
#include "backend/engine/tally.h"
#include "engine/inject/injection.h"
#include "held.h"
#include "model/core/model.h"
#include "model/declare/machines.h"

/* By number, as --system-calls has them. */
static uint64_t calls_of(const struct view *view)
{
	struct syscall_sums sums = {.untimed = 0};
	uint64_t n = 0;
	for (size_t p = 0; p < view->n_processes; p++)
		syscalls_sum(&view->processes[p], 0, &sums);
	for (unsigned i = 0; i < RECORD_SYSCALLS + 1; i++)
		n += sums.counts[i];
	return n;
}

static unsigned parts_of(const struct view *view)
{
	unsigned n = 0;
	for (size_t p = 0; p < view->n_processes; p++)
		n += view->processes[p].head != &view->processes[p];
	return n;
}

static void print_words(size_t machine, const char *of, const char *part, unsigned index, const uint64_t *words,
			unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (words[i])
			fprintf(stderr, "model %zu %s %s%u %u %" PRIu64 "\n", machine, of, part, index, i,
				words[i]);
}

static void print_models(const char *of, const struct model_counts *counts, size_t machines)
{
	for (size_t m = 0; m < machines; m++) {
		for (unsigned i = 0; i < MACHINE_CACHES; i++)
			print_words(m, of, "cache", i, counts[m].cache[i], CACHE_COUNTS);
		for (unsigned i = 0; i < MACHINE_TLBS; i++)
			print_words(m, of, "tlb", i, counts[m].tlb[i], TLB_COUNTS);
		print_words(m, of, "branch", 0, counts[m].branch, BRANCH_COUNTS);
		print_words(m, of, "stream", 0, counts[m].stream, STREAM_COUNTS);
	}
}

/* What the exact engine and the first machine both count, each in its own way; and the laws of every machine's counts. */
static void compare_models(const struct tally *t, const struct model_setup *machines, size_t n)
{
	const uint64_t *branch = t->models[0].branch, *stream = t->models[0].stream;
	// clang-format off: a table, a row a line
	const struct {
		const char *name;
		uint64_t model, exact;
	} same[] = {
		{"instructions", stream[STREAM_INSTRUCTIONS], t->total[COUNT_INSTRUCTIONS]},
		{"reads", stream[STREAM_READS], t->total[COUNT_READS]},
		{"writes", stream[STREAM_WRITES], t->total[COUNT_WRITES]},
		{"conditional", branch[BRANCH_CONDITIONAL], t->total[COUNT_CONDITIONAL]},
		{"calls", branch[BRANCH_CALLS], t->total[COUNT_DIRECT_CALLS] + t->total[COUNT_INDIRECT_CALLS]},
		{"returns", branch[BRANCH_RETURNS], t->total[COUNT_RETURNS]},
		{"indirect", branch[BRANCH_INDIRECT],
		 t->total[COUNT_INDIRECT_JUMPS] + t->total[COUNT_INDIRECT_CALLS]},
		{"branches", branch[BRANCH_ALL],
		 t->total[COUNT_CONDITIONAL] + t->total[COUNT_DIRECT_JUMPS] + t->total[COUNT_INDIRECT_JUMPS] +
			 t->total[COUNT_DIRECT_CALLS] + t->total[COUNT_INDIRECT_CALLS] + t->total[COUNT_RETURNS]},
	};
	// clang-format on
	const char *why;
	for (size_t i = 0; i < (n ? sizeof same / sizeof *same : 3); i++)
		fprintf(stderr, "both %s %" PRIu64 " %" PRIu64 "\n", same[i].name, same[i].model, same[i].exact);
	for (size_t r = 0; r < t->n_rows; r++)
		for (size_t m = 0; m < n; m++)
			if (!model_conserves(&machines[m].machine, &machines[m].options, &t->rows[r].models[m],
					     &why))
				fprintf(stderr, "broken law: machine %zu, row %zu: %s\n", m, r, why);
}

/* What is summed by shapes of instructions (nobody asks for basic blocks), beside the sums by vectors of blocks. */
static bool same_by_shapes(const struct view *view, struct tally_options options, const struct tally *by_vectors)
{
	struct error err;
	struct tally *tally;
	bool same = true;
	options.blocks = false;
	if (!tally_new(view, &options, &tally, &err))
		return false;
	for (unsigned c = 0; c < COUNTS; c++)
		if (c != COUNT_BASIC_BLOCKS && tally->total[c] != by_vectors->total[c]) {
			fprintf(stderr, "run_exact: count %u is %" PRIu64 " by blocks and %" PRIu64 " by shapes\n",
				c, by_vectors->total[c], tally->total[c]);
			same = false;
		}
	tally_free(tally);
	return same;
}

int main(int argc, char **argv)
{
	static struct model_setup machines[4];
	struct error err = {0};
	struct injection_options injection_options = {.size = sizeof injection_options, .fold = fold_part};
	bool fixed = false, processes = false, quiet = false, memory = false, counts = false, share = false;
	const char *keep = NULL;
	int i = 1;
	for (; i < argc && argv[i][0] == '-'; i++) {
		fixed |= !strcmp(argv[i], "--fixed");
		processes |= !strcmp(argv[i], "--processes");
		quiet |= !strcmp(argv[i], "--quiet");
		counts |= !strcmp(argv[i], "--counts");
		memory |= !strcmp(argv[i], "--memory");
		share |= !strcmp(argv[i], "--share");
		if (!strcmp(argv[i], "--no-fold"))
			injection_options.fold = NULL;
		if (!strcmp(argv[i], "--keep") && i + 1 < argc)
			keep = argv[++i];
		else if (!strcmp(argv[i], "--blocks-most") && i + 1 < argc)
			injection_options.blocks_most = (uint32_t)strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--whole-blocks") && i + 1 < argc)
			injection_options.whole_blocks = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--model") && i + 1 < argc &&
			 injection_options.machine_count < sizeof machines / sizeof *machines) {
			injection_options.trace = true;
			if (strcmp(argv[++i], "none") != 0 &&
			    !machine_find(argv[i], &machines[injection_options.machine_count++].machine, &err)) {
				fprintf(stderr, "run_exact: %s\n", err.text);
				return 3;
			}
		} else if (!strcmp(argv[i], "--cache") && i + 1 < argc)
			injection_options.cache_bytes = strtoull(argv[++i], NULL, 0);
	}
	if (i >= argc)
		return 2;
	injection_options.machines = machines, injection_options.machine_bytes = sizeof *machines;
	size_t modelled = !injection_options.trace          ? 0
			  : injection_options.machine_count ? injection_options.machine_count
							    : 1;
	struct kept_use kept = {0};
	if (keep)
		kept_open(&kept, keep, argv[i]);
	if (kept.folder)
		kept_offer(&kept, &injection_options);
	if (share)
		injection_options.share = kept_share;
	pid_t pid;
	struct injection *injection = held_taken("run_exact", &injection_options, argv + i, fixed, 1, &pid);
	if (!injection)
		return 3;
	int status = held_wait(pid);
	struct stat record;
	if (memory && fstat(injection_fd(injection), &record) == 0)
		fprintf(stderr, "record MB %" PRIu64 "\n", (uint64_t)record.st_blocks * 512 >> 20);
	struct view *view;
	struct tally *tally;
	struct tally_options all = {
		.children = true, .blocks = counts, .code_lines = counts, .machines = modelled};
	if ((keep || share) && view_new(injection, &view, &err)) {
		uint64_t used = 0;
		for (size_t p = 0; p < view->n_processes; p++)
			used += view->processes[p].record->stats[RECORD_STAT_KEPT_BLOCKS];
		if (!quiet)
			fprintf(stderr, "kept-blocks %" PRIu64 "\n", used);
		if (keep)
			kept_update(&kept, view);
		view_free(view);
	}
	kept_close(&kept);
	if (quiet) {
		injection_free(injection);
		goto end;
	}
	if (!view_new(injection, &view, &err) || !tally_new(view, &all, &tally, &err)) {
		fprintf(stderr, "run_exact: %s\n", err.text);
		return 3;
	}
	if (counts && !same_by_shapes(view, all, tally))
		return 3;
	for (size_t p = 0; processes && p < view->n_processes; p++) {
		const struct view_process *process = &view->processes[p];
		uint64_t n = 0;
		for (size_t r = 0; r < tally->n_rows; r++)
			n += tally->rows[r].process == p ? tally->rows[r].count[COUNT_INSTRUCTIONS] : 0;
		if (process->record->state != RECORD_FREE)
			fprintf(stderr,
				"process %zu of %d pid %u state %u threads %zu instructions %" PRIu64 " %s%s%s\n",
				p, (int)process->record->parent, process->record->pid, process->record->state,
				process->n_threads, n, process->path, process->inexact ? " INEXACT: " : "",
				process->inexact ? process->inexact : "");
	}
	fprintf(stderr, "instructions %" PRIu64 "\n%s%s\n", tally->total[COUNT_INSTRUCTIONS],
		tally->why ? "NOT EXACT: " : "exact", tally->why ? tally->why : "");
	for (unsigned c = 0; counts && c < COUNTS; c++)
		fprintf(stderr, tally->unknown[c] ? "count %u unknown %" PRIu64 "\n" : "count %u %" PRIu64 "\n", c,
			tally->total[c]);
	for (size_t r = 0; counts && r < tally->n_rows; r++)
		fprintf(stderr, "row %u %u x87 %" PRIu64 "\n", tally->rows[r].pid, tally->rows[r].tid,
			tally->rows[r].count[COUNT_X87]);
	if (counts)
		fprintf(stderr, "x87 %" PRIu64 "\nsystem calls %" PRIu64 " %" PRIu64 "\nparts %u\n",
			tally->total[COUNT_X87], tally->total[COUNT_SYSTEM_CALLS], calls_of(view), parts_of(view));
	if (modelled) {
		fprintf(stderr, "models %s\n", tally->models_why ? tally->models_why : "exact");
		compare_models(tally, machines, injection_options.machine_count);
		print_models("all", tally->models, modelled);
		for (size_t r = 0; r < tally->n_rows; r++) {
			char of[32];
			snprintf(of, sizeof of, "row%zu", r);
			print_models(of, tally->rows[r].models, modelled);
		}
	}
	tally_free(tally);
	view_free(view);
	injection_free(injection);
end:
	return held_ended(status);
}
