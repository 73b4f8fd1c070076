/* Event sets that take turns: do the intervals of a profile hold the truth? Simulated programs, of which each turn
 * sees a part: the count that is scaled to the whole time, and the share of a function among the samples of the
 * turns.
 *
 * The simulator: time in steps of 0.1 ms; 2 … 4 sets in strict order; a turn is up to a quarter late, as tare looks
 * (session/profile.c). Samples come at exponential gaps of the event, 0.3 … 20 a turn. Truth is what an event that
 * is always on would have counted, and where. Everything is seeded. */
#include "profile/turns.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "tap.h"

enum { STEPS = 20000, SETS_MOST = 4, DRAWS = 1500 };
static const double STEP_NS = 1e5, CONFIDENCE = 0.95;

/* Of each step: events, and which of them are the function's. */
struct world {
	double rate[STEPS], share[STEPS];
	size_t steps;
};

static double between(struct random *r, double low, double high) { return low + (high - low) * random_unit(r); }
static double any_scale(struct random *r, double low, double high) { return exp(between(r, log(low), log(high))); }
static double exponential(struct random *r, double mean) { return -mean * log(1 - random_unit(r)); }

/* Two phases in turn, with random lengths about `mean` steps: in the first the function runs, in the second others
 * do, and the event comes at two rates. */
static void phases(struct random *r, struct world *w, double mean)
{
	double part = between(r, 0.2, 0.8), first = any_scale(r, 20, 400), second = first * any_scale(r, 0.2, 5);
	bool on = random_unit(r) < part;
	for (size_t at = 0; at < w->steps; on = !on) {
		size_t end = at + (size_t)fmax(1, exponential(r, 2 * mean * (on ? part : 1 - part)) + 0.5);
		for (; at < end && at < w->steps; at++) {
			w->rate[at] = on ? first : second;
			w->share[at] = on;
		}
	}
}

static void mixed(struct random *r, struct world *w)
{
	double rate = any_scale(r, 20, 400), share = any_scale(r, 0.01, 0.9);
	for (size_t i = 0; i < w->steps; i++)
		w->rate[i] = rate, w->share[i] = share;
}

static void short_phases(struct random *r, struct world *w) { phases(r, w, any_scale(r, 1, 10)); }
static void turn_phases(struct random *r, struct world *w) { phases(r, w, any_scale(r, 20, 200)); }
static void long_phases(struct random *r, struct world *w) { phases(r, w, any_scale(r, 200, 1000)); }

static void parts(struct random *r, struct world *w)
{
	size_t a = random_below(r, w->steps), b = a + random_below(r, w->steps - a);
	double rates[3] = {any_scale(r, 20, 400), any_scale(r, 20, 400), any_scale(r, 20, 400)};
	for (size_t i = 0; i < w->steps; i++) {
		size_t part = i < a ? 0 : i < b ? 1 : 2;
		w->rate[i] = rates[part] * between(r, 0.8, 1.2);
		w->share[i] = part == 1 ? 0.7 : 0.2;
	}
}

struct covered {
	unsigned bounded, bounded_right, open, open_right, shares, shares_right, alone_right;
	double width;
};

static void need(bool done)
{
	if (!done) {
		printf("Bail out! no memory\n");
		exit(1);
	}
}

/* One run: its turns, given to the profile, and of the first set's event what is said. */
static void run(struct random *r, const struct world *w, struct covered *c)
{
	size_t n_turns = 0;
	size_t sets = 2 + random_below(r, SETS_MOST - 1), turn_steps = 40 + random_below(r, 160),
	       set = random_below(r, sets);
	double truth = 0, of_function = 0, all = 0, per_turn = any_scale(r, 0.3, 20);
	for (size_t i = 0; i < w->steps; i++) {
		truth += w->rate[i];
		of_function += w->rate[i] * w->share[i];
	}
	double gap = truth / (double)w->steps * (double)turn_steps / per_turn, next = exponential(r, gap);
	struct profile p = {.n_events = SETS_MOST};
	struct profile_event events[SETS_MOST] = {{0}};
	struct profile_turns turns;
	uint64_t hits = 0, samples = 0;
	p.events = events;
	need(profile_turns_new(&turns, SETS_MOST));
	for (size_t at = 0; at < w->steps; set = (set + 1) % sets) {
		size_t late = random_below(r, turn_steps / 4 + 1), begin = at;
		struct sampled_turn of[SETS_MOST] = {{0}};
		double counted = 0;
		for (; at < w->steps && at < begin + turn_steps + late; at++) {
			counted += w->rate[at];
			if (set != 0)
				continue;
			for (next -= w->rate[at]; next <= 0; next += exponential(r, gap)) {
				of[0].samples++;
				hits += random_unit(r) < w->share[at];
			}
		}
		n_turns++;
		of[set].count = (uint64_t)llround(counted);
		of[set].running_ns = (uint64_t)((double)(at - begin) * STEP_NS);
		all += set == 0 ? (double)of[0].count : 0;
		samples += of[0].samples;
		need(profile_turns_add(&turns, of[set].running_ns, of, NULL));
	}
	events[0].has_total = true;
	events[0].total = (uint64_t)all;
	need(profile_turns_take(&turns, &p));
	const struct profile_event *e = &events[0];
	struct interval share;
	if (e->has_scaled && isfinite(e->scaled_high)) {
		c->bounded++;
		/* a counter shows whole events in each turn */
		c->bounded_right += e->scaled_low <= truth + (double)n_turns &&
				    truth <= e->scaled_high + (double)n_turns;
		c->width += (e->scaled_high - e->scaled_low) / truth;
	} else if (e->has_scaled) {
		c->open++;
		c->open_right += e->scaled_low <= truth + (double)n_turns;
	}
	if (!e->why && samples &&
	    stats_clustered_share(hits, samples, fmax(1, e->turn_samples), CONFIDENCE, &share)) {
		c->shares++;
		c->shares_right += share.low <= of_function / truth && of_function / truth <= share.high;
		/* … and as if each sample were of a turn of its own */
		if (stats_share(hits, samples, CONFIDENCE, &share))
			c->alone_right += share.low <= of_function / truth && of_function / truth <= share.high;
	}
	profile_turns_free(&turns);
	arena_free(&p.arena);
}

static bool not_rejected(unsigned right, unsigned n)
{
	return n && gsl_cdf_binomial_P(right, CONFIDENCE, n) >= 0.01;
}

int main(void)
{
	static const struct {
		const char *name;
		void (*fill)(struct random *, struct world *);
	} programs[] = {{"functions that mix", mixed},
			{"phases of 0.1 to 1 ms", short_phases},
			{"phases of 2 to 20 ms, as turns are", turn_phases},
			{"phases of 20 to 100 ms", long_phases},
			{"three parts", parts}};
	static struct world world;
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		struct random r = {.state = 7 + i};
		struct covered c = {0};
		for (unsigned draw = 0; draw < DRAWS; draw++) {
			world.steps = (size_t)any_scale(&r, 2000, STEPS);
			programs[i].fill(&r, &world);
			run(&r, &world, &c);
		}
		printf("# %s: scaled: %u of %u with an upper bound, %.1f %% right, %.0f %% wide; of the others "
		       "%.1f %% right; shares: %u, "
		       "%.1f %% right\n",
		       programs[i].name, c.bounded, DRAWS, 100.0 * c.bounded_right / c.bounded,
		       100 * c.width / c.bounded, 100.0 * c.open_right / c.open, c.shares,
		       100.0 * c.shares_right / c.shares);
		ok(not_rejected(c.bounded_right, c.bounded),
		   "%s: that 95 %% of the scaled counts are in their intervals is not rejected at 99 %%",
		   programs[i].name);
		ok(c.open == 0 || not_rejected(c.open_right, c.open),
		   "%s: nor that 95 %% of those that have no upper bound are above the lower one",
		   programs[i].name);
		ok(not_rejected(c.shares_right, c.shares), "%s: nor that 95 %% of the shares are in theirs",
		   programs[i].name);
		if (programs[i].fill == long_phases)
			ok(!not_rejected(c.alone_right, c.shares),
			   "%s: … it is if samples of a turn are taken for independent (%.0f %%)",
			   programs[i].name, 100.0 * c.alone_right / c.shares);
	}
	return done();
}
