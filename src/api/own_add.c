/* What the CPU has for own_add.h. */
#include "api/own_add.h"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>

uint32_t own_add_whole;

/* Before any region can be counted. */
__attribute__((constructor(101))) static void find_lse(void)
{
	own_add_whole = (getauxval(AT_HWCAP) & HWCAP_ATOMICS) != 0;
}
#endif
