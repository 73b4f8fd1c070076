/* The rules of call frame information at a place, from libdw; each place is asked about once. */
#include <dwarf.h>
#include <stdlib.h>

#include "symbol/places_inside.h"
#include "symbol/unwind_inside.h"

static bool fits(const struct module *m, enum unwind_machine machine)
{
	GElf_Ehdr header;
	return m->file.elf && gelf_getehdr(m->file.elf, &header) &&
	       header.e_machine == (machine == UNWIND_X86_64 ? EM_X86_64 : EM_AARCH64) &&
	       header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB;
}

/* .eh_frame, which is in every program; else .debug_frame. The caller frees the frame. */
static Dwarf_Frame *frame_at(struct module *m, uint64_t address)
{
	Dwarf_Frame *frame = NULL;
	if (!m->cfi_read) {
		m->cfi_read = true;
		m->cfi = dwarf_getcfi_elf(m->file.elf);
	}
	if (m->cfi && dwarf_cfi_addrframe(m->cfi, address, &frame) == 0)
		return frame;
	Dwarf *dwarf = lines_dwarf(m);
	Dwarf_CFI *other = dwarf ? dwarf_getcfi(dwarf) : NULL;
	return other && dwarf_cfi_addrframe(other, address, &frame) == 0 ? frame : NULL;
}

/* libdw says each rule as an expression; these are the usual ones. */
static void to_rule(const Dwarf_Op *ops, size_t n, struct unwind_rule *out)
{
	if (n == 1 && ops[0].atom == DW_OP_regx && ops[0].number < REGISTERS_MOST) {
		out->kind = RULE_REGISTER, out->other = (uint8_t)ops[0].number;
		return;
	}
	if (n == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31) {
		out->kind = RULE_REGISTER, out->other = (uint8_t)(ops[0].atom - DW_OP_reg0);
		return;
	}
	bool value = n && ops[n - 1].atom == DW_OP_stack_value;
	size_t rest = n - value;
	if (rest >= 1 && rest <= 2 && ops[0].atom == DW_OP_call_frame_cfa &&
	    (rest == 1 || ops[1].atom == DW_OP_plus_uconst)) {
		out->kind = value ? RULE_CFA : RULE_AT;
		out->offset = rest == 2 ? (int64_t)ops[1].number : 0;
		return;
	}
	out->kind = value ? RULE_VALUE : RULE_EXPRESSION;
	out->ops = ops, out->n_ops = n;
}

static bool read_cfa(Dwarf_Frame *frame, struct unwind_rule *out)
{
	Dwarf_Op *ops;
	size_t n;
	if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n == 0)
		return false;
	if (n == 1 && ops[0].atom == DW_OP_bregx) {
		if (ops[0].number >= REGISTERS_MOST)
			return false;
		*out = (struct unwind_rule){
			.kind = RULE_REGISTER, .other = (uint8_t)ops[0].number, .offset = (int64_t)ops[0].number2};
		return true;
	}
	/* that one may lie in the frame, which is freed; others lie in the module's rules */
	*out = (struct unwind_rule){.kind = RULE_VALUE, .ops = ops, .n_ops = n};
	return true;
}

/* What libdw says of a register without a location: is it the caller's value? Of a register that the file does
 * not mention it says what the ABI does, but (elfutils 0.188, x86_64_abi_cfi) has rax there in the place
 * of rbx, which a caller's CFA may be made of. */
static bool keeps_value(enum unwind_machine machine, unsigned number, bool said)
{
	enum { RAX = 0, RBX = 3 };
	return machine == UNWIND_X86_64 && number == RBX   ? true
	       : machine == UNWIND_X86_64 && number == RAX ? false
							   : said;
}

/* False when memory ran out. */
static bool read_rules(struct unwinder *u, Dwarf_Frame *frame, enum unwind_machine machine, struct unwind_row *row)
{
	struct unwind_rule rules[REGISTERS_MOST];
	unsigned n_registers = machine == UNWIND_X86_64 ? UNWIND_X86_64_REGISTERS : UNWIND_ARM64_REGISTERS;
	for (unsigned i = 0; i < n_registers; i++) {
		Dwarf_Op memory[3], *ops;
		size_t n;
		struct unwind_rule rule = {.number = (uint8_t)i};
		if (dwarf_frame_register(frame, (int)i, memory, &ops, &n) != 0)
			continue;
		if (n == 0 && keeps_value(machine, i, !ops))
			continue;
		if (n == 0)
			rule.kind = RULE_UNKNOWN;
		else
			to_rule(ops, n, &rule);
		if (rule.ops == memory) /* it never is; then it would have no value, and not be undefined */
			rule.n_ops = 0;
		rules[row->n_rules++] = rule;
	}
	struct unwind_rule *kept = arena_alloc(&u->arena, (row->n_rules + 1u) * sizeof *kept);
	for (unsigned i = 0; kept && i < row->n_rules; i++)
		kept[i] = rules[i];
	row->rules = kept;
	return kept;
}

/* Is the code the end of a function of x86-64: pops up to its return? Compilers write no rule for each pop: the
 * rules say that a register is below the stack pointer, in memory that is not the function's any more, when the
 * register itself has its value back. */
static bool is_epilogue(const struct module *m, uint64_t address)
{
	size_t available, i = 0;
	const uint8_t *code = module_bytes(m, address, &available);
	while (code && i < available && i < 32) {
		size_t prefix = i + 1 < available && code[i] == 0x41; /* r8 … r15 */
		if (code[i + prefix] < 0x58 || code[i + prefix] > 0x5f)
			break;
		i += 1 + prefix;
	}
	bool popped = i > 0;
	if (!code || available < i + 2)
		return code && i < available && code[i] == 0xc3;
	return code[i] == 0xc3 || code[i] == 0xc2 || (code[i] == 0xf3 && code[i + 1] == 0xc3) ||
	       (popped && (code[i] == 0xe9 || code[i] == 0xeb)); /* a tail call */
}

static bool read_row(struct unwinder *u, struct module *m, enum unwind_machine machine, struct unwind_row *row)
{
	bool done = true;
	Dwarf_Frame *frame = fits(m, machine) ? frame_at(m, row->address) : NULL;
	if (!frame)
		return true;
	int number = dwarf_frame_info(frame, NULL, NULL, &row->signal);
	if (number >= 0 && number < REGISTERS_MOST && read_cfa(frame, &row->cfa)) {
		row->return_register = (uint8_t)number;
		row->epilogue = machine == UNWIND_X86_64 && is_epilogue(m, row->address);
		row->found = done = read_rules(u, frame, machine, row);
	}
	free(frame);
	return done;
}

const struct unwind_row *unwind_row_find(struct unwinder *u, struct module *m, uint64_t address,
					 enum unwind_machine machine)
{
	uint64_t hash = hash_number(hash_number(HASH_BEGIN, m->number), address);
	struct hash_search search = hash_find(&u->index, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (u->rows.items[i].address == address && u->rows.items[i].module == m->number)
			return &u->rows.items[i];
	struct unwind_row row = {.module = m->number, .address = address};
	if (u->rows.count >= UINT32_MAX - 1 || !read_row(u, m, machine, &row) || !vec_push(&u->rows, row))
		return NULL;
	if (!hash_add(&u->index, hash, (uint32_t)u->rows.count - 1)) {
		u->rows.count--;
		return NULL;
	}
	return &u->rows.items[u->rows.count - 1];
}
