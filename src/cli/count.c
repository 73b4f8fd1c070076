/* tare count: from the command line to the report and the exit status. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/wait_status.h"
#include "cli/perfex_costs.h"
#include "cli/command.h"
#include "cli/count.h"
#include "cli/count_control.h"
#include "cli/count_intervals.h"
#include "cli/count_parameters.h"
#include "cli/count_progress.h"
#include "cli/count_ranks.h"
#include "cli/page_output.h"
#include "cli/say.h"
#include "cli/store_options.h"
#include "compat/choose.h"
#include "session/interrupt.h"
#include "session/ranks.h"
#include "session/trusting.h"

/* ---- what runs, and what is counted ---- */

static bool choose_target(struct count_command *c, struct session_target *out, struct error *err)
{
	const struct count_request *r = &c->request;
	bool cpus = r->all_cpus || r->cpus.numbers.count || r->cgroup;
	bool attach = r->pids.numbers.count || r->tids.numbers.count;
	c->program = r->command;
	if (!c->program && !cpus && !attach && c->has_parameters && c->parameters.command[0]) {
		c->program = count_parameters_program(&c->parameters);
		if (!c->program)
			return error_set(err, ERROR_USAGE, "the parameter 'command' is empty");
	}
	if (!c->program && !cpus && !attach) {
		error_set(err, ERROR_USAGE, "nothing to count: no program is given");
		return error_hint(
			err, "'tare count PROGRAM ARGS...', or -p, -t, -a, -C, --cgroup; 'tare count --help'");
	}
	if (c->program && attach)
		return error_set(err, ERROR_USAGE,
				 "remove the program: -p and -t count processes that already run");
	*out = (struct session_target){
		.kind = cpus                    ? TARGET_CPUS
			: r->pids.numbers.count ? TARGET_PROCESSES
			: r->tids.numbers.count ? TARGET_THREADS
						: TARGET_COMMAND,
		.program = c->program,
		.reproducible = r->reproducible,
		.cpu = r->shown_cpu,
		.keep = r->keep && !r->blocks && !r->by,
		.no_children = r->no_children,
		.per_thread = r->per_thread,
		.per_cpu = r->per_cpu,
		.per_process = r->per_process,
		.cgroup = r->cgroup,
	};
	const struct number_list *ids = cpus ? &r->cpus : r->pids.numbers.count ? &r->pids : &r->tids;
	out->ids = ids->numbers.items;
	out->n_ids = ids->numbers.count;
	return true;
}

/* "auto": of the machine that is counted, or the first one that is modelled. */
static bool find_costs(struct count_command *count, struct error *err)
{
	const struct count_request *r = &count->request;
	bool named = strcmp(r->costs, "auto") != 0;
	const char *machine = perfex_costs_machine(r->on);
	return explain_find_costs(named ? r->costs : NULL, machine ? machine : "host", !machine, r->confidence,
				  !r->quiet, &count->costs, err);
}

static bool choose_events(struct count_command *c, struct error *err)
{
	const struct count_request *r = &c->request;
	struct session *s = &c->session;
	struct perfex_chosen chosen = {{PERFEX_NONE, PERFEX_NONE}};
	bool perfex = r->compat == COMPAT_PERFEX;
	if (s->n_machines > 1 && (c->has_parameters || r->compat != COMPAT_NONE)) {
		error_set(err, ERROR_USAGE, "-P, -F and --compat report on one machine, not on %zu",
			  s->n_machines);
		return error_hint(err, "choose one: --on model:%s", s->machines[0]);
	}
	if (c->has_parameters && !p5mon_choose(s, &c->parameters, r->compat == COMPAT_P5MON, err))
		return false;
	for (size_t i = 0; i < r->event_lists.count; i++) {
		const char *list = r->event_lists.items[i];
		if (!(perfex ? perfex_choose(s, list, &chosen, err) : session_add_events(s, list, err)))
			return false;
	}
	for (size_t i = 0; i < r->required.count; i++)
		if (!session_add_required(s, r->required.items[i], err))
			return false;
	for (size_t i = 0; i < r->metric_lists.count; i++)
		if (!session_add_metrics(s, r->metric_lists.items[i], err))
			return false;
	for (size_t i = 0; i < r->conditions.count; i++)
		if (!session_add_gate(s, &c->request.conditions.items[i], err))
			return false;
	if (perfex && (r->perfex_all || s->selection.rows.count == 0) && !perfex_choose_all(s, err))
		return false;
	if (s->selection.rows.count)
		return true;
	if (r->parameter_file) {
		error_set(err, ERROR_USAGE, "'%s' asks for no event", r->parameter_file);
		return error_hint(err, "set one to yes (count_clocks = yes;), or give -e");
	}
	return session_add_defaults(s, err);
}

/* ---- all together ---- */

/* How often the counters are read for those who scrape, where -I does not say it. */
enum { SCRAPE_INTERVAL_NS = 1000000000 };

struct over_time {
	struct interval_rows rows;
	bool shows_rows;
	struct openmetrics_output *openmetrics;
};

static void tell_interval(void *context, const struct time_interval *interval)
{
	struct over_time *o = context;
	if (o->shows_rows)
		interval_row(&o->rows, interval);
	openmetrics_interval(o->openmetrics, interval);
}

static bool measure(struct count_command *count, struct error *err)
{
	const struct count_request *r = &count->request;
	struct progress progress = {
		.verbose = r->verbose,
		.line = isatty(STDERR_FILENO) && r->program_output != OUTPUT_ALL && !r->quiet && !r->interval_ns &&
			!r->control,
		.repetitions = r->repetitions,
		.name = count->program ? count->program[0] : NULL,
	};
	bool served = openmetrics_is_served(r->openmetrics);
	struct over_time over_time = {.rows = {.out = count->output.stream,
					       .format = r->format,
					       .width = count->joint ? 0 : say_width(count->output.stream)},
				      .shows_rows = r->interval_ns || (r->control && r->compat != COMPAT_PERFEX),
				      .openmetrics = &count->openmetrics};
	struct measure_options options = {
		.size = sizeof options,
		.interval_ns = served && !r->interval_ns ? SCRAPE_INTERVAL_NS : r->interval_ns,
		.interval = over_time.shows_rows || served ? tell_interval : NULL,
		.control = count->control,
		.interval_context = &over_time,
		.repetitions = r->repetitions,
		.several_runs = r->several_runs,
		.has_warm_ups = r->has_warm_ups,
		.warm_ups = r->warm_ups,
		.confidence = r->confidence,
		.program_output = r->program_output,
		.delay_ns = r->for_ns,
		.timeout_ns = r->timeout_ns,
		.interrupt = count->interrupt,
		.want_blocks = r->blocks != NULL,
		.want_system_calls = r->system_calls != NULL,
		.locations = !r->by                         ? LOCATIONS_NONE
			     : r->by == BREAKDOWN_BY_OBJECT ? LOCATIONS_OF_DATA
							    : LOCATIONS_OF_CODE,
		.blocks_by = r->per_thread    ? BLOCKS_OF_THREADS
			     : r->per_process ? BLOCKS_OF_PROCESSES
					      : BLOCKS_OF_ALL,
		.progress = r->verbose || progress.line ? progress_show : NULL,
		.progress_context = &progress,
	};
	if (!count->program && !r->for_ns && count->session.target.kind == TARGET_CPUS && isatty(STDERR_FILENO) &&
	    !r->quiet)
		fputs("tare: counting until Ctrl-C\n", stderr);
	struct session_trusts *trusts = over_time.shows_rows ? session_trusts_open(&count->session, &r->keeping)
							     : NULL;
	over_time.rows.trusts = trusts;
	bool done = r->inclusive ? session_check_calls(&count->session, err) &&
					   session_measure_calls(&count->session, &options, err)
				 : session_measure(&count->session, &options, err);
	progress_end(&progress);
	session_trusts_free(trusts);
	return done;
}

/* A program's status is its own, whatever could be counted of it. */
static int exit_code(const struct count_command *count)
{
	int status = count->session.result->wait_status;
	if (count->session.result->timed_out)
		return TARE_TIMED_OUT;
	if (!count->program)
		return session_counted_any(&count->session) ? TARE_DONE : TARE_CANNOT_MEASURE;
	return wait_status_shell(status);
}

static void close_all(struct count_command *count)
{
	session_close(&count->session);
	runs_close(count->runs);
	ranks_part(count->ranks);
	output_abandon(&count->output);
	output_abandon(&count->blocks);
	output_abandon(&count->system_calls);
	output_abandon(&count->by_file);
	openmetrics_close(&count->openmetrics);
	if (count->control.has_commands)
		control_close(&count->control);
	if (count->has_parameters)
		parameters_free(&count->parameters);
	costs_free(&count->costs.costs);
	count_request_free(&count->request);
	arena_free(&count->arena);
}

static int show_help(void)
{
	say_begin_output();
	fputs("usage: tare count [OPTIONS] [--] PROGRAM [ARGS...]\n"
	      "       tare count [OPTIONS] -p PID | -t TID | -a | -C CPUS | --cgroup GROUP\n"
	      "\n"
	      "Counts events of a program. For each count it states the source and the error.\n"
	      "The program keeps its input, output and exit status.\n",
	      stdout);
	options_help(count_option_rows, stdout);
	fputs("\nexit status: the program's own (128+N when signal N ended it); 1 what --fail-if\n"
	      "names holds; 2 wrong usage; 3 cannot measure, cannot write the report, or what\n"
	      "--require, --strict or --fail-if asks for is not counted; 124 --timeout ended\n"
	      "the program. See also tare-count(1).\n",
	      stdout);
	return say_end_output();
}

static bool open_report(struct count_command *count, struct error *err)
{
	const struct count_request *r = &count->request;
	/* of one report for all ranks, the first one tries the file; who writes it opens it */
	if (count->joint) {
		bool done = count->launched.place.rank > 0 || output_open(&count->output, r->output, err);
		output_abandon(&count->output);
		return done;
	}
	return output_open(&count->output, r->output, err);
}

/* Everything up to the measurement; *code is what to exit with on failure. */
static bool prepare(struct count_command *count, int *code, struct error *err)
{
	struct count_request *r = &count->request;
	struct session_target target;
	*code = TARE_USAGE;
	if (!count_ranks_find(count, err) || (r->format == FORMAT_HTML && !page_check(r->output, stderr, err)))
		return false;
	if (r->parameter_file || r->overrides.count) {
		parameters_init(&count->parameters);
		count->has_parameters = true;
	}
	if ((count->has_parameters && !count_parameters_read(r, &count->parameters, err)) ||
	    !choose_target(count, &target, err)) {
		if (err->code != ERROR_USAGE && err->code != ERROR_SYNTAX)
			*code = TARE_CANNOT_MEASURE;
		return false;
	}
	*code = TARE_CANNOT_MEASURE;
	if (!session_open(&count->session, &target, r->on, r->event_files.items, r->event_files.count, err)) {
		if (err->code == ERROR_USAGE || err->code == ERROR_SYNTAX)
			*code = TARE_USAGE;
		return false;
	}
	*code = TARE_USAGE; /* what is wrong with a selection is wrong with its names */
	if (!choose_events(count, err)) {
		if (err->code == ERROR_NO_MEMORY || err->code == ERROR_PERMISSION ||
		    err->code == ERROR_UNSUPPORTED)
			*code = TARE_CANNOT_MEASURE;
		return false;
	}
	if (!session_add_regions(&count->session, r->regions.items, r->regions.count, err)) {
		if (err->code != ERROR_USAGE)
			*code = TARE_CANNOT_MEASURE;
		return false;
	}
	if (r->costs && !find_costs(count, err)) {
		*code = err->code == ERROR_NOT_FOUND ? TARE_USAGE : TARE_CANNOT_MEASURE;
		return false;
	}
	if (r->exclusive && !session_ask_exclusive(&count->session, err))
		return false;
	count->control.begins_off = r->begin_off || r->delay_ns;
	count->control.delay_ns = r->delay_ns;
	if (r->control && !control_open(&count->control, r->control, err)) {
		*code = TARE_USAGE;
		return false;
	}
	*code = TARE_CANNOT_MEASURE;
	return open_report(count, err) && (!r->blocks || output_open(&count->blocks, r->blocks, err)) &&
	       (!r->system_calls || output_open(&count->system_calls, r->system_calls, err)) &&
	       (!r->by_file || output_open(&count->by_file, r->by_file, err)) &&
	       openmetrics_open(&count->openmetrics, r->openmetrics, r->interval_ns > 0, &count->session, err) &&
	       count_ranks_begin(count, err);
}

static void tell_missing(void *context, const struct error *missing)
{
	(void)context;
	say_error(missing);
}

/* The program's own error comes first, then what cannot be told, then what holds. */
static int judge_conditions(const struct count_command *count, int code)
{
	const struct count_request *r = &count->request;
	bool holds = false, unknown = false;
	struct arena arena = {0};
	for (size_t i = 0; i < r->conditions.count; i++) {
		const char *reason = NULL;
		struct error err = {0};
		enum gate_outcome outcome = gate_condition(&r->conditions.items[i], count->session.result, &arena,
							   &reason);
		if (outcome == GATE_PASSED)
			continue;
		holds |= outcome == GATE_FAILED;
		unknown |= outcome == GATE_UNDECIDED;
		error_set(&err, ERROR_UNSUPPORTED,
			  outcome == GATE_FAILED ? "--fail-if '%s' holds: %s"
						 : "--fail-if '%s' cannot be told: %s",
			  r->conditions.items[i].text, reason ? reason : "out of memory");
		say_error(&err);
	}
	arena_free(&arena);
	return code != TARE_DONE ? code : unknown ? TARE_CANNOT_MEASURE : holds ? TARE_FOUND_WRONG : code;
}

/* What was measured becomes what is reported: net, in the order of asking, with names for its places. `code` is
 * what to exit with if all goes well; returns what to exit with. */
static int finish(struct count_command *count, int code)
{
	const struct count_request *r = &count->request;
	struct error err = {0};
	/* the papers' tools leave the tare to their readers */
	if (!session_take_off(&count->session, r->compat != COMPAT_NONE))
		say_warning(r->compat == COMPAT_NONE
				    ? "out of memory: the overhead is not subtracted from the counts"
				    : "out of memory: the overhead of the probes is not subtracted from the "
				      "regions' counts");
	if (!session_cut_short(&count->session, r->timeout_ns)) {
		error_no_memory(&err);
		return say_failure(&err);
	}
	if (!session_trust(&count->session, &r->keeping))
		say_warning("out of memory: not all that is verified is marked");
	size_t missing = session_missing(&count->session, r->strict, tell_missing, NULL);
	if (missing && code == TARE_DONE)
		code = TARE_CANNOT_MEASURE;
	if (!session_order_rows(&count->session, r->format == FORMAT_TEXT && r->compat == COMPAT_NONE))
		say_warning("out of memory: rows are shown in the order of measuring");
	code = judge_conditions(count, code);
	if (r->by && !session_break_down(&count->session, r->by, r->inclusive, &err))
		code = say_failed(&err, TARE_CANNOT_MEASURE);
	return code;
}

/* Thousands of ranks are not to wait for one database. */
static bool is_kept(const struct count_command *count)
{
	return !count->launched.place.launcher || count->request.keeping.store;
}

/* After the report is out: a store that fails takes nothing away from it. */
static void keep(const struct count_command *count)
{
	const struct count_request *r = &count->request;
	struct kept_run run = {.kind = KEPT_COUNT,
			       .shown = (r->verbose ? SHOWN_VERBOSE : 0) | (r->quiet ? SHOWN_QUIET : 0) |
					(r->all_repetitions ? SHOWN_ALL_REPETITIONS : 0) |
					(r->gross ? SHOWN_GROSS : 0) | (r->statistics ? SHOWN_STATISTICS : 0),
			       .result = count->session.result};
	store_keep(&r->keeping, &run, r->verbose > 0);
}

int command_count(int argc, char **argv)
{
	struct count_command count = {0};
	struct error err = {0};
	int code = TARE_USAGE;

	if (!count_request_parse(&count.request, argc, argv, &err))
		return say_failed(&err, TARE_USAGE);
	if (count.request.help) {
		count_request_free(&count.request);
		return show_help();
	}
	if (!prepare(&count, &code, &err)) {
		say_failed(&err, code);
		goto out;
	}
	count.interrupt = interrupt_catch();
	if (!measure(&count, &err)) {
		code = say_failure(&err);
		/* the user's doing, not a failure to measure */
		if (*count.interrupt)
			code = 128 + abs((int)*count.interrupt);
		else if (err.os_errno == ETIMEDOUT)
			code = TARE_TIMED_OUT;
		goto out;
	}
	if (is_kept(&count))
		count.request.keeping.shared = &count.runs;
	code = finish(&count, exit_code(&count));
	if (!(count.joint ? count_write_files(&count) : count_write_reports(&count)))
		code = TARE_CANNOT_MEASURE;
	if (count.joint)
		code = count_ranks_finish(&count, code);
	if (is_kept(&count))
		keep(&count);
out:
	close_all(&count);
	return code;
}
