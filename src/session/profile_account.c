#include "session/profile_account.h"

#include <stdio.h>

bool profile_account_take(struct profile *p, const struct sampling_account *accounts, struct error *err)
{
	for (size_t i = 0; i < p->n_events; i++) {
		const struct sampling_account *a = &accounts[i];
		struct profile_event *e = &p->events[i];
		e->samples = a->samples;
		e->lost = a->lost;
		e->throttled = a->throttled;
		/* with threads or children the gaps were fixed from some moment on: such samples are not
		 * independent */
		e->redraw = a->redrawn_until_ns ? 0 : a->redraw;
		if (a->source != SOURCE_NONE)
			e->source = a->source;
		e->has_total = a->state == READING_COUNTED && a->has_count;
		e->total = e->has_total ? a->count : 0;
		if (a->state != READING_COUNTED && a->state != READING_NEVER_RAN &&
		    !(e->why = arena_strdup(&p->arena, a->why[0] ? a->why : "it was not sampled")))
			return error_no_memory(err);
	}
	return true;
}

/* Clocks and the kernel's events need no counter: they take no turns. */
double profile_account_part(const struct sampling_account *a)
{
	bool took_turns = a->source == SOURCE_HW && a->state == READING_COUNTED && a->running_ns < a->enabled_ns;
	return took_turns ? (double)a->running_ns / (double)a->enabled_ns : 1;
}

/* Whose counters were on for a part of the time, and with none of these events to take turns with. */
static bool is_alone(const struct sampling_account *accounts, size_t n)
{
	size_t counters = 0;
	for (size_t i = 0; i < n; i++)
		counters += accounts[i].source == SOURCE_HW && accounts[i].state == READING_COUNTED;
	return counters == 1;
}

bool profile_account_note(struct collector *c, const struct sampling_account *accounts, struct error *err)
{
	static const double WHOLE = 0.99; /* where a counter is set up and taken down it misses a moment */
	static const uint64_t MOMENTS_NS = 1000000;
	struct profile *p = collector_profile(c);
	for (size_t i = 0; i < p->n_events; i++) {
		char text[512];
		double part = profile_account_part(&accounts[i]);
		uint64_t off_ns = part < 1 ? accounts[i].enabled_ns - accounts[i].running_ns : 0;
		if (part >= WHOLE)
			continue;
		if (accounts[i].running_ns == 0) {
			p->events[i].has_total = false;
			if (!(p->events[i].why = arena_strdup(&p->arena, "it never had a counter")))
				return error_no_memory(err);
			continue;
		}
		if (is_alone(accounts, p->n_events) && off_ns < MOMENTS_NS)
			continue;
		if (is_alone(accounts, p->n_events)) {
			p->events[i].has_total = false;
			snprintf(text, sizeof text,
				 "%s: its counter was taken away for %.1f %% of the time, by another user, a "
				 "hypervisor, or a CPU that does not have the event. Samples and shares are of "
				 "the rest; there is no total",
				 p->events[i].label, 100 * (1 - part));
			if (!collector_note(c, text, err))
				return false;
			continue;
		}
		snprintf(text, sizeof text,
			 "%s: it had a counter for %.1f %% of the time: the events are more than the counters, "
			 "and take turns. "
			 "Samples, count and shares are of that part. Sample fewer events at once",
			 p->events[i].label, 100 * part);
		if (!collector_note(c, text, err))
			return false;
	}
	return true;
}
