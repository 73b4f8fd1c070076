/* Overflows x period = count: samples that stand for what their counter counted are left alone, whatever kind of gap
 * they have, and what is missing or too much is told. */
#include <string.h>

#include "tap.h"
#include "trust/overflows.h"

static struct profile_event event_of(enum profile_gaps gaps, uint64_t gap, uint64_t samples, uint64_t total)
{
	return (struct profile_event){.label = "cycles:u",
				      .unit = "cycles",
				      .source = SOURCE_HW,
				      .gaps = gaps,
				      .gap = gap,
				      .redraw = gaps == GAPS_EXPONENTIAL || gaps == GAPS_JITTER,
				      .samples = samples,
				      .has_total = true,
				      .total = total};
}

static enum overflow_law judge(enum profile_gaps gaps, uint64_t gap, uint64_t samples, uint64_t total)
{
	struct profile_event e = event_of(gaps, gap, samples, total);
	return overflows_judge(&e, (double)samples * (double)gap);
}

static void fixed_gaps(void)
{
	/* Zagha et al. 1996, Appendix C: prof's sum, against perfex's multiplexed count */
	ok(judge(GAPS_FIXED, 32771, 96520, 3132175344) == OVERFLOWS_HOLD,
	   "96,520 overflows of 32,771 cycles are 3,132,175,344 cycles, within 0.99 %%");
	ok(judge(GAPS_FIXED, 1000, 1000, 1000999) == OVERFLOWS_HOLD, "a gap that was not full is left alone");
	ok(judge(GAPS_FIXED, 1000, 10000, 9000000) == OVERFLOWS_TOO_MANY, "a ninth too many samples are told");
	ok(judge(GAPS_FIXED, 1000, 10000, 12000000) == OVERFLOWS_MISSING,
	   "a sixth of the events without samples is told");
	ok(judge(GAPS_FIXED, 1000, 5000, 10000000) == OVERFLOWS_MISSING, "half of the samples is told");
	ok(judge(GAPS_FIXED, 1000, 20000, 10000000) == OVERFLOWS_TOO_MANY, "samples twice is told");
	ok(judge(GAPS_FIXED, 1000, 0, 10000000) == OVERFLOWS_MISSING, "no sample of 10,000 is told");
	ok(judge(GAPS_FIXED, 1000, 6, 0) == OVERFLOWS_HOLD && judge(GAPS_FIXED, 1000, 9, 0) == OVERFLOWS_TOO_MANY,
	   "of a counter that shows 0, nine samples are told, and six may be of its begin and end");
	ok(judge(GAPS_FIXED, 1000, 0, 7900) == OVERFLOWS_HOLD, "so few expected samples say nothing");
}

/* 1,000 expected samples: a standard deviation is 32 of them where each gap is drawn, 55 where three have one gap. */
static void drawn_gaps(void)
{
	ok(judge(GAPS_EXPONENTIAL, 1000, 790, 1000000) == OVERFLOWS_HOLD,
	   "random gaps: 790 of 1,000 may be chance");
	ok(judge(GAPS_EXPONENTIAL, 1000, 750, 1000000) == OVERFLOWS_MISSING, "750 of 1,000 are not");
	ok(judge(GAPS_EXPONENTIAL, 1000, 1210, 1000000) == OVERFLOWS_HOLD, "1,210 may be, too");
	ok(judge(GAPS_EXPONENTIAL, 1000, 1270, 1000000) == OVERFLOWS_TOO_MANY, "1,270 are not");
	struct profile_event e = event_of(GAPS_EXPONENTIAL, 1000, 750, 1000000);
	e.redraw = 3;
	ok(overflows_judge(&e, 750000) == OVERFLOWS_HOLD, "gaps that are kept for three samples vary more");
	e.redraw = 0;
	ok(overflows_judge(&e, 750000) == OVERFLOWS_HOLD, "and so do those of which that is not known");
	ok(judge(GAPS_JITTER, 1000, 880, 1000000) == OVERFLOWS_MISSING, "jittered gaps hardly vary");
}

static void what_a_sample_stands_for(void)
{
	struct profile_event e = event_of(GAPS_RATE, 0, 100, 1000000);
	ok(overflows_judge(&e, 990000) == OVERFLOWS_HOLD, "gaps that the kernel chose are added up");
	ok(overflows_judge(&e, 500000) == OVERFLOWS_MISSING, "and the sum is judged");
	e = event_of(GAPS_FIXED, 1000, 5000, 10000000);
	e.lost = 5000;
	ok(overflows_judge(&e, 5000000) == OVERFLOWS_HOLD, "lost samples are told apart");
	e = event_of(GAPS_FIXED, 1000, 5000, 10000000);
	e.has_total = false;
	ok(overflows_judge(&e, 5000000) == OVERFLOWS_HOLD, "without a count there is no law");
}

static bool noted(const struct profile *p, const char *text)
{
	for (size_t i = 0; i < p->n_notes; i++)
		if (strstr(p->notes[i], text))
			return true;
	return false;
}

static void notes(void)
{
	struct profile_event events[] = {
		event_of(GAPS_FIXED, 1000, 990, 1000000), event_of(GAPS_FIXED, 1000, 100, 1000000),
		event_of(GAPS_FIXED, 1000, 2000, 1000000), event_of(GAPS_NONE, 0, 0, 1000000)};
	struct profile p = {.events = events, .n_events = 4, .n_tasks = 2000};
	events[0].label = "fine", events[1].label = "short", events[2].label = "twice",
	events[3].label = "counted";
	ok(overflows_check(&p, NULL) && p.n_notes == 2, "each event that breaks the law has a note, and no other");
	ok(noted(&p, "short: the samples stand for 10 %") && noted(&p, "end before their first gap"),
	   "of many short processes: which part has samples, and why");
	ok(noted(&p, "twice: the samples stand for 200 %") && noted(&p, "do not trust"), "of too many samples");
	profile_free(&p);
	p = (struct profile){.events = &events[1], .n_events = 1, .n_tasks = 2};
	const double stood_for = 50000;
	ok(overflows_check(&p, &stood_for) && noted(&p, "short: the samples stand for 5.0 %") &&
		   noted(&p, "a longer gap") && !noted(&p, "first gap"),
	   "of two processes the reason is another");
	profile_free(&p);
}

int main(void)
{
	fixed_gaps();
	drawn_gaps();
	what_a_sample_stands_for();
	notes();
	return done();
}
