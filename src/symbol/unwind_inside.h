/* Between the files that unwind; see unwind.h. Registers have DWARF's numbers here. */
#ifndef TARE_SYMBOL_UNWIND_INSIDE_H
#define TARE_SYMBOL_UNWIND_INSIDE_H

#include "base/hash.h"
#include "symbol/module.h"
#include "symbol/unwind.h"

enum {
	REGISTERS_MOST = UNWIND_ARM64_REGISTERS, /* DWARF's 0 … 32 of both machines; of x86-64: 0 … 16 */
};

/* What is known of a thread in one of its frames. */
struct unwind_state {
	enum unwind_machine machine;
	uint64_t registers[REGISTERS_MOST];
	uint64_t known; /* bit n: register n has its value */
	/* the copy of the stack */
	uint64_t stack_address;
	const uint8_t *stack;
	size_t stack_bytes;
	bool elsewhere; /* the thread was on another stack than the one that was copied */
};

/* lost: above the copy's end, or on another stack; never: no frame of the copy's stack has it */
enum unwind_read { READ_DONE, READ_LOST, READ_NEVER };

/* 1 to 8 bytes of the stack, little-endian. */
enum unwind_read unwind_read(const struct unwind_state *state, uint64_t address, size_t bytes, uint64_t *out);

/* ---- rules (unwind_rules.c) ---- */

enum rule_kind {
	RULE_UNKNOWN, /* the caller's value is lost */
	RULE_AT,      /* it is in memory, at CFA + offset */
	RULE_CFA,     /* it is CFA + offset */
	RULE_REGISTER,
	RULE_EXPRESSION, /* it is where an expression says, */
	RULE_VALUE,      /* or what it says */
};

struct unwind_rule {
	uint8_t number; /* of the register */
	uint8_t kind, other;
	int64_t offset;
	const Dwarf_Op *ops; /* in the module's rules */
	size_t n_ops;
};

/* The rules at one place. Registers without a rule keep their values. */
struct unwind_row {
	uint32_t module; /* its number */
	uint64_t address;
	bool found; /* false: there are none for it */
	bool signal;
	bool epilogue; /* registers whose place is below the stack pointer have their values back */
	uint8_t return_register;
	uint8_t n_rules;
	struct unwind_rule cfa; /* REGISTER: other + offset; or VALUE */
	const struct unwind_rule *rules;
};

struct unwinder {
	struct symbols *symbols;
	struct arena arena;
	VEC(struct unwind_row) rows;
	struct hash_index index; /* of rows, by module and address */
};

/* The row of an address as linked; it lives until the next call. NULL when memory ran out. */
const struct unwind_row *unwind_row_find(struct unwinder *unwinder, struct module *module, uint64_t address,
					 enum unwind_machine machine);

/* ---- expressions (unwind_expression.c) ---- */

enum unwind_value { VALUE_DONE, VALUE_TRUNCATED, VALUE_BROKEN };

/* Evaluates: the address that it names, or the value if it ends in DW_OP_stack_value. bias: what the loader
 * added to the module's addresses; cfa may be 0 in the expression of a CFA. */
enum unwind_value unwind_evaluate(const struct unwind_state *state, const Dwarf_Op *ops, size_t n_ops,
				  uint64_t cfa, uint64_t bias, uint64_t *out);

#endif
