/* 20,000 calls that only wait, under a timer of 300 us: some signals come between what the engine does before a call and the call. */
#include <poll.h>
#include <signal.h>
#include <sys/time.h>

static void tick(int number) { (void)number; }

int main(void)
{
	struct itimerval every = {{0, 300}, {0, 300}};
	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 20000; i++)
		poll(NULL, 0, i % 16 == 0);
	return 0;
}
