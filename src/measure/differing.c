/* Runs that --reproducible makes alike, and that differ still: what the engine saw of them side by side.
 *
 * What is said are facts: which system calls differ in number, and which calls gave the program something that
 * differs from run to run by its nature. That one of them is the cause nobody saw: then it is said that this is
 * not known. The engine does not see the 16 random bytes at the program's start (AT_RANDOM), nor clocks that are
 * read without a system call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measurement.h"

enum { NAMED_MOST = 4, NAME_BYTES = 64 };

/* Calls whose answers differ from run to run, whatever the program does. */
static const struct {
	const char *call, *gives;
} sources[] = {
	{"getrandom", "random numbers"},
	{"clock_gettime", "the time"},
	{"gettimeofday", "the time"},
	{"time", "the time"},
	{"getpid", "its process id"},
	{"gettid", "a thread's id"},
	{"getppid", "its parent's process id"},
	{"times", "processor times"},
	{"getrusage", "processor times"},
	{"sysinfo", "the system's load"},
	{"clone", "another order of its threads or processes"},
	{"clone3", "another order of its threads or processes"},
	{"fork", "another order of its processes"},
	{"vfork", "another order of its processes"},
};

bool measurement_wants_calls(const struct measurement *s)
{
	return s->target->kind == TARGET_COMMAND && s->target->command->reproducible &&
	       s->options.repetitions > 1 && s->operations->system_calls;
}

bool measurement_keep_calls(struct measurement *s, const struct str *calls)
{
	if (!measurement_wants_calls(s) || !calls->text || calls->failed || s->n_calls == CALLS_KEPT)
		return true;
	s->calls[s->n_calls] = arena_strdup(&s->result->arena, calls->text);
	return s->calls[s->n_calls] && ++s->n_calls;
}

/* Lines "name TAB count" below a line of column names. */
static unsigned long long times_of(const char *calls, const char *name)
{
	char start[NAME_BYTES + 3];
	snprintf(start, sizeof start, "\n%s\t", name);
	const char *line = strstr(calls, start);
	return line ? strtoull(line + strlen(start), NULL, 10) : 0;
}

static void name_differing(const struct measurement *s, const char *name, struct str *text, size_t *n)
{
	unsigned long long least = times_of(s->calls[0], name), most = least;
	for (size_t i = 1; i < s->n_calls; i++) {
		unsigned long long times = times_of(s->calls[i], name);
		least = times < least ? times : least;
		most = times > most ? times : most;
	}
	if (least == most)
		return;
	if (++*n <= NAMED_MOST)
		str_appendf(text, "%s%s (%llu to %llu)", *n > 1 ? ", " : "", name, least, most);
}

/* The calls that the runs made in different numbers. */
static void append_differing(const struct measurement *s, struct str *text)
{
	struct str names = {0};
	size_t n = 0;
	for (size_t i = 0; i < s->n_calls; i++)
		for (const char *line = strchr(s->calls[i], '\n'); line && line[1];
		     line = strchr(line + 1, '\n')) {
			char name[NAME_BYTES];
			bool before = false;
			snprintf(name, sizeof name, "%.*s", (int)strcspn(line + 1, "\t\n"), line + 1);
			for (size_t j = 0; j < i; j++)
				before |= times_of(s->calls[j], name) > 0;
			if (!before)
				name_differing(s, name, &names, &n);
		}
	if (n == 0)
		str_append(text, "; they made the same system calls");
	else
		str_appendf(text, "; system calls differ: %s%s", names.text ? names.text : "",
			    n > NAMED_MOST ? ", \u2026" : "");
	text->failed |= names.failed;
	str_free(&names);
}

static size_t append_sources(const struct measurement *s, struct str *text)
{
	size_t n = 0;
	const char *last = "";
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
		bool made = false;
		for (size_t r = 0; r < s->n_calls; r++)
			made |= times_of(s->calls[r], sources[i].call) > 0;
		if (!made || strcmp(last, sources[i].gives) == 0)
			continue;
		str_appendf(text, "%s%s (%s)", n++ ? ", " : "; the program got ", sources[i].gives,
			    sources[i].call);
		last = sources[i].gives;
	}
	return n;
}

/* Python's hashes, and with them the order of its sets, begin with random numbers unless this is set to a
 * number. */
static bool is_python_without_seed(const struct measurement *s)
{
	const char *program = s->target->command->argv[0], *slash = strrchr(program, '/');
	const char *seed = getenv("PYTHONHASHSEED");
	return strncmp(slash ? slash + 1 : program, "python", 6) == 0 &&
	       (!seed || !*seed || !strcmp(seed, "random"));
}

/* An event that the engine counted, and whose runs differ; NULL: there is none. */
static const struct estimate *differing_event(const struct measurement *s)
{
	for (size_t i = 0; i < s->result->n_estimates; i++) {
		const struct estimate *e = &s->result->estimates[i];
		if (e->known && e->source == SOURCE_EXACT && estimate_is_total(e) && e->run_min < e->run_max)
			return e;
	}
	return NULL;
}

bool measurement_remark_differing(struct measurement *s)
{
	const struct estimate *e = s->n_calls > 1 ? differing_event(s) : NULL;
	struct str text = {0};
	if (!e)
		return true;
	str_appendf(&text, "the runs differ in spite of --reproducible (%s by %.0f)", e->event,
		    e->run_max - e->run_min);
	append_differing(s, &text);
	bool some = append_sources(s, &text) > 0;
	if (is_python_without_seed(s))
		str_append(&text, "; python's hashes are random numbers too: set PYTHONHASHSEED=0");
	else
		str_append(&text, some ? ": whether that is the cause is not known" : "; the cause is not known");
	bool done = !text.failed && measurement_note(s, NOTE_ACT, "%s", text.text);
	str_free(&text);
	return done;
}
