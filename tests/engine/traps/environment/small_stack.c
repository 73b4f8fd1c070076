/* fact: a stack of 1 MB has 900 kB for the program, and threads run on the least stack
 * limits: stack=1M */
#include "trap.h"
#include <limits.h>
__attribute__((noinline)) static long recurse(int n)
{
	volatile char block[4000];
	block[0] = 1;
	return n ? recurse(n - 1) + block[0] : 0;
}
static void *body(void *unused)
{
	return unused;
}
int main(void)
{
	fact_equal(recurse(220), 220, "900 kB of stack");
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	long right = 0;
	for (int i = 0; i < 100; i++) {
		pthread_t thread;
		right += pthread_create(&thread, &attributes, body, NULL) == 0 && pthread_join(thread, NULL) == 0;
	}
	fact_equal(right, 100, "a hundred threads of PTHREAD_STACK_MIN");
	return trap_done();
}
