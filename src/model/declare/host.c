/*
 * Sources: Intel SDM vol. 2A, CPUID leaves 04H and 18H; AMD APM vol. 3, appendix E (Fn8000_0005, _0006, _001D);
 * Linux Documentation/ABI/testing/sysfs-devices-system-cpu for the rest.
 */
#include "model/declare/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "base/file.h"
#include "model/core/machine.h"

enum { DATA = 1, INSTRUCTIONS = 2, UNIFIED = 3 }; /* as CPUID codes them */

struct seen_cache {
	unsigned level, type, shared_by; /* hardware threads */
	unsigned long long size;
	unsigned ways, line;
	bool inclusive;
	bool ways_unknown;
	char source[80];
};

struct seen_tlb {
	char name[8];
	unsigned entries, ways; /* ways 0: full */
	unsigned page;          /* bytes; 0: any */
	char source[80];
};

struct seen {
	struct seen_cache caches[MACHINE_CACHES];
	size_t n_caches;
	struct seen_tlb tlbs[MACHINE_TLBS];
	size_t n_tlbs;
	unsigned threads_per_core;
	char vendor[13], brand[49], hypervisor[13];
	unsigned cpu_family, cpu_model;
	bool is_guest;
};

/* ---- CPUID ---- */

static struct host_registers ask(const struct host_probe *probe, uint32_t leaf, uint32_t subleaf)
{
	/* beyond the highest leaf Intel's CPUs answer as if the highest had been asked */
	struct host_registers limit = probe->cpuid(probe->context, leaf & 0x80000000, 0);
	if ((leaf & 0x80000000) != (limit.eax & 0x80000000) || leaf > limit.eax)
		return (struct host_registers){0};
	return probe->cpuid(probe->context, leaf, subleaf);
}

static void put_registers(char *text, uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t parts[] = {a, b, c};
	memcpy(text, parts, sizeof parts);
	text[sizeof parts] = '\0';
	/* it goes into a line of a text file */
	for (char *at = text; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = ' ';
}

/* What hypervisors call themselves, and what people call them. */
static const char *hypervisor_name(const char *signature)
{
	static const char *const names[][2] = {
		{"KVMKVMKVM", "KVM"},    {"VMwareVMware", "VMware"}, {"Microsoft Hv", "Hyper-V"},
		{"XenVMMXenVMM", "Xen"}, {"TCGTCGTCGTCG", "QEMU"},   {"ACRNACRNACRN", "ACRN"},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i][0], signature) == 0)
			return names[i][1];
	return *signature ? signature : "its hypervisor";
}

static void see_names(const struct host_probe *probe, struct seen *seen)
{
	struct host_registers r = probe->cpuid(probe->context, 0, 0);
	put_registers(seen->vendor, r.ebx, r.edx, r.ecx);
	for (uint32_t i = 0; i < 3; i++) {
		r = ask(probe, 0x80000002 + i, 0);
		char part[17];
		put_registers(part, r.eax, r.ebx, r.ecx);
		size_t used = strlen(seen->brand);
		snprintf(seen->brand + used, sizeof seen->brand - used, "%s", part);
		uint32_t last[1] = {r.edx};
		char rest[5] = {0};
		memcpy(rest, last, 4);
		for (char *at = rest; *at; at++)
			if (*at < ' ' || *at > '~')
				*at = ' ';
		used = strlen(seen->brand);
		snprintf(seen->brand + used, sizeof seen->brand - used, "%s", rest);
	}
	r = ask(probe, 1, 0);
	seen->cpu_family = (r.eax >> 8 & 15) + (r.eax >> 20 & 255);
	seen->cpu_model = (r.eax >> 4 & 15) | (r.eax >> 16 & 15) << 4;
	seen->is_guest = r.ecx >> 31;
	if (seen->is_guest) {
		/* this range has a limit of its own */
		r = probe->cpuid(probe->context, 0x40000000, 0);
		put_registers(seen->hypervisor, r.ebx, r.ecx, r.edx);
	}
	r = ask(probe, 0xb, 0);
	seen->threads_per_core = (r.ebx & 0xffff) ? r.ebx & 0xffff : 1;
}

/* Whose generic names the kernel gives this CPU: data/machines/README.md, `family`. */
static const char *counters_of(const struct seen *seen)
{
	/* those that Linux gives glc_hw_cache_event_ids: Alder Lake, Raptor Lake, Meteor Lake, Sapphire, Emerald
	 * and Granite Rapids, … */
	static const uint8_t golden_cove[] = {0x8f, 0x97, 0x9a, 0xaa, 0xac, 0xad, 0xae,
					      0xb7, 0xba, 0xbd, 0xbf, 0xc5, 0xc6, 0xcf};
	if (strcmp(seen->vendor, "AuthenticAMD") == 0 || strcmp(seen->vendor, "HygonGenuine") == 0)
		return "amd";
	if (strcmp(seen->vendor, "GenuineIntel") != 0)
		return "other";
	for (size_t i = 0; i < sizeof golden_cove; i++)
		if (seen->cpu_family == 6 && seen->cpu_model == golden_cove[i])
			return "golden-cove";
	return "intel";
}

/* Leaf 4 and Fn8000_001D have one layout. */
static void see_caches(const struct host_probe *probe, struct seen *seen)
{
	bool amd = strcmp(seen->vendor, "AuthenticAMD") == 0 || strcmp(seen->vendor, "HygonGenuine") == 0;
	uint32_t leaf = amd ? 0x8000001d : 4;
	for (uint32_t i = 0; i < 16 && seen->n_caches < MACHINE_CACHES; i++) {
		struct host_registers r = ask(probe, leaf, i);
		unsigned type = r.eax & 31;
		if (type == 0)
			break;
		if (type > UNIFIED)
			continue;
		struct seen_cache *c = &seen->caches[seen->n_caches++];
		unsigned long long sets = (unsigned long long)r.ecx + 1, partitions = (r.ebx >> 12 & 0x3ff) + 1;
		*c = (struct seen_cache){
			.level = r.eax >> 5 & 7,
			.type = type,
			.shared_by = (r.eax >> 14 & 0xfff) + 1,
			.ways = (r.ebx >> 22) + 1,
			.line = (r.ebx & 0xfff) + 1,
			.inclusive = r.edx >> 1 & 1,
		};
		c->size = sets * partitions * c->ways * c->line;
		/* fully associative caches give sets as 1, and their lines as ways */
		snprintf(c->source, sizeof c->source, "CPUID leaf %#x subleaf %u: %08x %08x %08x %08x", leaf, i,
			 r.eax, r.ebx, r.ecx, r.edx);
	}
}

static struct seen_tlb *find_tlb(struct seen *seen, const char *name)
{
	for (size_t i = 0; i < seen->n_tlbs; i++)
		if (strcmp(seen->tlbs[i].name, name) == 0)
			return &seen->tlbs[i];
	return NULL;
}

static struct seen_tlb *add_tlb(struct seen *seen, const char *name)
{
	if (find_tlb(seen, name) || seen->n_tlbs == MACHINE_TLBS)
		return NULL;
	struct seen_tlb *t = &seen->tlbs[seen->n_tlbs++];
	*t = (struct seen_tlb){0};
	snprintf(t->name, sizeof t->name, "%s", name);
	return t;
}

static void see_tlbs_intel(const struct host_probe *probe, struct seen *seen)
{
	uint32_t last = ask(probe, 0x18, 0).eax;
	for (uint32_t i = 0; i <= last && i < 32; i++) {
		struct host_registers r = ask(probe, 0x18, i);
		unsigned type = r.edx & 31, level = r.edx >> 5 & 7, pages = r.ebx & 15, ways = r.ebx >> 16;
		bool small = pages & 1, large = pages & 6;
		/* 5: stores only; the model has one data TLB, and loads are most of its accesses */
		if (type == 0 || type > 4 || ways == 0 || r.ecx == 0 || r.ecx > 1u << 14 || (!small && !large))
			continue;
		const char *name = level == 1             ? type == INSTRUCTIONS ? small ? "ITLB" : "ITLB2M"
							    : small              ? "DTLB"
										 : "DTLB2M"
				   : !small               ? NULL
				   : type == UNIFIED      ? "STLB"
				   : type == INSTRUCTIONS ? "L2ITLB"
							  : "L2DTLB";
		struct seen_tlb *before = name && level == 2 && small ? find_tlb(seen, name) : NULL;
		if (before && before->ways && before->entries / before->ways == r.ecx && !(r.edx >> 8 & 1)) {
			/* Golden Cove's second level: one half for pages of 4K and 2M, one for 4K and 1G */
			before->ways += ways;
			before->entries += ways * r.ecx;
			continue;
		}
		struct seen_tlb *t = name ? add_tlb(seen, name) : NULL;
		if (!t)
			continue;
		t->entries = ways * r.ecx;
		t->ways = r.edx >> 8 & 1 ? 0 : ways;
		t->page = small && large ? 0 : small ? 4096 : 2u << 20;
		snprintf(t->source, sizeof t->source, "CPUID leaf 0x18 subleaf %u: %08x %08x %08x %08x", i, r.eax,
			 r.ebx, r.ecx, r.edx);
	}
}

/* The associativity code of Fn8000_0006; -1: none or unknown, 0: full. */
static int coded_ways(unsigned code)
{
	static const signed char ways[16] = {-1, 1, 2, 3, 4, 6, 8, -1, 16, -1, 32, 48, 64, 96, -1, 0};
	return code == 14 ? 128 : ways[code & 15];
}

static void add_tlb_amd(struct seen *seen, const char *name, unsigned entries, int ways, unsigned page,
			const char *source)
{
	if (entries == 0 || ways < 0 || (ways > 0 && entries % (unsigned)ways))
		return;
	struct seen_tlb *t = add_tlb(seen, name);
	if (!t)
		return;
	t->entries = entries;
	t->ways = (unsigned)ways;
	t->page = page;
	snprintf(t->source, sizeof t->source, "%s", source);
}

static void see_tlbs_amd(const struct host_probe *probe, struct seen *seen)
{
	struct host_registers first = ask(probe, 0x80000005, 0), second = ask(probe, 0x80000006, 0);
	unsigned small = first.ebx, large = first.eax;
	char source[80];
	snprintf(source, sizeof source, "CPUID leaf 0x80000005: eax %08x ebx %08x", large, small);
	for (int data = 0; data < 2; data++, small >>= 16, large >>= 16) {
		unsigned ways = small >> 8 & 0xff;
		/* one array for all page sizes is reported as two of equal size */
		bool any = (small & 0xffff) == (large & 0xffff);
		add_tlb_amd(seen, data ? "DTLB" : "ITLB", small & 0xff,
			    ways == 0xff ? 0
			    : ways       ? (int)ways
					 : -1,
			    any ? 0 : 4096, source);
		ways = large >> 8 & 0xff;
		if (!any)
			add_tlb_amd(seen, data ? "DTLB2M" : "ITLB2M", large & 0xff,
				    ways == 0xff ? 0
				    : ways       ? (int)ways
						 : -1,
				    2u << 20, source);
	}
	snprintf(source, sizeof source, "CPUID leaf 0x80000006: eax %08x ebx %08x", second.eax, second.ebx);
	for (int data = 0; data < 2; data++, second.ebx >>= 16, second.eax >>= 16) {
		bool any = (second.ebx & 0xffff) == (second.eax & 0xffff);
		add_tlb_amd(seen, data ? "L2DTLB" : "L2ITLB", second.ebx & 0xfff,
			    coded_ways(second.ebx >> 12 & 15), any ? 0 : 4096, source);
	}
}

/* ---- sysfs ---- */

/* The file's text without its newline; false when it is not there. */
static bool read_line(const char *folder, unsigned index, const char *file, char *text, size_t size)
{
	char path[512];
	snprintf(path, sizeof path, "%s/index%u/%s", folder, index, file);
	char *all = file_read(path, 4096, NULL, NULL);
	if (!all)
		return false;
	snprintf(text, size, "%.*s", (int)strcspn(all, "\n"), all);
	free(all);
	return true;
}

static unsigned long long read_number(const char *folder, unsigned index, const char *file)
{
	char text[64], *end;
	if (!read_line(folder, index, file, text, sizeof text))
		return 0;
	unsigned long long value = strtoull(text, &end, 10);
	return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : value;
}

/* "0-3,8" has 5. */
static unsigned count_list(const char *list)
{
	unsigned count = 0;
	for (char *end; *list; list = *end ? end + 1 : end) {
		unsigned long low = strtoul(list, &end, 10), high = low;
		if (end == list)
			break;
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		count += high >= low && high - low < 65536 ? (unsigned)(high - low + 1) : 1;
	}
	return count ? count : 1;
}

static void see_sysfs(const char *folder, struct seen *seen)
{
	for (unsigned i = 0; i < 16 && seen->n_caches < MACHINE_CACHES; i++) {
		char type[32], shared[256];
		if (!read_line(folder, i, "type", type, sizeof type))
			continue;
		struct seen_cache c = {
			.level = (unsigned)read_number(folder, i, "level"),
			.type = strcmp(type, "Data") == 0          ? DATA
				: strcmp(type, "Instruction") == 0 ? INSTRUCTIONS
								   : UNIFIED,
			.size = read_number(folder, i, "size"),
			.ways = (unsigned)read_number(folder, i, "ways_of_associativity"),
			.line = (unsigned)read_number(folder, i, "coherency_line_size"),
			.shared_by = read_line(folder, i, "shared_cpu_list", shared, sizeof shared)
					     ? count_list(shared)
					     : 1,
		};
		if (c.level < 1 || c.level > 7 || !c.size || !c.line)
			continue;
		c.ways_unknown = c.ways == 0;
		snprintf(c.source, sizeof c.source, "/sys/devices/system/cpu/cpu0/cache/index%u", i);
		seen->caches[seen->n_caches++] = c;
	}
}

/* ---- text ---- */

static void cache_name(const struct seen_cache *c, char name[8])
{
	snprintf(name, 8, "L%u%s", c->level & 7, c->type == DATA ? "D" : c->type == INSTRUCTIONS ? "I" : "");
}

static bool has_cache(const struct seen *seen, const char *wanted)
{
	char name[8];
	for (size_t i = 0; i < seen->n_caches; i++) {
		cache_name(&seen->caches[i], name);
		if (strcmp(name, wanted) == 0)
			return true;
	}
	return false;
}

/* The nearest level behind that takes what c holds. */
static const struct seen_cache *behind(const struct seen *seen, const struct seen_cache *c)
{
	const struct seen_cache *found = NULL;
	for (size_t i = 0; i < seen->n_caches; i++) {
		const struct seen_cache *other = &seen->caches[i];
		if (other->level > c->level && (other->type & c->type) == c->type &&
		    (!found || other->level < found->level))
			found = other;
	}
	return found;
}

static void write_caches(const struct seen *seen, struct str *text)
{
	static const char *const usual[] = {"L1I", "L1D", "L2", "L3"};
	for (size_t i = 0; i < seen->n_caches; i++) {
		const struct seen_cache *c = &seen->caches[i], *next = behind(seen, c);
		char name[8], next_name[8] = "memory";
		cache_name(c, name);
		if (next)
			cache_name(next, next_name);
		str_appendf(text, "\n[%s]\nsize = %llu\nline = %u\n", name, c->size, c->line);
		str_appendf(text, "shared = %s\nsource = %s\n",
			    c->shared_by > seen->threads_per_core ? "yes" : "no", c->source);
		if (c->ways_unknown)
			str_appendf(text, "ways = 8\nsource = not said by %s; 8 is usual\n", c->source);
		else
			str_appendf(text, "ways = %u\nsource = %s\n", c->ways, c->source);
		if (c->inclusive && c->level > 1)
			str_appendf(text, "inclusion = inclusive\nsource = %s: edx bit 1\n", c->source);
		str_appendf(text, "next = %s\nsource = the next level that was seen\n", next_name);
	}
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (!has_cache(seen, usual[i]))
			str_appendf(text, "\n[%s]\ndrop = yes\n", usual[i]);
}

static void write_tlbs(struct seen *seen, struct str *text)
{
	static const char *const usual[] = {"ITLB", "DTLB", "STLB"};
	/* half an answer would be a machine that never was: then host.conf's stand */
	if (!find_tlb(seen, "ITLB") || !find_tlb(seen, "DTLB"))
		return;
	const char *last = find_tlb(seen, "STLB") ? "STLB" : "walk";
	for (size_t i = 0; i < seen->n_tlbs; i++) {
		const struct seen_tlb *t = &seen->tlbs[i];
		char next[8];
		bool second = strncmp(t->name, "L2", 2) == 0 || strcmp(t->name, "STLB") == 0;
		/* ITLB → ITLB2M → L2ITLB or STLB → walk: a TLB of other pages is passed through */
		snprintf(next, sizeof next, "%.4s2M", t->name);
		if (second || t->page == 2u << 20 || !find_tlb(seen, next))
			snprintf(next, sizeof next, "L2%.4s", t->name);
		if (second)
			snprintf(next, sizeof next, "walk");
		else if (!find_tlb(seen, next))
			snprintf(next, sizeof next, "%s", last);
		str_appendf(text, "\n[%s]\nentries = %u\n", t->name, t->entries);
		if (t->ways)
			str_appendf(text, "ways = %u\n", t->ways);
		else
			str_append(text, "ways = full\n");
		str_appendf(text, "page = %s\nsource = %s\n",
			    t->page == 0      ? "any"
			    : t->page == 4096 ? "4K"
					      : "2M",
			    t->source);
		str_appendf(text, "next = %s\nsource = what was seen\n", next);
	}
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (!find_tlb(seen, usual[i]))
			str_appendf(text, "\n[%s]\ndrop = yes\n", usual[i]);
}

bool host_write_conf(const struct host_probe *probe, struct str *text, struct error *err)
{
	struct seen seen = {.threads_per_core = 1};
	if (probe->cpuid) {
		see_names(probe, &seen);
		see_caches(probe, &seen);
		see_tlbs_intel(probe, &seen);
		if (seen.n_tlbs == 0)
			see_tlbs_amd(probe, &seen);
	}
	if (seen.n_caches == 0 && probe->cache_folder)
		see_sysfs(probe->cache_folder, &seen);
	if (seen.n_caches == 0) {
		error_set(err, ERROR_UNSUPPORTED,
			  "this machine does not say what caches it has (neither CPUID nor %s)",
			  probe->cache_folder ? probe->cache_folder : "sysfs");
		return error_hint(err,
				  "take a machine of 'tare list machines', or write a file: see tare-machines(5)");
	}
	const char *brand = seen.brand + strspn(seen.brand, " ");
	int length = (int)strlen(brand);
	while (length > 0 && brand[length - 1] == ' ')
		length--;
	if (length > 48)
		length = 48;
	str_appendf(text, "# generated\n[machine]\nextends = host.conf\ntitle = %.*s%s%s\n", length ? length : 12,
		    length ? brand : "this machine", seen.is_guest ? ", as shown by " : "",
		    seen.is_guest ? hypervisor_name(seen.hypervisor) : "");
	str_appendf(text, "source = %s\n",
		    probe->cpuid ? "CPUID leaves 0x80000002 to 0x80000004, 1 and 0x40000000" : "no CPUID here");
	str_appendf(text, "cores = %u\nsource = CPUs on line\n", probe->cores ? probe->cores : 1);
	str_appendf(text, "family = %s\nsource = %s\n", counters_of(&seen),
		    probe->cpuid ? "CPUID leaves 0 and 1: vendor, family and model" : "no CPUID here");
	write_caches(&seen, text);
	write_tlbs(&seen, text);
	return true;
}

/* ---- here ---- */

#if defined(__x86_64__) || defined(__i386__)
static struct host_registers cpuid_here(void *context, uint32_t leaf, uint32_t subleaf)
{
	struct host_registers r;
	(void)context;
	__cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
	return r;
}
#endif

void host_probe_here(struct host_probe *probe)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	*probe = (struct host_probe){.cache_folder = "/sys/devices/system/cpu/cpu0/cache",
				     .cores = cpus > 0 ? (unsigned)cpus : 1};
#if defined(__x86_64__) || defined(__i386__)
	probe->cpuid = cpuid_here;
#endif
}
