/*
 * count_regions [--cache BYTES] [--blocks-most N] [--whole-blocks N] [--trace] [--trace-bytes N] [--machine NAME] [--no-children] [-r NAME:KIND:PATH:LOW-HIGH[,LOW-HIGH]]… [--event N]… PROGRAM ARGS
 * runs a program under the exact engine and prints, tab-separated, a line for the whole and one for each region: name, entries, exits,
 * unbalanced, threads, and the counts (enum exact_count by number; instructions if none is asked for).
 * --machine: then, of that model, mispredicted returns, calls, returns, instructions, reads, writes, reads and writes that miss the first data cache,
 * misaligned reads and writes. KIND is f (function) or c (code).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../held.h"
#include "backend/engine/fold.h"
#include "backend/engine/regions.h"
#include "backend/engine/tally.h"
#include "engine/inject/injection.h"
#include "model/declare/machines.h"

#define MOST 64

static struct region_asked asked[MOST];
static struct region_range ranges[MOST][MOST];
static size_t n_asked;

static void print_model(const struct machine *machine, const struct model_counts *m)
{
	if (m)
		printf("\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, m->branch[BRANCH_RETURN_MISPREDICTED],
		       m->branch[BRANCH_CALLS], m->branch[BRANCH_RETURNS], m->stream[STREAM_INSTRUCTIONS], m->stream[STREAM_READS], m->stream[STREAM_WRITES],
		       m->cache[machine->first_data][CACHE_READ_MISSES], m->cache[machine->first_data][CACHE_WRITE_MISSES], m->stream[STREAM_MISALIGNED_READS],
		       m->stream[STREAM_MISALIGNED_WRITES]);
}

/* NAME:KIND:PATH:LOW-HIGH,… */
static void ask(char *text)
{
	char *name = strtok(text, ":"), *kind = strtok(NULL, ":"), *path = strtok(NULL, ":"), *list = strtok(NULL, ":");
	size_t n = 0;
	if (n_asked == MOST || !list)
		exit(2);
	for (char *range = strtok(list, ","); range && n < MOST; range = strtok(NULL, ",")) {
		char *end;
		uint64_t low = strtoull(range, &end, 0);
		ranges[n_asked][n++] = (struct region_range){path, low, *end ? strtoull(end + 1, NULL, 0) : low + 1};
	}
	asked[n_asked] = (struct region_asked){.name = name, .kind = *kind == 'f' ? REGION_FUNCTION : REGION_CODE,
		.ranges = ranges[n_asked], .n_ranges = n};
	n_asked++;
}

int main(int argc, char **argv)
{
	struct error err = {0};
	struct injection_options options = {.size = sizeof options, .fold = fold_part};
	struct tally_options all = {.children = true, .blocks = true};
	unsigned events[MOST] = {COUNT_INSTRUCTIONS};
	size_t n_events = 0;
	struct machine machine;
	int i = 1, status;
	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--trace"))
			options.trace = true, options.fold = NULL;
		else if (!strcmp(argv[i], "--number") && i + 1 < argc && !strcmp(argv[i + 1], "x87"))
			return printf("%d\n", COUNT_X87) < 0;
		else if (!strcmp(argv[i], "--number") && i + 1 < argc && !strcmp(argv[i + 1], "model")) /* what print_model has, too */
			return printf("%d %d %d %d %d %d\n", COUNT_DIRECT_CALLS, COUNT_INDIRECT_CALLS, COUNT_RETURNS, COUNT_INSTRUCTIONS, COUNT_READS, COUNT_WRITES) < 0;
		else if (!strcmp(argv[i], "--trace-bytes") && i + 1 < argc)
			options.trace_bytes = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--machine") && i + 1 < argc) {
			if (!machine_find(argv[++i], &machine, &err))
				return 2;
			options.trace = true, options.fold = NULL;
			options.machines = &machine, options.machine_count = 1, options.machine_bytes = sizeof machine;
		} else if (!strcmp(argv[i], "--no-children"))
			all.children = false;
		else if (!strcmp(argv[i], "--blocks-most") && i + 1 < argc)
			options.blocks_most = (uint32_t)strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--whole-blocks") && i + 1 < argc)
			options.whole_blocks = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--cache") && i + 1 < argc)
			options.cache_bytes = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "-r") && i + 1 < argc)
			ask(argv[++i]);
		else if (!strcmp(argv[i], "--event") && i + 1 < argc && n_events < MOST)
			events[n_events++] = (unsigned)strtoul(argv[++i], NULL, 0);
		else
			return 2;
	}
	n_events += !n_events;
	struct record_region_range *plan = NULL;
	if (i >= argc || !regions_plan(asked, n_asked, &plan, &options.region_ranges, &err))
		return 2;
	options.regions = plan, options.region_count = n_asked;
	pid_t pid;
	struct injection *injection = held_taken("count_regions", &options, argv + i, true, 2, &pid);
	if (!injection)
		return 3;
	while (waitpid(pid, &status, 0) < 0)
		continue;
	struct view *view;
	struct tally *tally;
	all.machines = options.trace;
	if (!view_new(injection, &view, &err) || !regions_new(view, n_asked, all.children, options.trace, &all.regions, &err) || !tally_new(view, &all, &tally, &err)) {
		fprintf(stderr, "count_regions: %s\n", err.text);
		return 3;
	}
	if (WIFSIGNALED(status))
		printf("signal\t%d\n", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		printf("status\t%d\n", WEXITSTATUS(status));
	if (tally->why || tally->models_why || all.regions->why || all.regions->why_named || all.regions->models_why || all.regions->lost)
		printf("why\t%s\t%s\t%s\t%s\t%s\t%s\n", tally->why ? tally->why : "", tally->models_why ? tally->models_why : "",
		       all.regions->why ? all.regions->why : "", all.regions->why_named ? all.regions->why_named : "",
		       all.regions->models_why ? all.regions->models_why : "", all.regions->lost ? all.regions->lost : "");
	size_t parts = 0, folded = 0;
	for (size_t p = 0; p < view->n_processes; p++)
		parts += view->processes[p].head != &view->processes[p], folded += view->processes[p].folded;
	printf("parts\t%zu\nfolded\t%zu\n", parts, folded);
	printf("all\t1\t1\t0\t%zu", tally->n_rows);
	for (size_t e = 0; e < n_events; e++)
		printf("\t%" PRIu64, tally->total[events[e]]);
	if (options.machines)
		print_model(&machine, tally->models);
	for (size_t r = 0; r < all.regions->n_asked; r++)
		if (all.regions->all[r].switched)
			printf("\nswitched %s\t%" PRIu64, asked[r].name, all.regions->all[r].switched);
	for (size_t r = 0; r < all.regions->n; r++) {
		const struct counted_region *region = &all.regions->all[r];
		printf("\n%.*s", region->asked ? (int)strlen(asked[r].name) : (int)region->name_bytes, region->asked ? asked[r].name : region->name);
		printf("\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, region->entries, region->exits, region->unbalanced, region->threads);
		for (size_t e = 0; e < n_events; e++)
			printf("\t%" PRIu64, region->count[events[e]]);
		if (options.machines)
			print_model(&machine, region->models);
	}
	printf("\n");
	tally_free(tally);
	regions_free(all.regions);
	view_free(view);
	injection_free(injection);
	free(plan);
	return 0;
}
