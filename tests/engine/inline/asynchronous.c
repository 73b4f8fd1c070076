/* Its own signals, raised at system calls, on another stack, nested; and a long string instruction. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile long seen[64];
static char stack[65536], from[20000], to[20000];

static void handler(int signo)
{
	seen[signo % 64] += signo;
	if (signo == SIGUSR1)
		kill(getpid(), SIGUSR2);
}

int main(void)
{
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	long sum = 0;
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	for (int i = 0; i < 50; i++) {
		raise(SIGUSR1);
		size_t n = sizeof to - (size_t)i * 8;
		void *a = to, *b = from;
		__asm__ volatile("rep movsb" : "+D"(a), "+S"(b), "+c"(n) : : "memory");
		sum += seen[SIGUSR2] + (long)strlen(to);
	}
	printf("%ld\n", sum);
	return 0;
}
