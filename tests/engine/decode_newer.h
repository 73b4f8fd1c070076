/*
 * Encodings that the manuals have and Zydis 4.0 refuses, written down from the manuals' pages, not from the decoder's tables: where only
 * this decoder knows an instruction, it must be one of these. APX's forms are known by their prefix alone: REX2, or the EVEX bits that were
 * reserved before.
 */
#ifndef TARE_TESTS_ENGINE_DECODE_NEWER_H
#define TARE_TESTS_ENGINE_DECODE_NEWER_H

#include <Zydis/Zydis.h>

#include "engine/x86/decode.h"

/* pp: bit 0 none, 1 66, 2 F3, 3 F2; l: bit 0 128, 1 256, 2 512; operand: 1 memory, 2 register */
// clang-format off: a table, a row a line
static const struct {
	const char *isa;
	uint8_t encoding, map, first, last, pp, w, l, operand;
} newer_encodings[] = {
	{"AVX-VNNI-INT8", X86_VEX3, 2, 0x50, 0x51, 13, 1, 3, 3},
	{"AVX-VNNI-INT16", X86_VEX3, 2, 0xd2, 0xd3, 7, 1, 3, 3},
	{"AVX-IFMA", X86_VEX3, 2, 0xb4, 0xb5, 2, 2, 3, 3},
	{"AVX-NE-CONVERT", X86_VEX3, 2, 0xb0, 0xb0, 15, 1, 3, 1},
	{"AVX-NE-CONVERT", X86_VEX3, 2, 0xb1, 0xb1, 6, 1, 3, 1},
	{"AVX-NE-CONVERT", X86_VEX3, 2, 0x72, 0x72, 4, 1, 3, 3},
	{"SM3", X86_VEX3, 2, 0xda, 0xda, 3, 1, 1, 3},
	{"SM3", X86_VEX3, 3, 0xde, 0xde, 2, 1, 1, 3},
	{"SM4", X86_VEX3, 2, 0xda, 0xda, 12, 1, 3, 3},
	{"SHA512", X86_VEX3, 2, 0xcb, 0xcd, 8, 1, 2, 2},
	{"CMPccXADD", X86_VEX3, 2, 0xe0, 0xef, 2, 3, 1, 1},
	{"RAO-INT", X86_LEGACY, 2, 0xfc, 0xfc, 15, 3, 1, 1},
	{"AMX-FP16", X86_VEX3, 2, 0x5c, 0x5c, 8, 1, 1, 2},
	{"AMX-COMPLEX", X86_VEX3, 2, 0x6c, 0x6c, 3, 1, 1, 2},
	{"AVX10.2", X86_EVEX, 2, 0x50, 0x51, 13, 1, 7, 3},
	{"AVX10.2", X86_EVEX, 2, 0xd2, 0xd3, 7, 1, 7, 3},
	{"AVX10.2 SM4", X86_EVEX, 2, 0xda, 0xda, 12, 1, 7, 3},
	{"AVX10.2 bf16", X86_EVEX, 5, 0x51, 0x51, 2, 1, 7, 3},
	{"AVX10.2 bf16", X86_EVEX, 5, 0x58, 0x59, 2, 1, 7, 3},
	{"AVX10.2 bf16", X86_EVEX, 6, 0x2c, 0x2c, 1, 1, 7, 3},
	{"AVX10.2 bf16", X86_EVEX, 6, 0x42, 0x42, 1, 1, 7, 3},
	{"AVX10.2 bf16", X86_EVEX, 6, 0x4c, 0x4c, 1, 1, 7, 3},
	{"AVX10.2 bf16", X86_EVEX, 6, 0x4e, 0x4e, 1, 1, 7, 3},
	{"AVX10.2 bf16", X86_EVEX, 3, 0x08, 0x08, 8, 1, 7, 3},
	{"AVX10.2 bf16", X86_EVEX, 3, 0x26, 0x26, 8, 1, 7, 3},
	{"AVX10.2 bf16", X86_EVEX, 3, 0x56, 0x56, 8, 1, 7, 3},
	{"AVX10.2 bf16", X86_EVEX, 3, 0x66, 0x66, 8, 1, 7, 3},
	{"AVX10.2 bf16", X86_EVEX, 3, 0xc2, 0xc2, 8, 1, 7, 3},
	{"AVX10.2 bf16", X86_EVEX, 5, 0x2f, 0x2f, 2, 1, 1, 3},
	{"AVX10.2 comx", X86_EVEX, 1, 0x2e, 0x2f, 4, 1, 7, 3},
	{"AVX10.2 comx", X86_EVEX, 1, 0x2e, 0x2f, 8, 2, 7, 3},
	{"AVX10.2 comx", X86_EVEX, 5, 0x2e, 0x2f, 4, 1, 7, 3},
	{"AVX10.2 minmax", X86_EVEX, 3, 0x52, 0x52, 9, 1, 7, 3},
	{"AVX10.2 minmax", X86_EVEX, 3, 0x52, 0x53, 2, 3, 7, 3},
	{"AVX10.2 minmax", X86_EVEX, 3, 0x53, 0x53, 1, 1, 7, 3},
	{"AVX10.2 vdpphps", X86_EVEX, 2, 0x52, 0x52, 1, 1, 7, 3},
	{"AVX10.2 vmpsadbw", X86_EVEX, 3, 0x42, 0x42, 4, 1, 7, 3},
	{"AVX10.2 saturating", X86_EVEX, 5, 0x6c, 0x6d, 15, 3, 7, 3},
	{"AVX10.2 saturating", X86_EVEX, 5, 0x68, 0x6b, 11, 1, 7, 3},
	{"AVX10.2 vmovd", X86_EVEX, 1, 0x7e, 0x7e, 4, 1, 1, 3},
	{"AVX10.2 vmovd", X86_EVEX, 1, 0xd6, 0xd6, 2, 1, 1, 3},
	{"AVX10.2 vmovw", X86_EVEX, 5, 0x6e, 0x6e, 4, 1, 1, 3},
	{"AVX10.2 vmovw", X86_EVEX, 5, 0x7e, 0x7e, 4, 1, 1, 3},
	{"APX kmov", X86_EVEX, 1, 0x90, 0x93, 11, 3, 1, 3},
	{"APX tiles", X86_EVEX, 2, 0x49, 0x49, 3, 1, 1, 1},
	{"APX tiles", X86_EVEX, 2, 0x4b, 0x4b, 14, 1, 1, 1},
	{"APX CMPccXADD", X86_EVEX, 2, 0xe0, 0xef, 2, 3, 1, 1},
	{"APX BMI", X86_EVEX, 2, 0xf2, 0xf3, 1, 3, 1, 3},
	{"APX BMI", X86_EVEX, 2, 0xf5, 0xf5, 13, 3, 1, 3},
	{"APX BMI", X86_EVEX, 2, 0xf6, 0xf6, 8, 3, 1, 3},
	{"APX BMI", X86_EVEX, 2, 0xf7, 0xf7, 15, 3, 1, 3},
	{"APX BMI", X86_EVEX, 3, 0xf0, 0xf0, 8, 3, 1, 3},
	{"AVX10.2 bf16", X86_EVEX, 5, 0x5c, 0x5f, 2, 1, 7, 3},
	{"AVX10.2 bf16", X86_EVEX, 6, 0x98, 0xbe, 1, 1, 7, 3},
};
// clang-format on

static bool decode_is_apx(const uint8_t *code, const struct x86_insn *own)
{
	if (own->has_rex2)
		return true;
	const uint8_t *p = code + own->prefix_bytes;
	return own->encoding == X86_EVEX && ((p[1] & 7) == 4 || p[1] & 8 || !(p[2] & 4) || own->extended);
}

static bool decode_is_newer(const uint8_t *code, const struct x86_insn *own)
{
	if (decode_is_apx(code, own))
		return true;
	const uint8_t *p = code + own->prefix_bytes;
	unsigned pp = 0, w = own->rex >> 3 & 1, l = 0;
	if (own->encoding == X86_VEX2 || own->encoding == X86_VEX3) {
		pp = p[own->encoding == X86_VEX3 ? 2 : 1] & 3;
		l = p[own->encoding == X86_VEX3 ? 2 : 1] >> 2 & 1;
	} else if (own->encoding == X86_EVEX) {
		pp = p[2] & 3;
		l = own->evex_b && own->rm != X86_NO_REG ? 2 : p[3] >> 5 & 3;
	}
	for (size_t i = 0; i < sizeof newer_encodings / sizeof *newer_encodings; i++)
		if (newer_encodings[i].encoding == own->encoding && newer_encodings[i].map == own->map &&
		    own->opcode >= newer_encodings[i].first && own->opcode <= newer_encodings[i].last &&
		    newer_encodings[i].pp >> pp & 1 && newer_encodings[i].w >> w & 1 &&
		    newer_encodings[i].l >> l & 1 && newer_encodings[i].operand >> (own->rm != X86_NO_REG) & 1)
			return true;
	return false;
}

/* Those of a newer Zydis whose category is not one of the older crypto ones. */
static bool is_new_crypto(const ZydisDecodedInstruction *z)
{
	const char *name = ZydisMnemonicGetString(z->mnemonic);
	return !strncmp(name, "vsm3", 4) || !strncmp(name, "vsm4", 4) || !strncmp(name, "vsha512", 7);
}

#endif
