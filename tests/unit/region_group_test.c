/* Groups of counters and probes on this process: what arrives, what is lost, and what cannot be probed. Needs uprobes (root). */
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend/perf/probe/costs.h"
#include "backend/perf/probe/group.h"
#include "backend/perf/probe/places.h"
#include "backend/perf/probe/trace.h"
#include "backend/perf/probe/trial.h"
#include "tap.h"

__attribute__((noinline)) static void probed(void) { __asm__ volatile(""); }

static bool file_of(const void *address, char *path, uint64_t *offset)
{
	char line[PATH_MAX + 128];
	unsigned long long from, to, start;
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps && !found && fgets(line, sizeof line, maps)) {
		int at = 0;
		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &from, &to, &start, &at) < 3 ||
		    (uintptr_t)address < from || (uintptr_t)address >= to)
			continue;
		line[strcspn(line, "\n")] = '\0';
		strcpy(path, line + at);
		*offset = (uintptr_t)address - from + start;
		found = true;
	}
	if (maps)
		fclose(maps);
	return found;
}

static struct region_edge edge = {.kind = EDGE_ENTER, .frame_register = EDGE_NO_REGISTER};
static const struct region_asked asked = {.name = "f", .kind = REGION_CODE, .edges = &edge, .n_edges = 1};

struct bench {
	struct pass_sum sum;
	uint64_t count;
	int64_t correction;
	struct pass_sums sums;
	struct thread_passes *passes;
	struct group_event event;
	struct event_encoding encoding;
	struct edge_ref ref;
	struct probe_place probe;
	struct group_plan plan;
	struct probe_group *group;
};

static bool begin(struct bench *b, const char *path, uint64_t offset, uint32_t type, size_t pages)
{
	size_t bad;
	*b = (struct bench){
		.encoding = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .scale = 1}};
	// clang-format off: a table, a row a line
	b->sums = (struct pass_sums){.n_regions = 1,
				     .n_events = 1,
				     .regions = &b->sum,
				     .counts = &b->count,
				     .corrections = &b->correction};
	// clang-format on
	b->event = (struct group_event){.encoding = &b->encoding, .levels = LEVEL_USER | LEVEL_KERNEL};
	b->probe = (struct probe_place){.module = path, .offset = offset, .edges = &b->ref, .n_edges = 1};
	b->plan = (struct group_plan){
		.events = &b->event, .n_events = 1, .probes = &b->probe, .n_probes = 1, .uprobe_type = type};
	b->passes = passes_new(&asked, &b->sums);
	return b->passes && group_open(&b->plan, 0, pages, &b->group, &bad) && group_enable(b->group);
}

static void end(struct bench *b)
{
	group_close(b->group);
	passes_end(b->passes);
}

/* A trial in which an interrupt of 5 ms met the first pass. */
static void interrupted(void)
{
	const struct trap_cost usual = {true, 5000, 1600, 35000}, hit = {true, 5300, 1500, 5340000}, unknown = {0},
			       faults = {true, 0, 0, 1};
	const struct trap_cost three[3] = {hit, usual, {true, 4900, 1700, 33000}}, two[3] = {hit, usual, unknown},
			       dear[3] = {hit, hit, usual};
	ok(trap_cost_is_doubtful(&hit) && !trap_cost_is_doubtful(&usual),
	   "a first pass of a thousand usual ones is doubtful");
	ok(!trap_cost_is_doubtful(&unknown) && !trap_cost_is_doubtful(&faults),
	   "what is not known is not, nor is a page fault");
	struct trap_cost cost = trap_cost_of_three(three);
	ok(cost.known && cost.first == 35000 && cost.spread == 1600, "of three trials the middle one holds");
	const struct trap_cost branches = {.known = true, .median = 23, .spread = 1, .first = 25, .own = 21},
			       hidden = {.known = true, .median = 20, .own = 21};
	struct trap_cost alone = trap_cost_alone(&branches);
	ok(alone.known && alone.median == 2 && alone.first == 4 && alone.spread == 1,
	   "of a pass's count, what is not of the trial's own work is the trap's");
	ok(trap_cost_alone(&hidden).median == 0, "where that is less than nothing, it adds nothing");
	ok(!trap_cost_of_three(two).known, "with one that failed nothing is known");
	ok(trap_cost_of_three(dear).first == 5340000, "where it is dear twice it is dear");
}

/* Groups of one event, each of another number. */
static bool finds(const struct kept_costs *kept, uint64_t config, unsigned levels, size_t n_probes, double median)
{
	struct event_encoding encoding = {.type = PERF_TYPE_RAW, .config = config};
	struct region_event event = {.encoding = &encoding, .levels = levels};
	struct trap_cost found[2];
	return costs_find(kept, &event, 1, n_probes, found) && found[0].median == median && found[1].median == 7;
}

static void keep(struct kept_costs *kept, uint64_t config, size_t n_probes, double median)
{
	struct event_encoding encoding = {.type = PERF_TYPE_RAW, .config = config};
	struct region_event event = {.encoding = &encoding, .levels = LEVEL_USER};
	const struct trap_cost costs[2] = {{.known = true, .median = median}, {.known = true, .median = 7}};
	costs_keep(kept, &event, 1, n_probes, costs);
}

static void kept(void)
{
	static struct kept_costs costs;
	ok(!finds(&costs, 1, LEVEL_USER, 2, 100), "before a group was tried nothing is known of its traps");
	keep(&costs, 1, 2, 100);
	keep(&costs, 2, 2, 200);
	keep(&costs, 1, 3, 300);
	ok(finds(&costs, 1, LEVEL_USER, 2, 100) && finds(&costs, 2, LEVEL_USER, 2, 200),
	   "groups that take turns are both known after it");
	ok(finds(&costs, 1, LEVEL_USER, 3, 300), "with more probes it is another group");
	ok(!finds(&costs, 1, LEVEL_KERNEL, 2, 100), "so it is at another level");
	for (uint64_t i = 0; i < GROUPS_KEPT; i++)
		keep(&costs, 10 + i, 2, 1000 + (double)i);
	ok(!finds(&costs, 1, LEVEL_USER, 2, 100) && finds(&costs, 10, LEVEL_USER, 2, 1000) &&
		   finds(&costs, 9 + GROUPS_KEPT, LEVEL_USER, 2, 999 + GROUPS_KEPT),
	   "the oldest ones make room");
}

int main(void)
{
	char path[PATH_MAX];
	uint64_t offset = 0;
	uint32_t type;
	struct bench b;
	struct error err;
	interrupted();
	kept();
	if (!uprobe_type(&type, &err)) {
		skip(err.text, "hits of probes arrive");
		return done();
	}
	if (!ok(file_of((const void *)(uintptr_t)probed, path, &offset), "this program's code is of a file"))
		return done();
	edge.module = path;
	if (!begin(&b, path, offset, type, 16)) {
		skip(strerror(errno), "hits of probes arrive");
		return done();
	}
	for (int i = 0; i < 100; i++)
		probed();
	ok(group_drain(b.group, b.passes) && group_hits(b.group) == 100 && !group_incomplete(b.group),
	   "every hit arrives");
	for (int i = 0; i < 100; i++)
		probed();
	ok(group_incomplete(b.group), "hits that are not taken over yet are missing");
	ok(group_drain(b.group, b.passes) && group_hits(b.group) == 200 && !group_incomplete(b.group),
	   "until they are");
	end(&b);

	if (begin(&b, path, offset, type, 1)) {
		for (int i = 0; i < 1000; i++)
			probed();
		bool drained = group_drain(b.group, b.passes);
		probed(); /* the kernel says that it lost some with the next one that it has room for */
		drained = group_drain(b.group, b.passes) && drained;
		ok(!drained && group_incomplete(b.group) && group_hits(b.group) < 1000,
		   "hits that find the buffer full are known to be lost (%d arrived)", (int)group_hits(b.group));
	}
	end(&b);

	/* the second event cannot be opened, the third counts nothing in an empty pass */
	struct event_encoding encodings[] = {
		{.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK},
		{.type = PERF_TYPE_SOFTWARE, .config = 999},
		{.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CONTEXT_SWITCHES}};
	struct group_event events[3];
	for (int i = 0; i < 3; i++)
		events[i] = (struct group_event){.encoding = &encodings[i], .levels = LEVEL_USER | LEVEL_KERNEL};
	struct probe_place places[5] = {{.module = path}};
	struct group_plan plan = {
		.events = events, .n_events = 3, .probes = places, .n_probes = 5, .uprobe_type = type};
	struct trap_cost costs[4]; /* the last one in ns */
	region_trial_costs(&plan, costs);
	ok(costs[0].known && costs[0].median > 0 && costs[0].spread >= 0 && costs[0].first > 0,
	   "a trap costs time (%.0f ns, + %.0f, the first one %.0f)", costs[0].median, costs[0].spread,
	   costs[0].first);
	ok(!costs[1].known, "of an event that cannot be opened nothing is known");
	ok(costs[2].known && costs[2].median == 0, "of one that traps do not count, 0 is");
	ok(events[1].os_errno == 0, "and the plan is as it was");

	/* in the middle of this program's first page: no code is there */
	b = (struct bench){0};
	b.probe = (struct probe_place){.module = path, .offset = offset};
	b.plan = (struct group_plan){.probes = &b.probe, .n_probes = 1, .uprobe_type = type};
	ok(probe_check(&b.plan, 0), "a place that can be probed is one");
	b.probe.offset = 1ull << 40;
	ok(!probe_check(&b.plan, 0), "one behind the file's end is none");

	struct trace_probes trace;
	struct probe_place place = {.module = path, .offset = offset};
	trace_probes_open(&trace);
	trace_probes_define(&trace, &place, 1);
	if (place.trace_id)
		ok(trace.n == 1, "a probe is an event of tracefs");
	else
		skip("tracefs cannot be had here", "a probe is an event of tracefs");
	trace_probes_remove(&trace);
	return done();
}
