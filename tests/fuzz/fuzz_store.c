/* Stores of runs of any content: no crash; a refusal has a text and leaves nothing behind; what is loaded is printed in every format.
 *
 * A valid store with one run of everything is the start. An input changes it: in one mode it writes bytes at offsets of the file, and
 * may cut it; in the other it gives columns other values, of any type, as SQLite lets it. */
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/report.h"
#include "store/runs/runs.h"
#include "store_changes.h"

enum { RUNS_LOADED = 5 };

static char path[64], imported[64];
static unsigned char *template;
static size_t template_bytes;
static FILE *nowhere;

/* ---- the start ---- */

static double values[3] = {1, 2, 3};
static uint64_t counts[1] = {7};
static struct breakdown_frame frames[2] = {{"malloc", "/lib/libc.so", "malloc.c", 3}, {"main", "/bin/a", NULL, 0}};
// clang-format off: a table, a row a line
static struct breakdown_row rows[2] = {
	{.name = "hot", .module = "/bin/a", .file = "a.c", .line = 4, .counts = counts},
	{.name = "block",
	 .module = "/bin/a",
	 .kind = "heap",
	 .frames = frames,
	 .n_frames = 2,
	 .blocks = 2,
	 .bytes = 64,
	 .counts = counts}};
// clang-format on
static struct breakdown_event events[1] = {
	{.label = "l1d-misses", .unit = "misses", .machine = "host", .total = 14, .sum = 14}};
static const char *notes_of_breakdown[1] = {"a note"};
static const char *const command[] = {"./a", "b c", NULL};
static const char *const surroundings[] = {"LANG=C", NULL};

static void make_template(void)
{
	struct runs *runs;
	struct error err = {0};
	// clang-format off: a table, a row a line
	struct breakdown breakdown = {.by = BREAKDOWN_BY_OBJECT,
				      .run = 1,
				      .runs = 3,
				      .events = events,
				      .n_events = 1,
				      .rows = rows,
				      .n_rows = 2,
				      .notes = notes_of_breakdown,
				      .n_notes = 1};
	// clang-format on
	struct estimate estimates[3];
	for (int i = 0; i < 3; i++)
		// clang-format off: a table, a row a line
		estimates[i] = (struct estimate){.event = i ? "loads" : "cycles",
						 .unit = "cycles",
						 .level = "user",
						 .known = i < 2,
						 .value = 2,
						 .low = 1,
						 .high = 3,
						 .has_interval = true,
						 .confidence = 0.95,
						 .n_runs = 3,
						 .runs = values,
						 .run_min = 1,
						 .run_median = 2,
						 .run_max = 3,
						 .run_sd = 1,
						 .source = SOURCE_HW,
						 .has_tare = i == 0,
						 .gross = 4,
						 .tare = 2,
						 .evidence = "00ff",
						 .share_running = 1,
						 .why = i < 2 ? NULL : "not here",
						 .note = "remark",
						 .bound = NAN,
						 .cpu = -1};
	struct region_row region = {.name = "hot",
				    .text = "a.c:3",
				    .kind = REGION_CODE,
				    .entries = 5,
				    .exits = 5,
				    .threads = 1,
				    .estimates = estimates,
				    .n_estimates = 2};
	// clang-format on
	struct outlier outlier = {2, "cycles", "no cause seen"};
	struct result_note notes[2] = {{"a note", NOTE_READ}, {"another", NOTE_ACT}};
	// clang-format off: a table, a row a line
	struct result result = {.machine = {"CPU", "Linux", "host", "x86_64", 2, "none", ""},
				.command = command,
				.started_unix = 1700000000,
				.repetitions = 3,
				.repetitions_done = 3,
				.executions = 3,
				.passes = 1,
				.elapsed_seconds = 1,
				.confidence = 0.95,
				.estimates = estimates,
				.n_estimates = 3,
				.metrics = estimates,
				.n_metrics = 1,
				.outliers = &outlier,
				.n_outliers = 1,
				.regions = &region,
				.n_regions = 1,
				.notes = notes,
				.n_notes = 2,
				.breakdown = &breakdown,
				.first_run = 1};
	struct kept_run run = {.kind = KEPT_COUNT,
			       .shown = 31,
			       .tare_version = "0.1.0",
			       .environment = surroundings,
			       .directory = "/",
			       .result = &result,
			       .profile = "TAREPROF",
			       .profile_bytes = 8};
	// clang-format on
	char file[64];
	snprintf(path, sizeof path, "/dev/shm/tare-fuzz-%d.db", (int)getpid());
	snprintf(imported, sizeof imported, "/dev/shm/tare-fuzz-%d.into", (int)getpid());
	snprintf(file, sizeof file, "%s.start", path);
	unlink(file);
	int64_t before;
	check(runs_open(path, RUNS_WRITE, &runs, &err) && runs_put(runs, &run, &err) &&
		      runs_name(runs, run.id, "base", &before, &err),
	      "no start");
	check(runs_export(runs, &run.id, 1, file, &err), "no file of the start");
	runs_close(runs);
	FILE *in = fopen(file, "rb");
	check(in && fseek(in, 0, SEEK_END) == 0, "no start");
	template_bytes = (size_t)ftell(in);
	template = malloc(template_bytes);
	rewind(in);
	check(template && fread(template, 1, template_bytes, in) == template_bytes, "no start");
	fclose(in);
	unlink(file);
	nowhere = fopen("/dev/null", "w");
}

static void remove_files(const char *name)
{
	static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
	char file[96];
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		snprintf(file, sizeof file, "%s%s", name, ends[i]);
		unlink(file);
	}
}

static void write_file(const unsigned char *bytes, size_t n)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	check(fd >= 0 && write(fd, bytes, n) == (ssize_t)n, "the file cannot be written");
	close(fd);
}

/* ---- what an input changes ---- */

static void change_bytes(struct input *in, bool cut)
{
	unsigned char *bytes = malloc(template_bytes);
	check(bytes != NULL, "no memory");
	memcpy(bytes, template, template_bytes);
	size_t n = cut ? take(in, 3) % template_bytes : template_bytes;
	while (in->left) {
		size_t offset = take(in, 3) % template_bytes;
		bytes[offset] = (unsigned char)take(in, 1);
	}
	write_file(bytes, n);
	free(bytes);
}

static void change_values(struct input *in)
{
	static const char *const tables[] = {
		"runs",    "machines",         "estimates",      "outliers",         "notes",
		"regions", "breakdown_events", "breakdown_rows", "breakdown_frames", "profiles"};
	write_file(template, template_bytes);
	change_tables(path, tables, sizeof tables / sizeof *tables, in);
}

/* ---- what becomes of it ---- */

/* Nothing in a store speaks to the terminal. */
static void check_text(const struct result *result, const struct report_options *options)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	check(out != NULL, "no memory");
	report_text(out, result, options);
	check(fclose(out) == 0, "no memory");
	for (size_t i = 0; i < n; i++)
		check(text[i] == '\n' || ((unsigned char)text[i] >= ' ' && text[i] != 0x7f),
		      "a control character is printed");
	free(text);
}

static void show(const struct result *result, unsigned shown)
{
	// clang-format off: a table, a row a line
	struct report_options options = {.verbose = shown & SHOWN_VERBOSE,
					 .all_repetitions = true,
					 .gross = true,
					 .statistics = true,
					 .width = 60};
	// clang-format on
	check_text(result, &options);
	report_json(nowhere, result, &options);
	report_csv(nowhere, result, &options);
}

static void read_all(struct runs *runs)
{
	struct run_list list;
	struct error err = {0};
	int64_t id;
	if (!runs_list(runs, 0, NULL, 0, &list, &err)) {
		check(err.text[0] && !list.rows.count && !list.arena.blocks,
		      "a refused list left something, or said nothing");
		return;
	}
	for (size_t i = 0; i < list.rows.count && i < RUNS_LOADED; i++) {
		struct kept_run run;
		err = (struct error){0};
		if (runs_load(runs, list.rows.items[i].id, &run, &err)) {
			check(run.result && run.tare_version && strlen(run.uuid) == 32, "half a run");
			show(run.result, run.shown);
			kept_run_free(&run);
		} else {
			check(err.text[0] && !run.result && !run.arena.blocks,
			      "a refused run left something, or said nothing");
		}
	}
	run_list_free(&list);
	runs_find(runs, "@last", &id, NULL);
	runs_find(runs, "@base", &id, NULL);
}

static void import(void)
{
	struct runs *runs;
	struct error err = {0};
	struct import_counts told;
	check(runs_open(imported, RUNS_WRITE, &runs, &err), "no store to import into");
	if (runs_import(runs, path, &told, &err))
		read_all(runs);
	else
		check(err.text[0], "a refused import said nothing");
	runs_close(runs);
	remove_files(imported);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct runs *runs;
	struct error err = {0};
	struct input in = {data, size};
	if (!template)
		make_template();
	remove_files(path);
	unsigned mode = (unsigned)take(&in, 1);
	if (mode & 1)
		change_values(&in);
	else
		change_bytes(&in, mode & 2);
	if (mode & 4)
		import();
	if (runs_open(path, RUNS_READ, &runs, &err)) {
		read_all(runs);
		runs_close(runs);
	} else {
		check(err.text[0] && !runs, "a refusal said nothing, or left something");
	}
	remove_files(path);
	return 0;
}
