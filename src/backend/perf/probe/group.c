#include "backend/perf/probe/group.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/perf/ring/ring.h"

/* ---- registers: DWARF's numbers (the psABIs) to the kernel's bits ---- */

#if defined(__x86_64__)
static const unsigned char perf_register[] = {
	PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX, PERF_REG_X86_SI,  PERF_REG_X86_DI,
	PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,  PERF_REG_X86_R9, PERF_REG_X86_R10, PERF_REG_X86_R11,
	PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15};
enum {
	REGISTERS = 16,
	REGISTER_IP = PERF_REG_X86_IP,
	REGISTER_FP = PERF_REG_X86_BP,
	REGISTER_SP = PERF_REG_X86_SP
};
static unsigned perf_register_of(int dwarf) { return perf_register[dwarf]; }
#elif defined(__aarch64__)
enum {
	REGISTERS = 32,
	REGISTER_IP = PERF_REG_ARM64_PC,
	REGISTER_FP = PERF_REG_ARM64_X29,
	REGISTER_SP = PERF_REG_ARM64_SP
};
static unsigned perf_register_of(int dwarf) { return (unsigned)dwarf; }
#else
/* no machine to decode the code of, and so no probes */
enum { REGISTERS = 0, REGISTER_IP = 0, REGISTER_FP = 0, REGISTER_SP = 0 };
static unsigned perf_register_of(int dwarf) { return (unsigned)dwarf; }
#endif

static uint64_t few_registers(void) { return 1ull << REGISTER_IP | 1ull << REGISTER_FP | 1ull << REGISTER_SP; }

static uint64_t all_registers(void)
{
	uint64_t mask = 1ull << REGISTER_IP;
	for (int i = 0; i < REGISTERS; i++)
		mask |= 1ull << perf_register_of(i);
	return mask;
}

/* ---- a group ---- */

struct probe_counter {
	int fd;
	uint64_t id;
	uint64_t hits; /* that arrived */
};

struct probe_group {
	const struct group_plan *plan;
	int leader;
	int *counters; /* [plan->n_events], -1: not open */
	struct probe_counter *probes;
	struct ring ring;
	size_t members;
	uint64_t *values;                 /* [n_events] */
	uint64_t hits, first_ns, last_ns; /* enabled times of the first and the last one */
	bool lost;
};

static int open_member(struct perf_event_attr *attr, pid_t tid, int leader)
{
	attr->size = sizeof *attr;
	return (int)syscall(SYS_perf_event_open, attr, tid, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

static const uint64_t READ_FORMAT = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
				    PERF_FORMAT_TOTAL_TIME_RUNNING;

static int open_leader(pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.read_format = READ_FORMAT,
		.disabled = 1,
		.pinned = 1,
		.watermark = 1,
		.wakeup_watermark = 32768,
	};
	return open_member(&attr, tid, -1);
}

static int open_event(const struct group_event *event, pid_t tid, int leader)
{
	const struct event_encoding *encoding = event->encoding;
	bool one_level = event->levels != (LEVEL_USER | LEVEL_KERNEL);
	/* as counter_open() has it, see there */
	struct perf_event_attr attr = {
		.type = encoding->type,
		.config = encoding->config,
		.config1 = encoding->config1,
		.config2 = encoding->config2,
		.read_format = READ_FORMAT,
		.exclude_user = !(event->levels & LEVEL_USER),
		.exclude_kernel = !(event->levels & LEVEL_KERNEL),
		.exclude_hv = one_level,
	};
	return open_member(&attr, tid, leader);
}

void group_place_probe(struct perf_event_attr *attr, const struct group_plan *plan,
		       const struct probe_place *probe)
{
	attr->type = probe->trace_id ? PERF_TYPE_TRACEPOINT : plan->uprobe_type;
	attr->config = probe->trace_id;
	if (probe->trace_id)
		return;
	attr->config1 = (uint64_t)(uintptr_t)probe->module;
	attr->config2 = probe->offset;
}

/* With enable_on_exec the kernel puts a probe in when the program maps its file (trace_uprobe_filter_add()). Else
 * it goes through all processes that have the file, and waits for all CPUs before. */
static int open_probe(const struct group_plan *plan, const struct probe_place *probe, pid_t tid, int leader,
		      bool before_exec)
{
	struct perf_event_attr attr = {
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_READ | PERF_SAMPLE_REGS_USER,
		.sample_regs_user = probe->all_registers ? all_registers() : few_registers(),
		.read_format = READ_FORMAT,
		.watermark = 1,
		.wakeup_watermark = 32768,
		.enable_on_exec = before_exec,
	};
	group_place_probe(&attr, plan, probe);
	return open_member(&attr, tid, leader);
}

static bool open_group(struct group_plan *plan, pid_t tid, bool before_exec, size_t pages,
		       struct probe_group **out, size_t *probe)
{
	int reason = ENOMEM;
	struct probe_group *g = *out = calloc(1, sizeof *g);
	*probe = SIZE_MAX;
	if (!g)
		return false;
	*g = (struct probe_group){.plan = plan, .leader = -1};
	g->counters = malloc((plan->n_events + 1) * sizeof *g->counters);
	g->probes = malloc((plan->n_probes + 1) * sizeof *g->probes);
	g->values = calloc(plan->n_events + 1, sizeof *g->values);
	for (size_t i = 0; g->counters && i < plan->n_events; i++)
		g->counters[i] = -1;
	for (size_t i = 0; g->probes && i < plan->n_probes; i++)
		g->probes[i] = (struct probe_counter){.fd = -1};
	if (!g->counters || !g->probes || !g->values)
		goto fail;
	g->leader = open_leader(tid);
	reason = errno;
	if (g->leader < 0)
		goto fail;
	g->members = 1;
	for (size_t i = 0; i < plan->n_events; i++) {
		struct group_event *event = &plan->events[i];
		if (event->os_errno)
			continue;
		g->counters[i] = open_event(event, tid, g->leader);
		if (g->counters[i] < 0)
			event->os_errno = errno;
		else
			g->members++;
	}
	if (!ring_map(&g->ring, g->leader, pages)) {
		reason = errno;
		goto fail;
	}
	for (size_t i = 0; i < plan->n_probes; i++) {
		struct probe_counter *p = &g->probes[i];
		*probe = i;
		p->fd = open_probe(plan, &plan->probes[i], tid, g->leader, before_exec);
		if (p->fd < 0 || ioctl(p->fd, PERF_EVENT_IOC_SET_OUTPUT, g->leader) != 0 ||
		    ioctl(p->fd, PERF_EVENT_IOC_ID, &p->id) != 0) {
			reason = errno;
			goto fail;
		}
		g->members++;
	}
	*probe = SIZE_MAX;
	return true;
fail:
	group_close(g);
	*out = NULL;
	errno = reason;
	return false;
}

bool group_open(struct group_plan *plan, pid_t tid, size_t pages, struct probe_group **out, size_t *probe)
{
	return open_group(plan, tid, false, pages, out, probe);
}

bool group_open_before_exec(struct group_plan *plan, pid_t tid, size_t pages, struct probe_group **out,
			    size_t *probe)
{
	return open_group(plan, tid, true, pages, out, probe);
}

int primer_open(const struct group_plan *plan, pid_t process, const struct probe_place *place, bool before_exec)
{
	struct perf_event_attr attr = {.enable_on_exec = before_exec};
	group_place_probe(&attr, plan, place);
	return open_member(&attr, process, -1);
}

int holder_open(const struct group_plan *plan, pid_t process, const struct probe_place *place)
{
	struct perf_event_attr attr = {.disabled = 1, .enable_on_exec = 1};
	group_place_probe(&attr, plan, place);
	return open_member(&attr, process, -1);
}

bool probe_check(const struct group_plan *plan, size_t probe)
{
	const struct probe_place *place = &plan->probes[probe];
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int file = open(place->module, O_RDONLY | O_CLOEXEC), fd = -1, reason = errno;
	void *memory = MAP_FAILED;
	if (file >= 0) {
		memory = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, file,
			      (off_t)(place->offset & ~(page - 1)));
		reason = errno;
		close(file);
	}
	if (memory != MAP_FAILED) {
		struct perf_event_attr attr = {.sample_period = 1};
		group_place_probe(&attr, plan, place);
		fd = open_member(&attr, 0, -1);
		reason = errno;
		if (fd >= 0)
			close(fd);
		munmap(memory, page);
	}
	errno = reason;
	return fd >= 0;
}

bool group_enable(struct probe_group *g) { return ioctl(g->leader, PERF_EVENT_IOC_ENABLE, 0) == 0; }

int group_fd(const struct probe_group *g) { return g->leader; }

uint64_t group_hits(const struct probe_group *g) { return g->hits; }

uint64_t group_hits_ns(const struct probe_group *g) { return g->last_ns - g->first_ns; }

/* ---- records ---- */

struct registers {
	uint64_t mask;
	const uint64_t *values; /* in the order of the mask's bits */
	uint64_t count;
};

static uint64_t bit_value(const struct registers *r, unsigned bit)
{
	uint64_t place = (uint64_t)__builtin_popcountll(r->mask & ((1ull << bit) - 1));
	return r->mask >> bit & 1 && place < r->count ? r->values[place] : 0;
}

static uint64_t register_value(const void *context, int number)
{
	return number >= 0 && number < REGISTERS ? bit_value(context, perf_register_of(number)) : 0;
}

/* A sample: identifier, reading of the group, registers. words: without the header. False: it is not as it must
 * be. */
static bool take_sample(struct probe_group *g, const uint64_t *words, size_t n, struct thread_passes *passes)
{
	const struct group_plan *plan = g->plan;
	size_t i = 0;
	/* identifier; members, two times, values; abi */
	if (n < 1 + 3 + g->members + 1 || words[1] != g->members)
		return false;
	while (i < plan->n_probes && g->probes[i].id != words[0])
		i++;
	if (i == plan->n_probes)
		return false;
	const struct probe_place *probe = &plan->probes[i];
	const uint64_t *member = words + 4 + 1; /* behind the leader's */
	for (size_t event = 0; event < plan->n_events; event++)
		g->values[event] = g->counters[event] >= 0 ? *member++ : 0;
	size_t at = 1 + 3 + g->members;
	struct registers registers = {.mask = probe->all_registers ? all_registers() : few_registers(),
				      .values = words + at + 1,
				      .count = words[at] == PERF_SAMPLE_REGS_ABI_NONE ? 0 : n - at - 1};
	if (registers.count < (size_t)__builtin_popcountll(registers.mask))
		return false;
	struct hit hit = {.enabled_ns = words[2],
			  .running_ns = words[3],
			  .values = g->values,
			  .ip = bit_value(&registers, REGISTER_IP),
			  .reg = register_value,
			  .context = &registers};
	g->probes[i].hits++;
	if (!g->hits++)
		g->first_ns = hit.enabled_ns;
	g->last_ns = hit.enabled_ns;
	passes_hit(passes, probe->edges, probe->n_edges, &hit);
	return true;
}

bool group_drain(struct probe_group *g, struct thread_passes *passes)
{
	const struct perf_event_header *record;
	ring_begin(&g->ring);
	while (!g->lost && (record = ring_next(&g->ring))) {
		if (record->type == PERF_RECORD_SAMPLE)
			g->lost |= !take_sample(g, (const uint64_t *)(const void *)(record + 1),
						(record->size - sizeof *record) / 8, passes);
		else if (record->type == PERF_RECORD_LOST || record->type == PERF_RECORD_LOST_SAMPLES)
			g->lost = true;
	}
	g->lost |= g->ring.broken;
	ring_end(&g->ring);
	return !g->lost;
}

const char *group_incomplete(struct probe_group *g)
{
	static const char missing[] =
		"readings were lost: the program entered the regions faster than tare could read them";
	uint64_t words[3 + 2048];
	size_t bytes = (3 + g->members) * sizeof *words;
	if (g->lost || bytes > sizeof words)
		return missing;
	/* a pinned group that lost its place reads as nothing */
	if (read(g->leader, words, bytes) != (ssize_t)bytes || words[2] < words[1])
		return "the events do not fit the counters together: ask for fewer at once, or for --several-runs";
	const uint64_t *probe = words + 3 + (g->members - g->plan->n_probes);
	for (size_t i = 0; i < g->plan->n_probes; i++)
		if (probe[i] != g->probes[i].hits)
			return missing;
	return NULL;
}

void group_close(struct probe_group *g)
{
	if (!g)
		return;
	ring_unmap(&g->ring);
	for (size_t i = 0; g->probes && i < g->plan->n_probes; i++)
		if (g->probes[i].fd >= 0)
			close(g->probes[i].fd);
	for (size_t i = 0; g->counters && i < g->plan->n_events; i++)
		if (g->counters[i] >= 0)
			close(g->counters[i]);
	if (g->leader >= 0)
		close(g->leader);
	free(g->counters);
	free(g->probes);
	free(g->values);
	free(g);
}
