/* libperfex's calls (tare_perfex.h). Events that count anywhere are put in place of perfex's by T5_EVENT0 and
 * T5_EVENT1; what perfex's own numbers count is said by data/events. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"
#include "tap.h"
#include "tare.h"
#include "tare_perfex.h"

/* The code on the way may have a fault or two of its own, where it is run for the first time. */
static bool about(long long is, long long expected)
{
	return is >= expected && (OWN_FAULTS || is <= expected + 10);
}

static void choose(const char *e0, const char *e1)
{
	setenv("T5_EVENT0", e0, 1);
	setenv("T5_EVENT1", e1, 1);
}

static void failed(int status, int os_errno, const char *why, const char *fact)
{
	int is = errno;
	if (!ok(status == -1 && is == os_errno && strstr(tare_perfex_error(), why), "%s", fact))
		printf("# status %d, errno %d, '%s'\n", status, is, tare_perfex_error());
}

static void test_numbers(void)
{
	choose("", "");
	failed(start_counters(-1, 16), EINVAL, "there is no event -1", "an event below 0 is refused");
	failed(start_counters(0, 32), EINVAL, "there is no event 32", "event 32 is refused");
	failed(start_counters(0, 15), EINVAL, "conflicting counters", "two events of counter 0 conflict");
	failed(start_counters(16, 31), EINVAL, "conflicting counters", "two events of counter 1 conflict");
	failed(read_counters(0, NULL, 16, NULL), EINVAL, "not started",
	       "counters that are not started are not read");
	failed(print_counters(0, 1, 33, 1), EINVAL, "there is no event 33", "event 33 is not printed");
	errno = 0;
	failed(start_counters(8, 30), EOPNOTSUPP, "r10000:Correctable scache data array ECC errors",
	       "of two events that are nowhere counted the first is named, and nothing is counted for it");
	choose("17x17", "");
	failed(start_counters(0, 16), EINVAL, "unknown event '17x17'", "T5_EVENT0 is a number or an event");
	choose("99", "");
	failed(start_counters(0, 16), EINVAL, "T5_EVENT0 is '99'", "… a number of perfex's");
}

/* Where cycles and instructions can be counted, perfex's numbers count them. */
static void test_hardware(void)
{
	long long cycles = -1, instructions = -1;
	choose("", "");
	int started = start_counters(0, 17);
	if ((started < 0 && errno == EOPNOTSUPP) || *tare_perfex_error()) {
		skip(tare_perfex_error(), "events 0 and 17 are cycles and instructions");
		return;
	}
	for (volatile int i = 0; i < 100000; i++)
		;
	ok(started > 0 && read_counters(0, &cycles, 17, &instructions) == started && cycles > 0 &&
		   instructions > 300000,
	   "events 0 and 17 are cycles and instructions");
}

static void test_counting(void)
{
	long long c0 = 7, c1 = 7;
	choose("page-faults:u", "task-clock");
	int first = start_counters(0, 16);
	if (first < 0) {
		skip(tare_perfex_error(), "events count");
		return;
	}
	touch(30);
	int read = read_counters(0, &c0, 16, &c1);
	ok(first > 0 && read == first, "start and read return the same generation");
	ok(about(c0, 30) && c1 > 0, "30 pages are 30 faults, and time has passed");
	failed(read_counters(0, &c0, 16, &c1), EINVAL, "not started", "reading has stopped them");
	ok(c0 == -1 && c1 == -1, "… and a failure leaves no count");

	int second = start_counters(0, 16);
	touch(10);
	ok(second > first && start_counters(0, 16) > second, "each start is a generation");
	touch(20);
	ok(read_counters(0, &c0, 16, NULL) > second && about(c0, 20) && c0 < 30 + OWN_FAULTS * 1000,
	   "a start begins at 0, and a count may be left out");

	start_counters(0, 16);
	choose("minor-faults:u", "task-clock");
	failed(read_counters(0, &c0, 16, &c1), EINVAL, "not those that were started", "other events are not read");
	start_counters(0, 16);
	touch(5);
	ok(read_counters(0, &c0, 16, &c1) > 0 && about(c0, 5), "another pair can be started");

	choose("page-faults:u", "page-faults:u");
	start_counters(0, 0);
	touch(8);
	ok(read_counters(0, &c0, 0, &c1) > 0 && about(c0, 8) && c0 == c1, "one event twice is one count");
	choose("page-faults:u", "task-clock");
}

/* Of a pair that this machine has one of: that one is counted, on either side. */
static void test_one_of_two(void)
{
	static const char *const nowhere = "l2-errors-corrected:u";
	long long c0 = 7, c1 = 7;
	choose("page-faults:u", nowhere);
	int started = start_counters(0, 16);
	if (started < 0 && errno != EOPNOTSUPP) {
		skip(tare_perfex_error(), "one of two events counts");
		return;
	}
	ok(started > 0 && strstr(tare_perfex_error(), nowhere) && strstr(tare_perfex_error(), "its count is -1"),
	   "a pair one of whose events is nowhere counted is started, and the message names it");
	touch(30);
	ok(read_counters(0, &c0, 16, &c1) == started && about(c0, 30) && c1 == -1 &&
		   strstr(tare_perfex_error(), nowhere),
	   "the other one is counted, that one is -1, and it is said again");
	choose(nowhere, "page-faults:u");
	started = start_counters(0, 16);
	touch(20);
	ok(started > 0 && read_counters(0, &c0, 16, &c1) == started && c0 == -1 && about(c1, 20),
	   "likewise where it is the first");
	choose(nowhere, nowhere);
	failed(start_counters(0, 0), EOPNOTSUPP, nowhere, "nothing is started where neither is counted");
	choose("page-faults:u", "17x17");
	failed(start_counters(0, 16), EINVAL, "17x17", "what is not an event is refused beside one that counts");
	choose("page-faults:u", "task-clock");
	ok(start_counters(0, 16) > 0 && !*tare_perfex_error(), "a pair of two that are counted has no message");
}

static void *thread_main(void *pages)
{
	long long c0 = -1;
	bool started = start_counters(0, 16) > 0;
	touch(*(size_t *)pages);
	bool right = started && read_counters(0, &c0, 16, NULL) > 0 && about(c0, (long long)*(size_t *)pages);
	start_counters(0, 16); /* ends with counters started */
	return right ? pages : NULL;
}

static void test_threads(void)
{
	pthread_t threads[4];
	size_t pages[4], right = 0;
	long long c0 = -1;
	start_counters(0, 16);
	size_t before = open_files();
	for (size_t i = 0; i < 4; i++) {
		pages[i] = 100 * (i + 1);
		pthread_create(&threads[i], NULL, thread_main, &pages[i]);
	}
	for (size_t i = 0; i < 4; i++) {
		void *as_expected;
		pthread_join(threads[i], &as_expected);
		right += as_expected != NULL;
	}
	touch(3);
	equal_u64(open_files(), before, "threads that end close their counters");
	equal_u64(right, 4, "each of 4 threads has its own counters");
	ok(read_counters(0, &c0, 16, NULL) > 0 && c0 >= 3 && (OWN_FAULTS || c0 < 100),
	   "… and the main thread its own");
}

static void test_fork(void)
{
	int status = -1;
	start_counters(0, 16);
	pid_t child = fork();
	if (child == 0) {
		long long c0 = -1;
		bool refused = read_counters(0, &c0, 16, NULL) == -1 && c0 == -1;
		bool own = start_counters(0, 16) > 0;
		touch(12);
		own = own && read_counters(0, &c0, 16, NULL) > 0 && c0 >= 12;
		_exit(refused && own ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ok(status == 0, "a child does not read its parent's counters, and can start its own");
	ok(read_counters(0, NULL, 16, NULL) > 0, "… and its parent's go on");
}

/* What a call prints to standard error. */
static char printed[2000];
static int printing(int (*print)(int, long long, int, long long), int e0, long long c0, int e1, long long c1)
{
	int pipe_fds[2], kept = dup(STDERR_FILENO);
	memset(printed, 0, sizeof printed);
	if (kept < 0 || pipe(pipe_fds) != 0)
		return -2;
	dup2(pipe_fds[1], STDERR_FILENO);
	close(pipe_fds[1]);
	int status = print(e0, c0, e1, c1), os_errno = errno;
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	if (read(pipe_fds[0], printed, sizeof printed - 1) < 0)
		status = -2;
	close(pipe_fds[0]);
	errno = os_errno;
	return status;
}

static void test_printing(void)
{
	choose("", "");
	ok(printing(print_counters, 0, 123456789012345678, 25, -1) == 0, "counts are printed");
	equal_text(printed,
		   "Cycles.......................................................... 123456789012345678\n"
		   "Primary data cache misses....................................... not counted\n",
		   "as perfex does: 64 columns of name and dots; -1 is not counted");
}

/* ---- costs ---- */

/* A file of its own, without a folder to put it in. */
static char costs_file[64];
static int write_costs(const char *text)
{
	int file = memfd_create("costs", 0);
	if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
		return -1;
	snprintf(costs_file, sizeof costs_file, "/proc/self/fd/%d", file);
	return file;
}

static const char planted[] =
	"[costs]\nmachine = planted\ntitle = Planted\nsource = planted\nclock_hz = 1000000000\n"
	"[cost]\nof = instruction\nunit = ns\ntypical = 2\nminimum = 1\nmaximum = 4\n"
	"source = planted\n"
	"[cost]\nof = l2-hit\nunit = ns\nminimum = 10\nmaximum = 20\nsource = planted\n";

#define COSTS_HEAD                                                                                                \
	"                                                                           count    typical s"           \
	"    minimum s    maximum s\n"

/* No costs are known: it says so, and shows no time. */
static void test_no_costs(void)
{
	choose("", "");
	setenv("TARE_COSTS", "none", 1);
	failed(printing(print_costs, 15, 1000, 19, 7), ENOENT, "costs are switched off (TARE_COSTS=none)",
	       "without costs print_costs fails, and says why");
	equal_text(printed,
		   COSTS_HEAD "Graduated instructions..........................................            1000   "
			      "         -            -"
			      "            -\n"
			      "Graduated stores................................................               7   "
			      "         -            -"
			      "            -\n"
			      "Costs: not known: costs are switched off (TARE_COSTS=none)\n",
		   "... it prints the counts, no times, and the same reason");
	setenv("TARE_COSTS", "/nowhere/at/all.costs", 1);
	failed(printing(print_costs, 15, 1000, 25, 7), ENOENT, "run 'tare calibrate --costs'",
	       "where none were measured, it says how they are");
	int file = write_costs(planted);
	setenv("TARE_COSTS", costs_file, 1);
	failed(printing(print_costs, 15, 1000, 25, 7), ENOENT, "measured on 'planted', this is ",
	       "costs of another machine that are kept here are not used");
	close(file);
	failed(printing(print_costs, 15, 1, 14, 1), EINVAL, "conflicting counters",
	       "costs of two events of one counter are not printed");
	failed(printing(print_costs, 15, 1, 32, 1), EINVAL, "there is no event 32",
	       "costs of event 32 are not printed");
	equal_text(printed, "", "... nor anything else");
}

static void test_loading(void)
{
	setenv("TARE_COSTS", "none", 1);
	failed(load_costs(NULL), EINVAL, "no file is named", "a file of costs has a name");
	failed(load_costs("/nowhere/at/all.costs"), ENOENT, "/nowhere/at/all.costs",
	       "a file of costs that is not there is named");
	int broken = write_costs("[costs]\nmachine = planted\n");
	failed(load_costs(costs_file), EINVAL, "title is missing", "a broken file of costs is refused");
	close(broken);
	failed(printing(print_costs, 15, 1000, 25, 7), ENOENT, "switched off", "... and leaves no costs");
	int file = write_costs(planted);
	ok(load_costs(costs_file) == 0 && strcmp(tare_perfex_error(), "") == 0, "a file of costs is loaded");
	close(file);
	ok(printing(print_costs, 15, 1000000, 25, 500000) == 0, "costs are printed");
	equal_text(printed,
		   COSTS_HEAD "Graduated instructions..........................................         1000000   "
			      "  0.002000     0.001000"
			      "     0.004000\n"
			      "Primary data cache misses.......................................          500000   "
			      "         -     0.005000"
			      "     0.010000\n"
			      "Costs: Planted\n",
		   "counts times costs: typical, minimum and maximum; a time that the table lacks is not 0");
	ok(printing(print_costs, 0, 3000000, 19, 7) == 0, "an event without a cost is no failure");
	equal_text(printed,
		   COSTS_HEAD "Cycles..........................................................         3000000   "
			      "  0.003000     0.003000"
			      "     0.003000\n"
			      "Graduated stores................................................               7   "
			      "         -            -"
			      "            -\n"
			      "Costs: Planted\n",
		   "... it has no time; a cycle takes what the clock says");
	ok(printing(print_costs, 15, -1, 25, 0) == 0 && strstr(printed, ". not counted\n") &&
		   strstr(printed, "               0            -     0.000000     0.000000\n"),
	   "what was not counted has no time; 0 events take none");
	failed(load_costs("/nowhere/at/all.costs"), ENOENT, "/nowhere/at/all.costs", "loading fails");
	ok(printing(print_costs, 15, 1000000, 25, 1) == 0 && strstr(printed, "Costs: Planted\n"),
	   "... and the costs that were loaded stay");
	choose("page-faults:u", "task-clock");
	ok(printing(print_costs, 15, 5, 25, 6) == 0 &&
		   strstr(printed,
			  "page-faults:u...................................................               5 "
			  "           -            -            -\n"),
	   "T5_EVENT0's event is not the number's: it has no cost of perfex's");
}

static void *print_in_thread(void *unused)
{
	choose("", "");
	return printing(print_costs, 15, 1000000, 25, 1) == 0 && strstr(printed, "Costs: Planted\n") ? unused
												     : NULL;
}

static void test_costs_of_threads(void)
{
	pthread_t thread;
	void *right = NULL;
	pthread_create(&thread, NULL, print_in_thread, printed);
	pthread_join(thread, &right);
	ok(right == printed, "costs are loaded for all threads");
}

int main(void)
{
	test_numbers();
	test_hardware();
	test_counting();
	test_one_of_two();
	test_threads();
	test_fork();
	test_printing();
	test_no_costs();
	test_loading();
	test_costs_of_threads();
	return done();
}
