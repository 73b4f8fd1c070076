/*
 * truth PROGRAM: every event of a static program, by single steps (ptrace) and Zydis; `name value` lines on stderr.
 *
 * The witness of random programs (generate): it shares nothing with the engine, neither tables nor rules. What an event is follows
 * data/events/program.events; what an instruction does is Zydis', and its addresses are computed from the registers before the step.
 * A step that stays on a rep instruction is an iteration. Signals are delivered; a step that a fault undid counts nothing.
 */
#define _GNU_SOURCE
#include <Zydis/Zydis.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS(X) \
	X(instructions) X(basic_blocks) X(loads) X(stores) X(memory_instructions) X(data_reads) X(data_writes) X(data_read_bytes) X(data_write_bytes) \
	X(misaligned_accesses) X(line_crossing_loads) X(line_crossing_stores) X(page_crossing_accesses) X(prefetch_instructions) \
	X(non_temporal_stores) X(locked_instructions) X(fences) X(rep_instructions) X(rep_iterations) X(string_instructions) \
	X(conditional_branches) X(conditional_taken) X(direct_jumps) X(indirect_jumps) X(direct_calls) X(indirect_calls) X(returns) \
	X(fp_instructions) X(fp_operations) X(fp_single_operations) X(fp_double_operations) X(fp_sse_operations) X(fma_instructions) \
	X(fp_scalar_single) X(fp_scalar_double) X(fp_128_single) X(fp_128_double) X(fp_256_single) X(fp_256_double) X(fp_512_single) X(fp_512_double) \
	X(fp_vector_single) X(fp_vector_double) X(fp_divides) X(fp_square_roots) X(fp_conversions) X(fp_integer_conversions) X(x87_instructions) \
	X(x87_operations) X(integer_instructions) X(integer_multiplies) X(integer_divides) X(vector_instructions) X(crypto_instructions) X(nops) \
	X(cpuid_instructions) X(tsc_reads) X(serialising_instructions) X(system_calls) X(code_lines) X(code_pages) X(gathers)

#define NAME(x) E_##x,
enum { EVENTS(NAME) COUNT };
#define TEXT(x) #x,
static const char *const names[] = { EVENTS(TEXT) };
static uint64_t of[COUNT];

/* Programs are small and in one place: what was executed, and which addresses begin blocks. */
enum { PLACES = 1 << 16 };
static uint64_t base, executions[PLACES];
static bool leaders[PLACES];
static ZydisDecoder decoder;

static bool one_of(const char *name, const char *list)
{
	size_t n = strlen(name);
	for (const char *at = list; (at = strstr(at, name)); at += n)
		if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
	return false;
}

struct step {
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	const char *name, *plain; /* plain: without the v of AVX */
	bool rep, vector, x87, branch;
	unsigned bytes;           /* of vectors */
};

static void look(struct step *s)
{
	s->name = s->plain = ZydisMnemonicGetString(s->z.mnemonic);
	bool avx = s->z.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX || s->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
	if (avx && s->name[0] == 'v')
		s->plain++;
	s->bytes = s->z.avx.vector_length ? s->z.avx.vector_length / 8u : 16;
	s->vector = one_of(s->name, "vzeroupper vzeroall emms");
	for (unsigned i = 0; i < s->z.operand_count; i++) {
		if (s->op[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		ZydisRegisterClass class = ZydisRegisterGetClass(s->op[i].reg.value);
		s->vector |= class == ZYDIS_REGCLASS_MMX || class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM || class == ZYDIS_REGCLASS_ZMM
			|| class == ZYDIS_REGCLASS_MASK;
	}
	s->x87 = s->z.meta.isa_ext == ZYDIS_ISA_EXT_X87 && strcmp(s->name, "emms");
	ZydisInstructionCategory c = s->z.meta.category;
	s->branch = c == ZYDIS_CATEGORY_COND_BR || c == ZYDIS_CATEGORY_UNCOND_BR || c == ZYDIS_CATEGORY_CALL || c == ZYDIS_CATEGORY_RET;
	s->rep = c == ZYDIS_CATEGORY_STRINGOP && s->z.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

/* ---- accesses ---- */

static uint64_t value_of(const struct user_regs_struct *r, ZydisRegister reg)
{
	switch (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg)) {
	case ZYDIS_REGISTER_RAX: return r->rax; case ZYDIS_REGISTER_RCX: return r->rcx; case ZYDIS_REGISTER_RDX: return r->rdx;
	case ZYDIS_REGISTER_RBX: return r->rbx; case ZYDIS_REGISTER_RSP: return r->rsp; case ZYDIS_REGISTER_RBP: return r->rbp;
	case ZYDIS_REGISTER_RSI: return r->rsi; case ZYDIS_REGISTER_RDI: return r->rdi; case ZYDIS_REGISTER_R8: return r->r8;
	case ZYDIS_REGISTER_R9: return r->r9; case ZYDIS_REGISTER_R10: return r->r10; case ZYDIS_REGISTER_R11: return r->r11;
	case ZYDIS_REGISTER_R12: return r->r12; case ZYDIS_REGISTER_R13: return r->r13; case ZYDIS_REGISTER_R14: return r->r14;
	case ZYDIS_REGISTER_R15: return r->r15;
	default: return 0;
	}
}

static void access_at(uint64_t address, unsigned bytes, bool write)
{
	of[write ? E_data_writes : E_data_reads]++;
	of[write ? E_data_write_bytes : E_data_read_bytes] += bytes;
	of[E_misaligned_accesses] += !(bytes & (bytes - 1)) && address % bytes != 0; /* ten bytes have no alignment (model/core/counts.h) */
	if (address / 64 != (address + bytes - 1) / 64)
		of[write ? E_line_crossing_stores : E_line_crossing_loads]++;
	of[E_page_crossing_accesses] += address / 4096 != (address + bytes - 1) / 4096;
}

static uint64_t address_of(const struct step *s, const ZydisDecodedOperand *op, const struct user_regs_struct *r, bool write)
{
	uint64_t at = (uint64_t)op->mem.disp.value;
	if (op->mem.base == ZYDIS_REGISTER_RIP)
		at += r->rip + s->z.length;
	else if (op->mem.base != ZYDIS_REGISTER_NONE)
		at += value_of(r, op->mem.base);
	if (op->mem.index != ZYDIS_REGISTER_NONE)
		at += value_of(r, op->mem.index) * op->mem.scale;
	bool pushed = op->encoding == ZYDIS_OPERAND_ENCODING_NONE && write && op->mem.base == ZYDIS_REGISTER_RSP;
	if (one_of(s->name, "bt bts btr btc") && s->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
		unsigned bits = s->op[0].size;
		int64_t offset = (int64_t)value_of(r, s->op[1].reg.value);
		offset = bits == 16 ? (int16_t)offset : bits == 32 ? (int32_t)offset : offset;
		int64_t units = offset >= 0 ? offset / bits : -((-offset + bits - 1) / bits);
		at += (uint64_t)(units * (bits / 8));
	}
	return pushed ? at - op->size / 8u : at;
}

static void accesses(const struct step *s, const struct user_regs_struct *r)
{
	bool hint = s->z.meta.category == ZYDIS_CATEGORY_PREFETCH || one_of(s->name, "lea nop clflush clflushopt");
	bool read = false, wrote = false;
	for (unsigned i = 0; i < s->z.operand_count && !hint; i++) {
		const ZydisDecodedOperand *op = &s->op[i];
		if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			continue;
		bool reads = op->actions & (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD);
		bool writes = op->actions & (ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE);
		read |= reads, wrote |= writes;
		if (s->rep && !r->rcx)
			continue;
		if (reads)
			access_at(address_of(s, op, r, false), op->size / 8u, false);
		if (writes)
			access_at(address_of(s, op, r, true), op->size / 8u, true);
	}
	of[E_loads] += 0;
	(void)read, (void)wrote;
}

static void load_or_store(const struct step *s)
{
	bool read = false, wrote = false, hint = s->z.meta.category == ZYDIS_CATEGORY_PREFETCH || one_of(s->name, "lea nop clflush clflushopt");
	for (unsigned i = 0; i < s->z.operand_count && !hint; i++) {
		const ZydisDecodedOperand *op = &s->op[i];
		if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			continue;
		read |= (op->actions & (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD)) != 0;
		wrote |= (op->actions & (ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE)) != 0;
	}
	of[E_loads] += read, of[E_stores] += wrote, of[E_memory_instructions] += read || wrote;
	of[E_locked_instructions] += (s->z.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 || (!strcmp(s->name, "xchg") && wrote);
	of[E_non_temporal_stores] += wrote && !strncmp(s->plain, "movnt", 5);
	of[E_prefetch_instructions] += s->z.meta.category == ZYDIS_CATEGORY_PREFETCH;
}

/* ---- arithmetic ---- */

static void floating_point(const struct step *s)
{
	const char *p = s->plain;
	size_t n = strlen(p);
	if (s->x87) {
		bool computes = one_of(p, "fadd faddp fiadd fsub fsubp fsubr fsubrp fmul fmulp fdiv fdivp fdivr fdivrp fsqrt fscale fprem");
		of[E_x87_instructions]++;
		of[E_x87_operations] += computes, of[E_fp_operations] += computes, of[E_fp_instructions] += computes;
		of[E_fp_divides] += !strncmp(p, "fdiv", 4), of[E_fp_square_roots] += !strcmp(p, "fsqrt");
		of[E_fp_integer_conversions] += one_of(p, "fild fist fistp fisttp");
		return;
	}
	of[E_fp_conversions] += one_of(p, "cvtss2sd cvtsd2ss cvtps2pd cvtpd2ps");
	of[E_fp_integer_conversions] += one_of(p, "cvtsi2sd cvtsi2ss cvtsd2si cvttsd2si cvtss2si cvttss2si cvtdq2ps cvtdq2pd cvtps2dq cvttps2dq cvtpd2dq cvttpd2dq");
	if (n < 4 || (p[n - 2] != 's' && p[n - 2] != 'p') || (p[n - 1] != 's' && p[n - 1] != 'd'))
		return;
	char stem[16] = "";
	memcpy(stem, p, n - 2 < 15 ? n - 2 : 15);
	bool fused = !strncmp(stem, "fmadd", 5) || !strncmp(stem, "fnmadd", 6) || !strncmp(stem, "fmsub", 5) || !strncmp(stem, "fnmsub", 6);
	if (!fused && !one_of(stem, "add sub mul div sqrt min max hadd hsub addsub rcp rsqrt dp"))
		return;
	bool scalar = p[n - 2] == 's', wide = p[n - 1] == 'd';
	unsigned lanes = scalar ? 1 : s->bytes / (wide ? 8 : 4), operations = lanes * (fused || !strcmp(stem, "dp") ? 2 : 1);
	of[E_fp_instructions]++, of[E_fp_operations] += operations, of[E_fp_sse_operations] += operations;
	of[wide ? E_fp_double_operations : E_fp_single_operations] += operations;
	of[E_fma_instructions] += fused;
	unsigned width = scalar ? 0 : s->bytes == 16 ? 1 : s->bytes == 32 ? 2 : 3; /* the events of a width count FMA instructions too: exact_count's two rows */
	of[E_fp_scalar_single + 2 * width + wide]++;
	if (!scalar)
		of[wide ? E_fp_vector_double : E_fp_vector_single]++;
	of[E_fp_divides] += !strcmp(stem, "div"), of[E_fp_square_roots] += !strcmp(stem, "sqrt");
}

/* All that does not depend on data. */
static void retired(const struct step *s)
{
	ZydisInstructionCategory c = s->z.meta.category;
	bool register_or_memory = s->z.operand_count && s->op[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE;
	of[E_instructions]++;
	load_or_store(s);
	floating_point(s);
	of[E_rep_instructions] += s->rep, of[E_string_instructions] += c == ZYDIS_CATEGORY_STRINGOP;
	of[E_fences] += one_of(s->name, "lfence mfence sfence");
	of[E_conditional_branches] += c == ZYDIS_CATEGORY_COND_BR;
	of[register_or_memory ? E_indirect_jumps : E_direct_jumps] += c == ZYDIS_CATEGORY_UNCOND_BR;
	of[register_or_memory ? E_indirect_calls : E_direct_calls] += c == ZYDIS_CATEGORY_CALL;
	of[E_returns] += c == ZYDIS_CATEGORY_RET;
	of[E_integer_instructions] += !s->branch && !s->x87 && !s->vector;
	of[E_integer_multiplies] += one_of(s->name, "mul imul mulx"), of[E_integer_divides] += one_of(s->name, "div idiv");
	of[E_vector_instructions] += s->vector;
	of[E_crypto_instructions] += one_of(s->plain, "aesenc aesdec aesenclast aesdeclast aesimc aeskeygenassist pclmulqdq");
	of[E_nops] += one_of(s->name, "nop pause endbr64 fnop");
	of[E_cpuid_instructions] += !strcmp(s->name, "cpuid"), of[E_serialising_instructions] += !strcmp(s->name, "cpuid");
	of[E_tsc_reads] += one_of(s->name, "rdtsc rdtscp");
	of[E_system_calls] += !strcmp(s->name, "syscall");
	of[E_gathers] += c == ZYDIS_CATEGORY_AVX2GATHER;
}

static size_t place(uint64_t address)
{
	if (address - base >= PLACES) {
		fprintf(stderr, "truth: code at 0x%llx is beyond what it keeps\n", (unsigned long long)address);
		exit(2);
	}
	return address - base;
}

static void code_places(const bool *lines, const bool *pages)
{
	for (unsigned i = 0; i < PLACES / 64; i++)
		of[E_code_lines] += lines[i];
	for (unsigned i = 0; i < PLACES / 4096; i++)
		of[E_code_pages] += pages[i];
}

int main(int argc, char **argv)
{
	static bool lines[PLACES / 64 + 1], pages[PLACES / 4096 + 1];
	int status, deliver = 0;
	uint64_t stays = 0;
	bool leader = true;
	if (argc < 2)
		return 2;
	pid_t child = fork();
	if (child == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[1], argv + 1);
		_exit(127);
	}
	waitpid(child, &status, 0);
	ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL);
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (;;) {
		struct user_regs_struct before, after = { 0 };
		struct step s = { 0 };
		uint8_t byte[16] = { 0 };
		ptrace(PTRACE_GETREGS, child, NULL, &before);
		if (!base)
			base = before.rip & ~4095ull;
		struct iovec to = { byte, 15 }, from = { (void *)before.rip, 15 };
		process_vm_readv(child, &to, 1, &from, 1, 0);
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, byte, 15, &s.z, s.op)))
			return fprintf(stderr, "truth: Zydis does not know what is at 0x%llx\n", before.rip), 2;
		look(&s);
		ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(long)deliver);
		bool delivered = deliver != 0;
		deliver = 0;
		waitpid(child, &status, 0);
		bool ended = !WIFSTOPPED(status);
		if (!ended)
			ptrace(PTRACE_GETREGS, child, NULL, &after);
		siginfo_t info = { 0 };
		if (!ended && WSTOPSIG(status) == SIGTRAP)
			ptrace(PTRACE_GETSIGINFO, child, NULL, &info);
		if (!ended && (WSTOPSIG(status) != SIGTRAP || info.si_code == SI_KERNEL)) { /* or int3, which is behind it */
			deliver = WSTOPSIG(status);
			if (after.rip == before.rip) { /* a fault: nothing was executed, and the instruction begins a block when it is */
				leaders[place(before.rip)] |= leader;
				if (!strcmp(s.name, "ud2")) /* as int3, it is a transfer of control: a block ends there */
					leaders[place(before.rip + s.z.length)] = true;
				continue;
			}
		}
		if (delivered) { /* the handler's first instruction is next */
			leader = true;
			stays = 0;
			continue;
		}
		if (ended && WIFSIGNALED(status))
			break;
		if (stays != before.rip || !s.rep) {
			retired(&s);
			executions[place(before.rip)]++;
			leaders[place(before.rip)] |= leader;
			for (unsigned i = 0; i < s.z.length; i++) {
				lines[place(before.rip + i) / 64] = true;
				pages[place(before.rip + i) / 4096] = true;
			}
			leader = s.branch || !strcmp(s.name, "int3");
			if (!strcmp(s.name, "int3"))
				leaders[place(before.rip + s.z.length)] = true;
		}
		accesses(&s, &before);
		of[E_rep_iterations] += s.rep && before.rcx;
		stays = s.rep && after.rip == before.rip ? before.rip : 0;
		if (ended)
			break;
		of[E_conditional_taken] += s.z.meta.category == ZYDIS_CATEGORY_COND_BR && after.rip != before.rip + s.z.length;
	}
	for (unsigned i = 0; i < PLACES; i++)
		of[E_basic_blocks] += leaders[i] ? executions[i] : 0;
	code_places(lines, pages);
	for (unsigned i = 0; i < COUNT; i++)
		fprintf(stderr, "%s %llu\n", names[i], (unsigned long long)of[i]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
