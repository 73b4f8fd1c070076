/* tare compare: from the command line to the report, the gates and the exit status. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/compare.h"
#include "cli/page_output.h"
#include "cli/say.h"
#include "cli/store_options.h"
#include "report/compare.h"
#include "session/interrupt.h"
#include "session/trusting.h"
#include "session/keep_comparison.h"

/* ---- measuring ---- */

static bool choose_events(struct compare_command_line *x, struct error *err)
{
	const struct compare_request *r = &x->request;
	struct session *s = &x->sessions[0];
	for (size_t i = 0; i < r->event_lists.count; i++)
		if (!session_add_events(s, r->event_lists.items[i], err))
			return false;
	for (size_t i = 0; i < r->metric_lists.count; i++)
		if (!session_add_metrics(s, r->metric_lists.items[i], err))
			return false;
	/* a rate is judged by the time */
	if (r->metric_lists.count && !session_add_events(s, "elapsed-time", err))
		return false;
	for (size_t i = 0; i < r->gates.count; i++)
		if (!session_add_gate(s, &r->gates.items[i], err))
			return false;
	return s->selection.rows.count || session_add_defaults(s, err);
}

/* Of usage errors the command line is the cause, of others what it ran into. */
static int code_of(const struct error *err)
{
	return err->code == ERROR_USAGE || err->code == ERROR_SYNTAX ? TARE_USAGE : TARE_CANNOT_MEASURE;
}

static bool open_session(struct compare_command_line *x, struct error *err)
{
	const struct compare_request *r = &x->request;
	if (x->commands.count == 0)
		return true;
	struct session_target target = {.kind = TARGET_COMMAND,
					.program = x->commands.items[0].program,
					.reproducible = r->reproducible,
					.cpu = r->shown_cpu,
					.no_children = r->no_children};
	if (!(x->sessions = calloc(x->commands.count, sizeof *x->sessions)))
		return error_no_memory(err);
	x->n_open = 1;
	return session_open(&x->sessions[0], &target, r->on, r->event_files.items, r->event_files.count, err);
}

/* Before anything is built or run: what goes wrong then is in them. */
static bool open_reports(struct compare_command_line *x, struct error *err)
{
	const struct compare_request *r = &x->request;
	return output_open(&x->output, r->output ? r->output : "-", err) &&
	       (!r->json_file || output_open(&x->json_file, r->json_file, err)) &&
	       (!r->csv_file || output_open(&x->csv_file, r->csv_file, err)) &&
	       (!r->markdown_file || output_open(&x->markdown_file, r->markdown_file, err)) &&
	       (!r->junit_file || output_open(&x->junit_file, r->junit_file, err)) &&
	       (!r->html_file || output_open(&x->html_file, r->html_file, err));
}

/* *code: what to exit with on failure. */
static bool prepare(struct compare_command_line *x, const volatile sig_atomic_t *interrupt, int *code,
		    struct error *err)
{
	const struct compare_request *r = &x->request;
	*code = TARE_CANNOT_MEASURE;
	if (!open_reports(x, err))
		return false;
	if (!compare_make_builds(x, interrupt, err) || !compare_find_sides(x, err)) {
		*code = code_of(err);
		return false;
	}
	x->input_fd = open(r->input ? r->input : "/dev/null", O_RDONLY | O_CLOEXEC);
	if (x->input_fd < 0)
		return error_set_errno(err, ERROR_NOT_FOUND, errno, "cannot open '%s'",
				       r->input ? r->input : "/dev/null");
	if (!open_session(x, err)) {
		*code = code_of(err);
		return false;
	}
	/* what is wrong with a selection is wrong with its names */
	if (x->n_open && !choose_events(x, err)) {
		*code = err->code == ERROR_NO_MEMORY || err->code == ERROR_PERMISSION ||
					err->code == ERROR_UNSUPPORTED
				? TARE_CANNOT_MEASURE
				: TARE_USAGE;
		return false;
	}
	return true;
}

static void show_progress(void *context, const struct compare_command *command, size_t execution,
			  size_t executions, double elapsed_seconds)
{
	struct compare_command_line *x = context;
	double left = execution > 1
			      ? elapsed_seconds / (double)(execution - 1) * (double)(executions - execution + 1)
			      : -1;
	if (elapsed_seconds + left < 1)
		return;
	progress_line_show(&x->line, "execution", execution, executions, left, command->name);
}

static bool measure(struct compare_command_line *x, const volatile sig_atomic_t *interrupt, bool *interrupted,
		    struct error *err)
{
	const struct compare_request *r = &x->request;
	bool line = isatty(STDERR_FILENO) && r->program_output != OUTPUT_ALL && !r->quiet;
	struct compare_options options = {
		.repetitions = r->repetitions,
		.has_warm_ups = r->has_warm_ups,
		.warm_ups = r->warm_ups,
		.confidence = r->confidence,
		.seed = r->seed,
		.ignore_failure = r->ignore_failure,
		.randomise_layout = r->randomise_layout,
		.input_fd = x->input_fd,
		.program_output = r->program_output,
		.interrupt = interrupt,
		.progress = line ? show_progress : NULL,
		.progress_context = x,
	};
	if (x->commands.count == 0)
		return true;
	x->n_open = x->commands.count;
	bool done = session_take_turns(x->sessions, x->commands.items, x->commands.count, &options, interrupted,
				       err);
	progress_line_end(&x->line);
	x->request.keeping.shared = &x->runs;
	for (size_t i = 0; done && i < x->n_open; i++)
		if (!session_trust(&x->sessions[i], &r->keeping))
			return error_no_memory(err);
	return done;
}

/* What --randomise-layout varied. */
static const char *layout_text(const struct compare_command_line *x)
{
	const struct link_orders *l = &x->link_orders;
	struct arena *arena = &x->comparison->arena;
	if (l->n > 1)
		return arena_printf(arena, "stack addresses, and %zu orders of %zu files when linking", l->n,
				    l->n_files);
	return l->why ? arena_printf(arena, "stack addresses (not the order of linking: %s)", l->why)
		      : arena_strdup(arena, "stack addresses");
}

/* All sides, in their order. */
static bool compare(struct compare_command_line *x, bool interrupted, struct error *err)
{
	const struct compare_request *r = &x->request;
	size_t n = x->sides.count;
	const struct result **results = arena_alloc(&x->arena, n * sizeof *results);
	const char **names = arena_alloc(&x->arena, n * sizeof *names);
	if (!results || !names)
		return error_no_memory(err);
	for (size_t i = 0; i < n; i++) {
		const struct compare_side *side = &x->sides.items[i];
		results[i] = side->is_kept ? x->kept.items[side->at]->result : x->sessions[side->at].result;
		names[i] = side->name;
	}
	x->comparison = session_compare_results(results, names, n, r->confidence, err);
	if (!x->comparison)
		return false;
	x->comparison->repetitions = x->commands.count ? r->repetitions : 0;
	x->comparison->seed = r->seed;
	x->comparison->interleaved = x->kept.count == 0;
	x->comparison->interrupted = interrupted;
	if (r->randomise_layout && !(x->comparison->layout = layout_text(x)))
		return error_no_memory(err);
	return session_mark_misleading(x->comparison, err) &&
	       (gates_judge(x->comparison, r->gates.items, r->gates.count) || error_no_memory(err));
}

static void keep_measured(struct compare_command_line *x, size_t at, const char *comparison,
			  struct kept_side *side, struct error *said)
{
	const struct compare_request *r = &x->request;
	struct kept_run run = {.kind = KEPT_COMPARE,
			       .shown = (r->verbose ? SHOWN_VERBOSE : 0) | (r->quiet ? SHOWN_QUIET : 0) |
					(r->statistics ? SHOWN_STATISTICS : 0),
			       .comparison = comparison,
			       .side = side,
			       .result = x->sessions[at].result};
	store_keep_one_of(&r->keeping, &run, r->verbose, "this comparison's runs are", said);
}

/* After the report is out: a store that fails takes nothing away from it. A run that was kept before is kept once
 * more, so that the comparison outlives it. */
static void keep(struct compare_command_line *x)
{
	const struct compare_request *r = &x->request;
	char comparison[64];
	struct timespec now;
	struct error err = {0}, said = {0};
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(comparison, sizeof comparison, "%lld.%09ld-%ld", (long long)now.tv_sec, now.tv_nsec,
		 (long)getpid());
	for (size_t i = 0; i < x->sides.count; i++) {
		const struct compare_side *one = &x->sides.items[i];
		struct kept_side *side = keep_side(&x->arena, x->comparison, i);
		if (!one->is_kept)
			keep_measured(x, one->at, comparison, side, &said);
		else if (!keep_compared(&r->keeping, x->kept.items[one->at]->id, comparison, side, &err) &&
			 strcmp(err.text, said.text) != 0) {
			say_warning("this comparison is not kept: %s", err.text);
			said = err;
		}
	}
}

/* ---- reports ---- */

struct comparison_rendering {
	const struct comparison *comparison;
	enum compare_format format;
	struct report_options options;
};

static void render(FILE *out, void *context)
{
	const struct comparison_rendering *rendering = context;
	switch (rendering->format) {
	case COMPARE_TEXT: report_comparison_text(out, rendering->comparison, &rendering->options); break;
	case COMPARE_JSON: report_comparison_json(out, rendering->comparison); break;
	case COMPARE_CSV: report_comparison_csv(out, rendering->comparison); break;
	case COMPARE_MARKDOWN: report_comparison_markdown(out, rendering->comparison); break;
	case COMPARE_HTML: report_comparison_html(out, rendering->comparison, &rendering->options); break;
	case COMPARE_JUNIT: report_comparison_junit(out, rendering->comparison); break;
	}
}

static bool write_file(struct compare_command_line *x, struct output *output, enum compare_format format)
{
	const struct compare_request *r = &x->request;
	struct report_origin origin;
	if (!output->stream)
		return true;
	if (format == COMPARE_HTML)
		page_origin_here(&x->arena, &origin);
	struct comparison_rendering rendering = {
		.comparison = x->comparison,
		.format = format,
		.options = {.verbose = r->verbose,
			    .quiet = r->quiet,
			    .statistics = r->statistics,
			    .origin = format == COMPARE_HTML ? &origin : NULL,
			    .colour = say_in_colour(output->stream),
			    .width = say_width(output->stream)},
	};
	return output_write(output, render, &rendering);
}

static bool write_reports(struct compare_command_line *x)
{
	bool done = write_file(x, &x->output, x->request.format);
	done = write_file(x, &x->json_file, COMPARE_JSON) && done;
	done = write_file(x, &x->csv_file, COMPARE_CSV) && done;
	done = write_file(x, &x->markdown_file, COMPARE_MARKDOWN) && done;
	done = write_file(x, &x->html_file, COMPARE_HTML) && done;
	return write_file(x, &x->junit_file, COMPARE_JUNIT) && done;
}

/* ---- a comparison that failed ---- */

struct failure_rendering {
	const char **names, **gates;
	size_t n_names, n_gates;
	const struct error *error;
};

static void render_failed_markdown(FILE *out, void *context)
{
	const struct failure_rendering *f = context;
	report_failed_comparison_markdown(out, f->error);
}

static void render_failed_junit(FILE *out, void *context)
{
	const struct failure_rendering *f = context;
	report_failed_comparison_junit(out, f->names, f->n_names, f->gates, f->n_gates, f->error);
}

/* CI reads these files, and not the messages: what is missing there looks like a job without gates. */
static void write_failure(struct compare_command_line *x, const struct error *err)
{
	const struct compare_request *r = &x->request;
	struct failure_rendering failure = {.error = err};
	struct error own = {0};
	if (x->sides.count == 0 && x->builds.count > 1)
		compare_find_sides(x, &own); /* a build failed: their names are known */
	if ((failure.names = arena_alloc(&x->arena, (x->sides.count + 1) * sizeof *failure.names)))
		for (; failure.n_names < x->sides.count; failure.n_names++)
			failure.names[failure.n_names] = x->sides.items[failure.n_names].name;
	if ((failure.gates = arena_alloc(&x->arena, (r->gates.count + 1) * sizeof *failure.gates)))
		for (; failure.n_gates < r->gates.count; failure.n_gates++)
			failure.gates[failure.n_gates] = r->gates.items[failure.n_gates].text;
	if (x->markdown_file.stream)
		output_write(&x->markdown_file, render_failed_markdown, &failure);
	if (r->format == COMPARE_MARKDOWN && x->output.stream)
		output_write(&x->output, render_failed_markdown, &failure);
	if (x->junit_file.stream)
		output_write(&x->junit_file, render_failed_junit, &failure);
}

static int code_of_gates(const struct comparison *comparison)
{
	switch (comparison_gates(comparison)) {
	case GATE_PASSED: return TARE_DONE;
	case GATE_FAILED: return TARE_FOUND_WRONG;
	case GATE_UNDECIDED: return TARE_CANNOT_MEASURE;
	}
	return TARE_CANNOT_MEASURE;
}

static void close_all(struct compare_command_line *x)
{
	comparison_free(x->comparison);
	while (x->n_open > 0)
		session_close(&x->sessions[--x->n_open]);
	free(x->sessions);
	runs_close(x->runs);
	output_abandon(&x->output);
	output_abandon(&x->json_file);
	output_abandon(&x->csv_file);
	output_abandon(&x->markdown_file);
	output_abandon(&x->junit_file);
	output_abandon(&x->html_file);
	if (x->input_fd >= 0)
		close(x->input_fd);
	for (size_t i = 0; i < x->kept.count; i++)
		kept_run_free(x->kept.items[i]);
	vec_free(&x->kept);
	vec_free(&x->sides);
	vec_free(&x->commands);
	compare_remove_builds(x);
	compare_request_free(&x->request);
	arena_free(&x->arena);
}

static int show_help(void)
{
	say_begin_output();
	options_help("usage: tare compare [OPTIONS] 'COMMAND A' 'COMMAND B' ['COMMAND C' ...]\n"
		     "       tare compare [OPTIONS] --git A..B --build COMMAND -- PROGRAM [ARGS...]\n"
		     "       tare compare [OPTIONS] --build COMMAND --flags FLAGS --flags FLAGS\n"
		     "\n"
		     "Runs commands in turns, and shows for each event how the others differ from the\n"
		     "first: the difference with its interval, and whether it is beyond chance.\n"
		     "Each command is one argument; @NAME is a run that was kept.\n",
		     compare_option_rows,
		     "\nexit status: 0 done, and all gates passed; 1 a gate failed; 2 wrong usage; 3 a\n"
		     "gate is undecided and none failed, cannot measure, a command failed, or cannot\n"
		     "write the report; 128+N when signal N ended it. See also tare-compare(1).\n");
	return say_end_output();
}

int command_compare(int argc, char **argv)
{
	struct compare_command_line x = {.input_fd = -1};
	struct error err = {0};
	int code = TARE_USAGE;
	if (!compare_request_parse(&x.request, argc, argv, &err))
		return say_failed(&err, TARE_USAGE);
	if (x.request.help) {
		compare_request_free(&x.request);
		return show_help();
	}
	if (x.request.format == COMPARE_HTML && !page_check(x.request.output, stdout, &err)) {
		compare_request_free(&x.request);
		return say_failed(&err, TARE_USAGE);
	}
	const volatile sig_atomic_t *interrupt = interrupt_catch();
	bool interrupted = false;
	if (!prepare(&x, interrupt, &code, &err)) {
		say_failed(&err, code);
		write_failure(&x, &err);
	} else if (!measure(&x, interrupt, &interrupted, &err) || !compare(&x, interrupted, &err)) {
		/* the command line was right: what went wrong did so while it ran */
		say_error(&err);
		write_failure(&x, &err);
		code = TARE_CANNOT_MEASURE;
	} else {
		code = code_of_gates(x.comparison);
		if (!write_reports(&x))
			code = TARE_CANNOT_MEASURE;
		keep(&x);
	}
	if (*interrupt)
		code = 128 + abs((int)*interrupt);
	close_all(&x);
	return code;
}
