/* Names in kernels' formulas, for those that read them (kernels.c). kernel_name_value's. */
#ifndef TARE_TRUST_KERNEL_NAMES_H
#define TARE_TRUST_KERNEL_NAMES_H

#include "trust/kernel_formula.h"

enum kernel_name_answer kernel_name_check(void *unused, const char *name, size_t length, int64_t *value);
/* In start.truth: `digits` and no more. */
enum kernel_name_answer kernel_name_check_start(void *unused, const char *name, size_t length, int64_t *value);

#endif
