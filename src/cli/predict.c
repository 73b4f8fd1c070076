/* tare predict: what a place's code counts, from the code alone. */
#include <stdlib.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/say.h"
#include "event/event.h"
#include "predict/predict.h"
#include "report/prediction.h"

enum { HELP, EVENT, JSON, OUTPUT };

static const char default_events[] = "instructions,loads,stores,branches";

const struct option_row predict_option_rows[] = {
	{.help = "Counts"},
	{'e', "event", "EVENT,...", "events, separated by commas (default: instructions,loads,stores,branches)",
	 EVENT},
	{.help = "Report"},
	{0, "json", NULL, "write JSON", JSON},
	{'o', "output", "FILE", "write the report to this file (default: standard output)", OUTPUT},
	{.help = "Other"},
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

struct predict_request {
	const char *events, *output;
	bool json, help;
};

static bool apply(void *context, int id, const char *value, struct error *err)
{
	struct predict_request *r = context;
	(void)err;
	switch (id) {
	case HELP: r->help = true; return true;
	case EVENT: r->events = value; return true;
	case JSON: r->json = true; return true;
	case OUTPUT: r->output = value; return true;
	default: return true;
	}
}

static int show_help(void)
{
	say_begin_output();
	options_help("usage: tare predict [OPTIONS] FILE PLACE\n"
		     "\n"
		     "Counts the instructions, loads, stores, ... of a place of a program or library\n"
		     "from its machine code, block by block, without executing it. PLACE is a\n"
		     "function, FILE:LINE-LINE or 0xLOW-0xHIGH, as tare count --region has it.\n",
		     predict_option_rows,
		     "\nexit status: 0 done; 2 wrong usage; 3 the code cannot be read. See also\n"
		     "tare-predict(1).\n");
	return say_end_output();
}

static int run(const struct predict_request *r, const char *file, const char *place)
{
	struct event_table *table = NULL;
	struct event *events = NULL;
	struct prediction prediction = {0};
	struct error err = {0};
	size_t n = 0;
	int code = TARE_DONE;
	FILE *out;
	if (!(table = event_table_new(&err)) || !event_parse_list(table, r->events, &events, &n, &err) ||
	    !predict(file, place, events, n, &prediction, &err) ||
	    !(out = file_create(r->output ? r->output : "-", &err))) {
		code = say_failure(&err);
		goto out;
	}
	if (out == stdout)
		say_begin_output();
	const struct report_options options = {.colour = say_in_colour(out), .width = say_width(out)};
	if (r->json)
		report_prediction_json(out, &prediction, file);
	else
		report_prediction_text(out, &prediction, file, &options);
	if (out == stdout)
		code = say_end_output();
	else if (!file_finish(out, r->output, &err))
		code = say_failed(&err, TARE_CANNOT_MEASURE);
out:
	prediction_free(&prediction);
	free(events);
	event_table_free(table);
	return code;
}

int command_predict(int argc, char **argv)
{
	struct predict_request r = {.events = default_events};
	struct error err = {0};
	const char *operands[2];
	int n = 0, at = 0, rest;
	/* options may stand behind the operands as well: there is no program whose options they could be */
	while (at < argc) {
		if (!options_parse(predict_option_rows, argc - at, argv + at, apply, &r, &rest, &err))
			return say_failed(&err, TARE_USAGE);
		at += rest;
		if (at < argc && n < 2)
			operands[n] = argv[at];
		n += at < argc;
	}
	if (r.help)
		return show_help();
	if (n != 2) {
		error_set(&err, ERROR_USAGE,
			  n < 2 ? "a file and a place of it are needed"
				: "more than a file and a place are given");
		error_hint(&err, "'tare predict ./prog main', 'tare predict ./prog prog.c:10-20'");
		return say_failed(&err, TARE_USAGE);
	}
	return run(&r, operands[0], operands[1]);
}
