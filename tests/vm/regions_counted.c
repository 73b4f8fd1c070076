/* A program with regions whose counts are known by arithmetic: run by region_net_test.
 *
 *     regions_counted nested|threads|entries N|overlap|recursion|empty|small
 *     regions_counted stubs|stub-threads|stub-entries N        the same by assembly stubs 1, 2 and 3
 *
 * Work is in-line: work(n) is 2n + 1 instructions (mov, n × (sub, branch)), n conditional branches. Passes are
 * compiled like those of the calibration: begin, work, end in a function of their own. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tare.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#if defined(__x86_64__)
#define work(n)                                                                                                   \
	__asm__ volatile("movl $" TEXT(n) ", %%eax\n1: subl $1, %%eax\n jnz 1b" : : : "eax", "cc", "memory")
#else
#define work(n) __asm__ volatile("mov w9, #" TEXT(n) "\n1: subs w9, w9, #1\n b.ne 1b" : : : "w9", "cc", "memory")
#endif

/* once in the program, as they are called */
#if defined(__clang__)
#define PASS __attribute__((noinline)) static void
#else
#define PASS __attribute__((noinline, noclone)) static void
#endif

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
	work(100);
	tare_region_end(inner);
}

PASS small(void)
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
#define STUBS(body)                                                                                               \
	__asm__ volatile("lea -128(%%rsp), %%rsp\n" body "lea 128(%%rsp), %%rsp" : : : "eax", "cc", "memory")
#define STUB(name) "call tare_asm_" #name "\n"
#define WORK(n) "movl $" #n ", %%eax\n1: subl $1, %%eax\n jnz 1b\n"
#else
#define STUBS(body) __asm__ volatile(body : : : "w9", "cc", "memory", "x30")
#define STUB(name) "bl tare_asm_" #name "\n"
#define WORK(n) "mov w9, #" #n "\n1: subs w9, w9, #1\n b.ne 1b\n"
#endif

PASS nested_by_stubs(void)
{
	STUBS(STUB(begin_1) WORK(10) STUB(begin_2) WORK(20) STUB(begin_3) WORK(30) STUB(end_3) STUB(end_2)
		  STUB(end_1));
}

PASS simple_by_stubs(void)
{
	STUBS(STUB(begin_1) WORK(3) STUB(end_1));
}

static void *many_by_stubs(void *unused)
{
	for (int i = 0; i < 1000; i++)
		simple_by_stubs();
	return unused;
}

static int eight(void *(*work_of)(void *))
{
	pthread_t threads[8];
	for (int i = 0; i < 8; i++)
		if (pthread_create(&threads[i], NULL, work_of, NULL))
			return 1;
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	return 0;
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
		return eight(many);
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
	} else if (strcmp(what, "small") == 0) {
		for (int i = 0; i < 10; i++)
			small();
	} else if (strcmp(what, "stubs") == 0) {
		/* the names of all, and each once: a first enter inside another region is in that one's ± */
		tare_asm_init();
		STUBS(STUB(begin_1) STUB(end_1) STUB(begin_2) STUB(end_2) STUB(begin_3) STUB(end_3));
		for (int i = 0; i < 100; i++)
			nested_by_stubs();
	} else if (strcmp(what, "stub-threads") == 0) {
		return eight(many_by_stubs);
	} else if (strcmp(what, "stub-entries") == 0 && argc > 2) {
		for (long i = 0, n = atol(argv[2]); i < n; i++)
			simple_by_stubs();
	} else {
		return 2;
	}
	return 0;
}
