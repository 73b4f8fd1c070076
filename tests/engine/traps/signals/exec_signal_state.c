/* fact: across exec the ignored signals and the mask stay, handlers go, the alternate stack goes */
#include "trap.h"

static void handler(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
}
int main(int count, char **argument)
{
	sigset_t now;
	struct sigaction old;
	if (count > 1) {
		sigprocmask(SIG_SETMASK, NULL, &now);
		fact(sigismember(&now, SIGUSR2) && sigismember(&now, SIGSEGV) && !sigismember(&now, SIGUSR1),
		     "the mask stays");
		sigaction(SIGHUP, NULL, &old);
		fact(old.sa_handler == SIG_IGN, "an ignored signal stays ignored");
		sigaction(SIGBUS, NULL, &old);
		fact(old.sa_handler == SIG_IGN, "an ignored SIGBUS stays ignored");
		sigaction(SIGUSR1, NULL, &old);
		fact(old.sa_handler == SIG_DFL && old.sa_flags == 0, "a handler is reset");
		stack_t stack;
		sigaltstack(NULL, &stack);
		fact(stack.ss_flags == SS_DISABLE, "the alternate stack is gone");
		sigset_t pending;
		sigpending(&pending);
		fact(sigismember(&pending, SIGUSR2), "a pending signal stays pending");
		return trap_done();
	}
	sigemptyset(&now);
	sigaddset(&now, SIGUSR2), sigaddset(&now, SIGSEGV);
	sigprocmask(SIG_SETMASK, &now, NULL);
	signal(SIGHUP, SIG_IGN), signal(SIGBUS, SIG_IGN);
	on_signal(SIGUSR1, handler, SA_ONSTACK);
	sigaltstack(&(stack_t){ .ss_sp = malloc(65536), .ss_size = 65536 }, NULL);
	raise(SIGUSR2);
	execl(argument[0], argument[0], "again", NULL);
	return 3;
}
