/* What reading one event costs a program: libtare beside the bare system call, and beside PAPI where it is there.
 *
 * Every method reads the same event of the same thread (task-clock, which counts anywhere). The methods take turns,
 * round by round, so that a slow change of the machine hits all alike. Printed is each method's median over the rounds
 * in ns a call, and the median of its ratio to the baseline's time in the same round:
 *
 *     name<TAB>ns<TAB>ratio<TAB>baseline
 *
 * bench/run builds it: cc -O2 [-DWITH_PAPI] read.c -ltare [-lpapi] */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <tare.h>
#ifdef WITH_PAPI
#include <dlfcn.h>
#include <papi.h>
#include <stdarg.h>
#endif

enum { ROUNDS = 201, CALLS = 2000 };

static struct tare_counters *counters, *ten_counters;
static int plain_fd, times_fd, one_fd, group_fd;
static volatile uint64_t sink; /* results are used */

static void fail(const char *what)
{
	fprintf(stderr, "read: %s\n", what);
	exit(1);
}

static int raw_open(uint64_t read_format, int leader)
{
	struct perf_event_attr attr = { .size = sizeof attr,
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_TASK_CLOCK,
					.read_format = read_format };
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, 0);
	if (fd < 0)
		fail("cannot open task-clock");
	return fd;
}

static void raw_plain(void)
{
	uint64_t value;
	sink += (uint64_t)read(plain_fd, &value, sizeof value) + value;
}

static void raw_times(void)
{
	uint64_t values[3];
	sink += (uint64_t)read(times_fd, values, sizeof values) + values[0];
}

static void raw_group_of_one(void)
{
	uint64_t values[4];
	sink += (uint64_t)read(one_fd, values, sizeof values) + values[3];
}

static void raw_ten(void)
{
	uint64_t values[13];
	sink += (uint64_t)read(group_fd, values, sizeof values) + values[3];
}

static void raw_start_read_stop(void)
{
	uint64_t value;
	ioctl(plain_fd, PERF_EVENT_IOC_ENABLE, 0);
	sink += (uint64_t)read(plain_fd, &value, sizeof value) + value;
	ioctl(plain_fd, PERF_EVENT_IOC_DISABLE, 0);
}

static void tare_once(void)
{
	struct tare_reading reading;
	sink += tare_read(counters, &reading, NULL) + reading.count;
}

/* A region with nothing in it: the difference of two reads. */
static void tare_region(void)
{
	struct tare_reading before, after;
	tare_read(counters, &before, NULL);
	tare_read(counters, &after, NULL);
	tare_difference(&before, &after, 1, &after);
	sink += after.count;
}

static void tare_ten(void)
{
	struct tare_reading readings[10];
	sink += tare_read(ten_counters, readings, NULL) + readings[0].count;
}

#ifdef WITH_PAPI
static int papi_set = PAPI_NULL;

static void papi_read(void)
{
	long long value;
	sink += (uint64_t)PAPI_read(papi_set, &value) + (uint64_t)value;
}

static void papi_start_read_stop(void)
{
	long long value;
	PAPI_start(papi_set);
	PAPI_read(papi_set, &value);
	PAPI_stop(papi_set, &value);
	sink += (uint64_t)value;
}

/* Without a PMU, PAPI switches its perf_event component off. So that its own cost can be measured on such a machine, it is
 * made to believe in a Skylake (libpfm4's LIBPFM_FORCE_PMU), and what it opens then becomes task-clock, here, where its
 * system call passes by. Everything between its caller and the kernel is PAPI's own. */
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
	if (number == SYS_perf_event_open) {
		struct perf_event_attr *attr = (struct perf_event_attr *)a[0];
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_TASK_CLOCK;
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static bool papi_begin(void)
{
	int status;
	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	if ((status = PAPI_library_init(PAPI_VER_CURRENT)) != PAPI_VER_CURRENT ||
	    (status = PAPI_create_eventset(&papi_set)) != PAPI_OK ||
	    (status = PAPI_add_named_event(papi_set, "UNHALTED_CORE_CYCLES")) != PAPI_OK ||
	    (status = PAPI_start(papi_set)) != PAPI_OK)
		fprintf(stderr, "read: PAPI: %s\n", PAPI_strerror(status));
	return status == PAPI_OK;
}
#endif

struct method {
	const char *name;
	const char *baseline; /* the method that it is compared with, round by round */
	void (*call)(void);
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
			for (int call = 0; call < CALLS; call++)
				methods[i].call();
			if (round >= 0)
				methods[i].ns[round] = (now_ns() - begin) / CALLS;
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

static void print(const struct method *methods, size_t n)
{
	double ratios[ROUNDS];
	for (size_t i = 0; i < n; i++) {
		const struct method *base = methods;
		while (base < methods + n && strcmp(base->name, methods[i].baseline) != 0)
			base++;
		if (base == methods + n)
			fail("a method without its baseline");
		for (int round = 0; round < ROUNDS; round++)
			ratios[round] = methods[i].ns[round] / base->ns[round];
		printf("%s\t%.1f\t%.3f\t%s\n", methods[i].name, median(methods[i].ns), median(ratios), base->name);
	}
}

int main(void)
{
	static struct method reading[] = {
		{ .name = "raw-plain", .baseline = "raw-plain", .call = raw_plain },
		{ .name = "raw-times", .baseline = "raw-plain", .call = raw_times },
		{ .name = "raw-group-of-one", .baseline = "raw-plain", .call = raw_group_of_one },
		{ .name = "tare-read", .baseline = "raw-plain", .call = tare_once },
		{ .name = "raw-10", .baseline = "raw-10", .call = raw_ten },
		{ .name = "tare-10", .baseline = "raw-10", .call = tare_ten },
#ifdef WITH_PAPI
		{ .name = "papi-read", .baseline = "raw-plain", .call = papi_read },
#endif
	};
	static struct method regions[] = {
		{ .name = "raw-start-read-stop", .baseline = "raw-start-read-stop", .call = raw_start_read_stop },
		{ .name = "tare-region", .baseline = "raw-start-read-stop", .call = tare_region },
#ifdef WITH_PAPI
		{ .name = "papi-start-read-stop", .baseline = "raw-start-read-stop", .call = papi_start_read_stop },
#endif
	};
	size_t n_reading = sizeof reading / sizeof *reading, n_regions = sizeof regions / sizeof *regions;
	struct tare_error error = { 0 };
	plain_fd = raw_open(0, -1);
	times_fd = raw_open(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING, -1);
	const uint64_t group = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	one_fd = raw_open(group, -1);
	group_fd = raw_open(group, -1);
	int members[10];
	for (int i = 1; i < 10; i++)
		members[i] = raw_open(group, group_fd);
	if (!tare_open(NULL, &counters, &error) || !tare_add(counters, "task-clock", &error) ||
	    !tare_start(counters, &error) || !tare_open(NULL, &ten_counters, &error))
		fail(error.text);
	for (int i = 0; i < 10; i++)
		if (!tare_add(ten_counters, "task-clock", &error))
			fail(error.text);
	if (!tare_start(ten_counters, &error))
		fail(error.text);
#ifdef WITH_PAPI
	long long value;
	if (!papi_begin()) {
		n_reading--;
		n_regions--;
	}
#endif
	measure(reading, n_reading);
	print(reading, n_reading);
#ifdef WITH_PAPI
	if (papi_set != PAPI_NULL)
		PAPI_stop(papi_set, &value);
#endif
	/* starting a counter costs more the more are open: only those of the regions stay */
	tare_close(ten_counters);
	for (int i = 1; i < 10; i++)
		close(members[i]);
	close(group_fd);
	close(one_fd);
	close(times_fd);
	measure(regions, n_regions);
	print(regions, n_regions);
	return 0;
}
