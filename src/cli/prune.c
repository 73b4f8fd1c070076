/* tare prune: removes kept runs. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "cli/command.h"
#include "cli/list_runs.h"
#include "cli/say.h"
#include "cli/store_options.h"

enum { HELP, OLDER, KEEP, SIZE, DRY_RUN, ROWS_SHOWN = 20 };

const struct option_row prune_option_rows[] = {
	{.help = "What goes (at least one; the oldest go first)"},
	{0, "older", "AGE", "runs that are older: 12h, 30d, 8w", OLDER},
	{0, "keep", "N", "the oldest, until N runs are left", KEEP},
	{0, "size", "SIZE", "the oldest, until the rest takes this much: 500k, 100M, 2G", SIZE},
	{.help = "Options"},
	{'n', "dry-run", NULL, "show what would go, and remove nothing", DRY_RUN},
	STORE_OPTION_ROW,
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

struct prune_request {
	struct keeping keeping;
	struct runs_limits limits;
	bool help, dry_run, any;
};

/* A number with a unit of one letter. */
static bool parse_scaled(const char *value, const char *letters, const unsigned long long *factors,
			 const char *expected, unsigned long long *out, struct error *err)
{
	char digits[24] = "";
	size_t length = strlen(value);
	const char *unit = length ? strchr(letters, value[length - 1]) : NULL;
	if (unit && length <= sizeof digits)
		memcpy(digits, value, length - 1);
	if (!unit || !str_to_u64(digits, out) || *out == 0 ||
	    *out > 1000000000000 / factors[unit - letters] * 1000)
		return error_set(err, ERROR_USAGE, "'%s' is not %s", value, expected);
	*out *= factors[unit - letters];
	return true;
}

static bool apply(void *context, int id, const char *value, struct error *err)
{
	static const unsigned long long seconds[] = {3600, 86400, 7 * 86400},
					bytes[] = {1000, 1000, 1000000, 1000000000};
	struct prune_request *r = context;
	unsigned long long number, now = (unsigned long long)time(NULL);
	r->any |= id == OLDER || id == KEEP || id == SIZE;
	switch (id) {
	case HELP: r->help = true; return true;
	case DRY_RUN: r->dry_run = true; return true;
	case OLDER:
		if (!parse_scaled(value, "hdw", seconds, "an age like 12h, 30d or 8w", &number, err))
			return false;
		r->limits.before_unix = number < now ? now - number : 1;
		return true;
	case KEEP:
		if (!options_number(value, 1, 1000000000, &number, err))
			return false;
		r->limits.most_runs = number;
		return true;
	case SIZE:
		if (!parse_scaled(value, "kKMG", bytes, "a size like 500k, 100M or 2G", &number, err))
			return false;
		r->limits.most_bytes = number;
		return true;
	default: return store_apply(&r->keeping, id, value);
	}
}

static int show_help(void)
{
	say_begin_output();
	options_help("usage: tare prune [OPTIONS] --older AGE | --keep N | --size SIZE\n"
		     "\n"
		     "Removes kept runs, and shows which. Runs that have a name stay.\n",
		     prune_option_rows,
		     "\nexit status: 0 done; 2 wrong usage; 3 cannot write the store.\n"
		     "See also tare-prune(1).\n");
	return say_end_output();
}

static void show_gone(const struct run_list *gone, bool dry_run)
{
	char sum[100];
	uint64_t bytes = 0;
	size_t n = gone->rows.count, shown = n > ROWS_SHOWN ? ROWS_SHOWN : n;
	for (size_t i = 0; i < n; i++)
		bytes += gone->rows.items[i].bytes;
	list_runs_table(stdout, gone->rows.items, shown, list_runs_width(), say_in_colour(stdout));
	if (n > shown)
		printf("and %zu older one%s\n", n - shown, n - shown == 1 ? "" : "s");
	list_runs_sum(sum, sizeof sum, n, bytes);
	printf("%s%s: %s; %zu stay%s\n", n ? "\n" : "", dry_run ? "would go" : "removed", sum, gone->n_all - n,
	       gone->n_all - n == 1 ? "s" : "");
}

static int run(const struct prune_request *r)
{
	struct runs *runs;
	struct run_list gone;
	struct error err = {0};
	if (!store_open(&r->keeping, r->dry_run ? RUNS_READ : RUNS_WRITE, &runs, &err))
		return say_failure(&err);
	bool done = runs_prune(runs, &r->limits, r->dry_run, &gone, &err);
	runs_close(runs);
	if (!done)
		return say_failure(&err);
	say_begin_output();
	show_gone(&gone, r->dry_run);
	run_list_free(&gone);
	return say_end_output();
}

int command_prune(int argc, char **argv)
{
	struct prune_request r = {0};
	struct error err = {0};
	int rest;
	if (!options_parse(prune_option_rows, argc, argv, apply, &r, &rest, &err))
		return say_failed(&err, TARE_USAGE);
	if (r.help)
		return show_help();
	if (rest < argc) {
		error_set(&err, ERROR_USAGE, "'prune' takes no arguments: '%s'", argv[rest]);
		error_hint(&err, "--older, --keep and --size say what to remove");
	} else if (!r.any) {
		error_set(&err, ERROR_USAGE, "nothing says what to remove");
		error_hint(&err, "--older 90d, --keep 1000 or --size 100M; --dry-run removes nothing");
	} else {
		return run(&r);
	}
	return say_failed(&err, TARE_USAGE);
}
