/* Threads that add to a common sum under a lock. Without OWN each takes the lock for each addition; with OWN each adds up by itself, and takes it
   once.    sums THREADS */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 8, ADDITIONS = 5000 };

static pthread_mutex_t lock __attribute__((aligned(128))) = PTHREAD_MUTEX_INITIALIZER;
static volatile long sum __attribute__((aligned(128)));
static int threads, arrived; /* all begin at the same time */

static __attribute__((noipa)) void add(long n)
{
	pthread_mutex_lock(&lock);
	sum += n;
	pthread_mutex_unlock(&lock);
}

static void *work(void *argument)
{
	volatile long own = 0;
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < threads)
		;
	for (int i = 0; i < ADDITIONS; i++)
#ifdef OWN
		own += i;
#else
		add(i);
#endif
	if (own)
		add(own);
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t thread[MOST];
	threads = argc > 1 ? atoi(argv[1]) : 2;
	if (threads < 1 || threads > MOST)
		return 1;
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("%ld\n", sum);
	return 0;
}
