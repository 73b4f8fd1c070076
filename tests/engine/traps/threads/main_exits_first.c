/* fact: the main thread may end first: the process lives on and ends with its last thread's status 0, or exit's
 * ends: status 7 */
#include "trap.h"

static void *lives_on(void *unused)
{
	sleep_ms(100);
	char text[64] = { 0 };
	int file = open("/proc/self/stat", O_RDONLY);
	fact(file < 0 || read(file, text, 60) > 0, "the process is there after its main thread ended");
	exit(7);
	return unused;
}
static void *short_one(void *unused)
{
	sleep_ms(20);
	return unused;
}
static void last_thread_returns(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, short_one, NULL);
	pthread_exit(NULL);
}

int main(void)
{
	fact_equal(end_in_child(last_thread_returns), 0, "a process whose last thread returns ends with 0");
	pthread_t thread;
	pthread_create(&thread, NULL, lives_on, NULL);
	pthread_exit(NULL);
}
