/* fact: siginfo arrives unchanged: sigqueue, tgkill, timers, children, rt_tgsigqueueinfo, queued in order */
#include "trap.h"

static siginfo_t got;
static volatile int count;
static int values[64];
static void handler(int signal, siginfo_t *info, void *context)
{
	(void)context, (void)signal;
	got = *info;
	if (count < 64)
		values[count] = info->si_value.sival_int;
	count++;
}

int main(void)
{
	on_signal(SIGRTMIN + 1, handler, 0);
	on_signal(SIGCHLD, handler, 0);
	sigqueue(getpid(), SIGRTMIN + 1, (union sigval){ .sival_ptr = (void *)0x123456789abc });
	fact(count == 1 && got.si_value.sival_ptr == (void *)0x123456789abc && got.si_code == SI_QUEUE &&
		 got.si_pid == getpid() && got.si_uid == getuid(),
	     "sigqueue's 64-bit payload, code, pid and uid");
	kill(getpid(), SIGRTMIN + 1);
	fact(count == 2 && got.si_code == SI_USER && got.si_pid == getpid(), "kill is SI_USER");
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGRTMIN + 1);
	fact(count == 3 && got.si_code == SI_TKILL, "tgkill is SI_TKILL");
	siginfo_t own = { .si_signo = SIGRTMIN + 1, .si_code = -77 };
	own.si_value.sival_int = 99;
	syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGRTMIN + 1, &own);
	fact(count == 4 && got.si_code == -77 && got.si_value.sival_int == 99, "a code and payload of one's own");
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGRTMIN + 1,
				  .sigev_value.sival_int = 31 };
	timer_t timer;
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &(struct itimerspec){ { 0, 0 }, { 0, 5000000 } }, NULL);
	while (count < 5)
		sleep_ms(1);
	fact(got.si_code == SI_TIMER && got.si_value.sival_int == 31 && got.si_timerid == 0, "a timer's payload");
	pid_t child = fork();
	if (child == 0)
		_exit(7);
	while (count < 6)
		sleep_ms(1);
	fact(got.si_signo == SIGCHLD && got.si_code == CLD_EXITED && got.si_status == 7 && got.si_pid == child,
	     "SIGCHLD has the child's status");
	waitpid(child, NULL, 0);
	sigset_t set;
	sigemptyset(&set), sigaddset(&set, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	count = 0;
	for (int i = 0; i < 40; i++)
		sigqueue(getpid(), SIGRTMIN + 1, (union sigval){ .sival_int = i });
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	fact_equal(count, 40, "forty queued signals are all taken");
	bool forwards = true;
	for (int i = 0; i < 40; i++)
		forwards &= values[i] == i;
	fact(forwards, "in their order");
	return trap_done();
}
