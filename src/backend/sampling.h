/*
 * Sampling: interrupting a target each time that an event took place so often, and saying where it was.
 *
 *     prepare ──► go ──► (enable | drain)* ──► stop ──► end
 *
 * 1. As with counting (backend.h): prepare() holds a command before its first instruction, the caller waits for
 *    the process and owns signals, and a backend without sampling has NULL for all of these.
 * 2. What was seen goes to the caller's sink during drain() and stop(), in the order of time: of each process,
 *    a mapping comes before the samples in it. Addresses are raw: the caller makes places of them.
 * 3. Losing is never silent: what the kernel says that it dropped is counted, by event where the kernel says it.
 */
#ifndef TARE_BACKEND_SAMPLING_H
#define TARE_BACKEND_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "event/event.h"
#include "result/profile.h"
#include "result/result.h"

struct backend;
struct target;
struct sampling; /* one sampling in progress */

struct sampled_event {
	const struct event *event;
	enum profile_gaps gaps; /* FIXED, JITTER, EXPONENTIAL; RATE */
	/* in the event's unit (ns of clocks); the mean of EXPONENTIAL (which is half fixed and half
	 * exponential, since the kernel repeats a gap until the next is set: perf/sample/gaps.h); of RATE: 0 */
	uint64_t gap;
	double rate;  /* of RATE: samples a second of each task */
	uint32_t set; /* of those that take turns, from 0 */
};

/* Samples are kept where a thread is in one of the first n_inside regions (all of them: n_inside 0), and from the
 * moment that any thread comes to one of the next n_begin (from the start: n_begin 0) until one comes to one of
 * the last n_end. */
struct sampling_places {
	const struct region_asked *all; /* with edges */
	size_t n_inside, n_begin, n_end;
};

struct sampling_request {
	const struct sampled_event *events;
	size_t n_events;
	uint64_t seed;
	uint32_t redraw; /* a gap is drawn anew every so many samples of a task; 0: the backend's default */
	enum profile_stacks stacks;
	uint32_t stack_bytes; /* of STACKS_DWARF: of the user's stack that is copied; 0: a default */
	const struct sampling_places *places; /* NULL: samples are kept wherever they are */
	bool data_addresses;                  /* where the event has them */
	bool disabled;                        /* counts nothing until enable(): --delay, --control */
	uint64_t turn_ns;      /* sets of events take turns of so much of the target's time; 0: all at once */
	uint32_t buffer_bytes; /* of each CPU; 0: a default within what the user may lock */
};

enum {
	SAMPLE_REGISTERS = 17
}; /* x86-64: rax rbx rcx rdx rsi rdi rbp rsp r8 … r15 rip, DWARF's order is the unwinder's business */

struct sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t pid, tid, cpu;
	uint32_t event; /* index in the request */
	bool kernel;    /* it was in the kernel */
	uint64_t address;
	uint64_t data_address; /* 0: none */
	uint64_t gap;          /* that it stands for; 0: not known */
	const uint64_t
		*callers; /* return addresses, the innermost first; kernel's and user's as the kernel marks them */
	size_t n_callers;
	/* of the user's part, where stacks are asked for: registers, and the stack's bytes from its pointer up;
	 * with STACKS_FRAME_POINTER few bytes; NULL */
	const uint64_t *registers;
	const uint8_t *stack;
	size_t stack_bytes;
};

struct sampled_mapping {
	uint64_t time_ns;
	uint32_t pid;
	uint64_t address, bytes, offset; /* offset: in the file */
	const char *path;                /* as the kernel has it: a path, "[vdso]", "//anon", … */
	const uint8_t *build_id;         /* NULL where the kernel did not say */
	size_t build_id_bytes;
	bool executable;
};

struct sampled_task {
	uint64_t time_ns;
	uint32_t pid, tid;
	uint32_t parent_pid, parent_tid; /* of a new one */
	const char *name;                /* of a change of name; NULL */
};

/* A thread left its CPU, or came to one. */
struct sampled_switch {
	uint64_t time_ns;
	uint32_t pid, tid;
	bool in, preempted; /* preempted: it left ready to go on */
};

/* What one event had in one turn of a set: 0 of the other sets' events. */
struct sampled_turn {
	uint64_t count, running_ns, samples;
};

/* Each may be called in drain() and stop(); false ends the sampling as one that failed (*err is set by the
 * sink). */
struct sampling_sink {
	void *context;
	bool (*sample)(void *context, const struct sample *sample, struct error *err);
	bool (*mapping)(void *context, const struct sampled_mapping *mapping, struct error *err);
	bool (*started)(void *context, const struct sampled_task *task, struct error *err); /* fork or clone */
	bool (*named)(void *context, const struct sampled_task *task, bool by_exec, struct error *err);
	bool (*ended)(void *context, const struct sampled_task *task, struct error *err);
	/* NULL: not asked for. With a context of its own: it is another's than the samples' */
	bool (*switched)(void *switched_context, const struct sampled_switch *change, struct error *err);
	void *switched_context;
	/* A turn of a set is over: it took so much of the target's time; of[n_events]. NULL: not asked for */
	bool (*turned)(void *turned_context, uint64_t passed_ns, const struct sampled_turn *of, struct error *err);
	void *turned_context;
};

/* What was seen of the places where sampling begins and ends. */
struct sampling_bounds_account {
	uint64_t hits;              /* of probes, by what is sampled */
	uint64_t lost_hits;         /* with any, no sample is used */
	uint64_t without_registers; /* programs of 32 bits: the same holds */
	uint64_t entries, exits;    /* of regions: outermost ones */
	uint64_t begins, ends;      /* how often it was switched */
	uint64_t doubtful;          /* samples in passes whose end was not seen: some may be of later code */
	uint64_t left_out;          /* samples that are not in between … */
	uint64_t above;             /* … of these: in a region by its probes, but not by the stack pointer */
};

/* What became of one event. */
struct sampling_account {
	enum reading_state state;
	enum source source;
	char why[256]; /* when not COUNTED */
	/* count is what was sampled; false of a clock at one level: it runs at all levels, its samples are of the
	 * one that was asked for */
	bool has_count;
	uint64_t count; /* of the event, while it was sampled */
	/* of all tasks (or CPUs); running is less where the event had no counter: multiplexing, another kind of
	 * core */
	uint64_t enabled_ns, running_ns;
	uint64_t samples, lost, throttled, redraws;
	/* how many samples a gap lasted: as was asked for, or more where tare was so late (it waited for a CPU)
	 * that it matters; 0: gaps were not redrawn */
	uint32_t redraw;
	/* CLOCK_MONOTONIC, of gaps that were redrawn: when that ended, because a thread or a child began (all
	 * tasks must have one gap, or their shares would be wrong); from then on they are fixed at the mean. 0:
	 * never */
	uint64_t redrawn_until_ns;
	/* mappings, names and tasks that the kernel had no room for, of the whole sampling: with any, samples
	 * may be in the wrong place */
	uint64_t lost_facts;
	struct sampling_bounds_account bounds; /* of the whole sampling */
};

/* What sampling takes of the target's time, measured on tare's own thread. */
struct sampling_cost {
	double sample_ns; /* CPU time of one sample */
	/* how often the event takes place in a ns of a loop that does little else: 1 of a clock, CPU clock cycles,
	 * instructions of the shortest kind, … */
	double events_per_ns;
};

struct sampling_operations {
	/* Can this event be sampled here? By trial, as available(); kept. */
	void (*available)(struct backend *backend, const struct event *event, enum reading_state *state,
			  char why[256]);

	/* Of a sample with such stacks (stack_bytes as in sampling_request): a known loop with and without
	 * sampling. False: it could not be measured. */
	bool (*cost)(struct backend *backend, const struct event *event, enum profile_stacks stacks,
		     uint32_t stack_bytes, struct sampling_cost *out);

	bool (*prepare)(struct backend *backend, const struct target *target,
			const struct sampling_request *request, const struct sampling_sink *sink,
			struct sampling **out, struct error *err);
	pid_t (*process)(const struct sampling *sampling); /* to wait for; 0: none */
	/* A descriptor that poll(2) finds readable when drain() is due: gaps are then drawn anew, and late is
	 * worse. The sampling's; valid until end(). */
	int (*wakes)(const struct sampling *sampling);
	bool (*go)(struct sampling *sampling, struct error *err);
	bool (*enable)(struct sampling *sampling, bool on, struct error *err);
	/* Waits for at most so long, and passes on what is there. A signal ends the wait. */
	bool (*drain)(struct sampling *sampling, int timeout_ms, struct error *err);
	/* Ends it, passes on the rest, fills accounts[n_events]. */
	bool (*stop)(struct sampling *sampling, struct sampling_account *accounts, struct error *err);
	void (*end)(struct sampling *sampling);
};

#endif
