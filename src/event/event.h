/* Events: what can be counted, by what name, and how each is encoded for the kernel.
 *
 * A canonical event is a row of data/events/: its name, its definition in one exact sentence, and its
 * other names. A request ("instructions:u", "skl::INST_RETIRED:ANY", "cpu/event=0x3c/", "r1a8",
 * "PAPI_TOT_INS") becomes a struct event. Grammar, for every naming:
 *
 *     request  = [ machine "::" ] name [ ":" levels ] [ "@" period ]      machine: of a row that a machine model counts
 *     levels   = "u" | "k" | "uk" | "ku"           none: both (user and kernel)
 *     period   = decimal number > 0                 used by sampling only
 *
 * 1. An event's strings live as long as the table it came from.
 * 2. A name that is unknown is an error that names the three nearest ones, never a guess. */
#ifndef TARE_EVENT_EVENT_H
#define TARE_EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum event_kind {
	EVENT_OCCURRENCE, /* counted each time that something takes place */
	EVENT_DURATION,   /* grows while a condition is true (Safford, 2.4) */
	EVENT_LEVEL,      /* a state at the end or a maximum, not a sum: peak memory */
};

enum event_naming { NAMED_CANONICAL, NAMED_PAPI, NAMED_PFM, NAMED_SYSFS, NAMED_RAW, NAMED_PAPER };

/* Who can count it, besides the perf backend through `encodings`. A set of bits. */
enum {
	COUNTED_BY_PERF = 1,    /* perf_event_open(2) */
	COUNTED_BY_PROCESS = 2, /* wait4(2)'s rusage and the clock: elapsed-time, user-time, peak-memory … */
	COUNTED_BY_EXACT = 4,   /* tare's engine */
	COUNTED_BY_MODEL = 8,   /* a machine model */
};

enum { LEVEL_USER = 1, LEVEL_KERNEL = 2 };

struct formula; /* event/formula.h */

/* What a row means on the modelled machines of one family, where it is another count than on the rest: "intel". */
struct event_model {
	const char *family;
	const struct formula *formula;
};

/* One row of data/events/. */
struct event_definition {
	const char *name;       /* "branch-misses" */
	const char *definition; /* one sentence */
	const char *unit;       /* "instructions", "cycles", "bytes", "ns", "pages", … (plural) */
	const char *scope;      /* "hardware thread", "thread", "process", "core", "package", "system" */
	enum event_kind kind;
	unsigned counted_by;
	const char *papi; /* without "PAPI_"; NULL when there is none */
	/* NULL-terminated: "p5mon:instructions_executed", "r10000:Graduated instructions" */
	const char *const *paper_names;
	const char *const *encodings; /* NULL-terminated, best first: "generic:instructions",
	                                   "intel:INST_RETIRED:ANY", "armv8:r08", "software:page-faults",
	                                   "sysfs:msr/tsc/" */
	bool in_default_set;          /* counted by `tare count` without -e, where it can be */
	bool default_if_exact;        /* … where it costs no counter: by the engine */
	bool default_of_tasks;        /* … of programs, processes and threads, not of whole CPUs */
	/* where a report of the default set is longer than a screen, rows are left to -v, the highest first; 0:
	 * never */
	uint8_t detail;
	/* what measuring adds is the same each time, and is subtracted (trust/rules.h); of caches and times it
	 * depends on what ran before */
	bool constant_overhead;
	/* over a machine's counters (event/formula.h); NULL: no machine model counts it … */
	const struct formula *model;
	const struct event_model *models; /* … by family, until one without a family; NULL: `model` on all */
	const char *no_model; /* … and why, where a reader would expect one ("a timing event: …"); NULL */
	/* NULL-terminated: perf's spellings ("faults") and PAPI's names ("PAPI_TOT_INS") */
	const char *const *aliases;
};

/* One requested event. */
struct event {
	const char *text;  /* as it was asked for */
	const char *label; /* as reports show it: name and, where one was asked for, the level: "instructions:u" */
	const struct event_definition *definition; /* NULL for native names */
	enum event_naming naming;
	unsigned levels; /* LEVEL_USER | LEVEL_KERNEL; never 0 */
	uint64_t period; /* 0: none asked for */
	/* of "r12000::l1d-misses": the modelled machine that it is asked of; NULL: none was named */
	const char *machine;
};

/* What perf_event_open(2) needs; see struct perf_event_attr. */
struct event_encoding {
	uint32_t type;
	uint64_t config, config1, config2;
	/* counts × scale = value in the event's unit (sysfs "event.scale", a row's "*N"); 1 for most */
	double scale;
	const char *how; /* the encoding's text, for messages: "generic:instructions" */
};

struct event_table; /* the canonical rows, and the strings of every event parsed with it */

/* The embedded tables of data/events/. NULL on failure (which means a broken build or no memory). */
struct event_table *event_table_new(struct error *err);
void event_table_free(struct event_table *table);

/* Adds rows from text in the format of data/events/ (see its README); a known name is replaced. */
bool event_table_add(struct event_table *table, const char *text, size_t length, const char *source,
		     struct error *err);

size_t event_table_count(const struct event_table *table);
const struct event_definition *event_table_at(const struct event_table *table, size_t index);
/* By canonical name; NULL when there is none. */
const struct event_definition *event_table_find(const struct event_table *table, const char *name);

/* Parses one request. *out is filled on success. Native names are only checked for their form here;
 * whether this machine knows them is found by event_encode(). */
bool event_parse(struct event_table *table, const char *request, struct event *out, struct error *err);

/* Parses a comma-separated list, appending to *events (caller frees with free()). Commas inside
 * "pmu/…/" do not separate. At most EVENT_LIST_MOST events; on failure *events and *count are as before. */
enum { EVENT_LIST_MOST = 4096 };
bool event_parse_list(struct event_table *table, const char *list, struct event **events, size_t *count,
		      struct error *err);

/* The machine as far as encodings depend on it; tests pass their own. */
struct event_machine {
	const char *sysfs_root; /* "/sys/bus/event_source/devices" */
	const char *family;     /* "intel", "amd", "armv8", "other": which rows' encodings apply */
	/* libpfm4 may also encode for PMUs that are not here (it wants LIBPFM_ENCODE_INACTIVE=1 in the
	 * environment): for tests and lists, never to count with */
	bool absent_pmus;
};
struct event_machine event_machine_host(void);

/* The index-th encoding of an event on this machine; *out filled. False with ERROR_NOT_FOUND when there
 * are no more encodings (index too large), ERROR_UNSUPPORTED when this one has no meaning here (try the
 * next). Native names have exactly one. */
bool event_encode(const struct event *event, const struct event_machine *machine, size_t index,
		  struct event_encoding *out, struct error *err);

#endif
