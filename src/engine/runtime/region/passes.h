/* What the files of passes share: enter_leave.c, way.c, library.c, counters.c. All under rt.lock. */
#ifndef TARE_ENGINE_RUNTIME_REGION_PASSES_H
#define TARE_ENGINE_RUNTIME_REGION_PASSES_H

#include "engine/runtime/region/region.h"
#include "engine/runtime/thread.h"

/* ---- enter_leave.c ---- */

/* From here to the return to `back`, or over it. */
void region_push_counters(struct thread *t, uint64_t back);
void region_change(struct thread *t, uint32_t context);
/* A pass is to end here. */
void region_leave(struct thread *t, uint32_t region);
/* The same, of a thread that has executed nothing in the record that it is in now. */
void region_assume(struct thread *t, uint32_t context);

/* ---- way.c ---- */

/* rdi, rsi, rdx, rcx, r8, r9 */
#define REGION_ALL_ARGUMENTS (1u << X86_RDI | 1u << X86_RSI | 1u << X86_RDX | 1u << X86_RCX | 1u << 8 | 1u << 9)

/* The thread's context becomes `to`, at the first instruction of a function, `at`, that was called to return to
 * `back`: what led there (the call, jumps of a PLT, and directly in front of the call what gave `arguments`, a set
 * of registers, their values) is counted in `to`. `pass` notes what the access stream could not move. False: what
 * led there is not known; the context is `to`. */
bool region_cross(struct thread *t, struct record_pass *pass, uint32_t to, uint64_t back, uint64_t at,
		  uint32_t arguments);
/* A block of the record that nobody executes, to be counted in: its number. */
uint32_t region_block(uint64_t pc, const uint8_t *bytes, unsigned length, unsigned insns, uint32_t context);

/* ---- library.c ---- */

/* t->pc is libtare's function of that magic: it is done, and t->pc is behind the call. False: the stack cannot be
 * read. */
bool library_called(struct thread *t, uint32_t magic);
/* t->pc is a mark: it is done, and t->pc is behind it. False: there is none. */
bool library_marked(struct thread *t);

/* ---- counters.c ---- */

/* t->pc is the first instruction of a call of counters. It goes on behind it. */
void counters_called(struct thread *t, uint64_t back);
/* The question of the program at that address. 1: it is answered. */
uint64_t counters_ask(struct thread *t, uint64_t address);

/* The context, with the thread outside of libtare's calls: as it is when the thread never made one. */
uint32_t counters_outside(const struct thread *t, uint32_t context);
/* … inside or outside as in the context `as`. */
uint32_t counters_as_in(const struct thread *t, uint32_t context, uint32_t as);
/* … in neither region: of another process's thread. */
uint32_t counters_none(const struct thread *t, uint32_t context);
/* A forked child: its thread has made no such call. */
void counters_child(struct thread *t);

#endif
