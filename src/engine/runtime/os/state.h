/* The processor's state that xsave and its kin hold: in signal frames, and what of it a program has
 * touched. */
#ifndef TARE_ENGINE_RUNTIME_OS_STATE_H
#define TARE_ENGINE_RUNTIME_OS_STATE_H

#include "engine/x86/decode.h"

struct thread;

#pragma GCC visibility push(hidden)

/* os/fpstate.c */
void fp_look(void);
/* components that are not in their initial state, as the processor says */
uint64_t fp_in_use(void);
void fp_learn(struct thread *t, uint64_t frame);          /* frame: the kernel's, its fpstate */
uint32_t fp_frame_bytes(const struct thread *t);          /* of the area in a frame … */
uint32_t fp_frame_room(const struct thread *t);           /* … and with the magic word behind it */
bool fp_frame_write(const struct thread *t, uint64_t at); /* false: memory faulted */
/* false: memory faulted, or the processor refuses what is there */
bool fp_frame_read(const struct thread *t, uint64_t at);
void fp_initial(void);   /* a handler begins */
void *fp_area_new(void); /* for fp_save(…, rt.fp_features) */

/* os/state.c */
void state_moved(struct thread *t, uint32_t block);
bool state_served(struct thread *t, const struct x86_insn *in, uint64_t at);

#pragma GCC visibility pop
#endif
