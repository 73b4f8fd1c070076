/* fact: a limit on memory that the program sets is for its own memory: it reads it back, forks, spawns and execs under it
 * limits: stack=8M
 * build: -O0
 * args: first
 *
 * 64 MiB: less than the engine's own tables take.
 */
#include <spawn.h>
#include <sys/resource.h>

#include "trap.h"

#define LIMIT (64ul << 20)
extern char **environ;

static bool allocates(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return false;
	p[bytes - 1] = 1;
	munmap(p, bytes);
	return true;
}

static bool reads(rlim_t soft, rlim_t hard)
{
	struct rlimit by_get, by_prlimit;
	return getrlimit(RLIMIT_AS, &by_get) == 0 && prlimit(0, RLIMIT_AS, NULL, &by_prlimit) == 0 && by_get.rlim_cur == soft &&
	       by_get.rlim_max == hard && by_prlimit.rlim_cur == soft && by_prlimit.rlim_max == hard;
}

static bool ended_well(pid_t pid)
{
	int status;
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool forks(int depth)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(!(reads(LIMIT, LIMIT) && allocates(LIMIT / 2) && (depth == 0 || forks(depth - 1))));
	return ended_well(pid);
}

static void *thread(void *arg) { return arg; }

int main(int argc, char **argv)
{
	struct rlimit limit = {LIMIT, LIMIT}, wrong = {LIMIT, LIMIT / 2};
	char *again[] = {argv[0], "again", NULL};
	pthread_t t;
	pid_t pid;
	if (argc > 1 && strcmp(argv[1], "again") == 0)
		return !(reads(LIMIT, LIMIT) && allocates(LIMIT / 2) && !allocates(8 * LIMIT) && forks(1));
	fact(allocates(8 * LIMIT), "without a limit there is memory");
	fact(setrlimit(RLIMIT_AS, &wrong) == -1 && errno == EINVAL, "a soft limit above the hard one is refused");
	fact(setrlimit(RLIMIT_AS, &limit) == 0, "the limit can be set");
	fact(reads(LIMIT, LIMIT), "what is read back is what was set");
	fact(allocates(LIMIT / 2), "half of it can be allocated");
	fact(!allocates(8 * LIMIT) && errno == ENOMEM, "eight times as much cannot");
	bool all = true;
	for (int i = 0; i < 40; i++)
		all &= forks(0);
	fact(all, "40 children are forked one after the other");
	fact(forks(3), "children have children");
	fact(pthread_create(&t, NULL, thread, NULL) == 0 && pthread_join(t, NULL) == 0, "a thread is made");
	fact(posix_spawn(&pid, argv[0], NULL, NULL, again, environ) == 0 && ended_well(pid), "a spawned program has the limit, and room");
	pid = fork();
	if (pid == 0) {
		execv(argv[0], again);
		_exit(1);
	}
	fact(ended_well(pid), "so has one that is executed");
	limit.rlim_cur = LIMIT / 2;
	fact(setrlimit(RLIMIT_AS, &limit) == 0 && reads(LIMIT / 2, LIMIT), "the soft limit can be lowered");
	limit.rlim_cur = LIMIT;
	fact(setrlimit(RLIMIT_AS, &limit) == 0 && reads(LIMIT, LIMIT), "and raised again");
	struct rlimit data = {LIMIT, LIMIT}, got;
	fact(setrlimit(RLIMIT_DATA, &data) == 0 && getrlimit(RLIMIT_DATA, &got) == 0 && got.rlim_cur == LIMIT && forks(1), "a limit on data is one as well");
	return trap_done();
}
