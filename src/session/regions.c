#include "session/regions.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backend/launch.h"
#include "base/vec.h"

struct place_wanted {
	struct place_spec spec;
	bool fits; /* a pattern stands for it */
};

/* Everything that one search needs. */
struct region_search {
	struct session_regions *regions;
	struct symbols *symbols;
	const char **modules; /* the program, its libraries */
	size_t n_modules;
	VEC(struct place_wanted) places;
};

static bool find_modules(struct region_search *f, const struct command *command, struct error *err)
{
	struct library_list libraries;
	struct arena *arena = &f->regions->arena;
	char program[PATH_MAX];
	bool done = false;
	char *path = launch_find(command, err);
	if (!path)
		return false;
	if (!realpath(path, program)) {
		error_set_errno(err, ERROR_NOT_FOUND, errno, "cannot find '%s'", path);
		goto out;
	}
	if (!symbols_new(NULL, &f->symbols, err))
		goto out;
	if (!libraries_of(program, getenv("LD_LIBRARY_PATH"), arena, &libraries) ||
	    !(f->modules = arena_alloc(arena, (libraries.count + 1) * sizeof *f->modules)) ||
	    !(f->modules[0] = arena_strdup(arena, program))) {
		error_no_memory(err);
		goto out;
	}
	for (size_t i = 0; i < libraries.count; i++)
		f->modules[i + 1] = libraries.paths[i];
	f->n_modules = libraries.count + 1;
	done = true;
out:
	free(path);
	return done;
}

static bool is_same(const struct place_wanted *a, const struct place_wanted *b)
{
	return (a->fits || b->fits) && strcmp(a->spec.text, b->spec.text) == 0;
}

/* A function that is named and fits a pattern as well, or fits two, is one region. */
static bool add_place(struct region_search *f, struct place_wanted place, struct error *err)
{
	for (size_t i = 0; i < f->places.count; i++) {
		if (strcmp(f->places.items[i].spec.name, place.spec.name) != 0)
			continue;
		if (is_same(&f->places.items[i], &place))
			return true;
		error_set(err, ERROR_USAGE, "two regions are named '%s'", place.spec.name);
		return error_hint(err, "give one of them another name: --region NAME=PLACE");
	}
	return vec_push(&f->places, place) || error_no_memory(err);
}

static bool add_text(struct region_search *f, const char *text, struct error *err)
{
	struct place_spec spec;
	struct place_list list;
	if (!place_parse(text, &f->regions->arena, &spec, err) ||
	    !place_expand(f->symbols, &spec, f->modules, f->n_modules, &f->regions->arena, &list, err))
		return false;
	for (size_t i = 0; i < list.n; i++)
		if (!add_place(f, (struct place_wanted){list.specs[i], true}, err))
			return false;
	f->regions->patterns |= list.n > 0;
	return list.n || add_place(f, (struct place_wanted){spec, false}, err);
}

bool session_regions_find(struct session_regions *r, const char *const *texts, size_t n,
			  const struct command *command, struct error *err)
{
	struct region_search f = {.regions = r};
	bool done = false;
	*r = (struct session_regions){0};
	if (n == 0)
		return true;
	if (!find_modules(&f, command, err))
		goto out;
	for (size_t i = 0; i < n; i++)
		if (!add_text(&f, texts[i], err))
			goto out;
	if (!(r->asked = arena_alloc(&r->arena, f.places.count * sizeof *r->asked))) {
		error_no_memory(err);
		goto out;
	}
	for (; r->n < f.places.count; r->n++)
		if (!place_find(f.symbols, &f.places.items[r->n].spec, f.modules, f.n_modules, &r->arena,
				&r->asked[r->n], err))
			goto out;
	done = true;
out:
	vec_free(&f.places);
	symbols_free(f.symbols);
	return done;
}

void session_regions_free(struct session_regions *r)
{
	arena_free(&r->arena);
	*r = (struct session_regions){0};
}

bool session_regions_refused(const struct error *err)
{
	return err->code == ERROR_PERMISSION || err->code == ERROR_UNSUPPORTED;
}
