/* From series to estimates.
 *
 * - One execution that counted all the time: value = low = high, and no interval: one run says nothing of the
 *   spread.
 * - One execution that counted part of the time: the interval of stats_multiplex().
 * - Several: mean and t-interval over the repetitions; where some of them were scaled, the interval also holds the
 *   mean of the scalings' own ends. A count's interval does not reach below 0.
 * - What an interrupt cut short is used only where nothing complete is there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measurement.h"
#include "stats/stats.h"

static const char *level_text(const struct event *event)
{
	switch (event->levels) {
	case LEVEL_USER: return "user";
	case LEVEL_KERNEL: return "kernel";
	default: return "user+kernel";
	}
}

/* The counts of one series as they are used: account events are turned into counts. */
static struct series_count count_of(const struct measurement *s, const struct series *series, size_t repetition)
{
	if (!s->by_account[series->event])
		return series->counts[repetition];
	const struct account *account = measurement_own_account(s, repetition);
	struct series_count count = {.share = 1,
				     .state = READING_FAILED,
				     .source = SOURCE_OS,
				     .reached = account->elapsed_ns > 0,
				     .partial = !account->complete};
	if (count.reached && !account->under_engine &&
	    account_value(account, &s->events[series->event], &count.value)) {
		count.state = READING_COUNTED;
		count.low = count.high = count.value;
		double probes = account_probes(account, &s->events[series->event]);
		if (probes > 0)
			count.measuring = (struct measuring){.state = MEASURING_INCLUDED, .count = probes};
	}
	return count;
}

/* Picks the counts that the estimate rests on; returns how many, and of how many executions. */
static size_t pick(const struct measurement *s, const struct series *series, struct series_count *picked,
		   size_t *reached)
{
	size_t n = 0;
	*reached = 0;
	for (int partial = 0; partial <= 1 && n == 0; partial++) {
		for (size_t r = 0; r < s->options.repetitions; r++) {
			struct series_count count = count_of(s, series, r);
			if (!count.reached || count.partial != (bool)partial)
				continue;
			++*reached;
			if (count.state == READING_COUNTED)
				picked[n++] = count;
		}
	}
	return n;
}

/* No run gave a count: the mean of what each counted at least. */
static void find_least(const struct measurement *s, const struct series *series, struct estimate *e)
{
	size_t n = 0;
	double sum = 0;
	for (size_t r = 0; r < s->options.repetitions && !s->by_account[series->event]; r++) {
		const struct series_count *count = &series->counts[r];
		if (!count->reached)
			continue;
		if (!count->has_least)
			return;
		sum += count->value;
		e->least_source = (enum source)count->source;
		n++;
	}
	e->has_least = n > 0;
	e->least = n ? floor(sum / (double)n) : 0;
}

/* The mean over n >= 1 counts that all know it in the same way. */
static struct measuring mean_measuring(const struct series_count *counts, size_t n)
{
	struct measuring mean = {.state = counts[0].measuring.state};
	for (size_t i = 0; i < n; i++) {
		if (counts[i].measuring.state != mean.state)
			return (struct measuring){.state = MEASURING_UNKNOWN};
		mean.count += counts[i].measuring.count / (double)n;
		mean.half_width += counts[i].measuring.half_width / (double)n;
		mean.inside += counts[i].measuring.inside / (double)n;
	}
	return mean;
}

/* Sets value, low, high, has_interval and source from n >= 1 counts; e->runs holds their values. */
static void fill_values(struct estimate *e, const struct series_count *counts, size_t n)
{
	double low_sum = 0, high_sum = 0, share_sum = 0;
	bool scaled = false; /* or estimated from samples: low and high are ends of an interval */
	e->source = counts[0].source;
	for (size_t i = 0; i < n; i++) {
		low_sum += counts[i].low;
		high_sum += counts[i].high;
		share_sum += counts[i].share;
		if (counts[i].source == SOURCE_SCALED) {
			scaled = true;
			e->source = SOURCE_SCALED;
		}
		scaled |= counts[i].source == SOURCE_SAMPLED;
	}
	e->share_running = share_sum / (double)n;
	e->value = stats_mean(e->runs, n);
	e->low = low_sum / (double)n;
	e->high = high_sum / (double)n;
	e->has_interval = scaled;
	struct interval interval;
	if (!stats_mean_interval(e->runs, n, e->confidence, &interval))
		return;
	/* without scaling low = high = value before this, so that the t-interval is what remains */
	e->low = fmin(e->low, fmax(interval.low, 0));
	e->high = fmax(e->high, interval.high);
	e->has_interval = true;
}

/* The kernel counts into a program's peak memory what the process held before its exec, which is tare itself
 * (linux/fs/exec.c, exec_mmap: setmax_mm_hiwater_rss). A peak not above tare's own is only an upper bound. */
static bool hidden_by_tare(const struct measurement *s, const struct event *event, double value)
{
	return event->definition && strcmp(event->definition->name, "peak-memory") == 0 &&
	       value <= (double)s->own_peak_bytes;
}

/* A counter of it would begin at the exec's end; the account of the process is there before. */
static bool counts_exec(const struct event *event)
{
	return event->definition && (event->definition->counted_by & COUNTED_BY_PERF);
}

/* Of estimates from sampled sets: an interval is wide whose half is more than so much of the value, and whose end
 * is above the other. */
static const double WIDE = 0.5, WIDE_LEAST = 1000;

static bool remark_on(struct measurement *s, const struct series *series, struct estimate *e, size_t reached)
{
	struct arena *arena = &s->result->arena;
	if (e->n_runs < reached)
		e->missing_why = series->why ? series->why : "not known";
	if (e->missing_why)
		e->note = arena_printf(arena, "%zu of %zu runs gave no count: %s", reached - e->n_runs, reached,
				       e->missing_why);
	else if (s->by_account[series->event] && hidden_by_tare(s, &s->events[series->event], e->value))
		e->note = "an upper bound: the kernel includes tare's own memory, and that is not smaller";
	else if (s->by_account[series->event] && counts_exec(&s->events[series->event]))
		e->note = "from the operating system's account, which also includes the work of the exec";
	else if (e->source == SOURCE_SAMPLED && (e->high - e->low) / 2 > WIDE * e->value && e->high > WIDE_LEAST)
		e->note = "a wide interval: the modelled sets differ much; --sampled=1/2, or without --sampled";
	else if (e->has_interval && isinf(e->high))
		e->note = series->is_row ? "counted only part of the time, and read too seldom to bound the rest"
			  : s->events[series->event].levels == LEVEL_KERNEL
				  ? "no upper bound: shared counters miss kernel work that happens in step with "
				    "their turns"
				  : "no upper bound: counted in too few time slices";
	else
		return true;
	return e->note != NULL;
}

/* More of the rest than this is too much: as of Korn's threshold law (trust/rules.h). */
static const double DISTURBED = 0.05;

/* Of the whole program, with regions that were probed: what the probes took is in it. A region's own is for
 * trust/apply.h to judge, which knows more of it. */
static bool is_disturbed(const struct measurement *s, const struct series *series, const struct estimate *e)
{
	bool total = series >= s->series.items && series < s->series.items + s->series.count;
	return total && e->measuring.state == MEASURING_INCLUDED &&
	       e->measuring.count > DISTURBED * (e->value - e->measuring.count);
}

static bool refuse_disturbed(struct measurement *s, struct estimate *e)
{
	struct estimate was = *e;
	*e = (struct estimate){.event = was.event,
			       .unit = was.unit,
			       .level = was.level,
			       .confidence = was.confidence,
			       .gross = was.value,
			       .tid = was.tid,
			       .pid = was.pid,
			       .command = was.command,
			       .cpu = was.cpu};
	e->why = arena_printf(&s->result->arena,
			      "not reported: %.0f %% of it or more is due to the regions' probes; without "
			      "--region it is the program's alone",
			      was.value > 0 ? fmin(floor(100 * was.measuring.count / was.value), 100) : 100);
	return e->why != NULL;
}

bool measurement_estimate_one(struct measurement *s, const struct series *series, struct series_count *scratch,
			      struct estimate *e)
{
	struct arena *arena = &s->result->arena;
	const struct event *event = &s->events[series->event];
	bool account = s->by_account[series->event];
	size_t reached;

	*e = (struct estimate){
		.event = arena_strdup(arena, event->label),
		.unit = arena_strdup(arena, event->definition ? event->definition->unit : "events"),
		.level = account ? "" : level_text(event),
		.confidence = s->options.confidence,
		.tid = series->tid,
		.pid = series->pid,
		.command = series->command,
		.cpu = series->is_row ? series->cpu : -1,
	};
	if (!e->event || !e->unit)
		return false;
	size_t n = pick(s, series, scratch, &reached);
	if (n == 0) {
		find_least(s, series, e);
		e->n_silent = series->n_silent;
		bool engine = account && measurement_own_account(s, 0)->under_engine;
		e->why = series->why              ? series->why
			 : engine                 ? UNDER_ENGINE
			 : s->result->timed_out   ? "not reached before the time-out (--timeout)"
			 : s->result->interrupted ? "not reached before the interrupt"
						  : "no run gave a count";
		e->note = s->remedies[series->event];
		if (!e->note && s->multiplexed && reached > 0 && series->counts[0].state == READING_NEVER_RAN)
			e->note = "it had no turn on the counters; --several-runs would count it";
		return true;
	}
	e->known = true;
	e->cut_short = scratch[0].partial && s->result->timed_out;
	e->machine = series->machine;
	e->n_runs = n;
	e->runs = arena_alloc(arena, n * sizeof *e->runs);
	if (!e->runs)
		return false;
	for (size_t i = 0; i < n; i++)
		e->runs[i] = scratch[i].value;
	fill_values(e, scratch, n);
	e->measuring = mean_measuring(scratch, n);
	if (is_disturbed(s, series, e))
		return refuse_disturbed(s, e);
	return remark_on(s, series, e, reached);
}

bool measurement_estimate(struct measurement *s)
{
	struct result *result = s->result;
	bool done = false;
	struct series_count *scratch = calloc(s->options.repetitions, sizeof *scratch);
	result->estimates = arena_alloc(&result->arena, (s->series.count + 1) * sizeof *result->estimates);
	if (!scratch || !result->estimates)
		goto out;
	for (size_t event = 0; event < s->n_events; event++) {
		if (!measurement_estimate_one(s, &s->series.items[event], scratch,
					      &result->estimates[result->n_estimates++]))
			goto out;
		for (size_t i = s->n_events; i < s->series.count; i++) {
			if (s->series.items[i].event != event)
				continue;
			if (!measurement_estimate_one(s, &s->series.items[i], scratch,
						      &result->estimates[result->n_estimates++]))
				goto out;
		}
	}
	done = measurement_estimate_regions(s, scratch);
out:
	free(scratch);
	return done;
}
