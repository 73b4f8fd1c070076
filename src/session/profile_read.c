#include "session/profile_read.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/vec.h"
#include "session/replicates.h"
#include "store/profile/profile_file.h"

static void drop(struct profile *profile)
{
	if (profile)
		profile_free(profile);
	free(profile);
}

bool session_parse_profile(const void *bytes, size_t n_bytes, const char *name, const struct profile_part *part,
			   struct profile **out, struct error *err)
{
	const struct profile_read_options options = part ? (struct profile_read_options){part->from_ns,
											 part->to_ns,
											 part->moments}
							 : (struct profile_read_options){0};
	const uint8_t *rest = bytes;
	VEC(struct profile *) runs = {0};
	bool done = true;
	*out = NULL;
	do {
		size_t n = profile_file_run(rest, n_bytes);
		struct profile *run = NULL;
		done = profile_file_parse(rest, n, name, true, &options, &run, err);
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
