#include "compat/parameters.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"

enum { KEY_BYTES = 64 };

enum kind { YES_NO, NUMBER, TEXT };

static const struct parameter_row {
	const char *key, *alias;
	enum kind kind;
	size_t offset;
	unsigned long long least, most; /* of a NUMBER */
} rows[] = {
/* clang-format off */
#define ROW(key, kind, least, most) { #key, NULL, kind, offsetof(struct parameters, key), least, most }
	/* clang-format on */
	ROW(command, TEXT, 0, 0),
	ROW(repetitions, NUMBER, 1, PARAMETERS_REPETITIONS),
	ROW(user_events, YES_NO, 0, 0),
	ROW(kernel_events, YES_NO, 0, 0),
	ROW(output_all_results, YES_NO, 0, 0),
	{"confidence_level_99", "conf_level_99", YES_NO, offsetof(struct parameters, confidence_level_99), 0, 0},
	ROW(errata, YES_NO, 0, 0),
	ROW(use_assembly_regions, YES_NO, 0, 0),
	ROW(max_regions, NUMBER, 0, PARAMETERS_REGIONS),
	ROW(output_file, TEXT, 0, 0),
	ROW(skip_initialization_run, YES_NO, 0, 0),
	ROW(verbose_level, NUMBER, 0, 2),
	ROW(repeat_first_run, YES_NO, 0, 0),
	ROW(dump_parms, YES_NO, 0, 0),
	ROW(warn_parm_not_defined, YES_NO, 0, 0),
	ROW(warn_parm_defined_twice, YES_NO, 0, 0),
	ROW(warn_parm_not_used, YES_NO, 0, 0),
	ROW(parm_warn_file_name, TEXT, 0, 0),
	ROW(parm_dump_file_name, TEXT, 0, 0),
#undef ROW
};

enum { OWN_ROWS = sizeof rows / sizeof *rows, ALL_ROWS = OWN_ROWS + P5MON_EVENTS };
_Static_assert((int)ALL_ROWS <= (int)PARAMETERS_ROWS, "a set for every row");

enum issue_kind { DEFINED_TWICE, NOT_USED };

struct parameter_issue {
	enum issue_kind kind;
	const char *text;
};

/* Rows are the own parameters, then the events. */
static const char *row_key(size_t index)
{
	return index < OWN_ROWS ? rows[index].key : p5mon_event_at(index - OWN_ROWS)->parameter;
}

static size_t find_row(const char *key)
{
	for (size_t i = 0; i < ALL_ROWS; i++)
		if (strcmp(row_key(i), key) == 0 ||
		    (i < OWN_ROWS && rows[i].alias && strcmp(rows[i].alias, key) == 0))
			return i;
	return ALL_ROWS;
}

/* "'a', 'b'" in hint: the keys near to one that is unknown. */
static void nearest_keys(const char *key, char *hint, size_t size)
{
	struct nearest near = {0};
	size_t used = 0;
	hint[0] = '\0';
	for (size_t i = 0; i < ALL_ROWS; i++)
		nearest_consider(&near, key, row_key(i));
	for (int i = 0; i < NEAREST_MOST && near.names[i] && used < size; i++)
		used += (size_t)snprintf(hint + used, size - used, "%s'%s'", i ? ", " : "", near.names[i]);
}

void parameters_init(struct parameters *p)
{
	*p = (struct parameters){
		.command = "",
		.repetitions = 1,
		.user_events = true,
		.max_regions = 10, /* section 4.3.3.2; Table C.1 says 100 */
		.output_file = "",
		/* no defaults are given for these. Asked for by default: what points at a slip */
		.warn_parm_defined_twice = true,
		.warn_parm_not_used = true,
		.parm_warn_file_name = "stderr",
		.parm_dump_file_name = "stderr",
	};
}

void parameters_free(struct parameters *p)
{
	vec_free(&p->issues);
	arena_free(&p->arena);
	*p = (struct parameters){0};
}

/* Where the text is being read. */
struct text_place {
	const char *at, *end;
	const char *line_start;
	unsigned line;
	const char *source;
};

static unsigned column_of(const struct text_place *place, const char *at)
{
	return (unsigned)(at - place->line_start) + 1;
}

static bool fail(const struct text_place *place, const char *at, struct error *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static bool fail(const struct text_place *place, const char *at, struct error *err, const char *format, ...)
{
	char text[400];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return error_set(err, ERROR_SYNTAX, "%s:%u:%u: %s", place->source, place->line, column_of(place, at),
			 text);
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; }

static bool is_key_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void step(struct text_place *place)
{
	if (*place->at++ == '\n') {
		place->line++;
		place->line_start = place->at;
	}
}

static void skip_space(struct text_place *place)
{
	while (place->at < place->end && is_space(*place->at))
		step(place);
}

static void skip_space_and_comments(struct text_place *place)
{
	for (;;) {
		skip_space(place);
		if (place->at == place->end || *place->at != '#')
			return;
		while (place->at < place->end && *place->at != '\n')
			place->at++;
	}
}

/* A name into key[KEY_BYTES]; what says what it is, for messages. */
static bool take_name(struct text_place *place, const char *what, char key[KEY_BYTES], struct error *err)
{
	const char *start = place->at;
	while (place->at < place->end && is_key_character(*place->at))
		place->at++;
	size_t length = (size_t)(place->at - start);
	if (length == 0) {
		if (start == place->end)
			return fail(place, start, err, "the file ends where %s was expected", what);
		return fail(place, start, err, "expected %s, found '%c'", what, *start);
	}
	if (length >= KEY_BYTES)
		return fail(place, start, err, "%s of more than %d characters", what, KEY_BYTES - 1);
	memcpy(key, start, length);
	key[length] = '\0';
	return true;
}

/* Up to the ";", which is eaten. The value is the arena's. */
static bool take_value(struct parameters *p, struct text_place *place, const char *key, const char **value,
		       struct error *err)
{
	const char *start = place->at;
	if (start == place->end || *start != '"') {
		while (place->at < place->end && *place->at != ';' && *place->at != '\n')
			place->at++;
		if (place->at == place->end || *place->at != ';')
			return fail(place, place->at, err, "expected ';' after the value of '%s'", key);
		const char *stop = place->at++;
		while (stop > start && is_space(stop[-1]))
			stop--;
		*value = arena_strndup(&p->arena, start, (size_t)(stop - start));
		return *value ? true : error_no_memory(err);
	}
	struct str text = {0};
	struct text_place open = *place;
	step(place);
	while (place->at < place->end && *place->at != '"') {
		if (*place->at == '\\' && place->at + 1 < place->end &&
		    (place->at[1] == '"' || place->at[1] == '\\'))
			step(place);
		str_append_char(&text, *place->at);
		step(place);
	}
	if (place->at == place->end) {
		str_free(&text);
		return fail(&open, open.at, err, "the quoted value of '%s' has no end", key);
	}
	step(place);
	*value = text.failed ? NULL : arena_strdup(&p->arena, text.text ? text.text : "");
	str_free(&text);
	if (!*value)
		return error_no_memory(err);
	skip_space(place);
	if (place->at == place->end || *place->at != ';')
		return fail(place, place->at, err, "expected ';' after the value of '%s'", key);
	place->at++;
	return true;
}

/* Checks and stores; reason[] says what is wrong with it. */
static bool store(struct parameters *p, size_t index, const char *value, char *reason, size_t size)
{
	if (index >= OWN_ROWS || rows[index].kind == YES_NO) {
		bool *target = index >= OWN_ROWS ? &p->events[index - OWN_ROWS]
						 : (bool *)((char *)p + rows[index].offset);
		bool yes = str_equal_nocase(value, "yes");
		if (!yes && !str_equal_nocase(value, "no")) {
			snprintf(reason, size, "'%s' must be yes or no, not '%.100s'", row_key(index), value);
			return false;
		}
		*target = yes;
		return true;
	}
	const struct parameter_row *row = &rows[index];
	if (row->kind == NUMBER) {
		unsigned long long number;
		if (!str_to_u64(value, &number) || number < row->least || number > row->most) {
			snprintf(reason, size, "'%s' must be a whole number from %llu to %llu, not '%.100s'",
				 row->key, row->least, row->most, value);
			return false;
		}
		*(unsigned long long *)((char *)p + row->offset) = number;
		return true;
	}
	*(const char **)((char *)p + row->offset) = value;
	return true;
}

static bool add_issue(struct parameters *p, enum issue_kind kind, const char *text, struct error *err)
{
	if (text && vec_push(&p->issues, ((struct parameter_issue){kind, text})))
		return true;
	return error_no_memory(err);
}

/* key = value ; */
static bool read_assignment(struct parameters *p, struct text_place *place, struct error *err)
{
	char key[KEY_BYTES], reason[320];
	struct text_place start = *place, value_start;
	const char *value = NULL;
	if (!take_name(place, "a parameter or 'end)'", key, err))
		return false;
	skip_space(place);
	if (place->at == place->end || *place->at != '=')
		return fail(place, place->at, err, "expected '=' after '%s'", key);
	place->at++;
	while (place->at < place->end && (*place->at == ' ' || *place->at == '\t'))
		place->at++;
	value_start = *place;
	if (!take_value(p, place, key, &value, err))
		return false;

	size_t index = find_row(key);
	unsigned column = column_of(&start, start.at);
	if (index == ALL_ROWS) {
		char near[256];
		nearest_keys(key, near, sizeof near);
		return add_issue(p, NOT_USED,
				 arena_printf(&p->arena, "%s:%u:%u: parameter '%s' is not used (nearest: %s)",
					      start.source, start.line, column, key, near),
				 err);
	}
	struct parameter_set *set = &p->sets[index];
	if (set->in_file &&
	    !add_issue(
		    p, DEFINED_TWICE,
		    arena_printf(&p->arena,
				 "%s:%u:%u: parameter '%s' is defined twice, first at %u:%u; this value is used",
				 start.source, start.line, column, key, set->line, set->column),
		    err))
		return false;
	set->in_file = true;
	set->line = start.line;
	set->column = column;
	if (set->overridden)
		return true;
	if (!store(p, index, value, reason, sizeof reason))
		return fail(&value_start, value_start.at, err, "%s", reason);
	return true;
}

/* True when the section's end comes next; it is eaten. */
static bool take_end(struct text_place *place)
{
	struct text_place ahead = *place;
	if (ahead.end - ahead.at < 3 || memcmp(ahead.at, "end", 3) != 0)
		return false;
	ahead.at += 3;
	skip_space(&ahead);
	if (ahead.at == ahead.end || *ahead.at != ')')
		return false;
	ahead.at++;
	*place = ahead;
	return true;
}

static bool read_section(struct parameters *p, struct text_place *place, bool *ours, struct error *err)
{
	struct text_place open = *place;
	char name[KEY_BYTES];
	place->at++;
	skip_space(place);
	if (!take_name(place, "a section's name", name, err))
		return false;
	*ours = strcmp(name, "p5mon") == 0;
	for (;;) {
		skip_space_and_comments(place);
		if (place->at == place->end)
			return fail(&open, open.at, err, "section '%s' has no 'end)'", name);
		if (take_end(place))
			return true;
		if (*ours) {
			if (!read_assignment(p, place, err))
				return false;
			continue;
		}
		/* another program's section may hold what we do not know: a line or a ";" at a time */
		while (place->at < place->end && *place->at != ';' && *place->at != '\n')
			place->at++;
		if (place->at < place->end)
			step(place);
	}
}

bool parameters_read(struct parameters *p, const char *text, size_t length, const char *source, struct error *err)
{
	struct text_place place = {text, text + length, text, 1, source};
	bool found = false;
	if (length > PARAMETERS_MOST_BYTES)
		return error_set(err, ERROR_LIMIT, "'%s' is longer than %d bytes", source, PARAMETERS_MOST_BYTES);
	p->source = arena_strdup(&p->arena, source);
	if (!p->source)
		return error_no_memory(err);
	const char *zero = memchr(text, '\0', length);
	if (zero) {
		while (place.at < zero)
			step(&place);
		return fail(&place, zero, err, "a zero byte: this is not a text file");
	}
	for (;;) {
		skip_space_and_comments(&place);
		if (place.at == place.end)
			break;
		bool ours;
		if (*place.at != '(')
			return fail(&place, place.at, err, "expected '(' and a section's name, found '%c'",
				    *place.at);
		if (!read_section(p, &place, &ours, err))
			return false;
		found |= ours;
	}
	if (!found)
		return fail(&place, place.at, err, "no section '(p5mon ... end)'");
	return true;
}

bool parameters_override(struct parameters *p, const char *assignment, struct error *err)
{
	size_t length = strcspn(assignment, "=");
	if (!assignment[length] || length == 0)
		return error_set(err, ERROR_USAGE, "'%s' is not KEY=VALUE", assignment);
	char *key = arena_strndup(&p->arena, assignment, length);
	char *value = arena_strdup(&p->arena, assignment + length + 1);
	char text[320];
	if (!key || !value)
		return error_no_memory(err);
	key = str_trim(key);
	value = str_trim(value);
	size_t index = find_row(key);
	if (index == ALL_ROWS) {
		nearest_keys(key, text, sizeof text);
		error_set(err, ERROR_USAGE, "unknown parameter '%s'", key);
		return error_hint(err, "the nearest are %s", text);
	}
	if (!store(p, index, value, text, sizeof text))
		return error_set(err, ERROR_USAGE, "%s", text);
	p->sets[index].overridden = true;
	return true;
}

bool parameters_check(const struct parameters *p, const char *on, struct error *err)
{
	bool sees = strcmp(on, "auto") == 0 || strcmp(on, "exact") == 0 || strncmp(on, "model", 5) == 0;
	if (!p->use_assembly_regions || sees)
		return true;
	const struct parameter_set *set = &p->sets[find_row("use_assembly_regions")];
	static const char why[] = "'use_assembly_regions' is yes: only the engine sees regions inside a program";
	if (set->in_file && !set->overridden)
		error_set(err, ERROR_USAGE, "%s:%u:%u: %s", p->source, set->line, set->column, why);
	else
		error_set(err, ERROR_USAGE, "%s", why);
	return error_hint(err, "use --on exact or --on model:MACHINE, or set it to no to count the whole program");
}

size_t parameters_warn(const struct parameters *p, FILE *out)
{
	size_t n = 0;
	for (size_t i = 0; i < p->issues.count; i++) {
		const struct parameter_issue *issue = &p->issues.items[i];
		if (!(issue->kind == DEFINED_TWICE ? p->warn_parm_defined_twice : p->warn_parm_not_used))
			continue;
		char shown[2048];
		str_escape_to(shown, sizeof shown, issue->text);
		fprintf(out, "tare: warning: %s\n", shown);
		n++;
	}
	for (size_t i = 0; p->warn_parm_not_defined && p->source && i < ALL_ROWS; i++) {
		/* the thesis's files do not have tare's own parameter, and lack nothing */
		if (p->sets[i].in_file || p->sets[i].overridden || strcmp(row_key(i), "errata") == 0)
			continue;
		fprintf(out, "tare: warning: parameter '%s' is not defined: its default is used\n", row_key(i));
		n++;
	}
	if (!p->user_events && !p->kernel_events) {
		fputs("tare: warning: user_events and kernel_events are both no: no event is counted\n", out);
		n++;
	}
	return n;
}

static void dump_text(FILE *out, const char *text)
{
	/* plain where it reads back as the same */
	bool plain = text[0] != '"' && !text[strcspn(text, ";\n")] && (text[0] == '\0' || !is_space(text[0])) &&
		     (text[0] == '\0' || !is_space(text[strlen(text) - 1]));
	if (plain) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

void parameters_dump(const struct parameters *p, FILE *out)
{
	fputs("(p5mon\n", out);
	for (size_t i = 0; i < ALL_ROWS; i++) {
		const char *field = i < OWN_ROWS ? (const char *)p + rows[i].offset : NULL;
		fprintf(out, "\t%s = ", row_key(i));
		if (!field || rows[i].kind == YES_NO)
			fputs((field ? *(const bool *)field : p->events[i - OWN_ROWS]) ? "yes" : "no", out);
		else if (rows[i].kind == NUMBER)
			fprintf(out, "%llu", *(const unsigned long long *)field);
		else
			dump_text(out, *(const char *const *)field);
		fputs(";\n", out);
	}
	fputs("end)\n", out);
}

char *const *parameters_command(struct parameters *p)
{
	size_t n = 0;
	static char shell[] = "/bin/sh", dash_c[] = "-c";
	char *copy = arena_strdup(&p->arena, p->command);
	char **words = arena_alloc(&p->arena, (strlen(p->command) / 2 + 4) * sizeof *words);
	if (!copy || !words)
		return NULL;
	size_t first = strcspn(p->command, " \t");
	if (p->command[strcspn(p->command, "|&;<>()$`\\\"'*?[#~{}!\n")] || memchr(p->command, '=', first)) {
		words[0] = shell;
		words[1] = dash_c;
		words[2] = copy;
		return words;
	}
	for (char *word; (word = strsep(&copy, " \t"));)
		if (*word)
			words[n++] = word;
	return n ? words : NULL;
}
