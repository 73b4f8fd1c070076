/*
 * One basic block of the program → its code in the cache: the program's own instructions, the block's counter, and exits.
 *
 * What always holds:
 *  1. The counter's add stands where the flags are dead; else a register that is dead, else a spilled one, is used.
 *  2. No flag, and no register that is alive, differs from the program's at an instruction of the program's.
 *  3. The same bytes at the same place in the cache give the same code: translate_marks repeats the translation to learn
 *     what state each of its bytes stands for.
 *  4. Every displacement that is patched later lies within one cache line.
 */
#include "engine/runtime/emit.h"

#define INSNS_MAX 48u
#define LENGTH_MAX 512u
#define CHAIN_MAX 12


static struct {
	struct x86_insn insn[INSNS_MAX + 1];
	uint8_t bytes[LENGTH_MAX + 32];
	uint64_t pc;
	unsigned count, length;
	bool checked, truncated, invalid, sixteen;
} decoded;

static bool ends_block(const struct x86_insn *in)
{
	return in->flow != X86_FLOW_NONE || (in->class & X86_CLASS_REP);
}

/* Decodes from decoded.bytes, available bytes of them. */
static void decode_bytes(unsigned available, unsigned most)
{
	decoded.count = decoded.length = 0;
	decoded.truncated = decoded.invalid = false;
	while (decoded.count < most && decoded.length < LENGTH_MAX) {
		struct x86_insn *in = &decoded.insn[decoded.count];
		enum x86_decode_status status = x86_decode(decoded.bytes + decoded.length, available - decoded.length, in);
		if (status == X86_DECODE_TRUNCATED)
			decoded.truncated = true;
		if (status == X86_DECODE_INVALID)
			decoded.invalid = true;
		if (status != X86_DECODE_OK)
			return;
		decoded.count++;
		decoded.length += in->length;
		if (ends_block(in) || (decoded.checked && (in->class & X86_CLASS_STORE)))
			return;
	}
}

/* False: no instruction can be fetched there. */
static bool decode_block(uint64_t pc, bool single)
{
	const struct region *region = memory_executable(pc);
	if (!region)
		return false;
	uint64_t available = region->end - pc;
	if (available > LENGTH_MAX + 16)
		available = LENGTH_MAX + 16;
	/* first what is likely and in this page, for reading may have to protect; a second try reads more */
	unsigned rest = 4096 - (unsigned)(pc & 4095);
	for (unsigned want = rest < 128 ? rest : 128;; want = LENGTH_MAX + 16) {
		if (want > available)
			want = (unsigned)available;
		decoded.checked = memory_watch(pc, want, region);
		if (!safe_copy(decoded.bytes, (const void *)pc, want)) {
			uint64_t page = 4096 - (pc & 4095);
			if (want <= page || !safe_copy(decoded.bytes, (const void *)pc, page))
				return false;
			available = want = (unsigned)page;
		}
		decoded.pc = pc;
		decode_bytes(want, single ? 1 : INSNS_MAX);
		decoded.sixteen = want >= 16;
		if (!decoded.truncated || want == available)
			break;
	}
	/* the region may go on in the next one */
	if (decoded.truncated && !decoded.count) {
		unsigned have = (unsigned)available;
		const struct region *next = memory_executable(pc + have);
		if (have < 15 && next && safe_copy(decoded.bytes + have, (const void *)(pc + have), 15 - have)) {
			memory_watch(pc + have, 1, next);
			decode_bytes(15, 1);
		}
	}
	return decoded.count || decoded.invalid;
}

/* ---- operands --------------------------------------------------------------------------------- */

/* The instruction with its ModRM memory operand replaced by [base], base being one of the first 8 registers but rsp, rbp. */
static void copy_through(struct emit *e, const struct x86_insn *in, const uint8_t *code, unsigned base, bool drop_segment)
{
	uint8_t b[16];
	unsigned n = 0, modrm_at = 0, rex_at = 0, tail = in->modrm_offset + 1u + in->has_sib + in->displacement_size;
	for (unsigned i = 0; i <= in->modrm_offset; i++) {
		if (drop_segment && i < in->prefix_bytes && (code[i] == 0x65 || code[i] == 0x64 || code[i] == 0x67))
			continue;
		if (i == in->prefix_bytes)
			rex_at = n;
		if (i == in->modrm_offset)
			modrm_at = n;
		b[n++] = code[i];
	}
	b[modrm_at] = (uint8_t)((in->modrm & 0x38) | base);
	if ((in->encoding == X86_LEGACY || in->encoding == X86_3DNOW) && in->rex)
		b[rex_at] &= 0xfc;
	else if (in->encoding == X86_VEX3 || in->encoding == X86_EVEX || in->encoding == X86_XOP)
		b[rex_at + 1] |= 0x60; /* X and B are stored inverted */
	for (unsigned i = tail; i < in->length; i++)
		b[n++] = code[i];
	put_bytes(e, b, n);
}

static unsigned unused_register(const struct x86_insn *in, unsigned not)
{
	static const uint8_t choice[] = {X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSI, X86_RDI};
	unsigned used = in->gpr_read | in->gpr_written;
	for (unsigned i = 0; i < sizeof choice; i++)
		if (!(used >> choice[i] & 1) && choice[i] != not)
			return choice[i];
	return X86_NO_REG;
}

/* reg = the operand's address without a segment's base */
static void load_address(struct emit *e, const struct x86_insn *in, const uint8_t *code, unsigned reg)
{
	if (in->prefixes & X86_PREFIX_ADDRSIZE)
		put(e, 0x67);
	put(e, (uint8_t)(0x48 | (in->rex & 3)));
	put(e, 0x8d);
	put(e, (uint8_t)((in->modrm & 0xc7) | reg << 3));
	put_bytes(e, code + in->modrm_offset + 1, in->has_sib + in->displacement_size);
}

static void gs_operand(struct emit *e, const struct x86_insn *in, const uint8_t *code, unsigned k, uint64_t pc)
{
	unsigned base = unused_register(in, X86_NO_REG), second = unused_register(in, base);
	if (!in->has_modrm || in->rm != X86_NO_REG || base == X86_NO_REG || second == X86_NO_REG || in->memory_count == 0 ||
	    (in->memory[0].flags & (X86_MEM_VECTOR_INDEX | X86_MEM_IMPLICIT)))
		die("an instruction that uses gs in a way that the engine does not know", pc);
	gs_store(e, base, AT_SPILL_OPERAND);
	gs_store(e, second, AT_SPILL_SECOND);
	mark(e, MARK_INSN, k, SPILLED_OPERAND | SPILLED_SECOND, base | second << 4, 0);
	if (in->rip_relative)
		move_immediate(e, base, pc + in->length + (uint64_t)in->memory[0].displacement);
	else
		load_address(e, in, code, base);
	gs_load(e, second, AT_APP_GS);
	put_bytes(e, (const uint8_t[]){0x48, 0x8d, (uint8_t)(0x04 | base << 3), (uint8_t)(second << 3 | base)}, 4); /* lea base, [base + second] */
	gs_load(e, second, AT_SPILL_SECOND);
	mark(e, MARK_INSN, k, SPILLED_OPERAND, base, 0);
	copy_through(e, in, code, base, true);
	mark(e, MARK_INSN, k + 1, SPILLED_OPERAND, base, 0);
	gs_load(e, base, AT_SPILL_OPERAND);
}

static void copy(struct emit *e, const struct x86_insn *in, const uint8_t *code, unsigned k, uint64_t pc)
{
	switch (in->special) {
	case X86_SPECIAL_RDGSBASE:
	case X86_SPECIAL_WRGSBASE: {
		unsigned reg = in->rm;
		bool wide = in->operand_bytes == 8, write = in->special == X86_SPECIAL_WRGSBASE;
		if (!write && !wide) { /* mov r32, gs:[..] */
			put(e, 0x65);
			if (reg >= 8)
				put(e, 0x44);
			put(e, 0x8b);
			put(e, (uint8_t)(0x04 | (reg & 7) << 3));
			put(e, 0x25);
			put32(e, AT_APP_GS);
		} else if (!write) {
			gs_load(e, reg, AT_APP_GS);
		} else if (wide) {
			gs_store(e, reg, AT_APP_GS);
		} else { /* the high half is zeroed first: no signal can see it, for the mark stays */
			put_bytes(e, "\x65\xc7\x04\x25", 4);
			put32(e, AT_APP_GS + 4);
			put32(e, 0);
			put(e, 0x65);
			if (reg >= 8)
				put(e, 0x44);
			put(e, 0x89);
			put(e, (uint8_t)(0x04 | (reg & 7) << 3));
			put(e, 0x25);
			put32(e, AT_APP_GS);
		}
		return;
	}
	case X86_SPECIAL_LOAD_GS:
		die("the program loads the gs selector, which the engine does not support", pc);
	}
	if ((in->prefixes & X86_PREFIX_GS) && in->memory_count && in->memory[0].segment == X86_GS &&
	    !(in->memory[0].flags & X86_MEM_ADDRESS_ONLY)) {
		gs_operand(e, in, code, k, pc);
		return;
	}
	if (!in->rip_relative) {
		put_bytes(e, code, in->length);
		return;
	}
	uint64_t target = pc + in->length + (uint64_t)in->memory[0].displacement;
	int64_t distance = (int64_t)(target - (emit_address(e) + in->length));
	if (distance == (int32_t)distance && !(in->prefixes & X86_PREFIX_ADDRSIZE)) {
		uint32_t displacement = (uint32_t)distance;
		uint8_t *at = e->p;
		put_bytes(e, code, in->length);
		__builtin_memcpy(at + in->displacement_offset, &displacement, 4);
		return;
	}
	if (in->prefixes & X86_PREFIX_ADDRSIZE)
		target = (uint32_t)target;
	if (in->encoding == X86_LEGACY && in->map == X86_MAP_0 && in->opcode == 0x8d && in->operand_bytes == 8) {
		move_immediate(e, in->reg, target);
		return;
	}
	/* a register that the instruction overwrites anyway need not be given back */
	unsigned own = in->gpr_written & (uint16_t)~in->gpr_read & 0xcf, base = own ? (unsigned)__builtin_ctz(own) : unused_register(in, X86_NO_REG);
	if (own && (own & (own - 1)))
		own = 0, base = unused_register(in, X86_NO_REG);
	if (base == X86_NO_REG)
		die("no register is left for an operand", pc);
	gs_store(e, base, AT_SPILL_OPERAND);
	mark(e, MARK_INSN, k, SPILLED_OPERAND, base, 0);
	move_immediate(e, base, target);
	copy_through(e, in, code, base, false);
	if (!own) {
		mark(e, MARK_INSN, k + 1, SPILLED_OPERAND, base, 0);
		gs_load(e, base, AT_SPILL_OPERAND);
	}
}

/* ---- the counter ------------------------------------------------------------------------------ */

static void add_one(struct emit *e, uint32_t offset) /* add qword gs:[offset], 1: 10 bytes */
{
	put_bytes(e, "\x65\x48\x83\x04\x25", 5);
	put32(e, offset);
	put(e, 1);
}

static void increment_spilled(struct emit *e, uint32_t offset, unsigned reg)
{
	gs_store(e, reg, AT_SPILL_OPERAND);
	gs_load(e, reg, offset);
	lea_one(e, reg);
	gs_store(e, reg, offset);
	gs_load(e, reg, AT_SPILL_OPERAND);
}

/* ADD, INC: flags are dead. TWICE: a cmp or test with memory is executed once for its fault, then, behind the add, for its flags.
   DEAD: a register is. END: the terminator has spilled rax anyway. */
struct place { unsigned insn; enum { PLACE_NONE, PLACE_ADD, PLACE_INC, PLACE_TWICE, PLACE_DEAD, PLACE_END, PLACE_SPILL } how; unsigned reg; };

static bool only_compares(const struct x86_insn *in)
{
	if (in->encoding != X86_LEGACY || in->map != X86_MAP_0 || in->memory_count != 1 || (in->prefixes & (X86_PREFIX_GS | X86_PREFIX_LOCK)))
		return false;
	unsigned extension = in->modrm >> 3 & 7;
	switch (in->opcode) {
	case 0x38: case 0x39: case 0x3a: case 0x3b: case 0x84: case 0x85: return true;
	case 0x80: case 0x81: case 0x83: return extension == 7;
	case 0xf6: case 0xf7: return extension == 0;
	default: return false;
	}
}

static bool spills_at_end(const struct x86_insn *in)
{
	return in->flow == X86_FLOW_RET || (in->flow >= X86_FLOW_JMP_REG && in->flow <= X86_FLOW_CALL_MEM);
}

/* Whether a signal handler may see the flags and registers before the instruction, which then count as read. */
static bool may_fault(const struct x86_insn *in)
{
	if (in->class & (X86_CLASS_LOAD | X86_CLASS_STORE | X86_CLASS_INT_DIV | X86_CLASS_FP | X86_CLASS_X87 | X86_CLASS_FP_DIV | X86_CLASS_FP_CONVERT | X86_CLASS_FP_INT_CONVERT))
		return true;
	if (in->memory_count && !(in->memory[0].flags & X86_MEM_ADDRESS_ONLY))
		return true;
	return in->special != X86_SPECIAL_NONE || in->flow > X86_FLOW_CALL;
}

static struct place place_counter(const struct arena *arena, uint8_t *entry_live, uint8_t *scratch)
{
	static const uint8_t choice[] = {X86_R11, X86_R10, X86_R9, X86_R8, X86_RSI, X86_RDI, X86_RDX, X86_RCX, X86_RBX};
	uint16_t used = 0;
	int twice = -1;
	uint64_t end = decoded.pc + decoded.length;
	uint8_t live = X86_FLAGS_ARITHMETIC;
	int add = -1, inc = -1, dead = -1;
	uint16_t dead_after = 0, dead_mask = 0; /* registers that are written, unread, from here on */
	for (int k = (int)decoded.count - 1; k >= 0; k--) {
		const struct x86_insn *in = &decoded.insn[k];
		uint8_t live_after = live;
		used |= in->gpr_read;
		uint64_t operand = end + (uint64_t)in->memory[0].displacement;
		end -= in->length;
		live = x86_flags_live_before(in, live);
		if (only_compares(in) && !(live & X86_FLAGS_ARITHMETIC) && live_after &&
		    (!in->rip_relative || operand - (uint64_t)arena->base + 0x78000000u < 0xf0000000u))
			twice = k;
		dead_after = (uint16_t)((dead_after | in->gpr_written) & ~in->gpr_read);
		if (may_fault(in))
			live = X86_FLAGS_ARITHMETIC, dead_after = 0;
		if (!(live & X86_FLAGS_ARITHMETIC))
			add = k;
		else if (!(live & X86_FLAGS_ARITHMETIC & ~X86_FLAG_CF))
			inc = k;
		if (dead_after & 0x0fcf)
			dead = k, dead_mask = dead_after & 0x0fcf;
	}
	*entry_live = live & X86_FLAGS_ARITHMETIC;
	*scratch = X86_RAX;
	for (unsigned i = 0; i < sizeof choice && *scratch == X86_RAX && (used & 1); i++)
		if (!(used >> choice[i] & 1))
			*scratch = choice[i];
	if (add >= 0)
		return (struct place){(unsigned)add, PLACE_ADD, 0};
	if (inc >= 0)
		return (struct place){(unsigned)inc, PLACE_INC, 0};
	if (twice >= 0)
		return (struct place){(unsigned)twice, PLACE_TWICE, 0};
	if (decoded.count && spills_at_end(&decoded.insn[decoded.count - 1]))
		return (struct place){decoded.count - 1, PLACE_END, 0};
	if (dead >= 0)
		return (struct place){(unsigned)dead, PLACE_DEAD, (unsigned)__builtin_ctz(dead_mask)};
	return (struct place){0, PLACE_SPILL, *scratch};
}

static void count_block(struct emit *e, struct place place)
{
	uint32_t offset = THREAD_BYTES + e->id * 16;
	switch (place.how) {
	case PLACE_ADD: add_one(e, offset); break;
	case PLACE_INC:
		put_bytes(e, "\x65\x48\xff\x04\x25", 5);
		put32(e, offset);
		break;
	case PLACE_NONE:
	case PLACE_TWICE:
	case PLACE_END: return; /* emitted with their instructions */
	case PLACE_DEAD:
		gs_load(e, place.reg, offset);
		lea_one(e, place.reg);
		gs_store(e, place.reg, offset);
		break;
	case PLACE_SPILL:
		gs_store(e, place.reg, AT_SPILL_OPERAND);
		mark(e, MARK_INSN, place.insn, SPILLED_OPERAND, place.reg, 0);
		gs_load(e, place.reg, offset);
		lea_one(e, place.reg);
		gs_store(e, place.reg, offset);
		e->counted = true;
		mark(e, MARK_INSN, place.insn, SPILLED_OPERAND, place.reg, 0);
		gs_load(e, place.reg, AT_SPILL_OPERAND);
		break;
	}
	e->counted = true;
}

/* ---- exits ------------------------------------------------------------------------------------ */

static uint8_t *cold(struct emit *e, unsigned n) { return e->arena->cold -= n; }

static uint8_t *stub(struct emit *e, uint32_t exit)
{
	struct emit s = {.p = cold(e, 20)};
	uint8_t *at = s.p;
	put_bytes(&s, "\x65\xc7\x04\x25", 4);
	put32(&s, AT_EXIT_ID);
	put32(&s, exit);
	jump_gs(&s, AT_EXIT_ENTRY);
	cache_span(e->arena, at, true, SPAN_STUB, exit);
	return at;
}

/* Before an instruction whose displacement begins `ahead` bytes on. */
static void align_displacement(struct emit *e, unsigned ahead)
{
	unsigned at = (unsigned)(emit_address(e) + ahead) & 63;
	if (at > 60)
		nops(e, 64 - at);
}

/* A jmp, or with condition < 16 a jcc, that can be linked. */
static void linkable(struct emit *e, uint64_t target, enum exit_kind kind, unsigned condition)
{
	align_displacement(e, condition < 16 ? 2 : 1);
	if (condition < 16) {
		put(e, 0x0f);
		put(e, (uint8_t)(0x80 | condition));
	} else {
		put(e, 0xe9);
	}
	if (e->probe) {
		put32(e, 0);
		return;
	}
	uint32_t id = cache_exit(target, e->id, kind, e->arena);
	struct exit *exit = &rt.exits[id];
	exit->patch = e->p;
	exit->stub = stub(e, id);
	put32(e, (uint32_t)(exit->stub - (e->p + 4)));
}

/* An exit that always goes to the runtime. */
static void plain_exit(struct emit *e, uint64_t target, enum exit_kind kind)
{
	uint32_t id = e->probe ? 0 : cache_exit(target, e->id, kind, e->arena);
	put_bytes(e, "\x65\xc7\x04\x25", 4);
	put32(e, AT_EXIT_ID);
	put32(e, id);
	jump_gs(e, AT_EXIT_ENTRY);
}

/* push [rip + ...]: one access, no register, no flag */
static void push_return(struct emit *e, uint64_t pc)
{
	if ((int64_t)pc == (int32_t)pc) {
		put(e, 0x68);
		put32(e, (uint32_t)pc);
		return;
	}
	put(e, 0xff);
	put(e, 0x35);
	if (e->probe) {
		put32(e, 0);
		return;
	}
	e->arena->cold = (uint8_t *)((uint64_t)(e->arena->cold - 8) & ~7ull);
	__builtin_memcpy(e->arena->cold, &pc, 8);
	put32(e, (uint32_t)(e->arena->cold - (e->p + 4)));
}

/* rcx is the target, rax and rcx are spilled */
static void jump_table(struct emit *e, unsigned which)
{
	if (which == TABLE_CALL && rt.has_bmi2) {
		put_bytes(e, "\xc4\xe3\x7b\xf0\xc1\x04", 6); /* rorx eax, ecx, 4 */
		put_bytes(e, "\x0f\xb7\xc0", 3);             /* movzx eax, ax */
	} else {
		put_bytes(e, "\x0f\xb7\xc1", 3); /* movzx eax, cx */
	}
	put_bytes(e, "\xff\x24\xc5", 3); /* jmp [rax * 8 + table] */
	put32(e, (uint32_t)(uint64_t)(rt.tables + which * TABLE_SLOTS));
}

/* rax is spilled: the block's counter, if it is placed here */
static void count_at_end(struct emit *e, struct place place, unsigned k, unsigned spills)
{
	uint32_t offset = THREAD_BYTES + e->id * 16;
	if (place.how != PLACE_END)
		return;
	gs_load(e, X86_RAX, offset);
	lea_one(e, X86_RAX);
	gs_store(e, X86_RAX, offset);
	e->counted = true;
	mark(e, MARK_INSN, k, spills, 0, 0);
}

static void load_target(struct emit *e, const struct x86_insn *in, const uint8_t *code, unsigned k, uint64_t pc)
{
	gs_store(e, X86_RCX, AT_SPILL_RCX);
	gs_store(e, X86_RAX, AT_SPILL_RAX);
	mark(e, MARK_INSN, k, SPILLED_RAX | SPILLED_RCX, 0, 0);
	if (in->rm != X86_NO_REG) {
		if (in->rm != X86_RCX) {
			put(e, in->rm < 8 ? 0x48 : 0x4c);
			put(e, 0x89);
			put(e, (uint8_t)(0xc1 | (in->rm & 7) << 3));
		}
		return;
	}
	if (in->prefixes & X86_PREFIX_GS) {
		load_address(e, in, code, X86_RCX);
		gs_load(e, X86_RAX, AT_APP_GS);
		put_bytes(e, "\x48\x8b\x0c\x01", 4); /* mov rcx, [rcx + rax] */
		return;
	}
	if (in->prefixes & X86_PREFIX_FS)
		put(e, 0x64);
	if (in->rip_relative) {
		uint64_t address = pc + in->length + (uint64_t)in->memory[0].displacement;
		int64_t distance = (int64_t)(address - (emit_address(e) + 7));
		if (distance == (int32_t)distance && !(in->prefixes & X86_PREFIX_FS)) {
			put_bytes(e, "\x48\x8b\x0d", 3);
			put32(e, (uint32_t)distance);
			return;
		}
		if (in->prefixes & X86_PREFIX_FS)
			e->p--;
		move_immediate(e, X86_RCX, address);
		if (in->prefixes & X86_PREFIX_FS)
			put(e, 0x64);
		put_bytes(e, "\x48\x8b\x09", 3);
		return;
	}
	if (in->prefixes & X86_PREFIX_ADDRSIZE)
		put(e, 0x67);
	put(e, (uint8_t)(0x48 | (in->rex & 3)));
	put(e, 0x8b);
	put(e, (uint8_t)((in->modrm & 0xc7) | X86_RCX << 3));
	put_bytes(e, code + in->modrm_offset + 1, in->has_sib + in->displacement_size);
}

/* A repeated string instruction: the site's counter first takes the whole count, then gives back what was left. */
static void repeated(struct emit *e, const struct x86_insn *in, const uint8_t *code, unsigned k)
{
	uint32_t offset = THREAD_BYTES + e->id * 16 + 8;
	if (in->prefixes & X86_PREFIX_ADDRSIZE) {
		if (!e->probe)
			inexact("a repeated string instruction with a 32-bit count");
		put_bytes(e, code, in->length);
		return;
	}
	gs_store(e, X86_RAX, AT_SPILL_RAX);
	mark(e, MARK_INSN, k, SPILLED_RAX, 0, 0);
	gs_load(e, X86_RAX, offset);
	put_bytes(e, "\x48\x8d\x04\x08", 4); /* lea rax, [rax + rcx] */
	gs_store(e, X86_RAX, offset);
	mark(e, MARK_REP, k, SPILLED_RAX, 0, 0);
	gs_load(e, X86_RAX, AT_SPILL_RAX);
	mark(e, MARK_REP, k, 0, 0, 0);
	if ((in->prefixes & X86_PREFIX_GS) && in->memory[0].segment == X86_GS)
		die("a repeated string instruction on gs", 0);
	put_bytes(e, code, in->length);
	if ((in->opcode & 0xf6) == 0xa6) { /* cmps, scas: a count may be left */
		mark(e, MARK_REP, k + 1, 0, 0, 0);
		gs_store(e, X86_RAX, AT_SPILL_RAX);
		mark(e, MARK_REP, k + 1, SPILLED_RAX, 0, 0);
		put_bytes(e, "\x48\x89\xc8\x48\xf7\xd0", 6); /* mov rax, rcx; not rax: -rcx - 1, no flag */
		gs_store(e, X86_RCX, AT_SPILL_RCX);
		gs_load(e, X86_RCX, offset);
		mark(e, MARK_REP, k + 1, SPILLED_RAX | SPILLED_RCX, 0, 0);
		put_bytes(e, "\x48\x8d\x44\x01\x01", 5); /* lea rax, [rcx + rax + 1] */
		gs_store(e, X86_RAX, offset);
		mark(e, MARK_INSN, k + 1, SPILLED_RAX | SPILLED_RCX, 0, 0);
		gs_load(e, X86_RAX, AT_SPILL_RAX);
		gs_load(e, X86_RCX, AT_SPILL_RCX);
	}
}

/* The block's end. Returns true if the block goes on at *next whatever happens, and nothing that leads there is emitted. */
static bool block_end(struct emit *e, struct place place, const struct x86_insn *in, const uint8_t *code, unsigned k, uint64_t pc, uint64_t *next_out)
{
	uint64_t next = pc + in->length, target = next + (uint64_t)(int64_t)in->target_rel;
	*next_out = next;
	switch (in->flow) {
	case X86_FLOW_NONE:
		if (in->class & X86_CLASS_REP)
			repeated(e, in, code, k);
		else
			copy(e, in, code, k, pc);
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		return true;
	case X86_FLOW_JMP:
		*next_out = target;
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		return true;
	case X86_FLOW_CALL:
		push_return(e, next);
		*next_out = target;
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		return true;
	case X86_FLOW_JCC:
		linkable(e, target, EXIT_TAKEN, in->condition);
		mark(e, MARK_EXIT1, k + 1, 0, 0, 0);
		linkable(e, next, EXIT_NEXT, 16);
		return false;
	case X86_FLOW_LOOP:
	case X86_FLOW_JRCXZ: {
		if (in->prefixes & X86_PREFIX_ADDRSIZE)
			put(e, 0x67);
		put(e, in->opcode);
		uint8_t *hole = e->p++;
		mark(e, MARK_EXIT1, k + 1, 0, 0, 0);
		/* exit 0 is the taken one, as with jcc */
		uint8_t *after = e->p;
		uint64_t at = emit_address(e);
		(void)at;
		/* not taken: jump over the taken one's jmp, which has at most 3 nops in front */
		put_bytes(e, "\xeb", 1);
		uint8_t *over = e->p++;
		*hole = (uint8_t)(e->p - hole - 1);
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		linkable(e, target, EXIT_TAKEN, 16);
		*over = (uint8_t)(e->p - over - 1);
		(void)after;
		mark(e, MARK_EXIT1, k + 1, 0, 0, 0);
		linkable(e, next, EXIT_NEXT, 16);
		return false;
	}
	case X86_FLOW_JMP_REG:
	case X86_FLOW_JMP_MEM:
		load_target(e, in, code, k, pc);
		count_at_end(e, place, k, SPILLED_RAX | SPILLED_RCX);
		mark(e, MARK_TARGET, k + 1, 0, 0, 0);
		jump_table(e, in->rip_relative ? TABLE_CALL : TABLE_JUMP); /* jmp [rip + ...] is a call by way of a PLT */
		return false;
	case X86_FLOW_CALL_REG:
	case X86_FLOW_CALL_MEM:
		load_target(e, in, code, k, pc);
		count_at_end(e, place, k, SPILLED_RAX | SPILLED_RCX);
		push_return(e, next);
		mark(e, MARK_TARGET, k + 1, 0, 0, 0);
		jump_table(e, TABLE_CALL);
		return false;
	case X86_FLOW_RET:
		gs_store(e, X86_RCX, AT_SPILL_RCX);
		gs_store(e, X86_RAX, AT_SPILL_RAX);
		mark(e, MARK_INSN, k, SPILLED_RAX | SPILLED_RCX, 0, 0);
		count_at_end(e, place, k, SPILLED_RAX | SPILLED_RCX);
		put(e, 0x59); /* pop rcx */
		if (in->immediate_size) {
			mark(e, MARK_INSN, k, SPILLED_RAX | SPILLED_RCX, 0, -8);
			put_bytes(e, "\x48\x8d\xa4\x24", 4); /* lea rsp, [rsp + imm] */
			put32(e, (uint32_t)in->immediate & 0xffff);
		}
		mark(e, MARK_TARGET, k + 1, 0, 0, 0);
		jump_table(e, TABLE_RETURN);
		return false;
	case X86_FLOW_SYSCALL:
		plain_exit(e, next, EXIT_SYSCALL);
		return false;
	case X86_FLOW_INT:
		if ((in->immediate & 0xff) == 0x80) {
			plain_exit(e, next, EXIT_INT80);
			return false;
		}
		put_bytes(e, code, in->length); /* faults */
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		return true;
	case X86_FLOW_INT3:
	case X86_FLOW_INT1:
	case X86_FLOW_UD:
	case X86_FLOW_HLT:
	case X86_FLOW_XABORT:
	case X86_FLOW_XEND:
		put_bytes(e, code, in->length);
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		return true;
	case X86_FLOW_XBEGIN: /* a transaction that aborts at once, without a reason: what any processor may do */
		put(e, 0xb8);
		put32(e, 0);
		*next_out = target;
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		return true;
	case X86_FLOW_SYSENTER: /* a fault, natively, for what it returns to */
		put(e, 0xf4);
		mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
		return true;
	case X86_FLOW_RET_FAR:
	case X86_FLOW_IRET:
		plain_exit(e, next, EXIT_FAR);
		return false;
	default:
		die("a control transfer that the engine does not support (far, transactional or privileged)", pc);
	}
}

/* ---- a block ---------------------------------------------------------------------------------- */

/* Emits what is decoded. Returns as block_end does. */
static bool emit_block(struct emit *e, struct place place, uint64_t *next)
{
	const uint8_t *code = decoded.bytes;
	uint64_t pc = decoded.pc;
	e->counted = place.how == PLACE_NONE;
	for (unsigned k = 0; k < decoded.count; k++) {
		const struct x86_insn *in = &decoded.insn[k];
		mark(e, MARK_INSN, k, 0, 0, 0);
		if (k == place.insn && place.how != PLACE_NONE) {
			if (place.how == PLACE_TWICE) {
				copy(e, in, code, k, pc);
				add_one(e, THREAD_BYTES + e->id * 16);
				e->counted = true;
			}
			count_block(e, place);
			mark(e, MARK_INSN, k, 0, 0, 0);
		}
		if (k == decoded.count - 1)
			return block_end(e, place, in, code, k, pc, next);
		copy(e, in, code, k, pc);
		code += in->length;
		pc += in->length;
	}
	/* bytes that are no instruction: #UD there */
	mark(e, MARK_INSN, 0, 0, 0, 0);
	struct x86_insn in;
	/* sixteen bytes are a general protection fault (hlt), all else is #UD */
	bool too_long = decoded.sixteen && x86_decode(decoded.bytes + 1, 15, &in) == X86_DECODE_OK && in.length == 15;
	put_bytes(e, too_long ? "\xf4\x90" : "\x0f\x0b", 2);
	mark(e, MARK_EXIT0, 0, 0, 0, 0);
	*next = pc;
	return true;
}

static void indirect_entry(struct emit *e, uint64_t pc)
{
	move_immediate(e, X86_RAX, -pc);
	put_bytes(e, "\x48\x8d\x0c\x01\xe3\x05", 6); /* lea rcx, [rcx + rax]; jrcxz over the jmp */
	jump_to(e, e->arena->miss_check);
	gs_load(e, X86_RCX, AT_SPILL_RCX);
	gs_load(e, X86_RAX, AT_SPILL_RAX);
}

uint8_t *emit_indirect_entry(struct arena *arena, uint32_t id)
{
	arena->cold -= 48;
	struct emit e = {.p = arena->cold, .arena = arena};
	cache_span(arena, e.p, true, SPAN_INDIRECT, id);
	indirect_entry(&e, rt.blocks[id].pc);
	jump_to(&e, rt.blocks[id].code);
	return arena->cold;
}

/* The counter of a conditional branch's counted way, in front of `to` or, with to NULL, in the hot part and with a jmp to the target. */
uint8_t *emit_thunk(struct arena *arena, uint32_t exit_id, const struct block *target, uint8_t *to)
{
	struct emit e = {.p = arena->hot, .arena = arena};
	uint32_t offset = THREAD_BYTES + rt.exits[exit_id].block * 16 + 8;
	uint8_t *at = e.p;
	cache_span(arena, at, false, SPAN_THUNK, exit_id);
	if (target->entry_flags_live)
		increment_spilled(&e, offset, target->scratch);
	else
		add_one(&e, offset);
	if (!to)
		jump_to(&e, target->code);
	arena->hot = e.p;
	return at;
}

/*
 * Translates the block at pc, and with it those that it leads to whatever happens. indirect: make the entry for indirect
 * branches in front of it. single: one instruction, not entered in the map. Returns its number, NONE if pc cannot be fetched.
 */
static bool same_bytes(uint32_t id)
{
	const struct block *b = &rt.blocks[id];
	return !(b->flags & BLOCK_STALE) && b->length == decoded.length && !memcmp(b->bytes, decoded.bytes, decoded.length);
}

/* The number for what is decoded: the one it had if its bytes are the same, else a new one. */
static uint32_t number(uint64_t pc, uint32_t known, uint32_t parent)
{
	const struct x86_insn *last = decoded.count ? &decoded.insn[decoded.count - 1] : NULL;
	bool conditional = last && last->flow >= X86_FLOW_JCC && last->flow <= X86_FLOW_JRCXZ, fresh = known == NONE || !same_bytes(known);
	uint32_t id = fresh ? record_block_begin(pc) : known;
	struct block *b = &rt.blocks[id], old = *b;
	*b = (struct block){.pc = pc, .bytes = old.bytes, .incoming = NONE, .exit = {NONE, NONE}, .page_next = NONE, .tail_from = NONE,
		.length = (uint16_t)decoded.length, .insns = (uint16_t)decoded.count, .conditional = conditional, .follows = parent, .follower = NONE,
		.depth = parent == NONE ? 0 : rt.blocks[parent].depth + 1,
		.branch = last && last->flow != X86_FLOW_NONE && last->flow != X86_FLOW_SYSCALL && last->flow != X86_FLOW_INT};
	if (!fresh) {
		b->flags = old.flags & BLOCK_LEADER;
		b->edge = old.edge;
		b->follower = old.follower;
		b->no_follower = old.no_follower;
		b->copy = old.copy;
		return id;
	}
	const uint8_t *at = record_block_end(id, decoded.bytes, decoded.length, decoded.count, conditional, parent);
	if (at) {
		b->bytes = at;
		if (last && (last->class & X86_CLASS_REP))
			record_site(id, decoded.count - 1, RECORD_SITE_ITERATIONS, id * 2 + 1);
	}
	if (parent != NONE)
		rt.blocks[parent].follower = id;
	return id;
}

/*
 * Blocks that follow. Of a conditional branch one way out is counted; if all that goes the other way enters one block, private to it,
 * that block needs no counter: it was entered as often as its parent was passed. The parent's record says so for ever, hence:
 *   - the follower is made when that way is gone for the first time, or never (no_follower);
 *   - whoever goes that way and does not enter the follower corrects its count (done = 0);
 *   - a follower is in no table and no map: others that come to its address have a block of their own.
 */
uint32_t translate(struct thread *t, uint64_t pc, bool indirect, enum translate_mode mode, uint32_t thunk_exit, uint32_t before, uint32_t parent)
{
	bool single = mode == TRANSLATE_SINGLE;
	uint64_t begun = rt.no_tsc ? 0 : __builtin_ia32_rdtsc();
	if (!decode_block(pc, single))
		return NONE;
	struct arena *arena = cache_arena(pc);
	if (!cache_room(arena)) {
		cache_flush(t);
		arena = cache_arena(pc);
		thunk_exit = before = NONE;
	}
	if (parent != NONE && (decoded.checked || !decoded.count || (rt.blocks[parent].follower != NONE && !same_bytes(rt.blocks[parent].follower)))) {
		parent = NONE;
		uint32_t there = cache_find(pc);
		if (there != NONE && !(rt.blocks[there].flags & BLOCK_CHECKED))
			return there;
	}
	uint32_t first = NONE;
	bool leader = false;
	for (int chain = 0;; chain++) {
		const struct x86_insn *last = decoded.count ? &decoded.insn[decoded.count - 1] : NULL;
		bool copied = mode == TRANSLATE_COPY && first == NONE;
		uint32_t id = number(pc, parent != NONE ? rt.blocks[parent].follower : single || copied ? NONE : cache_known(pc), parent);
		struct block *b = &rt.blocks[id];
		b->tail_from = parent != NONE ? parent : before;
		if (leader)
			record_leader(id);
		rt.process->stats[RECORD_STAT_TRANSLATED_INSNS] += decoded.count;

		struct place place = place_counter(arena, &b->entry_flags_live, &b->scratch);
		if (parent != NONE)
			place.how = PLACE_NONE;
		if (thunk_exit != NONE) {
			rt.exits[thunk_exit].thunk = emit_thunk(arena, thunk_exit, b, arena->hot);
			thunk_exit = NONE;
		}
		struct emit e = {.p = arena->hot, .arena = arena, .id = id};
		if (indirect) {
			b->flags |= BLOCK_ENTRY_IN_FRONT;
			b->indirect = e.p;
			cache_span(arena, e.p, false, SPAN_INDIRECT, id);
			indirect_entry(&e, pc);
			indirect = false;
		}
		cache_span(arena, e.p, false, SPAN_BLOCK, id);
		b->code = e.start = e.p;
		uint64_t next;
		bool checked = decoded.checked, goes_on = emit_block(&e, place, &next);
		arena->hot = e.p;
		if (checked || single)
			b->flags |= BLOCK_CHECKED;
		if (!single)
			cache_enter(id, parent == NONE && !copied);
		if (first == NONE)
			first = id;
		b->code_bytes = (uint32_t)(e.p - b->code);
		if (!goes_on)
			break;
		leader = b->branch;
		uint32_t there = cache_find(next);
		bool follow = b->follower != NONE || (!b->no_follower && there == NONE && b->depth < DEPTH_MAX && last && last->flow != X86_FLOW_CALL);
		bool room = !single && !checked && chain < CHAIN_MAX && last && cache_room(arena) && cache_arena(next) == arena;
		if ((there == NONE || b->follower != NONE) && room && (b->follower == NONE || !(rt.blocks[b->follower].flags & BLOCK_LIVE)) &&
		    decode_block(next, false) && !decoded.checked && decoded.count && (b->follower == NONE || same_bytes(b->follower))) {
			b->flags |= BLOCK_TAIL;
			b->no_follower |= !follow;
			before = id;
			parent = follow ? id : NONE;
			pc = next;
			continue;
		}
		linkable(&e, next, EXIT_NEXT, 16);
		arena->hot = e.p;
		b->code_bytes = (uint32_t)(e.p - b->code);
		if (b->follower != NONE) { /* the dispatcher finds it, or corrects */
			if (rt.blocks[b->follower].flags & BLOCK_LIVE)
				cache_link(b->exit[0], b->follower, rt.blocks[b->follower].code);
		} else if (there != NONE && !(rt.blocks[there].flags & BLOCK_CHECKED)) {
			b->no_follower = 1;
			cache_link(b->exit[0], there, rt.blocks[there].code);
			if (leader)
				record_leader(there);
		}
		break;
	}
	if (!rt.no_tsc)
		rt.process->stats[RECORD_STAT_TRANSLATE_TSC] += __builtin_ia32_rdtsc() - begun;
	uint64_t used = 0;
	for (uint32_t i = 0; i < rt.arena_count; i++)
		used += (uint64_t)(rt.arena[i].hot - rt.arena[i].base) + (uint64_t)(rt.arena[i].end - rt.arena[i].cold);
	if (used > rt.process->stats[RECORD_STAT_CACHE_BYTES])
		rt.process->stats[RECORD_STAT_CACHE_BYTES] = used;
	return first;
}

unsigned translate_marks(const struct block *block, uint32_t id, struct mark *marks, unsigned most, uint64_t *next)
{
	static uint8_t scratch[8192];
	struct emit e = {.p = scratch, .delta = block->code - scratch, .marks = marks, .mark_most = most, .start = scratch, .probe = true, .id = id};
	uint8_t live, reg;
	memcpy(decoded.bytes, block->bytes, block->length);
	decoded.pc = block->pc;
	decoded.checked = (block->flags & BLOCK_CHECKED) != 0;
	decode_bytes(block->length, block->insns ? block->insns : 1);
	e.arena = arena_of(block->code);
	*next = block->pc + block->length;
	struct place place = place_counter(e.arena, &live, &reg);
	if (block->follows != NONE)
		place.how = PLACE_NONE;
	emit_block(&e, place, next);
	return e.mark_count;
}
