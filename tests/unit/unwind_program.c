/*
 * A program that knows its own stacks: it stops at chosen places (and, on x86-64, at each instruction of a workload) and writes its
 * registers, the top of its stack and who called whom (unwind_dump.h) to standard output. Built with -fomit-frame-pointer.
 *
 * The truth of a chain is what each function says of itself (__builtin_return_address(0)); of the workload, that calls push and
 * returns pop.
 */
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "unwind_dump.h"

static struct dump dump;
static uint64_t stack_top;
/* the first is below the second: code that runs on it is interrupted, and the handler runs on the second */
static char stacks[2][1 << 16];
static char *const other_stack = stacks[1];
/* what handlers read of what was interrupted: not static, so that the compiler keeps them in memory */
uint64_t truth[DUMP_TRUTH + 64]; /* the outermost first */
unsigned depth, interrupted_depth;
const char *stop_name;
volatile unsigned sink;

#define ENTER() (truth[depth++] = (uint64_t)__builtin_return_address(0))
#define LEAVE() (depth--)
/* keeps the compiler from making a tail call of the line before */
#define STAYS() __asm__ volatile("" ::: "memory")

static void put(const void *bytes, size_t n)
{
	for (const char *at = bytes; n;) {
		ssize_t done = write(1, at, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			_exit(3);
		at += done, n -= (size_t)done;
	}
}

static void put_maps(void)
{
	static char text[1 << 16];
	uint64_t have = 0;
	int fd = open("/proc/self/maps", O_RDONLY);
	for (ssize_t n; (n = read(fd, text + have, sizeof text - have)) > 0;)
		have += (uint64_t)n;
	close(fd);
	put(&have, sizeof have);
	put(text, have);
	const char *stack = strstr(text, "[stack]");
	while (stack && stack > text && stack[-1] != '\n')
		stack--;
	const char *to = stack ? strchr(stack, '-') : NULL;
	stack_top = to ? strtoull(to + 1, NULL, 16) : 0;
}

/* The registers in perf's order; sp's index in it. */
static unsigned registers_of(const ucontext_t *context)
{
#if defined(__x86_64__)
	static const int order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
				    REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
	for (unsigned i = 0; i < 17; i++)
		dump.registers[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	return 7;
#else
	dump.arm64 = 1;
	for (unsigned i = 0; i < 31; i++)
		dump.registers[i] = context->uc_mcontext.regs[i];
	dump.registers[31] = context->uc_mcontext.sp;
	dump.registers[32] = context->uc_mcontext.pc;
	return 31;
#endif
}

static void put_dump(const ucontext_t *context, const char *name, unsigned n)
{
	uint64_t sp = dump.registers[registers_of(context)];
	memset(dump.name, 0, sizeof dump.name);
	strncpy(dump.name, name, sizeof dump.name - 1);
	dump.n_truth = n < DUMP_TRUTH ? n : DUMP_TRUTH;
	dump.whole = n <= DUMP_TRUTH;
	for (unsigned i = 0; i < dump.n_truth; i++)
		dump.truth[i] = truth[n - 1 - i];
	dump.interrupted = interrupted_depth ? n - interrupted_depth : dump.n_truth;
	uint64_t other = (uint64_t)other_stack,
		 top = sp - other < sizeof stacks[1] ? other + sizeof stacks[1] : stack_top;
	dump.stack_bytes = top - sp < DUMP_STACK ? (uint32_t)(top - sp) : DUMP_STACK;
	put(&dump, sizeof dump);
	put((const void *)sp, dump.stack_bytes);
}

/* ---- places where it stops ---- */

#if defined(__x86_64__)
#define STOP() __asm__ volatile("int3" ::: "memory")
#define TRAP_SIGNAL SIGTRAP
#else
#define STOP() __asm__ volatile(".inst 0xd4200000" ::: "memory") /* brk #0: the signal comes before it */
#define TRAP_SIGNAL SIGTRAP
#endif

static void stopped(int number, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	(void)number, (void)info;
	put_dump(c, stop_name, depth);
#if defined(__aarch64__)
	c->uc_mcontext.pc += 4;
#endif
}

__attribute__((noinline)) static unsigned innermost(unsigned x)
{
	ENTER();
	volatile char room[100];
	room[x % 100] = (char)x;
	STOP();
	sink += (unsigned)room[3];
	LEAVE();
	return x + 1;
}

__attribute__((noinline)) static unsigned with_alloca(unsigned x)
{
	ENTER();
	volatile char *room = alloca(16 + x % 64);
	room[0] = 1;
	unsigned result = innermost(x + (unsigned)room[0]);
	sink += (unsigned)room[0];
	LEAVE();
	return result;
}

__attribute__((noinline)) static unsigned with_many(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e,
						    unsigned f, unsigned g, unsigned h)
{
	ENTER();
	unsigned result = with_alloca(a + b * c) + d * e + f * g + h;
	sink += a + b + c + d;
	LEAVE();
	return result;
}

static unsigned (*volatile pointer)(unsigned) = with_alloca;

__attribute__((noinline)) static unsigned by_pointer(unsigned x)
{
	ENTER();
	volatile unsigned large[500];
	large[x % 500] = x;
	unsigned result = pointer(x) + with_many(x, 1, 2, 3, 4, 5, 6, large[x % 500]);
	LEAVE();
	return result;
}

__attribute__((noinline)) static unsigned recurse(unsigned n)
{
	ENTER();
	volatile unsigned kept = n;
	unsigned result = n ? recurse(n - 1) + kept : innermost(n);
	STAYS();
	LEAVE();
	return result;
}

/* ---- through a signal's handler ---- */

static void interrupted(int number, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	(void)number, (void)info;
	/* the frame of the handler returns to a trampoline, that "calls" the place itself */
#if defined(__x86_64__)
	truth[depth++] = (uint64_t)c->uc_mcontext.gregs[REG_RIP];
#else
	truth[depth++] = c->uc_mcontext.pc;
#endif
	interrupted_depth = depth;
	ENTER();
	sink += innermost(3);
	depth -= 2;
	interrupted_depth = 0;
#if defined(__x86_64__)
	c->uc_mcontext.gregs[REG_RIP] += 2;
#else
	c->uc_mcontext.pc += 4;
#endif
}

__attribute__((noinline)) static unsigned illegal(unsigned x)
{
	ENTER();
#if defined(__x86_64__)
	__asm__ volatile("ud2" ::: "memory");
#else
	__asm__ volatile(".inst 0" ::: "memory");
#endif
	LEAVE();
	return x;
}

static ucontext_t of_main, of_below;
static void below(void) { sink += illegal(3); }

static void run_below(void)
{
	getcontext(&of_below);
	of_below.uc_stack = (stack_t){.ss_sp = stacks[0], .ss_size = sizeof stacks[0]};
	of_below.uc_link = &of_main;
	makecontext(&of_below, below, 0);
	swapcontext(&of_main, &of_below);
}

/* ---- a call that does not return ---- */

#if defined(__x86_64__)
static jmp_buf returned;
void ends_in_a_call(void), stops_for_good(uint64_t callers);

/* Behind its call another function begins, whose rules are others. */
__asm__(".text\n"
	".type ends_in_a_call, @function\n"
	"ends_in_a_call:\n"
	".cfi_startproc\n"
	"	sub $24, %rsp\n"
	".cfi_def_cfa_offset 32\n"
	"	mov 24(%rsp), %rdi\n"
	"	call stops_for_good\n"
	".cfi_endproc\n"
	".size ends_in_a_call, . - ends_in_a_call\n"
	".type behind_the_call, @function\n"
	"behind_the_call:\n"
	".cfi_startproc\n"
	"	ud2\n"
	".cfi_endproc\n"
	".size behind_the_call, . - behind_the_call\n");

__attribute__((noinline, used)) void stops_for_good(uint64_t callers)
{
	truth[depth++] = callers;
	ENTER();
	sink += innermost(4);
	depth -= 2;
	longjmp(returned, 1);
}

__attribute__((noinline)) static unsigned calls_for_good(unsigned x)
{
	ENTER();
	if (!setjmp(returned))
		ends_in_a_call();
	LEAVE();
	return x;
}
#endif

/* ---- each instruction ---- */

#if defined(__x86_64__)
static uint64_t before, seen[1 << 16];
unsigned base_depth;

/* False: that place was dumped before. */
static int is_new(uint64_t at)
{
	size_t i = at * 0x9e3779b97f4a7c15u >> 48;
	while (seen[i] && seen[i] != at)
		i = (i + 1) & 0xffff;
	if (seen[i])
		return 0;
	seen[i] = at;
	return 1;
}

/* What the instruction at `before` did to the chain of callers. */
static void follow(uint64_t sp)
{
	const unsigned char *code = (const unsigned char *)before;
	while (*code == 0x66 || *code == 0xf2 || *code == 0xf3 || *code == 0x3e || *code == 0x2e ||
	       (*code & 0xf0) == 0x40)
		code++;
	if (*code == 0xe8 || (*code == 0xff && ((code[1] >> 3 & 7) == 2)))
		truth[depth++] = *(const uint64_t *)sp;
	else if ((*code == 0xc3 || *code == 0xc2) && depth)
		depth--;
}

static void stepped(int number, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	uint64_t at = (uint64_t)c->uc_mcontext.gregs[REG_RIP];
	(void)number, (void)info;
	if (before)
		follow((uint64_t)c->uc_mcontext.gregs[REG_RSP]);
	before = at;
	if (depth < base_depth) /* it ended */
		c->uc_mcontext.gregs[REG_EFL] &= ~0x100ll;
	else if (is_new(at))
		put_dump(c, "step", depth);
}

#define PUSH_FLAGS "pushfq; .cfi_adjust_cfa_offset 8;"
#define POP_FLAGS "popfq; .cfi_adjust_cfa_offset -8;"

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

__attribute__((noinline)) static void workload(void)
{
	int numbers[20];
	char text[100];
	struct timespec now;
	ENTER();
	base_depth = depth;
	__asm__ volatile(PUSH_FLAGS "orq $0x100, (%%rsp);" POP_FLAGS ::: "memory", "cc");
	for (int i = 0; i < 20; i++)
		numbers[i] = i * 7 % 20;
	qsort(numbers, 20, sizeof *numbers, compare);
	clock_gettime(CLOCK_MONOTONIC, &now);
	time(NULL);
	snprintf(text, sizeof text, "%d %ld %s %.3f", numbers[3], (long)now.tv_sec % 2, strchr("abc", 'b'),
		 numbers[4] / 7.0);
	sink += (unsigned)strtod(text, NULL) + (unsigned)strlen(text) + (unsigned)memcmp(text, "abc", 3);
	memmove(text + 1, text, 60);
	__asm__ volatile(PUSH_FLAGS "andq $~0x100, (%%rsp);" POP_FLAGS ::: "memory", "cc");
	LEAVE();
}
#endif

static void on(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
	sigaction(number, &action, NULL);
}

int main(int argc, char **argv)
{
	stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof stacks[1]};
	ENTER();
	(void)argv;
	put_maps();
	sigaltstack(&stack, NULL);
	on(TRAP_SIGNAL, stopped, SA_ONSTACK);
	stop_name = "chain";
	sink += by_pointer((unsigned)argc);
	stop_name = "shallow";
	sink += recurse(10);
	stop_name = "deep";
	sink += recurse(1000);
	on(SIGILL, interrupted, 0);
	stop_name = "signal";
	sink += illegal(1);
	on(SIGILL, interrupted, SA_ONSTACK);
	stop_name = "elsewhere";
	sink += illegal(2);
	stop_name = "below";
	run_below();
#if defined(__x86_64__)
	stop_name = "for good";
	sink += calls_for_good(4);
	on(SIGTRAP, stepped, SA_ONSTACK);
	workload();
#endif
	return 0;
}
