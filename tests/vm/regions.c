/* A program whose regions have known instructions; they are in regions.S, the arithmetic is in region_test.c.
 *
 *     regions PART COUNT N      PART: work, nop, frame, branch, lines, outer, recurse: that function, COUNT times; threads: work in
 *                               four threads; children: in three processes */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void region_work(uint64_t n), region_nop(uint64_t n), region_frame(uint64_t n), region_branch(uint64_t n), region_lines(uint64_t n),
	region_outer(uint64_t n), region_recurse(uint64_t n, uint64_t depth);

static uint64_t count, n;

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
		else if (strcmp(part, "lines") == 0)
			region_lines(n);
		else if (strcmp(part, "outer") == 0)
			region_outer(n);
		else if (strcmp(part, "recurse") == 0)
			region_recurse(n, 4);
	}
	return 0;
}
