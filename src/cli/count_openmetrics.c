#include "cli/count_openmetrics.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "cli/say.h"
#include "report/openmetrics.h"

struct grown_count {
	double value;
	struct reading before; /* when value was last added to */
	bool known, shared;
	const char *why; /* not known */
};

bool openmetrics_is_served(const char *where) { return where && scrape_is_address(where); }

/* A pipe or a device cannot be replaced by a new file. */
static bool is_replaceable(const char *path)
{
	struct stat status;
	return strcmp(path, "-") != 0 && (stat(path, &status) != 0 || S_ISREG(status.st_mode));
}

static bool write_text(const char *path, const char *text, size_t length, struct error *err)
{
	if (strcmp(path, "-") != 0)
		return file_replace(path, text, length, err);
	fwrite(text, 1, length, stdout);
	return file_finish(stdout, "standard output", err);
}

static char *render(const struct result *result, enum metrics_dialect dialect, size_t *length)
{
	char *text = NULL;
	FILE *memory = open_memstream(&text, length);
	bool done = memory && report_openmetrics(memory, result, dialect);
	if ((memory && fclose(memory) != 0) || !done) {
		free(text);
		return NULL;
	}
	return text;
}

/* What node_exporter's textfile collector reads, and it reads no other. */
static enum metrics_dialect dialect_of(const char *path)
{
	size_t length = strlen(path);
	return length > 5 && strcmp(path + length - 5, ".prom") == 0 ? METRICS_TEXT_004 : METRICS_OPEN;
}

static void put(struct openmetrics_output *out, const struct result *result)
{
	struct error err = {0};
	size_t length = 0;
	char *text = render(result, out->server ? METRICS_OPEN : dialect_of(out->where), &length);
	char *older = out->server ? render(result, METRICS_TEXT_004, &(size_t){0}) : NULL;
	if (!text || (out->server && !older)) {
		error_no_memory(&err);
		free(text);
		free(older);
	} else if (out->server) {
		scrape_set(out->server, text, older);
		return;
	} else {
		bool done = write_text(out->where, text, length, &err);
		free(text);
		if (done)
			return;
	}
	if (!out->failed)
		say_error(&err);
	out->failed = true;
}

/* ---- what was counted so far ---- */

static void grow(struct grown_count *g, const struct reading *now, const struct time_count *interval)
{
	if (now->state != READING_COUNTED && now->state != READING_NEVER_RAN) {
		g->known = false;
		g->why = now->why ? now->why : "it was not counted";
		return;
	}
	if (now->state == READING_NEVER_RAN || (!g->known && !interval->known)) {
		g->why = interval->why ? interval->why : "it was on no counter so far";
		return;
	}
	if (now->unproven && now->count_raw == 0) {
		g->why = "nothing that was tried moved its counter: it may count nothing";
		return;
	}
	g->shared |= now->running_ns < now->enabled_ns;
	uint64_t running = now->running_ns > g->before.running_ns ? now->running_ns - g->before.running_ns : 0;
	uint64_t enabled = now->enabled_ns > g->before.enabled_ns ? now->enabled_ns - g->before.enabled_ns : 0;
	double more = now->count_raw > g->before.count_raw ? (double)(now->count_raw - g->before.count_raw) : 0;
	if (g->shared && running == 0)
		return; /* what it misses is made up for when it has run again */
	g->value += g->shared && enabled > running ? more * ((double)enabled / (double)running) : more;
	g->before = *now;
	g->known = true;
}

/* The operating system's account of a program: it is closed when the program has ended. */
static bool is_account(const struct event *event)
{
	return event->definition && (event->definition->counted_by & COUNTED_BY_PROCESS);
}

/* g NULL: nothing here has the meaning of this row. */
static struct estimate estimate_of(const struct asked_row *row, const struct event *event,
				   const struct grown_count *g)
{
	if (!g)
		return (struct estimate){.event = row->label,
					 .unit = row->unit ? row->unit : "",
					 .level = "",
					 .cpu = -1,
					 .why = row->why};
	return (struct estimate){.event = row->label ? row->label : event->label,
				 .unit = event->definition ? event->definition->unit : "events",
				 .level = is_account(event)               ? ""
					  : event->levels == LEVEL_USER   ? "user"
					  : event->levels == LEVEL_KERNEL ? "kernel"
									  : "user+kernel",
				 .known = g->known,
				 .value = g->value,
				 .low = g->value,
				 .high = g->value,
				 .source = !g->known   ? SOURCE_NONE
					   : g->shared ? SOURCE_SCALED
						       : g->before.source,
				 .machine = g->known ? g->before.machine : event->machine,
				 .cpu = -1,
				 .why = g->known ? NULL : g->why};
}

/* Why an event is in no interval: nothing here counts it, or its count is known at the end alone. */
static void find_absent(struct openmetrics_output *out)
{
	const struct session *s = out->session;
	for (size_t i = 0; i < s->selection.events.count; i++) {
		const struct event *event = &s->selection.events.items[i];
		struct availability answer = {0};
		s->operations->available(s->backend, event, &answer);
		bool works = answer.state == READING_COUNTED || answer.state == READING_UNPROVEN;
		out->counts[i].why = works || is_account(event) ? "its count is known at the end only"
								: arena_strdup(&out->arena, answer.why);
	}
}

static void put_so_far(struct openmetrics_output *out)
{
	const struct selection *chosen = &out->session->selection;
	const struct command *command = out->session->target.command;
	struct result so_far = {.machine = out->facts,
				.command = command ? (const char *const *)command->argv : NULL,
				.repetitions = 1};
	so_far.estimates = calloc(chosen->rows.count + 1, sizeof *so_far.estimates);
	for (size_t i = 0; so_far.estimates && i < chosen->rows.count; i++) {
		const struct asked_row *row = &chosen->rows.items[i];
		bool has = row->event != ROW_NO_EVENT;
		so_far.estimates[so_far.n_estimates++] = estimate_of(
			row, has ? &chosen->events.items[row->event] : NULL,
			has ? &out->counts[row->event] : NULL);
	}
	put(out, &so_far);
	free(so_far.estimates);
}

void openmetrics_interval(struct openmetrics_output *out, const struct time_interval *interval)
{
	const struct selection *chosen = &out->session->selection;
	if (!out->over_time)
		return;
	if (!out->counts) {
		if (!(out->counts = calloc(chosen->events.count + 1, sizeof *out->counts)))
			return;
		find_absent(out);
	}
	for (size_t i = 0; i < interval->n; i++) {
		/* what is measured are the session's own events */
		size_t place = (size_t)(interval->events[i] - chosen->events.items);
		if (place < chosen->events.count)
			grow(&out->counts[place], &interval->totals[i], &interval->counts[i]);
	}
	put_so_far(out);
}

/* ---- begin and end ---- */

bool openmetrics_open(struct openmetrics_output *out, const char *where, bool over_time,
		      const struct session *session, struct error *err)
{
	const char *url;
	*out = (struct openmetrics_output){.where = where, .session = session};
	if (!where)
		return true;
	out->over_time = openmetrics_is_served(where) || (over_time && is_replaceable(where));
	if (!measure_machine_facts(&out->arena, &out->facts))
		return error_no_memory(err);
	if (openmetrics_is_served(where)) {
		if (!scrape_begin(where, &out->server, &url, err))
			return false;
		fprintf(stderr, "tare: serving at %s\n", url);
		return true;
	}
	if (is_replaceable(where)) /* found now, not after an hour's run */
		return file_replace(where, "# EOF\n", 6, err);
	FILE *file = file_create_shared(where, err);
	return file && file_finish(file, where, err);
}

bool openmetrics_finish(struct openmetrics_output *out, const struct result *result)
{
	if (out->where && !out->over_time)
		put(out, result);
	return !out->failed;
}

void openmetrics_close(struct openmetrics_output *out)
{
	scrape_end(out->server);
	free(out->counts);
	arena_free(&out->arena);
	*out = (struct openmetrics_output){0};
}
