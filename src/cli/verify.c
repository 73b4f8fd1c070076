/* tare verify: how far numbers can be trusted on this machine. One study so far: sampling. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/say.h"
#include "report/study.h"
#include "session/interrupt.h"
#include "session/verify.h"

enum { HELP, EVENT, PERIOD, SEED, JSON, OUTPUT };

const struct option_row verify_option_rows[] = {
	{.help = "Sampling"},
	{'e', "event", "EVENT",
	 "sample this event (default: cycles, or the CPU clock where cycles cannot be sampled)", EVENT},
	{'c', "period", "N",
	 "the shortest of nine periods, each twice the one before (default 65536; of clocks 250000 nanoseconds)",
	 PERIOD},
	{0, "seed", "N", "seed of the random gaps (default 1)", SEED},
	{.help = "Report"},
	{0, "json", NULL, "write JSON", JSON},
	{'o', "output", "FILE", "write the report to this file (default: standard error)", OUTPUT},
	{.help = "Other"},
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

struct verify_request {
	struct verify_sampling sampling;
	const char *output;
	bool json, help;
};

static bool apply(void *context, int id, const char *value, struct error *err)
{
	struct verify_request *r = context;
	unsigned long long number;
	switch (id) {
	case HELP: r->help = true; return true;
	case EVENT: r->sampling.event = value; return true;
	case JSON: r->json = true; return true;
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
	fputs("usage: tare verify sampling [OPTIONS] [--] PROGRAM [ARGS...]\n"
	      "\n"
	      "Shows how well sampling finds where a program's events take place: samples it\n"
	      "at nine periods, counts its instructions exactly, and compares (Wu and Mencer\n"
	      "2009). The program runs ten times; its input is empty.\n",
	      stdout);
	options_help(verify_option_rows, stdout);
	fputs("\nexit status: 0 done, whatever the study found; 2 wrong usage; 3 cannot measure,\n"
	      "or cannot write the report. See also tare-verify(1).\n",
	      stdout);
	return say_end_output();
}

static int run(struct verify_request *r)
{
	struct sampling_study study;
	struct error err = {0};
	FILE *out = stderr;
	r->sampling.interrupt = interrupt_catch();
	if (r->output && !(out = file_create(r->output, &err)))
		return say_failed(&err, TARE_CANNOT_MEASURE);
	bool done = session_verify_sampling(&r->sampling, &study, &err);
	if (done) {
		const struct report_options options = {.colour = say_in_colour(out), .width = say_width(out)};
		signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error to be told */
		if (r->json)
			report_study_json(out, &study, r->sampling.program);
		else
			report_study_text(out, &study, r->sampling.program, &options);
		sampling_study_free(&study);
	}
	bool kept = file_finish(out, r->output ? r->output : "standard error", done ? &err : NULL);
	if (*r->sampling.interrupt)
		return 128 + abs((int)*r->sampling.interrupt);
	return !done ? say_failure(&err) : kept ? TARE_DONE : say_failed(&err, TARE_CANNOT_MEASURE);
}

/* The study's name stands first, options follow it: argv[1 …] of what is parsed. */
static bool parse(int argc, char **argv, struct verify_request *r, struct error *err)
{
	int rest, named = argc > 1 && argv[1][0] != '-';
	if (named && strcmp(argv[1], "sampling") != 0) {
		error_set(err, ERROR_USAGE, "'%s' is not a study", argv[1]);
		return error_hint(err, "'tare verify sampling PROGRAM ARGS...'");
	}
	if (!options_parse(verify_option_rows, argc - named, argv + named, apply, r, &rest, err))
		return false;
	rest += named;
	if (r->help)
		return true;
	if (named && rest < argc && argv[rest][0]) {
		r->sampling.program = argv + rest;
		return true;
	}
	error_set(err, ERROR_USAGE,
		  !named        ? "no study is given"
		  : rest < argc ? "the program's name is empty"
				: "no program is given");
	return error_hint(err, "'tare verify sampling PROGRAM ARGS...'");
}

int command_verify(int argc, char **argv)
{
	struct verify_request r = {.sampling = {.seed = 1}};
	struct error err = {0};
	if (!parse(argc, argv, &r, &err))
		return say_failed(&err, TARE_USAGE);
	return r.help ? show_help() : run(&r);
}
