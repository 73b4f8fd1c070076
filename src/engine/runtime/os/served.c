/*
 * What the program sees of the machine, where tare chooses it (--reproducible, --cpu): instructions. Each ends its
 * block; the way out leads here, and the engine does what the instruction would have done.
 *
 *     cpuid, xgetbv        the processor that is shown (x86/served.h)
 *     rdtsc, rdtscp        the clock that is served, in nanoseconds
 *     rdpid, rdtscp        processor 0
 *     rdrand, rdseed       served random numbers
 *     xsave … xrstor       with the components that are shown, where the real processor has more: the program has made
 *                          room for no others
 *
 * What always holds:
 *  1. Without rt.served nothing here is reached, and no emitted byte differs.
 *  2. Instructions that the shown processor lacks are executed as they are. Those with registers of their own are
 *     noticed when their block is translated (rt.exceeds): from then on signal frames also hold these registers.
 *  3. Served random numbers are predictable, by design: docs/security.md.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/os/state.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

void served_look(void)
{
	rt.served = rt.setup->served;
	rt.shown_state = rt.served > SERVED_HOST ? x86_served_xcr0(rt.served) : ~0ull;
	/* an image of an exec goes on where the one before it was */
	rt.chance = rt.process->chance ? rt.process->chance : 0x7461726521ull;
	rt.clock_ns = rt.process->clock_ns;
	rt.outer_parent = rt.process->outer_parent;
	if (rt.served && !rt.outer_parent)
		rt.outer_parent = (uint32_t)sys0(SYS_getppid);
}

void served_exec(struct record_process *process)
{
	process->chance = served_random() | 1;
	process->clock_ns = rt.clock_ns;
	process->outer_parent = rt.outer_parent;
}

static uint64_t mixed(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

void served_saw(enum record_saw kind, uint64_t value)
{
	struct record_input *input = &current()->record->inputs[kind];
	input->times++;
	input->sum = mixed(input->sum ^ value) + kind;
}

void served_saw_bytes(enum record_saw kind, const uint8_t *bytes, uint64_t n)
{
	struct record_input *input = &current()->record->inputs[kind];
	uint64_t sum = input->sum;
	input->times++;
	for (uint64_t i = 0; i < n; i++) /* however the bytes come in pieces: FNV-1a */
		sum = (sum ^ bytes[i]) * 0x100000001b3ull;
	input->sum = sum;
}

/* Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014), as SplitMix64. Threads that ask at
 * the same time get different numbers. */
uint64_t served_random(void)
{
	return mixed(__atomic_add_fetch(&rt.chance, 0x9e3779b97f4a7c15ull, __ATOMIC_RELAXED));
}

static void real_cpuid(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
	__asm__ volatile("cpuid" : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3]) : "0"(leaf), "2"(sub));
}

static void cpuid(uint64_t *r)
{
	uint32_t out[4];
	served_saw(RECORD_SAW_CPU, 0);
	x86_served_cpuid(rt.served, (uint32_t)r[X86_RAX], (uint32_t)r[X86_RCX], real_cpuid, out);
	r[X86_RAX] = out[0], r[X86_RBX] = out[1], r[X86_RCX] = out[2], r[X86_RDX] = out[3];
}

static void time_stamp(uint64_t *r, bool with_processor)
{
	uint64_t now = served_clock_ns();
	r[X86_RAX] = (uint32_t)now, r[X86_RDX] = now >> 32;
	if (with_processor)
		r[X86_RCX] = 0;
}

static void random_to(struct thread *t, const struct x86_insn *in)
{
	uint64_t value = served_random(), *to = &t->reg[in->rm & 15];
	*to = in->operand_bytes == 8   ? value
	      : in->operand_bytes == 4 ? (uint32_t)value
				       : (*to & ~0xffffull) | (uint16_t)value;
	t->flags = (t->flags & ~ARITHMETIC_FLAGS) | FLAG_CF;
	served_saw(RECORD_SAW_RANDOM, 0);
}

static enum served_end saved_state(struct thread *t, uint32_t block, const struct x86_insn *in, uint64_t pc,
				   uint64_t *fault)
{
	uint64_t at = address_of_operand(t, in, pc, t->reg[X86_RSP]), *r = t->reg, rax = r[X86_RAX],
		 rdx = r[X86_RDX];
	bool writes = x86_state_kind(in) != X86_XRSTOR;
	if (at & 63)
		return SERVED_PROTECTION;
	for (uint64_t byte = at; byte < at + X86_XSTATE_LEAST; byte += 64)
		if (writes ? !safe_write((void *)byte) : !safe_read((const void *)byte)) {
			*fault = byte;
			return writes ? SERVED_WRITE_FAULT : SERVED_READ_FAULT;
		}
	uint64_t asked = (rdx << 32 | (uint32_t)rax) & rt.shown_state;
	r[X86_RAX] = (uint32_t)asked, r[X86_RDX] = asked >> 32;
	bool done = state_served(t, in, at);
	if (done)
		state_moved(t, block);
	r[X86_RAX] = rax, r[X86_RDX] = rdx;
	return done ? SERVED_DONE : SERVED_PROTECTION;
}

enum served_end served_instruction(struct thread *t, uint32_t block, const struct x86_insn *in, uint64_t pc,
				   uint64_t *fault)
{
	uint64_t *r = t->reg;
	switch (in->special) {
	case X86_SPECIAL_CPUID: cpuid(r); return SERVED_DONE;
	case X86_SPECIAL_RDTSC: time_stamp(r, false); return SERVED_DONE;
	case X86_SPECIAL_RDTSCP: time_stamp(r, true); return SERVED_DONE;
	case X86_SPECIAL_RDPID: r[in->rm & 15] = 0; return SERVED_DONE;
	case X86_SPECIAL_XGETBV:
		if ((uint32_t)r[X86_RCX]) /* what is in use is not shown: leaf 0xD has no such bit */
			return SERVED_PROTECTION;
		r[X86_RAX] = (uint32_t)rt.shown_state, r[X86_RDX] = rt.shown_state >> 32;
		return SERVED_DONE;
	case X86_SPECIAL_XSAVE: return saved_state(t, block, in, pc, fault);
	default: random_to(t, in); return SERVED_DONE;
	}
}
