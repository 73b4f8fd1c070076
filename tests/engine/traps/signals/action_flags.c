/* fact: SA_NODEFER, SA_RESETHAND, SA_RESTART and the rest are as the program set them */
#include "trap.h"

static volatile int depth, deepest, count;
static void recursive(int signal)
{
	if (++depth > deepest)
		deepest = depth;
	if (depth < 5)
		raise(signal);
	depth--;
	count++;
}
static void counting(int signal)
{
	(void)signal, count++;
}

int main(void)
{
	struct sigaction old;
	for (int s = 1; s <= 64; s++)
		if (s != 32 && s != 33) {
			sigaction(s, NULL, &old);
			if (old.sa_handler != SIG_DFL || old.sa_flags)
				fact_equal(s, 0, "a program begins with the default action for every signal");
		}
	sigset_t now;
	sigprocmask(SIG_SETMASK, NULL, &now);
	fact(sigisemptyset(&now), "and with no signal blocked");

	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = recursive, .sa_flags = SA_NODEFER }, NULL);
	raise(SIGUSR1);
	fact_equal(deepest, 5, "SA_NODEFER lets the handler interrupt itself");
	count = 0;
	sigaction(SIGUSR2, &(struct sigaction){ .sa_handler = counting, .sa_flags = SA_RESETHAND }, NULL);
	raise(SIGUSR2);
	sigaction(SIGUSR2, NULL, &old);
	fact(count == 1 && old.sa_handler == SIG_DFL, "SA_RESETHAND resets the action to the default");
	sigset_t some;
	sigemptyset(&some);
	sigaddset(&some, SIGHUP), sigaddset(&some, SIGRTMAX);
	sigaction(SIGUSR2,
		  &(struct sigaction){ .sa_handler = counting,
				       .sa_flags = SA_RESTART | SA_ONSTACK | SA_NOCLDSTOP,
				       .sa_mask = some },
		  NULL);
	sigaction(SIGUSR2, NULL, &old);
	fact(old.sa_handler == counting &&
		 (old.sa_flags & ~0x04000000) == (SA_RESTART | SA_ONSTACK | SA_NOCLDSTOP),
	     "handler and flags are read back");
	fact(sigismember(&old.sa_mask, SIGHUP) && sigismember(&old.sa_mask, SIGRTMAX) &&
		 !sigismember(&old.sa_mask, SIGUSR2),
	     "the mask is read back");
	for (int s = 1; s <= 64; s++)
		if (s != SIGKILL && s != SIGSTOP && s != 32 && s != 33) {
			count = 0;
			sigaction(s, &(struct sigaction){ .sa_handler = counting }, NULL);
			raise(s);
			if (count != 1)
				fact_equal(s, 0, "every signal can be caught");
		}
	fact(sigaction(SIGKILL, &(struct sigaction){ .sa_handler = counting }, NULL) == -1 && errno == EINVAL,
	     "SIGKILL cannot be caught");
	signal(SIGUSR1, SIG_IGN);
	raise(SIGUSR1);
	fact(signal(SIGUSR1, SIG_DFL) == SIG_IGN, "an ignored signal does nothing, and says so");
	/* SEGV, ILL, TRAP sent by hand are no faults */
	for (int i = 0; i < 5; i++) {
		count = 0;
		kill(getpid(), (int[]){ SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGFPE }[i]);
		if (count != 1)
			fact(false, "a fault's signal that is sent by kill is taken like any other");
	}
	fact(true, "the faults' signals can be sent by kill");
	return trap_done();
}
