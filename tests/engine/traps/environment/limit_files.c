/* fact: a program under RLIMIT_NOFILE of 8 opens as many files as natively, with the same numbers
 * limits: nofile=8 */
#include "trap.h"
int main(void)
{
	for (int i = 3; i < 8; i++)
		fact_equal(open("/dev/null", O_RDONLY), i, "the next number");
	fact(open("/dev/null", O_RDONLY) == -1 && errno == EMFILE, "then no more");
	for (int i = 3; i < 8; i++)
		close(i);
	pid_t child = fork();
	if (child == 0) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	fact_equal(end_of(child), 0, "a child runs");
	return trap_done();
}
