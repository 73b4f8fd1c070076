#include "symbol/debuginfod.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* DEBUGINFOD_TIMEOUT's own default is 90 s, for 100 KB. */
enum { SILENT_S = 20 };

static const char silent[] = "the server sent nothing for too long";

/* Against a server without end: the debug file of the largest browser has 5 GB. */
#define FILE_MOST (16ll << 30)

struct debug_servers {
	bool (*progress)(void *context, const char *module, uint64_t bytes_done, uint64_t bytes_total);
	void *progress_context;
	struct clock clock;
	bool loaded; /* or tried to */
	debuginfod_client *client;
	__typeof__(debuginfod_find_debuginfo) *find;
	__typeof__(debuginfod_end) *end;
	char dead[256]; /* why nothing is asked any more; "" */
	/* of one fetch */
	const char *module;
	long done_bytes;
	uint64_t silent_ns, silent_since_ns;
	const char *ended; /* why it was ended here; NULL */
};

bool debug_servers_new(const struct symbols_options *options, struct debug_servers **out)
{
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR), *timeout = getenv(DEBUGINFOD_TIMEOUT_ENV_VAR);
	*out = NULL;
	if (!options || !options->debuginfod || !urls || !urls[strspn(urls, " ")])
		return true;
	struct debug_servers *s = *out = calloc(1, sizeof *s);
	if (!s)
		return false;
	long seconds = timeout ? atol(timeout) : SILENT_S;
	s->silent_ns = (uint64_t)(seconds > 0 && seconds < 86400 ? seconds : SILENT_S) * 1000000000u;
	s->clock = clock_monotonic();
	s->progress = options->progress;
	s->progress_context = options->progress_context;
	return true;
}

void debug_servers_free(struct debug_servers *s)
{
	if (s && s->client)
		s->end(s->client);
	free(s);
}

/* ---- the library ---- */

/* Called by the library about once a second while it waits, and when there is more. It gives its client only:
 * whose that is, the library knows. */
static int go_on(debuginfod_client *client, long done, long total)
{
	void *library = dlopen(DEBUGINFOD_SONAME, RTLD_LAZY | RTLD_NOLOAD);
	__typeof__(debuginfod_get_user_data) *user_data = library ? dlsym(library, "debuginfod_get_user_data")
								  : NULL;
	struct debug_servers *s = user_data ? user_data(client) : NULL;
	if (library)
		dlclose(library); /* once of two times */
	if (!s)
		return 0;
	uint64_t now_ns = clock_now_ns(&s->clock);
	if (done != s->done_bytes)
		s->done_bytes = done, s->silent_since_ns = now_ns;
	if (now_ns - s->silent_since_ns > s->silent_ns)
		s->ended = silent;
	else if (done > FILE_MOST)
		s->ended = "the server sent more than any debug file has";
	else if (s->progress && !s->progress(s->progress_context, s->module, done > 0 ? (uint64_t)done : 0,
					     total > 0 ? (uint64_t)total : 0))
		s->ended = "it was ended";
	return s->ended != NULL;
}

/* False: s->dead says why. The library stays loaded, as HTTP and TLS libraries have to. */
static bool load(struct debug_servers *s)
{
	if (s->loaded)
		return s->client;
	s->loaded = true;
	void *library = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	__typeof__(debuginfod_begin) *begin = library ? dlsym(library, "debuginfod_begin") : NULL;
	__typeof__(debuginfod_set_progressfn) *set_progress = library ? dlsym(library, "debuginfod_set_progressfn")
								      : NULL;
	__typeof__(debuginfod_set_user_data) *set_data = library ? dlsym(library, "debuginfod_set_user_data")
								 : NULL;
	s->find = library ? dlsym(library, "debuginfod_find_debuginfo") : NULL;
	s->end = library ? dlsym(library, "debuginfod_end") : NULL;
	if (begin && set_progress && set_data && s->find && s->end && (s->client = begin())) {
		set_data(s->client, s);
		set_progress(s->client, go_on);
		return true;
	}
	snprintf(s->dead, sizeof s->dead, "%s",
		 library ? "libdebuginfod does not start"
			 : "libdebuginfod is not installed (package libdebuginfod1)");
	return false;
}

/* ---- one file ---- */

static bool refuse(char why[256], const char *reason)
{
	snprintf(why, 256, "%s", reason);
	return false;
}

bool debug_servers_fetch(struct debug_servers *s, const struct module *m, struct elf_file *out, char why[256])
{
	size_t bytes, found_bytes;
	char *path = NULL;
	const void *id = elf_file_build_id(&m->file, &bytes), *found;
	*out = (struct elf_file){.fd = -1};
	if (!id)
		return refuse(why, "it has no build ID to ask debuginfod servers by");
	if (s->dead[0] || !load(s))
		return refuse(why, s->dead);
	s->module = m->path;
	s->ended = NULL;
	s->done_bytes = -1;
	s->silent_since_ns = clock_now_ns(&s->clock);
	int fd = s->find(s->client, id, (int)bytes, &path);
	if (fd == -ENOENT && !s->ended) /* others may be there */
		return refuse(why, "no debuginfod server has it");
	if (fd < 0) {
		struct error err;
		error_set_errno(&err, ERROR_IO, -fd, "debuginfod");
		if (fd == -ETIME && !s->ended) /* the library's own limit */
			s->ended = silent;
		snprintf(s->dead, sizeof s->dead, s->ended ? "debuginfod: %.200s" : "%.200s",
			 s->ended ? s->ended : err.text);
		return refuse(why, s->dead);
	}
	close(fd);
	bool opened = elf_file_open(path, out, NULL);
	found = opened ? elf_file_build_id(out, &found_bytes) : NULL;
	bool fits = found && found_bytes == bytes && memcmp(found, id, bytes) == 0;
	if (!fits) {
		snprintf(why, 256, "what a debuginfod server sent is not its debug file: remove '%.150s'", path);
		elf_file_close(out);
	}
	free(path);
	return fits;
}
