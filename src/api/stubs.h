/* The register-preserving stubs of libtare (tare_asm_init, tare_asm_begin_N, tare_asm_end_N): between the assembly
 * of asm_x86_64.S or asm_aarch64.S and the regions.
 *
 *     program ─call─► tare_asm_begin_7 ─► tare_stub_common ─► stub_pass() ─► region_pass_…   no vectors, no libc
 *                     (regions off: ret)        │ what it gave is not 0
 *                                               └─ all vector state saved ─► stub_slow() ─► names, counters, libc
 *
 * 1. stub_pass() and all it calls are compiled for general registers alone (stub_pass.c), and make system calls by
 * themselves: what they call outside of their object is nothing. tests/api/stub_pass_test reads the object.
 * 2. Whatever else a stub does is in stub_slow(), behind a save of all that a function may change.
 * 3. Nothing here is written but by the constructor, stub_state_bytes() (always the same) and tare_asm_name(). */
#ifndef TARE_API_STUBS_H
#define TARE_API_STUBS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "tare.h"

/* What the assembly hands over: 2 × number, + 1 for the end; STUB_INIT for tare_asm_init. */
enum { STUB_INIT = 2 * TARE_ASM_REGIONS };

#define STUB_HIDDEN __attribute__((visibility("hidden")))

/* NULL until its name was asked for. */
extern STUB_HIDDEN _Atomic(struct tare_region *) stub_regions[TARE_ASM_REGIONS];

/* stubs_bind.c */
STUB_HIDDEN void stubs_bind(void);

#if defined(__aarch64__)
extern STUB_HIDDEN uint32_t stub_sve; /* the CPU has SVE */
#endif

/* Called by the assembly. 0: done. Else the bytes that the vector state takes, which stub_slow() is called behind.
 */
STUB_HIDDEN size_t stub_pass(unsigned id);
/* True: stub_pass() is to be tried again. */
STUB_HIDDEN bool stub_slow(unsigned id);

#endif
