#include "session/profile_read.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/vec.h"
#include "profile/marks.h"
#include "session/replicates.h"
#include "store/profile/profile_file.h"

bool session_is_mark(const char *text) { return profile_mark_is_name(text); }

static void drop(struct profile *profile)
{
	if (profile)
		profile_free(profile);
	free(profile);
}

/* Marks are behind the samples in a file, and say which are wanted: it is read twice. */
static bool find_marks(const uint8_t *bytes, size_t n, const char *name, const struct profile_part *part,
		       struct profile_read_options *options, struct error *err)
{
	struct profile *all = NULL;
	bool done = profile_file_parse(bytes, n, name, true, NULL, &all, err) &&
		    (!part->from_mark || profile_marks_find(all, part->from_mark, &options->after_ns, err)) &&
		    (!part->to_mark || profile_marks_find(all, part->to_mark, &options->before_ns, err));
	if (done && options->before_ns && options->before_ns <= options->after_ns)
		done = error_set(err, ERROR_USAGE, "the mark of --to is not later than that of --from");
	drop(all);
	return done;
}

static bool parse_run(const uint8_t *bytes, size_t n, const char *name, const struct profile_part *part,
		      struct profile **run, struct error *err)
{
	struct profile_read_options options = {0};
	if (!part)
		return profile_file_parse(bytes, n, name, true, NULL, run, err);
	options = (struct profile_read_options){
		.from_ns = part->from_ns, .to_ns = part->to_ns, .moments = part->moments};
	return ((!part->from_mark && !part->to_mark) || find_marks(bytes, n, name, part, &options, err)) &&
	       profile_file_parse(bytes, n, name, true, &options, run, err);
}

bool session_parse_profile(const void *bytes, size_t n_bytes, const char *name, const struct profile_part *part,
			   struct profile **out, struct error *err)
{
	const uint8_t *rest = bytes;
	VEC(struct profile *) runs = {0};
	bool done = true;
	*out = NULL;
	do {
		size_t n = profile_file_run(rest, n_bytes);
		struct profile *run = NULL;
		done = parse_run(rest, n, name, part, &run, err);
		if (done && !vec_push(&runs, run)) {
			drop(run);
			done = error_no_memory(err);
		}
		rest += n;
		n_bytes -= n;
	} while (done && n_bytes);
	if (done && runs.count == 1)
		*out = runs.items[--runs.count];
	else if (done)
		done = session_merge_replicates((const struct profile *const *)runs.items, runs.count, out, err);
	for (size_t i = 0; i < runs.count; i++)
		drop(runs.items[i]);
	vec_free(&runs);
	return done;
}

bool session_read_profile(const char *path, const struct profile_part *part, struct profile **out,
			  struct error *err)
{
	size_t length;
	char *bytes = file_read(path, PROFILE_FILE_MOST_BYTES, &length, err);
	*out = NULL;
	bool done = bytes && session_parse_profile(bytes, length, path, part, out, err);
	free(bytes);
	return done;
}
