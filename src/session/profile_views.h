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

/* The part of a profile that is of one row of by_thread, or of by_process. *out is the caller's, to be freed by
 * profile_free() and free(), before the whole is. Its target says whose it is. */
bool session_profile_part(const struct profile *whole, const struct named_row *row, bool process,
			  struct profile **out, struct error *err);

#endif
