/* A kernel that does not answer is told after a bound of time, and at once by later processes, as long as it does not. */
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/perf/trial/answers.h"
#include "tap.h"

/* Shared with the processes that ask. */
static volatile struct {
	int asked;
	int open; /* descriptors that the one that asks has */
} * seen;

static char folder[] = "/tmp/tare-answers-XXXXXX";
static char note[256];

/* Of that name in the folder, which has no other file. */
static bool find_note(void)
{
	char pattern[64];
	glob_t found;
	snprintf(pattern, sizeof pattern, "%s/*", folder);
	bool is = glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1;
	if (is)
		snprintf(note, sizeof note, "%s", found.gl_pathv[0]);
	globfree(&found);
	return is;
}

static void count_descriptors(void)
{
	int n = 0;
	for (int fd = 0; fd < 100; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	seen->open = n;
}

static void answer_at_once(void)
{
	seen->asked++;
	count_descriptors();
}

static void never_answer(void)
{
	seen->asked++;
	for (;;)
		pause();
}

static bool answered(void (*ask)(void), int wait_ms, const char *where, struct error *err)
{
	*err = (struct error){0};
	return question_answered(&(struct timed_question){.ask = ask, .wait_ms = wait_ms, .folder = where}, err);
}

/* What the note says is waited for. */
static pid_t asker(void)
{
	int pid = 0;
	FILE *file = fopen(note, "re");
	if (!file || fscanf(file, "%d", &pid) != 1)
		pid = 0;
	if (file)
		fclose(file);
	return pid;
}

static void plant(const char *text)
{
	FILE *file = fopen(note, "we");
	if (file) {
		fputs(text, file);
		fclose(file);
	}
}

int main(void)
{
	enum { LONG_MS = 100000, SHORT_MS = 50 };
	struct error err;
	char text[64];
	seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED || !mkdtemp(folder))
		return 1;

	ok(answered(answer_at_once, LONG_MS, folder, &err) && seen->asked == 1,
	   "what answers is asked, and answers");
	ok(seen->open == 1, "the process that asks has nothing open but what it tells the answer by (%d)",
	   seen->open);
	ok(!find_note(), "there is no note of it");
	ok(waitpid(-1, NULL, __WALL) < 0, "and no process is left");

	ok(!answered(never_answer, SHORT_MS, folder, &err) && err.code == ERROR_UNSUPPORTED,
	   "what does not answer is told");
	while (seen->asked < 2) /* where CPUs are scarce it was not even asked yet */
		usleep(1000);
	ok(strstr(err.text, "does not answer") && strstr(err.text, "restart the machine"),
	   "with what to do (%s; %s)", err.text, err.hint);
	bool noted = find_note();
	pid_t waiting = noted ? asker() : 0;
	ok(waiting > 0, "and a note says which process waits (%d)", (int)waiting);
	ok(waitpid(-1, NULL, WNOHANG) < 0, "a program that waits for its children does not meet it");
	snprintf(text, sizeof text, "process %d ", (int)waiting);
	ok(strstr(err.text, text) != NULL, "the message names it, too");

	ok(!answered(answer_at_once, LONG_MS, folder, &err) && seen->asked == 2 && strstr(err.text, text),
	   "as long as it waits nobody asks again");
	ok(answered(answer_at_once, LONG_MS, NULL, &err) && seen->asked == 3, "but where there is no note");

	snprintf(text, sizeof text, "%d 1\n", (int)waiting);
	plant(text);
	ok(answered(answer_at_once, LONG_MS, folder, &err) && seen->asked == 4 && !find_note(),
	   "another process with its number is not it: the note is void, and taken away");
	plant("a line of something else\n");
	ok(answered(answer_at_once, LONG_MS, folder, &err) && seen->asked == 5, "so is a note that names none");

	/* it is this test's, and ends here; nobody has waited for it yet */
	ok(!answered(never_answer, SHORT_MS, folder, &err) && find_note() && asker() != waiting, "told again");
	pid_t second = asker();
	kill(second, SIGKILL);
	siginfo_t ended;
	waitid(P_PID, (id_t)second, &ended, WEXITED | WNOWAIT | __WALL);
	ok(answered(answer_at_once, LONG_MS, folder, &err) && !find_note(),
	   "when it has ended, it is asked again");
	waitpid(second, NULL, __WALL);

	if (geteuid() == 0 && !answered(never_answer, SHORT_MS, folder, &err) && find_note()) {
		pid_t third = asker();
		ok(chown(note, 12345, 12345) == 0 && answered(answer_at_once, LONG_MS, folder, &err),
		   "another user's note is not believed");
		kill(third, SIGKILL);
		waitpid(third, NULL, __WALL);
		unlink(note);
	} else {
		skip("only root can give files away", "another user's note is not believed");
	}
	kill(waiting, SIGKILL);
	waitpid(waiting, NULL, __WALL);
	rmdir(folder);
	return done();
}
