/* fact: an exec from a thread ends the others and keeps the process id */
#include "trap.h"

static char *self;
static void *spins(void *unused)
{
	for (volatile long i = 0;; i++)
		;
	return unused;
}
static void *sleeps(void *unused)
{
	sleep_ms(100000);
	return unused;
}
static void *executes(void *unused)
{
	char pid[32];
	snprintf(pid, sizeof pid, "%d", getpid());
	sleep_ms(20);
	execl(self, self, pid, NULL);
	return unused;
}

int main(int count, char **argument)
{
	if (count > 1) {
		fact_equal(getpid(), atol(argument[1]), "the process id is kept");
		fact_equal(syscall(SYS_gettid), getpid(), "the thread that remains is the leader");
		FILE *status = fopen("/proc/self/status", "r");
		char line[256];
		int threads = 0;
		while (fgets(line, sizeof line, status))
			sscanf(line, "Threads: %d", &threads);
		fact_equal(threads, 1, "there is one thread");
		return trap_done();
	}
	pthread_t thread;
	self = argument[0];
	pthread_create(&thread, NULL, spins, NULL);
	pthread_create(&thread, NULL, sleeps, NULL);
	pthread_create(&thread, NULL, executes, NULL);
	pthread_join(thread, NULL);
	return 3;
}
