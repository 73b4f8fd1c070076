/* See perfex_costs.h.
 *
 * The file that was loaded is the one thing here that lives on: a program loads it once and prints in any thread.
 * What was kept is read anew each time; a program that prints costs is not measuring at that moment. */
#include "api/perfex_costs.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "base/arena.h"
#include "measure/measure.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct costs loaded;
static bool has_loaded;

bool perfex_costs_load(const char *path, struct error *err)
{
	struct costs fresh;
	if (!costs_load(path, &fresh, err))
		return false;
	pthread_mutex_lock(&lock);
	struct costs before = loaded;
	loaded = fresh;
	has_loaded = true;
	pthread_mutex_unlock(&lock);
	costs_free(&before);
	return true;
}

static void take(const struct costs *costs, struct perfex_costed *pair, size_t n, char *title, size_t title_bytes)
{
	for (size_t i = 0; i < n; i++)
		if (pair[i].number >= 0)
			pair[i].times = perfex_times_of(costs, (unsigned)pair[i].number);
	snprintf(title, title_bytes, "%s", costs->title);
}

static bool take_loaded(struct perfex_costed *pair, size_t n, char *title, size_t title_bytes)
{
	pthread_mutex_lock(&lock);
	bool has = has_loaded;
	if (has)
		take(&loaded, pair, n, title, title_bytes);
	pthread_mutex_unlock(&lock);
	return has;
}

/* Nothing is measured here: that takes seconds of the program's time. */
static bool take_kept(struct perfex_costed *pair, size_t n, char *title, size_t title_bytes, struct error *err)
{
	struct arena arena = {0};
	struct machine_facts facts;
	struct costs kept;
	char why[400];
	bool off = false;
	if (!measure_machine_facts(&arena, &facts)) {
		arena_free(&arena);
		return error_no_memory(err);
	}
	bool known = costs_kept(facts.cpu, facts.kernel, &kept, &off, why, sizeof why);
	if (known)
		take(&kept, pair, n, title, title_bytes);
	else
		error_set(err, ERROR_NOT_FOUND, "%s%s", *why ? "" : "no costs of this machine are kept", why);
	if (known)
		costs_free(&kept);
	else if (!off)
		error_hint(err, "run 'tare calibrate --costs', or load a file by load_costs()");
	arena_free(&arena);
	return known;
}

bool perfex_costs_find(struct perfex_costed *pair, size_t n, bool modelled, char *title, size_t title_bytes,
		       struct error *err)
{
	for (size_t i = 0; i < n; i++)
		pair[i].times = (struct perfex_times){NAN, NAN, NAN};
	if (take_loaded(pair, n, title, title_bytes))
		return true;
	if (!modelled)
		return take_kept(pair, n, title, title_bytes, err);
	error_set(err, ERROR_NOT_FOUND, "the counts are of a machine that tare models, not of this one");
	return error_hint(err, "load_costs() takes that machine's costs");
}
