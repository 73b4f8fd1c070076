/* What interrupts and page faults add to a region's counts at user level. On some CPUs the return from one is an
 * instruction of the program (AMD's: 20,000 page faults were 20,009 to 20,042 instructions more); it is in the ±.
 *
 * 1. What one adds to each event is measured in this process, when it ends: a loop over pages that have to be
 *    faulted in, against the same loop over pages that are there. An interrupt ends as a page fault does.
 * 2. How many there were is bounded. Page faults: all of the threads that entered the region, since they first
 *    entered one (getrusage(2)); reading them in each pass would be a system call. Interrupts: see
 *    interrupts_most(). */
#ifndef TARE_API_INTERRUPTS_H
#define TARE_API_INTERRUPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* each[n] of the events that regions count; 0 where nothing is added, and where that cannot be measured. Makes a
 * region and passes, and page faults. False: no memory. */
bool interrupts_measure(size_t n, double *each);

/* So many interrupts, at most, as a thread that ran for this time has had: twice the ticks of a kernel with 1,000
 * a second (CONFIG_HZ), and one; 2x + 1 is at least x + 2√x, which 97 % of Poisson's numbers are below. None in
 * less than a 20th of a tick. */
double interrupts_most(uint64_t running_ns);

/* Page faults so far: of the calling thread, or of the process. */
uint64_t faults_of_thread(void);
uint64_t faults_of_process(void);

#endif
