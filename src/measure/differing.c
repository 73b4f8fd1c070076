/* Runs that --reproducible makes alike, and that differ still: what the engine saw of them side by side.
 *
 * What is said are facts: which system calls differ in number, and what the program was given that was not the
 * same in each run (backend/backend.h, inputs()). If that is one thing, no other cause was seen; of several,
 * which one it was is not known. The order of threads is not looked at: it is named where there are several, and
 * nothing else differs. Where it is not known what was given, calls whose answers differ by their nature are
 * named. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measurement.h"
#include "result/given.h"

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

bool measurement_keep_calls(struct measurement *s, const struct str *calls, const struct str *inputs)
{
	if (!measurement_wants_calls(s) || !calls->text || calls->failed || s->n_calls == CALLS_KEPT)
		return true;
	s->calls[s->n_calls] = arena_strdup(&s->result->arena, calls->text);
	s->inputs[s->n_calls] = inputs->text ? arena_strdup(&s->result->arena, inputs->text) : NULL;
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

/* What the engine saw the program be given, and not the same in each run. How many; -1: not known. fix: what
 * makes the first of them the same; NULL */
static int append_inputs(const struct measurement *s, struct str *text, const char **fix)
{
	struct str names = {0};
	for (size_t i = 0; i < s->n_calls; i++)
		if (!s->inputs[i])
			return -1;
	int n = (int)given_differing(s->inputs, s->n_calls, &names, fix);
	if (n == 0)
		str_append(text, "; all that it was seen to be given was the same, thread by thread");
	else
		str_appendf(text, "; what it was given differs: %s", names.text ? names.text : "");
	text->failed |= names.failed;
	str_free(&names);
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
	const char *fix = NULL;
	int given = append_inputs(s, &text, &fix);
	bool some = given < 0 && append_sources(s, &text) > 0;
	if (given == 1)
		str_append(&text, ": no other cause was seen");
	else if (given > 1)
		str_append(&text, ": which of them is the cause is not known");
	else if (given == 0)
		str_append(&text, given_several_tasks(s->inputs, s->n_calls) == GIVEN_NO
					  ? ", and it is one thread: the cause is not known"
					  : ": the order of its threads or processes. Run it with one thread");
	else if (is_python_without_seed(s))
		str_append(&text, "; python's hashes are also random numbers: set PYTHONHASHSEED=0");
	else
		str_append(&text, some ? ": whether that is the cause is not known" : "; the cause is not known");
	if (fix)
		str_appendf(&text, "%s%s", given > 1 ? ". For the first: " : "; ", fix);
	bool done = !text.failed && measurement_note(s, NOTE_ACT, "%s", text.text);
	str_free(&text);
	return done;
}
