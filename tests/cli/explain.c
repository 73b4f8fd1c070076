/* Programs of which most time has one cause by construction: explain CAUSE AMOUNT. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Loads in a random circle of lines: each waits for the one before. */
__attribute__((noinline)) static size_t chase(const size_t *lines, long steps)
{
	size_t at = 0;
	for (long i = 0; i < steps; i++)
		at = lines[at * 8];
	return at;
}

static void memory(long lines)
{
	size_t *all = mmap(NULL, (size_t)lines * 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (long i = 0; i < lines; i++)
		all[i * 8] = (size_t)i;
	for (long i = lines - 1; i > 0; i--) {
		size_t j = next_random() % (size_t)i, kept = all[i * 8];
		all[i * 8] = all[j * 8];
		all[j * 8] = kept;
	}
	printf("%zu\n", chase(all, lines * 4));
}

/* Lines in order, up and down, four times each. */
__attribute__((noinline)) static uint64_t go_up(const volatile uint64_t *all, long lines)
{
	uint64_t sum = 0;
	for (int turn = 0; turn < 4; turn++)
		for (long i = 0; i < lines; i++)
			sum += all[i * 8];
	return sum;
}

__attribute__((noinline)) static uint64_t go_down(const volatile uint64_t *all, long lines)
{
	uint64_t sum = 0;
	for (int turn = 0; turn < 4; turn++)
		for (long i = lines - 1; i >= 0; i--)
			sum += all[i * 8];
	return sum;
}

static void sweeps(const char *cause, long lines)
{
	volatile uint64_t *all =
		mmap(NULL, (size_t)lines * 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("%d\n", (strcmp(cause, "up") == 0 ? go_up : go_down)(all, lines) == 0);
}

/* Branches on random bits. */
__attribute__((noinline)) static void branches(long n)
{
	uint64_t even = 0, odd = 0;
	for (long i = 0; i < n; i++) {
		if (next_random() >> 20 & 1) {
			odd++;
			__asm__ volatile("" : "+r"(odd));
		} else {
			even++;
			__asm__ volatile("" : "+r"(even));
		}
	}
	printf("%d\n", even + odd == (uint64_t)n);
}

/* First touches of pages. */
__attribute__((noinline)) static void faults(long pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *all =
		mmap(NULL, (size_t)pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)all, (size_t)pages * page, MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++)
		all[(size_t)i * page] = 1;
}

static void calls(long n)
{
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
}

static void sleeping(long ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_lock(void *unused)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return unused;
}

/* Two threads wait for a lock that a third one holds while it sleeps. */
static void locks(long ms)
{
	pthread_t threads[2];
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, wait_for_lock, NULL);
	sleeping(ms);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* Reads from a pipe whose writer sleeps. */
static void reading(long ms)
{
	int ends[2];
	char byte;
	if (pipe(ends) != 0)
		exit(9);
	if (fork() == 0) {
		close(ends[0]);
		sleeping(ms);
		_exit(write(ends[1], "x", 1) == 1 ? 0 : 9);
	}
	close(ends[1]);
	exit(read(ends[0], &byte, 1) == 1 ? 0 : 9);
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0;
	const char *cause = argc > 1 ? argv[1] : "";
	if (strcmp(cause, "memory") == 0)
		memory(n);
	else if (strcmp(cause, "up") == 0 || strcmp(cause, "down") == 0)
		sweeps(cause, n);
	else if (strcmp(cause, "branches") == 0)
		branches(n);
	else if (strcmp(cause, "faults") == 0)
		faults(n);
	else if (strcmp(cause, "calls") == 0)
		calls(n);
	else if (strcmp(cause, "sleeping") == 0)
		sleeping(n);
	else if (strcmp(cause, "locks") == 0)
		locks(n);
	else if (strcmp(cause, "reading") == 0)
		reading(n);
	else if (strcmp(cause, "exit") == 0)
		return (int)n;
	else if (strcmp(cause, "echo") == 0) {
		for (int c; (c = getchar()) != EOF;)
			putchar(c);
	} else
		return 9;
	return 0;
}
