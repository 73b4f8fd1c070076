/* System calls by name, of all processes of a record. */
#ifndef TARE_BACKEND_ENGINE_SYSCALLS_H
#define TARE_BACKEND_ENGINE_SYSCALLS_H

#include <stdbool.h>

#include "base/str.h"
#include "engine/inject/view.h"
#include "engine/x86/xstate.h"

enum { EXACT_SYSCALL_NAMES = RECORD_SYSCALLS };
/* NULL: no such call. Made by syscall_names.sh */
extern const char *const exact_syscall_names[EXACT_SYSCALL_NAMES];

/* By number; of the counts then those beyond the table, and 32-bit ones. */
struct syscall_sums {
	uint64_t counts[RECORD_SYSCALLS + 2];
	uint64_t ticks[RECORD_SYSCALLS]; /* as record_thread.call_ticks has them */
	uint64_t untimed;                /* calls that could not be timed */
};

/* What the time stamp counter meant while the program ran. */
struct syscall_clock {
	double ns_per_tick; /* 0: calls are not timed */
	uint64_t ended;     /* the counter, when the program had ended */
};

/* Does the time stamp counter tick at one rate in every state of the processor (AMD APM vol. 3, Intel SDM vol. 2:
 * CPUID 0x80000007, edx bit 8)? Else ticks are not a time. */
bool syscalls_clock_steady(x86_cpuid *ask);

/* Appends "call<TAB>count" lines below these column names, most frequent first; then numbers without a name, those
 * beyond the record's table ("other") and 32-bit ones ("int 0x80"). Calls made 0 times have no line. With times
 * there is a third column, "seconds", and those that took longest come first; empty: the call does not come back,
 * is not passed on to the kernel, or was not timed. */
void syscalls_write(const struct view *view, bool children, const struct syscall_clock *clock, struct str *out);
/* "read", "412", "other" … */
void syscalls_append_name(unsigned number, struct str *out);
/* How many could not be timed, which are in no sum. */
uint64_t syscalls_untimed(const struct view *view, bool children);

/* Adds those of one process. ended: the time until which a call took that did not come back; 0: it has none. */
void syscalls_sum(const struct view_process *process, uint64_t ended, struct syscall_sums *sums);

#endif
