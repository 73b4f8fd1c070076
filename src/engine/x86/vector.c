#include "engine/x86/vector.h"

#include "engine/x86/xstate.h"

static void add_fp(uint32_t *of, const struct x86_insn *insn)
{
	uint32_t operations = insn->fp_operations;
	bool x87 = insn->class & X86_CLASS_X87_ARITH;
	of[COUNT_FP]++;
	of[COUNT_FP_OPERATIONS] += operations;
	if (x87) {
		of[COUNT_X87_OPERATIONS] += operations;
		return;
	}
	of[COUNT_SSE_OPERATIONS] += operations;
	if (insn->class & X86_CLASS_FP_FMA)
		of[COUNT_FMA]++;
	unsigned width = insn->fp_bytes >= 64 ? 3 : insn->fp_bytes >= 32 ? 2 : insn->fp_bytes >= 16 ? 1 : 0;
	if (insn->fp_precision == X86_FP_HALF || insn->fp_precision == X86_FP_BF16) {
		of[COUNT_HALF_OPERATIONS] += operations;
		return;
	}
	unsigned precision = insn->fp_precision == X86_FP_DOUBLE;
	of[precision ? COUNT_DOUBLE_OPERATIONS : COUNT_SINGLE_OPERATIONS] += operations;
	of[COUNT_FP_WIDTH(width, precision, insn->class & X86_CLASS_FP_FMA ? 1 : 0)]++;
	of[COUNT_FP_WIDTH(width, precision, 2)] += operations;
	if (width)
		of[precision ? COUNT_VECTOR_DOUBLE : COUNT_VECTOR_SINGLE]++;
}

/* What x87 has on D9 F0 to FF. */
enum {
	D9_F2XM1 = 0xf0,
	D9_FYL2X,
	D9_FPTAN,
	D9_FPATAN,
	D9_FYL2XP1 = 0xf9,
	D9_FSINCOS = 0xfb,
	D9_FSCALE = 0xfd,
	D9_FSIN,
	D9_FCOS
};

/*
 * The Pentium's FLOPs (Safford 1997, Appendix A, event 0x22): adds, subtracts, multiplies, divides, remainders and
 * square roots, and integer multiplications. An instruction for a transcendental function counts several times;
 * how often is not said.
 */
static void add_pentium_flops(uint32_t *of, const struct x86_insn *insn)
{
	unsigned d9 = insn->class & X86_CLASS_X87_ARITH && insn->opcode == 0xd9 && insn->modrm >= 0xc0
			      ? insn->modrm
			      : 0;
	switch (d9) {
	case D9_F2XM1:
	case D9_FYL2X:
	case D9_FPTAN:
	case D9_FPATAN:
	case D9_FYL2XP1:
	case D9_FSINCOS:
	case D9_FSIN:
	case D9_FCOS: of[COUNT_TRANSCENDENTAL]++; break;
	case D9_FSCALE: break;
	default:
		if (insn->class & (X86_CLASS_FP | X86_CLASS_X87_ARITH))
			of[COUNT_PENTIUM_FLOPS] += insn->fp_operations;
		of[COUNT_PENTIUM_FLOPS] += (insn->class & X86_CLASS_INT_MUL) != 0;
	}
}

static void add_flow(uint32_t *of, const struct x86_insn *insn)
{
	switch (insn->flow) {
	case X86_FLOW_JCC:
	case X86_FLOW_LOOP:
	case X86_FLOW_JRCXZ: of[COUNT_CONDITIONAL]++; break;
	case X86_FLOW_JMP:
	case X86_FLOW_JMP_ABS: of[COUNT_DIRECT_JUMPS]++; break;
	case X86_FLOW_CALL: of[COUNT_DIRECT_CALLS]++; break;
	case X86_FLOW_JMP_REG:
	case X86_FLOW_JMP_MEM:
	case X86_FLOW_JMP_FAR: of[COUNT_INDIRECT_JUMPS]++; break;
	case X86_FLOW_CALL_REG:
	case X86_FLOW_CALL_MEM:
	case X86_FLOW_CALL_FAR: of[COUNT_INDIRECT_CALLS]++; break;
	case X86_FLOW_RET:
	case X86_FLOW_RET_FAR: of[COUNT_RETURNS]++; break;
	case X86_FLOW_SYSCALL:
	case X86_FLOW_SYSENTER: of[COUNT_SYSTEM_CALLS]++; break;
	case X86_FLOW_INT:
		if ((insn->immediate & 0xff) == 0x80)
			of[COUNT_SYSTEM_CALLS]++;
		break;
	default: break;
	}
}

/* Is it a branch in the sense of the branches event? */
static bool is_branch(const struct x86_insn *insn)
{
	return insn->flow >= X86_FLOW_JCC && insn->flow <= X86_FLOW_RET_FAR && insn->flow != X86_FLOW_XBEGIN;
}

bool exact_count_needs_kind(enum exact_count count)
{
	switch (count) {
	case COUNT_INSTRUCTIONS:
	case COUNT_UNKNOWN:
	case COUNT_EXTENDED:
	case COUNT_REP:
	case COUNT_STRING:
	case COUNT_CONDITIONAL:
	case COUNT_DIRECT_JUMPS:
	case COUNT_INDIRECT_JUMPS:
	case COUNT_DIRECT_CALLS:
	case COUNT_INDIRECT_CALLS:
	case COUNT_RETURNS:
	case COUNT_X87:
	case COUNT_X87_OPERATIONS:
	case COUNT_SEGMENT_LOADS:
	case COUNT_CPUID:
	case COUNT_TSC:
	case COUNT_SYSTEM_CALLS:
	case COUNT_TAKEN:
	case COUNT_ITERATIONS:
	case COUNT_BASIC_BLOCKS:
	case COUNT_CODE_LINES:
	case COUNT_CODE_PAGES: return false;
	default: return true;
	}
}

static void each_adds(struct exact_each *each, enum exact_count of, unsigned times)
{
	if (times)
		each->adds[each->n].of = (uint8_t)of, each->adds[each->n++].times = (uint8_t)times;
}

static void each_iteration(struct exact_each *each, const struct x86_insn *insn)
{
	each->unit = EXACT_ITERATIONS;
	each_adds(each, COUNT_ITERATIONS, 1);
	each_adds(each, COUNT_READS, insn->data_reads);
	each_adds(each, COUNT_WRITES, insn->data_writes);
	each_adds(each, COUNT_READ_BYTES, insn->data_read_bytes);
	each_adds(each, COUNT_WRITE_BYTES, insn->data_write_bytes);
}

/* fxsave and fxrstor do not access the end of their area. */
static uint32_t bytes_of(const struct x86_insn *insn, uint32_t bytes)
{
	return insn->memory_count && bytes == insn->memory[0].width ? x86_operand_bytes(insn, &insn->memory[0])
								    : bytes;
}

static void each_operation(struct exact_each *each, const struct x86_insn *insn)
{
	struct x86_insn one = *insn;
	uint32_t with[COUNT_STATIC] = {0}, without[COUNT_STATIC] = {0};
	one.fp_operations = 1;
	add_fp(with, &one);
	add_pentium_flops(with, &one);
	one.fp_operations = 0;
	add_fp(without, &one);
	add_pentium_flops(without, &one);
	for (unsigned i = 0; i < COUNT_STATIC; i++)
		each_adds(each, (enum exact_count)i, with[i] - without[i]);
}

static void each_moved(struct exact_each *each, uint32_t *of, const struct x86_insn *insn)
{
	switch (x86_state_kind(insn)) {
	case X86_STATE_NONE: return;
	case X86_XSAVE:
	case X86_XSAVEOPT: of[COUNT_READ_BYTES] += X86_HEADER_READ; /* fall through */
	case X86_XSAVEC:
	case X86_TILE_STORE: each_adds(each, COUNT_WRITE_BYTES, 1); break;
	case X86_XRSTOR:
	case X86_TILE_LOAD: each_adds(each, COUNT_READ_BYTES, 1); break;
	case X86_TILE_PRODUCT: each_operation(each, insn); break;
	}
	each->unit = EXACT_AMOUNT;
}

/* Classes that are a count by themselves: an instruction has few of them. */
#define BIT(class) [__builtin_ctz(class)]
#define CLASSES_COUNTED                                                                                           \
	((uint32_t)X86_CLASS_LOAD | X86_CLASS_STORE | X86_CLASS_PREFETCH | X86_CLASS_LOCKED | X86_CLASS_FENCE |   \
	 X86_CLASS_GATHER | X86_CLASS_SCATTER | X86_CLASS_REP | X86_CLASS_STRING | X86_CLASS_FP_DIV |             \
	 X86_CLASS_FP_SQRT | X86_CLASS_FP_INT_CONVERT | X86_CLASS_X87 | X86_CLASS_INT_MUL | X86_CLASS_INT_DIV |   \
	 X86_CLASS_VECTOR | X86_CLASS_VECTOR_INT | X86_CLASS_CRYPTO | X86_CLASS_NOP | X86_CLASS_TSC |             \
	 X86_CLASS_SERIALISING)

void exact_vector_add(struct exact_vector *vector, const struct x86_insn *insn, struct exact_each *each)
{
	static const uint8_t count_of_class[32] = {
		BIT(X86_CLASS_LOAD) = COUNT_LOADS,
		BIT(X86_CLASS_STORE) = COUNT_STORES,
		BIT(X86_CLASS_PREFETCH) = COUNT_PREFETCH,
		BIT(X86_CLASS_LOCKED) = COUNT_LOCKED,
		BIT(X86_CLASS_FENCE) = COUNT_FENCES,
		BIT(X86_CLASS_GATHER) = COUNT_GATHERS,
		BIT(X86_CLASS_SCATTER) = COUNT_SCATTERS,
		BIT(X86_CLASS_REP) = COUNT_REP,
		BIT(X86_CLASS_STRING) = COUNT_STRING,
		BIT(X86_CLASS_FP_DIV) = COUNT_FP_DIVIDES,
		BIT(X86_CLASS_FP_SQRT) = COUNT_SQUARE_ROOTS,
		BIT(X86_CLASS_FP_INT_CONVERT) = COUNT_INTEGER_CONVERSIONS,
		BIT(X86_CLASS_X87) = COUNT_X87,
		BIT(X86_CLASS_INT_MUL) = COUNT_MULTIPLIES,
		BIT(X86_CLASS_INT_DIV) = COUNT_DIVIDES,
		BIT(X86_CLASS_VECTOR) = COUNT_VECTOR,
		BIT(X86_CLASS_VECTOR_INT) = COUNT_VECTOR_INTEGER,
		BIT(X86_CLASS_CRYPTO) = COUNT_CRYPTO,
		BIT(X86_CLASS_NOP) = COUNT_NOPS,
		BIT(X86_CLASS_TSC) = COUNT_TSC,
		BIT(X86_CLASS_SERIALISING) = COUNT_SERIALISING,
	};
	uint32_t *of = vector->of, class = insn->class;
	of[COUNT_INSTRUCTIONS]++;
	of[COUNT_EXTENDED] += insn->extended;
	if (class & X86_CLASS_UNKNOWN) {
		of[COUNT_UNKNOWN]++;
		*each = (struct exact_each){0};
		return;
	}
	for (uint32_t left = class & CLASSES_COUNTED; left; left &= left - 1)
		of[count_of_class[__builtin_ctz(left)]]++;
	of[COUNT_MEMORY] += (class & (X86_CLASS_LOAD | X86_CLASS_STORE)) != 0;
	/* movntdqa is a load */
	of[COUNT_NON_TEMPORAL] += (class & X86_CLASS_NON_TEMPORAL) && (class & X86_CLASS_STORE);
	/* its every load and store is one */
	of[COUNT_CONVERSIONS] += (class & X86_CLASS_FP_CONVERT) && !(class & X86_CLASS_X87);
	of[COUNT_CPUID] += insn->special == X86_SPECIAL_CPUID;
	of[COUNT_SEGMENT_LOADS] += insn->special == X86_SPECIAL_LOAD_FS || insn->special == X86_SPECIAL_LOAD_GS ||
				   insn->special == X86_SPECIAL_LOAD_SEGMENT;
	of[COUNT_INTEGER] += !is_branch(insn) && !(class & (X86_CLASS_X87 | X86_CLASS_VECTOR));
	of[COUNT_PACKED] += (class & X86_CLASS_VECTOR_INT) || ((class & X86_CLASS_FP) && insn->fp_bytes >= 16);
	if (class & (X86_CLASS_FP | X86_CLASS_X87_ARITH))
		add_fp(of, insn);
	add_pentium_flops(of, insn);
	add_flow(of, insn);
	*each = (struct exact_each){0};
	if (class & X86_CLASS_REP)
		each_iteration(each, insn);
	else
		of[COUNT_READS] += insn->data_reads, of[COUNT_WRITES] += insn->data_writes;
	if (!each->unit) {
		of[COUNT_READ_BYTES] += bytes_of(insn, insn->data_read_bytes),
			of[COUNT_WRITE_BYTES] += bytes_of(insn, insn->data_write_bytes);
		each_moved(each, of, insn);
	}
}
