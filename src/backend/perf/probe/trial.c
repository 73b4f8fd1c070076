#include "backend/perf/probe/trial.h"

#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

/*
 * Each function: an instruction of its class, MIDDLE plain ones, one more plain one (at name_middle), MIDDLE, a
 * return (at name_end). From the first reading to the second one: the trap of the second, the first instruction if
 * it is counted, MIDDLE.
 */
enum { MIDDLE = 8, ROUNDS = 5 };

#if defined(__aarch64__)
#define PLAIN "add x1, x1, #1\n"
#define TYPE "%function"
#define AFTER_PUSH "ldp x29, x30, [sp], #16\n"
#define PUSH "stp x29, x30, [sp, #-16]!\n"
#define BRANCH "b 1f\n1:\n"
#elif defined(__x86_64__)
#define PLAIN "add $1, %rax\n"
#define TYPE "@function"
#define AFTER_PUSH "pop %rbp\n"
#define PUSH "push %rbp\n"
#define BRANCH "jmp 1f\n1:\n"
#endif

#ifdef PLAIN
#define EIGHT PLAIN PLAIN PLAIN PLAIN PLAIN PLAIN PLAIN PLAIN
/* `after` is one of the eight of the second part */
#define FUNCTION(name, first, after)                                                                              \
	__asm__(".text\n.balign 16\n.type " name ", " TYPE "\n" name ":\n" first EIGHT ".type " name              \
		"_middle, " TYPE "\n" name "_middle:\n" PLAIN EIGHT after ".type " name "_end, " TYPE "\n" name   \
		"_end:\nret\n.size " name ", .-" name "\n");

FUNCTION("tare_trial_stepped", PLAIN, "")
FUNCTION("tare_trial_twin", PLAIN, "")
FUNCTION("tare_trial_branch", BRANCH, "")
FUNCTION("tare_trial_nothing", "nop\n", "")
FUNCTION("tare_trial_push", PUSH, AFTER_PUSH)

#define DECLARE(name)                                                                                             \
	extern const char name[] __attribute__((visibility("hidden"))),                                           \
		name##_middle[] __attribute__((visibility("hidden"))),                                            \
		name##_end[] __attribute__((visibility("hidden")))
DECLARE(tare_trial_stepped);
extern const char tare_trial_twin[] __attribute__((visibility("hidden")));
DECLARE(tare_trial_branch);
DECLARE(tare_trial_nothing);
DECLARE(tare_trial_push);

static const struct tried {
	const char *start, *middle, *end;
	unsigned extra; /* instructions of the second part beside MIDDLE */
} tried[EDGE_CLASSES] = {
	[EDGE_STEPPED] = {tare_trial_stepped, tare_trial_stepped_middle, tare_trial_stepped_end, 0},
	[EDGE_BRANCH] = {tare_trial_branch, tare_trial_branch_middle, tare_trial_branch_end, 0},
	[EDGE_NOTHING] = {tare_trial_nothing, tare_trial_nothing_middle, tare_trial_nothing_end, 0},
	[EDGE_PUSH] = {tare_trial_push, tare_trial_push_middle, tare_trial_push_end, 1},
};

/* The file that has the address, and its offset there. */
static bool file_of(const char *address, char *path, size_t size, uint64_t *offset)
{
	char line[PATH_MAX + 128];
	unsigned long long from, to, start;
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps && !found && fgets(line, sizeof line, maps)) {
		int at = 0;
		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &from, &to, &start, &at) < 3 || !at ||
		    (uintptr_t)address < from || (uintptr_t)address >= to || line[at] != '/')
			continue;
		line[strcspn(line, "\n")] = '\0';
		found = strlen(line + at) < size;
		if (found)
			strcpy(path, line + at);
		*offset = (uintptr_t)address - from + start;
	}
	if (maps)
		fclose(maps);
	return found;
}

enum { FIRST_PART, SECOND_PART, PARTS };

/* One function: what each part was counted, the same in all rounds. */
static bool measure(const struct tried *t, const struct group_event *instructions, uint32_t uprobe_type,
		    int64_t counts[PARTS])
{
	char path[PATH_MAX];
	uint64_t start, middle, end;
	bool done = false;
	if (!file_of(t->start, path, sizeof path, &start) || !file_of(t->middle, path, sizeof path, &middle) ||
	    !file_of(t->end, path, sizeof path, &end))
		return false;
	const struct region_edge edges[PARTS][2] = {
		{{.module = path, .offset = start, .kind = EDGE_ENTER, .frame_register = EDGE_NO_REGISTER},
		 {.module = path, .offset = middle, .kind = EDGE_LEAVE, .frame_register = EDGE_NO_REGISTER}},
		{{.module = path, .offset = middle, .kind = EDGE_ENTER, .frame_register = EDGE_NO_REGISTER},
		 {.module = path, .offset = end, .kind = EDGE_LEAVE, .frame_register = EDGE_NO_REGISTER}},
	};
	const struct region_asked asked[PARTS] = {
		{.name = "first", .kind = REGION_CODE, .edges = edges[0], .n_edges = 2},
		{.name = "second", .kind = REGION_CODE, .edges = edges[1], .n_edges = 2}};
	static const struct edge_ref at_start[] = {{0, 0}}, at_middle[] = {{0, 1}, {1, 0}}, at_end[] = {{1, 1}};
	struct probe_place probes[] = {{.module = path, .offset = start, .edges = at_start, .n_edges = 1},
				       {.module = path, .offset = middle, .edges = at_middle, .n_edges = 2},
				       {.module = path, .offset = end, .edges = at_end, .n_edges = 1}};
	struct group_event event = *instructions;
	struct group_plan plan = {
		.events = &event, .n_events = 1, .probes = probes, .n_probes = 3, .uprobe_type = uprobe_type};
	struct pass_sum regions[PARTS] = {{0}};
	uint64_t raw[PARTS] = {0};
	int64_t corrections[PARTS] = {0};
	struct pass_sums sums = {
		.n_regions = PARTS, .n_events = 1, .regions = regions, .counts = raw, .corrections = corrections};
	struct probe_group *group;
	size_t probe;
	struct thread_passes *passes = passes_new(asked, &sums);
	if (!passes)
		return false;
	if (!group_open(&plan, 0, 1, &group, &probe))
		goto out;
	if (event.os_errno || !group_enable(group))
		goto out_group;
	/* called, not jumped to: it returns */
	((void (*)(void))(uintptr_t)t->start)();
	group_drain(group, passes);
	memset(raw, 0, sizeof raw); /* the first round has the kernel's page fault */
	uint64_t first[PARTS] = {0}, before[PARTS] = {0};
	bool same = true;
	for (int round = 0; round < ROUNDS; round++) {
		((void (*)(void))(uintptr_t)t->start)();
		if (!group_drain(group, passes))
			goto out_group;
		for (int part = 0; part < PARTS; part++) {
			uint64_t count = raw[part] - before[part];
			before[part] = raw[part];
			first[part] = round ? first[part] : count;
			same &= count == first[part];
		}
	}
	done = same && regions[0].exits == ROUNDS + 1 && regions[1].exits == ROUNDS + 1 &&
	       regions[0].running_ns == regions[0].enabled_ns;
	counts[FIRST_PART] = (int64_t)first[0];
	counts[SECOND_PART] = (int64_t)first[1];
out_group:
	group_close(group);
out:
	passes_end(passes);
	return done;
}

void region_trial(const struct group_event *instructions, uint32_t uprobe_type, unsigned classes,
		  struct probe_bias *out)
{
	*out = (struct probe_bias){0};
	classes |= 1u << EDGE_STEPPED;
	for (int class = 0; class < EDGE_CLASSES; class ++) {
		int64_t counts[PARTS];
		if (!(classes >> class & 1))
			continue;
		if (!measure(&tried[class], instructions, uprobe_type, counts))
			return;
		/* what is stepped is executed: beside it and the others there is the trap only */
		int64_t trap = counts[SECOND_PART] - 1 - MIDDLE - (int64_t)tried[class].extra;
		if (class == EDGE_STEPPED)
			out->trap = trap;
		out->missed[class] = 1 + MIDDLE + trap - counts[FIRST_PART];
		if (trap != out->trap || trap < 0 || trap > 1 || out->missed[class] < 0 ||
		    out->missed[class] > 1 || out->missed[EDGE_STEPPED] != 0) {
			*out = (struct probe_bias){0};
			return;
		}
	}
	out->known = true;
}
enum { COST_ROUNDS = 101, COST_MEDIAN = 50, COST_MOST = 95 };

/* A pass with one trap and the trial's own work once; and one with that work twice: the probed function's twin,
 * which has no probe, is called between. counts: [COST_PASSES]: the first one apart, those of the second kind are
 * the last. */
enum { COST_PASSES = 1 + 2 * COST_ROUNDS };

static bool with_twin(size_t pass) { return pass > COST_ROUNDS; }

static struct trap_cost cost_of(uint64_t *counts)
{
	uint64_t *warm = counts + 1, *twice = warm + COST_ROUNDS;
	qsort(warm, COST_ROUNDS, sizeof *warm, order_uint64);
	qsort(twice, COST_ROUNDS, sizeof *twice, order_uint64);
	double median = (double)warm[COST_MEDIAN], more = (double)twice[COST_MEDIAN];
	return (struct trap_cost){.known = true,
				  .median = median,
				  .spread = (double)(warm[COST_MOST] - warm[COST_MEDIAN]),
				  .first = (double)counts[0],
				  .own = more > median ? more - median : 0};
}

typedef void called(void);

/* Each call is the same instructions. */
__attribute__((noinline)) static void call_all(called *const *functions, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		functions[i]();
		__asm__ volatile("" : : : "memory");
	}
}

struct trap_cost trap_cost_alone(const struct trap_cost *cost)
{
	struct trap_cost alone = *cost;
	alone.median = cost->median > cost->own ? cost->median - cost->own : 0;
	alone.first = cost->first > cost->own ? cost->first - cost->own : 0;
	return alone;
}

bool trap_cost_is_doubtful(const struct trap_cost *cost)
{
	return cost->known && cost->median > 0 && cost->first > 20 * cost->median;
}

static int by_first(const void *a, const void *b)
{
	const struct trap_cost *x = a, *y = b;
	return (x->first > y->first) - (x->first < y->first);
}

struct trap_cost trap_cost_of_three(const struct trap_cost trials[3])
{
	struct trap_cost sorted[3] = {trials[0], trials[1], trials[2]};
	qsort(sorted, 3, sizeof *sorted, by_first);
	return trials[0].known && trials[1].known && trials[2].known ? sorted[1] : (struct trap_cost){0};
}

void region_trial_costs(const struct group_plan *counted, struct trap_cost *costs)
{
	static const struct event_encoding nothing = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY};
	/* One probe, hit twice, begins and ends a pass: closing a second one would take the kernel tens of
	 * milliseconds more. */
	static const struct edge_ref both[] = {{0, 1}, {0, 0}};
	/* stepped: the dearest class, two exceptions */
	const struct tried *t = &tried[EDGE_STEPPED];
	called *const probed = (called *)(uintptr_t)t->start, *const twin = (called *)(uintptr_t)tare_trial_twin,
		      *const once[] = {probed, probed}, *const twice[] = {probed, twin, probed};
	char path[PATH_MAX];
	uint64_t start;
	size_t n = counted->n_events, more = counted->n_probes > 1 ? counted->n_probes - 1 : 0, all = n + more,
	       probe;
	memset(costs, 0, (n + 1) * sizeof *costs);
	if (!file_of(t->start, path, sizeof path, &start))
		return;
	const struct region_edge edges[] = {
		{.module = path, .offset = start, .kind = EDGE_ENTER, .frame_register = EDGE_NO_REGISTER},
		{.module = path, .offset = start, .kind = EDGE_LEAVE, .frame_register = EDGE_NO_REGISTER}};
	const struct region_asked asked = {.name = "empty", .kind = REGION_CODE, .edges = edges, .n_edges = 2};
	struct probe_place place = {.module = path, .offset = start, .edges = both, .n_edges = 2};
	for (size_t i = 0; i < counted->n_probes; i++)
		place.all_registers |= counted->probes[i].all_registers;
	struct group_event *events = calloc(all + 1, sizeof *events);
	uint64_t *raw = calloc(all + 1, sizeof *raw), *passed = calloc((n + 1) * COST_PASSES, sizeof *passed),
		 before_ns = 0;
	struct pass_sum region = {0};
	int64_t correction = 0;
	struct pass_sums sums = {
		.n_regions = 1, .n_events = all, .regions = &region, .counts = raw, .corrections = &correction};
	struct thread_passes *passes = events && raw && passed ? passes_new(&asked, &sums) : NULL;
	struct probe_group *group = NULL;
	if (!passes)
		goto out;
	memcpy(events, counted->events, n * sizeof *events);
	/* the other probes' counters are also read in each trap */
	for (size_t i = n; i < all; i++)
		events[i] = (struct group_event){.encoding = &nothing, .levels = LEVEL_USER | LEVEL_KERNEL};
	struct group_plan plan = {.events = events,
				  .n_events = all,
				  .probes = &place,
				  .n_probes = 1,
				  .uprobe_type = counted->uprobe_type};
	if (!group_open(&plan, 0, 4, &group, &probe) || !group_enable(group))
		goto out;
	for (size_t round = 0; round < COST_PASSES; round++) {
		memset(raw, 0, all * sizeof *raw);
		call_all(with_twin(round) ? twice : once, with_twin(round) ? 3 : 2);
		bool drained = group_drain(group, passes);
		passes_exec(passes); /* the second hit has begun another pass */
		if (!drained || region.exits != round + 1 || region.hits != round + 1)
			goto out;
		for (size_t i = 0; i < n; i++)
			passed[i * COST_PASSES + round] = raw[i];
		passed[n * COST_PASSES + round] = region.enabled_ns - before_ns;
		before_ns = region.enabled_ns;
	}
	if (region.running_ns != region.enabled_ns)
		goto out;
	for (size_t i = 0; i < n; i++)
		if (!events[i].os_errno)
			costs[i] = cost_of(passed + i * COST_PASSES);
	costs[n] = cost_of(passed + n * COST_PASSES);
out:
	group_close(group);
	passes_end(passes);
	free(events);
	free(raw);
	free(passed);
}
#else
void region_trial_costs(const struct group_plan *plan, struct trap_cost *costs)
{
	memset(costs, 0, (plan->n_events + 1) * sizeof *costs);
}

void region_trial(const struct group_event *instructions, uint32_t uprobe_type, unsigned classes,
		  struct probe_bias *out)
{
	(void)instructions, (void)uprobe_type, (void)classes;
	*out = (struct probe_bias){0};
}
#endif
