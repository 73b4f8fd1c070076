/* What entry.S has: ways in and out of the code cache, system calls that a signal may prevent, copies that
 * may fault. */
#ifndef TARE_ENGINE_RUNTIME_ENTRY_H
#define TARE_ENGINE_RUNTIME_ENTRY_H

#include "engine/runtime/os/sys.h"

struct thread;

#pragma GCC visibility push(hidden)

/* entry.S */
void runtime_exit(void);
void runtime_miss(void);
void runtime_exit_saved(void);
void runtime_miss_check(void);
void runtime_miss_found(void);
void runtime_miss_jump(void);
void runtime_miss_slow(void);
void runtime_miss_tail(void);
void runtime_inline(void);
void runtime_inline_careful(void);
void runtime_inline_checked(void);
void runtime_inline_end(void);
void runtime_inline_leave(void);
void runtime_region_miss(void);
void runtime_region_found(void);
void runtime_region_jump(void);
void runtime_region_slow(void);
void runtime_resume_checked(void);
void runtime_resume_end(void);
void runtime_recovered(void);
void runtime_signal_entry(void);
void runtime_restorer(void);
void runtime_clone_child(void);
void runtime_syscall_begin(void);
void runtime_syscall_insn(void);
void runtime_syscall_end(void);
void runtime_program_end(void);
void runtime_int80_end(void);
void runtime_clone_end(void);
void runtime_final_end(void);
void runtime_syscall_abort(void);
long runtime_app_syscall(long nr, const uint64_t args[6]);
long runtime_program_call(long nr, const uint64_t args[6]);
long runtime_app_int80(const uint64_t reg[16]);
long runtime_clone(long nr, const uint64_t args[6], struct thread *child);
void runtime_final_exit(uint32_t *slot_state, long status);
/* Copies; false if memory faulted. Any of the two may be the program's. */
bool safe_copy(void *to, const void *from, size_t n);
bool safe_write(void *at);
bool safe_read(const void *at);
void safe_copy_fault(void);
void safe_copy_end(void);
bool fp_save(void *area, uint64_t features); /* by xsave, or without features by fxsave */
void fp_save_end(void);
bool fp_restore(const void *area, uint64_t features);
enum fp_form { FP_XSAVE, FP_XSAVE64, FP_XSAVEOPT, FP_XSAVEOPT64, FP_XSAVEC, FP_XSAVEC64, FP_XRSTOR, FP_XRSTOR64 };
bool fp_served(void *area, uint64_t features, enum fp_form form);
void fp_restore_end(void);
void fp_restore_fault(void);

#pragma GCC visibility pop
#endif
