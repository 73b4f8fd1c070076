/* A program with regions whose counts are known by arithmetic: run by region_net_test.
 *
 *     regions_counted nested|threads|entries N|overlap|recursion|empty|small|blocks|stubs
 *
 * Work is in-line: work(n) is 2n + 1 instructions (mov, n × (sub, branch)), n conditional branches. Passes are compiled
 * like those of the calibration: begin, work, end in a function of their own. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tare.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#if defined(__x86_64__)
#define work(n) __asm__ volatile("movl $" TEXT(n) ", %%eax\n1: subl $1, %%eax\n jnz 1b" : : : "eax", "cc", "memory")
#else
#define work(n) __asm__ volatile("mov w9, #" TEXT(n) "\n1: subs w9, w9, #1\n b.ne 1b" : : : "w9", "cc", "memory")
#endif

#define PASS __attribute__((noinline, noclone)) static void

static struct tare_region *outer, *middle, *inner;

PASS nested(void)
{
	tare_region_begin(outer);
	work(100);
	tare_region_begin(middle);
	work(200);
	tare_region_begin(inner);
	work(300);
	tare_region_end(inner);
	tare_region_end(middle);
	tare_region_end(outer);
}

PASS overlapping(void)
{
	tare_region_begin(outer);
	work(100);
	tare_region_begin(inner);
	work(200);
	tare_region_end(outer);
	work(300);
	tare_region_end(inner);
}

PASS simple(void)
{
	tare_region_begin(inner);
	work(3);
	tare_region_end(inner);
}

PASS empty(void)
{
	tare_region_begin(inner);
	tare_region_end(inner);
}

PASS recursive(void)
{
	tare_region_begin(inner);
	work(10);
	tare_region_begin(inner);
	work(10);
	tare_region_end(inner);
	tare_region_end(inner);
}

static void *many(void *unused)
{
	for (int i = 0; i < 1000; i++)
		simple();
	return unused;
}

#if defined(__x86_64__)
#define CALL(stub) __asm__ volatile("lea -128(%%rsp), %%rsp\n call " #stub "\n lea 128(%%rsp), %%rsp" : : : "memory")
#else
#define CALL(stub) __asm__ volatile("bl " #stub : : : "memory", "x30")
#endif

PASS by_stubs(void)
{
#if defined(__x86_64__)
	__asm__ volatile("lea -128(%%rsp), %%rsp\n call tare_asm_begin_7\n movl $50, %%eax\n1: subl $1, %%eax\n jnz 1b\n"
			 "call tare_asm_end_7\n lea 128(%%rsp), %%rsp"
			 :
			 :
			 : "eax", "cc", "memory");
#else
	__asm__ volatile("bl tare_asm_begin_7\n mov w9, #50\n1: subs w9, w9, #1\n b.ne 1b\n bl tare_asm_end_7"
			 :
			 :
			 : "w9", "cc", "memory", "x30");
#endif
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	outer = tare_region("outer", NULL);
	middle = tare_region("middle", NULL);
	inner = tare_region("inner", NULL);
	if (strcmp(what, "nested") == 0) {
		for (int i = 0; i < 100; i++)
			nested();
	} else if (strcmp(what, "threads") == 0) {
		pthread_t threads[8];
		for (int i = 0; i < 8; i++)
			if (pthread_create(&threads[i], NULL, many, NULL))
				return 1;
		for (int i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
	} else if (strcmp(what, "entries") == 0 && argc > 2) {
		for (long i = 0, n = atol(argv[2]); i < n; i++)
			simple();
	} else if (strcmp(what, "overlap") == 0) {
		for (int i = 0; i < 10; i++)
			overlapping();
	} else if (strcmp(what, "recursion") == 0) {
		recursive();
	} else if (strcmp(what, "empty") == 0) {
		for (int i = 0; i < 10; i++)
			empty();
	} else if (strcmp(what, "stubs") == 0) {
		for (int i = 0; i < 10; i++)
			by_stubs();
	} else {
		return 2;
	}
	return 0;
}
