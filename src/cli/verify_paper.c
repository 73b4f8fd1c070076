#include "cli/verify_paper.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/page_output.h"
#include "cli/progress_line.h"
#include "cli/say.h"
#include "report/paper.h"
#include "session/interrupt.h"
#include "session/paper.h"

static void show_progress(void *steps, const char *name, size_t done, size_t of)
{
	progress_steps_show(steps, "measurement", done, of, name);
}

static void write_report(FILE *out, const struct verify_paper_request *r, const struct paper_study *study)
{
	const struct report_options options = {.colour = say_in_colour(out), .width = say_width(out)};
	if (r->json)
		report_paper_json(out, study);
	else
		report_paper_text(out, study, &options);
}

/* Opens what the report goes to before anything runs. */
static bool open_outputs(const struct verify_paper_request *r, FILE **out, FILE **page, struct error *err)
{
	*out = stdout;
	*page = NULL;
	if (r->page && (!page_check(r->page, stdout, err) || !(*page = file_create(r->page, err))))
		return false;
	if (r->output && !(*out = file_create(r->output, err))) {
		if (*page)
			file_abandon(*page, r->page);
		return false;
	}
	return true;
}

int verify_paper_run(const struct verify_paper_request *r)
{
	struct paper_study study;
	struct error err = {0};
	FILE *out, *page;
	struct progress_steps steps = progress_steps_begin();
	struct paper_asked asked = {.paper = r->paper,
				    .quick = r->quick,
				    .interrupt = interrupt_catch(),
				    .progress = show_progress,
				    .progress_context = &steps};
	if (!open_outputs(r, &out, &page, &err))
		return say_failed(&err, err.code == ERROR_USAGE ? TARE_USAGE : TARE_CANNOT_MEASURE);
	bool done = session_paper(&asked, &study, &err);
	progress_steps_end(&steps);
	if (done) {
		signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error to be told */
		if (page)
			report_paper_html(page, &study);
		if (!page || r->output || r->json)
			write_report(out, r, &study);
		session_paper_free(&study);
	}
	bool kept = !page || file_close(page, r->page, done, &err);
	kept &= file_close(out, r->output ? r->output : "standard output", done, kept ? &err : NULL);
	if (*asked.interrupt)
		return 128 + abs((int)*asked.interrupt);
	return !done ? say_failure(&err) : kept ? TARE_DONE : say_failed(&err, TARE_CANNOT_MEASURE);
}
