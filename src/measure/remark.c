/* The lines under the table: what did not fit, how the program ended, what the reader has to know. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/str.h"
#include "measure/measurement.h"

bool measurement_note(struct measurement *s, enum note_rank rank, const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	char *kept = arena_strdup(&s->result->arena, text);
	return kept && vec_push(&s->notes, ((struct result_note){kept, rank}));
}

/* Above this many events, finding out how many groups there would be takes longer than a reader wants to wait. */
enum { PLANNED_MOST = 64 };

static bool remark_multiplexing(struct measurement *s)
{
	size_t waiting = 0, n = s->pass_start[1], group[PLANNED_MOST];
	bool kernel = false;
	for (size_t i = 0; i < s->n_events; i++) {
		const struct series_count *count = &s->series.items[i].counts[0];
		bool asked = s->pass_of[i] != PASS_NONE && count->reached;
		if (asked && count->share < 1 &&
		    (count->state == READING_COUNTED || count->state == READING_NEVER_RAN)) {
			waiting++;
			kernel |= s->events[i].levels == LEVEL_KERNEL;
		}
	}
	if (!s->multiplexed || waiting == 0)
		return true;
	/* Seen in the test guest (tests/vm/scaled_test.c): a program that computes 250 ms has 165,000 instructions
	 * in the kernel when counters are not shared and 740,000 when they are; the counters that have their turn
	 * last miss a fifth of them. No reading shows what is in step with the turns. */
	if (kernel &&
	    !measurement_note(
		    s, NOTE_ACT,
		    "kernel-level counts are lower bounds: sharing the counters is kernel work itself, unevenly "
		    "spread over the turns"))
		return false;
	const char *plural = waiting == 1 ? "" : "s";
	if (n > PLANNED_MOST)
		return measurement_note(s, NOTE_ACT,
					"%zu event%s did not fit the counters at once: --several-runs counts each "
					"all the time, in an "
					"execution for each group that fits",
					waiting, plural);
	return measurement_note(
		s, NOTE_ACT,
		"%zu event%s did not fit the counters at once: --several-runs counts each all the time, in %zu "
		"executions after a warm-up",
		waiting, plural,
		measure_plan(s->operations, s->backend, s->pass_events, n, s->target->n_regions > 0, group));
}

struct ending {
	int status;
	size_t times, first; /* first: 0-based execution */
};

static int compare_endings(const void *a, const void *b)
{
	const struct ending *x = a, *y = b;
	if (x->times != y->times)
		return x->times < y->times ? 1 : -1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void describe(struct str *text, int status)
{
	if (WIFSIGNALED(status)) {
		const char *name = sigabbrev_np(WTERMSIG(status)); /* NULL: a real-time signal */
		str_appendf(text, "killed by signal %d", WTERMSIG(status));
		if (name)
			str_appendf(text, " (SIG%s)", name);
	} else
		str_appendf(text, "exit status %d", WEXITSTATUS(status));
}

/* Failed executions are counted like others, so that a reader has to know of them. */
static bool remark_endings(struct measurement *s)
{
	enum { ENDINGS_MOST = 8 };
	struct ending endings[ENDINGS_MOST];
	size_t n = 0, all = s->options.repetitions * s->passes;
	if (s->target->kind != TARGET_COMMAND)
		return true;
	for (size_t x = 0; x < all; x++) {
		const struct account *account = &s->accounts[x];
		if (!account->complete || !account->known)
			continue;
		size_t i = 0;
		while (i < n && endings[i].status != account->wait_status)
			i++;
		if (i == n && n < ENDINGS_MOST)
			endings[n++] = (struct ending){account->wait_status, 0, x};
		if (i < n)
			endings[i].times++;
	}
	if (n == 0 || (n == 1 && endings[0].status == 0))
		return true;
	qsort(endings, n, sizeof *endings, compare_endings);
	struct str text = {0};
	if (n == 1) {
		str_append(&text, all == 1 ? "" : "every run: ");
		describe(&text, endings[0].status);
	} else {
		str_append(&text, "exit status differs between runs: ");
		for (size_t i = 0; i < n; i++) {
			str_append(&text, i ? ", " : "");
			describe(&text, endings[i].status);
			str_appendf(&text, " in %zu", endings[i].times);
			if (endings[i].times == 1)
				str_appendf(&text, " (execution %zu)", endings[i].first + 1 + s->warm_ups);
		}
	}
	bool done = !text.failed && measurement_note(s, NOTE_ACT, "%s", text.text);
	str_free(&text);
	return done;
}

/* Of a program that ran under the engine only, what it took together with the engine: for a reader to know, under
 * a name that no one takes for the program's own. */
static bool remark_engine(struct measurement *s)
{
	const struct account *account = measurement_own_account(s, 0);
	if (!account->under_engine || !account->known || s->options.repetitions > 1)
		return true;
	return measurement_note(
		s, NOTE_DETAIL,
		"the program and the engine together took %.3g s (user %.3g s, system %.3g s) and %.4g MiB",
		(double)account->elapsed_ns / 1e9, (double)account->user_ns / 1e9,
		(double)account->system_ns / 1e9, (double)account->peak_memory_bytes / 1048576);
}

/* The table's values are means. */
static bool remark_first_run(struct measurement *s)
{
	const struct result *result = s->result;
	bool files = result->blocks || result->system_calls;
	if (s->options.repetitions < 2 || (!files && !result->locations))
		return true;
	const char *what = !files ? "where the events took place"
			   : result->locations
				   ? "where the events took place, and the files of blocks and system calls,"
				   : "the files of blocks and system calls";
	return measurement_note(
		s, NOTE_READ,
		"%s %s from run %zu of %zu only: the totals there are of that run, this table's values "
		"are means",
		what, files ? "are" : "is", result->first_run, s->options.repetitions);
}

/* Counters are turned on and off, the operating system's account of the program is not. */
static bool remark_control(struct measurement *s)
{
	bool any = false;
	for (size_t i = 0; i < s->n_events; i++)
		any |= s->by_account[i];
	return !any || !control_wanted(&s->options.control) ||
	       measurement_note(
		       s, NOTE_ACT,
		       "elapsed-time, user-time and what else the operating system accounts for are of the "
		       "whole run, whether counting was on or off");
}

bool measurement_remark(struct measurement *s)
{
	if (!remark_control(s) || !remark_multiplexing(s) || !remark_engine(s) || !remark_endings(s) ||
	    !remark_first_run(s))
		return false;
	s->result->n_notes = s->notes.count;
	struct result_note *notes = arena_alloc(&s->result->arena, (s->notes.count + 1) * sizeof *notes);
	if (!notes)
		return false;
	if (s->notes.count)
		memcpy(notes, s->notes.items, s->notes.count * sizeof *notes);
	s->result->notes = notes;
	return true;
}
