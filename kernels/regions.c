/* What a region counts that has nothing in it, or a known number of blocks: run by `tare calibrate`, once a process.
 *
 *     regions EVENT [blocks|stubs]
 *
 * counts EVENT in the calling thread's regions, entered by tare_region_begin() or with `stubs` by the assembly stubs, and
 * prints, a line each:
 *
 *     reads user|call      how the counters are read (TARE_USER_READ=0: by system calls)
 *     cold N               an empty region, the first in this process (Safford, Table D.2: "not in cache")
 *     warm N               … the median of later ones ("in cache")
 *     enter N, leave N     an enter, or a leave, of another region as the region around it counts it; warm, medians
 *     block B N            a region around B in-line blocks (Nieto, 4.5), the median of some passes
 *
 * A block is ten statements x = x + 1 over ten words, each a load, an add and a store: 30 instructions, 10 loads and
 * 10 stores on x86-64 as on aarch64, no branch. Exit status 3: the event cannot be counted; standard error says why.
 *
 * All passes of a kind are compiled alike, so that what the compiler puts around the calls is the same in each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/calibration_passes.h"

enum { PASSES = 33, BLOCK_PASSES = 5 };

static uint32_t words[10];

static uint64_t count_of(struct tare_region *region)
{
	struct tare_reading reading;
	struct tare_error error;
	if (!tare_region_read(region, TARE_THREAD, NULL, &reading, &error)) {
		fprintf(stderr, "%s\n", error.text);
		exit(3);
	}
	if (reading.state != TARE_COUNTED) {
		fputs("it was not counted all the time\n", stderr);
		exit(3);
	}
	return reading.count;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
	qsort(x, n, sizeof *x, by_size);
	return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* ---- passes ---- */

/* Those of calibration_passes.h by stubs, as assembly calls them: 98 is the region around, 99 the other. */
#if defined(__x86_64__)
/* below the red zone */
#define STUB_CALLS(calls) __asm__ volatile("lea -128(%%rsp), %%rsp\n" calls "lea 128(%%rsp), %%rsp" : : : "memory")
#define STUB(name) "call " #name "\n"
#elif defined(__aarch64__)
#define STUB_CALLS(calls) __asm__ volatile(calls : : : "memory", "x30")
#define STUB(name) "bl " #name "\n"
#endif

PASS empty_stub_pass(void)
{
	STUB_CALLS(STUB(tare_asm_begin_98) STUB(tare_asm_end_98));
}

PASS enter_stub_pass(void)
{
	STUB_CALLS(STUB(tare_asm_begin_98) STUB(tare_asm_begin_99) STUB(tare_asm_end_98) STUB(tare_asm_end_99));
}

PASS leave_stub_pass(void)
{
	STUB_CALLS(STUB(tare_asm_begin_99) STUB(tare_asm_begin_98) STUB(tare_asm_end_99) STUB(tare_asm_end_98));
}

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#if defined(__x86_64__)
#define STATEMENT(at) "movl " #at "(%0), %%eax\n addl $1, %%eax\n movl %%eax, " #at "(%0)\n"
#define CHANGED "eax", "cc", "memory"
#elif defined(__aarch64__)
#define STATEMENT(at) "ldr w9, [%0, #" #at "]\n add w9, w9, #1\n str w9, [%0, #" #at "]\n"
#define CHANGED "w9", "memory"
#endif
#define STATEMENTS \
	STATEMENT(0) STATEMENT(4) STATEMENT(8) STATEMENT(12) STATEMENT(16) STATEMENT(20) STATEMENT(24) STATEMENT(28) \
	STATEMENT(32) STATEMENT(36)

/* As tare_region_begin() and …_end(), with the calls where they are written and not behind the blocks: those are
 * more than a conditional branch of aarch64 reaches over (1 MiB). */
#define IF_ON(call)                                                              \
	do {                                                                     \
		if (__builtin_expect(__atomic_load_n(&tare_regions_on, __ATOMIC_RELAXED), 1)) \
			call;                                                    \
	} while (0)

/* The address is in its register before the region begins. */
#define BLOCKS(n)                                                                                       \
	PASS blocks_##n(void)                                                                           \
	{                                                                                               \
		uint32_t *at = words;                                                                   \
		__asm__ volatile("" : "+r"(at));                                                        \
		IF_ON(tare_region_enter(around));                                                              \
		__asm__ volatile(".rept " TEXT(n) "\n" STATEMENTS ".endr" : : "r"(at) : CHANGED);       \
		IF_ON(tare_region_leave(around));                                                             \
	}

BLOCKS(0)
BLOCKS(1)
BLOCKS(10)
BLOCKS(100)
BLOCKS(1000)
BLOCKS(10000)

static const struct {
	unsigned blocks;
	void (*pass)(void);
} sizes[] = { { 0, blocks_0 },     { 1, blocks_1 },	  { 10, blocks_10 },
	      { 100, blocks_100 }, { 1000, blocks_1000 }, { 10000, blocks_10000 } };

static double counted(void (*pass)(void), unsigned passes)
{
	double counts[PASSES];
	pass(); /* what is new to it: a region's place in memory, code that is not in memory yet */
	for (unsigned i = 0; i < passes; i++) {
		uint64_t before = count_of(around);
		pass();
		counts[i] = (double)(count_of(around) - before);
	}
	return median(counts, passes);
}

int main(int argc, char **argv)
{
	struct tare_error error;
	struct tare_reads reads;
	bool with_blocks = argc > 2 && strcmp(argv[2], "blocks") == 0,
	     stubs = argc > 2 && strcmp(argv[2], "stubs") == 0;
	if (argc < 2 || (argc > 2 && !with_blocks && !stubs) || argc > 3) {
		fputs("usage: regions EVENT [blocks|stubs]\n", stderr);
		return 2;
	}
	if (!tare_regions_start(argv[1], &error) || !(around = tare_region("around", &error)) ||
	    !(other = tare_region("other", &error)) ||
	    (stubs && (!tare_asm_name(98, "around", &error) || !tare_asm_name(99, "other", &error)))) {
		fprintf(stderr, "%s\n", error.text);
		return 3;
	}
	void (*empty)(void) = stubs ? empty_stub_pass : empty_pass;
	empty();
	double cold = (double)count_of(around), warm = counted(empty, PASSES);
	double enter = counted(stubs ? enter_stub_pass : enter_pass, PASSES) - warm,
	       leave = counted(stubs ? leave_stub_pass : leave_pass, PASSES) - warm;
	tare_region_reads(TARE_THREAD, &reads);
	printf("reads %s\ncold %.0f\nwarm %.1f\nenter %.1f\nleave %.1f\n",
	       reads.by_user ? "user" : "call", cold, warm, enter, leave);
	for (size_t i = 0; with_blocks && i < sizeof sizes / sizeof *sizes; i++)
		printf("block %u %.1f\n", sizes[i].blocks, counted(sizes[i].pass, BLOCK_PASSES));
	return 0;
}
