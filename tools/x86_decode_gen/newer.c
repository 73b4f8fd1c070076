/*
 * Instructions that the manuals have and Zydis 4.0 has not: each is written as an older one with the same operands, and what differs.
 * Sources: Intel's Instruction Set Extensions programming reference (AVX-VNNI-INT8, -INT16, AVX-IFMA, AVX-NE-CONVERT, SM3, SM4, SHA512,
 * CMPccXADD, RAO-INT, AMX-FP16, AMX-COMPLEX) and the AVX10.2 specification (but its 8-bit floats, vcvt2ps2phx and vpmovssdb).
 *
 * What always holds: a row is asked for only where Zydis refuses the encoding; W, L and the kind of operand are in the row, so that all
 * that the manual refuses stays refused.
 */
#include <string.h>

#include "gen.h"

enum { NP = 1, P66 = 2, PF3 = 4, PF2 = 8 };          /* the pp field, as a mask */
enum { W0 = 1, W1 = 2, WIG = 3 };
enum { L0 = 1, L1 = 2, L2 = 4 };
enum { MEM = 1, REG = 2, BOTH = 3 };

static const struct newer {
	const char *name;
	uint8_t roots, first, last, pp, w, l, operand;
	struct { uint8_t roots, opcode, pp, w; } like; /* pp as in the encoding: 0 none, 1 66, 2 F3, 3 F2; opcode + what opcode is past first */
	uint32_t without, with;                         /* classes */
	uint8_t precision;                              /* of what it computes, if another; width and lanes stay */
	bool no_rounding;                               /* EVEX.b with registers is refused */
	bool immediate;                                 /* one byte, which the older one has not */
} newer[] = {
	{ "vpdpb", ROOTS_VEX_0F38, 0x50, 0x51, NP | PF3 | PF2, W0, L0 | L1, BOTH, { ROOTS_VEX_0F38, 0x50, 1, 0 }, 0, 0, 0, 0 },
	{ "vpdpw", ROOTS_VEX_0F38, 0xd2, 0xd3, NP | P66 | PF3, W0, L0 | L1, BOTH, { ROOTS_VEX_0F38, 0x50, 1, 0 }, 0, 0, 0, 0 },
	{ "vpmadd52", ROOTS_VEX_0F38, 0xb4, 0xb5, P66, W1, L0 | L1, BOTH, { ROOTS_VEX_0F38, 0x50, 1, 0 }, 0, 0, 0, 0 },
	{ "vcvtne2ps", ROOTS_VEX_0F38, 0xb0, 0xb0, NP | P66, W0, L0 | L1, MEM, { ROOTS_VEX_0F, 0xf0, 3, 0 }, X86_CLASS_VECTOR_INT, X86_CLASS_FP_CONVERT, X86_FP_HALF, 0 },
	{ "vcvtne2ps", ROOTS_VEX_0F38, 0xb0, 0xb0, PF3 | PF2, W0, L0 | L1, MEM, { ROOTS_VEX_0F, 0xf0, 3, 0 }, X86_CLASS_VECTOR_INT, X86_CLASS_FP_CONVERT, X86_FP_BF16, 0 },
	{ "vbcstne2ps", ROOTS_VEX_0F38, 0xb1, 0xb1, P66, W0, L0 | L1, MEM, { ROOTS_VEX_0F38, 0x79, 1, 0 }, X86_CLASS_VECTOR_INT, X86_CLASS_FP_CONVERT, X86_FP_HALF, 0 },
	{ "vbcstne2ps", ROOTS_VEX_0F38, 0xb1, 0xb1, PF3, W0, L0 | L1, MEM, { ROOTS_VEX_0F38, 0x79, 1, 0 }, X86_CLASS_VECTOR_INT, X86_CLASS_FP_CONVERT, X86_FP_BF16, 0 },
	{ "vcvtneps2bf16", ROOTS_VEX_0F38, 0x72, 0x72, PF3, W0, L0 | L1, BOTH, { ROOTS_VEX_0F, 0x5a, 1, 0 }, 0, 0, X86_FP_SINGLE, 0 },
	{ "vsm3", ROOTS_VEX_0F38, 0xda, 0xda, NP | P66, W0, L0, BOTH, { ROOTS_VEX_0F38, 0xdc, 1, 0 }, 0, 0, 0, 0 },
	{ "vsm3", ROOTS_VEX_0F3A, 0xde, 0xde, P66, W0, L0, BOTH, { ROOTS_VEX_0F3A, 0x44, 1, 0 }, 0, 0, 0, 0 },
	{ "vsm4", ROOTS_VEX_0F38, 0xda, 0xda, PF3 | PF2, W0, L0 | L1, BOTH, { ROOTS_VEX_0F38, 0xdc, 1, 0 }, 0, 0, 0, 0 },
	{ "vsha512", ROOTS_VEX_0F38, 0xcb, 0xcb, PF2, W0, L1, REG, { ROOTS_VEX_0F38, 0xdc, 1, 0 }, 0, 0, 0, 0 },
	{ "vsha512", ROOTS_VEX_0F38, 0xcc, 0xcd, PF2, W0, L1, REG, { ROOTS_VEX_0F, 0x6f, 1, 0 }, 0, X86_CLASS_CRYPTO, 0, 0 },
	{ "tdpfp16ps", ROOTS_VEX_0F38, 0x5c, 0x5c, PF2, W0, L0, REG, { ROOTS_VEX_0F38, 0x5c, 2, 0 }, 0, 0, 0, 0 },
	{ "tcmmfp16ps", ROOTS_VEX_0F38, 0x6c, 0x6c, NP | P66, W0, L0, REG, { ROOTS_VEX_0F38, 0x5c, 2, 0 }, 0, 0, 0, 0 },
	{ "vpdpb", ROOTS_EVEX_0F38, 0x50, 0x51, NP | PF3 | PF2, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F38, 0x50, 1, 0 }, 0, 0, 0, 0 },
	{ "vpdpw", ROOTS_EVEX_0F38, 0xd2, 0xd3, NP | P66 | PF3, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F38, 0x50, 1, 0 }, 0, 0, 0, 0 },
	{ "vsm4", ROOTS_EVEX_0F38, 0xda, 0xda, PF3 | PF2, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F38, 0xdc, 1, 0 }, 0, 0, 0, 0 },
	{ "vaddbf16", ROOTS_EVEX_5, 0x58, 0x59, P66, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_5, 0x58, 0, 0 }, 0, 0, X86_FP_BF16, 1 },
	{ "vsubbf16", ROOTS_EVEX_5, 0x5c, 0x5f, P66, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_5, 0x5c, 0, 0 }, 0, 0, X86_FP_BF16, 1 },
	{ "vsqrtbf16", ROOTS_EVEX_5, 0x51, 0x51, P66, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_5, 0x51, 0, 0 }, 0, 0, X86_FP_BF16, 1 },
	{ "vfmaddbf16", ROOTS_EVEX_6, 0x98, 0x98, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_6, 0x98, 1, 0 }, 0, 0, X86_FP_BF16, 1 },
	{ "vfmsubbf16", ROOTS_EVEX_6, 0x9a, 0x9a, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_6, 0x9a, 1, 0 }, 0, 0, X86_FP_BF16, 1 },
	{ "vfnmaddbf16", ROOTS_EVEX_6, 0x9c, 0x9c, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_6, 0x9c, 1, 0 }, 0, 0, X86_FP_BF16, 1 },
	{ "vfnmsubbf16", ROOTS_EVEX_6, 0x9e, 0x9e, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_6, 0x9e, 1, 0 }, 0, 0, X86_FP_BF16, 1 },
	{ "vfmaddbf16", ROOTS_EVEX_6, 0xa8, 0xa8, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_6, 0xa8, 1, 0 }, 0, 0, X86_FP_BF16, 1 },
	{ "vfmsubbf16", ROOTS_EVEX_6, 0xaa, 0xaa, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_6, 0xaa, 1, 0 }, 0, 0, X86_FP_BF16, 1 },
	{ "vfnmaddbf16", ROOTS_EVEX_6, 0xac, 0xac, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_6, 0xac, 1, 0 }, 0, 0, X86_FP_BF16, 1 },
	{ "vfnmsubbf16", ROOTS_EVEX_6, 0xae, 0xae, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_6, 0xae, 1, 0 }, 0, 0, X86_FP_BF16, 1 },
	{ "vfmaddbf16", ROOTS_EVEX_6, 0xb8, 0xb8, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_6, 0xb8, 1, 0 }, 0, 0, X86_FP_BF16, 1 },
	{ "vfmsubbf16", ROOTS_EVEX_6, 0xba, 0xba, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_6, 0xba, 1, 0 }, 0, 0, X86_FP_BF16, 1 },
	{ "vfnmaddbf16", ROOTS_EVEX_6, 0xbc, 0xbc, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_6, 0xbc, 1, 0 }, 0, 0, X86_FP_BF16, 1 },
	{ "vfnmsubbf16", ROOTS_EVEX_6, 0xbe, 0xbe, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_6, 0xbe, 1, 0 }, 0, 0, X86_FP_BF16, 1 },
	{ "vrcpbf16", ROOTS_EVEX_6, 0x4c, 0x4c, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_6, 0x4c, 1, 0 }, 0, 0, X86_FP_BF16, 1, 0 },
	{ "vrsqrtbf16", ROOTS_EVEX_6, 0x4e, 0x4e, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_6, 0x4e, 1, 0 }, 0, 0, X86_FP_BF16, 1, 0 },
	{ "vgetexpbf16", ROOTS_EVEX_6, 0x42, 0x42, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_6, 0x42, 1, 0 }, 0, 0, 0, 1, 0 },
	{ "vscalefbf16", ROOTS_EVEX_6, 0x2c, 0x2c, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_6, 0x2c, 1, 0 }, 0, 0, 0, 1, 0 },
	{ "vfpclassbf16", ROOTS_EVEX_0F3A, 0x66, 0x66, PF2, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F3A, 0x66, 0, 0 }, 0, 0, 0, 1, 0 },
	{ "vgetmantbf16", ROOTS_EVEX_0F3A, 0x26, 0x26, PF2, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F3A, 0x26, 0, 0 }, 0, 0, 0, 1, 0 },
	{ "vreducebf16", ROOTS_EVEX_0F3A, 0x56, 0x56, PF2, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F3A, 0x56, 0, 0 }, 0, 0, 0, 1, 0 },
	{ "vrndscalebf16", ROOTS_EVEX_0F3A, 0x08, 0x08, PF2, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F3A, 0x08, 0, 0 }, 0, 0, 0, 1, 0 },
	{ "vcmpbf16", ROOTS_EVEX_0F3A, 0xc2, 0xc2, PF2, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F3A, 0xc2, 0, 0 }, 0, 0, 0, 1, 0 },
	{ "vcomisbf16", ROOTS_EVEX_5, 0x2f, 0x2f, P66, W0, L0, BOTH, { ROOTS_EVEX_5, 0x2f, 0, 0 }, 0, 0, 0, 1, 0 },
	{ "vucomxss, vcomxss", ROOTS_EVEX_0F, 0x2e, 0x2f, PF3, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x2e, 0, 0 }, 0, 0, 0, 0, 0 },
	{ "vucomxsd, vcomxsd", ROOTS_EVEX_0F, 0x2e, 0x2f, PF2, W1, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x2e, 1, 1 }, 0, 0, 0, 0, 0 },
	{ "vucomxsh, vcomxsh", ROOTS_EVEX_5, 0x2e, 0x2f, PF3, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_5, 0x2e, 0, 0 }, 0, 0, 0, 0, 0 },
	{ "vminmaxps", ROOTS_EVEX_0F3A, 0x52, 0x52, P66, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F3A, 0x50, 1, 0 }, 0, 0, 0, 0, 0 },
	{ "vminmaxpd", ROOTS_EVEX_0F3A, 0x52, 0x52, P66, W1, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F3A, 0x50, 1, 1 }, 0, 0, 0, 0, 0 },
	{ "vminmaxss", ROOTS_EVEX_0F3A, 0x53, 0x53, P66, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F3A, 0x51, 1, 0 }, 0, 0, 0, 0, 0 },
	{ "vminmaxsd", ROOTS_EVEX_0F3A, 0x53, 0x53, P66, W1, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F3A, 0x51, 1, 1 }, 0, 0, 0, 0, 0 },
	{ "vminmaxph", ROOTS_EVEX_0F3A, 0x52, 0x52, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_5, 0x5d, 0, 0 }, 0, 0, 0, 0, 1 },
	{ "vminmaxsh", ROOTS_EVEX_0F3A, 0x53, 0x53, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_5, 0x5d, 2, 0 }, 0, 0, 0, 0, 1 },
	{ "vminmaxbf16", ROOTS_EVEX_0F3A, 0x52, 0x52, PF2, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_5, 0x5d, 0, 0 }, 0, 0, X86_FP_BF16, 1, 1 },
	{ "vdpphps", ROOTS_EVEX_0F38, 0x52, 0x52, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F38, 0x52, 2, 0 }, 0, 0, 0, 0, 0 },
	{ "vmpsadbw", ROOTS_EVEX_0F3A, 0x42, 0x42, PF3, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F3A, 0x42, 1, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvttps2dqs", ROOTS_EVEX_5, 0x6d, 0x6d, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x5b, 2, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvttps2udqs", ROOTS_EVEX_5, 0x6c, 0x6c, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x78, 0, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvttpd2dqs", ROOTS_EVEX_5, 0x6d, 0x6d, NP, W1, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0xe6, 1, 1 }, 0, 0, 0, 0, 0 },
	{ "vcvttpd2udqs", ROOTS_EVEX_5, 0x6c, 0x6c, NP, W1, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x78, 0, 1 }, 0, 0, 0, 0, 0 },
	{ "vcvttps2qqs", ROOTS_EVEX_5, 0x6d, 0x6d, P66, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x7a, 1, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvttps2uqqs", ROOTS_EVEX_5, 0x6c, 0x6c, P66, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x78, 1, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvttpd2qqs", ROOTS_EVEX_5, 0x6d, 0x6d, P66, W1, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x7a, 1, 1 }, 0, 0, 0, 0, 0 },
	{ "vcvttpd2uqqs", ROOTS_EVEX_5, 0x6c, 0x6c, P66, W1, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x78, 1, 1 }, 0, 0, 0, 0, 0 },
	{ "vcvttss2sis", ROOTS_EVEX_5, 0x6d, 0x6d, PF3, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x2c, 2, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvttss2sis", ROOTS_EVEX_5, 0x6d, 0x6d, PF3, W1, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x2c, 2, 1 }, 0, 0, 0, 0, 0 },
	{ "vcvttss2usis", ROOTS_EVEX_5, 0x6c, 0x6c, PF3, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x78, 2, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvttss2usis", ROOTS_EVEX_5, 0x6c, 0x6c, PF3, W1, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x78, 2, 1 }, 0, 0, 0, 0, 0 },
	{ "vcvttsd2sis", ROOTS_EVEX_5, 0x6d, 0x6d, PF2, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x2c, 3, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvttsd2sis", ROOTS_EVEX_5, 0x6d, 0x6d, PF2, W1, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x2c, 3, 1 }, 0, 0, 0, 0, 0 },
	{ "vcvttsd2usis", ROOTS_EVEX_5, 0x6c, 0x6c, PF2, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x78, 3, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvttsd2usis", ROOTS_EVEX_5, 0x6c, 0x6c, PF2, W1, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x78, 3, 1 }, 0, 0, 0, 0, 0 },
	{ "vcvtph2ibs", ROOTS_EVEX_5, 0x69, 0x69, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_5, 0x7d, 0, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvtps2ibs", ROOTS_EVEX_5, 0x69, 0x69, P66, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x5b, 1, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvtbf162ibs", ROOTS_EVEX_5, 0x69, 0x69, PF2, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_5, 0x7d, 0, 0 }, 0, 0, 0, 1, 0 },
	{ "vcvttph2ibs", ROOTS_EVEX_5, 0x68, 0x68, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_5, 0x7c, 0, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvttps2ibs", ROOTS_EVEX_5, 0x68, 0x68, P66, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x5b, 2, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvttbf162ibs", ROOTS_EVEX_5, 0x68, 0x68, PF2, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_5, 0x7c, 0, 0 }, 0, 0, 0, 1, 0 },
	{ "vcvtph2iubs", ROOTS_EVEX_5, 0x6b, 0x6b, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_5, 0x7d, 0, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvtps2iubs", ROOTS_EVEX_5, 0x6b, 0x6b, P66, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x5b, 1, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvtbf162iubs", ROOTS_EVEX_5, 0x6b, 0x6b, PF2, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_5, 0x7d, 0, 0 }, 0, 0, 0, 1, 0 },
	{ "vcvttph2iubs", ROOTS_EVEX_5, 0x6a, 0x6a, NP, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_5, 0x7c, 0, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvttps2iubs", ROOTS_EVEX_5, 0x6a, 0x6a, P66, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_0F, 0x5b, 2, 0 }, 0, 0, 0, 0, 0 },
	{ "vcvttbf162iubs", ROOTS_EVEX_5, 0x6a, 0x6a, PF2, W0, L0 | L1 | L2, BOTH, { ROOTS_EVEX_5, 0x7c, 0, 0 }, 0, 0, 0, 1, 0 },
	{ "vmovd", ROOTS_EVEX_0F, 0x7e, 0x7e, PF3, W0, L0, MEM, { ROOTS_EVEX_0F, 0x6e, 1, 0 }, 0, 0, 0, 0, 0 },
	{ "vmovd", ROOTS_EVEX_0F, 0x7e, 0x7e, PF3, W0, L0, REG, { ROOTS_EVEX_0F, 0x7e, 2, 1 }, 0, 0, 0, 0, 0 },
	{ "vmovd", ROOTS_EVEX_0F, 0xd6, 0xd6, P66, W0, L0, MEM, { ROOTS_EVEX_0F, 0x7e, 1, 0 }, 0, 0, 0, 0, 0 },
	{ "vmovd", ROOTS_EVEX_0F, 0xd6, 0xd6, P66, W0, L0, REG, { ROOTS_EVEX_0F, 0xd6, 1, 1 }, 0, 0, 0, 0, 0 },
	{ "vmovw", ROOTS_EVEX_5, 0x6e, 0x6e, PF3, W0, L0, MEM, { ROOTS_EVEX_5, 0x6e, 1, 0 }, 0, 0, 0, 0, 0 },
	{ "vmovw", ROOTS_EVEX_5, 0x6e, 0x6e, PF3, W0, L0, REG, { ROOTS_EVEX_0F, 0x7e, 2, 1 }, 0, 0, 0, 0, 0 },
	{ "vmovw", ROOTS_EVEX_5, 0x7e, 0x7e, PF3, W0, L0, MEM, { ROOTS_EVEX_5, 0x7e, 1, 0 }, 0, 0, 0, 0, 0 },
	{ "vmovw", ROOTS_EVEX_5, 0x7e, 0x7e, PF3, W0, L0, REG, { ROOTS_EVEX_0F, 0xd6, 1, 1 }, 0, 0, 0, 0, 0 },
};

static unsigned bits(uint32_t key, unsigned shift, unsigned mask) { return key >> shift & mask; }

static void set_precision(struct x86_form *f, unsigned precision)
{
	unsigned bytes = f->sizes >> SIZE_VECTOR & 3; /* 1 2 3: 16 32 64 */
	uint8_t width = f->fp ? f->fp >> FP_WIDTH_SHIFT : (uint8_t)(bytes + 3);
	f->fp = (uint8_t)(precision | width << FP_WIDTH_SHIFT);
}

/* cmpccxadd m, r, r: compares, and adds if the condition holds; writes in either case, as cmpxchg does. */
static void compare_and_add(unsigned wide, struct form_row *row)
{
	row->form = (struct x86_form){ .class = X86_CLASS_LOAD | X86_CLASS_STORE | X86_CLASS_LOCKED,
		.roles = ROLE_REG_READ | ROLE_REG_WRITE | ROLE_VVVV_READ, .memory_flags = X86_MEM_READ | X86_MEM_WRITE | X86_MEM_LOCKED,
		.memory_width = wide ? 8 : 4, .flags_written = X86_FLAGS_ARITHMETIC,
		.sizes = (uint8_t)((wide ? 3 : 2) << SIZE_OPERAND | 1 << SIZE_VECTOR) };
}

/* aadd, aand, aor, axor m, r: atomic, without flags. */
static void remote_operation(unsigned wide, struct form_row *row)
{
	row->form = (struct x86_form){ .class = X86_CLASS_LOAD | X86_CLASS_STORE | X86_CLASS_LOCKED, .roles = ROLE_REG_READ,
		.memory_flags = X86_MEM_READ | X86_MEM_WRITE | X86_MEM_LOCKED, .memory_width = wide ? 8 : 4,
		.sizes = (uint8_t)((wide ? 3 : 2) << SIZE_OPERAND) };
}

bool newer_form(const struct slot *slot, uint32_t key, struct form_row *row, const char **name)
{
	unsigned w = bits(key, KEY_W, 1), l = bits(key, KEY_L, 3), pp = bits(key, KEY_REP, 3), mod3 = bits(key, KEY_MOD3, 1);
	ZydisMnemonic ignored;
	memset(row, 0, sizeof *row);
	if (slot->roots == ROOTS_VEX_0F38 && slot->opcode >= 0xe0 && slot->opcode <= 0xef && pp == 1 && l == 0 && !mod3) {
		compare_and_add(w, row);
		*name = "cmpccxadd";
		return true;
	}
	/* 66, F2 and F3 choose the operation, F2 and F3 before 66 */
	if (slot->roots == ROOTS_0F38 && slot->opcode == 0xfc && !mod3) {
		remote_operation(w, row);
		*name = "aadd aand aor axor";
		return true;
	}
	for (unsigned i = 0; i < sizeof newer / sizeof *newer; i++) {
		const struct newer *n = &newer[i];
		if (slot->roots != n->roots || slot->opcode < n->first || slot->opcode > n->last || !(n->pp >> pp & 1) || !(n->w >> w & 1)
			|| !(n->operand >> mod3 & 1))
			continue;
		bool b = bits(key, KEY_EVEX_B, 1);
		if (!(n->l >> l & 1) || (n->no_rounding && b && mod3))
			continue;
		struct slot like = { .roots = n->like.roots, .opcode = (uint8_t)(n->like.opcode + (n->first == n->last || n->like.opcode == 0x6f ? 0 : slot->opcode - n->first)),
			.has_modrm = true };
		uint32_t there = (key & ~(3u << KEY_REP | 1u << KEY_W)) | (uint32_t)n->like.pp << KEY_REP | (uint32_t)n->like.w << KEY_W;
		if (!probe_form(&like, there, row, &ignored))
			continue;
		row->form.class = (row->form.class & ~n->without) | n->with;
		if (w && slot->roots < ROOTS_EVEX_0F)
			row->form.sizes |= 3 << SIZE_OPERAND;
		if (n->precision)
			set_precision(&row->form, n->precision);
		if (n->immediate)
			row->form.immediate = IMM_1;
		*name = n->name;
		return true;
	}
	return false;
}
