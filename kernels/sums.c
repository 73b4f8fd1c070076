/* Threads that add up sums of their own, which stand BYTES apart (Zagha et al. 1996, section 4.3): side by side they share a line.
 *   sums THREADS BYTES ADDITIONS        ADDITIONS of all threads together */
#include <pthread.h>
#include <stdlib.h>

enum { MOST = 8, FARTHEST = 128 };

static char sums[MOST * FARTHEST] __attribute__((aligned(128)));
static long threads, apart, additions;
static long arrived; /* all begin at the same time */

static void *add(void *number)
{
	volatile double *sum = (volatile double *)(sums + (long)number * apart);
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < threads)
		;
	for (long i = additions / threads; i > 0; i--)
		*sum += 1;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[MOST];
	threads = argc > 1 ? atol(argv[1]) : 0;
	apart = argc > 2 ? atol(argv[2]) : 0;
	additions = argc > 3 ? atol(argv[3]) : 0;
	if (threads < 1 || threads > MOST || apart < 8 || apart > FARTHEST || apart % 8)
		return 2;
	for (long i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, add, (void *)i) != 0)
			return 1;
	for (long i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
