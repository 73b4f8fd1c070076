#include "cli/profile_options.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "cli/browse.h"
#include "cli/say.h"
#include "report/profile_difference.h"
#include "report/profile_rows.h"
#include "session/profile.h"
#include "session/profile_read.h"
#include "session/profile_views.h"

/* object: tare count's word for data */
static bool parse_by(const char *value, enum profile_by *by, struct error *err)
{
	static const struct {
		const char *name;
		enum profile_by by;
	} words[] = {{"function", PROFILE_BY_FUNCTION}, {"line", PROFILE_BY_LINE},
		     {"data", PROFILE_BY_DATA},         {"object", PROFILE_BY_DATA},
		     {"thread", PROFILE_BY_THREAD},     {"process", PROFILE_BY_PROCESS}};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i].name, value) == 0) {
			*by = words[i].by;
			return true;
		}
	return error_set(err, ERROR_USAGE, "'%s' is not function, line, data, thread or process", value);
}

bool show_apply(struct show_request *show, int id, const char *value, struct error *err)
{
	unsigned long long number;
	switch (id) {
	case SHOW_LINES:
	case SHOW_HEAVY: show->by = PROFILE_BY_LINE; return true;
	case SHOW_ANNOTATE: return show->annotate = true;
	case SHOW_DIS: return show->disassemble = true;
	case SHOW_BROWSE: return show->browse = true;
	case SHOW_BUTTERFLY: return show->butterfly = true;
	case SHOW_PER_THREAD: show->parts = PROFILE_BY_THREAD; return true;
	case SHOW_PER_PROCESS: show->parts = PROFILE_BY_PROCESS; return true;
	case SHOW_BY: return parse_by(value, &show->by, err);
	case SHOW_TOP:
		if (!options_number(value, 1, 1000000000, &number, err))
			return false;
		show->top = number;
		return true;
	case SHOW_CONFIDENCE:
		if (strcmp(value, "95") != 0 && strcmp(value, "99") != 0)
			return error_set(err, ERROR_USAGE, "'%s' is not 95 or 99", value);
		show->confidence = value[1] == '5' ? 0.95 : 0.99;
		return true;
	default: return true;
	}
}

bool show_parse_format(const char *value, enum show_format *out, struct error *err)
{
	static const char *const names[] = {"text", "json", "csv", "html"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], value) == 0) {
			*out = (enum show_format)i;
			return true;
		}
	return error_set(err, ERROR_USAGE, "'%s' is not " SHOW_FORMATS, value);
}

bool show_parse_quit(const char *value, struct show_request *show, struct error *err)
{
	size_t length = strlen(value);
	unsigned long long rows;
	double percent;
	char number[32];
	if (length && length < sizeof number && value[length - 1] == '%') {
		snprintf(number, sizeof number, "%.*s", (int)length - 1, value);
		if (!str_to_double(number, &percent) || !(percent > 0) || percent > 100)
			return error_set(err, ERROR_USAGE, "'%s' is not a share above 0%% and up to 100%%", value);
		show->quit_share = percent / 100;
		return true;
	}
	if (!options_number(value, 1, 1000000000, &rows, err))
		return false;
	show->top = rows;
	return true;
}

static bool is_of_tasks(enum profile_by by) { return by == PROFILE_BY_THREAD || by == PROFILE_BY_PROCESS; }

/* A list of threads has no code, and what each did apart is text. */
static bool check_tasks(const struct show_request *show, struct error *err)
{
	const char *parts = show->parts == PROFILE_BY_THREAD ? "--per-thread" : "--per-process";
	if (is_of_tasks(show->by) &&
	    (show->prof || show->annotate || show->disassemble || show->butterfly || show->browse)) {
		error_set(err, ERROR_USAGE,
			  "--by thread and --by process list no code: --prof, --annotate, --dis, --butterfly and "
			  "--browse have nothing to show");
		return error_hint(err, "--per-thread and --per-process show the code of each");
	}
	if (!show->parts)
		return true;
	if (show->by == PROFILE_BY_DATA || is_of_tasks(show->by))
		return error_set(err, ERROR_USAGE, "%s lists functions or lines of each: remove --by", parts);
	if (show->format == SHOW_TEXT && !show->prof && !show->browse)
		return true;
	error_set(err, ERROR_USAGE, "%s is shown as text only", parts);
	return error_hint(err,
			  "JSON and CSV list all threads and processes; for HTML use --by thread or --by process");
}

bool show_check(const struct show_request *show, FILE *out, bool has_output, struct error *err)
{
	if (!check_tasks(show, err))
		return false;
	if (!show->browse)
		return true;
	if (show->format != SHOW_TEXT || show->prof || show->annotate || show->disassemble || show->butterfly) {
		error_set(err, ERROR_USAGE, "--browse shows everything itself");
		return error_hint(err, "remove --format, --prof, --annotate, --dis and --butterfly");
	}
	if (!has_output && isatty(fileno(out)))
		return true;
	error_set(err, ERROR_USAGE, "--browse needs a terminal");
	return error_hint(
		err, "remove -o and any redirection of the output; or remove --browse: the report is then text");
}

/* The event that was asked for, or the first with samples or counts. False: there is none of that name. */
static bool choose_event(const struct named_profile *named, const struct show_request *show, size_t *event,
			 struct error *err)
{
	const struct profile *p = named->profile;
	struct str names = {0};
	size_t found = 0;
	while (found < p->n_events &&
	       !(show->event ? strcmp(p->events[found].label, show->event) == 0 : named->sums[found] != 0))
		found++;
	*event = found < p->n_events ? found : 0;
	if (found < p->n_events)
		return true;
	for (size_t i = 0; i < p->n_events; i++)
		str_appendf(&names, "%s%s", i ? ", " : "", p->events[i].label);
	if (show->event || !p->n_events) {
		error_set(err, ERROR_USAGE, "the profile has no event '%s'", show->event ? show->event : "");
		error_hint(err, "it has %s", names.text ? names.text : "none");
	}
	str_free(&names);
	return !show->event && p->n_events;
}

enum { CODE_MOST = 64 }; /* functions that are disassembled */

static struct profile_report_options options_of(FILE *out, const struct show_request *show, size_t event)
{
	return (struct profile_report_options){
		.text = {.origin = show->origin, .colour = say_in_colour(out), .width = say_width(out)},
		.by = show->by,
		.top = show->top,
		.annotate = show->annotate,
		.butterfly = show->butterfly,
		.one_event = show->event != NULL,
		.event = event,
		.file = show->file,
		.made_unix = (uint64_t)time(NULL),
		.quit_share = show->quit_share,
		.only = show->only.items,
		.exclude = show->exclude.items,
		.modules = show->modules.items};
}

/* A listing, and what is asked for below it. */
static bool write_text(FILE *out, const struct named_profile *named, const struct show_request *show, size_t event,
		       struct error *err)
{
	struct profile_report_options options = options_of(out, show, event);
	struct named_code code[CODE_MOST];
	uint32_t rows[CODE_MOST];
	options.n_code = show->disassemble ? profile_hottest_functions(named, &options, false, rows, CODE_MOST)
					   : 0;
	options.code = code;
	if (!session_disassemble(named, rows, options.n_code, code, err))
		return false;
	if (show->format == SHOW_HTML)
		report_profile_html(out, named, &options);
	else if (show->prof)
		report_profile_prof(out, named, &options);
	else
		report_profile_text(out, named, &options);
	for (size_t i = 0; i < options.n_code; i++)
		named_code_free(&code[i]);
	return true;
}

enum { PARTS_MOST = 10 };

/* One thread or process, as if it were the profile. */
static bool write_part(FILE *out, const struct profile *whole, const struct named_row *row,
		       const struct show_request *show, size_t event, struct error *err)
{
	struct profile *part;
	struct named_profile *named;
	if (!session_profile_part(whole, row, show->parts == PROFILE_BY_PROCESS, &part, err))
		return false;
	bool done = session_name_profile(part, show->confidence, &named, err);
	if (done) {
		done = write_text(out, named, show, event, err);
		named_profile_free(named);
		free(named);
	}
	profile_free(part);
	free(part);
	return done;
}

/* The list of threads or processes, and then each apart. */
static bool write_parts(FILE *out, const struct named_profile *named, const struct show_request *show,
			size_t event, struct error *err)
{
	struct show_request list = *show, one = *show;
	size_t n, shown;
	list.by = show->parts;
	list.annotate = list.disassemble = list.butterfly = false;
	one.origin = NULL;
	const struct named_row **rows = profile_rows_sorted(profile_table(named, show->parts), event, false, &n);
	if (!rows)
		return error_no_memory(err);
	bool done = write_text(out, named, &list, event, err);
	for (shown = 0; done && shown < n && shown < PARTS_MOST; shown++)
		done = write_part(out, named->profile, rows[shown], &one, event, err);
	if (done && shown < n)
		fprintf(out, "  %zu more with fewer samples %s not shown apart\n", n - shown,
			n - shown == 1 ? "is" : "are");
	free(rows);
	return done;
}

static bool write_profile(FILE *out, const struct named_profile *named, const struct show_request *show,
			  size_t event, struct error *err)
{
	if (show->parts)
		return write_parts(out, named, show, event, err);
	if (show->browse)
		return browse_profile(named, show->by, event, say_in_colour(out), err);
	switch (show->format) {
	case SHOW_JSON: report_profile_json(out, named); return true;
	case SHOW_CSV: report_profile_csv(out, named); return true;
	case SHOW_TEXT:
	case SHOW_HTML: return write_text(out, named, show, event, err);
	}
	return false;
}

static bool is_empty(const char *const *patterns) { return !patterns || !*patterns; }

/* A listing of functions and nothing else: few lines are in it. */
static bool lists_functions_alone(const struct show_request *show)
{
	return show->format == SHOW_TEXT && show->by == PROFILE_BY_FUNCTION && !show->parts && !show->browse &&
	       !show->prof && !show->annotate && !show->disassemble && !show->butterfly &&
	       is_empty(show->only.items) && is_empty(show->exclude.items) && is_empty(show->modules.items);
}

/* Names what is shown, and chooses the event. False: *named is NULL. */
static bool name_shown(const struct profile *profile, const struct show_request *show, FILE *out,
		       struct named_profile **named, size_t *event, bool *chosen, struct error *err)
{
	bool functions = lists_functions_alone(show);
	if (functions ? !session_name_functions(profile, show->confidence, named, err)
		      : !session_name_profile(profile, show->confidence, named, err))
		return false;
	*chosen = choose_event(*named, show, event, err);
	if (!functions || !*chosen)
		return true;
	const struct profile_report_options options = options_of(out, show, *event);
	if (!profile_list_wants_lines(*named, &options))
		return true;
	named_profile_free(*named);
	free(*named);
	return session_name_profile(profile, show->confidence, named, err);
}

int show_profile(const struct profile *profile, const struct show_request *show, FILE *out, const char *name)
{
	struct named_profile *named;
	struct error err = {0};
	size_t event;
	bool chosen, written = false;
	if (!name_shown(profile, show, out, &named, &event, &chosen, &err))
		return say_failed(&err, TARE_CANNOT_MEASURE);
	if (chosen) {
		signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error to be told */
		written = write_profile(out, named, show, event, &err);
	}
	named_profile_free(named);
	free(named);
	bool kept = file_close(out, name, written, &err);
	return !chosen           ? say_failed(&err, TARE_USAGE)
	       : written && kept ? TARE_DONE
				 : say_failed(&err, TARE_CANNOT_MEASURE);
}

struct earlier_profile {
	struct profile *profile;
	struct named_profile *named;
};

int show_difference(const struct profile *profile, const char *before, const struct show_request *show, FILE *out,
		    const char *name)
{
	struct earlier_profile earlier = {0};
	struct named_profile *named = NULL;
	struct error err = {0};
	size_t event;
	int code = TARE_DONE;
	if (show->format != SHOW_TEXT || show->prof || show->annotate || show->disassemble || show->butterfly ||
	    show->parts || is_of_tasks(show->by)) {
		error_set(&err, ERROR_USAGE, "--before lists changes only, as text");
		error_hint(&err, "remove --format, --prof, --annotate, --dis, --butterfly and threads; --only, "
				 "--by line and --top work");
		code = say_failed(&err, TARE_USAGE);
	} else if (!session_read_profile(before, NULL, &earlier.profile, &err) ||
		   !session_name_profile(earlier.profile, show->confidence, &earlier.named, &err) ||
		   !session_name_profile(profile, show->confidence, &named, &err)) {
		code = say_failure(&err);
	} else if (!choose_event(named, show, &event, &err)) {
		code = say_failed(&err, TARE_USAGE);
	} else {
		const struct profile_report_options options = options_of(out, show, event);
		signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error to be told */
		report_profile_difference(out, named, earlier.named, &options);
	}
	if (named)
		named_profile_free(named);
	free(named);
	session_free_named(earlier.named, earlier.profile);
	bool written = file_close(out, name, code == TARE_DONE, &err);
	return code != TARE_DONE || written ? code : say_failed(&err, TARE_CANNOT_MEASURE);
}
