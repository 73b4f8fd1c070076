#include "backend/perf/counter/counter.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int counter_open(const struct counter_request *request, pid_t task, int cpu)
{
	const struct event_encoding *encoding = request->encoding;
	bool one_level = request->levels != (LEVEL_USER | LEVEL_KERNEL);
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = encoding->type,
		.config = encoding->config,
		.config1 = encoding->config1,
		.config2 = encoding->config2,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			       (request->grouped ? PERF_FORMAT_GROUP : 0),
		/* a member counts when its leader does */
		.disabled = !(request->grouped && request->leader >= 0),
		.inherit = request->heirs != HEIRS_NONE,
		.inherit_thread = request->heirs == HEIRS_THREADS,
		.enable_on_exec = request->begin_at_exec,
		.exclude_user = !(request->levels & LEVEL_USER),
		.exclude_kernel = !(request->levels & LEVEL_KERNEL),
		/* a hypervisor is neither level. PMUs that know no levels refuse any of these bits, so that
		 * without a wish for one level none is set. */
		.exclude_hv = one_level,
	};
	int leader = request->grouped ? request->leader : -1;
	unsigned long flags = PERF_FLAG_FD_CLOEXEC | (request->of_cgroup ? PERF_FLAG_PID_CGROUP : 0);
#if defined(__aarch64__)
	/* of the core PMUs alone: "rdpmc" in their sysfs folder's format (Linux, Documentation/arm64/perf.rst) */
	const uint64_t ask_for_user_read = 1 << 1;
	if (request->user_read && !(attr.config1 & ask_for_user_read)) {
		attr.config1 |= ask_for_user_read;
		int fd = (int)syscall(SYS_perf_event_open, &attr, task, cpu, leader, flags);
		if (fd >= 0 || (errno != EINVAL && errno != EOPNOTSUPP))
			return fd;
		attr.config1 &= ~ask_for_user_read;
	}
#endif
	return (int)syscall(SYS_perf_event_open, &attr, task, cpu, leader, flags);
}

bool counter_enable(int fd) { return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0; }

bool counter_disable(int fd) { return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) == 0; }

bool counter_read(int fd, struct counter_values *out)
{
	uint64_t values[3];
	ssize_t got;
	while ((got = read(fd, values, sizeof values)) < 0 && errno == EINTR)
		;
	if (got != sizeof values) {
		if (got >= 0)
			errno = 0;
		return false;
	}
	*out = (struct counter_values){values[0], values[1], values[2]};
	return true;
}

/* Descriptors that tare itself holds beside the counters. */
static const rlim_t OTHER_DESCRIPTORS = 64;

void limit_raise(struct descriptor_limit *limit, size_t n)
{
	struct rlimit now;
	*limit = (struct descriptor_limit){0};
	if (getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur == RLIM_INFINITY)
		return;
	rlim_t wanted = n + OTHER_DESCRIPTORS;
	if (wanted <= now.rlim_cur)
		return;
	struct rlimit raised = {.rlim_cur = wanted, .rlim_max = now.rlim_max};
	if (wanted > now.rlim_max)
		raised.rlim_max = wanted;
	if (setrlimit(RLIMIT_NOFILE, &raised) != 0) {
		/* beyond the hard limit only CAP_SYS_RESOURCE gets */
		raised = (struct rlimit){.rlim_cur = now.rlim_max, .rlim_max = now.rlim_max};
		if (now.rlim_cur == now.rlim_max || setrlimit(RLIMIT_NOFILE, &raised) != 0)
			return;
	}
	*limit = (struct descriptor_limit){.raised = true, .soft = now.rlim_cur, .hard = now.rlim_max};
}

void limit_restore(const struct descriptor_limit *limit)
{
	struct rlimit before = {.rlim_cur = limit->soft, .rlim_max = limit->hard};
	if (limit->raised)
		setrlimit(RLIMIT_NOFILE, &before);
}
