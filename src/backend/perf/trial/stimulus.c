#include "backend/perf/trial/stimulus.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- user level ---- */

void stimulus_loop(uint64_t turns)
{
#if defined(__x86_64__)
	__asm__ volatile("1:\n\tdec %0\n\tjnz 1b" : "+r"(turns) : : "cc");
#elif defined(__aarch64__)
	/* subs and b.ne; cbnz would make it two as well, this keeps one instruction for each of the two tasks */
	__asm__ volatile("1:\n\tsubs %0, %0, #1\n\tb.ne 1b" : "+r"(turns) : : "cc");
#else
	/* at least two instructions a turn on any machine, one of them a branch: the empty asm keeps the loop */
	while (turns--)
		__asm__ volatile("" : "+r"(turns));
#endif
}

static bool run_instructions(uint64_t *least)
{
	stimulus_loop(STIMULUS_LOOPS);
	*least = 2 * STIMULUS_LOOPS;
	return true;
}

static bool run_branches(uint64_t *least)
{
	stimulus_loop(STIMULUS_LOOPS);
	*least = STIMULUS_LOOPS;
	return true;
}

static bool run_cycles(uint64_t *least)
{
	stimulus_loop(STIMULUS_LOOPS);
	/* no CPU takes more than a handful of branches a cycle */
	*least = STIMULUS_LOOPS / 8;
	return true;
}

/* Clocks that tick slower than the core: one tick is enough. */
static bool run_ticks(uint64_t *least)
{
	stimulus_loop(STIMULUS_LOOPS);
	*least = 1;
	return true;
}

/* Half of the branches that depend on a random bit are guessed wrongly, whatever guesses; a quarter of that is
 * asked for. xorshift32 (Marsaglia 2003) has a period that no predictor learns. */
static bool run_mispredictions(uint64_t *least)
{
	enum { TURNS = 4000 };
	uint32_t x = 2463534242u;
	for (unsigned i = 0; i < TURNS; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		if (x & 0x10000)
			__asm__ volatile("nop" : "+r"(x)); /* volatile: stays a branch */
	}
	*least = TURNS / 8;
	return true;
}

enum { PAGES = 64, PAGE_BYTES = 4096, LINES = PAGES * 8 /* every 512 bytes */ };

static volatile unsigned char *map_pages(void)
{
	void *memory = mmap(NULL, (size_t)PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	/* one page must be one fault and one translation */
	madvise(memory, (size_t)PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
	return memory;
}

static uint64_t mapped_pages(void)
{
	uint64_t pages = (uint64_t)PAGES * PAGE_BYTES / (uint64_t)sysconf(_SC_PAGESIZE);
	return pages ? pages : 1;
}

static void unmap_pages(volatile unsigned char *memory) { munmap((void *)memory, (size_t)PAGES * PAGE_BYTES); }

/* Out of all caches; both instructions are allowed in user mode by Linux. */
static bool flush_line(volatile unsigned char *line)
{
#if defined(__x86_64__)
	__asm__ volatile("clflush (%0)\n\tmfence" : : "r"(line) : "memory");
	return true;
#elif defined(__aarch64__)
	__asm__ volatile("dc civac, %0\n\tdsb ish" : : "r"(line) : "memory");
	return true;
#else
	(void)line;
	return false;
#endif
}

static bool run_loads(uint64_t *least)
{
	volatile unsigned char *memory = map_pages();
	unsigned sum = 0;
	if (!memory)
		return false;
	for (unsigned i = 0; i < 4 * LINES; i++)
		sum += memory[(i % LINES) * 512];
	unmap_pages(memory);
	*least = 4 * LINES + (sum != 0);
	return true;
}

static bool run_stores(uint64_t *least)
{
	volatile unsigned char *memory = map_pages();
	if (!memory)
		return false;
	for (unsigned i = 0; i < 4 * LINES; i++)
		memory[(i % LINES) * 512] = (unsigned char)i;
	unmap_pages(memory);
	*least = 4 * LINES;
	return true;
}

/* Each line is flushed, then loaded: a miss in every level. A prefetcher that is faster than the next load can
 * take some of them, so that a quarter is asked for. */
static bool run_cache_misses(uint64_t *least)
{
	volatile unsigned char *memory = map_pages();
	unsigned sum = 0;
	bool done = true;
	if (!memory)
		return false;
	for (unsigned i = 0; i < PAGES; i++)
		memory[i * PAGE_BYTES] = 1; /* own pages, not the zero page, which others use */
	for (unsigned i = 0; done && i < LINES; i++) {
		volatile unsigned char *line = memory + (i * 7 % LINES) * 512;
		done = flush_line(line);
		sum += *line;
	}
	unmap_pages(memory);
	*least = LINES / 4 + (sum == 1u << 31);
	return done;
}

/* A change of protection takes the translations out of the TLB; the next load of each page has to look it up. A
 * sixteenth is asked for: where neighbouring pages lie together in memory, some CPUs keep four or more in one
 * entry. */
static bool run_tlb_misses(uint64_t *least)
{
	enum { ROUNDS = 4 };
	volatile unsigned char *memory = map_pages();
	unsigned sum = 0;
	if (!memory)
		return false;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < PAGES; i++)
			memory[i * PAGE_BYTES]++;
		mprotect((void *)memory, (size_t)PAGES * PAGE_BYTES, PROT_READ);
		for (unsigned i = 0; i < PAGES; i++)
			sum += memory[(i * 29 % PAGES) * PAGE_BYTES];
		mprotect((void *)memory, (size_t)PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE);
	}
	unmap_pages(memory);
	*least = ROUNDS * mapped_pages() / 16 + (sum == 1u << 31);
	return true;
}

/* ---- kernel level ---- */

enum { CALLS = 300 };

static void make_calls(void)
{
	for (unsigned i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
}

/* Entering and leaving the kernel takes more than 20 instructions, cycles, and 2 branches, each time. */
static bool run_calls(uint64_t *least)
{
	make_calls();
	*least = 20 * CALLS;
	return true;
}

static bool run_calls_branches(uint64_t *least)
{
	make_calls();
	*least = 2 * CALLS;
	return true;
}

static bool run_calls_any(uint64_t *least)
{
	make_calls();
	*least = 1;
	return true;
}

/* ---- what the kernel counts ---- */

static uint64_t thread_time_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* What comes between (a switch to another thread, another guest of the machine's) is in the thread's CPU time, but
 * need not be in the kernel's clock, which stops earlier and starts later at a switch: 25 to 70 us were seen. Each
 * step took at least as long as the quickest, with nothing between: that is asked for. */
static bool run_time(uint64_t *least)
{
	enum { BUSY_NS = 40000, TURNS = 1000, STEPS_LEAST = 8 };
	uint64_t begin = thread_time_ns(), before = begin, quickest_ns = UINT64_MAX, steps = 0;
	while (before - begin < BUSY_NS || steps < STEPS_LEAST) {
		stimulus_loop(TURNS);
		uint64_t now = thread_time_ns();
		if (now - before < quickest_ns)
			quickest_ns = now - before;
		before = now;
		steps++;
	}
	*least = steps * quickest_ns / 2;
	return *least > 0;
}

/* Energy counters of a package are brought up to date once in about a millisecond (Intel SDM 3B, 15.10.1: RAPL).
 */
static bool run_energy(uint64_t *least)
{
	struct timespec pause = {.tv_nsec = 5000000};
	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	*least = 1;
	return true;
}

static bool run_page_faults(uint64_t *least)
{
	volatile unsigned char *memory = map_pages();
	if (!memory)
		return false;
	for (unsigned i = 0; i < PAGES; i++)
		memory[i * PAGE_BYTES] = 1;
	unmap_pages(memory);
	*least = mapped_pages();
	return true;
}

/* More than one sleep: where the CPU is taken away between a timer's start and the switch, the time is over before
 * the thread has gone to sleep, and it never does. */
static bool run_context_switches(uint64_t *least)
{
	enum { SLEEPS = 4 };
	struct timespec shortest = {.tv_nsec = 1};
	for (int i = 0; i < SLEEPS; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &shortest, NULL);
	*least = 1;
	return true;
}

/* To another CPU and back. */
static bool run_migrations(uint64_t *least)
{
	cpu_set_t allowed, elsewhere;
	int here = sched_getcpu();
	if (here < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2)
		return false;
	elsewhere = allowed;
	CPU_CLR(here, &elsewhere);
	bool moved = sched_setaffinity(0, sizeof elsewhere, &elsewhere) == 0;
	if (moved)
		sched_setaffinity(0, sizeof allowed, &allowed);
	*least = 1;
	return moved;
}

/* ---- which one ---- */

static const struct stimulus instructions = {"a loop of 40000 instructions", run_instructions},
			     branches = {"a loop of 20000 branches", run_branches},
			     cycles = {"a loop that takes thousands of cycles", run_cycles},
			     ticks = {"a loop that takes thousands of cycles", run_ticks},
			     mispredictions = {"4000 branches on random bits", run_mispredictions},
			     loads = {"2048 loads", run_loads}, stores = {"2048 stores", run_stores},
			     cache_misses = {"512 loads of lines that were flushed before", run_cache_misses},
			     tlb_misses = {"256 loads of pages that the TLB had lost", run_tlb_misses},
			     calls = {"300 system calls", run_calls},
			     calls_branches = {"300 system calls", run_calls_branches},
			     calls_any = {"300 system calls", run_calls_any},
			     busy_time = {"40 us of work", run_time}, energy = {"5 ms", run_energy},
			     page_faults = {"64 pages touched for the first time", run_page_faults},
			     context_switches = {"4 sleeps", run_context_switches},
			     migrations = {"a move to another CPU and back", run_migrations};

struct stimulus_row {
	const char *name; /* canonical */
	uint32_t type;    /* … and the kernel's generic or software event of the same meaning; */
	uint64_t config;  /* type PERF_TYPE_MAX: none */
	const struct stimulus *user, *kernel;
};

#define CACHE(cache, operation, result)                                                                           \
	PERF_TYPE_HW_CACHE, (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 |              \
			     PERF_COUNT_HW_CACHE_RESULT_##result << 16)
#define SOFTWARE(name) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##name
#define HARDWARE(name) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##name

/* Where the kernel's part has no stimulus of its own, its event runs while system calls are made: nothing is known
 * of how much of it takes place in them. */
static const struct stimulus_row rows[] = {
	{"instructions", HARDWARE(INSTRUCTIONS), &instructions, &calls},
	{"cycles", HARDWARE(CPU_CYCLES), &cycles, &calls},
	{"branches", HARDWARE(BRANCH_INSTRUCTIONS), &branches, &calls_branches},
	{"branch-misses", HARDWARE(BRANCH_MISSES), &mispredictions, NULL},
	{"ref-cycles", HARDWARE(REF_CPU_CYCLES), &ticks, &calls_any},
	{"bus-cycles", HARDWARE(BUS_CYCLES), &ticks, NULL},
	{"cache-references", HARDWARE(CACHE_REFERENCES), &cache_misses, NULL},
	{"cache-misses", HARDWARE(CACHE_MISSES), &cache_misses, NULL},
	{"l1d-loads", CACHE(L1D, READ, ACCESS), &loads, &calls_any},
	{"l1d-load-misses", CACHE(L1D, READ, MISS), &cache_misses, NULL},
	{"l1d-stores", CACHE(L1D, WRITE, ACCESS), &stores, &calls_any},
	{"llc-loads", CACHE(LL, READ, ACCESS), &cache_misses, NULL},
	{"llc-load-misses", CACHE(LL, READ, MISS), &cache_misses, NULL},
	/* on AMD these are the loads that the first level of the TLB did not have */
	{"dtlb-loads", CACHE(DTLB, READ, ACCESS), &tlb_misses, &calls_any},
	{"dtlb-load-misses", CACHE(DTLB, READ, MISS), &tlb_misses, NULL},
	{"task-clock", SOFTWARE(TASK_CLOCK), &busy_time, &busy_time},
	{"cpu-clock", SOFTWARE(CPU_CLOCK), &busy_time, &busy_time},
	{"page-faults", SOFTWARE(PAGE_FAULTS), &page_faults, NULL},
	{"minor-faults", SOFTWARE(PAGE_FAULTS_MIN), &page_faults, NULL},
	/* both take place in the kernel */
	{"context-switches", SOFTWARE(CONTEXT_SWITCHES), &context_switches, &context_switches},
	{"cpu-migrations", SOFTWARE(CPU_MIGRATIONS), &migrations, &migrations},
};

/* Arithmetic of the kinds that the others leave out. */
static void calculate(void)
{
	enum { TURNS = 1000 };
	volatile double real = 1.5;
	volatile float single = 1.5f;
	volatile uint64_t whole = 12345;
	for (unsigned i = 1; i <= TURNS; i++) {
		real = real * 1.0001 + 1 / (double)i;
		single = single * 1.01f + (float)whole;
		whole = whole * 3 / i + 7;
		__atomic_fetch_add(&whole, 1, __ATOMIC_SEQ_CST);
	}
}

void stimulus_all(void)
{
	static const struct stimulus *const all[] = {
		&instructions, &mispredictions,   &loads,      &stores, &cache_misses, &tlb_misses,
		&page_faults,  &context_switches, &migrations, &calls};
	uint64_t least;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		all[i]->run(&least);
	calculate();
}

static bool same_event(const struct stimulus_row *row, const struct event *event,
		       const struct event_encoding *encoding)
{
	if (event->definition)
		return strcmp(event->definition->name, row->name) == 0;
	return encoding->type == row->type && encoding->config == row->config;
}

const struct stimulus *stimulus_find(const struct event *event, const struct event_encoding *encoding,
				     const char *pmu, unsigned levels)
{
	if (strcmp(pmu, "power") == 0)
		return &energy;
	if (strcmp(pmu, "msr") == 0 && encoding->config == 0)
		return &ticks; /* the time stamp counter */
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (same_event(&rows[i], event, encoding))
			return levels & LEVEL_USER ? rows[i].user : rows[i].kernel;
	return NULL;
}
