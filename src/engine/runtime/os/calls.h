/* System calls that need more than to be passed on: of mappings, limits and filters; and which memory a
 * call may write. */
#ifndef TARE_ENGINE_RUNTIME_OS_CALLS_H
#define TARE_ENGINE_RUNTIME_OS_CALLS_H

#include "engine/runtime/os/sys.h"

struct record_process;
struct thread;

#pragma GCC visibility push(hidden)

/* os/syscall.c */
void system_call(struct thread *t, uint32_t block, uint64_t next);
long pass_on_unlocked(struct thread *t, uint64_t nr);
void rseq_library(long fd);

/* os/timed.c. The call in the registers, as the program makes it, under rt.lock or where it does not wait. */
long call_make(struct thread *t, uint64_t nr);
/* The same in parts, for one that may wait: the thread's record may be another part's until call_end(). starts:
 * before call_begin(); timed: adds to *ticks what it took, nothing where that is not known; took: after
 * call_end() */
void call_starts(struct thread *t);
long call_timed(const struct thread *t, uint64_t nr, uint64_t *ticks);
void call_took(struct thread *t, uint64_t nr, uint64_t ticks);
bool calls_are_timed(void);

/* os/called.c. from: the call that is about to be made, not under rt.lock; took: it was timed. The others: as
 * stream_calls_…, of stacks */
void called_from(struct thread *t, uint64_t nr);
void called_took(struct thread *t, uint64_t ticks);
bool called_open(struct record_process *process);
bool called_reopen(struct record_process *process);
void called_part(struct record_process *old, struct record_process *fresh);
void called_fork(void);   /* before a copy of the process is made; under rt.lock */
void called_orphan(void); /* in a child that has no record */

void system_call_32(struct thread *t, uint32_t block, uint64_t next);

/* os/mapping.c; own_add: under rt.lock, or before there are threads */
long mapping_call(struct thread *t, uint64_t nr);
long heap_call(struct thread *t);
void own_add(uint64_t start, uint64_t bytes);
bool own_any(uint64_t start, uint64_t end); /* is something of it the engine's? Under rt.lock */

/* os/written.c. Between begin and end no page that the call may write is protected; not under rt.lock */
void written_begin(struct thread *t, uint64_t nr);
/* more than the call's number says; then written_open() */
void written_add(struct thread *t, uint64_t at, uint64_t bytes);
void written_everything(struct thread *t);
void written_open(struct thread *t);
void written_end(struct thread *t);
void written_last(struct thread *t);
bool written_now(uint64_t start, uint64_t end); /* under rt.lock */

/* os/own_status.c; not under rt.lock */
void own_status_opened(long fd);
void own_status_read(const struct thread *t, uint64_t nr, long result);

/* os/foreign.c; not under rt.lock */
bool foreign_own(uint32_t id);                       /* is it a thread of this process? */
struct record_process *foreign_process(uint32_t id); /* of the record, by the number of a thread; or NULL */
long foreign_write(struct thread *t, uint64_t nr);   /* process_vm_writev into another process */
void foreign_file_write(long fd);                    /* before it: perhaps to another's /proc/PID/mem */

/* os/seccomp.c */
bool filter_call(struct thread *t, uint64_t nr, long *result);

/* os/limits.c */
bool limits_start(void); /* true: there is little address space */
void limits_grew(void);
uint64_t limits_stride(void); /* how much may be mapped for nothing for a moment */
bool limits_call(struct thread *t, uint64_t nr, long *result);

#pragma GCC visibility pop
#endif
