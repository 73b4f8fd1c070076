/*
 * jit BLOCKS [THREADS] [signals] [forks] [spawns] [waiters] [memory]: every thread writes and runs BLOCKS basic blocks that never were before, each of
 * fnop (the only x87 instruction of the program), cmp, je to where it goes on anyway. Says "x87 N": how many fnop there were,
 * in all processes, and with `memory` the largest resident size of the first.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define REGION 65536
#define BLOCK 9
#define MOST ((REGION - 1) / BLOCK)

static long blocks;
static int forks, spawns, signals;
static atomic_long arrived;
static atomic_uint next_round = 1;
static volatile int over;

static void handler(int signo) { (void)signo; arrived++; }

static void run(unsigned char *code, long n)
{
	uint32_t round = next_round++;
	unsigned char *p = code;
	if (mprotect(code, REGION, PROT_READ | PROT_WRITE))
		abort();
	for (long i = 0; i < n; i++) {
		uint32_t value = round * 8192 + (uint32_t)i;
		memcpy(p, "\xd9\xd0\x3d", 3);
		memcpy(p + 3, &value, 4);
		memcpy(p + 7, "\x74\x00", 2);
		p += BLOCK;
	}
	*p = 0xc3;
	if (mprotect(code, REGION, PROT_READ | PROT_EXEC))
		abort();
	__asm__ volatile("call *%0" : : "r"(code), "a"(round * 8192 + 5) : "memory", "cc", "rdx", "rcx", "rsi", "rdi", "r8", "r9", "r10", "r11");
}

static void *work(void *arg)
{
	unsigned char *code = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long left = blocks, turn = 0;
	(void)arg;
	for (; left > 0; turn++) {
		long n = left < MOST ? left : MOST;
		run(code, n);
		left -= n;
		if (forks && turn % 4 == 3) {
			pid_t pid = fork();
			if (pid == 0) {
				for (int k = 0; k < 2; k++)
					run(code, MOST);
				_exit(0);
			}
			if (pid > 0)
				waitpid(pid, NULL, 0);
		}
		if (spawns && turn % 4 == 1) {
			char *argv[] = {"/bin/true", NULL};
			pid_t pid;
			if (!posix_spawn(&pid, argv[0], NULL, NULL, argv, NULL))
				waitpid(pid, NULL, 0);
		}
	}
	return NULL;
}

/* In one system call all the time, which signals interrupt. */
static void *wait_long(void *arg)
{
	int *pair = arg;
	char byte;
	while (!over)
		if (read(pair[0], &byte, 1) == 0)
			break;
	return NULL;
}

static void *shoot(void *arg)
{
	pthread_t *at = arg;
	while (!over) {
		pthread_kill(*at, SIGUSR1);
		usleep(300);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 1, waiters = 0, say_memory = 0, pair[2];
	pthread_t made[64], waiting, shooting;
	blocks = argc > 1 ? atol(argv[1]) : 1000;
	for (int i = 3; i < argc; i++) {
		forks |= !strcmp(argv[i], "forks");
		spawns |= !strcmp(argv[i], "spawns");
		signals |= !strcmp(argv[i], "signals");
		waiters |= !strcmp(argv[i], "waiters");
		say_memory |= !strcmp(argv[i], "memory");
	}
	struct sigaction action = {.sa_handler = handler};
	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	if (signals)
		setitimer(ITIMER_REAL, &(struct itimerval){{0, 500}, {0, 500}}, NULL);
	if (waiters && (pipe(pair) || pthread_create(&waiting, NULL, wait_long, pair) || pthread_create(&shooting, NULL, shoot, &waiting)))
		return 1;
	for (int i = 1; i < threads; i++)
		if (pthread_create(&made[i], NULL, work, NULL))
			return 1;
	work(NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(made[i], NULL);
	over = 1;
	if (waiters) {
		close(pair[1]);
		pthread_join(shooting, NULL);
		pthread_join(waiting, NULL);
	}
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
	long turns = (blocks + MOST - 1) / MOST, children = forks ? turns / 4 : 0, memory = 0;
	char line[256];
	FILE *status = say_memory ? fopen("/proc/self/status", "r") : NULL;
	while (status && fgets(line, sizeof line, status))
		if (!strncmp(line, "VmHWM:", 6))
			memory = atol(line + 6) / 1024;
	printf("x87 %ld\n", threads * (blocks + children * 2 * MOST));
	if (say_memory)
		printf("memory %ld MB\n", memory);
	return 0;
}
