/* A program whose waits are known by construction: it reads from a pipe whose writer sleeps 0.3 s first, then waits for a
 * lock that another thread holds for 0.2 s; then it touches 64 pages. Its own clock tells how long both lasted: "read NS",
 * "lock NS". */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int held;

static long long now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void sleeping(long ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

__attribute__((noinline)) static void read_slowly(int fd)
{
	char byte;
	if (read(fd, &byte, 1) != 1) /* the read */
		exit(9);
	__asm__ volatile("");
}

/* Until the thread of that file of /proc sleeps: then it waits, and no load of the machine can make it late. */
static void until_asleep(const char *stat)
{
	char text[512], *state = NULL;
	do {
		int fd = open(stat, O_RDONLY);
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
		if (n <= 0)
			exit(9);
		text[n] = '\0';
		close(fd);
		state = strrchr(text, ')');
		sched_yield();
	} while (state && state[2] != 'S');
}

__attribute__((noinline)) static void write_late(int fd)
{
	char stat[64];
	snprintf(stat, sizeof stat, "/proc/%d/stat", (int)getppid());
	until_asleep(stat);
	sleeping(300);
	_exit(write(fd, "x", 1) == 1 ? 0 : 9);
}

static void *hold(void *unused)
{
	pthread_mutex_lock(&lock);
	held = 1;
	until_asleep("/proc/self/stat"); /* the main thread's */
	sleeping(200);
	pthread_mutex_unlock(&lock);
	return unused;
}

__attribute__((noinline)) static void lock_slowly(void)
{
	pthread_mutex_lock(&lock); /* the lock */
	pthread_mutex_unlock(&lock);
	__asm__ volatile("");
}

__attribute__((noinline)) static void touch(volatile char *at, long page)
{
	for (long i = 0; i < PAGES; i++)
		at[i * page] = 1; /* the touch */
}

int main(void)
{
	int ends[2];
	pthread_t thread;
	long page = sysconf(_SC_PAGESIZE);
	if (pipe(ends) != 0)
		return 9;
	if (fork() == 0)
		write_late(ends[1]);
	long long at = now_ns();
	read_slowly(ends[0]);
	printf("read %lld\n", now_ns() - at);
	wait(NULL);
	if (pthread_create(&thread, NULL, hold, NULL) != 0)
		return 9;
	while (!held)
		sched_yield();
	at = now_ns();
	lock_slowly();
	printf("lock %lld\n", now_ns() - at);
	pthread_join(thread, NULL);
	void *pages = mmap(NULL, (size_t)(PAGES * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return 9;
	madvise(pages, (size_t)(PAGES * page), MADV_NOHUGEPAGE);
	touch(pages, page);
	return 0;
}
