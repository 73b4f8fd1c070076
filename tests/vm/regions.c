/* A program whose regions have known instructions; region_test.c has the arithmetic.
 *
 *     regions PART COUNT N      PART: work, nop, frame, branch, nested, threads, children, lines
 *
 * Each function is assembly: 2 + 2N instructions from its first to its return, which begins as its name says:
 * `work` by a plain one, `nop` and `branch` by those that the kernel does itself when they are probed, `frame` by a push. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void region_work(uint64_t n), region_nop(uint64_t n), region_frame(uint64_t n), region_branch(uint64_t n);

#if defined(__aarch64__)
#define LOOP "1: subs x0, x0, #1\n b.ne 1b\n"
#define FUNCTION(name, first, last) \
	__asm__(".text\n.balign 16\n.globl " name "\n.type " name ", %function\n" name ":\n" first LOOP last "ret\n.size " name ", .-" name "\n")
FUNCTION("region_work", "mov x1, x0\n", "");
FUNCTION("region_nop", "nop\n", "");
FUNCTION("region_frame", "stp x29, x30, [sp, #-16]!\n", "ldp x29, x30, [sp], #16\n");
FUNCTION("region_branch", "b 1f\n", "");
#else
#define LOOP "1: dec %rdi\n jnz 1b\n"
#define FUNCTION(name, first, last) \
	__asm__(".text\n.balign 16\n.globl " name "\n.type " name ", @function\n" name ":\n" first LOOP last "ret\n.size " name ", .-" name "\n")
FUNCTION("region_work", "mov %rdi, %rax\n", "");
FUNCTION("region_nop", "nop\n", "");
FUNCTION("region_frame", "push %rbp\n", "pop %rbp\n");
FUNCTION("region_branch", "jmp 1f\n", "");
#endif

static uint64_t count, n;

__attribute__((noinline)) static void outer(void)
{
	region_work(n);
	region_nop(n);
	__asm__ volatile("");
}

__attribute__((noinline)) static void recurse(uint64_t depth)
{
	region_work(n);
	if (depth)
		recurse(depth - 1);
	__asm__ volatile("");
}

static void *run(void *argument)
{
	for (uint64_t i = 0; i < count; i++)
		region_work(n);
	return argument;
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	count = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	n = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	if (strcmp(part, "threads") == 0) {
		pthread_t threads[4];
		for (int i = 0; i < 4; i++)
			if (pthread_create(&threads[i], NULL, run, NULL) != 0)
				return 1;
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		return 0;
	}
	if (strcmp(part, "children") == 0) {
		for (int i = 0; i < 3; i++)
			if (fork() == 0) {
				run(NULL);
				_exit(0);
			}
		while (wait(NULL) > 0)
			;
		return 0;
	}
	for (uint64_t i = 0; i < count; i++) {
		if (strcmp(part, "work") == 0)
			region_work(n);
		else if (strcmp(part, "nop") == 0)
			region_nop(n);
		else if (strcmp(part, "frame") == 0)
			region_frame(n);
		else if (strcmp(part, "branch") == 0)
			region_branch(n);
		else if (strcmp(part, "nested") == 0)
			outer();
		else if (strcmp(part, "recurse") == 0)
			recurse(4);
	}
	return 0;
}
