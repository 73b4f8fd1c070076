#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"
#include "cli/say.h"

static bool is_option(const struct option_row *row) { return row->name != NULL; }

static bool is_shown(const struct option_row *row) { return row->name != NULL && row->help[0]; }

static bool unknown(const struct option_row *rows, const char *word, size_t length, struct error *err)
{
	char wanted[128];
	struct nearest near = {0};
	snprintf(wanted, sizeof wanted, "%.*s", (int)length, word);
	error_set(err, ERROR_USAGE, "unknown option '%s'", wanted);
	size_t dashes = strspn(wanted, "-");
	if (strlen(wanted + dashes) > 1)
		for (const struct option_row *row = rows; row->help; row++)
			if (is_shown(row))
				nearest_consider(&near, wanted + dashes, row->name);
	struct str hint = {0};
	/* a name that shares next to nothing helps nobody */
	for (int i = 0; i < NEAREST_MOST && near.names[i] && near.distances[i] <= 3; i++)
		str_appendf(&hint, "%s'--%s'", i ? ", " : "did you mean ", near.names[i]);
	if (hint.length && !hint.failed)
		error_hint(err, "%s?", hint.text);
	else
		error_hint(err, "'--help' lists the options; '--' ends them");
	str_free(&hint);
	return false;
}

static bool apply_row(const struct option_row *row, const char *value, options_apply *apply, void *context,
		      struct error *err)
{
	struct error own = {0};
	if (apply(context, row->id, value, &own))
		return true;
	error_set(err, own.code, "option '--%s': %s", row->name, own.text);
	if (err)
		memcpy(err->hint, own.hint, sizeof err->hint);
	return false;
}

static bool argument_missing(const struct option_row *row, struct error *err)
{
	return error_set(err, ERROR_USAGE, "option '--%s' needs an argument: %s", row->name, row->argument);
}

static bool parse_long(const struct option_row *rows, int argc, char **argv, int *at, options_apply *apply,
		       void *context, struct error *err)
{
	const char *word = argv[*at], *name = word + 2;
	size_t length = strcspn(name, "=");
	const char *value = name[length] ? name + length + 1 : NULL;
	for (const struct option_row *row = rows; row->help; row++) {
		if (!is_option(row) || strlen(row->name) != length || strncmp(row->name, name, length) != 0)
			continue;
		if (!row->argument && value)
			return error_set(err, ERROR_USAGE, "option '--%s' takes no argument", row->name);
		if (option_needs_argument(row) && !value) {
			if (*at + 1 >= argc)
				return argument_missing(row, err);
			value = argv[++*at];
		}
		return apply_row(row, value, apply, context, err);
	}
	return unknown(rows, word, length + 2, err);
}

static bool parse_letters(const struct option_row *rows, int argc, char **argv, int *at, options_apply *apply,
			  void *context, struct error *err)
{
	for (const char *letter = argv[*at] + 1; *letter; letter++) {
		const struct option_row *row = rows;
		while (row->help && !(is_option(row) && row->letter == *letter))
			row++;
		if (!row->help) {
			const char *word = argv[*at];
			char alone[3] = {'-', *letter, '\0'};
			/* "-verbose" was meant as a name, "-rx" was not */
			return letter == word + 1 && word[2] ? unknown(rows, word, strlen(word), err)
							     : unknown(rows, alone, 2, err);
		}
		if (!row->argument) {
			if (!apply_row(row, NULL, apply, context, err))
				return false;
			continue;
		}
		const char *value = letter + 1;
		if (!*value) {
			if (*at + 1 >= argc)
				return argument_missing(row, err);
			value = argv[++*at];
		}
		return apply_row(row, value, apply, context, err);
	}
	return true;
}

bool options_parse(const struct option_row *rows, int argc, char **argv, options_apply *apply, void *context,
		   int *rest, struct error *err)
{
	int at = 1;
	for (; at < argc; at++) {
		const char *word = argv[at];
		if (word[0] != '-' || word[1] == '\0')
			break;
		if (strcmp(word, "--") == 0) {
			at++;
			break;
		}
		bool done = word[1] == '-' ? parse_long(rows, argc, argv, &at, apply, context, err)
					   : parse_letters(rows, argc, argv, &at, apply, context, err);
		if (!done)
			return false;
	}
	*rest = at;
	return true;
}

/* Words from `column` on, which is `indent` where a line begins; the column behind the last one. */
static int print_words(FILE *out, const char *text, size_t length, int column, int indent, int width)
{
	for (const char *end = text + length; text < end; text += strspn(text, " ")) {
		int bytes = (int)strcspn(text, " \n");
		if (column > indent && column + 1 + bytes > width) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		}
		column += fprintf(out, "%s%.*s", column > indent ? " " : "", bytes, text);
		text += bytes;
	}
	return column;
}

/* A text that was written for 80 columns: its paragraphs are broken anew; what is indented, and a usage line, stay
 * lines. */
static void print_narrow(FILE *out, const char *text, int width)
{
	static const char usage[] = "usage: ";
	int column = 0;
	for (size_t length; *text; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		int indent = strncmp(text, usage, sizeof usage - 1) == 0 ? (int)sizeof usage - 1
									 : (int)strspn(text, " ");
		bool alone = !length || indent;
		if (alone && column)
			fputc('\n', out);
		if (!alone) {
			column = print_words(out, text, length, column, 0, width);
			continue;
		}
		fprintf(out, "%.*s", indent, text);
		print_words(out, text + indent, length - (size_t)indent, indent, indent, width);
		fputc('\n', out);
		column = 0;
	}
	if (column)
		fputc('\n', out);
}

void options_help(const char *head, const struct option_row *rows, const char *tail)
{
	enum { WIDTH = 79, INDENT = 28, NARROWEST = 40, NARROW_INDENT = 10 };
	FILE *out = stdout;
	int columns = say_width(out), width = WIDTH, indent = INDENT;
	if (columns > 0 && columns <= WIDTH) {
		width = columns > NARROWEST ? columns - 1 : NARROWEST;
		indent = NARROW_INDENT;
		print_narrow(out, head, width);
	} else {
		fputs(head, out);
	}
	for (const struct option_row *row = rows; row->help; row++) {
		if (!is_option(row)) {
			fputc('\n', out);
			print_words(out, row->help, strlen(row->help), 0, 0, width);
			fputs(":\n", out);
			continue;
		}
		if (!is_shown(row))
			continue;
		int column = row->letter ? fprintf(out, "  -%c, --%s", row->letter, row->name)
					 : fprintf(out, "      --%s", row->name);
		if (row->argument)
			column += fprintf(out, option_needs_argument(row) ? " %s" : "%s", row->argument);
		if (column + 2 > indent) {
			fputc('\n', out);
			column = 0;
		}
		fprintf(out, "%*s", indent - column, "");
		print_words(out, row->help, strlen(row->help), indent, indent, width);
		fputc('\n', out);
	}
	if (width < WIDTH)
		print_narrow(out, tail, width);
	else
		fputs(tail, out);
}

bool options_number(const char *value, unsigned long long least, unsigned long long most, unsigned long long *out,
		    struct error *err)
{
	unsigned long long number;
	if (!str_to_u64(value, &number) || number < least || number > most)
		return error_set(err, ERROR_USAGE, "'%s' is not a whole number from %llu to %llu", value, least,
				 most);
	*out = number;
	return true;
}

bool options_number_list(const char *text, const char *what, bool ranges, unsigned long long least,
			 struct number_list *list, struct error *err)
{
	enum { NUMBER_MOST = 1 << 22, LIST_MOST = 65536 }; /* the kernel's largest PID; CPUs are fewer */
	char *copy = strdup(text), *rest = copy;
	bool done = false, *listed = calloc(NUMBER_MOST + 1, sizeof *listed);
	if (!copy || !listed) {
		error_no_memory(err);
		goto out;
	}
	for (size_t i = 0; i < list->numbers.count; i++)
		listed[list->numbers.items[i]] = true;
	for (char *word; (word = strsep(&rest, ","));) {
		unsigned long long first, last;
		char *dash = ranges ? strchr(word, '-') : NULL;
		if (dash)
			*dash = '\0';
		if (!str_to_u64(word, &first) || !(dash ? str_to_u64(dash + 1, &last) : (last = first, true)) ||
		    first < least || last < first || last > NUMBER_MOST) {
			if (dash)
				*dash = '-';
			error_set(err, ERROR_USAGE, "'%s' is not %s", word, what);
			goto out;
		}
		for (unsigned long long n = first; n <= last; n++) {
			if (listed[n])
				continue;
			listed[n] = true;
			if (list->numbers.count >= LIST_MOST) {
				error_set(err, ERROR_USAGE, "more than %d in the list", LIST_MOST);
				goto out;
			}
			if (!vec_push(&list->numbers, (int)n)) {
				error_no_memory(err);
				goto out;
			}
		}
	}
	done = true;
out:
	free(listed);
	free(copy);
	return done;
}

bool options_seconds(const char *value, uint64_t *ns, struct error *err)
{
	double seconds;
	/* a year: more is a slip */
	if (!str_to_double(value, &seconds) || !(seconds > 0) || seconds > 3.2e7)
		return error_set(err, ERROR_USAGE, "'%s' is not a number of seconds above 0 (and below a year)",
				 value);
	*ns = (uint64_t)(seconds * 1e9);
	return *ns > 0 || error_set(err, ERROR_USAGE, "'%s' is less than a nanosecond", value);
}
