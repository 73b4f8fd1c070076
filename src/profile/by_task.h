/* A profile's threads and processes: how much of each event is whose, and what each did apart. */
#ifndef TARE_PROFILE_BY_TASK_H
#define TARE_PROFILE_BY_TASK_H

#include "base/error.h"
#include "result/named_profile.h"

/* Fills by_thread and by_process: a row for each that has counts. A thread is named by its last name, a process by
 * that of its first thread; the row's module has the numbers. False when memory ran out. */
bool by_task_add(struct named_profile *named);

/* The part of a profile that is of one thread (tid), or of all threads of a process (tid 0), of run `run`. Its
 * counts are the part's; what was counted and lost is known of the whole only. *out is the caller's, to be freed
 * by profile_free() and free(), before the whole is: the rest is borrowed. */
bool profile_part(const struct profile *whole, uint32_t run, uint32_t pid, uint32_t tid, struct profile **out,
		  struct error *err);

#endif
