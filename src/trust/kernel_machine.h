/* A declared machine as the formulas of kernels ask for it (kernels.h). */
#ifndef TARE_TRUST_KERNEL_MACHINE_H
#define TARE_TRUST_KERNEL_MACHINE_H

#include "model/core/machine.h"
#include "trust/kernels.h"

/* What the machine lacks (a second level, a TLB) stays unknown. out->name is the machine's, borrowed. */
void kernel_machine_of(const struct machine *machine, struct kernel_machine *out);

#endif
