/* Decodes what kernels use of aarch64 (Arm ARM, C4.1 "A64 instruction set encoding"); anything unusual is refused.
 */
#include <string.h>

#include "kernels/witness.h"

/* Loads and stores of one register: what they do, where, and how wide. */
static bool decode_one_register(uint32_t word, struct instruction *out)
{
	unsigned form = word >> 22 & 3;
	if (word >> 26 & 1)
		return false; /* of a vector register: no kernel has one */
	out->store = form == 0;
	out->load = form != 0;
	out->access_bytes = 1u << (word >> 30);
	out->base = (int)(word >> 5 & 31);
	if (word >> 24 & 1) { /* an unsigned offset, in units of the width */
		out->displacement = (int64_t)(word >> 10 & 0xfff) * out->access_bytes;
		return true;
	}
	int64_t offset = (int64_t)(word >> 12 & 0x1ff);
	offset -= offset & 0x100 ? 0x200 : 0;
	switch ((word >> 21 & 1) << 2 | (word >> 10 & 3)) {
	case 0:
	case 3: out->displacement = offset; return true; /* unscaled; before the access */
	case 1: return true;                             /* after it */
	default: return false;
	}
}

bool instruction_decode(const uint8_t *code, unsigned available, uint64_t pc, struct instruction *out)
{
	uint32_t word;
	if (available < sizeof word)
		return false;
	memcpy(&word, code, sizeof word);
	*out = (struct instruction){ .bytes = 4, .base = -1, .index = -1 };
	if (word >> 26 == 0x05 || word >> 26 == 0x25) { /* b, bl */
		out->branch = true;
		out->call = word >> 31;
	} else if (word >> 24 == 0x54 || (word >> 25 & 0x3f) == 0x1a || (word >> 25 & 0x3f) == 0x1b) {
		out->branch = out->conditional = true; /* b.cond, cbz, cbnz, tbz, tbnz */
	} else if (word >> 25 == 0x6b) {               /* br, blr, ret */
		unsigned form = word >> 21 & 0xf;
		if (form > 2)
			return false;
		out->branch = true;
		out->call = form == 1;
		out->is_return = form == 2;
	} else if ((word & 0xffe0001f) == 0xd4000001) {
		out->system_call = true;
	} else if ((word >> 25 & 0x5) == 0x4) { /* loads and stores: x1x0 */
		if ((word >> 27 & 7) == 3 && (word >> 24 & 3) == 0) {
			out->load = true; /* of a literal, at this instruction's distance */
			out->access_bytes = word >> 30 == 0 ? 4 : 8;
			int64_t distance = (int64_t)(word >> 5 & 0x7ffff);
			out->displacement = (int64_t)pc + 4 * (distance - (distance & 0x40000 ? 0x80000 : 0));
		} else if ((word >> 27 & 7) == 7) { /* one register */
			return decode_one_register(word, out);
		} else {
			return false;
		}
	}
	/* scalar: type 00 is single, 01 double precision */
	if ((word & 0xffa0fc00) == 0x1e202800 || (word & 0xffa0fc00) == 0x1e200800) { /* fadd, fmul */
		out->fp_double = word >> 22 & 1;
		out->fp_single = !out->fp_double;
	} else if ((word & 0xffe08000) == 0x1f400000) { /* fmadd */
		out->fma_double = 1;
	}
	return true;
}
