#include "model/declare/conf_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/str.h"
#include "model/declare/conf.h"
#include "model/declare/host.h"

extern const struct embedded_file machine_files[];
extern const char *const machine_file_names[]; /* "host", "alpha21264", …; ends with NULL */

static const char suffix[] = ".conf";
static const char generated[] = "host";

static bool has_suffix(const char *name)
{
	size_t length = strlen(name);
	return length > sizeof suffix - 1 && strcmp(name + length - (sizeof suffix - 1), suffix) == 0;
}

const char *const *conf_names(void) { return machine_file_names; }

/* The last part of the path without ".conf". */
static char *machine_name_of(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	size_t length = strlen(last);
	return arena_strndup(arena, last, has_suffix(last) ? length - (sizeof suffix - 1) : length);
}

bool conf_text_of_file(const char *path, struct arena *arena, struct conf_text *out, struct error *err)
{
	struct stat at;
	if (stat(path, &at) != 0) {
		int os_errno = errno;
		error_set_errno(err,
				os_errno == ENOENT || os_errno == ENOTDIR ? ERROR_NOT_FOUND : ERROR_PERMISSION,
				os_errno, "cannot read the machine file '%s'", path);
		return error_hint(err, "'tare list machines' lists the machines that need no file");
	}
	if (!S_ISREG(at.st_mode)) {
		error_set(err, ERROR_USAGE, "'%s' is %s, not a machine file", path,
			  S_ISDIR(at.st_mode) ? "a directory" : "not a regular file");
		return error_hint(err, "name a text file in the format of tare-machines(5)");
	}
	if (at.st_size > MACHINE_FILE_BYTES_MAX) {
		error_set(err, ERROR_LIMIT, "'%s' has %lld bytes: a machine file has at most %d", path,
			  (long long)at.st_size, MACHINE_FILE_BYTES_MAX);
		return error_hint(err, "is it the right file? a machine takes a few hundred lines");
	}
	size_t length;
	char *text = file_read(path, MACHINE_FILE_BYTES_MAX, &length, err);
	if (!text)
		return false;
	const char *slash = strrchr(path, '/');
	*out = (struct conf_text){
		.length = length,
		.shown = arena_strdup(arena, path),
		.identity = arena_printf(arena, "%llx:%llx", (unsigned long long)at.st_dev,
					 (unsigned long long)at.st_ino),
		.folder = slash ? arena_strndup(arena, path, (size_t)(slash - path) + 1)
				: arena_strdup(arena, "./"),
		.name = machine_name_of(arena, path),
	};
	char *kept = arena_alloc(arena, length + 1);
	if (kept)
		memcpy(kept, text, length);
	out->text = kept;
	free(text);
	return (kept && out->shown && out->identity && out->folder && out->name) || error_no_memory(err);
}

static bool this_machine(struct arena *arena, struct conf_text *out, struct error *err)
{
	struct host_probe probe;
	struct str text = {0};
	host_probe_here(&probe);
	if (!host_write_conf(&probe, &text, err)) {
		str_free(&text);
		return false;
	}
	*out = (struct conf_text){
		.length = text.length, .shown = "this machine", .identity = "this machine", .name = generated};
	out->text = text.failed ? NULL : arena_strndup(arena, text.text, text.length);
	str_free(&text);
	return out->text || error_no_memory(err);
}

/* name with or without ".conf"; false without an error when there is none. */
static bool embedded(const char *name, struct arena *arena, struct conf_text *out)
{
	size_t length = has_suffix(name) ? strlen(name) - (sizeof suffix - 1) : strlen(name);
	for (const struct embedded_file *file = machine_files; file->name; file++) {
		if (strncmp(file->name, name, length) != 0 || strcmp(file->name + length, suffix) != 0)
			continue;
		/* constants: the name alone needs memory, and without it none of this is anything */
		*out = (struct conf_text){file->text, file->length, file->name,
					  file->name, NULL,         machine_name_of(arena, file->name)};
		return out->name != NULL;
	}
	return false;
}

bool conf_text_named(const char *name, struct arena *arena, struct conf_text *out, struct error *err)
{
	if (strcmp(name, generated) == 0)
		return this_machine(arena, out, err);
	struct nearest found = {0};
	for (const char *const *known = machine_file_names; *known; known++) {
		/* there are files without a name of their own, to be extended: host.conf, recent.conf */
		if (strcmp(*known, name) == 0 && embedded(name, arena, out))
			return true;
		nearest_consider(&found, name, *known);
	}
	static const char all[] = "'tare list machines' lists all; a file is named by a path with '/' or '.conf'";
	error_set(err, ERROR_NOT_FOUND, "no machine is called '%.100s'", name);
	/* what shares less than half of its letters is not a slip */
	if (!found.names[0] || found.distances[0] * 2 > strlen(name))
		return error_hint(err, "%s", all);
	return error_hint(err, "did you mean '%s'? %s", found.names[0], all);
}

static bool is_file(const char *path)
{
	struct stat at;
	return stat(path, &at) == 0;
}

bool conf_text_extended(const char *name, const struct conf_text *from, struct arena *arena, struct conf_text *out,
			struct error *err)
{
	if (strcmp(name, generated) == 0)
		return this_machine(arena, out, err);
	bool absolute = *name == '/';
	for (int with = 0; from->folder && with < 2; with++) {
		const char *path = arena_printf(arena, "%s%s%s", absolute ? "" : from->folder, name,
						with ? suffix : "");
		if (!path)
			return error_no_memory(err);
		/* the bare name of a folder or program beside it is not meant */
		if (!has_suffix(path) || !is_file(path))
			continue;
		if (!conf_text_of_file(path, arena, out, err))
			return false;
		/* one's own r12000.conf may extend the r12000 that it is named after */
		struct conf_text other;
		if (strcmp(out->identity, from->identity) == 0 && embedded(name, arena, &other))
			*out = other;
		return true;
	}
	if (!strchr(name, '/') && embedded(name, arena, out))
		return true;
	if (strchr(name, '/')) {
		error_set(err, ERROR_NOT_FOUND, "there is no file '%.200s'", name);
		return error_hint(err,
				  "a path begins at the folder of the file that has the 'extends', or with '/'");
	}
	return conf_text_named(name, arena, out, err);
}
