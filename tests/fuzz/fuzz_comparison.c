/* A store whose kept comparison has any content: it is refused with a reason and leaves nothing behind, or the runs are shown without it, or
 * what is put together can be reported in every format, its numbers those of its commands.
 *
 * A comparison of three commands, one of which did not count an event, is the start; an input gives columns other values. */
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "report/compare.h"
#include "report/report.h"
#include "session/keep_comparison.h"
#include "store/runs/runs.h"
#include "store_changes.h"

enum { SIDES = 3, ROWS = 2 };

static char path[64];
static unsigned char *start;
static size_t start_bytes;
static FILE *nowhere;

static struct kept_compared found_of(int side, int row)
{
	bool both = side && row == 0;
	return (struct kept_compared){.event = row ? "loads" : "cycles",
				      .found = {.verdict = both ? COMPARISON_MORE : COMPARISON_UNKNOWN,
						.why = both ? NULL : "not counted",
						.has_numbers = both,
						.has_interval = both,
						.has_relative = both,
						.difference = 1,
						.low = 0.5,
						.high = 1.5,
						.relative = 0.1,
						.relative_low = 0.05,
						.relative_high = 0.15,
						.p_value = 0.01,
						.p_adjusted = 0.02,
						.effect = 2,
						.superiority = 1,
						.detectable = 0.01,
						.floor = NAN}};
}

static void put_side(struct runs *runs, int side)
{
	static const char *const command[] = {"./a", NULL};
	static const char *const names[] = {"A", "B", "C"};
	static double values[] = {10, 11, 12};
	struct error err = {0};
	struct estimate estimates[ROWS];
	for (int i = 0; i < ROWS; i++)
		estimates[i] = (struct estimate){.event = i ? "loads" : "cycles",
						 .unit = "cycles",
						 .level = "user",
						 .known = i == 0,
						 .value = 11 + side,
						 .low = 10,
						 .high = 12 + side,
						 .has_interval = i == 0,
						 .confidence = 0.95,
						 .n_runs = i ? 0 : 3,
						 .runs = i ? NULL : values,
						 .run_min = 10,
						 .run_median = 11,
						 .run_max = 12,
						 .run_sd = 1,
						 .source = i ? SOURCE_NONE : SOURCE_HW,
						 .share_running = 1,
						 .why = i ? "not here" : NULL,
						 .bound = NAN,
						 .cpu = -1};
	struct kept_compared rows[ROWS] = {found_of(side, 0), found_of(side, 1)};
	struct gate_result gate = {"cycles<+1%", 1, GATE_FAILED, "the interval begins at +5 %"};
	struct result_note note = {"a note", NOTE_READ};
	struct kept_side kept = {.name = names[side],
				 .at = (size_t)side,
				 .of = SIDES,
				 .seed = 7,
				 .repetitions = 3,
				 .tests = 2,
				 .rows = rows,
				 .n_rows = ROWS,
				 .gates = side ? NULL : &gate,
				 .n_gates = side ? 0 : 1,
				 .notes = side ? NULL : &note,
				 .n_notes = side ? 0 : 1};
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
				.n_estimates = ROWS};
	struct kept_run run = {.kind = KEPT_COMPARE,
			       .tare_version = "0.1.0",
			       .directory = "/",
			       .comparison = "c0ffee",
			       .side = &kept,
			       .result = &result};
	check(runs_put(runs, &run, &err), err.text);
}

static void remove_files(void)
{
	static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		char file[96];
		snprintf(file, sizeof file, "%s%s", path, ends[i]);
		unlink(file);
	}
}

static void make_start(void)
{
	struct runs *runs;
	struct error err = {0};
	char file[80];
	int64_t ids[SIDES] = {1, 2, 3};
	snprintf(path, sizeof path, "/dev/shm/tare-fuzz-comparison-%d.db", (int)getpid());
	snprintf(file, sizeof file, "%s.start", path);
	remove_files();
	unlink(file);
	check(runs_open(path, RUNS_WRITE, &runs, &err), err.text);
	for (int i = 0; i < SIDES; i++)
		put_side(runs, i);
	check(runs_export(runs, ids, SIDES, file, &err), err.text);
	runs_close(runs);
	FILE *in = fopen(file, "rb");
	check(in && fseek(in, 0, SEEK_END) == 0, "no start");
	start_bytes = (size_t)ftell(in);
	start = malloc(start_bytes);
	rewind(in);
	check(start && fread(start, 1, start_bytes, in) == start_bytes, "no start");
	fclose(in);
	unlink(file);
	nowhere = fopen("/dev/null", "w");
}

static void show(const struct comparison *c)
{
	static const struct report_options options = {.width = 60, .verbose = true};
	for (size_t r = 0; r < c->n_rows; r++)
		for (size_t i = 0; i < c->n; i++) {
			const struct compared *one = &c->rows[r].commands[i];
			check(!one->has_numbers ||
				      (one->estimate && one->estimate->known && c->rows[r].commands[0].estimate),
			      "a difference of what was not counted");
		}
	for (size_t i = 0; i < c->n_gates; i++)
		check(c->gates[i].command < c->n, "a gate of a command that is none");
	report_comparison_text(nowhere, c, &options);
	report_comparison_csv(nowhere, c);
	report_comparison_json(nowhere, c);
	report_comparison_markdown(nowhere, c);
	report_comparison_junit(nowhere, c);
	report_comparison_html(nowhere, c, &options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const tables[] = {"compared", "gates", "runs", "estimates", "notes"};
	struct input in = {data, size};
	if (!start)
		make_start();
	remove_files();
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	check(fd >= 0 && write(fd, start, start_bytes) == (ssize_t)start_bytes, "the file cannot be written");
	close(fd);
	change_tables(path, tables, sizeof tables / sizeof *tables, &in);
	const struct keeping keeping = {.store = path};
	for (int i = 1; i <= SIDES; i++) {
		const char word[] = {(char)('0' + i), '\0'};
		struct kept_run run;
		struct kept_comparison kept;
		struct error err = {0};
		if (!keep_load(&keeping, word, &run, &err)) {
			check(err.text[0], "a refusal without a reason");
			continue;
		}
		if (!keep_load_comparison(&keeping, &run, &kept, &err))
			check(err.text[0] && !kept.comparison && !kept.runs,
			      "a refused comparison left something, or said nothing");
		else if (kept.comparison) {
			check(kept.n == kept.comparison->n && kept.n >= 2, "a comparison of other runs");
			show(kept.comparison);
			keep_comparison_free(&kept);
		} else {
			check(size > 0, "the comparison as it was kept is not found");
		}
		kept_run_free(&run);
	}
	remove_files();
	return 0;
}
