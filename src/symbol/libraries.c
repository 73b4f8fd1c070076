/*
 * The libraries of a program, as ld.so(8) looks for them. /etc/ld.so.cache: glibc, sysdeps/generic/dl-cache.h, the
 * layout of 1.1. Not done: hwcaps folders that the cache does not list, LD_PRELOAD, auditing.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "symbol/places_inside.h"

enum { LIBRARIES_MOST = 1024, CACHE_MOST_BYTES = 64 << 20 };

struct needs { /* of one file */
	VEC(const char *) names;
	const char *rpath, *runpath;
	unsigned char class;
	unsigned machine;
	struct elf_file file;
};

struct loader_cache {
	char *bytes;
	size_t length;
};

struct library_search {
	struct arena *arena;
	const char *library_path;
	struct loader_cache cache;
	VEC(const char *) paths;
};

static void read_needs(const char *path, struct needs *out)
{
	GElf_Ehdr header;
	*out = (struct needs){0};
	if (!elf_file_open(path, &out->file, NULL) || !gelf_getehdr(out->file.elf, &header))
		return;
	out->class = header.e_ident[EI_CLASS];
	out->machine = header.e_machine;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(out->file.elf, section));) {
		GElf_Shdr shdr;
		Elf_Data *data;
		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != SHT_DYNAMIC ||
		    !(data = elf_getdata(section, NULL)) || !shdr.sh_entsize)
			continue;
		for (int i = 0; i < (int)(data->d_size / shdr.sh_entsize); i++) {
			GElf_Dyn dyn;
			const char *text;
			if (!gelf_getdyn(data, i, &dyn) || dyn.d_tag == DT_NULL)
				break;
			if ((dyn.d_tag != DT_NEEDED && dyn.d_tag != DT_RPATH && dyn.d_tag != DT_RUNPATH) ||
			    !(text = elf_strptr(out->file.elf, shdr.sh_link, dyn.d_un.d_val)))
				continue;
			if (dyn.d_tag == DT_RPATH)
				out->rpath = text;
			else if (dyn.d_tag == DT_RUNPATH)
				out->runpath = text;
			else if (!vec_push(&out->names, text))
				return;
		}
	}
}

static void free_needs(struct needs *needs)
{
	vec_free(&needs->names);
	elf_file_close(&needs->file);
}

/* Is it there, and of the same kind of machine? */
static bool is_library(const char *path, const struct needs *of)
{
	unsigned char start[20];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	bool fits = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
		    read(fd, start, sizeof start) == (ssize_t)sizeof start && memcmp(start, "\177ELF", 4) == 0 &&
		    start[EI_CLASS] == of->class && (start[18] | (unsigned)start[19] << 8) == of->machine;
	if (fd >= 0)
		close(fd);
	return fits;
}

/* One folder of a search path, with $ORIGIN put in. */
static bool in_folder(const char *folder, size_t length, const char *origin, const char *name,
		      const struct needs *of, char *path)
{
	struct str text = {0};
	size_t at = 0;
	while (at < length) {
		size_t word = strncmp(folder + at, "$ORIGIN", 7) == 0     ? 7
			      : strncmp(folder + at, "${ORIGIN}", 9) == 0 ? 9
									  : 0;
		if (word && at + word <= length) {
			str_append_bytes(&text, origin, (size_t)(strrchr(origin, '/') - origin));
			at += word;
		} else {
			str_append_char(&text, folder[at++]);
		}
	}
	str_appendf(&text, "%s/%s", length ? "" : ".", name);
	bool fits = !text.failed && text.length < PATH_MAX && is_library(text.text, of);
	if (fits)
		strcpy(path, text.text);
	str_free(&text);
	return fits;
}

static bool in_path(const char *folders, const char *origin, const char *name, const struct needs *of, char *path)
{
	while (folders && *folders) {
		size_t length = strcspn(folders, ":;");
		if (in_folder(folders, length, origin, name, of, path))
			return true;
		folders += length + (folders[length] != '\0');
	}
	return false;
}

static uint32_t word_at(const struct loader_cache *cache, size_t offset)
{
	uint32_t word = 0;
	if (offset + 4 <= cache->length)
		memcpy(&word, cache->bytes + offset, 4);
	return word;
}

static bool in_cache(const struct loader_cache *cache, const char *name, const struct needs *of, char *path)
{
	enum { HEADER = 48, ENTRY = 24 };
	static const char magic[] = "glibc-ld.so.cache1.1";
	if (!cache->bytes || cache->length < HEADER || memcmp(cache->bytes, magic, sizeof magic - 1) != 0)
		return false;
	size_t n = word_at(cache, 20);
	for (size_t i = 0; i < n && HEADER + (i + 1) * ENTRY <= cache->length; i++) {
		size_t key = word_at(cache, HEADER + i * ENTRY + 4),
		       value = word_at(cache, HEADER + i * ENTRY + 8);
		/* the file ends in a NUL (libraries_of()) */
		if (key >= cache->length || value >= cache->length || strcmp(cache->bytes + key, name) != 0)
			continue;
		if (strlen(cache->bytes + value) < PATH_MAX && is_library(cache->bytes + value, of)) {
			strcpy(path, cache->bytes + value);
			return true;
		}
	}
	return false;
}

static bool find_library(const struct library_search *s, const char *name, const char *of_path,
			 const struct needs *of, char *path)
{
	if (strchr(name, '/')) {
		bool fits = strlen(name) < PATH_MAX && is_library(name, of);
		if (fits)
			strcpy(path, name);
		return fits;
	}
	return (!of->runpath && in_path(of->rpath, of_path, name, of, path)) ||
	       in_path(s->library_path, of_path, name, of, path) ||
	       in_path(of->runpath, of_path, name, of, path) || in_cache(&s->cache, name, of, path) ||
	       in_path("/lib:/usr/lib:/lib64:/usr/lib64", of_path, name, of, path);
}

static bool add(struct library_search *s, const char *path)
{
	char real[PATH_MAX];
	if (!realpath(path, real))
		return true;
	for (size_t i = 0; i < s->paths.count; i++)
		if (strcmp(s->paths.items[i], real) == 0)
			return true;
	const char *copy = arena_strdup(s->arena, real);
	return copy && vec_push(&s->paths, copy);
}

bool libraries_of(const char *program, const char *library_path, struct arena *arena, struct library_list *out)
{
	struct library_search s = {.arena = arena, .library_path = library_path};
	bool done = false;
	*out = (struct library_list){0};
	elf_version(EV_CURRENT);
	/* NUL-terminated */
	s.cache.bytes = file_read("/etc/ld.so.cache", CACHE_MOST_BYTES, &s.cache.length, NULL);
	if (!add(&s, program))
		goto out;
	for (size_t i = 0; i < s.paths.count && s.paths.count < LIBRARIES_MOST; i++) {
		struct needs needs;
		char path[PATH_MAX];
		bool kept = true;
		read_needs(s.paths.items[i], &needs);
		for (size_t j = 0; j < needs.names.count && kept; j++)
			if (find_library(&s, needs.names.items[j], s.paths.items[i], &needs, path))
				kept = add(&s, path);
		free_needs(&needs);
		if (!kept)
			goto out;
	}
	out->paths = arena_alloc(arena, (s.paths.count + 1) * sizeof *out->paths);
	if (!out->paths)
		goto out;
	for (size_t i = 1; i < s.paths.count; i++) /* the first is the program itself */
		out->paths[out->count++] = s.paths.items[i];
	done = true;
out:
	vec_free(&s.paths);
	free(s.cache.bytes);
	return done;
}
