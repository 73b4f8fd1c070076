/* What entry.S has to know of C's: build.sh compiles this to assembly, and the texts in it that begin with
   "#define" become offsets.h. */
#include "engine/runtime/entry.h"
#include "engine/runtime/os/kernel.h"
#include "engine/runtime/thread.h"
#include "engine/wire/start.h"

#define DEFINE(name, value) __asm__ volatile("\n.ascii \"#define " #name " %c0\"" : : "i"(value))
#define MEMBER(name, member) DEFINE(name, __builtin_offsetof(struct thread, member))

void offsets(void);
void offsets(void)
{
	MEMBER(THREAD_SELF, self);
	MEMBER(THREAD_SPILL_RAX, spill_rax);
	MEMBER(THREAD_SPILL_RCX, spill_rcx);
	MEMBER(THREAD_SPILL_RDX, spill_rdx);
	MEMBER(THREAD_TARGET, target);
	MEMBER(THREAD_EXIT_ID, exit_id);
	MEMBER(THREAD_MISSES_LEFT, misses_left);
	MEMBER(THREAD_RUNTIME_RSP, runtime_rsp);
	MEMBER(THREAD_REG, reg);
	MEMBER(THREAD_FLAGS, flags);
	MEMBER(THREAD_RESUME, resume);
	MEMBER(THREAD_ATTENTION, attention);
	MEMBER(THREAD_WHERE, where);
	MEMBER(THREAD_SECOND_TABLE, second_table);
	MEMBER(THREAD_SECOND_MASK, second_mask);
	MEMBER(THREAD_REGION_LOW, region_low);
	MEMBER(THREAD_REGION_SPAN, region_span);
	MEMBER(THREAD_REGION_KEY, region_key);
	MEMBER(THREAD_REGION_TABLE, region_table);
	MEMBER(THREAD_REGION_SALT, region_salt);
	DEFINE(FORM_XSAVE_WIDE, FP_XSAVE64);
	DEFINE(FORM_XSAVEOPT_WIDE, FP_XSAVEOPT64);
	DEFINE(FORM_XSAVEC_WIDE, FP_XSAVEC64);
	DEFINE(FORM_XRSTOR_WIDE, FP_XRSTOR64);
	DEFINE(CALL_ABORTED, ABORTED);
	DEFINE(CALL_RT_SIGRETURN, SYS_rt_sigreturn);
	DEFINE(CALL_EXIT, SYS_exit);
	DEFINE(START_FILLED_AT, START_FILLED_AT);
	DEFINE(FLAGS_AC_DF_TF, UNSAFE_FLAGS);
	DEFINE(FLAGS_AC_TF, FLAG_AC | FLAG_TF);
}
