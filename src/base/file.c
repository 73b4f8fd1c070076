#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static enum error_code code_of(int os_errno)
{
	switch (os_errno) {
	case ENOENT:
	case ENOTDIR: return ERROR_NOT_FOUND;
	case EACCES:
	case EPERM:
	case EROFS: return ERROR_PERMISSION;
	case EMFILE:
	case ENFILE:
	case EFBIG: return ERROR_LIMIT;
	default: return ERROR_IO;
	}
}

char *file_read(const char *path, size_t max_bytes, size_t *length, struct error *err)
{
	char *text = NULL;
	size_t used = 0, capacity = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		error_set_errno(err, code_of(errno), errno, "cannot open '%s'", path);
		return NULL;
	}
	for (;;) {
		if (capacity - used < 4096) {
			capacity = capacity ? capacity * 2 : 8192;
			char *grown = realloc(text, capacity + 1);
			if (!grown) {
				error_no_memory(err);
				goto fail;
			}
			text = grown;
		}
		ssize_t got = read(fd, text + used, capacity - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			error_set_errno(err, code_of(errno), errno, "cannot read '%s'", path);
			goto fail;
		}
		if (got == 0)
			break;
		used += (size_t)got;
		if (used > max_bytes) {
			error_set(err, ERROR_LIMIT, "'%s' is longer than %zu bytes", path, max_bytes);
			goto fail;
		}
	}
	close(fd);
	text[used] = '\0';
	if (length)
		*length = used;
	return text;
fail:
	free(text);
	close(fd);
	return NULL;
}

static FILE *create(const char *path, mode_t mode, struct error *err)
{
	if (strcmp(path, "-") == 0)
		return stdout;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	FILE *stream = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!stream)
		error_set_errno(err, code_of(errno), errno, "cannot write '%s'", path);
	if (!stream && fd >= 0)
		close(fd);
	return stream;
}

FILE *file_create(const char *path, struct error *err) { return create(path, 0600, err); }
FILE *file_create_shared(const char *path, struct error *err) { return create(path, 0666, err); }

static bool is_standard(FILE *stream) { return stream == stdout || stream == stderr; }

/* An empty regular file, and it is still the one that has this name. */
static bool is_empty(FILE *stream, const char *name)
{
	struct stat ours, named;
	return fstat(fileno(stream), &ours) == 0 && S_ISREG(ours.st_mode) && ours.st_size == 0 &&
	       lstat(name, &named) == 0 && named.st_dev == ours.st_dev && named.st_ino == ours.st_ino;
}

/* A write failed some time ago, and errno of then is gone: the next one fails for the same reason. */
static int why_lost(FILE *stream)
{
	errno = 0;
	return write(fileno(stream), "\n", 1) < 0 ? errno : EIO;
}

bool file_finish(FILE *stream, const char *name, struct error *err)
{
	errno = 0;
	bool lost = ferror(stream) != 0;
	if (fflush(stream) != 0)
		lost = true;
	int os_errno = errno;
	if (lost && !os_errno)
		os_errno = why_lost(stream);
	if (lost && !is_standard(stream) && is_empty(stream, name))
		unlink(name);
	if (!is_standard(stream) && fclose(stream) != 0 && !lost) {
		lost = true;
		os_errno = errno;
	}
	if (!lost)
		return true;
	return error_set_errno(err, ERROR_IO, os_errno ? os_errno : EIO, "cannot write '%s'", name);
}

/* /proc/self/fd/1, where /dev/stdout leads: the file behind it may have lost its name, and others go on writing to
 * it. */
static bool leads_to_open_file(const char *link)
{
	struct statfs system;
	int fd = open(link, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	bool open_file = fd >= 0 && fstatfs(fd, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
	if (fd >= 0)
		close(fd);
	return open_file;
}

/* Where the links at path lead, which need not be there yet; the caller frees it. *replaceable: another file can
 * be put in its place. NULL on failure. */
static char *follow(const char *path, bool *replaceable, struct error *err)
{
	enum { LINKS_MOST = 40 /* as Linux */ };
	char target[PATH_MAX], *at = strdup(path);
	struct stat status;
	for (int links = 0; at; links++) {
		ssize_t length = readlink(at, target, sizeof target - 1);
		if (length < 0 || leads_to_open_file(at)) {
			*replaceable = length < 0 && (stat(at, &status) != 0 || S_ISREG(status.st_mode));
			return at;
		}
		if (links == LINKS_MOST) {
			error_set_errno(err, ERROR_IO, ELOOP, "cannot write '%s'", path);
			free(at);
			return NULL;
		}
		target[length] = '\0';
		const char *slash = *target == '/' ? NULL : strrchr(at, '/');
		char *next = NULL;
		if (asprintf(&next, "%.*s%s", slash ? (int)(slash + 1 - at) : 0, at, target) < 0)
			next = NULL;
		free(at);
		at = next;
	}
	error_no_memory(err);
	return NULL;
}

static bool write_in_place(const char *path, const char *text, size_t length, struct error *err)
{
	FILE *file = file_create_shared(path, err);
	if (!file)
		return false;
	fwrite(text, 1, length, file);
	return file_finish(file, path, err);
}

static bool replace(const char *path, const char *text, size_t length, struct error *err)
{
	char *name = NULL;
	FILE *file = NULL;
	bool done = false;
	if (asprintf(&name, "%s.XXXXXX", path) < 0)
		return error_no_memory(err);
	int fd = mkstemp(name);
	if (fd < 0) {
		error_set_errno(err, code_of(errno), errno, "cannot write '%s'", path);
		goto out;
	}
	mode_t mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask); /* mkstemp(3) lets nobody else read it */
	if (!(file = fdopen(fd, "w"))) {
		error_set_errno(err, ERROR_IO, errno, "cannot write '%s'", path);
		close(fd);
		goto remove;
	}
	fwrite(text, 1, length, file);
	fflush(file);
	fsync(fd); /* before the rename: a crash leaves the old one or the new one */
	if (!file_finish(file, path, err))
		goto remove;
	if (rename(name, path) == 0)
		done = true;
	else
		error_set_errno(err, code_of(errno), errno, "cannot write '%s'", path);
remove:
	if (!done)
		unlink(name);
out:
	free(name);
	return done;
}

bool file_replace(const char *path, const char *text, size_t length, struct error *err)
{
	bool replaceable;
	char *file = follow(path, &replaceable, err);
	bool done = file && (replaceable ? replace : write_in_place)(file, text, length, err);
	free(file);
	return done;
}

bool file_make_folders(const char *path, unsigned mode, struct error *err)
{
	char *copy = strdup(path);
	if (!copy)
		return error_no_memory(err);
	bool done = true;
	for (char *slash = copy; done && (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		/* of one that is there but may not be written above, the answer may be EROFS or EACCES */
		if (mkdir(copy, (mode_t)mode) != 0 && errno != EEXIST && access(copy, F_OK) != 0)
			done = error_set_errno(err,
					       errno == EACCES || errno == EROFS ? ERROR_PERMISSION : ERROR_IO,
					       errno, "cannot make the folder '%s'", copy);
		*slash = '/';
	}
	free(copy);
	return done;
}

void file_abandon(FILE *stream, const char *name)
{
	if (is_standard(stream))
		return;
	fflush(stream);
	if (is_empty(stream, name))
		unlink(name);
	fclose(stream);
}

bool file_close(FILE *stream, const char *name, bool written, struct error *err)
{
	if (written)
		return file_finish(stream, name, err);
	file_abandon(stream, name);
	return true;
}
