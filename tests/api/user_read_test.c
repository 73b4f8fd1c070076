/* The protocol of readings without a system call (src/api/user_read.h), against pages that this test writes, and
 * an "interrupt" that comes between any two loads: user_access_replaced.h says what is replaced. The events are
 * page faults of user level, so that what read(2) says is known too; the pages belong to no counter. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/user_read.h"
#include "replaced_kernel.h"
#include "tap.h"
#include "tare.h"

#define EVENTS "page-faults:u,minor-faults:u"

/* ---- sets ---- */

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
	ok(of(c).by_user == before.by_user + 4 && of(c).by_call == before.by_call,
	   "all of them without a system call");
	unmapped = 0;
	tare_close(c);
	ok(unmapped == 2, "closing unmaps the pages");
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
	for (unsigned page = 0; page < 2; page++)
		for (move_at = 0; move_at < 2; move_at++) {
			set_values(0, 100, 1);
			set_values(1, 200, 2);
			interrupted = pages[page];
			interrupt_next(move_at_load, 2);
			reads(c, page == 0 ? 5000 : 101, page == 1 ? 5000 : 202,
			      move_at == 0 ? "an interrupt at the first register that moves a counter: the "
					     "reading is one of after it"
					   : "… at the second register");
			ok(interrupts >= 1 + move_at, "(the interrupt came)");
			protect(false);
		}
	struct tare_reads before = of(c);
	interrupted = pages[0];
	struct tare_reading now[2], raw[2];
	counters_read_raw(c, raw);
	interrupt_next(move_always, UINT32_MAX);
	bool read = tare_read(c, now, NULL);
	interrupts_most = 0;
	protect(false);
	ok(read && now[0].count >= raw[0].count && now[0].count < raw[0].count + 1000 &&
	       of(c).by_call == before.by_call + 1 && of(c).by_user == before.by_user,
	   "a thread that is interrupted in every attempt (%u) reads by read(2)", interrupts);
	ok(interrupts >= 10 && interrupts <= 1000, "… after a bounded number of them");
	set_values(0, 100, 1);
	set_values(1, 4900, 100);
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
	       strstr(of(c).why, "no hardware counter"),
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
	ok(now[0].enabled_ns == 6000 && now[0].running_ns == 5000 && now[1].enabled_ns == 6000 &&
	       now[0].state == TARE_PARTLY,
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
	ok(c && tare_read(c, now, NULL) && of(c).by_call == 1 && strstr(of(c).why, "does not allow programs"),
	   "pages that cannot be mapped: read(2), and why (%s)", of(c).why);
	tare_close(c);
	map_fails = false;
	page_begins.cap_user_rdpmc = 0;
	unmapped = 0;
	c = set_new(EVENTS);
	ok(strstr(of(c).why, "does not allow programs") && unmapped >= 1,
	   "pages without the capability are unmapped, and it is said");
	tare_close(c);
	page_begins.cap_user_rdpmc = 1;
	page_begins.cap_user_time = 0;
	c = set_new(EVENTS);
	ok(strstr(of(c).why, "clock"), "without a clock the times would stand still: read(2), and why (%s)",
	   of(c).why);
	tare_close(c);
	page_begins.cap_user_time = 1;
	setenv("TARE_USER_READ", "0", 1);
	c = set_new(EVENTS);
	ok(strstr(of(c).why, "TARE_USER_READ") && tare_read(c, now, NULL) && of(c).by_user == 0,
	   "TARE_USER_READ=0");
	tare_close(c);
	unsetenv("TARE_USER_READ");
	char many[25 * sizeof "page-faults:u"] = "page-faults:u";
	for (int i = 1; i < 25; i++)
		strcat(many, ",page-faults:u");
	c = set_new(many);
	ok(c && strstr(of(c).why, "too many events") && n_pages == 0, "25 events are read by read(2)");
	tare_close(c);
	tare_open(&process, &c, NULL);
	ok(tare_add(c, "page-faults:u", NULL) && strstr(of(c).why, "other threads"),
	   "a process is read by read(2)");
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
	ok(of(c).by_user == 1000 && of(c).checks == 10,
	   "of 1000 readings the 1st, 2nd, 4th … 512th are checked (%d)", (int)of(c).checks);
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

int main(void)
{
	kernel_begins();
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
	return done();
}
