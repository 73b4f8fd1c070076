/*
 * APX's promoted instructions: older ones, legacy and VEX, in an EVEX prefix (Intel's APX architecture
 * specification, chapter 3; its opcode maps in chapter 8). Legacy ones have map 4, those that had VEX keep their
 * map and opcode.
 *
 *   prefix, opcode, ModRM ──promoted_find()──► the older instruction: root and key ──(decode.c walks its tables)──► its form
 *   its form ──promoted_adapt()──► the promoted instruction's
 *
 * What always holds:
 *  1. A combination that the specification does not list is not found.
 *  2. What the older instruction counts as, the promoted one does, but for what its prefix changes:
 *       ND   a third register, in vvvv, takes the result; what was the destination is only read (in memory: no store)
 *       ZU   (ND of imul with an immediate and of setcc) the result's upper bits become zero
 *       NF   no flag is read or written
 *       SCC  ccmp, ctest: flags are read first; all are written, from the comparison or from the prefix. Memory is read in either case
 *  3. cfcmov with memory accesses it only if its condition holds, which no form says: it is not found, and stays
 *     unknown.
 */
#ifndef TARE_ENGINE_X86_PROMOTED_H
#define TARE_ENGINE_X86_PROMOTED_H

#include "engine/x86/decode.h"
#include "engine/x86/decode_form.h"

struct promoted {
	/* the encoding, with bits that are stored inverted set right */
	uint8_t map, opcode, pp, w, modrm;
	uint8_t rm, vvvv; /* registers; rm if there is no memory operand */
	bool memory, nd;
	uint8_t length_and_zero; /* L'L and z: 0 in all of them */
	/* the last four bits: V4 inverted, NF, 0, 0; or the condition of ccmp and ctest */
	uint8_t low;

	/* promoted_find(): the older instruction */
	uint8_t rule;
	uint8_t roots, older; /* its table of roots and its opcode there */
	uint32_t key;
};

bool promoted_find(struct promoted *p);
void promoted_adapt(const struct promoted *p, struct x86_form *form);

/* Does the prefix name a condition where others have V4 and NF, and flags where they have vvvv? */
bool promoted_is_conditional(const struct promoted *p);

/* x86_form.implicit: rows behind those of decode_tables.h. Both registers are one access of 16 bytes. */
enum { IMPLICIT_PUSH2 = 254, IMPLICIT_POP2 = 255 };
extern const struct x86_implicit promoted_implicit[2][2];

#endif
