/* The gaps that tare chooses: sampling takes 2 % of a program's time or less. The rule's arithmetic; nothing is timed. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "session/profile.h"
#include "session/profile_gap.h"
#include "tap.h"

/* Of a program in which the event takes place as often as can be. */
static double share_of(const struct sampling_cost *cost, uint64_t gap)
{
	return cost->sample_ns * cost->events_per_ns / (double)gap;
}

static void test_rule(void)
{
	static const double costs[] = {1, 350, 1999, 13000, 20000, 20001, 22000, 66000, 1e6, 9e7};
	static const double rates[] = {1e-6, 0.003, 0.5, 1, 2.4, 3.7, 6, 24};
	static const double shares[] = {0.02, 0.01, 0.02 / 3, 0.0025};
	static const uint64_t least[] = {1, 101, 10007, 1000000, 2000003};
	bool kept = true, nearest = true;
	size_t above = 0;
	for (size_t c = 0; c < sizeof costs / sizeof *costs; c++)
		for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
			for (size_t s = 0; s < sizeof shares / sizeof *shares; s++)
				for (size_t l = 0; l < sizeof least / sizeof *least; l++) {
					const struct sampling_cost cost = {costs[c], rates[r]};
					uint64_t gap = profile_gap_within(&cost, shares[s], least[l]);
					kept &= share_of(&cost, gap) <= shares[s] * (1 + 1e-12) && gap >= least[l];
					nearest &= gap == least[l] || share_of(&cost, gap - 1) > shares[s];
					above += gap > least[l];
				}
	ok(kept && above > 300, "no gap costs more than its share of the time (%zu are above the least)", above);
	ok(nearest, "and none is farther than that, or than the least");
}

static void test_examples(void)
{
	const struct sampling_cost clock = {13000, 1}, slow = {22000, 1}, cycles = {22000, 3},
				   faults = {1200, 0.002};
	equal_u64(profile_gap_within(&clock, 0.02, 1000000), 1000000, "a clock: 13 us a sample, 1.3 % at 1 ms");
	equal_u64(profile_gap_within(&slow, 0.02, 1000000), 1100000, "22 us a sample: 1.1 ms");
	equal_u64(profile_gap_within(&cycles, 0.02, 2000003), 3300000,
		  "3 GHz, 22 us a sample: 3,300,000 cycles (2,000,003 would be 3.3 %)");
	equal_u64(profile_gap_within(&cycles, 0.005, 2000003), 13200000,
		  "one of four events has a quarter of the 2 %");
	equal_u64(profile_gap_within(&faults, 0.02, 101), 120, "page faults: 500 ns each, 1.2 us a sample");
}

static void test_unknown(void)
{
	const struct sampling_cost none = {0, 1}, not_a_number = {NAN, 1}, no_rate = {22000, NAN},
				   endless = {INFINITY, 1}, large = {9e7, 1e9};
	equal_u64(profile_gap_within(NULL, 0.02, 101), 101, "a cost that was not measured: the least gap");
	equal_u64(profile_gap_within(&none, 0.02, 101), 101, "… that is 0");
	equal_u64(profile_gap_within(&not_a_number, 0.02, 101), 101, "… that is none");
	equal_u64(profile_gap_within(&no_rate, 0.02, 101), 101, "… without a rate");
	equal_u64(profile_gap_within(&endless, 0.02, 101), 101, "… that no machine has");
	equal_u64(profile_gap_within(&large, 0.02, 101), 1000000000000000, "a gap is never above what -c takes");
}

/* A backend whose costs are made up. */
static enum profile_stacks seen_stacks;
static int asked_for;

static bool planted(struct backend *backend, const struct event *event, enum profile_stacks stacks,
		    uint32_t stack_bytes, struct sampling_cost *out)
{
	(void)backend, (void)stack_bytes;
	seen_stacks = stacks;
	asked_for++;
	*out = strcmp(event->label, "cycles") == 0 ? (struct sampling_cost){15000, 4}
						   : (struct sampling_cost){30000, 1};
	return strcmp(event->label, "branches") != 0;
}

static void test_choice(void)
{
	static const struct sampling_operations sampling = {.cost = planted};
	static const struct backend_operations operations = {.sampling = &sampling};
	struct session s = {.operations = &operations};
	struct error err = {0};
	double costs[3] = {-1, -1, -1};
	s.events_of = &s;
	if (!(s.events = event_table_new(&err))) {
		ok(false, "the table of events: %s", err.text);
		return;
	}
	struct event *list = NULL;
	size_t n = 0;
	ok(event_parse_list(s.events, "cycles,cpu-clock,branches,page-faults", &list, &n, &err) && n == 4,
	   "four events: %s", err.text);
	s.selection.events.items = (void *)list;
	s.selection.events.count = 3;
	struct profiling asked = {.gaps = GAPS_EXPONENTIAL, .stacks = STACKS_DWARF};
	struct sampled_event *chosen = profile_gaps_choose(&s, &asked, costs);
	ok(chosen && chosen[0].gap == 9000000 && chosen[1].gap == 4500000 && chosen[2].gap == 10007,
	   "each of three events has a third of 2 %% (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")", chosen[0].gap,
	   chosen[1].gap, chosen[2].gap);
	ok(costs[0] == 15000 && costs[1] == 30000 && costs[2] == 0,
	   "the costs are said, but of the one that is not known");
	ok(seen_stacks == STACKS_DWARF && asked_for == 3, "they are those of samples with such stacks");
	free(chosen);
	list[0].period = 5000;
	chosen = profile_gaps_choose(&s, &asked, costs);
	ok(chosen[0].gap == 5000 && costs[0] == 0 && chosen[1].gap == 3000000,
	   "a gap that the user chose is kept, and the others share the 2 %%");
	free(chosen);
	asked.gap = 77, asked_for = 0;
	chosen = profile_gaps_choose(&s, &asked, costs);
	ok(chosen[0].gap == 5000 && chosen[1].gap == 77 && !asked_for, "with -c nothing is measured");
	free(chosen);
	s.selection.events.items = list + 3, s.selection.events.count = 1;
	asked.gap = 0;
	chosen = profile_gaps_choose(&s, &asked, costs);
	ok(chosen[0].gap == 1500000, "of a kernel event with such a cost: 2 %% of the time");
	free(chosen);
	static const struct sampling_operations unmeasured = {.cost = NULL};
	static const struct backend_operations plain = {.sampling = &unmeasured};
	s.operations = &plain;
	chosen = profile_gaps_choose(&s, &asked, costs);
	ok(chosen[0].gap == 101 && costs[0] == 0, "where nothing is measured it has 101");
	free(chosen);
	s.operations = &operations;
	s.selection.events.items = list, s.selection.events.count = 3;
	asked.gap = 77;
	asked.prime = true, asked.gaps = GAPS_FIXED;
	chosen = profile_gaps_choose(&s, &asked, costs);
	ok(chosen[0].gap == 5003 && chosen[1].gap == 79, "prime gaps are the next prime numbers");
	free(chosen);
	free(list);
	event_table_free(s.events);
}

int main(void)
{
	test_rule();
	test_examples();
	test_unknown();
	test_choice();
	return done();
}
