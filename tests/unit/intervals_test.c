/* Counts over time: differences of cumulative readings, shared counters, readings that fail. */
#include <string.h>

#include "measure/intervals.h"
#include "tap.h"

struct seen {
	size_t n;
	double begin[16], end[16];
	struct time_count counts[16][2];
	bool last;
};

static void tell(void *context, const struct time_interval *interval)
{
	struct seen *s = context;
	s->begin[s->n] = interval->begin_seconds;
	s->end[s->n] = interval->end_seconds;
	memcpy(s->counts[s->n], interval->counts, interval->n * sizeof *interval->counts);
	s->last = interval->last;
	s->n++;
}

static const struct event cycles = {.label = "cycles"}, loads = {.label = "loads"};
static const struct event *const events[] = {&cycles, &loads};

static struct intervals begun(struct seen *seen)
{
	struct intervals iv = {.every_ns = 100, .tell = tell, .context = seen};
	intervals_begin(&iv, events, 2, 1000);
	return iv;
}

static struct reading counted(uint64_t count, uint64_t enabled, uint64_t running)
{
	return (struct reading){.state = READING_COUNTED,
				.source = SOURCE_HW,
				.count_raw = count,
				.enabled_ns = enabled,
				.running_ns = running};
}

static void differences(void)
{
	struct seen s = {0};
	struct intervals iv = begun(&s);
	intervals_read(&iv, (struct reading[]){counted(10, 90, 90), counted(0, 90, 90)}, 1100, false);
	intervals_read(&iv, (struct reading[]){counted(35, 190, 190), counted(7, 190, 190)}, 1205, false);
	intervals_read(&iv, (struct reading[]){counted(36, 200, 200), counted(7, 200, 200)}, 1230, true);
	ok(s.n == 3 && s.last, "three intervals, and the last one is said to be");
	ok(s.counts[0][0].value == 10 && s.counts[1][0].value == 25 && s.counts[2][0].value == 1,
	   "each has its difference");
	ok(s.counts[0][1].known && s.counts[0][1].value == 0 && s.counts[1][1].value == 7, "0 is a count");
	ok(s.begin[0] == 0 && s.end[0] == s.begin[1] && s.end[1] == s.begin[2], "they touch, from the begin on");
	ok(s.counts[0][0].source == SOURCE_HW && s.counts[0][0].share_running == 1,
	   "with their source, all of the time");
	ok(iv.next_ns == 1300, "the next one ends on the grid");
	intervals_free(&iv);
}

/* A counter that tare's trials did not move: its 0 is none until the program has moved it. */
static void unproven(void)
{
	struct seen s = {0};
	struct intervals iv = begun(&s);
	struct reading still = counted(0, 90, 90), moved = counted(7, 190, 190), later = counted(7, 290, 290);
	still.unproven = moved.unproven = later.unproven = true;
	intervals_read(&iv, (struct reading[]){still, counted(0, 90, 90)}, 1100, false);
	intervals_read(&iv, (struct reading[]){moved, counted(0, 190, 190)}, 1200, false);
	intervals_read(&iv, (struct reading[]){later, counted(0, 290, 290)}, 1300, true);
	ok(!s.counts[0][0].known && s.counts[0][0].why && strstr(s.counts[0][0].why, "not known to count"),
	   "a 0 of a counter that nothing moved is not a count");
	ok(s.counts[1][0].known && s.counts[1][0].value == 7 && s.counts[2][0].known && s.counts[2][0].value == 0,
	   "once the program has moved it, it counts, and its 0 is one");
	ok(s.counts[0][1].known && s.counts[0][1].value == 0, "another event's 0 is a count");
	intervals_free(&iv);
}

static void shared_counters(void)
{
	struct seen s = {0};
	struct intervals iv = begun(&s);
	intervals_read(&iv, (struct reading[]){counted(10, 100, 50), counted(8, 100, 100)}, 1100, false);
	intervals_read(&iv, (struct reading[]){counted(10, 200, 50), counted(9, 200, 200)}, 1200, false);
	intervals_read(&iv, (struct reading[]){counted(40, 300, 150), counted(9, 300, 300)}, 1300, false);
	ok(s.counts[0][0].value == 20 && s.counts[0][0].source == SOURCE_SCALED &&
		   s.counts[0][0].share_running == 0.5,
	   "half of the time: scaled");
	ok(!s.counts[1][0].known && strstr(s.counts[1][0].why, "no counter"), "not at all: not counted, not 0");
	ok(s.counts[2][0].known && s.counts[2][0].value == 30 && s.counts[2][0].share_running == 1,
	   "all of this interval, though not of those before");
	ok(s.counts[1][1].value == 1 && s.counts[1][1].source == SOURCE_HW,
	   "its neighbour was counted all the time");
	intervals_free(&iv);
}

static void failures(void)
{
	struct seen s = {0};
	struct intervals iv = begun(&s);
	const struct reading waits = {.state = READING_NEVER_RAN, .enabled_ns = 100};
	const struct reading broke = {.state = READING_FAILED, .why = "not known so far"};
	intervals_read(&iv, (struct reading[]){waits, broke}, 1100, false);
	intervals_read(&iv, NULL, 1200, false);
	intervals_read(&iv, (struct reading[]){counted(30, 300, 200), counted(99, 300, 300)}, 1300, true);
	ok(s.n == 2 && iv.missed == 1 && s.begin[1] * 1e9 > 99 && s.begin[1] * 1e9 < 101 && s.end[1] * 1e9 > 299,
	   "readings that fail are counted, and their interval joins the next");
	ok(!s.counts[0][0].known && strstr(s.counts[0][0].why, "no counter"), "a counter that waits has no count");
	ok(s.counts[1][0].known && s.counts[1][0].value == 30, "… and counts from its start on");
	ok(!s.counts[0][1].known && strcmp(s.counts[0][1].why, "not known so far") == 0,
	   "a failure has its reason");
	ok(!s.counts[1][1].known && strstr(s.counts[1][1].why, "before this interval"),
	   "a count of the whole run is not the last interval's");
	intervals_free(&iv);
}

static void going_back(void)
{
	struct seen s = {0};
	struct intervals iv = begun(&s);
	intervals_read(&iv, (struct reading[]){counted(10, 100, 100), counted(5, 100, 100)}, 1100, false);
	intervals_read(&iv, (struct reading[]){counted(9, 200, 200), counted(5, 200, 200)}, 1950, false);
	ok(s.counts[1][0].known && s.counts[1][0].value == 0,
	   "a sum that was read in between threads is never below 0");
	ok(iv.next_ns == 2000, "late readings skip what is over");
	intervals_free(&iv);
}

int main(void)
{
	differences();
	unproven();
	shared_counters();
	failures();
	going_back();
	return done();
}
