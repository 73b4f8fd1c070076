/* ranks_merge(): results in files. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "session/job.h"
#include "session/ranks.h"
#include "store/ranks/read.h"

struct merge {
	const char *const *paths;
	size_t n;
	struct job *job; /* NULL until a file could be read */
	struct job_builder *builder;
	size_t *file_of;  /* [n_members]: paths index + 1; 0: none yet */
	uint64_t *hashes; /* [n]; of the files' bytes */
	VEC(size_t) unreadable;
	VEC(char *) reasons; /* of those */
};

/* The first result says what the members are. */
static bool begin(struct merge *m, const struct rank_place *place, struct error *err)
{
	size_t n = place->launcher ? place->size : m->n;
	m->job = job_new(n);
	m->builder = m->job ? job_begin(m->job) : NULL;
	m->file_of = calloc(n + 1, sizeof *m->file_of);
	if (!m->builder || !m->file_of)
		return error_no_memory(err);
	if (!place->launcher)
		return true;
	for (size_t i = 0; i < n; i++) {
		m->job->members[i].has_rank = true;
		m->job->members[i].rank = i;
	}
	m->job->launcher = arena_strdup(&m->job->arena, place->launcher);
	m->job->id = arena_strdup(&m->job->arena, place->job);
	return (m->job->launcher && m->job->id) || error_no_memory(err);
}

/* Whose member is it? Not told: it belongs to something else than the others. */
static bool find_member(const struct merge *m, size_t file, const struct rank_place *place, size_t *member,
			struct error *err)
{
	const struct job *job = m->job;
	bool of_job = job->launcher != NULL;
	if (of_job != (place->launcher != NULL) ||
	    (of_job && (strcmp(job->launcher, place->launcher) != 0 || strcmp(job->id, place->job) != 0 ||
			job->n_members != place->size))) {
		error_set(err, ERROR_USAGE, "'%.200s' is not of the same job as the files before it",
			  m->paths[file]);
		return error_hint(err, "merge the ranks' files of each job by themselves");
	}
	*member = of_job ? place->rank : file;
	if (!m->file_of[*member])
		return true;
	return error_set(err, ERROR_USAGE, "'%.150s' and '%.150s' are both of rank %zu",
			 m->paths[m->file_of[*member] - 1], m->paths[file], *member);
}

/* A copy of a result would be added up twice. */
static bool check_copy(struct merge *m, size_t file, const char *text, size_t length, struct error *err)
{
	m->hashes[file] = hash_bytes(HASH_BEGIN, text, length) | 1;
	for (size_t i = 0; i < file; i++)
		if (m->hashes[i] == m->hashes[file])
			return error_set(err, ERROR_USAGE, "'%.150s' and '%.150s' are the same result",
					 m->paths[i], m->paths[file]);
	return true;
}

static bool keep_unreadable(struct merge *m, size_t file, const struct error *why, struct error *err)
{
	char *reason = strdup(why->text);
	if (reason && vec_push(&m->unreadable, file) && vec_push(&m->reasons, reason))
		return true;
	free(reason);
	return error_no_memory(err);
}

static bool add_file(struct merge *m, size_t file, struct error *err)
{
	struct error own = {0};
	struct result *result = NULL;
	struct rank_place place;
	size_t length, member = 0;
	char *text = file_read(m->paths[file], READ_BYTES_MOST, &length, &own);
	bool readable = text && read_result(text, length, m->paths[file], &result, &place, &own), done;
	if (!readable) {
		done = own.code == ERROR_NO_MEMORY ? error_no_memory(err) : keep_unreadable(m, file, &own, err);
	} else {
		done = check_copy(m, file, text, length, err) && (m->job || begin(m, &place, err)) &&
		       find_member(m, file, &place, &member, err) &&
		       job_add(m->builder, member, result, &place, m->paths[file], err);
		if (done)
			m->file_of[member] = file + 1;
	}
	free(text);
	result_free(result);
	return done;
}

/* Files that could not be read, and ranks that no file has. */
static bool add_missing(struct merge *m)
{
	struct job *job = m->job;
	for (size_t i = 0; i < m->unreadable.count; i++) {
		size_t file = m->unreadable.items[i];
		if (!job->launcher &&
		    !job_lose(m->builder, file, MEMBER_DAMAGED, NULL, 0, m->paths[file], m->reasons.items[i]))
			return false;
		struct job_note note = {.text = arena_strdup(&job->arena, m->reasons.items[i])};
		if (job->launcher && (!note.text || !vec_push(&job->notes, note)))
			return false;
	}
	for (size_t i = 0; i < job->n_members && job->launcher; i++)
		if (!m->file_of[i] && !job_lose(m->builder, i, MEMBER_NO_FILE, NULL, 0, NULL, NULL))
			return false;
	return true;
}

bool ranks_merge(const char *const *paths, size_t n, struct job **out, struct error *err)
{
	struct merge m = {.paths = paths, .n = n, .hashes = calloc(n + 1, sizeof *m.hashes)};
	bool done = m.hashes != NULL || error_no_memory(err);
	*out = NULL;
	for (size_t i = 0; i < n && done; i++)
		done = add_file(&m, i, err);
	if (done && !m.job)
		done = n ? error_set(err, ERROR_SYNTAX, "%.400s%s", m.reasons.items[0],
				     n > 1 ? "; nor can the other files be read" : "")
			 : error_set(err, ERROR_USAGE, "no file is given");
	done = done && ((add_missing(&m) && job_sum(m.builder)) || error_no_memory(err));
	job_builder_free(m.builder);
	for (size_t i = 0; i < m.reasons.count; i++)
		free(m.reasons.items[i]);
	vec_free(&m.reasons);
	vec_free(&m.unreadable);
	free(m.hashes);
	free(m.file_of);
	if (done)
		*out = m.job;
	else
		job_free(m.job);
	return done;
}
