/* Where a calibration is kept, and how it gets there whole. See calibration.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "store/calibration/calibration.h"

enum { FILE_MOST_BYTES = 8 << 20 };

static const char *set_variable(const char *name)
{
	const char *value = secure_getenv(name);
	return value && *value ? value : NULL;
}

char *calibration_path(struct error *err)
{
	struct utsname names;
	struct str path = {0};
	const char *given = set_variable("TARE_CALIBRATION"), *data = set_variable("XDG_DATA_HOME"),
		   *home = set_variable("HOME");
	if (given && strcmp(given, "none") == 0) {
		error_set(err, ERROR_NOT_FOUND, "calibrations are switched off (TARE_CALIBRATION=none)");
		return NULL;
	}
	if (given) {
		str_append(&path, given);
		goto out;
	}
	if (data && *data == '/') /* the XDG Base Directory Specification: relative ones are to be ignored */
		str_appendf(&path, "%s/tare/calibration", data);
	else if (home && *home == '/')
		str_appendf(&path, "%s/.local/share/tare/calibration", home);
	else {
		error_set(err, ERROR_NOT_FOUND, "there is no place for calibrations: HOME is not set");
		error_hint(err, "set TARE_CALIBRATION to a file");
		return NULL;
	}
	if (uname(&names) == 0 && names.nodename[0] && !strchr(names.nodename, '/'))
		str_appendf(&path, ".%s", names.nodename);
out:
	if (path.failed) {
		error_no_memory(err);
		str_free(&path);
		return NULL;
	}
	return str_take(&path);
}

bool calibration_load(const char *path, struct calibration *c, struct error *err)
{
	size_t length;
	*c = (struct calibration){0};
	char *text = file_read(path, FILE_MOST_BYTES, &length, err);
	bool done = text && calibration_parse(text, length, path, c, err);
	free(text);
	return done;
}

bool calibration_save(const char *path, struct calibration *c, struct error *err)
{
	struct str text = {0};
	bool done = calibration_write(c, &text, err) && file_make_folders(path, 0777, err) &&
		    file_replace(path, text.text, text.length, err);
	str_free(&text);
	return done;
}
