#include "store/ranks/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/str.h"
#include "store/ranks/read.h"

enum {
	NAME_BYTES = 64,
	HOST_BYTES = 256,
	ROUNDS_MOST = 100000,
	STALE_SECONDS = 24 * 3600, /* a folder without a living rank for so long is of a job that was killed */
};

/* bytes of `lock` */
enum { BYTE_JOIN = 0, BYTE_ROUNDS = 16, BYTES_OF_ROUND = JOB_RANKS_MOST + 1, CHAIR = JOB_RANKS_MOST };

struct ranks_folder {
	int base, job, lock; /* descriptors */
	char *path;
	char name[NAME_BYTES]; /* of the job's folder in the base */
	size_t rank, size, round;
};

/* ---- locks ---- */

static off_t byte_of(const struct ranks_folder *f, size_t rank)
{
	return BYTE_ROUNDS + (off_t)f->round * BYTES_OF_ROUND + (off_t)rank;
}

static bool lock_byte(int fd, off_t at, short type, bool wait)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
	int done;
	do
		done = fcntl(fd, wait ? F_SETLKW : F_SETLK, &lock);
	while (done != 0 && wait && errno == EINTR);
	return done == 0;
}

/* Does another process hold it? */
static bool is_locked(int fd, off_t at)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
	return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* ---- folders ---- */

/* A folder of this user's alone below `at`, made where it is not there. -1, and an error. */
static int open_private(int at, const char *name, const char *path, struct error *err)
{
	struct stat status;
	if (mkdirat(at, name, 0700) != 0 && errno != EEXIST) {
		error_set_errno(err, errno == EACCES || errno == EROFS ? ERROR_PERMISSION : ERROR_IO, errno,
				"cannot make the folder '%.300s' for the ranks' results", path);
		goto hint;
	}
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		error_set_errno(err, ERROR_PERMISSION, errno,
				"cannot open the folder '%.300s' of the ranks' results", path);
		goto hint;
	}
	if (fstat(fd, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 077) == 0)
		return fd;
	error_set(err, ERROR_PERMISSION,
		  status.st_uid != geteuid() ? "the folder '%.300s' belongs to another user"
					     : "the folder '%.300s' is open to other users",
		  path);
	close(fd);
hint:
	error_hint(err, "--ranks-dir DIR names another place; --ranks off gives each rank a report of its own");
	return -1;
}

static void remove_all(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (entry->d_name[0] != '.')
			unlinkat(fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
	else if (copy >= 0)
		close(copy);
}

/* Folders of jobs that were killed with all of their ranks. */
static void remove_stale(const struct ranks_folder *f)
{
	int copy = openat(f->base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	time_t now = time(NULL);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		struct stat status;
		if (entry->d_name[0] == '.' || strcmp(entry->d_name, f->name) == 0 ||
		    fstatat(f->base, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISDIR(status.st_mode) || status.st_mtime + STALE_SECONDS > now)
			continue;
		int fd = openat(f->base, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		int lock = fd >= 0 ? openat(fd, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC) : -1;
		struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
		if (lock < 0 || fcntl(lock, F_SETLK, &all) == 0) {
			remove_all(fd);
			unlinkat(f->base, entry->d_name, AT_REMOVEDIR);
		}
		if (lock >= 0)
			close(lock);
		if (fd >= 0)
			close(fd);
	}
	if (dir)
		closedir(dir);
	else if (copy >= 0)
		close(copy);
}

static void file_name(char out[NAME_BYTES], size_t round, size_t rank, const char *what)
{
	snprintf(out, NAME_BYTES, "%zu.%zu.%s", round, rank, what);
}

/* ---- joining ---- */

/* Writes a file that is not there. */
static bool write_new(int at, const char *name, const char *text, size_t length)
{
	int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	while (length) {
		ssize_t n = write(fd, text, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		text += n;
		length -= (size_t)n;
	}
	int error = length ? errno ? errno : ENOSPC : 0;
	if (close(fd) != 0 && !error)
		error = errno;
	errno = error;
	return error == 0;
}

/* The next round that this rank has not begun, and that is not over. */
static bool begin_round(struct ranks_folder *f, const char *host, struct error *err)
{
	char name[NAME_BYTES], text[HOST_BYTES + 32];
	int n = snprintf(text, sizeof text, "%ld %.*s\n", (long)getpid(), HOST_BYTES - 1, host ? host : "");
	for (f->round = 0; f->round < ROUNDS_MOST; f->round++) {
		snprintf(name, sizeof name, "%zu.over", f->round);
		if (faccessat(f->job, name, F_OK, 0) == 0)
			continue;
		/* before the file: one that sees the file finds the rank at work */
		if (!lock_byte(f->lock, byte_of(f, f->rank), F_WRLCK, false)) {
			if (errno == EAGAIN || errno == EACCES)
				continue; /* another tare of this rank */
			return error_set_errno(err, ERROR_IO, errno, "cannot lock '%.300s/lock'", f->path);
		}
		file_name(name, f->round, f->rank, "begun");
		if (write_new(f->job, name, text, (size_t)n))
			return true;
		if (errno != EEXIST)
			return error_set_errno(err, ERROR_IO, errno, "cannot write '%.300s/%s'", f->path, name);
		lock_byte(f->lock, byte_of(f, f->rank), F_UNLCK, false);
	}
	return error_set(err, ERROR_LIMIT, "'%.300s' has too many rounds", f->path);
}

/* The folder and its lock file, with the joining byte held; ranks_over() may take both away meanwhile. */
static bool open_job(struct ranks_folder *f, struct error *err)
{
	for (;;) {
		struct stat status;
		if ((f->job = open_private(f->base, f->name, f->path, err)) < 0)
			return false;
		f->lock = openat(f->job, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (f->lock < 0 && errno != ENOENT)
			return error_set_errno(err, ERROR_IO, errno, "cannot make '%.300s/lock'", f->path);
		if (f->lock >= 0 && !lock_byte(f->lock, BYTE_JOIN, F_WRLCK, true)) {
			error_set_errno(err, ERROR_UNSUPPORTED, errno, "cannot lock '%.300s/lock'", f->path);
			return error_hint(err, "--ranks-dir DIR names a folder of a file system with locks");
		}
		if (f->lock >= 0 && fstat(f->lock, &status) == 0 && status.st_nlink > 0)
			return true;
		if (f->lock >= 0)
			close(f->lock);
		close(f->job);
		f->job = f->lock = -1;
	}
}

bool ranks_join(const char *base, const struct rank_place *place, const char *host, struct ranks_folder **out,
		struct error *err)
{
	struct ranks_folder *f = calloc(1, sizeof *f);
	struct str path = {0};
	char mine[NAME_BYTES];
	uint64_t key = hash_number(hash_text(hash_text(HASH_BEGIN, place->launcher), place->job), place->size);
	bool done = false;
	*out = NULL;
	if (!f)
		return error_no_memory(err);
	f->base = f->job = f->lock = -1;
	f->rank = place->rank;
	f->size = place->size;
	snprintf(mine, sizeof mine, "tare-ranks-%lu", (unsigned long)geteuid());
	snprintf(f->name, sizeof f->name, "%016llx", (unsigned long long)key);
	str_appendf(&path, "%s/%s", base, mine);
	int parent = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0) {
		error_set_errno(err, ERROR_IO, errno, "cannot open the folder '%.300s' for the ranks' results",
				base);
		error_hint(err,
			   "--ranks-dir DIR names another place; --ranks off gives each rank a report of its own");
		goto out;
	}
	f->base = open_private(parent, mine, path.text ? path.text : mine, err);
	close(parent);
	str_appendf(&path, "/%s", f->name);
	if (!(f->path = str_take(&path))) {
		error_no_memory(err);
		goto out;
	}
	if (f->base < 0 || !open_job(f, err))
		goto out;
	remove_stale(f);
	done = begin_round(f, host, err);
	lock_byte(f->lock, BYTE_JOIN, F_UNLCK, false);
out:
	str_free(&path);
	if (done)
		*out = f;
	else
		ranks_leave(f);
	return done;
}

void ranks_leave(struct ranks_folder *f)
{
	if (!f)
		return;
	if (f->lock >= 0)
		close(f->lock);
	if (f->job >= 0)
		close(f->job);
	if (f->base >= 0)
		close(f->base);
	free(f->path);
	free(f);
}

/* ---- results ---- */

bool ranks_put(struct ranks_folder *f, const char *text, size_t length, struct error *err)
{
	char part[NAME_BYTES], name[NAME_BYTES];
	file_name(part, f->round, f->rank, "part");
	file_name(name, f->round, f->rank, "json");
	bool done = write_new(f->job, part, text, length) && renameat(f->job, part, f->job, name) == 0;
	if (!done) {
		error_set_errno(err, ERROR_IO, errno, "cannot write '%.300s/%s'", f->path, name);
		unlinkat(f->job, part, 0);
	}
	lock_byte(f->lock, byte_of(f, f->rank), F_UNLCK, false);
	return done;
}

char *ranks_pattern(const struct ranks_folder *f)
{
	struct str text = {0};
	str_appendf(&text, "%s/%zu.*.json", f->path, f->round);
	return str_take(&text);
}

enum ranks_chair ranks_take_chair(struct ranks_folder *f)
{
	char name[NAME_BYTES];
	struct stat status;
	if (!lock_byte(f->lock, byte_of(f, CHAIR), F_WRLCK, false))
		return CHAIR_ANOTHERS;
	snprintf(name, sizeof name, "%zu.over", f->round);
	bool over = fstat(f->lock, &status) != 0 || status.st_nlink == 0 || faccessat(f->job, name, F_OK, 0) == 0;
	return over ? CHAIR_OVER : CHAIR_MINE;
}

void ranks_leave_chair(struct ranks_folder *f) { lock_byte(f->lock, byte_of(f, CHAIR), F_UNLCK, false); }

/* "3.17.json": of this round; else false. */
static bool parse_name(const struct ranks_folder *f, const char *name, size_t *rank, const char **what)
{
	char *end;
	unsigned long long round = strtoull(name, &end, 10);
	if (end == name || *end != '.' || round != f->round)
		return false;
	const char *second = end + 1;
	*rank = strtoull(second, &end, 10);
	*what = end + 1;
	return end != second && *end == '.' && *rank < f->size;
}

bool ranks_look(struct ranks_folder *f, unsigned char *states, struct error *err)
{
	int copy = openat(f->job, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	size_t rank;
	const char *what;
	if (!dir) {
		if (copy >= 0)
			close(copy);
		return error_set_errno(err, ERROR_IO, errno, "cannot read '%.300s'", f->path);
	}
	memset(states, RANK_NEVER_BEGAN, f->size);
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (!parse_name(f, entry->d_name, &rank, &what))
			continue;
		if (strcmp(what, "json") == 0)
			states[rank] = RANK_DONE;
		else if (strcmp(what, "begun") == 0 && states[rank] != RANK_DONE)
			states[rank] = RANK_GONE;
	}
	closedir(dir);
	for (size_t i = 0; i < f->size; i++) {
		char name[NAME_BYTES];
		if (states[i] != RANK_GONE)
			continue;
		if (is_locked(f->lock, byte_of(f, i))) {
			states[i] = RANK_AT_WORK;
			continue;
		}
		/* it may have put its result since the folder was read; its byte is free only after that */
		file_name(name, f->round, i, "json");
		if (faccessat(f->job, name, F_OK, 0) == 0)
			states[i] = RANK_DONE;
	}
	return true;
}

char *ranks_get(struct ranks_folder *f, size_t rank, size_t *length, struct error *err)
{
	char name[NAME_BYTES];
	struct str path = {0};
	file_name(name, f->round, rank, "json");
	/* by the descriptor: the folder that was checked */
	str_appendf(&path, "/proc/self/fd/%d/%s", f->job, name);
	char *text = path.failed ? NULL : file_read(path.text, READ_BYTES_MOST, length, err);
	if (path.failed)
		error_no_memory(err);
	str_free(&path);
	return text;
}

void ranks_begun(struct ranks_folder *f, size_t rank, char *host, size_t host_bytes, int64_t *pid)
{
	char name[NAME_BYTES], text[HOST_BYTES + 32];
	file_name(name, f->round, rank, "begun");
	host[0] = '\0';
	*pid = 0;
	int fd = openat(f->job, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return;
	text[n] = '\0';
	char *end, *line = strchr(text, '\n');
	if (line)
		*line = '\0';
	*pid = strtoll(text, &end, 10);
	if (*end == ' ')
		str_escape_to(host, host_bytes, end + 1);
}

/* ---- the end ---- */

/* Is there anything but what a round that is over leaves? */
static bool has_other_rounds(struct ranks_folder *f)
{
	int copy = openat(f->job, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	bool found = !dir;
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		const char *dot = strrchr(entry->d_name, '.');
		found |= entry->d_name[0] != '.' && strcmp(entry->d_name, "lock") != 0 &&
			 !(dot && strcmp(dot, ".over") == 0);
	}
	if (dir)
		closedir(dir);
	else if (copy >= 0)
		close(copy);
	return found;
}

void ranks_over(struct ranks_folder *f, bool stay)
{
	static const char *const kinds[] = {"begun", "json", "part"};
	char name[NAME_BYTES];
	if (!lock_byte(f->lock, BYTE_JOIN, F_WRLCK, true))
		return;
	snprintf(name, sizeof name, "%zu.over", f->round);
	if (write_new(f->job, name, "", 0) && !stay) {
		for (size_t i = 0; i < f->size; i++)
			for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
				file_name(name, f->round, i, kinds[k]);
				unlinkat(f->job, name, 0);
			}
		if (!has_other_rounds(f)) {
			remove_all(f->job);
			unlinkat(f->base, f->name, AT_REMOVEDIR);
		}
	}
	lock_byte(f->lock, BYTE_JOIN, F_UNLCK, false);
}
