#include "store/runs/records.h"

#include "store/runs/runs.h"

#define TEXT(record, m)                                                                                           \
	{                                                                                                         \
		.column = #m, .type = FIELD_TEXT, .offset = offsetof(record, m)                                   \
	}
#define WORD(record, m)                                                                                           \
	{                                                                                                         \
		.column = #m, .type = FIELD_WORD, .offset = offsetof(record, m)                                   \
	}
#define NAME(record, m)                                                                                           \
	{                                                                                                         \
		.column = #m, .type = FIELD_WORD, .offset = offsetof(record, m), .most = 1                        \
	} /* always there */
#define SAID(record, m)                                                                                           \
	{                                                                                                         \
		.column = #m, .type = FIELD_TEXT, .offset = offsetof(record, m), .most = 1                        \
	} /* likewise */
#define WORDS(record, m)                                                                                          \
	{                                                                                                         \
		.column = #m, .type = FIELD_WORDS, .offset = offsetof(record, m)                                  \
	}
#define REAL(record, m)                                                                                           \
	{                                                                                                         \
		.column = #m, .type = FIELD_REAL, .offset = offsetof(record, m)                                   \
	}
#define INT(record, m)                                                                                            \
	{                                                                                                         \
		.column = #m, .type = FIELD_INT, .offset = offsetof(record, m)                                    \
	}
#define ENUM(record, m, last)                                                                                     \
	{                                                                                                         \
		.column = #m, .type = FIELD_INT, .offset = offsetof(record, m), .most = last                      \
	}
#define BOOL(record, m)                                                                                           \
	{                                                                                                         \
		.column = #m, .type = FIELD_BOOL, .offset = offsetof(record, m)                                   \
	}
#define U64(record, m)                                                                                            \
	{                                                                                                         \
		.column = #m, .type = FIELD_U64, .offset = offsetof(record, m)                                    \
	}
#define SIZE(record, m, limit)                                                                                    \
	{                                                                                                         \
		.column = #m, .type = FIELD_SIZE, .offset = offsetof(record, m), .most = limit                    \
	}
#define COUNTED(kind, record, m, n)                                                                               \
	{                                                                                                         \
		.column = #m, .type = kind, .offset = offsetof(record, m), .count_offset = offsetof(record, n)    \
	}
#define FIELDS(of)                                                                                                \
	{                                                                                                         \
		of, sizeof(of) / sizeof *(of)                                                                     \
	}

/* A member more, and this stops: keep it, or say in runs.h that it is not kept. */
_Static_assert(sizeof(struct estimate) == 312, "struct estimate has changed: see records.h");
_Static_assert(sizeof(struct result) == 312, "struct result has changed: see records.h");
_Static_assert(sizeof(struct machine_facts) == 56, "struct machine_facts has changed: see records.h");
_Static_assert(sizeof(struct outlier) == 24, "struct outlier has changed: see records.h");
_Static_assert(sizeof(struct region_row) == 96, "struct region_row has changed: see records.h");
_Static_assert(sizeof(struct breakdown_event) == 56, "struct breakdown_event has changed: see records.h");
_Static_assert(sizeof(struct breakdown_row) == 88, "struct breakdown_row has changed: see records.h");
_Static_assert(sizeof(struct breakdown) == 80, "struct breakdown has changed: see records.h");

_Static_assert(sizeof(struct compared) == 136, "struct compared has changed: see records.h");
_Static_assert(sizeof(struct gate_result) == 32, "struct gate_result has changed: see records.h");

enum { REPETITIONS_MOST = 1000000 }; /* as tare count's -r has it */

static const struct field of_kept_run[] = {
	WORD(struct kept_run, name),         ENUM(struct kept_run, kind, KEPT_COMPARE),
	BOOL(struct kept_run, imported),     INT(struct kept_run, shown),
	SIZE(struct kept_run, top, 0),       TEXT(struct kept_run, comparison),
	NAME(struct kept_run, tare_version), TEXT(struct kept_run, directory),
	WORDS(struct kept_run, environment), WORD(struct kept_run, git_commit),
	WORD(struct kept_run, calibration),
};
const struct record_fields kept_run_fields = FIELDS(of_kept_run);

static const struct field of_result[] = {
	WORDS(struct result, command),
	TEXT(struct result, target),
	U64(struct result, started_unix),
	SIZE(struct result, repetitions, REPETITIONS_MOST),
	SIZE(struct result, repetitions_done, REPETITIONS_MOST),
	SIZE(struct result, executions, 0),
	SIZE(struct result, warm_ups, 0),
	SIZE(struct result, passes, 0),
	REAL(struct result, elapsed_seconds),
	REAL(struct result, confidence),
	INT(struct result, wait_status),
	BOOL(struct result, interrupted),
	BOOL(struct result, under_engine),
	SIZE(struct result, first_run, 0),
	TEXT(struct result, given),
	TEXT(struct result, conditions),
};
const struct record_fields result_fields = FIELDS(of_result);

static const struct field of_machine[] = {
	TEXT(struct machine_facts, cpu),        TEXT(struct machine_facts, kernel),
	TEXT(struct machine_facts, hostname),   TEXT(struct machine_facts, architecture),
	INT(struct machine_facts, cpus),        TEXT(struct machine_facts, pmu),
	TEXT(struct machine_facts, hypervisor),
};
const struct record_fields machine_fields = FIELDS(of_machine);

/* runs is one value for each repetition */
static const struct field of_estimate[] = {
	NAME(struct estimate, event),
	NAME(struct estimate, unit),
	NAME(struct estimate, level),
	BOOL(struct estimate, known),
	REAL(struct estimate, value),
	REAL(struct estimate, low),
	REAL(struct estimate, high),
	BOOL(struct estimate, has_interval),
	REAL(struct estimate, confidence),
	COUNTED(FIELD_REALS, struct estimate, runs, n_runs),
	REAL(struct estimate, run_min),
	REAL(struct estimate, run_median),
	REAL(struct estimate, run_max),
	REAL(struct estimate, run_sd),
	ENUM(struct estimate, source, SOURCE_SAMPLED),
	ENUM(struct estimate, trust, TRUST_REFUTED),
	WORD(struct estimate, machine),
	WORD(struct estimate, evidence),
	BOOL(struct estimate, has_tare),
	REAL(struct estimate, gross),
	REAL(struct estimate, tare),
	REAL(struct estimate, bound),
	{.column = "measuring_state",
	 .type = FIELD_INT,
	 .offset = offsetof(struct estimate, measuring.state),
	 .most = MEASURING_INCLUDED},
	{.column = "measuring_count", .type = FIELD_REAL, .offset = offsetof(struct estimate, measuring.count)},
	{.column = "measuring_half_width",
	 .type = FIELD_REAL,
	 .offset = offsetof(struct estimate, measuring.half_width)},
	{.column = "measuring_inside", .type = FIELD_REAL, .offset = offsetof(struct estimate, measuring.inside)},
	REAL(struct estimate, share_running),
	TEXT(struct estimate, why),
	BOOL(struct estimate, has_least),
	REAL(struct estimate, least),
	ENUM(struct estimate, least_source, SOURCE_SAMPLED),
	TEXT(struct estimate, note),
	INT(struct estimate, tid),
	INT(struct estimate, pid),
	TEXT(struct estimate, command),
	INT(struct estimate, cpu),
};
const struct record_fields estimate_fields = FIELDS(of_estimate);

static const struct field of_outlier[] = {
	SIZE(struct outlier, repetition, REPETITIONS_MOST),
	NAME(struct outlier, event),
	SAID(struct outlier, cause),
};
const struct record_fields outlier_fields = FIELDS(of_outlier);

static const struct field of_note[] = {
	ENUM(struct result_note, rank, NOTE_DETAIL),
	SAID(struct result_note, text),
};
const struct record_fields note_fields = FIELDS(of_note);

static const struct field of_region[] = {
	NAME(struct region_row, name),
	SAID(struct region_row, text),
	ENUM(struct region_row, kind, REGION_LIBRARY),
	U64(struct region_row, entries),
	U64(struct region_row, exits),
	U64(struct region_row, unbalanced),
	U64(struct region_row, threads),
	TEXT(struct region_row, why),
	U64(struct region_row, least),
	TEXT(struct region_row, note),
};
const struct record_fields region_fields = FIELDS(of_region);

/* ---- breakdowns ---- */

static const struct field of_breakdown_head[] = {
	{.column = "breakdown_by",
	 .type = FIELD_INT,
	 .offset = offsetof(struct breakdown_head, by),
	 .most = BREAKDOWN_BY_LIBRARY},
	{.column = "breakdown_run", .type = FIELD_SIZE, .offset = offsetof(struct breakdown_head, run)},
	{.column = "breakdown_runs", .type = FIELD_SIZE, .offset = offsetof(struct breakdown_head, runs)},
	{.column = "breakdown_inclusive",
	 .type = FIELD_BOOL,
	 .offset = offsetof(struct breakdown_head, inclusive)},
};
const struct record_fields breakdown_head_fields = FIELDS(of_breakdown_head);

static const struct field of_breakdown_event[] = {
	NAME(struct breakdown_event, label),   NAME(struct breakdown_event, unit),
	WORD(struct breakdown_event, machine), U64(struct breakdown_event, total),
	U64(struct breakdown_event, sum),      TEXT(struct breakdown_event, why),
	TEXT(struct breakdown_event, defect),
};
const struct record_fields breakdown_event_fields = FIELDS(of_breakdown_event);

/* the row is the first member */
_Static_assert(offsetof(struct kept_breakdown_row, row) == 0, "offsets are the row's");
static const struct field of_breakdown_row[] = {
	SAID(struct breakdown_row, name),
	SAID(struct breakdown_row, module),
	TEXT(struct breakdown_row, file),
	INT(struct breakdown_row, line),
	WORD(struct breakdown_row, kind),
	U64(struct breakdown_row, blocks),
	U64(struct breakdown_row, bytes),
	{.column = "counts",
	 .type = FIELD_COUNTS,
	 .offset = offsetof(struct breakdown_row, counts),
	 .count_offset = offsetof(struct kept_breakdown_row, n_counts)},
	{.column = "inclusive",
	 .type = FIELD_COUNTS,
	 .offset = offsetof(struct breakdown_row, inclusive),
	 .count_offset = offsetof(struct kept_breakdown_row, n_inclusive)},
	SIZE(struct breakdown_row, n_frames, 0),
};
const struct record_fields breakdown_row_fields = FIELDS(of_breakdown_row);

static const struct field of_breakdown_frame[] = {
	SAID(struct breakdown_frame, function),
	SAID(struct breakdown_frame, module),
	TEXT(struct breakdown_frame, file),
	INT(struct breakdown_frame, line),
};
const struct record_fields breakdown_frame_fields = FIELDS(of_breakdown_frame);

/* ---- comparisons ---- */

enum { SIDES_MOST = 100000 };

#define SIDE(name, kind, m, limit)                                                                                \
	{                                                                                                         \
		.column = name, .type = kind, .offset = offsetof(struct kept_side, m), .most = limit              \
	}
static const struct field of_side[] = {
	SIDE("side_name", FIELD_TEXT, name, 0),
	SIDE("side_at", FIELD_SIZE, at, SIDES_MOST),
	SIDE("side_of", FIELD_SIZE, of, SIDES_MOST),
	SIDE("side_seed", FIELD_U64, seed, 0),
	SIDE("side_repetitions", FIELD_SIZE, repetitions, REPETITIONS_MOST),
	SIDE("side_tests", FIELD_SIZE, tests, 0),
	SIDE("side_interrupted", FIELD_BOOL, interrupted, 0),
	SIDE("side_misleading", FIELD_BOOL, shows_misleading, 0),
	SIDE("side_apart", FIELD_BOOL, apart, 0),
	SIDE("side_layout", FIELD_TEXT, layout, 0),
};
const struct record_fields side_fields = FIELDS(of_side);

#define FOUND(kind, m, limit)                                                                                     \
	{                                                                                                         \
		.column = #m, .type = kind, .offset = offsetof(struct kept_compared, found.m), .most = limit      \
	}
static const struct field of_compared[] = {
	NAME(struct kept_compared, event),  FOUND(FIELD_INT, verdict, COMPARISON_MORE),
	FOUND(FIELD_TEXT, why, 0),          FOUND(FIELD_BOOL, has_numbers, 0),
	FOUND(FIELD_BOOL, has_interval, 0), FOUND(FIELD_BOOL, has_relative, 0),
	FOUND(FIELD_REAL, difference, 0),   FOUND(FIELD_REAL, low, 0),
	FOUND(FIELD_REAL, high, 0),         FOUND(FIELD_REAL, relative, 0),
	FOUND(FIELD_REAL, relative_low, 0), FOUND(FIELD_REAL, relative_high, 0),
	FOUND(FIELD_REAL, p_value, 0),      FOUND(FIELD_REAL, p_adjusted, 0),
	FOUND(FIELD_REAL, effect, 0),       FOUND(FIELD_REAL, superiority, 0),
	FOUND(FIELD_REAL, detectable, 0),   FOUND(FIELD_REAL, floor, 0),
	FOUND(FIELD_BOOL, misleading, 0),
};
const struct record_fields compared_fields = FIELDS(of_compared);

static const struct field of_gate[] = {
	SAID(struct gate_result, text),
	SIZE(struct gate_result, command, SIDES_MOST),
	ENUM(struct gate_result, outcome, GATE_UNDECIDED),
	SAID(struct gate_result, reason),
};
const struct record_fields gate_fields = FIELDS(of_gate);
