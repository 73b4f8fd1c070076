/* tare calibrate: what does measuring itself cost on this machine? Measured, shown, kept. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "trust/measure.h"
#include "cli/calibrate_costs.h"
#include "cli/calibrate_table.h"
#include "trust/calibration_here.h"
#include "cli/command.h"
#include "cli/progress_line.h"
#include "trust/helper_programs.h"
#include "cli/say.h"
#include "measure/measure.h"
#include "report/table.h"
#include "session/session.h"

enum { HELP, COSTS, EVENTS, OF_INTERFACES, PROCESSES, QUICK, CONFIDENCE, OUTPUT, DRY, VERBOSE };

/* The papers' 100 (Korn, Nieto); the A/A run's sides. */
enum { PROCESSES_DEFAULT = 100, PROCESSES_QUICK = 20, FLOOR_RUNS = 50, FLOOR_RUNS_QUICK = 15 };

const struct option_row calibrate_option_rows[] = {
	{.help = "Options"},
	{0, "costs", NULL, "measure what cache misses, mispredictions, page faults, ... cost, for 'tare explain'",
	 COSTS},
	{'e', "events", "EVENTS",
	 "calibrate these events (default: those of 'tare count', and all whose overhead is subtracted)", EVENTS},
	{0, "interfaces", "INTERFACE,...",
	 "which of command, library, library-user, stubs, separated by commas (default: all)", OF_INTERFACES},
	{0, "processes", "N", "separate processes for each number (default: 100)", PROCESSES},
	{0, "quick", NULL, "20 processes, and fewer runs for the noise floor", QUICK},
	{0, "confidence", "95|99", "confidence level of the intervals, in percent (default: 95)", CONFIDENCE},
	{'o', "output", "FILE", "save it in this file (default: where libtare and 'tare count' look for it)",
	 OUTPUT},
	{0, "dry-run", NULL, "measure and show, save nothing", DRY},
	{'v', "verbose", NULL, "show what is being measured", VERBOSE},
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

struct calibrate_asked {
	bool help, costs, quick, dry, verbose, some_interfaces;
	bool interfaces[INTERFACES];
	const char *events, *output;
	size_t processes; /* 0: the default */
	double confidence;
};

static bool apply_interfaces(struct calibrate_asked *asked, const char *list, struct error *err)
{
	asked->some_interfaces = true;
	for (const char *at = list;; at++) {
		size_t length = strcspn(at, ",");
		unsigned i = 0;
		while (i < INTERFACES && (strlen(interface_name((enum interface)i)) != length ||
					  strncmp(interface_name((enum interface)i), at, length) != 0))
			i++;
		if (i == INTERFACES)
			return error_set(err, ERROR_USAGE,
					 "'%.*s' is not one of command, library, library-user, stubs", (int)length,
					 at);
		asked->interfaces[i] = true;
		at += length;
		if (!*at)
			return true;
	}
}

static bool apply(void *context, int id, const char *value, struct error *err)
{
	struct calibrate_asked *asked = context;
	unsigned long long number;
	switch (id) {
	case HELP: asked->help = true; return true;
	case COSTS: asked->costs = true; return true;
	case EVENTS: asked->events = value; return true;
	case OF_INTERFACES: return apply_interfaces(asked, value, err);
	case PROCESSES:
		if (!options_number(value, 2, 100000, &number, err))
			return false;
		asked->processes = number;
		return true;
	case QUICK: asked->quick = true; return true;
	case CONFIDENCE:
		if (strcmp(value, "95") != 0 && strcmp(value, "99") != 0)
			return error_set(err, ERROR_USAGE, "'%s' is neither 95 nor 99", value);
		asked->confidence = strcmp(value, "99") == 0 ? 0.99 : 0.95;
		return true;
	case OUTPUT: asked->output = value; return true;
	case DRY: asked->dry = true; return true;
	default: asked->verbose = true; return true;
	}
}

/* ---- progress ---- */

struct line {
	struct progress_line on_terminal;
	bool terminal, verbose;
	struct clock clock;
	const char *part;
	uint64_t began_ns;
};

/* On a terminal a line that is written over; with -v a line for each part. */
static void progress(void *context, const char *part, size_t done, size_t all)
{
	struct line *line = context;
	uint64_t now_ns = clock_now_ns(&line->clock);
	if (line->part != part) {
		line->part = part;
		line->began_ns = now_ns;
		if (line->verbose) {
			progress_line_end(&line->on_terminal);
			fprintf(stderr, "tare: %s\n", part);
		}
	}
	if (line->terminal)
		progress_line_show(&line->on_terminal, "step", done, all,
				   done > 2 ? 1e-9 * (double)(now_ns - line->began_ns) / (double)done *
						      (double)(all - done)
					    : -1,
				   part);
}

/* ---- all of it ---- */

static int show_help(void)
{
	say_begin_output();
	options_help("usage: tare calibrate [OPTIONS] [-- PROGRAM [ARGS...]]\n"
		     "       tare calibrate --costs [OPTIONS]\n"
		     "\n"
		     "Measures the overhead of measuring on this machine: of an empty program, an\n"
		     "empty region, nested regions. Also measures the noise floor: how much two\n"
		     "measurements of one program differ (PROGRAM, or one of tare's own). Saves the\n"
		     "result for 'tare count' and libtare. They subtract an overhead that is always\n"
		     "the same.\n",
		     calibrate_option_rows,
		     "\nexit status: 0 done; 2 wrong usage; 3 cannot measure, or cannot save the result.\n"
		     "See also tare-calibrate(1).\n");
	return say_end_output();
}

/* What the A/A run executes when no program is given: both levels, memory, some milliseconds. */
static bool own_floor_program(char *words[3], struct error *err)
{
	static char size[] = "300";
	if (!(words[0] = helper_kernel("phases", err)))
		return false;
	words[1] = size;
	words[2] = NULL;
	return true;
}

static bool describe(struct calibration *c, const struct calibrate_asked *asked, struct error *err)
{
	struct machine_facts facts;
	if (!measure_machine_facts(&c->arena, &facts))
		return error_set(err, ERROR_SYSTEM, "cannot identify this machine");
	c->cpu = facts.cpu;
	c->architecture = facts.architecture;
	c->kernel = facts.kernel;
	c->cpus = facts.cpus;
	c->tare_version = TARE_VERSION;
	c->made_unix = (uint64_t)time(NULL);
	c->confidence = asked->confidence > 0 ? asked->confidence : 0.95;
	return true;
}

static bool measure(struct calibrating *c, const struct calibrate_asked *asked, char *const *program,
		    struct error *err)
{
	char *own[3] = {0};
	bool library = false;
	for (unsigned i = 0; i < INTERFACES; i++) {
		c->wanted[i] = !asked->some_interfaces || asked->interfaces[i];
		library |= c->wanted[i] && i != INTERFACE_COMMAND;
	}
	c->processes = asked->processes ? asked->processes : asked->quick ? PROCESSES_QUICK : PROCESSES_DEFAULT;
	c->calibration.processes = c->processes;
	c->floor_runs = asked->quick ? FLOOR_RUNS_QUICK : FLOOR_RUNS;
	bool done = describe(&c->calibration, asked, err) && calibrating_begin(c, asked->events, err) &&
		    (!c->wanted[INTERFACE_COMMAND] || calibrate_command(c, err)) &&
		    (!library || calibrate_regions(c, err)) && (*program || own_floor_program(own, err)) &&
		    calibrate_floor(c, *program ? program : own, err);
	free(own[0]);
	return done;
}

static int keep(struct calibrating *c, const struct calibrate_asked *asked)
{
	struct error err = {0};
	char *path = asked->output ? strdup(asked->output) : calibration_path(&err);
	int code = TARE_DONE;
	if (!path || !calibration_save(path, &c->calibration, &err))
		code = say_failed(&err, TARE_CANNOT_MEASURE);
	else
		printf("\nSaved as %.8s in %s\n", c->calibration.id, path);
	free(path);
	return code;
}

/* --costs: another measurement, which runs no program and asks for no events. */
static int costs(const struct calibrate_asked *asked, bool program)
{
	struct error err = {0};
	if (program || asked->events || asked->some_interfaces || asked->processes) {
		error_set(&err, ERROR_USAGE, "--costs runs no program and counts no events");
		error_hint(&err, "remove %s",
			   program            ? "the program"
			   : asked->events    ? "-e"
			   : asked->processes ? "--processes"
					      : "--interfaces");
		return say_failed(&err, TARE_USAGE);
	}
	return calibrate_costs(&(struct calibrate_costs_asked){
		.quick = asked->quick,
		.dry = asked->dry,
		.confidence = asked->confidence > 0 ? asked->confidence : 0.95,
		.output = asked->output,
	});
}

int command_calibrate(int argc, char **argv)
{
	struct calibrate_asked asked = {0};
	struct error err = {0};
	struct calibrating calibrating = {0};
	struct line line = {.clock = clock_monotonic()};
	int rest, code;
	if (!options_parse(calibrate_option_rows, argc, argv, apply, &asked, &rest, &err))
		return say_failed(&err, TARE_USAGE);
	if (asked.help)
		return show_help();
	if (asked.costs)
		return costs(&asked, argv[rest] != NULL);
	line.terminal = isatty(STDERR_FILENO);
	line.verbose = asked.verbose;
	calibrating.progress = progress;
	calibrating.progress_context = &line;
	struct session session = {0};
	bool done = session_open(&session, NULL, "perf", NULL, 0, &err);
	calibrating.table = session.events;
	calibrating.operations = session.operations;
	calibrating.backend = session.backend;
	done = done && measure(&calibrating, &asked, argv + rest, &err);
	progress_line_end(&line.on_terminal);
	if (!done) {
		code = say_failure(&err);
	} else {
		say_begin_output();
		calibrate_table(stdout, &calibrating,
				(size_t)table_width(&(struct report_options){.width = say_width(stdout)}));
		code = asked.dry ? TARE_DONE : keep(&calibrating, &asked);
		int written = say_end_output();
		if (code == TARE_DONE)
			code = written;
	}
	calibrating_end(&calibrating);
	session_close(&session);
	return code;
}
