#include "symbol/jit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "symbol/jit_lines.h"

enum {
	CHUNK = 1 << 16,
	LINE_MOST = JIT_NAME_MOST + 64,
	STATUS_MOST = 1 << 16,
	TAIL = 64, /* bytes before what is new: are they still the same, the file grew */
	OLD_S = 2, /* a file may seem that much older than it is: the clock was set, times are coarse */
};

/* Against files that lie: node after hours of work has some ten MB. */
#define FILE_MOST (512ll << 20)

struct jit_names {
	struct jit_lines lines;
	char path[PATH_MAX]; /* as messages say it */
	/* of a process; -1 of a file by its name, which is not checked */
	int folder;
	char file[40];
	pid_t pid;
	uid_t user;
	int64_t started_unix; /* 0: not known */
	/* what was read */
	bool seen;
	struct stat status;
	off_t taken; /* up to the end of the last whole line */
	char tail[TAIL];
	size_t tail_bytes;
	char trouble[640], shown[640];
};

static void trouble(struct jit_names *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void trouble(struct jit_names *j, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(j->trouble, sizeof j->trouble, format, args);
	va_end(args);
}

/* ---- the process ---- */

/* The value of a line of /proc/PID/status, as many-th number of it, last: the last one. */
static bool status_number(const char *status, const char *key, unsigned nth, bool last, unsigned long *out)
{
	const char *at = strstr(status, key);
	bool any = false;
	if (!at)
		return false;
	at += strlen(key);
	for (unsigned i = 0;; i++) {
		char *end;
		at += strspn(at, " \t");
		if (*at < '0' || *at > '9')
			return any;
		unsigned long number = strtoul(at, &end, 10);
		if (last || i == nth)
			*out = number, any = true;
		if (i == nth && !last)
			return true;
		at = end;
	}
}

/* Its user, and its number in its own namespace. False: it has ended. */
static bool read_status(pid_t pid, uid_t *user, pid_t *own_number)
{
	char path[64];
	unsigned long number;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	char *status = file_read(path, STATUS_MOST, NULL, NULL);
	if (!status)
		return false;
	if (status_number(status, "\nUid:", 1, false, &number)) /* real, effective, … */
		*user = (uid_t)number;
	if (status_number(status, "\nNSpid:", 0, true, &number)) /* outermost namespace … innermost */
		*own_number = (pid_t)number;
	free(status);
	return true;
}

/* When it started, by the real-time clock; 0: not known. proc_pid_stat(5), field 22, after the name in
 * parentheses. */
static int64_t start_of(pid_t pid)
{
	char path[64];
	struct timespec real, boot;
	unsigned long long ticks;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	char *stat = file_read(path, STATUS_MOST, NULL, NULL);
	const char *behind = stat ? strrchr(stat, ')') : NULL;
	bool known = behind &&
		     sscanf(behind + 1,
			    " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
			    &ticks) == 1 &&
		     clock_gettime(CLOCK_REALTIME, &real) == 0 && clock_gettime(CLOCK_BOOTTIME, &boot) == 0;
	free(stat);
	return known ? (int64_t)real.tv_sec - (int64_t)boot.tv_sec + (int64_t)(ticks / sysconf(_SC_CLK_TCK)) : 0;
}

/* Its /tmp, of its own mount namespace and root; -1. No symbolic link is followed: in the process's root it
 * would lead about in this one's. */
static int open_folder(pid_t pid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
	int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int folder = root < 0 ? -1 : openat(root, "tmp", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (root >= 0)
		close(root);
	return folder;
}

bool jit_new(pid_t pid, struct jit_names **out, struct error *err)
{
	struct jit_names *j = *out = calloc(1, sizeof *j);
	if (!j)
		return error_no_memory(err);
	pid_t own_number = pid;
	j->pid = pid;
	j->user = geteuid();
	if (read_status(pid, &j->user, &own_number))
		j->started_unix = start_of(pid);
	j->folder = open_folder(pid);
	snprintf(j->file, sizeof j->file, "perf-%d.map", (int)own_number);
	snprintf(j->path, sizeof j->path, "/tmp/%s", j->file);
	return true;
}

bool jit_new_file(const char *path, struct jit_names **out, struct error *err)
{
	struct jit_names *j = *out = calloc(1, sizeof *j);
	if (!j)
		return error_no_memory(err);
	j->folder = -1;
	snprintf(j->path, sizeof j->path, "%s", path);
	return true;
}

void jit_free(struct jit_names *j)
{
	if (!j)
		return;
	if (j->folder >= 0)
		close(j->folder);
	jit_lines_free(&j->lines);
	free(j);
}

/* ---- the file ---- */

/* May this file name the process's code? */
static bool is_trusted(struct jit_names *j, const struct stat *status)
{
	uid_t owner = status->st_uid;
	if (j->file[0] && owner != 0 && owner != geteuid() && owner != j->user) {
		pid_t number; /* it may have changed its user since */
		if (!read_status(j->pid, &j->user, &number) || owner != j->user) {
			trouble(j, "'%s' belongs to user %u, not to the process's (%u)", j->path, owner, j->user);
			return false;
		}
	}
	if (j->file[0] && j->started_unix && status->st_mtim.tv_sec + OLD_S < j->started_unix) {
		trouble(j, "'%s' is older than process %d: an earlier process of this number wrote it", j->path,
			(int)j->pid);
		return false;
	}
	return true;
}

static int open_file(struct jit_names *j, struct stat *status)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;
	if (j->file[0] && j->folder < 0) {
		trouble(j, "cannot open the process's '/tmp'");
		return -1;
	}
	int fd = j->file[0] ? openat(j->folder, j->file, flags) : open(j->path, flags);
	if (fd < 0) {
		struct error err;
		error_set_errno(&err, ERROR_IO, errno, "cannot open '%s'", j->path);
		if (errno == ELOOP)
			error_set(&err, ERROR_IO, "'%s' is a symbolic link", j->path);
		if (errno == ENOENT)
			error_set(&err, ERROR_IO,
				  "no names: there is no '%s' (node writes it with --perf-basic-prof, "
				  "Java with jcmd PID Compiler.perfmap)",
				  j->path);
		if (!j->seen) /* a program that removes its file in the end has given its names */
			trouble(j, "%s", err.text);
		return -1;
	}
	if (fstat(fd, status) == 0 && !S_ISREG(status->st_mode))
		trouble(j, "'%s' is not a regular file", j->path);
	else if (is_trusted(j, status))
		return fd;
	close(fd);
	return -1;
}

/* Does it still begin with what was read? */
static bool grew(const struct jit_names *j, int fd, const struct stat *status)
{
	char now[TAIL];
	return status->st_ino == j->status.st_ino && status->st_dev == j->status.st_dev &&
	       status->st_size >= j->taken &&
	       pread(fd, now, j->tail_bytes, j->taken - (off_t)j->tail_bytes) == (ssize_t)j->tail_bytes &&
	       memcmp(now, j->tail, j->tail_bytes) == 0;
}

static bool unchanged(const struct jit_names *j, const struct stat *status)
{
	return j->seen && status->st_ino == j->status.st_ino && status->st_dev == j->status.st_dev &&
	       status->st_size == j->status.st_size && status->st_mtim.tv_sec == j->status.st_mtim.tv_sec &&
	       status->st_mtim.tv_nsec == j->status.st_mtim.tv_nsec;
}

/* What is new, line by line. False when memory ran out. */
static bool take_lines(struct jit_names *j, int fd, bool ended)
{
	char *buffer = malloc(LINE_MOST + CHUNK);
	size_t have = 0;
	bool skipping = false, done = buffer; /* skipping: the rest of a line that is too long */
	off_t at = j->taken;
	while (done) {
		ssize_t n = at < FILE_MOST ? pread(fd, buffer + have, CHUNK, at) : 0;
		if (n <= 0)
			break;
		at += n, have += (size_t)n;
		char *begin = buffer, *end = buffer + have, *newline;
		while (done && (newline = memchr(begin, '\n', (size_t)(end - begin)))) {
			done = skipping ? true : jit_lines_add(&j->lines, begin, (size_t)(newline - begin));
			skipping = false;
			j->taken += newline + 1 - begin;
			begin = newline + 1;
		}
		have = (size_t)(end - begin);
		memmove(buffer, begin, have);
		if (have >= LINE_MOST || skipping) { /* its name is cut there */
			done = done && (skipping || jit_lines_add(&j->lines, buffer, have));
			skipping = true;
			j->taken += (off_t)have, have = 0;
		}
	}
	if (done && ended && have) {
		done = jit_lines_add(&j->lines, buffer, have);
		j->taken += (off_t)have;
	}
	free(buffer);
	return done;
}

bool jit_read(struct jit_names *j, bool ended, struct error *err)
{
	struct stat status;
	int fd = open_file(j, &status);
	if (fd < 0)
		return true;
	if (unchanged(j, &status) && (!ended || j->taken == status.st_size)) {
		close(fd);
		return true;
	}
	if (!j->seen || !grew(j, fd, &status)) {
		j->taken = 0;
		j->lines.line_number = 0;
	}
	j->seen = true;
	j->status = status;
	j->trouble[0] = '\0';
	bool done = take_lines(j, fd, ended);
	j->tail_bytes = j->taken < TAIL ? (size_t)j->taken : TAIL;
	if (pread(fd, j->tail, j->tail_bytes, j->taken - (off_t)j->tail_bytes) != (ssize_t)j->tail_bytes)
		j->tail_bytes = 0;
	if (status.st_size > FILE_MOST)
		trouble(j, "'%s' has more than %lld MiB: the rest is not read", j->path, FILE_MOST >> 20);
	close(fd);
	return done || error_no_memory(err);
}

bool jit_find(struct jit_names *j, uint64_t address, struct jit_code *out)
{
	const struct jit_line *line = jit_lines_find(&j->lines, address);
	if (!line)
		return false;
	*out = (struct jit_code){.name = line->name, .begins = line->begins, .bytes = line->bytes};
	return true;
}

size_t jit_count(const struct jit_names *j) { return j->lines.all.count; }

const char *jit_trouble(const struct jit_names *j)
{
	struct jit_names *shown = (struct jit_names *)(uintptr_t)j;
	if (j->trouble[0])
		return j->trouble;
	if (!j->lines.n_wrong)
		return NULL;
	snprintf(shown->shown, sizeof shown->shown, "line %zu of '%.400s' is not 'START SIZE name'%s",
		 j->lines.first_wrong, j->path, j->lines.n_wrong > 1 ? ", and others neither" : "");
	return j->shown;
}
