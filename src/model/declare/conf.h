/*
 * Machine files: text in, a checked struct machine out. data/machines/README.md has the format; it is that of all
 * of tare's data (base/stanza.h): a stanza for each component, a key for each property, and after the keys `source
 * = …` that says whence they are.
 *
 * What always holds:
 *  1. A file that cannot be meant is refused, with file, line and reason; nothing is guessed, cut or rounded.
 *  2. Of every value it is known where it was written and what its source is.
 *  3. Nothing is read before its size is known to be small; depth and number of extended files are bounded.
 */
#ifndef TARE_MODEL_DECLARE_CONF_H
#define TARE_MODEL_DECLARE_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "model/core/machine.h"

enum {
	MACHINE_FILE_BYTES_MAX = 64 * 1024,
	MACHINE_LINE_BYTES_MAX = 1000,
	MACHINE_EXTENDS_MAX = 8, /* files, one extending the next */
};

/* One `key = value` that counts: an extending file's has taken the place of the extended one's. */
struct machine_value {
	const char *stanza, *key, *text;
	const char *file; /* as for messages: "r12000.conf", "my/machine.conf", "this machine" */
	unsigned line;
	const char *source; /* NULL: none was given */
};

struct machine_description {
	struct machine machine;
	const struct machine_value *values; /* stanza by stanza */
	size_t n_values;
	const char *const *files; /* the file itself first, then what it extends; ends with NULL */
	struct arena arena;       /* of all texts */
};

/* Reads the file at path. `extends` names a file beside it (with or without ".conf"), or one of machine_names().
 * On success the caller frees it with machine_description_free(); on failure *out is zero. */
bool machine_read_description(const char *path, struct machine_description *out, struct error *err);

/* The same of one of machine_names() (model/declare/machines.h has the function for either). */
bool machine_named_description(const char *name, struct machine_description *out, struct error *err);

/* The same of a text. source: its name for messages; folder: where `extends` looks first, or NULL for nowhere;
 * name: of the machine */
bool machine_parse(const char *text, size_t length, const char *source, const char *folder, const char *name,
		   struct machine_description *out, struct error *err);

void machine_description_free(struct machine_description *description);

#endif
