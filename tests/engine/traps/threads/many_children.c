/* fact: three hundred children, a tree of forks, orphans and a daemon all run and are waited for */
#include "trap.h"
#include <sys/prctl.h>

static int tree(int depth)
{
	int sum = 1;
	pid_t child[2];
	if (depth == 0)
		return 1;
	for (int i = 0; i < 2; i++)
		if ((child[i] = fork()) == 0)
			_exit(tree(depth - 1));
	for (int i = 0; i < 2; i++)
		sum += end_of(child[i]);
	return sum;
}

int main(void)
{
	long right = 0;
	for (int round = 0; round < 10; round++) {
		pid_t child[30];
		for (int i = 0; i < 30; i++)
			if ((child[i] = fork()) == 0)
				_exit(i + round);
		for (int i = 29; i >= 0; i--)
			right += end_of(child[i]) == i + round;
	}
	fact_equal(right, 300, "three hundred children");
	fact_equal(tree(5), 63, "a tree of 63 processes");
	int ends[2];
	char text[8] = { 0 };
	if (pipe(ends))
		return 2;
	pid_t child = fork();
	if (child == 0) {
		setsid();
		if (fork() == 0) { /* a daemon, orphaned */
			sleep_ms(50);
			if (write(ends[1], "daemon", 6) != 6)
				_exit(1);
		}
		_exit(0);
	}
	fact_equal(end_of(child), 0, "the daemon's parent ends");
	fact(read(ends[0], text, 6) == 6 && !strcmp(text, "daemon"), "the daemon lives on");
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(getppid() == 1 ? 2 : 0);
	}
	fact_equal(end_of(child), 0, "PR_SET_PDEATHSIG");
	return trap_done();
}
