/* fact: a sleep stopped and continued is restarted by the kernel (restart_syscall), seen by the parent */
#include "trap.h"

/* Sleeps for 0.4 s; status 0 where it did, to the end. */
static pid_t sleeper(void)
{
	pid_t child = fork();
	if (child)
		return child;
	struct timespec before, after;
	clock_gettime(CLOCK_MONOTONIC, &before);
	int result = nanosleep(&(struct timespec){ 0, 400000000 }, NULL);
	clock_gettime(CLOCK_MONOTONIC, &after);
	double seconds = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
	_exit(result == 0 && seconds >= 0.39 ? 0 : 1);
}

int main(void)
{
	int stopped = 0, continued = 0, end = -1;
	/* on a loaded machine the sleep may be over before its stop, or before its continuation, is seen: once more */
	for (int attempt = 0; attempt < 50 && !(WIFSTOPPED(stopped) && WIFCONTINUED(continued)); attempt++) {
		pid_t child = sleeper();
		sleep_ms(60);
		kill(child, SIGSTOP);
		if (waitpid(child, &stopped, WUNTRACED) == child && !WIFSTOPPED(stopped))
			continue; /* it has ended */
		kill(child, SIGCONT);
		if (waitpid(child, &continued, WCONTINUED) == child && !WIFCONTINUED(continued))
			continue;
		end = end_of(child);
	}
	fact(WIFSTOPPED(stopped) && WSTOPSIG(stopped) == SIGSTOP, "the parent sees the stop");
	fact(WIFCONTINUED(continued), "the parent sees the continuation");
	fact_equal(end, 0, "the sleep lasted as long as asked and returned 0");
	return trap_done();
}
