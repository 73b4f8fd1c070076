/* The programs that come with tare and are run by it: the kernels with known counts. */
#ifndef TARE_TRUST_HELPER_PROGRAMS_H
#define TARE_TRUST_HELPER_PROGRAMS_H

#include "base/error.h"

/* The path of kernel `name`, which the caller frees: in $TARE_KERNELS, else where they are installed beside this
 * tare, else where they are built. NULL when it is nowhere. */
char *helper_kernel(const char *name, struct error *err);

#endif
