/* From an event to what perf_event_open(2) takes.
 *
 * The texts of encodings, in data/events/: "generic:NAME" with perf's names of PERF_TYPE_HARDWARE and
 * PERF_TYPE_HW_CACHE, "software:NAME" with those of PERF_TYPE_SOFTWARE, "sysfs:pmu/terms/", and, for CPUs of
 * some families only, "intel:", "amd,other:", "armv8:" with a raw code, a generic name or a name of libpfm4. A
 * "*N" at the end says that each count stands for N of the event's units. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "event/event.h"
#include "event/pfm.h"
#include "event/request.h"
#include "event/sysfs.h"

struct name_code {
	const char *name;
	uint64_t code;
};

static const struct name_code hardware[] = {
	{"cycles", PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", PERF_COUNT_HW_BUS_CYCLES},
	{"stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES},
	{NULL, 0},
};

static const struct name_code software[] = {
	{"cpu-clock", PERF_COUNT_SW_CPU_CLOCK},
	{"task-clock", PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", PERF_COUNT_SW_PAGE_FAULTS},
	{"context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS},
	{"minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS},
	{"emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS},
	{"cgroup-switches", 11 /* PERF_COUNT_SW_CGROUP_SWITCHES, since Linux 5.13 */},
	{NULL, 0},
};

/* PERF_TYPE_HW_CACHE: config = cache | operation << 8 | result << 16, see perf_event_open(2) */
static const struct name_code caches[] = {
	{"L1-dcache", PERF_COUNT_HW_CACHE_L1D}, {"L1-icache", PERF_COUNT_HW_CACHE_L1I},
	{"LLC", PERF_COUNT_HW_CACHE_LL},        {"dTLB", PERF_COUNT_HW_CACHE_DTLB},
	{"iTLB", PERF_COUNT_HW_CACHE_ITLB},     {"branch", PERF_COUNT_HW_CACHE_BPU},
	{"node", PERF_COUNT_HW_CACHE_NODE},     {NULL, 0},
};

static const struct name_code cache_actions[] = {
	{"loads", PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16},
	{"load-misses", PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
	{"stores", PERF_COUNT_HW_CACHE_OP_WRITE << 8 | PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16},
	{"store-misses", PERF_COUNT_HW_CACHE_OP_WRITE << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
	{"prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH << 8 | PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16},
	{"prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
	{NULL, 0},
};

static const struct name_code *find_code(const struct name_code *codes, const char *name)
{
	while (codes->name && strcmp(codes->name, name) != 0)
		codes++;
	return codes->name ? codes : NULL;
}

static bool encode_generic(const char *name, struct event_encoding *out)
{
	const struct name_code *found = find_code(hardware, name);
	if (found) {
		out->type = PERF_TYPE_HARDWARE;
		out->config = found->code;
		return true;
	}
	for (const struct name_code *cache = caches; cache->name; cache++) {
		size_t length = strlen(cache->name);
		if (strncmp(name, cache->name, length) != 0 || name[length] != '-')
			continue;
		found = find_code(cache_actions, name + length + 1);
		if (!found)
			return false;
		out->type = PERF_TYPE_HW_CACHE;
		out->config = cache->code | found->code;
		return true;
	}
	return false;
}

static bool encode_software(const char *name, struct event_encoding *out)
{
	const struct name_code *found = find_code(software, name);
	if (!found)
		return false;
	out->type = PERF_TYPE_SOFTWARE;
	out->config = found->code;
	return true;
}

static bool encode_raw(const char *name, struct event_encoding *out)
{
	out->type = PERF_TYPE_RAW;
	return request_is_raw(name, &out->config);
}

/* Is one of the words of "word,word:rest" the given one? Then *rest is what is behind the colon. */
static bool is_for(const char *text, const char *word, const char **rest)
{
	const char *colon = strchr(text, ':');
	while (colon && text < colon) {
		size_t length = strcspn(text, ",:");
		if (strlen(word) == length && strncmp(text, word, length) == 0) {
			*rest = colon + 1;
			return true;
		}
		text += length + 1;
	}
	return false;
}

/* One encoding of a row. Whatever it fails by, it is one that has no meaning here. */
static bool encode_row(const char *text, const struct event_machine *machine, struct event_encoding *out,
		       struct error *err)
{
	char plain[REQUEST_LENGTH_MOST + 1];
	const char *name;
	struct error why = {0};
	bool done = false;
	const char *star = strrchr(text, '*');
	size_t length = star ? (size_t)(star - text) : strlen(text);
	if (length >= sizeof plain || (star && (!str_to_double(star + 1, &out->scale) || !(out->scale > 0))))
		return error_set(err, ERROR_UNSUPPORTED, "cannot parse the encoding '%.100s'", text);
	memcpy(plain, text, length);
	plain[length] = '\0';

	if (is_for(plain, "generic", &name)) {
		done = encode_generic(name, out) ||
		       error_set(&why, ERROR_UNSUPPORTED, "the kernel's interface has no generic event '%s'",
				 name);
	} else if (is_for(plain, "software", &name)) {
		done = encode_software(name, out) ||
		       error_set(&why, ERROR_UNSUPPORTED, "the kernel's interface has no software event '%s'",
				 name);
	} else if (is_for(plain, "sysfs", &name)) {
		done = sysfs_encode(name, machine->sysfs_root, out, &why);
	} else if (is_for(plain, machine->family, &name)) {
		done = encode_raw(name, out) || encode_generic(name, out) ||
		       pfm_encode(name, machine->absent_pmus, out, &why);
	} else {
		error_set(&why, ERROR_UNSUPPORTED, "'%s' is for other CPUs than this one (%s)", text,
			  machine->family);
	}
	if (done)
		return true;
	if (err) {
		*err = why;
		if (err->code != ERROR_NO_MEMORY)
			err->code = ERROR_UNSUPPORTED;
	}
	return false;
}

static bool encode_native(const struct event *event, const struct event_machine *machine,
			  struct event_encoding *out, struct error *err)
{
	struct request request;
	char name[REQUEST_LENGTH_MOST + 1];
	if (!request_split(event->text, &request, err))
		return false;
	memcpy(name, event->text, request.name_length);
	name[request.name_length] = '\0';
	switch (event->naming) {
	case NAMED_SYSFS: return sysfs_encode(name, machine->sysfs_root, out, err);
	case NAMED_RAW:
		return encode_raw(name, out) || error_set(err, ERROR_USAGE, "'%s' is not a raw code", event->text);
	case NAMED_PFM: return pfm_encode(name, machine->absent_pmus, out, err);
	default: return error_set(err, ERROR_UNSUPPORTED, "the event '%s' has no definition", event->text);
	}
}

bool event_encode(const struct event *event, const struct event_machine *machine, size_t index,
		  struct event_encoding *out, struct error *err)
{
	*out = (struct event_encoding){.scale = 1};
	if (event->machine) {
		error_set(err, ERROR_NOT_FOUND, "'%s' is an event of a modelled machine", event->label);
		return error_hint(err, "count it with --on model:%s", event->machine);
	}
	if (!event->definition) {
		out->how = event->text;
		if (index > 0)
			return error_set(err, ERROR_NOT_FOUND, "'%s' has one encoding", event->text);
		return encode_native(event, machine, out, err);
	}
	const char *const *encodings = event->definition->encodings;
	for (size_t i = 0; encodings && encodings[i]; i++) {
		if (i == index) {
			out->how = encodings[i];
			return encode_row(encodings[i], machine, out, err);
		}
	}
	return error_set(err, ERROR_NOT_FOUND, "the event '%s' has no further encoding", event->label);
}

struct event_machine event_machine_host(void)
{
	struct event_machine host = {.sysfs_root = "/sys/bus/event_source/devices", .family = "other"};
#if defined(__aarch64__)
	host.family = "armv8";
#elif defined(__x86_64__) || defined(__i386__)
	char line[256];
	FILE *file = fopen("/proc/cpuinfo", "re");
	while (file && fgets(line, sizeof line, file)) {
		if (strncmp(line, "vendor_id", 9) != 0)
			continue;
		if (strstr(line, "GenuineIntel"))
			host.family = "intel";
		else if (strstr(line, "AuthenticAMD") || strstr(line, "HygonGenuine"))
			host.family = "amd";
		break;
	}
	if (file)
		fclose(file);
#endif
	return host;
}
