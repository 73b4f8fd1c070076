/* fact: sigpending, sigsuspend, sigwaitinfo, sigtimedwait and signalfd see exactly the signals sent */
#include "trap.h"
#include <sys/signalfd.h>

static volatile int count;
static volatile int blocked_inside;
static void counting(int signal)
{
	sigset_t now;
	sigprocmask(SIG_SETMASK, NULL, &now);
	blocked_inside =
	    sigismember(&now, SIGUSR1) * 4 + sigismember(&now, SIGUSR2) * 2 + sigismember(&now, SIGHUP);
	count += signal == SIGUSR1;
}

static void *sender(void *unused)
{
	sleep_ms(50);
	kill(getpid(), SIGUSR1);
	return unused;
}

int main(void)
{
	sigset_t set, pending, except, old, now;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1), sigaddset(&set, SIGUSR2), sigaddset(&set, SIGHUP), sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = counting }, NULL);
	sigpending(&pending);
	fact(sigisemptyset(&pending), "nothing is pending");
	raise(SIGUSR1), raise(SIGUSR1);
	sigpending(&pending);
	fact(sigismember(&pending, SIGUSR1) && !sigismember(&pending, SIGUSR2) && count == 0,
	     "a blocked signal is pending");
	sigprocmask(SIG_SETMASK, NULL, &except);
	sigdelset(&except, SIGUSR1);
	fact(sigsuspend(&except) == -1 && errno == EINTR && count == 1, "sigsuspend takes it once");
	fact_equal(blocked_inside, 7, "in the handler it and the suspended mask are blocked");
	sigprocmask(SIG_SETMASK, NULL, &now);
	fact(sigismember(&now, SIGUSR1) && sigismember(&now, SIGUSR2), "after sigsuspend the mask is back");
	pthread_t thread;
	pthread_create(&thread, NULL, sender, NULL);
	fact(sigsuspend(&except) == -1 && count == 2, "sigsuspend waits for a signal that comes later");
	pthread_join(thread, NULL);

	siginfo_t info;
	union sigval value = { .sival_int = 4711 };
	sigqueue(getpid(), SIGRTMIN, value);
	fact(sigwaitinfo(&set, &info) == SIGRTMIN && info.si_value.sival_int == 4711 && info.si_pid == getpid() &&
		 info.si_code == SI_QUEUE,
	     "sigwaitinfo has signal, payload, pid and code");
	fact(sigtimedwait(&set, &info, &(struct timespec){ 0, 10000000 }) == -1 && errno == EAGAIN,
	     "sigtimedwait times out with EAGAIN");
	raise(SIGHUP);
	fact(sigtimedwait(&set, &info, &(struct timespec){ 5, 0 }) == SIGHUP && info.si_code == SI_USER,
	     "sigtimedwait has a raise, as SI_USER in glibc");
	pthread_create(&thread, NULL, sender, NULL);
	fact(sigwaitinfo(&set, &info) == SIGUSR1 && info.si_code == SI_USER,
	     "sigwaitinfo waits for a kill, no handler runs");
	fact_equal(count, 2, "the handler did not run");
	pthread_join(thread, NULL);

	int file = signalfd(-1, &set, SFD_NONBLOCK);
	struct signalfd_siginfo got;
	fact(read(file, &got, sizeof got) == -1 && errno == EAGAIN, "signalfd has nothing");
	value.sival_int = 815;
	sigqueue(getpid(), SIGRTMIN, value);
	raise(SIGUSR2);
	fact(read(file, &got, sizeof got) == sizeof got && got.ssi_signo == SIGUSR2,
	     "signalfd reads the standard signal first");
	fact(read(file, &got, sizeof got) == sizeof got && got.ssi_signo == (unsigned)SIGRTMIN &&
		 got.ssi_int == 815,
	     "then the real-time one with its payload");
	/* pending signals are taken before sigprocmask returns */
	raise(SIGUSR1);
	sigprocmask(SIG_UNBLOCK, &set, &old);
	fact_equal(count, 3, "a pending signal is taken before sigprocmask returns");
	return trap_done();
}
