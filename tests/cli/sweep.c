/* What `tare explain --sweep` runs.
 *
 *     sweep z N        a Z sweep over N^3 doubles, i + N·j + N²·k, k innermost (Zagha et al. 1996, 4.2)
 *     sweep variable   writes the value of the environment variable N, or "none"
 *     sweep words …    writes its arguments, one a line
 *     sweep echo       copies its input to its output
 *     sweep exit N     ends with status N % 100
 *     sweep threads    that many threads as OMP_NUM_THREADS says, each of which adds up */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((noinline)) static double z_sweep(double *x, size_t n)
{
	double sum = 0;
	for (size_t j = 0; j < n; j++)
		for (size_t i = 0; i < n; i++) {
			double before = x[i + n * j];
			for (size_t k = 1; k < n; k++) {
				double *at = &x[i + n * j + n * n * k];
				*at = before = 0.5 * *at + 0.25 * before;
			}
			sum += before;
		}
	return sum;
}

static int z(size_t n)
{
	double *x = mmap(NULL, n * n * n * sizeof *x, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (x == MAP_FAILED)
		return 9;
	printf("%g\n", z_sweep(x, n));
	return 0;
}

static void *add_up(void *unused)
{
	for (long i = 0; i < 20000; i++)
		__asm__ volatile("" : "+r"(i));
	return unused;
}

static int threads(long n)
{
	pthread_t all[64];
	if (n < 1 || n > 64)
		return 9;
	for (long i = 0; i < n; i++)
		if (pthread_create(&all[i], NULL, add_up, NULL) != 0)
			return 9;
	for (long i = 0; i < n; i++)
		pthread_join(all[i], NULL);
	printf("%ld threads\n", n);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *variable = getenv("N"), *wanted = getenv("OMP_NUM_THREADS");
	long n = argc > 2 ? atol(argv[2]) : 0;
	if (strcmp(what, "z") == 0 && n > 0)
		return z((size_t)n);
	if (strcmp(what, "threads") == 0)
		return threads(wanted ? atol(wanted) : 0);
	if (strcmp(what, "exit") == 0)
		return (int)(n % 100);
	if (strcmp(what, "variable") == 0)
		printf("N is %s\n", variable ? variable : "none");
	else if (strcmp(what, "words") == 0)
		for (int i = 2; i < argc; i++)
			puts(argv[i]);
	else if (strcmp(what, "echo") == 0)
		for (int c; (c = getchar()) != EOF;)
			putchar(c);
	else
		return 9;
	return 0;
}
