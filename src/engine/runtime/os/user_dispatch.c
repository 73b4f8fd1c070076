/*
 * Syscall user dispatch (Documentation/admin-guide/syscall-user-dispatch.rst): the kernel would compare addresses
 * of the engine's. So it is not told, and what it would do is done here.
 */
#include "engine/runtime/entry.h"
#include "engine/runtime/os/signal.h"
#include "engine/runtime/os/syscall_internal.h"
#include "engine/runtime/runtime.h"

enum { INCLUSIVE = 2 }; /* a mode: calls in the range are dispatched */
enum { DISPATCH_ALLOW = 0, DISPATCH_BLOCK = 1, SYS_USER_DISPATCH = 2 };

/* Since Linux 6.17. The kernel is asked for a range without a call. */
static bool has_inclusive(void)
{
	if (rt.calls_denied || failed(sys5(SYS_prctl, PR_SYSCALL_USER_DISPATCH, INCLUSIVE, 1, 1, 0)))
		return false;
	sys5(SYS_prctl, PR_SYSCALL_USER_DISPATCH, 0, 0, 0, 0);
	return true;
}

long dispatch_set(struct thread *t)
{
	uint64_t mode = t->reg[X86_RSI], from = t->reg[X86_RDX], bytes = t->reg[X86_R10],
		 selector = t->reg[X86_R8];
	if (mode > INCLUSIVE || (mode == 0 && (from || bytes || selector)))
		return -EINVAL_;
	if (mode == 1 && from && from + bytes <= from)
		return -EINVAL_;
	if (mode == INCLUSIVE && (from + bytes <= from || !has_inclusive()))
		return -EINVAL_;
	if (mode && selector >= TASK_SIZE_MAX_)
		return -EFAULT_;
	if (mode == INCLUSIVE) /* all but the range is what is not dispatched */
		from += bytes, bytes = -bytes;
	t->dispatched = mode != 0;
	t->dispatch_from = from, t->dispatch_bytes = bytes, t->dispatch_selector = selector;
	return 0;
}

bool dispatch_takes(struct thread *t, uint64_t next)
{
	uint8_t selector = DISPATCH_BLOCK;
	if (!t->dispatched || next - t->dispatch_from < t->dispatch_bytes)
		return false;
	if (t->dispatch_selector && !safe_copy(&selector, (const void *)t->dispatch_selector, 1))
		signal_end(t, SIGSEGV_);
	if (selector == DISPATCH_ALLOW)
		return false;
	if (selector != DISPATCH_BLOCK || (t->mask >> (SIGSYS_ - 1) & 1) || t->actions[SIGSYS_].handler == 1)
		signal_end(t, SIGSYS_);
	t->pc = next;
	t->reg[X86_RCX] = next;
	t->reg[X86_R11] = t->flags;
	signal_force(t, SIGSYS_, SYS_USER_DISPATCH, next);
	if (t->pending_count) {
		struct siginfo *info = &t->pending[t->pending_count - 1];
		info->field[1] = (uint32_t)t->reg[X86_RAX] | 0xc000003eull << 32; /* AUDIT_ARCH_X86_64 */
		t->pending_trapno[t->pending_count - 1] = t->pending_cr2[t->pending_count - 1] = 0;
	}
	return true;
}
