#include "symbol/unwind.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/places_inside.h"
#include "symbol/unwind_inside.h"

const char *unwind_end_name(enum unwind_end end)
{
	static const char *const names[] = {
		[UNWIND_WHOLE] = "whole",         [UNWIND_TRUNCATED] = "truncated", [UNWIND_DEPTH] = "too deep",
		[UNWIND_UNMAPPED] = "not mapped", [UNWIND_NO_RULES] = "no rules",   [UNWIND_BROKEN] = "broken",
	};
	return names[end];
}

bool unwinder_new(struct symbols *symbols, struct unwinder **out, struct error *err)
{
	struct unwinder *u = *out = calloc(1, sizeof *u);
	if (!u)
		return error_no_memory(err);
	u->symbols = symbols;
	return true;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	arena_free(&u->arena);
	vec_free(&u->rows);
	hash_free(&u->index);
	free(u);
}

/* ---- the state ---- */

enum { X86_FRAME = 6, X86_STACK = 7, X86_RETURN = 16 };
enum { ARM_FRAME = 29, ARM_LINK = 30, ARM_STACK = 31, ARM_PROGRAM = 32 };

static unsigned stack_register(enum unwind_machine machine)
{
	return machine == UNWIND_X86_64 ? X86_STACK : ARM_STACK;
}

/* Pointer authentication (Armv8.3) has a signature in the bits that no user's address has. */
static uint64_t plain_address(enum unwind_machine machine, uint64_t address)
{
	return machine == UNWIND_ARM64 ? address & 0xffffffffffffull : address;
}

/* The sample's registers by DWARF's numbers (System V ABI AMD64, Figure 3.36; DWARF for the Arm 64-bit
 * architecture, 4.1). Returns where the code is. */
static uint64_t begin(const struct unwind_sample *sample, struct unwind_state *state)
{
	static const uint8_t x86[] = {0, 3, 2, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
	bool is_x86 = sample->machine == UNWIND_X86_64;
	unsigned n = is_x86 ? UNWIND_X86_64_REGISTERS : UNWIND_ARM64_REGISTERS;
	*state = (struct unwind_state){.machine = sample->machine,
				       .known = (1ull << n) - 1,
				       .stack = sample->stack,
				       .stack_bytes = sample->stack_bytes};
	for (unsigned i = 0; i < n; i++)
		state->registers[is_x86 ? x86[i] : i] = sample->registers[i];
	state->stack_address = state->registers[stack_register(sample->machine)];
	return plain_address(sample->machine, state->registers[is_x86 ? X86_RETURN : ARM_PROGRAM]);
}

enum unwind_read unwind_read(const struct unwind_state *state, uint64_t address, size_t bytes, uint64_t *out)
{
	uint64_t at = address - state->stack_address;
	if (address < state->stack_address)
		return state->elsewhere ? READ_LOST : READ_NEVER;
	if (at >= state->stack_bytes || state->stack_bytes - at < bytes)
		return READ_LOST;
	*out = 0;
	memcpy(out, state->stack + at, bytes);
	return READ_DONE;
}

/* ---- one step ---- */

static enum unwind_value value_of(const struct unwind_state *state, const struct unwind_rule *rule, uint64_t cfa,
				  uint64_t bias, uint64_t *out)
{
	enum unwind_value how = VALUE_DONE;
	uint64_t address = cfa + (uint64_t)rule->offset;
	switch (rule->kind) {
	case RULE_CFA: *out = address; return VALUE_DONE;
	case RULE_REGISTER:
		*out = state->registers[rule->other];
		return state->known >> rule->other & 1 ? VALUE_DONE : VALUE_BROKEN;
	case RULE_VALUE: return unwind_evaluate(state, rule->ops, rule->n_ops, cfa, bias, out);
	case RULE_EXPRESSION: how = unwind_evaluate(state, rule->ops, rule->n_ops, cfa, bias, &address); break;
	case RULE_AT: break;
	default: return VALUE_BROKEN;
	}
	if (how != VALUE_DONE)
		return how;
	switch (unwind_read(state, address, 8, out)) {
	case READ_DONE: return VALUE_DONE;
	case READ_LOST: return VALUE_TRUNCATED;
	default: return VALUE_BROKEN;
	}
}

static enum unwind_value cfa_of(const struct unwind_state *state, const struct unwind_row *row, uint64_t bias,
				uint64_t *out)
{
	const struct unwind_rule *rule = &row->cfa;
	if (rule->kind == RULE_VALUE)
		return unwind_evaluate(state, rule->ops, rule->n_ops, 0, bias, out);
	*out = state->registers[rule->other] + (uint64_t)rule->offset;
	return state->known >> rule->other & 1 ? VALUE_DONE : VALUE_BROKEN;
}

/* The caller's registers. A register that cannot be had is one that is not known; it is missed only when it is
 * needed. *lost: why the return address is not there. */
static void apply(const struct unwind_row *row, uint64_t cfa, uint64_t bias, struct unwind_state *state,
		  enum unwind_value *lost, bool *has_return)
{
	struct unwind_state from = *state;
	*lost = VALUE_DONE;
	*has_return = false;
	for (unsigned i = 0; i < row->n_rules; i++) {
		const struct unwind_rule *rule = &row->rules[i];
		bool is_return = rule->number == row->return_register;
		if (row->epilogue && rule->kind == RULE_AT && !is_return &&
		    cfa + (uint64_t)rule->offset < from.registers[stack_register(from.machine)])
			continue;
		uint64_t value = 0, bit = 1ull << rule->number;
		enum unwind_value how = rule->kind == RULE_UNKNOWN ? VALUE_BROKEN
								   : value_of(&from, rule, cfa, bias, &value);
		state->registers[rule->number] = value;
		state->known = how == VALUE_DONE ? state->known | bit : state->known & ~bit;
		if (is_return)
			*lost = rule->kind == RULE_UNKNOWN ? VALUE_DONE : how, *has_return = true;
	}
}

enum unwind_step { STEP_CALLER, STEP_END };

struct walk {
	struct unwinder *unwinder;
	const struct unwind_sample *sample;
	struct unwind_state state;
	uint64_t code;    /* where the frame is */
	bool interrupted; /* `code` is to be executed next, it is not a return address */
	enum unwind_end end;
};

static enum unwind_step end_with(struct walk *w, enum unwind_end end)
{
	w->end = end;
	return STEP_END;
}

/* The rules of the frame's code, and what the loader added to its module's addresses. NULL: w->end says why. */
static const struct unwind_row *row_of(struct walk *w, uint64_t *bias)
{
	struct unwind_mapping mapping;
	uint64_t linked, place = w->interrupted ? w->code : w->code - 1;
	if (!w->sample->mapping(w->sample->context, place, &mapping) || place - mapping.address >= mapping.bytes) {
		w->end = UNWIND_UNMAPPED;
		return NULL;
	}
	struct module *m = symbols_module(w->unwinder->symbols, mapping.path);
	if (!m) {
		w->end = UNWIND_BROKEN;
		return NULL;
	}
	if (!m->file.elf || !module_address(m, place - mapping.address + mapping.offset, &linked)) {
		w->end = UNWIND_NO_RULES;
		return NULL;
	}
	*bias = place - linked;
	const struct unwind_row *row = unwind_row_find(w->unwinder, m, linked, w->sample->machine);
	w->end = row ? UNWIND_NO_RULES : UNWIND_BROKEN;
	return row && row->found ? row : NULL;
}

static enum unwind_step step(struct walk *w)
{
	enum unwind_machine machine = w->sample->machine;
	unsigned stack = stack_register(machine);
	uint64_t bias, cfa, before = w->state.registers[stack];
	enum unwind_value lost;
	bool has_return;
	const struct unwind_row *row = row_of(w, &bias);
	if (!row)
		return STEP_END;
	enum unwind_value how = cfa_of(&w->state, row, bias, &cfa);
	if (how != VALUE_DONE)
		return end_with(w, how == VALUE_TRUNCATED ? UNWIND_TRUNCATED : UNWIND_BROKEN);
	apply(row, cfa, bias, &w->state, &lost, &has_return);
	if (lost != VALUE_DONE)
		return end_with(w, lost == VALUE_TRUNCATED ? UNWIND_TRUNCATED : UNWIND_BROKEN);
	if (!(w->state.known >> row->return_register & 1))
		return end_with(w, UNWIND_WHOLE); /* the rules say so: undefined */
	/* a leaf of arm64 keeps it in a register; elsewhere what did not change would go on forever */
	bool leaf = machine == UNWIND_ARM64 && w->interrupted && row->return_register == ARM_LINK;
	if (!has_return && !leaf)
		return end_with(w, UNWIND_BROKEN);
	w->code = plain_address(machine, w->state.registers[row->return_register]);
	if (w->code == 0)
		return end_with(w, UNWIND_WHOLE);
	uint64_t after = w->state.registers[stack];
	if (!(w->state.known >> stack & 1) || (!row->signal && (after < before || (after == before && !leaf))))
		return end_with(w, UNWIND_BROKEN);
	w->interrupted = row->signal;
	if (row->signal && after - w->state.stack_address > w->state.stack_bytes)
		w->state.elsewhere = true;
	return STEP_CALLER;
}

size_t unwind(struct unwinder *u, const struct unwind_sample *sample, struct unwind_frame *frames, size_t most,
	      enum unwind_end *end)
{
	struct walk w = {.unwinder = u, .sample = sample, .interrupted = true};
	size_t n = 0;
	w.code = begin(sample, &w.state);
	while (step(&w) == STEP_CALLER) {
		if (n == most) {
			w.end = UNWIND_DEPTH;
			break;
		}
		frames[n++] = (struct unwind_frame){.address = w.code, .interrupted = w.interrupted};
	}
	*end = w.end;
	return n;
}

static bool fits(int64_t offset) { return offset >= INT32_MIN && offset <= INT32_MAX; }

struct unwind_plain_rule unwind_plain_rule(struct unwinder *u, const char *module, uint64_t offset)
{
	const struct unwind_plain_rule unknown = {.kind = PLAIN_UNKNOWN};
	struct unwind_plain_rule out = {.kind = PLAIN_UNKNOWN};
	struct module *m = symbols_module(u->symbols, module);
	uint64_t linked;
	if (!m || !m->file.elf || !module_address(m, offset, &linked))
		return unknown;
	const struct unwind_row *row = unwind_row_find(u, m, linked, UNWIND_X86_64);
	if (!row || !row->found)
		return unknown;
	if (row->signal)
		return (struct unwind_plain_rule){.kind = PLAIN_SIGNAL};
	if (row->cfa.kind != RULE_REGISTER || (row->cfa.other != X86_STACK && row->cfa.other != X86_FRAME) ||
	    !fits(row->cfa.offset))
		return unknown;
	out.by_frame = row->cfa.other == X86_FRAME;
	out.cfa = (int32_t)row->cfa.offset;
	for (unsigned i = 0; i < row->n_rules; i++) {
		const struct unwind_rule *rule = &row->rules[i];
		bool at = rule->kind == RULE_AT && fits(rule->offset);
		if (rule->number == row->return_register && rule->kind == RULE_UNKNOWN)
			return (struct unwind_plain_rule){.kind = PLAIN_OUTERMOST};
		if (rule->number == row->return_register && at) {
			out.kind = PLAIN_CALLER;
			out.returns = (int32_t)rule->offset;
		} else if (rule->number == X86_FRAME) {
			/* where registers are popped it may have its value back: apply() can tell */
			out.frame_saved = at && !row->epilogue;
			out.frame_lost = !out.frame_saved;
			out.saved = at ? (int32_t)rule->offset : 0;
		} else if (rule->number == X86_STACK && (rule->kind != RULE_CFA || rule->offset != 0)) {
			return unknown;
		}
	}
	return out;
}

bool unwind_first(struct unwinder *u, const struct unwind_sample *sample, struct unwind_first *out,
		  enum unwind_end *end)
{
	struct walk w = {.unwinder = u, .sample = sample, .interrupted = true};
	unsigned frame = sample->machine == UNWIND_X86_64 ? X86_FRAME : ARM_FRAME;
	w.code = begin(sample, &w.state);
	if (step(&w) != STEP_CALLER) {
		*end = w.end;
		return false;
	}
	*out = (struct unwind_first){.caller = {.address = w.code, .interrupted = w.interrupted},
				     .cfa = w.state.registers[stack_register(sample->machine)],
				     .has_frame_pointer = w.state.known >> frame & 1,
				     .frame_pointer = w.state.registers[frame]};
	return true;
}
