/* fact: a blocking call is restarted under SA_RESTART and ends with EINTR without it */
#include "trap.h"
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>

static atomic_int count, finish;
static pthread_t main_thread;
static int ends[2];
static atomic_int write_after;
static void counting(int signal)
{
	(void)signal, count++;
}

/* Sends a signal every 20 ms and, once two have been taken and write_after is set, a byte. */
static void *helper(void *unused)
{
	while (!finish) {
		sleep_ms(10);
		pthread_kill(main_thread, SIGUSR1);
		if (write_after && count >= 2) {
			write_after = 0;
			if (write(ends[1], "x", 1) != 1)
				abort();
		}
	}
	return unused;
}

int main(void)
{
	char byte;
	pthread_t thread;
	main_thread = pthread_self();
	if (pipe(ends))
		return 2;
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = counting, .sa_flags = SA_RESTART }, NULL);
	pthread_create(&thread, NULL, helper, NULL);
	write_after = 1;
	fact(read(ends[0], &byte, 1) == 1 && byte == 'x' && count >= 2,
	     "read is restarted under SA_RESTART until it has data");
	struct pollfd poll_in = { ends[0], POLLIN, 0 };
	fact(poll(&poll_in, 1, -1) == -1 && errno == EINTR, "poll is never restarted");
	sem_t semaphore;
	sem_init(&semaphore, 0, 0);
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1;
	int seen = count;
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = counting }, NULL);
	fact(read(ends[0], &byte, 1) == -1 && errno == EINTR, "read is interrupted without SA_RESTART");
	fact(count > seen, "by the handler, which ran");
	fact(poll(&poll_in, 1, 10000) == -1 && errno == EINTR, "poll is interrupted");
	fd_set set;
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	fact(select(ends[0] + 1, &set, NULL, NULL, NULL) == -1 && errno == EINTR, "select is interrupted");
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0);
	epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
	fact(epoll_wait(epoll, &event, 1, -1) == -1 && errno == EINTR, "epoll_wait is interrupted");
	struct timespec remaining = { 0, 0 }, before, after;
	clock_gettime(CLOCK_MONOTONIC, &before);
	int slept = nanosleep(&(struct timespec){ 30, 0 }, &remaining);
	int why = errno;
	clock_gettime(CLOCK_MONOTONIC, &after);
	double left = (double)remaining.tv_sec + (double)remaining.tv_nsec / 1e9;
	double elapsed = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
	fact(slept == -1 && why == EINTR && left > 0 && left <= 30 && left + elapsed >= 29.999,
	     "nanosleep is interrupted and says what remains");
	fact(clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 30, 0 }, &remaining) == EINTR,
	     "clock_nanosleep is interrupted");
	fact(pause() == -1 && errno == EINTR, "pause is interrupted");
	int status;
	pid_t child = fork();
	if (child == 0) {
		sleep_ms(60000);
		_exit(0);
	}
	fact(waitpid(child, &status, 0) == -1 && errno == EINTR, "waitpid is interrupted");
	kill(child, SIGKILL);
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = counting, .sa_flags = SA_RESTART }, NULL);
	fact(waitpid(child, &status, 0) == child && WIFSIGNALED(status), "waitpid is restarted under SA_RESTART");
	fact(sem_timedwait(&semaphore, &until) == -1 && (errno == ETIMEDOUT || errno == EINTR),
	     "a futex wait ends");
	finish = 1;
	pthread_join(thread, NULL);
	return trap_done();
}
