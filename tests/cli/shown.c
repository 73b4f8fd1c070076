/*
 * What a program can see of the machine, a line each: for same_test.py. Arguments choose parts:
 *
 *     cpu       CPUID, XCR0, the auxiliary vector
 *     chance    random numbers of every source, a mutex's thread, uname, processors, memory
 *     time      clocks, and waits by them
 *     state     xsave into an area of the size that CPUID says, a signal's frame
 *     children  the same of a fork, a thread and an exec
 */
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { FEATURES = 1, OSXSAVE = 1 << 27, STATE = 13 };

static void leaf(unsigned number, unsigned sub)
{
	unsigned a, b, c, d;
	__cpuid_count(number, sub, a, b, c, d);
	printf("cpuid %x.%x %08x %08x %08x %08x\n", number, sub, a, b, c, d);
}

static int has_xsave(void)
{
	unsigned a, b, c, d;
	__cpuid(FEATURES, a, b, c, d);
	return (c & OSXSAVE) != 0;
}

static void cpu(void)
{
	static const unsigned leaves[] = {0, 1, 2, 7, 0x80000000, 0x80000001, 0x80000002, 0x80000006, 0x80000008};
	for (unsigned i = 0; i < sizeof leaves / sizeof *leaves; i++)
		leaf(leaves[i], 0);
	for (unsigned sub = 0; sub < 4; sub++)
		leaf(4, sub);
	for (unsigned sub = 0; sub < 3; sub++)
		leaf(STATE, sub);
	if (has_xsave()) {
		unsigned low, high;
		__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
		printf("xcr0 %x %x\n", low, high);
	}
	printf("auxiliary vector: vdso %lx, second features %lx, platform %s, frame %lu\n", getauxval(AT_SYSINFO_EHDR), getauxval(AT_HWCAP2),
	       (const char *)getauxval(AT_PLATFORM), getauxval(AT_MINSIGSTKSZ));
}

static uint64_t from_file(const char *path)
{
	uint64_t number = 0;
	int fd = open(path, O_RDONLY);
	if (read(fd, &number, sizeof number) != sizeof number)
		number = 0;
	close(fd);
	return number;
}

static void chance(void)
{
	uint64_t first, second, got = 0, start[2];
	uint32_t half;
	struct utsname name;
	struct sysinfo info;
	cpu_set_t cpus;
	memcpy(start, (const void *)getauxval(AT_RANDOM), sizeof start);
	printf("start %016lx %016lx\n", start[0], start[1]);
	__asm__ volatile("rdrand %0; mov %0, %1; rdrand %0" : "=&r"(first), "=&r"(second) : : "cc");
	printf("rdrand %016lx %016lx\n", first, second);
	__asm__ volatile("mov $-1, %k0; rdseed %k0; setc %b1" : "=&r"(half), "=&q"(first) : : "cc");
	printf("rdseed %08x carry %u\n", half, (unsigned)(uint8_t)first);
	if (getrandom(&got, sizeof got, 0) == sizeof got)
		printf("getrandom %016lx\n", got);
	printf("files %016lx %016lx\n", from_file("/dev/urandom"), from_file("/dev/random"));
	uname(&name);
	printf("name %s %s %s\n", name.sysname, name.nodename, name.machine);
	sysinfo(&info);
	printf("memory %lu %lu uptime %ld\n", info.totalram, info.freeram, info.uptime);
	sched_getaffinity(0, sizeof cpus, &cpus);
	printf("processors %d, the first one %d, this one %d\n", CPU_COUNT(&cpus), CPU_ISSET(0, &cpus), sched_getcpu());
	int same = sched_setaffinity(0, sizeof cpus, &cpus);
	CPU_ZERO(&cpus);
	CPU_SET(1, &cpus);
	printf("may run on it: %d; on another: %d\n", same, sched_setaffinity(0, sizeof cpus, &cpus));
}

static uint64_t ns_of(const struct timespec *t) { return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec; }

static uint64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return ns_of(&t);
}

static struct timespec later(clockid_t clock, uint64_t ns)
{
	uint64_t at = now(clock) + ns;
	return (struct timespec){(time_t)(at / 1000000000), (long)(at % 1000000000)};
}

#define WAIT_NS 30000000ull

static void times_out(clockid_t clock, const char *name)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition;
	pthread_condattr_t attributes;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, clock);
	pthread_cond_init(&condition, &attributes);
	uint64_t before = now(clock);
	struct timespec until = later(clock, WAIT_NS);
	pthread_mutex_lock(&mutex);
	int result = pthread_cond_timedwait(&condition, &mutex, &until);
	printf("condition, %s: %s, the clock is %s\n", name, result == ETIMEDOUT ? "timed out" : "woken", now(clock) - before < WAIT_NS ? "too early" : "on");
}

static void timer(int flags, const char *name)
{
	struct itimerspec spec = {.it_value = {0, (long)WAIT_NS}};
	uint64_t expirations = 0;
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	if (flags)
		spec.it_value = later(CLOCK_MONOTONIC, WAIT_NS);
	timerfd_settime(fd, flags, &spec, NULL);
	if (read(fd, &expirations, sizeof expirations) != sizeof expirations)
		expirations = 0;
	printf("timer, %s: %lu\n", name, expirations);
	close(fd);
}

static void clocks(void)
{
	unsigned aux = 7;
	uint64_t first = __builtin_ia32_rdtsc(), second = __builtin_ia32_rdtscp(&aux);
	struct timeval tv;
	struct rusage usage;
	printf("stamps %lu %lu processor %u\n", first, second, aux);
	printf("monotonic %lu real %lu\n", now(CLOCK_MONOTONIC), now(CLOCK_REALTIME));
	printf("processor's %lu thread's %lu\n", now(CLOCK_PROCESS_CPUTIME_ID), now(CLOCK_THREAD_CPUTIME_ID));
	gettimeofday(&tv, NULL);
	printf("day %ld.%06ld time %ld\n", (long)tv.tv_sec, (long)tv.tv_usec, (long)time(NULL));
	getrusage(RUSAGE_SELF, &usage);
	printf("used %ld.%06ld, %ld KiB, %ld faults\n", (long)usage.ru_utime.tv_sec, (long)usage.ru_utime.tv_usec, usage.ru_maxrss, usage.ru_minflt);
	uint64_t before = now(CLOCK_MONOTONIC);
	struct timespec wait = {0, (long)WAIT_NS}, until = later(CLOCK_MONOTONIC, 2 * WAIT_NS);
	nanosleep(&wait, NULL);
	printf("slept %lu\n", now(CLOCK_MONOTONIC) - before);
	int left = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	printf("slept on %d until %lu\n", left, now(CLOCK_MONOTONIC) - before);
	times_out(CLOCK_MONOTONIC, "monotonic");
	times_out(CLOCK_REALTIME, "real");
	timer(0, "in a while");
	timer(TFD_TIMER_ABSTIME, "at a moment");
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	const ucontext_t *c = context;
	const uint32_t *software = (const uint32_t *)((const char *)c->uc_mcontext.fpregs + 464);
	(void)number, (void)info;
	printf("frame %u components %x\n", software[4], software[2]);
}

static void state(void)
{
	static uint8_t area[8192] __attribute__((aligned(64)));
	unsigned a, bytes = 512, c, d, beyond = 0;
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	if (has_xsave()) {
		__cpuid_count(STATE, 0, a, bytes, c, d);
		memset(area, 0xaa, sizeof area);
		memset(area + 512, 0, 64);
		__asm__ volatile("xsave %0" : "+m"(area) : "a"(-1), "d"(-1) : "memory");
		for (unsigned i = bytes; i < sizeof area; i++)
			beyond += area[i] != 0xaa;
		printf("saved %u bytes, header %x, beyond them %u\n", bytes, area[512], beyond);
		__asm__ volatile("xrstor %0" : : "m"(area), "a"(-1), "d"(-1));
	}
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

static void *thread(void *arg)
{
	uint64_t number;
	(void)arg;
	__asm__ volatile("rdrand %0" : "=r"(number) : : "cc");
	leaf(FEATURES, 0);
	printf("thread %016lx\n", number);
	return NULL;
}

static void children(char *self)
{
	pthread_t t;
	setbuf(stdout, NULL);
	for (int i = 0; i < 2; i++) {
		if (fork() == 0) {
			thread(NULL);
			_exit(0);
		}
		wait(NULL);
	}
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	execl(self, self, "cpu", "chance", "time", "state", (char *)NULL);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "cpu"))
			cpu();
		else if (!strcmp(argv[i], "chance"))
			chance();
		else if (!strcmp(argv[i], "time"))
			clocks();
		else if (!strcmp(argv[i], "state"))
			state();
		else
			children(argv[0]);
	}
	return 0;
}
