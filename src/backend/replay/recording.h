/* A recording: what a machine answered, as a file, so that it answers the same again anywhere.
 *
 * The format is in docs/recording.md. 1. A recording that was read is complete and consistent: every name in it
 * is one of its events, every state and source is known. 2. Nothing in it is guessed: what an execution has no
 * reading of is an error when it is asked for. */
#ifndef TARE_BACKEND_REPLAY_RECORDING_H
#define TARE_BACKEND_REPLAY_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "backend/replay/corrupt.h"
#include "base/arena.h"
#include "base/error.h"
#include "result/result.h"

enum {
	RECORDING_VERSION = 1,
	RECORDING_EVENTS_MOST = 4096,
	RECORDING_ROWS_MOST = 4096,
	RECORDING_COUNTERS_MOST = 64,
	RECORDING_BYTES_MOST = 64 << 20,
};

struct recorded_event {
	const char *name;
	struct availability availability;
	bool takes_counter;   /* one of the machine's few; false: as many as you like */
	uint64_t on_counters; /* bit i: it can count on counter i */
};

/* One event's readings at one moment: one, or one per row. */
struct recorded_reading {
	size_t event;
	const struct reading *rows;
	size_t n_rows; /* 1 or the execution's */
};

struct recorded_moment {
	const struct recorded_reading *readings;
	size_t n_readings;
};

struct recorded_row {
	pid_t tid; /* 0 for a CPU's row */
	int cpu;   /* -1 for a thread's */
};

enum recorded_step { FAILS_NEVER, FAILS_PREPARE, FAILS_GO, FAILS_SAMPLE, FAILS_STOP };

struct recorded_execution {
	const struct recorded_row *rows;
	size_t n_rows; /* 0: all together */
	struct recorded_moment end;
	const struct recorded_moment *samples; /* cumulative, in order */
	size_t n_samples;
	enum recorded_step fails_at;
	struct error failure; /* when fails_at is not FAILS_NEVER */
};

struct recording {
	struct arena arena; /* holds all of it */
	const char *path;
	bool limited; /* counters is given; otherwise everything fits */
	size_t counters;
	const struct recorded_event *events;
	size_t n_events;
	const struct corruption *corruptions; /* in the order in which they are done */
	size_t n_corruptions;
	const struct recorded_execution *executions;
	size_t n_executions;
	bool repeats; /* after the last execution comes the last one again; otherwise an error */
	const struct finding *findings;
	size_t n_findings;
};

/* Reads text[length]; path is for messages. On failure nothing is left to free and the error has
 * "path:line:column: reason". */
bool recording_parse(const char *text, size_t length, const char *path, struct recording *out, struct error *err);
void recording_free(struct recording *recording);

/* Can these events, all of the recording, be on the counters at the same time? */
bool recording_fits(const struct recording *recording, const size_t *events, size_t n);

#endif
