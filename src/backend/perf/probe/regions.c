#include "backend/perf/probe/regions.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/perf/probe/costs.h"
#include "backend/perf/probe/follow.h"
#include "backend/perf/probe/places.h"
#include "backend/perf/probe/trial.h"

struct probed {
	const struct region_asked *asked;
	size_t n_asked, n_events;
	struct region_event *events;
	struct group_event *group_events;
	struct probe_places places;
	struct group_plan plan;
	struct pass_sums sums;
	struct follow_report *report;
	int *os_errno;
	struct trap_cost *costs; /* [n_events + 1]; of times; the last one is in ns of the thread */
	void *shared;
	size_t shared_bytes;
	pid_t follower;
	int control;
	struct kept_probes *kept;
};

/* ---- memory that both processes see ---- */

static void *part(struct probed *r, size_t *at, size_t bytes)
{
	void *start = (char *)r->shared + *at;
	*at += (bytes + 15) & ~(size_t)15;
	return start;
}

static bool share(struct probed *r, struct error *err)
{
	size_t at = 0, sums = r->n_asked * sizeof(struct pass_sum),
	       counts = r->n_asked * r->n_events * sizeof(uint64_t), corrections = r->n_asked * sizeof(int64_t);
	r->shared_bytes = sizeof *r->report + sums + counts + corrections +
			  (r->n_events + 1) * (sizeof *r->os_errno + sizeof *r->costs) + 160;
	r->shared = mmap(NULL, r->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r->shared == MAP_FAILED) {
		r->shared = NULL;
		return error_no_memory(err);
	}
	r->report = part(r, &at, sizeof *r->report);
	r->sums.n_regions = r->n_asked;
	r->sums.n_events = r->n_events;
	r->sums.regions = part(r, &at, sums);
	r->sums.counts = part(r, &at, counts);
	r->sums.corrections = part(r, &at, corrections);
	r->os_errno = part(r, &at, r->n_events * sizeof *r->os_errno);
	r->costs = part(r, &at, (r->n_events + 1) * sizeof *r->costs);
	return true;
}

/* ---- the follower ---- */

static ssize_t hear(int fd)
{
	char byte;
	ssize_t got;
	while ((got = read(fd, &byte, 1)) < 0 && errno == EINTR)
		;
	return got;
}

static bool start_follower(struct probed *r, const struct target *target, pid_t program, struct error *err)
{
	int pair[2];
	sigset_t all, mask;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return error_set_errno(err, ERROR_LIMIT, errno, "cannot follow the program's threads");
	struct follow_task task = {.program = program,
				   .children = target->follow_children,
				   .regions = r->asked,
				   .plan = &r->plan,
				   .primer = &r->kept->primer,
				   .sums = &r->sums,
				   .report = r->report,
				   .os_errno = r->os_errno,
				   .control = pair[1],
				   .trap_ns = r->costs[r->n_events].known ? r->costs[r->n_events].median : 0};
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask); /* tare's handlers are not for the follower */
	r->follower = fork();
	if (r->follower == 0)
		follow(&task);
	int reason = errno;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	close(pair[1]);
	r->control = pair[0];
	if (r->follower < 0) {
		r->follower = 0;
		return error_set_errno(err, ERROR_LIMIT, reason, "cannot follow the program's threads");
	}
	if (hear(r->control) == 1 && r->report->begun)
		return true;
	if (r->report->failed.code == ERROR_NONE)
		return error_set(err, ERROR_SYSTEM, "the process that follows the program's threads has died");
	if (err)
		*err = r->report->failed;
	return false;
}

/* Always true: without it counts of instructions are as they were read. */
static bool find_bias(struct probed *r, struct region_bias *kept)
{
	unsigned classes = 0;
	size_t event = 0;
	while (event < r->n_events && !(r->events[event].instructions && r->events[event].encoding))
		event++;
	if (event == r->n_events)
		return true;
	for (size_t i = 0; i < r->n_asked; i++)
		for (size_t j = 0; j < r->asked[i].n_edges; j++)
			classes |= 1u << r->asked[i].edges[j].class;
	if (!kept->tried || (classes & ~kept->classes)) {
		kept->classes |= classes;
		kept->tried = true;
		region_trial(&r->group_events[event], r->plan.uprobe_type, kept->classes, &kept->bias);
	}
	r->sums.bias = kept->bias;
	return true;
}

/* In a process of its own: only the first pass of a process is as dear as that. */
static void try_costs_once(struct probed *r)
{
	sigset_t all, mask;
	int status = 0;
	pid_t ended = -1;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	pid_t child = fork();
	if (child == 0) {
		region_trial_costs(&r->plan, r->costs);
		_exit(0);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	while (child > 0 && (ended = waitpid(child, &status, 0)) < 0 && errno == EINTR)
		;
	if (child < 0 || ended != child || status != 0)
		memset(r->costs, 0, (r->n_events + 1) * sizeof *r->costs);
}

/* An interrupt of 5 ms in the one first pass would be taken for its cost, and refuse regions of 50 ms. */
static void try_costs(struct probed *r)
{
	enum { TRIALS = 3 };
	size_t n = r->n_events + 1;
	struct trap_cost *costs = calloc(TRIALS * n, sizeof *costs);
	bool doubtful = false;
	try_costs_once(r);
	for (size_t i = 0; i < n; i++)
		doubtful |= trap_cost_is_doubtful(&r->costs[i]);
	for (size_t trial = 0; trial < TRIALS && doubtful && costs; trial++) {
		if (trial)
			try_costs_once(r);
		memcpy(costs + trial * n, r->costs, n * sizeof *costs);
	}
	for (size_t i = 0; i < n && doubtful && costs; i++) {
		const struct trap_cost trials[TRIALS] = {costs[i], costs[n + i], costs[2 * n + i]};
		r->costs[i] = trap_cost_of_three(trials);
	}
	free(costs);
}

static void find_costs(struct probed *r, struct kept_costs *kept)
{
	if (costs_find(kept, r->events, r->n_events, r->plan.n_probes, r->costs))
		return;
	try_costs(r);
	costs_keep(kept, r->events, r->n_events, r->plan.n_probes, r->costs);
}

bool probed_begin(const struct target *target, pid_t program, const struct region_event *events, size_t n,
		  struct region_bias *bias, struct probed **out, struct error *err)
{
	struct probed *r = calloc(1, sizeof *r);
	*out = NULL;
	if (!r)
		return error_no_memory(err);
	*r = (struct probed){.asked = target->regions, .n_asked = target->n_regions, .n_events = n, .control = -1};
	r->events = calloc(n + 1, sizeof *r->events);
	r->group_events = calloc(n + 1, sizeof *r->group_events);
	if (!r->events || !r->group_events) {
		error_no_memory(err);
		goto fail;
	}
	for (size_t i = 0; i < n; i++) {
		r->events[i] = events[i];
		r->group_events[i] = (struct group_event){.encoding = events[i].encoding,
							  .levels = events[i].levels,
							  .os_errno = events[i].encoding ? 0 : ENOENT};
	}
	r->plan.events = r->group_events;
	r->plan.n_events = n;
	if (!uprobe_type(&r->plan.uprobe_type, err) ||
	    !probe_places_find(target->regions, target->n_regions, &r->places, err))
		goto fail;
	r->plan.probes = r->places.all;
	r->plan.n_probes = r->places.n;
	if (!share(r, err))
		goto fail;
	find_costs(r, &bias->costs);
	r->kept = &bias->probes;
	kept_probes_hold(r->kept, &r->plan);
	if (find_bias(r, bias) && start_follower(r, target, program, err)) {
		kept_probes_checked(r->kept, &r->plan);
		*out = r;
		return true;
	}
fail:
	probed_end(r);
	return false;
}

/* ---- what was counted ---- */

/* What the traps in a region's passes cost; each thread's first one is taken to be as dear as the first of a
 * process. */
static struct measuring traps_cost(const struct trap_cost *cost, const struct pass_sum *sum, double scale)
{
	/* a function of one instruction has one trap for both ends, and no time at all between its readings */
	uint64_t traps = sum->hits > sum->exits ? sum->hits : sum->exits;
	double hits = (double)traps, threads = (double)(sum->threads < traps ? sum->threads : traps);
	double cold = cost->first > cost->median ? cost->first - cost->median : 0;
	/* each pass has one trap of its own two ends */
	uint64_t inside = sum->hits > sum->exits ? sum->hits - sum->exits : 0;
	if (!cost->known)
		return (struct measuring){.state = MEASURING_UNKNOWN};
	return (struct measuring){.state = MEASURING_INCLUDED,
				  .count = (hits * cost->median + threads * cold) * scale,
				  .half_width = hits * cost->spread * scale,
				  .inside = (double)inside * cost->median * scale};
}

/* Also counted in traps: times, cycles and the kernel's part as they are; of what else the hardware counts, most
 * of a trial's pass is the trial's own work. */
static bool has_trap_cost(const struct region_event *e) { return e->time || e->source == SOURCE_HW; }

static struct measuring event_traps_cost(const struct probed *r, size_t event, const struct pass_sum *sum)
{
	const struct region_event *e = &r->events[event];
	struct trap_cost cost = e->time ? r->costs[event] : trap_cost_alone(&r->costs[event]);
	return traps_cost(&cost, sum, e->scale);
}

/* why: the region was not followed to its end; NULL. */
static void read_count(const struct probed *r, size_t region, size_t event, const char *why, struct reading *out)
{
	const struct region_event *e = &r->events[event];
	const struct pass_sum *sum = &r->sums.regions[region];
	*out = (struct reading){.state = READING_UNSUPPORTED, .cpu = -1, .why = e->why};
	if (!e->encoding)
		return;
	if (r->os_errno[event]) {
		out->why = "the kernel does not count it in one group with the other events and the probes: ask "
			   "for fewer at once, or for --several-runs";
		return;
	}
	out->state = READING_FAILED;
	out->why = why;
	if (why)
		return;
	out->enabled_ns = sum->enabled_ns;
	out->running_ns = sum->running_ns;
	if (sum->running_ns < sum->enabled_ns)
		out->why = "the counters were shared with other events while the region ran: ask for fewer at "
			   "once, or with --several-runs";
	else {
		out->state = READING_COUNTED;
		out->source = e->source;
		out->count_raw = (uint64_t)((double)r->sums.counts[region * r->n_events + event] * e->scale + 0.5);
		if (e->scale == 1)
			out->count_raw = r->sums.counts[region * r->n_events + event];
		if (e->instructions && r->sums.bias.known) {
			out->count_raw += (uint64_t)r->sums.corrections[region];
			out->measuring = (struct measuring){.state = MEASURING_TAKEN_OFF,
							    .count = -(double)r->sums.corrections[region]};
		} else if (has_trap_cost(e)) {
			out->measuring = event_traps_cost(r, event, sum);
		}
		out->why = NULL;
	}
}

static bool keep_text(struct run *run, const char **text)
{
	return !*text || (*text = arena_strdup(&run->arena, *text)) != NULL;
}

static bool remark(const struct probed *r, struct run *run)
{
	const char *unprimed = "", *instructions = "", *more = "";
	bool corrected = false, bounded = false, unknown = false;
	for (size_t i = 0; i < r->n_events; i++) {
		const struct region_event *e = &r->events[i];
		if (!e->encoding || e->source != SOURCE_HW || e->time)
			continue;
		if (e->instructions && r->sums.bias.known)
			corrected = true;
		else if (r->costs[i].known)
			bounded = true;
		else
			unknown = true;
	}
	if (corrected && bounded)
		instructions = "; their effect on a region's instructions at user level was measured on this "
			       "machine and is subtracted; of its other hardware counts, what traps add was "
			       "measured, and --gross shows up to how much of the count it may be";
	else if (corrected)
		instructions = "; their effect on a region's instructions at user level was measured on this "
			       "machine and is subtracted";
	else if (bounded)
		instructions = "; of a region's hardware counts, what traps add was measured on this machine, and "
			       "--gross shows up to how much of the count it may be";
	if (unknown)
		more = "; some hardware counts of regions may be off by what a trap adds, which could not be "
		       "measured";

	if (r->report->unprimed &&
	    !(unprimed = arena_printf(
		      &run->arena, "; in %llu process%s the first pass includes a page fault of the probes",
		      (unsigned long long)r->report->unprimed, r->report->unprimed == 1 ? "" : "es")))
		return false;
	struct result_note *remarks = arena_alloc(&run->arena, (run->n_remarks + 1) * sizeof *remarks);
	if (!remarks)
		return false;
	for (size_t i = 0; i < run->n_remarks; i++)
		remarks[i] = run->remarks[i];
	run->remarks = remarks;
	remarks[run->n_remarks].rank = NOTE_READ;
	remarks[run->n_remarks].text = arena_printf(
		&run->arena,
		"regions were counted with probes, which trap into the kernel: the kernel's work for them is in "
		"the counts at kernel level, and in the times and faults of the whole program%s%s%s",
		instructions, more, unprimed);
	if (!remarks[run->n_remarks].text)
		return false;
	run->n_remarks++;
	return true;
}

/* What all probes of the execution cost in the whole program's counts. */
static void measure_totals(const struct probed *r, struct run *run)
{
	/* as traps_cost() has it: each thread's first trap is as dear as the first of a process */
	struct pass_sum all = {.hits = r->report->hits, .threads = r->report->threads};
	run->probes_ns = (uint64_t)traps_cost(&r->costs[r->n_events], &all, 1).count;
	/* putting a probe in and taking it out: about 10 ms were seen, of each */
	run->probes_elapsed_ns = run->probes_ns + r->plan.n_probes * (uint64_t)20000000;
	for (size_t i = 0; i < r->n_events && i < run->n_events; i++)
		if (all.hits && has_trap_cost(&r->events[i]) && run->n_rows == 1 &&
		    run->readings[i].state == READING_COUNTED)
			run->readings[i].measuring = event_traps_cost(r, i, &all);
}

static const char *too_dear(const struct probed *r, struct run *run, const struct run_region *region)
{
	return arena_printf(&run->arena,
			    "entered at least %llu time%s: by then the probes took more than nine tenths of the "
			    "time, %.2g us each, and tare removed them; --on exact counts it",
			    (unsigned long long)region->entries, region->entries == 1 ? "" : "s",
			    r->costs[r->n_events].median / 1000);
}

bool probed_stop(struct probed *r, struct run *run, struct error *err)
{
	if (send(r->control, "s", 1, MSG_NOSIGNAL) != 1 || hear(r->control) != 1)
		snprintf(r->report->why, sizeof r->report->why,
			 "the process that follows the program's threads has died");
	run->regions = arena_alloc(&run->arena, (r->n_asked + 1) * sizeof *run->regions);
	if (!run->regions || !remark(r, run))
		return error_no_memory(err);
	measure_totals(r, run);
	for (size_t i = 0; i < r->n_asked; i++) {
		const struct pass_sum *sum = &r->sums.regions[i];
		struct run_region *out = &run->regions[i];
		*out = (struct run_region){.name = r->asked[i].name,
					   .text = r->asked[i].text,
					   .kind = r->asked[i].kind,
					   .entries = sum->entries,
					   .exits = sum->exits,
					   .unbalanced = sum->unbalanced,
					   .threads = sum->threads,
					   .why = r->report->why[0] ? r->report->why : NULL};
		out->least = r->report->too_dear ? sum->entries : 0;
		if (r->report->too_dear && !(out->why = too_dear(r, run, out)))
			return error_no_memory(err);
		out->readings = arena_alloc(&run->arena, (r->n_events + 1) * sizeof *out->readings);
		if (!out->readings || !keep_text(run, &out->name) || !keep_text(run, &out->text) ||
		    !keep_text(run, &out->why))
			return error_no_memory(err);
		for (size_t event = 0; event < r->n_events; event++) {
			read_count(r, i, event, out->why, &out->readings[event]);
			if (!keep_text(run, &out->readings[event].why))
				return error_no_memory(err);
		}
	}
	run->n_regions = r->n_asked;
	return true;
}

void probed_end(struct probed *r)
{
	if (!r)
		return;
	if (r->control >= 0)
		close(r->control); /* the follower ends at that, if it has not yet */
	if (r->follower > 0)
		while (waitpid(r->follower, NULL, 0) < 0 && errno == EINTR)
			;
	if (r->report && r->report->primer[0])
		kept_probes_set_primer(r->kept, r->report->primer, r->report->primer_offset);
	if (r->shared)
		munmap(r->shared, r->shared_bytes);
	free(r->events);
	free(r->group_events);
	probe_places_free(&r->places);
	free(r);
}

void region_bias_free(struct region_bias *bias)
{
	if (bias)
		kept_probes_free(&bias->probes);
	free(bias);
}
