/* From one execution's readings to the series' counts: scaling happens here, and nowhere else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/execution.h"
#include "measure/measurement.h"

/* The series of a row, added when it is new; NULL when memory ran out. */
static struct series *row_series(struct measurement *s, size_t event, const struct reading *r)
{
	for (size_t i = s->n_events; i < s->series.count; i++) {
		struct series *candidate = &s->series.items[i];
		if (candidate->event == event && candidate->tid == r->tid && candidate->pid == r->pid &&
		    candidate->cpu == r->cpu)
			return candidate;
	}
	struct series row = {.event = event, .is_row = true, .tid = r->tid, .pid = r->pid, .cpu = r->cpu};
	if (r->command && !(row.command = arena_strdup(&s->result->arena, r->command)))
		return NULL;
	row.counts = calloc(s->options.repetitions, sizeof *row.counts);
	if (!row.counts || !vec_push(&s->series, row)) {
		free(row.counts);
		return NULL;
	}
	return &s->series.items[s->series.count - 1];
}

/* The kernel's own work to share the counters takes place in step with the turns, and its exec of the program
 * before them: no reading says what a kernel-level counter missed. What it counted is a lower bound; there is no
 * upper one (tests/vm/scaled_test.c has the figures). */
static bool out_of_step(const struct event *event) { return event->levels == LEVEL_KERNEL; }

/* Fills *count from a reading; slices may be NULL. */
static void count_reading(const struct measurement *s, const struct event *event, struct series_count *count,
			  const struct reading *r, const struct slices *slices)
{
	double confidence = s->options.confidence;
	double raw = (double)r->count_raw;
	*count = (struct series_count){.value = raw,
				       .low = raw,
				       .high = raw,
				       .share = 1,
				       .reached = true,
				       .state = (unsigned char)r->state,
				       .source = (unsigned char)r->source};
	if (r->state != READING_COUNTED) {
		count->share = 0;
		count->has_least = r->has_least;
		return;
	}
	if (r->source == SOURCE_SAMPLED) {
		struct interval total = stats_sampled_total(r->groups, r->n_groups, r->of_groups, confidence);
		count->value = r->unsampled + total.value;
		count->low = fmax(r->unsampled + total.low, 0);
		count->high = r->unsampled + total.high;
		return;
	}
	if (r->enabled_ns > 0 && r->running_ns == 0 && r->count_raw == 0) {
		count->state = READING_NEVER_RAN;
		count->share = 0;
		return;
	}
	if (r->running_ns >= r->enabled_ns)
		return;
	struct slice whole = {raw, (double)r->enabled_ns, (double)r->running_ns};
	struct interval scaled;
	bool done = slices ? stats_multiplex(slices->items, slices->count, confidence, &scaled)
			   : stats_multiplex(&whole, 1, confidence, &scaled);
	if (!done) {
		count->state = READING_NEVER_RAN;
		return;
	}
	count->value = scaled.value;
	count->low = out_of_step(event) ? raw : scaled.low;
	count->high = out_of_step(event) ? INFINITY : scaled.high;
	count->share = (double)r->running_ns / (double)r->enabled_ns;
	count->source = SOURCE_SCALED;
}

/* Adds a row to the sum. What is missing in one row is missing in the sum; a thread that never ran, and was
 * never to run, is not missing. */
static void add_row(struct reading *sum, const struct reading *row)
{
	sum->enabled_ns += row->enabled_ns;
	sum->running_ns += row->running_ns;
	if (row->state == READING_COUNTED) {
		sum->count_raw += row->count_raw;
		sum->source = row->source;
		sum->machine = row->machine;
		sum->unproven |= row->unproven;
		/* there are no rows of sampled counts but the program's */
		sum->groups = row->groups;
		sum->n_groups = row->n_groups;
		sum->of_groups = row->of_groups;
		sum->unsampled = row->unsampled;
		if (sum->state == READING_NEVER_RAN) {
			sum->state = READING_COUNTED;
			sum->why = NULL;
		}
	} else if (row->state != READING_NEVER_RAN) {
		sum->state = row->state;
		sum->why = row->why;
		sum->has_least = row->has_least;
		sum->count_raw = row->count_raw;
		sum->source = row->source;
	} else if (sum->state == READING_NEVER_RAN && !sum->why) {
		sum->why = row->why;
	}
}

bool measurement_keep(struct measurement *s, struct series *series, size_t repetition, const struct reading *r,
		      const struct slices *slices, bool partial)
{
	struct series_count *count = &series->counts[repetition];
	count_reading(s, &s->events[series->event], count, r, slices);
	count->partial = partial;
	count->measuring = r->measuring;
	series->unproven |= r->unproven;
	if (count->state == READING_COUNTED && r->machine && !series->machine &&
	    !(series->machine = arena_strdup(&s->result->arena, r->machine)))
		return false;
	if (count->state == READING_COUNTED || series->why)
		return true;
	const char *why = r->why ? r->why : "the counter never ran";
	series->why = arena_strdup(&s->result->arena, why);
	return series->why != NULL;
}

/* Every execution says the same of itself. */
static bool note_once(struct measurement *s, const struct result_note *remark)
{
	for (size_t i = 0; i < s->notes.count; i++)
		if (strcmp(s->notes.items[i].text, remark->text) == 0)
			return true;
	return measurement_note(s, remark->rank, "%s", remark->text);
}

bool measurement_collect(struct measurement *s, size_t pass, size_t repetition, const struct execution *x)
{
	const struct run *run = &x->run;
	*measurement_account(s, pass, repetition) = (struct account){
		.complete = !run->interrupted,
		.known = s->target->kind == TARGET_COMMAND && !x->still_running && !x->status_lost,
		.shown = !x->silent,
		.under_engine = run->under_engine,
		.wait_status = run->wait_status,
		.elapsed_ns = run->elapsed_ns,
		.probes_ns = run->probes_ns,
		.probes_elapsed_ns = run->probes_elapsed_ns,
		.user_ns = run->user_ns,
		.system_ns = run->system_ns,
		.peak_memory_bytes = run->peak_memory_bytes,
		.minor_faults = run->minor_faults,
		.major_faults = run->major_faults,
		.voluntary_switches = run->voluntary_switches,
		.involuntary_switches = run->involuntary_switches,
		.steal_ns = run->steal_ns,
	};
	for (size_t i = 0; i < run->n_remarks; i++)
		if (!note_once(s, &run->remarks[i]))
			return false;
	for (size_t i = 0; i < x->n_events; i++) {
		size_t event = s->pass_event_index[s->pass_start[pass] + i];
		struct reading sum = {.state = READING_NEVER_RAN, .cpu = -1};
		uint64_t least = 0; /* of rows that are exact, or so much at least */
		for (size_t row = 0; row < run->n_rows; row++) {
			const struct reading *r = &run->readings[row * x->n_events + i];
			add_row(&sum, r);
			if (r->source == SOURCE_EXACT && (r->state == READING_COUNTED || r->has_least))
				least += r->count_raw;
			if (run->n_rows == 1)
				sum.measuring = r->measuring;
			if (r->tid == 0 && r->pid == 0 && r->cpu < 0)
				continue;
			struct series *series = row_series(s, event, r);
			if (!series || !measurement_keep(s, series, repetition, r, NULL, run->interrupted))
				return false;
		}
		if (run->n_rows > 1) { /* what is not known of one row is 0 at least */
			sum.has_least = sum.state != READING_COUNTED && least > 0;
			sum.count_raw = sum.has_least ? least : sum.count_raw;
			sum.source = sum.has_least ? SOURCE_EXACT : sum.source;
		}
		if (!measurement_keep(s, &s->series.items[event], repetition, &sum,
				      x->slices ? &x->slices[i] : NULL, run->interrupted))
			return false;
	}
	return measurement_collect_regions(s, pass, repetition, x);
}

static void not_counted(const struct measurement *s, struct series *series)
{
	static const char why[] = "not known to count: it counted 0, here and in all of tare's trials";
	for (size_t r = 0; r < s->options.repetitions; r++)
		if (series->counts[r].reached && series->counts[r].state == READING_COUNTED) {
			series->counts[r].state = READING_UNSUPPORTED;
			series->n_silent++;
		}
	if (!series->why)
		series->why = why;
}

void measurement_judge_unproven(struct measurement *s)
{
	for (size_t event = 0; event < s->n_events; event++) {
		const struct series *total = &s->series.items[event];
		bool moved = !total->unproven;
		for (size_t r = 0; r < s->options.repetitions && !moved; r++)
			moved = total->counts[r].reached && total->counts[r].state == READING_COUNTED &&
				total->counts[r].value > 0;
		for (size_t i = 0; i < s->series.count && !moved; i++)
			if (s->series.items[i].event == event)
				not_counted(s, &s->series.items[i]);
		for (size_t i = 0; i < s->regions.count && !moved; i++)
			not_counted(s, &s->regions.items[i]->series[event]);
	}
}

bool measurement_value(const struct measurement *s, size_t event, size_t pass, size_t repetition, double *value)
{
	if (s->by_account[event]) {
		const struct account *account = measurement_account(s, pass, repetition);
		return account->complete && !account->under_engine &&
		       account_value(account, &s->events[event], value);
	}
	const struct series_count *count = &s->series.items[event].counts[repetition];
	*value = count->value;
	return count->reached && !count->partial && count->state == READING_COUNTED;
}
