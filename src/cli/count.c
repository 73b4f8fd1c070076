/* tare count: from the command line to the report and the exit status. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/file.h"
#include "base/str.h"
#include "cli/calibration_here.h"
#include "cli/command.h"
#include "cli/count_breakdown.h"
#include "cli/count_events.h"
#include "cli/count_options.h"
#include "cli/count_output.h"
#include "cli/count_progress.h"
#include "cli/count_regions.h"
#include "compat/parameters.h"
#include "compat/reports.h"
#include "cli/say.h"
#include "measure/measure.h"
#include "report/report.h"
#include "trust/apply.h"

/* What a measurement needs; all of it is released by close_all(). */
struct job {
	struct count_request request;
	struct parameters parameters;
	bool has_parameters;
	char *const *argv; /* of the program; NULL */
	struct command command;
	struct target target;
	struct counting_means means;
	struct metric_table *metrics;
	struct selection selection;
	struct count_regions regions;
	struct output output, blocks, system_calls, by_file;
	struct result *result;
	struct arena arena;
};

/* ---- interrupts ---- */

/* The one thing that a signal handler can reach. */
static volatile sig_atomic_t interrupt_signal;

static void on_interrupt(int number, siginfo_t *info, void *context)
{
	(void)context;
	/* from the terminal's driver the program got it too (struct measure_options) */
	interrupt_signal = info->si_code == SI_KERNEL ? -number : number;
}

/* A message that nobody reads any more must not end the measurement. A handler, unlike SIG_IGN, is not inherited: the
 * program has SIGPIPE as tare had it. */
static void on_closed_pipe(int number)
{
	(void)number;
}

static void catch_interrupts(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO }, old;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		/* what tare was told to ignore (nohup) stays ignored, for the program as well */
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	struct sigaction closed_pipe = { .sa_handler = on_closed_pipe, .sa_flags = SA_RESTART };
	if (sigaction(SIGPIPE, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(SIGPIPE, &closed_pipe, NULL);
}

/* ---- run_p5mon's parameters ---- */

static FILE *message_stream(const char *name, struct error *err)
{
	if (strcmp(name, "stderr") == 0)
		return stderr;
	return file_create(strcmp(name, "stdout") == 0 ? "-" : name, err);
}

static bool write_messages(const struct parameters *p, struct error *err)
{
	FILE *out = message_stream(p->parm_warn_file_name, err);
	if (!out)
		return false;
	parameters_warn(p, out);
	if (!file_finish(out, p->parm_warn_file_name, err))
		return false;
	if (!p->dump_parms)
		return true;
	if (!(out = message_stream(p->parm_dump_file_name, err)))
		return false;
	parameters_dump(p, out);
	return file_finish(out, p->parm_dump_file_name, err);
}

static bool read_parameters(struct job *job, struct error *err)
{
	struct count_request *r = &job->request;
	struct parameters *p = &job->parameters;
	if (!r->parameter_file && r->overrides.count == 0)
		return true;
	parameters_init(p);
	job->has_parameters = true;
	for (size_t i = 0; i < r->overrides.count; i++)
		if (!parameters_override(p, r->overrides.items[i], err))
			return false;
	if (r->parameter_file) {
		size_t length;
		char *text = file_read(r->parameter_file, PARAMETERS_MOST_BYTES, &length, err);
		if (!text)
			return false;
		bool read = parameters_read(p, text, length, r->parameter_file, err);
		free(text);
		if (!read)
			return false;
	}
	if (!parameters_check(p, r->on, err))
		return false;
	if (p->use_assembly_regions && strcmp(r->on, "auto") == 0)
		r->on = "model:host"; /* the engine, with what auto would model */

	/* options of the command line are said last, and win */
	if (!r->has_repetitions)
		r->repetitions = (size_t)p->repetitions;
	if (!r->has_confidence)
		r->confidence = p->confidence_level_99 ? 0.99 : 0.95;
	if (!r->has_warm_ups)
		r->warm_ups = (size_t)!p->skip_initialization_run + (size_t)p->repeat_first_run;
	r->has_warm_ups = true;
	r->several_runs = true;
	r->all_repetitions |= p->output_all_results;
	if (p->verbose_level > r->verbose)
		r->verbose = (unsigned)p->verbose_level;
	return write_messages(p, err);
}

/* A command as the parameter file has it: its words when it is only words, else the shell's. */
static char *const *split_command(struct arena *arena, const char *command)
{
	size_t n = 0;
	static char shell[] = "/bin/sh", dash_c[] = "-c";
	char *copy = arena_strdup(arena, command);
	char **words = arena_alloc(arena, (strlen(command) / 2 + 4) * sizeof *words);
	if (!copy || !words)
		return NULL;
	size_t first = strcspn(command, " \t");
	if (command[strcspn(command, "|&;<>()$`\\\"'*?[#~{}!\n")] || memchr(command, '=', first)) {
		words[0] = shell;
		words[1] = dash_c;
		words[2] = copy;
		return words;
	}
	for (char *word; (word = strsep(&copy, " \t"));)
		if (*word)
			words[n++] = word;
	return n ? words : NULL;
}

/* ---- who and what is counted ---- */

static bool choose_target(struct job *job, struct error *err)
{
	const struct count_request *r = &job->request;
	struct target *t = &job->target;
	bool cpus = r->all_cpus || r->cpus.numbers.count;
	bool attach = r->pids.numbers.count || r->tids.numbers.count;
	job->argv = r->command;
	if (!job->argv && !cpus && !attach && job->has_parameters && job->parameters.command[0]) {
		job->argv = split_command(&job->arena, job->parameters.command);
		if (!job->argv)
			return error_set(err, ERROR_USAGE, "the parameter 'command' has no words");
	}
	if (!job->argv && !cpus && !attach) {
		error_set(err, ERROR_USAGE, "nothing to count: no program is given");
		return error_hint(err, "'tare count PROGRAM ARGS...', or -p, -t, -a, -C; 'tare count --help'");
	}
	if (job->argv && attach)
		return error_set(err, ERROR_USAGE, "-p and -t count what runs already, not a program");
	job->command = (struct command){ .argv = job->argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1 };
	job->command.reproducible = r->reproducible;
	t->command = job->argv ? &job->command : NULL;
	t->kind = cpus                    ? TARGET_CPUS
		  : r->pids.numbers.count ? TARGET_PROCESSES
		  : r->tids.numbers.count ? TARGET_THREADS
					  : TARGET_COMMAND;
	const struct number_list *ids = t->kind == TARGET_PROCESSES ? &r->pids : &r->tids;
	if (t->kind == TARGET_PROCESSES || t->kind == TARGET_THREADS) {
		t->pids = ids->numbers.items; /* pid_t is int */
		t->n_pids = ids->numbers.count;
	}
	t->cpus = r->cpus.numbers.items;
	t->n_cpus = r->cpus.numbers.count;
	/* a thread is one thread, what it starts is another */
	t->follow_children = !r->no_children && t->kind != TARGET_THREADS;
	t->per_thread = r->per_thread;
	t->per_cpu = r->per_cpu;
	t->per_process = r->per_process;
	return true;
}

_Static_assert(sizeof(pid_t) == sizeof(int), "number lists hold process ids");

static bool open_means(struct job *job, struct error *err)
{
	const struct count_request *r = &job->request;
	struct counting_means *means = &job->means;
	const char *argument = NULL;
	means->runs_program = job->target.kind == TARGET_COMMAND;
	if (!(means->events = event_table_new(err)))
		return false;
	for (size_t i = 0; i < r->event_files.count; i++) {
		const char *path = r->event_files.items[i];
		size_t length;
		char *text = file_read(path, 4 << 20, &length, err);
		bool added = text && event_table_add(means->events, text, length, path, err);
		free(text);
		if (!added)
			return false;
	}
	if (selection_needs_metrics(r)) {
		if (!(job->metrics = metric_table_new(err)))
			return false;
		means->metrics = job->metrics;
	}
	means->operations = backend_by_name(r->on, &argument, err);
	return means->operations && means->operations->open(argument, &means->backend, err);
}

/* ---- the report ---- */

struct rendering {
	const struct job *job;
	struct report_options options;
	struct p5mon_header header;
};

static void render(FILE *out, void *context)
{
	const struct rendering *rendering = context;
	const struct job *job = rendering->job;
	bool all = job->request.all_repetitions;
	if (job->request.format == FORMAT_JSON)
		report_json(out, job->result);
	else if (job->request.format == FORMAT_CSV)
		report_csv(out, job->result, &rendering->options);
	else if (job->request.compat == COMPAT_P5MON)
		report_p5mon(out, job->result, job->means.events, &rendering->header, all);
	else if (job->request.compat == COMPAT_PERFEX)
		report_perfex(out, job->result, job->means.events);
	else
		report_text(out, job->result, &rendering->options);
}

static void render_p5mon_file(FILE *out, void *context)
{
	const struct job *job = ((const struct rendering *)context)->job;
	report_p5mon_file(out, job->result, job->means.events, job->request.all_repetitions);
}

/* "-Fa=1 -Fb=2" */
static const char *joined_overrides(struct job *job)
{
	struct str text = { 0 };
	for (size_t i = 0; i < job->request.overrides.count; i++)
		str_appendf(&text, "%s-F%s", i ? " " : "", job->request.overrides.items[i]);
	const char *joined = text.failed || !text.text ? "" : arena_strdup(&job->arena, text.text);
	str_free(&text);
	return joined ? joined : "";
}

/* False when some of it did not arrive where it was asked for. */
static bool write_reports(struct job *job)
{
	const struct count_request *r = &job->request;
	struct rendering rendering = {
		.job = job,
		.options = { .all_repetitions = r->all_repetitions,
			     .gross = r->gross,
			     .colour = say_in_colour(job->output.stream),
			     .width = say_width(job->output.stream) },
		.header = { .parameter_file = r->parameter_file ? r->parameter_file : "", .directory = "?" },
	};
	struct error err = { 0 };
	bool done = true;
	if (r->compat == COMPAT_P5MON) {
		char *directory = getcwd(NULL, 0);
		if (directory)
			rendering.header.directory = arena_strdup(&job->arena, directory);
		if (!rendering.header.directory)
			rendering.header.directory = "?";
		free(directory);
		rendering.header.arguments = joined_overrides(job);
	}
	done = output_write(&job->output, render, &rendering);
	if (job->has_parameters && job->parameters.output_file[0]) {
		struct output file;
		if (!output_open(&file, job->parameters.output_file, &err)) {
			say_error(&err);
			fputs("tare: the report follows here instead:\n", stderr);
			file = (struct output){ NULL, stderr };
			done = false;
		}
		done = output_write(&file, render_p5mon_file, &rendering) && done;
	}
	return done;
}

static void render_lines(FILE *out, void *context)
{
	fputs(context, out);
}

/* A file of the engine's: opened before the measurement, as the report's is. */
static bool write_lines(struct job *job, struct output *output, const char *path, const char *what, char *lines)
{
	const struct result *result = job->result;
	struct error err = { 0 };
	if (!path)
		return true;
	if (lines)
		return output_write(output, render_lines, lines);
	output_abandon(output);
	error_set(&err, ERROR_UNSUPPORTED, "no %s in '%s': %s", what, path,
		  result->blocks_why ? result->blocks_why : "no execution ran under the engine");
	error_hint(&err, "ask for an event that the engine counts: -e instructions:u --on exact");
	say_error(&err);
	return false;
}

static void render_breakdown(FILE *out, void *context)
{
	report_breakdown_tsv(out, context);
}

/* Names the places; the report has them then. False when there are none, or they are wrong. */
static bool break_down(struct job *job)
{
	struct result *result = job->result;
	struct error err = { 0 };
	if (!job->request.by)
		return true;
	if (!result->locations) {
		error_set(&err, ERROR_UNSUPPORTED, "no counts by %s: %s", breakdown_by_name(job->request.by),
			  result->locations_why ? result->locations_why : "no execution ran under the engine");
		error_hint(&err, "ask for an event that the engine or a model counts: -e instructions:u --on exact");
	} else if (count_break_down(result, job->request.by, &err)) {
		const char *defect = count_breakdown_defect(result);
		if (!defect)
			return true;
		error_set(&err, ERROR_SYSTEM, "the counts by %s are wrong: %s", breakdown_by_name(job->request.by), defect);
	}
	say_error(&err);
	return false;
}

static bool write_breakdown(struct job *job)
{
	if (job->request.by_file && job->result->breakdown)
		return output_write(&job->by_file, render_breakdown, job->result->breakdown);
	output_abandon(&job->by_file);
	return true;
}

/* ---- all together ---- */

static bool measure(struct job *job, struct error *err)
{
	const struct count_request *r = &job->request;
	struct progress progress = {
		.verbose = r->verbose,
		.line = isatty(STDERR_FILENO) && r->program_output != OUTPUT_ALL,
		.repetitions = r->repetitions,
	};
	struct measure_options options = {
		.size = sizeof options,
		.repetitions = r->repetitions,
		.several_runs = r->several_runs,
		.has_warm_ups = r->has_warm_ups,
		.warm_ups = r->warm_ups,
		.confidence = r->confidence,
		.program_output = r->program_output,
		.delay_ns = r->for_ns,
		.interrupt = &interrupt_signal,
		.want_blocks = r->blocks != NULL,
		.want_system_calls = r->system_calls != NULL,
		.locations = !r->by ? LOCATIONS_NONE : r->by == BREAKDOWN_BY_OBJECT ? LOCATIONS_OF_DATA : LOCATIONS_OF_CODE,
		.blocks_by = r->per_thread ? BLOCKS_OF_THREADS : r->per_process ? BLOCKS_OF_PROCESSES : BLOCKS_OF_ALL,
		.progress = r->verbose || progress.line ? progress_show : NULL,
		.progress_context = &progress,
	};
	const struct selection *s = &job->selection;
	if (!job->argv && !r->for_ns && job->target.kind == TARGET_CPUS && isatty(STDERR_FILENO))
		fputs("tare: counting until Ctrl-C\n", stderr);
	bool done = measure_count(job->means.operations, job->means.backend, &job->target, s->events, s->n_events,
				  s->metrics, s->n_metrics, &options, &job->result, err);
	progress_end(&progress);
	return done;
}

/* Takes off what the measuring counts. Not in the formats of the papers' tools, which leave it to their readers. */
static void take_off(struct job *job)
{
	struct calibration calibration = { 0 };
	char why[256];
	if (job->request.compat != COMPAT_NONE) {
		if (!trust_apply_to_regions(job->result))
			say_warning("out of memory: counts of regions have what their probes cost");
		return;
	}
	/* a recording is of another machine, maybe: only what is named counts for it */
	const char *named = getenv("TARE_CALIBRATION");
	bool recorded = strcmp(job->means.operations->name, "replay") == 0;
	bool here = (!recorded || (named && *named)) &&
		    calibration_here(&job->result->machine, &calibration, why, sizeof why);
	if (!trust_apply(job->result, here ? &calibration : NULL))
		say_warning("out of memory: counts are gross");
	calibration_free(&calibration);
}

/* Was anything counted? With the default events the clock on the wall alone is nothing. */
static bool counted_any(const struct job *job)
{
	const struct result *result = job->result;
	for (size_t i = 0; i < result->n_estimates; i++) {
		const struct estimate *e = &result->estimates[i];
		if (e->known && !(job->selection.defaults && strcmp(e->event, "elapsed-time") == 0))
			return true;
	}
	return false;
}

/* A program's status is its own, whatever could be counted of it. */
static int exit_code(const struct job *job)
{
	int status = job->result->wait_status;
	if (!job->argv)
		return counted_any(job) ? TARE_DONE : TARE_CANNOT_MEASURE;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void close_all(struct job *job)
{
	result_free(job->result);
	output_abandon(&job->output);
	output_abandon(&job->blocks);
	output_abandon(&job->system_calls);
	output_abandon(&job->by_file);
	selection_free(&job->selection);
	count_regions_free(&job->regions);
	if (job->means.backend)
		job->means.operations->close(job->means.backend);
	metric_table_free(job->metrics);
	event_table_free(job->means.events);
	if (job->has_parameters)
		parameters_free(&job->parameters);
	count_request_free(&job->request);
	arena_free(&job->arena);
}

static int show_help(void)
{
	say_begin_output();
	fputs("usage: tare count [OPTIONS] [--] PROGRAM [ARGS...]\n"
	      "       tare count [OPTIONS] -p PID | -t TID | -a | -C CPUS\n"
	      "\n"
	      "Counts events of a program and says of each count where it came from and how far\n"
	      "it can be off. The program keeps its input, output and exit status.\n",
	      stdout);
	options_help(count_option_rows, stdout);
	fputs("\nexit status: the program's own (128+N when signal N ended it); 2 wrong usage;\n"
	      "3 cannot measure, the report could not be written, or what --require or --strict\n"
	      "asks for is not counted. See also tare-count(1).\n",
	      stdout);
	return say_end_output();
}

static bool find_regions(struct job *job, struct error *err)
{
	if (!job->request.regions.count)
		return true;
	if (!job->means.operations->regions) {
		error_set(err, ERROR_USAGE, "the backend '%s' does not count regions", job->means.operations->name);
		return error_hint(err, "--on perf, --on exact, or without --on whatever counts them here");
	}
	if (!count_regions_find(&job->regions, &job->request, &job->command, err))
		return false;
	job->target.regions = job->regions.asked;
	job->target.n_regions = job->regions.n;
	return true;
}

/* Everything up to the measurement; *code is what to exit with on failure. */
static bool prepare(struct job *job, int *code, struct error *err)
{
	*code = TARE_USAGE;
	if (!read_parameters(job, err) || !choose_target(job, err)) {
		if (err->code != ERROR_USAGE && err->code != ERROR_SYNTAX)
			*code = TARE_CANNOT_MEASURE;
		return false;
	}
	*code = TARE_CANNOT_MEASURE;
	if (!open_means(job, err)) {
		if (err->code == ERROR_USAGE || err->code == ERROR_SYNTAX)
			*code = TARE_USAGE;
		return false;
	}
	*code = TARE_USAGE; /* what is wrong with a selection is wrong with its names */
	if (!selection_make(&job->selection, &job->request, job->has_parameters ? &job->parameters : NULL,
			    &job->means, err)) {
		if (err->code == ERROR_NO_MEMORY)
			*code = TARE_CANNOT_MEASURE;
		return false;
	}
	if (!find_regions(job, err)) {
		if (err->code != ERROR_USAGE)
			*code = TARE_CANNOT_MEASURE;
		return false;
	}
	*code = TARE_CANNOT_MEASURE;
	return output_open(&job->output, job->request.output, err) &&
	       (!job->request.blocks || output_open(&job->blocks, job->request.blocks, err)) &&
	       (!job->request.system_calls || output_open(&job->system_calls, job->request.system_calls, err)) &&
	       (!job->request.by_file || output_open(&job->by_file, job->request.by_file, err));
}

int command_count(int argc, char **argv)
{
	struct job job = { 0 };
	struct error err = { 0 };
	int code = TARE_USAGE;

	if (!count_request_parse(&job.request, argc, argv, &err))
		return say_failed(&err, TARE_USAGE);
	if (job.request.help) {
		count_request_free(&job.request);
		return show_help();
	}
	if (!prepare(&job, &code, &err)) {
		say_failed(&err, code);
		goto out;
	}
	catch_interrupts();
	if (!measure(&job, &err)) {
		code = say_failure(&err);
		/* the user's doing, not a failure to measure */
		if (interrupt_signal)
			code = 128 + abs((int)interrupt_signal);
		goto out;
	}
	code = exit_code(&job);
	take_off(&job);
	size_t missing = selection_missing(&job.selection, job.result, job.request.strict);
	if (!selection_finish(&job.selection, &job.means, job.result,
			      job.request.format == FORMAT_TEXT && job.request.compat == COMPAT_NONE))
		say_warning("out of memory: rows are shown in the order of measuring");
	if (!break_down(&job))
		code = TARE_CANNOT_MEASURE;
	if (!write_reports(&job) || !write_breakdown(&job))
		code = TARE_CANNOT_MEASURE;
	if (!write_lines(&job, &job.blocks, job.request.blocks, "basic blocks", job.result->blocks))
		code = TARE_CANNOT_MEASURE;
	if (!write_lines(&job, &job.system_calls, job.request.system_calls, "system calls", job.result->system_calls))
		code = TARE_CANNOT_MEASURE;
	if (missing && code == TARE_DONE)
		code = TARE_CANNOT_MEASURE;
out:
	close_all(&job);
	return code;
}
