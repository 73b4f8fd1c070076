/* Threads that run one after the other: alone at first, where checks are inline, then not. */
#include <pthread.h>
#include <stdio.h>

static long table[8192];

static void *work(void *argument)
{
	long n = (long)argument;
	for (long i = 0; i < n; i++)
		table[i * 31 % 8192] += i ^ table[i % 8192];
	return NULL;
}

int main(void)
{
	work((void *)20000);
	for (long k = 1; k < 4; k++) {
		pthread_t thread;
		pthread_create(&thread, NULL, work, (void *)(5000 * k));
		pthread_join(thread, NULL);
		work((void *)3000);
	}
	printf("%ld\n", table[77]);
	return 0;
}
