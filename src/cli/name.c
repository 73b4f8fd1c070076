/* tare name: gives a kept run a name. */
#include <inttypes.h>

#include "cli/command.h"
#include "cli/say.h"
#include "cli/store_options.h"

enum { HELP, REMOVE };

const struct option_row name_option_rows[] = {
	{.help = "Options"},
	{0, "remove", NULL, "take the run's name away", REMOVE},
	STORE_OPTION_ROW,
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

struct name_request {
	struct keeping keeping;
	bool help, remove;
};

static bool apply(void *context, int id, const char *value, struct error *err)
{
	struct name_request *r = context;
	(void)err;
	r->help |= id == HELP;
	r->remove |= id == REMOVE;
	store_apply(&r->keeping, id, value);
	return true;
}

static int show_help(void)
{
	say_begin_output();
	options_help("usage: tare name [OPTIONS] RUN NAME\n"
		     "       tare name [OPTIONS] --remove RUN\n"
		     "\n"
		     "Gives a kept run a name. RUN is its number in 'tare list runs', @last (the\n"
		     "newest) or the name that it has. A named run stays when 'tare prune' removes\n"
		     "others; other commands find it as @NAME.\n",
		     name_option_rows,
		     "\nexit status: 0 done; 2 wrong usage, or no such run; 3 cannot write the store.\n"
		     "See also tare-name(1).\n");
	return say_end_output();
}

static int run(const struct name_request *r, const char *word, const char *name)
{
	struct runs *runs;
	struct error err = {0};
	int64_t id, before = 0;
	if (!store_open(&r->keeping, RUNS_WRITE, &runs, &err))
		return say_failure(&err);
	bool done = runs_find(runs, word, &id, &err) && runs_name(runs, id, name, &before, &err);
	runs_close(runs);
	if (!done)
		return say_failed(&err, err.code == ERROR_NOT_FOUND || err.code == ERROR_USAGE
						? TARE_USAGE
						: TARE_CANNOT_MEASURE);
	if (before)
		say_warning("run %" PRId64 " was called '%s'; now run %" PRId64 " is", before, name, id);
	return TARE_DONE;
}

int command_name(int argc, char **argv)
{
	struct name_request r = {0};
	struct error err = {0};
	int first;
	if (!options_parse(name_option_rows, argc, argv, apply, &r, &first, &err))
		return say_failed(&err, TARE_USAGE);
	if (r.help)
		return show_help();
	if (argc - first == (r.remove ? 1 : 2))
		return run(&r, argv[first], r.remove ? NULL : argv[first + 1]);
	error_set(&err, ERROR_USAGE, r.remove ? "--remove takes one run" : "'name' takes a run and its name");
	error_hint(&err, "'tare name @last before'; 'tare list runs' shows the runs");
	return say_failed(&err, TARE_USAGE);
}
