#include "session/interrupt.h"

#include <stdbool.h>
#include <stddef.h>

enum { OF_TERMINAL = 0x74617265 }; /* with a signal that was passed on */

/* The one thing that a signal handler can reach. */
static volatile sig_atomic_t caught;

static void on_interrupt(int number, siginfo_t *info, void *context)
{
	(void)context;
	bool of_terminal = info->si_code == SI_KERNEL ||
			   (info->si_code == SI_QUEUE && info->si_value.sival_int == OF_TERMINAL);
	caught = of_terminal ? -number : number;
}

void interrupt_pass_on(pid_t to, int number, const siginfo_t *info)
{
	if (info->si_code == SI_KERNEL)
		sigqueue(to, number, (union sigval){.sival_int = OF_TERMINAL});
	else
		kill(to, number);
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
