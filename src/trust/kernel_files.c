/* Where the kernels' files are: truths inside the command or in a folder, programs beside tare. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/vec.h"
#include "trust/helper_programs.h"
#include "trust/kernels.h"

extern const struct embedded_file kernel_files[];

static const char START[] = "start.truth", SUFFIX[] = ".truth", REGION[] = "kernel_body";
enum { FILE_MOST = 1 << 20 };

struct loading {
	struct arena *arena;
	struct error *err;
	struct kernel_text start;
	VEC(struct kernel) kernels;
};

/* ---- programs ---- */

/* NULL: it is not there. */
static bool find_program(struct loading *l, const char *name, const char **path, struct error *why)
{
	char *found = helper_kernel(name, why);
	*path = found ? arena_strdup(l->arena, found) : NULL;
	bool done = !found || *path || error_no_memory(l->err);
	free(found);
	return done;
}

static bool find_programs(struct loading *l, struct kernel *k)
{
	struct error why;
	if (!find_program(l, k->name, &k->path, &why))
		return false;
	if (!k->path && !k->why_not && !(k->why_not = arena_strdup(l->arena, why.text)))
		return error_no_memory(l->err);
	if (k->interfaces & 1 << KERNEL_REGION) {
		char *name = arena_printf(l->arena, "%s-region", k->name);
		if (!name)
			return error_no_memory(l->err);
		if (!find_program(l, name, &k->region_path, &why))
			return false;
		k->region = k->region_path ? REGION : NULL;
	}
	return true;
}

static bool add(struct loading *l, const struct kernel_text *truth)
{
	struct kernel kernel;
	return kernel_read(truth, &l->start, l->arena, &kernel, l->err) && find_programs(l, &kernel) &&
	       (vec_push(&l->kernels, kernel) || error_no_memory(l->err));
}

/* ---- truths ---- */

static bool load_embedded(struct loading *l)
{
	for (const struct embedded_file *file = kernel_files; file->name; file++)
		if (strcmp(file->name, START) == 0)
			l->start = (struct kernel_text){file->text, file->name, file->length};
	for (const struct embedded_file *file = kernel_files; file->name; file++) {
		struct kernel_text truth = {file->text, file->name, file->length};
		if (strcmp(file->name, START) != 0 && !add(l, &truth))
			return false;
	}
	return true;
}

static bool is_truth(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);
	return length > sizeof SUFFIX - 1 && strcmp(entry->d_name + length - (sizeof SUFFIX - 1), SUFFIX) == 0;
}

static bool read_text(struct loading *l, const char *folder, const char *name, char **text,
		      struct kernel_text *out)
{
	out->source = arena_printf(l->arena, "%s/%s", folder, name);
	*text = out->source ? file_read(out->source, FILE_MOST, &out->length, l->err) : NULL;
	out->text = *text;
	return *text || (!out->source && error_no_memory(l->err));
}

static int chosen(const struct dirent *entry) { return is_truth(entry); }

static bool load_folder(struct loading *l, const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, chosen, alphasort);
	if (count < 0)
		return error_set_errno(l->err, ERROR_IO, errno, "cannot read the folder of kernels '%s'", folder);
	char *start = NULL, *text;
	bool done = read_text(l, folder, START, &start, &l->start);
	for (int i = 0; i < count; i++) {
		struct kernel_text truth;
		if (done && strcmp(entries[i]->d_name, START) != 0) {
			done = read_text(l, folder, entries[i]->d_name, &text, &truth) && add(l, &truth);
			free(text);
		}
		free(entries[i]);
	}
	free(entries);
	free(start);
	return done;
}

bool kernels_load(const char *folder, struct kernels *out, struct error *err)
{
	*out = (struct kernels){0};
	struct loading l = {.arena = &out->arena, .err = err};
	struct kernel *all = NULL;
	bool done = folder ? load_folder(&l, folder) : load_embedded(&l);
	if (done) {
		all = arena_alloc(&out->arena, (l.kernels.count + 1) * sizeof *all);
		done = all || error_no_memory(err);
	}
	if (done) {
		if (l.kernels.count)
			memcpy(all, l.kernels.items, l.kernels.count * sizeof *all);
		out->all = all;
		out->count = l.kernels.count;
	} else {
		kernels_free(out);
	}
	vec_free(&l.kernels);
	return done;
}

void kernels_free(struct kernels *kernels)
{
	arena_free(&kernels->arena);
	*kernels = (struct kernels){0};
}

const struct kernel *kernels_find(const struct kernels *kernels, const char *name)
{
	for (size_t i = 0; i < kernels->count; i++)
		if (strcmp(kernels->all[i].name, name) == 0)
			return &kernels->all[i];
	return NULL;
}
