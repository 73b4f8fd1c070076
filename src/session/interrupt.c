#include "session/interrupt.h"

#include <stddef.h>

/* The one thing that a signal handler can reach. */
static volatile sig_atomic_t caught;

static void on_interrupt(int number, siginfo_t *info, void *context)
{
	(void)context;
	caught = info->si_code == SI_KERNEL ? -number : number;
}

static void on_closed_pipe(int number) { (void)number; }

static void catch_unless_ignored(int number, const struct sigaction *action)
{
	struct sigaction old;
	if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(number, action, NULL);
}

const volatile sig_atomic_t *interrupt_catch(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	const struct sigaction stop = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO};
	/* A handler, unlike SIG_IGN, is not inherited: the program has SIGPIPE as tare had it. */
	const struct sigaction closed_pipe = {.sa_handler = on_closed_pipe, .sa_flags = SA_RESTART};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		catch_unless_ignored(numbers[i], &stop);
	catch_unless_ignored(SIGPIPE, &closed_pipe);
	return &caught;
}
