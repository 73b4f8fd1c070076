#include "trust/overflows.h"

#include <math.h>

/* How many samples a gap was kept for where that is not known: as long as tare keeps one by default. */
static const double REPEATS_UNKNOWN = 3;

/* A jittered gap is the gap + uniform(0, gap / 8). */
static double variance_of_gap(const struct profile_event *e)
{
	double gap = (double)e->gap;
	return e->gaps == GAPS_EXPONENTIAL ? gap * gap : e->gaps == GAPS_JITTER ? gap * gap / (64 * 12) : 0;
}

/* Of the gap that a lost sample had, and of those where counters begin and end. */
static double mean_gap(const struct profile_event *e, double stood_for)
{
	return e->gap ? (double)e->gap : e->samples ? stood_for / (double)e->samples : 0;
}

enum overflow_law overflows_judge(const struct profile_event *e, double stood_for)
{
	double mean = mean_gap(e, stood_for), total = (double)e->total;
	if (!e->has_total || !(mean > 0))
		return OVERFLOWS_HOLD;
	double sampled = stood_for + (double)e->lost * mean,
	       repeats = e->redraw ? (double)e->redraw : REPEATS_UNKNOWN,
	       deviation = sqrt(variance_of_gap(e) * repeats * fmax(total, sampled) / mean),
	       allowed = OVERFLOW_SLACK * total + OVERFLOW_GAPS * mean + 4 * deviation;
	return sampled < total - allowed   ? OVERFLOWS_MISSING
	       : sampled > total + allowed ? OVERFLOWS_TOO_MANY
					   : OVERFLOWS_HOLD;
}

/* Can it be what threads and processes had left of their last gap, one each? */
static bool is_of_short_tasks(const struct profile *p, const struct profile_event *e, double stood_for)
{
	return (double)e->total - stood_for <= (double)p->n_tasks * mean_gap(e, stood_for);
}

static const char *note_of(struct profile *p, const struct profile_event *e, double stood_for,
			   enum overflow_law law)
{
	double part = 100 * (stood_for + (double)e->lost * mean_gap(e, stood_for)) / (double)e->total;
	int digits = part < 10;
	if (law == OVERFLOWS_TOO_MANY)
		return arena_printf(
			&p->arena,
			"%s: the samples stand for %.0f %% of what the same counter counted: one of the "
			"two is wrong, do not trust these shares",
			e->label, part);
	if (is_of_short_tasks(p, e, stood_for))
		return arena_printf(
			&p->arena,
			"%s: the samples stand for %.*f %% of what was counted, and the shares are of that "
			"part alone: threads and processes that end before their first gap have no samples. "
			"Take a shorter gap (-c), or add --own-cgroup",
			e->label, digits, part);
	return arena_printf(
		&p->arena,
		"%s: the samples stand for %.*f %% of what was counted, and the shares are of that part "
		"alone: the others were not taken. Take a longer gap (-c)",
		e->label, digits, part);
}

bool overflows_check(struct profile *p, const double *stood_for)
{
	for (size_t i = 0; i < p->n_events; i++) {
		const struct profile_event *e = &p->events[i];
		double sum = stood_for ? stood_for[i] : (double)e->samples * (double)e->gap;
		enum overflow_law law = e->gaps == GAPS_NONE ? OVERFLOWS_HOLD : overflows_judge(e, sum);
		if (law != OVERFLOWS_HOLD && !profile_add_note(p, note_of(p, e, sum, law)))
			return false;
	}
	return true;
}
