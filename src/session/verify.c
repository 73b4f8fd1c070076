#include "session/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/wait_status.h"
#include "measure/streams.h"
#include "profile/study.h"
#include "session/profile.h"

static const uint64_t SHORTEST = 65536, SHORTEST_NS = 250000;

static void drop(struct profile *profile)
{
	if (profile)
		profile_free(profile);
	free(profile);
}

/* What all executions have alike: input that is empty, and output to a file. With output to /dev/null, grep would
 * stop at its first match. */
struct executions {
	struct streams streams;
	size_t n;
	int null_fd;
};

static bool open_executions(const struct verify_sampling *asked, struct executions *e, struct error *err)
{
	struct stat out, null;
	struct command command = {.stdout_fd = -1, .stderr_fd = -1};
	*e = (struct executions){.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC)};
	if (e->null_fd < 0)
		return error_set_errno(err, ERROR_SYSTEM, errno, "cannot open '/dev/null'");
	bool unseen = asked->silent || (fstat(STDOUT_FILENO, &out) == 0 && fstat(e->null_fd, &null) == 0 &&
					S_ISCHR(out.st_mode) && out.st_rdev == null.st_rdev);
	command.stdin_fd = e->null_fd;
	if (streams_open(&e->streams, &command, unseen ? OUTPUT_NONE : OUTPUT_FIRST, 1 + VERIFY_PERIODS,
			 asked->interrupt, err))
		return true;
	close(e->null_fd);
	return false;
}

static void close_executions(struct executions *e)
{
	streams_close(&e->streams);
	close(e->null_fd);
}

/* One execution. list NULL: what can be sampled. */
static bool run(const struct verify_sampling *asked, const char *on, const char *list, uint64_t period,
		uint64_t seed, struct executions *executions, struct profile **out, struct error *err)
{
	struct session session;
	struct session_target target = {.kind = TARGET_COMMAND, .program = asked->program};
	struct profiling profiling = {.gaps = GAPS_JITTER,
				      .gap = period,
				      .seed = seed,
				      .redraw = 1, /* as pfmon: each gap is drawn */
				      .interrupt = asked->interrupt};
	*out = NULL;
	bool done = session_open(&session, &target, on, NULL, 0, err);
	bool silent;
	session.command.stdin_fd = executions->null_fd;
	done = done && streams_next(&executions->streams, executions->n++, &session.command, &silent, err) &&
	       session_add_profile_events(&session, list, err) && session_profile(&session, &profiling, out, err);
	session_close(&session);
	return done;
}

/* The event, its unit and the first period, as the machine can sample: by a session that runs nothing. */
static bool choose(const struct verify_sampling *asked, struct sampling_study *study, uint64_t *shortest,
		   struct error *err)
{
	struct session session;
	struct session_target target = {.kind = TARGET_COMMAND, .program = asked->program};
	bool done = session_open(&session, &target, "perf", NULL, 0, err) &&
		    session_add_profile_events(&session, asked->event, err);
	if (done && session.selection.events.count != 1)
		done = error_set(err, ERROR_USAGE, "one event is sampled, and '%s' names %zu", asked->event,
				 session.selection.events.count);
	if (done) {
		const struct event *event = &session.selection.events.items[0];
		const char *unit = event->definition && event->definition->unit ? event->definition->unit : "";
		study->event = strdup(event->text);
		study->unit = strdup(unit);
		*shortest = asked->shortest ? asked->shortest : strcmp(unit, "ns") == 0 ? SHORTEST_NS : SHORTEST;
		done = (study->event && study->unit) || error_no_memory(err);
	}
	session_close(&session);
	return done;
}

/* The exact profile, with the functions of its instructions. */
static bool count(const struct verify_sampling *asked, struct executions *executions, struct profile **exact,
		  struct named_profile **named, struct error *err)
{
	*named = NULL;
	if (!run(asked, "exact", "instructions:u,branches:u", 0, 0, executions, exact, err))
		return false;
	if (!(*exact)->n_events || (*exact)->events[0].why)
		return error_set(err, ERROR_UNSUPPORTED, "executed instructions have no places here: %s",
				 (*exact)->n_events ? (*exact)->events[0].why : "they were not counted");
	return session_name_profile(*exact, 0.95, named, err);
}

static bool refuse_status(int is, int expected, struct error *err)
{
	error_set(err, ERROR_SYSTEM, "the program did not end as in its exact run: status %d, not %d",
		  wait_status_shell(is), wait_status_shell(expected));
	return error_hint(err, "a study needs a program that does the same each time");
}

bool session_verify_sampling(const struct verify_sampling *asked, struct sampling_study *out, struct error *err)
{
	struct profile *exact = NULL, *sampled = NULL;
	struct named_profile *named = NULL;
	uint64_t period = 0;
	struct executions executions;
	*out = (struct sampling_study){.seed = asked->seed};
	if (!open_executions(asked, &executions, err))
		return false;
	bool done = choose(asked, out, &period, err) && count(asked, &executions, &exact, &named, err);
	if (done && !(out->periods = calloc(VERIFY_PERIODS, sizeof *out->periods)))
		done = error_no_memory(err);
	for (size_t i = 0; done && i < VERIFY_PERIODS; i++, period *= 2) {
		done = run(asked, "perf", out->event, period, asked->seed + i, &executions, &sampled, err);
		if (done && asked->interrupt && *asked->interrupt)
			done = error_set(err, ERROR_SYSTEM, "interrupted");
		if (done && sampled->wait_status != exact->wait_status)
			done = refuse_status(sampled->wait_status, exact->wait_status, err);
		if (done && sampled->events[0].why)
			done = error_set(err, ERROR_UNSUPPORTED, "cannot sample '%s': %s", out->event,
					 sampled->events[0].why);
		struct sampling_accuracy *accuracy = &out->periods[i];
		accuracy->period = period;
		if (done && !study_judge(sampled, named, accuracy))
			done = error_no_memory(err);
		if (done && i == 0) {
			size_t n = study_places(sampled, named, out->places);
			out->n_places = n == SIZE_MAX ? 0 : n;
			done = n != SIZE_MAX || error_no_memory(err);
		}
		out->n_periods += done;
		drop(sampled);
		sampled = NULL;
	}
	if (done) {
		out->executed = exact->events[0].total;
		out->has_branches = exact->n_events > 1 && exact->events[1].has_total && !exact->events[1].why;
		out->branches = out->has_branches ? exact->events[1].total : 0;
		study_add_trends(out);
	} else {
		sampling_study_free(out);
	}
	if (named)
		named_profile_free(named);
	free(named);
	drop(exact);
	close_executions(&executions);
	return done;
}

void sampling_study_free(struct sampling_study *study)
{
	free((char *)study->event);
	free((char *)study->unit);
	free(study->periods);
	*study = (struct sampling_study){0};
}
