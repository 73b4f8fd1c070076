#include "store/cache/cache.h"

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
#include "base/str.h"

#define SUFFIX ".kept"
#define NEW_SUFFIX ".new"
enum { NEW_MOST_S = 3600, NAME_BYTES = 64 };

static const char magic[8] = "tareKEP1";

struct head {
	char magic[8];
	uint64_t maker, bytes, sum;
	char program[CACHE_PROGRAM_BYTES];
};

static const char *set_variable(const char *name)
{
	const char *value = secure_getenv(name);
	return value && *value ? value : NULL;
}

/* root would leave folders in a user's home that the user cannot write to afterwards (sudo -E, su -m). */
static bool check_owner(const char *base, struct error *err)
{
	struct stat st;
	if (geteuid() != 0 || stat(base, &st) != 0 || st.st_uid == 0)
		return true;
	error_set(err, ERROR_PERMISSION, "'%s' belongs to another user", base);
	return error_hint(err, "set TARE_CACHE to a folder of root's, or to none");
}

char *cache_folder(struct error *err)
{
	struct str path = {0};
	const char *given = set_variable("TARE_CACHE"), *cache = set_variable("XDG_CACHE_HOME"),
		   *home = set_variable("HOME");
	if (given && strcmp(given, "none") == 0) {
		error_set(err, ERROR_NOT_FOUND, "the cache is switched off (TARE_CACHE=none)");
		return NULL;
	}
	if (cache && *cache != '/') /* the XDG Base Directory Specification: relative ones are to be ignored */
		cache = NULL;
	if (!given && !cache && (!home || *home != '/')) {
		error_set(err, ERROR_NOT_FOUND, "cannot find a folder for the cache: HOME is not set");
		error_hint(err, "set TARE_CACHE to a folder");
		return NULL;
	}
	if (!given && !check_owner(cache ? cache : home, err))
		return NULL;
	if (given)
		str_append(&path, given);
	else
		str_appendf(&path, cache ? "%s/tare/translations" : "%s/.cache/tare/translations",
			    cache ? cache : home);
	if (path.failed)
		error_no_memory(err);
	return str_take(&path);
}

/* FNV-1a by words, in four rows: one row waits for its multiplications. Against damage, not against malice. */
uint64_t cache_sum(const void *bytes, size_t n)
{
	const uint64_t prime = 0x100000001b3u;
	uint64_t row[4] = {1, 2, 3, n}, word;
	const char *p = bytes;
	size_t at = 0;
	for (; at + 32 <= n; at += 32)
		for (int i = 0; i < 4; i++) {
			memcpy(&word, p + at + 8 * i, 8);
			row[i] = (row[i] ^ word) * prime;
		}
	for (; at < n; at++)
		row[0] = (row[0] ^ (unsigned char)p[at]) * prime;
	for (int i = 1; i < 4; i++)
		row[0] = (row[0] ^ row[i] ^ row[i] >> 29) * prime;
	return row[0] ^ row[0] >> 32;
}

static void name_of(const char *program, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "%016llx" SUFFIX, (unsigned long long)cache_sum(program, strlen(program)));
}

static bool owned(const struct stat *st) { return st->st_uid == geteuid() && (st->st_mode & 077) == 0; }

/* -1: it is not there, or not the user's alone. */
static int open_folder(const char *folder)
{
	struct stat st;
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) != 0 || !owned(&st))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool read_all(int fd, void *to, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t got = read(fd, (char *)to + at, n - at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += (size_t)got;
	}
	return true;
}

static bool write_all(int fd, const void *from, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t put = write(fd, (const char *)from + at, n - at);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		at += (size_t)put;
	}
	return true;
}

/* The file's head, where it is of this form and as long as it says. */
static bool read_head(int fd, struct head *head, struct stat *st)
{
	return fstat(fd, st) == 0 && S_ISREG(st->st_mode) && owned(st) && read_all(fd, head, sizeof *head) &&
	       !memcmp(head->magic, magic, sizeof magic) && head->program[sizeof head->program - 1] == '\0' &&
	       head->bytes <= CACHE_ENTRY_MOST_BYTES && (uint64_t)st->st_size == sizeof *head + head->bytes;
}

int cache_open(const char *folder, const char *program, uint64_t maker, size_t *bytes, uint64_t *sum)
{
	char name[NAME_BYTES];
	struct head head;
	struct stat st;
	int at = open_folder(folder);
	*bytes = 0;
	if (at < 0)
		return -1;
	name_of(program, name);
	int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	close(at);
	if (fd < 0)
		return -1;
	if (!read_head(fd, &head, &st) || head.maker != maker || strcmp(head.program, program) || !head.bytes) {
		close(fd);
		return -1;
	}
	*bytes = head.bytes, *sum = head.sum;
	futimens(fd, NULL); /* it is used now */
	return fd;
}

void *cache_read(const char *folder, const char *program, uint64_t maker, size_t *bytes)
{
	uint64_t sum;
	int fd = cache_open(folder, program, maker, bytes, &sum);
	if (fd < 0)
		return NULL;
	char *all = malloc(*bytes);
	bool right = all && read_all(fd, all, *bytes) && cache_sum(all, *bytes) == sum;
	close(fd);
	if (right)
		return all;
	free(all);
	*bytes = 0;
	return NULL;
}

/* ---- what is there ------------------------------------------------------------------------------ */

struct cache_file {
	char name[NAME_BYTES];
	struct cache_entry entry;
};
typedef VEC(struct cache_file) found_list;

static int by_use(const void *a, const void *b)
{
	const struct cache_file *x = a, *y = b;
	return x->entry.used_unix != y->entry.used_unix
		       ? (x->entry.used_unix < y->entry.used_unix) - (x->entry.used_unix > y->entry.used_unix)
		       : strcmp(x->name, y->name);
}

static bool ends_with(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);
	return n > m && n < NAME_BYTES && !strcmp(name + n - m, suffix);
}

/* The files of the cache's names; unfinished ones too, whose program is "". */
static bool look(int at, found_list *all)
{
	int copy = fcntl(at, F_DUPFD_CLOEXEC, 3);
	DIR *folder = copy >= 0 ? fdopendir(copy) : NULL;
	bool done = folder != NULL;
	if (!folder && copy >= 0)
		close(copy);
	if (folder)
		rewinddir(folder);
	for (struct dirent *d; done && (d = readdir(folder));) {
		struct cache_file f = {0};
		struct head head;
		struct stat st;
		if (!ends_with(d->d_name, SUFFIX) && !ends_with(d->d_name, NEW_SUFFIX))
			continue;
		memcpy(f.name, d->d_name, strlen(d->d_name) + 1);
		if (fstatat(at, f.name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
			continue;
		int fd = openat(at, f.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		f.entry.bytes = (uint64_t)st.st_size, f.entry.used_unix = st.st_mtime;
		if (fd >= 0 && ends_with(f.name, SUFFIX) && read_head(fd, &head, &st)) {
			memcpy(f.entry.program, head.program, sizeof f.entry.program);
			f.entry.maker = head.maker;
		}
		if (fd >= 0)
			close(fd);
		done = vec_push(all, f);
	}
	if (folder)
		closedir(folder);
	if (all->count)
		qsort(all->items, all->count, sizeof *all->items, by_use);
	return done;
}

/* The least used ones go first. */
static void trim(int at, uint64_t most)
{
	found_list all = {0};
	uint64_t bytes = 0;
	if (look(at, &all))
		for (size_t i = 0; i < all.count; i++) {
			const struct cache_file *f = &all.items[i];
			bytes += f->entry.bytes;
			if (bytes > most ||
			    (ends_with(f->name, NEW_SUFFIX) && f->entry.used_unix < time(NULL) - NEW_MOST_S))
				unlinkat(at, f->name, 0);
		}
	vec_free(&all);
}

void cache_trim(const char *folder, uint64_t most)
{
	int at = open_folder(folder);
	if (at < 0)
		return;
	trim(at, most);
	close(at);
}

static int make_folder(const char *folder)
{
	struct error err = {0};
	struct str inner = {0};
	str_appendf(&inner, "%s/", folder);
	if (inner.text)
		file_make_folders(inner.text, 0700, &err);
	str_free(&inner);
	return open_folder(folder);
}

bool cache_write(const char *folder, const char *program, uint64_t maker, const void *bytes, size_t n)
{
	struct head head = {.maker = maker, .bytes = n, .sum = cache_sum(bytes, n)};
	char name[NAME_BYTES], fresh[NAME_BYTES];
	if (strlen(program) >= sizeof head.program || n > CACHE_ENTRY_MOST_BYTES || n == 0)
		return false;
	memcpy(head.magic, magic, sizeof magic);
	memcpy(head.program, program, strlen(program) + 1);
	int at = make_folder(folder);
	if (at < 0)
		return false;
	name_of(program, name);
	snprintf(fresh, sizeof fresh, "%d.%.16s" NEW_SUFFIX, (int)getpid(), name);
	unlinkat(at, fresh, 0); /* of an earlier process of this number */
	int fd = openat(at, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool done = fd >= 0 && write_all(fd, &head, sizeof head) && write_all(fd, bytes, n);
	if (fd >= 0)
		done = close(fd) == 0 && done;
	done = done && renameat(at, fresh, at, name) == 0;
	if (!done && fd >= 0)
		unlinkat(at, fresh, 0);
	close(at);
	cache_trim(folder, CACHE_MOST_BYTES);
	return done;
}

/* -1: it is not there, or err says why it cannot be looked at. */
static int open_to_show(const char *folder, struct error *err)
{
	int at = open_folder(folder);
	struct stat st;
	if (at >= 0 || (lstat(folder, &st) != 0 && (errno == ENOENT || errno == ENOTDIR)))
		return at;
	error_set(err, ERROR_PERMISSION, "'%s' is not a folder that only its owner, this user, may use", folder);
	error_hint(err, "run 'chmod 700 %s', or set TARE_CACHE to another folder", folder);
	return -1;
}

static bool each(const char *folder, bool remove, struct cache_list *list, struct error *err)
{
	found_list all = {0};
	*list = (struct cache_list){0};
	*err = (struct error){0};
	int at = open_to_show(folder, err);
	if (at < 0)
		return err->code == ERROR_NONE;
	bool done = look(at, &all) || error_no_memory(err);
	for (size_t i = 0; done && i < all.count; i++) {
		struct cache_file *f = &all.items[i];
		if (remove && unlinkat(at, f->name, 0) != 0 && errno != ENOENT) {
			done = error_set_errno(err, ERROR_IO, errno, "cannot remove '%s/%s'", folder, f->name);
			break;
		}
		list->bytes += f->entry.bytes;
		done = vec_push(&list->entries, f->entry) || error_no_memory(err);
	}
	vec_free(&all);
	close(at);
	return done;
}

bool cache_list(const char *folder, struct cache_list *list, struct error *err)
{
	return each(folder, false, list, err);
}

bool cache_clear(const char *folder, struct cache_list *gone, struct error *err)
{
	return each(folder, true, gone, err);
}
