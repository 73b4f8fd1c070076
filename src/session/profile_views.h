/* What of a profile is looked up only when somebody wants to see it: its functions' instructions. */
#ifndef TARE_SESSION_PROFILE_VIEWS_H
#define TARE_SESSION_PROFILE_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "result/named_code.h"
#include "result/named_profile.h"
#include "result/profile.h"

/* The instructions of these rows of named->by_function: out[n] are the caller's, each to be freed by
 * named_code_free(), also after a failure (then all are empty). */
bool session_disassemble(const struct named_profile *named, const uint32_t *rows, size_t n, struct named_code *out,
			 struct error *err);

#endif
