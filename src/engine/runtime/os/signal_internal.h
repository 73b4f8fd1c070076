/*
 * Signals: the kernel knows one handler, the engine's; the program's are entered by building the frame that the
 * kernel would.
 *
 *     kernel ──► runtime_signal: note it, block the others ──► (cache: recover; runtime: at its end) ──► signal_deliver
 *        └ frame on the program's stack, handler runs translated ──► rt_sigreturn ──► signal_return
 *
 * What always holds:
 *  1. Every signal that would end the process by default is caught, so that the block it interrupts is counted
 *     right before the process ends by that very signal.
 *  2. The kernel's mask is the program's without the synchronous signals (the engine's own faults must arrive),
 *     or, while a signal is noted, everything. thread.mask is the program's.
 *  3. Frames have the kernel's layout (arch/x86/kernel/signal_64.c, struct rt_sigframe), with the full xsave area
 *     (fpstate.c).
 *
 * This is what the files about signals share: signal.c, signal_arrival.c, signal_held.c, signal_delivery.c.
 */
#ifndef TARE_ENGINE_RUNTIME_OS_SIGNAL_INTERNAL_H
#define TARE_ENGINE_RUNTIME_OS_SIGNAL_INTERNAL_H

#include "engine/runtime/os/signal.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

enum {
	SA_NOCLDSTOP = 1,
	SA_NOCLDWAIT = 2,
	SA_SIGINFO = 4,
	SA_ONSTACK = 0x08000000,
	SA_RESTART = 0x10000000,
	SA_NODEFER = 0x40000000,
	SA_RESTORER = 0x04000000
};
#define SA_RESETHAND 0x80000000u
#define SA_EXPOSE_TAGBITS 0x800u
/* Others are not kept: so programs see what the kernel knows (since 5.11; UAPI_SA_FLAGS). */
#define SA_KNOWN                                                                                                  \
	(SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_EXPOSE_TAGBITS | SA_RESTORER | SA_ONSTACK | SA_RESTART |   \
	 SA_NODEFER | SA_RESETHAND)
#define SS_ONSTACK 1u
#define SS_AUTODISARM 0x80000000u
#define SIG_DFL_ 0u
#define SIG_IGN_ 1u
#define UNBLOCKABLE ((1ull << 8) | (1ull << 18)) /* KILL STOP */

#define SI_USER_ 0
#define CODE_SENT_ON (-7654321) /* stands for SI_USER */

struct context { /* struct ucontext, the kernel's */
	uint64_t flags, link;
	uint64_t stack_sp;
	uint32_t stack_flags, pad;
	uint64_t stack_size;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t error, trapno, oldmask, cr2, fpstate, reserved[8];
	uint64_t mask;
};
_Static_assert(sizeof(struct context) == 304, "the kernel's layout");

static inline uint64_t bit(int signo) { return 1ull << (signo - 1); }
static inline bool synchronous(int signo) { return signo < 32 && (SYNCHRONOUS_MASK & bit(signo)); }

static inline void set_kernel_mask(uint64_t mask) { sys4(SYS_rt_sigprocmask, SIG_SETMASK_, &mask, 0, MASK_BYTES); }

#pragma GCC visibility push(hidden)

/* os/signal.c */
bool signal_ends_by_default(int signo);
/* Gives the kernel the action that the engine needs for the program's. */
long signal_tell_kernel(int signo, const struct signal_action *action, struct signal_action *old);
bool signal_on_altstack(const struct thread *t, uint64_t sp);

/* os/signal_held.c */
/* Until the program blocks it no more, or asks for it. The first one stays. */
void signal_hold(struct thread *t, int signo, const struct siginfo *info);
/* One that is held goes to a thread that asks for such signals just now. */
void signal_hand_on(const struct thread *t, int signo);

#pragma GCC visibility pop
#endif
