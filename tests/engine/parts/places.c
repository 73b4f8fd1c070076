/*
 * places code|data|inside:OFFSET BLOCKS_MOST WHOLE_BLOCKS PROGRAM ARGS: where the engine's events and r12000's took place, instruction by instruction or object by
 * object, of a program in parts of so many blocks (0: as ever). `event NAME TOTAL SUM` (or why there are none), then a line for each place, in
 * order; `record MB` of what the record holds.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/engine/counting.h"
#include "engine/inject/injection.h"
#include "model/declare/machines.h"

static const char *const exact_names[] = {"instructions", "loads", "data-writes", "taken-branches", "rep-iterations", "basic-blocks", "misaligned-accesses",
	"line-crossing-accesses"};
static const struct { const char *name; struct model_watch watch; } models[] = {
	{"read-misses", {.component = MODEL_CACHE, .index = 1, .count = CACHE_READ_MISSES}}, {"write-misses", {.component = MODEL_CACHE, .index = 1, .count = CACHE_WRITE_MISSES}},
	{"fetch-misses", {.component = MODEL_CACHE, .index = 0, .count = CACHE_FETCH_MISSES}}, {"l2-write-misses", {.component = MODEL_CACHE, .index = 2, .count = CACHE_WRITE_MISSES}},
	{"mispredicted", {.component = MODEL_BRANCH, .count = BRANCH_MISPREDICTED}},
};
enum { EXACT = sizeof exact_names / sizeof *exact_names, MODELS = sizeof models / sizeof *models, EVENTS = EXACT + MODELS };

static bool value_of(void *context, const void *modelled, const struct model_counts *counts, uint64_t *out, const char **why)
{
	const struct model_watch *w = modelled;
	(void)context, (void)why;
	*out = w->component == MODEL_CACHE ? counts->cache[w->index][w->count] : counts->branch[w->count];
	return true;
}

static bool conserves(void *context, size_t machine, const struct model_counts *counts, const char **why)
{
	const struct model_setup *setup = (const struct model_setup *)context + machine;
	return model_conserves(&setup->machine, &setup->options, counts, why);
}

static const char *name_of(void *context, size_t machine) { return ((const struct model_setup *)context)[machine].machine.name; }

static size_t watches_of(void *context, const void *modelled, struct model_watch *out, size_t most, uint8_t *minus)
{
	*minus = 0;
	(void)context, (void)most;
	*out = *(const struct model_watch *)modelled;
	return 1;
}

/* The engine's record: a file in memory, which this process has open. */
static bool find_record(struct stat *record)
{
	for (int fd = 3; fd < 256; fd++) {
		char link[32], name[64];
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		ssize_t length = readlink(link, name, sizeof name - 1);
		name[length > 0 ? length : 0] = '\0';
		if (strncmp(name, "/memfd:tare-record", 18) == 0)
			return fstat(fd, record) == 0;
	}
	return false;
}

static int compare(const void *a, const void *b)
{
	const struct location *x = a, *y = b;
	int order = strcmp(x->module ? x->module : "", y->module ? y->module : "");
	if (order == 0)
		order = x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind) : (x->offset > y->offset) - (x->offset < y->offset);
	if (order == 0)
		order = (x->beyond > y->beyond) - (x->beyond < y->beyond);
	for (size_t i = 0; order == 0 && i < x->n_frames && i < y->n_frames; i++)
		order = (x->frames[i].offset > y->frames[i].offset) - (x->frames[i].offset < y->frames[i].offset);
	return order;
}

/* readings: of the program, or of the function */
static void print(struct locations *places, const struct reading *readings)
{
	for (size_t e = 0; e < places->n_events; e++) {
		const char *name = e < EXACT ? exact_names[e] : models[e - EXACT].name;
		uint64_t sum = 0;
		for (size_t i = 0; i < places->n; i++)
			sum += places->all[i].counts[e];
		if (places->events[e].why)
			printf("event %s: %s\n", name, places->events[e].why);
		else
			printf("event %s %" PRIu64 " %" PRIu64 "\n", name, readings[e].count_raw, sum);
	}
	if (places->n)
		qsort(places->all, places->n, sizeof *places->all, compare);
	for (size_t i = 0; i < places->n; i++) {
		const struct location *l = &places->all[i];
		bool any = false;
		for (size_t e = 0; e < places->n_events; e++)
			any |= l->counts[e] && !places->events[e].why;
		if (!any)
			continue;
		printf("place %d %s+%" PRIx64 "+%" PRIx64, (int)l->kind, l->module ? l->module : "", l->offset, l->beyond);
		for (size_t f = 0; f < l->n_frames; f++)
			printf(" <%s+%" PRIx64, l->frames[f].module, l->frames[f].offset);
		for (size_t e = 0; e < places->n_events; e++)
			if (places->events[e].why)
				printf(" -");
			else
				printf(" %" PRIu64, l->counts[e]);
		printf("\n");
	}
}

static const struct exact_event *exact_named(const char *name)
{
	for (size_t i = 0; i < exact_event_count(); i++)
		if (!strcmp(exact_event_at(i)->name, name))
			return exact_event_at(i);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct model_setup machine;
	static struct run run;
	struct execution_event events[EVENTS] = {{0}};
	struct counting_models over = {.machines = &machine, .n = 1, .bytes = sizeof machine, .context = &machine, .value = value_of,
		.conserves = conserves, .name = name_of, .watches = watches_of};
	struct counting_options options = {.models = &over};
	struct counting *counting = NULL;
	struct locations places = {0};
	struct error err = {0};
	struct stat record;
	int status;
	if (argc < 5 || !machine_find("r12000", &machine.machine, &err))
		return 2;
	options.blocks_most = (uint32_t)strtoull(argv[2], NULL, 0);
	options.whole_blocks = strtoull(argv[3], NULL, 0);
	struct command command = {.argv = argv + 4, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1, .reproducible = true};
	command.stdin_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	command.stdout_fd = command.stderr_fd = command.stdin_fd;
	struct target target = {.kind = TARGET_COMMAND, .command = &command, .follow_children = true,
		.locations = !strcmp(argv[1], "data") ? LOCATIONS_OF_DATA : LOCATIONS_OF_CODE};
	/* inside:OFFSET: of the program's function there alone, with all that it calls */
	bool inside = !strncmp(argv[1], "inside:", 7);
	const uint64_t entry = inside ? strtoull(argv[1] + 7, NULL, 0) : 0;
	const struct region_range range = {.module = argv[4], .low = entry, .high = entry + 1};
	const struct region_asked asked = {.name = "inside", .text = "inside", .kind = REGION_FUNCTION, .ranges = &range, .n_ranges = 1};
	target.regions = &asked, target.n_regions = inside, target.locations_inside = inside;
	for (size_t i = 0; i < EXACT; i++)
		events[i].exact = exact_named(exact_names[i]);
	for (size_t i = 0; i < MODELS; i++)
		events[EXACT + i].modelled = &models[i].watch;
	bool good = counting_start(&target, events, EVENTS, &options, &counting, &err) && counting_go(counting, &err);
	while (good && waitpid(counting_process(counting), &status, 0) < 0 && errno == EINTR)
		continue;
	good = good && counting_stop(counting, &run, &err) && counting_locations(counting, &places, &err);
	if (!good)
		printf("failed: %s\n", err.text);
	else
		print(&places, inside ? run.regions[0].readings : run.readings);
	if (good && find_record(&record))
		printf("record MB %" PRIu64 "\n", (uint64_t)record.st_blocks * 512 >> 20);
	locations_free(&places);
	counting_end(counting);
	return good && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}
