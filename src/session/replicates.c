#include "session/replicates.h"

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>

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
	} else if (profiling->keep) {
		error_set(err, ERROR_USAGE, "a profile of several runs cannot be kept in a profile file");
		error_hint(err, "give --as FORMAT with -o, or leave out -o");
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

static int shell_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
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
				       others, p->n_runs, shell_status(p->runs[0].wait_status), first + 1,
				       shell_status(p->runs[first].wait_status)));
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

static bool merge(struct profile **all, size_t n, const struct replicates *asked, struct profile **out,
		  struct error *err)
{
	if (!profile_merge((const struct profile *const *)all, n, out, err))
		return false;
	(*out)->checks_gaps = asked->check;
	if (note_statuses(*out) && note_resonance(*out))
		return true;
	drop(*out);
	*out = NULL;
	return error_no_memory(err);
}

bool session_profile_replicates(struct session *s, const struct profiling *profiling,
				const struct replicates *asked, struct profile **out, struct error *err)
{
	size_t runs = asked->check ? 2 * asked->runs : asked->runs, n = 0;
	struct streams streams;
	struct profiling one = *profiling;
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
		       session_profile(s, &one, &all[n], err);
		stopped = profiling->interrupt && *profiling->interrupt;
		n += done;
	}
	/* a run that was cut short is not like the others */
	if (done && stopped && n > 1)
		drop(all[--n]);
	if (done && n > 0)
		done = merge(all, n, asked, out, err);
	for (size_t i = 0; i < n; i++)
		drop(all[i]);
	free(all);
	streams_close(&streams);
	return done;
}
