#include "vm/counted.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/truth.h"

enum { ARGUMENTS_MOST = 64 };

bool in_guest(void)
{
	return getenv("TARE_IN_GUEST") != NULL;
}

const char *no_pmu(void)
{
	struct perf_event_attr attr = { .size = sizeof attr,
					.type = PERF_TYPE_HARDWARE,
					.config = PERF_COUNT_HW_INSTRUCTIONS,
					.disabled = 1,
					.exclude_kernel = 1,
					.exclude_hv = 1 };
	if (in_guest())
		return NULL;
	if (!getenv("TARE") || !getenv("TARE_KERNELS"))
		return "TARE and TARE_KERNELS say where the command and the kernels are; they are not set";
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? "this machine has no PMU (the guest's tests stand for it)"
				       : strerror(errno);
	close(fd);
	return NULL;
}

char *kernel(const char *name)
{
	enum { PATHS = 8 };
	static char paths[PATHS][4096];
	static unsigned next;
	char *path = paths[next++ % PATHS];
	snprintf(path, sizeof paths[0], "%s/%s", getenv("TARE_KERNELS"), name);
	return path;
}

static void truth_path(const char *name, char path[4096])
{
	const char *folder = getenv("TARE_TRUTHS") ? getenv("TARE_TRUTHS") : getenv("TARE_KERNELS");
	snprintf(path, 4096, "%s/%s.truth", folder, name);
}

bool kernel_missing(const char *name)
{
	struct arena arena = { 0 };
	char path[4096];
	truth_path(name, path);
	bool missing = truth_missing(path, &arena) != NULL;
	arena_free(&arena);
	return missing;
}

uint64_t predicted(const char *name, const char *event, uint64_t n)
{
	struct arena arena = { 0 };
	const struct truth *rows;
	size_t n_rows;
	char path[4096];
	uint64_t value = UINT64_MAX;
	truth_path(name, path);
	if (truth_read(path, &arena, &rows, &n_rows, NULL))
		for (size_t i = 0; i < n_rows; i++)
			if (strcmp(rows[i].event, event) == 0 && !truth_value(&rows[i], n, &value, NULL))
				value = UINT64_MAX;
	arena_free(&arena);
	return value;
}

struct started {
	pid_t pid;
	int errors;      /* reads its standard error */
	char report[64]; /* "" when it writes none */
};

struct started *tare_start(uid_t uid, const char *const *args)
{
	static unsigned number;
	struct started *s = calloc(1, sizeof *s);
	const char *argv[ARGUMENTS_MOST] = { getenv("TARE") };
	int pipe_fds[2];
	size_t n = 1;
	if (!s || pipe2(pipe_fds, O_CLOEXEC))
		abort();
	size_t first = 0;
	if (strcmp(args[0], "count") == 0) {
		snprintf(s->report, sizeof s->report, "/tmp/tare-test-%d-%u", (int)getpid(), number++);
		argv[n++] = args[first++];
		argv[n++] = "--json";
		argv[n++] = "-o";
		argv[n++] = s->report;
	}
	for (size_t i = first; args[i]; i++) {
		if (n + 1 >= ARGUMENTS_MOST)
			abort();
		argv[n++] = args[i];
	}
	s->pid = fork();
	if (s->pid == 0) {
		dup2(open("/dev/null", O_RDONLY), 0);
		dup2(pipe_fds[1], 2);
		dup2(pipe_fds[1], 1);
		if (uid && (setgid(uid) || setuid(uid)))
			_exit(126);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(pipe_fds[1]);
	s->errors = pipe_fds[0];
	return s;
}

pid_t tare_pid(const struct started *started)
{
	return started->pid;
}

bool tare_counts(const struct started *started, size_t n)
{
	char path[64], link[64], target[64];
	snprintf(path, sizeof path, "/proc/%d/fd", (int)started->pid);
	for (int tries = 0; tries < 400; tries++) {
		size_t counters = 0;
		DIR *fds = opendir(path);
		for (struct dirent *entry; fds && (entry = readdir(fds));) {
			snprintf(link, sizeof link, "%.30s/%.20s", path, entry->d_name);
			ssize_t length = readlink(link, target, sizeof target - 1);
			target[length < 0 ? 0 : length] = '\0';
			counters += strstr(target, "perf_event") != NULL;
		}
		if (fds)
			closedir(fds);
		if (counters >= n) {
			usleep(100000); /* from opened to started */
			return true;
		}
		usleep(10000);
	}
	return false;
}

struct counted *tare_wait(struct started *s)
{
	struct counted *c = calloc(1, sizeof *c);
	char buffer[4096];
	size_t length = 0;
	int status;
	if (!c)
		abort();
	for (ssize_t got; (got = read(s->errors, buffer, sizeof buffer)) > 0;) {
		c->said = realloc(c->said, length + (size_t)got + 1);
		if (!c->said)
			abort();
		memcpy(c->said + length, buffer, (size_t)got);
		length += (size_t)got;
		c->said[length] = '\0';
	}
	close(s->errors);
	if (!c->said)
		c->said = strdup("");
	waitpid(s->pid, &status, 0);
	c->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	if (s->report[0]) {
		c->report = json_load_file(s->report, 0, NULL);
		unlink(s->report);
	}
	free(s);
	return c;
}

struct counted *tare_as(uid_t uid, const char *const *args)
{
	return tare_wait(tare_start(uid, args));
}

struct counted *tare_run(const char *arg, ...)
{
	const char *args[ARGUMENTS_MOST] = { arg };
	size_t n = 1;
	va_list list;
	va_start(list, arg);
	while (n + 1 < ARGUMENTS_MOST && (args[n] = va_arg(list, const char *)))
		n++;
	va_end(list);
	return tare_as(0, args);
}

void counted_free(struct counted *c)
{
	if (c) {
		json_decref(c->report);
		free(c->said);
		free(c);
	}
}

json_t *row_of(const struct counted *c, const char *event, pid_t thread)
{
	json_t *results = json_object_get(c->report, "results"), *row;
	size_t i;
	json_array_foreach(results, i, row)
	{
		const char *name = json_string_value(json_object_get(row, "event"));
		pid_t tid = (pid_t)json_integer_value(json_object_get(row, "tid"));
		if (name && strcmp(name, event) == 0 && tid == thread)
			return row;
	}
	return NULL;
}

static double number(json_t *row, const char *key)
{
	json_t *value = json_object_get(row, key);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text(json_t *row, const char *key)
{
	const char *value = json_string_value(json_object_get(row, key));
	return value ? value : "";
}

struct row thread_row(const struct counted *c, const char *event, pid_t thread)
{
	json_t *json = row_of(c, event, thread);
	struct row row = {
		.known = json_is_number(json_object_get(json, "value")),
		.has_interval = json_is_number(json_object_get(json, "confidence")),
		.value = number(json, "value"),
		.low = number(json, "low"),
		.high = number(json, "high"),
		.share_running = number(json, "share_running"),
		.source = text(json, "source"),
		.why = text(json, "why"),
	};
	if (row.has_interval && isnan(row.high))
		row.high = INFINITY;
	if (row.has_interval && isnan(row.low))
		row.low = -INFINITY;
	return row;
}

struct row event_row(const struct counted *c, const char *event)
{
	return thread_row(c, event, 0);
}

bool agrees_with_faults(double count, double truth, double page_faults)
{
	return in_guest() ? count == truth : count >= truth && count <= truth + page_faults + 100 + truth / 1000;
}

bool agrees(double count, double truth)
{
	return agrees_with_faults(count, truth, 0);
}
