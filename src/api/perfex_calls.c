/* libperfex's calls over tare.h, a library of their own: see tare_perfex.h.
 *
 * The calls name no session: each thread has one set of counters, in thread-local storage.
 *
 * What always holds:
 * 1. The set is open for the two events that were started last; the trial of the same pair is not repeated.
 * 2. A count leaves read_counters() only when it is all there was (TARE_COUNTED); else it is -1 and the call
 * fails. Of a pair one of whose events cannot be counted here, that one's count is -1, and the message says why.
 * 3. A time is a count times a cost that a table has, or "-". Counts of a modelled machine have the costs that the
 * program loads, never those of this one. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/counters_call.h"
#include "api/perfex_costs.h"
#include "event/perfex_event.h"
#include "tare.h"
#include "tare_perfex.h"

/* Fortran's: arguments by reference, a text's length at the end (gfortran 8 and later: size_t). */
TARE_PERFEX_API int start_counters_(const int *e0, const int *e1);
TARE_PERFEX_API int read_counters_(const int *e0, long long *c0, const int *e1, long long *c1);
TARE_PERFEX_API int print_counters_(const int *e0, const long long *c0, const int *e1, const long long *c1);
TARE_PERFEX_API int print_costs_(const int *e0, const long long *c0, const int *e1, const long long *c1);
TARE_PERFEX_API int load_costs_(const char *name, size_t bytes);
TARE_PERFEX_API void tare_perfex_message_(char *text, size_t bytes);

enum { PAIR = 2, NAME_BYTES = 256 };

/* One of the two events of a call, T5_EVENT… seen to. */
struct choice {
	int number;             /* -1: none, chosen by name */
	char name[NAME_BYTES];  /* as print_counters() shows it */
	char event[NAME_BYTES]; /* in the grammar of tare_add() */
};

static __thread struct {
	struct tare_counters *set; /* NULL: none is open */
	struct choice pair[PAIR];
	bool counted[PAIR];        /* false: this machine has not this one, and counts the other */
	size_t index[PAIR];        /* in the set, if it is counted */
	struct tare_error refused; /* why one is not counted */
	pid_t process;
	int generation;
	bool started;
	char why[sizeof(((struct tare_error *)0)->text) + sizeof(((struct tare_error *)0)->hint) + 20];
} here;

/* A bit for each of perfex's numbers that a model of another machine has counted in this process, in any thread:
 * invariant 3. Under tare's engine an event is always counted so, or never. */
static _Atomic uint32_t modelled;
_Static_assert(PERFEX_EVENTS <= 32, "a bit for each");

static pthread_key_t thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_thread_end;

static void close_set(void *unused)
{
	(void)unused;
	tare_close(here.set);
	here.set = NULL;
	here.started = false;
}

static void make_key(void) { has_thread_end = pthread_key_create(&thread_end, close_set) == 0; }

__attribute__((format(printf, 2, 3))) static int fail(int os_errno, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(here.why, sizeof here.why, format, arguments);
	va_end(arguments);
	errno = os_errno;
	return -1;
}

static int errno_of(const struct tare_error *error)
{
	if (error->os_errno)
		return error->os_errno;
	switch (error->code) {
	case TARE_ERROR_USAGE:
	case TARE_ERROR_SYNTAX: return EINVAL;
	case TARE_ERROR_NOT_FOUND: return ENOENT;
	case TARE_ERROR_UNSUPPORTED: return EOPNOTSUPP;
	case TARE_ERROR_PERMISSION: return EACCES;
	case TARE_ERROR_BUSY: return EBUSY;
	case TARE_ERROR_LIMIT: return EMFILE;
	case TARE_ERROR_NO_MEMORY: return ENOMEM;
	default: return EIO;
	}
}

static int fail_as(const struct tare_error *error)
{
	return fail(errno_of(error), "%s%s%s", error->text, *error->hint ? "; " : "", error->hint);
}

static int fail_inner(const struct error *error)
{
	int os_errno = error->os_errno                  ? error->os_errno
		       : error->code == ERROR_NOT_FOUND ? ENOENT
		       : error->code == ERROR_NO_MEMORY ? ENOMEM
		       : error->code == ERROR_SYNTAX    ? EINVAL
							: EIO;
	return fail(os_errno, "%s%s%s", error->text, *error->hint ? "; " : "", error->hint);
}

/* "17" or the name of an event */
static int choose_by_text(struct choice *out, const char *variable, const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);
	if (!*end && number >= 0 && number < PERFEX_EVENTS) {
		out->number = (int)number;
		return 0;
	}
	if (!*end)
		return fail(EINVAL, "%s is '%s': perfex's events have the numbers 0 to %d", variable, text,
			    PERFEX_EVENTS - 1);
	if (strlen(text) >= NAME_BYTES)
		return fail(EINVAL, "%s is longer than %d bytes", variable, NAME_BYTES - 1);
	out->number = -1;
	strcpy(out->event, text);
	strcpy(out->name, text);
	return 0;
}

static int choose(struct choice pair[PAIR], int e0, int e1)
{
	static const char *const variables[PAIR] = {"T5_EVENT0", "T5_EVENT1"};
	const int numbers[PAIR] = {e0, e1};
	memset(pair, 0, PAIR * sizeof *pair); /* invariant 1 compares them */
	for (size_t i = 0; i < PAIR; i++) {
		const char *text = secure_getenv(variables[i]);
		struct choice *choice = &pair[i];
		choice->number = numbers[i];
		if (text && *text && choose_by_text(choice, variables[i], text) != 0)
			return -1;
		if (choice->number == -1 && *choice->event)
			continue;
		if (choice->number < 0 || choice->number >= PERFEX_EVENTS)
			return fail(EINVAL, "there is no event %d: perfex's events have the numbers 0 to %d",
				    choice->number, PERFEX_EVENTS - 1);
		const char *listed = perfex_event_at((size_t)choice->number)->listed;
		snprintf(choice->name, sizeof choice->name, "%s", listed);
		snprintf(choice->event, sizeof choice->event, "r10000:%s:u", listed);
	}
	if (pair[0].number >= 0 && pair[1].number >= 0 && pair[0].number != pair[1].number &&
	    pair[0].number / PERFEX_PER_COUNTER == pair[1].number / PERFEX_PER_COUNTER)
		return fail(EINVAL, "conflicting counters: the events %d and %d are both counter %d's",
			    pair[0].number, pair[1].number, pair[0].number / PERFEX_PER_COUNTER);
	return 0;
}

static bool same(const struct choice a[PAIR], const struct choice b[PAIR])
{
	return strcmp(a[0].event, b[0].event) == 0 && strcmp(a[1].event, b[1].event) == 0;
}

/* The pair, or the one of the two that this machine has; here.refused says why not the other. */
static bool open_pair(const struct choice pair[PAIR], struct tare_error *error)
{
	bool one = strcmp(pair[0].event, pair[1].event) == 0;
	size_t n = 0;
	here.refused = (struct tare_error){0};
	if (!tare_open(NULL, &here.set, error))
		return false;
	for (size_t i = 0; i < (one ? 1 : PAIR); i++) {
		struct tare_error why = {0};
		here.counted[i] = tare_add(here.set, pair[i].event, &why);
		here.index[i] = n;
		n += here.counted[i];
		if (!here.counted[i] && (!here.refused.code || why.code != TARE_ERROR_UNSUPPORTED))
			here.refused = why;
	}
	if (one)
		here.counted[1] = here.counted[0], here.index[1] = here.index[0];
	if (!n || (here.refused.code && here.refused.code != TARE_ERROR_UNSUPPORTED)) {
		*error = here.refused;
		return false;
	}
	for (size_t i = 0; i < PAIR; i++)
		if (here.counted[i] && pair[i].number >= 0 &&
		    strcmp(tare_event_source(here.set, here.index[i]), "model") == 0)
			atomic_fetch_or(&modelled, UINT32_C(1) << pair[i].number);
	return true;
}

/* The call has done what it can: one event of the pair may have no count. */
static int done_but_for_one(void)
{
	if (here.refused.code)
		fail(errno, "%s%s%s; its count is -1", here.refused.text, *here.refused.hint ? "; " : "",
		     here.refused.hint);
	return here.generation;
}

COUNTERS_CALL(int, start_counters, perfex_start, int e0, int e1)
{
	struct choice pair[PAIR];
	struct tare_error error = {0};
	*here.why = 0;
	pthread_once(&once, make_key);
	if (choose(pair, e0, e1) != 0)
		return -1;
	if (here.set && (here.process != getpid() || !same(pair, here.pair)))
		close_set(NULL);
	if (!here.set) {
		if (!open_pair(pair, &error)) {
			close_set(NULL);
			return fail_as(&error);
		}
		memcpy(here.pair, pair, sizeof pair);
		here.process = getpid();
		if (has_thread_end)
			pthread_setspecific(thread_end, &here);
	}
	here.started = false;
	if (!tare_stop(here.set, NULL, &error) || !tare_reset(here.set, &error) || !tare_start(here.set, &error))
		return fail_as(&error);
	here.started = true;
	here.generation = here.generation == INT32_MAX ? 1 : here.generation + 1;
	return done_but_for_one();
}

COUNTERS_CALL(int, read_counters, perfex_read, int e0, long long *c0, int e1, long long *c1)
{
	struct tare_reading readings[PAIR];
	long long *into[PAIR] = {c0, c1};
	struct choice pair[PAIR];
	struct tare_error error = {0};
	bool was_started = here.started;
	*here.why = 0;
	for (size_t i = 0; i < PAIR; i++)
		if (into[i])
			*into[i] = -1;
	if (was_started && !tare_stop(here.set, readings, &error)) /* first: what follows is not the program's */
		return fail_as(&error);
	here.started = false;
	if (choose(pair, e0, e1) != 0)
		return -1;
	if (!was_started)
		return fail(EINVAL, "the counters are not started in this thread; call start_counters()");
	if (!same(pair, here.pair))
		return fail(EINVAL, "the events %d and %d are not those that were started", e0, e1);
	for (size_t i = 0; i < PAIR; i++)
		if (here.counted[i] && readings[here.index[i]].state != TARE_COUNTED)
			return fail(EBUSY, "'%s' was not counted all the time: others had the counters",
				    pair[i].name);
	for (size_t i = 0; i < PAIR; i++)
		if (into[i] && here.counted[i])
			*into[i] = (long long)readings[here.index[i]].count;
	return done_but_for_one();
}

/* ---- printing: as report_perfex() does (compat/perfex.c; Zagha, Appendix C) ---- */

enum { DOTTED_COLUMNS = 64, NUMBER_COLUMNS = 15, TIME_COLUMNS = 12 };

static void print_time(long long count, double each)
{
	if (isnan(each))
		fprintf(stderr, " %*s", TIME_COLUMNS, "-");
	else
		fprintf(stderr, " %*.6f", TIME_COLUMNS, (double)count * each);
}

/* times: NULL without costs */
static void print_line(const char *name, long long count, const struct perfex_times *times)
{
	static const char dots[DOTTED_COLUMNS + 1] =
		"................................................................";
	int missing = DOTTED_COLUMNS - (int)strlen(name);
	fprintf(stderr, "%s%.*s", name, missing < 5 ? 5 : missing, dots);
	if (count < 0) {
		fputs(" not counted\n", stderr);
		return;
	}
	fprintf(stderr, " %*lld", NUMBER_COLUMNS, count);
	if (times) {
		print_time(count, times->typical);
		print_time(count, times->least);
		print_time(count, times->most);
	}
	fputc('\n', stderr);
}

int print_counters(int e0, long long c0, int e1, long long c1)
{
	struct choice pair[PAIR];
	*here.why = 0;
	if (choose(pair, e0, e1) != 0)
		return -1;
	print_line(pair[0].name, c0, NULL);
	print_line(pair[1].name, c1, NULL);
	return 0;
}

int print_costs(int e0, long long c0, int e1, long long c1)
{
	const long long counts[PAIR] = {c0, c1};
	struct choice pair[PAIR];
	struct perfex_costed costed[PAIR];
	struct error error = {0};
	char title[1024];
	bool of_model = false;
	*here.why = 0;
	if (choose(pair, e0, e1) != 0)
		return -1;
	for (size_t i = 0; i < PAIR; i++) {
		costed[i].number = pair[i].number;
		of_model |= pair[i].number >= 0 && atomic_load(&modelled) >> pair[i].number & 1;
	}
	bool known = perfex_costs_find(costed, PAIR, of_model, title, sizeof title, &error);
	fprintf(stderr, "%*s %*s %*s %*s %*s\n", DOTTED_COLUMNS, "", NUMBER_COLUMNS, "count", TIME_COLUMNS,
		"typical s", TIME_COLUMNS, "minimum s", TIME_COLUMNS, "maximum s");
	for (size_t i = 0; i < PAIR; i++)
		print_line(pair[i].name, counts[i], &costed[i].times);
	if (known) {
		fprintf(stderr, "Costs: %s\n", title);
		return 0;
	}
	fail_inner(&error);
	fprintf(stderr, "Costs: not known: %s\n", here.why);
	return fail_inner(&error); /* errno, which printing may have changed */
}

int load_costs(const char *file)
{
	struct error error = {0};
	*here.why = 0;
	if (!file || !*file)
		return fail(EINVAL, "no file is named; load_costs() takes the name of a file of costs");
	return perfex_costs_load(file, &error) ? 0 : fail_inner(&error);
}

const char *tare_perfex_error(void) { return here.why; }

COUNTERS_CALL(int, start_counters_, perfex_start_by_reference, const int *e0, const int *e1)
{
	return perfex_start(*e0, *e1);
}

COUNTERS_CALL(int, read_counters_, perfex_read_by_reference, const int *e0, long long *c0, const int *e1,
	      long long *c1)
{
	return perfex_read(*e0, c0, *e1, c1);
}

int print_counters_(const int *e0, const long long *c0, const int *e1, const long long *c1)
{
	return print_counters(*e0, *c0, *e1, *c1);
}

int print_costs_(const int *e0, const long long *c0, const int *e1, const long long *c1)
{
	return print_costs(*e0, *c0, *e1, *c1);
}

/* Fortran fills a text up with blanks: they are not of the name. */
int load_costs_(const char *name, size_t bytes)
{
	char file[PATH_MAX];
	while (bytes && name[bytes - 1] == ' ')
		bytes--;
	if (bytes >= sizeof file)
		return fail(ENAMETOOLONG, "the name of a file of costs is longer than %zu bytes", sizeof file - 1);
	memcpy(file, name, bytes);
	file[bytes] = 0;
	return load_costs(file);
}

/* Blanks behind it, as Fortran has it. */
void tare_perfex_message_(char *text, size_t bytes)
{
	size_t n = strnlen(here.why, bytes);
	memcpy(text, here.why, n);
	memset(text + n, ' ', bytes - n);
}
