#include "backend/perf/counter/failure.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

static struct failure because(enum error_code code, const char *why, const char *step)
{
	struct failure failure = {.code = code};
	snprintf(failure.why, sizeof failure.why, "%s", why);
	snprintf(failure.step, sizeof failure.step, "%s", step);
	return failure;
}

static bool is_hardware(const struct attempt *a)
{
	return a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE || a->type == PERF_TYPE_RAW;
}

/* ---- permission ---- */

static struct failure by_security_module(void)
{
	return because(ERROR_PERMISSION, "not allowed: a security module (SELinux, AppArmor, ...) forbids it",
		       "look for the refusal in the kernel's audit log: journalctl -k");
}

/* perf_allow_kernel(), perf_allow_cpu() and the ptrace check of perf_event_open(2), in the order of their reach.
 */
static struct failure no_access(const struct attempt *a, const struct machine_state *m)
{
	char why[256];
	int used = snprintf(why, sizeof why, "not allowed: kernel.perf_event_paranoid is %d", m->paranoid);
	size_t left = sizeof why - (size_t)used;
	if (m->privileged || !m->has_perf)
		return by_security_module();
	/* an addition of Debian, Ubuntu and Android: above 2, nothing is allowed */
	if (m->paranoid > 2)
		return because(ERROR_PERMISSION, why,
			       "as root: sysctl kernel.perf_event_paranoid=2 (allows counting your own programs "
			       "at user level; 1 also allows the kernel's part)");
	if (a->task < 0 && m->paranoid > 0) {
		snprintf(why + used, left, ", and counting whole CPUs takes 0 or less");
		return because(ERROR_PERMISSION, why, "as root: sysctl kernel.perf_event_paranoid=0");
	}
	if ((a->levels & LEVEL_KERNEL) && m->paranoid > 1) {
		snprintf(why + used, left, ", and counting the kernel's part takes 1 or less");
		return because(ERROR_PERMISSION, why,
			       "count user level only (':u'), or as root: sysctl kernel.perf_event_paranoid=1");
	}
	if (a->task > 0)
		return because(ERROR_PERMISSION, "not allowed: it belongs to another user, or may not be traced",
			       "run tare as that user, or as root");
	return by_security_module();
}

static struct failure not_permitted(const struct attempt *a, const struct machine_state *m)
{
	if (m->seccomp && m->container)
		return because(
			ERROR_PERMISSION, "not allowed: the container's seccomp filter forbids perf_event_open",
			"start the container with '--cap-add PERFMON', or with a seccomp profile that allows "
			"perf_event_open");
	if (m->seccomp)
		return because(ERROR_PERMISSION, "not allowed: a seccomp filter forbids perf_event_open",
			       "start tare outside of the sandbox, or allow perf_event_open in its filter");
	if (m->privileged)
		return because(ERROR_PERMISSION,
			       "not allowed: the kernel is locked down (see /sys/kernel/security/lockdown)",
			       "start the kernel without lockdown=confidentiality");
	if (m->container)
		return because(ERROR_PERMISSION, "not allowed in this container",
			       "start the container with '--cap-add PERFMON'");
	return no_access(a, m);
}

static struct failure memory_limit(const struct machine_state *m)
{
	char why[256];
	snprintf(why, sizeof why, "its buffer is larger than the limit of locked memory and ");
	size_t used = strlen(why);
	if (m->mlock_kilobytes >= 0)
		snprintf(why + used, sizeof why - used, "kernel.perf_event_mlock_kb (%ld)", m->mlock_kilobytes);
	else
		snprintf(why + used, sizeof why - used, "kernel.perf_event_mlock_kb");
	return because(ERROR_LIMIT, why,
		       "raise the limit with 'ulimit -l', or as root: sysctl "
		       "kernel.perf_event_mlock_kb=4096");
}

/* ---- what the machine has not ---- */

static struct failure no_hardware(const struct machine_state *m)
{
	char why[256];
	if (!m->hypervisor[0])
		return because(ERROR_UNSUPPORTED, "this machine has no hardware counters that the kernel knows",
			       "look for the PMU's driver in the kernel's messages: dmesg | grep -i pmu");
	snprintf(why, sizeof why,
		 "this machine has no hardware counters: the hypervisor (%s) shows none to its guests",
		 m->hypervisor);
	return because(
		ERROR_UNSUPPORTED, why,
		"let the hypervisor give the guest a PMU (QEMU: -cpu host,pmu=on), or use a machine type that "
		"has one");
}

static struct failure no_event(const struct attempt *a, const struct machine_state *m)
{
	char why[256];
	if (a->type == PERF_TYPE_TRACEPOINT)
		return because(ERROR_UNSUPPORTED, "this kernel has no such tracepoint", "");
	if (!is_hardware(a))
		return because(ERROR_UNSUPPORTED, "this kernel has no such event", "");
	if (!m->core_pmu[0])
		return no_hardware(m);
	snprintf(why, sizeof why, "the PMU '%s' of this CPU cannot count it", m->core_pmu);
	return because(ERROR_UNSUPPORTED, why, "see what it can count: tare list events");
}

static struct failure not_offered(const struct attempt *a, const struct machine_state *m)
{
	if (is_hardware(a) && !m->core_pmu[0])
		return no_hardware(m);
	return because(ERROR_UNSUPPORTED, "the driver of its PMU does not offer it",
		       "see what works here: tare doctor");
}

static struct failure invalid(const struct attempt *a)
{
	if (a->of_cgroup)
		return because(ERROR_UNSUPPORTED,
			       "its PMU, or this kernel, does not count control groups (CONFIG_CGROUP_PERF)",
			       "count everything (-a), or the group's processes (-p)");
	if (a->levels != (LEVEL_USER | LEVEL_KERNEL) && a->type >= PERF_TYPE_MAX)
		return because(ERROR_UNSUPPORTED, "its PMU does not tell user level from kernel level",
			       "ask for it without ':u' or ':k'");
	if (a->type >= PERF_TYPE_MAX && a->task >= 0)
		return because(ERROR_UNSUPPORTED,
			       "its PMU does not accept it for a program: its code may be wrong, or only whole "
			       "CPUs can be "
			       "counted",
			       "check its terms in /sys/bus/event_source/devices, or count CPUs: -a");
	if (a->threads_only)
		return because(
			ERROR_UNSUPPORTED,
			"this kernel cannot count threads without child processes (since Linux 5.13 it can)",
			"count the children: leave out --no-children");
	return because(ERROR_UNSUPPORTED, "its PMU does not accept this code", "");
}

/* ---- what is used up ---- */

static struct failure busy(const struct machine_state *m)
{
	if (m->watchdog)
		return because(ERROR_BUSY, "the counters are taken, one of them by the kernel's NMI watchdog",
			       "as root: sysctl kernel.nmi_watchdog=0");
	return because(ERROR_BUSY, "something else uses the counters",
		       "stop what else uses the counters (another profiler, or a hypervisor that uses the PMU)");
}

static struct failure too_many_files(const struct attempt *a, const struct machine_state *m)
{
	char why[256], step[256];
	snprintf(why, sizeof why, "%zu counters are needed at once, and %llu open files are allowed", a->counters,
		 (unsigned long long)m->open_files);
	snprintf(step, sizeof step,
		 "raise the limit with 'ulimit -Hn %zu' as root, or count fewer events, threads or CPUs",
		 a->counters + 64);
	return because(ERROR_LIMIT, why, step);
}

static struct failure no_system_call(const struct machine_state *m)
{
	if (m->container || m->seccomp)
		return because(ERROR_UNSUPPORTED, "perf_event_open does not exist in this container or sandbox",
			       "start it with a seccomp profile that allows perf_event_open");
	return because(ERROR_UNSUPPORTED, "this kernel was built without CONFIG_PERF_EVENTS",
		       "use a kernel that has it; those of the distributions do");
}

static struct failure no_device(const struct attempt *a)
{
	char why[256];
	if (a->cpu < 0)
		return because(ERROR_UNSUPPORTED, "the device that counts it does not exist", "");
	snprintf(why, sizeof why, "CPU %d does not exist, is offline, or lacks this PMU", a->cpu);
	return because(ERROR_UNSUPPORTED, why, "see /sys/devices/system/cpu/online");
}

struct failure failure_of(int os_errno, const struct attempt *a, const struct machine_state *m)
{
	char text[128], why[256];
	switch (os_errno) {
	case EACCES: return no_access(a, m);
	case EPERM: return a->action == COUNTER_MMAP ? memory_limit(m) : not_permitted(a, m);
	case ENOENT: return no_event(a, m);
	case EOPNOTSUPP: return not_offered(a, m);
	case EINVAL: return invalid(a);
	case EBUSY: return busy(m);
	case EMFILE: return too_many_files(a, m);
	case ENFILE:
		return because(ERROR_LIMIT, "the whole system has too many open files",
			       "as root, raise the limit: sysctl fs.file-max");
	case ENOMEM:
		return because(ERROR_NO_MEMORY, "the kernel has no memory for it", "count fewer events at once");
	case ENOSPC:
		return because(ERROR_BUSY, "the CPU has no free place for it (debug registers are few)",
			       "end the debugger or tracer that holds them");
	case ENOSYS: return no_system_call(m);
	case ESRCH:
		return because(ERROR_NOT_FOUND,
			       a->task > 0 ? "it has ended, or was never there" : "the program has ended", "");
	case ENODEV: return no_device(a);
	case E2BIG:
		return because(ERROR_UNSUPPORTED, "this kernel is older than the interface that it needs",
			       "use a newer kernel");
	case EINTR:
		return because(ERROR_BUSY,
			       "the kernel was interrupted while it prepared it (another tracer is at work)",
			       "try again");
	default: break;
	}
	snprintf(why, sizeof why, "%s (errno %d)", strerror_r(os_errno, text, sizeof text), os_errno);
	return because(ERROR_SYSTEM, why, "");
}

bool failure_explain(int os_errno, const struct attempt *a, const struct machine_state *machine, struct error *err)
{
	struct failure failure = failure_of(os_errno, a, machine);
	char where[64] = "";
	if (a->task < 0)
		snprintf(where, sizeof where, " on CPU %d", a->cpu);
	else if (a->task > 0)
		snprintf(where, sizeof where, " of thread %d", (int)a->task);
	error_set(err, failure.code, "cannot %s counter '%.80s'%s: %s",
		  a->action == COUNTER_MMAP   ? "map"
		  : a->action == COUNTER_READ ? "read"
					      : "open",
		  a->event, where, failure.why);
	if (err)
		err->os_errno = os_errno;
	if (failure.step[0])
		error_hint(err, "%s", failure.step);
	return false;
}

enum reading_state failure_state(enum error_code code)
{
	return code == ERROR_PERMISSION    ? READING_DENIED
	       : code == ERROR_UNSUPPORTED ? READING_UNSUPPORTED
					   : READING_FAILED;
}
