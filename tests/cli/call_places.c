/* System calls that do nothing, from known lines: the number in the remark behind a line is how many are made there,
 * from whatever stack; see explain_calls_test.py. */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
/* the call before is not the last thing that the function does: it stays in the stack */
#define STAY __asm__ volatile("" : : : "memory")

APART static void inner(void)
{
	syscall(SYS_getppid); /* 3 */
	STAY;
}

APART static void outer(void)
{
	for (int i = 0; i < 3; i++)
		inner();
	STAY;
}

/* Its frame is found by the frame pointer. */
APART static void of_any_size(size_t n)
{
	volatile char *room = alloca(n);
	room[0] = 1;
	syscall(SYS_getppid); /* 5 */
	room[n - 1] = 1;
}

static void handler(int signal)
{
	(void)signal;
	for (int i = 0; i < 7; i++)
		syscall(SYS_getppid); /* 7 */
}

static void *thread(void *unused)
{
	for (int i = 0; i < 13; i++)
		syscall(SYS_getppid); /* 13 */
	return unused;
}

/* Two ways down at each level: 2^depth stacks. */
APART static void down(unsigned depth, unsigned way)
{
	if (!depth) {
		syscall(SYS_getppid); /* 16384 */
	} else if (way & 1) {
		down(depth - 1, way >> 1);
		__asm__ volatile("nop"); /* else both calls would be one */
	} else {
		down(depth - 1, way >> 1);
	}
	STAY;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "stacks") == 0) {
		for (unsigned way = 0; way < 1u << 14; way++)
			down(14, way);
		return 0;
	}
	outer();
	for (size_t n = 1; n <= 5; n++)
		of_any_size(n * 100);
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	pthread_t started;
	if (pthread_create(&started, NULL, thread, NULL) != 0 || pthread_join(started, NULL) != 0)
		return 9;
	pid_t child = fork();
	for (int i = 0; child == 0 && i < 11; i++)
		syscall(SYS_getppid); /* 11 */
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	return 0;
}
