/* fact: a program under RLIMIT_AS of 300 MB runs, and its limit is its own
 * limits: as=300M stack=8M */
#include "trap.h"
#include <sys/resource.h>

static void *body(void *unused)
{
	return unused;
}
int main(void)
{
	struct rlimit limit;
	getrlimit(RLIMIT_AS, &limit);
	fact_equal((long)limit.rlim_cur, 300 << 20, "the limit is 300 MB");
	fact(malloc(1L << 30) == NULL && errno == ENOMEM, "a gigabyte is refused");
	char *block = malloc(100 << 20);
	fact(block != NULL, "100 MB are given");
	memset(block, 1, 100 << 20);
	pthread_t thread;
	fact(pthread_create(&thread, NULL, body, NULL) == 0 && pthread_join(thread, NULL) == 0, "a thread runs");
	pid_t child = fork();
	if (child == 0) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	fact_equal(end_of(child), 0, "a child runs");
	return trap_done();
}
