/* tare count, measuring: from its options to those of a measurement, and what is shown meanwhile. */
#include <stdio.h>
#include <unistd.h>

#include "cli/count.h"
#include "cli/count_intervals.h"
#include "cli/count_progress.h"
#include "cli/say.h"
#include "session/trusting.h"

/* How often the counters are read for those who scrape, where -I does not say it. */
enum { SCRAPE_INTERVAL_NS = 1000000000 };

struct over_time {
	struct interval_rows rows;
	bool shows_rows;
	struct openmetrics_output *openmetrics;
};

static void tell_interval(void *context, const struct time_interval *interval)
{
	struct over_time *o = context;
	if (o->shows_rows)
		interval_row(&o->rows, interval);
	openmetrics_interval(o->openmetrics, interval);
}

bool count_measure(struct count_command *count, struct error *err)
{
	const struct count_request *r = &count->request;
	struct progress progress = {
		.verbose = r->verbose,
		.line = isatty(STDERR_FILENO) && r->program_output != OUTPUT_ALL && !r->quiet && !r->interval_ns &&
			!r->control,
		.repetitions = r->repetitions,
		.name = count->program ? count->program[0] : NULL,
	};
	bool served = openmetrics_is_served(r->openmetrics);
	struct over_time over_time = {.rows = {.out = count->output.stream,
					       .format = r->format,
					       .width = count->joint ? 0 : say_width(count->output.stream)},
				      .shows_rows = r->interval_ns || (r->control && r->compat != COMPAT_PERFEX),
				      .openmetrics = &count->openmetrics};
	struct measure_options options = {
		.size = sizeof options,
		.interval_ns = served && !r->interval_ns ? SCRAPE_INTERVAL_NS : r->interval_ns,
		.interval = over_time.shows_rows || served ? tell_interval : NULL,
		.control = count->control,
		.interval_context = &over_time,
		.repetitions = r->repetitions,
		.several_runs = r->several_runs,
		.has_warm_ups = r->has_warm_ups,
		.warm_ups = r->warm_ups,
		.confidence = r->confidence,
		.program_output = r->program_output,
		.delay_ns = r->for_ns,
		.timeout_ns = r->timeout_ns,
		.interrupt = count->interrupt,
		.want_blocks = r->blocks != NULL,
		.want_system_calls = r->system_calls != NULL,
		.locations = !r->by                         ? LOCATIONS_NONE
			     : r->by == BREAKDOWN_BY_OBJECT ? LOCATIONS_OF_DATA
							    : LOCATIONS_OF_CODE,
		.blocks_by = r->per_thread    ? BLOCKS_OF_THREADS
			     : r->per_process ? BLOCKS_OF_PROCESSES
					      : BLOCKS_OF_ALL,
		.progress = r->verbose || progress.line ? progress_show : NULL,
		.progress_context = &progress,
	};
	if (!count->program && !r->for_ns && count->session.target.kind == TARGET_CPUS && isatty(STDERR_FILENO) &&
	    !r->quiet)
		fputs("tare: counting until Ctrl-C\n", stderr);
	struct session_trusts *trusts = over_time.shows_rows ? session_trusts_open(&count->session, &r->keeping)
							     : NULL;
	over_time.rows.trusts = trusts;
	bool done = r->inclusive ? session_check_calls(&count->session, err) &&
					   session_measure_calls(&count->session, &options, err)
				 : session_measure(&count->session, &options, err);
	progress_end(&progress);
	session_trusts_free(trusts);
	return done;
}
