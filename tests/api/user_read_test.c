/* The protocol of readings without a system call (src/api/user_read.h), against pages that this test writes, and an
 * "interrupt" that comes between any two loads: user_access_replaced.h says what is replaced. The events are page
 * faults of user level, so that what read(2) says is known too; the pages belong to no counter. */
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "api/regions.h"
#include "api/user_read.h"
#include "tap.h"
#include "tare.h"

enum { PAGES_MOST = 64, PAGE = 4096 };

uint64_t *replaced_registers;
uint64_t replaced_clock;
bool replaced_closed;

static struct perf_event_mmap_page *pages[PAGES_MOST];
static size_t n_pages;
static struct perf_event_mmap_page page_begins; /* what a page is when it is mapped */
static bool map_fails;

/* The page's register is its number + 1. */
void *replaced_map(int fd)
{
	(void)fd;
	if (map_fails || n_pages == PAGES_MOST)
		return MAP_FAILED;
	struct perf_event_mmap_page *page = aligned_alloc(PAGE, PAGE);
	*page = page_begins;
	page->index = (uint32_t)n_pages + 1;
	pages[n_pages++] = page;
	return page;
}

static unsigned unmapped;
void replaced_unmap(void *page)
{
	unmapped++;
	free(page);
}

/* ---- the interrupt ---- */

static void (*interrupt)(unsigned time); /* what the kernel does, the time-th time */
static unsigned interrupts, interrupts_most;

static void protect(bool away)
{
	mprotect(replaced_registers, PAGE, away ? PROT_NONE : PROT_READ | PROT_WRITE);
}

/* One instruction, and then on_trap(). */
static void trap(ucontext_t *context, bool on)
{
#if defined(__x86_64__)
	const greg_t trap_flag = 0x100;
	greg_t *flags = &context->uc_mcontext.gregs[REG_EFL];
	*flags = on ? *flags | trap_flag : *flags & ~trap_flag;
#else
	(void)context;
	(void)on;
#endif
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	if ((char *)info->si_addr < (char *)replaced_registers || (char *)info->si_addr >= (char *)replaced_registers + PAGE)
		abort();
	protect(false);
	interrupt(interrupts++);
	if (interrupts < interrupts_most)
		trap((ucontext_t *)context, true);
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	trap((ucontext_t *)context, false);
	protect(true);
}

/* At the next loads of a register. */
static void interrupt_next(void (*with)(unsigned), unsigned most)
{
	interrupt = with;
	interrupts = 0;
	interrupts_most = most;
	protect(true);
}

/* The kernel folds the register into the offset, and goes on in another register; the old one counts something else. */
static void moved_by(struct perf_event_mmap_page *page, uint64_t counted, uint64_t register_begins)
{
	page->lock++;
	replaced_registers[page->index] = 999999999;
	page->index ^= 8;
	page->offset = (int64_t)(counted - register_begins);
	replaced_registers[page->index] = register_begins;
	page->lock++;
}

/* ---- sets ---- */

#define EVENTS "page-faults:u,minor-faults:u"

static struct tare_counters *set_new(const char *events)
{
	struct tare_counters *c;
	struct tare_error error;
	n_pages = 0;
	if (tare_open(NULL, &c, &error) && tare_add(c, events, &error))
		return c;
	printf("# %s\n", error.text);
	return NULL;
}

/* What read(2) says of the set now; the registers say the same. */
static void agree(struct tare_counters *c)
{
	struct tare_reading raw[TARE_EVENTS_MOST];
	counters_read_raw(c, raw);
	for (size_t i = 0; i < n_pages; i++) {
		pages[i]->offset = (int64_t)(raw[i].count - 77);
		replaced_registers[pages[i]->index] = 77;
	}
}

static bool reads(struct tare_counters *c, uint64_t first, uint64_t second, const char *fact)
{
	struct tare_reading readings[2];
	struct tare_error error = { 0 };
	bool read = tare_read(c, readings, &error);
	if (ok(read && readings[0].count == first && readings[1].count == second, "%s", fact))
		return true;
	printf("# %s %" PRIu64 " %" PRIu64 ", expected %" PRIu64 " %" PRIu64 "\n", read ? "read" : error.text,
	       readings[0].count, readings[1].count, first, second);
	return false;
}

static struct tare_reads of(const struct tare_counters *c)
{
	struct tare_reads reads;
	tare_reads_of(c, &reads);
	return reads;
}

/* A set whose next reading is not checked, and whose base is 0. */
static struct tare_counters *set_checked(void)
{
	struct tare_counters *c = set_new(EVENTS);
	struct tare_reading readings[2];
	agree(c);
	tare_read(c, readings, NULL);
	for (size_t i = 0; i < 2; i++)
		c->events.items[i].base = (struct tare_reading){ 0 };
	c->user->check_at = UINT64_MAX;
	return c;
}

static void set_values(size_t page, uint64_t offset, uint64_t value)
{
	pages[page]->offset = (int64_t)offset;
	replaced_registers[pages[page]->index] = value;
}

static void test_values(void)
{
	struct tare_counters *c = set_checked();
	struct tare_reads before = of(c);
	ok(before.by_user == 1 && before.checks == 1 && !*before.why, "the first reading is checked");
	set_values(0, 1000, 23);
	set_values(1, 5, 0);
	reads(c, 1023, 5, "a count is the page's offset and the register");
	set_values(0, 1000, (UINT64_C(1) << 48) - 5);
	reads(c, 995, 5, "a register of 48 bits is sign-extended");
	c->user->shifts[0] = 64 - 32;
	set_values(0, 1000, UINT64_C(0xabc00000000) | 0xfffffff0u);
	reads(c, 984, 5, "of a width of 32 bits the upper half is not read");
	c->user->shifts[0] = 64 - 64;
	set_values(0, 1, UINT64_MAX);
	reads(c, 0, 5, "a register of 64 bits is taken as it is");
	ok(of(c).by_user == before.by_user + 4 && of(c).by_call == before.by_call, "all of them without a system call");
	unmapped = 0;
	tare_close(c);
	ok(unmapped == 2, "closing unmaps the pages");
}

static struct perf_event_mmap_page *interrupted;
static void move_once(unsigned time)
{
	(void)time;
	moved_by(interrupted, 5000, 42);
}

static void move_always(unsigned time)
{
	moved_by(interrupted, 5000 + time, 42);
}

static void take_away(unsigned time)
{
	(void)time;
	interrupted->lock++;
	interrupted->index = 0;
	interrupted->lock++;
}

static void test_interrupts(void)
{
	struct tare_counters *c = set_checked();
	set_values(0, 100, 1);
	set_values(1, 200, 2);
	interrupted = pages[0];
	interrupt_next(move_once, 1);
	reads(c, 5000, 202, "an interrupt that moves the leader in the middle: the reading is one of after it");
	set_values(0, 100, 1);
	interrupted = pages[1];
	interrupt_next(move_once, 1);
	reads(c, 101, 5000, "… and one that moves another counter");
	ok(interrupts == 1, "(the interrupt came)");
	struct tare_reads before = of(c);
	interrupted = pages[0];
	struct tare_reading now[2], raw[2];
	counters_read_raw(c, raw);
	interrupt_next(move_always, UINT32_MAX);
	bool read = tare_read(c, now, NULL);
	interrupts_most = 0;
	protect(false);
	ok(read && now[0].count >= raw[0].count && now[0].count < raw[0].count + 1000 && of(c).by_call == before.by_call + 1 &&
	       of(c).by_user == before.by_user,
	   "a thread that is interrupted in every attempt (%u) reads by read(2)", interrupts);
	ok(interrupts >= 10 && interrupts <= 1000, "… after a bounded number of them");
	set_values(0, 100, 1);
	uint32_t index = pages[0]->index;
	interrupt_next(take_away, 1);
	counters_read_raw(c, raw);
	ok(tare_read(c, now, NULL) && now[0].count >= raw[0].count && now[0].count < raw[0].count + 10 &&
	       now[1].count == raw[1].count,
	   "a counter that loses its register in the middle: all events are read(2)'s");
	pages[0]->index = index;
	reads(c, 101, 5000, "and by registers again when it has one");
	tare_close(c);
}

static void test_closed(void)
{
	struct tare_counters *c = set_checked();
	struct tare_reading now[2], raw[2];
	counters_read_raw(c, raw);
	struct tare_reads before = of(c);
	set_values(0, 1 << 20, 1);
	set_values(1, 1 << 20, 1);
	pages[1]->index = 0;
	ok(tare_read(c, now, NULL) && now[0].count == raw[0].count && now[1].count == raw[1].count,
	   "one counter off its register: all are read(2)'s, of one instant");
	pages[1]->index = 2;
	pages[0]->cap_user_rdpmc = 0;
	ok(tare_read(c, now, NULL) && now[0].count == raw[0].count, "the capability gone: read(2)");
	pages[0]->cap_user_rdpmc = 1;
	pages[0]->cap_user_time = 0;
	ok(tare_read(c, now, NULL) && now[0].count == raw[0].count, "the clock gone: read(2)");
	pages[0]->cap_user_time = 1;
	replaced_closed = true;
	ok(tare_read(c, now, NULL) && now[0].count == raw[0].count, "the registers closed: read(2)");
	replaced_closed = false;
	ok(of(c).by_call == before.by_call + 4 && of(c).by_user == before.by_user &&
	       strstr(of(c).why, "off their registers"),
	   "four readings by a system call, and why");
	reads(c, (1 << 20) + 1, (1 << 20) + 1, "and used when all is back");
	tare_close(c);
}

static void test_times(void)
{
	struct tare_counters *c = set_checked();
	struct tare_reading now[2];
	struct perf_event_mmap_page *leader = pages[0];
	leader->time_enabled = 5000;
	leader->time_running = 4000;
	leader->time_offset = (uint64_t)-1000;
	leader->time_shift = 10;
	leader->time_mult = 512; /* two cycles a ns */
	replaced_clock = 4001;
	tare_read(c, now, NULL);
	ok(now[0].enabled_ns == 6000 && now[0].running_ns == 5000 && now[1].enabled_ns == 6000 && now[0].state == TARE_PARTLY,
	   "times are brought up to date by the clock, those of a group that had taken turns, too");
	leader->time_mult = 3000000000u;
	leader->time_shift = 31;
	leader->time_offset = 0;
	leader->time_enabled = leader->time_running = 0;
	replaced_clock = UINT64_C(1) << 55;
	tare_read(c, now, NULL);
	equal_u64(now[0].enabled_ns, (uint64_t)(((unsigned __int128)replaced_clock * 3000000000u) >> 31),
		  "a clock of 55 bits does not overflow");
	leader->cap_user_time_short = 1;
	leader->time_mask = 0xffff;
	leader->time_cycles = 0x5fff0;
	leader->time_mult = 1;
	leader->time_shift = 0;
	replaced_clock = 0x0010; /* has wrapped: 0x60010 */
	tare_read(c, now, NULL);
	equal_u64(now[0].enabled_ns, 0x60010, "a short clock's wrap-around is undone");
	tare_close(c);
}

static void test_refused(void)
{
	struct tare_counters *c;
	struct tare_reading now[2];
	struct tare_options process = { .size = sizeof process, .scope = TARE_PROCESS };
	map_fails = true;
	c = set_new(EVENTS);
	ok(c && tare_read(c, now, NULL) && of(c).by_call == 1 && strstr(of(c).why, "does not open"),
	   "pages that cannot be mapped: read(2), and why (%s)", of(c).why);
	tare_close(c);
	map_fails = false;
	page_begins.cap_user_rdpmc = 0;
	unmapped = 0;
	c = set_new(EVENTS);
	ok(strstr(of(c).why, "does not open") && unmapped >= 1, "pages without the capability are unmapped, and it is said");
	tare_close(c);
	page_begins.cap_user_rdpmc = 1;
	page_begins.cap_user_time = 0;
	c = set_new(EVENTS);
	ok(strstr(of(c).why, "clock"), "without a clock the times would stand still: read(2), and why (%s)", of(c).why);
	tare_close(c);
	page_begins.cap_user_time = 1;
	setenv("TARE_USER_READ", "0", 1);
	c = set_new(EVENTS);
	ok(strstr(of(c).why, "TARE_USER_READ") && tare_read(c, now, NULL) && of(c).by_user == 0, "TARE_USER_READ=0");
	tare_close(c);
	unsetenv("TARE_USER_READ");
	tare_open(&process, &c, NULL);
	ok(tare_add(c, "page-faults:u", NULL) && strstr(of(c).why, "other threads"), "a process is read by read(2)");
	tare_close(c);
}

static void *read_elsewhere(void *of_set)
{
	struct tare_reading now[2];
	return (void *)(uintptr_t)(tare_read(of_set, now, NULL) && now[0].count < 1 << 20);
}

static void test_threads(void)
{
	struct tare_counters *c = set_checked();
	pthread_t thread;
	void *right;
	struct tare_reads before = of(c);
	set_values(0, 1 << 20, 1);
	pthread_create(&thread, NULL, read_elsewhere, c);
	pthread_join(thread, &right);
	ok(right && of(c).by_call == before.by_call + 1 && of(c).by_user == before.by_user,
	   "another thread reads by read(2)");
	int status;
	pid_t child = fork();
	if (child == 0) {
		unmapped = 0;
		tare_close(c);
		_exit(unmapped ? 1 : 0);
	}
	waitpid(child, &status, 0);
	ok(status == 0, "a forked child unmaps nothing: the pages are not in it");
	tare_close(c);
}

static void test_checks(void)
{
	struct tare_counters *c = set_new(EVENTS);
	struct tare_reading now[2];
	struct tare_error error = { 0 };
	agree(c);
	for (int i = 0; i < 1000; i++)
		if (!tare_read(c, now, NULL))
			break;
	ok(of(c).by_user == 1000 && of(c).checks == 10, "of 1000 readings the 1st, 2nd, 4th … 512th are checked (%d)",
	   (int)of(c).checks);
	for (int i = 0; i < 400000; i++)
		tare_read(c, now, NULL);
	ok(of(c).checks == 17 + 5, "and then each 65536th (%d)", (int)of(c).checks);
	tare_close(c);

	c = set_new(EVENTS);
	agree(c);
	tare_read(c, now, NULL);
	tare_read(c, now, NULL);
	replaced_registers[pages[1]->index]++;
	ok(tare_read(c, now, NULL), "a register that is one too high is not seen before the next check");
	ok(!tare_read(c, now, &error) && error.code == TARE_ERROR_IO && strstr(error.text, "disagree"),
	   "but there: the reading fails (%s)", error.text);
	struct tare_reading raw[2];
	counters_read_raw(c, raw);
	ok(tare_read(c, now, NULL) && now[1].count == raw[1].count - c->events.items[1].base.count &&
	       strstr(of(c).why, "disagreed"),
	   "the next ones are by read(2), for good (%s)", of(c).why);
	replaced_registers[pages[1]->index]--;
	tare_read(c, now, NULL);
	ok(of(c).by_user == 4 && of(c).by_call == 2, "also when the registers are right again");
	tare_close(c);
}

/* ---- regions: of the process, so each test is a child ---- */

static unsigned not_so;
static void need(bool holds, const char *what)
{
	if (!holds) {
		printf("# not so: %s\n", what);
		not_so++;
	}
}

static struct tare_region *warm;

/* The registers say what read(2) says. */
static void follow(unsigned time)
{
	struct tare_reading raw[TARE_EVENTS_MOST];
	const struct region_thread *thread = region_thread_known();
	(void)time;
	counters_read_raw(thread->set, raw);
	for (size_t i = 0; i < 2; i++) {
		pages[i]->lock += 2;
		set_values(i, raw[i].count - 77, 77);
	}
}

static void no_checks(struct region_thread *thread)
{
	own_set(&thread->check_at[0], UINT64_MAX);
	own_set(&thread->check_at[1], UINT64_MAX);
}

static struct tare_reading *read_region(struct tare_region *region)
{
	static struct tare_reading readings[2];
	tare_region_read(region, TARE_THREAD, NULL, readings, NULL);
	return readings;
}

static struct tare_reads thread_reads(void)
{
	struct tare_reads reads;
	tare_region_reads(TARE_THREAD, &reads);
	return reads;
}

static struct region_thread *warm_thread(void)
{
	warm = tare_region("warm", NULL);
	struct tare_region *second = tare_region("second", NULL);
	interrupt_next(follow, 1);
	tare_region_begin(warm); /* its first reading is checked */
	no_checks(region_thread_known());
	tare_region_end(warm);
	tare_region_begin(second);
	tare_region_end(second);
	struct tare_reads reads = thread_reads();
	need(reads.by_user == 4 && reads.checks == 1 && interrupts == 1, "four user reads, one checked");
	if (not_so)
		printf("# by_user %d, by_call %d, checks %d, interrupts %u, pages %zu: %s\n", (int)reads.by_user, (int)reads.by_call,
		       (int)reads.checks, interrupts, n_pages, reads.why);
	return region_thread_known();
}

static void regions_by_registers(void)
{
	struct region_thread *thread = warm_thread();
	struct tare_region *region = tare_region("r", NULL);
	struct tare_reads before = thread_reads();
	thread->set->user->mult = pages[0]->time_mult = 1u << 31;
	thread->set->user->shift = pages[0]->time_shift = 32; /* two cycles a ns */
	for (int pass = 0; pass < 3; pass++) {
		tare_region_begin(region);
		replaced_registers[1] += 10;
		replaced_registers[2] += 20;
		replaced_clock += 2001;
		pages[0]->time_enabled += 5; /* it was off the CPU and back */
		pages[0]->time_running += 5;
		tare_region_end(region);
		replaced_registers[1]++;
	}
	struct tare_reading *r = read_region(region);
	need(r[0].count == 30 && r[1].count == 60, "three passes' counts");
	need(r[0].enabled_ns == 15 + 3001 && r[0].running_ns == r[0].enabled_ns && r[0].state == TARE_COUNTED,
	     "their times, with halves of ns");
	need(thread_reads().by_user == before.by_user + 6 && thread_reads().by_call == before.by_call, "no system call");
}

static void regions_mixed(void)
{
	warm_thread();
	struct tare_region *a = tare_region("a", NULL), *b = tare_region("b", NULL), *c = tare_region("c", NULL);
	struct tare_region *all[] = { a, b, c };
	for (int i = 0; i < 3; i++) { /* their memory is there */
		tare_region_begin(all[i]);
		tare_region_end(all[i]);
	}
	struct tare_reading raw[2], was;
	counters_read_raw(region_thread_known()->set, raw);
	set_values(0, raw[0].count - 1000, 995);
	was = *read_region(a);
	const uint64_t second_ns = 1000000000;
	pages[0]->time_enabled = pages[0]->time_running = raw[0].enabled_ns - 3 * second_ns;
	replaced_clock = 0;
	tare_region_begin(a);
	pages[0]->index = 0;
	tare_region_end(a);
	/* a sanitizer has page faults of its own */
#ifdef SANITIZED
	const uint64_t more = 1000;
#else
	const uint64_t more = 0;
#endif
	need(read_region(a)->count - was.count - 5 <= more, "begun by registers, ended by read(2)");
	need((read_region(a)->enabled_ns - was.enabled_ns) / second_ns == 3 &&
		 (read_region(a)->running_ns - was.running_ns) / second_ns == 3 && read_region(a)->state == TARE_COUNTED,
	     "… with its time");
	counters_read_raw(region_thread_known()->set, raw);
	was = *read_region(b);
	tare_region_begin(b);
	pages[0]->index = 1;
	set_values(0, raw[0].count, 7);
	pages[0]->time_enabled = pages[0]->time_running = raw[0].enabled_ns + 5 * second_ns;
	tare_region_end(b);
	need(read_region(b)->count - was.count == 7, "begun by read(2), ended by registers");
	need((read_region(b)->enabled_ns - was.enabled_ns) / second_ns == 4 &&
		 (read_region(b)->running_ns - was.running_ns) / second_ns == 4 && read_region(b)->state == TARE_COUNTED,
	     "… with its time");
	struct tare_reads before = thread_reads();
	pages[0]->time_running--;
	was = *read_region(c);
	tare_region_begin(c);
	tare_region_end(c);
	need(read_region(c)->count == was.count && thread_reads().by_call == before.by_call + 2,
	     "a group that has taken turns: read(2)");
}

static void regions_interrupted(void)
{
	warm_thread();
	struct tare_region *region = tare_region("r", NULL);
	tare_region_begin(region);
	tare_region_end(region);
	struct tare_reading was = *read_region(region);
	set_values(0, 0, 4900);
	interrupted = pages[0];
	interrupt_next(move_once, 1); /* → 5000 */
	tare_region_begin(region);
	replaced_registers[pages[0]->index] += 3;
	interrupt_next(move_once, 1); /* 5000 again: nothing was counted */
	tare_region_end(region);
	need(read_region(region)->count - was.count == 0, "both readings are those of after their interrupts");
	need(interrupts == 1, "(it came)");
	need(!*thread_reads().why, "all were user reads");
}

static void regions_disagree(void)
{
	struct region_thread *thread = warm_thread();
	struct tare_region *before = tare_region("before", NULL), *after = tare_region("after", NULL);
	tare_region_begin(before);
	tare_region_end(before);
	follow(0);
	need(read_region(before)->state == TARE_COUNTED, "counted so far");
	replaced_registers[2]++;
	own_set(&thread->check_at[0], 0);
	tare_region_begin(after);
	tare_region_end(after);
	need(strstr(thread_reads().why, "disagreed") != NULL, "it is seen");
	need(read_region(before)->state == TARE_NOT_COUNTED && read_region(warm)->state == TARE_NOT_COUNTED,
	     "what was counted since nobody knows when is no count");
	need(read_region(after)->state == TARE_COUNTED, "what comes is");
	need(thread_reads().by_call == 2, "by read(2)");
}

static void regions_checks(void)
{
	struct region_thread *thread = warm_thread();
	struct tare_region *outer = tare_region("outer", NULL), *inner = tare_region("inner", NULL);
	struct tare_region *both[] = { outer, inner };
	for (int i = 0; i < 2; i++) {
		tare_region_begin(both[i]);
		tare_region_end(both[i]);
	}
	tare_region_begin(outer);
	own_set(&thread->check_at[0], 0);
	own_set(&thread->check_at[1], own_get(&thread->calls[0]) + 2);
	uint64_t checks = thread_reads().checks, other = own_get(&thread->calls[2]);
	for (int i = 0; i < 2; i++) {
		tare_region_begin(inner);
		tare_region_end(inner);
	}
	need(thread_reads().checks == checks, "no check inside of a region, if another time will do");
	follow(0);
	tare_region_begin(inner);
	tare_region_end(inner);
	need(thread_reads().checks == checks + 1 && own_get(&thread->calls[2]) == other + 1,
	     "late ones are, and are in what was done in the region");
	own_set(&thread->check_at[0], 0);
	own_set(&thread->check_at[1], UINT64_MAX);
	tare_region_end(outer);
	follow(0);
	tare_region_begin(outer);
	tare_region_end(outer);
	need(thread_reads().checks == checks + 2 && own_get(&thread->calls[2]) == other + 1, "outside it is done at once");
}

static void in_child(void (*what)(void), const char *fact)
{
	int status = -1;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		struct tare_error error;
		n_pages = 0;
		if (!tare_regions_start(EVENTS, &error)) {
			printf("# %s\n", error.text);
			_exit(1);
		}
		n_pages = 0;
		what();
		fflush(stdout);
		_exit(not_so ? 1 : 0);
	}
	waitpid(child, &status, 0);
	if (!ok(status == 0, "%s", fact))
		printf("# status %d\n", status);
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	struct sigaction stepped = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGTRAP, &stepped, NULL);
	replaced_registers = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page_begins = (struct perf_event_mmap_page){ .pmc_width = 48, .time_mult = 1, .cap_user_rdpmc = 1, .cap_user_time = 1 };
	struct tare_counters *c = set_new(EVENTS);
	if (!c) {
		skip("no event can be counted here", "the protocol");
		return done();
	}
	tare_close(c);
	test_values();
	test_interrupts();
	test_closed();
	test_times();
	test_refused();
	test_threads();
	test_checks();
	in_child(regions_by_registers, "regions count by registers alone");
	in_child(regions_mixed, "passes that begin one way and end the other");
	in_child(regions_interrupted, "interrupted passes");
	in_child(regions_disagree, "a disagreement takes what was counted back");
	in_child(regions_checks, "checks stay out of what is counted");
	return done();
}
