/* fact: each thread's handlers run on that thread's own alternate stack, and sigaltstack says so */
#include "trap.h"

static atomic_int right, busy, disarmed;
static _Thread_local char *base;
enum { SIZE = 32768 };

static void handler(int signal, siginfo_t *info, void *context)
{
	stack_t now;
	char here;
	(void)signal, (void)info;
	sigaltstack(NULL, &now);
	right += &here >= base && &here < base + SIZE && now.ss_flags == SS_ONSTACK && now.ss_sp == base &&
		 ((ucontext_t *)context)->uc_stack.ss_sp == base;
	busy += sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL) == -1 && errno == EPERM;
}

static void plain(int signal, siginfo_t *info, void *context)
{
	char here;
	(void)signal, (void)info, (void)context;
	disarmed += &here < base || &here >= base + SIZE;
}

static void *thread_body(void *unused)
{
	base = malloc(SIZE);
	stack_t old;
	sigaltstack(&(stack_t){ .ss_sp = base, .ss_size = SIZE }, &old);
	if (old.ss_flags != SS_DISABLE)
		fact(false, "a new thread has no alternate stack");
	for (int i = 0; i < 100; i++) {
		raise(SIGUSR1);
		raise(SIGUSR2);
	}
	return unused;
}

int main(void)
{
	pthread_t thread[8];
	on_signal(SIGUSR1, handler, SA_ONSTACK);
	on_signal(SIGUSR2, plain, 0);
	for (int i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, thread_body, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	fact_equal(right, 800, "handlers with SA_ONSTACK ran there");
	fact_equal(busy, 800, "the stack in use cannot be changed");
	fact_equal(disarmed, 800, "handlers without it ran on the thread's stack");
	stack_t now;
	sigaltstack(NULL, &now);
	fact(now.ss_flags == SS_DISABLE, "the main thread has none");
	fact(sigaltstack(&(stack_t){ .ss_sp = base, .ss_size = 100 }, NULL) == -1 && errno == ENOMEM,
	     "a stack of 100 bytes is refused");
	return trap_done();
}
