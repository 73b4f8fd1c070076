/*
 * trace_count [--bytes N] [--cache N] [--fixed] [--quiet] [--off] PROGRAM ARGS: runs a program under the exact engine with the access
 * stream, through a machine without a part, and compares the stream's counts with the exact ones: `stream NAME COUNT` lines on stderr, and
 * `differs NAME: …` where both count the same thing and disagree, thread by thread. Ends as the program ended. --off: without the
 * stream, for measuring; --quiet: prints nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../held.h"
#include "backend/engine/tally.h"
#include "engine/inject/injection.h"
#include "model/core/counts.h"

static const char *const names[STREAM_COUNTS] = {[STREAM_INSTRUCTIONS] = "instructions", [STREAM_BLOCKS] = "blocks", [STREAM_READS] = "reads",
	[STREAM_WRITES] = "writes", [STREAM_MISALIGNED] = "misaligned", [STREAM_LINE_CROSSING] = "line-crossing",
	[STREAM_PAGE_CROSSING] = "page-crossing", [STREAM_FETCH_BLOCKS] = "fetch-blocks"};
static const struct { unsigned stream; enum exact_count exact; } same[] = {{STREAM_INSTRUCTIONS, COUNT_INSTRUCTIONS},
	{STREAM_READS, COUNT_READS}, {STREAM_WRITES, COUNT_WRITES}};

static void compare(const char *of, const uint64_t *stream, const uint64_t *exact)
{
	for (unsigned i = 0; i < sizeof same / sizeof *same; i++)
		if (stream[same[i].stream] != exact[same[i].exact])
			fprintf(stderr, "differs %s: %s: stream %" PRIu64 ", exact %" PRIu64 "\n", names[same[i].stream], of, stream[same[i].stream],
			        exact[same[i].exact]);
}

static void print_stream(const struct injection *injection, const struct view *view, const struct tally *tally)
{
	uint64_t sum[STREAM_COUNTS] = {0};
	for (size_t p = 0; p < view->n_processes; p++)
		for (size_t t = 0; t < view->processes[p].n_threads; t++) {
			const struct record_thread *thread = view->processes[p].threads[t].record;
			const struct model_counts *counts = thread->models ? injection_map(injection, thread->models, sizeof *counts) : NULL;
			char of[64];
			for (unsigned i = 0; counts && i < STREAM_COUNTS; i++)
				sum[i] += counts->stream[i];
			snprintf(of, sizeof of, "process %u thread %u", view->processes[p].record->pid, thread->tid);
			for (size_t r = 0; counts && r < tally->n_rows; r++)
				if (tally->rows[r].process == p && tally->rows[r].tid == thread->tid && !thread->tids_folded)
					compare(of, counts->stream, tally->rows[r].count);
			if (counts)
				injection_unmap(injection, counts, sizeof *counts);
		}
	for (unsigned i = 0; i < STREAM_COUNTS; i++)
		if (names[i])
			fprintf(stderr, "stream %s %" PRIu64 "\n", names[i], sum[i]);
	compare("all", sum, tally->total);
}

int main(int argc, char **argv)
{
	struct error err = {0};
	struct injection_options options = {.size = sizeof options, .trace = true};
	bool fixed = false, quiet = false;
	int i = 1;
	for (; i < argc && argv[i][0] == '-'; i++) {
		fixed |= !strcmp(argv[i], "--fixed");
		quiet |= !strcmp(argv[i], "--quiet");
		options.trace &= strcmp(argv[i], "--off") != 0;
		if (!strcmp(argv[i], "--bytes") && i + 1 < argc)
			options.trace_bytes = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--cache") && i + 1 < argc)
			options.cache_bytes = strtoull(argv[++i], NULL, 0);
	}
	if (i >= argc)
		return 2;
	pid_t pid;
	struct injection *injection = held_taken("trace_count", &options, argv + i, fixed, 1, &pid);
	if (!injection)
		return 3;
	int status = held_wait(pid);
	struct view *view;
	struct tally *tally;
	struct tally_options all = {.children = true};
	if (!quiet) {
		if (!view_new(injection, &view, &err) || !tally_new(view, &all, &tally, &err)) {
			fprintf(stderr, "trace_count: %s\n", err.text);
			return 3;
		}
		fprintf(stderr, "instructions %" PRIu64 "\n%s%s\n", tally->total[COUNT_INSTRUCTIONS], tally->why ? "inexact " : "exact",
		        tally->why ? tally->why : "");
		if (options.trace)
			print_stream(injection, view, tally);
		tally_free(tally);
		view_free(view);
	}
	injection_free(injection);
	return held_ended(status);
}
