/* What `tare count` was asked for, as far as the command line alone says it. */
#ifndef TARE_CLI_COUNT_OPTIONS_H
#define TARE_CLI_COUNT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "cli/options.h"
#include "measure/measure.h"
#include "session/gate.h"
#include "session/keep.h"

enum compat { COMPAT_NONE, COMPAT_P5MON, COMPAT_PERFEX };
enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_HTML };

struct count_request {
	VEC(const char *) event_lists; /* -e, borrowed from argv, as all strings here */
	VEC(const char *) required;    /* --require; counted as those of -e are */
	VEC(struct gate) conditions;   /* --fail-if */
	VEC(const char *) event_files;
	VEC(const char *) metric_lists;      /* -m */
	VEC(const char *) overrides;         /* -F */
	VEC(const char *) regions;           /* --region */
	struct number_list pids, tids, cpus; /* -p, -t, -C */
	const char *cgroup;                  /* --cgroup; NULL */
	bool all_cpus;                       /* -a … */
	bool perfex_all;                     /* … but with --compat perfex: all R10000 events */
	bool per_thread, per_process, per_cpu, no_children, reproducible;
	const char *shown_cpu;      /* --cpu x86-64-v3; NULL without --reproducible */
	const char *blocks;         /* --blocks; NULL */
	const char *system_calls;   /* --system-calls; NULL */
	enum breakdown_by by;       /* --by */
	bool inclusive;             /* --inclusive: --by with what was called */
	bool exclusive;             /* --exclusive: of regions, outside of those in them */
	const char *by_file;        /* --by-file; NULL */
	const char *costs;          /* --costs; NULL */
	const char *on;             /* "auto" unless given */
	const char *output;         /* -o, with its %r, %h and %p filled in; NULL */
	const char *parameter_file; /* -P; NULL */
	enum compat compat;
	enum format format;
	bool has_repetitions, has_confidence, has_warm_ups, several_runs, all_repetitions;
	size_t repetitions, warm_ups;
	double confidence;
	enum program_output program_output;
	uint64_t for_ns;
	uint64_t timeout_ns;
	uint64_t interval_ns;    /* -I; 0: not given */
	uint64_t delay_ns;       /* --delay; 0: not given */
	bool begin_off;          /* --begin-off */
	const char *control;     /* --control; NULL */
	const char *openmetrics; /* --openmetrics; NULL */
	bool gross;              /* --gross */
	bool statistics;
	bool strict; /* --strict */
	unsigned verbose;
	bool quiet;
	bool ranks_off, per_rank;  /* --ranks off, --per-rank */
	const char *ranks_folder;  /* --ranks-dir; NULL */
	uint64_t ranks_timeout_ns; /* --ranks-timeout */
	unsigned sampled;          /* --sampled: of so many groups one; 0: not given */
	uint64_t seed;             /* --seed; 0: not given */
	bool keep;                 /* the engine's translations */
	bool no_sharing;           /* … of one run, between its processes */
	struct keeping keeping;    /* --store, --no-store */
	bool help;
	char *const *command; /* the program and its arguments; NULL when there is none */
};

/* Parses and checks what contradicts itself. On failure nothing is to be freed. */
bool count_request_parse(struct count_request *request, int argc, char **argv, struct error *err);
void count_request_free(struct count_request *request);

#endif
