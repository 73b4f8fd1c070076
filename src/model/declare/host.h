/*
 * This machine as the text of a machine file, with what each value was read from as its source: CPUID (leaves 4,
 * 0x18, 0x8000001D, 0x80000005/6, 0x80000019), or else /sys/devices/system/cpu/cpu0/cache. No privilege. It
 * extends data/machines/host.conf, which holds what neither says (replacement, prefetchers, branch prediction).
 * Under a hypervisor it is what the hypervisor shows, and says so.
 */
#ifndef TARE_MODEL_DECLARE_HOST_H
#define TARE_MODEL_DECLARE_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct host_registers {
	uint32_t eax, ebx, ecx, edx;
};

/* What is asked; a test hands in recorded answers. */
struct host_probe {
	struct host_registers (*cpuid)(void *context, uint32_t leaf,
				       uint32_t subleaf); /* NULL: no CPUID on this architecture */
	void *context;
	const char *cache_folder; /* of sysfs */
	unsigned cores;           /* CPUs that are on line */
};

void host_probe_here(struct host_probe *probe);

/* Appends the text. False with ERROR_UNSUPPORTED when the machine says nothing of its caches. */
bool host_write_conf(const struct host_probe *probe, struct str *text, struct error *err);

#endif
