/* fact: a fork in a thread gives a child with that thread alone, which forks and makes threads itself */
#include "trap.h"

static atomic_long busy, finish;
static void *spins(void *unused)
{
	while (!finish)
		busy++;
	return unused;
}
static void *adds(void *at)
{
	(*(long *)at)++;
	return NULL;
}
static void *forks(void *result)
{
	for (int i = 0; i < 25; i++) {
		pid_t child = fork();
		if (child == 0) {
			pthread_t thread;
			long value = 0;
			long before = busy;
			pthread_create(&thread, NULL, adds, &value);
			pthread_join(thread, NULL);
			pid_t grandchild = fork();
			if (grandchild == 0)
				_exit(4);
			_exit(value == 1 && busy == before && end_of(grandchild) == 4 ? 0 : 1);
		}
		if (end_of(child) == 0)
			++*(long *)result;
	}
	return NULL;
}

int main(void)
{
	pthread_t spinner[2], forker[2];
	long right[2] = { 0, 0 };
	for (int i = 0; i < 2; i++)
		pthread_create(&spinner[i], NULL, spins, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&forker[i], NULL, forks, &right[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(forker[i], NULL);
	finish = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(spinner[i], NULL);
	fact_equal(right[0] + right[1], 50, "fifty children of two threads");
	return trap_done();
}
