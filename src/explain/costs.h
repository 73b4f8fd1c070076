/*
 * What an event costs: tables of times, as text.
 *
 *     [costs]      whose they are: machine, title, clock_hz; of measured ones also cpu, kernel, tare, made,
 *     seconds
 *     [cost]       one operation: typical, minimum, maximum, unit, source; of measured ones also low, high, n
 *     [end]        of measured ones: the sum of every byte before this line (FNV-1a, RFC 9923)
 *
 * A table comes from data/costs (the papers' machines, each number with its paper and table), from a file of the
 * user's, or from `tare calibrate --costs`, which measures this machine (measure.h). perfex -y gives typical,
 * minimum and maximum cost of each event (Zagha et al. 1996, section 4.1: "multiplying the projected event
 * counts by typical event costs"); so do these.
 *
 * What always holds:
 *  1. A time is finite and 0 or more; minimum <= typical <= maximum. What a source does not say is NAN, never 0.
 *  2. An operation has one row at most.
 *  3. A measured table is taken as a whole or not at all, and holds for one CPU and kernel: costs_fit().
 *  4. Texts are in the table's arena or the caller's; costs_free() frees the arena. */
#ifndef TARE_EXPLAIN_COSTS_H
#define TARE_EXPLAIN_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* What can cost time. Misses of a level are hits of the next: a line that L2 has costs OPERATION_L2_HIT. */
enum cost_operation {
	OPERATION_INSTRUCTION, /* minimum: independent ones; maximum: each needs the result of the one before */
	OPERATION_DIVIDE,      /* a floating-point division, beyond an instruction */
	OPERATION_SQUARE_ROOT, /* likewise */
	OPERATION_L1_HIT,      /* beyond the instruction */
	OPERATION_MISALIGNED,  /* an access that is not aligned */
	OPERATION_L2_HIT,      /* an access that missed L1 */
	OPERATION_L3_HIT,      /* … and L2 */
	OPERATION_MEMORY,      /* an access that missed all caches */
	OPERATION_TLB_HIT,     /* a translation that the second TLB had */
	OPERATION_TLB_WALK,    /* … that no TLB had */
	OPERATION_BRANCH_MISS, /* a branch that was predicted wrongly */
	OPERATION_PAGE_FAULT,  /* a first touch of a page, without reading from a disk */
	OPERATION_SYSTEM_CALL, /* its way into the kernel and back, without its work */
	/* as L2_HIT, L3_HIT and MEMORY, of lines in order, which a prefetcher sees coming; not known: as those */
	OPERATION_L2_STREAM,
	OPERATION_L3_STREAM,
	OPERATION_MEMORY_STREAM,
	OPERATIONS,
};

const char *operation_name(enum cost_operation operation); /* "instruction", "l2-hit", … */

/* Times in seconds; NAN: not known. */
struct cost {
	bool known; /* there is a row: one of the times at least is not NAN */
	double typical, least, most;
	double low, high; /* of measured ones: where the typical of another calibration lies; NAN */
	size_t n;         /* sweeps; 0: not measured here */
	const char *source;
};

struct costs {
	struct arena arena;
	char id[17];         /* of measured ones: 16 hexadecimal digits; "" */
	const char *machine; /* "pentium", "host" */
	const char *title;
	double clock_hz; /* of the core; NAN */
	bool measured;
	const char *cpu, *kernel, *tare_version; /* of measured ones */
	uint64_t made_unix;
	double seconds;    /* that measuring took */
	double confidence; /* of low and high */
	double clock_part; /* where measured just now: by which part of it the clock may differ another time */
	struct cost of[OPERATIONS];
};

void costs_free(struct costs *costs);

/* Reads text[length]. On failure *out holds nothing. */
bool costs_parse(const char *text, size_t length, const char *source, struct costs *out, struct error *err);
/* A measured table's text, ended by its sum; sets costs->id. */
bool costs_write(struct costs *costs, struct str *out, struct error *err);

/* Is it of this CPU and kernel, with all costs that are measured now? Otherwise why[] says what differs. */
bool costs_fit(const struct costs *costs, const char *cpu, const char *kernel, char *why, size_t why_bytes);

/* ---- where tables are (costs_file.c) ---- */

/* The machines that have a table in data/costs; appended. */
void costs_names(const char *between, struct str *out);
/* The table of data/costs for that machine. ERROR_NOT_FOUND with the names that there are. */
bool costs_named(const char *machine, struct costs *out, struct error *err);
bool costs_load(const char *path, struct costs *out, struct error *err);

/* $TARE_COSTS; else $XDG_DATA_HOME/tare/costs.HOST, else ~/.local/share/tare/costs.HOST: beside the calibration.
 * The caller frees it. NULL with ERROR_NOT_FOUND: switched off (TARE_COSTS=none), or there is no home. */
char *costs_path(struct error *err);
/* Loads those that `tare calibrate --costs` kept there, if they are of this CPU and kernel. False: why[] says what
 * is the matter; "" where none were kept. *off: they are switched off, or there is no place for them. */
bool costs_kept(const char *cpu, const char *kernel, struct costs *out, bool *off, char *why, size_t why_bytes);
/* Writes it in place of the one before. */
bool costs_save(const char *path, struct costs *costs, struct error *err);

#endif
