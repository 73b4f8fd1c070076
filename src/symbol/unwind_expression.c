/* DWARF expressions (DWARF 5, 2.5) as call frame information uses them: arithmetic over registers and the
 * stack. */
#include <dwarf.h>

#include "symbol/unwind_inside.h"

enum {
	DEEP = 64,    /* of the expression's own stack; compilers write 3 */
	STEPS = 1000, /* branches may go back */
};

struct machine_stack {
	uint64_t items[DEEP];
	size_t count;
};

static bool push(struct machine_stack *s, uint64_t value)
{
	if (s->count == DEEP)
		return false;
	s->items[s->count++] = value;
	return true;
}

/* The operation of two values, the first pushed before the second. */
static bool binary(uint8_t atom, uint64_t a, uint64_t b, uint64_t *out)
{
	int64_t x = (int64_t)a, y = (int64_t)b;
	switch (atom) {
	case DW_OP_plus: *out = a + b; return true;
	case DW_OP_minus: *out = a - b; return true;
	case DW_OP_mul: *out = a * b; return true;
	case DW_OP_and: *out = a & b; return true;
	case DW_OP_or: *out = a | b; return true;
	case DW_OP_xor: *out = a ^ b; return true;
	case DW_OP_shl: *out = b < 64 ? a << b : 0; return true;
	case DW_OP_shr: *out = b < 64 ? a >> b : 0; return true;
	case DW_OP_shra: *out = (uint64_t)(x >> (b < 64 ? b : 63)); return true;
	case DW_OP_div: /* signed; -1 apart, which the smallest number cannot be divided by */
		*out = b == 0 ? 0 : y == -1 ? 0 - a : (uint64_t)(x / y);
		return b != 0;
	case DW_OP_mod: *out = b ? a % b : 0; return b != 0;
	case DW_OP_eq: *out = a == b; return true;
	case DW_OP_ne: *out = a != b; return true;
	case DW_OP_lt: *out = x < y; return true;
	case DW_OP_le: *out = x <= y; return true;
	case DW_OP_gt: *out = x > y; return true;
	case DW_OP_ge: *out = x >= y; return true;
	default: return false;
	}
}

static bool rearrange(struct machine_stack *s, const Dwarf_Op *op)
{
	uint64_t *top = s->items + s->count, kept;
	switch (op->atom) {
	case DW_OP_dup: return s->count >= 1 && push(s, top[-1]);
	case DW_OP_over: return s->count >= 2 && push(s, top[-2]);
	case DW_OP_pick: return op->number < s->count && push(s, top[-1 - (ptrdiff_t)op->number]);
	case DW_OP_drop: return s->count >= 1 && s->count--;
	case DW_OP_swap:
		if (s->count < 2)
			return false;
		kept = top[-1], top[-1] = top[-2], top[-2] = kept;
		return true;
	case DW_OP_rot: /* the top one becomes the third */
		if (s->count < 3)
			return false;
		kept = top[-1], top[-1] = top[-2], top[-2] = top[-3], top[-3] = kept;
		return true;
	default: return false;
	}
}

static bool push_register(const struct unwind_state *state, struct machine_stack *s, uint64_t number,
			  uint64_t offset)
{
	return number < REGISTERS_MOST && state->known >> number & 1 && push(s, state->registers[number] + offset);
}

/* Where a branch leads: operations are known by their byte offsets. */
static bool branch(const Dwarf_Op *ops, size_t n_ops, size_t *at)
{
	Dwarf_Word target = ops[*at].offset + 3 + ops[*at].number; /* behind itself, 3 bytes long */
	for (size_t i = 0; i < n_ops; i++)
		if (ops[i].offset == target) {
			*at = i;
			return true;
		}
	*at = n_ops;
	return target > ops[n_ops - 1].offset; /* the end */
}

static bool one(const struct unwind_state *state, const Dwarf_Op *op, uint64_t cfa, uint64_t bias,
		struct machine_stack *s)
{
	uint64_t *top = s->items + s->count;
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(s, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_register(state, s, op->atom - DW_OP_breg0, op->number);
	switch (op->atom) {
	case DW_OP_bregx: return push_register(state, s, op->number, op->number2);
	case DW_OP_call_frame_cfa: return push(s, cfa);
	case DW_OP_addr: return push(s, op->number + bias);
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts: return push(s, op->number);
	case DW_OP_plus_uconst: return s->count >= 1 && (top[-1] += op->number, true);
	case DW_OP_neg: return s->count >= 1 && (top[-1] = 0 - top[-1], true);
	case DW_OP_not: return s->count >= 1 && (top[-1] = ~top[-1], true);
	case DW_OP_abs: return s->count >= 1 && (top[-1] = (int64_t)top[-1] < 0 ? 0 - top[-1] : top[-1], true);
	case DW_OP_nop: return true;
	case DW_OP_dup:
	case DW_OP_over:
	case DW_OP_pick:
	case DW_OP_drop:
	case DW_OP_swap:
	case DW_OP_rot: return rearrange(s, op);
	default:
		if (s->count < 2 || !binary(op->atom, top[-2], top[-1], &top[-2]))
			return false;
		s->count--;
		return true;
	}
}

enum unwind_value unwind_evaluate(const struct unwind_state *state, const Dwarf_Op *ops, size_t n_ops,
				  uint64_t cfa, uint64_t bias, uint64_t *out)
{
	struct machine_stack s = {.count = 0};
	unsigned steps = 0;
	for (size_t at = 0; at < n_ops; steps++) {
		const Dwarf_Op *op = &ops[at];
		if (steps == STEPS)
			return VALUE_BROKEN;
		if (op->atom == DW_OP_stack_value)
			break;
		if (op->atom == DW_OP_deref || op->atom == DW_OP_deref_size) {
			size_t bytes = op->atom == DW_OP_deref ? 8 : op->number;
			enum unwind_read how = s.count && bytes >= 1 && bytes <= 8
						       ? unwind_read(state, s.items[s.count - 1], bytes,
								     &s.items[s.count - 1])
						       : READ_NEVER;
			if (how != READ_DONE)
				return how == READ_LOST ? VALUE_TRUNCATED : VALUE_BROKEN;
		} else if (op->atom == DW_OP_skip || op->atom == DW_OP_bra) {
			bool taken = op->atom == DW_OP_skip;
			if (!taken) {
				if (!s.count)
					return VALUE_BROKEN;
				taken = s.items[--s.count] != 0;
			}
			if (!taken)
				at++;
			else if (!branch(ops, n_ops, &at))
				return VALUE_BROKEN;
			continue;
		} else if (!one(state, op, cfa, bias, &s))
			return VALUE_BROKEN;
		at++;
	}
	if (!s.count)
		return VALUE_BROKEN;
	*out = s.items[s.count - 1];
	return VALUE_DONE;
}
