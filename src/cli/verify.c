/* tare verify: how far numbers can be trusted on this machine. Counters; with a study's name: sampling. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/progress_line.h"
#include "cli/say.h"
#include "cli/store_options.h"
#include "cli/verify_counters.h"
#include "cli/verify_models.h"
#include "cli/verify_paper.h"
#include "report/study.h"
#include "report/study_figures.h"
#include "report/study_suite.h"
#include "session/interrupt.h"
#include "session/suite.h"
#include "session/verify.h"

enum { HELP, EVENT, PERIOD, SEED, SUITE, JSON, FIGURES, OUTPUT, QUICK, ON, KERNELS, ANEW, CPI, PAPER, PAGE };

const struct option_row verify_option_rows[] = {
	{.help = "Counters"},
	{0, "quick", NULL, "ten kernels at six sizes: less than two minutes", QUICK},
	{'e', "event", "EVENTS",
	 "judge these events (default: all that the kernels move); with 'sampling': sample this one", EVENT},
	{0, "on", "BACKENDS", "judge what these count, separated by commas (default: exact,perf)", ON},
	{0, "kernels", "KERNEL,...", "run these kernels, separated by commas", KERNELS},
	{0, "anew", NULL, "begin anew where a verification was interrupted", ANEW},
	{0, "cpi", "N",
	 "this machine is a simulator with so many cycles for each instruction: judge cycles by that", CPI},
	STORE_OPTION_ROWS,
	{.help = "Papers"},
	{0, "paper", "korn|nieto|safford|wu|zagha", "run the experiments of a paper again", PAPER},
	{0, "html", "FILE", "write the paper's report to this file, as a page with figures", PAGE},
	{.help = "Sampling"},
	{'c', "period", "N",
	 "the shortest of nine periods, each twice the one before (default 65536; of clocks 250000 nanoseconds)",
	 PERIOD},
	{0, "seed", "N", "seed of the random gaps (default 1)", SEED},
	{0, "suite", NULL, "study programs of this machine, with inputs that tare makes (some minutes)", SUITE},
	{.help = "Report"},
	{0, "figures", "FILE", "also write Wu and Mencer's Figures 1 to 4 to this file, as SVG", FIGURES},
	{0, "json", NULL, "write JSON", JSON},
	{'o', "output", "FILE",
	 "write the report to this file (default: standard output; with 'sampling' standard error)", OUTPUT},
	{.help = "Other"},
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

struct verify_request {
	struct verify_sampling sampling;
	struct verify_counters_request counters;
	struct verify_paper_request paper;
	const char *output, *figures;
	bool named, models, suite, json, help; /* named: sampling; models: 'models' is */
	const char *of_sampling, *of_counters; /* the first option that is of one of them alone */
	const char *on;                        /* --on, which models also have */
	bool quick;
};

static bool parse_cpi(const char *value, double *out, struct error *err)
{
	return (str_to_double(value, out) && *out > 0) ||
	       error_set(err, ERROR_USAGE, "'%s' is not a number of cycles above 0", value);
}

static bool apply(void *context, int id, const char *value, struct error *err)
{
	struct verify_request *r = context;
	unsigned long long number;
	if (id == PERIOD || id == SEED || id == SUITE || id == FIGURES)
		r->of_sampling = r->of_sampling ? r->of_sampling
				 : id == SUITE  ? "--suite"
						: "-c, --seed, --figures";
	if (id == ANEW || id == CPI)
		r->of_counters = "--anew, --cpi";
	if (store_apply(&r->counters.keeping, id, value))
		return true;
	switch (id) {
	case HELP: r->help = true; return true;
	case EVENT: r->sampling.event = r->counters.asked.events = value; return true;
	case QUICK: r->quick = r->counters.asked.quick = true; return true;
	case ON: r->on = r->counters.asked.on = value; return true;
	case KERNELS: r->counters.asked.kernels = value; return true;
	case ANEW: r->counters.asked.anew = true; return true;
	case CPI: return parse_cpi(value, &r->counters.asked.cycles_per_instruction, err);
	case PAPER: r->paper.paper = value; return true;
	case PAGE: r->paper.page = value; return true;
	case JSON: r->json = true; return true;
	case SUITE: r->suite = true; return true;
	case FIGURES: r->figures = value; return true;
	case OUTPUT: r->output = value; return true;
	case PERIOD:
		if (!options_number(value, 1, 1000000000000, &number, err))
			return false;
		r->sampling.shortest = number;
		return true;
	case SEED:
		if (!options_number(value, 0, INT64_MAX, &number, err))
			return false;
		r->sampling.seed = number;
		return true;
	default: return true;
	}
}

static int show_help(void)
{
	say_begin_output();
	options_help("usage: tare verify [OPTIONS]\n"
		     "       tare verify models [OPTIONS]\n"
		     "       tare verify --paper NAME [--html FILE]\n"
		     "       tare verify sampling [OPTIONS] [--] PROGRAM [ARGS...]\n"
		     "       tare verify sampling [OPTIONS] --suite\n"
		     "\n"
		     "Judges the counters of this machine: runs small programs whose counts are known\n"
		     "by arithmetic, and compares. The verdicts are kept; 'tare count' shows them\n"
		     "beside its numbers.\n"
		     "\n"
		     "models: counts kernels and programs of this machine by the model of it, and by\n"
		     "its counters, and states the error of each event. It needs a hardware PMU.\n"
		     "\n"
		     "sampling: shows how well sampling finds where events take place: it samples a\n"
		     "program at nine periods, counts its instructions exactly, and compares (Wu and\n"
		     "Mencer 2009). The program runs ten times; its input is empty.\n",
		     verify_option_rows,
		     "\nexit status: 0 done; 1 a counter is wrong (sampling: 0, whatever it found); 2\n"
		     "wrong usage; 3 cannot measure, or cannot write the report. See also\n"
		     "tare-verify(1).\n");
	return say_end_output();
}

/* What was studied: one program, or the suite's. */
struct studied {
	struct studied_program one;
	struct sampling_suite suite;
};

static void show_progress(void *steps, const char *name, size_t done, size_t of)
{
	progress_steps_show(steps, "study", done, of, name);
}

static bool study(const struct verify_request *r, struct studied *out, struct error *err)
{
	bool done;
	*out = (struct studied){0};
	if (r->suite) {
		struct progress_steps steps = progress_steps_begin();
		done = session_verify_suite(&r->sampling, show_progress, &steps, &out->suite, err);
		progress_steps_end(&steps);
	} else {
		out->one.name = r->sampling.program[0];
		done = session_verify_sampling(&r->sampling, &out->one.study, err);
	}
	return done;
}

static void write_report(FILE *out, const struct verify_request *r, const struct studied *studied)
{
	const struct report_options options = {.colour = say_in_colour(out), .width = say_width(out)};
	if (r->suite && r->json)
		report_suite_json(out, &studied->suite);
	else if (r->suite)
		report_suite_text(out, &studied->suite, &options);
	else if (r->json)
		report_study_json(out, &studied->one.study, r->sampling.program);
	else
		report_study_text(out, &studied->one.study, r->sampling.program, &options);
}

/* Figure 1 is of gcc, as theirs, where it was studied; else of the first that was. */
static void write_figures(FILE *out, const struct verify_request *r, const struct studied *studied)
{
	const struct sampling_suite *suite = &studied->suite;
	size_t first = suite->n;
	if (!r->suite) {
		report_study_figures(out, &studied->one, 1, 0);
		return;
	}
	for (size_t i = suite->n; i-- > 0;)
		if (!suite->programs[i].why &&
		    (first == suite->n || strcmp(suite->programs[first].name, "gcc") != 0))
			first = i;
	report_study_figures(out, suite->programs, suite->n, first);
}

static int run(struct verify_request *r)
{
	struct studied studied;
	struct error err = {0};
	FILE *out = stderr, *figures = NULL;
	r->sampling.interrupt = interrupt_catch();
	if (r->figures && !(figures = file_create(r->figures, &err)))
		return say_failed(&err, TARE_CANNOT_MEASURE);
	if (r->output && !(out = file_create(r->output, &err))) {
		if (figures)
			file_abandon(figures, r->figures);
		return say_failed(&err, TARE_CANNOT_MEASURE);
	}
	bool done = study(r, &studied, &err);
	if (done) {
		signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error to be told */
		write_report(out, r, &studied);
		if (figures)
			write_figures(figures, r, &studied);
		if (r->suite)
			session_suite_free(&studied.suite);
		else
			sampling_study_free(&studied.one.study);
	}
	bool kept = !figures || file_close(figures, r->figures, done, &err);
	kept &= file_close(out, r->output ? r->output : "standard error", done, kept ? &err : NULL);
	if (*r->sampling.interrupt)
		return 128 + abs((int)*r->sampling.interrupt);
	return !done ? say_failure(&err) : kept ? TARE_DONE : say_failed(&err, TARE_CANNOT_MEASURE);
}

static bool check_paper(struct verify_request *r, int words, struct error *err)
{
	const struct counters_asked *counters = &r->counters.asked;
	if (!r->paper.paper)
		return error_set(err, ERROR_USAGE, "--html goes with --paper only");
	if (words || r->of_sampling || counters->events || counters->on || counters->kernels || counters->anew ||
	    counters->cycles_per_instruction > 0)
		return error_set(err, ERROR_USAGE, "--paper goes with --quick, --html, --json and -o only");
	r->paper.quick = counters->quick;
	r->paper.json = r->json;
	r->paper.output = r->output;
	return true;
}

static bool check_counters(struct verify_request *r, int words, struct error *err)
{
	if (r->paper.paper || r->paper.page)
		return check_paper(r, words, err);
	if (words) {
		error_set(err, ERROR_USAGE, "remove the program: tare's own kernels are run");
		return error_hint(err, "'tare verify sampling PROGRAM ARGS...' studies sampling");
	}
	if (r->of_sampling) {
		error_set(err, ERROR_USAGE, "%s: only of sampling", r->of_sampling);
		return error_hint(err,
				  "'tare verify sampling PROGRAM ARGS...', or 'tare verify sampling --suite'");
	}
	return true;
}

static bool check_sampling(struct verify_request *r, int argc, char **argv, int rest, struct error *err)
{
	if (r->paper.paper || r->paper.page)
		return error_set(err, ERROR_USAGE, "--paper and --html do not go with 'sampling'");
	if (r->of_counters || r->on || r->quick || r->counters.asked.kernels)
		return error_set(err, ERROR_USAGE, "%s are for counters, not for sampling",
				 r->of_counters ? r->of_counters : "--quick, --on, --kernels");
	if (r->suite && rest == argc)
		return true;
	if (r->suite)
		return error_set(err, ERROR_USAGE, "remove the program: --suite studies its own");
	if (rest < argc && argv[rest][0]) {
		r->sampling.program = argv + rest;
		return true;
	}
	error_set(err, ERROR_USAGE, rest < argc ? "the program's name is empty" : "no program is given");
	return error_hint(err, "'tare verify sampling PROGRAM ARGS...', or 'tare verify sampling --suite'");
}

static bool check_models(const struct verify_request *r, int words, struct error *err)
{
	if (r->paper.paper || r->paper.page)
		return error_set(err, ERROR_USAGE, "--paper and --html do not go with 'models'");
	if (r->of_counters || r->of_sampling)
		return error_set(err, ERROR_USAGE, "%s: not of models",
				 r->of_counters ? r->of_counters : r->of_sampling);
	return !words || error_set(err, ERROR_USAGE, "remove the program: 'models' runs its own");
}

/* The study's name stands first, options follow it: argv[1 …] of what is parsed. */
static bool parse(int argc, char **argv, struct verify_request *r, struct error *err)
{
	int rest, named = argc > 1 && argv[1][0] != '-';
	r->models = named && strcmp(argv[1], "models") == 0;
	if (named && !r->models && strcmp(argv[1], "sampling") != 0) {
		error_set(err, ERROR_USAGE, "'%s' is not a study", argv[1]);
		return error_hint(err, "'tare verify sampling PROGRAM ARGS...', or 'tare verify models'");
	}
	if (!options_parse(verify_option_rows, argc - named, argv + named, apply, r, &rest, err))
		return false;
	rest += named;
	r->named = named && !r->models;
	if (r->help)
		return true;
	return r->models  ? check_models(r, argc - rest, err)
	       : r->named ? check_sampling(r, argc, argv, rest, err)
			  : check_counters(r, argc - rest, err);
}

static int run_models(const struct verify_request *r)
{
	const struct verify_models_request models = {.on = r->on,
						     .events = r->counters.asked.events,
						     .kernels = r->counters.asked.kernels,
						     .output = r->output,
						     .quick = r->quick,
						     .json = r->json,
						     .keeping = &r->counters.keeping};
	return verify_models_run(&models);
}

int command_verify(int argc, char **argv)
{
	struct verify_request r = {.sampling = {.seed = 1}};
	struct error err = {0};
	if (!parse(argc, argv, &r, &err))
		return say_failed(&err, TARE_USAGE);
	if (r.help)
		return show_help();
	if (r.models)
		return run_models(&r);
	if (r.named)
		return run(&r);
	if (r.paper.paper)
		return verify_paper_run(&r.paper);
	r.counters.output = r.output;
	r.counters.json = r.json;
	return verify_counters_run(&r.counters);
}
