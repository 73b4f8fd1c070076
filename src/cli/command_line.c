#include "cli/command_line.h"

#include <string.h>

#include "base/str.h"
#include "base/vec.h"

/* POSIX's reserved words, and the built-in commands that have no program of the same name everywhere. */
static bool is_of_shell(const char *word)
{
	static const char *const words[] = {
		"!",     "{",     "}",     "case",     "do",     "done",    "elif",    "else",
		"esac",  "fi",    "for",   "if",       "in",     "then",    "until",   "while",
		".",     ":",     "alias", "bg",       "break",  "cd",      "command", "continue",
		"eval",  "exec",  "exit",  "export",   "fc",     "fg",      "getopts", "hash",
		"jobs",  "local", "read",  "readonly", "return", "set",     "shift",   "source",
		"times", "trap",  "type",  "ulimit",   "umask",  "unalias", "unset",   "wait"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

/* Unquoted, these are the shell's. */
static bool is_special(char c) { return strchr("|&;<>()$`*?[]#~{}\n\r", c) != NULL; }

struct line_reader {
	const char *at;
	bool shell; /* it has something that only a shell knows */
	bool open;  /* a quote is not closed */
};

static void read_double_quoted(struct line_reader *r, struct str *word)
{
	for (r->at++; *r->at && *r->at != '"'; r->at++) {
		if (*r->at == '$' || *r->at == '`')
			r->shell = true;
		if (*r->at == '\\' && r->at[1] && strchr("$`\"\\", r->at[1]))
			r->at++;
		str_append_char(word, *r->at);
	}
	if (*r->at)
		r->at++;
	else
		r->open = true;
}

static void read_single_quoted(struct line_reader *r, struct str *word)
{
	const char *end = strchr(r->at + 1, '\'');
	if (!end) {
		r->open = true;
		r->at += strlen(r->at);
		return;
	}
	str_append_bytes(word, r->at + 1, (size_t)(end - r->at - 1));
	r->at = end + 1;
}

/* One word, which is not empty. */
static void read_word(struct line_reader *r, struct str *word, bool *assigns)
{
	bool name = true; /* so far it could be one */
	str_append(word, "");
	while (*r->at && *r->at != ' ' && *r->at != '\t') {
		char c = *r->at;
		if (c == '=' && name && word->length > 0)
			*assigns = true;
		name = name &&
		       (c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'));
		if (c == '"') {
			read_double_quoted(r, word);
		} else if (c == '\'') {
			read_single_quoted(r, word);
		} else if (c == '\\') {
			if (!r->at[1]) {
				r->open = true;
				r->at++;
				return;
			}
			r->shell |= r->at[1] == '\n';
			str_append_char(word, r->at[1]);
			r->at += 2;
		} else {
			r->shell |= is_special(c);
			str_append_char(word, c);
			r->at++;
		}
	}
}

static bool by_shell(const char *line, const char *shell, struct arena *arena, struct command_line *out,
		     struct error *err)
{
	char **argv = arena_alloc(arena, 4 * sizeof *argv);
	if (!argv || !(argv[0] = arena_strdup(arena, shell)) || !(argv[1] = arena_strdup(arena, "-c")) ||
	    !(argv[2] = arena_strdup(arena, line)))
		return error_no_memory(err);
	*out = (struct command_line){argv, true};
	return true;
}

bool command_line_parse(const char *line, enum shell_use use, const char *shell, struct arena *arena,
			struct command_line *out, struct error *err)
{
	VEC(char *) words = {0};
	struct line_reader r = {.at = line};
	bool done = true, assigns = false;
	*out = (struct command_line){0};
	for (;;) {
		while (*r.at == ' ' || *r.at == '\t')
			r.at++;
		if (!*r.at || !done)
			break;
		struct str word = {0};
		bool one = false;
		read_word(&r, &word, &one);
		assigns |= one && words.count == 0;
		char *kept = word.failed ? NULL : arena_strdup(arena, word.text ? word.text : "");
		str_free(&word);
		done = kept && vec_push(&words, kept);
	}
	if (!done) {
		error_no_memory(err);
		goto out;
	}
	done = false;
	if (words.count == 0 || !words.items[0][0]) {
		error_set(err, ERROR_USAGE, "a command to compare is empty");
		goto out;
	}
	bool needs = r.shell || assigns || is_of_shell(words.items[0]);
	if (r.open && !r.shell) {
		error_set(err, ERROR_USAGE, "a quote is not closed in the command '%s'", line);
		goto out;
	}
	if (use == SHELL_NEVER && needs) {
		error_set(err, ERROR_USAGE, "'%s' needs a shell", line);
		error_hint(err, "leave out --shell none");
		goto out;
	}
	if (use == SHELL_ALWAYS || needs) {
		done = by_shell(line, shell, arena, out, err);
		goto out;
	}
	char **argv = arena_alloc(arena, (words.count + 1) * sizeof *argv);
	if (!argv) {
		error_no_memory(err);
		goto out;
	}
	memcpy(argv, words.items, words.count * sizeof *argv);
	out->argv = argv;
	done = true;
out:
	vec_free(&words);
	return done;
}

char *command_line_substitute(const char *line, const char *name, const char *value, struct arena *arena)
{
	struct str text = {0};
	size_t length = strlen(name);
	for (const char *at = line; *at;) {
		if (*at == '{' && strncmp(at + 1, name, length) == 0 && at[1 + length] == '}') {
			str_append(&text, value);
			at += length + 2;
		} else {
			str_append_char(&text, *at++);
		}
	}
	char *kept = text.failed ? NULL : arena_strdup(arena, text.text ? text.text : "");
	str_free(&text);
	return kept;
}
