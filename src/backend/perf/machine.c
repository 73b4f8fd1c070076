/* What perf_event_open(2)'s answers depend on, looked up when an answer has to be explained. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "backend/perf/counter/pmu.h"
#include "backend/perf/state.h"
#include "base/str.h"

/* The number in a file of one number. */
static bool read_number(const char *path, long *number)
{
	FILE *file = fopen(path, "re");
	bool got = file && fscanf(file, "%ld", number) == 1;
	if (file)
		fclose(file);
	return got;
}

/* linux/capability.h */
enum { CAPABILITY_SYS_ADMIN = 21, CAPABILITY_PERFMON = 38 };

/* Capabilities in another user namespace than the first do not count for perf (perfmon_capable()); the first one
 * maps every id to itself. */
static bool initial_user_namespace(void)
{
	unsigned long inside = 1, outside = 1, length = 0;
	FILE *file = fopen("/proc/self/uid_map", "re");
	if (!file)
		return true; /* a kernel without user namespaces */
	int got = fscanf(file, "%lu %lu %lu", &inside, &outside, &length);
	fclose(file);
	return got == 3 && inside == 0 && outside == 0 && length == UINT_MAX;
}

static void read_status(struct machine_state *s)
{
	char line[256];
	unsigned long long effective = 0;
	int seccomp = 0;
	FILE *file = fopen("/proc/self/status", "re");
	while (file && fgets(line, sizeof line, file)) {
		sscanf(line, "CapEff: %llx", &effective);
		sscanf(line, "Seccomp: %d", &seccomp);
	}
	if (file)
		fclose(file);
	bool capable = effective >> CAPABILITY_SYS_ADMIN & 1 || effective >> CAPABILITY_PERFMON & 1;
	s->privileged = capable && initial_user_namespace();
	s->seccomp = seccomp == 2; /* SECCOMP_MODE_FILTER */
}

static bool in_container(void)
{
	static const char *const signs[] = {"/.dockerenv", "/run/.containerenv", "/run/systemd/container"};
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (access(signs[i], F_OK) == 0)
			return true;
	return false;
}

#if defined(__x86_64__) || defined(__i386__)
static void find_hypervisor(char *name, size_t size)
{
	static const char *const known[][2] = {
		{"KVMKVMKVM", "KVM"},    {"Microsoft Hv", "Hyper-V"}, {"VMwareVMware", "VMware"},
		{"XenVMMXenVMM", "Xen"}, {"TCGTCGTCGTCG", "QEMU"},    {"VBoxVBoxVBox", "VirtualBox"},
	};
	unsigned a, b, c, d;
	char signature[13] = {0};
	/* leaf 1, ECX bit 31: clear on processors, set by hypervisors, whose leaves begin at 0x40000000 */
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 31)))
		return;
	__cpuid(0x40000000u, a, b, c, d);
	memcpy(signature, &b, 4);
	memcpy(signature + 4, &c, 4);
	memcpy(signature + 8, &d, 4);
	snprintf(name, size, "unknown");
	if (signature[0])
		str_escape_to(name, size, signature);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(signature, known[i][0]) == 0)
			snprintf(name, size, "%s", known[i][1]);
}
#else
/* No instruction tells; Xen and the device tree's hypervisor node do, and the firmware's tables name QEMU. */
static void find_hypervisor(char *name, size_t size)
{
	static const char *const files[] = {"/sys/hypervisor/type", "/proc/device-tree/hypervisor/compatible",
					    "/sys/class/dmi/id/sys_vendor"};
	static const char *const vendors[] = {"QEMU", "Amazon EC2", "Microsoft Corporation", "Google", "VMware"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char line[64] = "";
		FILE *file = fopen(files[i], "re");
		if (!file)
			continue;
		bool got = fgets(line, sizeof line, file) != NULL;
		fclose(file);
		bool hint = i < 2;
		for (size_t v = 0; v < sizeof vendors / sizeof *vendors; v++)
			hint = hint || strncmp(line, vendors[v], strlen(vendors[v])) == 0;
		if (got && hint) {
			str_escape_to(name, size, str_trim(line));
			return;
		}
	}
}
#endif

const struct core_kinds *core_kinds(struct backend *backend)
{
	if (!backend->cores_known)
		backend->cores.n = pmu_cores(backend->machine.sysfs_root, backend->cores.pmus, CORE_KINDS_MOST);
	backend->cores_known = true;
	return &backend->cores;
}

const struct machine_state *machine_state(struct backend *backend)
{
	struct machine_state *s = &backend->state;
	struct rlimit files;
	long number;
	if (backend->state_known)
		return s;
	backend->state_known = true;
	s->has_perf = read_number("/proc/sys/kernel/perf_event_paranoid", &number);
	s->paranoid = s->has_perf ? (int)number : 0;
	s->watchdog = read_number("/proc/sys/kernel/nmi_watchdog", &number) && number == 1;
	s->mlock_kilobytes = read_number("/proc/sys/kernel/perf_event_mlock_kb", &number) ? number : -1;
	s->root = geteuid() == 0;
	s->container = in_container();
	s->open_files = getrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_max : 0;
	read_status(s);
	if (core_kinds(backend)->n)
		snprintf(s->core_pmu, sizeof s->core_pmu, "%s", backend->cores.pmus[0].name);
	find_hypervisor(s->hypervisor, sizeof s->hypervisor);
	return s;
}
