#include "cli/compare_options.h"

#include <string.h>

#include "cli/command.h"
#include "cli/shown_cpu.h"
#include "cli/store_options.h"

enum {
	HELP,
	EVENT,
	METRIC,
	EVENTS_FILE,
	ON,
	REGION,
	REPETITIONS,
	WARM_UP,
	CONFIDENCE,
	SEED,
	REPRODUCIBLE,
	CPU,
	LAYOUT,
	NO_CHILDREN,
	NAME,
	LIST,
	SHELL,
	INPUT,
	GIT,
	BUILD,
	FLAGS,
	COMPILERS,
	SETUP,
	PREPARE,
	CONCLUDE,
	CLEANUP,
	IGNORE_FAILURE,
	PROGRAM_OUTPUT,
	GATE,
	JUNIT_FILE,
	OUTPUT,
	JSON,
	CSV,
	MARKDOWN,
	HTML,
	JSON_FILE,
	CSV_FILE,
	MARKDOWN_FILE,
	HTML_FILE,
	STATISTICS,
	VERBOSE,
	QUIET,
};

const struct option_row compare_option_rows[] = {
	{.help = "Events"},
	{'e', "event", "EVENT,...",
	 "events, as 'tare count' has them; may be repeated. Default: what this machine can count of a standard "
	 "set",
	 EVENT},
	{'m', "metric", "METRIC,...", "derived metrics, see 'tare list metrics'", METRIC},
	{0, "events-file", "FILE", "more events, in the format of tare's own tables", EVENTS_FILE},
	{0, "on", "BACKEND", "the backend: auto (default), perf, exact, model:MACHINE,..., replay:FILE", ON},
	{0, "region", "[NAME=]PLACE", "also compare this part of the programs; may be repeated", REGION},
	{.help = "Commands"},
	{'n', "command-name", "NAME", "what the report calls a command; may be repeated, in the commands' order",
	 NAME},
	{'L', "parameter-list", "NAME V,V,...",
	 "run each command once for each value, in the place of {NAME}; may be repeated: all combinations", LIST},
	{0, "git", "A..B",
	 "compare two revisions: each is checked out into a temporary folder {dir}, where --build and the program "
	 "behind -- run",
	 GIT},
	{0, "build", "COMMAND",
	 "build with this command, which is not counted: 'make -C {dir}', 'gcc {flags} -o {out} x.c'", BUILD},
	{0, "flags", "FLAGS", "build {out} with these flags in the place of {flags}; may be repeated", FLAGS},
	{0, "cc", "COMPILER,...",
	 "build with each of these compilers, in the place of {cc} or of the build's first word", COMPILERS},
	{0, "shell", "SHELL|none|always",
	 "the shell for commands that are more than words (default /bin/sh); none: refuse them; always: use it "
	 "for "
	 "all",
	 SHELL},
	{0, "input", "FILE", "standard input of each execution (default: empty)", INPUT},
	{'i', "ignore-failure", NULL, "also compare commands that end with an error", IGNORE_FAILURE},
	{0, "no-children", NULL, "do not count child processes", NO_CHILDREN},
	{0, "program-output", "first|all|none", "which runs' output is shown (default none)", PROGRAM_OUTPUT},
	{'s', "setup", "COMMAND", "run this once before the first execution", SETUP},
	{'p', "prepare", "COMMAND", "run this before each execution; once for all commands, or one for each",
	 PREPARE},
	{0, "conclude", "COMMAND", "run this after each execution; once for all commands, or one for each",
	 CONCLUDE},
	{'c', "cleanup", "COMMAND", "run this once after the last execution", CLEANUP},
	{.help = "Executions"},
	{'r', "repetitions", "N", "runs of each command (default 10)", REPETITIONS},
	{'w', "warm-up", "N", "runs of each before those, not counted (default 1)", WARM_UP},
	{0, "seed", "N", "seed of the order of the executions (default 1)", SEED},
	{0, "confidence", "95|99", "confidence level of intervals and verdicts, in percent (default 95)",
	 CONFIDENCE},
	{0, "reproducible", NULL,
	 "make all runs alike: no address-space randomisation, an environment of fixed size, one CPU",
	 REPRODUCIBLE},
	{0, "cpu", "LEVEL",
	 "with --reproducible: the CPU that programs see: x86-64-v2, x86-64-v3 (default), x86-64-v4 or host", CPU},
	{0, "randomise-layout", NULL,
	 "give each execution another stack address, and what --build links another order of its files: their "
	 "influence is then in the interval",
	 LAYOUT},
	{0, "runs", "N", "", REPETITIONS}, /* hyperfine */
	{0, "warmup", "N", "", WARM_UP},
	{0, "randomize-layout", NULL, "", LAYOUT},
	{.help = "Gates"},
	{'g', "gate", "EVENT<BOUND",
	 "exit with 1 if the event does not keep the bound, with 3 if that cannot be told; may be repeated. BOUND "
	 "is "
	 "+1% (of the baseline's count), +1000 (difference) or 1e9 (count)",
	 GATE},
	{0, "export-junit", "FILE", "write the gates' results to this file, as JUnit's XML", JUNIT_FILE},
	{.help = "Report"},
	{'o', "output", "FILE", "write the report to this file (default: standard output)", OUTPUT},
	{0, "json", NULL, "as JSON", JSON},
	{0, "csv", NULL, "as CSV", CSV},
	{0, "markdown", NULL, "as Markdown", MARKDOWN},
	{0, "html", NULL, "as a page for a browser, in one file", HTML},
	{0, "export-json", "FILE", "also write JSON to this file", JSON_FILE},
	{0, "export-csv", "FILE", "also write CSV to this file", CSV_FILE},
	{0, "export-markdown", "FILE", "also write Markdown to this file", MARKDOWN_FILE},
	{0, "export-html", "FILE", "also write a page for a browser to this file", HTML_FILE},
	{0, "statistics", NULL, "show min, median, max and standard deviation (σ) of each command's runs",
	 STATISTICS},
	STORE_OPTION_ROWS,
	{'v', "verbose", NULL, "show all notes", VERBOSE},
	{'q', "quiet", NULL, "show the numbers alone, and warnings", QUIET},
	{.help = "Other"},
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

static bool choose(const char *value, const char *const *words, int *out, struct error *err)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(value, words[i]) == 0) {
			*out = i;
			return true;
		}
	return error_set(err, ERROR_USAGE, "'%s' is not one of the option's words", value);
}

static bool add_gate(struct compare_request *r, const char *value, struct error *err)
{
	struct gate gate;
	return gate_parse(value, &gate, err) && (vec_push(&r->gates, gate) || error_no_memory(err));
}

static bool set_shell(struct compare_request *r, const char *value, struct error *err)
{
	if (!*value)
		return error_set(err, ERROR_USAGE, "the shell's name is empty");
	if (strcmp(value, "none") == 0)
		r->use = SHELL_NEVER;
	else if (strcmp(value, "always") == 0)
		r->use = SHELL_ALWAYS;
	else
		r->shell = value;
	return true;
}

static bool set_format(struct compare_request *r, enum compare_format format, struct error *err)
{
	if (r->format != COMPARE_TEXT && r->format != format)
		return error_set(err, ERROR_USAGE, "a report has one format: --json, --csv, --markdown or --html");
	r->format = format;
	return true;
}

/* "NAME V,V" */
static bool add_list(struct compare_request *r, const char *value, struct error *err)
{
	size_t length = strcspn(value, " ");
	char *name = arena_strndup(&r->arena, value, length);
	if (!name)
		return error_no_memory(err);
	if (!length || !value[length]) {
		error_set(err, ERROR_USAGE, "'%s' has a name, but no values", value);
		return error_hint(err, "-L level 1,2,3 puts each of them in the place of {level}");
	}
	for (size_t i = 0; i < r->lists.count; i++)
		if (strcmp(r->lists.items[i].name, name) == 0)
			return error_set(err, ERROR_USAGE, "the name '%s' has values already", name);
	return vec_push(&r->lists, ((struct parameter_list){name, value + length + 1})) || error_no_memory(err);
}

static bool apply(void *context, int id, const char *value, struct error *err)
{
	static const char *const outputs[] = {"first", "all", "none", NULL}, *const levels[] = {"95", "99", NULL};
	struct compare_request *r = context;
	unsigned long long number;
	int word = 0;
	switch (id) {
	case HELP: r->help = true; return true;
	case EVENT: return vec_push(&r->event_lists, value) || error_no_memory(err);
	case METRIC: return vec_push(&r->metric_lists, value) || error_no_memory(err);
	case EVENTS_FILE: return vec_push(&r->event_files, value) || error_no_memory(err);
	case REGION: return vec_push(&r->regions, value) || error_no_memory(err);
	case NAME: return vec_push(&r->names, value) || error_no_memory(err);
	case PREPARE: return vec_push(&r->prepares, value) || error_no_memory(err);
	case CONCLUDE: return vec_push(&r->concludes, value) || error_no_memory(err);
	case LIST: return add_list(r, value, err);
	case ON: r->on = value; return true;
	case GATE: return add_gate(r, value, err);
	case JUNIT_FILE: r->junit_file = value; return true;
	case SHELL: return set_shell(r, value, err);
	case INPUT: r->input = value; return true;
	case GIT: r->git = value; return true;
	case BUILD: r->build = value; return true;
	case FLAGS: return vec_push(&r->flags, value) || error_no_memory(err);
	case COMPILERS: r->compilers = value; return true;
	case SETUP: r->setup = value; return true;
	case CLEANUP: r->cleanup = value; return true;
	case IGNORE_FAILURE: r->ignore_failure = true; return true;
	case NO_CHILDREN: r->no_children = true; return true;
	case REPRODUCIBLE: r->reproducible = true; return true;
	case CPU: return shown_cpu_parse(value, &r->shown_cpu, err);
	case LAYOUT: r->randomise_layout = true; return true;
	case OUTPUT: r->output = value; return true;
	case JSON: return set_format(r, COMPARE_JSON, err);
	case CSV: return set_format(r, COMPARE_CSV, err);
	case MARKDOWN: return set_format(r, COMPARE_MARKDOWN, err);
	case HTML: return set_format(r, COMPARE_HTML, err);
	case JSON_FILE: r->json_file = value; return true;
	case CSV_FILE: r->csv_file = value; return true;
	case MARKDOWN_FILE: r->markdown_file = value; return true;
	case HTML_FILE: r->html_file = value; return true;
	case STATISTICS: r->statistics = true; return true;
	case VERBOSE: r->verbose = true; return true;
	case QUIET: r->quiet = true; return true;
	case REPETITIONS:
		if (!options_number(value, 1, 1000000, &number, err))
			return false;
		r->repetitions = number;
		return true;
	case WARM_UP:
		if (!options_number(value, 0, 1000000, &number, err))
			return false;
		r->warm_ups = number;
		return r->has_warm_ups = true;
	case SEED:
		if (!options_number(value, 0, INT64_MAX, &number, err))
			return false;
		r->seed = number;
		return true;
	case CONFIDENCE:
		if (!choose(value, levels, &word, err))
			return false;
		r->confidence = word ? 0.99 : 0.95;
		return true;
	case PROGRAM_OUTPUT:
		if (!choose(value, outputs, &word, err))
			return false;
		r->program_output = (enum program_output)word;
		return true;
	default: return store_apply(&r->keeping, id, value);
	}
}

static bool has(const char *text, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = text; at && (at = strchr(at, '{')); at++)
		if (strncmp(at + 1, name, length) == 0 && at[length + 1] == '}')
			return true;
	return false;
}

/* Does a list's value go anywhere? */
static bool is_used(const struct compare_request *r, const char *name)
{
	bool used = has(r->build, name) || has(r->setup, name) || has(r->cleanup, name);
	for (size_t i = 0; i < r->commands.count; i++)
		used |= has(r->commands.items[i], name);
	for (size_t i = 0; i < r->program.count; i++)
		used |= has(r->program.items[i], name);
	for (size_t i = 0; i < r->prepares.count; i++)
		used |= has(r->prepares.items[i], name);
	for (size_t i = 0; i < r->concludes.count; i++)
		used |= has(r->concludes.items[i], name);
	for (size_t i = 0; i < r->flags.count; i++)
		used |= has(r->flags.items[i], name);
	return used;
}

static bool check(struct compare_request *r, struct error *err)
{
	for (size_t i = 0; i < r->lists.count; i++)
		if (!is_used(r, r->lists.items[i].name))
			return error_set(err, ERROR_USAGE,
					 "-L %s: nothing has {%s}, so that all of its values would be the same",
					 r->lists.items[i].name, r->lists.items[i].name);
	if (r->verbose && r->quiet)
		return error_set(err, ERROR_USAGE, "choose -v (more) or -q (less), not both");
	if (r->reproducible && r->randomise_layout)
		return error_set(err, ERROR_USAGE,
				 "--reproducible fixes the layout that --randomise-layout changes: choose one");
	if (r->shown_cpu && !r->reproducible)
		return error_set(err, ERROR_USAGE, "--cpu %s needs --reproducible", r->shown_cpu);
	if (r->reproducible && !r->shown_cpu)
		r->shown_cpu = SHOWN_CPU;
	if (r->git && (r->flags.count || r->compilers))
		return error_set(err, ERROR_USAGE, "choose --git, or --flags and --cc, not both");
	if ((r->flags.count || r->compilers) && !r->build) {
		error_set(err, ERROR_USAGE, "%s needs --build", r->flags.count ? "--flags" : "--cc");
		return error_hint(err, "--build 'gcc {flags} -o {out} prog.c'");
	}
	if (r->flags.count && !strstr(r->build, "{flags}")) {
		error_set(err, ERROR_USAGE, "--build has no {flags}: all builds would be the same");
		return error_hint(err, "--build 'gcc {flags} -o {out} prog.c'");
	}
	if (r->build && !r->git && !r->flags.count && !r->compilers)
		return error_set(err, ERROR_USAGE, "--build needs --git, --flags or --cc: what is to differ");
	return true;
}

/* -L takes two words, other options one: they become one, with a blank between. argv[argc + 1]; NULL: no
 * memory. */
static char **join_lists(struct compare_request *r, int *argc, char **argv)
{
	char **joined = arena_alloc(&r->arena, ((size_t)*argc + 1) * sizeof *joined);
	int n = 0;
	for (int i = 0; joined && i < *argc; i++) {
		bool list = strcmp(argv[i], "-L") == 0 || strcmp(argv[i], "--parameter-list") == 0;
		joined[n++] = argv[i];
		if (strcmp(argv[i], "--") == 0) {
			while (++i < *argc)
				joined[n++] = argv[i];
		} else if (list && i + 2 < *argc && !strchr(argv[i + 1], ' ')) {
			joined[n] = arena_printf(&r->arena, "%s %s", argv[i + 1], argv[i + 2]);
			if (!joined[n++])
				return NULL;
			i += 2;
		}
	}
	*argc = n;
	return joined;
}

/* Options may follow commands; behind "--" all words are a program's. */
static bool parse(struct compare_request *r, int argc, char **argv, struct error *err)
{
	for (int at = 0; at < argc;) {
		int rest;
		if (!options_parse(compare_option_rows, argc - at, argv + at, apply, r, &rest, err))
			return false;
		at += rest;
		if (rest > 1 && strcmp(argv[at - 1], "--") == 0) {
			for (; at < argc; at++)
				if (!vec_push(&r->program, argv[at]))
					return error_no_memory(err);
		} else if (at < argc && !vec_push(&r->commands, argv[at])) {
			return error_no_memory(err);
		}
	}
	return true;
}

bool compare_request_parse(struct compare_request *r, int argc, char **argv, struct error *err)
{
	*r = (struct compare_request){.on = "auto",
				      .shell = "/bin/sh",
				      .repetitions = 10,
				      .confidence = 0.95,
				      .seed = 1,
				      .program_output = OUTPUT_NONE};
	char **joined = join_lists(r, &argc, argv);
	if (!joined)
		error_no_memory(err);
	else if (parse(r, argc, joined, err) && (r->help || check(r, err)))
		return true;
	compare_request_free(r);
	return false;
}

void compare_request_free(struct compare_request *r)
{
	vec_free(&r->event_lists);
	vec_free(&r->metric_lists);
	vec_free(&r->event_files);
	vec_free(&r->regions);
	vec_free(&r->names);
	for (size_t i = 0; i < r->gates.count; i++)
		gate_free(&r->gates.items[i]);
	vec_free(&r->gates);
	vec_free(&r->prepares);
	vec_free(&r->concludes);
	vec_free(&r->lists);
	vec_free(&r->flags);
	vec_free(&r->commands);
	vec_free(&r->program);
	arena_free(&r->arena);
}
