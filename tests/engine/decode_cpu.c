/*
 * The decoder against the CPU itself: random instructions are executed, and what they did is held against what
 * the record says. It is the second witness beside Zydis, from whose tables the decoder's are derived.
 *
 *   decode_cpu [instructions] [seed]
 *
 * For each instruction that runs without a fault in a fixed state, these must hold:
 *   - registers outside gpr_written, flags outside written|maybe|undefined, and memory outside WRITE operands
 *     are as before;
 *   - changing registers outside gpr_read, flags outside flags_read, or memory that is not READ, changes no
 *     written register, no written flag and no stored byte;
 *   - an operand that ends where memory ends does not fault, one byte further it does: the width is exact;
 *   - on a read-only page it faults exactly if it is WRITE;
 *   - an address-only operand may point to nowhere.
 *
 * Left out: control flow and specials (they are the runtime's business), rep prefixes, gathers, fs and gs, stack accesses, bit
 * strings, and what this CPU lacks (#UD). Output is TAP.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "engine/x86/decode.h"

#define SHOWN_MAX 30
enum { PAGE = 4096, REGIONS = 2 };

/* ---- running one instruction ------------------------------------------------------------------------ */

/* Read and written by the assembly below. */
uint64_t cpu_gpr[16], cpu_flags, cpu_stack;
int cpu_fault;
uint8_t *cpu_code;    /* an executable page: the instruction, then a jump back */
uint8_t *cpu_vectors; /* an xsave image: every run starts from it */
uint32_t cpu_mxcsr = 0x1f80;

void cpu_run(void);
extern char cpu_back[];

__asm__(".text\n.globl cpu_run, cpu_back\ncpu_run:\n"
	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"mov %rsp, cpu_stack(%rip)\n"
	"mov $-1, %eax; mov $-1, %edx; mov cpu_vectors(%rip), %rcx; xrstor64 (%rcx)\n"
	"pushq cpu_flags(%rip); popfq\n"
	"mov cpu_gpr+0(%rip), %rax; mov cpu_gpr+8(%rip), %rcx; mov cpu_gpr+16(%rip), %rdx; mov cpu_gpr+24(%rip), "
	"%rbx\n"
	"mov cpu_gpr+40(%rip), %rbp; mov cpu_gpr+48(%rip), %rsi; mov cpu_gpr+56(%rip), %rdi\n"
	"mov cpu_gpr+64(%rip), %r8; mov cpu_gpr+72(%rip), %r9; mov cpu_gpr+80(%rip), %r10; mov cpu_gpr+88(%rip), "
	"%r11\n"
	"mov cpu_gpr+96(%rip), %r12; mov cpu_gpr+104(%rip), %r13; mov cpu_gpr+112(%rip), %r14; mov "
	"cpu_gpr+120(%rip), %r15\n"
	"jmp *cpu_code(%rip)\n"
	"cpu_back:\n"
	"mov %rax, cpu_gpr+0(%rip); mov %rcx, cpu_gpr+8(%rip); mov %rdx, cpu_gpr+16(%rip); mov %rbx, "
	"cpu_gpr+24(%rip)\n"
	"mov %rsp, cpu_gpr+32(%rip); mov %rbp, cpu_gpr+40(%rip); mov %rsi, cpu_gpr+48(%rip); mov %rdi, "
	"cpu_gpr+56(%rip)\n"
	"mov %r8, cpu_gpr+64(%rip); mov %r9, cpu_gpr+72(%rip); mov %r10, cpu_gpr+80(%rip); mov %r11, "
	"cpu_gpr+88(%rip)\n"
	"mov %r12, cpu_gpr+96(%rip); mov %r13, cpu_gpr+104(%rip); mov %r14, cpu_gpr+112(%rip); mov %r15, "
	"cpu_gpr+120(%rip)\n"
	"mov cpu_stack(%rip), %rsp\n"
	"pushfq; popq cpu_flags(%rip)\n"
	"cld; fninit; ldmxcsr cpu_mxcsr(%rip); vzeroupper\n"
	"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"ret\n");

static void on_fault(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	uint64_t rip = (uint64_t)u->uc_mcontext.gregs[REG_RIP];
	(void)info;
	if (rip - (uint64_t)cpu_code >= PAGE)
		_exit(99); /* the test itself is broken */
	cpu_fault = number;
	u->uc_mcontext.gregs[REG_RIP] = (greg_t)cpu_back;
	u->uc_mcontext.gregs[REG_EFL] &= ~0x100;
}

/* ---- states ------------------------------------------------------------------------------------------ */

struct state {
	uint64_t gpr[16];
	uint64_t flags;
	uint8_t memory[REGIONS][2 * 64]; /* the bytes around each operand's place, before or after */
};

/* Each region is a page that can be reached twice, once read-only, with nothing mapped behind it. */
static uint8_t *region_rw[REGIONS], *region_ro[REGIONS], *nowhere;
static uint8_t region_content[REGIONS][PAGE];

static const uint64_t flag_bit[7] = {1, 4, 0x10, 0x40, 0x80, 0x800, 0x400};

static uint64_t spread(unsigned mask)
{
	uint64_t flags = 0;
	for (unsigned i = 0; i < 7; i++)
		if (mask >> i & 1)
			flags |= flag_bit[i];
	return flags;
}

static uint64_t random_state;
static uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dull;
}
static unsigned below(unsigned n) { return (unsigned)(random64() >> 33) % n; }

static const struct x86_insn *insn;
static const uint8_t *insn_bytes;
static unsigned long long failures, executed, runs, with_memory;
static unsigned shown;

static void complain(const char *what, uint64_t a, uint64_t b)
{
	failures++;
	if (shown++ >= SHOWN_MAX)
		return;
	fprintf(stderr, "# %s: %llx %llx:", what, (unsigned long long)a, (unsigned long long)b);
	for (unsigned i = 0; i < insn->length; i++)
		fprintf(stderr, " %02x", insn_bytes[i]);
	fprintf(stderr, "\n");
}

/* ---- placing operands ----------------------------------------------------------------------------------- */

static uint64_t index_part(const struct x86_memory *m, const uint64_t *gpr)
{
	if (m->index == X86_NO_REG)
		return 0;
	return (m->flags & X86_MEM_INDEX_BYTE ? gpr[m->index] & 0xff : gpr[m->index]) * m->scale;
}

/* Sets the base so that the operand is at the address. The 32-bit addresses used are valid as 64-bit ones too. */
static void place(const struct x86_memory *m, uint64_t *gpr, const uint8_t *address)
{
	if (m->base < 16)
		gpr[m->base] = (uint64_t)address - (uint64_t)m->displacement - index_part(m, gpr);
}

static bool is_lea(const struct x86_insn *in) { return in->map == X86_MAP_0 && in->opcode == 0x8d; }

static bool can_place(const struct x86_insn *in)
{
	for (unsigned i = 0; i < in->memory_count; i++) {
		const struct x86_memory *m = &in->memory[i];
		if (is_lea(in) && m->base == X86_NO_REG)
			continue;
		if (m->base >= 16 || m->base == X86_RSP || m->base == m->index || m->segment >= X86_FS ||
		    m->flags & (X86_MEM_VECTOR_INDEX | X86_MEM_BIT_OFFSET | X86_MEM_STACK))
			return false;
	}
	if (in->memory_count == 2 &&
	    (in->memory[0].base == in->memory[1].base || in->memory[0].index == in->memory[1].base ||
	     in->memory[1].index == in->memory[0].base))
		return false;
	return true;
}

static const uint8_t *natural_place(const struct x86_memory *m, uint8_t *const *regions, unsigned i)
{
	return regions[i] + PAGE - m->width;
}

static void place_all(uint64_t *gpr)
{
	for (unsigned i = 0; i < insn->memory_count; i++)
		place(&insn->memory[i], gpr, natural_place(&insn->memory[i], region_rw, i));
}

/* The base registers' bits: they follow from the places and must not be varied. */
static unsigned placed_bases(void)
{
	unsigned mask = 0;
	for (unsigned i = 0; i < insn->memory_count; i++) {
		if (insn->memory[i].base < 16)
			mask |= 1u << insn->memory[i].base;
		if (insn->memory[i].index < 16)
			mask |= 1u << insn->memory[i].index;
	}
	return mask;
}

static void run(const uint64_t *gpr, uint64_t flags, struct state *after)
{
	for (unsigned i = 0; i < insn->memory_count; i++)
		memcpy(region_rw[i], region_content[i], PAGE);
	memcpy(cpu_gpr, gpr, sizeof cpu_gpr);
	cpu_flags = flags | 0x202;
	cpu_fault = 0;
	cpu_run();
	runs++;
	memcpy(after->gpr, cpu_gpr, sizeof cpu_gpr);
	after->flags = cpu_flags;
	for (unsigned i = 0; i < insn->memory_count; i++)
		memcpy(after->memory[i], region_rw[i] + PAGE - sizeof after->memory[i], sizeof after->memory[i]);
}

static bool access_succeeds(const uint64_t *gpr, uint64_t flags)
{
	struct state after;
	run(gpr, flags, &after);
	return cpu_fault != SIGSEGV &&
	       cpu_fault != SIGBUS; /* a moved base may be an operand too, e.g. of a division */
}

/* ---- the checks ------------------------------------------------------------------------------------------ */

static void check_unchanged(const uint64_t *gpr, uint64_t flags, const struct state *after)
{
	uint64_t may_change = spread(insn->flags_written | insn->flags_maybe | insn->flags_undefined);
	if ((flags ^ after->flags) & spread(0x7f) & ~may_change)
		complain("a flag changed that is not written", flags, after->flags);
	for (unsigned r = 0; r < 16; r++)
		if (r != X86_RSP && !(insn->gpr_written >> r & 1) && gpr[r] != after->gpr[r])
			complain("a register changed that is not written", r, after->gpr[r]);
	for (unsigned i = 0; i < insn->memory_count; i++) {
		const struct x86_memory *m = &insn->memory[i];
		unsigned end = m->flags & X86_MEM_WRITE ? PAGE - m->width : PAGE;
		if (memcmp(region_rw[i], region_content[i], end))
			complain("memory changed outside the operand", i, m->width);
	}
}

/* Two runs must agree in all that is written (or killed) for sure. Registers in `ignored` were different before. */
static void check_same(const char *what, const struct state *a, const struct state *b, unsigned ignored)
{
	if ((a->flags ^ b->flags) & spread(insn->flags_killed))
		complain(what, a->flags, b->flags);
	for (unsigned r = 0; r < 16; r++)
		if (insn->gpr_written >> r & 1 && !(ignored >> r & 1) && a->gpr[r] != b->gpr[r])
			complain(what, a->gpr[r], b->gpr[r]);
	for (unsigned i = 0; i < insn->memory_count; i++)
		if (insn->memory[i].flags & X86_MEM_WRITE && insn->memory[i].width <= sizeof a->memory[i]) {
			unsigned from = (unsigned)sizeof a->memory[i] - insn->memory[i].width;
			if (memcmp(a->memory[i] + from, b->memory[i] + from, insn->memory[i].width))
				complain(what, i, insn->memory[i].width);
		}
}

static void check_dependence(const uint64_t *gpr, uint64_t flags, const struct state *first)
{
	struct state after;
	uint64_t other[16];
	uint64_t unread = spread(0x3f & ~insn->flags_read);
	/* A flag that may be kept is in nobody's "written", so it is compared nowhere. */
	run(gpr, flags ^ unread, &after);
	if (cpu_fault)
		complain("faults with other flags", flags, 0);
	else
		check_same("depends on a flag that is not read", first, &after, 0);

	memcpy(other, gpr, sizeof other);
	unsigned fixed = insn->gpr_read | placed_bases() | 1u << X86_RSP;
	for (unsigned r = 0; r < 16; r++)
		if (!(fixed >> r & 1))
			other[r] = random64();
	run(other, flags, &after);
	if (cpu_fault)
		complain("faults with other registers", insn->gpr_read, 0);
	else
		check_same("depends on a register that is not read", first, &after, 0);

	bool changed = false;
	for (unsigned i = 0; i < insn->memory_count; i++) {
		const struct x86_memory *m = &insn->memory[i];
		unsigned keep = m->flags & X86_MEM_READ ? m->width : 0;
		if (m->flags & X86_MEM_CONDITIONAL && m->flags & X86_MEM_WRITE)
			return; /* bytes that are not selected survive */
		for (unsigned b = 0; b < PAGE - keep; b++)
			region_content[i][b] ^= 0x5a;
		changed = true;
	}
	if (changed) {
		run(gpr, flags, &after);
		if (cpu_fault)
			complain("faults with other memory", 0, 0);
		else
			check_same("depends on memory that is not read", first, &after, 0);
	}
}

static void check_extent(const uint64_t *gpr, uint64_t flags)
{
	uint64_t moved[16];
	for (unsigned i = 0; i < insn->memory_count; i++) {
		const struct x86_memory *m = &insn->memory[i];
		if (m->flags & X86_MEM_CONDITIONAL)
			continue;
		memcpy(moved, gpr, sizeof moved);
		if (m->flags & X86_MEM_ADDRESS_ONLY) {
			bool flush = insn->map == X86_MAP_0F &&
				     (insn->opcode == 0xae || insn->opcode == 0x1c || insn->opcode == 0x01);
			if (flush) /* clflush and its kin check the address like a load */
				continue;
			place(m, moved, nowhere);
			if (!access_succeeds(moved, flags))
				complain("an address-only operand was accessed", i, 0);
			continue;
		}
		place(m, moved, natural_place(m, region_rw, i) + 1);
		if (m->width > 1 ? access_succeeds(moved, flags) : false)
			complain("the operand is narrower than its width", i, m->width);
		place(m, moved, natural_place(m, region_ro, i));
		if (access_succeeds(moved, flags) == !!(m->flags & X86_MEM_WRITE))
			complain("a read-only page shows that WRITE is wrong", i, m->flags);
	}
}

static void load_code(const uint8_t *code, unsigned length)
{
	memcpy(cpu_code, code, length);
	memcpy(cpu_code + length, "\xff\x25\0\0\0\0", 6);
	memcpy(cpu_code + length + 6, &(void *){cpu_back}, 8);
}

/* lea shows what address the CPU makes of an encoding. */
static void check_lea(const uint64_t *gpr, const struct state *after)
{
	const struct x86_memory *m = &insn->memory[0];
	if (!is_lea(insn))
		return;
	uint64_t address = (m->base < 16 ? gpr[m->base] : 0) + index_part(m, gpr) + (uint64_t)m->displacement;
	uint64_t mask = insn->operand_bytes == 8 && insn->address_bytes == 8 ? ~0ull
			: insn->operand_bytes == 2                           ? 0xffff
									     : 0xffffffff;
	if ((after->gpr[insn->reg] ^ address) & mask)
		complain("lea makes another address", after->gpr[insn->reg], address);
}

static bool suitable(const struct x86_insn *in)
{
	if (in->flow != X86_FLOW_NONE || in->special != X86_SPECIAL_NONE ||
	    in->class & (X86_CLASS_REP | X86_CLASS_STACK | X86_CLASS_AMX))
		return false;
	if ((in->gpr_written | in->gpr_read) >> X86_RSP & 1 ||
	    (in->flags_written | in->flags_maybe) & X86_FLAG_SYSTEM)
		return false;
	/* rdrand, rdseed: random by design; also VMX and SMX in that row */
	if (in->map == X86_MAP_0F && in->opcode == 0xc7 && (in->modrm & 0x30) == 0x30)
		return false;
	/* getsec, VIA, and loads of mxcsr and of the x87 environment, which may unmask exceptions for the rest */
	if (in->map == X86_MAP_0F && (in->opcode == 0x37 || in->opcode == 0xa6 || in->opcode == 0xa7))
		return false;
	for (unsigned i = 0; i < in->memory_count; i++)
		if (in->memory[i].width == 0 && !(in->memory[i].flags & X86_MEM_ADDRESS_ONLY))
			return false;
	return can_place(in);
}

static void try_one(const uint8_t *code)
{
	struct x86_insn in;
	struct state after;
	uint64_t gpr[16], flags = spread(below(0x40));
	if (x86_decode(code, 15, &in) != X86_DECODE_OK || !suitable(&in))
		return;
	insn = &in;
	insn_bytes = code;
	load_code(code, in.length);
	for (unsigned r = 0; r < 16; r++)
		gpr[r] = below(4) ? random64() : below(4) ? below(70) : below(2) ? 0 : ~0ull;
	for (unsigned i = 0; i < in.memory_count; i++)
		for (unsigned b = PAGE - 576; b < PAGE; b++)
			region_content[i][b] = (uint8_t)(b % 8 ? random64() : below(3));
	place_all(gpr);
	run(gpr, flags, &after);
	if (cpu_fault)
		return;
	executed++;
	with_memory += in.memory_count > 0;
	check_lea(gpr, &after);
	check_unchanged(gpr, flags, &after);
	check_dependence(gpr, flags, &after);
	check_extent(gpr, flags);
}

/* ---- single facts that chance would not show -------------------------------------------------------------- */

static unsigned tests, failed;

static void report(bool ok, const char *fact)
{
	printf("%s %u - %s\n", ok ? "ok" : "not ok", ++tests, fact);
	failed += !ok;
}

static bool decode_and_load(const char *bytes, unsigned length, struct x86_insn *in)
{
	insn = in;
	insn_bytes = (const uint8_t *)bytes;
	load_code(insn_bytes, length);
	return x86_decode(insn_bytes, length, in) == X86_DECODE_OK && in->length == length;
}

static void single_facts(void)
{
	struct x86_insn in;
	struct state after;
	uint64_t gpr[16] = {0};

	uint8_t *high = mmap((void *)0x90000000, PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (high == (uint8_t *)0x90000000) {
		high[0] = 0x5c;
		bool ok = decode_and_load("\x67\xa0\x00\x00\x00\x90", 6, &in) &&
			  in.memory[0].displacement == 0x90000000;
		in.memory_count = 0; /* not in a region */
		run(gpr, 0, &after);
		report(ok && !cpu_fault && (after.gpr[0] & 0xff) == 0x5c,
		       "a 32-bit absolute address is zero-extended");
		munmap(high, PAGE);
	}

	/* push 1; pop [rsp+8] would write at rsp as it was, plus 8; the three words below stay the program's own. */
	static const char pop[] = "\x48\x83\xec\x20"
				  "\x6a\x07"
				  "\x8f\x44\x24\x08"
				  "\x48\x8b\x44\x24\x08"
				  "\x48\x8d\x64\x24\x20";
	bool ok = x86_decode((const uint8_t *)pop + 6, 4, &in) == X86_DECODE_OK &&
		  in.memory[0].displacement == 16 && in.memory_count == 2;
	in.memory_count = 0;
	insn = &in;
	load_code((const uint8_t *)pop, sizeof pop - 1);
	run(gpr, 0, &after);
	report(ok && !cpu_fault && after.gpr[X86_RAX] == 7,
	       "pop to [rsp + d] writes at d above the incremented rsp");

	ok = decode_and_load("\xd3\x26", 2, &in) && in.memory[0].flags & X86_MEM_WRITE &&
	     in.flags_maybe == (X86_FLAGS_ARITHMETIC & ~X86_FLAG_AF);
	gpr[X86_RSI] = (uint64_t)region_ro[0];
	report(ok && !access_succeeds(gpr, 0), "shl of memory by a cl of 0 writes");

	ok = decode_and_load("\x0f\xb1\x16", 3, &in) && in.memory[0].flags & X86_MEM_WRITE;
	memset(region_content[0], 1, PAGE);
	report(ok && !access_succeeds(gpr, 0), "a cmpxchg that fails writes");

	ok = decode_and_load("\x0f\xbc\xc1", 3, &in) && in.gpr_read & 1;
	gpr[X86_RAX] = 0x1234567887654321;
	run(gpr, 0, &after);
	report(ok && after.gpr[X86_RAX] == gpr[X86_RAX], "bsf of 0 keeps the destination");

	ok = decode_and_load("\x0f\x45\xc1", 3, &in) && in.gpr_read & 1 && in.gpr_written & 1;
	run(gpr, 0x40, &after);
	report(ok && after.gpr[X86_RAX] == 0x87654321, "a 32-bit cmov that does not move clears the upper half");
}

/* ---- set-up ------------------------------------------------------------------------------------------------ */

static void map_regions(void)
{
	int fd = memfd_create("operands", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, REGIONS * PAGE))
		abort();
	for (unsigned i = 0; i < REGIONS; i++) {
		uint8_t **both[] = {&region_rw[i], &region_ro[i]};
		for (unsigned k = 0; k < 2; k++) {
			uint8_t *at = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1,
					   0);
			if (at == MAP_FAILED || mmap(at + PAGE, PAGE, k ? PROT_READ : PROT_READ | PROT_WRITE,
						     MAP_SHARED | MAP_FIXED, fd, i * PAGE) == MAP_FAILED)
				abort();
			*both[k] = at + PAGE;
		}
	}
	nowhere = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	cpu_code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (nowhere == MAP_FAILED || cpu_code == MAP_FAILED)
		abort();
}

static void catch_faults(void)
{
	static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
	stack_t stack = {.ss_size = 1 << 18, .ss_sp = malloc(1 << 18)};
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigaltstack(&stack, NULL);
	for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		sigaction(numbers[i], &action, NULL);
}

/* Small numbers and anything in the vector registers, a few bits in the opmasks. */
static void fill_vectors(void)
{
	cpu_vectors = aligned_alloc(64, 16384);
	memset(cpu_vectors, 0, 16384);
	__asm__ volatile("xsave64 (%0)" : : "r"(cpu_vectors), "a"(-1), "d"(-1) : "memory");
	for (unsigned i = 0; i < 256; i++)
		cpu_vectors[160 + i] = (uint8_t)(i % 16 == 0 ? i : random64());
	*(uint64_t *)(void *)(cpu_vectors + 512) |= 3; /* x87 and SSE state are in the image */
	*(uint32_t *)(void *)(cpu_vectors + 24) = 0x1f80;
}

static void random_instruction(uint8_t *p)
{
	uint8_t *end = p + 24;
	for (uint8_t *q = p; q < end; q += 8) {
		uint64_t r = random64();
		memcpy(q, &r, 8);
	}
	static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3, 0xf0, 0x67};
	unsigned kind = below(12);
	if (kind < 7) {
		for (unsigned n = below(3); n; n--)
			*p++ = prefixes[below(5)];
		if (below(2))
			*p++ = (uint8_t)(0x40 | below(16));
		if (kind > 2)
			*p++ = 0x0f;
		if (kind > 4)
			*p++ = kind == 5 ? 0x38 : 0x3a;
	} else if (kind < 9) {
		*p++ = 0xc4;
		*p = (uint8_t)((*p & 0xe0) | (1 + below(3)));
		p++;
		*p = (uint8_t)(below(2) ? *p | 0x78 : *p);
		p++;
	} else {
		static const uint8_t maps[] = {1, 2, 3, 5, 6};
		*p++ = 0x62;
		*p = (uint8_t)((*p & 0xf0) | maps[below(5)]);
		p++;
		*p = (uint8_t)((below(2) ? *p | 0x78 : *p) | 4);
		p++;
		*p = (uint8_t)(below(2) ? (*p & 0x78) | 8 : *p | 8);
		p++;
	}
}

int main(int argc, char **argv)
{
	unsigned long long count = argc > 1 ? strtoull(argv[1], NULL, 0) : 300000;
	random_state = (argc > 2 ? strtoull(argv[2], NULL, 0) : 1) * 2 + 1;
	uint8_t code[32];
	if (!__builtin_cpu_supports("avx")) {
		printf("1..0 # SKIP the CPU has no AVX\n");
		return 0;
	}
	map_regions();
	catch_faults();
	fill_vectors();
	for (unsigned long long i = 0; i < count; i++) {
		random_instruction(code);
		try_one(code);
	}
	printf("# %llu executed, %llu with memory, %llu runs\n", executed, with_memory, runs);
	report(!failures, "random instructions do to registers, flags and memory what the record says");
	single_facts();
	printf("1..%u\n", tests);
	return failed != 0;
}
