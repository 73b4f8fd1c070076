/* "pmu/term,term=value/" by the kernel's tables (Documentation/ABI/testing/sysfs-bus-event_source-devices-*):
 * type holds the number of the PMU; format/TERM which bits a term fills ("config:0-7,32-35"); events/TERM a list
 * of terms by one name, whose counts × events/TERM.scale are in units of events/TERM.unit.
 *
 * 1. A later term wins over an earlier one, as with perf.
 * 2. A value that does not fit its bits is an error: cut, it would be another event. */
#include "event/sysfs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/str.h"

enum {
	TERMS_MOST = 512, /* bytes of a file in events/ */
	PATH_BYTES_MOST = 4096,
};

struct encoder {
	const char *root, *pmu; /* a folder */
	const char *name;       /* the whole, for messages */
	struct event_encoding *out;
	unsigned aliases; /* how many of the terms came from events/ */
};

static bool is_part(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		char c = text[i];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
		      c == '-' || (c == '.' && i > 0)))
			return false;
	}
	return length > 0;
}

bool sysfs_check_form(const char *name, struct error *err)
{
	const char *open = strchr(name, '/');
	const char *close = open ? strchr(open + 1, '/') : NULL;
	if (!open || !close || close[1] || !is_part(name, (size_t)(open - name))) {
		error_set(err, ERROR_USAGE, "'%s' is not of the form pmu/term,term=value/", name);
		return error_hint(err, "as in 'cpu/event=0x3c,umask=0/' or 'msr/tsc/'");
	}
	for (const char *term = open + 1; term <= close;) {
		size_t length = strcspn(term, ",/");
		const char *equals = memchr(term, '=', length);
		size_t key = equals ? (size_t)(equals - term) : length;
		if (!is_part(term, key) || (equals && key + 1 == length))
			return error_set(err, ERROR_USAGE, "'%.*s' is not a term, in '%s'", (int)length, term,
					 name);
		term += length + 1;
	}
	return true;
}

/* The file's text without white space around it, for the caller to free; NULL when it is not there. */
static char *read_small(const struct encoder *e, const char *folder, const char *file, const char *suffix)
{
	char path[PATH_BYTES_MOST];
	int length = snprintf(path, sizeof path, "%s/%s%s%s%s%s", e->root, e->pmu, folder ? "/" : "",
			      folder ? folder : "", "/", file);
	if (length < 0 || (size_t)length + strlen(suffix) >= sizeof path)
		return NULL;
	strcat(path, suffix);
	char *text = file_read(path, TERMS_MOST, NULL, NULL);
	if (text) {
		char *trimmed = str_trim(text);
		memmove(text, trimmed, strlen(trimmed) + 1);
	}
	return text;
}

/* Puts value into the bits that a format such as "config1:0-7,32" names, lowest first. */
static bool fill_bits(const struct encoder *e, const char *term, const char *format, uint64_t value,
		      struct error *err)
{
	uint64_t *config = strncmp(format, "config:", 7) == 0    ? &e->out->config
			   : strncmp(format, "config1:", 8) == 0 ? &e->out->config1
			   : strncmp(format, "config2:", 8) == 0 ? &e->out->config2
								 : NULL;
	if (!config)
		return error_set(err, ERROR_UNSUPPORTED,
				 "tare cannot fill the term '%s' of '%s': its format is '%s'", term, e->name,
				 format);
	uint64_t rest = value;
	for (const char *c = strchr(format, ':'); *c;) {
		char *end;
		unsigned long low = strtoul(c + 1, &end, 10);
		unsigned long high = low;
		bool number = end != c + 1;
		if (*end == '-') {
			const char *second = end + 1;
			high = strtoul(second, &end, 10);
			number = number && end != second;
		}
		if (!number || low > high || high > 63 || (*end && *end != ','))
			return error_set(err, ERROR_UNSUPPORTED, "the format '%s' of '%s' is not understood",
					 format, term);
		unsigned width = (unsigned)(high - low) + 1;
		uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
		*config = (*config & ~(mask << low)) | (rest & mask) << low;
		rest = width == 64 ? 0 : rest >> width;
		c = end;
	}
	if (rest)
		return error_set(err, ERROR_USAGE, "0x%llx does not fit the term '%s' of '%s' (%s)",
				 (unsigned long long)value, term, e->name, format);
	return true;
}

static bool add_terms(struct encoder *e, char *terms, bool from_alias, struct error *err);

/* A name of events/: its terms, scale and unit. */
static bool add_alias(struct encoder *e, const char *term, char *terms, struct error *err)
{
	if (!add_terms(e, terms, true, err))
		return false;
	e->aliases++;
	char *scale = read_small(e, "events", term, ".scale");
	double factor = 1;
	bool done = !scale || (str_to_double(scale, &factor) && factor > 0);
	if (!done)
		error_set(err, ERROR_UNSUPPORTED, "the scale '%s' of '%s' is not a number above 0", scale,
			  e->name);
	e->out->scale *= factor;
	free(scale);
	return done;
}

/* Considers the files of a folder; their names are kept in the arena. */
static void consider_files(const struct encoder *e, const char *folder, const char *term, struct arena *arena,
			   struct nearest *found)
{
	char path[PATH_BYTES_MOST];
	int length = snprintf(path, sizeof path, "%s/%s/%s", e->root, e->pmu, folder);
	DIR *dir = length > 0 && (size_t)length < sizeof path ? opendir(path) : NULL;
	for (struct dirent *file; dir && (file = readdir(dir));) {
		/* "energy-pkg.scale" is about "energy-pkg" */
		const char *name = strchr(file->d_name, '.') ? NULL : arena_strdup(arena, file->d_name);
		if (name)
			nearest_consider(found, term, name);
	}
	if (dir)
		closedir(dir);
}

static bool unknown_term(const struct encoder *e, const char *term, struct error *err)
{
	struct arena arena = {0};
	struct nearest found = {0};
	consider_files(e, "format", term, &arena, &found);
	consider_files(e, "events", term, &arena, &found);
	error_set(err, ERROR_UNSUPPORTED, "the PMU '%s' has no term or event '%s' on this machine", e->pmu, term);
	const char *const *n = found.names;
	if (n[0])
		error_hint(err, "the nearest of its names %s '%s'%s%s%s%s%s%s", n[1] ? "are" : "is", n[0],
			   n[1] ? ", '" : "", n[1] ? n[1] : "", n[1] ? "'" : "", n[2] ? ", '" : "",
			   n[2] ? n[2] : "", n[2] ? "'" : "");
	arena_free(&arena);
	return false;
}

static bool add_term(struct encoder *e, const char *term, const char *value, bool from_alias, struct error *err)
{
	unsigned long long number = 1;
	if (value && !str_to_u64(value, &number)) {
		if (from_alias && strchr(value, '?')) {
			error_set(err, ERROR_USAGE, "'%s' needs a value for its term '%s'", e->name, term);
			return error_hint(err, "add it, as in '%s=1'", term);
		}
		return error_set(err, ERROR_USAGE, "'%s' is not a number, in '%s'", value, e->name);
	}
	static const char *const whole[] = {"config", "config1", "config2"};
	for (int i = 0; i < 3; i++) {
		if (value && strcmp(term, whole[i]) == 0) {
			*(i == 0 ? &e->out->config : i == 1 ? &e->out->config1 : &e->out->config2) = number;
			return true;
		}
	}
	char *format = read_small(e, "format", term, "");
	if (format) {
		bool done = fill_bits(e, term, format, number, err);
		free(format);
		return done;
	}
	char *terms = from_alias || value ? NULL : read_small(e, "events", term, "");
	if (terms) {
		bool done = add_alias(e, term, terms, err);
		free(terms);
		return done;
	}
	return unknown_term(e, term, err);
}

static bool add_terms(struct encoder *e, char *terms, bool from_alias, struct error *err)
{
	for (char *term; (term = strsep(&terms, ","));) {
		char *value = strchr(term, '=');
		if (value)
			*value++ = '\0';
		if (!is_part(term, strlen(term)))
			return error_set(err, ERROR_UNSUPPORTED,
					 "'%s' is not a term, in the kernel's table of '%s'", term, e->name);
		if (!add_term(e, term, value, from_alias, err))
			return false;
	}
	return true;
}

bool sysfs_encode(const char *name, const char *root, struct event_encoding *out, struct error *err)
{
	if (!sysfs_check_form(name, err))
		return false;
	char *copy = strdup(name);
	if (!copy)
		return error_no_memory(err);
	char *terms = strchr(copy, '/');
	*terms++ = '\0';
	*strchr(terms, '/') = '\0';

	struct encoder e = {.root = root, .pmu = copy, .name = name, .out = out};
	unsigned long long type;
	bool done = false;
	char *type_text = read_small(&e, NULL, "type", "");
	if (!type_text)
		error_set(err, ERROR_UNSUPPORTED, "this kernel has no PMU '%s'", copy);
	else if (!str_to_u64(type_text, &type) || type > UINT32_MAX)
		error_set(err, ERROR_UNSUPPORTED, "the type '%s' of the PMU '%s' is not a number", type_text,
			  copy);
	else
		done = add_terms(&e, terms, false, err);
	if (done) {
		out->type = (uint32_t)type;
		/* two scales of one count have no meaning */
		if (e.aliases > 1)
			done = error_set(err, ERROR_USAGE, "'%s' names more than one event", name);
	}
	free(type_text);
	free(copy);
	return done;
}
