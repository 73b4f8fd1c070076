#include "session/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/clock.h"
#include "base/str.h"
#include "session/apart.h"
#include "session/job.h"
#include "store/ranks/folder.h"
#include "store/ranks/read.h"

enum {
	MS = 1000000,
	POLL_FIRST_NS = 5 * MS,
	POLL_MOST_NS = 200 * MS, /* of a job with few ranks: looking costs a system call a rank */
	POLL_RANKS = 512,
	TELL_AFTER_NS = 1500 * MS,
	HOST_BYTES = 256,
};

/* After an interrupt: programs have 2 s to end (measure/waiting.h), and their tare reads its counters. A user is
 * not to wait longer than needed; where none is there, a machine's load must not make it miss a rank. */
static const uint64_t GRACE_NS = 5000000000, GRACE_ALONE_NS = 60000000000;

bool ranks_begin(const char *base, const struct rank_place *place, struct ranks_folder **out, struct error *err)
{
	struct utsname host;
	return ranks_join(base, place, uname(&host) == 0 ? host.nodename : "", out, err);
}

void ranks_part(struct ranks_folder *folder) { ranks_leave(folder); }

char *ranks_files(const struct ranks_folder *folder) { return ranks_pattern(folder); }

void ranks_reported(struct ranks_folder *folder, bool stay) { ranks_over(folder, stay); }

size_t ranks_text(struct str *out, size_t n, bool (*of)(const void *context, size_t rank), const void *context)
{
	size_t found = 0;
	for (size_t i = 0; i < n; i++) {
		size_t end = i;
		if (!of(context, i))
			continue;
		while (end + 1 < n && of(context, end + 1))
			end++;
		str_appendf(out, end > i ? "%s%zu%s%zu" : "%s%zu", found ? ", " : "", i, end > i + 1 ? "-" : ", ",
			    end);
		found += end - i + 1;
		i = end;
	}
	return found;
}

/* ---- waiting ---- */

struct rank_wait {
	struct ranks_folder *folder;
	const struct ranks_waiting *options;
	size_t size;
	unsigned char *states; /* [size], enum rank_state */
	uint64_t began_ns, interrupted_ns;
	bool told, told_interim;
};

struct state_of {
	const unsigned char *states;
	enum rank_state state;
};

static bool is_in(const void *context, size_t rank)
{
	const struct state_of *of = context;
	return of->states[rank] == of->state;
}

static size_t count(const struct rank_wait *w, enum rank_state state)
{
	size_t n = 0;
	for (size_t i = 0; i < w->size; i++)
		n += w->states[i] == state;
	return n;
}

static void tell(struct rank_wait *w)
{
	struct str at_work = {0}, never = {0};
	if (w->told || !w->options->tell)
		return;
	w->told = true;
	ranks_text(&at_work, w->size, is_in, &(struct state_of){w->states, RANK_AT_WORK});
	ranks_text(&never, w->size, is_in, &(struct state_of){w->states, RANK_NEVER_BEGAN});
	w->options->tell(w->options->context, at_work.text ? at_work.text : "", never.text ? never.text : "");
	str_free(&at_work);
	str_free(&never);
}

static uint64_t grace_ns(const struct rank_wait *w)
{
	return apart_is_alone(w->options->apart) ? GRACE_ALONE_NS : GRACE_NS;
}

enum decision { DECIDED_WAIT, DECIDED_REPORT, DECIDED_LEAVE };

/* By the rank that has the chair. */
static enum decision decide(struct rank_wait *w, uint64_t now_ns)
{
	size_t at_work = count(w, RANK_AT_WORK), never = count(w, RANK_NEVER_BEGAN);
	uint64_t waited_ns = now_ns - w->began_ns;
	if (!at_work && !never)
		return DECIDED_REPORT;
	if (w->interrupted_ns)
		return at_work && now_ns - w->interrupted_ns < grace_ns(w) ? DECIDED_WAIT : DECIDED_REPORT;
	if (w->options->failed && at_work)
		return DECIDED_LEAVE;
	if (waited_ns >= w->options->timeout_ns)
		return at_work ? DECIDED_LEAVE : DECIDED_REPORT;
	if (waited_ns >= (uint64_t)TELL_AFTER_NS)
		tell(w);
	return DECIDED_WAIT;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	nanosleep(&time, NULL);
}

/* ---- putting together ---- */

static bool add_done(struct job_builder *builder, struct ranks_folder *folder, const struct rank_place *job,
		     size_t rank, struct error *err)
{
	struct error own = {0};
	struct result *result = NULL;
	struct rank_place place;
	char host[HOST_BYTES], name[64];
	int64_t pid;
	size_t length;
	snprintf(name, sizeof name, "result of rank %zu", rank);
	char *text = ranks_get(folder, rank, &length, &own);
	bool done = text && read_result(text, length, name, &result, &place, &own);
	free(text);
	if (done && (!place.launcher || place.rank != rank || place.size != job->size)) {
		error_set(&own, ERROR_SYNTAX, "it is of another rank");
		done = false;
	}
	if (done) {
		done = job_add(builder, rank, result, &place, NULL, err);
	} else {
		ranks_begun(folder, rank, host, sizeof host, &pid);
		done = job_lose(builder, rank, MEMBER_DAMAGED, host, pid, NULL, own.text) || error_no_memory(err);
	}
	result_free(result);
	return done;
}

static bool add_rank(struct job_builder *builder, struct ranks_folder *folder, const struct rank_place *job,
		     size_t rank, enum rank_state state, struct error *err)
{
	char host[HOST_BYTES];
	int64_t pid;
	if (state == RANK_DONE)
		return add_done(builder, folder, job, rank, err);
	if (state == RANK_NEVER_BEGAN)
		return job_lose(builder, rank, MEMBER_NEVER_BEGAN, NULL, 0, NULL, NULL) || error_no_memory(err);
	ranks_begun(folder, rank, host, sizeof host, &pid);
	return job_lose(builder, rank, state == RANK_GONE ? MEMBER_DIED : MEMBER_RUNNING, host, pid, NULL, NULL) ||
	       error_no_memory(err);
}

static bool put_together(const struct rank_wait *w, const struct rank_place *place, struct job **out,
			 struct error *err)
{
	struct job *job = job_new(w->size);
	struct job_builder *builder = job ? job_begin(job) : NULL;
	bool done = builder != NULL || error_no_memory(err);
	if (done) {
		job->launcher = arena_strdup(&job->arena, place->launcher);
		job->id = arena_strdup(&job->arena, place->job);
		done = (job->launcher && job->id) || error_no_memory(err);
	}
	for (size_t i = 0; i < w->size && done; i++) {
		job->members[i].has_rank = true;
		job->members[i].rank = i;
		done = add_rank(builder, w->folder, place, i, (enum rank_state)w->states[i], err);
	}
	done = done && (job_sum(builder) || error_no_memory(err));
	job_builder_free(builder);
	if (done)
		*out = job;
	else
		job_free(job);
	return done;
}

/* ---- until then ---- */

static void tell_interim(struct rank_wait *w, const struct rank_place *place)
{
	struct error own = {0}; /* the whole report will also meet it */
	struct job *job = NULL;
	if (w->told_interim || !w->options->interim)
		return;
	w->told_interim = true;
	if (put_together(w, place, &job, &own))
		w->options->interim(w->options->context, job);
	job_free(job);
}

/* *report: this rank is to report, and w->states says of what. */
static bool wait_for_all(struct rank_wait *w, const struct rank_place *place, bool *report, struct error *err)
{
	uint64_t pause_ns = POLL_FIRST_NS, most_ns = POLL_MOST_NS * (1 + w->size / POLL_RANKS);
	struct clock clock = clock_monotonic();
	*report = false;
	w->began_ns = clock_now_ns(&clock);
	for (;;) {
		uint64_t now_ns = clock_now_ns(&clock);
		enum ranks_chair chair = ranks_take_chair(w->folder);
		if (*w->options->interrupt && !w->interrupted_ns)
			w->interrupted_ns = now_ns;
		if (chair == CHAIR_OVER)
			return true;
		if (chair == CHAIR_ANOTHERS &&
		    (w->options->failed || w->interrupted_ns || now_ns - w->began_ns >= w->options->timeout_ns))
			return true;
		if (chair == CHAIR_MINE) {
			if (!ranks_look(w->folder, w->states, err))
				return false;
			enum decision decision = decide(w, now_ns);
			*report = decision == DECIDED_REPORT;
			if (*report)
				return true;
			if (decision == DECIDED_LEAVE) {
				/* one that ended since this one looked has found the chair taken, and may have
				 * left the report to this one */
				struct error own = {0};
				ranks_leave_chair(w->folder);
				if (!ranks_look(w->folder, w->states, &own) || count(w, RANK_AT_WORK))
					return true;
				continue;
			}
			if (w->interrupted_ns)
				tell_interim(w, place);
		}
		sleep_ns(pause_ns);
		pause_ns = w->interrupted_ns            ? POLL_FIRST_NS
			   : pause_ns * 3 / 2 < most_ns ? pause_ns * 3 / 2
							: most_ns;
	}
}

bool ranks_end(struct ranks_folder *folder, const struct rank_place *place, const char *text, size_t length,
	       const struct ranks_waiting *waiting, struct job **out, struct error *err)
{
	struct rank_wait w = {.folder = folder, .options = waiting, .size = place->size};
	bool report = false;
	*out = NULL;
	if (!ranks_put(folder, text, length, err))
		return false;
	if (!(w.states = calloc(w.size, 1)))
		return error_no_memory(err);
	bool done = wait_for_all(&w, place, &report, err) && (!report || put_together(&w, place, out, err));
	free(w.states);
	return done;
}
