#include "measure/execution.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

/* How long a wait lasts that has nothing to wait for but commands. */
static const uint64_t IDLE_NS = 3600000000000u;
/* The account's resolution: it says nothing of less time, and to read it takes 11 us or more. */
static const uint64_t STEAL_TICK_NS = 10000000u;
static const uint64_t TRIM_NS = 100000000u;
/* The first reading is early, within the first turn of 4 ms that the kernel gives a group: it tells whether the
 * counter saw the program start. */
static const uint64_t FIRST_SLICE_NS = 2000000u;

/* Time that the hypervisor took from all CPUs since boot (proc(5), /proc/stat, 8th number of "cpu"); 0 where
 * the kernel does not say. */
static uint64_t steal_now_ns(void)
{
	/* the first line is all that is needed; the file grows with the CPUs and interrupts */
	char line[512];
	unsigned long long n[8] = {0};
	FILE *stat = fopen("/proc/stat", "re");
	if (!stat)
		return 0;
	if (fgets(line, sizeof line, stat))
		sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &n[0], &n[1], &n[2], &n[3], &n[4],
		       &n[5], &n[6], &n[7]);
	fclose(stat);
	long ticks = sysconf(_SC_CLK_TCK);
	return ticks > 0 ? n[7] * (1000000000u / (unsigned long)ticks) : 0;
}

static void read_steal(struct steal *steal, uint64_t now_ns) { *steal = (struct steal){steal_now_ns(), now_ns}; }

static void join_neighbours(struct slices *s)
{
	size_t half = s->count / 2;
	for (size_t i = 0; i < half; i++) {
		const struct slice *a = &s->items[2 * i], *b = a + 1;
		s->items[i] = (struct slice){a->count + b->count, a->enabled_ns + b->enabled_ns,
					     a->running_ns + b->running_ns};
	}
	if (s->count % 2)
		s->items[half++] = s->items[s->count - 1];
	s->count = half;
}

/* Appends what was counted since the reading before. */
static void add_slice(struct slices *s, const struct reading *reading)
{
	/* a counter that has not run yet has no count, but its enabled time is known */
	bool ran = reading->state == READING_COUNTED;
	struct slice now = {.count = ran ? (double)reading->count_raw : 0,
			    .enabled_ns = (double)reading->enabled_ns,
			    .running_ns = ran ? (double)reading->running_ns : 0};
	struct slice *difference = &s->items[s->count++];
	*difference = (struct slice){now.count - s->before.count, now.enabled_ns - s->before.enabled_ns,
				     now.running_ns - s->before.running_ns};
	/* sums over threads are not read at one instant: a difference can come out a little below 0 */
	if (difference->count < 0)
		difference->count = 0;
	if (difference->running_ns < 0)
		difference->running_ns = 0;
	if (difference->enabled_ns < difference->running_ns)
		difference->enabled_ns = difference->running_ns;
	s->before = now;
}

static void take_slice(struct execution *x, const struct reading *readings)
{
	for (size_t i = 0; i < x->n_events; i++)
		add_slice(&x->slices[i], &readings[i]);
	if (++x->n_slices < SLICES_MOST)
		return;
	for (size_t i = 0; i < x->n_events; i++)
		join_neighbours(&x->slices[i]);
	x->n_slices = (x->n_slices + 1) / 2;
	x->slice_every *= 2;
}

static void tick(void *context, uint64_t now, uint64_t *tick_ns)
{
	struct execution *x = context;
	if (x->slices && !x->reading_failed && now >= x->next_slice) {
		if (x->operations->read_running(x->counting, x->so_far, NULL))
			take_slice(x, x->so_far);
		else
			x->reading_failed = true; /* what is left becomes one long slice at the end */
		x->next_slice = now + x->slice_every;
	}
	if (control_wanted(&x->control) && !x->control_failed.code)
		control_tick(&x->control, x->operations, x->counting, &x->intervals, x->so_far, now,
			     &x->control_failed);
	if (x->intervals.tell && now >= x->intervals.next_ns)
		intervals_read(&x->intervals,
			       x->operations->read_running(x->counting, x->so_far, NULL) ? x->so_far : NULL, now,
			       false);
	if (x->silent && now >= x->next_trim) {
		streams_trim(x->streams);
		x->next_trim = now + TRIM_NS;
	}
	uint64_t next = UINT64_MAX;
	if (x->slices && !x->reading_failed)
		next = x->next_slice;
	if (x->silent && x->next_trim < next)
		next = x->next_trim;
	if (x->intervals.tell && x->intervals.next_ns < next)
		next = x->intervals.next_ns;
	if (control_wanted(&x->control) && !x->control.on && x->control.on_at_ns < next)
		next = x->control.on_at_ns;
	/* commands wake the wait by themselves, while there is a time to wait for */
	if (x->control.has_commands && next == UINT64_MAX)
		next = now + IDLE_NS;
	*tick_ns = next == UINT64_MAX ? 0 : next > now ? next - now : 1;
}

/* What stop() read of an event, all rows together. */
static struct reading reading_of_all(const struct execution *x, size_t event)
{
	struct reading sum = {.state = READING_NEVER_RAN};
	for (size_t row = 0; row < x->run.n_rows; row++) {
		const struct reading *r = &x->run.readings[row * x->n_events + event];
		sum.enabled_ns += r->enabled_ns;
		if (r->state != READING_COUNTED) {
			sum.why = r->why;
			continue;
		}
		sum.state = READING_COUNTED;
		sum.source = r->source;
		sum.count_raw += r->count_raw;
		sum.running_ns += r->running_ns;
	}
	return sum;
}

/* The last slice ends where the readings of stop() do. */
static void last_slice(struct execution *x)
{
	for (size_t i = 0; i < x->n_events; i++) {
		const struct reading all = reading_of_all(x, i);
		add_slice(&x->slices[i], &all);
	}
	x->n_slices++;
}

/* Likewise the last interval; of a row that failed, so did the sum. */
static void last_interval(struct execution *x, uint64_t now)
{
	for (size_t i = 0; i < x->n_events; i++) {
		x->so_far[i] = reading_of_all(x, i);
		for (size_t row = 0; row < x->run.n_rows; row++) {
			const struct reading *r = &x->run.readings[row * x->n_events + i];
			if (r->state != READING_COUNTED && r->state != READING_NEVER_RAN)
				x->so_far[i] = *r;
		}
	}
	intervals_read(&x->intervals, x->so_far, now, true);
}

static uint64_t ns_of(struct timeval t) { return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u; }

static void keep_account(struct run *run, const struct waited *waited)
{
	const struct rusage *u = &waited->usage;
	run->wait_status = waited->status;
	run->user_ns = ns_of(u->ru_utime);
	run->system_ns = ns_of(u->ru_stime);
	run->peak_memory_bytes = (uint64_t)u->ru_maxrss * 1024;
	run->minor_faults = (uint64_t)u->ru_minflt;
	run->major_faults = (uint64_t)u->ru_majflt;
	run->voluntary_switches = (uint64_t)u->ru_nvcsw;
	run->involuntary_switches = (uint64_t)u->ru_nivcsw;
}

static bool make_room_for_slices(struct execution *x)
{
	x->slices = calloc(x->n_events, sizeof *x->slices);
	if (!x->slices)
		return false;
	for (size_t i = 0; i < x->n_events; i++) {
		/* one more than the most for the last one */
		x->slices[i].items = malloc((SLICES_MOST + 1) * sizeof *x->slices[i].items);
		if (!x->slices[i].items)
			return false;
	}
	return true;
}

bool execution_run(struct execution *x, struct error *err)
{
	const struct clock *clock = x->waiter->clock;
	struct waited waited;
	bool done = false;

	x->run = (struct run){0};
	x->blocks = x->system_calls = x->inputs = (struct str){0};
	x->no_blocks = x->no_locations = (struct error){0};
	x->locations = (struct locations){0};
	x->so_far = calloc(x->n_events + 1, sizeof *x->so_far);
	if (!x->so_far || (x->slice_ns && x->n_events && !make_room_for_slices(x))) {
		error_no_memory(err);
		goto out;
	}
	if (x->target->turned && !x->operations->turn) {
		control_refuse(x->operations->name, err);
		goto out;
	}
	if (!x->operations->prepare(x->backend, x->target, x->events, x->n_events, &x->counting, err))
		goto out;

	uint64_t begin = clock_now_ns(clock);
	if (x->steal && (!x->steal->read_at_ns || begin - x->steal->read_at_ns > STEAL_TICK_NS)) {
		read_steal(x->steal, begin);
		begin = clock_now_ns(clock);
	}
	if (!x->operations->go(x->counting, err))
		goto out;
	x->slice_every = x->slice_ns;
	uint64_t first_slice = x->slice_ns < FIRST_SLICE_NS ? x->slice_ns : FIRST_SLICE_NS;
	x->next_slice = begin + first_slice;
	x->next_trim = begin + TRIM_NS;
	uint64_t first_tick = x->slices ? first_slice : x->silent ? TRIM_NS : 0;
	x->intervals.begins_off = x->control.begins_off;
	control_begin(&x->control, begin);
	if (x->intervals.tell && !intervals_begin(&x->intervals, x->events, x->n_events, begin)) {
		error_no_memory(err);
		goto out;
	}
	if (x->intervals.tell || control_wanted(&x->control))
		first_tick = 1; /* what is due when is found there */
	struct wait_for what = {.process = x->operations->process(x->counting),
				.target = x->target,
				.delay_ns = x->delay_ns,
				.timeout_ns = x->timeout_ns,
				.tick_ns = first_tick,
				.tick = tick,
				.wakes = x->control.has_commands ? &x->control.commands : NULL,
				.context = x};
	wait_until(x->waiter, &what, &waited);
	if (x->control_failed.code) {
		*err = x->control_failed;
		goto out;
	}
	uint64_t end = clock_now_ns(clock);
	x->run.elapsed_ns = end - begin;
	if (x->steal && x->run.elapsed_ns >= STEAL_TICK_NS) {
		uint64_t before = x->steal->ns;
		read_steal(x->steal, end);
		x->run.steal_ns = x->steal->ns - before;
	}

	if (waited.ended)
		keep_account(&x->run, &waited);
	x->status_lost = waited.lost;
	x->still_running = what.process > 0 && !waited.ended && !waited.lost;
	/* without a program and a delay, an interrupt is how a measurement ends */
	x->timed_out = waited.timed_out;
	x->run.interrupted = waited.timed_out || (waited.interrupted && (what.process > 0 || x->delay_ns > 0));
	if (x->still_running)
		/* as wait(2) encodes a death by it: what the user asked for */
		x->run.wait_status = waited.interrupted ? abs((int)*x->waiter->interrupt) : SIGKILL;
	if (!x->operations->stop(x->counting, &x->run, err))
		goto out;
	if (x->slices)
		last_slice(x);
	if (x->intervals.tell)
		last_interval(x, end);
	if (x->want_blocks && x->run.under_engine)
		x->operations->blocks(x->counting, x->blocks_by, &x->blocks, &x->no_blocks);
	if (x->want_system_calls && x->run.under_engine)
		x->operations->system_calls(x->counting, &x->system_calls, &x->no_blocks);
	if (x->want_inputs && x->run.under_engine && x->operations->inputs)
		x->operations->inputs(x->counting, &x->inputs, NULL);
	if (x->want_locations && x->run.under_engine)
		x->operations->locations(x->counting, &x->locations, &x->no_locations);
	done = true;
out:
	if (x->counting)
		x->operations->end(x->counting);
	x->counting = NULL;
	if (!done)
		execution_free(x);
	return done;
}

void execution_free(struct execution *x)
{
	run_free(&x->run);
	str_free(&x->blocks);
	str_free(&x->system_calls);
	str_free(&x->inputs);
	locations_free(&x->locations);
	for (size_t i = 0; x->slices && i < x->n_events; i++)
		free(x->slices[i].items);
	free(x->slices);
	free(x->so_far);
	intervals_free(&x->intervals);
	x->slices = NULL;
	x->so_far = NULL;
}
