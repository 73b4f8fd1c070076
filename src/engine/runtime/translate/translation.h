/*
 * One translation: all that is known of a block while its code is made, or while it is found out what state each
 * byte of its code stands for. Each caller has its own, under rt.lock, and every step gets it by pointer:
 *
 *     translate()            cache ◄── a new block                                (translate.c)
 *     recover()              what a signal has interrupted: translate_marks(), then stream_left()   (cache/recover.c)
 *     regions                the plan of a block that is counted in two parts     (region/way.c)
 *
 * What always holds:
 *  1. Steps come in this order, each from what the ones before it have set: decode_block() or decode_bytes();
 *     stream_plan(), only with the access stream; inline_plan(), which leaves `inlined` unset without inline checks.
 *  2. Two translations share nothing: what one of them is about stays as it is while another is made.
 */
#ifndef TARE_ENGINE_RUNTIME_TRANSLATE_TRANSLATION_H
#define TARE_ENGINE_RUNTIME_TRANSLATE_TRANSLATION_H

#include "engine/runtime/inline/inline.h"

struct translation {
	struct decoded decoded;  /* the block's instructions */
	struct stream_plan plan; /* what of its accesses is stored, where */
	struct inlining inlining;
};

#endif
