/* victim ROUNDS: prints "begun", then has generated code, signals, faults in the middle of blocks, threads and forks; prints a sum that depends on all of them. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf landing;
static volatile sig_atomic_t raised;
static uint8_t *code, *gap;

static void on_fault(int signal) { siglongjmp(landing, signal); }
static void on_user(int signal) { raised += signal == SIGUSR1; }

/* mov eax, n; ret: another one each time */
static uint32_t generated(uint32_t n)
{
	code[0] = 0xb8;
	memcpy(code + 1, &n, 4);
	code[5] = 0xc3;
	return ((uint32_t (*)(void))(uintptr_t)code)();
}

static uint64_t faulted(uint64_t n)
{
	volatile uint64_t before = n * 3;
	if (sigsetjmp(landing, 1) == 0)
		*(volatile uint64_t *)gap = before;
	return before + 1;
}

static uint64_t one_round(uint64_t i)
{
	raise(SIGUSR1);
	return generated((uint32_t)i * 7919) + faulted(i) + (uint64_t)raised;
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void *sort(void *arg)
{
	uint32_t *seed = arg;
	int numbers[256];
	for (int i = 0; i < 256; i++)
		numbers[i] = (int)((*seed = *seed * 1103515245 + 12345) >> 16 & 0x7fff);
	qsort(numbers, 256, sizeof *numbers, compare);
	*seed = (uint32_t)numbers[128];
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, sum = 0;
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	gap = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("begun\n");
	fflush(stdout);
	signal(SIGUSR1, on_user);
	signal(SIGSEGV, on_fault);
	for (uint64_t i = 0; i < rounds; i++) {
		uint32_t seed = (uint32_t)i;
		int status = 0;
		pthread_t thread;
		sum = sum * 31 + one_round(i);
		if (pthread_create(&thread, NULL, sort, &seed) || pthread_join(thread, NULL))
			return 1;
		sum += seed;
		if (i % 8)
			continue;
		pid_t child = fork();
		if (child == 0)
			_exit((int)(one_round(i + 1) & 0x7f));
		if (waitpid(child, &status, 0) != child)
			return 1;
		sum += (uint64_t)status;
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
