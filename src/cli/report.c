/* tare report: shows a run that was kept, or a profile in a file. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/export_options.h"
#include "cli/page_output.h"
#include "cli/profile_data.h"
#include "cli/profile_options.h"
#include "cli/report_merge.h"
#include "cli/report_run.h"
#include "cli/say.h"
#include "cli/store_options.h"
#include "session/keep_comparison.h"
#include "session/profile.h"
#include "session/profile_read.h"
#include "session/trusting.h"

enum {
	HELP,
	VERBOSE,
	QUIET,
	ALL_REPETITIONS,
	GROSS,
	STATISTICS,
	OUTPUT,
	EVENT,
	FORMAT,
	FROM,
	TO,
	HTML,
	ALONE,
	PROF,
	QUIT,
	ONLY,
	EXCLUDE,
	DSO,
	MERGE,
	PER_RANK
};

const struct option_row report_option_rows[] = {
	{.help = "Report (of a run: as it was shown at first)"},
	{'o', "output", "FILE", "write the report to this file (default: standard output)", OUTPUT},
	{0, "format", SHOW_FORMATS,
	 "the report's format: text (default), all functions and lines as JSON or CSV, or HTML", FORMAT},
	{0, "html", NULL, "as a page for a browser, in one file: the same as --format html", HTML},
	{'v', "verbose", NULL, "of a count: show all notes, and the machine", VERBOSE},
	{'q', "quiet", NULL, "of a count: show the numbers alone, and warnings", QUIET},
	{0, "all-repetitions", NULL, "of a count: show the value of each repetition", ALL_REPETITIONS},
	{0, "statistics", NULL, "of a count: show min, median, max and standard deviation (σ)", STATISTICS},
	{0, "alone", NULL, "of a comparison's run: show its counts only, not the comparison", ALONE},
	{0, "gross", NULL, "of a count: show gross, tare and net of each event", GROSS},
	{'e', "event", "EVENT",
	 "show this event only; of a flame graph and folded stacks: its (default: the first)", EVENT},
	{0, "prof", NULL, "list as SpeedShop's prof does", PROF},
	{0, "quit", "N|N%", "list N rows, or those with N % of the count or more", QUIT},
	{0, "only", "NAME", "list only this function; may be repeated, and a pattern", ONLY},
	{0, "exclude", "NAME", "do not list this function; likewise", EXCLUDE},
	{0, "dso", "FILE", "list only functions of this program or library; likewise", DSO},
	{0, "from", "SECONDS|begin:REGION|end:REGION",
	 "only samples taken this long after the first one, or since this mark of the program (begin:REGION:3: "
	 "the third)",
	 FROM},
	{0, "to", "SECONDS|begin:REGION|end:REGION", "only samples taken before this time", TO},
	SHOW_OPTION_ROWS,
	{.help = "Results of several processes (files of 'tare count --json')"},
	{0, "merge", NULL,
	 "add them up: the ranks of one job, or the machines of a fleet; sum, min, max, imbalance", MERGE},
	{0, "per-rank", NULL, "with --merge: also a row for each of them", PER_RANK},
	{.help = "Files of other tools"},
	EXPORT_OPTION_ROWS,
	EXPORT_MORE_ROWS,
	{.help = "Other"},
	STORE_OPTION_ROW,
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

struct report_request {
	const char *output;
	bool help;
	struct profile_part part;
	struct show_request show;
	struct export_request export;
	struct report_options options; /* of a count */
	bool alone;                    /* of a comparison's runs this one only */
	bool merge, per_rank;
	struct keeping keeping;
};

/* The last one of an option holds. */
static bool parse_time(const char *value, uint64_t *ns, const char **mark, struct error *err)
{
	bool named = session_is_mark(value);
	*ns = 0;
	*mark = named ? value : NULL;
	if (named || options_seconds(value, ns, err))
		return true;
	return error_hint(err, "a time is SECONDS, begin:REGION or end:REGION");
}

static bool is_part(const struct report_request *r)
{
	const struct profile_part *p = &r->part;
	return p->from_ns || p->to_ns || p->from_mark || p->to_mark;
}

static bool apply(void *context, int id, const char *value, struct error *err)
{
	struct report_request *r = context;
	switch (id) {
	case HELP: r->help = true; return true;
	case VERBOSE: r->options.verbose = true; return true;
	case QUIET: r->options.quiet = true; return true;
	case ALL_REPETITIONS: r->options.all_repetitions = true; return true;
	case GROSS: r->options.gross = true; return true;
	case STATISTICS: r->options.statistics = true; return true;
	case OUTPUT: r->output = value; return true;
	case ALONE: return r->alone = true;
	case HTML: r->show.format = SHOW_HTML; return true;
	case EVENT: r->show.event = r->export.event = value; return true;
	case PROF: return r->show.prof = true;
	case MERGE: return r->merge = true;
	case PER_RANK: return r->per_rank = true;
	case QUIT: return show_parse_quit(value, &r->show, err);
	case ONLY: return vec_push(&r->show.only, value) || error_no_memory(err);
	case EXCLUDE: return vec_push(&r->show.exclude, value) || error_no_memory(err);
	case DSO: return vec_push(&r->show.modules, value) || error_no_memory(err);
	case FROM: return parse_time(value, &r->part.from_ns, &r->part.from_mark, err);
	case TO: return parse_time(value, &r->part.to_ns, &r->part.to_mark, err);
	case FORMAT: return show_parse_format(value, &r->show.format, err);
	default:
		if (store_apply(&r->keeping, id, value))
			return true;
		return id > EXPORT_BASE ? export_apply(&r->export, id, value, err)
					: show_apply(&r->show, id, value, err);
	}
}

static int show_help(void)
{
	say_begin_output();
	options_help("usage: tare report [OPTIONS] RUN|@last|NAME|FILE [OPTIONS]\n"
		     "       tare report --merge [OPTIONS] FILE... [OPTIONS]\n"
		     "\n"
		     "Shows a kept run again, or a profile that 'tare profile -o FILE' wrote. RUN is a\n"
		     "number in 'tare list runs'. Where a file has that name, @RUN means the run.\n",
		     report_option_rows,
		     "\nexit status: 0 done; 2 wrong usage, no such run, or not a profile;\n"
		     "3 cannot read or write, or with --merge a result is missing.\n"
		     "See also tare-report(1).\n");
	return say_end_output();
}

static bool is_page(const struct report_request *r)
{
	return r->export.format ? strcmp(r->export.format->name, "html") == 0 : r->show.format == SHOW_HTML;
}

static int show_a_profile(struct report_request *r, struct profile *profile)
{
	struct error err = {0};
	FILE *out = stdout;
	int code = TARE_CANNOT_MEASURE;
	session_trust_profile(profile, &r->keeping);
	if (r->show.by == PROFILE_BY_DATA) {
		error_set(&err, ERROR_USAGE, "this profile is of code: it does not have the data");
		error_hint(&err, "'tare profile --by data --on model:host PROGRAM'");
		code = say_failed(&err, TARE_USAGE);
	} else if (r->output && !(out = file_create(r->output, &err)))
		say_error(&err);
	else if (r->export.format)
		code = export_profile(profile, &r->export, r->show.confidence, out,
				      r->output ? r->output : "standard output");
	else if (r->export.before)
		code = show_difference(profile, r->export.before, &r->show, out,
				       r->output ? r->output : "standard output");
	else
		code = show_profile(profile, &r->show, out, r->output ? r->output : "standard output");
	profile_free(profile);
	free(profile);
	return code;
}

static bool shows_times(const struct report_request *r) { return r->export.format && r->export.format->times; }

static int show_a_file(struct report_request *r, const char *path)
{
	struct profile *profile;
	struct error err = {0};
	r->part.moments = shows_times(r);
	r->show.file = path;
	return session_read_profile(path, &r->part, &profile, &err) ? show_a_profile(r, profile)
								    : say_failure(&err);
}

/* Options of profiles say nothing of counts. */
static bool check_of_count(const struct report_request *r, const char *word, struct error *err)
{
	const char *option = r->export.format                    ? "--as"
			     : r->show.annotate                  ? "--annotate"
			     : r->show.prof                      ? "--prof"
			     : is_part(r)                        ? "--from and --to"
			     : r->show.event                     ? "-e"
			     : r->show.top                       ? "--top"
			     : r->show.by != PROFILE_BY_FUNCTION ? "--by"
			     : r->show.only.count > 1 || r->show.exclude.count > 1 || r->show.modules.count > 1
				     ? "--only, --exclude and --dso"
				     : NULL;
	return !option ||
	       error_set(err, ERROR_USAGE, "run '%s' is not a profile: %s is for profiles", word, option);
}

/* A count by object, as the data profile that it is, or that is asked for. */
static bool shows_data(const struct report_request *r, const struct kept_run *run)
{
	const struct breakdown *b = run->result ? run->result->breakdown : NULL;
	return run->kind == KEPT_COUNT && b && b->by == BREAKDOWN_BY_OBJECT &&
	       (r->show.by == PROFILE_BY_DATA || (run->shown & SHOWN_BY_DATA)) && !r->export.format &&
	       !r->show.event;
}

/* Options of code say nothing of data. */
static bool check_of_data(const struct report_request *r, struct error *err)
{
	const struct show_request *s = &r->show;
	const char *option = s->annotate || s->disassemble          ? "--annotate and --dis"
			     : s->butterfly || s->browse || s->prof ? "--butterfly, --browse and --prof"
			     : is_part(r)                           ? "--from and --to"
			     : s->quit_share > 0                    ? "--quit N%"
			     : s->only.count > 1 || s->exclude.count > 1 || s->modules.count > 1
				     ? "--only, --exclude and --dso"
				     : NULL;
	return !option || error_set(err, ERROR_USAGE, "%s has no meaning for a data profile", option);
}

static int show_data(struct report_request *r, const struct kept_run *run)
{
	struct error err = {0};
	struct arena arena = {0};
	struct report_origin origin;
	FILE *out = stdout;
	if (!check_of_data(r, &err))
		return say_failed(&err, TARE_USAGE);
	page_origin_of(run, &arena, &origin);
	r->show.origin = r->show.format == SHOW_HTML ? &origin : NULL;
	if (!r->show.top)
		r->show.top = run->top;
	int code = r->output && !(out = file_create(r->output, &err))
			   ? say_failed(&err, TARE_CANNOT_MEASURE)
			   : profile_data_show(run->result, r->show.format, &r->show, out,
					       r->output ? r->output : "standard output");
	arena_free(&arena);
	return code;
}

static int show_a_run(struct report_request *r, const char *word)
{
	struct kept_run run;
	struct profile *profile;
	struct error err = {0};
	struct arena arena = {0};
	struct report_origin origin;
	struct kept_comparison kept = {0};
	FILE *out = stdout;
	int code = TARE_CANNOT_MEASURE;
	if (!keep_load(&r->keeping, word, &run, &err)) {
		if (err.code == ERROR_NOT_FOUND && word[0] != '@')
			error_set(&err, ERROR_NOT_FOUND, "'%s' is neither a file nor a kept run", word);
		return say_failed(&err, err.code == ERROR_NOT_FOUND ? TARE_USAGE : TARE_CANNOT_MEASURE);
	}
	if (shows_data(r, &run)) {
		code = show_data(r, &run);
	} else if (run.kind == KEPT_PROFILE) {
		page_origin_of(&run, &arena, &origin);
		r->show.origin = &origin;
		r->show.file = word;
		report_show_of(&run, &r->show);
		r->part.moments = shows_times(r);
		code = session_parse_profile(run.profile, run.profile_bytes, word, &r->part, &profile, &err)
			       ? show_a_profile(r, profile)
			       : say_failure(&err);
	} else if (!check_of_count(r, word, &err)) {
		code = say_failed(&err, TARE_USAGE);
	} else if (!r->alone && !keep_load_comparison(&r->keeping, &run, &kept, &err)) {
		code = say_failed(&err, TARE_CANNOT_MEASURE);
	} else if (r->output && !(out = file_create(r->output, &err))) {
		say_error(&err);
	} else {
		report_options_of(&run, &r->options);
		code = kept.comparison ? report_comparison(&run, kept.comparison, r->show.format, r->options, out,
							   r->output)
				       : report_result(&run, r->show.format, r->options, out, r->output);
	}
	keep_comparison_free(&kept);
	arena_free(&arena);
	kept_run_free(&run);
	return code;
}

static int command(struct report_request *r, int argc, char **argv)
{
	struct error err = {0};
	int file, behind = 0;
	/* options may stand behind the file as well: there is no program whose options they could be */
	if (!options_parse(report_option_rows, argc, argv, apply, r, &file, &err))
		return say_failed(&err, TARE_USAGE);
	size_t n_files = 0;
	while (file + (int)n_files < argc && (n_files == 0 || argv[file + (int)n_files][0] != '-'))
		n_files++;
	int last = file + (int)n_files - 1;
	if (n_files && !options_parse(report_option_rows, argc - last, argv + last, apply, r, &behind, &err))
		return say_failed(&err, TARE_USAGE);
	if (r->help)
		return show_help();
	bool elsewhere = r->output || r->export.format || r->export.before;
	if (is_page(r) && !page_check(r->output, stdout, &err))
		return say_failed(&err, TARE_USAGE);
	if (!show_check(&r->show, stdout, elsewhere, &err))
		return say_failed(&err, TARE_USAGE);
	if (!export_check(&r->export, r->output != NULL, stdout, &err))
		return say_failed(&err, TARE_USAGE);
	if (r->part.to_ns && r->part.to_ns <= r->part.from_ns) {
		error_set(&err, ERROR_USAGE, "--to must be later than --from");
		return say_failed(&err, TARE_USAGE);
	}
	/* lists that end in NULL */
	if (!vec_push(&r->show.only, NULL) || !vec_push(&r->show.exclude, NULL) ||
	    !vec_push(&r->show.modules, NULL)) {
		error_no_memory(&err);
		return say_failure(&err);
	}
	if (r->per_rank && !r->merge) {
		error_set(&err, ERROR_USAGE, "--per-rank needs --merge");
		return say_failed(&err, TARE_USAGE);
	}
	if (r->merge && n_files && last + behind == argc)
		return report_merge(argv + file, n_files, r->show.format, r->per_rank, r->output, &r->options);
	if (n_files == 1 && file + behind == argc)
		return report_is_run(argv[file]) ? show_a_run(r, argv[file]) : show_a_file(r, argv[file]);
	error_set(&err, ERROR_USAGE, file == argc ? "no run and no file is given" : "more than one file is given");
	error_hint(&err, "'tare report @last'; 'tare list runs' shows what there is");
	return say_failed(&err, TARE_USAGE);
}

int command_report(int argc, char **argv)
{
	struct report_request r = {.show = {.confidence = 0.95}};
	int code = command(&r, argc, argv);
	vec_free(&r.show.only);
	vec_free(&r.show.exclude);
	vec_free(&r.show.modules);
	return code;
}
