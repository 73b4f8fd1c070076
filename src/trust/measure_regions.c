/* The library's rows: what kernels/regions.c prints, of one process each.
 *
 * Rounds: every round runs one process of each event and interface, so that a slow change of the machine's state
 * is in all rows alike (run_p5mon's order). */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "trust/measure.h"
#include "trust/helper_programs.h"
#include "trust/fit.h"
#include "trust/overhead.h"

extern char **environ;

enum { BLOCK_SIZES = 6, OUTPUT_MOST_BYTES = 4096 };

/* Of one process; the parts in the order of `columns`. */
enum region_column { COLD, WARM, ENTER, LEAVE, COLUMNS };

struct reading_of_process {
	double values[COLUMNS];
	double blocks[BLOCK_SIZES], counts[BLOCK_SIZES];
	size_t n_blocks;
	bool by_user;
};

/* What one event gave by one interface. */
struct column_values {
	double *values;                      /* [COLUMNS][processes] */
	double blocks[BLOCK_SIZES], *counts; /* [processes][BLOCK_SIZES] */
	size_t n, n_blocks;
	bool given_up;
};

/* Runs it and takes what it writes to both streams; the exit status, or −1. */
static int run(char *const *argv, char *const *environment, char *out, size_t out_bytes, struct error *err)
{
	posix_spawn_file_actions_t actions;
	int ends[2], status = -1;
	pid_t pid;
	size_t used = 0;
	if (pipe2(ends, O_CLOEXEC) != 0) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot run '%s'", argv[0]);
		return -1;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	int failed = posix_spawn(&pid, argv[0], &actions, NULL, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (failed) {
		error_set_errno(err, ERROR_SYSTEM, failed, "cannot run '%s'", argv[0]);
		close(ends[0]);
		return -1;
	}
	for (ssize_t got; used + 1 < out_bytes;) {
		got = read(ends[0], out + used, out_bytes - 1 - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	out[used] = '\0';
	close(ends[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static bool read_line(const char *line, struct reading_of_process *r, unsigned *seen)
{
	static const char *const columns[COLUMNS] = {"cold", "warm", "enter", "leave"};
	double value, size;
	char word[16];
	if (sscanf(line, "reads %15s", word) == 1) {
		r->by_user = strcmp(word, "user") == 0;
		return true;
	}
	if (sscanf(line, "block %lf %lf", &size, &value) == 2) {
		if (r->n_blocks == BLOCK_SIZES)
			return false;
		r->blocks[r->n_blocks] = size;
		r->counts[r->n_blocks++] = value;
		return true;
	}
	for (unsigned i = 0; i < COLUMNS; i++) {
		size_t length = strlen(columns[i]);
		if (strncmp(line, columns[i], length) == 0 && sscanf(line + length, " %lf", &value) == 1) {
			r->values[i] = value;
			*seen |= 1u << i;
			return true;
		}
	}
	return false;
}

static bool read_output(char *text, struct reading_of_process *r)
{
	unsigned seen = 0;
	*r = (struct reading_of_process){0};
	for (char *line; (line = strsep(&text, "\n"));)
		if (*line && !read_line(line, r, &seen))
			return false;
	return seen == (1u << COLUMNS) - 1;
}

/* tare's own environment, with the reading that the interface is about and nothing that libtare would report by.
 */
static char **environment_for(enum interface interface)
{
	size_t n = 0, at = 0;
	static char by_call[] = "TARE_USER_READ=0", no_calibration[] = "TARE_CALIBRATION=none";
	while (environ[n])
		n++;
	char **own = calloc(n + 3, sizeof *own);
	if (!own)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "TARE_", 5) != 0)
			own[at++] = environ[i];
	own[at++] = no_calibration;
	if (interface == INTERFACE_LIBRARY_READ)
		own[at++] = by_call;
	return own;
}

struct rounds {
	struct calibrating *c;
	char *program;
	char **environments[INTERFACES];
	struct column_values *of[INTERFACES]; /* [events] */
};

static bool give_up(struct rounds *r, enum interface interface, size_t event, const char *why, struct error *err)
{
	r->of[interface][event].given_up = true;
	return not_calibrated(r->c, interface, r->c->events.items[event].event.label, why, err);
}

static bool one(struct rounds *r, enum interface interface, size_t event, struct error *err)
{
	static char blocks[] = "blocks", stubs[] = "stubs";
	struct calibrating *c = r->c;
	struct calibrated_event *e = &c->events.items[event];
	struct column_values *v = &r->of[interface][event];
	struct reading_of_process got;
	char out[OUTPUT_MOST_BYTES], name[512];
	if (v->given_up)
		return true;
	snprintf(name, sizeof name, "%s", e->event.text);
	char *argv[] = {r->program, name,
			interface == INTERFACE_STUBS ? stubs
			: e->constant                ? blocks
						     : NULL,
			NULL};
	int status = run(argv, r->environments[interface], out, sizeof out, err);
	if (status == -1)
		return false;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		char why[256];
		out[strcspn(out, "\n")] = '\0';
		str_escape_to(why, sizeof why, *out ? out : "the program that measures it failed");
		return give_up(r, interface, event, why, err);
	}
	if (!read_output(out, &got))
		return error_set(err, ERROR_SYSTEM, "'%s' is of another version of tare", r->program);
	if (interface == INTERFACE_LIBRARY_USER && !got.by_user)
		return give_up(r, interface, event,
			       "unsupported here: its counter cannot be read without a system call", err);
	for (size_t i = 0; i < COLUMNS; i++)
		v->values[i * c->processes + v->n] = got.values[i];
	if (v->n && got.n_blocks != v->n_blocks)
		return error_set(err, ERROR_SYSTEM, "'%s' counted different blocks", r->program);
	v->n_blocks = got.n_blocks;
	memcpy(v->blocks, got.blocks, sizeof v->blocks);
	memcpy(v->counts + v->n * BLOCK_SIZES, got.counts, sizeof got.counts);
	v->n++;
	return true;
}

/* ---- rows ---- */

static bool add_rows(struct calibrating *c, enum interface interface, size_t event, const struct column_values *v,
		     struct error *err)
{
	static const enum overhead_part parts[COLUMNS] = {OVERHEAD_REGION, OVERHEAD_REGION, OVERHEAD_ENTER,
							  OVERHEAD_LEAVE};
	const struct calibrated_event *e = &c->events.items[event];
	const char *unit = e->event.definition ? e->event.definition->unit : "events";
	for (size_t i = 0; i < COLUMNS; i++) {
		struct overhead row = {.event = arena_strdup(&c->calibration.arena, e->event.label),
				       .unit = arena_strdup(&c->calibration.arena, unit),
				       .interface = interface,
				       .part = parts[i],
				       .cold = i == COLD,
				       .constant = e->constant};
		if (!row.event || !row.unit ||
		    !overhead_summarise(v->values + i * c->processes, v->n, c->calibration.confidence, &row) ||
		    !vec_push(&c->calibration.overheads, row))
			return error_no_memory(err);
	}
	return true;
}

/* What a block counts by its code (kernels/regions.c). */
static double block_count(const struct event_definition *row)
{
	static const struct {
		const char *event;
		double count;
	} counts[] = {{"instructions", 30},
		      {"loads", 10},
		      {"stores", 10},
		      {"branches", 0},
		      {"calls", 0},
		      {"returns", 0},
		      {"conditional-branches", 0},
		      {"taken-branches", 0}};
	for (size_t i = 0; row && i < sizeof counts / sizeof *counts; i++)
		if (strcmp(row->name, counts[i].event) == 0)
			return counts[i].count;
	return NAN;
}

static bool add_fit(struct calibrating *c, enum interface interface, size_t event, const struct column_values *v,
		    struct error *err)
{
	const struct calibrated_event *e = &c->events.items[event];
	size_t n = v->n * v->n_blocks;
	struct line_fit line;
	if (v->n_blocks < 3)
		return true;
	double *x = calloc(2 * n, sizeof *x), *y = x + n;
	if (!x)
		return error_no_memory(err);
	for (size_t p = 0, at = 0; p < v->n; p++)
		for (size_t b = 0; b < v->n_blocks; b++, at++) {
			x[at] = v->blocks[b];
			y[at] = v->counts[p * BLOCK_SIZES + b];
		}
	bool fits = line_fit(x, y, n, c->calibration.confidence, &line);
	free(x);
	if (!fits)
		return true;
	struct overhead_fit row = {.event = arena_strdup(&c->calibration.arena, e->event.label),
				   .interface = interface,
				   .n = n,
				   .o = line.o,
				   .o_half_width = line.o_half_width,
				   .c = line.c,
				   .c_half_width = line.c_half_width,
				   .residual_most = line.residual_most,
				   .block = block_count(e->event.definition)};
	return (row.event && vec_push(&c->calibration.fits, row)) || error_no_memory(err);
}

static bool begin(struct rounds *r, struct error *err)
{
	struct calibrating *c = r->c;
	if (!(r->program = helper_kernel("regions", err)))
		return false;
	for (unsigned i = INTERFACE_LIBRARY_READ; i < INTERFACES; i++) {
		if (!c->wanted[i])
			continue;
		if (!(r->environments[i] = environment_for((enum interface)i)) ||
		    !(r->of[i] = calloc(c->events.count, sizeof *r->of[i])))
			return error_no_memory(err);
		for (size_t e = 0; e < c->events.count; e++) {
			r->of[i][e].values = calloc(COLUMNS * c->processes, sizeof(double));
			r->of[i][e].counts = calloc(BLOCK_SIZES * c->processes, sizeof(double));
			if (!r->of[i][e].values || !r->of[i][e].counts)
				return error_no_memory(err);
		}
	}
	return true;
}

static void end(struct rounds *r)
{
	for (size_t i = 0; i < INTERFACES; i++) {
		for (size_t e = 0; r->of[i] && e < r->c->events.count; e++) {
			free(r->of[i][e].values);
			free(r->of[i][e].counts);
		}
		free(r->of[i]);
		free(r->environments[i]);
	}
	free(r->program);
}

bool calibrate_regions(struct calibrating *c, struct error *err)
{
	struct rounds rounds = {.c = c};
	bool done = begin(&rounds, err);
	for (size_t p = 0; done && p < c->processes; p++) {
		if (c->progress)
			c->progress(c->progress_context, "regions", p, c->processes);
		for (size_t i = 0; done && i < INTERFACES; i++)
			for (size_t e = 0; done && rounds.of[i] && e < c->events.count; e++)
				done = one(&rounds, (enum interface)i, e, err);
	}
	for (size_t i = 0; done && i < INTERFACES; i++)
		for (size_t e = 0; done && rounds.of[i] && e < c->events.count; e++) {
			const struct column_values *v = &rounds.of[i][e];
			if (!v->given_up && v->n)
				done = add_rows(c, (enum interface)i, e, v, err) &&
				       add_fit(c, (enum interface)i, e, v, err);
		}
	end(&rounds);
	return done;
}
