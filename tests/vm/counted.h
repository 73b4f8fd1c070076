/* Runs `tare count --json` for a test and gives the rows of its report. */
#ifndef TARE_TESTS_VM_COUNTED_H
#define TARE_TESTS_VM_COUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

/* Why counters cannot be tested on this machine, which is not the guest; NULL: they can. In the guest they must.
 */
const char *no_pmu(void);
bool in_guest(void);

/* The path of a kernel, in a buffer that the eighth call after it uses again. */
char *kernel(const char *name);
/* What the kernel's NAME.truth predicts for n; UINT64_MAX when it says nothing. */
uint64_t predicted(const char *name, const char *event, uint64_t n);

/* Does this CPU lack what the kernel needs? */
bool kernel_missing(const char *name);

struct counted {
	int status;     /* tare's exit status, 128 + signal */
	char *said;     /* its standard error, with the program's */
	json_t *report; /* NULL: none */
};

/* Runs `tare ARG…` (NULL-terminated, without "tare") to its end, as another user when uid is not 0. A first
 * argument "count" gets --json and a file for the report. The caller frees it. */
struct counted *tare_as(uid_t uid, const char *const *args);
struct counted *tare_run(const char *arg, ...) __attribute__((sentinel));
void counted_free(struct counted *counted);

/* The same in two parts, for programs that are driven while tare counts them. */
struct started;
struct started *tare_start(uid_t uid, const char *const *args);
pid_t tare_pid(const struct started *started);
/* Waits until it has n counters open and started; false when that does not happen. */
bool tare_counts(const struct started *started, size_t n);
struct counted *tare_wait(struct started *started);

/* An event's row: of the whole target (thread 0), or of one thread. NULL when the report has none. */
json_t *row_of(const struct counted *counted, const char *event, pid_t thread);

struct row {
	bool known; /* value is not null */
	bool has_interval;
	double value, low, high; /* NAN where nothing is known; a bound that the report leaves open is infinite */
	double share_running;
	const char *source, *why; /* of the report; "" where absent */
};
struct row event_row(const struct counted *counted, const char *event);
struct row thread_row(const struct counted *counted, const char *event, pid_t thread);

/* Does a count of instructions agree with the prediction? In the guest: equal. On hardware each interrupt or fault
 * may add to it, so there a little more is accepted, and never less. */
bool agrees(double count, double truth);
bool agrees_with_faults(double count, double truth, double page_faults);

#endif
