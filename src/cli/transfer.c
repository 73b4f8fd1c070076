/* tare export, tare import: kept runs as one file. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/list_runs.h"
#include "cli/say.h"
#include "cli/store_options.h"

enum { HELP, OUTPUT };

const struct option_row export_option_rows[] = {
	{.help = "Options"},
	{'o', "output", "FILE", "the file to make; it must not be there yet", OUTPUT},
	STORE_OPTION_ROW,
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

const struct option_row import_option_rows[] = {
	{.help = "Options"},
	STORE_OPTION_ROW,
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

struct transfer_request {
	struct keeping keeping;
	const char *output;
	bool help;
};

static bool apply(void *context, int id, const char *value, struct error *err)
{
	struct transfer_request *r = context;
	(void)err;
	r->help |= id == HELP;
	if (id == OUTPUT)
		r->output = value;
	store_apply(&r->keeping, id, value);
	return true;
}

/* ---- export ---- */

static int show_export_help(void)
{
	say_begin_output();
	options_help("usage: tare export [OPTIONS] -o FILE [RUN...]\n"
		     "\n"
		     "Writes kept runs to one file, for 'tare import' on another machine. RUN is a\n"
		     "number in 'tare list runs', a name or @last; without one: all runs.\n",
		     export_option_rows,
		     "\nexit status: 0 done; 2 wrong usage, or no such run; 3 cannot read or write.\n"
		     "See also tare-export(1).\n");
	return say_end_output();
}

static bool all_ids(struct runs *runs, int64_t **ids, size_t *n, struct error *err)
{
	struct run_list list;
	if (!runs_list(runs, 0, NULL, 0, &list, err))
		return false;
	*n = list.rows.count;
	*ids = malloc((*n + 1) * sizeof **ids);
	/* the oldest first, as they were kept */
	for (size_t i = 0; *ids && i < *n; i++)
		(*ids)[i] = list.rows.items[*n - 1 - i].id;
	run_list_free(&list);
	return *ids || error_no_memory(err);
}

static bool named_ids(struct runs *runs, char **words, size_t n_words, int64_t **ids, size_t *n, struct error *err)
{
	if (!(*ids = malloc(n_words * sizeof **ids)))
		return error_no_memory(err);
	for (size_t i = 0; i < n_words; i++) {
		int64_t id;
		bool there = false;
		if (!runs_find(runs, words[i], &id, err))
			return false;
		for (size_t k = 0; k < *n; k++)
			there |= (*ids)[k] == id;
		if (!there)
			(*ids)[(*n)++] = id;
	}
	return true;
}

static int run_export(const struct transfer_request *r, char **words, size_t n_words)
{
	struct runs *runs;
	struct error err = {0};
	int64_t *ids = NULL;
	size_t n = 0;
	if (!store_open(&r->keeping, RUNS_READ, &runs, &err))
		return say_failure(&err);
	bool done = (n_words ? named_ids(runs, words, n_words, &ids, &n, &err) : all_ids(runs, &ids, &n, &err)) &&
		    runs_export(runs, ids, n, r->output, &err);
	free(ids);
	runs_close(runs);
	if (!done)
		return say_failed(&err, err.code == ERROR_NOT_FOUND || err.code == ERROR_USAGE
						? TARE_USAGE
						: TARE_CANNOT_MEASURE);
	printf("wrote %zu run%s to '%s'\n", n, n == 1 ? "" : "s", r->output);
	return say_end_output();
}

int command_export(int argc, char **argv)
{
	struct transfer_request r = {0};
	struct error err = {0};
	int first, behind = 0;
	char **words = calloc((size_t)argc + 1, sizeof *words);
	size_t n = 0;
	bool parsed = words || error_no_memory(&err);
	/* options may stand behind the runs as well */
	for (first = 0; parsed && first < argc; first += behind) {
		parsed = options_parse(export_option_rows, argc - first, argv + first, apply, &r, &behind, &err);
		if (parsed && first + behind < argc)
			words[n++] = argv[first + behind];
	}
	int code = TARE_USAGE;
	if (!parsed) {
		say_error(&err);
	} else if (r.help) {
		code = show_export_help();
	} else if (!r.output) {
		error_set(&err, ERROR_USAGE, "no file is given");
		error_hint(&err, "'tare export -o FILE [RUN...]'");
		say_error(&err);
	} else if (strcmp(r.output, "-") == 0) {
		error_set(&err, ERROR_USAGE, "a file of runs is a database, which cannot go to standard output");
		error_hint(&err, "-o FILE");
		say_error(&err);
	} else {
		say_begin_output();
		code = run_export(&r, words, n);
	}
	free(words);
	return code;
}

/* ---- import ---- */

static int show_import_help(void)
{
	say_begin_output();
	options_help("usage: tare import [OPTIONS] FILE\n"
		     "\n"
		     "Adds the runs of a file that 'tare export' wrote, or of another store. Runs that\n"
		     "are in the store already are not added again.\n",
		     import_option_rows,
		     "\nexit status: 0 done; 2 wrong usage, or not a file of runs; 3 cannot read or\n"
		     "write. See also tare-import(1).\n");
	return say_end_output();
}

static int run_import(const struct transfer_request *r, const char *path)
{
	struct runs *runs;
	struct error err = {0};
	struct import_counts counts;
	if (!store_open(&r->keeping, RUNS_WRITE, &runs, &err))
		return say_failure(&err);
	bool done = runs_import(runs, path, &counts, &err);
	runs_close(runs);
	if (!done)
		return say_failure(&err);
	say_begin_output();
	printf("added %zu run%s", counts.added, counts.added == 1 ? "" : "s");
	if (counts.known)
		printf("; %zu %s there already", counts.known, counts.known == 1 ? "was" : "were");
	putchar('\n');
	if (counts.names_lost)
		say_warning("%zu of them %s added without a name: other runs are called so here",
			    counts.names_lost, counts.names_lost == 1 ? "was" : "were");
	return say_end_output();
}

int command_import(int argc, char **argv)
{
	struct transfer_request r = {0};
	struct error err = {0};
	int first;
	if (!options_parse(import_option_rows, argc, argv, apply, &r, &first, &err))
		return say_failed(&err, TARE_USAGE);
	if (r.help)
		return show_import_help();
	if (argc - first == 1)
		return run_import(&r, argv[first]);
	error_set(&err, ERROR_USAGE, argc == first ? "no file is given" : "more than one file is given");
	error_hint(&err, "'tare import FILE'; 'tare export -o FILE' makes one");
	return say_failed(&err, TARE_USAGE);
}
