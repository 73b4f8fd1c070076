/* fact: ppoll, pselect and epoll_pwait put their mask in place for the wait only, without a race */
#include "trap.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

static volatile int count;
static void counting(int signal)
{
	(void)signal, count++;
}

int main(void)
{
	sigset_t set, none, now;
	sigemptyset(&none), sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = counting, .sa_flags = SA_RESTART }, NULL);
	int ends[2], epoll = epoll_create1(0);
	if (pipe(ends))
		return 2;
	struct epoll_event event = { .events = EPOLLIN };
	epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
	struct pollfd in = { ends[0], POLLIN, 0 };
	fd_set files;
	long wrong = 0;
	for (int i = 0; i < 200; i++) {
		count = 0;
		raise(SIGUSR1);
		wrong += count != 0;
		wrong +=
		    !(ppoll(&in, 1, &(struct timespec){ 20, 0 }, &none) == -1 && errno == EINTR && count == 1);
		raise(SIGUSR1);
		FD_ZERO(&files);
		FD_SET(ends[0], &files);
		wrong += !(pselect(ends[0] + 1, &files, NULL, NULL, &(struct timespec){ 20, 0 }, &none) == -1 &&
			   errno == EINTR && count == 2);
		raise(SIGUSR1);
		wrong += !(epoll_pwait(epoll, &event, 1, 20000, &none) == -1 && errno == EINTR && count == 3);
		raise(SIGUSR1);
		wrong += ppoll(&in, 1, &(struct timespec){ 0, 1000 }, NULL) != 0 || count != 3;
		sigprocmask(SIG_SETMASK, NULL, &now);
		wrong += !sigismember(&now, SIGUSR1);
		sigsuspend(&none);
		wrong += count != 4;
		/* ready and pending: the mask is in place for the wait only */
		if (write(ends[1], "x", 1) != 1)
			return 2;
		wrong += ppoll(&in, 1, NULL, &none) != 1;
		char byte;
		if (read(ends[0], &byte, 1) != 1)
			return 2;
	}
	fact_equal(wrong, 0, "200 rounds of each, the pending signal is taken in the wait");
	struct pollfd bad = { ends[0], POLLIN, 0 };
	fact(ppoll(&bad, 1, &(struct timespec){ 0, -5 }, &none) == -1 && errno == EINVAL, "a bad time is EINVAL");
	return trap_done();
}
