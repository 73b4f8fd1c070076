/* fact: storms of signals leave a computation's result as it is
 * Three sources: an interval timer, a thread that kills, and the worker itself. */
#include "trap.h"
#include <sys/time.h>

static atomic_long taken[3];
static atomic_int finish;
static pthread_t main_thread;
static void handler(int signal, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	int saved = errno;
	double x = signal;
	for (int i = 0; i < 5; i++)
		x = x * 1.5 + 1;
	taken[signal == SIGALRM ? 0 : signal == SIGUSR1 ? 1 : 2] += x > 0;
	errno = saved;
}

static void *killer(void *unused)
{
	while (!finish) {
		pthread_kill(main_thread, SIGUSR1);
		for (volatile int i = 0; i < 500; i++)
			;
	}
	return unused;
}

static int compare(const void *a, const void *b)
{
	return *(const unsigned *)a < *(const unsigned *)b ? -1 : *(const unsigned *)a > *(const unsigned *)b;
}

static uint64_t compute(void)
{
	static unsigned data[100000];
	uint64_t x = 88172645463325252, hash = 0;
	double sum = 0;
	for (int i = 0; i < 100000; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		data[i] = (unsigned)x;
		sum += (double)data[i] / 3;
	}
	qsort(data, 100000, sizeof data[0], compare);
	for (int i = 0; i < 100000; i++)
		hash = hash * 31 + data[i];
	memcpy(&x, &sum, 8);
	return hash ^ x;
}

int main(void)
{
	uint64_t expected = compute();
	long wrong = 0;
	main_thread = pthread_self();
	on_signal(SIGALRM, handler, SA_RESTART);
	on_signal(SIGUSR1, handler, SA_RESTART);
	on_signal(SIGUSR2, handler, SA_RESTART);
	setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 100 }, { 0, 100 } }, NULL);
	pthread_t thread;
	pthread_create(&thread, NULL, killer, NULL);
	for (int i = 0; i < 20; i++) {
		raise(SIGUSR2);
		wrong += compute() != expected;
	}
	setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 0 }, { 0, 0 } }, NULL);
	finish = 1;
	pthread_join(thread, NULL);
	fact_equal(wrong, 0, "twenty computations have the same result");
	fact(taken[0] > 10 && taken[1] > 10, "signals came");
	fact_equal(taken[2], 20, "each raise is taken once, at once");
	return trap_done();
}
