/* fact: a vfork child shares memory with its waiting parent, until exec, a failing exec or its exit */
#include "trap.h"

static volatile int shared;
int main(void)
{
	long wrong = 0;
	for (int i = 0; i < 60; i++) {
		shared = 0;
		pid_t child = vfork();
		if (child == 0) {
			shared = 17;
			execl("/bin/true", "true", NULL);
			_exit(100);
		}
		wrong += shared != 17 || end_of(child) != 0;
		child = vfork();
		if (child == 0) {
			shared = 18;
			execl("/nonexistent/program", "x", NULL);
			shared = errno;
			_exit(127);
		}
		wrong += shared != ENOENT || end_of(child) != 127;
		child = vfork();
		if (child == 0) {
			shared++;
			_exit(9);
		}
		wrong += shared != ENOENT + 1 || end_of(child) != 9;
		child = vfork();
		if (child == 0)
			kill(getpid(), SIGTERM), _exit(1);
		wrong += end_of(child) != 1000 + SIGTERM;
	}
	fact_equal(wrong, 0, "sixty rounds of exec, failed exec, exit and death");
	return trap_done();
}
