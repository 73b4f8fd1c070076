/* fact: SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGTRAP that are sent while they are blocked wait as any other signal does
 *
 * They are read from a signalfd, seen by sigpending, taken by sigtimedwait, and are delivered when they are no more blocked.
 */
#include "trap.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };
static volatile int handled, handled_code;

static void handler(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	handled++;
	handled_code = info->si_code;
}

static void *kills(void *argument)
{
	(void)argument;
	sleep_ms(20);
	kill(getpid(), SIGSEGV);
	return NULL;
}

static void *waits(void *argument)
{
	siginfo_t info;
	return (void *)(long)sigtimedwait(argument, &info, &(struct timespec){ 10, 0 });
}

int main(void)
{
	sigset_t all, pending, before;
	siginfo_t info;
	struct timespec none = { 0 };
	char text[64];
	sigemptyset(&all);
	for (int i = 0; i < 5; i++) {
		sigaddset(&all, faults[i]);
		on_signal(faults[i], handler, 0);
	}
	sigprocmask(SIG_BLOCK, &all, &before);
	int descriptor = signalfd(-1, &all, SFD_NONBLOCK), many = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN };
	epoll_ctl(many, EPOLL_CTL_ADD, descriptor, &event);
	struct signalfd_siginfo got;
	fact(read(descriptor, &got, sizeof got) == -1 && errno == EAGAIN, "nothing is there at first");
	for (int i = 0; i < 5; i++) {
		int s = faults[i];
		raise(s);
		sigpending(&pending);
		struct pollfd polled = { .fd = descriptor, .events = POLLIN };
		snprintf(text, sizeof text, "signal %d is pending", s);
		fact(sigismember(&pending, s) == 1 && !handled, text);
		snprintf(text, sizeof text, "poll and epoll see signal %d", s);
		fact(poll(&polled, 1, 0) == 1 && epoll_wait(many, &event, 1, 0) == 1, text);
		snprintf(text, sizeof text, "it is read from the signalfd");
		fact(read(descriptor, &got, sizeof got) == sizeof got && (int)got.ssi_signo == s && got.ssi_code == SI_TKILL && (int)got.ssi_pid == getpid(), text);
		fact(read(descriptor, &got, sizeof got) == -1 && errno == EAGAIN, "once");
		sigqueue(getpid(), s, (union sigval){ .sival_int = 77 });
		fact(sigtimedwait(&all, &info, &none) == s && info.si_code == SI_QUEUE && info.si_value.sival_int == 77, "sigtimedwait takes it, with its value");
		fact(sigtimedwait(&all, &info, &none) == -1 && errno == EAGAIN && !handled, "once, and no handler has run");
	}
	kill(getpid(), SIGSEGV);
	raise(SIGSEGV);
	sigpending(&pending);
	fact(sigismember(&pending, SIGSEGV) == 1 && !handled, "one that nobody takes stays");
	sigprocmask(SIG_SETMASK, &before, NULL);
	fact(handled >= 1, "until it is no more blocked: the handler runs");
	handled = 0;
	sigprocmask(SIG_BLOCK, &all, NULL);
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	raise(SIGBUS);
	sigaction(SIGBUS, &ignore, NULL);
	sigpending(&pending);
	fact(sigismember(&pending, SIGBUS) == 0, "one that is ignored is not kept");

	pthread_t thread, waiter;
	void *result;
	pthread_create(&thread, NULL, kills, NULL);
	fact(sigtimedwait(&all, &info, &(struct timespec){ 10, 0 }) == SIGSEGV && info.si_code == SI_USER, "one that comes while it is waited for");
	pthread_join(thread, NULL);
	pthread_create(&waiter, NULL, waits, &all);
	sleep_ms(20);
	pthread_kill(waiter, SIGFPE);
	pthread_join(waiter, &result);
	fact((long)result == SIGFPE && !handled, "one for a thread that waits");
	pid_t child = fork();
	if (child == 0) {
		fact(sigtimedwait(&all, &info, &(struct timespec){ 10, 0 }) == SIGTRAP && info.si_pid == getppid(), "from another process");
		_exit(0);
	}
	sleep_ms(20);
	kill(child, SIGTRAP);
	end_of(child);
	char *code = map_anywhere(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	long wrong = 0;
	raise(SIGSEGV);
	for (int i = 0; i < 20; i++) {
		write_return(code, i);
		wrong += call_code(code) != i;
		sigpending(&pending);
		wrong += sigismember(&pending, SIGSEGV) != 1;
	}
	fact(!wrong, "code that changes meanwhile runs as written");
	return trap_done();
}
