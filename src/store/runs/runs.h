/*
 * The store of runs: what `tare count`, `tare profile` and `tare compare` found, in one SQLite database. A run
 * that is loaded holds the records that were kept (result/result.h), so that it can be printed and compared as if
 * it had just been measured. For the command alone: libtare has no SQLite.
 *
 *     runs_path ──► runs_open ──► runs_put | runs_find ──► runs_load ──► kept_run_free
 *                       │              | runs_list, runs_name, runs_prune, runs_export, runs_import
 *                       └──────────────────────────────────────────────────────────────► runs_close
 *
 * What always holds:
 *  1. A run is in the store whole or not at all: runs_put() is one transaction. A process that is killed loses the
 *     run that it was writing at most, and no other; several processes may write at the same time, each waits for
 *     the others.
 *  2. A run's id is never given to another run, also after it was pruned. Its uuid is the same in every store that
 *     it was imported into.
 *  3. A store of a newer tare is not touched, one of an older tare is migrated when it is opened for writing
 *     (schema.h). Each run names the tare that measured it.
 *  4. Nothing in a store is trusted: what is loaded has been checked, as far as a reader relies on it
 *     (enumerators, sizes of arrays); texts are bytes, to be escaped when printed.
 *  5. New files are 0600 and new folders 0700.
 */
#ifndef TARE_STORE_RUNS_RUNS_H
#define TARE_STORE_RUNS_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "result/comparison.h"
#include "result/result.h"

struct runs; /* an open store */

/* ---- a run ---- */

enum kept_kind { KEPT_COUNT, KEPT_PROFILE, KEPT_COMPARE };
const char *kept_kind_name(enum kept_kind kind); /* "count", "profile", "compare" */

/* How the report was shown; bits of kept_run.shown. tare report shows it so again. */
enum {
	SHOWN_VERBOSE = 1,
	SHOWN_QUIET = 2,
	SHOWN_ALL_REPETITIONS = 4,
	SHOWN_GROSS = 8,
	SHOWN_STATISTICS = 16,
	/* of profiles */
	SHOWN_BY_LINE = 32,
	SHOWN_ANNOTATE = 64,
	SHOWN_PROF = 128,
	SHOWN_BY_DATA = 256,      /* a count by object that is a data profile */
	SHOWN_STANDARD_SET = 512, /* nothing was asked for */
};

/* What a comparison found of one of its commands: one row for each row of the comparison, in its order. The
 * members of `found` hold but for `estimate`, which is the result's. */
struct kept_compared {
	const char *event;
	struct compared found;
};

/* A command's part in a comparison. Texts and arrays are the run's arena's when loaded. */
struct kept_side {
	const char *name;
	size_t at, of; /* the at-th of so many; the 0th is the baseline … */
	uint64_t seed; /* … and has, as all others, what the comparison has (result/comparison.h) */
	size_t repetitions, tests;
	bool interrupted, shows_misleading;
	bool apart;         /* the commands did not take turns: some were kept before */
	const char *layout; /* what was drawn anew for each execution; NULL: nothing */
	struct kept_compared *rows;
	size_t n_rows;
	/* of the whole comparison; of the 0th alone */
	struct gate_result *gates;
	size_t n_gates;
	const struct result_note *notes;
	size_t n_notes;
};

struct kept_run {
	struct arena arena; /* of the texts and arrays here that the store loaded; the result has its own */
	int64_t id;         /* 1 …; 0: not kept yet */
	char uuid[33];      /* 32 hexadecimal digits; runs_put() makes one where it is "" */
	const char *name;   /* the user's; NULL: none */
	enum kept_kind kind;
	unsigned shown;
	size_t top;                     /* of KEPT_PROFILE: rows that were asked for; 0: as many as matter */
	bool imported;                  /* it was measured elsewhere: @last is not one of these */
	const char *comparison;         /* of KEPT_COMPARE: one text for all runs of one comparison; NULL */
	struct kept_side *side;         /* of KEPT_COMPARE: what it found; NULL: not kept */
	const char *tare_version;       /* that measured it; never NULL when loaded */
	const char *directory;          /* it was started in; NULL: not known, as all below */
	const char *const *environment; /* "NAME=value" of what matters, ended by NULL */
	const char *git_commit;         /* hexadecimal: of the directory */
	const char *cpu_features;       /* names as in /proc/cpuinfo: "sse2 avx …" */
	const char *microcode;
	const char *calibration; /* the id of what was taken off */
	/* Command, machine, times, status; estimates (each with the values of all repetitions), metrics, outliers,
	 * regions, notes, breakdown. Not kept: blocks, system_calls, locations. Of KEPT_PROFILE it has no
	 * estimates. Of a loaded run it is the run's, to be freed with it; runs_put() borrows it. */
	struct result *result;
	const void *profile; /* the bytes of a profile's file (store/profile/profile_file.h); NULL: none */
	size_t profile_bytes;
};

/* Frees what a loaded run holds, and its result; not the struct. */
void kept_run_free(struct kept_run *run);

/* ---- the store ---- */

enum runs_access {
	RUNS_READ,  /* ERROR_NOT_FOUND where there is no store */
	RUNS_WRITE, /* makes the store and its folders where they are not there */
};

/* Where the store is: `given` (--store), else $TARE_STORE, else $XDG_DATA_HOME/tare/tare.db, else
 * ~/.local/share/tare/tare.db. The caller frees it. NULL with ERROR_NOT_FOUND: it is switched off ("none"; then
 * err->text is ""), or there is no home. */
char *runs_path(const char *given, struct error *err);

/* On success *out is the caller's, to be closed. ERROR_UNSUPPORTED: of a newer tare. ERROR_SYNTAX: not a store of
 * runs. */
bool runs_open(const char *path, enum runs_access access, struct runs **out, struct error *err);
void runs_close(struct runs *runs);

/* Keeps a run; sets its id and uuid. On failure the store is as it was. */
bool runs_put(struct runs *runs, struct kept_run *run, struct error *err);

/* "@last" or "last": the newest that was not imported; "17" or "@17": by id; "NAME" or "@NAME". ERROR_NOT_FOUND:
 * no such run. */
bool runs_find(struct runs *runs, const char *word, int64_t *id, struct error *err);

/* On success *run is the caller's, to be freed by kept_run_free(); on failure it holds nothing. */
bool runs_load(struct runs *runs, int64_t id, struct kept_run *run, struct error *err);

/* The runs of one comparison, in the order of the comparison (side->at); at most `most` of them. */
bool runs_of_comparison(struct runs *runs, const char *comparison, int64_t *ids, size_t most, size_t *n,
			struct error *err);

/* Gives a run a name; NULL takes it away. A name that another run has goes over to this one: *before is its id
 * (0: none had it). ERROR_USAGE: not a name (digits alone, "last", '@' or '-' first, '/', control characters, more
 * than 100 bytes). */
bool runs_name(struct runs *runs, int64_t id, const char *name, int64_t *before, struct error *err);

/* One row of a list. Texts are the list's. */
struct listed_run {
	int64_t id;
	const char *name; /* NULL: none */
	enum kept_kind kind;
	uint64_t started_unix; /* seconds */
	double elapsed_seconds;
	size_t repetitions;
	int wait_status;
	bool interrupted, imported;
	const char *tare_version, *hostname;
	const char *const *command; /* ended by NULL; NULL: none */
	const char *target;         /* as result->target */
	uint64_t bytes;             /* that it takes in the store, about */
};

struct run_list {
	struct arena arena;
	VEC(struct listed_run) rows; /* the newest first */
	size_t n_all;                /* in the store */
};

/* The newest `most` runs (0: all) whose command, name, or target has each of the words. */
bool runs_list(struct runs *runs, size_t most, const char *const *words, size_t n_words, struct run_list *out,
	       struct error *err);
void run_list_free(struct run_list *list);

/* A region of kept runs, once for each name and place. Texts are the list's. */
struct listed_region {
	const char *name, *text; /* as struct region_row */
	enum region_kind kind;
	int64_t run; /* the newest that has it */
};

struct region_list {
	struct arena arena;
	VEC(struct listed_region) rows; /* of the newest runs first */
};

/* All but exclusive ones, which are others' again. */
bool runs_regions(struct runs *runs, struct region_list *out, struct error *err);
void region_list_free(struct region_list *list);

struct runs_limits {          /* 0: no limit */
	uint64_t before_unix; /* runs that began earlier go */
	size_t most_runs;     /* that stay, the newest */
	uint64_t most_bytes;  /* that they take together */
};

/* Removes unnamed runs: those that began before a time, then the oldest, until the limits hold. gone: what goes
 * (the caller's); named runs stay, and count. try_only: nothing is removed. */
bool runs_prune(struct runs *runs, const struct runs_limits *limits, bool try_only, struct run_list *gone,
		struct error *err);

/* Writes these runs to a file of their own, in the store's format; a file that is there already is an error. */
bool runs_export(struct runs *runs, const int64_t *ids, size_t n, const char *path, struct error *err);

struct import_counts {
	size_t added, known; /* known: the store has them already */
	size_t names_lost;   /* their names belong to other runs here: added without */
};
/* Adds the runs of such a file. All of them, or on failure none. */
bool runs_import(struct runs *runs, const char *path, struct import_counts *counts, struct error *err);

#endif
