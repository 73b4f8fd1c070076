/* Four threads, each with work of its own: sorting, hashing, calls and returns. Nothing is shared but the code. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef ROUNDS
#define ROUNDS 250
#endif

static int compare(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

static void *work(void *arg)
{
	uint32_t x = (uint32_t)(uintptr_t)arg, hash = 0;
	uint32_t *v = malloc(20000 * sizeof *v);
	for (int round = 0; v && round < ROUNDS; round++) {
		for (int i = 0; i < 20000; i++)
			v[i] = x = x * 1664525u + 1013904223u;
		qsort(v, 20000, sizeof *v, compare);
		for (int i = 0; i < 20000; i++)
			hash = (hash ^ v[i]) * 16777619u;
	}
	free(v);
	return (void *)(uintptr_t)hash;
}

int main(void)
{
	pthread_t threads[4];
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
