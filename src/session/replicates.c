#include "session/replicates.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/wait_status.h"
#include "measure/streams.h"
#include "profile/merge.h"

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* The golden ratio is the number that simple fractions are farthest from (Hurwitz 1891). */
static uint64_t other_gap(uint64_t gap)
{
	uint64_t other = (uint64_t)llround((double)gap * (1 + sqrt(5)) / 2);
	while (common_divisor(gap, other) != 1)
		other++;
	return other;
}

/* Sets the events' own gaps, which go before all others: of the first run what it took, or the other. */
static void set_gaps(struct session *s, const struct profile *first, bool other)
{
	for (size_t e = 0; first && e < first->n_events && e < s->selection.events.count; e++) {
		uint64_t gap = first->events[e].gap;
		s->selection.events.items[e].period = other ? other_gap(gap) : gap;
	}
}

static bool refuse(const struct session *s, const struct profiling *profiling, const struct replicates *asked,
		   struct error *err)
{
	const char *option = asked->check ? "--check" : "-r";
	if (!s->operations->sampling) {
		error_set(err, ERROR_USAGE, "%s repeats sampling, and '%s' counts without sampling error", option,
			  s->operations->name);
		error_hint(err, "leave out %s", option);
	} else if (!s->target.command) {
		error_set(err, ERROR_USAGE, "%s runs a program several times, and none is given", option);
	} else if (asked->check && profiling->gaps == GAPS_RATE) {
		error_set(err, ERROR_USAGE, "--check compares two gaps, and with -F the kernel adjusts them");
		error_hint(err, "give -c instead of -F");
	} else {
		return true;
	}
	return false;
}

static void drop(struct profile *profile)
{
	if (profile)
		profile_free(profile);
	free(profile);
}

static bool note_statuses(struct profile *p)
{
	size_t others = 0, first = 0;
	for (size_t i = p->n_runs; i-- > 1;)
		if (p->runs[i].wait_status != p->runs[0].wait_status) {
			others++;
			first = i;
		}
	return !others ||
	       profile_add_note(
		       p, arena_printf(&p->arena,
				       "%zu of %zu runs ended with another status than the first (%d): run %zu "
				       "with %d",
				       others, p->n_runs, wait_status_shell(p->runs[0].wait_status), first + 1,
				       wait_status_shell(p->runs[first].wait_status)));
}

/* Runs that are all in step with the same gap agree, and are all wrong. */
static bool note_resonance(struct profile *p)
{
	bool fixed = false;
	for (size_t e = 0; e < p->n_events; e++)
		fixed |= p->events[e].gaps == GAPS_FIXED && p->events[e].gap > 1;
	return !fixed || p->checks_gaps ||
	       profile_add_note(
		       p, "a loop in step with a fixed gap looks the same in all runs: no interval shows it; "
			  "--check does");
}

bool session_merge_replicates(const struct profile *const *profiles, size_t n, struct profile **out,
			      struct error *err)
{
	if (!profile_merge(profiles, n, out, err))
		return false;
	if (note_statuses(*out) && note_resonance(*out))
		return true;
	drop(*out);
	*out = NULL;
	return error_no_memory(err);
}

/* ---- runs in a file ---- */

/* Each run has a file of its own, in memory, until it is known to be complete. */
struct runs_file {
	const char *name; /* NULL: nothing is kept */
	FILE *file;
	int run;
	char path[32]; /* of the run's */
};

static bool open_run(struct runs_file *f, struct profiling *one, struct error *err)
{
	one->keep = NULL;
	if (!f->name)
		return true;
	if (!f->file && !(f->file = file_create(f->name, err)))
		return false;
	if ((f->run = memfd_create("run", MFD_CLOEXEC)) < 0)
		return error_set_errno(err, ERROR_IO, errno, "cannot keep a run in memory");
	snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", f->run);
	one->keep = f->path;
	return true;
}

static bool append(struct runs_file *f, struct error *err)
{
	char buffer[65536];
	off_t at = 0;
	ssize_t n;
	while ((n = pread(f->run, buffer, sizeof buffer, at)) > 0) {
		at += n;
		if (fwrite(buffer, (size_t)n, 1, f->file) != 1)
			break;
	}
	return (n == 0 && fflush(f->file) == 0) || error_set(err, ERROR_IO, "cannot write '%s'", f->name);
}

static bool close_run(struct runs_file *f, bool complete, struct error *err)
{
	bool done = f->run < 0 || !complete || append(f, err);
	if (f->run >= 0)
		close(f->run);
	f->run = -1;
	return done;
}

/* The next run, and whether it was stopped before its end. */
static bool profile_once(struct session *s, struct profiling *one, struct runs_file *f, bool first,
			 struct profile **out, bool *stopped, struct error *err)
{
	bool done = open_run(f, one, err) && session_profile(s, one, out, err);
	*stopped = one->interrupt && *one->interrupt;
	/* a run that was cut short is not like the others */
	return close_run(f, done && (first || !*stopped), err) && done;
}

bool session_profile_replicates(struct session *s, const struct profiling *profiling,
				const struct replicates *asked, struct profile **out, struct error *err)
{
	size_t runs = asked->check ? 2 * asked->runs : asked->runs, n = 0;
	struct streams streams;
	struct profiling one = *profiling;
	struct runs_file file = {.name = profiling->keep, .run = -1};
	*out = NULL;
	if (!refuse(s, profiling, asked, err) ||
	    !streams_open(&streams, &s->command, OUTPUT_FIRST, runs, profiling->interrupt, err))
		return false;
	struct profile **all = calloc(runs + 1, sizeof *all);
	bool done = all || error_no_memory(err), silent, stopped = false;
	while (done && !stopped && n < runs) {
		if (asked->progress && n > 0)
			asked->progress(asked->progress_context, n, runs);
		set_gaps(s, all[0], asked->check && n % 2);
		one.seed = profiling->seed + n;
		done = streams_next(&streams, n, &s->command, &silent, err) &&
		       profile_once(s, &one, &file, n == 0, &all[n], &stopped, err);
		n += all[n] != NULL;
	}
	if (done && stopped && n > 1)
		drop(all[--n]);
	if (done && n > 0)
		done = session_merge_replicates((const struct profile *const *)all, n, out, err);
	if (file.file && !file_finish(file.file, file.name, done ? err : NULL))
		done = false;
	if (!done) {
		drop(*out);
		*out = NULL;
	}
	for (size_t i = 0; i < n; i++)
		drop(all[i]);
	free(all);
	streams_close(&streams);
	return done;
}
