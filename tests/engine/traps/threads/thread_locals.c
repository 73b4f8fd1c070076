/* fact: thread-locals, exact sums, condition variables and barriers hold over many threads */
#include "trap.h"

static _Thread_local long mine = 5;
static _Thread_local char big[5000];
static atomic_long sum;
static long guarded, turns;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static atomic_long wrong;

static void *body(void *number)
{
	long n = (long)number;
	wrong += mine != 5 || big[4999] != 0;
	big[4999] = (char)n;
	for (int i = 0; i < 20000; i++) {
		mine += n;
		sum++;
		if (i % 100 == 0) {
			pthread_mutex_lock(&mutex);
			guarded++;
			pthread_mutex_unlock(&mutex);
		}
	}
	wrong += mine != 5 + 20000 * n || big[4999] != (char)n;
	for (int i = 0; i < 20; i++)
		pthread_barrier_wait(&barrier);
	for (int i = 0; i < 20; i++) { /* in turn */
		pthread_mutex_lock(&mutex);
		while (turns % 8 != n)
			pthread_cond_wait(&condition, &mutex);
		turns++;
		pthread_cond_broadcast(&condition);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[8];
	pthread_barrier_init(&barrier, NULL, 8);
	for (long i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, body, (void *)i);
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	fact_equal(wrong, 0, "thread-locals are each thread's own");
	fact_equal(sum, 160000, "an atomic sum is exact");
	fact_equal(guarded, 1600, "a sum under a mutex is exact");
	fact_equal(turns, 160, "turns by a condition variable");
	return trap_done();
}
