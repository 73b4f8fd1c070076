#include "backend/perf/trial/answers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { PATH_BYTES = 512 };

/* ---- the process that waits for an answer ---- */

struct asker {
	int pid;
	unsigned long long start; /* proc(5), starttime: another process with its number has another */
};

/* False: there is no such process, or it has ended and nobody has waited for it yet. */
static bool start_of(int pid, unsigned long long *start)
{
	char path[64], text[1024];
	char state;
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = file >= 0 ? read(file, text, sizeof text - 1) : -1;
	if (file >= 0)
		close(file);
	if (got <= 0)
		return false;
	text[got] = '\0';
	/* its name, in parentheses, may have any character */
	const char *behind = strrchr(text, ')');
	return behind &&
	       sscanf(behind + 1,
		      " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &state,
		      start) == 2 &&
	       state != 'Z' && state != 'X';
}

/* ---- the note ---- */

static bool note_path(const char *folder, char path[PATH_BYTES])
{
	char boot[64];
	FILE *file = folder ? fopen("/proc/sys/kernel/random/boot_id", "re") : NULL;
	bool known = file && fscanf(file, "%63s", boot) == 1;
	if (file)
		fclose(file);
	return known &&
	       (size_t)snprintf(path, PATH_BYTES, "%s/tare-tracing-%s", folder, boot) < (size_t)PATH_BYTES;
}

/* Does the process of the note still wait? It is believed of this user or root. */
static bool find_note(const char *path, struct asker *asker)
{
	char text[64];
	struct stat of;
	unsigned long long start;
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return false;
	bool trusted = fstat(file, &of) == 0 && S_ISREG(of.st_mode) && (of.st_uid == 0 || of.st_uid == geteuid());
	ssize_t got = trusted ? read(file, text, sizeof text - 1) : -1;
	close(file);
	if (got < 0)
		return false;
	text[got] = '\0';
	if (sscanf(text, "%d %llu", &asker->pid, &asker->start) == 2 && asker->pid > 0 &&
	    start_of(asker->pid, &start) && start == asker->start)
		return true;
	unlink(path);
	return false;
}

static void leave_note(const char *path, const struct asker *asker)
{
	char text[64];
	int length = snprintf(text, sizeof text, "%d %llu\n", asker->pid, asker->start);
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (file < 0)
		return;
	if (write(file, text, (size_t)length) != length)
		unlink(path);
	close(file);
}

/* ---- asking ---- */

/* No signal tells of its end: libtare asks in programs that wait for their own children. */
static pid_t start_asker(const struct timed_question *question, int ends[2])
{
	pid_t pid = (pid_t)syscall(SYS_clone, 0L, NULL, NULL, NULL, NULL);
	if (pid != 0)
		return pid;
	close_range(0, (unsigned)ends[1] - 1, 0);
	close_range((unsigned)ends[1] + 1, ~0u, 0);
	setsid();
	question->ask();
	ssize_t told = write(ends[1], "a", 1);
	_exit(told != 1);
}

static bool wait_for_answer(int fd, int wait_ms)
{
	struct clock clock = clock_monotonic();
	uint64_t until_ns = clock_now_ns(&clock) + (uint64_t)wait_ms * 1000000;
	struct pollfd answer = {.fd = fd, .events = POLLIN};
	for (uint64_t now_ns; (now_ns = clock_now_ns(&clock)) < until_ns;) {
		if (poll(&answer, 1, (int)((until_ns - now_ns) / 1000000) + 1) > 0)
			return true;
	}
	return false;
}

static bool unanswered(const struct asker *asker, struct error *err)
{
	error_set(err, ERROR_UNSUPPORTED,
		  "this kernel's tracing does not answer: restart the machine (process %d waits for it, and "
		  "nothing ends that)",
		  asker->pid);
	return error_hint(err,
			  "until then --on exact counts regions; the kernel's log (dmesg) says what happened");
}

bool question_answered(const struct timed_question *question, struct error *err)
{
	char path[PATH_BYTES];
	struct asker asker;
	int ends[2];
	bool noted = note_path(question->folder, path);
	if (noted && find_note(path, &asker))
		return unanswered(&asker, err);
	if (pipe2(ends, O_CLOEXEC) != 0)
		return true; /* it is not known */
	asker.pid = start_asker(question, ends);
	close(ends[1]);
	bool answered = asker.pid < 0 || wait_for_answer(ends[0], question->wait_ms);
	close(ends[0]);
	if (answered && asker.pid > 0)
		while (waitpid(asker.pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	if (answered)
		return true;
	if (noted && start_of(asker.pid, &asker.start))
		leave_note(path, &asker);
	return unanswered(&asker, err);
}

/* ---- of tracing ---- */

/* There is no tracepoint with that number; to see that, the kernel takes the lock (perf_trace_init()). */
static void ask_tracing(void)
{
	struct perf_event_attr attr = {.size = sizeof attr,
				       .type = PERF_TYPE_TRACEPOINT,
				       .config = ~0ull,
				       .disabled = 1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bool tracing_answers(struct error *err)
{
	enum { WAIT_MS = 10000 };
	const char *folder = secure_getenv("XDG_RUNTIME_DIR");
	if (!folder || folder[0] != '/')
		folder = geteuid() == 0 ? "/run" : NULL;
	const struct timed_question question = {.ask = ask_tracing, .wait_ms = WAIT_MS, .folder = folder};
	return question_answered(&question, err);
}
