/* fact: pthread_cancel ends threads in a wait and in a loop, and runs their clean-up handlers */
#include "trap.h"

static atomic_int cleaned, started;
static void clean(void *unused)
{
	(void)unused, cleaned++;
}
static void *waits(void *unused)
{
	pthread_cleanup_push(clean, NULL);
	started++;
	for (;;)
		pause();
	pthread_cleanup_pop(0);
	return unused;
}
static void *spins(void *unused)
{
	pthread_cleanup_push(clean, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	started++;
	for (;;)
		asm volatile("");
	pthread_cleanup_pop(0);
	return unused;
}

int main(void)
{
	int ended = 0;
	for (int i = 0; i < 100; i++) {
		pthread_t a, b;
		void *result;
		started = 0;
		pthread_create(&a, NULL, waits, NULL);
		pthread_create(&b, NULL, spins, NULL);
		while (started < 2)
			sleep_ms(1);
		pthread_cancel(a), pthread_cancel(b);
		pthread_join(a, &result);
		ended += result == PTHREAD_CANCELED;
		pthread_join(b, &result);
		ended += result == PTHREAD_CANCELED;
	}
	fact_equal(ended, 200, "200 threads were cancelled");
	fact_equal(cleaned, 200, "their clean-up handlers ran");
	return trap_done();
}
