/* Whole files in, and output that loses nothing silently. */
#ifndef TARE_BASE_FILE_H
#define TARE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

/* The file's bytes, NUL-terminated (the NUL is not counted in *length, which may be NULL); the caller
 * frees them. A file longer than max_bytes is an error, not cut. Works for /proc and pipes. NULL on
 * failure. */
char *file_read(const char *path, size_t max_bytes, size_t *length, struct error *err);

/* Opens path for writing ("-" is standard output). A file that was not there is its owner's alone (0600): a report
 * has command lines, names and source in it. NULL on failure. */
FILE *file_create(const char *path, struct error *err);

/* The same for what other programs and users are to read: its mode is 0666 less the umask. */
FILE *file_create_shared(const char *path, struct error *err);

/* At every moment the file has this text or its old one. Links are followed; pipes and devices are written to. */
bool file_replace(const char *path, const char *text, size_t length, struct error *err);

/* Makes the folders above path that are not there, with this mode less the umask. */
bool file_make_folders(const char *path, unsigned mode, struct error *err);

/* Flushes and closes (standard streams are only flushed), and reports what any earlier write lost:
 * a full disk and a closed pipe are found here at the latest. name: as it was created. */
bool file_finish(FILE *stream, const char *name, struct error *err);

/* Closes what nothing was written to (standard streams stay open); a regular file that is empty is removed. */
void file_abandon(FILE *stream, const char *name);

/* file_finish() when the whole text was written; else file_abandon(), and true. */
bool file_close(FILE *stream, const char *name, bool written, struct error *err);

#endif
