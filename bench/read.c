/* What reading one event costs a program: libtare beside the bare system call, and beside PAPI where it is there.
 *
 * Every method reads the same event of the same thread (task-clock, which counts anywhere).
 *
 * bench/run builds it: cc -O2 [-DWITH_PAPI] read.c -ltare [-lpapi] */
#define _GNU_SOURCE
#include <sys/ioctl.h>

#include <tare.h>

#include "methods.h"

enum { CALLS = 2000 };

static struct tare_counters *counters, *ten_counters;
static int simple_fd, times_fd, one_fd, group_fd;
static volatile uint64_t sink; /* results are used */

static void fail(const char *what)
{
	fprintf(stderr, "read: %s\n", what);
	exit(1);
}

static int raw_open(uint64_t read_format, int leader)
{
	struct perf_event_attr attr = {.size = sizeof attr,
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_TASK_CLOCK,
				       .read_format = read_format};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, 0);
	if (fd < 0)
		fail("cannot open task-clock");
	return fd;
}

static void raw_simple(void)
{
	uint64_t value;
	sink += (uint64_t)read(simple_fd, &value, sizeof value) + value;
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
	ioctl(simple_fd, PERF_EVENT_IOC_ENABLE, 0);
	sink += (uint64_t)read(simple_fd, &value, sizeof value) + value;
	ioctl(simple_fd, PERF_EVENT_IOC_DISABLE, 0);
}

static void tare_once(void)
{
	struct tare_reading reading;
	sink += tare_read(counters, &reading, NULL) + reading.count;
}

/* A region with nothing in it: the difference of two reads. */
static void tare_two(void)
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
#endif

int main(void)
{
	static struct method reading[] = {
		{.name = "raw-plain", .baseline = "raw-plain", .call = raw_simple, .calls = CALLS},
		{.name = "raw-times", .baseline = "raw-plain", .call = raw_times, .calls = CALLS},
		{.name = "raw-group-of-one", .baseline = "raw-plain", .call = raw_group_of_one, .calls = CALLS},
		{.name = "tare-read", .baseline = "raw-plain", .call = tare_once, .calls = CALLS},
		{.name = "raw-10", .baseline = "raw-10", .call = raw_ten, .calls = CALLS},
		{.name = "tare-10", .baseline = "raw-10", .call = tare_ten, .calls = CALLS},
#ifdef WITH_PAPI
		{.name = "papi-read", .baseline = "raw-plain", .call = papi_read, .calls = CALLS},
#endif
	};
	static struct method regions[] = {
		{.name = "raw-start-read-stop",
		 .baseline = "raw-start-read-stop",
		 .call = raw_start_read_stop,
		 .calls = CALLS},
		{.name = "tare-region", .baseline = "raw-start-read-stop", .call = tare_two, .calls = CALLS},
#ifdef WITH_PAPI
		{.name = "papi-start-read-stop",
		 .baseline = "raw-start-read-stop",
		 .call = papi_start_read_stop,
		 .calls = CALLS},
#endif
	};
	size_t n_reading = sizeof reading / sizeof *reading, n_regions = sizeof regions / sizeof *regions;
	struct tare_error error = {0};
	simple_fd = raw_open(0, -1);
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
	static const uint64_t becomes[] = {PERF_COUNT_SW_TASK_CLOCK};
	if (!papi_begin(&papi_set, becomes, 1)) {
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
