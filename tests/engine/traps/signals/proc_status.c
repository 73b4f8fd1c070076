/* fact: /proc/self/status tells which signals the program blocks, ignores and catches, however it is read */
#include "trap.h"
#include <sys/stat.h>
#include <sys/uio.h>

static void nothing(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
}

struct sets { uint64_t pending, shared, blocked, ignored, caught; };

static char text[8192];

static struct sets sets_of(const char *status)
{
	static const char *const names[] = { "SigPnd:", "ShdPnd:", "SigBlk:", "SigIgn:", "SigCgt:" };
	uint64_t set[5];
	for (int i = 0; i < 5; i++) {
		const char *line = strstr(status, names[i]);
		set[i] = line ? strtoull(line + 7, NULL, 16) : ~0ull;
	}
	return (struct sets){ set[0], set[1], set[2], set[3], set[4] };
}

/* As the calls say: what a file is compared with. */
static struct sets sets_by_calls(void)
{
	struct { uint64_t handler, flags, restorer, mask; } action;
	struct sets sets = { 0 };
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &sets.blocked, 8);
	for (int signo = 1; signo <= 64; signo++) {
		if (syscall(SYS_rt_sigaction, signo, NULL, &action, 8))
			_exit(90);
		sets.ignored |= (uint64_t)(action.handler == 1) << (signo - 1);
		sets.caught |= (uint64_t)(action.handler > 1) << (signo - 1);
	}
	return sets;
}

static bool same(struct sets a, struct sets b)
{
	if (a.blocked == b.blocked && a.ignored == b.ignored && a.caught == b.caught)
		return true;
	dprintf(2, "# blocked %lx %lx, ignored %lx %lx, caught %lx %lx\n", a.blocked, b.blocked, a.ignored, b.ignored, a.caught, b.caught);
	return false;
}

/* From where the descriptor stands, so many bytes a call. */
static struct sets sets_read(int fd, size_t at_a_time)
{
	size_t have = 0;
	ssize_t n;
	memset(text, 0, sizeof text);
	while (have + at_a_time < sizeof text && (n = read(fd, text + have, at_a_time)) > 0)
		have += (size_t)n;
	return sets_of(text);
}

static struct sets sets_in(const char *path, size_t at_a_time)
{
	int fd = open(path, O_RDONLY);
	if (fd < 0)
		_exit(91);
	struct sets sets = sets_read(fd, at_a_time);
	close(fd);
	return sets;
}

static void read_in_pieces(struct sets expected)
{
	int fd = open("/proc/self/status", O_RDONLY);
	memset(text, 0, sizeof text);
	struct iovec pieces[3] = { { text, 700 }, { text + 700, 300 }, { text + 1000, sizeof text - 1001 } };
	fact(readv(fd, pieces, 3) > 700 && same(sets_of(text), expected), "into three places by readv");
	size_t have = strlen(text);
	const char *line = strstr(text, "SigIgn:");
	off_t at = line - text;
	memset(text, 0, sizeof text);
	fact(pread(fd, text, sizeof text - 1, 0) > 0 && same(sets_of(text), expected), "by pread");
	char digits[3] = "";
	fact(pread(fd, digits, 2, at + 8 + 12) == 2 && strtoul(digits, NULL, 16) == (expected.ignored >> 8 & 0xff), "two digits in the middle");
	fact(lseek(fd, 0, SEEK_CUR) == (off_t)have, "the file's position is where the reads left it");
	close(fd);
}

/* A file of one's own that is called so, and has such lines. */
static void own_file(void)
{
	char folder[64], path[96], line[] = "Name:\tx\nSigBlk:\t0000000000000123\nSigIgn:\t0000000000000456\nSigCgt:\t0000000000000789\n";
	snprintf(folder, sizeof folder, "/tmp/status-%d", (int)getpid());
	snprintf(path, sizeof path, "%s/%d", folder, (int)getpid());
	if (mkdir(folder, 0700) || mkdir(path, 0700))
		_exit(92);
	strcat(path, "/status");
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || write(fd, line, sizeof line - 1) != (ssize_t)sizeof line - 1)
		_exit(93);
	close(fd);
	struct sets sets = sets_in(path, 4096);
	fact(sets.blocked == 0x123 && sets.ignored == 0x456 && sets.caught == 0x789, "a file of the program's own that is called so is left alone");
	unlink(path);
	*strrchr(path, '/') = 0;
	rmdir(path);
	rmdir(folder);
}

static atomic_int thread_number, thread_may_end;

static void *other_thread(void *unused)
{
	sigset_t set;
	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGFPE);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	thread_number = (int)syscall(SYS_gettid);
	while (!thread_may_end)
		sleep_ms(1);
	return NULL;
}

static void threads(struct sets expected)
{
	char path[64];
	pthread_t thread;
	pthread_create(&thread, NULL, other_thread, NULL);
	while (!thread_number)
		sleep_ms(1);
	snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)thread_number);
	struct sets sets = sets_in(path, 4096);
	fact(sets.blocked == (1ull << (SIGTERM - 1) | 1ull << (SIGFPE - 1)), "another thread's file has what that thread blocks");
	/* now: the C library catches a signal of its own from the first thread on, and posix_spawn(3) let it be ignored */
	fact(sets.ignored == sets_by_calls().ignored && (sets.ignored & expected.ignored & 0x7fffffff) == (expected.ignored & 0x7fffffff),
	     "and what the process ignores");
	thread_may_end = 1;
	pthread_join(thread, NULL);
}

static void pending(void)
{
	raise(SIGSEGV); /* which is blocked */
	struct sets sets = sets_in("/proc/thread-self/status", 4096);
	fact(sets.pending == 1ull << (SIGSEGV - 1), "a fault's signal that waits is pending");
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sets = sets_in("/proc/thread-self/status", 4096);
	fact(!sets.pending && same(sets, sets_by_calls()), "and not when it has come");
}

static void in_a_child(void)
{
	on_signal(SIGUSR2, nothing, 0);
	_exit(same(sets_in("/proc/self/status", 4096), sets_by_calls()) ? 0 : 1);
}

int main(void)
{
	sigset_t set;
	fact(same(sets_in("/proc/self/status", 4096), sets_by_calls()), "at the beginning");
	on_signal(SIGUSR1, nothing, 0);
	on_signal(SIGSEGV, nothing, 0);
	on_signal(SIGRTMIN + 3, nothing, 0);
	signal(SIGFPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	struct sets expected = sets_by_calls();
	fact(expected.caught >> (SIGSEGV - 1) & 1 && expected.ignored >> (SIGFPE - 1) & 1 && expected.blocked >> (SIGUSR2 - 1) & 1,
	     "some are caught, ignored and blocked");
	fact(same(sets_in("/proc/self/status", 4096), expected), "read at once");
	fact(same(sets_in("/proc/self/status", 1), expected), "read byte by byte");
	fact(same(sets_in("/proc/self/status", 37), expected), "37 bytes a call");
	read_in_pieces(expected);
	int folder = open("/proc/self", O_RDONLY | O_DIRECTORY), fd = openat(folder, "status", O_RDONLY), other = dup(fd);
	fact(same(sets_read(other, 100), expected), "opened from its folder, by another descriptor");
	threads(expected);
	own_file();
	fact_equal(end_in_child(in_a_child), 0, "a child reads its own");
	pending();
	return trap_done();
}
