#include "cli/page_output.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "session/surroundings.h"

bool page_check(const char *path, FILE *standard, struct error *err)
{
	FILE *out = !path ? standard : strcmp(path, "-") == 0 ? stdout : NULL;
	if (!out || !isatty(fileno(out)))
		return true;
	error_set(err, ERROR_USAGE, "a page is for a browser, not for a terminal");
	return error_hint(err, "give -o FILE");
}

void page_origin_of(const struct kept_run *run, struct arena *arena, struct report_origin *origin)
{
	*origin = (struct report_origin){.run = run->id ? arena_printf(arena, "%" PRId64, run->id) : NULL,
					 .name = run->name,
					 .tare_version = run->tare_version,
					 .directory = run->directory,
					 .git_commit = run->git_commit,
					 .cpu_features = run->cpu_features,
					 .microcode = run->microcode,
					 .calibration = run->calibration,
					 .environment = run->environment};
}

void page_origin_here(struct arena *arena, struct report_origin *origin)
{
	struct surroundings around;
	surroundings_find(arena, &around);
	*origin = (struct report_origin){.tare_version = TARE_VERSION,
					 .directory = around.directory,
					 .git_commit = around.git_commit,
					 .cpu_features = around.cpu_features,
					 .microcode = around.microcode,
					 .environment = around.environment};
}
