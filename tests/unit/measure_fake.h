/* A backend whose readings are scripted, over real processes; and metrics that divide one event by another, so
 * that measure/ is tested without event/'s tables. */
#ifndef TARE_TESTS_MEASURE_FAKE_H
#define TARE_TESTS_MEASURE_FAKE_H

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/backend.h"
#include "event/metric.h"
#include "tap.h"

struct backend {
	size_t counters;     /* how many events fit at once */
	size_t fail_prepare; /* the 1-based execution that cannot be prepared; 0: none */
	bool fail_sample;
	size_t end_after;   /* the program is ended by the fake after so many samples; 0: it ends by itself */
	size_t rows;        /* rows of readings; 0 counts as 1 */
	const char *engine; /* executions that count this event are under an engine; NULL: none */
	int told_fd;        /* a byte is written to it when counting begins; 0: none */
	/* the reading of an event at its end, in the 0-based execution; NULL: 1000 always */
	void (*read)(struct backend *b, size_t execution, const char *event, struct reading *r);
	/* cumulative readings on the way; call is 0-based */
	void (*sample)(struct backend *b, size_t call, const char *event, struct reading *r);

	size_t prepared, ended, sampled, fits_asked;
	char log[4096]; /* the events of each execution: "a b|c|a b|c|" */
};

struct counting {
	struct backend *backend;
	const struct event *const *events;
	size_t n, execution;
	pid_t pid;
	int go_fd;
};

static void fake_available(struct backend *b, const struct event *event, struct availability *out)
{
	(void)b;
	*out = (struct availability){.state = READING_COUNTED, .source = SOURCE_HW};
	if (strncmp(event->text, "denied", 6) == 0) {
		*out = (struct availability){.state = READING_DENIED,
					     .why = "perf_event_paranoid is 3",
					     .remedy = "run 'sysctl kernel.perf_event_paranoid=1'"};
	} else if (strcmp(event->text, "page-faults") == 0) {
		*out = (struct availability){.state = READING_UNSUPPORTED, .why = "no software events"};
	}
}

static bool fake_fits(struct backend *b, const struct event *const *events, size_t n)
{
	(void)events;
	b->fits_asked++;
	return n <= b->counters;
}

static void move_fd(int from, int to)
{
	if (from >= 0 && from != to)
		dup2(from, to);
}

static bool fake_prepare(struct backend *b, const struct target *target, const struct event *const *events,
			 size_t n, struct counting **out, struct error *err)
{
	int go[2];
	*out = NULL;
	if (b->fail_prepare && b->prepared + 1 == b->fail_prepare)
		return error_set(err, ERROR_LIMIT, "too many open files");
	struct counting *c = calloc(1, sizeof *c);
	*c = (struct counting){.backend = b, .events = events, .n = n, .execution = b->prepared++, .go_fd = -1};
	for (size_t i = 0; i < n && strlen(b->log) < sizeof b->log - 64; i++)
		sprintf(b->log + strlen(b->log), "%s%s", i ? " " : "", events[i]->text);
	if (strlen(b->log) < sizeof b->log - 64)
		strcat(b->log, "|");
	if (target->command && pipe(go) == 0) {
		fflush(stdout);
		c->pid = fork();
		if (c->pid == 0) {
			char byte;
			close(go[1]);
			move_fd(target->command->stdin_fd, 0);
			move_fd(target->command->stdout_fd, 1);
			move_fd(target->command->stderr_fd, 2);
			if (read(go[0], &byte, 1) != 1)
				_exit(126);
			close(go[0]);
			execvp(target->command->argv[0], target->command->argv);
			_exit(127);
		}
		close(go[0]);
		c->go_fd = go[1];
	}
	*out = c;
	return true;
}

static pid_t fake_process(const struct counting *c) { return c->pid; }

static bool fake_go(struct counting *c, struct error *err)
{
	(void)err;
	if (c->go_fd >= 0 && write(c->go_fd, "g", 1) == 1)
		close(c->go_fd);
	c->go_fd = -1;
	return !c->backend->told_fd || write(c->backend->told_fd, "b", 1) == 1;
}

static bool fake_read_running(struct counting *c, struct reading *readings, struct error *err)
{
	struct backend *b = c->backend;
	if (b->fail_sample)
		return error_set(err, ERROR_IO, "cannot read");
	for (size_t i = 0; i < c->n; i++) {
		readings[i] = (struct reading){.state = READING_COUNTED, .source = SOURCE_HW, .cpu = -1};
		if (b->sample)
			b->sample(b, b->sampled, c->events[i]->text, &readings[i]);
	}
	if (++b->sampled == b->end_after)
		kill(c->pid, SIGTERM);
	return true;
}

static bool fake_native(struct backend *b, const struct event *const *events, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (b->engine && strcmp(events[i]->text, b->engine) == 0)
			return false;
	return true;
}

static bool fake_stop(struct counting *c, struct run *run, struct error *err)
{
	(void)err;
	struct backend *b = c->backend;
	run->under_engine = !fake_native(b, c->events, c->n);
	run->n_events = c->n;
	run->n_rows = b->rows ? b->rows : 1;
	run->readings = arena_alloc(&run->arena, (c->n * run->n_rows + 1) * sizeof *run->readings);
	for (size_t i = 0; i < c->n * run->n_rows; i++) {
		struct reading *r = &run->readings[i];
		*r = (struct reading){.state = READING_COUNTED,
				      .source = SOURCE_HW,
				      .count_raw = 1000,
				      .enabled_ns = 100,
				      .running_ns = 100,
				      .cpu = b->rows ? (int)(i / c->n) : -1};
		if (b->read)
			b->read(b, c->execution, c->events[i % c->n]->text, r);
	}
	return true;
}

static void fake_end(struct counting *c)
{
	if (c->go_fd >= 0) {
		close(c->go_fd);
		waitpid(c->pid, NULL, 0);
	}
	c->backend->ended++;
	free(c);
}

static const struct backend_operations fake_operations = {
	.name = "fake",
	.available = fake_available,
	.fits = fake_fits,
	.native = fake_native,
	.prepare = fake_prepare,
	.process = fake_process,
	.go = fake_go,
	.read_running = fake_read_running,
	.stop = fake_stop,
	.end = fake_end,
};

/* ---- a / b ---- */
struct metric {
	const char *name, *inputs[2];
};

const char *metric_name(const struct metric *m) { return m->name; }

const char *metric_unit(const struct metric *m)
{
	(void)m;
	return "ratio";
}

const char *metric_caution(const struct metric *m)
{
	(void)m;
	return NULL;
}

const char *metric_formula(const struct metric *m)
{
	(void)m;
	return "a / b";
}

size_t metric_event_count(const struct metric *m)
{
	(void)m;
	return 2;
}

const char *metric_event(const struct metric *m, size_t index) { return m->inputs[index]; }

bool metric_evaluate(const struct metric *m, const struct metric_input *inputs, struct metric_input *out,
		     struct error *err)
{
	if (inputs[1].value == 0)
		return error_set(err, ERROR_UNSUPPORTED, "'%s' divides by zero", m->name);
	*out = (struct metric_input){true, inputs[0].value / inputs[1].value, inputs[0].low / inputs[1].high,
				     inputs[0].high / inputs[1].low};
	return true;
}

#endif
