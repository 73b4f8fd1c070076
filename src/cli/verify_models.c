#include "cli/verify_models.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/progress_line.h"
#include "cli/say.h"
#include "report/models_study.h"
#include "session/interrupt.h"
#include "session/models.h"

static void show_progress(void *steps, const char *name, size_t done, size_t of)
{
	progress_steps_show(steps, "program", done, of, name);
}

/* Cuts the copy of --on at its comma. */
static bool read_on(char *on, struct models_asked *asked, struct error *err)
{
	char *comma = strchr(on, ',');
	if (!comma || comma == on || !comma[1] || strchr(comma + 1, ',')) {
		error_set(err, ERROR_USAGE, "'models' compares two: --on MODEL,COUNTERS");
		return error_hint(err, "the default is --on model:host,perf");
	}
	*comma = '\0';
	asked->model = on;
	asked->counters = comma + 1;
	return true;
}

static int run(const struct verify_models_request *r, struct models_asked *asked)
{
	struct models_study study;
	struct error err = {0};
	FILE *out = stdout;
	if (r->output && !(out = file_create(r->output, &err)))
		return say_failed(&err, TARE_CANNOT_MEASURE);
	struct progress_steps steps = progress_steps_begin();
	asked->progress_context = &steps;
	bool done = session_models(asked, &study, &err);
	progress_steps_end(&steps);
	if (done) {
		const struct report_options options = {.colour = say_in_colour(out), .width = say_width(out)};
		signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error to be told */
		if (r->json)
			report_models_json(out, &study);
		else
			report_models_text(out, &study, &options);
		session_models_free(&study);
	}
	struct error written = {0};
	bool kept = file_close(out, r->output ? r->output : "standard output", done, &written);
	if (*asked->interrupt)
		return 128 + abs((int)*asked->interrupt);
	return !done ? say_failure(&err) : kept ? TARE_DONE : say_failed(&written, TARE_CANNOT_MEASURE);
}

int verify_models_run(const struct verify_models_request *r)
{
	struct error err = {0};
	struct models_asked asked = {.events = r->events,
				     .kernels = r->kernels,
				     .quick = r->quick,
				     .keeping = r->keeping,
				     .interrupt = interrupt_catch(),
				     .progress = show_progress};
	char *on = strdup(r->on ? r->on : "model:host,perf");
	bool read = on ? read_on(on, &asked, &err) : error_no_memory(&err);
	int code = read ? run(r, &asked) : say_failure(&err);
	free(on);
	return code;
}
