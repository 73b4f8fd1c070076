/*
 * Maps N areas of huge pages, two of them apart from each other, and touches none; then loads from ROUNDS pages of 4 KiB, in a child if asked.
 * Or (N negative): maps one, 4 MiB, stores to each 4 KiB of it, ROUNDS times, in a child or not. 77: no huge pages are to be had.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HUGE = 2 << 20, AREA = 4 << 20 };

static void *map(void *at, size_t bytes, int more)
{
	return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0);
}

static void touch(volatile char *memory, size_t bytes, int rounds)
{
	for (int i = 0; i < rounds; i++)
		for (size_t at = 0; at < bytes; at += 4096)
			memory[at] = 1;
}

int main(int argc, char **argv) /* N ROUNDS [fork] */
{
	int n = argc > 2 ? atoi(argv[1]) : 0, rounds = argc > 2 ? atoi(argv[2]) : 0, status = 0;
	char *memory = map(NULL, n < 0 ? AREA : 2 * HUGE, n < 0 ? MAP_HUGETLB : 0), *areas;
	pid_t child = 0;
	if (memory == MAP_FAILED)
		return 77;
	areas = n > 0 ? mmap(NULL, (2 * (size_t)n + 1) * HUGE, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
		      : NULL;
	areas += -(unsigned long)areas % HUGE;
	for (int i = 0; i < n; i++)
		if (map(areas + 2ul * (size_t)i * HUGE, HUGE, MAP_HUGETLB | MAP_NORESERVE | MAP_FIXED) ==
		    MAP_FAILED)
			return 77;
	if (argc > 3 && !strcmp(argv[3], "fork"))
		child = fork();
	if (child)
		return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	touch(memory, n < 0 ? AREA : HUGE, rounds);
	return 0;
}
