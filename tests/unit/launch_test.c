/* backend/launch.c: what a held and released program is like, and what is said of one that cannot be executed. The test
 * executes itself, in the roles of play(). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/launch.h"
#include "tap.h"

static char folder[] = "/tmp/tare-launch-XXXXXX";

static const char *in_folder(const char *name)
{
	static char paths[8][128];
	static unsigned next;
	char *path = paths[next++ % 8];
	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

/* ---- the program's roles ---- */

static unsigned long long status_mask(const char *key)
{
	char line[256];
	unsigned long long mask = ~0ull;
	FILE *file = fopen("/proc/self/status", "r");
	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, key, strlen(key)) == 0)
			mask = strtoull(line + strlen(key) + 1, NULL, 16);
	if (file)
		fclose(file);
	return mask;
}

static int play(int argc, char **argv)
{
	if (strcmp(argv[1], "arguments") == 0) {
		for (int i = 2; i < argc; i++)
			printf("[%s]", argv[i]);
		printf("%s", getenv("TARE_LAUNCH") ? getenv("TARE_LAUNCH") : "none");
	} else if (strcmp(argv[1], "echo") == 0) {
		char line[64] = "";
		if (fgets(line, sizeof line, stdin))
			printf("out:%s", line);
		fprintf(stderr, "err:%s", line);
	} else if (strcmp(argv[1], "signals") == 0) {
		unsigned long long caught = status_mask("SigCgt:");
#if defined(SANITIZED)
		caught = 0; /* a sanitizer's own */
#endif
		printf("%llx %llx %llx", status_mask("SigBlk:"), status_mask("SigIgn:"), caught);
	} else if (strcmp(argv[1], "descriptors") == 0) {
		for (int fd = 0; fd < 64; fd++)
			if (fcntl(fd, F_GETFD) >= 0)
				printf("%d ", fd);
	} else if (strcmp(argv[1], "mark") == 0) {
		close(open(argv[2], O_CREAT | O_WRONLY, 0600));
	}
	return 7;
}

/* ---- running it ---- */

static bool at_once; /* by launch_now() */

static bool start(const struct command *command, struct launch *launch, struct error *err)
{
	return at_once ? launch_now(command, launch, err)
		       : launch_hold(command, launch, err) && launch_go(launch, command, err);
}

struct shown {
	char out[256], err[256];
	int status;
};

static void slurp(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	text[0] = '\0';
	if (!file)
		return;
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
}

/* Runs a command with its output kept; command->stdout_fd and stderr_fd are set here. */
static struct shown run(struct command *command)
{
	struct shown shown = {.status = -1};
	struct launch launch;
	struct error err = {0};
	command->stdout_fd = open(in_folder("out"), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
	command->stderr_fd = open(in_folder("err"), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
	if (start(command, &launch, &err))
		waitpid(launch.pid, &shown.status, 0);
	else
		printf("# %s\n", err.text);
	close(command->stdout_fd);
	close(command->stderr_fd);
	slurp(in_folder("out"), shown.out, sizeof shown.out);
	slurp(in_folder("err"), shown.err, sizeof shown.err);
	return shown;
}

static bool no_child(void) { return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD; }

#define ME "/proc/self/exe"
#define COMMAND(...)                                                                                              \
	(struct command)                                                                                          \
	{                                                                                                         \
		.argv = (char *const[]){__VA_ARGS__, NULL}, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1      \
	}

/* Fails at hold, at go or at once; true when the error is as expected and nothing is left. */
static bool fails(const struct command *command, enum error_code code, const char *part, const char *fact)
{
	struct launch launch;
	struct error err = {0};
	bool started = start(command, &launch, &err);
	bool holds = !started && err.code == code && strstr(err.text, part) && no_child();
	if (!holds)
		printf("# started %d code %d text '%s' hint '%s' child left %d\n", started, (int)err.code,
		       err.text, err.hint, !no_child());
	return ok(holds, "%s", fact);
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
	chmod(path, mode);
}

/* ---- the tests ---- */

static void handler(int number) { (void)number; }

static void test_arguments(void)
{
	struct command command = COMMAND(ME, "arguments", "a b", "", "*");
	equal_text(run(&command).out, "[a b][][*]none", "arguments arrive as they are");
	command.environment = (char *const[]){"TARE_LAUNCH=here", NULL};
	equal_text(run(&command).out, "[a b][][*]here", "the environment is the command's own");
	setenv("TARE_LAUNCH", "mine", 1);
	command.environment = NULL;
	struct shown shown = run(&command);
	equal_text(shown.out, "[a b][][*]mine", "without one it is tare's");
	unsetenv("TARE_LAUNCH");
	ok(WIFEXITED(shown.status) && WEXITSTATUS(shown.status) == 7, "the exit status is the program's");
}

static void test_streams(void)
{
	struct command command = COMMAND(ME, "echo");
	write_file(in_folder("in"), "hello\n", 0600);
	command.stdin_fd = open(in_folder("in"), O_RDONLY | O_CLOEXEC);
	struct shown shown = run(&command);
	close(command.stdin_fd);
	equal_text(shown.out, "out:hello\n", "standard input and output are the command's");
	equal_text(shown.err, "err:hello\n", "standard error is the command's");

	/* tare's own 1 and 2 exchanged, which has to be done without losing either */
	int out = dup(1), err = dup(2);
	int a = open(in_folder("a"), O_CREAT | O_TRUNC | O_RDWR, 0600);
	int b = open(in_folder("b"), O_CREAT | O_TRUNC | O_RDWR, 0600);
	struct launch launch;
	struct error error = {0};
	fflush(stdout);
	dup2(a, 1);
	dup2(b, 2);
	command.stdin_fd = open(in_folder("in"), O_RDONLY | O_CLOEXEC);
	command.stdout_fd = 2;
	command.stderr_fd = 1;
	bool started = start(&command, &launch, &error);
	if (started)
		waitpid(launch.pid, NULL, 0);
	dup2(out, 1);
	dup2(err, 2);
	close(command.stdin_fd);
	char text[2][64];
	slurp(in_folder("a"), text[0], sizeof text[0]);
	slurp(in_folder("b"), text[1], sizeof text[1]);
	ok(started && strcmp(text[0], "err:hello\n") == 0 && strcmp(text[1], "out:hello\n") == 0,
	   "output and error can be exchanged");
	close(out);
	close(err);
	close(a);
	close(b);

	command = COMMAND(ME, "echo");
	command.stdin_fd = 999;
	fails(&command, ERROR_SYSTEM, "standard input",
	      "a stream that is not open is an error, and the process is reaped");
}

/* What a program inherits of this test: whoever runs the tests may have left something open. */
static const char *inherited(void)
{
	static char list[256];
	list[0] = '\0';
	for (int fd = 0; fd < 64; fd++) {
		int flags = fcntl(fd, F_GETFD);
		if (flags >= 0 && !(flags & FD_CLOEXEC))
			sprintf(list + strlen(list), "%d ", fd);
	}
	return list;
}

static void test_descriptors(void)
{
	struct command command = COMMAND(ME, "descriptors");
	int mine = open("/dev/null", O_RDONLY | O_CLOEXEC);
	equal_text(run(&command).out, inherited(), "the program has tare's descriptors and no other");
	close(mine);

	/* the control channels must not take the place of a stream that tare does not have */
	int in = fcntl(0, F_DUPFD_CLOEXEC, 3);
	close(0);
	equal_text(run(&command).out, inherited(),
		   "standard input that is closed for tare is closed for the program");
	if (in >= 0) {
		dup2(in, 0);
		close(in);
	}
}

static void test_signals(void)
{
	struct sigaction caught = {.sa_handler = handler}, ignored = {.sa_handler = SIG_IGN};
	sigset_t blocked, before;
	char expected[128];
	struct command command = COMMAND(ME, "signals");
	unsigned long long ignored_before = status_mask("SigIgn:");
	sigaction(SIGUSR1, &caught, NULL);
	sigaction(SIGUSR2, &ignored, NULL);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_SETMASK, &blocked, &before);
	snprintf(expected, sizeof expected, "%llx %llx 0", 1ull << (SIGTERM - 1),
		 ignored_before | 1ull << (SIGUSR2 - 1));
	equal_text(run(&command).out, expected,
		   "the program has tare's signal mask and ignored signals, and no handler");
	sigset_t after;
	sigprocmask(SIG_SETMASK, &before, &after);
	ok(sigismember(&after, SIGTERM) && !sigismember(&after, SIGINT), "tare's own mask is as before");
}

/* Until the held child waits for its byte; the loop ends by the test's time-out if it never does. */
static void until_asleep(pid_t pid)
{
	char path[64], text[512] = "";
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	do {
		slurp(path, text, sizeof text);
	} while (!strrchr(text, ')') || strrchr(text, ')')[2] != 'S');
}

static void test_holding(void)
{
	struct launch launch;
	struct error err = {0};
	struct stat facts;
	struct command command = COMMAND(ME, "mark", (char *)in_folder("mark"));
	ok(launch_hold(&command, &launch, &err), "a program is held");
	until_asleep(launch.pid);
	ok(stat(in_folder("mark"), &facts) != 0, "a held program does nothing");
	ok(getpgid(launch.pid) == getpgid(0), "it is in tare's process group, so that Ctrl-C reaches it");
	launch_abandon(&launch);
	ok(no_child() && stat(in_folder("mark"), &facts) != 0,
	   "an abandoned program never ran, and leaves no zombie");
	launch_abandon(&launch);
	ok(launch.pid == 0, "abandoning twice does nothing");

	launch_hold(&command, &launch, &err);
	bool went = launch_go(&launch, &command, &err);
	waitpid(launch.pid, NULL, 0);
	ok(went && stat(in_folder("mark"), &facts) == 0, "one that is let go runs");
	launch_abandon(&launch);

	/* tare catches SIGINT (here SIGUSR1); the held child must die of it instead of running tare's handler */
	int status = 0;
	launch_hold(&command, &launch, &err);
	until_asleep(launch.pid);
	kill(launch.pid, SIGUSR1);
	went = launch_go(&launch, &command, &err);
	waitpid(launch.pid, &status, 0);
	ok(went && WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1,
	   "a signal that comes while it is held ends it as it would the program");
	launch_abandon(&launch);
}

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void test_at_once(void)
{
	struct launch launch;
	struct error err = {0};
	struct command command = COMMAND(ME, "mark", (char *)in_folder("mark now"));
	uint64_t begin = now_ns();
	bool started = launch_now(&command, &launch, &err);
	uint64_t took = now_ns() - begin;
	ok(started && launch.before_ns > 0 && launch.before_ns <= took,
	   "a program that is started at once: the time from the call to its exec is known");
	waitpid(launch.pid, NULL, 0);
	launch_abandon(&launch);
	ok(launch.pid > 0 && no_child(), "it has nothing to be abandoned");

	struct rusage all;
	int status = 0;
	command = COMMAND("sh", "-c", "exit 7");
	launch_now(&command, &launch, &err);
	wait4(launch.pid, &status, 0, &all);
	ok(WEXITSTATUS(status) == 7 && launch.before.ru_minflt <= all.ru_minflt,
	   "the account before its exec is a part of the whole");
}

static void test_failures(void)
{
	struct command command = COMMAND("tare-no-such-program");
	fails(&command, ERROR_NOT_FOUND, "'tare-no-such-program': not found in PATH",
	      "a program that is not there");
	command = COMMAND("/nowhere/at/all");
	fails(&command, ERROR_NOT_FOUND, "'/nowhere/at/all': no such file or directory",
	      "a path that is not there");
	command = COMMAND("");
	fails(&command, ERROR_NOT_FOUND, "empty", "an empty name");
	command = COMMAND("/tmp");
	fails(&command, ERROR_PERMISSION, "is a directory", "a directory");
	command = COMMAND("evil\033[2Jname");
	fails(&command, ERROR_NOT_FOUND, "evil\\x1b[2Jname", "control characters in a name are shown, not sent");

	const char *path = in_folder("plain");
	write_file(path, "echo hello\n", 0600);
	command = COMMAND((char *)path);
	fails(&command, ERROR_PERMISSION, "permission denied", "a file without the x bit");
	chmod(path, 0700);
	fails(&command, ERROR_PERMISSION, "exec format error", "a script without '#!' is not given to a shell");
	path = in_folder("orphan");
	write_file(path, "#!/no/such/interpreter\n", 0700);
	command = COMMAND((char *)path);
	fails(&command, ERROR_NOT_FOUND, "interpreter", "a script whose interpreter is not there");
}

static void test_path(void)
{
	char path[256];
	mkdir(in_folder("one"), 0700);
	mkdir(in_folder("two"), 0700);
	write_file(in_folder("one/tool"), "#!/bin/sh\necho one\n", 0600);
	write_file(in_folder("two/tool"), "#!/bin/sh\necho two\n", 0700);
	snprintf(path, sizeof path, "PATH=%s/one:%s/two", folder, folder);
	struct command command = COMMAND("tool");
	command.environment = (char *const[]){path, NULL};
	equal_text(run(&command).out, "two\n",
		   "PATH is the program's own, and what is not executable is passed over");
	snprintf(path, sizeof path, "PATH=%s/one", folder);
	fails(&command, ERROR_PERMISSION, "permission denied", "if nothing better follows, that is the complaint");

	char *before = getcwd(NULL, 0);
	if (chdir(in_folder("two")) == 0) {
		command.environment = (char *const[]){"PATH=/nowhere:", NULL};
		equal_text(run(&command).out, "two\n", "an empty entry of PATH is the current directory");
		command.environment = (char *const[]){"PATH=/nowhere", NULL};
		struct error err = {0};
		char *found = launch_find(&command, &err);
		ok(!found && strstr(err.hint, "./tool"), "a program in the current directory is hinted at");
		free(found);
	}
	if (chdir(before) != 0)
		printf("# cannot go back\n");
	free(before);
	command = COMMAND("sh", "-c", "echo standard");
	command.environment = (char *const[]){"NOTHING=1", NULL};
	equal_text(run(&command).out, "standard\n", "without PATH the system's standard one is searched");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return play(argc, argv);
	if (!mkdtemp(folder))
		return 1;
	for (int way = 0; way < 2; way++) {
		at_once = way == 1;
		printf("# %s\n", at_once ? "at once" : "held, then let go");
		test_arguments();
		test_streams();
		test_descriptors();
		test_signals();
		test_failures();
		test_path();
	}
	test_holding();
	test_at_once();
	ok(no_child(), "no process is left");

	char remove[128];
	snprintf(remove, sizeof remove, "rm -rf %s", folder);
	return system(remove) != 0 ? 1 : done();
}
