/* Samples, switches and looks of planted threads, joined: each wait has the time from out to in, of the place where
 * its thread was sampled, in the call in which it was seen. */
#include <stdio.h>

#include "explain/off_cpu.h"
#include "tap.h"

static struct off_cpu_event sample(uint64_t at, uint32_t tid, uint32_t place)
{
	return (struct off_cpu_event){.time_ns = at, .tid = tid, .kind = OFF_CPU_SAMPLE, .place = place};
}
static struct off_cpu_event leaves(uint64_t at, uint32_t tid)
{
	return (struct off_cpu_event){.time_ns = at, .tid = tid, .kind = OFF_CPU_OUT};
}
static struct off_cpu_event preempted(uint64_t at, uint32_t tid)
{
	return (struct off_cpu_event){.time_ns = at, .tid = tid, .kind = OFF_CPU_OUT, .preempted = true};
}
static struct off_cpu_event comes(uint64_t at, uint32_t tid)
{
	return (struct off_cpu_event){.time_ns = at, .tid = tid, .kind = OFF_CPU_IN};
}
static struct off_cpu_event look(uint64_t at, uint32_t tid, long call)
{
	return (struct off_cpu_event){.time_ns = at, .tid = tid, .kind = OFF_CPU_LOOK, .call = call};
}

static bool is(const struct off_cpu *off, size_t i, uint32_t place, long call, uint64_t waits, uint64_t ns)
{
	if (i >= off->waits.count)
		return false;
	const struct off_cpu_wait *w = &off->waits.items[i];
	return w->place == place && w->call == call && w->waits == waits && w->ns == ns;
}

#define JOIN(off, ...)                                                                                            \
	struct off_cpu_event events[] = {__VA_ARGS__};                                                            \
	ok(off_cpu_join(events, sizeof events / sizeof *events, &(off)), "%s: joined", __func__)

static void one_thread(void)
{
	struct off_cpu off;
	/* as they come: samples apart from switches, looks at the end */
	JOIN(off, sample(100, 7, 11), sample(500, 7, 22), sample(900, 7, 11), leaves(100, 7), comes(400, 7),
	     leaves(500, 7), comes(600, 7), leaves(900, 7), comes(950, 7), look(200, 7, 0), look(920, 7, 0),
	     look(550, 7, 202));
	ok(off.waits.count == 2, "waits of one place and one call are one row");
	ok(is(&off, 0, 11, 0, 2, 350), "whose time is from out to in, of all of them: the longest first");
	ok(is(&off, 1, 22, 202, 1, 100), "another place is another row");
	ok(off.preempted_ns == 0 && off.unended == 0, "nothing else");
	off_cpu_free(&off);
}

static void preemption(void)
{
	struct off_cpu off;
	JOIN(off, sample(100, 7, 11), preempted(100, 7), look(150, 7, 3), comes(300, 7), sample(400, 7, 22),
	     leaves(400, 7), comes(410, 7));
	ok(off.preempted_ns == 200, "a preempted thread is ready, not waiting");
	ok(off.waits.count == 1 && is(&off, 0, 22, OFF_CPU_NO_CALL, 1, 10),
	   "a wait that no look fell into is of no known call: not of the one before");
	off_cpu_free(&off);
}

static void threads(void)
{
	struct off_cpu off;
	JOIN(off, sample(10, 1, 5), leaves(10, 1), sample(20, 2, 6), leaves(20, 2), look(25, 1, 100),
	     look(26, 2, 200), comes(30, 2), comes(50, 1));
	ok(off.waits.count == 2 && is(&off, 0, 5, 100, 1, 40) && is(&off, 1, 6, 200, 1, 10),
	   "threads that wait at a time have each their own place, call and time");
	off_cpu_free(&off);
}

static void edges(void)
{
	struct off_cpu off;
	JOIN(off, comes(5, 1), leaves(10, 1), comes(15, 1), sample(20, 1, 9), leaves(20, 1), look(30, 1, 7),
	     look(40, 1, 8));
	ok(off.waits.count == 1 && is(&off, 0, OFF_CPU_NO_PLACE, OFF_CPU_NO_CALL, 1, 5),
	   "a wait without a sample has no place; a coming without a leaving is no wait");
	ok(off.unended == 1, "a wait that was not seen to end has no time");
	off_cpu_free(&off);
}

static void renewed(void)
{
	struct off_cpu off;
	JOIN(off, sample(10, 1, 9), leaves(10, 1), look(12, 1, 7), look(14, 1, 8), comes(20, 1), leaves(30, 1),
	     comes(60, 1));
	ok(off.waits.count == 2 && is(&off, 0, OFF_CPU_NO_PLACE, OFF_CPU_NO_CALL, 1, 30) &&
		   is(&off, 1, 9, 8, 1, 10),
	   "the last look counts; and a sample is of one leaving alone");
	off_cpu_free(&off);
}

static void none(void)
{
	struct off_cpu off;
	ok(off_cpu_join(NULL, 0, &off) && off.waits.count == 0 && off.preempted_ns == 0,
	   "of nothing there is nothing");
	off_cpu_free(&off);
}

int main(void)
{
	one_thread();
	preemption();
	threads();
	edges();
	renewed();
	none();
	return done();
}
