#include "cli/profile_keep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/say.h"
#include "cli/store_options.h"
#include "session/profile.h"

enum { PROFILE_MOST_BYTES = 256 << 20 };

void profile_keep_begin(struct profile_keep *keep, const struct keeping *keeping, const char **file)
{
	keep->memory = -1;
	if (*file || !keep_is_on(keeping))
		return;
	keep->memory = memfd_create("profile", MFD_CLOEXEC);
	snprintf(keep->path, sizeof keep->path, "/proc/self/fd/%d", keep->memory);
	if (keep->memory >= 0)
		*file = keep->path;
}

void profile_keep_end(struct profile_keep *keep, const struct keeping *keeping, const char *file,
		      const struct profile *profile, const struct show_request *show)
{
	struct error err = {0};
	size_t length = 0;
	char *bytes = NULL;
	if (profile && file && keep_is_on(keeping)) {
		if (!(bytes = file_read(file, PROFILE_MOST_BYTES, &length, &err)))
			say_warning("this profile is not kept as a run: %s", err.text);
	}
	if (bytes) {
		size_t runs = profile->n_runs ? profile->n_runs : 1;
		struct result result = {
			.machine = profile->machine,
			.command = profile->command,
			.target = profile->target,
			.started_unix = profile->started_unix,
			.repetitions = runs,
			.repetitions_done = runs,
			.executions = runs,
			.passes = 1,
			/* counts without samples have no times */
			.elapsed_seconds = profile->last_ns > profile->first_ns
						   ? (double)(profile->last_ns - profile->first_ns) / 1e9
						   : NAN,
			.confidence = show->confidence,
			.wait_status = profile->wait_status};
		struct kept_run run = {.kind = KEPT_PROFILE,
				       .shown = (show->by == PROFILE_BY_LINE ? SHOWN_BY_LINE : 0) |
						(show->annotate ? SHOWN_ANNOTATE : 0) |
						(show->prof ? SHOWN_PROF : 0),
				       .top = show->top,
				       .result = &result,
				       .profile = bytes,
				       .profile_bytes = length};
		store_keep(keeping, &run, false);
	}
	free(bytes);
	if (keep->memory >= 0)
		close(keep->memory);
	keep->memory = -1;
}
