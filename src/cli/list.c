/* tare list: events, metrics, backends and machines, with what works here and why not. */
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/nearest.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/list_kernels.h"
#include "cli/list_machines.h"
#include "cli/list_regions.h"
#include "cli/list_runs.h"
#include "cli/store_options.h"
#include "session/metric_level.h"
#include "cli/options.h"
#include "session/reason.h"
#include "cli/say.h"
#include "cli/words.h"
#include "event/metric.h"
#include "report/json_writer.h"
#include "report/table.h"

enum { HELP, JSON, VERBOSE, NAMES, ON, ALL };

const struct option_row list_option_rows[] = {
	{.help = "Options"},
	{'v', "verbose", NULL, "also show units, formulas and other names", VERBOSE},
	{0, "names", NULL, "names only, one a line (tries nothing)", NAMES},
	{0, "on", "BACKEND", "list what this backend counts: see 'tare list backends' (default: auto)", ON},
	{0, "json", NULL, "as JSON", JSON},
	{0, "all", NULL, "of runs: all, not the newest 30", ALL},
	STORE_OPTION_ROW,
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

struct listing {
	bool help, json, verbose, names, all;
	struct keeping keeping;
	const char *on;
	char *const *words; /* a row must have each of them in its texts */
	int n_words;
	struct event_table *events;
	const struct backend_operations *operations;
	struct backend *backend;
	struct json writer;
	struct reasons reasons; /* why rows do not work */
	struct kernels kernels; /* of events: what moves them */
	struct arena arena;
	struct style style;
	size_t width;
	size_t shown;
};

static bool apply(void *context, int id, const char *value, struct error *err)
{
	struct listing *l = context;
	(void)err;
	if (id == ON)
		l->on = value;
	l->help |= id == HELP;
	l->json |= id == JSON;
	l->verbose |= id == VERBOSE;
	l->names |= id == NAMES;
	l->all |= id == ALL;
	store_apply(&l->keeping, id, value);
	return true;
}

/* ---- events ---- */

struct listed_availability {
	bool works;
	const char *source; /* "hw", "os"; "" when it does not work */
	bool user_only;     /* it works as NAME:u */
	const char *cause;  /* of a metric that does not work: the event that does not */
	struct availability answer;
};

static void judge(const struct listing *l, const char *request, struct listed_availability *v)
{
	struct event event;
	struct error err = {0};
	*v = (struct listed_availability){.source = ""};
	if (!event_parse(l->events, request, &event, &err)) {
		v->answer.state = READING_UNSUPPORTED;
		snprintf(v->answer.why, sizeof v->answer.why, "%.255s", err.text);
		return;
	}
	unsigned by = event.definition ? event.definition->counted_by : COUNTED_BY_PERF;
	v->answer.state = READING_UNSUPPORTED;
	if (by != COUNTED_BY_PROCESS)
		l->operations->available(l->backend, &event, &v->answer);
	/* as `tare count` does where no level is asked for */
	char user[256];
	struct availability answer;
	snprintf(user, sizeof user, "%s:u", request);
	if (v->answer.state != READING_COUNTED && !(by & COUNTED_BY_PROCESS) &&
	    !request[metric_level_at(request)] && event_parse(l->events, user, &event, NULL)) {
		l->operations->available(l->backend, &event, &answer);
		if (answer.state == READING_COUNTED) {
			v->answer = answer;
			v->user_only = true;
		}
	}
	if (v->answer.state == READING_COUNTED) {
		v->works = true;
		v->source = source_name(v->answer.source);
	} else if (by & COUNTED_BY_PROCESS) {
		*v = (struct listed_availability){.works = true, .source = "os"};
		v->answer.state = READING_COUNTED;
	} else if (!v->answer.why[0]) {
		snprintf(v->answer.why, sizeof v->answer.why, "nothing here counts it");
	}
}

static void json_list(struct json *json, const char *key, const char *const *texts)
{
	json_write_open(json, key, '[');
	for (; texts && *texts; texts++)
		json_write_text(json, NULL, *texts);
	json_write_close(json, ']');
}

static void show_event_json(struct listing *l, const struct event_definition *row,
			    const struct listed_availability *v)
{
	struct json *json = &l->writer;
	json_write_open(json, NULL, '{');
	json_write_text(json, "event", row->name);
	json_write_bool(json, "works", v->works);
	json_write_text(json, "source", v->works ? v->source : NULL);
	json_write_bool(json, "user_level_only", v->user_only);
	json_write_text(json, "why", v->works ? NULL : v->answer.why);
	json_write_text(json, "remedy", v->works || !v->answer.remedy[0] ? NULL : v->answer.remedy);
	json_write_text(json, "definition", row->definition);
	json_write_text(json, "unit", row->unit);
	json_write_text(json, "scope", row->scope);
	json_write_text(json, "papi", row->papi);
	json_list(json, "papers", row->paper_names);
	json_list(json, "encodings", row->encodings);
	json_list(json, "kernels", kernels_that_move(&l->kernels, row->name, &l->arena));
	json_write_bool(json, "default", row->in_default_set || row->default_if_exact);
	json_write_close(json, '}');
}

static void detail(const struct listing *l, const char *label, const char *text)
{
	if (!text || !text[0])
		return;
	printf("      %-12s", label);
	text_wrap(stdout, text, 18, 18, l->width);
}

static void detail_list(const struct listing *l, const char *label, const char *const *texts)
{
	struct str text = {0};
	for (; texts && *texts; texts++)
		str_appendf(&text, "%s%s", text.length ? ", " : "", *texts);
	if (!text.failed)
		detail(l, label, text.text);
	str_free(&text);
}

enum { NAME_COLUMNS = 22, SOURCE_COLUMNS = 8, TEXT_AT = 2 + NAME_COLUMNS + 2 + SOURCE_COLUMNS + 2 };

static void show_heading(const struct listing *l, const char *what)
{
	printf("  %s%-*s  %-*s  %s%s\n", l->style.bold, NAME_COLUMNS, what, SOURCE_COLUMNS, "source", "definition",
	       l->style.off);
}

/* name: the row's; cause: the event that has the reason. */
static void show_line(struct listing *l, const char *name, const char *cause, const struct listed_availability *v,
		      const char *definition)
{
	char source[32];
	if (v->works)
		snprintf(source, sizeof source, "%s%s", v->source, v->user_only ? ":u" : "");
	else
		snprintf(source, sizeof source, "no [%zu]",
			 reasons_add(&l->reasons, &l->arena, v->answer.why, v->answer.remedy, cause));
	printf("  %-*s", NAME_COLUMNS, name);
	if (strlen(name) > NAME_COLUMNS)
		printf("\n  %*s", NAME_COLUMNS, "");
	printf("  %s%-*s%s  ", v->works ? "" : l->style.dim, SOURCE_COLUMNS, source, v->works ? "" : l->style.off);
	text_wrap(stdout, definition, TEXT_AT, TEXT_AT, l->width);
}

static void show_reasons(const struct listing *l)
{
	for (size_t i = 0; i < l->reasons.items.count; i++) {
		char mark[32];
		int columns = snprintf(mark, sizeof mark, "[%zu]", i + 1);
		size_t indent = 3 + (size_t)columns;
		printf("%s  %s ", i ? "" : "\n", mark);
		text_wrap(stdout, reasons_text(&l->reasons, i + 1), indent, indent, l->width);
	}
}

enum { OTHER_NAMES_MOST = 60 };

/* All that an event is found by; names[] ends with NULL. Where its other names begin in it: *others. */
static void texts_of(const struct event_definition *row, const char **texts, size_t *others)
{
	size_t n = 0;
	const char *own[] = {row->name, row->definition, row->unit};
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		texts[n++] = own[i];
	*others = n;
	for (const char *const *name = row->aliases; *name && n < OTHER_NAMES_MOST; name++)
		texts[n++] = *name;
	for (const char *const *name = row->paper_names; *name && n < OTHER_NAMES_MOST; name++)
		texts[n++] = *name;
	texts[n] = NULL;
}

/* The definition; behind it the other names in which a word was found that is not in the row's own texts: they say
 * why the row is here. */
static const char *definition_with_names(struct listing *l, const struct event_definition *row,
					 const char *const *texts, size_t others)
{
	const char *own[] = {texts[0], texts[1], texts[2], NULL};
	struct str text = {0};
	size_t found = 0;
	if (has_words(l->words, l->n_words, own))
		return row->definition;
	str_append(&text, row->definition);
	for (const char *const *name = texts + others; *name; name++) {
		bool wanted = false;
		for (int i = 0; i < l->n_words; i++)
			wanted |= strcasestr(*name, l->words[i]) != NULL;
		if (wanted)
			str_appendf(&text, "%s%s", found++ ? ", " : " Also named: ", *name);
	}
	const char *kept = text.failed ? NULL : arena_strdup(&l->arena, text.text);
	str_free(&text);
	return kept ? kept : row->definition;
}

/* The programs that move the event by a known amount. */
static void show_kernels(struct listing *l, const char *event)
{
	const char *const *names = kernels_that_move(&l->kernels, event, &l->arena);
	if (names && *names)
		detail_list(l, "kernels", names);
	else
		detail(l, "kernels", "none moves it by a known amount");
}

static void list_events(struct listing *l)
{
	for (size_t i = 0; i < event_table_count(l->events); i++) {
		const struct event_definition *row = event_table_at(l->events, i);
		const char *texts[OTHER_NAMES_MOST + 1];
		size_t others;
		struct listed_availability v;
		texts_of(row, texts, &others);
		if (!has_words(l->words, l->n_words, texts))
			continue;
		l->shown++;
		if (l->names) {
			puts(row->name);
			continue;
		}
		judge(l, row->name, &v);
		if (l->json) {
			show_event_json(l, row, &v);
			continue;
		}
		if (l->shown == 1)
			show_heading(l, "event");
		show_line(l, row->name, row->name, &v, definition_with_names(l, row, texts, others));
		if (!l->verbose)
			continue;
		detail(l, "not here", v.works ? NULL : v.answer.why);
		struct str unit = {0};
		str_appendf(&unit, "%s, of a %s", row->unit, row->scope);
		detail(l, "unit", unit.failed ? row->unit : unit.text);
		detail(l, "PAPI", row->papi);
		detail_list(l, "papers", row->paper_names);
		detail_list(l, "counted by", row->encodings);
		show_kernels(l, row->name);
		str_free(&unit);
	}
}

/* ---- metrics ---- */

/* A metric works when all its events do; otherwise *v says which does not. */
static void judge_metric(const struct listing *l, const struct metric *metric, struct listed_availability *v)
{
	*v = (struct listed_availability){.works = true, .source = ""};
	for (size_t i = 0; i < metric_event_count(metric); i++) {
		struct listed_availability input;
		judge(l, metric_event(metric, i), &input);
		if (!input.works) {
			*v = input;
			v->cause = metric_event(metric, i);
			return;
		}
		if (!v->source[0] || strcmp(input.source, "hw") == 0)
			v->source = input.source;
	}
}

static bool list_metrics(struct listing *l, struct error *err)
{
	struct metric_table *table = metric_table_new(err);
	if (!table)
		return false;
	for (size_t i = 0; i < metric_table_count(table); i++) {
		const struct metric *metric = metric_table_at(table, i);
		const char *texts[] = {metric_name(metric), metric_definition(metric), metric_formula(metric),
				       NULL};
		struct listed_availability v;
		if (!has_words(l->words, l->n_words, texts))
			continue;
		l->shown++;
		if (l->names) {
			puts(metric_name(metric));
			continue;
		}
		judge_metric(l, metric, &v);
		if (l->json) {
			struct json *json = &l->writer;
			json_write_open(json, NULL, '{');
			json_write_text(json, "metric", metric_name(metric));
			json_write_bool(json, "works", v.works);
			json_write_text(json, "missing", v.works ? NULL : v.cause);
			json_write_text(json, "why", v.works ? NULL : v.answer.why);
			json_write_text(json, "definition", metric_definition(metric));
			json_write_text(json, "unit", metric_unit(metric));
			json_write_text(json, "formula", metric_formula(metric));
			json_write_text(json, "caution", metric_caution(metric));
			json_write_close(json, '}');
			continue;
		}
		if (l->shown == 1)
			show_heading(l, "metric");
		show_line(l, metric_name(metric), v.cause, &v, metric_definition(metric));
		if (!l->verbose)
			continue;
		detail(l, "needs", v.works ? NULL : v.cause);
		detail(l, "formula", metric_formula(metric));
		detail(l, "unit", metric_unit(metric));
		detail(l, "caution", metric_caution(metric));
	}
	metric_table_free(table);
	return true;
}

/* ---- backends ---- */

static void list_backends(struct listing *l)
{
	for (size_t i = 0; i < backend_kinds(); i++) {
		const struct backend_operations *kind = backend_kind(i);
		const char *texts[] = {kind->name, kind->summary, NULL};
		if (!has_words(l->words, l->n_words, texts))
			continue;
		l->shown++;
		if (l->names) {
			puts(kind->name);
		} else if (l->json) {
			json_write_open(&l->writer, NULL, '{');
			json_write_text(&l->writer, "backend", kind->name);
			json_write_text(&l->writer, "summary", kind->summary);
			json_write_close(&l->writer, '}');
		} else {
			printf("  %-10s", kind->name);
			text_wrap(stdout, kind->summary, 12, 12, l->width);
		}
	}
}

/* ---- all together ---- */

static int show_help(void)
{
	say_begin_output();
	options_help("usage: tare list [OPTIONS] [KIND] [WORD...]\n"
		     "\n"
		     "KIND is events, metrics, backends, machines, kernels, runs or regions.\n"
		     "\n"
		     "Lists what there is (default: events), and which backend counts it on this\n"
		     "machine for this user, found by trying. Shows only rows with each WORD in a\n"
		     "name (also PAPI's, perf's and the papers') or in the definition.\n"
		     "'tare list machines NAME' draws that machine; NAME may be a file's path.\n"
		     "'tare list kernels' lists the programs with known counts; with a NAME, what\n"
		     "that one must count, by formulas, and why.\n"
		     "'tare list runs' lists the runs that were kept, the newest first; -v also shows\n"
		     "where and with what each was measured.\n"
		     "'tare list regions' lists the parts of programs that these runs counted.\n",
		     list_option_rows, "\nexit status: 0 done; 2 wrong usage; 3 cannot make or write the list.\n");
	return say_end_output();
}

static bool list_one(struct listing *l, const char *what, struct error *err)
{
	bool trial = strcmp(what, "events") == 0 || strcmp(what, "metrics") == 0, done = true;
	const char *argument = NULL;
	if (trial) {
		if (!(l->events = event_table_new(err)))
			return false;
		/* names alone need no trial */
		l->operations = l->names ? NULL : backend_by_name(l->on, &argument, err);
		if (!l->names && (!l->operations || !l->operations->open(argument, &l->backend, err)))
			return false;
	}
	if (l->json) {
		l->writer = (struct json){.out = stdout, .lines = 2};
		json_write_open(&l->writer, NULL, '{');
		json_write_integer(&l->writer, "tare", 1);
		json_write_open(&l->writer, what, '[');
	}
	if (strcmp(what, "events") == 0)
		done = kernels_load(NULL, &l->kernels, err) && (list_events(l), true);
	else if (strcmp(what, "metrics") == 0)
		done = list_metrics(l, err);
	else if (strcmp(what, "backends") == 0)
		list_backends(l);
	else if (strcmp(what, "kernels") == 0)
		done = list_kernels(&(struct kernel_listing){.verbose = l->verbose,
							     .names = l->names,
							     .json = l->json ? &l->writer : NULL,
							     .words = l->words,
							     .n_words = l->n_words,
							     .width = l->width},
				    &l->shown, err);
	else if (strcmp(what, "runs") == 0)
		done = list_runs(&(struct run_listing){.keeping = l->keeping,
						       .verbose = l->verbose,
						       .names = l->names,
						       .all = l->all,
						       .json = l->json ? &l->writer : NULL,
						       .words = l->words,
						       .n_words = l->n_words,
						       .colour = say_in_colour(stdout),
						       .width = list_runs_width()},
				 &l->shown, err);
	else if (strcmp(what, "regions") == 0)
		done = list_regions(&(struct region_listing){.keeping = l->keeping,
							     .names = l->names,
							     .json = l->json ? &l->writer : NULL,
							     .words = l->words,
							     .n_words = l->n_words,
							     .colour = say_in_colour(stdout),
							     .width = list_runs_width()},
				    &l->shown, err);
	else
		done = list_machines(&(struct machine_listing){.verbose = l->verbose,
							       .names = l->names,
							       .json = l->json ? &l->writer : NULL,
							       .words = l->words,
							       .n_words = l->n_words,
							       .width = l->width},
				     &l->shown, err);
	show_reasons(l);
	if (l->json) {
		json_write_close(&l->writer, ']');
		json_write_close(&l->writer, '}');
	}
	return done;
}

static const char *const kinds[] = {"events", "metrics", "backends", "machines", "kernels", "runs", "regions"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The kind that a word names; "event" is as good as "events". NULL when it names none. */
static const char *kind_named(const char *word)
{
	for (size_t i = 0; i < KINDS; i++) {
		size_t length = strlen(kinds[i]);
		if (strcmp(word, kinds[i]) == 0 ||
		    (strlen(word) == length - 1 && strncmp(word, kinds[i], length - 1) == 0))
			return kinds[i];
	}
	return NULL;
}

/* Options and words in any order; words[] has room for argc of them. */
static bool parse(struct listing *l, int argc, char **argv, char **words, const char **what, struct error *err)
{
	bool named = false;
	for (int at = 0; at < argc;) {
		int rest;
		if (!options_parse(list_option_rows, argc - at, argv + at, apply, l, &rest, err))
			return false;
		at += rest;
		if (at >= argc)
			break;
		const char *kind = named ? NULL : kind_named(argv[at]);
		if (kind)
			*what = kind;
		else
			words[l->n_words++] = argv[at];
		named = true; /* later words narrow the list, whatever they are */
	}
	l->words = words;
	if (l->json && l->names)
		return error_set(err, ERROR_USAGE, "--json or --names, not both");
	return true;
}

/* No row has the words. A first word that is nearly a kind was meant as one ("machnes"). */
static int found_nothing(const struct listing *l, const char *what)
{
	struct nearest near = {0};
	struct error err = {0};
	for (size_t i = 0; i < KINDS; i++)
		nearest_consider(&near, l->words[0], kinds[i]);
	if (strcmp(what, "events") == 0 && near.distances[0] <= 2) {
		error_set(&err, ERROR_USAGE, "'%s' is neither a list nor in the name or definition of an event",
			  l->words[0]);
		error_hint(&err, "did you mean 'tare list %s'?", near.names[0]);
		return say_failure(&err);
	}
	say_warning("no %s with all of these words in %s; 'tare list %s' lists all", what,
		    strcmp(what, "runs") == 0      ? "the name or the command"
		    : strcmp(what, "regions") == 0 ? "the name or the place"
						   : "a name or the definition",
		    what);
	return TARE_DONE;
}

int command_list(int argc, char **argv)
{
	struct listing l = {.on = "auto", .style = {"", "", "", ""}};
	struct error err = {0};
	int code = TARE_DONE;
	const char *what = "events";
	char **words = calloc((size_t)argc + 1, sizeof *words);

	if (!words) {
		error_no_memory(&err);
		return say_failure(&err);
	}
	if (!parse(&l, argc, argv, words, &what, &err)) {
		code = say_failed(&err, TARE_USAGE);
		goto out;
	}
	if (l.help) {
		code = show_help();
		goto out;
	}
	say_begin_output();
	l.style = style_of(&(struct report_options){.colour = say_in_colour(stdout)});
	l.width = (size_t)table_width(&(struct report_options){.width = say_width(stdout)});
	bool done = list_one(&l, what, &err);
	if (!done)
		code = say_failure(&err);
	else if (l.shown == 0 && l.n_words)
		code = found_nothing(&l, what);
	if (l.backend)
		l.operations->close(l.backend);
	event_table_free(l.events);
	kernels_free(&l.kernels);
	vec_free(&l.reasons.items);
	arena_free(&l.arena);
	int written = say_end_output();
	code = code ? code : written;
out:
	free(words);
	return code;
}
