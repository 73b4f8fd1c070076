/* tare doctor: what can be measured on this machine by this user, and the one step that would allow more. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/backend.h"
#include "cli/calibrate_table.h"
#include "trust/calibration_here.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/say.h"
#include "measure/measure.h"
#include "report/machine_json.h"
#include "report/table.h"

enum { HELP, JSON, ON, VERBOSE };

const struct option_row doctor_option_rows[] = {
	{.help = "Options"},
	{0, "on", "BACKEND", "examine this backend only: see 'tare list backends' (default: all)", ON},
	{'v', "verbose", NULL, "also show the step for each finding", VERBOSE},
	{0, "json", NULL, "as JSON", JSON},
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

struct doctor_asked {
	bool help, json, verbose;
	const char *on; /* NULL: all */
};

enum { FINDINGS_MOST = 64 };

struct diagnosis {
	struct finding findings[FINDINGS_MOST];
	size_t n;
	struct calibration calibration; /* of this machine; empty when there is none */
	bool calibrated;
};

static bool apply(void *context, int id, const char *value, struct error *err)
{
	struct doctor_asked *asked = context;
	(void)err;
	if (id == ON)
		asked->on = value;
	asked->help |= id == HELP;
	asked->json |= id == JSON;
	asked->verbose |= id == VERBOSE;
	return true;
}

static void add(struct diagnosis *d, const struct backend_operations *kind, const struct error *err)
{
	if (d->n == FINDINGS_MOST)
		return;
	struct finding *f = &d->findings[d->n++];
	*f = (struct finding){.state = FINDING_NO};
	snprintf(f->what, sizeof f->what, "%s", kind->name);
	snprintf(f->detail, sizeof f->detail, "%.255s", err->text);
	snprintf(f->step, sizeof f->step, "%.255s", err->hint);
}

static void examine_all(struct diagnosis *d)
{
	for (size_t i = 0; i < backend_kinds(); i++) {
		const struct backend_operations *kind = backend_kind(i);
		struct backend *backend;
		struct error err = {0};
		/* auto is the others together */
		if (strcmp(kind->name, "auto") == 0)
			continue;
		if (kind->open(kind->by_itself, &backend, &err)) {
			kind->diagnose(backend, d->findings, FINDINGS_MOST, &d->n);
			kind->close(backend);
		} else if (err.code != ERROR_USAGE) {
			/* a backend that needs an argument says nothing of the machine */
			add(d, kind, &err);
		}
	}
}

static bool examine(struct diagnosis *d, const char *on, struct error *err)
{
	const char *argument = NULL;
	struct backend *backend;
	if (!on) {
		examine_all(d);
		return true;
	}
	const struct backend_operations *kind = backend_by_name(on, &argument, err);
	if (!kind || !kind->open(argument, &backend, err))
		return false;
	kind->diagnose(backend, d->findings, FINDINGS_MOST, &d->n);
	kind->close(backend);
	return true;
}

/* How old, in the largest unit of which there are two. */
static void age(uint64_t made_unix, char *out, size_t out_bytes)
{
	static const struct {
		double seconds;
		const char *name;
	} units[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}, {1, "seconds"}};
	double seconds = difftime(time(NULL), (time_t)made_unix);
	size_t i = 0;
	if (seconds < 0) {
		snprintf(out, out_bytes, "made in the future, by this clock");
		return;
	}
	while (i < 3 && seconds < 2 * units[i].seconds)
		i++;
	snprintf(out, out_bytes, "%.0f %s old", seconds / units[i].seconds, units[i].name);
}

static void examine_calibration(struct diagnosis *d, const struct machine_facts *facts)
{
	char why[160], old[64];
	if (d->n == FINDINGS_MOST)
		return;
	struct finding *f = &d->findings[d->n++];
	*f = (struct finding){.state = FINDING_WORKS, .what = "calibration"};
	d->calibrated = calibration_here(facts, &d->calibration, why, sizeof why);
	if (d->calibrated) {
		const struct calibration *c = &d->calibration;
		age(c->made_unix, old, sizeof old);
		snprintf(f->detail, sizeof f->detail, "%.8s, %s, of %zu processes each", c->id, old, c->processes);
		return;
	}
	f->state = FINDING_PARTLY;
	snprintf(f->detail, sizeof f->detail, "%s%s: all counts include the overhead of measuring",
		 *why ? "none valid here: " : "none", why);
	snprintf(f->step, sizeof f->step, "run 'tare calibrate'");
}

/* The first step of what does not work at all, else of what works in part. */
static const char *one_step(const struct diagnosis *d)
{
	static const enum finding_state order[] = {FINDING_NO, FINDING_PARTLY};
	for (size_t k = 0; k < sizeof order / sizeof *order; k++)
		for (size_t i = 0; i < d->n; i++)
			if (d->findings[i].state == order[k] && d->findings[i].step[0])
				return d->findings[i].step;
	return NULL;
}

static const char *state_name(enum finding_state state)
{
	return state == FINDING_WORKS ? "works" : state == FINDING_PARTLY ? "partly" : "no";
}

static void write_calibration(struct json *json, const struct diagnosis *d)
{
	const struct calibration *c = &d->calibration;
	if (!d->calibrated) {
		json_write_null(json, "calibration");
		return;
	}
	json_write_open(json, "calibration", '{');
	json_write_text(json, "id", c->id);
	json_write_integer(json, "made", (int64_t)c->made_unix);
	json_write_integer(json, "processes", (int64_t)c->processes);
	json_write_number(json, "confidence", c->confidence);
	json_write_text(json, "floor_command", c->floor_command);
	json_write_open(json, "floors", '[');
	for (size_t i = 0; i < c->floors.count; i++) {
		const struct noise_floor *f = &c->floors.items[i];
		json_write_open(json, NULL, '{');
		json_write_text(json, "event", f->event);
		json_write_text(json, "unit", f->unit);
		json_write_integer(json, "runs", (int64_t)f->n);
		json_write_number(json, "mean", f->mean);
		json_write_number(json, "relative_sd", f->relative_sd);
		json_write_number(json, "differed", f->seen);
		json_write_number(json, "floor", f->floor);
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
	json_write_close(json, '}');
}

static void show_json(const struct diagnosis *d, const struct machine_facts *facts)
{
	struct json json = {.out = stdout, .lines = 2};
	json_write_open(&json, NULL, '{');
	json_write_integer(&json, "tare", 1);
	json_write_open(&json, "machine", '{');
	machine_json(&json, facts);
	json_write_close(&json, '}');
	json_write_open(&json, "findings", '[');
	for (size_t i = 0; i < d->n; i++) {
		json_write_open(&json, NULL, '{');
		json_write_text(&json, "what", d->findings[i].what);
		json_write_text(&json, "state", state_name(d->findings[i].state));
		json_write_text(&json, "detail", d->findings[i].detail);
		json_write_text(&json, "step", d->findings[i].step[0] ? d->findings[i].step : NULL);
		json_write_close(&json, '}');
	}
	json_write_close(&json, ']');
	write_calibration(&json, d);
	json_write_text(&json, "step", one_step(d));
	json_write_close(&json, '}');
}

static void show_text(const struct diagnosis *d, const struct machine_facts *facts, bool verbose)
{
	static const char *const colours[] = {"\033[32m", "\033[33m", "\033[31m"};
	bool colour = say_in_colour(stdout);
	size_t width = (size_t)table_width(&(struct report_options){.width = say_width(stdout)}), widest = 0;
	char line[512];
	snprintf(line, sizeof line, "%s, %d CPU%s, %s%s%s", facts->cpu, facts->cpus, facts->cpus == 1 ? "" : "s",
		 facts->kernel, facts->hypervisor[0] ? ", a guest of " : "", facts->hypervisor);
	text_wrap(stdout, line, 0, 2, width);
	putchar('\n');
	for (size_t i = 0; i < d->n; i++)
		if (text_columns(d->findings[i].what) > widest)
			widest = text_columns(d->findings[i].what);
	for (size_t i = 0; i < d->n; i++) {
		const struct finding *f = &d->findings[i];
		size_t indent = 2 + 6 + 2 + widest + 2;
		printf("  %s%-6s%s  %-*s  ", colour ? colours[f->state] : "", state_name(f->state),
		       colour ? "\033[0m" : "", (int)widest, f->what);
		text_wrap(stdout, f->detail, indent, indent, width);
		if (verbose && f->step[0]) {
			printf("%*s\u2192 ", (int)indent, "");
			text_wrap(stdout, f->step, indent + 2, indent + 2, width);
		}
	}
	if (d->calibrated)
		calibrate_floor_table(stdout, &d->calibration, width);
	const char *step = one_step(d);
	fputs("\nThe one step that would allow more: ", stdout);
	text_wrap(stdout, step ? step : "none is known; this is all that this machine can do.", 36, 2, width);
}

int command_doctor(int argc, char **argv)
{
	struct doctor_asked asked = {0};
	struct error err = {0};
	struct arena arena = {0};
	struct machine_facts facts;
	int rest;
	if (!options_parse(doctor_option_rows, argc, argv, apply, &asked, &rest, &err))
		return say_failed(&err, TARE_USAGE);
	if (rest < argc) {
		error_set(&err, ERROR_USAGE, "'doctor' takes no arguments: '%s'", argv[rest]);
		return say_failed(&err, TARE_USAGE);
	}
	say_begin_output();
	if (asked.help) {
		options_help("usage: tare doctor [OPTIONS]\n"
			     "\n"
			     "Tries what this user can measure on this machine, and shows it with the one\n"
			     "step that would allow more.\n",
			     doctor_option_rows,
			     "\nexit status: 0, whatever was found; 2 wrong usage; 3 cannot write the output.\n");
		return say_end_output();
	}
	struct diagnosis *diagnosis = calloc(1, sizeof *diagnosis);
	int code;
	if (!diagnosis || !measure_machine_facts(&arena, &facts)) {
		error_set(&err, ERROR_SYSTEM, "cannot identify this machine");
		code = say_failure(&err);
	} else if (!examine(diagnosis, asked.on, &err)) {
		code = say_failure(&err);
	} else {
		if (!asked.on)
			examine_calibration(diagnosis, &facts);
		if (asked.json)
			show_json(diagnosis, &facts);
		else
			show_text(diagnosis, &facts, asked.verbose);
		code = say_end_output();
	}
	if (diagnosis)
		calibration_free(&diagnosis->calibration);
	free(diagnosis);
	arena_free(&arena);
	return code;
}
