/*
 * What an instruction adds to the counts, by its shape: instructions that differ in nothing but their numbers
 * (displacement, immediate) add the same. What one of a shape added is remembered; the next of it is not decoded.
 *
 * A shape: a prefix 66, F2, F3 or 64; REX; the opcode in map 0 or 0F; ModRM; SIB. Of opcodes whose ModRM and SIB
 * name nothing but operands (is_plain() of shapes.c) only the form matters: register or memory, and how long it
 * is. Other instructions are decoded each time, and so are those whose numbers matter (int, enter) or that have a
 * counter of their own.
 *
 * What always holds: what is added is what exact_vector_add() adds for the record that x86_decode() makes of the
 * bytes (tests/unit/shapes_test.c compares them).
 */
#ifndef TARE_BACKEND_ENGINE_SHAPES_H
#define TARE_BACKEND_ENGINE_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/x86/decode.h"
#include "engine/x86/vector.h"

#define SHAPES 4096u
#define SHAPE_ADDS 11u

struct shape {
	uint64_t key;   /* 0: empty */
	uint64_t times; /* the user's (shape_sums.h); 0 to begin with */
	uint8_t length, n;
	struct {
		uint8_t of, times; /* of: enum exact_count */
	} adds[SHAPE_ADDS];
};

/* Zeros to begin with. */
struct shapes {
	struct shape at[SHAPES];
	uint8_t modrm[2][256]; /* by map and opcode: has it a ModRM byte? 0: not known yet */
};

enum { SHAPE_READS = 6, SHAPE_MAP_BIT = 48, SHAPE_NOT_EMPTY_BIT = 63 };
enum shape_modrm { SHAPE_MODRM_UNKNOWN, SHAPE_MODRM_ABSENT, SHAPE_MODRM_THERE, SHAPE_MODRM_PLAIN };
enum { SHAPE_REX_WIDE = 0x48 };

static inline bool shape_is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0x64;
}

static inline struct shape *shape_slot(struct shapes *shapes, uint64_t key)
{
	return &shapes->at[key * 0x9e3779b97f4a7c15u >> 32 & (SHAPES - 1)];
}

/* From SHAPE_READS bytes. 0: an opcode that was not met before. A byte that is not an opcode (a second prefix,
   VEX, another map's) never is. */
static inline uint64_t shape_key(const struct shapes *shapes, const uint8_t *code)
{
	uint64_t key = 1ull << SHAPE_NOT_EMPTY_BIT;
	if (shape_is_prefix(*code))
		key |= *code++;
	if ((*code & 0xf0) == 0x40)
		key |= (uint64_t)*code++ << 8;
	unsigned second = *code == 0x0f, opcode = code[second];
	uint8_t modrm = shapes->modrm[second][opcode];
	key |= (uint64_t)second << SHAPE_MAP_BIT | (uint64_t)opcode << 16;
	code += second + 1;
	if (modrm == SHAPE_MODRM_PLAIN) {
		unsigned mod = code[0] >> 6, rm = code[0] & 7, at = rm == 4 ? code[1] & 7 : rm;
		key &= ~((uint64_t)(0xff ^ SHAPE_REX_WIDE) << 8);
		if (mod == 3)
			return key | 3ull << 30;
		return key | (uint64_t)mod << 30 | (uint64_t)(rm == 4) << 26 | (uint64_t)(!mod && at == 5) << 24;
	}
	if (modrm != SHAPE_MODRM_THERE)
		return modrm == SHAPE_MODRM_ABSENT ? key : 0;
	key |= (uint64_t)code[0] << 24;
	if (code[0] < 0xc0 && (code[0] & 7) == 4)
		key |= (uint64_t)code[1] << 32;
	return key;
}

/* The shape of what stands at code. NULL: it was not met yet, or has none, or needs more than the available
   bytes. */
static inline struct shape *shapes_find(struct shapes *shapes, const uint8_t *code, size_t available)
{
	uint8_t few[SHAPE_READS] = {0};
	if (available < SHAPE_READS) {
		for (size_t i = 0; i < available; i++)
			few[i] = code[i];
		code = few;
	}
	uint64_t key = shape_key(shapes, code);
	struct shape *shape = shape_slot(shapes, key);
	return key && shape->key == key && shape->length <= available ? shape : NULL;
}

/* A vector, and which of it is not 0. */
struct sparse_vector {
	struct exact_vector dense;
	uint64_t moved[2]; /* bit i: dense.of[i] may not be 0 */
};
_Static_assert(COUNT_STATIC <= 128, "a bit for each");

static inline void shape_add(const struct shape *shape, struct sparse_vector *vector)
{
	for (unsigned i = 0; i < shape->n; i++) {
		unsigned of = shape->adds[i].of;
		vector->dense.of[of] += shape->adds[i].times;
		vector->moved[of >> 6] |= 1ull << (of & 63);
	}
}

/* Of what was decoded from code: as exact_vector_add(), which remembers it if its shape says it all. replaced: the
 * shape that it takes the place of, or an empty one; NULL: not wanted. */
void shapes_learn(struct shapes *shapes, const uint8_t *code, const struct x86_insn *insn,
		  struct sparse_vector *vector, struct exact_each *each, struct shape *replaced);

#endif
