/* Calibrations as they are kept: what measuring itself counts on one machine, under one kernel, by one version of
 * tare.
 *
 * A text file of stanzas (base/stanza.h), so that libtare can read it with nothing but libc:
 *
 *     [calibration]    format, machine, kernel, version, when, how many processes
 *     [overhead]       what an empty region or program counts: one event by one interface
 *                      (Safford, Tables D.1 and D.2)
 *     [fit]            reported = o + c·B over the block kernel (Nieto, 4.5)
 *     [floor]          what differs between a command and itself (an A/A run)
 *     [end]            sum: FNV-1a (RFC 9923) of every byte before this line; its digits are the calibration's id
 *
 * 1. A file is taken as a whole or not at all: a truncated, mended or foreign one is an error that says why.
 * 2. It is replaced by rename(2): a reader sees the old one or the new one.
 * 3. It counts for one machine alone: see calibration_fits().
 * 4. Texts of a calibration live in its arena or are the caller's; calibration_free() frees the arena. */
#ifndef TARE_STORE_CALIBRATION_CALIBRATION_H
#define TARE_STORE_CALIBRATION_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

enum interface {
	INTERFACE_COMMAND,      /* tare count */
	INTERFACE_LIBRARY_READ, /* libtare's regions, counters read by read(2) */
	INTERFACE_LIBRARY_USER, /* … in user space (rdpmc, the PMU's registers) */
	INTERFACE_STUBS,        /* the assembly stubs, by whichever reading works */
};
enum { INTERFACES = 4 };

/* What was measured of an interface. */
enum overhead_part {
	OVERHEAD_PROGRAM, /* COMMAND: an empty program, less what it does itself */
	OVERHEAD_REGION,  /* an empty region: what lies between its two readings */
	OVERHEAD_ENTER,   /* an enter of another region, seen from a region around it; its reading included … */
	OVERHEAD_LEAVE,   /* … and a leave */
};
enum { OVERHEAD_PARTS = 4 };

struct overhead {
	const char *event; /* label: "instructions:u" */
	const char *unit;
	enum interface interface;
	enum overhead_part part;
	bool cold;               /* the first pass in its process */
	bool constant;           /* the event's overhead does not depend on caches: it is subtracted (data/events,
				    `overhead`) */
	size_t n;                /* processes */
	double mean, half_width; /* ± at the calibration's confidence; half_width of n = 1: 0 */
	double sd, median, least, most;
};

/* reported = o + c·B by least squares, B blocks. */
struct overhead_fit {
	const char *event;
	enum interface interface;
	size_t n; /* points */
	double o, o_half_width, c, c_half_width;
	double residual_most; /* of any point, absolute */
	double block;         /* what a block counts by its code; NAN when the event has no closed form */
};

struct noise_floor {
	const char *event;
	const char *unit;
	size_t n;           /* executions on each side of the A/A run */
	double mean;        /* of all */
	double relative_sd; /* pooled, of one execution, as a share of the mean */
	double seen;        /* |mean A − mean B| / mean: how far the same command was from itself */
	double floor;       /* the smallest relative difference that n runs a side would show (trust/noise.h) */
};

struct calibration {
	struct arena arena;
	char id[17]; /* of a calibration that was kept: 16 hexadecimal digits */
	const char *tare_version, *cpu, *architecture, *kernel;
	int cpus;
	uint64_t made_unix; /* seconds */
	size_t processes;   /* of each row, asked for */
	double confidence;
	const char *floor_command; /* of the A/A run; "" when there was none */
	VEC(struct overhead) overheads;
	VEC(struct overhead_fit) fits;
	VEC(struct noise_floor) floors;
};

const char *interface_name(enum interface interface);    /* "command", "library", "library-user", "stubs" */
const char *overhead_part_name(enum overhead_part part); /* "program", "region", "enter", "leave" */

void calibration_free(struct calibration *c);

/* The file's text, ended by its sum; sets c->id. Texts of the calibration with control bytes are an error. */
bool calibration_write(struct calibration *c, struct str *out, struct error *err);

/* Reads text[length]. On failure *c holds nothing. */
bool calibration_parse(const char *text, size_t length, const char *source, struct calibration *c,
		       struct error *err);

/* The machine that a calibration has to be of. */
struct calibrated_machine {
	const char *cpu, *architecture, *kernel, *tare_version;
	int cpus;
};
/* Is it of this machine? Otherwise why[] says what differs: "made under kernel 'Linux 6.1.0', this is …". */
bool calibration_fits(const struct calibration *c, const struct calibrated_machine *machine, char *why,
		      size_t why_bytes);

/* The first row that is it, or NULL. */
const struct overhead *calibration_overhead(const struct calibration *c, const char *event,
					    enum interface interface, enum overhead_part part, bool cold);
const struct noise_floor *calibration_floor(const struct calibration *c, const char *event);

/* ---- where it is kept (file.c) ---- */

/* $TARE_CALIBRATION; else $XDG_DATA_HOME/tare/calibration.HOST, else ~/.local/share/tare/calibration.HOST: home
 * folders may be shared between machines. The caller frees it. NULL with an error whose code is ERROR_NOT_FOUND
 * when calibrations are switched off (TARE_CALIBRATION=none) or there is no home; the environment is that of
 * secure_getenv(3). */
char *calibration_path(struct error *err);

/* Reads the kept one. ERROR_NOT_FOUND: there is none. */
bool calibration_load(const char *path, struct calibration *c, struct error *err);

/* Keeps it, in place of the one before; makes the folders. */
bool calibration_save(const char *path, struct calibration *c, struct error *err);

#endif
