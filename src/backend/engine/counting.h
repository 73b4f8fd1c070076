/*
 * One execution under the engine, for the backends that count with it (exact, model): the program is started held
 * (launch.h), taken over at its exec (engine/inject), and counted from its record when it has ended.
 *
 *     counting_start: record, attendant, held process     go: take-over     stop: view ──► tally ──► readings
 *
 * What always holds:
 *  1. A reading is COUNTED only if the runtime, the record and the tally all say that it is exact; otherwise it is
 *     FAILED, with the reason. There is no approximate reading; it is the same with
 *     what is counted from the access stream.
 *  2. With no event asked for, the program runs natively and no engine is near it.
 *  3. The access stream is asked for only if an event needs it: a program is not slowed down for nothing.
 */
#ifndef TARE_BACKEND_ENGINE_COUNTING_H
#define TARE_BACKEND_ENGINE_COUNTING_H

#include "backend/backend.h"
#include "backend/engine/events.h"
#include "engine/inject/view.h"
#include "model/core/model.h"

/* One event of an execution: the engine's own, or one that the backend on top reads from a machine's counters. */
struct execution_event {
	const struct exact_event *exact; /* NULL: not the engine's */
	const void *modelled;            /* the backend's own, handed back to it; NULL: not modelled */
	size_t machine;                  /* … index of its machine */
};

/* What the backend on top makes of the access stream. */
struct counting_models {
	const void *machines; /* struct model_setup [n] (model/core/options.h) */
	size_t n, bytes;      /* bytes: of one of them */
	size_t sampled; /* the last so many are not machines but sampled groups of theirs (model/core/sample.h) */
	void *context;  /* with the machines and the events' `modelled` in it, handed over: see release */
	/* The value of a modelled event from a thread's, a process's or the program's counts. False: *why, a
	 * constant or the context's, says why there is none. */
	bool (*value)(void *context, const void *modelled, const struct model_counts *counts, uint64_t *out,
		      const char **why);
	/* Instead of value(), where sets are sampled (else NULL): *r gets all that SOURCE_SAMPLED has, in the
	 * arena. counts: of all machines. */
	bool (*estimate)(void *context, const void *modelled, size_t machine, const struct model_counts *counts,
			 struct arena *arena, struct reading *r, const char **why);
	/* Are the counts of one thread on one machine such as they can be? False: *why names the law that they
	 * break. */
	bool (*conserves)(void *context, size_t machine, const struct model_counts *counts, const char **why);
	/* The machine's name, which readings carry. */
	const char *(*name)(void *context, size_t machine);
	/* Appends to run->remarks what has to be known of these counts. NULL: nothing. False: memory ran out. */
	bool (*remark)(void *context, const struct view *view, bool children, struct run *run);
	/* The counts whose sum a modelled event is, for its places: at most `most`; 0: it is not a sum of so few.
	 * NULL: no places. */
	size_t (*watches)(void *context, const void *modelled, struct model_watch *out, size_t most,
			  uint8_t *minus);
	/* The event on a machine of the context, as it runs. *out stays the context's. False: why[size] and
	 * hint[size] say why there is no count of it. Called in the injection's attendant. */
	bool (*resolve)(void *context, const struct event *event, struct execution_event *out, char *why,
			char *hint, size_t size);
	/* called once: by counting_end(), or when counting_start() fails. NULL: borrowed until then */
	void (*release)(void *context);
};

struct counting_options {
	const struct counting_models *models; /* NULL: no machine */
	uint64_t trace_bytes;                 /* of a thread's buffer; 0: the runtime's default */
	/* as in struct injection_options; counted by instruction, on the first machine */
	const uint8_t (*watches)[4];
	size_t watch_count;
	uint32_t blocks_most; /* these as in struct injection_options: for tests */
	uint64_t whole_blocks;
};

/* events[n] in the order of readings, copied; one that is neither exact nor modelled is a reading that failed.
 * options may be NULL; the context of its models is taken over in any case. On failure *out is NULL and no process
 * is left behind. */
bool counting_start(const struct target *target, const struct execution_event *events, size_t n,
		    const struct counting_options *options, struct counting **out, struct error *err);

/* The rest as struct backend_operations has it. One execution counts all that is asked for, whatever that is. */
bool counting_fits(struct backend *backend, const struct event *const *events, size_t n);
bool counting_native(struct backend *backend, const struct event *const *events, size_t n);
pid_t counting_process(const struct counting *c);
bool counting_go(struct counting *c, struct error *err);
bool counting_read_running(struct counting *c, struct reading *readings, struct error *err);
bool counting_stop(struct counting *c, struct run *run, struct error *err);
bool counting_blocks(struct counting *c, enum blocks_by by, struct str *out, struct error *err);
bool counting_system_calls(struct counting *c, struct str *out, struct error *err);
bool counting_inputs(struct counting *c, struct str *out, struct error *err);
bool counting_locations(struct counting *c, struct locations *out, struct error *err);
void counting_end(struct counting *c);

/* These, in a backend's table. */
#define COUNTING_OPERATIONS                                                                                       \
	.starts_only = true, .regions = true, .exclusive = true, .fits = counting_fits,                           \
	.native = counting_native, .process = counting_process, .go = counting_go,                                \
	.read_running = counting_read_running, .stop = counting_stop, .blocks = counting_blocks,                  \
	.system_calls = counting_system_calls, .inputs = counting_inputs, .locations = counting_locations,        \
	.end = counting_end

#endif
