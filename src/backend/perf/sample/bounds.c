#include "backend/perf/sample/bounds.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

const struct record_layout bounds_layout = {.sample_type = RECORD_COMMON | PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER};

/* ---- which probes ---- */

/* Of a place that switches only what leads into it matters. */
static bool is_probed(const struct region_edge *edge, bool switches)
{
	return !switches || edge->kind != EDGE_LEAVE;
}

static bool copy_regions(struct sample_bounds *b, struct error *err)
{
	size_t edges = 0, used = 0;
	const struct sampling_places *asked = b->asked;
	b->n_regions = asked->n_inside + asked->n_begin + asked->n_end;
	for (size_t i = 0; i < b->n_regions; i++)
		edges += asked->all[i].n_edges;
	b->regions = calloc(b->n_regions + 1, sizeof *b->regions);
	b->edges = calloc(edges + 1, sizeof *b->edges);
	b->sums.regions = calloc(asked->n_inside + 1, sizeof *b->sums.regions);
	b->sums.corrections = calloc(asked->n_inside + 1, sizeof *b->sums.corrections);
	if (!b->regions || !b->edges || !b->sums.regions || !b->sums.corrections)
		return error_no_memory(err);
	b->sums.n_regions = asked->n_inside;
	for (size_t i = 0; i < b->n_regions; i++) {
		const struct region_asked *from = &asked->all[i];
		b->regions[i] = *from;
		b->regions[i].edges = b->edges + used;
		b->regions[i].n_edges = 0;
		for (size_t e = 0; e < from->n_edges; e++)
			if (is_probed(&from->edges[e], i >= asked->n_inside)) {
				b->edges[used++] = from->edges[e];
				b->regions[i].n_edges++;
			}
	}
	return true;
}

static bool refused(const struct sample_bounds *b, size_t probe, struct error *err)
{
	int reason = errno;
	const struct probe_place *place = &b->plan.probes[probe];
	const char *name = b->regions[place->edges[0].region].name;
	if (reason != EACCES && reason != EPERM)
		return error_set_errno(err, ERROR_SYSTEM, reason, "cannot watch '%s' with probes", name);
	error_set(err, ERROR_PERMISSION, "cannot watch '%s' with probes: not allowed for this user", name);
	return error_hint(err, "as root, or with CAP_PERFMON; --on exact needs no rights");
}

bool bounds_new(const struct sampling_places *asked, bool whole_cpus, struct sample_bounds **out,
		struct error *err)
{
	struct sample_bounds *b = *out = calloc(1, sizeof *b);
	if (!b)
		return error_no_memory(err);
	*b = (struct sample_bounds){.asked = asked, .whole_cpus = whole_cpus, .on = asked->n_begin == 0};
	bool done = copy_regions(b, err);
	if (done && !record_registers())
		done = error_set(err, ERROR_UNSUPPORTED, "places of code are not watched on this kind of CPU");
	done = done && uprobe_type(&b->plan.uprobe_type, err) &&
	       probe_places_find(b->regions, b->n_regions, &b->places, err);
	b->plan.probes = b->places.all;
	b->plan.n_probes = b->places.n;
	for (size_t i = 0; done && i < b->plan.n_probes; i++)
		done = probe_check(&b->plan, i) || refused(b, i, err);
	if (done) {
		trace_probes_open(&b->trace);
		b->traced = true;
		trace_probes_define(&b->trace, b->places.all, b->places.n);
		return true;
	}
	bounds_free(b);
	*out = NULL;
	return false;
}

void bounds_free(struct sample_bounds *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->tasks.count; i++)
		passes_end(b->tasks.items[i].passes);
	vec_free(&b->tasks);
	hash_free(&b->by_tid);
	if (b->traced)
		trace_probes_remove(&b->trace);
	probe_places_free(&b->places);
	free(b->sums.regions);
	free(b->sums.corrections);
	free(b->regions);
	free(b->edges);
	free(b);
}

int bounds_open_probe(const struct sample_bounds *b, size_t probe, int cgroup, int cpu, uint64_t read_format)
{
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.sample_period = 1,
		.sample_type = bounds_layout.sample_type,
		.sample_regs_user = record_registers(),
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.disabled = 1,
		.watermark = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | read_format,
	};
	group_place_probe(&attr, &b->plan, &b->plan.probes[probe]);
	return (int)syscall(SYS_perf_event_open, &attr, cgroup, cpu, -1,
			    PERF_FLAG_FD_CLOEXEC | (cgroup >= 0 ? PERF_FLAG_PID_CGROUP : 0));
}

/* ---- tasks ---- */

static struct bounded_task *task_of(struct sample_bounds *b, uint32_t tid)
{
	struct hash_search search = hash_find(&b->by_tid, hash_number(HASH_BEGIN, tid));
	for (uint32_t i; hash_next(&search, &i);)
		if (b->tasks.items[i].tid == tid)
			return &b->tasks.items[i];
	return NULL;
}

bool bounds_started(struct sample_bounds *b, uint32_t tid, uint32_t parent, bool forked)
{
	const struct bounded_task *from = forked ? task_of(b, parent) : NULL;
	struct thread_passes *passes = passes_new(b->regions, &b->sums);
	if (!passes)
		return false;
	if (from && from->passes)
		passes_fork(passes, from->passes);
	struct bounded_task *task = task_of(b, tid);
	if (task) { /* the number of one that has ended */
		passes_end(task->passes);
		task->passes = passes;
		return true;
	}
	if (vec_push(&b->tasks, ((struct bounded_task){tid, passes})) &&
	    hash_add(&b->by_tid, hash_number(HASH_BEGIN, tid), (uint32_t)b->tasks.count - 1))
		return true;
	passes_end(passes);
	return false;
}

void bounds_exec(struct sample_bounds *b, uint32_t tid)
{
	struct bounded_task *task = task_of(b, tid);
	if (task && task->passes)
		passes_exec(task->passes);
}

void bounds_ended(struct sample_bounds *b, uint32_t tid)
{
	struct bounded_task *task = task_of(b, tid);
	if (!task)
		return;
	passes_end(task->passes);
	task->passes = NULL;
}

/* ---- hits ---- */

/* struct sample's order from DWARF's (System V ABI AMD64, Figure 3.36) */
static uint64_t register_value(const void *context, int number)
{
	static const uint8_t at[SAMPLE_REGISTERS] = {0, 3, 2, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
	const uint64_t *registers = context;
	return number >= 0 && number < SAMPLE_REGISTERS ? registers[at[number]] : 0;
}

static void switch_to(struct sample_bounds *b, size_t region)
{
	bool on = region < b->asked->n_inside + b->asked->n_begin;
	if (on != b->on)
		*(on ? &b->account.begins : &b->account.ends) += 1;
	b->on = on;
}

bool bounds_hit(struct sample_bounds *b, size_t probe, const struct record *record)
{
	enum { EDGES_AT_ONCE = 64, PROGRAM_COUNTER = 16 };
	const struct probe_place *place = &b->plan.probes[probe];
	struct edge_ref inside[EDGES_AT_ONCE];
	size_t n = 0;
	uint64_t none = 0;
	b->hits++;
	if (b->whole_cpus && !task_of(b, record->sample.tid) && !bounds_started(b, record->sample.tid, 0, false))
		return false;
	struct bounded_task *task = task_of(b, record->sample.tid);
	if (!task || !task->passes)
		return true; /* of another program */
	if (!record->sample.registers) {
		b->account.without_registers++;
		return true;
	}
	struct hit hit = {.enabled_ns = record->time_ns,
			  .running_ns = record->time_ns,
			  .values = &none,
			  .ip = record->sample.registers[PROGRAM_COUNTER],
			  .reg = register_value,
			  .context = record->sample.registers};
	b->account.hits++;
	for (size_t i = 0; i < place->n_edges; i++) {
		const struct edge_ref *ref = &place->edges[i];
		const struct region_asked *region = &b->regions[ref->region];
		if (ref->region < b->asked->n_inside) {
			if (n < EDGES_AT_ONCE)
				inside[n++] = *ref;
			else
				b->account.without_registers++;
		} else if (edge_enters(region, &region->edges[ref->edge], &hit)) {
			switch_to(b, ref->region);
		}
	}
	passes_hit(task->passes, inside, n, &hit);
	return true;
}

/* ---- samples ---- */

bool bounds_keep(struct sample_bounds *b, const struct sample *sample)
{
	enum { STACK_POINTER = 7 };
	bool above = false, keep = b->on;
	if (keep && b->asked->n_inside) {
		const struct bounded_task *task = task_of(b, sample->tid);
		uint64_t stack = sample->registers ? sample->registers[STACK_POINTER] : 0;
		keep = task && task->passes && passes_inside(task->passes, stack, &above);
	}
	b->account.above += above;
	b->account.left_out += !keep;
	return keep;
}

void bounds_finish(struct sample_bounds *b, uint64_t counted, uint64_t lost)
{
	for (size_t i = 0; i < b->tasks.count; i++)
		bounds_ended(b, b->tasks.items[i].tid);
	for (size_t i = 0; i < b->sums.n_regions; i++) {
		b->account.entries += b->sums.regions[i].entries;
		b->account.exits += b->sums.regions[i].exits;
		b->account.doubtful += b->sums.regions[i].doubtful;
	}
	b->account.lost_hits = counted > b->hits + lost ? counted - b->hits : lost;
}
