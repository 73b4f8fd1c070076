/* Multiplexed counters: the estimate's interval contains the truth in at least 95 % of runs.
 *
 * Ten events share the guest's seven counters. Two ways to the truth:
 *
 *   - a kernel's predicted user instructions (exact_test shows that the hardware counts them so);
 *   - two pinned counters of the test's own on the same process, which the kernel never takes away: what they
 * count is the truth of this very run, at every level. tare attaches to the process while it waits for its exec,
 * and then has five counters left. An earlier run would be no truth for the kernel's level: the kernel's work to
 * give the counters in turn is in its count.
 *
 * A bound that the report leaves open (∞) is never wrong and says little: such an interval is no success. Coverage is asserted of those that
 * are closed, how many those are and how wide, and of the others that their lower bound is right. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "vm/counted.h"

/* A cycle is an instruction in the guest: each pair has the truth of its level. */
#define TEN "instructions:u,cycles:u,instructions:k,cycles:k,instructions:uk,cycles:uk,r8:u,r11:u,r8:k,r11:k"
static const char *const events[] = {"instructions:u", "cycles:u", "r8:u",  "r11:u",           "instructions:k",
				     "cycles:k",       "r8:k",     "r11:k", "instructions:uk", "cycles:uk"};
enum { USER_EVENTS = 4, USER_AND_KERNEL_EVENTS = 8, EVENTS = 10 }; /* the rest: both levels */

struct tally {
	unsigned runs, estimates, scaled, not_counted, noted;
	unsigned whole, open, closed; /* counted all the time; scaled without an upper bound; scaled with one */
	unsigned whole_right, open_right, closed_right;
	double width; /* sum of the closed ones' half-widths, as shares of the truth */
};

/* Judges a report by truth[3]: user, kernel, both; a NAN truth leaves its events out. */
static void judge(const struct counted *c, const double truth[3], const char *program, struct tally *t)
{
	t->runs++;
	for (size_t i = 0; i < EVENTS; i++) {
		struct row row = event_row(c, events[i]);
		double is = truth[i < USER_EVENTS ? 0 : i < USER_AND_KERNEL_EVENTS ? 1 : 2];
		if (isnan(is))
			continue;
		if (!row.known) {
			t->not_counted++;
			if (!row.why[0])
				printf("# %s is neither counted nor explained: %s\n", events[i], c->said);
			continue;
		}
		bool scaled = strcmp(row.source, "scaled") == 0;
		double low = row.has_interval ? row.low : row.value,
		       high = row.has_interval ? row.high : row.value;
		bool right = low <= is && high >= is;
		t->estimates++;
		t->scaled += scaled;
		if (!scaled) {
			t->whole++;
			t->whole_right += right;
		} else if (isinf(high)) {
			t->open++;
			t->open_right += right;
		} else {
			t->width += (high - low) / 2 / is;
			t->closed++;
			t->closed_right += right;
		}
		if (!right)
			printf("# %s, %s: %.0f in %.0f … %.0f (%s, ran %.2f), truth %.0f\n", program, events[i],
			       row.value, low, high, row.source, row.share_running, is);
	}
}

/* Short programs end before their intervals can close. */
enum length { SHORT, LONG };

static void mostly_right(unsigned right, unsigned of, const char *what, const char *which)
{
	if (of) /* nothing is said of none */
		ok(100 * right >= 95 * of, "%s: %u of %u %s contain the truth, at least 95 %%", what, right, of,
		   which);
}

/* width: what the closed intervals' mean half-width may be, as a share of the truth. */
static void conclude(const struct tally *t, enum length length, double width, const char *what)
{
	double mean = t->closed ? t->width / t->closed : 0;
	printf("# %s: %u runs, %u estimates, %u of them scaled; %u not counted; %u open above, the others' mean "
	       "half-width is %.1f %%\n",
	       what, t->runs, t->estimates, t->scaled, t->not_counted, t->open, 100 * mean);
	ok(t->scaled >= 2 * t->runs, "%s: counters are shared (%u estimates of %u runs)", what, t->scaled,
	   t->runs);
	if (length == LONG)
		ok(2 * t->closed >= t->scaled, "%s: most intervals are closed (%u of %u)", what, t->closed,
		   t->scaled);
	mostly_right(t->closed_right, t->closed, what, "intervals that have an upper bound");
	mostly_right(t->open_right, t->open, what, "that have a lower bound only");
	mostly_right(t->whole_right, t->whole, what, "counted all the time");
	if (t->closed)
		ok(mean <= width, "%s: the closed intervals' mean half-width is at most %.0f %%", what,
		   100 * width);
}

/* A run from exec to exit, against the predicted user count. */
static void predicted_runs(const char *name, const char *argument, unsigned runs, enum length length, double width,
			   const char *what)
{
	double user = (double)predicted(name, "instructions", strtoull(argument, NULL, 10));
	struct tally t = {0};
	for (unsigned i = 0; i < runs; i++) {
		struct counted *c = tare_run("count", "-e", TEN, kernel(name), argument, NULL);
		judge(c, (double[]){user, NAN, NAN}, name, &t);
		counted_free(c);
	}
	conclude(&t, length, width, what);
}

/* Does the report say that sharing the counters is the kernel's work, too? */
static bool note_on_kernel(const struct counted *c)
{
	static const char says[] = "kernel-level counts are lower bounds: sharing the counters is kernel work";
	json_t *note;
	size_t i;
	json_array_foreach(json_object_get(c->report, "notes"), i,
			   note) if (strncmp(json_string_value(note), says, sizeof says - 1) == 0) return true;
	return false;
}

static int open_pinned(pid_t pid, bool user)
{
	struct perf_event_attr attr = {.size = sizeof attr,
				       .type = PERF_TYPE_HARDWARE,
				       .config = PERF_COUNT_HW_INSTRUCTIONS,
				       .disabled = 1,
				       .pinned = 1,
				       .exclude_user = !user,
				       .exclude_kernel = user,
				       .exclude_hv = 1};
	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* One run beside pinned counters; false when they gave no truth. */
static bool witnessed_run(char *const *argv, struct tally *t)
{
	int gate[2], fds[2] = {-1, -1};
	char pid[16], byte = 0;
	uint64_t counts[2] = {0};
	bool known = false;
	struct counted *c = NULL;
	if (pipe2(gate, O_CLOEXEC))
		return false;
	pid_t child = fork();
	if (child == 0) {
		if (read(gate[0], &byte, 1) == 1)
			execv(argv[0], argv);
		_exit(127);
	}
	snprintf(pid, sizeof pid, "%d", (int)child);
	struct started *tare = tare_start(0, (const char *const[]){"count", "-p", pid, "-e", TEN, NULL});
	bool counting = tare_counts(tare, EVENTS);
	fds[0] = open_pinned(child, true);
	fds[1] = open_pinned(child, false);
	/* The child sleeps: neither these nor tare's counters count anything yet. */
	for (int i = 0; i < 2; i++)
		if (fds[i] < 0 || ioctl(fds[i], PERF_EVENT_IOC_ENABLE, 0))
			counting = false;
	if (write(gate[1], &byte, 1) != 1)
		counting = false;
	c = tare_wait(tare);
	if (!counting) {
		printf("# not counted: %s, status %d: %s\n", strerror(errno), c->status, c->said);
		goto out;
	}
	/* A pinned counter that lost its place reads as the end of the file. */
	for (int i = 0; i < 2; i++)
		if (read(fds[i], &counts[i], sizeof counts[i]) != sizeof counts[i])
			goto out;
	known = true;
	judge(c, (double[]){(double)counts[0], (double)counts[1], (double)(counts[0] + counts[1])}, argv[0], t);
	t->noted += note_on_kernel(c);
out:
	counted_free(c);
	close(gate[0]);
	close(gate[1]);
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	waitpid(child, NULL, 0);
	return known;
}

static void witnessed_runs(const char *path, const char *argument, const char *rounds, unsigned runs, double width,
			   const char *what)
{
	struct tally t = {0};
	bool known = true;
	for (unsigned i = 0; i < runs && known; i++) {
		char seed[16];
		snprintf(seed, sizeof seed, "%u", i + 1);
		known = witnessed_run(
			(char *[]){(char *)path, (char *)(argument ? argument : seed), (char *)rounds, NULL}, &t);
	}
	ok(known, "%s: pinned counters know the truth of each run", what);
	ok(t.noted == t.runs, "%s: each report says what sharing adds to the kernel's counts", what);
	conclude(&t, LONG, width, what);
}

int main(void)
{
	if (no_pmu()) {
		skip(no_pmu(), "intervals of shared counters contain the truth");
		return done();
	}
	if (!in_guest()) {
		skip("the number of counters is known of the guest only",
		     "intervals of shared counters contain the truth");
		return done();
	}
	/* 250 ms: tare reads every 10 ms, and an interval needs several turns of each counter. */
	predicted_runs("loop", "125000000", 12, LONG, 0.02, "a steady program of 250 ms");
	predicted_runs("phases", "700", 10, SHORT, 0.1, "phases of 40 and 17 µs in turn, 40 ms");
	predicted_runs("phases", "120", 15, SHORT, 0.1, "a program of 7 ms, shorter than two turns");
	/* Most of the kernel's work for a program that only computes is to share the counters, in step with the
	 * turns: kernel-level intervals have to be open. */
	witnessed_runs(kernel("loop"), "125000000", NULL, 10, 0.03, "a steady program of 250 ms, all levels");
	witnessed_runs(getenv("TARE_IRREGULAR"), NULL, "45", 30, 0.2,
		       "250 ms with phases of milliseconds at random, all levels");
	return done();
}
