/*
 * What conf.c (text into values) and conf_assemble.c (values into a machine) share. For these two only.
 */
#ifndef TARE_MODEL_DECLARE_CONF_READER_H
#define TARE_MODEL_DECLARE_CONF_READER_H

#include "base/arena.h"
#include "base/error.h"
#include "base/stanza.h"
#include "base/vec.h"
#include "model/declare/conf.h"
#include "model/declare/conf_files.h"
#include "model/declare/conf_keys.h"

enum { COMPONENTS_MAX = MACHINE_CACHES + MACHINE_TLBS };

struct layer {
	struct conf_text text;
	struct stanza *stanzas;
	size_t n_stanzas;
};

struct component {
	const char *name;
	enum conf_stanza kind;
	struct conf_cache cache;
	struct conf_tlb tlb;
	uint8_t place; /* in the machine; MACHINE_NONE: not yet */
};

struct conf_reader {
	struct arena *arena;
	struct error *err;
	struct layer layers[MACHINE_EXTENDS_MAX];
	size_t n_layers;
	VEC(struct machine_value) values; /* those of a stanza are neighbours */
	struct component components[COMPONENTS_MAX];
	size_t n_components;
	struct conf_machine machine;
	struct conf_branches branches;
	struct conf_targets targets;
};

/* An error with its place; false. */
bool conf_wrong(const struct conf_reader *r, const char *file, unsigned line, const char *what, ...)
	__attribute__((format(printf, 4, 5)));

/* The key's row, or NULL. */
const struct conf_key *conf_key_named(enum conf_stanza kind, const char *name);

/* The value that holds, or NULL: not given. */
struct machine_value *conf_value_of(const struct conf_reader *r, const char *stanza, const char *key);

/* Makes the machine of the values. False with an error: they make none. */
bool conf_assemble(struct conf_reader *r, struct machine *machine);

#endif
