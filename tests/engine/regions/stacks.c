/*
 * Stacks that are switched by the program itself, in every order of their addresses. Regions: yields_* leave their stack in the middle; the others
 * (leaf, unwound, resumer's own leaf) do not, on whatever stack they are, and are counted as single steps have it.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define KEEP __attribute__((noinline, noclone, used))
#define STACK 131072u

static volatile int n;
static char area[4][STACK] __attribute__((aligned(64))); /* area[0] is lower than area[1] */

/* ---- a switch of one's own, as boost's ---- */
void stack_switch(void **from, void *to);
__asm__(".text\nstack_switch: push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15; mov %rsp, (%rdi); mov %rsi, %rsp;"
	"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp; ret");
static void *outside, *inside;

static void *fresh(char *stack, void (*body)(void))
{
	void **top = (void **)(stack + STACK) - 2;
	memset(top - 6, 0, 8 * sizeof *top);
	*top = (void *)body;
	return top - 6;
}

KEEP void leaf(int times)
{
	for (int i = 0; i < times; i++)
		n++;
}
static jmp_buf back;
KEEP void unwound(int times)
{
	leaf(times);
	longjmp(back, 1);
}
KEEP void unwinds(int times)
{
	if (!setjmp(back))
		unwound(times);
}
KEEP void arrays(int times) /* clang's way: rsp is computed in another register */
{
	for (int i = 1; i <= times; i++) {
		char *sp;
		__asm__ volatile("mov %%rsp, %%rax; sub %1, %%rax; mov %%rax, %%rsp; mov %%rsp, %0; add %1, %%rsp" : "=r"(sp) : "r"((long)i * 64) : "rax", "memory");
		n += sp != 0;
	}
}

#define YIELD() stack_switch(&inside, outside)
#define RESUME() stack_switch(&outside, inside)

KEEP void yields_own(void)
{
	n++;
	YIELD();
	n++;
}
static void body(void)
{
	for (;;) {
		leaf(2);
		yields_own();
		unwinds(3);
		YIELD();
		arrays(2);
		yields_own();
	}
}
KEEP void yields_outer(int times) /* what it waits for runs on the other stack */
{
	for (int i = 0; i < times; i++) {
		RESUME();
		leaf(5);
		unwinds(2);
	}
}
/* ... from another stack than the thread's own: higher and lower than the coroutine's */
static void *first;
static void outer_body(void)
{
	void *saved = outside;
	yields_outer(6);
	outside = saved;
	stack_switch(&inside, first);
}
static void from_a_stack(char *mine, char *others)
{
	inside = fresh(others, body);
	stack_switch(&first, fresh(mine, outer_body));
}

/* ---- ucontext ---- */
static ucontext_t main_context, co_context;
KEEP void yields_context(void)
{
	leaf(1);
	swapcontext(&co_context, &main_context);
	leaf(1);
}
static void context_body(void) { yields_context(); }
static void contexts(char *stack)
{
	getcontext(&co_context);
	co_context.uc_stack.ss_sp = stack;
	co_context.uc_stack.ss_size = STACK;
	co_context.uc_link = &main_context;
	makecontext(&co_context, context_body, 0);
	swapcontext(&main_context, &co_context);
	leaf(3);
	swapcontext(&main_context, &co_context);
}

/* ---- setjmp and an alternate stack, as in QEMU and Pth ---- */
static sigjmp_buf in_handler, caller, started;
KEEP void yields_jump(void)
{
	leaf(1);
	if (!sigsetjmp(in_handler, 0))
		siglongjmp(caller, 1);
	leaf(1);
}
static void trampoline(int signo)
{
	(void)signo;
	if (sigsetjmp(started, 0)) {
		yields_jump();
		siglongjmp(caller, 2);
	}
}
static void jumps(char *stack)
{
	stack_t alternate = {.ss_sp = stack, .ss_size = STACK}, none = {.ss_flags = SS_DISABLE};
	struct sigaction action = {.sa_handler = trampoline, .sa_flags = SA_ONSTACK};
	sigaction(SIGUSR1, &action, NULL);
	sigaltstack(&alternate, NULL);
	raise(SIGUSR1);
	sigaltstack(&none, NULL);
	int how = sigsetjmp(caller, 0);
	if (how == 0)
		siglongjmp(started, 1);
	leaf(2);
	if (how == 1)
		siglongjmp(in_handler, 1);
}

/* ---- a stack that lies in the frame of its caller: to leave for it looks like a longjmp ---- */
KEEP void yields_up(void)
{
	n++;
	RESUME();
	leaf(4);
}
KEEP void yields_near(void)
{
	n++;
	RESUME();
	leaf(4);
}
KEEP void in_a_frame(void)
{
	char stack[STACK];
	inside = fresh(stack, body);
	for (int i = 0; i < 3; i++)
		yields_up();
}
KEEP void in_a_small_frame(void)
{
	char stack[8192];
	inside = fresh(stack + sizeof stack - STACK, body);
	for (int i = 0; i < 3; i++)
		yields_near();
}

/* ---- a handler that goes on on another stack ---- */
static ucontext_t interrupted;
static volatile int phase;
KEEP void on_the_other(void)
{
	leaf(3);
	raise(SIGUSR2); /* and back */
	for (;;)
		;
}
static void preempts(int signo, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	(void)signo, (void)info;
	if (phase++ == 0) {
		interrupted = *c;
		c->uc_mcontext.gregs[REG_RSP] = (greg_t)(area[3] + STACK - 72);
		c->uc_mcontext.gregs[REG_RIP] = (greg_t)on_the_other;
	} else {
		memcpy(c->uc_mcontext.gregs, interrupted.uc_mcontext.gregs, sizeof c->uc_mcontext.gregs);
	}
}
KEEP void yields_by_signal(void)
{
	leaf(1);
	raise(SIGUSR2);
	leaf(1);
}

/* ---- a thread whose stack is in the heap ---- */
KEEP void stays(int times) /* no switch in it */
{
	arrays(times);
	unwinds(times);
	leaf(times);
}
static void *thread(void *argument)
{
	stays(7);
	return argument;
}
static void in_the_heap(void)
{
	pthread_attr_t attributes;
	pthread_t id;
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, malloc(STACK), STACK);
	pthread_create(&id, &attributes, thread, NULL);
	pthread_join(id, NULL);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		if (!strcmp(argv[1], "thread"))
			in_the_heap();
		else
			stays(7);
		return 0;
	}
	stays(4);
	for (int i = 0; i < 2; i++) {
		inside = fresh(area[1], body);
		yields_outer(6);
	}
	from_a_stack(area[0], area[1]);
	from_a_stack(area[1], area[0]);
	char *high = mmap((void *)0x7ffff0000000, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	inside = fresh(high, body);
	yields_outer(4);
	contexts(area[2]);
	jumps(area[3]);
	in_a_small_frame();
	in_a_frame();
	struct sigaction action = {.sa_sigaction = preempts, .sa_flags = SA_SIGINFO | SA_NODEFER};
	sigaction(SIGUSR2, &action, NULL);
	yields_by_signal();
	stays(5);
	return 0;
}
