/* What `tare compare` compares: commands, with the values of parameter lists and of builds put in, and runs that
 * were kept. */
#include <string.h>

#include "cli/compare.h"
#include "session/keep.h"

static const char *letter_of(struct arena *arena, size_t i)
{
	return i < 26 ? arena_printf(arena, "%c", (int)('A' + i)) : arena_printf(arena, "#%zu", i + 1);
}

/* What is put into one command. */
struct values {
	const char **lists;                /* request.lists.count */
	const struct compare_build *build; /* NULL: none */
};

static char *put_in(struct compare_command_line *x, const char *text, const struct values *values)
{
	char *out = arena_strdup(&x->arena, text);
	for (size_t i = 0; out && i < x->request.lists.count; i++)
		out = command_line_substitute(out, x->request.lists.items[i].name, values->lists[i], &x->arena);
	if (out && values->build)
		out = compare_put_in_build(x, out, values->build);
	return out;
}

static bool one_for_each(const char *option, size_t have, size_t want, struct error *err)
{
	if (have <= 1 || have == want)
		return true;
	return error_set(err, ERROR_USAGE, "%zu times %s for %zu command%s: give it once, or once for each", have,
			 option, want, want == 1 ? "" : "s");
}

static bool add_side(struct compare_command_line *x, const char *name, bool is_kept, size_t at, struct error *err)
{
	const struct compare_request *r = &x->request;
	size_t number = x->sides.count;
	if (number >= COMMANDS_MOST)
		return error_set(err, ERROR_LIMIT, "more than %d commands", COMMANDS_MOST);
	struct compare_side side = {.name = number < r->names.count ? r->names.items[number]
					    : name                  ? name
								    : letter_of(&x->arena, number),
				    .is_kept = is_kept,
				    .at = at};
	return (side.name && vec_push(&x->sides, side)) || error_no_memory(err);
}

static const char *of_command(const char *const *texts, size_t n, size_t number)
{
	return n == 0 ? NULL : n == 1 ? texts[0] : texts[number];
}

/* The words behind "--", as they are. */
static bool take_words(struct compare_command_line *x, const struct values *values,
		       struct compare_command *command, struct error *err)
{
	const struct compare_request *r = &x->request;
	char **argv = arena_alloc(&x->arena, (r->program.count + 1) * sizeof *argv);
	for (size_t i = 0; argv && i < r->program.count; i++)
		if (!(argv[i] = put_in(x, r->program.items[i], values)))
			return error_no_memory(err);
	command->program = argv;
	return argv || error_no_memory(err);
}

/* The command `number` of the command line, or the words behind "--", with these values. */
static bool add_command(struct compare_command_line *x, size_t number, const struct values *values,
			struct error *err)
{
	const struct compare_request *r = &x->request;
	struct compare_command command = {.regions = r->regions.items, .n_regions = r->regions.count};
	struct command_line line;
	if (x->program_is_one) {
		if (!take_words(x, values, &command, err))
			return false;
	} else {
		char *text = put_in(x, r->commands.items[number], values);
		if (!text)
			return error_no_memory(err);
		if (!command_line_parse(text, r->use, r->shell, &x->arena, &line, err))
			return false;
		command.program = line.argv;
	}
	if (values->build) {
		command.directory = values->build->directory;
		command.link_orders = values->build->orders.items;
		command.n_link_orders = values->build->orders.count;
		command.built = values->build->out;
	}
	const char *prepare = of_command(r->prepares.items, r->prepares.count, number),
		   *conclude = of_command(r->concludes.items, r->concludes.count, number);
	if ((prepare && !(command.prepare = put_in(x, prepare, values))) ||
	    (conclude && !(command.conclude = put_in(x, conclude, values))) ||
	    (r->setup && !(command.setup = put_in(x, r->setup, values))) ||
	    (r->cleanup && !(command.cleanup = put_in(x, r->cleanup, values))))
		return error_no_memory(err);
	const char *name = values->build && x->one_command ? values->build->name : NULL;
	if (!add_side(x, name, false, x->commands.count, err))
		return false;
	command.name = x->sides.items[x->sides.count - 1].name;
	return vec_push(&x->commands, command) || error_no_memory(err);
}

/* All combinations of the lists' values from list `list` on. */
static bool add_combinations(struct compare_command_line *x, size_t number, size_t list, struct values *values,
			     struct error *err)
{
	const struct compare_request *r = &x->request;
	if (list == r->lists.count)
		return add_command(x, number, values, err);
	char *rest = arena_strdup(&x->arena, r->lists.items[list].values);
	if (!rest)
		return error_no_memory(err);
	for (char *value; (value = strsep(&rest, ","));) {
		values->lists[list] = value;
		if (!add_combinations(x, number, list + 1, values, err))
			return false;
	}
	return true;
}

/* "@NAME" */
static bool add_kept(struct compare_command_line *x, const char *word, struct error *err)
{
	struct kept_run *run = arena_alloc(&x->arena, sizeof *run);
	if (!run)
		return error_no_memory(err);
	if (!keep_load(&x->request.keeping, word, run, err))
		return false;
	if (!vec_push(&x->kept, run)) {
		kept_run_free(run);
		return error_no_memory(err);
	}
	if (run->kind == KEPT_PROFILE || !run->result)
		return error_set(err, ERROR_USAGE, "'%s' is a profile: tare report compares those", word);
	return add_side(x, word, true, x->kept.count - 1, err);
}

/* What is set up and cleaned up for all is done once where all have the same text. */
static void once_for_all(struct compare_command_line *x)
{
	for (size_t i = 1; i < x->commands.count; i++)
		for (size_t j = 0; j < i; j++) {
			struct compare_command *one = &x->commands.items[i], *before = &x->commands.items[j];
			if (one->setup && before->setup && strcmp(one->setup, before->setup) == 0)
				one->setup = NULL;
			if (one->cleanup && before->cleanup && strcmp(one->cleanup, before->cleanup) == 0)
				one->cleanup = NULL;
		}
}

static bool no_commands(const struct compare_command_line *x, struct error *err)
{
	error_set(err, ERROR_USAGE,
		  x->sides.count ? "one command alone cannot be compared" : "no commands are given");
	return error_hint(err, "each command is one argument: tare compare 'gzip -1 FILE' 'gzip -9 FILE'");
}

static bool add_all(struct compare_command_line *x, size_t n, const struct compare_build *build, struct error *err)
{
	const struct compare_request *r = &x->request;
	struct values values = {arena_alloc(&x->arena, (r->lists.count + 1) * sizeof *values.lists), build};
	if (!values.lists)
		return error_no_memory(err);
	for (size_t i = 0; i < n; i++) {
		const char *word = x->program_is_one ? "" : r->commands.items[i];
		/* runs that were kept, and programs whose names begin so, are told apart by the shell's quotes:
		 * './@x' is a program */
		if (!(word[0] == '@' ? add_kept(x, word, err) : add_combinations(x, i, 0, &values, err)))
			return false;
	}
	return true;
}

bool compare_find_sides(struct compare_command_line *x, struct error *err)
{
	struct compare_request *r = &x->request;
	bool builds = x->builds.count > 0;
	x->program_is_one = builds && r->program.count > 0;
	if (x->program_is_one && r->commands.count)
		return error_set(err, ERROR_USAGE, "give commands, or one program behind --, not both");
	for (size_t i = 0; !builds && i < r->program.count; i++)
		if (!vec_push(&r->commands, r->program.items[i]))
			return error_no_memory(err);
	static char out[] = "{out}";
	if (builds && r->flags.count && !r->commands.count && !r->program.count && !vec_push(&r->commands, out))
		return error_no_memory(err);
	size_t n = x->program_is_one ? 1 : r->commands.count;
	x->one_command = n == 1 && r->lists.count == 0;
	if (!one_for_each("--prepare", r->prepares.count, n, err) ||
	    !one_for_each("--conclude", r->concludes.count, n, err))
		return false;
	if (!builds && !add_all(x, n, NULL, err))
		return false;
	for (size_t i = 0; i < x->builds.count; i++)
		if (!add_all(x, n, &x->builds.items[i], err))
			return false;
	if (x->sides.count < 2)
		return no_commands(x, err);
	if (r->names.count > x->sides.count)
		return error_set(err, ERROR_USAGE, "%zu names for %zu commands", r->names.count, x->sides.count);
	once_for_all(x);
	return true;
}
