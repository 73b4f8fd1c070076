/* Where tables of costs are: inside the command, in files. See costs.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/embedded.h"
#include "base/file.h"
#include "explain/costs.h"

extern const struct embedded_file cost_files[];

static const char SUFFIX[] = ".costs";
enum { FILE_MOST_BYTES = 1 << 20 };

void costs_names(const char *between, struct str *out)
{
	for (const struct embedded_file *file = cost_files; file->name; file++)
		str_appendf(out, "%s%.*s", out->length ? between : "",
			    (int)(strlen(file->name) - (sizeof SUFFIX - 1)), file->name);
}

bool costs_named(const char *machine, struct costs *out, struct error *err)
{
	for (const struct embedded_file *file = cost_files; file->name; file++) {
		size_t length = strlen(file->name) - (sizeof SUFFIX - 1);
		if (strlen(machine) == length && memcmp(machine, file->name, length) == 0)
			return costs_parse(file->text, file->length, file->name, out, err);
	}
	struct str names = {0};
	costs_names(", ", &names);
	*out = (struct costs){0};
	error_set(err, ERROR_NOT_FOUND, "no costs are known of the machine '%s'", machine);
	error_hint(err, "there are those of %s; --costs FILE takes your own",
		   names.text && !names.failed ? names.text : "none");
	str_free(&names);
	return false;
}

bool costs_load(const char *path, struct costs *out, struct error *err)
{
	size_t length;
	char *text = file_read(path, FILE_MOST_BYTES, &length, err);
	*out = (struct costs){0};
	bool done = text && costs_parse(text, length, path, out, err);
	free(text);
	return done;
}

static const char *set_variable(const char *name)
{
	const char *value = secure_getenv(name);
	return value && *value ? value : NULL;
}

char *costs_path(struct error *err)
{
	struct utsname names;
	struct str path = {0};
	const char *given = set_variable("TARE_COSTS"), *data = set_variable("XDG_DATA_HOME"),
		   *home = set_variable("HOME");
	if (given && strcmp(given, "none") == 0) {
		error_set(err, ERROR_NOT_FOUND, "costs are switched off (TARE_COSTS=none)");
		return NULL;
	}
	if (given) {
		str_append(&path, given);
	} else if (data && *data == '/') {
		str_appendf(&path, "%s/tare/costs", data);
	} else if (home && *home == '/') {
		str_appendf(&path, "%s/.local/share/tare/costs", home);
	} else {
		error_set(err, ERROR_NOT_FOUND, "there is no place for costs: HOME is not set");
		error_hint(err, "set TARE_COSTS to a file");
		return NULL;
	}
	if (!given && uname(&names) == 0 && names.nodename[0] && !strchr(names.nodename, '/'))
		str_appendf(&path, ".%s", names.nodename);
	if (path.failed) {
		error_no_memory(err);
		str_free(&path);
		return NULL;
	}
	return str_take(&path);
}

bool costs_kept(const char *cpu, const char *kernel, struct costs *out, bool *off, char *why, size_t why_bytes)
{
	struct error err = {0};
	char *path = costs_path(&err);
	*off = !path;
	*out = (struct costs){0};
	*why = 0;
	bool done = path && costs_load(path, out, &err);
	if (!done && (!path || err.code != ERROR_NOT_FOUND))
		snprintf(why, why_bytes, "%s", err.text);
	free(path);
	if (done && !costs_fit(out, cpu, kernel, why, why_bytes)) {
		costs_free(out);
		return false;
	}
	return done;
}

bool costs_save(const char *path, struct costs *costs, struct error *err)
{
	struct str text = {0};
	bool done = costs_write(costs, &text, err) && file_make_folders(path, 0777, err) &&
		    file_replace(path, text.text, text.length, err);
	str_free(&text);
	return done;
}
