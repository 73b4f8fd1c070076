/* The guest's PMU itself, without tare: whether perf_event_open(2) counts a loop whose instructions are known by
 * hand.
 *
 * Everything else in tests/vm rests on this. On a machine without a PMU the tests are skipped, in the guest they
 * fail. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"
#include "vm/most_common.h"

static int open_counter(uint64_t config, bool user, bool kernel)
{
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = PERF_TYPE_HARDWARE,
		.config = config,
		.disabled = 1,
		.exclude_user = !user,
		.exclude_kernel = !kernel,
		.exclude_hv = 1,
	};
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Exactly 2n instructions: n × (subtract, branch). */
static void loop(uint64_t n)
{
#if defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#else
	__asm__ volatile("1: sub $1, %0\n\tjnz 1b" : "+r"(n) : : "cc");
#endif
}

static uint64_t count_loop(int fd, uint64_t n)
{
	uint64_t value = 0;
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	loop(n);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (read(fd, &value, sizeof value) != sizeof value)
		return UINT64_MAX;
	return value;
}

/* Samples of a loop of 2n instructions, one every period cycles: as the ring buffer has them, -1 when there is
 * none. */
static long samples_of_loop(uint64_t config, uint64_t period, uint64_t n)
{
	enum { DATA_PAGES = 64 };
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = PERF_TYPE_HARDWARE,
		.config = config,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (1 + DATA_PAGES) * page;
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -1;
	struct perf_event_mmap_page *head = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	long samples = -1;
	if (head != MAP_FAILED) {
		const char *data = (const char *)head + page;
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		loop(n);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		samples = 0;
		for (uint64_t at = 0; at < head->data_head;) {
			/* records are multiples of 8 bytes: a header never wraps */
			struct perf_event_header record;
			memcpy(&record, data + at % (DATA_PAGES * page), sizeof record);
			samples += record.type == PERF_RECORD_SAMPLE;
			at += record.size;
		}
		munmap(head, bytes);
	}
	close(fd);
	return samples;
}

int main(void)
{
	int user = open_counter(PERF_COUNT_HW_INSTRUCTIONS, true, false);
	if (user < 0 && !getenv("TARE_IN_GUEST")) {
		skip(strerror(errno), "a loop's instructions are counted");
		return done();
	}
	ok(user >= 0, "instructions can be opened (%s)", user < 0 ? strerror(errno) : "yes");
	enum { ROUNDS = 101, ONCE = 20000 };
	uint64_t once[ROUNDS], twice[ROUNDS], equal = 0;
	for (int i = 0; i < ROUNDS; i++) {
		once[i] = count_loop(user, ONCE);
		twice[i] = count_loop(user, 2 * ONCE);
		equal += twice[i] - once[i] == 2 * ONCE;
	}
	printf("# as many iterations again: in %" PRIu64 " of %d rounds exactly as many instructions\n", equal, ROUNDS);
	equal_u64(most_common(twice, ROUNDS) - most_common(once, ROUNDS), 2 * ONCE,
		  "20,000 iterations more are exactly 40,000 instructions more");
	if (getenv("TARE_IN_GUEST"))
		ok(equal == ROUNDS && count_loop(user, 2000000) - count_loop(user, 1000000) == 2000000,
		   "in each round, and a million iterations more are two million");
	printf("# 1000 iterations: %" PRIu64 "\n", count_loop(user, 1000));
	if (!getenv("TARE_IN_GUEST"))
		return done();

	long samples = samples_of_loop(PERF_COUNT_HW_CPU_CYCLES, 10000, 10000000);
	ok(samples >= 1990 && samples <= 2000,
	   "20 million cycles sampled every 10,000 are 2000 samples, or a few less (%ld)", samples);
	printf("# of instructions, whose overflow this qemu does not signal: %ld\n",
	       samples_of_loop(PERF_COUNT_HW_INSTRUCTIONS, 10000, 10000000));
	return done();
}
