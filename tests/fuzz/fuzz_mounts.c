/* Any bytes as /proc/self/mountinfo: what is found is a whole path of version 1 or 2, and lines behind it change nothing but that version 1 comes
 * first. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/perf/counter/cgroup.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct cgroup_mount all, some;
	cgroup_mount_find(text, size, &all);
	check(all.path[0] ? all.path[0] == '/' && (all.version == 1 || all.version == 2) : all.version == 0,
	      "a mount that is none");
	check(!all.path[0] || memmem(text, size, "cgroup", 6), "a mount without its type");
	for (const char *line = text; (line = memchr(line, '\n', size - (size_t)(line - text)));) {
		cgroup_mount_find(text, (size_t)(++line - text), &some);
		check(!some.path[0] || some.version == 2 || (all.version == 1 && strcmp(all.path, some.path) == 0),
		      "the first of version 1 is not taken");
		check(!some.path[0] || all.path[0], "lines behind it hide a mount");
		check(some.version != 2 || all.version == 1 || strcmp(all.path, some.path) == 0,
		      "the first of version 2 is not taken");
	}
	return 0;
}
