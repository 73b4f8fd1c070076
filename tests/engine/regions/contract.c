/* contract PROGRAM SYMBOLS…: regions through the backends' contract, exact's and model's. PROGRAM is recursion.c's; a SYMBOL is NAME:OFFSET, in the file;
 * the first one is the program's first instruction: what is counted in it is what is counted of the program. TAP. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/exact/exact.h"
#include "backend/model/model.h"
#include "tap.h"

#define MOST 8

static struct event_table *table;

static const char *const exact_events[] = {"instructions:u", "loads:u", "branches:u", "conditional-taken:u", "rep-iterations:u", "basic-blocks:u",
	"misaligned-accesses:u", "calls:u"};
static const char *const model_events[] = {"instructions:u", "branch-misses:u", "l1d-load-misses:u", "l1d-misses:u", "branches:u", "misaligned-accesses:u", "calls:u"};

static bool count(const struct backend_operations *ops, const char *argument, char **program, const char *const *names, size_t n,
                  const struct region_asked *regions, size_t n_regions, struct run *run)
{
	struct event events[MOST];
	const struct event *pointers[MOST];
	struct error err = {0};
	struct backend *backend = NULL;
	struct counting *counting = NULL;
	int status, null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct command command = {.argv = program, .stdin_fd = null, .stdout_fd = null, .stderr_fd = null, .reproducible = true};
	struct target target = {.kind = TARGET_COMMAND, .command = &command, .follow_children = true, .regions = regions, .n_regions = n_regions};
	bool good = ops->open(argument, &backend, &err);
	for (size_t i = 0; good && i < n; i++) {
		events[i] = (struct event){0};
		good = event_parse(table, names[i], &events[i], &err);
		pointers[i] = &events[i];
	}
	good = good && ops->prepare(backend, &target, pointers, n, &counting, &err) && ops->go(counting, &err);
	while (good && waitpid(ops->process(counting), &status, 0) < 0 && errno == EINTR)
		continue;
	good = good && ops->stop(counting, run, &err);
	if (!good)
		printf("# %s\n", err.text);
	if (counting)
		ops->end(counting);
	if (backend)
		ops->close(backend);
	close(null);
	return good;
}

/* Every event that is counted of the program is counted in the region that is the whole of it, and is the same. */
static bool whole_is_all(const struct run *run, const char *const *names)
{
	bool same = run->n_regions > 0;
	for (size_t e = 0; same && e < run->n_events; e++) {
		const struct reading *all = &run->readings[e], *region = &run->regions[0].readings[e];
		if (all->state != READING_COUNTED || region->state != READING_COUNTED || all->count_raw != region->count_raw) {
			printf("# %s: %llu of the program (%s), %llu of the region (%s)\n", names[e], (unsigned long long)all->count_raw,
			       all->why ? all->why : "", (unsigned long long)region->count_raw, region->why ? region->why : "");
			same = false;
		}
	}
	return same;
}

static uint64_t value(const struct run *run, size_t region, size_t event) { return run->regions[region].readings[event].count_raw; }

int main(int argc, char **argv)
{
	struct region_range ranges[MOST];
	struct region_asked regions[MOST];
	size_t n = 0;
	struct error err = {0};
	struct run exact = {0}, again = {0}, model = {0};
	char *program[] = {argv[1], NULL};
	if (argc < 3 || !(table = event_table_new(&err)))
		return 2;
	for (int i = 2; i < argc && n < MOST; i++, n++) {
		char *colon = strchr(argv[i], ':');
		*colon = 0;
		ranges[n] = (struct region_range){argv[1], strtoull(colon + 1, NULL, 0), 0};
		regions[n] = (struct region_asked){.name = argv[i], .text = argv[i], .kind = REGION_FUNCTION, .ranges = &ranges[n], .n_ranges = 1};
	}
	size_t n_exact = sizeof exact_events / sizeof *exact_events, n_model = sizeof model_events / sizeof *model_events;
	ok(count(&exact_backend, NULL, program, exact_events, n_exact, regions, n, &exact) && exact.n_regions == n, "the exact backend fills a row for each region");
	ok(whole_is_all(&exact, exact_events), "a region around the whole program has all that is counted of the program, though it is never left");
	bool in_order = exact.n_regions == n;
	for (size_t i = 0; in_order && i < n; i++)
		in_order = !strcmp(exact.regions[i].name, argv[2 + i]) && exact.regions[i].kind == REGION_FUNCTION;
	ok(in_order, "regions are in the order of asking, by the names that they were given");
	ok(count(&exact_backend, NULL, program, exact_events, n_exact, NULL, 0, &again) && again.n_regions == 0 &&
	   again.readings[0].count_raw == exact.readings[0].count_raw, "without regions there is none, and the program's count is the same");
	ok(count(&model_backend, "r10000", program, model_events, n_model, regions, n, &model) && model.n_regions == n, "the model backend fills a row for each region");
	ok(whole_is_all(&model, model_events), "… in which modelled events are counted like the program's own");
	bool same = model.n_regions == n;
	for (size_t i = 0; same && i < n; i++)
		same = value(&model, i, 0) == value(&exact, i, 0) && model.regions[i].entries == exact.regions[i].entries;
	ok(same, "both count the same instructions and entries in every region");
	bool inside = model.n_regions == n;
	for (size_t i = 1; inside && i < n; i++)
		inside = value(&model, i, 1) <= value(&model, i, 4) && value(&model, i, 1) < value(&model, 0, 1) && value(&model, i, 4) > 0;
	ok(inside, "a region has no more mispredictions than branches");
	run_free(&exact);
	run_free(&again);
	run_free(&model);
	event_table_free(table);
	return done();
}
