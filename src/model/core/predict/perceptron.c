/*
 * The perceptron predictor: Jiménez & Lin, Dynamic branch prediction with perceptrons, HPCA 2001.
 *
 *   y = w0 + sum of x_i w_i, x_i = 1 if the i-th last conditional branch was taken, else -1; predicted taken if y
 *   >= 0; trained if the prediction was wrong or |y| <= threshold: w0 += t, w_i += t x_i, t = 1 if taken, else -1,
 *   weights stay in their bits. The row of weights: (pc >> address_shift) mod entries. Weights begin as 0,
 *   outcomes as not taken. Weights of 2 … 8 bits.
 *
 * Eight weights at a time in a 64-bit word, without vector registers (the code runs inside the measured program,
 * whose vector state is not ours): with b = w + 128 (0 … 255) and the outcome's byte m (0xff taken), b xor m is
 * 128 + w if not taken, 127 - w if taken: that is 128 - x w, less 1 if taken. Over all bytes, unused ones (weight
 * 0, not taken), so that sum = 128 bytes - (y - w0) - outcomes taken.
 */
#include "model/core/predict/predict.h"

#define BYTES(value) ((value)*0x0101010101010101ull)

uint64_t perceptron_layout(struct perceptron *p, const struct machine *machine, uint64_t at)
{
	const struct machine_direction *m = &machine->direction;
	if (m->kind != PREDICT_PERCEPTRON)
		return at;
	p->words = (m->history_bits + 7) / 8;
	p->last_word = m->history_bits % 8 ? (1ull << (m->history_bits % 8 * 8)) - 1 : ~0ull;
	p->row_bytes = 8 + 8 * p->words;
	p->rows_mask = m->entries - 1;
	p->threshold = m->threshold;
	p->highest = 127 + (1 << (m->weight_bits - 1));
	p->lowest = 128 - (1 << (m->weight_bits - 1));
	p->rows_at = at;
	return at + predict_rounded((uint64_t)m->entries * p->row_bytes);
}

/* 1 in each byte that is not 0: bit 7 of (low 7 bits + 127) is set by any of them, exactly. */
static uint64_t nonzero_bytes(uint64_t v)
{
	return (((v & BYTES(0x7full)) + BYTES(0x7full)) | v) >> 7 & BYTES(1ull);
}

bool perceptron_resolve(struct branches *b, uint64_t address, bool taken)
{
	struct perceptron *p = &b->perceptron;
	uint32_t words = p->words;
	char *row = TABLE(b, char, p->rows_at) + (uint64_t)(address & p->rows_mask) * p->row_bytes;
	uint64_t *weights = (uint64_t *)(row + 8);
	uint64_t sums = 0; /* four of 16 bits: 32 words of 8 bytes are 65,280 at most */
	for (uint32_t i = 0; i < words; i++) {
		uint64_t v = weights[i] ^ BYTES(0x80ull) ^ p->history[i];
		sums += (v & 0x00ff00ff00ff00ffull) + (v >> 8 & 0x00ff00ff00ff00ffull);
	}
	int32_t sum = sums * 0x0001000100010001ull >> 48;
	int32_t y = (int8_t)*row - (sum - 128 * 8 * (int32_t)words + p->taken_in_history);
	bool predicted = y >= 0;
	if (predicted != taken || (y < 0 ? -y : y) <= p->threshold) {
		uint8_t bias = *row + 128;
		bias += (taken & (bias != p->highest)) - (!taken & (bias != p->lowest));
		*row = bias - 128;
		for (uint32_t i = 0; i < words; i++) {
			uint64_t used = i + 1 == words ? p->last_word : ~0ull;
			uint64_t v = weights[i] ^ BYTES(0x80ull), up = taken ? p->history[i] : ~p->history[i];
			uint64_t more = nonzero_bytes(v ^ BYTES((uint64_t)p->highest)) & up & used;
			uint64_t less = nonzero_bytes(v ^ BYTES((uint64_t)p->lowest)) & ~up & used;
			weights[i] = (v + more - less) ^ BYTES(0x80ull);
		}
	}
	if (words) {
		p->taken_in_history += taken;
		uint64_t in = taken ? 0xff : 0;
		for (uint32_t i = 0; i + 1 < words; i++) {
			uint64_t word = p->history[i];
			p->history[i] = word << 8 | in;
			in = word >> 56;
		}
		/* the oldest in use falls out of the last word, where fewer than eight may be in use */
		uint64_t word = p->history[words - 1];
		uint64_t oldest = word & ~(p->last_word >> 8) & p->last_word;
		p->taken_in_history -= oldest != 0;
		p->history[words - 1] = (word << 8 | in) & p->last_word;
	}
	return predicted;
}
