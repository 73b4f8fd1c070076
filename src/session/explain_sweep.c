#include "session/explain_sweep.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "session/environment.h"

/* Variables that programs take their number of threads from. */
static bool counts_threads(const char *name)
{
	static const char end[] = "_NUM_THREADS";
	size_t length = strlen(name), tail = sizeof end - 1;
	return strcmp(name, SWEEP_THREADS) == 0 || strcmp(name, "GOMAXPROCS") == 0 ||
	       (length > tail && strcmp(name + length - tail, end) == 0);
}

static bool stands_in(char *const *program, const char *name, struct arena *arena, struct error *err, bool *found)
{
	*found = false;
	for (char *const *word = program; *word; word++) {
		bool replaced;
		if (!sweep_replace(*word, name, "", arena, &replaced))
			return error_no_memory(err);
		*found |= replaced;
	}
	return true;
}

static size_t length_of(char *const *list)
{
	size_t n = 0;
	while (list[n])
		n++;
	return n;
}

/* The program's arguments for one value; NULL: memory ran out. */
static char **arguments_for(char *const *program, const char *name, const char *value, struct arena *arena)
{
	size_t n = length_of(program);
	char **out = arena_alloc(arena, (n + 1) * sizeof *out);
	for (size_t i = 0; out && i < n; i++) {
		bool replaced;
		if (!(out[i] = sweep_replace(program[i], name, value, arena, &replaced)))
			return NULL;
	}
	if (out)
		out[n] = NULL;
	return out;
}

static bool find_work(const char *per, const char *name, const char *value, double *work, struct error *err)
{
	unsigned power;
	unsigned long long number;
	*work = 1;
	if (!per)
		return true;
	if (!sweep_power_parse(per, name, &power, err))
		return false;
	if (!str_to_u64(value, &number) || !number)
		return error_set(err, ERROR_USAGE, "--per: time cannot be divided by the value '%s'", value);
	*work = pow((double)number, power);
	return true;
}

/* The execution at one value; the standard input and the count of executions are those of all of them. */
static bool explain_point(const struct explain_sweep_asked *asked, struct explained_sweep *sweep, size_t at,
			  struct explain_input *input, struct error *err)
{
	struct explained_point *point = &sweep->points[at];
	struct explain_asked one = *asked->each;
	one.input = input;
	one.advice_on = NULL; /* a sweep shows causes alone */
	one.program = arguments_for(asked->each->program, sweep->name, point->value, &sweep->arena);
	if (!one.program)
		return error_no_memory(err);
	if (sweep->variable) {
		one.environment = environment_with(NULL, sweep->variable, point->value, &sweep->arena);
		if (!one.environment)
			return error_no_memory(err);
	}
	if (asked->progress)
		asked->progress(asked->progress_context, point->value, at);
	if (!explain_run(&one, &point->explanation, err))
		return false;
	sweep->n = at + 1;
	return true;
}

static bool prepare(const struct explain_sweep_asked *asked, struct explained_sweep *out, struct error *err)
{
	const struct sweep_values *values = asked->values;
	bool in_arguments;
	out->name = arena_strdup(&out->arena, values->name);
	out->per = asked->per;
	out->command = (const char *const *)asked->each->program;
	out->threads = counts_threads(values->name);
	out->points = arena_alloc(&out->arena, values->n * sizeof *out->points);
	if (!out->name || !out->points)
		return error_no_memory(err);
	if (!stands_in(asked->each->program, out->name, &out->arena, err, &in_arguments))
		return false;
	if (!in_arguments)
		out->variable = strcmp(out->name, SWEEP_THREADS) == 0 ? "OMP_NUM_THREADS" : out->name;
	for (size_t i = 0; i < values->n; i++) {
		out->points[i] = (struct explained_point){.value = arena_strdup(&out->arena, values->values[i])};
		if (!out->points[i].value)
			return error_no_memory(err);
		if (!find_work(asked->per, out->name, values->values[i], &out->points[i].work, err))
			return false;
	}
	return true;
}

bool explain_sweep(const struct explain_sweep_asked *asked, struct explained_sweep *out, struct error *err)
{
	struct explain_input input = {0};
	*out = (struct explained_sweep){0};
	bool done = prepare(asked, out, err);
	for (size_t i = 0; done && i < asked->values->n; i++)
		done = explain_point(asked, out, i, &input, err);
	explain_input_close(&input);
	if (!done)
		explained_sweep_free(out);
	return done;
}
