#include "cli/verify_counters.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/progress_line.h"
#include "cli/say.h"
#include "model/declare/machines.h"
#include "report/verification.h"
#include "session/interrupt.h"
#include "trust/kernel_machine.h"

static bool find_machine(const char *name, struct kernel_machine *out, struct error *err)
{
	struct machine machine;
	if (!machine_find(name, &machine, err))
		return false;
	kernel_machine_of(&machine, out);
	out->name = NULL; /* the machine's is gone */
	return true;
}

static void show_progress(void *line, size_t done, size_t all, double left, const char *kernel)
{
	progress_line_show(line, "measurement", done, all, left, kernel);
}

static bool measure(struct counters_study *c, const struct verify_counters_request *r, struct error *err)
{
	double seconds;
	char time[32];
	bool line = r->asked.progress != NULL;
	if (line)
		fputs("\r\033[Ktare: estimating the time", stderr);
	bool predicted = counters_predict_seconds(c, &seconds, err);
	if (line)
		fputs("\r\033[K", stderr);
	if (!predicted)
		return false;
	report_duration(time, sizeof time, seconds);
	fputs("tare: ", stderr);
	if (counters_found(c)->resumed)
		fprintf(stderr, "going on with verification %lld, ", (long long)counters_found(c)->id);
	fprintf(stderr, "this takes about %s\n", time);
	bool done = counters_run(c, err);
	if (line)
		progress_line_end(r->asked.progress_context);
	return done && counters_judge(c, err);
}

static void write_report(FILE *out, const struct verify_counters_request *r, const struct verification *found)
{
	const struct report_options options = {.colour = say_in_colour(out), .width = say_width(out)};
	if (r->json)
		report_verification_json(out, found);
	else
		report_verification_text(out, found, &options);
}

static bool any_fault(const struct verification *found)
{
	for (size_t i = 0; i < found->verdicts.count; i++)
		if (found->verdicts.items[i].fault)
			return true;
	return false;
}

int verify_counters_run(struct verify_counters_request *r)
{
	struct counters_study *c;
	struct error err = {0};
	FILE *out = stdout;
	struct progress_line line = {0};
	r->asked.keeping = &r->keeping;
	r->asked.machine = find_machine;
	r->asked.interrupt = interrupt_catch();
	if (isatty(STDERR_FILENO)) {
		r->asked.progress = show_progress;
		r->asked.progress_context = &line;
	}
	if (!counters_begin(&r->asked, &c, &err))
		return say_failure(&err);
	if (r->output && !(out = file_create(r->output, &err))) {
		counters_end(c);
		return say_failed(&err, TARE_CANNOT_MEASURE);
	}
	bool done = measure(c, r, &err);
	int code = !done ? TARE_CANNOT_MEASURE : any_fault(counters_found(c)) ? TARE_FOUND_WRONG : TARE_DONE;
	if (done) {
		signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error to be told */
		write_report(out, r, counters_found(c));
	}
	struct error written = {0};
	if (!file_close(out, r->output ? r->output : "standard output", done, &written))
		code = say_failed(&written, TARE_CANNOT_MEASURE);
	if (!done && *r->asked.interrupt) {
		if (counters_found(c)->id)
			say_warning("interrupted: the next 'tare verify' goes on where this one ended");
		code = 128 + abs((int)*r->asked.interrupt);
	} else if (!done) {
		say_failure(&err);
	}
	counters_end(c);
	return code;
}
