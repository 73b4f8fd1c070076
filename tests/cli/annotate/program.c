/* Many shapes of code for regions of any lines: leaf functions that use the red zone, loops with several ends, switches
 * by tables, tail calls, recursion, variable arrays, floating point, calls by pointers, atomics, computed jumps. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))

APART static int leaf(const int *p, int n)
{
	int scratch[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, sum = 0;
	for (int i = 0; i < n; i++) {
		scratch[i & 7] += p[i];
		if (p[i] == 999)
			return -1;
		if (p[i] < -50)
			break;
		sum += scratch[(i + 3) & 7];
	}
	return sum;
}

APART static int by_table(int x)
{
	switch (x) {
	case 0: return leaf(&x, 1);
	case 1: x += 7; break;
	case 2: x *= 11; /* fall through */
	case 3: x ^= 5; break;
	case 4: return -x;
	case 5: x = leaf(&x, 1) + 3; break;
	case 6: puts("six"); break;
	case 7: x = abs(x - 20); break;
	default: x = x > 100 ? x - 100 : x + 1;
	}
	return x * 2;
}

APART static uint64_t gcd(uint64_t a, uint64_t b)
{
	return b ? gcd(b, a % b) : a;
}

APART static int odd(unsigned n);
APART static int even(unsigned n)
{
	return n == 0 ? 1 : odd(n - 1);
}
APART static int odd(unsigned n)
{
	return n == 0 ? 0 : even(n - 1);
}

APART static int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

APART static double polynomial(double x, int n)
{
	double sum = 0, power = 1;
	for (int i = 0; i < n; i++, power *= x)
		sum += power / (i + 1);
	return sum;
}

APART static int variable(int n)
{
	int array[n];
	for (int i = 0; i < n; i++)
		array[i] = i * i;
	int sum = 0;
	for (int i = n; i--;)
		sum += array[i];
	return sum;
}

APART static int interpreter(const unsigned char *code)
{
	static const void *const jumps[] = { &&stop, &&increment, &&twice, &&back };
	int value = 1, tries = 5;
	goto *jumps[*code];
increment:
	value++;
	goto *jumps[*++code];
twice:
	value *= 2;
	goto *jumps[*++code];
back:
	if (tries-- > 0)
		code -= 3;
	goto *jumps[*++code];
stop:
	return value;
}

APART static int many(int count, ...)
{
	va_list args;
	int sum = 0;
	va_start(args, count);
	while (count--)
		sum = sum * 3 + va_arg(args, int);
	va_end(args);
	return sum;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static __thread int of_thread = 3;

APART static int misc(int n)
{
	static _Atomic int total;
	for (int i = 0; i < n; i++) {
		total += i;
		of_thread ^= total;
	}
	return total + of_thread;
}

int main(int argc, char **argv)
{
	int v[40];
	unsigned seed = 12345;
	for (int i = 0; i < 40; i++) {
		seed = seed * 1103515245u + 12345u;
		v[i] = (int)(seed >> 16) % 200 - 40;
	}
	printf("%d %d\n", leaf(v, 40), leaf(v + 7, 3));
	v[5] = 999;
	printf("%d\n", leaf(v, 40));
	for (int i = -1; i < 10; i++)
		printf("%d ", by_table(i));
	printf("%d\n", by_table(1000));
	printf("%llu %d %d %d\n", (unsigned long long)gcd(3528, 3780), even(11), odd(7), fibonacci(11));
	printf("%.10f %d\n", polynomial(0.75, 20), variable(30));
	printf("%d\n", interpreter((const unsigned char[]){ 1, 2, 1, 3, 2, 1, 0 }));
	printf("%d\n", many(5, 1, 2, argc, 4, 5));
	qsort(v, 40, sizeof *v, compare);
	for (int i = 0; i < 40; i++)
		printf("%d ", v[i]);
	printf("%d %s\n", misc(20), strrchr(argv[0], '/') ? "." : "/");
	return 0;
}
