#include "engine/inject/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#define STATES_BYTES 65536u
#define FORKED_MOST (STATES_BYTES / sizeof(uint32_t))
/* Of one worker: what could be left of a request does not add up. */
#define REQUESTS_MOST 256u

enum { BUSY, IDLE };

void workers_open(struct workers *workers)
{
	void *states = mmap(NULL, STATES_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*workers = (struct workers){.states = states == MAP_FAILED ? NULL : states};
	for (uint32_t i = 0; i < WORKERS_MOST; i++)
		workers->pipe[i] = -1;
}

static void drop(struct workers *workers, uint32_t i)
{
	if (workers->pipe[i] >= 0)
		close(workers->pipe[i]);
	workers->pipe[i] = -1;
}

void workers_renew(struct workers *workers)
{
	for (uint32_t i = 0; i < WORKERS_MOST; i++)
		drop(workers, i);
}

void workers_forget(struct workers *workers) { workers_renew(workers); }

bool workers_give(struct workers *workers, uint32_t request)
{
	for (uint32_t i = 0; i < WORKERS_MOST; i++) {
		if (workers->pipe[i] < 0 || __atomic_load_n(workers->state[i], __ATOMIC_ACQUIRE) != IDLE)
			continue;
		__atomic_store_n(workers->state[i], BUSY, __ATOMIC_RELEASE);
		if (write(workers->pipe[i], &request, sizeof request) == sizeof request)
			return true;
		drop(workers, i); /* it was killed */
	}
	return false;
}

/* Those that have ended, of themselves or killed: nobody reads their pipes any more. */
static void drop_ended(struct workers *workers)
{
	struct pollfd ends[WORKERS_MOST];
	for (uint32_t i = 0; i < WORKERS_MOST; i++)
		ends[i] = (struct pollfd){.fd = workers->pipe[i]};
	if (poll(ends, WORKERS_MOST, 0) <= 0)
		return;
	for (uint32_t i = 0; i < WORKERS_MOST; i++)
		if (ends[i].revents & POLLERR)
			drop(workers, i);
}

static int free_place(const struct workers *workers)
{
	for (int i = 0; i < (int)WORKERS_MOST; i++)
		if (workers->pipe[i] < 0)
			return i;
	return -1;
}

/* For another worker; -1: there is none. */
static int place(struct workers *workers)
{
	if (!workers->states || workers->forked == FORKED_MOST)
		return -1;
	if (free_place(workers) < 0)
		drop_ended(workers);
	return free_place(workers);
}

pid_t workers_fork(struct workers *workers, struct worker_end *end)
{
	int at = place(workers), ends[2] = {-1, -1};
	if (at >= 0 && pipe2(ends, O_CLOEXEC) != 0)
		at = -1;
	uint32_t *state = at >= 0 ? &workers->states[workers->forked++] : NULL;
	pid_t pid = fork();
	if (pid == 0) {
		workers_forget(workers);
		if (ends[1] >= 0)
			close(ends[1]);
		*end = (struct worker_end){.pipe = ends[0], .state = state};
		return 0;
	}
	if (ends[0] >= 0)
		close(ends[0]);
	if (pid > 0 && at >= 0)
		workers->pipe[at] = ends[1], workers->state[at] = state;
	else if (ends[1] >= 0)
		close(ends[1]);
	return pid;
}

bool workers_next(struct worker_end *end, uint32_t *request)
{
	ssize_t got;
	if (end->pipe < 0 || ++end->done == REQUESTS_MOST)
		return false;
	__atomic_store_n(end->state, IDLE, __ATOMIC_RELEASE);
	do
		got = read(end->pipe, request, sizeof *request);
	while (got < 0 && errno == EINTR);
	return got == sizeof *request;
}
