/*
 * Where the texts of machines come from: a file, data/machines (embedded), or this machine (host.c). For conf.c
 * and machines.c only.
 *
 * What always holds: of a text it is known which file it is (identity), so that a circle of `extends` is seen
 * whatever the spelling.
 */
#ifndef TARE_MODEL_DECLARE_CONF_FILES_H
#define TARE_MODEL_DECLARE_CONF_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

struct conf_text { /* all in the arena */
	const char *text;
	size_t length;
	const char *shown;    /* in messages */
	const char *identity; /* equal exactly if it is the same file */
	const char *folder;   /* where `extends` looks first; NULL: nowhere */
	const char *name;     /* of the machine */
};

bool conf_text_of_file(const char *path, struct arena *arena, struct conf_text *out, struct error *err);

/* "host", or a name of data/machines. Unknown: ERROR_NOT_FOUND with the nearest. */
bool conf_text_named(const char *name, struct arena *arena, struct conf_text *out, struct error *err);

/* What `extends = name` in the text `from` means. */
bool conf_text_extended(const char *name, const struct conf_text *from, struct arena *arena, struct conf_text *out,
			struct error *err);

/* "host", then data/machines by name; ends with NULL. */
const char *const *conf_names(void);

#endif
