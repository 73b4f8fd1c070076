/* Programs that the kernel stops counting at their exec.
 *
 * begin_new_exec() (fs/exec.c) takes all counters of other users away from a process whose new program changes its
 * rights or may not be read: "Disable monitoring for regular users when executing setuid binaries". The counters
 * stay open and read as a handful of instructions, which is why this has to be known beforehand. */
#ifndef TARE_BACKEND_PERF_COUNTER_CANCEL_H
#define TARE_BACKEND_PERF_COUNTER_CANCEL_H

/* The reason, when this user's counters end where the program at path begins; NULL when they count. */
const char *exec_cancels(const char *path);

#endif
