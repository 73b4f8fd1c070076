/* Workers of the attendant: which of them is given a request, and what becomes of their places. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/inject/workers.h"
#include "tap.h"

static int status_of(pid_t worker)
{
	int status = 0;
	waitpid(worker, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* One that waits for a request when its first is done, and ends by its number. */
static pid_t begin_waiting(struct workers *workers)
{
	struct worker_end end = {.pipe = -1};
	pid_t pid = workers_fork(workers, &end);
	if (pid == 0) {
		uint32_t request = 1;
		_exit(workers_next(&end, &request) ? (int)request : 0);
	}
	return pid;
}

/* When it waits, it takes it. */
static void give(struct workers *workers, uint32_t request)
{
	while (!workers_give(workers, request))
		usleep(100);
}

static void waiting(void)
{
	struct workers workers;
	workers_open(&workers);
	pid_t first = begin_waiting(&workers);
	give(&workers, 7);
	pid_t second = begin_waiting(&workers);
	give(&workers, 9);
	int ended[] = {status_of(first), status_of(second)};
	ok(ended[0] == 7 && ended[1] == 9,
	   "a worker that waits is given a request, one that has one is not (%d, %d)", ended[0], ended[1]);
	ok(!workers_give(&workers, 11), "nor is one that has ended");

	first = begin_waiting(&workers);
	workers_renew(&workers);
	ok(status_of(first) == 0 && !workers_give(&workers, 11), "one from before a change ends");
}

static void ended(void)
{
	enum { MANY = 3 * WORKERS_MOST };
	struct workers workers;
	unsigned placed = 0;
	workers_open(&workers);
	for (unsigned i = 0; i < MANY; i++) {
		struct worker_end end = {.pipe = -1};
		pid_t pid = workers_fork(&workers, &end);
		if (pid == 0)
			_exit(end.pipe >= 0);
		placed += status_of(pid) == 1;
	}
	if (!ok(placed == MANY, "those that end make room for others (%u of %d)", placed, (int)MANY))
		return;
	pid_t one = begin_waiting(&workers);
	give(&workers, 7);
	ok(status_of(one) == 7, "which are given requests");
	one = begin_waiting(&workers);
	workers_forget(&workers);
	ok(status_of(one) == 0, "where nobody gives requests any more, a worker ends");
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN); /* as in the attendant */
	waiting();
	ended();
	return done();
}
