/* tare explain: where does the time go? From the command line to the report and the exit status. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/wait_status.h"
#include "cli/calibrate_costs.h"
#include "cli/command.h"
#include "cli/count_output.h"
#include "cli/explain_costs.h"
#include "cli/page_output.h"
#include "cli/progress_line.h"
#include "cli/say.h"
#include "model/declare/machines.h"
#include "report/explained_sweep.h"
#include "report/explanation.h"
#include "session/explain_sweep.h"
#include "session/interrupt.h"

enum {
	HELP,
	ON,
	COSTS,
	SWEEP,
	PER,
	BY,
	ADVICE,
	WAITS,
	CALLS,
	CONFIDENCE,
	JSON,
	CSV,
	HTML,
	OUTPUT,
	PROGRAM_OUTPUT,
	QUIET
};
enum explain_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_HTML };

const struct option_row explain_option_rows[] = {
	{.help = "What is counted, and what it costs"},
	{0, "on", "BACKEND",
	 "auto (default: hardware counters where they work, else a model of this machine), hw, or model:MACHINE, "
	 "see "
	 "'tare list machines'",
	 ON},
	{0, "costs", "FILE|MACHINE",
	 "the costs of events: a file, or the name of a machine (default: what 'tare calibrate --costs' measured "
	 "here, "
	 "or with model:MACHINE the machine's own)",
	 COSTS},
	{.help = "For several values"},
	{0, "sweep", "NAME=VALUES",
	 "explain the program for each value of NAME: N=8..128 (doubled), N=8..128+40 (a step), N=a,b,c. The "
	 "value "
	 "stands in the place of {NAME} in the arguments; if there is none, it is the environment variable NAME. "
	 "threads=1..8 sets OMP_NUM_THREADS, and shows the speed-up",
	 SWEEP},
	{0, "per", "NAME|NAME^POWER", "with --sweep: divide the times by the value, or by a power of it", PER},
	{.help = "Report"},
	{0, "by", "function|line|object",
	 "also by function, source line, or variable and allocation (needs the engine)", BY},
	{0, "advice", NULL, "look for the lines behind the causes, and for what to change (more executions)",
	 ADVICE},
	{0, "waits", NULL, "where threads wait, by stack, and page faults by line (one more execution, sampled)",
	 WAITS},
	{0, "calls", NULL, "system calls by the time that they take (one more execution, under the engine)",
	 CALLS},
	{0, "json", NULL, "as JSON", JSON},
	{0, "csv", NULL, "as CSV", CSV},
	{0, "html", NULL, "as a page for a browser, in one file", HTML},
	{'o', "output", "FILE", "write the report to this file (- is standard output; default: standard error)",
	 OUTPUT},
	{0, "confidence", "95|99", "confidence level of the intervals, in percent (default 95)", CONFIDENCE},
	{.help = "Other"},
	{0, "program-output", "first|none", "show the program's output of the first run (default), or none",
	 PROGRAM_OUTPUT},
	{'q', "quiet", NULL, "do not show what is being done", QUIET},
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

struct explain_request {
	const char *on, *costs, *output, *sweep, *per;
	enum breakdown_by by;
	enum explain_format format;
	double confidence;
	bool help, quiet, silent, advice, waits, calls;
};

/* The index of the word in words, which ends with NULL. */
static bool parse_word(const char *value, const char *const *words, const char *list, unsigned *out,
		       struct error *err)
{
	for (*out = 0; words[*out]; ++*out)
		if (strcmp(value, words[*out]) == 0)
			return true;
	return error_set(err, ERROR_USAGE, "'%s' is not one of %s", value, list);
}

static bool set_format(struct explain_request *r, enum explain_format format, struct error *err)
{
	if (r->format != FORMAT_TEXT && r->format != format)
		return error_set(err, ERROR_USAGE, "a report has one format: --json, --csv or --html");
	r->format = format;
	return true;
}

static bool apply(void *context, int id, const char *value, struct error *err)
{
	static const char *const places[] = {"function", "line", "object", NULL},
				 *const levels[] = {"95", "99", NULL}, *const outputs[] = {"first", "none", NULL};
	struct explain_request *r = context;
	unsigned word;
	switch (id) {
	case HELP: return r->help = true;
	case ON: r->on = strcmp(value, "hw") == 0 ? "perf" : value; return true;
	case COSTS: r->costs = value; return true;
	case BY:
		if (!parse_word(value, places, "function, line, object", &word, err))
			return false;
		r->by = (enum breakdown_by)(BREAKDOWN_BY_FUNCTION + word);
		return true;
	case CONFIDENCE:
		if (!parse_word(value, levels, "95, 99", &word, err))
			return false;
		r->confidence = word ? 0.99 : 0.95;
		return true;
	case PROGRAM_OUTPUT:
		if (!parse_word(value, outputs, "first, none", &word, err))
			return false;
		r->silent = word == 1;
		return true;
	case ADVICE: return r->advice = true;
	case WAITS: return r->waits = true;
	case CALLS: return r->calls = true;
	case SWEEP: r->sweep = value; return true;
	case PER: r->per = value; return true;
	case JSON: return set_format(r, FORMAT_JSON, err);
	case CSV: return set_format(r, FORMAT_CSV, err);
	case HTML: return set_format(r, FORMAT_HTML, err);
	case OUTPUT: r->output = value; return true;
	default: return r->quiet = true;
	}
}

static int show_help(void)
{
	say_begin_output();
	options_help("usage: tare explain [OPTIONS] [--] PROGRAM [ARGS...]\n"
		     "\n"
		     "Shows where a program's time goes: computing, L1, L2, L3, memory, TLB,\n"
		     "mispredictions, page faults, system calls, waiting. It runs the program as it is\n"
		     "and measures its time, runs it again and counts its events, multiplies the\n"
		     "counts by what each event costs, and compares the sum with the time.\n",
		     explain_option_rows,
		     "\nexit status: the program's own (128+N when signal N ended it); 2 wrong usage; 3\n"
		     "cannot measure, or cannot write the report. See also tare-explain(1).\n");
	return say_end_output();
}

/* ---- which machine ---- */

static double way_bytes(const struct machine_cache *cache) { return (double)cache->sets * cache->line_bytes; }

/* The levels of caches for data, and what advice needs to know; 3 levels where this machine says nothing of its
 * caches: then there is no model to give advice with. */
static bool find_shape(const char *name, bool here, struct explain_asked *asked, struct error *err)
{
	struct machine machine;
	struct advice_facts *facts = &asked->facts;
	if (!machine_find(name, &machine, err)) {
		asked->levels = 3;
		return here && err->code == ERROR_UNSUPPORTED;
	}
	for (unsigned at = machine.first_data; at != MACHINE_NONE; at = machine.caches[at].next) {
		const struct machine_cache *cache = &machine.caches[at];
		if (asked->levels < 2)
			facts->way_bytes[asked->levels] = way_bytes(cache);
		if (asked->levels < 3)
			facts->cache_bytes[asked->levels] = way_bytes(cache) * cache->ways;
		if (cache->line_bytes > facts->shared_bytes)
			facts->shared_bytes = cache->line_bytes;
		if (asked->levels++ == 0)
			facts->line_bytes = cache->line_bytes;
	}
	asked->levels = asked->levels > 3 ? 3 : asked->levels ? asked->levels : 1;
	facts->page_bytes = machine.page_bytes ? machine.page_bytes : 4096;
	if (machine.first_data_tlb != MACHINE_NONE) {
		const struct machine_tlb *tlb = &machine.tlbs[machine.first_data_tlb];
		facts->tlb_entries = (double)tlb->sets * tlb->ways * tlb->pages_per_entry;
	}
	asked->advice_on = name;
	return true;
}

/* The machine of --on: "host" but for model:OTHER. */
static bool find_machine(const char *on, const char **name, struct error *err)
{
	static const char model[] = "model:";
	*name = "host";
	if (strncmp(on, model, sizeof model - 1) == 0)
		*name = on + sizeof model - 1;
	if (!strchr(*name, ','))
		return true;
	error_set(err, ERROR_USAGE, "--on names several machines, and one has to be explained: '%s'", on);
	return error_hint(err, "call 'tare explain' for each");
}

/* ---- at work ---- */

struct explain_line {
	struct progress_line shown;
	bool terminal;
	char value[64]; /* of a sweep: "N = 8"; else "" */
	size_t done, of;
};

static void show_progress(void *context, const char *what)
{
	struct explain_line *line = context;
	/* the program may write to the terminal while it runs as it is */
	if (line->terminal && strcmp(what, "counting") == 0)
		progress_line_show(&line->shown, line->value[0] ? line->value : "execution",
				   line->value[0] ? line->done + 1 : 2, line->value[0] ? line->of : 2, -1, what);
}

static void show_value(void *context, const char *value, size_t done)
{
	struct explain_line *line = context;
	snprintf(line->value, sizeof line->value, "value %s,", value);
	line->done = done;
}

struct explain_report {
	const struct explain_request *request;
	const struct explanation *explanation; /* NULL: sweep */
	const struct explained_sweep *sweep;
	FILE *stream; /* whose width and colours count */
};

static struct report_options text_options(FILE *stream)
{
	return (struct report_options){.colour = say_in_colour(stream), .width = say_width(stream)};
}

static void render_sweep(FILE *out, const struct explain_report *r)
{
	const struct report_options options = text_options(r->stream);
	switch (r->request->format) {
	case FORMAT_JSON: report_sweep_json(out, r->sweep); break;
	case FORMAT_CSV: report_sweep_csv(out, r->sweep); break;
	case FORMAT_HTML: report_sweep_html(out, r->sweep); break;
	case FORMAT_TEXT: report_sweep_text(out, r->sweep, &options); break;
	}
}

static void render(FILE *out, void *context)
{
	const struct explain_report *r = context;
	if (r->sweep) {
		render_sweep(out, r);
		return;
	}
	if (r->request->format == FORMAT_HTML)
		report_explanation_html(out, r->explanation);
	else if (r->request->format == FORMAT_JSON)
		report_explanation_json(out, r->explanation);
	else if (r->request->format == FORMAT_CSV)
		report_explanation_csv(out, r->explanation);
	else {
		const struct report_options options = text_options(r->stream);
		report_explanation_text(out, r->explanation, &options);
	}
}

/* The status of the first execution that did not end with 0. */
static int sweep_code(const struct explained_sweep *sweep)
{
	for (size_t i = 0; i < sweep->n; i++)
		if (wait_status_shell(sweep->points[i].explanation.wait_status) != 0)
			return wait_status_shell(sweep->points[i].explanation.wait_status);
	return 0;
}

/* Before anything runs. */
static bool open_output(const struct explain_request *r, struct output *output, struct error *err)
{
	if (r->format != FORMAT_HTML)
		return output_open(output, r->output, err);
	return page_check(r->output, stderr, err) && output_open(output, r->output, err);
}

static int explain_with(const struct explain_request *r, struct explain_asked *asked,
			const struct sweep_values *values)
{
	struct output output = {0};
	struct error err = {0};
	struct explanation explanation = {0};
	struct explained_sweep sweep = {0};
	struct explain_line line = {.terminal = isatty(STDERR_FILENO) && !r->quiet, .of = values ? values->n : 0};
	asked->progress = show_progress;
	asked->progress_context = &line;
	if (!open_output(r, &output, &err))
		return say_failed(&err, err.code == ERROR_USAGE ? TARE_USAGE : TARE_CANNOT_MEASURE);
	asked->interrupt = interrupt_catch();
	struct explain_sweep_asked several = {
		.each = asked, .values = values, .per = r->per, .progress = show_value, .progress_context = &line};
	bool done = values ? explain_sweep(&several, &sweep, &err) : explain_run(asked, &explanation, &err);
	progress_line_end(&line.shown);
	if (!done) {
		output_abandon(&output);
		int code = say_failure(&err);
		return *asked->interrupt ? 128 + abs((int)*asked->interrupt) : code;
	}
	struct explain_report report = {r, &explanation, values ? &sweep : NULL, output.stream};
	int code = values ? sweep_code(&sweep) : wait_status_shell(explanation.wait_status);
	if (!output_write(&output, render, &report))
		code = TARE_CANNOT_MEASURE;
	explanation_free(&explanation);
	explained_sweep_free(&sweep);
	return code;
}

/* --sweep and what goes with it, before anything runs. */
static bool find_values(const struct explain_request *r, struct arena *arena, struct sweep_values *values,
			struct error *err)
{
	unsigned power;
	if (!r->sweep && r->per)
		return error_set(err, ERROR_USAGE, "--per needs --sweep: it divides the times of each value");
	if (!r->sweep)
		return true;
	if (r->by || r->advice || r->waits || r->calls)
		return error_set(err, ERROR_USAGE,
				 "--by, --advice, --waits and --calls are of one value: leave out --sweep");
	return sweep_values_parse(r->sweep, arena, values, err) &&
	       (!r->per || sweep_power_parse(r->per, values->name, &power, err));
}

static int explain_program(const struct explain_request *r, char *const *program,
			   const struct sweep_values *values)
{
	struct explain_asked asked = {0};
	struct costs_found costs = {0};
	struct error err = {0};
	const char *machine;
	if (!find_machine(r->on, &machine, &err))
		return say_failed(&err, TARE_USAGE);
	bool here = strcmp(machine, "host") == 0;
	if ((r->waits || r->calls) && !here) {
		error_set(&err, ERROR_USAGE, "%s looks at the program on this machine, and %s is another",
			  r->waits ? "--waits" : "--calls", machine);
		return say_failed(&err, TARE_USAGE);
	}
	if (!find_shape(machine, here, &asked, &err))
		return say_failed(&err, err.code == ERROR_NOT_FOUND ? TARE_USAGE : TARE_CANNOT_MEASURE);
	if (!explain_find_costs(r->costs, machine, here, r->confidence, !r->quiet, &costs, &err))
		return say_failure(&err);
	asked.program = program;
	asked.on = r->on;
	asked.here = here;
	asked.costs = costs.known ? &costs.costs : NULL;
	asked.why_no_costs = costs.known ? NULL : costs.why;
	asked.costs_note = costs.known && costs.why[0] ? costs.why : NULL;
	asked.by = r->by;
	asked.wants_advice = r->advice;
	asked.wants_waits = r->waits;
	asked.wants_calls = r->calls;
	asked.confidence = r->confidence;
	asked.program_output = r->silent ? OUTPUT_NONE : OUTPUT_FIRST;
	int code = explain_with(r, &asked, values);
	costs_free(&costs.costs);
	return code;
}

int command_explain(int argc, char **argv)
{
	struct explain_request r = {.on = "auto", .confidence = 0.95};
	struct error err = {0};
	struct arena arena = {0};
	struct sweep_values values;
	int rest;
	if (!options_parse(explain_option_rows, argc, argv, apply, &r, &rest, &err))
		return say_failed(&err, TARE_USAGE);
	if (r.help)
		return show_help();
	if (!argv[rest]) {
		error_set(&err, ERROR_USAGE, "nothing to explain: no program is given");
		error_hint(&err, "'tare explain PROGRAM ARGS...'; 'tare explain --help'");
		return say_failed(&err, TARE_USAGE);
	}
	int code = find_values(&r, &arena, &values, &err)
			   ? explain_program(&r, argv + rest, r.sweep ? &values : NULL)
			   : say_failed(&err, TARE_USAGE);
	arena_free(&arena);
	return code;
}
