#include "cli/profile_data.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/wait_status.h"
#include "cli/command.h"
#include "cli/page_output.h"
#include "cli/say.h"
#include "cli/store_options.h"
#include "report/data_profile.h"
#include "report/report.h"
#include "session/interrupt.h"
#include "session/profile_data.h"

static const struct {
	const char *name;
	enum show_format format;
} formats[] = {{"json", SHOW_JSON}, {"csv", SHOW_CSV}, {"html", SHOW_HTML}};

static bool find_format(const struct export_format *format, enum show_format *out)
{
	for (size_t i = 0; format && i < sizeof formats / sizeof *formats; i++)
		if (strcmp(formats[i].name, format->name) == 0) {
			*out = formats[i].format;
			return true;
		}
	return false;
}

bool profile_data_format(const struct export_format *format)
{
	enum show_format unused;
	return find_format(format, &unused);
}

int profile_data_show(const struct result *result, enum show_format format, const struct show_request *show,
		      FILE *out, const char *name)
{
	struct error err = {0};
	struct arena arena = {0};
	struct report_origin here;
	struct data_profile_options options = {
		.text = {.origin = show->origin, .colour = say_in_colour(out), .width = say_width(out)},
		.top = show->top};
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error to be told */
	if (out == stdout)
		say_begin_output();
	switch (format) {
	case SHOW_JSON: report_json(out, result, &options.text); break;
	case SHOW_CSV: report_data_profile_csv(out, result); break;
	case SHOW_HTML:
		if (!options.text.origin) {
			page_origin_here(&arena, &here);
			options.text.origin = &here;
		}
		report_data_profile_html(out, result, &options);
		break;
	case SHOW_TEXT: report_data_profile_text(out, result, &options); break;
	}
	arena_free(&arena);
	if (out == stdout)
		return say_end_output();
	return file_finish(out, name, &err) ? TARE_DONE : say_failed(&err, TARE_CANNOT_MEASURE);
}

static void keep(const struct profile_data_request *r, struct result *result)
{
	struct kept_run run = {.kind = KEPT_COUNT, .shown = SHOWN_BY_DATA, .top = r->show->top, .result = result};
	store_keep(r->keeping, &run, false);
}

static int status_of(const struct profile_data_request *r, const struct result *result, int code)
{
	if (code != TARE_DONE)
		return code;
	if (r->profiling->timed_out && *r->profiling->timed_out)
		return TARE_TIMED_OUT;
	return wait_status_shell(result->wait_status);
}

int profile_data(const struct profile_data_request *r)
{
	struct session session;
	struct error err = {0};
	enum show_format format = SHOW_TEXT;
	FILE *out = NULL;
	int code;
	find_format(r->format, &format);
	if (r->output && !(out = file_create(r->output, &err)))
		return say_failure(&err);
	if (session_open(&session, r->target, r->on, NULL, 0, &err) &&
	    session_add_data_events(&session, r->events, &err) &&
	    session_profile_data(&session, r->profiling, &err)) {
		code = profile_data_show(session.result, format, r->show, out ? out : stderr,
					 out ? r->output : "standard error");
		out = NULL;
		keep(r, session.result);
		code = status_of(r, session.result, code);
	} else {
		code = say_failure(&err);
		if (*r->profiling->interrupt)
			code = 128 + abs((int)*r->profiling->interrupt);
	}
	if (out)
		file_abandon(out, r->output);
	session_close(&session);
	return code;
}
