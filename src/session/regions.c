#include "session/regions.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backend/launch.h"

bool session_regions_find(struct session_regions *r, const char *const *texts, size_t n,
			  const struct command *command, struct error *err)
{
	struct symbols *symbols = NULL;
	struct library_list libraries;
	char program[PATH_MAX];
	bool done = false;
	*r = (struct session_regions){0};
	if (n == 0)
		return true;
	char *path = launch_find(command, err);
	struct place_spec *specs = arena_alloc(&r->arena, n * sizeof *specs);
	r->asked = arena_alloc(&r->arena, n * sizeof *r->asked);
	if (!path)
		goto out;
	if (!specs || !r->asked) {
		error_no_memory(err);
		goto out;
	}
	for (size_t i = 0; i < n; i++) {
		if (!place_parse(texts[i], &r->arena, &specs[i], err))
			goto out;
		for (size_t j = 0; j < i; j++)
			if (strcmp(specs[i].name, specs[j].name) == 0) {
				error_set(err, ERROR_USAGE, "two regions are named '%s'", specs[i].name);
				error_hint(err, "give one of them another name: --region NAME=PLACE");
				goto out;
			}
	}
	if (!realpath(path, program)) {
		error_set_errno(err, ERROR_NOT_FOUND, errno, "cannot find '%s'", path);
		goto out;
	}
	if (!symbols_new(NULL, &symbols, err))
		goto out;
	if (!libraries_of(program, getenv("LD_LIBRARY_PATH"), &r->arena, &libraries)) {
		error_no_memory(err);
		goto out;
	}
	const char **modules = arena_alloc(&r->arena, (libraries.count + 1) * sizeof *modules);
	if (!modules) {
		error_no_memory(err);
		goto out;
	}
	modules[0] = program;
	for (size_t i = 0; i < libraries.count; i++)
		modules[i + 1] = libraries.paths[i];
	for (; r->n < n; r->n++)
		if (!place_find(symbols, &specs[r->n], modules, libraries.count + 1, &r->arena, &r->asked[r->n],
				err))
			goto out;
	/* program is gone with this call; ranges have copies of their own */
	done = true;
out:
	symbols_free(symbols);
	free(path);
	return done;
}

void session_regions_free(struct session_regions *r)
{
	arena_free(&r->arena);
	*r = (struct session_regions){0};
}
