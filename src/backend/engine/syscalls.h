/* System calls by name, of all processes of a record. */
#ifndef TARE_BACKEND_ENGINE_SYSCALLS_H
#define TARE_BACKEND_ENGINE_SYSCALLS_H

#include <stdbool.h>

#include "base/str.h"
#include "engine/inject/view.h"

enum { EXACT_SYSCALL_NAMES = RECORD_SYSCALLS };
/* NULL: no such call. Made by syscall_names.sh */
extern const char *const exact_syscall_names[EXACT_SYSCALL_NAMES];

/* Appends "call<TAB>count" lines below these column names, most frequent first; then numbers without a name, those
 * beyond the record's table ("other") and 32-bit ones ("int 0x80"). Calls made 0 times have no line. */
void syscalls_write(const struct view *view, bool children, struct str *out);

/* Adds those of one process, by number; then those beyond the table, and 32-bit ones. */
void syscalls_sum(const struct view_process *process, uint64_t calls[RECORD_SYSCALLS + 2]);

#endif
