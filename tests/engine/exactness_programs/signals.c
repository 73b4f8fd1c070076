/* raise, handlers with and without siginfo, nested, masks. */
#include <signal.h>
static volatile int seen;
static void inner(int s) { seen += s; }
static void outer(int s, siginfo_t *info, void *context) { (void)info, (void)context; raise(SIGUSR2); seen += s; }
int main(void)
{
	struct sigaction a = {.sa_sigaction = outer, .sa_flags = SA_SIGINFO};
	sigaction(SIGUSR1, &a, 0);
	signal(SIGUSR2, inner);
	for (int i = 0; i < 20; i++)
		raise(SIGUSR1);
	return seen != 20 * (SIGUSR1 + SIGUSR2);
}
