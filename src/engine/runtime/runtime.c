/*
 * The in-target runtime: translates the program block by block into a code cache and counts each block.
 *
 * What always holds:
 *  1. gs is the thread page; the code in the cache uses gs for spills and counters, and no memory of the
 *     program's but that which the program's own instructions name.
 *  2. A block's counter is incremented before its first instruction, without changing a flag.
 *  3. What this version cannot follow (threads, children, signal handlers, a program image that replaces this one)
 *     marks the record inexact before it happens; what it cannot run ends the process with a message.
 *
 * First version: one thread, spilled counters, no superblocks.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/wire/start.h"
#include "engine/wire/record.h"
#include "engine/x86/decode.h"

#define CACHE_BYTES (64u << 20)
#define BLOCK_INSNS_MAX 64
#define BLOCK_ROOM 8192 /* more than the longest translation of BLOCK_INSNS_MAX instructions, exits included */
#define EXITS_MAX (1u << 21)
#define MAP_SLOTS (1u << 21)
#define TABLE_SLOTS 65536u

enum { SPILL_RAX = 0x08, SPILL_RCX = 0x10, SPILL_OPERAND = 0x20, EXIT_ENTRY = 0xe0, LOOKUP_ENTRY = 0xe8 };

struct thread { /* offsets are entry.S's */
	struct thread *self;
	uint64_t spill[4];
	uint64_t target, exit_id;
	struct lookup *table;
	uint64_t runtime_rsp, unused;
	uint64_t reg[16];
	uint64_t flags, resume;
	uint64_t exit_entry, lookup_entry;
};

struct lookup { uint64_t pc; uint64_t code; };
enum exit_kind { EXIT_DIRECT, EXIT_SYSCALL };
struct exit { uint64_t target; uint8_t *patch; uint32_t kind; };
struct slot { uint64_t pc; uint8_t *code; uint32_t length; uint32_t pad; };

static struct {
	struct record_header *header;
	struct record_block *blocks;
	struct lookup *table;
	struct slot *map;
	struct exit *exits;
	uint32_t exit_count, map_count;
	uint8_t *cache, *next;
} rt;

void runtime_exit(void);
void runtime_lookup(void);
uint64_t runtime_init(const struct start *start);
uint64_t runtime_dispatch(struct thread *t);

/* gcc calls these by name */
void *memset(void *to, int byte, size_t n) { uint8_t *p = to; while (n--) { *p++ = (uint8_t)byte; __asm__ volatile("" ::: "memory"); } return to; }
void *memcpy(void *to, const void *from, size_t n) { uint8_t *p = to; const uint8_t *q = from; while (n--) { *p++ = *q++; __asm__ volatile("" ::: "memory"); } return to; }

static long sys(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	register uint64_t r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return result;
}

static void inexact(const char *why)
{
	if (rt.header->inexact)
		return;
	size_t i = 0;
	for (; why[i] && i < sizeof rt.header->reason - 1; i++)
		rt.header->reason[i] = why[i];
	rt.header->reason[i] = 0;
	rt.header->inexact = 1;
}

static void die(const char *why, uint64_t pc)
{
	char text[400];
	size_t n = 0;
	const char *parts[] = {"tare: engine: ", why, " at 0x"};
	inexact(why);
	for (int i = 0; i < 3; i++)
		for (const char *p = parts[i]; *p; p++)
			text[n++] = *p;
	for (int shift = 60; shift >= 0; shift -= 4)
		text[n++] = "0123456789abcdef"[pc >> shift & 15];
	text[n++] = '\n';
	sys(1, 2, (uint64_t)text, n, 0, 0, 0);
	sys(231, 125, 0, 0, 0, 0, 0);
	__builtin_unreachable();
}

/* ---- emission ---- */

static void byte(uint8_t b) { *rt.next++ = b; }
static void bytes(const void *p, size_t n) { memcpy(rt.next, p, n); rt.next += n; }
static void u32(uint32_t v) { bytes(&v, 4); }
static void u64(uint64_t v) { bytes(&v, 8); }
static void gs_store(unsigned reg, uint32_t offset) { byte(0x65); byte(reg < 8 ? 0x48 : 0x4c); byte(0x89); byte((uint8_t)(0x04 | (reg & 7) << 3)); byte(0x25); u32(offset); }
static void gs_load(unsigned reg, uint32_t offset) { byte(0x65); byte(reg < 8 ? 0x48 : 0x4c); byte(0x8b); byte((uint8_t)(0x04 | (reg & 7) << 3)); byte(0x25); u32(offset); }
static void move_imm(unsigned reg, uint64_t v) { byte(0x48); byte((uint8_t)(0xb8 | reg)); u64(v); } /* reg < 8 */

static void count(uint32_t counter)
{
	uint32_t offset = RECORD_THREAD_BYTES + counter * 8;
	gs_store(X86_RAX, SPILL_RAX);
	gs_load(X86_RAX, offset);
	bytes("\x48\x8d\x40\x01", 4); /* lea rax, [rax + 1]: changes no flag */
	gs_store(X86_RAX, offset);
	gs_load(X86_RAX, SPILL_RAX);
}

/* Leaves the cache; when linked, its first five bytes become a jmp to the target's translation. */
static void exit_to(uint64_t target, uint32_t kind)
{
	uint32_t id = rt.exit_count++;
	rt.exits[id] = (struct exit){target, rt.next, kind};
	gs_store(X86_RAX, SPILL_RAX);
	byte(0xb8);
	u32(id);
	bytes("\x65\xff\x24\x25", 4);
	u32(EXIT_ENTRY);
}

static void jump_lookup(void) { bytes("\x65\xff\x24\x25", 4); u32(LOOKUP_ENTRY); }

/* The instruction with its rip-relative operand reached through `base`; reg_field < 8 replaces ModRM.reg. */
static void copy_through(const struct x86_insn *in, const uint8_t *code, unsigned base)
{
	uint8_t b[16];
	unsigned n = 0;
	for (unsigned i = 0; i < in->length; i++)
		if (i < in->displacement_offset || i >= in->displacement_offset + 4u)
			b[n++] = code[i];
	b[in->modrm_offset] = (uint8_t)((in->modrm & 0x38) | base);
	if (in->encoding == X86_LEGACY && in->rex)
		b[in->prefix_bytes] &= 0xfe;
	else if (in->encoding == X86_VEX3 || in->encoding == X86_EVEX || in->encoding == X86_XOP)
		b[in->prefix_bytes + 1] |= 0x20; /* B is stored inverted */
	bytes(b, n);
}

static void copy(const struct x86_insn *in, const uint8_t *code)
{
	static const uint8_t choice[] = {X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSI, X86_RDI};
	if (in->prefixes & X86_PREFIX_GS)
		die("the program uses gs", (uint64_t)code);
	if (!in->rip_relative) {
		bytes(code, in->length);
		return;
	}
	unsigned used = in->gpr_read | in->gpr_written, base = choice[0];
	for (unsigned i = 0; i < sizeof choice; i++)
		if (!(used >> (base = choice[i]) & 1))
			break;
	if (used >> base & 1)
		die("no register left for a rip-relative operand", (uint64_t)code);
	gs_store(base, SPILL_OPERAND);
	move_imm(base, (uint64_t)code + in->length + (uint64_t)in->memory[0].displacement);
	copy_through(in, code, base);
	gs_load(base, SPILL_OPERAND);
}

/* rcx = the target of an indirect jump or call, its own value spilled. */
static void load_target(const struct x86_insn *in, const uint8_t *code)
{
	gs_store(X86_RCX, SPILL_RCX);
	if (in->rm != X86_NO_REG) {
		byte(in->rm < 8 ? 0x48 : 0x4c);
		byte(0x89);
		byte((uint8_t)(0xc1 | (in->rm & 7) << 3));
		return;
	}
	if (in->prefixes & (X86_PREFIX_GS | X86_PREFIX_ADDRSIZE))
		die("an indirect branch with an unusual prefix", (uint64_t)code);
	if (in->prefixes & X86_PREFIX_FS)
		byte(0x64);
	if (in->rip_relative) {
		move_imm(X86_RCX, (uint64_t)code + in->length + (uint64_t)in->memory[0].displacement);
		bytes("\x48\x8b\x09", 3);
		return;
	}
	byte((uint8_t)(0x48 | (in->rex & 3)));
	byte(0x8b);
	byte((uint8_t)((in->modrm & 0xc7) | X86_RCX << 3));
	bytes(code + in->modrm_offset + 1, in->length - in->modrm_offset - 1u);
}

static void push_return(uint64_t pc)
{
	gs_store(X86_RAX, SPILL_RAX);
	move_imm(X86_RAX, pc);
	byte(0x50);
	gs_load(X86_RAX, SPILL_RAX);
}

/* ---- translation ---- */

static struct slot *slot_of(uint64_t pc)
{
	uint32_t i = (uint32_t)((pc * 0x9e3779b97f4a7c15u) >> 43);
	while (rt.map[i].pc && rt.map[i].pc != pc)
		i = (i + 1) & (MAP_SLOTS - 1);
	return &rt.map[i];
}

static void flush(void)
{
	rt.next = rt.cache;
	rt.exit_count = 1; /* 0 is an indirect branch that was not found */
	rt.map_count = 0;
	memset(rt.map, 0, MAP_SLOTS * sizeof *rt.map);
	for (uint32_t i = 0; i < TABLE_SLOTS; i++)
		rt.table[i] = (struct lookup){1, 0}; /* never the pc of this slot */
	rt.table[1].pc = 2;
}

static void branch_end(const struct x86_insn *in, const uint8_t *code, uint32_t taken_counter)
{
	uint64_t next = (uint64_t)code + in->length, target = next + (uint64_t)(int64_t)in->target_rel;
	uint8_t *hole;
	switch (in->flow) {
	case X86_FLOW_JMP: exit_to(target, EXIT_DIRECT); return;
	case X86_FLOW_CALL: push_return(next); exit_to(target, EXIT_DIRECT); return;
	case X86_FLOW_JCC:
		byte((uint8_t)(0x70 | in->condition));
		break;
	case X86_FLOW_LOOP: case X86_FLOW_JRCXZ:
		if (in->prefixes & X86_PREFIX_ADDRSIZE)
			byte(0x67);
		byte(in->opcode);
		break;
	case X86_FLOW_JMP_REG: case X86_FLOW_JMP_MEM: load_target(in, code); jump_lookup(); return;
	case X86_FLOW_CALL_REG: case X86_FLOW_CALL_MEM:
		load_target(in, code);
		push_return(next);
		jump_lookup();
		return;
	case X86_FLOW_RET:
		gs_store(X86_RCX, SPILL_RCX);
		byte(0x59);
		if (in->immediate_size) {
			bytes("\x48\x8d\xa4\x24", 4); /* lea rsp, [rsp + imm] */
			u32((uint32_t)in->immediate & 0xffff);
		}
		jump_lookup();
		return;
	case X86_FLOW_SYSCALL: exit_to(next, EXIT_SYSCALL); return;
	default: die("a control transfer that the engine does not know", (uint64_t)code);
	}
	hole = rt.next;
	byte(0);
	exit_to(next, EXIT_DIRECT);
	*hole = (uint8_t)(rt.next - hole - 1);
	count(taken_counter);
	exit_to(target, EXIT_DIRECT);
}

static uint8_t *translate(uint64_t pc)
{
	struct slot *slot = slot_of(pc);
	if (slot->pc)
		return slot->code;
	if (rt.next + BLOCK_ROOM > rt.cache + CACHE_BYTES || rt.map_count > MAP_SLOTS / 2) {
		flush();
		slot = slot_of(pc);
	}
	uint32_t id = rt.header->block_count;
	if (id == RECORD_BLOCKS_MAX)
		die("more blocks than the record holds", pc);
	struct record_block *block = &rt.blocks[id];
	*block = (struct record_block){.address = pc};
	uint8_t *start = rt.next;
	const uint8_t *code = (const uint8_t *)pc;
	struct x86_insn in;
	count(id * 2);
	for (;;) {
		/* what is readable ends at a page; only an instruction that needs the next page may read it */
		size_t room = 4096 - ((uint64_t)code & 4095);
		enum x86_decode_status status = x86_decode(code, room, &in);
		if (status == X86_DECODE_TRUNCATED)
			status = x86_decode(code, room + 15, &in);
		if (status != X86_DECODE_OK)
			die("bytes that are no instruction", (uint64_t)code);
		if (in.flow == X86_FLOW_UD || in.flow == X86_FLOW_HLT || in.flow == X86_FLOW_INT3) {
			inexact("a trapping instruction's block");
			bytes(code, in.length);
			break;
		}
		block->insns++;
		block->loads += (in.class & X86_CLASS_LOAD) != 0;
		block->stores += (in.class & X86_CLASS_STORE) != 0;
		block->length_bytes += in.length;
		if (in.flow != X86_FLOW_NONE) {
			block->conditional = in.flow >= X86_FLOW_JCC && in.flow <= X86_FLOW_JRCXZ;
			block->calls = in.flow == X86_FLOW_CALL || in.flow == X86_FLOW_CALL_REG || in.flow == X86_FLOW_CALL_MEM;
			block->returns = in.flow == X86_FLOW_RET;
			block->jumps = in.flow == X86_FLOW_JMP || in.flow == X86_FLOW_JMP_REG || in.flow == X86_FLOW_JMP_MEM;
			block->syscall = in.flow == X86_FLOW_SYSCALL;
			branch_end(&in, code, id * 2 + 1);
			break;
		}
		if (in.special == X86_SPECIAL_WRGSBASE || in.special == X86_SPECIAL_LOAD_GS || in.special == X86_SPECIAL_RDGSBASE)
			die("the program uses gs", (uint64_t)code);
		copy(&in, code);
		code += in.length;
		if (block->insns == BLOCK_INSNS_MAX) {
			exit_to((uint64_t)code, EXIT_DIRECT);
			break;
		}
	}
	*slot = (struct slot){pc, start, block->length_bytes, 0};
	rt.map_count++;
	rt.header->block_count = id + 1;
	return start;
}

/* ---- system calls ---- */

static void forget(uint64_t from, uint64_t length)
{
	for (uint32_t i = 0; i < MAP_SLOTS; i++)
		if (rt.map[i].pc && rt.map[i].pc < from + length && rt.map[i].pc + rt.map[i].length > from) {
			flush();
			return;
		}
}

static void system_call(struct thread *t, uint64_t next)
{
	uint64_t *r = t->reg, nr = r[X86_RAX];
	uint64_t a = r[X86_RDI], b = r[X86_RSI], c = r[X86_RDX], d = r[X86_R10], e = r[X86_R8], f = r[X86_R9];
	bool child = false;
	struct thread kept = *t; /* the page is shared across a fork until the child has mapped its own */
	long result = -38;
	switch (nr) {
	case 334: goto done; /* rseq: ENOSYS, glibc falls back */
	case 13: if (b && *(uint64_t *)b > 1) inexact("signal handlers are not followed yet"); break;
	case 15: die("rt_sigreturn outside a native handler", next); break;
	case 9: if ((c & 6) == 6) inexact("memory both writable and executable"); break;
	case 10: if ((c & 6) == 6) inexact("memory both writable and executable"); break;
	case 56: case 435: case 58: {
		uint64_t flags = nr == 58 ? 0x4100 : nr == 435 ? *(uint64_t *)a : a;
		uint64_t stack = nr == 435 ? ((uint64_t *)a)[5] : nr == 58 ? 0 : b;
		if (flags & 0x10000)
			die("threads are not supported yet", next);
		if (stack)
			die("clone with a new stack is not supported yet", next);
		inexact("child processes are not followed yet");
		/* the child gets a copy of the memory, so that it shares no runtime state with the parent */
		child = true;
		result = flags & 0x100 ? sys(57, 0, 0, 0, 0, 0, 0) : sys((long)nr, a, b, c, d, e, f);
		goto forked;
	}
	case 57: inexact("child processes are not followed yet"); child = true; break;
	case 59: case 322: inexact("the program replaced itself: exec is not followed yet"); break;
	case 158: if (a == 0x1001 || a == 0x1004) die("the program uses gs", next); break;
	}
	result = sys((long)nr, a, b, c, d, e, f);
forked:
	if (child && result == 0) { /* from here on the child writes a record that nobody reads */
		if (sys(9, (uint64_t)rt.header, RECORD_BYTES, 3, 0x4032, (uint64_t)-1, 0) != (long)rt.header)
			sys(231, 125, 0, 0, 0, 0, 0);
		*t = kept;
	}
	if (result >= 0 && nr == 9 && (d & 0x10))
		forget((uint64_t)result, b);
	if (result >= 0 && (nr == 10 || nr == 11 || nr == 25))
		forget(a, b);
done:
	r[X86_RAX] = (uint64_t)result;
	r[X86_RCX] = next;
	r[X86_R11] = t->flags;
}

uint64_t runtime_dispatch(struct thread *t)
{
	uint32_t id = (uint32_t)t->exit_id;
	if (id == 0) {
		uint8_t *code = translate(t->target);
		rt.table[t->target & (TABLE_SLOTS - 1)] = (struct lookup){t->target, (uint64_t)code};
		return (uint64_t)code;
	}
	struct exit exit = rt.exits[id];
	if (exit.kind == EXIT_SYSCALL) {
		system_call(t, exit.target);
		return (uint64_t)translate(exit.target);
	}
	uint8_t *code = translate(exit.target);
	if (rt.exit_count > id && rt.exits[id].patch == exit.patch && rt.exits[id].target == exit.target) { /* not flushed meanwhile */
		int32_t rel = (int32_t)(code - (exit.patch + 5));
		exit.patch[0] = 0xe9;
		memcpy(exit.patch + 1, &rel, 4);
	}
	return (uint64_t)code;
}

static void *memory(uint64_t length, int protection)
{
	long p = sys(9, 0, length, (uint64_t)protection, 0x4022, (uint64_t)-1, 0);
	if (p < 0 && p > -4096)
		sys(231, 125, 0, 0, 0, 0, 0);
	return (void *)p;
}

uint64_t runtime_init(const struct start *start)
{
	struct thread *t = (struct thread *)((uint8_t *)start->record + RECORD_HEADER_BYTES);
	rt.header = (struct record_header *)start->record;
	rt.blocks = (struct record_block *)((uint8_t *)start->record + RECORD_BLOCKS_OFFSET);
	rt.table = memory(TABLE_SLOTS * sizeof *rt.table, 3);
	rt.map = memory(MAP_SLOTS * sizeof *rt.map, 3);
	rt.exits = memory(EXITS_MAX * sizeof *rt.exits, 3);
	rt.cache = memory(CACHE_BYTES, 7);
	flush();
	t->self = t;
	t->table = rt.table;
	t->runtime_rsp = start->stack_top;
	t->exit_entry = (uint64_t)&runtime_exit;
	t->lookup_entry = (uint64_t)&runtime_lookup;
	for (int i = 0; i < 16; i++)
		t->reg[i] = 0;
	t->reg[X86_RSP] = start->rsp;
	t->flags = 0x202;
	sys(158, 0x1001, (uint64_t)t, 0, 0, 0, 0); /* ARCH_SET_GS */
	rt.header->magic = RECORD_MAGIC;
	return (uint64_t)translate(start->pc);
}
