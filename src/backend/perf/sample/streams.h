/*
 * What is open while a target is sampled.
 *
 *     buffer (one a CPU, or more: see 6): its ring, held by the first tracking event of that CPU
 *     stream (task x CPU x event): a sampled event, or a tracking event, that writes into the buffer of its CPU
 *
 * What always holds:
 *  1. A ring is of one CPU. The kernel maps none for an inherited event that is not of one CPU (perf_mmap()),
 *     so that each task that is sampled has each event once a CPU.
 *  2. A tracking event (PERF_COUNT_SW_DUMMY) counts nothing and reports mappings, names, starts and ends. It
 *     runs from the program's exec, or from prepare(), whether samples are taken or not.
 *  3. All events read one clock, CLOCK_MONOTONIC; the kernel mixes no clocks in one ring.
 *  4. With heirs all tasks have one gap for good (see below).
 *  5. Of a control group the sampled events are the group's, on each CPU. Tracking events are of whole CPUs even
 *     then: a process that is moved into the group has its mappings from before. In the program's own group
 *     there is none.
 *  6. Where one page fault (or other occurrence of a software event) hits several events, of tare or of anybody,
 *     Linux since 6.3 gives the samples of all of them the id, the time and the other words that the first one
 *     asked for (do_perf_sw_event() has one perf_sample_data for all; perf_prepare_sample() fills what it lacks).
 *     So no ring has two such events, and what comes from a ring is of the one that it has.
 *
 * Gaps, as Linux 6.18 was seen to behave (tests/unit/perf_sample_test.c states it) and as kernel/events/core.c
 * reads:
 *
 *  - PERF_EVENT_IOC_PERIOD reaches the opened event alone: _perf_event_period(), unlike _perf_event_enable(),
 *    is not called for each child. A child is born with the gap that its parent's event has then
 *    (perf_event_alloc() copies attr). And two tasks with cloned contexts swap them when one follows the other
 *    on a CPU (perf_event_context_sched_out()), so that a gap set for one task is then another's. So, while
 *    there are heirs, gaps that differ would make the shares of threads wrong: gaps are redrawn only as long as
 *    no task has been born. When one is, all events are opened again with the mean gap, for all tasks alike.
 *  - It begins the gap anew (period_left = 0). What had passed of it is lost, and until it is set the old one
 *    repeats: gap_course (gaps.h) makes both good.
 *  - Of a software event or tracepoint that runs at that moment it is worse: period_left = 0 means that the
 *    next occurrence overflows (perf_swevent_event()), whatever the gap. Of one that does not run at that
 *    moment the gap is begun anew when it runs again (perf_swevent_add()). Whether it ran shows in its running
 *    time, read before and after; the sample of that occurrence is then dropped.
 *  - The clocks (hrtimers) also obey it. Their least gap is 10 us: a shorter one is done as 10 us.
 *  - PERF_SAMPLE_PERIOD of the clocks gives the gap that they were opened with, not the one in force; and a
 *    software event or tracepoint with PERF_SAMPLE_PERIOD and a fixed gap makes a sample of every occurrence
 *    (perf_swevent_event()). So it is asked for of hardware and of rates alone; otherwise a sample stands
 *    for the mean gap.
 */
#ifndef TARE_BACKEND_PERF_SAMPLE_STREAMS_H
#define TARE_BACKEND_PERF_SAMPLE_STREAMS_H

#include "backend/launch.h"
#include "backend/perf/counter/cgroup.h"
#include "backend/perf/counter/counter.h"
#include "backend/perf/counter/targets.h"
#include "backend/perf/ring/ring.h"
#include "backend/perf/sample/bounds.h"
#include "backend/perf/sample/gaps.h"
#include "backend/perf/sample/record.h"
#include "backend/perf/sample/turns.h"
#include "backend/perf/sample/window.h"
#include "backend/perf/state.h"
#include "base/hash.h"
#include "base/random.h"

/* In place of an event: a tracking stream; a probe (bounds.h), with its number added */
static const uint32_t STREAM_TRACKS = UINT32_MAX, STREAM_PROBES = 1u << 31;

struct stream {
	int fd; /* -1: closed; its records may still be on their way */
	uint64_t id;
	uint32_t event, buffer;
	/* of gaps that are drawn */
	struct gap_course course;
	uint64_t counted;    /* its count when the gap was set */
	uint32_t since;      /* samples since then */
	bool disturbed;      /* since then samples were lost, or it was paused */
	uint64_t restart_ns; /* the first sample from this time on is of the setting itself; 0: none is */
};

static inline bool stream_samples(const struct stream *stream) { return stream->event < STREAM_PROBES; }
static inline bool stream_probes(const struct stream *stream)
{
	return stream->event >= STREAM_PROBES && stream->event != STREAM_TRACKS;
}

struct sample_buffer {
	int cpu, fd; /* fd: the event's that holds the ring: a tracking stream's, or one of the buffer's own */
	struct ring ring;
	uint32_t hit;     /* the stream to which it gives samples of another id (see above); NO_STREAM: none */
	uint64_t time_ns; /* of its last record */
};
static const uint32_t NO_STREAM = UINT32_MAX;

struct sampled_track {
	struct sampled_event asked;
	const struct answer *answer;
	struct record_layout layout;
	bool redrawn; /* its gaps are drawn, and anew */
	bool bursts;  /* setting its gap makes a sample of the next occurrence */
	bool is_clock;
	uint32_t ring; /* which of a CPU's it writes into */
	struct gap_plan plan;
	double run_samples, run_squares; /* of streams' courses that have ended */
	uint64_t switched_off;           /* in its turns: how often, of all its streams */
	struct sampling_account account;
};

struct sampling {
	struct backend *backend;
	enum target_kind kind;
	enum counter_heirs heirs;
	struct sampling_request request;
	struct sampling_sink sink;
	struct sampled_track *tracks; /* [request.n_events] */
	struct random random;
	bool build_ids, lost_counts; /* this kernel has these */
	struct command command;
	struct launch launch;
	pid_t pid;
	struct counter_targets targets; /* tasks or CPUs that were opened at first */
	int cgroup;                     /* of CPUs: the group's folder, whose tasks alone are sampled; -1: all */
	struct own_cgroup own;          /* … that is the program's own: all that is in it began there */
	bool on;                        /* samples are being taken */
	bool alike;                     /* all tasks have one gap, and it stays */
	uint64_t alike_ns;              /* since when, of gaps that were redrawn before; 0 */
	VEC(pid_t) tasks;               /* that live, until alike */
	uint64_t born;                  /* tasks, likewise */
	struct sample_buffer *buffers;  /* the first rings of all CPUs, then their second ones, … */
	size_t n_buffers, n_cpus;
	int wakes; /* epoll's: readable when a ring wants to be read */
	VEC(struct stream) streams;
	struct hash_index ids;
	struct sample_window window;
	uint64_t round_ns;   /* when the last round began */
	uint64_t lost_facts; /* records of tracking events */
	uint64_t tracked_ns; /* their time on CPUs */
	bool paused;         /* samples were not taken for a part of the time */
	struct existing *existing;
	struct sampling_turns turns;
	struct sample_bounds *bounds;   /* NULL: everything is kept */
	uint64_t probe_hits, lost_hits; /* as the kernel counted them */
	bool failed;                    /* the sink, or a ring: no more is passed on */
};

/* Of the user's stack, that a sample copies: asked, or a default (0), within what the kernel takes. */
uint32_t streams_stack_bytes(enum profile_stacks stacks, uint32_t asked);
/* Opens everything for s->targets, disabled. */
bool sample_streams_open(struct sampling *s, struct error *err);
void sample_streams_close(struct sampling *s);
/* Opens the sampled events of s->tasks once more, at their mean gaps, disabled. A task that has ended is left
 * out. */
bool sample_streams_again(struct sampling *s, struct error *err);
/* Stops, reads and closes the sampled events first … last-1; their ids stay known. */
void sample_streams_retire(struct sampling *s, size_t first, size_t last);
/* By the id in a record; NULL: it is of none. */
struct stream *stream_find(struct sampling *s, uint64_t id);
/* Of a sample that came from this buffer, and its time; NULL: likewise. */
struct stream *stream_of(struct sampling *s, struct sample_buffer *buffer, const struct perf_event_header *sample,
			 uint64_t *time_ns);
/* Sampled events on: those of the set whose turn it is. */
bool sample_streams_switch(struct sampling *s, bool tracking, bool on, struct error *err);
/* Count and running time of each event, so far; returns the target's time. */
uint64_t sample_streams_now(const struct sampling *s, struct sampled_turn *events);
uint64_t sample_streams_time(const struct sampling *s);
/* Lets the probes of CPUs report. */
bool sample_streams_probe(struct sampling *s, struct error *err);
/* Sums what each stream counted into its event's account. */
void sample_streams_read(struct sampling *s);
/* Gives it its first gap, or a new one. */
void stream_redraw(struct sampling *s, struct stream *stream);
/* This record of a sample, the next one of the stream, is of the setting of its gap, and is not to be kept. */
bool stream_restarts(struct stream *stream, uint64_t time_ns);
/* Ends the course of gaps that are drawn: what was learnt of it goes to the event's account. */
void stream_end_course(struct sampling *s, struct stream *stream);

#endif
