/* A process to attach to: threads that run loops of known lengths when told to.
 *
 *     spinners N...                 a thread for each N, which does 2N instructions (and a fixed number around
 * them)
 *
 * Prints "ready", its process id and the threads' ids; a byte on the standard input starts all; after they are
 * done it ends with the second byte, or at the end of the input. While they wait, threads execute nothing. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS_MOST = 16 };

struct spinner {
	uint64_t n;
	int start[2], done[2];
	pid_t tid;
	pthread_t thread;
};

static void loop(uint64_t n)
{
#if defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#else
	__asm__ volatile("1: sub $1, %0\n\tjnz 1b" : "+r"(n) : : "cc");
#endif
}

/* The same instructions for every thread, its loop apart. */
static void *spin(void *argument)
{
	struct spinner *s = argument;
	char byte = 0;
	s->tid = (pid_t)syscall(SYS_gettid);
	if (write(s->done[1], &byte, 1) != 1 || read(s->start[0], &byte, 1) != 1)
		return NULL;
	loop(s->n);
	if (write(s->done[1], &byte, 1) != 1)
		return NULL;
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	static struct spinner spinners[THREADS_MOST];
	char byte;
	int n = argc - 1;
	if (n < 1 || n > THREADS_MOST)
		return 2;
	printf("ready %d", (int)getpid());
	for (int i = 0; i < n; i++) {
		spinners[i].n = strtoull(argv[1 + i], NULL, 10);
		if (pipe(spinners[i].start) || pipe(spinners[i].done) ||
		    pthread_create(&spinners[i].thread, NULL, spin, &spinners[i]) ||
		    read(spinners[i].done[0], &byte, 1) != 1)
			return 1;
		printf(" %d", (int)spinners[i].tid);
	}
	printf("\n");
	fflush(stdout);
	if (read(0, &byte, 1) != 1)
		return 0;
	for (int i = 0; i < n; i++)
		if (write(spinners[i].start[1], &byte, 1) != 1)
			return 1;
	for (int i = 0; i < n; i++)
		if (read(spinners[i].done[0], &byte, 1) != 1)
			return 1;
	printf("done\n");
	fflush(stdout);
	return read(0, &byte, 1) < 0;
}
