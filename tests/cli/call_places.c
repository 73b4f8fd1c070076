/* System calls that do nothing, from known lines: the number in the remark behind a line is how many are made there,
 * from whatever stack; see explain_calls_test.py. */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))
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
	STAY;
}

static void *thread(void *unused)
{
	for (int i = 0; i < 13; i++)
		syscall(SYS_getppid); /* 13 */
	return unused;
}

/* From code of no file: mov $SYS_getppid, %eax; syscall; ret. */
static int from_memory(void)
{
	static const unsigned char code[] = {0xb8, SYS_getppid, 0, 0, 0, 0x0f, 0x05, 0xc3};
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*call)(void);
	if (at == MAP_FAILED)
		return 0;
	memcpy(at, code, sizeof code);
	memcpy(&call, &at, sizeof call);
	if (mprotect(at, 4096, PROT_READ | PROT_EXEC) != 0)
		return 0;
	for (int i = 0; i < 17; i++)
		call();
	return 1;
}

/* Two ways down at each level: 2^depth stacks. */
APART static void down(unsigned depth, unsigned way)
{
	if (!depth) {
		syscall(SYS_getppid); /* 16384 */
	} else if (way & 1) {
		__asm__ volatile("nop"); /* before and behind it: else both calls would be one */
		down(depth - 1, way >> 1);
		__asm__ volatile("nop");
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
	if (!from_memory())
		return 9;
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
