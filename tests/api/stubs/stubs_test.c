/* Every stub (tare_asm_begin_N, tare_asm_end_N, tare_asm_init) leaves every register, every flag and the stack as
 * it was: at every alignment of the stack, counted and not, the first time in a thread and later, in a signal
 * handler, and when the C library changes all that a function may change. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../tap.h"
#include "state.h"
#include "tare.h"

#if defined(__x86_64__)
#include "vectors_x86_64.h"
#else
#include "vectors_aarch64.h"
#endif

enum {
	STUBS = 2 * TARE_ASM_REGIONS + 1,
	STACK_BYTES = 256 << 10,
	ABOVE = 256,
	/* of each stub, when all are tried once */
	CALLS_LEAST = HARNESS_ALIGNMENTS / HARNESS_ALIGNMENT_STEP + sizeof flag_patterns / sizeof *flag_patterns
};

/* ---- a C library that changes what it may ---- */

static _Atomic unsigned changed_all;

/* What the library asks when a thread enters its first region. */
pid_t gettid(void)
{
	pid_t thread = (pid_t)syscall(SYS_gettid);
	changed_all++;
	harness_change_all();
	return thread;
}

/* ---- one call ---- */

struct bench {
	struct state in, plain, out;
	unsigned char stack[STACK_BYTES + ABOVE] __attribute__((aligned(64)));
};

static struct bench *bench_new(void)
{
	struct bench *bench =
	    mmap(NULL, sizeof *bench, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return bench == MAP_FAILED ? NULL : bench;
}

static void prepare(struct state *in, unsigned seed, uint64_t flags)
{
	vectors_fill(in->vectors, seed);
	for (size_t r = 0; r < HARNESS_GENERAL; r++)
		in->general[r] = 0x0123456789abcdefu * (2 * r + 1) + seed;
	in->flags = flags;
}

/* A function that does nothing: the state that any other is compared with. */
void nothing_done(void);
__asm__(".text\n.globl nothing_done\nnothing_done: ret\n");

static bool call(struct bench *bench, struct state *out, void (*target)(void), size_t alignment)
{
	unsigned char *stack = bench->stack + STACK_BYTES + alignment;
	vectors_clear(out->vectors);
	for (size_t i = 24; i < ABOVE - alignment; i++)
		stack[i] = (unsigned char)(i + 7);
	harness_call(&bench->in, out, target, stack);
	vectors_normal(out->vectors);
	for (size_t i = 24; i < ABOVE - alignment; i++)
		if (stack[i] != (unsigned char)(i + 7))
			return false;
	return true;
}

/* What is different after the target; NULL: nothing. */
static const char *difference(struct bench *bench, void (*target)(void), size_t alignment)
{
	static __thread char text[64];
	call(bench, &bench->plain, nothing_done, alignment);
	errno = 4711;
	if (!call(bench, &bench->out, target, alignment))
		return "the stack above";
	if (errno != 4711)
		return "errno";
	for (size_t r = 0; r < HARNESS_GENERAL; r++)
		if (bench->out.general[r] != bench->plain.general[r])
			return general_names[r];
	if (bench->out.flags != bench->plain.flags) {
		snprintf(text, sizeof text, "flags: %#llx, not %#llx", (unsigned long long)bench->out.flags,
			 (unsigned long long)bench->plain.flags);
		return text;
	}
	if (memcmp(bench->out.vectors, bench->plain.vectors, VECTOR_BYTES) == 0)
		return NULL;
	for (size_t i = 0; i < VECTOR_BYTES; i++)
		if (bench->out.vectors[i] != bench->plain.vectors[i]) {
			snprintf(text, sizeof text, "vector state: byte %zu", i);
			return text;
		}
	return NULL;
}

static bool same_of(struct bench *bench, void (*const *stubs)(void), size_t stub, unsigned seed, size_t pattern,
		    size_t alignment)
{
	uint32_t flags = flag_patterns[pattern % (sizeof flag_patterns / sizeof *flag_patterns)];
	if (!flags_allowed(flags, alignment))
		flags = flag_patterns[0];
	prepare(&bench->in, seed, flags);
	const char *changed = difference(bench, stubs[stub], alignment);
	if (changed)
		printf("# stub %zu, stack + %zu, flags %#x: %s\n", stub, alignment, flags, changed);
	return !changed;
}

static bool same(struct bench *bench, size_t stub, unsigned seed, size_t pattern, size_t alignment)
{
	return same_of(bench, harness_stubs, stub, seed, pattern, alignment);
}

/* ---- the test's own eyes ---- */

static void test_eyes(struct bench *bench)
{
	unsigned missed = 0, seen = 0, absent = 0;
	prepare(&bench->in, 1, flag_patterns[0]);
	call(bench, &bench->plain, nothing_done, 0);
	bool kept = bench->in.flags == bench->plain.flags;
	vectors_normal(bench->in.vectors);
	for (size_t i = 0; i < VECTOR_BYTES; i++)
		if (bench->in.vectors[i] != bench->plain.vectors[i]) {
			printf("# vector state: byte %zu is %#x, not %#x\n", i, bench->plain.vectors[i],
			       bench->in.vectors[i]);
			kept = false;
		}
	for (size_t r = 0; r < HARNESS_GENERAL; r++)
		kept &= r == HARNESS_STACK_POINTER || r == HARNESS_RETURN ||
			bench->in.general[r] == bench->plain.general[r];
	ok(kept, "the harness loads and keeps every register");
	for (const struct forgetful *f = harness_forgetful; f->what; f++) {
		const char *changed = NULL;
		if ((f->needs & harness_components) != f->needs) {
			absent++;
			continue;
		}
		/* a flag that is cleared, or one that is set */
		for (unsigned set = 0; set < 2 && !changed; set++) {
			prepare(&bench->in, 1 + set, flag_patterns[set ? 9 : 0]);
			changed = difference(bench, f->stub, 0);
		}
		seen += changed != NULL;
		if (!changed) {
			printf("# not noticed: a stub that changes %s\n", f->what);
			missed++;
		}
	}
	printf("# %u forgetful stubs, %u of registers that this machine has not\n", seen, absent);
	ok(seen > 50 && !missed, "a stub that changes any one register or flag is noticed");
}

/* ---- the stubs ---- */

static bool test_all(struct bench *bench)
{
	bool all = true;
	unsigned seed = 0;
	for (size_t stub = 0; stub < STUBS; stub++)
		for (size_t at = 0; at < HARNESS_ALIGNMENTS; at += HARNESS_ALIGNMENT_STEP)
			all &= same(bench, stub, seed++, at / HARNESS_ALIGNMENT_STEP + stub, at);
	for (size_t stub = 0; stub < STUBS; stub++)
		for (size_t pattern = 0; pattern < sizeof flag_patterns / sizeof *flag_patterns; pattern++)
			all &= same(bench, stub, seed++, pattern, 0);
	return all;
}

/* This program is linked to bind lazily. */
static void test_linked(struct bench *bench)
{
	bool all = true;
	const char *fact = "the first call through the linkage table preserves all";
	for (size_t stub = 0; harness_linked[0] && stub < STUBS; stub++)
		all &= same_of(bench, harness_linked, stub, (unsigned)stub, 1, 0) &&
		       same_of(bench, harness_linked, stub, (unsigned)stub, 9, 0);
	if (harness_linked[0])
		ok(all, "%s", fact);
	else
		skip("a linkage table's entry changes x16 and x17 on arm64", fact);
}

struct first {
	size_t stub, alignment, pattern;
	bool same;
};

static void *first_in_thread(void *context)
{
	struct first *first = context;
	struct bench *bench = bench_new();
	first->same = bench && same(bench, first->stub, 5, first->pattern, first->alignment) &&
		      same(bench, first->stub, 6, first->pattern + 1, first->alignment);
	munmap(bench, sizeof *bench);
	return NULL;
}

static bool test_first(void)
{
	bool all = true;
	for (size_t stub = 0; stub < STUBS; stub++) {
		struct first first = { stub, stub * HARNESS_ALIGNMENT_STEP % HARNESS_ALIGNMENTS, stub, false };
		pthread_t thread;
		if (pthread_create(&thread, NULL, first_in_thread, &first) != 0)
			return false;
		pthread_join(thread, NULL);
		all &= first.same;
	}
	return all;
}

static struct bench *handler_bench;
static volatile bool handler_same;

static void handler(int number)
{
	(void)number;
	bool all = true;
	for (size_t stub = 0; stub < STUBS; stub++)
		all &= same(handler_bench, stub, 9, stub, stub * HARNESS_ALIGNMENT_STEP % HARNESS_ALIGNMENTS);
	handler_same = all;
}

/* In a thread whose first stub is in the handler. */
static void *handler_first(void *context)
{
	(void)context;
	raise(SIGUSR1);
	return NULL;
}

static void test_handler(void)
{
	struct sigaction action = { .sa_handler = handler };
	pthread_t thread;
	handler_bench = bench_new();
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	ok(handler_same, "counted, in a signal handler: all is preserved");
	handler_same = false;
	if (pthread_create(&thread, NULL, handler_first, NULL) == 0)
		pthread_join(thread, NULL);
	ok(handler_same, "the first region of a thread is a stub's in a signal handler: all is preserved");
	munmap(handler_bench, sizeof *handler_bench);
}

static struct tare_region_passes passes_of(const char *name)
{
	struct tare_region_passes passes = { 0 };
	tare_region_read(tare_region(name, NULL), TARE_PROCESS, &passes, NULL, NULL);
	return passes;
}

int main(void)
{
	struct tare_error error = { 0 };
	struct bench *bench = bench_new();
	if (!bench)
		return 1;
	harness_components = machine_components();
	if (!harness_components) {
		skip("the CPU has no xsave", "stubs preserve all registers");
		return done();
	}
	test_eyes(bench);
	test_linked(bench);
	ok(test_all(bench), "not counted: all stubs preserve all, at every alignment");
	ok(tare_asm_name(7, "seven", &error), "a stub's region has a name");
	ok(!tare_asm_name(100, "hundred", &error) && error.code == TARE_ERROR_USAGE, "there is no stub 100");
	ok(tare_asm_name(7, "seven", NULL) && !tare_asm_name(7, "VII", &error) && error.code == TARE_ERROR_USAGE,
	   "a stub has one name");
	bool started = tare_regions_start("page-faults", &error);
	if (!started)
		printf("# %s\n", error.text);
	if (!started && (error.code == TARE_ERROR_UNSUPPORTED || error.code == TARE_ERROR_PERMISSION)) {
		/* the way to the library and back */
		tare_regions_on = 1;
		ok(test_all(bench), "without counters: all stubs preserve all, at every alignment");
		skip(error.text, "counted: stubs preserve all registers");
		return done();
	}
	ok(started, "regions are counted");
	changed_all = 0;
	ok(test_first() && changed_all > STUBS - 10, "the first stub in a thread preserves all");
	printf("# the C library changed all registers %u times\n", changed_all);
	ok(test_all(bench), "counted: all stubs preserve all, at every alignment");
	test_handler();
	struct tare_region_passes passes = passes_of("asm_42");
	ok(passes.entries >= CALLS_LEAST && passes.entries == passes.exits,
	   "the stubs count: region asm_42 was entered and left");
	passes = passes_of("asm_7: seven, VII");
	ok(passes.entries >= CALLS_LEAST && passes.entries == passes.exits && passes_of("seven").entries == 0,
	   "a stub with two names counts under both");
	return done();
}
