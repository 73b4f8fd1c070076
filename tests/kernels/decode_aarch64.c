/* Decodes what kernels use of aarch64 (Arm ARM, C4.1 "A64 instruction set encoding"); anything unusual is refused. */
#include <string.h>

#include "kernels/witness.h"

bool instruction_decode(const uint8_t *code, unsigned available, struct instruction *out)
{
	uint32_t word;
	if (available < sizeof word)
		return false;
	memcpy(&word, code, sizeof word);
	*out = (struct instruction){ .bytes = 4 };
	if (word >> 26 == 0x05 || word >> 26 == 0x25) { /* b, bl */
		out->branch = true;
		out->call = word >> 31;
	} else if (word >> 24 == 0x54 || (word >> 25 & 0x3f) == 0x1a || (word >> 25 & 0x3f) == 0x1b) {
		out->branch = out->conditional = true; /* b.cond, cbz, cbnz, tbz, tbnz */
	} else if (word >> 25 == 0x6b) { /* br, blr, ret */
		unsigned form = word >> 21 & 0xf;
		if (form > 2)
			return false;
		out->branch = true;
		out->call = form == 1;
		out->is_return = form == 2;
	} else if ((word & 0xffe0001f) == 0xd4000001) {
		out->syscall = true;
	} else if ((word >> 25 & 0x5) == 0x4) { /* loads and stores: x1x0 */
		if ((word >> 27 & 7) == 3 && (word >> 24 & 3) == 0) {
			out->load = true; /* of a literal */
		} else if ((word >> 27 & 7) == 7) { /* one register */
			unsigned form = word >> 22 & 3;
			out->store = form == 0;
			out->load = form != 0;
		} else {
			return false;
		}
	}
	return true;
}
