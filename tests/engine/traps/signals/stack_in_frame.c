/* fact: a handler's frame says how the alternate stack was set, and what it says is set again when the handler ends */
#include "trap.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

static char first[65536], second[65536];
static unsigned flags;
static size_t bytes;
static stack_t wanted;
static bool changes;

static void handler(int signal, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	(void)signal, (void)info;
	flags = (unsigned)u->uc_stack.ss_flags, bytes = u->uc_stack.ss_size;
	if (changes)
		u->uc_stack = wanted;
}

static stack_t after(int signal, unsigned how)
{
	stack_t stack = { .ss_sp = first, .ss_size = sizeof first, .ss_flags = (int)how }, now;
	if (sigaltstack(&stack, NULL))
		_exit(98);
	raise(signal);
	sigaltstack(NULL, &now);
	return now;
}

static void *in_thread(void *unused)
{
	raise(SIGUSR1);
	fact_equal((long)flags, SS_DISABLE, "a thread has none, and its frame says so");
	return unused;
}

int main(void)
{
	on_signal(SIGUSR1, handler, SA_ONSTACK);
	on_signal(SIGUSR2, handler, 0);
	raise(SIGUSR1);
	fact(bytes == 0, "before one is set there is none"); /* its flags are those that the process which executed this one had */
	static const unsigned hows[] = { 0, SS_ONSTACK, SS_AUTODISARM, SS_AUTODISARM | SS_ONSTACK };
	for (unsigned i = 0; i < 4; i++)
		for (int signal = SIGUSR1; signal <= SIGUSR2; signal += SIGUSR2 - SIGUSR1) {
			stack_t now = after(signal, hows[i]);
			fact_equal((long)flags, (long)hows[i], "the flags that the stack was set with");
			fact(now.ss_sp == first && now.ss_size == sizeof first, "which stays");
			fact_equal(now.ss_flags, (int)(hows[i] & SS_AUTODISARM), "with them");
		}
	static const unsigned nones[] = { SS_DISABLE, SS_DISABLE | SS_AUTODISARM };
	for (unsigned i = 0; i < 2; i++) {
		stack_t now = after(SIGUSR1, nones[i]);
		fact(flags == nones[i] && bytes == 0, "or how it was taken away");
		dprintf(1, "then %x %zu\n", (unsigned)now.ss_flags, now.ss_size);
	}
	/* by a handler that does not run on it */
	changes = true;
	wanted = (stack_t){ .ss_sp = second, .ss_size = sizeof second };
	stack_t now = after(SIGUSR2, 0);
	fact(now.ss_sp == second && now.ss_flags == 0, "a handler names another stack");
	wanted.ss_flags = SS_DISABLE;
	now = after(SIGUSR2, 0);
	fact(now.ss_flags == SS_DISABLE && now.ss_size == 0, "or none");
	wanted = (stack_t){ .ss_sp = second, .ss_size = sizeof second, .ss_flags = 77 };
	now = after(SIGUSR2, 0);
	fact(now.ss_sp == first, "flags that there are not change nothing");
	wanted = (stack_t){ .ss_sp = second, .ss_size = 100 };
	now = after(SIGUSR2, 0);
	fact(now.ss_sp == first, "nor does a stack that is too small");
	changes = false;
	pthread_t thread;
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	return trap_done();
}
