#include "backend/perf/sample/record.h"

#include <asm/perf_regs.h>
#include <string.h>
#include <time.h>

/* Not in the headers of all releases that tare is built with. */
enum {
	MISC_SWITCH_OUT_PREEMPT = 1 << 14, /* PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, Linux 4.17 */
	MISC_BUILD_ID = 1 << 14,           /* PERF_RECORD_MISC_MMAP_BUILD_ID, Linux 5.12 */
	PROTECTION_EXEC = 4,
};

#if defined(__x86_64__)
/* struct sample's order */
static const unsigned char register_bit[SAMPLE_REGISTERS] = {
	PERF_REG_X86_AX,  PERF_REG_X86_BX,  PERF_REG_X86_CX,  PERF_REG_X86_DX,  PERF_REG_X86_SI,  PERF_REG_X86_DI,
	PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,  PERF_REG_X86_R9,  PERF_REG_X86_R10, PERF_REG_X86_R11,
	PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15, PERF_REG_X86_IP};

uint64_t record_registers(void)
{
	uint64_t mask = 0;
	for (int i = 0; i < SAMPLE_REGISTERS; i++)
		mask |= 1ull << register_bit[i];
	return mask;
}

static void take_registers(const uint64_t *words, uint64_t mask, uint64_t out[SAMPLE_REGISTERS])
{
	for (int i = 0; i < SAMPLE_REGISTERS; i++)
		out[i] = words[__builtin_popcountll(mask & ((1ull << register_bit[i]) - 1))];
}
#else
uint64_t record_registers(void) { return 0; }

static void take_registers(const uint64_t *words, uint64_t mask, uint64_t out[SAMPLE_REGISTERS])
{
	(void)words, (void)mask;
	memset(out, 0, SAMPLE_REGISTERS * sizeof *out);
}
#endif

/* ---- reading words, never beyond the record ---- */

struct reader {
	const uint64_t *at, *end;
	bool torn;
};

static struct reader reader_of(const struct perf_event_header *record)
{
	const uint64_t *words = (const void *)(record + 1);
	return (struct reader){words, words + (record->size - sizeof *record) / 8, false};
}

static uint64_t word(struct reader *r)
{
	r->torn = r->torn || r->at == r->end;
	return r->torn ? 0 : *r->at++;
}

static const uint64_t *words(struct reader *r, uint64_t n)
{
	const uint64_t *first = r->at;
	r->torn = r->torn || n > (uint64_t)(r->end - r->at);
	if (r->torn)
		return NULL;
	r->at += n;
	return first;
}

static void halves(struct reader *r, uint32_t *low, uint32_t *high)
{
	uint32_t pair[2];
	uint64_t both = word(r);
	memcpy(pair, &both, sizeof pair);
	*low = pair[0];
	*high = pair[1];
}

/* ---- samples ---- */

static void take_user_registers(struct reader *r, const struct record_layout *layout, struct record *out)
{
	uint64_t abi = word(r);
	const uint64_t *values = abi == PERF_SAMPLE_REGS_ABI_NONE
					 ? NULL
					 : words(r, (uint64_t)__builtin_popcountll(layout->registers));
	/* of a program of 32 bits no stack is walked */
	if (!values || abi != PERF_SAMPLE_REGS_ABI_64 || layout->registers != record_registers())
		return;
	take_registers(values, layout->registers, out->registers);
	out->sample.registers = out->registers;
}

/* size, size bytes, and how many of these the kernel could read (where size is not 0) */
static void take_stack(struct reader *r, struct record *out)
{
	uint64_t size = word(r);
	if (size == 0 || r->torn)
		return;
	const uint64_t *bytes = size % 8 == 0 ? words(r, size / 8) : NULL;
	uint64_t filled = word(r);
	r->torn = r->torn || !bytes || filled > size;
	if (r->torn || !out->sample.registers)
		return;
	out->sample.stack = (const uint8_t *)bytes;
	out->sample.stack_bytes = filled;
}

static void take_sample(struct reader *r, const struct perf_event_header *header,
			const struct record_layout *layout, struct record *out)
{
	uint64_t type = layout->sample_type;
	uint32_t unused;
	struct sample *s = &out->sample;
	*s = (struct sample){.kernel = (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL};
	out->id = word(r);
	s->address = word(r);
	halves(r, &s->pid, &s->tid);
	s->time_ns = word(r);
	if (type & PERF_SAMPLE_ADDR)
		s->data_address = word(r);
	halves(r, &s->cpu, &unused);
	if (type & PERF_SAMPLE_PERIOD)
		s->gap = word(r);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		uint64_t n = word(r);
		s->callers = words(r, n);
		s->n_callers = s->callers ? n : 0;
	}
	if (type & PERF_SAMPLE_REGS_USER)
		take_user_registers(r, layout, out);
	if (type & PERF_SAMPLE_STACK_USER)
		take_stack(r, out);
	out->time_ns = s->time_ns;
	out->pid = s->pid;
	out->tid = s->tid;
}

/* ---- what tasks did ---- */

/* pid, tid; time; cpu; id: the last words of every other record */
enum { TRAILER_WORDS = 4 };

static bool take_trailer(struct reader *r, struct record *out)
{
	if (r->end - r->at < TRAILER_WORDS)
		return false;
	struct reader trailer = {r->end - TRAILER_WORDS, r->end, false};
	halves(&trailer, &out->pid, &out->tid);
	out->time_ns = word(&trailer);
	word(&trailer);
	out->id = word(&trailer);
	r->end -= TRAILER_WORDS;
	return true;
}

/* The rest of the record, which must have an end within it. */
static const char *text(struct reader *r)
{
	const char *from = (const char *)r->at;
	if (r->torn || !memchr(from, 0, (size_t)(r->end - r->at) * 8)) {
		r->torn = true;
		return "";
	}
	return from;
}

static void take_mapping(struct reader *r, const struct perf_event_header *header, struct record *out)
{
	struct sampled_mapping *m = &out->mapping;
	uint32_t protection, flags;
	*m = (struct sampled_mapping){.time_ns = out->time_ns};
	halves(r, &out->pid, &out->tid);
	m->pid = out->pid;
	m->address = word(r);
	m->bytes = word(r);
	m->offset = word(r);
	const uint8_t *file = (const uint8_t *)words(r, 3); /* device and inode, or the build id */
	halves(r, &protection, &flags);
	m->path = text(r);
	m->executable = protection & PROTECTION_EXEC;
	if (r->torn || !(header->misc & MISC_BUILD_ID))
		return;
	/* size, three bytes, and room for 20 */
	r->torn = file[0] > 20;
	m->build_id = file[0] ? file + 4 : NULL;
	m->build_id_bytes = file[0];
}

static void take_name(struct reader *r, const struct perf_event_header *header, struct record *out)
{
	halves(r, &out->pid, &out->tid);
	out->task.name = text(r);
	out->task.by_exec = header->misc & PERF_RECORD_MISC_COMM_EXEC;
}

static void take_task(struct reader *r, struct record *out)
{
	halves(r, &out->pid, &out->task.parent_pid);
	halves(r, &out->tid, &out->task.parent_tid);
	word(r); /* the time, again */
}

static enum record_kind kind_of(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_SAMPLE: return RECORD_SAMPLE;
	case PERF_RECORD_MMAP2: return RECORD_MAPPING;
	case PERF_RECORD_COMM: return RECORD_NAME;
	case PERF_RECORD_FORK: return RECORD_START;
	case PERF_RECORD_EXIT: return RECORD_END;
	case PERF_RECORD_SWITCH: return RECORD_SWITCH;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES: return RECORD_LOST;
	case PERF_RECORD_THROTTLE: return RECORD_THROTTLE;
	default: return RECORD_OTHER;
	}
}

uint64_t record_id(const struct perf_event_header *record)
{
	struct reader r = reader_of(record);
	if (r.at == r.end)
		return 0;
	return record->type == PERF_RECORD_SAMPLE ? *r.at : r.end[-1];
}

enum { TIME_OF_SAMPLE = 3 }; /* behind its id, address and task */

uint64_t record_time(const struct perf_event_header *record)
{
	struct reader r = reader_of(record);
	if (r.end - r.at < TRAILER_WORDS)
		return 0;
	return record->type == PERF_RECORD_SAMPLE ? r.at[TIME_OF_SAMPLE] : r.end[1 - TRAILER_WORDS];
}

void record_rename(struct perf_event_header *sample, uint64_t id, uint64_t time_ns)
{
	uint64_t *words = (void *)(sample + 1);
	if (sample->size < sizeof *sample + (TIME_OF_SAMPLE + 1) * sizeof *words)
		return;
	words[0] = id;
	words[TIME_OF_SAMPLE] = time_ns;
}

uint64_t record_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool record_decode(const struct perf_event_header *record, const struct record_layout *layout, struct record *out)
{
	struct reader r = reader_of(record);
	*out = (struct record){.kind = kind_of(record->type)};
	if (out->kind == RECORD_SAMPLE) {
		take_sample(&r, record, layout, out);
		return !r.torn;
	}
	if (!take_trailer(&r, out))
		return false;
	switch (out->kind) {
	case RECORD_MAPPING: take_mapping(&r, record, out); break;
	case RECORD_NAME: take_name(&r, record, out); break;
	case RECORD_START:
	case RECORD_END: take_task(&r, out); break;
	case RECORD_SWITCH:
		out->change.in = !(record->misc & PERF_RECORD_MISC_SWITCH_OUT);
		out->change.preempted = record->misc & MISC_SWITCH_OUT_PREEMPT;
		break;
	case RECORD_LOST:
		/* id, number; of LOST_SAMPLES the number alone */
		if (record->type == PERF_RECORD_LOST)
			out->id = word(&r);
		out->lost = word(&r);
		break;
	case RECORD_THROTTLE:
		word(&r); /* time, id, stream */
		out->id = word(&r);
		break;
	case RECORD_OTHER:
	case RECORD_SAMPLE: break;
	}
	return !r.torn;
}
