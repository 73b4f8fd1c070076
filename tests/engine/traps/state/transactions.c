/* fact: transactions commit, abort with their code, or always fall back: the sum is exact in any case
 * build: -mrtm
 * needs: rtm */
#include "trap.h"
#include <immintrin.h>

static volatile long sum;
static atomic_int lock;
static void *body(void *unused)
{
	for (int i = 0; i < 20000; i++) {
		if (_xbegin() == _XBEGIN_STARTED) {
			if (lock)
				_xabort(1);
			sum++;
			_xend();
		} else {
			while (atomic_exchange(&lock, 1))
				;
			sum++;
			lock = 0;
		}
	}
	return unused;
}

int main(void)
{
	fact(!_xtest(), "no transaction at first");
	volatile long value = 1;
	bool right = true;
	for (int i = 0; i < 1000; i++) {
		unsigned status = _xbegin();
		if (status == _XBEGIN_STARTED) {
			value = 2;
			_xabort(7);
		}
		right &= value == 1 && (!(status & _XABORT_EXPLICIT) || _XABORT_CODE(status) == 7);
	}
	fact(right, "what an aborted transaction wrote is undone, its code is 7");
	pthread_t thread[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, body, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	fact_equal(sum, 40000, "the sum of two threads");
	return trap_done();
}
