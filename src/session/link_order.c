#include "session/link_order.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

enum { FILES_MOST = 1000 };

struct command_word {
	const char *text;
	size_t length;
};

/* ---- which words ---- */

static bool is(struct command_word w, const char *text)
{
	return strlen(text) == w.length && !memcmp(w.text, text, w.length);
}

static bool is_linked(struct command_word w)
{
	static const char *const endings[] = {".o", ".c",   ".cc", ".cpp", ".cxx", ".c++", ".C",
					      ".f", ".f90", ".F",  ".F90", ".f95", ".s",   ".S"};
	for (size_t i = 0; w.text[0] != '-' && i < sizeof endings / sizeof *endings; i++) {
		size_t n = strlen(endings[i]);
		if (w.length > n && memcmp(w.text + w.length - n, endings[i], n) == 0)
			return true;
	}
	return false;
}

/* Does the option take the next word as its value, which may look like a file that is linked? */
static bool takes_next(struct command_word w)
{
	return is(w, "-o") || is(w, "-include") || is(w, "-MF") || is(w, "-MT") || is(w, "-Xlinker") ||
	       is(w, "-x");
}

static struct command_word next_word(const char *at)
{
	at += strspn(at, " \t");
	return (struct command_word){at, strcspn(at, " \t")};
}

/* Their number; FILES_MOST of them at most. */
static size_t find_files(const char *command, struct command_word *files)
{
	size_t n = 0;
	struct command_word before = {"", 0};
	for (struct command_word w = next_word(command); w.length; before = w, w = next_word(w.text + w.length))
		if (is_linked(w) && !takes_next(before) && n < FILES_MOST)
			files[n++] = w;
	return n;
}

/* ---- orders ---- */

/* The command with file order[i] in the i-th file's place. */
static const char *in_order(const char *command, const struct command_word *files, const size_t *order, size_t n,
			    struct arena *arena)
{
	struct str text = {0};
	const char *at = command;
	for (size_t i = 0; i < n; i++) {
		str_append_bytes(&text, at, (size_t)(files[i].text - at));
		str_append_bytes(&text, files[order[i]].text, files[order[i]].length);
		at = files[i].text + files[i].length;
	}
	str_append(&text, at);
	const char *out = text.failed ? NULL : arena_strdup(arena, text.text);
	str_free(&text);
	return out;
}

/* n!, or LINK_ORDERS_MOST where that is less */
static size_t orders_of(size_t n)
{
	size_t orders = 1;
	for (size_t i = 2; i <= n && orders < LINK_ORDERS_MOST; i++)
		orders *= i;
	return orders < LINK_ORDERS_MOST ? orders : LINK_ORDERS_MOST;
}

static bool is_new(const char *const *commands, size_t n, const char *command)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(commands[i], command) == 0)
			return false;
	return true;
}

static bool draw(const char *command, const struct command_word *files, struct random *random, struct arena *arena,
		 const char **commands, struct link_orders *out)
{
	enum { TRIES = 1000 }; /* the same file twice makes fewer orders than n! */
	size_t n = out->n_files, wanted = orders_of(n), order[FILES_MOST];
	for (size_t try = 0; out->n < wanted && try < TRIES; try++) {
		random_order(random, order, n);
		const char *other = in_order(command, files, order, n, arena);
		if (!other)
			return false;
		if (is_new(commands, out->n, other))
			commands[out->n++] = other;
	}
	return true;
}

bool link_orders_draw(const char *command, struct random *random, struct arena *arena, struct link_orders *out,
		      struct error *err)
{
	struct command_word files[FILES_MOST];
	const char **commands = arena_alloc(arena, LINK_ORDERS_MOST * sizeof *commands);
	*out = (struct link_orders){.commands = commands, .n = 1};
	if (!commands || !(commands[0] = arena_strdup(arena, command)))
		return error_no_memory(err);
	if (command[strcspn(command, ";|&<>$`'\"\\\n*?[(#")]) {
		out->why = "a shell reads the build command";
		return true;
	}
	out->n_files = find_files(command, files);
	if (out->n_files < 2) {
		out->why = "the build command names fewer than two files that are linked";
		return true;
	}
	return draw(command, files, random, arena, commands, out) || error_no_memory(err);
}

/* ---- the program of one order ---- */

bool link_order_take(const char *from, const char *program, struct error *err)
{
	struct str step = {0};
	str_appendf(&step, "%s.next", program);
	if (step.failed)
		return error_no_memory(err);
	/* left by an execution that was killed here */
	unlink(step.text);
	bool done = (link(from, step.text) == 0 && rename(step.text, program) == 0) ||
		    error_set_errno(err, ERROR_IO, errno, "cannot put '%s' in the place of '%s'", from, program);
	/* of two names of one file rename() removes none */
	unlink(step.text);
	str_free(&step);
	return done;
}
