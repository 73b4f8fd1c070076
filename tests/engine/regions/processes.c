/* processes MODE: threads, fork, vfork, many, quit, killed: what becomes of passes. step() is 3 instructions, entered by a call. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void step(void);
__asm__(".globl step\nstep: nop\nnop\nret\n"
        /* six(fn): calls it from inside of a function: 6 instructions and what fn does */
        ".globl six\nsix: push %rbx\nmov %rdi, %rbx\nmov $0, %eax\ncall *%rbx\npop %rbx\nret\n"
        /* child: forks; parent and child leave by the same way: fork's 3 and 3 behind */
        ".globl forking\nforking: mov $57, %eax\nsyscall\nnop\nret\n"
        ".globl leaving\nleaving: mov $60, %eax\nxor %edi, %edi\nsyscall\n");
void six(void (*what)(void));
int forking(void);
void leaving(void);

struct named { const char *text; };
__attribute__((naked, noinline)) void enter(struct named *r) { __asm__(".byte 0x66,0x0f,0x1f,0x84,0; .long 0x54415202; ret"); }
__attribute__((naked, noinline)) void leave(struct named *r) { __asm__(".byte 0x66,0x0f,0x1f,0x84,0; .long 0x54415203; ret"); }
static struct named loops = {"loops"};

static void *work(void *arg)
{
	for (int i = 0; i < 1000; i++)
		six(step);
	for (int i = 0; i < 500; i++) {
		__asm__ volatile("call enter; nop; nop; call leave" : : "D"(&loops) : "memory");
	}
	return arg;
}

/* 4000 regions, the same code in each: 2 calls and 2 × step(), 10 times */
static void many(void)
{
	static struct named named[4000];
	static char names[4000][16];
	for (int round = 0; round < 10; round++)
		for (int i = 0; i < 4000; i++) {
			snprintf(names[i], sizeof names[i], "many%d", i);
			named[i].text = names[i];
			__asm__ volatile("mov %0, %%rdi; call enter; call step; call step; call leave" : : "r"(&named[i]) : "memory", "rdi");
		}
}

int main(int argc, char **argv)
{
	pthread_t threads[8];
	const char *mode = argv[1];
	if (!strcmp(mode, "threads")) {
		for (int i = 0; i < 8; i++)
			pthread_create(&threads[i], NULL, work, NULL);
		for (int i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
	} else if (!strcmp(mode, "fork")) {
		if (forking() == 0)
			_exit(0);
		wait(NULL);
	} else if (!strcmp(mode, "vfork")) {
		if (vfork() == 0) {
			execv(argv[0], (char *[]){argv[0], "none", NULL});
			_exit(1);
		}
		wait(NULL);
	} else if (!strcmp(mode, "quit")) { /* a thread ends in it */
		pthread_create(&threads[0], NULL, (void *(*)(void *))leaving, NULL);
		pthread_join(threads[0], NULL); /* the kernel says that it has ended, whichever way */
		six(step);
	} else if (!strcmp(mode, "many")) {
		many();
	} else if (!strcmp(mode, "killed")) {
		kill(getpid(), SIGTERM);
	}
	return 0;
}
