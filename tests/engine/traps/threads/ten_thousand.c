/* fact: ten thousand short threads, joined and detached, leave nothing behind */
#include "trap.h"

static atomic_long sum, detached;
static void *adds(void *value)
{
	sum += (long)value;
	return value;
}
static void *detaches(void *unused)
{
	pthread_detach(pthread_self());
	detached++;
	return unused;
}

int main(void)
{
	long expected = 0, returned = 0;
	for (long i = 0; i < 8000; i += 8) {
		pthread_t thread[8];
		for (int j = 0; j < 8; j++) {
			if (pthread_create(&thread[j], NULL, adds, (void *)(i + j)))
				return 2;
			expected += i + j;
		}
		for (int j = 0; j < 8; j++) {
			void *result;
			pthread_join(thread[j], &result);
			returned += result == (void *)(i + j);
		}
	}
	for (int i = 0; i < 2000; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, detaches, NULL))
			return 3;
		while (detached < i)
			sleep_ms(0);
	}
	while (detached < 2000)
		sleep_ms(1);
	fact_equal(sum, expected, "each ran once");
	fact_equal(returned, 8000, "each returned its value");
	return trap_done();
}
