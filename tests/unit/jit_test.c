/* Names of code made at run time, from perf's map files: recorded ones of node, Java and Python (tests/golden/jit), those that this test
 * writes, and node itself where it is installed. JIT_MAPS, the folder of the recorded ones, is a macro of the build. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "symbol/jit.h"
#include "tap.h"

static char map[] = "/tmp/tare-jit-XXXXXX"; /* of this test's own text */

static void write_file(const char *path, const char *mode, const char *text)
{
	FILE *file = fopen(path, mode);
	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		exit(2);
}

static struct jit_names *of_file(const char *path, bool ended)
{
	struct jit_names *j;
	if (!jit_new_file(path, &j, NULL) || !jit_read(j, ended, NULL))
		exit(2);
	return j;
}

static struct jit_names *of_text(const char *text, bool ended)
{
	write_file(map, "w", text);
	return of_file(map, ended);
}

static const char *name_at(struct jit_names *j, uint64_t address)
{
	struct jit_code code;
	return jit_find(j, address, &code) ? code.name : NULL;
}

static void one_line(void)
{
	struct jit_code code;
	struct jit_names *j = of_text("1000 20 a name of words\n", false);
	ok(jit_find(j, 0x1000, &code) && code.begins == 0x1000 && code.bytes == 0x20,
	   "a line names its first byte");
	equal_text(code.name, "a name of words", "the name is the rest of the line");
	ok(jit_find(j, 0x101f, &code) && !jit_find(j, 0x1020, &code) && !jit_find(j, 0xfff, &code),
	   "up to its last byte and no other");
	ok(jit_count(j) == 1 && !jit_trouble(j), "nothing is wrong with it");
	jit_free(j);
	j = of_text("0x1000 0X20 java\r\nFFFFFFFF00000000 A  two\n", false);
	equal_text(name_at(j, 0x1010), "java", "numbers may have 0x, lines may end in a carriage return");
	equal_text(name_at(j, 0xffffffff00000009), " two", "capitals are digits; one blank ends the size");
	jit_free(j);
}

static void overlapping(void)
{
	struct jit_names *j = of_text("1000 100 old\n1040 20 inner\n1080 100 later\n1000 10 newest\n", false);
	equal_text(name_at(j, 0x1008), "newest", "of lines for the same address the last one counts");
	equal_text(name_at(j, 0x1010), "old", "an earlier one keeps what is left of it: behind the later one,");
	equal_text(name_at(j, 0x1050), "inner", "around one inside it,");
	equal_text(name_at(j, 0x1060), "old", "on both sides,");
	equal_text(name_at(j, 0x1090), "later", "and before one that overlaps its end");
	equal_text(name_at(j, 0x117f), "later", "which goes on beyond it");
	ok(!name_at(j, 0x1180), "behind all there is nothing");
	jit_free(j);
	j = of_text("1040 20 inner\n1000 100 outer\n", false);
	equal_text(name_at(j, 0x1050), "outer", "a later line hides a smaller one");
	jit_free(j);
}

/* Many random lines against the definition: the last line that has the address. */
static void as_defined(void)
{
	enum { LINES = 400, SPACE = 512 };
	static unsigned last[SPACE];
	uint64_t random = 12345;
	bool same = true;
	for (unsigned round = 0; round < 20; round++) {
		FILE *file = fopen(map, "w");
		memset(last, 0, sizeof last);
		for (unsigned i = 1; i <= LINES; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			unsigned at = (unsigned)(random >> 40) % SPACE,
				 bytes = (unsigned)(random >> 20) % (round + 1);
			fprintf(file, "%x %x n%u\n", at, bytes, i);
			for (unsigned b = at; b < at + bytes && b < SPACE; b++)
				last[b] = i;
		}
		fclose(file);
		struct jit_names *j = of_file(map, false);
		for (unsigned b = 0; b < SPACE; b++) {
			char expected[16];
			snprintf(expected, sizeof expected, "n%u", last[b]);
			const char *is = name_at(j, b);
			same &= last[b] ? is && strcmp(is, expected) == 0 : !is;
		}
		jit_free(j);
	}
	ok(same, "20 files of 400 random lines name each address as their last line for it says");
}

static void growing(void)
{
	struct jit_names *j = of_text("1000 10 first\n2000 10 sec", false);
	equal_text(name_at(j, 0x1000), "first", "a whole line counts");
	ok(!name_at(j, 0x2000) && !jit_trouble(j), "one that is being written does not yet");
	const char *kept = name_at(j, 0x1000);
	write_file(map, "a", "ond\n1000 8 again\n");
	ok(jit_read(j, false, NULL), "the file grows");
	equal_text(name_at(j, 0x2000), "second", "the rest of a line joins its begin");
	equal_text(name_at(j, 0x1004), "again", "a place that was used again has its later name");
	equal_text(kept, "first", "names that were given live on");
	ok(jit_count(j) == 3, "no line was read twice");
	write_file(map, "a", "3000 10 last");
	ok(jit_read(j, false, NULL) && !name_at(j, 0x3000), "a line without its end waits");
	ok(jit_read(j, true, NULL), "when nobody writes any more");
	equal_text(name_at(j, 0x3000), "last", "it is whole");
	ok(jit_read(j, true, NULL) && jit_count(j) == 4, "and is there once");

	write_file(map, "w",
		   "1000 4 anew\n9000 10 more\n9100 10 and more\n9200 10 so that it is longer than before\n");
	ok(jit_read(j, false, NULL), "the file is written anew");
	equal_text(name_at(j, 0x1000), "anew", "its lines are later ones");
	equal_text(name_at(j, 0x2000), "second", "what it lacks keeps its name");
	equal_text(name_at(j, 0x9205), "so that it is longer than before",
		   "all of it is read, whatever its length was");
	unlink(map);
	ok(jit_read(j, true, NULL) && name_at(j, 0x2000) && !jit_trouble(j),
	   "a program may remove its file in the end");
	jit_free(j);
}

static void hostile(void)
{
	// clang-format off: a table, a row a line
	static const char *const wrong[] = {
		"zz 10 name",
		"1000",
		"1000 10",
		"1000 10 ",
		"1000 zz name",
		"10000000000000000 10 name",
		"1000 10000000000000000 name",
		"ffffffffffffffff 2 name",
		"1000 40000001 larger than any code",
		" ",
		"-1 10 name",
		"0x 10 name",
		"1000 0x name",
	};
	// clang-format on
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char text[256], expected[256];
		snprintf(text, sizeof text, "1000 10 good\n%s\n2000 10 too\n", wrong[i]);
		struct jit_names *j = of_text(text, false);
		snprintf(expected, sizeof expected, "line 2 of '%s' is not 'START SIZE name'", map);
		ok(name_at(j, 0x1008) && name_at(j, 0x2008) && !strcmp(name_at(j, 0x1008), "good") &&
			   jit_count(j) == 2 && jit_trouble(j) && !strcmp(jit_trouble(j), expected),
		   "'%s' is no line, the others are", wrong[i]);
		jit_free(j);
	}
	struct jit_names *j = of_text("1000 0 empty\n\n2000 10 good", true);
	ok(!name_at(j, 0x1000) && !strcmp(name_at(j, 0x2000), "good") && !jit_trouble(j),
	   "a line of no bytes and an empty one are nothing, and not wrong");
	jit_free(j);

	static char long_name[300000];
	memset(long_name, 'x', sizeof long_name - 1);
	FILE *file = fopen(map, "w");
	fprintf(file, "1000 10 %.10000s\n2000 10 %s\n3000 10 behind\n4000 10 \033[31m<b>\n", long_name, long_name);
	fclose(file);
	j = of_file(map, true);
	ok(strlen(name_at(j, 0x1000)) == 10000, "a name of 10000 bytes is whole");
	ok(strlen(name_at(j, 0x2000)) == JIT_NAME_MOST, "one of 300000 is cut");
	equal_text(name_at(j, 0x3000), "behind", "and the line behind it is a line");
	equal_text(name_at(j, 0x4000), "\033[31m<b>", "names are bytes as they are");
	jit_free(j);
	file = fopen(map, "w");
	fprintf(file, "1000 10 ");
	for (int i = 0; i < 10; i++)
		fputs(long_name, file);
	fclose(file);
	j = of_file(map, false);
	ok(strlen(name_at(j, 0x1000)) == JIT_NAME_MOST, "a file of one line that never ends has its begin");
	jit_free(j);
	file = fopen(map, "w");
	fwrite("1000 10 a\0b\n2000 10 c\n", 1, 22, file);
	fclose(file);
	j = of_file(map, false);
	ok(!name_at(j, 0x1000) && name_at(j, 0x2000) && jit_trouble(j), "a name with a NUL is no name");
	jit_free(j);
}

static void other_files(void)
{
	unlink(map);
	struct jit_names *j = of_file(map, true);
	ok(jit_count(j) == 0 && jit_trouble(j) && strstr(jit_trouble(j), "there is no"),
	   "without a file there are no names, and it says so");
	write_file(map, "w", "1000 10 late\n");
	ok(jit_read(j, false, NULL) && name_at(j, 0x1000) && !jit_trouble(j), "one that comes later is read");
	jit_free(j);
	unlink(map);
	if (mkfifo(map, 0600) != 0)
		exit(2);
	j = of_file(map, true);
	ok(jit_trouble(j) && strstr(jit_trouble(j), "not a regular file"), "a FIFO is not waited for");
	jit_free(j);
	unlink(map);
	if (symlink("/etc/passwd", map) != 0)
		exit(2);
	j = of_file(map, true);
	ok(jit_trouble(j) && strstr(jit_trouble(j), "symbolic link"), "a symbolic link is not followed");
	jit_free(j);
	unlink(map);
}

/* ---- processes ---- */

static pid_t waiting_child(void)
{
	pid_t child = fork();
	if (child == 0)
		for (;;)
			pause();
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static struct jit_names *of_process(pid_t pid)
{
	struct jit_names *j;
	if (!jit_new(pid, &j, NULL) || !jit_read(j, false, NULL))
		exit(2);
	return j;
}

static void own_file(void)
{
	char path[64];
	pid_t child = waiting_child();
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)child);
	write_file(path, "w", "1000 10 mine\n");
	struct jit_names *j = of_process(child);
	equal_text(name_at(j, 0x1000), "mine", "a process's file is found by its number");
	write_file(path, "a", "2000 10 without its end");
	end_child(child);
	ok(jit_read(j, true, NULL) && name_at(j, 0x2000), "also when it has ended");
	jit_free(j);
	j = of_process(child);
	equal_text(name_at(j, 0x1000), "mine", "and by one that asks only then");
	jit_free(j);
	unlink(path);

	child = waiting_child();
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)child);
	write_file(path, "w", "1000 10 stale\n");
	struct timespec times[2] = {{.tv_sec = time(NULL) - 3600}, {.tv_sec = time(NULL) - 3600}};
	utimensat(AT_FDCWD, path, times, 0);
	j = of_process(child);
	ok(!name_at(j, 0x1000) && jit_trouble(j) && strstr(jit_trouble(j), "is older than process"),
	   "a file from before the process is not its own");
	jit_free(j);
	if (geteuid() != 0)
		skip("this user cannot give files away", "a file of another user is not read");
	else {
		write_file(path, "w", "1000 10 foreign\n");
		ok(chown(path, 12345, 12345) == 0, "a file is given away");
		j = of_process(child);
		ok(!name_at(j, 0x1000) && jit_trouble(j) && strstr(jit_trouble(j), "belongs to user 12345"),
		   "a file of another user is not read");
		jit_free(j);
	}
	unlink(path);
	if (symlink("/etc/passwd", path) != 0)
		exit(2);
	j = of_process(child);
	ok(jit_count(j) == 0 && jit_trouble(j) && strstr(jit_trouble(j), "symbolic link"),
	   "nor one behind a symbolic link");
	jit_free(j);
	unlink(path);
	end_child(child);
}

/* In a child: namespaces of its own, in which its child is process 1 and has a /tmp with a file. */
static void in_namespaces(int ready)
{
	if (unshare(CLONE_NEWNS | CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) != 0)
		_exit(77);
	int own[2];
	if (pipe(own) != 0)
		_exit(1);
	pid_t first = fork();
	if (first > 0)
		close(own[1]);
	if (first == 0) {
		if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		    mount("tmpfs", "/tmp", "tmpfs", 0, NULL) != 0)
			_exit(77);
		write_file("/tmp/perf-1.map", "w", "1000 10 contained\n");
		if (write(own[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	char begun;
	if (read(own[0], &begun, 1) == 1 && write(ready, &first, sizeof first) != (ssize_t)sizeof first)
		_exit(1);
	waitpid(first, NULL, 0);
	_exit(0);
}

static void contained(void)
{
	static const char fact[] = "a process with namespaces of its own has its own number and its own /tmp";
	int ready[2];
	pid_t inside = 0;
	if (pipe(ready) != 0)
		exit(2);
	pid_t child = fork();
	if (child == 0)
		in_namespaces(ready[1]);
	close(ready[1]);
	ssize_t n = read(ready[0], &inside, sizeof inside);
	close(ready[0]);
	if (n != (ssize_t)sizeof inside) {
		skip("namespaces are not permitted here", fact);
		end_child(child);
		return;
	}
	struct jit_names *j = of_process(inside);
	equal_text(name_at(j, 0x1000), "contained", fact);
	kill(inside, SIGKILL);
	waitpid(child, NULL, 0);
	jit_free(j);
}

/* ---- what compilers write ---- */

static void recorded(const char *file, uint64_t address, const char *name, uint64_t begins)
{
	char path[512];
	struct jit_code code = {0};
	snprintf(path, sizeof path, JIT_MAPS "/%s", file);
	struct jit_names *j = of_file(path, true);
	ok(jit_find(j, address, &code) && code.begins == begins && !jit_trouble(j), "%s: every line is taken",
	   file);
	equal_text(code.name, name, file);
	jit_free(j);
}

/* node itself, while it runs. The truth is the last line about the function in the file. */
static void node(void)
{
	static const char fact[] = "node's own functions are found while it runs",
			  script[] =
				  "function hot(n){return "
				  "n<2?n:hot(n-1)+hot(n-2)};hot(25);console.log('ready');process.stdin.resume()";
	int in[2], out[2];
	char folder[] = "/tmp/tare-node-XXXXXX", command[64];
	char byte, path[64], line[4096];
	unsigned long long begins, bytes, at = 0;
	if (system("command -v node >/dev/null") != 0) {
		skip("node is not installed", fact);
		return;
	}
	if (pipe(in) != 0 || pipe(out) != 0 || !mkdtemp(folder))
		exit(2);
	pid_t child = fork();
	if (child == 0) {
		dup2(in[0], 0), dup2(out[1], 1);
		close(in[1]), close(out[0]);
		if (chdir(folder) != 0) /* it leaves a log there */
			_exit(127);
		execlp("node", "node", "--perf-basic-prof", "--interpreted-frames-native-stack", "-e", script,
		       (char *)NULL);
		_exit(127);
	}
	close(in[0]), close(out[1]);
	ok(read(out[0], &byte, 1) == 1, "node runs");
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)child);
	struct jit_names *j = of_process(child);
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof line, file))
		if (strstr(line, "hot ") && sscanf(line, "%llx %llx", &begins, &bytes) == 2 && bytes)
			at = begins;
	if (file)
		fclose(file);
	const char *name = at ? name_at(j, at) : NULL;
	ok(name && strstr(name, "hot"), "%s (%s)", fact, name ? name : "none");
	close(in[1]), close(out[0]);
	waitpid(child, NULL, 0);
	jit_free(j);
	unlink(path);
	snprintf(command, sizeof command, "rm -rf %s", folder);
	ok(system(command) == 0, "its log is removed");
}

int main(void)
{
	int fd = mkstemp(map);
	if (fd < 0)
		return 2;
	close(fd);
	one_line();
	overlapping();
	as_defined();
	growing();
	hostile();
	other_files();
	own_file();
	contained();
	recorded("node.map", 0x7f739c005b80 + 0x17f, "JS:*hotfib /tmp/sy/fib.js:1:16", 0x7f739c005b80);
	recorded("java.map", 0x00007fd1e1400f00 + 0x10, "int H.fib(int)", 0x00007fd1e1400f00);
	recorded("python3.12.map", 0x7f49f74b67bc + 1, "py::hot:/tmp/sy/p.py", 0x7f49f74b67bc);
	node();
	return done();
}
