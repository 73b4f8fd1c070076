/* The formulas of kernels' predicted counts (kernels/README.md): whole numbers, exactly or not at all.
 *
 *     truth   = sum [ ("<=" | "<" | ">=" | ">" | "=" | "!=") sum ]       1 or 0
 *     sum     = product { ("+" | "-") product }
 *     product = factor { ("*" | "/") factor }                            a division leaves the remainder out
 *     factor  = number | name | name "(" truth { "," truth } ")" | "(" truth ")"
 *
 *     if(c, a, b)   a where c is not 0, else b; the other one is not evaluated
 *     U(b, n, x)    units of x bytes that n bytes from b touch: (b + n - 1)/x - b/x + 1; 0 where n is 0
 *     min(a, b)  max(a, b)  gcd(a, b)  ceil(a, b): a/b rounded up
 *     none          no prediction: for an if() that says where a law holds
 *
 * A metric's formulas (event/formula.h) are another language: those are of real numbers with errors, these count.
 * A result below 0 or beyond 2^53, and a division by 0, are errors. */
#ifndef TARE_TRUST_KERNEL_FORMULA_H
#define TARE_TRUST_KERNEL_FORMULA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { KERNEL_FORMULA_DEPTH_MOST = 32 }; /* of parentheses */

enum kernel_name_answer { KERNEL_NAME_KNOWN, KERNEL_NAME_UNKNOWN /* a spelling mistake */, KERNEL_NAME_LACKING };

/* The value of a name. LACKING: a right name, but this machine has none of it. */
typedef enum kernel_name_answer kernel_name_value(void *context, const char *name, size_t length, int64_t *value);

/* False with ERROR_SYNTAX (column within the formula), ERROR_NOT_FOUND (`none`), ERROR_UNSUPPORTED (a name that
 * is lacking) or ERROR_LIMIT (a result that is not a count). */
bool kernel_formula_value(const char *text, kernel_name_value *name_value, void *context, uint64_t *value,
			  struct error *err);

/* Whether it can be read: every name is asked for in every branch, and no value matters. ERROR_SYNTAX else. */
bool kernel_formula_check(const char *text, kernel_name_value *name_value, void *context, struct error *err);

/* Whether the name occurs in it. */
bool kernel_formula_names(const char *text, const char *name);

#endif
