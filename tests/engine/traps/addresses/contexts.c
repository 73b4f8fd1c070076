/* fact: swapcontext, makecontext, setjmp and longjmp over frames and stacks go where they should
 * limits: stack=8M */
#include "trap.h"

static ucontext_t main_context, worker[3];
static char stack[3][32768];
static jmp_buf jump;
static long sum, order[400];
static int used;
static void body(int n)
{
	for (int i = 0; i < 100; i++) {
		sum += n + i;
		order[used++ % 400] = n;
		swapcontext(&worker[n], &worker[(n + 1) % 3]);
	}
}

__attribute__((noinline)) static void deep(int n)
{
	volatile char fill[64];
	fill[0] = 1;
	if (n == 0)
		longjmp(jump, 7);
	deep(n - 1);
	sum += fill[0];
}
__attribute__((noinline)) static long recurse(long n)
{
	return n == 0 ? 0 : 1 + recurse(n - 1) + (n & 0);
}

int main(void)
{
	for (int i = 0; i < 3; i++) {
		getcontext(&worker[i]);
		worker[i].uc_stack.ss_sp = stack[i];
		worker[i].uc_stack.ss_size = sizeof stack[i];
		worker[i].uc_link = &main_context;
		makecontext(&worker[i], (void (*)(void))body, 1, i);
	}
	swapcontext(&main_context, &worker[0]);
	fact_equal(sum, 3 * 4950 + 300, "three coroutines of a hundred turns");
	bool turns = true;
	for (int i = 0; i < 300; i++)
		turns &= order[i] == i % 3;
	fact(turns, "by turns");
	volatile long jumps = 0;
	for (volatile int i = 0; i < 2000; i++)
		if (setjmp(jump) == 0)
			deep(i % 50);
		else
			jumps++;
	fact_equal(jumps, 2000, "longjmp over up to fifty frames, 2000 times");
	volatile long depth = 0;
	for (int i = 0; i < 20; i++)
		depth += recurse(20000);
	fact_equal(depth, 400000, "20000 calls deep");
	return trap_done();
}
