#include "cli/list_runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/arena.h"
#include "base/str.h"
#include "cli/say.h"
#include "cli/store_options.h"
#include "report/columns.h"
#include "report/table.h"

enum { SHOWN_AT_FIRST = 30, WIDTH_OF_FILES = 2000 };
enum { ID, NAME, WHEN, KIND, RUNS, TIME, STATUS, COMMAND, COLUMNS };

void list_runs_sum(char *text, size_t size, size_t runs, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
	double value = (double)bytes;
	size_t unit = 0;
	for (; value >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
		value /= 1000;
	snprintf(text, size, "%zu run%s, %.*f %s", runs, runs == 1 ? "" : "s", unit > 0 && value < 100, value,
		 units[unit]);
}

size_t list_runs_width(void)
{
	int width = say_width(stdout);
	return width ? (size_t)table_width(&(struct report_options){.width = width}) : WIDTH_OF_FILES;
}

/* In the user's time zone. */
static char *when(struct arena *arena, uint64_t unix_seconds)
{
	char text[32];
	time_t seconds = (time_t)unix_seconds;
	struct tm local;
	if (unix_seconds > (uint64_t)1 << 40 || !localtime_r(&seconds, &local) ||
	    !strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local))
		return arena_strdup(arena, "?");
	return arena_strdup(arena, text);
}

static char *duration(struct arena *arena, double seconds)
{
	if (!isfinite(seconds))
		return NULL;
	if (seconds < 1)
		return arena_printf(arena, "%.1f ms", seconds * 1e3);
	if (seconds < 600)
		return arena_printf(arena, "%.2f s", seconds);
	return seconds < 36e5 ? arena_printf(arena, "%.0f min", seconds / 60)
			      : arena_printf(arena, "%.3g h", seconds / 3600);
}

/* How the program ended, where that is worth a word. */
static const char *ending(struct arena *arena, const struct listed_run *row)
{
	if (row->interrupted)
		return "interrupted";
	if (WIFSIGNALED(row->wait_status))
		return arena_printf(arena, "signal %d", WTERMSIG(row->wait_status));
	if (WEXITSTATUS(row->wait_status))
		return arena_printf(arena, "exit %d", WEXITSTATUS(row->wait_status));
	return NULL;
}

/* The command as it was typed, about; a target without one. Escaped. */
static const char *what_ran(struct arena *arena, const struct listed_run *row)
{
	enum { MOST = 600 };
	struct str text = {0};
	if (row->target)
		str_append(&text, row->target);
	if (row->target && row->command)
		str_append(&text, ", ");
	for (size_t i = 0; row->command && row->command[i] && text.length < MOST; i++)
		str_appendf(&text, "%s%s", i ? " " : "", row->command[i]);
	size_t size = 4 * text.length + 1; /* \xNN */
	char *escaped = text.failed ? NULL : arena_alloc(arena, size);
	if (escaped)
		str_escape_to(escaped, size, text.text ? text.text : "");
	str_free(&text);
	return escaped;
}

const char *list_name_cell(struct arena *arena, const char *name, size_t width)
{
	enum { LEAST = 12 };
	struct str shown = {0};
	if (!name)
		return NULL;
	columns_shorten(&shown, name, width / 4 < LEAST ? LEAST : width / 4);
	char *out = shown.failed ? NULL : arena_strdup(arena, shown.text ? shown.text : "");
	str_free(&shown);
	return out;
}

static struct columns_row table_row(struct arena *arena, const struct listed_run *row, size_t width)
{
	struct columns_row out = {{NULL}, false};
	out.cells[ID] = arena_printf(arena, "%" PRId64, row->id);
	out.cells[NAME] = list_name_cell(arena, row->name, width);
	out.cells[WHEN] = when(arena, row->started_unix);
	out.cells[KIND] = kept_kind_name(row->kind);
	out.cells[RUNS] = row->kind == KEPT_PROFILE && row->repetitions < 2
				  ? NULL
				  : arena_printf(arena, "%zu", row->repetitions);
	out.cells[TIME] = duration(arena, row->elapsed_seconds);
	out.cells[STATUS] = ending(arena, row);
	out.cells[COMMAND] = what_ran(arena, row);
	return out;
}

/* Columns without a cell are left out. */
static void drop_empty(struct columns *columns)
{
	for (size_t c = columns->n; c-- > 0;) {
		bool empty = true;
		for (size_t i = 0; i < columns->rows.count && empty; i++)
			empty = columns->rows.items[i].cells[c] == NULL;
		if (!empty)
			continue;
		columns->n--;
		for (size_t k = c; k < columns->n; k++) {
			columns->headings[k] = columns->headings[k + 1];
			columns->left[k] = columns->left[k + 1];
			columns->spare[k] = columns->spare[k + 1];
			for (size_t i = 0; i < columns->rows.count; i++)
				columns->rows.items[i].cells[k] = columns->rows.items[i].cells[k + 1];
		}
	}
	columns->flexible = columns->n - 1;
}

bool list_runs_table(FILE *out, const struct listed_run *rows, size_t n, size_t width, bool colour)
{
	struct arena arena = {0};
	struct style style = style_of(&(struct report_options){.colour = colour});
	struct columns columns = {.n = COLUMNS,
				  .headings = {"run", "name", "begun", "kind", "n", "time", "ended", "command"},
				  .left = {false, true, true, true, false, false, true, true},
				  .spare = {[KIND] = true, [RUNS] = true, [TIME] = true},
				  .flexible = COMMAND,
				  .cut_at_end = true};
	bool done = true;
	for (size_t i = 0; i < n && done; i++)
		done = vec_push(&columns.rows, table_row(&arena, &rows[i], width));
	if (done && n) {
		drop_empty(&columns);
		columns_print(out, &columns, 0, width, &style);
	}
	vec_free(&columns.rows);
	arena_free(&arena);
	return done;
}

/* ---- what a run was measured with ---- */

static void detail(const char *label, const char *text, size_t width)
{
	if (!text || !text[0])
		return;
	printf("      %-12s", label);
	text_wrap(stdout, text, 18, 18, width);
}

static bool show_details(struct runs *runs, int64_t id, size_t width, struct error *err)
{
	struct kept_run run;
	char text[300];
	if (!runs_load(runs, id, &run, err))
		return false;
	const struct machine_facts *m = &run.result->machine;
	detail("directory", run.directory, width);
	detail("git commit", run.git_commit, width);
	snprintf(text, sizeof text, "%.100s: %.100s, %d CPUs, %.60s", m->hostname ? m->hostname : "?",
		 m->cpu ? m->cpu : "?", m->cpus, m->kernel ? m->kernel : "?");
	detail("machine", text, width);
	detail("microcode", run.microcode, width);
	detail("features", run.cpu_features, width);
	detail("calibration", run.calibration, width);
	detail("tare", run.tare_version, width);
	if (run.imported)
		detail("imported", "yes: measured elsewhere, or brought back", width);
	for (const char *const *variable = run.environment; variable && *variable; variable++)
		detail(variable == run.environment ? "environment" : "", *variable, width);
	kept_run_free(&run);
	return true;
}

/* ---- formats ---- */

static void list_as_json(struct json *json, const struct listed_run *row)
{
	json_write_open(json, NULL, '{');
	json_write_integer(json, "run", row->id);
	json_write_text(json, "name", row->name);
	json_write_text(json, "kind", kept_kind_name(row->kind));
	json_write_integer(json, "started", (int64_t)row->started_unix);
	json_write_number(json, "elapsed_seconds", row->elapsed_seconds);
	json_write_integer(json, "repetitions", (int64_t)row->repetitions);
	json_write_bool(json, "interrupted", row->interrupted);
	bool killed = WIFSIGNALED(row->wait_status);
	if (killed)
		json_write_null(json, "exit_status");
	else
		json_write_integer(json, "exit_status", WEXITSTATUS(row->wait_status));
	if (killed)
		json_write_integer(json, "signal", WTERMSIG(row->wait_status));
	else
		json_write_null(json, "signal");
	json_write_text(json, "tare_version", row->tare_version);
	json_write_text(json, "hostname", row->hostname);
	json_write_bool(json, "imported", row->imported);
	if (row->command) {
		json_write_open(json, "command", '[');
		for (const char *const *word = row->command; *word; word++)
			json_write_text(json, NULL, *word);
		json_write_close(json, ']');
	} else {
		json_write_null(json, "command");
	}
	json_write_text(json, "target", row->target);
	json_write_integer(json, "bytes", (int64_t)row->bytes);
	json_write_close(json, '}');
}

/* The table, with a run's details below its line. */
static bool show_with_details(const struct run_listing *l, struct runs *runs, const struct run_list *list,
			      struct error *err)
{
	char *text = NULL, *line;
	size_t length = 0;
	FILE *memory = open_memstream(&text, &length);
	bool done = memory && list_runs_table(memory, list->rows.items, list->rows.count, l->width, l->colour);
	if ((memory && fclose(memory) != 0) || !done || !text) {
		free(text);
		return error_no_memory(err);
	}
	line = text;
	for (size_t i = 0; i <= list->rows.count && list->rows.count && done;
	     i++) { /* the headings are the first */
		char *end = strchrnul(line, '\n');
		printf("%.*s\n", (int)(end - line), line);
		line = end + (*end != '\0');
		done = i == 0 || show_details(runs, list->rows.items[i - 1].id, l->width, err);
	}
	free(text);
	return done;
}

static bool show(const struct run_listing *l, struct runs *runs, const struct run_list *list, struct error *err)
{
	for (size_t i = 0; i < list->rows.count; i++) {
		const struct listed_run *row = &list->rows.items[i];
		if (l->json)
			list_as_json(l->json, row);
		else if (l->names && row->name)
			puts(row->name);
		else if (l->names)
			printf("%" PRId64 "\n", row->id);
	}
	if (l->json || l->names)
		return true;
	if (l->verbose && !show_with_details(l, runs, list, err))
		return false;
	if (!l->verbose && !list_runs_table(stdout, list->rows.items, list->rows.count, l->width, l->colour))
		return error_no_memory(err);
	if (list->n_all > list->rows.count && !l->n_words)
		printf("%s%zu older: --all\n", list->rows.count ? "\n" : "", list->n_all - list->rows.count);
	return true;
}

bool list_runs(const struct run_listing *l, size_t *shown, struct error *err)
{
	struct runs *runs;
	struct run_list list = {0};
	/* a store that is not there has no runs */
	if (!store_open(&l->keeping, RUNS_READ, &runs, err)) {
		if (err->code != ERROR_NOT_FOUND)
			return false;
		if (!l->json && !l->names)
			puts("no run was kept yet");
		return true;
	}
	bool done = runs_list(runs, l->all || l->json || l->names ? 0 : SHOWN_AT_FIRST,
			      (const char *const *)l->words, (size_t)l->n_words, &list, err) &&
		    show(l, runs, &list, err);
	*shown = list.rows.count;
	if (done && !list.n_all && !l->json && !l->names)
		puts("no run was kept yet");
	run_list_free(&list);
	runs_close(runs);
	return done;
}
