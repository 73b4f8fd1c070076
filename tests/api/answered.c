/* A program whose counts tests/cli/answered_test.py knows: instructions of assembly between calls of libtare, all of
 * them in one piece of assembly each, so that no compiler puts anything between. It prints lines of
 * "NAME EVENT SOURCE COUNT".
 *
 *     answered EVENTS [SCOPE]     SCOPE: thread (or nothing), process
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tare.h"

enum { MOST = 64 };

static struct tare_error error;
static struct tare_reading b[MOST];

/* What the assembly reads and writes. */
__attribute__((used, visibility("hidden"))) struct tare_counters *set;
__attribute__((used, visibility("hidden"))) struct tare_reading a[MOST];
__attribute__((used, visibility("hidden"))) struct tare_error why;
__attribute__((used, visibility("hidden"))) uint64_t word;

/* start; 1 + 4 × 1000 instructions, with 1000 loads and stores and as many conditional branches, of which 999 are
 * taken; stop. What tare_stop() is given is set directly in front of its call: no part of the count. */
int pass_4001(void);
/* start; 2 instructions; read; 100 nops; read; stop: `a` is the second reading. */
int pass_reads(void);
__asm__(".text\n.type pass_4001, @function\npass_4001:\n\tpush %rbx\n"
	"\tmov set(%rip), %rdi\n\tlea why(%rip), %rsi\n\tcall tare_start@PLT\n"
	"\tmov $1000, %ebx\n"
	"1:\tmov word(%rip), %rax\n\tmov %rax, word(%rip)\n\tdec %ebx\n\tjnz 1b\n"
	"\tmov set(%rip), %rdi\n\tlea a(%rip), %rsi\n\tlea why(%rip), %rdx\n\tcall tare_stop@PLT\n"
	"\tmovzbl %al, %eax\n\tpop %rbx\n\tret\n.size pass_4001, .-pass_4001\n"
	".type pass_reads, @function\npass_reads:\n\tpush %rbx\n"
	"\tmov set(%rip), %rdi\n\tlea why(%rip), %rsi\n\tcall tare_start@PLT\n"
	"\tnop\n\tnop\n"
	"\tmov set(%rip), %rdi\n\tlea a(%rip), %rsi\n\txor %edx, %edx\n\tcall tare_read@PLT\n"
	"\t.rept 100\n\tnop\n\t.endr\n"
	"\tmov set(%rip), %rdi\n\tlea a(%rip), %rsi\n\txor %edx, %edx\n\tcall tare_read@PLT\n"
	"\tmov %eax, %ebx\n"
	"\tmov set(%rip), %rdi\n\txor %esi, %esi\n\tlea why(%rip), %rdx\n\tcall tare_stop@PLT\n"
	"\tmov %ebx, %eax\n\tmovzbl %al, %eax\n\tpop %rbx\n\tret\n.size pass_reads, .-pass_reads\n");

static void show(const char *name, const struct tare_counters *of, const struct tare_reading *r)
{
	for (size_t i = 0; i < tare_event_count(of); i++)
		printf("%s %s %s %lld\n", name, tare_event_name(of, i), tare_event_source(of, i),
		       r[i].state == TARE_COUNTED ? (long long)r[i].count : -1);
}

static void fail(const char *what)
{
	printf("error %s: %s; %s\n", what, error.text, error.hint);
	exit(1);
}

#define DO(call)                                                                                                  \
	do {                                                                                                      \
		if (!(call))                                                                                      \
			fail(#call);                                                                              \
	} while (0)

static void open_set(const char *events, int scope)
{
	struct tare_options options = {sizeof options, scope};
	DO(tare_open(&options, &set, &error));
	DO(tare_add(set, events, &error));
}

static void from_zero(const char *name, int (*pass)(void))
{
	DO(tare_reset(set, &error));
	if (!pass()) {
		error = why;
		fail(name);
	}
	show(name, set, a);
}

static volatile sig_atomic_t handled;

static void handler(int signal)
{
	(void)signal;
	for (int i = 0; i < 1000; i++)
		__asm__ volatile("nop");
	handled++;
}

static void *thousand_nops(void *unused)
{
	__asm__ volatile(".rept 10000\n\tnop\n\t.endr");
	return unused;
}

static void *thread_of_its_own(void *events)
{
	struct tare_counters *mine;
	DO(tare_open(NULL, &mine, &error));
	DO(tare_add(mine, events, &error));
	DO(tare_start(mine, &error));
	__asm__ volatile(".rept 5000\n\tnop\n\t.endr");
	DO(tare_stop(mine, b, &error));
	printf("own-thread %s\n", b[0].count >= 5000 && b[0].count < 5100 ? "its own" : "not");
	tare_close(mine);
	return NULL;
}

static void *reads_another(void *unused)
{
	printf("other-thread %s\n", tare_read(set, b, &error) ? "read" : error.text);
	return unused;
}

static jmp_buf back;

static void jumps(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

static void with_threads(const char *events)
{
	pthread_t thread;
	DO(tare_reset(set, &error));
	DO(tare_start(set, &error));
	pthread_create(&thread, NULL, thousand_nops, NULL);
	pthread_join(thread, NULL);
	DO(tare_stop(set, a, &error));
	printf("threads %s\n", a[0].count >= 10000 ? "in" : "out");
	pthread_create(&thread, NULL, thread_of_its_own, (void *)events);
	pthread_join(thread, NULL);
	DO(tare_start(set, &error));
	pthread_create(&thread, NULL, reads_another, NULL);
	pthread_join(thread, NULL);
	DO(tare_stop(set, NULL, &error));
}

static void with_signals(void)
{
	signal(SIGUSR1, handler);
	DO(tare_reset(set, &error));
	DO(tare_start(set, &error));
	raise(SIGUSR1);
	DO(tare_stop(set, a, &error));
	printf("signal %s\n", a[0].count > 3000 && handled == 1 ? "in" : "out");
	signal(SIGUSR1, jumps);
	if (sigsetjmp(back, 1) == 0)
		raise(SIGUSR1);
	from_zero("behind-longjmp", pass_4001);
}

int main(int argc, char **argv)
{
	int scope = argc > 2 && strcmp(argv[2], "process") == 0 ? TARE_PROCESS : TARE_THREAD;
	struct tare_counters *other;
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc < 2)
		return 2;
	open_set(argv[1], scope);
	from_zero("first", pass_4001);
	from_zero("second", pass_4001);
	from_zero("reads", pass_reads);
	if (!pass_4001()) /* goes on from the 102 */
		fail("on");
	show("on", set, a);
	DO(tare_read(set, a, &error)); /* stopped: as it was */
	show("stopped", set, a);
	DO(tare_reset(set, &error));
	DO(tare_read(set, a, &error));
	show("reset", set, a);
	printf("overflow %s\n", tare_overflow(set, 0, 1000, (tare_overflow_handler)1, NULL, &error) ? "set" : "refused");

	/* two sets at once: neither has the other's calls */
	DO(tare_open(NULL, &other, &error));
	DO(tare_add(other, argv[1], &error));
	DO(tare_start(other, &error));
	from_zero("inner", pass_4001);
	DO(tare_stop(other, b, &error));
	printf("outer %s\n", b[0].count >= 4001 ? "has it" : "less");
	tare_close(other);

	with_threads(argv[1]);
	with_signals();

	pid_t child = fork();
	if (child == 0) {
		printf("child-of-parents %s\n", tare_read(set, a, &error) ? "read" : "refused");
		open_set(argv[1], scope);
		from_zero("child", pass_4001);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	from_zero("parent", pass_4001);
	tare_close(set);
	return 0;
}
