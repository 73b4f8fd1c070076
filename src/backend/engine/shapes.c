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

void shapes_learn(struct shapes *shapes, const uint8_t *code, const struct x86_insn *insn,
		  struct sparse_vector *vector, struct exact_each *each)
{
	struct exact_vector adds = {0};
	struct shape shape = {.length = insn->length};
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
	shapes->modrm[insn->map][insn->opcode] = insn->has_modrm ? SHAPE_MODRM_THERE : SHAPE_MODRM_ABSENT;
	uint8_t bytes[SHAPE_READS] = {0};
	memcpy(bytes, code, insn->length < SHAPE_READS ? insn->length : SHAPE_READS);
	shape.key = shape_key(shapes, bytes);
	*shape_slot(shapes, shape.key) = shape;
}
