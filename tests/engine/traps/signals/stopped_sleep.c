/* fact: a sleep stopped and continued is restarted by the kernel (restart_syscall), seen by the parent */
#include "trap.h"

int main(void)
{
	pid_t child = fork();
	if (child == 0) {
		struct timespec before, after;
		clock_gettime(CLOCK_MONOTONIC, &before);
		int result = nanosleep(&(struct timespec){ 0, 400000000 }, NULL);
		clock_gettime(CLOCK_MONOTONIC, &after);
		double seconds =
		    (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
		_exit(result == 0 && seconds >= 0.39 ? 0 : 1);
	}
	int status;
	sleep_ms(60);
	kill(child, SIGSTOP);
	fact(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP,
	     "the parent sees the stop");
	kill(child, SIGCONT);
	fact(waitpid(child, &status, WCONTINUED) == child && WIFCONTINUED(status),
	     "the parent sees the continuation");
	fact_equal(end_of(child), 0, "the sleep lasted as long as asked and returned 0");
	return trap_done();
}
