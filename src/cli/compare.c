/* tare compare: from the command line to the report, the gates and the exit status. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/compare_options.h"
#include "cli/count_output.h"
#include "cli/say.h"
#include "report/compare.h"
#include "session/compare.h"
#include "session/interrupt.h"

enum { COMMANDS_MOST = 200 };

struct compare_command_line {
	struct compare_request request;
	VEC(struct compare_command) commands;
	struct session *sessions; /* commands.count; the first one open when n_open is 1 or more */
	size_t n_open;
	struct comparison *comparison;
	struct output output, json_file, csv_file, markdown_file, junit_file;
	int input_fd;
	bool line_shown;
	struct arena arena;
};

/* ---- the commands ---- */

static const char *letter_of(struct arena *arena, size_t i)
{
	return i < 26 ? arena_printf(arena, "%c", (int)('A' + i)) : arena_printf(arena, "#%zu", i + 1);
}

/* One command, its lists' values put in. values[lists.count] */
static char *with_values(struct compare_command_line *x, const char *text, const char *const *values)
{
	char *out = arena_strdup(&x->arena, text);
	for (size_t i = 0; out && i < x->request.lists.count; i++)
		out = command_line_substitute(out, x->request.lists.items[i].name, values[i], &x->arena);
	return out;
}

static bool one_for_each(const char *option, size_t have, size_t want, struct error *err)
{
	if (have <= 1 || have == want)
		return true;
	return error_set(err, ERROR_USAGE, "%zu times %s for %zu commands: give it once, or once for each", have,
			 option, want);
}

/* The command `number` of the command line, with these values. */
static bool add_command(struct compare_command_line *x, size_t number, const char *const *values,
			struct error *err)
{
	const struct compare_request *r = &x->request;
	struct compare_command command = {.regions = r->regions.items, .n_regions = r->regions.count};
	struct command_line line;
	char *text = with_values(x, r->commands.items[number], values);
	if (!text)
		return error_no_memory(err);
	if (!command_line_parse(text, r->use, r->shell, &x->arena, &line, err))
		return false;
	command.program = line.argv;
	const char *prepare = r->prepares.count == 0   ? NULL
			      : r->prepares.count == 1 ? r->prepares.items[0]
						       : r->prepares.items[number],
		   *conclude = r->concludes.count == 0   ? NULL
			       : r->concludes.count == 1 ? r->concludes.items[0]
							 : r->concludes.items[number];
	if (x->commands.count >= COMMANDS_MOST)
		return error_set(err, ERROR_LIMIT, "more than %d commands", COMMANDS_MOST);
	size_t at = x->commands.count;
	command.name = at < r->names.count ? r->names.items[at] : letter_of(&x->arena, at);
	if ((prepare && !(command.prepare = with_values(x, prepare, values))) ||
	    (conclude && !(command.conclude = with_values(x, conclude, values))) ||
	    (r->setup && !(command.setup = with_values(x, r->setup, values))) ||
	    (r->cleanup && !(command.cleanup = with_values(x, r->cleanup, values))) || !command.name ||
	    !vec_push(&x->commands, command))
		return error_no_memory(err);
	return true;
}

/* All combinations of the lists' values from list `list` on. */
static bool add_combinations(struct compare_command_line *x, size_t number, size_t list, const char **values,
			     struct error *err)
{
	const struct compare_request *r = &x->request;
	if (list == r->lists.count)
		return add_command(x, number, values, err);
	char *rest = arena_strdup(&x->arena, r->lists.items[list].values);
	if (!rest)
		return error_no_memory(err);
	for (char *value; (value = strsep(&rest, ","));) {
		values[list] = value;
		if (!add_combinations(x, number, list + 1, values, err))
			return false;
	}
	return true;
}

/* What is set up and cleaned up for all is done once where all have the same text. */
static void once_for_all(struct compare_command_line *x)
{
	for (size_t i = 1; i < x->commands.count; i++)
		for (size_t j = 0; j < i; j++) {
			struct compare_command *one = &x->commands.items[i], *before = &x->commands.items[j];
			if (one->setup && before->setup && strcmp(one->setup, before->setup) == 0)
				one->setup = NULL;
			if (one->cleanup && before->cleanup && strcmp(one->cleanup, before->cleanup) == 0)
				one->cleanup = NULL;
		}
}

static bool find_commands(struct compare_command_line *x, struct error *err)
{
	struct compare_request *r = &x->request;
	for (size_t i = 0; i < r->program.count; i++)
		if (!vec_push(&r->commands, r->program.items[i]))
			return error_no_memory(err);
	const char **values = arena_alloc(&x->arena, (r->lists.count + 1) * sizeof *values);
	if (!values)
		return error_no_memory(err);
	if (!one_for_each("--prepare", r->prepares.count, r->commands.count, err) ||
	    !one_for_each("--conclude", r->concludes.count, r->commands.count, err))
		return false;
	for (size_t i = 0; i < r->commands.count; i++)
		if (!add_combinations(x, i, 0, values, err))
			return false;
	if (x->commands.count < 2) {
		error_set(err, ERROR_USAGE,
			  x->commands.count ? "one command alone cannot be compared" : "no commands are given");
		return error_hint(err, "each command is one argument: tare compare 'gzip -1 FILE' 'gzip -9 FILE'");
	}
	if (r->names.count > x->commands.count)
		return error_set(err, ERROR_USAGE, "%zu names for %zu commands", r->names.count,
				 x->commands.count);
	once_for_all(x);
	return true;
}

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
	for (size_t i = 0; i < r->gates.count; i++)
		if (!session_add_gate(s, &r->gates.items[i], err))
			return false;
	return s->selection.rows.count || session_add_defaults(s, err);
}

/* *code: what to exit with on failure. */
static bool prepare(struct compare_command_line *x, int *code, struct error *err)
{
	const struct compare_request *r = &x->request;
	*code = TARE_USAGE;
	if (!find_commands(x, err))
		return false;
	struct session_target target = {.kind = TARGET_COMMAND,
					.program = x->commands.items[0].program,
					.reproducible = r->reproducible,
					.no_children = r->no_children};
	*code = TARE_CANNOT_MEASURE;
	x->input_fd = open(r->input ? r->input : "/dev/null", O_RDONLY | O_CLOEXEC);
	if (x->input_fd < 0)
		return error_set_errno(err, ERROR_NOT_FOUND, errno, "cannot open '%s'", r->input);
	if (!(x->sessions = calloc(x->commands.count, sizeof *x->sessions)))
		return error_no_memory(err);
	x->n_open = 1;
	if (!session_open(&x->sessions[0], &target, r->on, r->event_files.items, r->event_files.count, err)) {
		if (err->code == ERROR_USAGE || err->code == ERROR_SYNTAX)
			*code = TARE_USAGE;
		return false;
	}
	*code = TARE_USAGE;
	if (!choose_events(x, err)) {
		if (err->code == ERROR_NO_MEMORY || err->code == ERROR_PERMISSION ||
		    err->code == ERROR_UNSUPPORTED)
			*code = TARE_CANNOT_MEASURE;
		return false;
	}
	*code = TARE_CANNOT_MEASURE;
	return output_open(&x->output, r->output ? r->output : "-", err) &&
	       (!r->json_file || output_open(&x->json_file, r->json_file, err)) &&
	       (!r->csv_file || output_open(&x->csv_file, r->csv_file, err)) &&
	       (!r->markdown_file || output_open(&x->markdown_file, r->markdown_file, err)) &&
	       (!r->junit_file || output_open(&x->junit_file, r->junit_file, err));
}

static void show_progress(void *context, const struct compare_command *command, size_t execution,
			  size_t executions, double elapsed_seconds)
{
	struct compare_command_line *x = context;
	double left = execution > 1
			      ? elapsed_seconds / (double)(execution - 1) * (double)(executions - execution + 1)
			      : 0;
	if (elapsed_seconds + left < 1)
		return;
	fprintf(stderr, "\r\033[Ktare: execution %zu of %zu (%.40s), about %.0f s left", execution, executions,
		command->name, left);
	fflush(stderr);
	x->line_shown = true;
}

static bool measure(struct compare_command_line *x, const volatile sig_atomic_t *interrupt, struct error *err)
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
	x->n_open = x->commands.count;
	bool done = session_compare(x->sessions, x->commands.items, x->commands.count, &options, &x->comparison,
				    err);
	if (x->line_shown)
		fputs("\r\033[K", stderr);
	return done;
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
	case COMPARE_JUNIT: report_comparison_junit(out, rendering->comparison); break;
	}
}

static bool write_file(struct compare_command_line *x, struct output *output, enum compare_format format)
{
	const struct compare_request *r = &x->request;
	if (!output->stream)
		return true;
	struct comparison_rendering rendering = {
		.comparison = x->comparison,
		.format = format,
		.options = {.verbose = r->verbose,
			    .quiet = r->quiet,
			    .statistics = r->statistics,
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
	return write_file(x, &x->junit_file, COMPARE_JUNIT) && done;
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
	output_abandon(&x->output);
	output_abandon(&x->json_file);
	output_abandon(&x->csv_file);
	output_abandon(&x->markdown_file);
	output_abandon(&x->junit_file);
	if (x->input_fd >= 0)
		close(x->input_fd);
	vec_free(&x->commands);
	compare_request_free(&x->request);
	arena_free(&x->arena);
}

static int show_help(void)
{
	say_begin_output();
	fputs("usage: tare compare [OPTIONS] 'COMMAND A' 'COMMAND B' ['COMMAND C' ...]\n"
	      "\n"
	      "Runs commands in turns, and shows for each event how the others differ from the\n"
	      "first: the difference with its interval, and whether it is beyond chance.\n"
	      "Each command is one argument.\n",
	      stdout);
	options_help(compare_option_rows, stdout);
	fputs("\nexit status: 0 done, and all gates passed; 1 a gate failed; 2 wrong usage; 3 a\n"
	      "gate is undecided and none failed, cannot measure, a command failed, or cannot\n"
	      "write the report; 128+N when signal N ended it. See also tare-compare(1).\n",
	      stdout);
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
	if (!prepare(&x, &code, &err)) {
		say_failed(&err, code);
		close_all(&x);
		return code;
	}
	const volatile sig_atomic_t *interrupt = interrupt_catch();
	if (!measure(&x, interrupt, &err) ||
	    (!gates_judge(x.comparison, x.request.gates.items, x.request.gates.count) && !error_no_memory(&err))) {
		/* the command line was right: what went wrong did so while it ran */
		say_error(&err);
		code = TARE_CANNOT_MEASURE;
	} else {
		code = code_of_gates(x.comparison);
		if (!write_reports(&x))
			code = TARE_CANNOT_MEASURE;
	}
	if (*interrupt)
		code = 128 + abs((int)*interrupt);
	close_all(&x);
	return code;
}
