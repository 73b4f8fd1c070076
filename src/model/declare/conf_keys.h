/*
 * The stanzas and keys that a machine file may have, as rows: name, kind of value, where it goes. For conf.c and
 * draw.c only.
 *
 * What always holds: a key that has a row here is in data/machines/README.md, and the other way round
 * (tests/unit/machine_test.c).
 */
#ifndef TARE_MODEL_DECLARE_CONF_KEYS_H
#define TARE_MODEL_DECLARE_CONF_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/machine.h"

enum conf_stanza { STANZA_MACHINE, STANZA_CACHE, STANZA_TLB, STANZA_BRANCHES, STANZA_TARGETS, STANZA_UNKNOWN };

/* Which component a stanza of that name is: "L1D", "L2" are caches, "DTLB", "L2TLB" are TLBs. */
enum conf_stanza conf_stanza_of(const char *name);
const char *conf_stanza_name(enum conf_stanza stanza); /* "a cache", "a TLB", "[branches]" */

enum conf_type {
	CONF_NUMBER,  /* decimal or 0x…, as much as fits the field */
	CONF_SIZE,    /* the same, with K, M or G behind it */
	CONF_WAYS,    /* a number, or "full" */
	CONF_PAGE,    /* a size, or "any": 0 */
	CONF_WORD,    /* one of words */
	CONF_NUMBERS, /* as many as `items` */
	CONF_SIGNED,
	CONF_TEXT,
	CONF_NAME, /* of a component */
};

struct conf_word {
	const char *word; /* NULL ends the list */
	uint8_t value;
};

struct conf_key {
	const char *name; /* NULL ends the list */
	enum conf_type type;
	size_t offset; /* into the struct of the stanza: see below */
	uint8_t bytes; /* of the field, or of each of its items */
	uint8_t items;
	const struct conf_word *words;
};

/* What a stanza's keys are read into, before any three of four are made four. A number of 0 cannot be said in
 * these. */
#define CONF_WAYS_FULL UINT64_MAX
struct conf_cache {
	struct machine_cache cache;
	uint64_t size, ways, line, sets;
	const char *next;
};
struct conf_tlb {
	struct machine_tlb tlb;
	uint64_t entries, ways, sets;
	const char *next;
};
struct conf_targets {
	struct machine_targets targets;
	uint64_t entries, ways, sets;
};
struct conf_branches {
	struct machine_direction direction;
};
struct conf_machine {
	struct machine machine;
	const char *extends;
	const char *title;
};

/* The rows of a kind of stanza. */
const struct conf_key *conf_keys(enum conf_stanza stanza);

/* Reads a value into the struct that the key's stanza has. False: why[size] says why it is none. */
bool conf_value(const struct conf_key *key, const char *text, void *into, char *why, size_t size);

/* The word for a value, or "?". */
const char *conf_word_for(const struct conf_word *words, unsigned value);
extern const struct conf_word conf_replacements[], conf_inclusions[], conf_prefetches[], conf_predictors[],
	conf_writes[], conf_holds[], conf_allocations[], conf_families[];

#endif
