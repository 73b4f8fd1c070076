#include "backend/engine/shapes.h"

#include <string.h>

enum { ENTER = 0xc8 };

/* Do the bytes of the shape alone say what the instruction adds, and how long it is? */
static bool says_all(const uint8_t *code, const struct x86_insn *insn, const struct exact_each *each)
{
	unsigned prefix = shape_is_prefix(*code), second = insn->map == X86_MAP_0F;
	return insn->encoding == X86_LEGACY && insn->map <= X86_MAP_0F && !insn->has_rex2 &&
	       insn->prefix_bytes == prefix && insn->opcode_offset == prefix + (insn->rex != 0) + second &&
	       !(insn->class & X86_CLASS_UNKNOWN) && !each->unit && insn->flow != X86_FLOW_INT &&
	       !(insn->map == X86_MAP_0 && insn->opcode == ENTER);
}

/* Do ModRM and SIB name operands alone? Those of groups have a part of the opcode. */
static bool is_plain(enum x86_map map, uint8_t opcode)
{
	if (map == X86_MAP_0)
		return (opcode < 0x40 && (opcode & 7) < 4) || (opcode >= 0x84 && opcode <= 0x8b) ||
		       opcode == 0x63 || opcode == 0x69 || opcode == 0x6b || opcode == 0x8d;
	return (opcode >= 0x10 && opcode <= 0x17) || opcode == 0x28 || opcode == 0x29 || opcode == 0x2e ||
	       opcode == 0x2f || (opcode >= 0x40 && opcode <= 0x4f) || (opcode >= 0x54 && opcode <= 0x70) ||
	       (opcode >= 0x74 && opcode <= 0x76) || opcode == 0x7e || opcode == 0x7f || opcode == 0xaf ||
	       opcode == 0xb6 || opcode == 0xb7 || opcode == 0xbe || opcode == 0xbf || opcode >= 0xd4;
}

static enum shape_modrm modrm_of(const struct x86_insn *insn)
{
	if (!insn->has_modrm)
		return SHAPE_MODRM_ABSENT;
	return is_plain(insn->map, insn->opcode) ? SHAPE_MODRM_PLAIN : SHAPE_MODRM_THERE;
}

void shapes_learn(struct shapes *shapes, const uint8_t *code, const struct x86_insn *insn,
		  struct sparse_vector *vector, struct exact_each *each, struct shape *replaced)
{
	struct exact_vector adds = {0};
	struct shape shape = {.length = insn->length};
	if (replaced)
		*replaced = (struct shape){0};
	exact_vector_add(&adds, insn, each);
	bool fits = says_all(code, insn, each);
	for (unsigned i = 0; i < COUNT_STATIC; i++) {
		if (!adds.of[i])
			continue;
		vector->dense.of[i] += adds.of[i];
		vector->moved[i >> 6] |= 1ull << (i & 63);
		fits = fits && shape.n < SHAPE_ADDS && adds.of[i] <= UINT8_MAX;
		if (fits) {
			shape.adds[shape.n].of = (uint8_t)i;
			shape.adds[shape.n++].times = (uint8_t)adds.of[i];
		}
	}
	if (!fits)
		return;
	shapes->modrm[insn->map][insn->opcode] = (uint8_t)modrm_of(insn);
	uint8_t bytes[SHAPE_READS] = {0};
	memcpy(bytes, code, insn->length < SHAPE_READS ? insn->length : SHAPE_READS);
	shape.key = shape_key(shapes, bytes);
	struct shape *slot = shape_slot(shapes, shape.key);
	if (replaced)
		*replaced = *slot;
	*slot = shape;
}
