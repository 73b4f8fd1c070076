/* tare count: from the command line to the report and the exit status. */
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>

#include "base/wait_status.h"
#include "cli/command.h"
#include "cli/count.h"
#include "cli/count_control.h"
#include "cli/count_ranks.h"
#include "cli/say.h"
#include "session/interrupt.h"
#include "session/ranks.h"

/* A program's status is its own, whatever could be counted of it. */
static int exit_code(const struct count_command *count)
{
	int status = count->session.result->wait_status;
	if (count->session.result->timed_out)
		return TARE_TIMED_OUT;
	if (!count->program)
		return session_counted_any(&count->session) ? TARE_DONE : TARE_CANNOT_MEASURE;
	return wait_status_shell(status);
}

static void close_all(struct count_command *count)
{
	session_close(&count->session);
	runs_close(count->runs);
	ranks_part(count->ranks);
	output_abandon(&count->output);
	output_abandon(&count->blocks);
	output_abandon(&count->system_calls);
	output_abandon(&count->by_file);
	openmetrics_close(&count->openmetrics);
	if (count->control.has_commands)
		control_close(&count->control);
	if (count->has_parameters)
		parameters_free(&count->parameters);
	costs_free(&count->costs.costs);
	count_request_free(&count->request);
	arena_free(&count->arena);
}

static int show_help(void)
{
	say_begin_output();
	options_help("usage: tare count [OPTIONS] [--] PROGRAM [ARGS...]\n"
		     "       tare count [OPTIONS] -p PID | -t TID | -a | -C CPUS | --cgroup GROUP\n"
		     "\n"
		     "Counts events of a program. For each count it states the source and the error.\n"
		     "The program keeps its input, output and exit status.\n",
		     count_option_rows,
		     "\nexit status: the program's own (128+N when signal N ended it); 1 what --fail-if\n"
		     "names holds; 2 wrong usage; 3 cannot measure, cannot write the report, or what\n"
		     "--require, --strict or --fail-if asks for is not counted; 124 --timeout ended\n"
		     "the program. See also tare-count(1).\n");
	return say_end_output();
}

/* Thousands of ranks are not to wait for one database. */
static bool is_kept(const struct count_command *count)
{
	return !count->launched.place.launcher || count->request.keeping.store;
}

int command_count(int argc, char **argv)
{
	struct count_command count = {0};
	struct error err = {0};
	int code = TARE_USAGE;

	if (!count_request_parse(&count.request, argc, argv, &err))
		return say_failed(&err, TARE_USAGE);
	if (count.request.help) {
		count_request_free(&count.request);
		return show_help();
	}
	if (!count_prepare(&count, &code, &err)) {
		say_failed(&err, code);
		goto out;
	}
	count.interrupt = interrupt_catch();
	if (!count_measure(&count, &err)) {
		code = say_failure(&err);
		/* the user's doing, not a failure to measure */
		if (*count.interrupt)
			code = 128 + abs((int)*count.interrupt);
		else if (err.os_errno == ETIMEDOUT)
			code = TARE_TIMED_OUT;
		goto out;
	}
	if (is_kept(&count))
		count.request.keeping.shared = &count.runs;
	code = count_finish(&count, exit_code(&count));
	if (!(count.joint ? count_write_files(&count) : count_write_reports(&count)))
		code = TARE_CANNOT_MEASURE;
	if (count.joint)
		code = count_ranks_finish(&count, code);
	if (is_kept(&count))
		count_keep(&count);
out:
	close_all(&count);
	return code;
}
