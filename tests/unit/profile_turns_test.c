/* Event sets that take turns: what a profile says of the whole time, by arithmetic on planted turns. */
#include "profile/turns.h"

#include <math.h>
#include <string.h>

#include "tap.h"

static bool is_near(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(1, fabs(b)); }

static struct profile *planted(size_t n)
{
	struct profile *p = calloc(1, sizeof *p);
	p->n_events = n;
	p->events = arena_alloc(&p->arena, n * sizeof *p->events);
	for (size_t i = 0; i < n; i++)
		p->events[i] = (struct profile_event){
			.label = "event", .gaps = GAPS_FIXED, .gap = 1, .has_total = true, .total = 40000};
	return p;
}

/* Two sets, 40 turns each, of 10 ms; a third has none. Each turn of the first has 1000 events and 10 samples. */
static void constant_rates(void)
{
	struct profile_turns turns;
	struct profile *p = planted(3);
	const struct sampled_turn first[] = {{1000, 10000000, 10}, {0}, {0}};
	const struct sampled_turn second[] = {{0}, {500, 10000000, 1}, {0}};
	bool done = profile_turns_new(&turns, 3);
	for (int i = 0; i < 40; i++)
		done = done && profile_turns_add(&turns, 10000000, first, NULL) &&
		       profile_turns_add(&turns, 10000000, second, NULL);
	ok(done && profile_turns_take(&turns, p), "turns are taken");
	const struct profile_event *e = p->events;
	ok(is_near(e[0].part, 0.5) && is_near(e[1].part, 0.5),
	   "two sets with equal turns have half of the time each");
	ok(e[0].has_scaled && is_near(e[0].scaled, 80000),
	   "a constant rate is scaled to twice what half of the time had");
	ok(e[0].scaled_low >= 40000 && e[0].scaled_low <= 80000 && e[0].scaled_high >= 80000,
	   "the interval is of what was counted or more, and has the estimate in it");
	ok(is_near(e[0].turn_samples, 10) && is_near(e[1].turn_samples, 1),
	   "samples of a turn: sum of squares by sum");
	ok(e[0].total == 40000, "the count is that of its turns");
	ok(!e[2].has_total && !e[2].has_scaled && e[2].why && strncmp(e[2].why, "not counted", 11) == 0,
	   "an event whose set had no turn is not counted, and never 0");
	profile_turns_free(&turns);
	profile_free(p);
	free(p);
}

static void many_turns(void)
{
	struct profile_turns turns;
	struct profile *p = planted(2);
	const struct sampled_turn first[] = {{1, 1000000, 1}, {0}}, second[] = {{0}, {3, 1000000, 1}};
	bool done = profile_turns_new(&turns, 2);
	for (int i = 0; i < 50000; i++)
		done = done && profile_turns_add(&turns, 1000000, first, NULL) &&
		       profile_turns_add(&turns, 1000000, second, NULL);
	done = done && profile_turns_take(&turns, p);
	ok(done && turns.slices[0].count <= 8192, "100,000 turns are kept as 8192 slices at most");
	ok(is_near(p->events[0].part, 0.5) && fabs(p->events[0].scaled - 100000) < 1 &&
		   fabs(p->events[1].scaled - 300000) < 1,
	   "and say the same");
	profile_turns_free(&turns);
	profile_free(p);
	free(p);
}

static void clusters(void)
{
	struct interval one, clustered, fewer;
	bool done = stats_share(300, 1000, 0.95, &one) && stats_clustered_share(300, 1000, 10, 0.95, &clustered) &&
		    stats_share(30, 100, 0.95, &fewer);
	ok(done && clustered.low < one.low && clustered.high > one.high, "samples of turns have a wider interval");
	ok(is_near(clustered.low, fewer.low) && is_near(clustered.high, fewer.high),
	   "1000 samples, 10 a turn, are as sure as 100");
	ok(stats_clustered_share(300, 1000, 1, 0.95, &clustered) && is_near(clustered.low, one.low) &&
		   is_near(clustered.high, one.high),
	   "with one sample a turn they are as sure as any");
	ok(!stats_clustered_share(3, 0, 1, 0.95, &one) && !stats_clustered_share(1, 2, NAN, 0.95, &one),
	   "no samples, or turns that are none, have no interval");
}

int main(void)
{
	constant_rates();
	many_turns();
	clusters();
	return done();
}
