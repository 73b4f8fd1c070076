/* A set's beginning and end, and what it says of itself. */
#include "api/counters_call.h"
#include "api/engine_set.h"
#include "api/overflow.h"
#include "api/user_read.h"
#include "api/watched.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/perf/perf.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* linux/mman.h; the kernel refuses what it does not know */
#endif

const char *tare_version(void) { return TARE_VERSION; }

/* NULL is not a failure: the process id tells then. */
static struct guard *guard_new(void)
{
	struct guard *guard = mmap(NULL, sizeof *guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				   0);
	if (guard == MAP_FAILED)
		return NULL;
	if (madvise(guard, sizeof *guard, MADV_WIPEONFORK) != 0) {
		munmap(guard, sizeof *guard);
		return NULL;
	}
	guard->alive = 1;
	return guard;
}

bool counters_here(const struct tare_counters *c, struct tare_error *error)
{
	if (c->guard ? c->guard->alive : c->process == getpid())
		return true;
	return api_fail_text(error, TARE_ERROR_USAGE,
			     "the counters belong to the process that this one was forked from",
			     "open a set of its own after fork");
}

/* The options' fields that this library does not know must be 0: a newer caller did not use them. */
static bool check_options(const struct tare_options *options, struct tare_error *error)
{
	struct tare_options known = {0};
	if (options->size < sizeof known.size)
		return api_fail_text(error, TARE_ERROR_USAGE, "the options have no size",
				     "set it to sizeof(struct tare_options)");
	const unsigned char *bytes = (const unsigned char *)options;
	for (size_t i = sizeof known; i < options->size; i++)
		if (bytes[i])
			return api_fail_text(error, TARE_ERROR_USAGE,
					     "the options have a field that this libtare does not know",
					     "use the libtare that belongs to the tare.h");
	memcpy(&known, options, options->size < sizeof known ? options->size : sizeof known);
	if (known.scope != TARE_THREAD && known.scope != TARE_PROCESS)
		return api_fail_text(error, TARE_ERROR_USAGE, "the scope is neither TARE_THREAD nor TARE_PROCESS",
				     "");
	return true;
}

bool counters_open_by(bool engine, const struct tare_options *options, struct tare_counters **counters,
		      struct tare_error *error)
{
	struct error inner = {0};
	*counters = NULL;
	if (options && !check_options(options, error))
		return false;
	struct tare_counters *c = calloc(1, sizeof *c);
	if (!c) {
		error_no_memory(&inner);
		return api_fail(error, &inner);
	}
	if (options && options->size > offsetof(struct tare_options, scope))
		c->scope = (enum tare_scope)options->scope;
	c->process = getpid();
	c->thread = gettid();
	c->user = calloc(1, sizeof *c->user);
	c->watched = calloc(1, sizeof *c->watched);
	if (!c->user || !c->watched) {
		error_no_memory(&inner);
		tare_close(c);
		return api_fail(error, &inner);
	}
	c->user->why = USER_NO_REGISTER;
	c->user->owner = user_thread();
	c->user_wanted = user_wanted();
	c->table = event_table_new(&inner);
	if (c->table && engine && !(c->engine = engine_set_new())) {
		error_no_memory(&inner);
		tare_close(c);
		return api_fail(error, &inner);
	}
	if (!c->table || (!c->engine && !perf_backend.open(NULL, &c->perf, &inner))) {
		tare_close(c);
		return api_fail(error, &inner);
	}
	c->guard = guard_new();
	*counters = c;
	return true;
}

COUNTERS_CALL(bool, tare_open, counters_open, const struct tare_options *options, struct tare_counters **counters,
	      struct tare_error *error)
{
	return counters_open_by(engine_runs(), options, counters, error);
}

COUNTERS_CALL(void, tare_close, counters_close, struct tare_counters *c)
{
	if (!c)
		return;
	/* the pages are not in a forked child, but others may be at their place */
	if (c->user && counters_here(c, NULL))
		user_close(c->user);
	overflows_end(c);
	counters_cut(c, 0);
	vec_free(&c->events);
	vec_free(&c->groups);
	if (c->perf)
		perf_backend.close(c->perf);
	engine_set_free(c->engine);
	event_table_free(c->table);
	free(c->user);
	free(c->watched);
	if (c->guard)
		munmap(c->guard, sizeof *c->guard);
	free(c);
}

size_t tare_event_count(const struct tare_counters *c) { return c->events.count; }

const char *tare_event_name(const struct tare_counters *c, size_t index)
{
	return index < c->events.count ? c->events.items[index].event.label : NULL;
}

const char *tare_event_unit(const struct tare_counters *c, size_t index)
{
	return index < c->events.count ? c->events.items[index].unit : NULL;
}

const char *tare_event_source(const struct tare_counters *c, size_t index)
{
	return index < c->events.count ? source_name(c->events.items[index].source) : NULL;
}
