/* What the program sees of the machine, where that is chosen (--reproducible, --cpu): instructions, system
 * calls, files. */
#ifndef TARE_ENGINE_RUNTIME_OS_SERVED_H
#define TARE_ENGINE_RUNTIME_OS_SERVED_H

#include "engine/runtime/runtime.h"
#include "engine/wire/record.h"
#include "engine/x86/served.h"

#pragma GCC visibility push(hidden)

/* os/served_start.c: where the stack pointer is then */
uint64_t served_start(uint64_t rsp);
uint64_t served_vector(const void **vector); /* the auxiliary vector that is shown: its bytes */

/* os/served.c: not under rt.lock. The others: the exit's instruction faults, and is not done */
enum served_end { SERVED_DONE, SERVED_PROTECTION, SERVED_READ_FAULT, SERVED_WRITE_FAULT };
void served_look(void);
static inline bool is_served(const struct x86_insn *in)
{
	return rt.served && x86_is_served(in, rt.served, (rt.xstate.enabled & ~rt.shown_state) != 0);
}
enum served_end served_instruction(struct thread *t, uint32_t block, const struct x86_insn *in, uint64_t pc,
				   uint64_t *fault);
void served_exec(struct record_process *process); /* it is about to execute another program */
void served_saw(enum record_saw kind, uint64_t value);
void served_saw_bytes(enum record_saw kind, const uint8_t *bytes, uint64_t n);
uint64_t served_random(void);

/* os/served_calls.c */
#define SERVED_PARENT 0x400000u /* the kernel gives only lower ids (PID_MAX_LIMIT) */
typedef long served_call_maker(struct thread *t, uint64_t nr, uint64_t next);
long served_call(struct thread *t, uint64_t nr, uint64_t next, served_call_maker *make);
long served_vsyscall(struct thread *t, uint64_t nr, long result);

/* os/served_places.c: under rt.lock, after the call. Where what was mapped or moved is now */
uint64_t served_mapped(const struct thread *t, uint64_t at);
uint64_t served_moved(const struct thread *t, uint64_t to);
void served_unmapped(uint64_t at, uint64_t bytes);

/* os/served_attributes.c: of a call that was made. Its result, where file systems differ in what they know */
void served_attributes(const struct thread *t, uint64_t nr);
long served_unsupported(uint64_t nr, long result);
uint64_t served_number(uint64_t inode); /* as it is shown */

/* os/served_read.c: after the call */
void served_give_random(uint64_t to, uint64_t bytes);
void served_look_at_bytes(enum record_saw kind, uint64_t at, uint64_t bytes);
void served_was_read(struct thread *t, uint64_t nr, uint64_t bytes);

/* os/served_self.c: written to a descriptor, not under rt.lock */
void served_maps(uint64_t fd);

/* os/served_directory.c, os/served_files.c. False: the call is made as ever */
bool served_directory(const struct thread *t, uint64_t nr, long *result);
void served_entries(uint64_t at, uint64_t bytes); /* of directories, as the kernel gave them */
bool served_file(const struct thread *t, uint64_t nr, long *result);
uint64_t served_clock_ns(void); /* … which the question moves on */

#pragma GCC visibility pop
#endif
