/*
 * Profiles in files: written as the samples come, read back checked. Several runs' profiles may stand one after
 * another in one file.
 *
 * The format, version 1 (numbers of the frame little-endian; record.h has the records):
 *
 *     "TAREPROF" version:u32 0:u32 { bytes:u32 checksum:u32 record* }*
 *
 * A block's records are complete, and need only what stands before them. So a file whose end is missing, or
 * damaged, is read up to there.
 *
 * What always holds:
 *  1. What was flushed before a kill -9 is read back.
 *  2. Nothing in a file is trusted: an index, a length or a name that is wrong ends the reading there, with a
 *     note in the profile that says so, or with an error if nothing of use stands before it.
 *  3. Memory is bounded by the file's size.
 */
#ifndef TARE_STORE_PROFILE_PROFILE_FILE_H
#define TARE_STORE_PROFILE_PROFILE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "result/profile.h"
#include "result/profile_builder.h"

struct profile_log; /* a file that is being written */

/* Creates the file ("-": standard output) with what is known before the first sample: events, machine, command,
 * stacks, started_unix. On success *out is the caller's: profile_log_finish() or profile_log_abandon(). */
bool profile_log_create(const char *path, const struct profile *header, struct profile_log **out,
			struct error *err);

/* A sample, and the modules, tasks, names and nodes that are new in so_far. */
bool profile_log_sample(struct profile_log *log, const struct profile *so_far, const struct profile_sample *sample,
			struct error *err);

/* Writes what is buffered. */
bool profile_log_flush(struct profile_log *log, struct error *err);

/* Appends the accounts of the events, notes, times; of counted events their cells; and arcs. Closes the file,
 * also when it fails. */
bool profile_log_finish(struct profile_log *log, const struct profile *profile, struct error *err);
void profile_log_abandon(struct profile_log *log);

struct profile_read_options {
	/* Only samples that were taken in [from_ns, to_ns) after the first one; to_ns 0: to the end. A profile
	 * with counted events has no times: an error */
	uint64_t from_ns, to_ns;
	/* … and in [after_ns, before_ns) of CLOCK_MONOTONIC; 0: from the begin, to the end */
	uint64_t after_ns, before_ns;
	bool moments; /* also the time of each sample: 24 bytes each */
};

#define PROFILE_FILE_MOST_BYTES ((uint64_t)8 << 30) /* of a file that is read */

/* The bytes of the first run of those in a file: all of them, where no other run follows. */
size_t profile_file_run(const uint8_t *bytes, size_t length);

/* A run's bytes; name is for messages, options may be NULL. *out is the caller's, to be freed by profile_free()
 * and free(). checksums: false for fuzzing, which could not guess them. */
bool profile_file_parse(const uint8_t *bytes, size_t length, const char *name, bool checksums,
			const struct profile_read_options *options, struct profile **out, struct error *err);

#endif
