/* Methods that take turns, round by round, so that a slow change of the machine hits all alike: each one's median in ns a
 * call, and the median of its ratio to the baseline's time in the same round. And PAPI on a machine without a PMU.
 * Included once, by each of the programs here that measure calls. */
#ifndef BENCH_METHODS_H
#define BENCH_METHODS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 201 };

struct method {
	const char *name;
	const char *baseline; /* the method that it is compared with, round by round */
	void (*call)(void);
	int calls;
	double ns[ROUNDS];
};

static double now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void measure(struct method *methods, size_t n)
{
	for (int round = -5; round < ROUNDS; round++) { /* the first ones warm up */
		for (size_t i = 0; i < n; i++) {
			double begin = now_ns();
			for (int call = 0; call < methods[i].calls; call++)
				methods[i].call();
			if (round >= 0)
				methods[i].ns[round] = (now_ns() - begin) / methods[i].calls;
		}
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(const double *values)
{
	double sorted[ROUNDS];
	memcpy(sorted, values, sizeof sorted);
	qsort(sorted, ROUNDS, sizeof *sorted, compare);
	return sorted[ROUNDS / 2];
}

/* name<TAB>ns<TAB>ratio<TAB>baseline */
static void print(const struct method *methods, size_t n)
{
	double ratios[ROUNDS];
	for (size_t i = 0; i < n; i++) {
		const struct method *base = methods;
		while (base < methods + n && strcmp(base->name, methods[i].baseline) != 0)
			base++;
		if (base == methods + n)
			abort(); /* a method without its baseline */
		for (int round = 0; round < ROUNDS; round++)
			ratios[round] = methods[i].ns[round] / base->ns[round];
		printf("%s\t%.2f\t%.3f\t%s\n", methods[i].name, median(methods[i].ns), median(ratios), base->name);
	}
}

#ifdef WITH_PAPI
#include <dlfcn.h>
#include <papi.h>
#include <stdarg.h>

/* Without a PMU, PAPI switches its perf_event component off. So that its own cost can be measured on such a
 * machine, it is made to believe in a Skylake (libpfm4's LIBPFM_FORCE_PMU), and what it opens then becomes
 * software events, in turn, here, where its system call passes by. Everything between its caller and the kernel is
 * PAPI's own. */
static const uint64_t *papi_becomes; /* [papi_kinds] PERF_COUNT_SW_…; NULL: nothing is changed */
static unsigned papi_kinds, papi_opened;
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	va_list list;
	long a[6];
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_perf_event_open && papi_becomes) {
		struct perf_event_attr *attr = (struct perf_event_attr *)a[0];
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = papi_becomes[papi_opened++ % papi_kinds];
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Starts a set of n (1 or 2) events that count as `becomes` says; says why not. */
static bool papi_begin(int *set, const uint64_t *becomes, unsigned n)
{
	static const char *const names[] = {"UNHALTED_CORE_CYCLES", "INSTRUCTION_RETIRED"};
	int status;
	papi_becomes = becomes;
	papi_kinds = n;
	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	if ((status = PAPI_library_init(PAPI_VER_CURRENT)) == PAPI_VER_CURRENT)
		status = PAPI_create_eventset(set);
	for (unsigned i = 0; status == PAPI_OK && i < n; i++)
		status = PAPI_add_named_event(*set, names[i]);
	if (status == PAPI_OK)
		status = PAPI_start(*set);
	if (status != PAPI_OK)
		fprintf(stderr, "PAPI: %s\n", PAPI_strerror(status));
	papi_becomes = NULL;
	return status == PAPI_OK;
}
#endif

#endif
