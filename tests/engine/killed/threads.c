/* Six threads that wait: in poll, nanosleep, sigsuspend, epoll_wait, a mutex and a join. Says "ready" before the last of them does. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;

static void *wait_in(void *arg)
{
	struct epoll_event event;
	sigset_t none;
	sigemptyset(&none);
	switch ((int)(long)arg) {
	case 0: poll(NULL, 0, -1); break;
	case 1: nanosleep(&(struct timespec){1000, 0}, NULL); break;
	case 2: sigsuspend(&none); break;
	case 3: epoll_wait(epoll_create1(0), &event, 1, -1); break;
	case 4: pthread_mutex_lock(&taken); break;
	}
	return NULL;
}

int main(void)
{
	pthread_t made[5];
	pthread_mutex_lock(&taken);
	for (long i = 0; i < 5; i++)
		if (pthread_create(&made[i], NULL, wait_in, (void *)i))
			return 1;
	if (write(1, "ready\n", 6) != 6)
		return 1;
	pthread_join(made[0], NULL);
	return 0;
}
