/* setjmp and longjmp out of nested calls. */
#include <setjmp.h>
static jmp_buf out;
__attribute__((noinline)) static void down(int n)
{
	volatile int here = n;
	if (n == 0)
		longjmp(out, 7);
	down(here - 1);
}
int main(void)
{
	volatile int times = 0;
	for (volatile int i = 0; i < 50; i++)
		if (setjmp(out) == 0)
			down(i % 9);
		else
			times++;
	return times != 50;
}
