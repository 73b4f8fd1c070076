/* What machine this is, from sources that cost next to nothing: uname(2), CPUID where there is one, a few small
 * files of sysfs, and only on other architectures the first kilobytes of /proc/cpuinfo. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "base/str.h"
#include "measure/measure.h"

/* The first line of a small file, trimmed; false when there is none. */
static bool first_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	bool got = fgets(line, size, file) != NULL;
	fclose(file);
	if (!got)
		return false;
	char *text = str_trim(line);
	memmove(line, text, strlen(text) + 1);
	return line[0] != '\0';
}

#if defined(__x86_64__) || defined(__i386__)
static void cpu_name(char *name, size_t size)
{
	unsigned words[12] = {0};
	char brand[sizeof words + 1];
	if ((unsigned)__get_cpuid_max(0x80000000u, NULL) < 0x80000004u) {
		snprintf(name, size, "x86 without a name");
		return;
	}
	for (unsigned i = 0; i < 3; i++)
		__get_cpuid(0x80000002u + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
			    &words[4 * i + 3]);
	memcpy(brand, words, sizeof words);
	brand[sizeof words] = '\0';
	str_escape_to(name, size, str_trim(brand));
}

static void hypervisor_name(char *name, size_t size)
{
	static const struct {
		const char *signature, *name;
	} known[] = {
		{"KVMKVMKVM", "KVM"},           {"Microsoft Hv", "Hyper-V"},   {"VMwareVMware", "VMware"},
		{"XenVMMXenVMM", "Xen"},        {"TCGTCGTCGTCG", "QEMU"},      {"bhyve bhyve ", "bhyve"},
		{"VBoxVBoxVBox", "VirtualBox"}, {"prl hyperv  ", "Parallels"}, {" lrpepyh  vr", "Parallels"},
	};
	unsigned a, b, c, d;
	char signature[13] = {0};
	name[0] = '\0';
	/* leaf 1, ECX bit 31: kept clear by processors, set by hypervisors; their leaves begin at 0x40000000 */
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 31)))
		return;
	__cpuid(0x40000000u, a, b, c, d);
	memcpy(signature, &b, 4);
	memcpy(signature + 4, &c, 4);
	memcpy(signature + 8, &d, 4);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (strcmp(signature, known[i].signature) == 0) {
			snprintf(name, size, "%s", known[i].name);
			return;
		}
	}
	if (signature[0])
		str_escape_to(name, size, signature);
	else
		snprintf(name, size, "unknown");
}
#else
static bool cpuinfo_value(const char *text, const char *key, char *value, size_t size)
{
	const char *at = text;
	size_t length = strlen(key);
	while (at && strncmp(at, key, length) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	const char *colon = at ? strchr(at, ':') : NULL;
	if (!colon)
		return false;
	char line[128];
	snprintf(line, sizeof line, "%.*s", (int)strcspn(colon + 1, "\n"), colon + 1);
	str_escape_to(value, size, str_trim(line));
	return true;
}

static void cpu_name(char *name, size_t size)
{
	char text[4096] = {0}, implementer[32] = "?", part[32] = "?";
	FILE *file = fopen("/proc/cpuinfo", "re");
	if (file) {
		text[fread(text, 1, sizeof text - 1, file)] = '\0';
		fclose(file);
	}
	if (cpuinfo_value(text, "model name", name, size) || cpuinfo_value(text, "cpu model", name, size) ||
	    cpuinfo_value(text, "cpu\t", name, size))
		return;
	bool arm = cpuinfo_value(text, "CPU implementer", implementer, sizeof implementer);
	arm = cpuinfo_value(text, "CPU part", part, sizeof part) || arm;
	if (arm)
		snprintf(name, size, "Arm implementer %s part %s", implementer, part);
	else
		snprintf(name, size, "unknown");
}

static void hypervisor_name(char *name, size_t size)
{
	char line[128];
	name[0] = '\0';
	if (first_line("/sys/hypervisor/type", line, sizeof line) ||
	    first_line("/proc/device-tree/hypervisor/compatible", line, sizeof line))
		str_escape_to(name, size, line);
}
#endif

double measure_clock_mhz(void)
{
	char line[256];
	double mhz = 0;
	FILE *file = fopen("/proc/cpuinfo", "re");
	while (file && mhz <= 0 && fgets(line, sizeof line, file)) {
		const char *colon = strncmp(line, "cpu MHz", 7) == 0 ? strchr(line, ':') : NULL;
		mhz = colon ? strtod(colon + 1, NULL) : 0;
	}
	if (file)
		fclose(file);
	return mhz > 0 ? mhz : 0;
}

/* "0-3,8" has 5. */
static int cpus_in_list(const char *list)
{
	int cpus = 0;
	while (*list >= '0' && *list <= '9') {
		char *end;
		long first = strtol(list, &end, 10), last = first;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		cpus += (int)(last - first + 1);
		list = *end == ',' ? end + 1 : end;
	}
	return cpus;
}

static int compare_names(const void *a, const void *b) { return strcmp(a, b); }

/* A core PMU is named cpu, or lists the CPUs that it belongs to in a file "cpus" (hybrid x86, Arm). Devices of a
 * package have "cpumask" instead. */
static void pmu_names(char *names, size_t size)
{
	static const char root[] = "/sys/bus/event_source/devices";
	char found[8][64];
	size_t count = 0;
	DIR *directory = opendir(root);
	for (struct dirent *entry; directory && (entry = readdir(directory)) && count < 8;) {
		char path[sizeof root + sizeof entry->d_name + 8];
		snprintf(path, sizeof path, "%s/%s/cpus", root, entry->d_name);
		if (entry->d_name[0] == '.' || (strcmp(entry->d_name, "cpu") != 0 && access(path, F_OK) != 0))
			continue;
		str_escape_to(found[count++], sizeof found[0], entry->d_name);
	}
	if (directory)
		closedir(directory);
	qsort(found, count, sizeof found[0], compare_names);
	snprintf(names, size, "%s", count ? found[0] : "none");
	for (size_t i = 1; i < count; i++) {
		size_t used = strlen(names);
		snprintf(names + used, size - used, ", %s", found[i]);
	}
}

bool measure_machine_facts(struct arena *arena, struct machine_facts *facts)
{
	struct utsname names = {
		.sysname = "unknown", .nodename = "unknown", .release = "unknown", .machine = "unknown"};
	char text[512];
	*facts = (struct machine_facts){0};
	uname(&names); /* a seccomp filter may refuse it */
	facts->kernel = arena_printf(arena, "%s %s", names.sysname, names.release);
	facts->hostname = arena_strdup(arena, names.nodename);
	facts->architecture = arena_strdup(arena, names.machine);
	cpu_name(text, sizeof text);
	facts->cpu = arena_strdup(arena, text);
	hypervisor_name(text, sizeof text);
	facts->hypervisor = arena_strdup(arena, text);
	pmu_names(text, sizeof text);
	facts->pmu = arena_strdup(arena, text);
	facts->cpus = first_line("/sys/devices/system/cpu/online", text, sizeof text) ? cpus_in_list(text) : 0;
	if (facts->cpus == 0)
		facts->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	return facts->kernel && facts->hostname && facts->architecture && facts->cpu && facts->hypervisor &&
	       facts->pmu;
}
