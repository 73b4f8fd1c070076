/* See calibration.h. */
#include "api/calibration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/calibration_passes.h"
#include "api/interrupts.h"
#include "api/own_add.h"
#include "api/stubs.h"
#include "base/order.h"
#include "measure/measure.h"

enum { PASSES = 33, WARM_UPS = 2 };

/* The shortest time between the kernel's ticks (CONFIG_HZ=1000). */
static const double TICK_NS = 1e6;

/* What a user read that is made again takes, in empty regions by calls: a bound of what was seen. */
static const double AGAIN_MOST = 2;

/* ---- passes ---- */

/* Those of calibration_passes.h by stubs 98 (around) and 99 (other), called as assembly calls them. */
enum { STUB_AROUND = TARE_ASM_REGIONS - 2, STUB_OTHER = TARE_ASM_REGIONS - 1 };
void tare_asm_begin_98(void);
void tare_asm_end_98(void);
void tare_asm_begin_99(void);
void tare_asm_end_99(void);

#if defined(__x86_64__)
/* below the red zone, at a stack that is aligned; they change nothing */
#define CALLS_4(a, b, c, d)                                                                                       \
	__asm__ volatile("lea -128(%%rsp), %%rsp\n call *%0\n call *%1\n call *%2\n call *%3\n"                   \
			 "lea 128(%%rsp), %%rsp"                                                                  \
			 :                                                                                        \
			 : "r"(a), "r"(b), "r"(c), "r"(d)                                                         \
			 : "memory")
#define CALLS_2(a, b)                                                                                             \
	__asm__ volatile("lea -128(%%rsp), %%rsp\n call *%0\n call *%1\n lea 128(%%rsp), %%rsp"                   \
			 :                                                                                        \
			 : "r"(a), "r"(b)                                                                         \
			 : "memory")
#elif defined(__aarch64__)
#define CALLS_4(a, b, c, d)                                                                                       \
	__asm__ volatile("blr %0\n blr %1\n blr %2\n blr %3"                                                      \
			 :                                                                                        \
			 : "r"(a), "r"(b), "r"(c), "r"(d)                                                         \
			 : "memory", "x3"                                                                         \
				     "0")
#define CALLS_2(a, b) __asm__ volatile("blr %0\n blr %1" : : "r"(a), "r"(b) : "memory", "x30")
#endif

PASS empty_stub_pass(void) { CALLS_2(tare_asm_begin_98, tare_asm_end_98); }

PASS enter_stub_pass(void) { CALLS_4(tare_asm_begin_98, tare_asm_begin_99, tare_asm_end_98, tare_asm_end_99); }

PASS leave_stub_pass(void) { CALLS_4(tare_asm_begin_99, tare_asm_begin_98, tare_asm_end_99, tare_asm_end_98); }

/* ---- measuring ---- */

/* Of each event, over some passes; NAN where one of them was not counted all the time. */
struct pass_measured {
	double median[TARE_EVENTS_MOST], most[TARE_EVENTS_MOST];
};

static bool measure_passes(void (*pass)(void), size_t n_events, struct pass_measured *out)
{
	struct tare_reading before[TARE_EVENTS_MOST], after[TARE_EVENTS_MOST];
	double *counts = calloc(n_events * PASSES, sizeof *counts);
	bool done = counts != NULL;
	for (unsigned i = 0; i < WARM_UPS; i++)
		pass();
	for (unsigned i = 0; done && i < PASSES; i++) {
		done = tare_region_read(around, TARE_THREAD, NULL, before, NULL);
		pass();
		done = done && tare_region_read(around, TARE_THREAD, NULL, after, NULL);
		for (size_t e = 0; done && e < n_events; e++)
			counts[e * PASSES + i] = after[e].state == TARE_COUNTED
							 ? (double)(after[e].count - before[e].count)
							 : NAN;
	}
	for (size_t e = 0; done && e < n_events; e++) {
		double *of_event = counts + e * PASSES, all = 0;
		for (unsigned i = 0; i < PASSES; i++)
			all += of_event[i];
		qsort(of_event, PASSES, sizeof *of_event, order_doubles);
		out->median[e] = isnan(all) ? NAN : of_event[PASSES / 2];
		out->most[e] = isnan(all) ? NAN : of_event[PASSES - 1];
	}
	free(counts);
	return done;
}

/* What the calls of one interface count; enter and leave with the region around them. */
struct measured {
	struct pass_measured region, enter, leave;
	double first
		[TARE_EVENTS_MOST]; /* the most of an enter that is the region's first in its thread, likewise */
};

enum { FIRSTS = 6 };

/* fresh[]: regions that nobody entered yet. */
static bool measure_firsts(void (*enter)(void), bool stubs, struct tare_region *const *fresh, size_t n,
			   double *out)
{
	struct tare_reading before[TARE_EVENTS_MOST], after[TARE_EVENTS_MOST];
	struct tare_region *usual = other;
	bool done = true;
	for (size_t e = 0; e < n; e++)
		out[e] = 0;
	for (unsigned i = 0; done && i < FIRSTS; i++) {
		other = fresh[i];
		if (stubs)
			atomic_store(&stub_regions[STUB_OTHER], other);
		done = tare_region_read(around, TARE_THREAD, NULL, before, NULL);
		enter();
		done = done && tare_region_read(around, TARE_THREAD, NULL, after, NULL);
		for (size_t e = 0; done && e < n; e++) {
			double count = (double)(after[e].count - before[e].count);
			out[e] = count > out[e] ? count : out[e];
		}
	}
	other = usual;
	return done;
}

static bool measure_interface(void (*empty)(void), void (*enter)(void), void (*leave)(void), bool stubs, size_t n,
			      struct measured *out)
{
	static const char *const names[2] = {"tare: calibration, fresh", "tare: calibration, fresh stub"};
	struct tare_region *fresh[FIRSTS];
	char name[64];
	if (!measure_passes(empty, n, &out->region) || !measure_passes(enter, n, &out->enter) ||
	    !measure_passes(leave, n, &out->leave))
		return false;
	for (unsigned i = 0; i < FIRSTS; i++) {
		snprintf(name, sizeof name, "%s %u", names[stubs], i);
		if (!(fresh[i] = tare_region(name, NULL)))
			return false;
	}
	return measure_firsts(enter, stubs, fresh, n, out->first);
}

/* Regions of its own, in two numbers for the time being. */
static bool measure_stubs(size_t n, struct measured *out)
{
	struct tare_region *had[2] = {atomic_exchange(&stub_regions[STUB_AROUND], around),
				      atomic_exchange(&stub_regions[STUB_OTHER], other)};
	bool done = measure_interface(empty_stub_pass, enter_stub_pass, leave_stub_pass, true, n, out);
	atomic_store(&stub_regions[STUB_AROUND], had[0]);
	atomic_store(&stub_regions[STUB_OTHER], had[1]);
	return done;
}

/* ---- what is kept, and what is here ---- */

static double larger(double a, double b) { return a > b ? a : b; }

/* What a compiler may put around a call more or less than in the passes here: a jump back from a call that it
 * moved out of the way, one or two moves of the region's handle, the flag's address from a table. Read off three
 * shapes of call sites (handle in a global, a static around a loop, an argument inside one) as gcc 12 and clang 14
 * translate them at -O2 for x86-64 and aarch64; a bound of what was seen, not of what compilers may do. (At -O0
 * begin and end are functions of their own: some 15 instructions more, which stay in the count.) */
static const struct {
	const char *event;
	double more_or_less;
} call_sites[] = {{"instructions", 3},          {"loads", 2},    {"data-reads", 2},
		  {"memory-instructions", 2},   {"branches", 1}, {"taken-branches", 1},
		  {"unconditional-branches", 1}};

static double call_site(const struct event *event)
{
	for (size_t i = 0; event->definition && i < sizeof call_sites / sizeof *call_sites; i++)
		if (strcmp(event->definition->name, call_sites[i].event) == 0)
			return call_sites[i].more_or_less;
	return 0;
}

static struct pass_cost cost_of(const struct overhead *kept, double here, double site)
{
	return (struct pass_cost){.value = here, .sd = kept->sd, .n = (double)kept->n, .site = site};
}

static bool set_costs(const struct calibration *c, const char *event, enum interface interface,
		      const struct measured *here, size_t e, double site, struct pass_costs *out)
{
	const struct overhead *region = calibration_overhead(c, event, interface, OVERHEAD_REGION, false),
			      *enter = calibration_overhead(c, event, interface, OVERHEAD_ENTER, false),
			      *leave = calibration_overhead(c, event, interface, OVERHEAD_LEAVE, false);
	double one = here->region.median[e];
	if (!region || !region->constant || isnan(one))
		return false;
	out->region = cost_of(region, one, site);
	out->t = interval_factor(region->half_width, region->sd, (double)region->n);
	if (enter && leave && !isnan(here->enter.median[e]) && !isnan(here->leave.median[e])) {
		out->has_enter_leave = true;
		out->first_enter = larger(here->first[e] - here->enter.median[e], 0);
		out->enter = cost_of(enter, here->enter.median[e] - one, site);
		out->leave = cost_of(leave, here->leave.median[e] - one, site);
	}
	return true;
}

/* The most that was seen, in the calibration's processes and here: those count one event at a time, and more
 * events take longer to read. What a first pass costs more is only known of them. */
static void set_bound(const struct calibration *c, const char *event, enum interface interface,
		      const struct measured *here, size_t e, struct event_tare *out)
{
	const struct overhead *first = calibration_overhead(c, event, interface, OVERHEAD_REGION, true),
			      *later = calibration_overhead(c, event, interface, OVERHEAD_REGION, false),
			      *enter = calibration_overhead(c, event, interface, OVERHEAD_ENTER, false),
			      *leave = calibration_overhead(c, event, interface, OVERHEAD_LEAVE, false);
	double one = here->region.median[e];
	if (!first || !later || !enter || !leave || later->constant || isnan(one) || isnan(here->enter.most[e]) ||
	    isnan(here->leave.most[e]))
		return;
	double share = later->median > 0 && one > later->median ? one / later->median : 1;
	out->bounded = true;
	out->bound_pass = larger(later->most, here->region.most[e]);
	out->bound_first = larger(first->most * share, out->bound_pass);
	out->bound_enter = larger(larger(enter->most, here->enter.most[e] - one), 0);
	out->bound_leave = larger(larger(leave->most, here->leave.most[e] - one), 0);
}

static void load(struct region_tare *tare)
{
	struct machine_facts facts;
	struct arena arena = {0};
	struct error err = {0};
	char *path = calibration_path(&err);
	bool read = path && calibration_load(path, &tare->calibration, &err);
	if (read && measure_machine_facts(&arena, &facts)) {
		struct calibrated_machine machine = {.cpu = facts.cpu,
						     .architecture = facts.architecture,
						     .kernel = facts.kernel,
						     .tare_version = TARE_VERSION,
						     .cpus = facts.cpus};
		tare->here = calibration_fits(&tare->calibration, &machine, tare->why, sizeof tare->why);
	} else if (!(path && err.code == ERROR_NOT_FOUND)) {
		snprintf(tare->why, sizeof tare->why, "%.200s", err.text);
	}
	arena_free(&arena);
	free(path);
}

bool region_of_stub(const struct tare_region *region)
{
	for (unsigned i = 0; i < TARE_ASM_REGIONS; i++)
		if (atomic_load(&stub_regions[i]) == region)
			return true;
	return false;
}

struct region_tare *region_tare_new(const struct region_set *r)
{
	size_t n = r->model->events.count;
	struct region_tare *tare = calloc(1, sizeof *tare);
	struct measured *calls = calloc(2, sizeof *calls), *stubs = calls + 1;
	if (!tare || !calls) {
		free(tare);
		free(calls);
		return NULL;
	}
	const char *gross = secure_getenv("TARE_GROSS");
	tare->gross = gross && *gross && strcmp(gross, "0") != 0;
	tare_region_reads(TARE_PROCESS, &tare->reads);
	load(tare);
	if (!tare->here)
		goto out;
	tare->mixed_reads = tare->reads.by_user && tare->reads.by_call;
	enum interface interface = tare->reads.by_user ? INTERFACE_LIBRARY_USER : INTERFACE_LIBRARY_READ;
	bool has_calls = false, has_stubs = false;
	double interrupts[TARE_EVENTS_MOST] = {0};
	int on = __atomic_exchange_n(&tare_regions_on, 1, __ATOMIC_RELAXED);
	around = tare_region("tare: calibration, around", NULL);
	other = tare_region("tare: calibration, other", NULL);
	has_calls = around && other && measure_interface(empty_pass, enter_pass, leave_pass, false, n, calls);
	has_stubs = has_calls && measure_stubs(n, stubs);
	has_calls = has_calls && interrupts_measure(n, interrupts);
	__atomic_store_n(&tare_regions_on, on, __ATOMIC_RELAXED);
	for (size_t e = 0; e < n; e++) {
		struct event_tare *event = &tare->events[e];
		const char *name = tare_event_name(r->model, e);
		event->interrupt = r->model->events.items[e].event.levels == LEVEL_USER ? interrupts[e] : 0;
		event->subtracts = has_calls &&
				   set_costs(&tare->calibration, name, interface, calls, e,
					     call_site(&r->model->events.items[e].event), &event->calls);
		event->has_stubs = has_stubs && set_costs(&tare->calibration, name, INTERFACE_STUBS, stubs, e, 0,
							  &event->stubs);
		if (has_calls)
			set_bound(&tare->calibration, name, interface, calls, e, event);
	}
out:
	free(calls);
	return tare;
}

void region_tare_free(struct region_tare *tare)
{
	if (!tare)
		return;
	calibration_free(&tare->calibration);
	free(tare);
}

void region_net(const struct region_tare *tare, const struct tare_region *region, size_t event,
		const struct region_sums *sums, uint64_t others, struct net_count *out)
{
	const struct event_tare *e = &tare->events[event];
	const struct tare_reading *reading = &sums->readings[event];
	bool stub = region_of_stub(region), calls_inside = sums->inside[0] || sums->inside[1];
	*out = (struct net_count){.state = NET_GROSS};
	if (reading->state != TARE_COUNTED)
		return;
	struct pass_counts counts = {.passes = (double)(sums->passes.exits - sums->strays),
				     .enters = (double)sums->inside[0],
				     .leaves = (double)sums->inside[1],
				     .again = (double)sums->inside[2]};
	/* a first enter may have been inside for each other region that the threads know, and not more often than
	 * any */
	counts.first_enters = (double)others < counts.enters ? (double)others : counts.enters;
	if (e->bounded) {
		double first = (double)sums->passes.threads;
		out->bounded = true;
		out->bound = first * e->bound_first + larger(counts.passes - first, 0) * e->bound_pass +
			     counts.enters * e->bound_enter + counts.leaves * e->bound_leave;
		if (out->bound > (double)reading->count)
			out->bound = (double)reading->count;
	}
	/* whose calls are inside is known when all regions are of one kind */
	if ((stub ? !e->has_stubs : !e->subtracts) || (calls_inside && tare->stubs_used && tare->calls_used))
		return;
	struct pass_costs costs = stub ? e->stubs : e->calls;
	subtract((double)reading->count, &costs, &counts, &out->s);
	if (out->s.state == NOT_SUBTRACTED)
		return;
	/* some of the passes may have been read the other way, at a cost that is at most the larger one's */
	double other_way = (double)tare->reads.by_call;
	if (tare->mixed_reads)
		subtraction_widen(&out->s,
				  (other_way < counts.passes ? other_way : counts.passes) * costs.region.value);
	/* A user read that the kernel comes into is made again: at an end in its region's count, at a begin in
	 * those of the regions around. An empty region by calls has about as much (seen: 78 instructions of 77 by
	 * one event, 122 of 128 by three); a stub saves registers besides, once. */
	if (tare->reads.by_user) {
		double again = AGAIN_MOST * (e->subtracts ? e->calls : costs).region.value;
		subtraction_widen(&out->s, larger((double)reading->running_ns / TICK_NS * costs.region.value,
						  (double)tare->reads.again * again));
	}
	subtraction_widen(&out->s, e->interrupt * ((double)sums->faults + interrupts_most(reading->running_ns)));
	if (!own_add_whole)
		subtraction_widen(&out->s, (double)reading->running_ns / TICK_NS * OWN_ADD_AGAIN);
	out->state = out->s.state == SUBTRACTED ? NET_SUBTRACTED : NET_REFUSED;
}
