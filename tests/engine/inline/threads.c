/* Threads that run one after the other: alone at first, where checks are inline, then not. Each is waited for by one system call that makes no
   instruction more or less, ended or not: the kernel clears a word of its own (pthread_join finds its thread ended, or not yet). */
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>

static long table[8192];
static struct { long n; int alive; } turn[4];

static long call(long number, long a, long b, long c)
{
	register long timeout __asm__("r10") = 0;
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(timeout) : "rcx", "r11", "memory");
	return result;
}

static void work(long n)
{
	for (long i = 0; i < n; i++)
		table[i * 31 % 8192] += i ^ table[i % 8192];
}

static void *thread(void *argument)
{
	long k = (long)argument;
	call(SYS_set_tid_address, (long)&turn[k].alive, 0, 0);
	work(turn[k].n);
	return NULL;
}

int main(void)
{
	pthread_attr_t detached;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	work(20000);
	for (long k = 1; k < 4; k++) {
		pthread_t id;
		turn[k].n = 5000 * k;
		turn[k].alive = 1;
		pthread_create(&id, &detached, thread, (void *)k);
		call(SYS_futex, (long)&turn[k].alive, FUTEX_WAIT, 1);
		work(3000);
	}
	printf("%ld\n", table[77]);
	return 0;
}
