/* System calls and the few string routines that the runtime needs, which has no libc. Nothing here touches memory
   that the caller did not name, nor a vector register. */
#ifndef TARE_ENGINE_RUNTIME_OS_SYS_H
#define TARE_ENGINE_RUNTIME_OS_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/runtime/os/kernel.h"

static inline long sys6(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	register uint64_t r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#define sys0(nr) sys6(nr, 0, 0, 0, 0, 0, 0)
#define sys1(nr, a) sys6(nr, (uint64_t)(a), 0, 0, 0, 0, 0)
#define sys2(nr, a, b) sys6(nr, (uint64_t)(a), (uint64_t)(b), 0, 0, 0, 0)
#define sys3(nr, a, b, c) sys6(nr, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), 0, 0, 0)
#define sys4(nr, a, b, c, d) sys6(nr, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), 0, 0)
#define sys5(nr, a, b, c, d, e)                                                                                   \
	sys6(nr, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), (uint64_t)(e), 0)

/* An error of the kernel's, as the raw result has it. */
static inline bool failed(long result) { return (uint64_t)result > (uint64_t)-4096; }

void *memset(void *to, int byte, size_t n);
void *memcpy(void *to, const void *from, size_t n);
int memcmp(const void *a, const void *b, size_t n);

static inline size_t text_length(const char *text)
{
	size_t n = 0;
	while (text[n])
		n++;
	return n;
}

#endif
