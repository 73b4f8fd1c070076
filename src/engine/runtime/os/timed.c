/* How long system calls take (RECORD_CALL_TIMES): the time stamp counter is read right before and after each that
 * the program makes, and never where it has forbidden that. The engine's own work for a call is not in it. */
#include "engine/runtime/entry.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/os/signal.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

bool calls_are_timed(void) { return rt.setup->flags & RECORD_CALL_TIMES && !rt.no_tsc; }

void call_starts(struct thread *t)
{
	t->record->call_place = t->call_place;
	t->record->call_began = calls_are_timed() ? __builtin_ia32_rdtsc() : 0;
}

long call_timed(const struct thread *t, uint64_t nr, uint64_t *ticks)
{
	const uint64_t *r = t->reg,
		       args[6] = {r[X86_RDI], r[X86_RSI], r[X86_RDX], r[X86_R10], r[X86_R8], r[X86_R9]};
	if (!calls_are_timed())
		return runtime_app_syscall((long)nr, args);
	uint64_t began = __builtin_ia32_rdtsc();
	long result = runtime_app_syscall((long)nr, args);
	if (calls_are_timed()) { /* it may be the one that forbids to look */
		uint64_t ended = __builtin_ia32_rdtsc();
		/* another processor's counter may be behind */
		*ticks += ended > began ? ended - began : 1;
	}
	return result;
}

void call_took(struct thread *t, uint64_t nr, uint64_t ticks)
{
	if (!(rt.setup->flags & RECORD_CALL_TIMES))
		return;
	if (ticks && nr < RECORD_SYSCALLS) {
		t->record->call_ticks[nr] += ticks;
		called_took(t, ticks);
		return;
	}
	t->record->calls_untimed++;
	if (nr < RECORD_SYSCALLS)
		t->record->call_ticks[nr] |= RECORD_UNTIMED;
}

long call_make(struct thread *t, uint64_t nr)
{
	uint64_t ticks = 0;
	long result = call_timed(t, nr, &ticks);
	if (result != ABORTED)
		call_took(t, nr, ticks);
	return result;
}
