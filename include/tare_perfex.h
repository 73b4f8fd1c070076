/* libperfex's calls (IRIX, libperfex(3C)) over libtare: two events of the calling thread, by the numbers of
 * perfex.
 *
 *     long long c0, c1;
 *     int started = start_counters(0, 17);
 *     if (started < 0) {
 *             fprintf(stderr, "%s\n", tare_perfex_error());
 *             exit(1);
 *     }
 *     work();
 *     if (read_counters(0, &c0, 17, &c1) != started)
 *             fprintf(stderr, "%s\n", tare_perfex_error());
 *     else
 *             print_costs(0, c0, 17, c1);
 *
 * They are in a library of their own, since their names may be a program's own: link with
 * $(pkg-config --libs tare-perfex).
 *
 * The numbers are the R10000's: 0 to 15 are the events of its first counter, 16 to 31 of its second. Each is
 * counted by the event of this machine that has the meaning, at user level (the table is in tare-perfex(3)).
 * Nothing else is counted for one that this machine cannot count: its count is -1, and the calls fail where
 * neither of the two can be counted. As with libperfex, T5_EVENT0 and T5_EVENT1
 * in the environment replace e0 and e1; here their value may also be the name of any event ("page-faults:u",
 * "task-clock").
 *
 * All return -1 when they fail, with errno and tare_perfex_error(). Counts have 64 bits. Not in signal handlers;
 * after fork(2) the child begins with start_counters().
 *
 * From Fortran (gfortran's calling convention) the same, by reference: INTEGER*4 functions start_counters(e0, e1),
 * read_counters(e0, c0, e1, c1), print_counters(e0, c0, e1, c1), print_costs(e0, c0, e1, c1) with INTEGER*8
 * counts, load_costs(file) with a CHARACTER*(*) (blanks behind the name are not of it), and a subroutine
 * tare_perfex_message(text) with a CHARACTER*(*).
 *
 * C99 and C++. */
/* SPDX-License-Identifier: MIT */
#ifndef TARE_PERFEX_H
#define TARE_PERFEX_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TARE_PERFEX_API __attribute__((visibility("default")))
#else
#define TARE_PERFEX_API
#endif

/* Counts the two from 0. Returns the generation, a number above 0 that read_counters() returns as well when nobody
 * else had the counters meanwhile. The first call for a pair of events tries them, which takes milliseconds at
 * most. Of two events one of which this machine does not count, the other is counted: tare_perfex_error() then
 * says why not that one, after this call and after read_counters(), which gives it the count -1.
 *
 * errno: EINVAL (a number is not known, or both are events of one counter: e0 and e1 may be the same), EOPNOTSUPP
 * (this machine counts neither), EACCES, EBUSY, EMFILE, ENOMEM, and those of the system. */
TARE_PERFEX_API int start_counters(int e0, int e1);

/* Stops the counters and stores their counts: of the same events as started. Either pointer may be NULL. On
 * failure both counts are -1.
 *
 * errno: EINVAL (not started in this thread, other events than started), EBUSY (others had the counters for a part
 * of the time: what was counted is not all), EIO. */
TARE_PERFEX_API int read_counters(int e0, long long *c0, int e1, long long *c1);

/* Prints the two to standard error, as perfex does. Counts below 0 are "not counted". errno: EINVAL. */
TARE_PERFEX_API int print_counters(int e0, long long c0, int e1, long long c1);

/* The same with the time that each event took: its count times the typical, the minimum and the maximum cost of
 * one, in seconds, and a line that says whose costs they are. They are those of load_costs(), else those that
 * `tare calibrate --costs` kept for this machine; nothing is measured here. "-" stands where the costs say
 * nothing. Costs of this machine are not taken for counts of a machine that tare models.
 *
 * errno: EINVAL; ENOENT when no costs are known: the counts are printed, with "-" for each time, and why. */
TARE_PERFEX_API int print_costs(int e0, long long c0, int e1, long long c1);

/* Takes the costs of a file, as `perfex -t` prints it, for all threads' print_costs(); a relative name is of the
 * current directory. On failure the costs from before stay. errno: EINVAL (no name, not a file of costs), and
 * those of the system. */
TARE_PERFEX_API int load_costs(const char *file);

/* Why the calling thread's last call failed, or has no count of one event, and what can be done; "" else.
 * Valid until its next call. */
TARE_PERFEX_API const char *tare_perfex_error(void);

#ifdef __cplusplus
}
#endif
#endif
