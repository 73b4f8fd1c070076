/* Regions of the process: how they begin, their names, what programs ask of them. See regions.h.
 *
 * The state of the process is in statics here: begin and end of a region name no session, and a signal handler can
 * be given none. */
#include "api/engine_set.h"
#include "api/regions.h"
#include "api/stubs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/user_read.h"
#include "backend/perf/state.h"
#include "event/event.h"

int tare_regions_on;
enum { REGIONS_HERE = 1, REGIONS_OF_ENGINE = 2 };

static _Atomic(struct region_set *) process_regions;

/* Names may be asked for before anything is counted. */
static struct {
	pthread_mutex_t lock;
	struct tare_region **buckets; /* [n_buckets], a power of 2 */
	size_t n_buckets, count;
} names = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct region_set *regions_of_process(void)
{
	return atomic_load_explicit(&process_regions, memory_order_acquire);
}

/* ---- names ---- */

/* FNV-1a, 64 bits (Fowler, Noll, Vo; RFC 9923) */
static uint64_t hash_of(const char *name, size_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325u;
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
	return hash;
}

static bool grow_buckets(void)
{
	size_t n = names.n_buckets ? 2 * names.n_buckets : 64;
	struct tare_region **buckets = calloc(n, sizeof *buckets);
	if (!buckets)
		return false;
	for (size_t b = 0; b < names.n_buckets; b++)
		for (struct tare_region *region = names.buckets[b], *next; region; region = next) {
			next = region->same_bucket;
			region->same_bucket = buckets[region->hash & (n - 1)];
			buckets[region->hash & (n - 1)] = region;
		}
	free(names.buckets);
	names.buckets = buckets;
	names.n_buckets = n;
	return true;
}

static struct tare_region *name_new(const char *name, size_t bytes, uint64_t hash, struct error *err)
{
	if (names.count == TARE_REGIONS_MOST) {
		error_set(err, ERROR_LIMIT, "a process has at most %d regions", TARE_REGIONS_MOST);
		return NULL;
	}
	struct tare_region *region = NULL;
	if (names.count < names.n_buckets || grow_buckets())
		region = malloc(sizeof *region + bytes + 1);
	if (!region) {
		error_no_memory(err);
		return NULL;
	}
	struct tare_region **bucket = &names.buckets[hash & (names.n_buckets - 1)];
	*region = (struct tare_region){
		.id = (uint32_t)names.count++, .hash = hash, .name_bytes = bytes, .same_bucket = *bucket};
	memcpy(region->name, name, bytes);
	region->name[bytes] = '\0';
	region->text = region->name;
	*bucket = region;
	return region;
}

struct tare_region *region_of_name(const char *name, size_t bytes, struct tare_error *error)
{
	struct error inner = {0};
	if (!bytes) {
		api_fail_text(error, TARE_ERROR_USAGE, "the region has no name", "");
		return NULL;
	}
	uint64_t hash = hash_of(name, bytes);
	pthread_mutex_lock(&names.lock);
	struct tare_region *region = names.n_buckets ? names.buckets[hash & (names.n_buckets - 1)] : NULL;
	while (region &&
	       (region->hash != hash || region->name_bytes != bytes || memcmp(region->name, name, bytes)))
		region = region->same_bucket;
	if (!region)
		region = name_new(name, bytes, hash, &inner);
	pthread_mutex_unlock(&names.lock);
	if (!region)
		api_fail(error, &inner);
	return region;
}

struct tare_region *tare_region(const char *name, struct tare_error *error)
{
	return region_of_name(name, name ? strlen(name) : 0, error);
}

struct tare_region *region_of_text(const char *name, size_t bytes)
{
	const char *end = memchr(name, '\0', bytes);
	if (end)
		bytes = (size_t)(end - name);
	while (bytes && name[bytes - 1] == ' ')
		bytes--;
	return __atomic_load_n(&tare_regions_on, __ATOMIC_RELAXED) ? region_of_name(name, bytes, NULL) : NULL;
}

struct tare_region **regions_listed(size_t *n, struct error *err)
{
	pthread_mutex_lock(&names.lock);
	*n = names.count;
	struct tare_region **list = calloc(names.count ? names.count : 1, sizeof(struct tare_region *));
	for (size_t b = 0; list && b < names.n_buckets; b++)
		for (struct tare_region *region = names.buckets[b]; region; region = region->same_bucket)
			list[region->id] = region;
	pthread_mutex_unlock(&names.lock);
	if (!list)
		error_no_memory(err);
	return list;
}

/* ---- beginning ---- */

static void before_fork(void) { pthread_mutex_lock(&names.lock); }

static void after_fork_parent(void)
{
	regions_of_process()->forks++;
	pthread_mutex_unlock(&names.lock);
}

static void after_fork_child(void)
{
	/* the engine also counts the child */
	__atomic_and_fetch(&tare_regions_on, REGIONS_OF_ENGINE, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&names.lock);
}

static void regions_free(struct region_set *r)
{
	if (!r)
		return;
	if (r->has_thread_end)
		pthread_key_delete(r->thread_end);
	tare_close(r->model);
	free(r->plan);
	free(r->output);
	free(r);
}

/* The model's own counters are closed: they have shown what can be opened. */
static bool make_plan(struct region_set *r, struct error *err)
{
	struct tare_counters *model = r->model;
	r->slot_bytes = slot_bytes(model->events.count);
	if (model->engine)
		return true; /* nobody reads a counter in a region */
	for (size_t e = 0; e < model->events.count; e++)
		r->plan_fds += model->events.items[e].kinds;
	r->plan = calloc(r->plan_fds, sizeof *r->plan);
	if (!r->plan)
		return error_no_memory(err);
	for (size_t e = 0, at = 0; e < model->events.count; e++) {
		struct counted_event *event = &model->events.items[e];
		const struct answer *answer = answer_find(model->perf, &event->event);
		if (!answer)
			return error_no_memory(err);
		for (size_t kind = 0; kind < event->kinds; kind++, at++) {
			r->plan[at].encoding = answer->variants.items[kind].encoding;
			r->plan[at].levels = answer->open_levels;
			r->plan[at].user_read = event->kinds == 1 &&
						user_type(answer->encoding.type, answer->variants.pmu);
		}
		user_close(model->user);
		while (event->n_fds)
			close(event->fds[--event->n_fds]);
	}
	return true;
}

static bool open_model(bool engine, const char *events, struct tare_counters **model, struct tare_error *error)
{
	if (!counters_open_by(engine, NULL, model, error))
		return false;
	if (tare_add(*model, events, error))
		return true;
	tare_close(*model);
	*model = NULL;
	return false;
}

/* *ready is NULL on failure. Not seen by anybody yet. */
static bool regions_new(const char *events, struct region_set **ready, struct tare_error *error)
{
	struct error inner = {0};
	struct region_set *r = calloc(1, sizeof *r);
	*ready = NULL;
	if (!r) {
		error_no_memory(&inner);
		return api_fail(error, &inner);
	}
	/* the engine counts regions by itself, of whichever events they are to be here */
	bool done = (engine_runs() && open_model(true, events, &r->model, NULL)) ||
		    open_model(false, events, &r->model, error);
	if (done && !make_plan(r, &inner))
		done = api_fail(error, &inner);
	if (!done) {
		regions_free(r);
		return false;
	}
	r->has_thread_end = pthread_key_create(&r->thread_end, region_thread_end) == 0;
	*ready = r;
	return true;
}

static bool already(struct tare_error *error)
{
	return api_fail_text(error, TARE_ERROR_USAGE, "regions are counted already",
			     "call tare_regions_start() once, and without TARE_EVENTS in the environment");
}

static bool go(struct region_set *r, struct tare_error *error)
{
	struct region_set *none = NULL;
	int reason = 0;
	if (!atomic_compare_exchange_strong(&process_regions, &none, r)) {
		regions_free(r);
		return already(error);
	}
	if ((reason = pthread_atfork(before_fork, after_fork_parent, after_fork_child)) != 0) {
		atomic_store(&process_regions, NULL);
		regions_free(r);
		return api_fail_errno(error, TARE_ERROR_NO_MEMORY, reason, "cannot watch for forks");
	}
	int off = 0; /* the engine's stay its own */
	__atomic_compare_exchange_n(&tare_regions_on, &off, REGIONS_HERE, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
	return true;
}

bool tare_regions_start(const char *events, struct tare_error *error)
{
	struct region_set *r;
	if (regions_of_process())
		return already(error);
	return regions_new(events, &r, error) && go(r, error);
}

bool engine_runs(void) { return __atomic_load_n(&tare_regions_on, __ATOMIC_RELAXED) & REGIONS_OF_ENGINE; }

bool tare_regions_counted(void) { return __atomic_load_n(&tare_regions_on, __ATOMIC_RELAXED) != 0; }

void regions_mark(const struct tare_region *region, enum region_mark_kind kind)
{
	/* without a set nothing else has set the flag */
	if (region && !mark_region(region, kind) && !regions_of_process())
		__atomic_and_fetch(&tare_regions_on, ~REGIONS_HERE, __ATOMIC_RELAXED);
}

/* ---- the environment ---- */

/* What went wrong; and where the engine would count what was asked for, how. */
static void complain(const struct tare_error *error, const char *events)
{
	dprintf(STDERR_FILENO, "tare: regions are not counted: %s\n", error->text);
	/* that is about calls: of regions there is a better one */
	size_t hint = engine_suggestion_at(error->hint);
	if (hint)
		dprintf(STDERR_FILENO, "tare: %.*s\n", (int)hint, error->hint);
	if ((error->code == TARE_ERROR_UNSUPPORTED || error->code == TARE_ERROR_PERMISSION) &&
	    engine_counts(events))
		dprintf(STDERR_FILENO,
			"tare: without hardware counters, 'tare count -e %s %s' counts these regions\n", events,
			program_invocation_name);
}

/* %p is the process id, %% a %; anything else stays. NULL when memory ran out. */
static char *output_name(const char *pattern)
{
	char *name = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&name, &bytes);
	if (!out)
		return NULL;
	for (const char *at = pattern; *at; at++) {
		if (at[0] == '%' && at[1] == 'p')
			fprintf(out, "%d", (int)getpid());
		else
			fputc(*at, out);
		at += at[0] == '%' && (at[1] == 'p' || at[1] == '%');
	}
	if (fclose(out) != 0) {
		free(name);
		return NULL;
	}
	return name;
}

static bool from_environment(struct region_set *r, struct tare_error *error)
{
	const char *output = secure_getenv("TARE_OUTPUT"), *format = secure_getenv("TARE_FORMAT");
	r->report = true;
	if (format && strcmp(format, "csv") == 0)
		r->format = REPORT_CSV;
	else if (format && *format && strcmp(format, "text") != 0)
		return api_fail_text(error, TARE_ERROR_USAGE, "TARE_FORMAT is neither 'text' nor 'csv'", "");
	if (output && *output && !(r->output = output_name(output)))
		return api_fail_text(error, TARE_ERROR_NO_MEMORY, "out of memory", "");
	return true;
}

/* Does tare's engine run the program? It counts regions by itself then: their ends are nops that it knows
 * (region_thread.c), and this is one that it answers (src/engine/wire/region.h). It is told where the names of the
 * assembly's regions will be. */
static bool under_engine(void)
{
#if defined(__x86_64__)
	unsigned long present = 0;
	__asm__ volatile(".byte 0x66, 0x0f, 0x1f, 0x84, 0x00\n\t.long 0x54415201"
			 : "+a"(present)
			 : "D"(stub_regions)
			 : "memory");
	return present != 0;
#else
	return false;
#endif
}

__attribute__((constructor)) static void regions_begin(void)
{
	struct tare_error error = {0};
	struct region_set *r;
	const char *events = secure_getenv("TARE_EVENTS");
	int kept_errno = errno;
	if (under_engine()) {
		__atomic_store_n(&tare_regions_on, REGIONS_OF_ENGINE, __ATOMIC_RELEASE);
		return;
	}
	if (!events || !*events) {
		if (marks_open())
			__atomic_store_n(&tare_regions_on, REGIONS_HERE, __ATOMIC_RELEASE);
		errno = kept_errno;
		return;
	}
	if (!regions_new(events, &r, &error)) {
		complain(&error, events);
	} else if (!from_environment(r, &error)) {
		complain(&error, events);
		regions_free(r);
	} else if (!go(r, &error)) {
		complain(&error, events);
	}
	errno = kept_errno;
}

/* Nothing is freed: other threads may be in regions still. */
__attribute__((destructor)) static void regions_end(void)
{
	struct region_set *r = regions_of_process();
	if (!r || !r->report || !counters_here(r->model, NULL))
		return;
	__atomic_store_n(&tare_regions_on, 0, __ATOMIC_RELAXED);
	int fd = r->output ? open(r->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : STDERR_FILENO;
	bool written = fd >= 0 && region_report(r, fd);
	int reason = errno;
	if (r->output && fd >= 0 && close(fd) != 0 && written) {
		reason = errno;
		written = false;
	}
	if (!written)
		dprintf(STDERR_FILENO, "tare: cannot write the report of regions to '%s': %s\n",
			r->output ? r->output : "standard error", strerror(reason));
}

/* ---- reading ---- */

bool tare_region_read(const struct tare_region *region, int scope, struct tare_region_passes *passes,
		      struct tare_reading *readings, struct tare_error *error)
{
	const struct region_set *r = regions_of_process();
	if (!region)
		return api_fail_text(error, TARE_ERROR_USAGE, "there is no region", "");
	if (scope != TARE_THREAD && scope != TARE_PROCESS)
		return api_fail_text(error, TARE_ERROR_USAGE, "the scope is neither TARE_THREAD nor TARE_PROCESS",
				     "");
	if (!r)
		return api_fail_text(error, TARE_ERROR_USAGE, "regions are not counted",
				     "call tare_regions_start(), or set TARE_EVENTS in the environment");
	if (!counters_here(r->model, error))
		return false;
	size_t n = r->model->events.count;
	struct region_sums sums = {0};
	region_thread_watch();
	struct region_thread *mine = region_thread_known(),
			     *thread = scope == TARE_THREAD ? mine : atomic_load(&r->threads);
	for (; thread; thread = scope == TARE_THREAD ? NULL : thread->next) {
		const struct slot *slot = slot_find(thread, region->id);
		if (slot)
			region_sums_add(&sums, thread, slot);
	}
	region_sums_finish(&sums, r);
	for (size_t i = 0; i < n && __atomic_load_n(&tare_regions_on, __ATOMIC_RELAXED) == REGIONS_OF_ENGINE; i++)
		/* nothing of a region is done here: 0 would be no count */
		sums.readings[i].state = TARE_NOT_COUNTED;
	if (passes)
		*passes = sums.passes;
	if (readings)
		memcpy(readings, sums.readings, n * sizeof *readings);
	return true;
}

void tare_region_reads(int scope, struct tare_reads *out)
{
	const struct region_set *r = regions_of_process();
	*out = (struct tare_reads){.why = ""};
	if (!r || !counters_here(r->model, NULL))
		return;
	struct region_thread *thread = scope == TARE_THREAD ? region_thread_known()
							    : atomic_load(&((struct region_set *)r)->threads);
	for (; thread; thread = scope == TARE_THREAD ? NULL : thread->next) {
		struct tare_reads one;
		region_thread_reads(thread, &one);
		out->by_user += one.by_user;
		out->by_call += one.by_call;
		out->checks += one.checks;
		out->again += one.again;
		if (*one.why) /* the list's last is the first thread's */
			out->why = one.why;
	}
}
