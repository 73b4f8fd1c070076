/* fact: what the kernel writes while other threads run, or when a thread ends, arrives in a page whose code runs meanwhile */
#include "trap.h"
#include <linux/futex.h>
#include <sched.h>

#define OUTPUT 1024

static char *hot(void)
{
	char *page = map_anywhere(8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	mprotect(page + 4096, 4096, PROT_NONE);
	write_return(page, 7);
	if (call_code(page) != 7)
		_exit(96);
	return page;
}

/* Until the thread waits in that system call. */
static void wait_in_call(pid_t tid, int number)
{
	char path[64], text[32];
	snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)tid);
	for (int tries = 0; tries < 20000; tries++) {
		int file = open(path, O_RDONLY);
		long n = file < 0 ? -1 : read(file, text, sizeof text - 1);
		close(file);
		text[n > 0 ? n : 0] = 0;
		if (n > 0 && text[0] >= '0' && text[0] <= '9' && atoi(text) == number)
			return;
		usleep(500);
	}
}

static int ends[2];
static char *target;
static long got;
static _Atomic pid_t reader;

static void *reads(void *argument)
{
	(void)argument;
	reader = (pid_t)syscall(SYS_gettid);
	got = read(ends[0], target, 6);
	return NULL;
}

/* Another thread's read ends in a page whose code has been run since it began. */
static void while_it_waits(long offset)
{
	pthread_t thread;
	char text[8];
	long wrong = 0;
	for (int i = 0; i < 20; i++) {
		char *page = hot();
		target = page + offset;
		reader = 0;
		pthread_create(&thread, NULL, reads, NULL);
		while (!reader)
			sched_yield();
		wait_in_call(reader, SYS_read);
		wrong += call_code(page) != 7;
		write_return(text, 100 + i);
		wrong += write(ends[1], text, 6) != 6;
		pthread_join(thread, NULL);
		wrong += got != 6 || memcmp(target, text, 6) || call_code(page) != (offset ? 7 : 100 + i) || call_code(target) != 100 + i;
		for (int k = 0; k < 20; k++) { /* as ever, later */
			write_return(target, k);
			wrong += call_code(target) != k;
		}
		munmap(page, 8192);
	}
	fact_equal(wrong, 0, offset ? "a read of another thread's, beside the code" : "a read of another thread's, over the code");
}

static char stack[65536];
static char *page;
static _Atomic int go;

static int ends_when_told(void *argument)
{
	(void)argument;
	while (!go)
		sched_yield();
	return 0;
}

struct robust { struct robust *next; int word; };

static int ends_with_lock(void *argument)
{
	struct { struct robust *first; long offset; struct robust *pending; } *head = (void *)(page + 2048);
	struct robust *lock = (struct robust *)(page + OUTPUT);
	(void)argument;
	lock->next = (struct robust *)head;
	lock->word = (int)syscall(SYS_gettid);
	head->first = lock;
	head->offset = __builtin_offsetof(struct robust, word);
	head->pending = NULL;
	syscall(SYS_set_robust_list, head, sizeof *head);
	while (!go)
		sched_yield();
	syscall(SYS_exit, 0);
	return 0;
}

/* Until the word is no more what it was. Not by a futex's wait, for which the page would have to be writable. */
static bool changed(int *word, int was)
{
	for (int tries = 0; tries < 3000 && *(volatile int *)word == was; tries++)
		sleep_ms(1);
	return *(volatile int *)word != was;
}

static void *wakes(void *argument)
{
	long woken;
	wait_in_call(getpid(), SYS_futex);
	while ((woken = syscall(SYS_futex, argument, FUTEX_WAKE, 1)) == 0)
		sched_yield();
	return (void *)woken;
}

/* A shared futex needs a page that can be written, even to wait for it. */
static void waits_for_a_word(void)
{
	pthread_t thread;
	void *woken = NULL;
	page = hot();
	int *word = (int *)(page + OUTPUT);
	*word = 3;
	call_code(page);
	pthread_create(&thread, NULL, wakes, word);
	struct timespec most = { 20, 0 };
	fact(syscall(SYS_futex, word, FUTEX_WAIT, 3, &most) == 0, "a shared futex is waited for");
	pthread_join(thread, &woken);
	fact((long)woken == 1, "and woken");
}

#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

static int finds_its_number(void *argument)
{
	(void)argument;
	go = *(int *)(page + OUTPUT) == syscall(SYS_gettid) ? 2 : 3;
	syscall(SYS_exit, 0);
	return 0;
}

static int yields_with_area(void *argument)
{
	(void)argument;
	if (syscall(334 /* rseq */, page + OUTPUT, 32, 0, 0x53053053)) {
		go = errno == ENOSYS || errno == EPERM ? 2 : 3;
	} else {
		cpu_set_t all, one;
		sched_getaffinity(0, sizeof all, &all);
		for (int i = 0; i < 40; i++) { /* from processor to processor: the kernel writes its number */
			call_code(page);
			for (int cpu = 0; cpu < 64; cpu++)
				if (CPU_ISSET(cpu, &all)) {
					CPU_ZERO(&one);
					CPU_SET(cpu, &one);
					sched_setaffinity(0, sizeof one, &one);
					sched_yield();
				}
			call_code(page);
		}
		syscall(334, page + OUTPUT, 32, 1, 0x53053053);
		go = 2;
	}
	syscall(SYS_exit, 0);
	return 0;
}

static void at_the_end(void)
{
	page = hot();
	int *number = (int *)(page + OUTPUT);
	*number = 1;
	go = 0;
	call_code(page);
	clone(ends_when_told, stack + sizeof stack, THREAD | CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID, NULL, number, NULL, number);
	fact(*number > 1, "the number of a thread, for its parent");
	int was = *number;
	for (int i = 0; i < 3; i++)
		call_code(page);
	go = 1;
	fact(changed(number, was) && *number == 0, "the number of a thread is cleared when it ends");

	page = hot();
	number = (int *)(page + OUTPUT);
	go = 0;
	clone(finds_its_number, stack + sizeof stack, THREAD | CLONE_CHILD_SETTID, NULL, NULL, NULL, number);
	while (!go)
		sched_yield();
	fact(go == 2, "the number of a thread, for itself");

	page = hot();
	struct robust *lock = (struct robust *)(page + OUTPUT);
	go = 0;
	clone(ends_with_lock, stack + sizeof stack, THREAD, NULL, NULL, NULL, NULL);
	while (!lock->word)
		sched_yield();
	sleep_ms(20);
	was = lock->word;
	call_code(page);
	go = 1;
	fact(changed(&lock->word, was) && (lock->word & FUTEX_OWNER_DIED), "a robust lock's owner has died");

	page = hot();
	go = 0;
	clone(yields_with_area, stack + sizeof stack, THREAD, NULL, NULL, NULL, NULL);
	while (!go)
		sched_yield();
	fact(go == 2, "the area of restartable sequences");
}

int main(void)
{
	if (pipe(ends))
		return 2;
	while_it_waits(OUTPUT);
	while_it_waits(0);
	waits_for_a_word();
	at_the_end();
	return trap_done();
}
