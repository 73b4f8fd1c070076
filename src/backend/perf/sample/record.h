/*
 * The kernel's records of a sampled event, decoded: each field checked against the record's length.
 *
 * All events of one sampling have PERF_SAMPLE_IDENTIFIER, _TID, _TIME and _CPU, and sample_id_all: so any
 * record says of which event it is (a sample in its first word, another record in its last), and when it was
 * written.
 *
 * Source: perf_event_open(2), "MMAP layout"; linux/perf_event.h (enum perf_event_type).
 */
#ifndef TARE_BACKEND_PERF_SAMPLE_RECORD_H
#define TARE_BACKEND_PERF_SAMPLE_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/sampling.h"

/* What each event of a sampling asks for; with more, see struct record_layout. */
#define RECORD_COMMON (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/* Of the samples of one event: their sample_type. Beside RECORD_COMMON these may be set: IP (always),
 * ADDR, PERIOD, CALLCHAIN, REGS_USER and STACK_USER. */
struct record_layout {
	uint64_t sample_type;
	uint64_t registers; /* sample_regs_user */
};

enum record_kind {
	RECORD_OTHER, /* of no interest here, or of a type that this file does not know */
	RECORD_SAMPLE,
	RECORD_MAPPING,
	RECORD_NAME,
	RECORD_START,
	RECORD_END,
	RECORD_SWITCH,
	RECORD_LOST, /* by number of records */
	RECORD_THROTTLE,
};

struct record {
	enum record_kind kind;
	uint64_t time_ns; /* SAMPLE and what a task did */
	uint64_t id;      /* of the event */
	uint32_t pid, tid;
	union {
		struct {
			struct sample sample; /* without its event; gap: 0 when the layout has no PERIOD */
			uint64_t registers[SAMPLE_REGISTERS];
		};
		struct sampled_mapping mapping;
		struct {
			uint32_t parent_pid, parent_tid;
			const char *name;
			bool by_exec;
		} task;
		struct {
			bool in, preempted;
		} change; /* of SWITCH */
		uint64_t lost;
	};
};

/* The event that a record is of; 0: the record is too short to say. */
uint64_t record_id(const struct perf_event_header *record);
/* When it was written; 0: likewise. */
uint64_t record_time(const struct perf_event_header *record);
/* Makes a record of a sample one of this event and time. */
void record_rename(struct perf_event_header *sample, uint64_t id, uint64_t time_ns);
/* Now, by the same clock. */
uint64_t record_now_ns(void);
/* Everything in it; what out points to is in the record or in out. layout: of the event with record_id().
 * False: it is torn, and nothing of it is to be believed. */
bool record_decode(const struct perf_event_header *record, const struct record_layout *layout, struct record *out);

/* The registers that samples of DWARF stacks carry: the kernel's mask. 0: not on this machine. */
uint64_t record_registers(void);

#endif
