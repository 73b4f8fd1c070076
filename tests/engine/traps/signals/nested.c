/* fact: nested signals run in order, with the masks that sigaction asked for */
#include "trap.h"

static char order[64];
static int used;
static long masks_right;
static void note(char c)
{
	order[used++] = c;
}
static bool blocked(int signal)
{
	sigset_t now;
	sigprocmask(SIG_SETMASK, NULL, &now);
	return sigismember(&now, signal);
}
static void on_usr1(int s)
{
	(void)s, note('a'), masks_right += blocked(SIGUSR1) && blocked(SIGUSR2) && !blocked(SIGALRM),
	    raise(SIGUSR2), raise(SIGALRM), note('A');
}
static void on_usr2(int s)
{
	(void)s, note('b'), masks_right += blocked(SIGUSR2) && !blocked(SIGUSR1), note('B');
}
static void on_alrm(int s)
{
	(void)s, note('c'), masks_right += blocked(SIGALRM) && blocked(SIGUSR1) && blocked(SIGUSR2), raise(SIGHUP),
	    note('C');
}
static void on_hup(int s)
{
	(void)s, note('d'), masks_right += blocked(SIGALRM) && blocked(SIGHUP), note('D');
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_usr1 };
	sigaddset(&action.sa_mask, SIGUSR2);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &(struct sigaction){ .sa_handler = on_usr2 }, NULL);
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_alrm }, NULL);
	sigaction(SIGHUP, &(struct sigaction){ .sa_handler = on_hup }, NULL);
	for (int i = 0; i < 3; i++) {
		used = 0, masks_right = 0;
		memset(order, 0, sizeof order);
		raise(SIGUSR1);
		fact(strcmp(order, "acdDCAbB") == 0, "the order is that of the masks");
		fact_equal(masks_right, 4, "each handler has the mask it asked for");
		fact(!blocked(SIGUSR1) && !blocked(SIGUSR2) && !blocked(SIGALRM) && !blocked(SIGHUP),
		     "the mask is empty afterwards");
	}
	return trap_done();
}
