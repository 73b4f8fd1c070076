#include "backend/engine/shape_sums.h"

static void empty(const struct shape_sink *sink, struct shape *shape)
{
	for (unsigned i = 0; shape->times && i < shape->n; i++)
		sink->add(sink->arg, shape->adds[i].of, shape->times, shape->adds[i].times);
	shape->times = 0;
}

static void add_decoded(struct shape_sums *sums, const struct shape_sink *sink, const uint8_t *code,
			const struct x86_insn *insn, uint32_t index, uint64_t times)
{
	struct sparse_vector vector = {0};
	struct exact_each each;
	struct shape replaced;
	shapes_learn(&sums->shapes, code, insn, &vector, &each, &replaced);
	empty(sink, &replaced);
	for (unsigned half = 0; half < 2; half++)
		for (uint64_t left = vector.moved[half]; left; left &= left - 1) {
			unsigned count = half * 64 + (unsigned)__builtin_ctzll(left);
			sink->add(sink->arg, count, times, vector.dense.of[count]);
		}
	if (each.unit)
		sink->own(sink->arg, index, &each);
}

bool shape_sums_add(struct shape_sums *sums, const struct shape_sink *sink, const uint8_t *code,
		    const struct record_block *block, uint64_t times)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < block->insns; i++) {
		uint32_t left = block->length_bytes - at;
		struct shape *shape = shapes_find(&sums->shapes, code + at, left);
		if (shape) {
			if (__builtin_add_overflow(shape->times, times, &shape->times)) {
				shape->times -= times;
				empty(sink, shape);
				shape->times = times;
			}
			at += shape->length;
			continue;
		}
		struct x86_insn insn;
		if (x86_decode(code + at, left, &insn) != X86_DECODE_OK)
			return false;
		add_decoded(sums, sink, code + at, &insn, i, times);
		at += insn.length;
	}
	return at == block->length_bytes;
}

void shape_sums_flush(struct shape_sums *sums, const struct shape_sink *sink)
{
	for (unsigned i = 0; i < SHAPES; i++)
		empty(sink, &sums->shapes.at[i]);
}
