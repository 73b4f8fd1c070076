#include "trust/helper_programs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* From the folder of the command: an installation's, a build's. */
static const char *const folders[] = {"../libexec/tare/kernels", "../../kernels", "../kernels"};

static char *there(const char *folder, const char *between, const char *name)
{
	char *path = NULL;
	if (asprintf(&path, "%s%s/%s", folder, between, name) < 0)
		return NULL;
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

char *helper_kernel(const char *name, struct error *err)
{
	char own[PATH_MAX + 1], *path = NULL;
	const char *given = getenv("TARE_KERNELS");
	ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
	if (given && *given)
		path = there(given, "", name);
	if (!path && length > 0) {
		own[length] = '\0';
		char *slash = strrchr(own, '/');
		if (slash)
			slash[1] = '\0';
		for (size_t i = 0; !path && slash && i < sizeof folders / sizeof *folders; i++)
			path = there(own, folders[i], name);
	}
	if (!path) {
		error_set(err, ERROR_NOT_FOUND, "the program '%s' that belongs to tare is not there", name);
		error_hint(err, "install tare as a whole, or name the folder of its kernels in TARE_KERNELS");
	}
	return path;
}
