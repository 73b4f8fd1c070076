/* Zagha et al. 1996, section 4.3: each thread works on a region of its own and adds up a sum of its own; the sums stand side by side.
   With LINE=128 each has a line of its own.    sums THREADS */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 8, CELLS = 20000 };

#ifndef LINE
#define LINE 8 /* bytes of a sum */
#endif

static struct {
	volatile double sum;
} __attribute__((aligned(LINE))) sums[MOST] __attribute__((aligned(128)));

static int threads, arrived; /* all begin at the same time */

static void *physics(void *argument)
{
	long me = (long)argument;
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < threads)
		;
	for (int cell = 0; cell < CELLS; cell++)
		sums[me].sum += 1;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[MOST];
	double sum = 0;
	threads = argc > 1 ? atoi(argv[1]) : 2;
	if (threads < 1 || threads > MOST)
		return 1;
	for (long i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, physics, (void *)i);
	for (long i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		sum += sums[i].sum;
	}
	printf("%.0f\n", sum);
	return 0;
}
