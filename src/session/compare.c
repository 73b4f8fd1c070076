#include "session/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/hook.h"
#include "session/layout.h"
#include "session/link_order.h"
#include "trust/calibration_here.h"
#include "trust/comparison.h"

extern char **environ;

/* One comparison at work. */
struct turns {
	struct session *sessions;
	const struct compare_command *commands;
	size_t n;
	const struct compare_options *options;
	struct measure_steps **steps; /* n */
	bool *over;                   /* n: no step is left, or none is wanted */
	size_t *order;                /* n: of this repetition */
	struct random random;
	size_t executed, executions;
	struct clock clock;
	uint64_t begin_ns;
	bool interrupted;
};

static bool is_interrupted(const struct turns *t) { return t->options->interrupt && *t->options->interrupt != 0; }

/* ---- one execution ---- */

static bool hook(const struct turns *t, const struct compare_command *command, const char *what, const char *text,
		 struct error *err)
{
	bool shown = t->options->program_output == OUTPUT_ALL;
	return !text || hook_run(what, text, command->directory, shown, err);
}

static bool failed(const struct turns *t, const struct compare_command *command, int status, struct error *err)
{
	if (status == 0 || t->options->ignore_failure || t->interrupted)
		return false;
	char words[160] = "";
	for (size_t i = 0, used = 0; command->program[i] && used < sizeof words; i++)
		used += (size_t)snprintf(words + used, sizeof words - used, " %s", command->program[i]);
	if (WIFSIGNALED(status))
		error_set(err, ERROR_SYSTEM, "'%.200s' was killed by signal %d in execution %zu of all:%s",
			  command->name, WTERMSIG(status), t->executed, words);
	else
		error_set(err, ERROR_SYSTEM, "'%.200s' ended with exit status %d in execution %zu of all:%s",
			  command->name, WEXITSTATUS(status), t->executed, words);
	error_hint(err, "--ignore-failure also compares commands that fail");
	return true;
}

/* Goes to the command's directory; *back, for go_back(), is -1 where it has none. */
static bool go_there(const struct compare_command *command, int *back, struct error *err)
{
	*back = -1;
	if (!command->directory)
		return true;
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (here >= 0 && chdir(command->directory) == 0) {
		*back = here;
		return true;
	}
	error_set_errno(err, ERROR_NOT_FOUND, errno, "cannot work in '%s'", here < 0 ? "." : command->directory);
	if (here >= 0)
		close(here);
	return false;
}

static bool go_back(int back, struct error *err)
{
	if (back < 0)
		return true;
	bool done = fchdir(back) == 0 ||
		    error_set_errno(err, ERROR_SYSTEM, errno, "cannot return to the starting directory");
	close(back);
	return done;
}

static bool step_there(struct turns *t, size_t which, bool *more, struct error *err)
{
	int back;
	if (!go_there(&t->commands[which], &back, err))
		return false;
	bool done = measure_step(t->steps[which], more, err);
	return go_back(back, done ? err : NULL) && done;
}

static bool step(struct turns *t, size_t which, struct error *err)
{
	const struct compare_command *command = &t->commands[which];
	struct session *session = &t->sessions[which];
	char **environment = NULL;
	bool more = false;
	if (is_interrupted(t)) {
		t->interrupted = true;
		return true;
	}
	t->executed++;
	if (t->options->progress)
		t->options->progress(t->options->progress_context, command, t->executed, t->executions,
				     (double)(clock_now_ns(&t->clock) - t->begin_ns) / 1e9);
	if (!hook(t, command, "--prepare", command->prepare, err))
		return false;
	if (command->n_link_orders > 1) {
		const char *built = command->link_orders[random_below(&t->random, command->n_link_orders)];
		if (!link_order_take(built, command->built, err))
			return false;
	}
	if (t->options->randomise_layout) {
		if (!(environment = layout_environment(environ, &t->random)))
			return error_no_memory(err);
		session->command.environment = environment;
	}
	bool done = step_there(t, which, &more, err);
	session->command.environment = NULL;
	free(environment);
	if (!done)
		return false;
	t->over[which] = !more;
	const struct result *so_far = measure_so_far(t->steps[which]);
	t->interrupted |= so_far->interrupted;
	if (failed(t, command, so_far->wait_status, err))
		return false;
	return hook(t, command, "--conclude", command->conclude, err);
}

/* ---- all of them ---- */

/* So many executions of each command, one command after the other. */
static bool round_of(struct turns *t, const size_t *times, struct error *err)
{
	random_order(&t->random, t->order, t->n);
	for (size_t i = 0; i < t->n; i++) {
		size_t which = t->order[i];
		for (size_t k = 0; k < times[which] && !t->over[which] && !t->interrupted; k++)
			if (!step(t, which, err))
				return false;
	}
	return true;
}

static bool take_turns(struct turns *t, struct error *err)
{
	size_t *times = calloc(2 * t->n, sizeof *times), *warm_ups = times + t->n, most = 0;
	bool done = times || error_no_memory(err);
	if (!done)
		return false;
	for (size_t i = 0; i < t->n; i++) {
		measure_plan_of(t->steps[i], &warm_ups[i], &times[i]);
		t->executions += warm_ups[i] + times[i] * t->options->repetitions;
		most = warm_ups[i] > most ? warm_ups[i] : most;
	}
	for (size_t w = 0; done && w < most && !t->interrupted; w++) {
		random_order(&t->random, t->order, t->n);
		for (size_t i = 0; i < t->n && done && !t->interrupted; i++)
			if (w < warm_ups[t->order[i]])
				done = step(t, t->order[i], err);
	}
	for (size_t r = 0; done && r < t->options->repetitions && !t->interrupted; r++)
		done = round_of(t, times, err);
	free(times);
	return done;
}

/* The same backend, events and machines, for another program. */
static bool share(struct session *sessions, size_t which, const struct compare_command *command,
		  const struct compare_options *options, struct error *err)
{
	struct session *s = &sessions[which];
	if (which > 0)
		session_share(s, &sessions[0]);
	session_set_program(s, command->program, options->input_fd);
	int back;
	if (!go_there(command, &back, err))
		return false;
	bool done = session_add_regions(s, command->regions, command->n_regions, err);
	return go_back(back, done ? err : NULL) && done;
}

static bool begin(struct turns *t, size_t which, struct error *err)
{
	const struct compare_options *o = t->options;
	struct session *s = &t->sessions[which];
	const struct selection *selection = &s->events_of->selection;
	struct measure_options options = {
		.size = sizeof options,
		.repetitions = o->repetitions,
		.has_warm_ups = o->has_warm_ups,
		.warm_ups = o->warm_ups,
		.confidence = o->confidence,
		.program_output = o->program_output,
		.interrupt = o->interrupt,
	};
	return measure_begin(s->operations, s->backend, &s->target, selection->events.items,
			     selection->events.count, selection->metrics.items, selection->metrics.count, &options,
			     &t->steps[which], err);
}

static bool finish(struct turns *t, struct error *err)
{
	for (size_t i = 0; i < t->n; i++) {
		struct measure_steps *steps = t->steps[i];
		t->steps[i] = NULL;
		if (!measure_end(steps, &t->sessions[i].result, err) || !session_check_laws(&t->sessions[i], err))
			return false;
		if (!session_take_off(&t->sessions[i], false) || !session_order_rows(&t->sessions[i], true))
			return error_no_memory(err);
	}
	return true;
}

/* As many as were set up; what fails here is told when nothing failed before. */
static bool clean_up(struct turns *t, size_t n, bool done, struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		struct error own = {0};
		if (!hook(t, &t->commands[i], "--cleanup", t->commands[i].cleanup, &own) && done) {
			done = false;
			if (err)
				*err = own;
		}
	}
	return done;
}

struct comparison *session_compare_results(const struct result *const *results, const char *const *names, size_t n,
					   double confidence, struct error *err)
{
	struct calibration calibration = {0};
	char why[256];
	bool here = calibration_here(&results[0]->machine, &calibration, why, sizeof why);
	struct comparison *c = trust_compare(results, names, n, confidence, here ? &calibration : NULL, err);
	calibration_free(&calibration);
	return c;
}

bool session_take_turns(struct session *sessions, const struct compare_command *commands, size_t n,
			const struct compare_options *options, bool *interrupted, struct error *err)
{
	struct turns t = {.sessions = sessions,
			  .commands = commands,
			  .n = n,
			  .options = options,
			  .steps = calloc(n, sizeof(struct measure_steps *)),
			  .over = calloc(n, sizeof(bool)),
			  .order = calloc(n, sizeof(size_t)),
			  .random = {options->seed},
			  .clock = clock_monotonic()};
	size_t set_up = 0;
	bool done = (t.steps && t.over && t.order) || error_no_memory(err);
	t.begin_ns = clock_now_ns(&t.clock);
	while (done && set_up < n) {
		done = hook(&t, &commands[set_up], "--setup", commands[set_up].setup, err);
		set_up++;
	}
	for (size_t i = 0; done && i < n; i++)
		done = share(sessions, i, &commands[i], options, err) && begin(&t, i, err);
	done = done && take_turns(&t, err);
	done = clean_up(&t, set_up, done, err);
	done = done && finish(&t, err);
	*interrupted = t.interrupted;
	for (size_t i = 0; t.steps && i < n; i++)
		measure_abandon(t.steps[i]);
	free(t.steps);
	free(t.over);
	free(t.order);
	return done;
}
