/* A program whose system calls take a known time at least, which the kernel guarantees: two sleeps of 50 ms, a poll of
 * nothing for 30 ms, a wait of 40 ms for a futex that nobody wakes; 1000 calls that do nothing; a child
 * that is killed in a select; and a thread that is in a pause when the program ends. "blind": it forbids the time stamp counter first;
 * "exec PROGRAM": so, and executes that. */
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int paused_tid;

static void *stays(void *unused)
{
	paused_tid = (int)syscall(SYS_gettid);
	for (;;)
		pause();
	return unused;
}

/* The first line of that file of a thread's; "" where it may not be read. */
static const char *line_of(int tid, const char *name, char text[512])
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", tid, name);
	FILE *file = fopen(path, "r");
	if (!file || !fgets(text, 512, file))
		text[0] = '\0';
	if (file)
		fclose(file);
	return text;
}

/* Until the kernel says that the thread is in that call; where it does not tell calls, that it sleeps: it does so in no other. */
static void until_in(int tid, long call)
{
	char text[512];
	for (;;) {
		line_of(tid, "syscall", text);
		if (text[0] && text[0] != 'r' && atol(text) == call)
			return;
		if (text[0])
			continue;
		const char *name_ends = strrchr(line_of(tid, "stat", text), ')');
		if (name_ends && name_ends[1] == ' ' && name_ends[2] == 'S')
			return;
	}
}

int main(int argc, char **argv)
{
	if (argc > 1 && prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0)
		return 9;
	if (argc > 2)
		return execl(argv[2], argv[2], (char *)NULL);
	uint32_t word = 0;
	struct timespec wait = {.tv_nsec = 40000000};
	pthread_t thread;
	if (pthread_create(&thread, NULL, stays, NULL) != 0)
		return 9;
	while (!paused_tid)
		;
	until_in(paused_tid, SYS_pause);
	pid_t child = fork();
	if (child == 0)
		_exit((int)syscall(SYS_select, 0, NULL, NULL, NULL, NULL));
	until_in(child, SYS_select);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	for (int i = 0; i < 2; i++)
		nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
	poll(NULL, 0, 30);
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &wait, NULL, 0);
	for (int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	return 0;
}
