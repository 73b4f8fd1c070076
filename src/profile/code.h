/* The instructions of a profile's functions, with what took place in each. */
#ifndef TARE_PROFILE_CODE_H
#define TARE_PROFILE_CODE_H

#include <stdbool.h>

#include "base/error.h"
#include "result/named_code.h"
#include "result/named_profile.h"
#include "symbol/symbol.h"

/* row: of named->by_function. *out is the caller's, to be freed by named_code_free(); what cannot be disassembled
 * says why there. False when memory ran out. Nothing of named and symbols is borrowed. */
bool named_code_new(const struct named_profile *named, uint32_t row, struct symbols *symbols,
		    struct named_code *out, struct error *err);

#endif
