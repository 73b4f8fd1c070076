/* The folder of what can be made again: whose it must be, what a damaged file is, how much it takes. */
#include "store/cache/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "tap.h"

static char folder[] = "/tmp/tare-cache-XXXXXX", inner[64];

static bool has(const char *program, uint64_t maker, const char *expected)
{
	size_t bytes;
	char *got = cache_read(inner, program, maker, &bytes);
	bool right = expected ? got && bytes == strlen(expected) && !memcmp(got, expected, bytes) : !got && !bytes;
	free(got);
	return right;
}

static bool put(const char *program, uint64_t maker, const char *text)
{
	return cache_write(inner, program, maker, text, strlen(text));
}

/* The one file's path. */
static const char *only_file(void)
{
	static char path[300];
	char pattern[100], name[100] = "";
	snprintf(pattern, sizeof pattern, "ls %s", inner);
	FILE *list = popen(pattern, "r");
	if (list && !fgets(name, sizeof name, list))
		name[0] = '\0';
	if (list)
		pclose(list);
	name[strcspn(name, "\n")] = '\0';
	snprintf(path, sizeof path, "%s/%s", inner, name);
	return path;
}

static size_t count(void)
{
	struct error err = {0};
	struct cache_list list;
	size_t n = cache_list(inner, &list, &err) ? list.entries.count : 999;
	vec_free(&list.entries);
	return n;
}

/* Each byte of the file in turn is another: none is taken for what was written. */
static bool damage_is_seen(void)
{
	const char *path = only_file();
	struct stat st;
	int fd = open(path, O_RDWR);
	bool seen = fd >= 0 && fstat(fd, &st) == 0;
	for (off_t at = 0; seen && at < st.st_size; at++) {
		unsigned char byte, other;
		seen = pread(fd, &byte, 1, at) == 1;
		other = byte ^ 0x20;
		seen = seen && pwrite(fd, &other, 1, at) == 1;
		size_t bytes;
		char *got = cache_read(inner, "/bin/a", 7, &bytes);
		/* behind the end of the program's name nothing is looked at */
		if (got && (bytes != 5 || memcmp(got, "hello", 5)))
			seen = false;
		free(got);
		seen = seen && pwrite(fd, &byte, 1, at) == 1;
	}
	if (fd >= 0)
		close(fd);
	return seen && has("/bin/a", 7, "hello");
}

static bool cut_is_seen(void)
{
	const char *path = only_file();
	struct stat st;
	if (stat(path, &st) || truncate(path, st.st_size - 1))
		return false;
	return has("/bin/a", 7, NULL);
}

static void each_file(void (*action)(int at, const char *name))
{
	int at = open(inner, O_RDONLY | O_DIRECTORY);
	DIR *all = at >= 0 ? fdopendir(at) : NULL;
	for (struct dirent *d; all && (d = readdir(all));)
		if (d->d_name[0] != '.')
			action(at, d->d_name);
	if (all)
		closedir(all);
}

static void make_old(int at, const char *name)
{
	const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	utimensat(at, name, times, 0);
}

static void all_are_old(void) { each_file(make_old); }

static void trim_to_one(void)
{
	struct stat st;
	if (stat(only_file(), &st) == 0)
		cache_trim(inner, (uint64_t)st.st_size);
}

static void left_by_a_killed_writer(const char *name)
{
	char path[100];
	snprintf(path, sizeof path, "%s/%s", inner, name);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	int at = open(inner, O_RDONLY | O_DIRECTORY);
	make_old(at, name);
	close(at);
}

static void writers(int n)
{
	for (int i = 0; i < n; i++)
		if (fork() == 0) {
			for (int k = 0; k < 50; k++)
				put("/bin/shared", 7,
				    i % 2 ? "one text of a writer" : "another, which is longer than that");
			_exit(0);
		}
	while (wait(NULL) > 0)
		continue;
}

int main(void)
{
	struct error err = {0};
	struct cache_list list;
	if (!mkdtemp(folder))
		return 1;
	snprintf(inner, sizeof inner, "%s/a/b", folder);
	ok(has("/bin/a", 7, NULL) && count() == 0, "a folder that is not there has nothing");
	ok(put("/bin/a", 7, "hello") && has("/bin/a", 7, "hello"), "what is written is read");
	struct stat st = {0};
	ok(stat(inner, &st) == 0 && (st.st_mode & 0777) == 0700, "the folder is its owner's alone");
	ok(stat(only_file(), &st) == 0 && (st.st_mode & 0777) == 0600, "... and so is the file");
	ok(has("/bin/b", 7, NULL) && has("/bin/a", 8, NULL), "another program's, or another maker's, is not read");
	ok(damage_is_seen(), "a damaged byte is not taken for what was written");
	ok(put("/bin/a", 7, "hello") && cut_is_seen(), "nor is a file that was cut");
	ok(put("/bin/a", 7, "other") && has("/bin/a", 7, "other") && count() == 1, "a new one takes its place");
	chmod(only_file(), 0644);
	ok(has("/bin/a", 7, NULL), "a file that others may read is not read");
	chmod(only_file(), 0600);
	chmod(inner, 0750);
	ok(has("/bin/a", 7, NULL) && !put("/bin/b", 7, "x"), "a folder that others may look into is not used");
	ok(!cache_list(inner, &list, &err) && err.code == ERROR_PERMISSION && strstr(err.hint, "chmod 700"),
	   "... which is told where it is asked for");
	vec_free(&list.entries);
	chmod(inner, 0700);
	char link[80];
	snprintf(link, sizeof link, "%s/link", folder);
	size_t bytes;
	void *got = symlink(inner, link) == 0 ? cache_read(link, "/bin/a", 7, &bytes) : folder;
	ok(got == NULL, "a link to a folder is not followed");
	ok(!put("/bin/a", 7, "") && has("/bin/a", 7, "other"), "nothing is not written");
	char *large = calloc(1, CACHE_ENTRY_MOST_BYTES + 1);
	ok(large && !cache_write(inner, "/bin/l", 7, large, CACHE_ENTRY_MOST_BYTES + 1) &&
		   has("/bin/a", 7, "other"),
	   "what is too large is not written");
	struct cache_list gone;
	ok(cache_clear(inner, &gone, &err) && gone.entries.count == 1 &&
		   !strcmp(gone.entries.items[0].program, "/bin/a") && count() == 0,
	   "clear says what it removes");
	vec_free(&gone.entries);
	free(large);
	put("/bin/a", 7, "hello"), all_are_old(), put("/bin/b", 7, "hello"), trim_to_one();
	ok(count() == 1 && has("/bin/b", 7, "hello"), "what was written first goes first");
	put("/bin/a", 7, "hello"), all_are_old();
	ok(has("/bin/b", 7, "hello"), "what is read ...");
	trim_to_one();
	ok(count() == 1 && has("/bin/b", 7, "hello"), "... was used, and stays");
	left_by_a_killed_writer("1.new"), cache_trim(inner, CACHE_MOST_BYTES);
	ok(count() == 1 && has("/bin/b", 7, "hello"), "what a killed writer has left goes, when it is old");
	ok(cache_clear(inner, &gone, &err) && count() == 0, "clear leaves nothing");
	vec_free(&gone.entries);
	writers(6);
	ok(count() == 1 && (has("/bin/shared", 7, "one text of a writer") ||
			    has("/bin/shared", 7, "another, which is longer than that")),
	   "of six writers at once one file is left, and it is whole");
	setenv("TARE_CACHE", "none", 1);
	ok(!cache_folder(&err) && err.code == ERROR_NOT_FOUND, "TARE_CACHE=none: there is no folder");
	unsetenv("TARE_CACHE");
	setenv("XDG_CACHE_HOME", "relative", 1), setenv("HOME", "/home/x", 1);
	char *path = cache_folder(&err);
	ok(path && !strcmp(path, "/home/x/.cache/tare/translations"), "a relative XDG_CACHE_HOME is ignored");
	free(path);
	setenv("XDG_CACHE_HOME", "/cache", 1);
	path = cache_folder(&err);
	ok(path && !strcmp(path, "/cache/tare/translations"), "XDG_CACHE_HOME has it");
	free(path);
	unsetenv("XDG_CACHE_HOME"), unsetenv("HOME");
	ok(!cache_folder(&err) && err.code == ERROR_NOT_FOUND, "without HOME there is none");
	cache_clear(inner, &gone, &err);
	vec_free(&gone.entries);
	char command[100];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	if (system(command))
		return 1;
	return done();
}
