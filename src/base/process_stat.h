/* What the kernel says of a task: proc(5), /proc/PID/stat. */
#ifndef TARE_BASE_PROCESS_STAT_H
#define TARE_BASE_PROCESS_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Its state ('R', 'Z', …) and its user and system time, in clock ticks (10 ms). False: it is gone. */
bool process_stat(pid_t pid, char *state, uint64_t *ticks);

#endif
