/* Where a thread's buffer is, in the runtime's own state: for oracle.c, which reads it from outside. */
#include "engine/runtime/thread.h"

extern const size_t trace_start_offset, trace_ran_offset, fs_base_offset;
const size_t trace_start_offset = offsetof(struct thread, trace_start);
const size_t trace_ran_offset = offsetof(struct thread, trace_ran);
const size_t fs_base_offset = offsetof(struct thread, fs_base);
