#include "session/output_name.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/str.h"

/* A host may call itself anything; a file's name has no '/'. */
static void append_host(struct str *text)
{
	struct utsname host;
	for (const char *c = uname(&host) == 0 ? host.nodename : "unknown"; *c; c++)
		str_append_char(text, *c == '/' || (unsigned char)*c <= ' ' ? '_' : *c);
}

static bool append_place(struct str *text, char letter, const char *pattern, const struct rank_place *place,
			 struct error *err)
{
	switch (letter) {
	case '%': str_append_char(text, '%'); return true;
	case 'h': append_host(text); return true;
	case 'p': str_appendf(text, "%ld", (long)getpid()); return true;
	case 'r':
		if (place->launcher) {
			str_appendf(text, "%zu", place->rank);
			return true;
		}
		error_set(err, ERROR_USAGE, "'%s': %%r is the rank, and this is not a rank of several", pattern);
		return error_hint(err, "mpirun, srun and the like start ranks; %%p is tare's process");
	default:
		error_set(err, ERROR_USAGE, "'%s': '%%' is followed by none of r, h, p and %%", pattern);
		return error_hint(err,
				  "%%r is the rank, %%h the host, %%p tare's process; %%%% is a percent sign");
	}
}

const char *output_name(const char *pattern, const struct rank_place *place, struct arena *arena,
			struct error *err)
{
	struct str text = {0};
	bool done = true;
	for (const char *c = pattern; *c && done; c++) {
		if (*c == '%')
			done = append_place(&text, *++c, pattern, place, err);
		else
			str_append_char(&text, *c);
		if (!*c)
			break;
	}
	const char *name = done && !text.failed ? arena_strdup(arena, text.text ? text.text : "") : NULL;
	if (done && !name)
		error_no_memory(err);
	str_free(&text);
	return name;
}

bool output_name_is_own(const char *pattern)
{
	for (const char *c = pattern; c && (c = strchr(c, '%')); c += c[1] ? 2 : 1)
		if (c[1] == 'r' || c[1] == 'p')
			return true;
	return false;
}
