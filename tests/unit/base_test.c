/* base/: errors, strings, vectors, hash tables, sums, arenas, stanzas, nearest names. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "base/sha256.h"
#include "base/stanza.h"
#include "base/str.h"
#include "base/text_columns.h"
#include "base/vec.h"
#include "base/wait_status.h"
#include "tap.h"

static void errors(void)
{
	struct error err = {0};
	ok(!error_set_errno(&err, ERROR_PERMISSION, EACCES, "cannot open counter '%s'", "cyc\x1b[31mles"),
	   "setting an error returns false");
	equal_text(err.text, "cannot open counter 'cyc\\x1b[31mles': permission denied",
		   "control characters in an error are escaped, and strerror's capital is lowered");
	error_hint(&err, "run '%s'", "x");
	equal_text(err.hint, "run 'x'", "a hint is kept beside the text");
	char long_text[2000];
	memset(long_text, 'a', sizeof long_text - 1);
	long_text[sizeof long_text - 1] = '\0';
	error_set(&err, ERROR_IO, "%s", long_text);
	ok(strlen(err.text) < sizeof err.text, "a text that is too long is cut, not overrun");
	ok(!error_set(NULL, ERROR_IO, "x"), "an error that nobody wants is accepted");
}

static void numbers(void)
{
	unsigned long long n = 7;
	ok(str_to_u64("0x1a8", &n) && n == 0x1a8, "0x begins a hexadecimal number");
	ok(str_to_u64("18446744073709551615", &n) && n == UINT64_MAX, "the largest 64-bit number is read");
	ok(!str_to_u64("18446744073709551616", &n), "a number of 65 bits is refused");
	ok(!str_to_u64("", &n) && !str_to_u64("-1", &n) && !str_to_u64(" 1", &n) && !str_to_u64("1x", &n),
	   "empty text, signs, blanks and trailing letters are no numbers");
	double d;
	ok(str_to_double("1e3", &d) && d == 1000 && !str_to_double("nan", &d) && !str_to_double("1e999", &d),
	   "only finite numbers are read");
}

static void nearest(void)
{
	struct nearest found = {0};
	const char *names[] = {"branches", "branch-misses", "cycles", "cache-misses", "instructions"};
	for (size_t i = 0; i < 5; i++)
		nearest_consider(&found, "brnaches", names[i]);
	equal_text(found.names[0], "branches", "two swapped letters are one step away");
	ok(found.names[2] != NULL, "three names are offered");
	found = (struct nearest){0};
	for (size_t i = 0; i < 5; i++)
		nearest_consider(&found, "MISSES", names[i]);
	ok(strstr(found.names[0], "misses") && strstr(found.names[1], "misses"),
	   "names that hold the wanted text come first, whatever their case");
}

static void stanzas(void)
{
	struct arena arena = {0};
	struct error err = {0};
	struct stanza *s = NULL;
	size_t n = 0;
	const char *text = "# c\n[a b]\nk = v = w\nlong = one\n  two\n\n[c]\n";
	ok(stanza_parse(text, strlen(text), "t", &arena, &s, &n, &err) && n == 2, "two stanzas are read");
	equal_text(s[0].name, "a b", "a stanza has a name");
	equal_text(stanza_get(&s[0], "k"), "v = w", "the first '=' splits key and value");
	equal_text(stanza_get(&s[0], "long"), "one two", "an indented line continues the value");
	ok(stanza_get(&s[1], "k") == NULL, "a missing key is NULL");
	const char *bad = "[a]\nk v\n";
	ok(!stanza_parse(bad, strlen(bad), "t", &arena, &s, &n, &err), "a line without '=' is refused");
	equal_text(err.text, "t:2:4: expected 'key = value'", "with its line and column");
	arena_free(&arena);
}

static void files(void)
{
	struct error err = {0};
	ok(!file_read("/nonexistent/x", 10, NULL, &err) && err.code == ERROR_NOT_FOUND,
	   "a missing file is not found");
	ok(!file_read("/proc/self/status", 16, NULL, &err) && err.code == ERROR_LIMIT,
	   "a file over the limit is refused, not cut");
	FILE *full = file_create("/dev/full", &err);
	fputs("x", full);
	ok(!file_finish(full, "/dev/full", &err) && err.os_errno == ENOSPC, "a full disk is found at the end");
}

static bool replace_with(const char *path, const char *text, struct error *err)
{
	return file_replace(path, text, strlen(text), err);
}

static bool has_text(const char *path, const char *text)
{
	char *found = file_read(path, 1000, NULL, NULL);
	bool same = found && strcmp(found, text) == 0;
	free(found);
	return same;
}

static bool is_kind(const char *path, mode_t kind)
{
	struct stat status;
	return lstat(path, &status) == 0 && (status.st_mode & S_IFMT) == kind;
}

/* Of a pipe that has this text in it already: nothing is waited for. */
static bool gives(int fd, const char *text)
{
	char found[100];
	ssize_t got = read(fd, found, sizeof found);
	return got == (ssize_t)strlen(text) && memcmp(found, text, (size_t)got) == 0;
}

static void replaced_files(void)
{
	char folder[] = "/tmp/tare-base-XXXXXX", open_file[64], open_pipe[64];
	struct error err = {0};
	int ends[2];
	if (!mkdtemp(folder) || chdir(folder) != 0 || mkdir("d", 0700) != 0 || pipe2(ends, O_NONBLOCK) != 0) {
		printf("Bail out! no temporary folder\n");
		exit(1);
	}
	ok(replace_with("d/file", "1", &err) && replace_with("d/file", "2", &err) && has_text("d/file", "2"),
	   "a file is made, and replaced");
	ok(symlink("file", "d/link") == 0 && symlink("d/link", "link") == 0 && replace_with("link", "3", &err) &&
		   has_text("d/file", "3"),
	   "a link to a link in another folder: the file that they lead to has the text");
	ok(is_kind("link", S_IFLNK) && is_kind("d/link", S_IFLNK), "both stay links");
	ok(symlink("new", "d/to-new") == 0 && replace_with("d/to-new", "4", &err) &&
		   is_kind("d/to-new", S_IFLNK) && has_text("d/new", "4"),
	   "a link to a file that is not there: the file is made");
	ok(symlink("loop", "loop") == 0 && !replace_with("loop", "5", &err) && err.os_errno == ELOOP &&
		   is_kind("loop", S_IFLNK),
	   "a link to itself is an error, and stays");
	ok(!replace_with("d", "6", &err) && err.os_errno == EISDIR, "a folder is an error");

	int fifo = mkfifo("fifo", 0600) == 0 ? open("fifo", O_RDONLY | O_NONBLOCK) : -1;
	ok(replace_with("fifo", "7", &err) && is_kind("fifo", S_IFIFO) && gives(fifo, "7"),
	   "a pipe is written to");
	ok(symlink("fifo", "to-fifo") == 0 && replace_with("to-fifo", "8", &err) && is_kind("to-fifo", S_IFLNK) &&
		   is_kind("fifo", S_IFIFO) && gives(fifo, "8"),
	   "by a link, too");

	/* as /dev/stdout, which leads to /proc/self/fd/1 */
	snprintf(open_pipe, sizeof open_pipe, "/proc/self/fd/%d", ends[1]);
	ok(symlink(open_pipe, "to-pipe") == 0 && replace_with("to-pipe", "9", &err) &&
		   is_kind("to-pipe", S_IFLNK) && gives(ends[0], "9"),
	   "an open pipe that has no name is written to by a link such as /dev/stdout");
	int fd = open("d/file", O_RDWR);
	snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", fd);
	ok(symlink(open_file, "to-open") == 0 && replace_with("to-open", "10", &err) &&
		   is_kind("to-open", S_IFLNK) && gives(fd, "10") && has_text("d/file", "10"),
	   "an open file has the text itself: it is not another file of that name");
	ok(unlink("d/file") == 0 && replace_with("to-open", "11", &err) && lseek(fd, 0, SEEK_SET) == 0 &&
		   gives(fd, "11") && access("d/file (deleted)", F_OK) != 0,
	   "also when it has no name any more");
	close(fd);
	close(fifo);
	close(ends[0]);
	close(ends[1]);
	for (const char *const *name = (const char *const[]){"link", "d/link", "d/to-new", "d/new", "loop", "fifo",
							     "to-fifo", "to-pipe", "to-open", NULL};
	     *name; name++)
		unlink(*name);
	ok(rmdir("d") == 0 && chdir("/") == 0 && rmdir(folder) == 0, "nothing else is left beside them");
}

static void strings(void)
{
	struct str s = {0};
	str_appendf(&s, "%d-%s", 12, "x");
	str_append_char(&s, '!');
	char *text = str_take(&s);
	equal_text(text, "12-x!", "a string grows by formats and characters");
	free(text);
	text = str_take(&s);
	equal_text(text, "", "a taken string is empty again");
	free(text);
	char out[6];
	str_escape_to(out, sizeof out, "abc\x01");
	equal_text(out, "abc", "an escape that does not fit whole is left out");
	VEC(int) v = {0};
	for (int i = 0; i < 100; i++)
		vec_push(&v, i);
	ok(v.count == 100 && v.items[99] == 99, "a vector keeps what was pushed");
	vec_free(&v);
}

static void hashes(void)
{
	struct hash_index index = {0};
	struct hash_search search = hash_find(&index, 7);
	uint32_t number;
	ok(!hash_next(&search, &number), "an empty index has no candidates");
	bool added = true;
	for (uint32_t i = 0; i < 10000; i++) /* each hash five times */
		added = added && hash_add(&index, hash_number(HASH_BEGIN, i % 2000), i);
	size_t wrong_count = 0, wrong_order = 0;
	for (uint32_t key = 0; key < 2000; key++) {
		uint32_t wanted = key, found = 0;
		search = hash_find(&index, hash_number(HASH_BEGIN, key));
		while (hash_next(&search, &number)) {
			if (number % 2000 != key)
				continue;
			wrong_order += number != wanted;
			wanted += 2000;
			found++;
		}
		wrong_count += found != 5;
	}
	ok(added && wrong_count == 0, "all numbers of a hash are found, after the table has grown many times");
	ok(wrong_order == 0, "those of one hash come in the order in which they were added");
	search = hash_find(&index, hash_number(HASH_BEGIN, 2000));
	ok(!hash_next(&search, &number), "what was not added is not found");
	hash_free(&index);
	ok(hash_text(hash_text(HASH_BEGIN, "a"), "bc") != hash_text(hash_text(HASH_BEGIN, "ab"), "c"),
	   "texts end where they end");
	ok(hash_bytes(HASH_BEGIN, "a", 1) == 0xaf63dc4c8601ec8cu, "FNV-1a of \"a\" is as its authors print it");
}

static void arenas(void)
{
	struct arena arena = {0};
	bool zeroed = true;
	arena_reset(&arena);
	ok(!arena.blocks, "an empty arena that is emptied stays empty");
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < 100; i++) {
			unsigned char *at = arena_alloc(&arena, 1000);
			for (size_t k = 0; at && k < 1000; k++)
				zeroed = zeroed && at[k] == 0;
			if (at)
				memset(at, 0xff, 1000);
			zeroed = zeroed && at;
		}
		arena_reset(&arena);
	}
	ok(zeroed, "what an arena gives is zeros, after it was emptied and used again too");
	arena_free(&arena);
}

static void sums(void)
{
	char sum[SHA256_BASE64], million[1000];
	memset(million, 'a', sizeof million);
	/* FIPS 180-4's examples: "abc"; 448 bits, for which the length needs a block of its own; the others by
	 * Python's hashlib */
	sha256_base64("abc", 3, sum);
	equal_text(sum, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", "SHA-256 of abc");
	sha256_base64("", 0, sum);
	equal_text(sum, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "of nothing");
	sha256_base64("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, sum);
	equal_text(sum, "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=", "of 448 bits");
	sha256_base64(million, 55, sum);
	equal_text(sum, "n0OQ+NMMLdkuyfCVtl4rmumwqSWlJY4kHJ8ekQ9zQxg=", "of 55 bytes");
	sha256_base64(million, 64, sum);
	equal_text(sum, "/+BU/nrgy23GXDr5th1SCfQ5hR20PQulmXM33xVGaOs=", "of a whole block");
	sha256_base64(million, 1000, sum);
	equal_text(sum, "Qe3s5C1j6Nm/UVqbppMuHCDLyfWl0TRkWttdsblzfqM=", "of many blocks");
}

static void wait_statuses(void)
{
	int status;
	pid_t exits = fork();
	if (exits == 0)
		_exit(3);
	ok(waitpid(exits, &status, 0) == exits && wait_status_shell(status) == 3, "$? of an exit is its status");
	pid_t killed = fork();
	if (killed == 0) {
		raise(SIGKILL);
		_exit(0);
	}
	ok(waitpid(killed, &status, 0) == killed && wait_status_shell(status) == 128 + SIGKILL,
	   "$? of a killed program is 128 and the signal");
}

static void columns(void)
{
	static const struct {
		const char *text;
		size_t columns;
		const char *fact;
	} texts[] = {
		{"main", 4, "a letter takes a column"},
		{"gr\u00f6\u00dfe \u2026 \u2500", 9, "so does each character that is not wide"},
		{"\u8a08\u7b97", 4, "an ideogram takes two"},
		{"\uacc4\uc0b0", 4, "so does a Hangul syllable"},
		{"\uff46\uff4e", 4, "and a full-width letter"},
		{"\U0001f600", 2, "and an emoji"},
		{"\U00020000", 2, "and an ideogram of the second plane"},
		{"e\u0301\u0323", 1, "marks join the letter before them"},
		{"a\u200b\ufeff", 1, "formats take none"},
		{"\xe8\xa8", 2, "a byte that is not UTF-8 takes one"},
		{"", 0, "no text takes none"},
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		equal_u64(text_columns(texts[i].text), texts[i].columns, texts[i].fact);
	const char *mixed = "a\u8a08e\u0301b"; /* columns 0, 1-2, 3, 4 */
	equal_u64(text_fitting(mixed, 2), 1, "half of a wide character does not fit");
	equal_u64(text_fitting(mixed, 4), 7, "a letter's mark is with it");
	equal_u64(text_behind(mixed, 2), 4, "nor does it begin behind its first half");
	equal_u64(text_behind(mixed, 4), 7, "a mark is not what follows");
	equal_u64(text_behind(mixed, 9), strlen(mixed), "behind the end is nothing");
}

int main(void)
{
	errors();
	wait_statuses();
	hashes();
	arenas();
	sums();
	numbers();
	nearest();
	stanzas();
	files();
	replaced_files();
	strings();
	columns();
	return done();
}
