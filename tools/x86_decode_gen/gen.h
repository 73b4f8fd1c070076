/*
 * The generator of src/engine/x86/decode_tables.h: asks Zydis about every encoding, corrects what the
 * manuals say otherwise, classifies by mnemonic, and folds the answers into small tables.
 *
 *   probe.c     one point of an opcode's key space → one struct x86_form
 *   newer.c     what Zydis does not know, as an older instruction and what differs
 *   classify.c  mnemonic → event classes, control flow, specials
 *   correct.c   what the manuals say otherwise than Zydis
 *   tree.c      all points of an opcode → nodes
 *   main.c      all opcodes → the file
 */
#ifndef TARE_TOOLS_X86_DECODE_GEN_H
#define TARE_TOOLS_X86_DECODE_GEN_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/x86/decode.h"
#include "engine/x86/decode_form.h"

/* One opcode: the table of roots it belongs to and its number there. */
struct slot {
	int roots;
	uint8_t opcode;
	bool has_modrm;
	bool register_form; /* mod is ignored */
};

struct zydis_insn {
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* What makes two forms different rows: the form proper and its implicit operands. */
struct form_row {
	struct x86_form form;
	struct x86_implicit implicit[2];
};

/* Fills *row for the point and returns true, or returns false if no encoding of the point is valid.
   *mnemonic, for the comments in the output, is Zydis' name. */
bool probe_form(const struct slot *slot, uint32_t key, struct form_row *row, ZydisMnemonic *mnemonic);

/* The same for an instruction that Zydis does not know; *name is for the comments. */
bool newer_form(const struct slot *slot, uint32_t key, struct form_row *row, const char **name);

/* Finds out whether the slot has a ModRM byte, and of which kind. */
void probe_slot(struct slot *slot);

/* Adds classes, flow, special and FP facts; key bits say e.g. whether a rep prefix is there. */
void classify(const struct zydis_insn *z, uint32_t key, bool legacy, struct form_row *row);

/* Replaces what Zydis says of flags, registers and memory where the manuals say otherwise. */
void correct(const struct zydis_insn *z, uint32_t key, struct form_row *row);

/* Folds value[key] for all keys into nodes; returns the root. */
uint16_t tree_build(const uint16_t *value);
extern uint16_t tree_nodes[];
extern unsigned tree_node_count;

#endif
