/* Counting what runs already: a process with threads, one thread, all CPUs. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "vm/counted.h"

enum { THREADS = 3 };
static const uint64_t loops[THREADS] = {100000, 300000, 1000000};

struct spinning {
	pid_t pid, tids[THREADS];
	int in, out;
};

/* Reads a line; false at the end. */
static bool line_of(int fd, char *line, size_t size)
{
	size_t n = 0;
	while (n + 1 < size && read(fd, line + n, 1) == 1 && line[n] != '\n')
		n++;
	line[n] = '\0';
	return n > 0;
}

static bool spinners_start(struct spinning *s)
{
	int in[2], out[2], pid;
	char line[200];
	/* tare, started later, must not hold an end */
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return false;
	s->pid = fork();
	if (s->pid == 0) {
		const char *path = getenv("TARE_SPINNERS");
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(path, path, "100000", "300000", "1000000", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	s->in = in[1];
	s->out = out[0];
	return line_of(s->out, line, sizeof line) &&
	       sscanf(line, "ready %d %d %d %d", &pid, &s->tids[0], &s->tids[1], &s->tids[2]) == 4 &&
	       pid == s->pid;
}

/* Lets the threads run, waits until all are done. */
static bool spinners_run(struct spinning *s)
{
	char line[20];
	return write(s->in, "g", 1) == 1 && line_of(s->out, line, sizeof line) && strcmp(line, "done") == 0;
}

static void spinners_end(struct spinning *s)
{
	close(s->in);
	close(s->out);
	waitpid(s->pid, NULL, 0);
}

static void a_process_and_its_threads(void)
{
	struct spinning s;
	char pid[16];
	if (!ok(spinners_start(&s), "a program with three threads waits to be counted"))
		return;
	snprintf(pid, sizeof pid, "%d", (int)s.pid);
	struct started *tare = tare_start(
		0, (const char *const[]){"count", "-p", pid, "--per-thread", "-e", "instructions:u", NULL});
	bool ran = tare_counts(tare, 4) && spinners_run(&s);
	spinners_end(&s);
	struct counted *c = tare_wait(tare);
	ok(ran && c->status == 0, "tare ends with the process it counts (status %d)", c->status);
	double value[THREADS], sum = 0;
	bool known = true;
	for (int i = 0; i < THREADS; i++) {
		value[i] = thread_row(c, "instructions:u", s.tids[i]).value;
		known &= !isnan(value[i]);
		sum += value[i];
	}
	double leader = thread_row(c, "instructions:u", s.pid).value, all = event_row(c, "instructions:u").value;
	printf("# threads %.0f, %.0f, %.0f; the first thread %.0f; all %.0f\n", value[0], value[1], value[2],
	       leader, all);
	if (!ok(known && !isnan(leader), "each thread has a row of its own"))
		printf("# %s\n", c->said);
	if (in_guest()) {
		ok(value[1] - value[0] == 2.0 * (double)(loops[1] - loops[0]) &&
			   value[2] - value[1] == 2.0 * (double)(loops[2] - loops[1]),
		   "threads differ by exactly the instructions of their loops");
		double around = value[0] - 2.0 * (double)loops[0];
		ok(around > 0 && around < 200,
		   "and have a few around them: %.0f, what read, write and pause are in libc", around);
	}
	ok(all == sum + leader, "the process is the sum of its threads");
	counted_free(c);
}

static void one_thread(void)
{
	struct spinning s;
	char tid[16];
	if (!ok(spinners_start(&s), "the program waits again"))
		return;
	snprintf(tid, sizeof tid, "%d", (int)s.tids[1]);
	struct started *tare = tare_start(0,
					  (const char *const[]){"count", "-t", tid, "-e", "instructions:u", NULL});
	bool ran = tare_counts(tare, 1) && spinners_run(&s);
	spinners_end(&s);
	struct counted *c = tare_wait(tare);
	double value = event_row(c, "instructions:u").value, around = value - 2.0 * (double)loops[1];
	printf("# status %d, %.0f instructions: %.0f around the loop's\n", c->status, value, around);
	ok(ran && around > 0 && around < (in_guest() ? 200 : 2000), "-t counts that thread and no other");
	counted_free(c);
}

/* Interrupted, tare reports what it has; the process lives on. */
static void interrupted(void)
{
	struct spinning s;
	char pid[16];
	if (!ok(spinners_start(&s), "the program waits a third time"))
		return;
	snprintf(pid, sizeof pid, "%d", (int)s.pid);
	struct started *tare = tare_start(0,
					  (const char *const[]){"count", "-p", pid, "-e", "instructions:u", NULL});
	bool ran = tare_counts(tare, 4) && spinners_run(&s);
	kill(tare_pid(tare), SIGINT);
	struct counted *c = tare_wait(tare);
	bool lives = kill(s.pid, 0) == 0 && waitpid(s.pid, NULL, WNOHANG) == 0;
	spinners_end(&s);
	double value = event_row(c, "instructions:u").value,
	       least = 2.0 * (double)(loops[0] + loops[1] + loops[2]);
	printf("# status %d, %.0f instructions, the loops have %.0f\n", c->status, value, least);
	ok(ran && value > least && value < least + 20000, "an interrupt ends the counting and reports it");
	ok(lives, "the process that was counted lives on");
	counted_free(c);
}

static void system_wide(void)
{
	double truth = (double)predicted("loop", "instructions", 3000000);
	struct counted *c = tare_run("count", "-a", "-e", "instructions:u", kernel("loop"), "3000000", NULL);
	double all = event_row(c, "instructions:u").value;
	if (!ok(all >= truth, "-a counts at least what the program does (%.0f of %.0f)", all, truth))
		printf("# status %d: %s\n", c->status, c->said);
	if (in_guest())
		ok(all < truth + 1e6, "and in a machine that does nothing else little more (%.0f)", all - truth);
	counted_free(c);

	c = tare_run("count", "-C", "0", "-e", "instructions:u", kernel("loop"), "3000000", NULL);
	double first = event_row(c, "instructions:u").value;
	if (in_guest())
		ok(first >= truth && first < truth + 1e6, "-C 0 counts the guest's only CPU (%.0f)",
		   first - truth);
	else
		ok(!isnan(first), "-C 0 counts the first CPU");
	counted_free(c);

	/* Another program's work, while tare's own command only sleeps. */
	struct spinning s;
	if (!ok(spinners_start(&s), "another program waits"))
		return;
	struct started *tare = tare_start(
		0, (const char *const[]){"count", "-a", "--for", "1", "-e", "instructions:u", NULL});
	bool ran = tare_counts(tare, 1) && spinners_run(&s);
	c = tare_wait(tare);
	spinners_end(&s);
	all = event_row(c, "instructions:u").value;
	double least = 2.0 * (double)(loops[0] + loops[1] + loops[2]);
	if (!ok(ran && all >= least, "-a sees programs that tare did not start (%.0f of %.0f)", all, least))
		printf("# status %d: %s\n", c->status, c->said);
	counted_free(c);
}

int main(void)
{
	if (no_pmu()) {
		skip(no_pmu(), "running processes are counted");
		return done();
	}
	a_process_and_its_threads();
	one_thread();
	interrupted();
	if (in_guest() || geteuid() == 0)
		system_wide();
	else
		skip("only root may, here", "-a counts all CPUs");
	return done();
}
