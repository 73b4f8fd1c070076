/*
 * changes: a program whose record is left at every turn: after threads and vforks have ended, while threads run and wait, in a child, in a child
 * of that child, in a child that clone(2) makes in new namespaces, and before an execve. Prints "ok" and the children's statuses.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;
static int gate[2];

static void *end_at_once(void *arg) { return arg; }

static void *run(void *arg)
{
	unsigned long n = 0;
	while (!stop)
		n++;
	return n ? NULL : arg;
}

static void *wait_at_gate(void *arg)
{
	char byte;
	return read(gate[0], &byte, 1) == 1 ? NULL : arg;
}

static int threads(void)
{
	pthread_t all[4];
	for (int i = 0; i < 4; i++)
		if (pthread_create(&all[i], NULL, end_at_once, NULL))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(all[i], NULL);
	return 0;
}

static int status_of(pid_t child)
{
	int status = -1;
	waitpid(child, &status, 0);
	return status;
}

/* The kernel refuses it in a process with threads, and one that was joined is there for a moment still. */
static int own_user_namespace(void)
{
	for (int i = 0; i < 1000; i++) {
		if (unshare(CLONE_NEWUSER) == 0)
			return 0;
		if (errno != EINVAL)
			break;
		usleep(1000);
	}
	return -1;
}

static int inner(void)
{
	if (threads() || own_user_namespace())
		return 10;
	pid_t child = fork();
	if (child == 0)
		_exit(threads() || unshare(CLONE_NEWUTS) || threads() ? 11 : 0);
	return status_of(child) ? 12 : threads();
}

int main(void)
{
	pthread_t running, waiting;
	int statuses[4];
	if (pipe(gate) || threads())
		return 1;
	for (int i = 0; i < 2; i++) {
		pid_t child = vfork();
		if (child == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		status_of(child);
	}
	pid_t child = fork();
	if (child == 0)
		_exit(inner());
	statuses[0] = status_of(child);
	if (pthread_create(&running, NULL, run, NULL) || pthread_create(&waiting, NULL, wait_at_gate, NULL))
		return 1;
	child = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
	if (child == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	statuses[1] = child < 0 ? -1 : status_of(child);
	statuses[2] = unshare(CLONE_NEWNS); /* by one thread of three */
	child = fork();
	if (child == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	statuses[3] = status_of(child);
	stop = 1;
	if (write(gate[1], "x", 1) != 1)
		return 1;
	pthread_join(running, NULL);
	pthread_join(waiting, NULL);
	printf("ok %d %d %d %d\n", statuses[0], statuses[1], statuses[2], statuses[3]);
	return statuses[0] || statuses[1] || statuses[2] || statuses[3];
}
