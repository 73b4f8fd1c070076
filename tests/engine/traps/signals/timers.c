/* fact: profiling, virtual and thread-directed timers deliver to the program */
#include "trap.h"
#include <pthread.h>
#include <sys/time.h>

static atomic_int count[3];
static _Thread_local int mine;
static atomic_int wrong_thread;
static void handler(int signal, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	count[signal == SIGPROF ? 0 : signal == SIGVTALRM ? 1 : 2]++;
	if (signal == SIGRTMIN + 2)
		wrong_thread += !mine;
}

static void *threaded(void *unused)
{
	mine = 1;
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 2 };
	event._sigev_un._tid = (int)syscall(SYS_gettid);
	timer_t timer;
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &(struct itimerspec){ { 0, 1000000 }, { 0, 1000000 } }, NULL);
	while (count[2] < 50)
		;
	timer_delete(timer);
	return unused;
}

int main(void)
{
	on_signal(SIGPROF, handler, SA_RESTART);
	on_signal(SIGVTALRM, handler, SA_RESTART);
	on_signal(SIGRTMIN + 2, handler, SA_RESTART);
	struct itimerval every = { { 0, 4000 }, { 0, 4000 } }, never = { { 0, 0 }, { 0, 0 } };
	setitimer(ITIMER_PROF, &every, NULL);
	while (count[0] < 20)
		;
	setitimer(ITIMER_PROF, &never, NULL);
	setitimer(ITIMER_VIRTUAL, &every, NULL);
	while (count[1] < 20)
		;
	setitimer(ITIMER_VIRTUAL, &never, NULL);
	fact(true, "ITIMER_PROF and ITIMER_VIRTUAL tick in a loop");
	pthread_t thread;
	pthread_create(&thread, NULL, threaded, NULL);
	pthread_join(thread, NULL);
	fact_equal(wrong_thread, 0, "a timer with SIGEV_THREAD_ID reaches its thread only");
	return trap_done();
}
