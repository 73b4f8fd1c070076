/* What a region costs the program: libtare's named regions beside two bare read(2) of the same group, beside nothing,
 * beside PAPI's calls and LIKWID's marker where these are there.
 *
 * Both sides count the same two events of the same thread in one group (task-clock and page-faults, which count
 * anywhere), so that the kernel's part is the same.
 *
 * bench/regions builds it: cc -O2 [-DWITH_PAPI] regions.c -ltare [-lpapi] */
#define _GNU_SOURCE
#include <tare.h>

#include "methods.h"

enum { CALLS = 1000 };

static struct tare_region *measured;
static int group_fd;
static volatile uint64_t sink; /* results are used */

static void fail(const char *what)
{
	fprintf(stderr, "regions: %s\n", what);
	exit(1);
}

static int raw_open(uint64_t config, int leader)
{
	struct perf_event_attr attr = {.size = sizeof attr,
				       .type = PERF_TYPE_SOFTWARE,
				       .config = config,
				       .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
						      PERF_FORMAT_TOTAL_TIME_RUNNING};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, 0);
	if (fd < 0)
		fail("cannot open the group");
	return fd;
}

static void nothing(void) { __asm__ volatile("" : : : "memory"); }

static void raw_two(void)
{
	uint64_t before[5], after[5];
	sink += (uint64_t)read(group_fd, before, sizeof before);
	sink += (uint64_t)read(group_fd, after, sizeof after) + after[3] - before[3] + after[4] - before[4];
}

static void region(void)
{
	tare_region_begin(measured);
	tare_region_end(measured);
}

/* The same by the stubs for assembly, as `tare annotate-asm` calls them. */
static void stubs(void)
{
#if defined(__x86_64__)
	__asm__ volatile(
		"leaq -128(%%rsp), %%rsp\n\tcall *tare_asm_begin_7@GOTPCREL(%%rip)\n\tleaq 128(%%rsp), %%rsp\n\t"
		"leaq -128(%%rsp), %%rsp\n\tcall *tare_asm_end_7@GOTPCREL(%%rip)\n\tleaq 128(%%rsp), %%rsp"
		:
		:
		: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("bl tare_asm_begin_7\n\tbl tare_asm_end_7" : : : "x16", "x17", "x30", "memory");
#endif
}

/* 16 regions in turn: slots that the last pass did not touch. */
static struct tare_region *many[16];
static void regions_in_turn(void)
{
	static unsigned at;
	struct tare_region *one = many[at++ % 16];
	tare_region_begin(one);
	tare_region_end(one);
}

#ifdef WITH_PAPI
static int papi_set = PAPI_NULL;
static bool papi_on;

static void papi_read_two(void)
{
	long long before[2], after[2];
	sink += (uint64_t)PAPI_read(papi_set, before);
	sink += (uint64_t)PAPI_read(papi_set, after) + (uint64_t)(after[0] - before[0]);
}

static void papi_start_read_stop(void)
{
	long long values[2];
	PAPI_start(papi_set);
	PAPI_read(papi_set, values);
	PAPI_stop(papi_set, values);
	sink += (uint64_t)values[0];
}
#endif

int main(void)
{
	/* A loop and an indirect call are in both: their difference is the region's. */
	static struct method off[] = {
		{.name = "nothing", .baseline = "nothing", .call = nothing, .calls = 100 * CALLS},
		{.name = "region-off", .baseline = "nothing", .call = region, .calls = 100 * CALLS},
		{.name = "stubs-off", .baseline = "nothing", .call = stubs, .calls = 100 * CALLS},
	};
	static struct method on[] = {
		{.name = "raw-two-reads", .baseline = "raw-two-reads", .call = raw_two, .calls = CALLS},
		{.name = "region", .baseline = "raw-two-reads", .call = region, .calls = CALLS},
		{.name = "stubs", .baseline = "region", .call = stubs, .calls = CALLS},
		{.name = "regions-in-turn", .baseline = "raw-two-reads", .call = regions_in_turn, .calls = CALLS},
#ifdef WITH_PAPI
		{.name = "papi-two-reads", .baseline = "raw-two-reads", .call = papi_read_two, .calls = CALLS},
#endif
	};
#ifdef WITH_PAPI
	static struct method papi[] = {
		{.name = "raw-two-reads", .baseline = "raw-two-reads", .call = raw_two, .calls = CALLS},
		{.name = "papi-start-read-stop",
		 .baseline = "raw-two-reads",
		 .call = papi_start_read_stop,
		 .calls = CALLS},
	};
#endif
	size_t n_on = sizeof on / sizeof *on;
	struct tare_error error = {0};
	measured = tare_region("measured", &error);
	for (unsigned i = 0; i < 16; i++) {
		char name[16];
		snprintf(name, sizeof name, "many %u", i);
		many[i] = tare_region(name, NULL);
	}
	measure(off, sizeof off / sizeof *off);
	print(off, sizeof off / sizeof *off);
	group_fd = raw_open(PERF_COUNT_SW_TASK_CLOCK, -1);
	raw_open(PERF_COUNT_SW_PAGE_FAULTS, group_fd);
	if (!tare_regions_start("task-clock,page-faults", &error))
		fail(error.text);
#ifdef WITH_PAPI
	static const uint64_t becomes[] = {PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS};
	papi_on = papi_begin(&papi_set, becomes, 2);
	n_on -= !papi_on;
#endif
	measure(on, n_on);
	print(on, n_on);
#ifdef WITH_PAPI
	if (papi_on) {
		long long values[2];
		PAPI_stop(papi_set, values);
		measure(papi, 2);
		print(papi, 2);
	}
#endif
	return 0;
}
