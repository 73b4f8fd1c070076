/* Locked instructions and compare-exchange loops. */
#include <stdatomic.h>
int main(void)
{
	atomic_long n = 0;
	long old;
	for (int i = 0; i < 300; i++) {
		atomic_fetch_add(&n, 3);
		old = n;
		while (!atomic_compare_exchange_weak(&n, &old, old ^ 1))
			;
		atomic_exchange(&n, n + 1);
	}
	return n == 0;
}
