/*
 * Who called whom: a thread's shadow stack of calls, fed by its access stream (engine/wire/trace.h), and the call
 * graph that comes of it (engine/wire/calls.h). The plain way: every block's record is looked at. Freestanding.
 *
 *     function   a range of code that has a name (or would have one); code outside of all functions is a
 *     function that
 *                begins where control came into it
 *     frame      one activation of a function: from its call to its return
 *     slot       where a call's return address is on the program's stack: which frame a return, a longjmp or an
 *                exception goes to is told by the stack pointer
 *     group      frames of one slot: a function, and what it jumped to
 *
 * The rules
 *  1. A call begins a frame. A return ends the frame of its slot, and those that are nested in it.
 *  2. A jump, or running on, from one function into another begins a frame in the same group: a tail call. The
 *     return ends the whole group. Back into a function of the group: the frames above it end.
 *  3. An indirect jump with a higher stack pointer than a frame's slot has left that frame (longjmp, exceptions).
 *     On another stack nothing is left: it goes on when it is switched to again (stacks.c).
 *  4. A signal's handler is called by the instruction before which it came.
 *  5. A frame's count is of what took place from its begin to its end, the handlers in it included. Of a function
 *     that is active several times on a stack only the outermost frame counts: the others' arcs have the call and
 *     nothing else.
 *  6. An entry of a procedure linkage table is called, returns when it jumps on, and the call goes to where it
 *     jumped; so do the two that resolve a function when it is first called (PLT0, the dynamic linker's).
 *  7. call to the next instruction (to learn its own address) is not a call.
 *  8. Quiet blocks (engine/wire/trace.h) never leave their function. So the next record tells which function the
 *     control came to, and what they counted since the last one took place there.
 *  9. Events of a model take place in the frame whose block they are of. The models run as far as the newest frame
 *     stays the same, and are told where its last branch went.
 */
#ifndef TARE_MODEL_CORE_CALLS_H
#define TARE_MODEL_CORE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/wire/calls.h"
#include "engine/wire/trace.h"

/* What has to be known of each block, by number. */
enum calls_block_flag {
	CALLS_LINKAGE =
		1,       /* an entry of a procedure linkage table: jumps by way of a word, and does nothing else */
	CALLS_BINDS = 2, /* … what it jumps to at first: pushes a number and jumps to PLT0 */
};
struct calls_block {
	uint32_t function; /* calls_function(); 0: it is in none */
	uint32_t flags;
	uint32_t module; /* of record->modules; RECORD_NONE */
	uint32_t counts[RECORD_CALL_EVENTS];
	/* what it adds for each unit of what only the stream tells, of its last instruction */
	uint16_t each[RECORD_CALL_EVENTS];
	uint8_t unit; /* enum calls_unit */
};
enum calls_unit {
	CALLS_NO_UNIT,
	CALLS_ITERATIONS, /* of a rep instruction: its first item says how many */
	CALLS_READ_BYTES, /* of xrstor, xsave and their kin: marks TRACE_SPANS of such items */
	CALLS_WRITTEN_BYTES,
};

/* Counts of the first `done` instructions of a block, without units; what a block at an address would be. */
typedef void calls_partial(uint32_t block, uint32_t done, uint64_t counts[RECORD_CALL_EVENTS]);
typedef void calls_place(uint64_t address, struct calls_block *out);
/* Entries [0, n) are to be run through the models, and what they count is added to totals. went_to: where the last
 * block's branch went; CALLS_UNSAID: entries say it, or nothing is to be known of it now. */
#define CALLS_UNSAID ~0ull
typedef void calls_model(void *context, const uint64_t *entries, size_t n, uint64_t went_to,
			 uint64_t totals[RECORD_CALL_EVENTS]);

struct calls_functions { /* [0] is none */
	uint64_t *begins;
	uint32_t n, most;
	uint32_t *slots; /* of a hash table: numbers; a power of two, at least 2 * most */
	uint32_t n_slots;
};

/* A stack that a thread has left for another one: coroutines (stacks.c). */
#define CALLS_KEPT_FRAMES 512u
struct calls_frame;
struct calls_kept {
	uint64_t low, high; /* slots: of the newest frame, and the highest that there was */
	uint32_t n;         /* frames; 0: none is kept here */
	struct calls_frame *frames;
};

/* What quick.c needs of a block. */
struct calls_step {
	_Alignas(64) uint64_t pc; /* one cache line each */
	uint32_t function;        /* 0: it takes all steps, or is nameless */
	uint32_t module, count;
	int32_t displacement; /* of its slot, to which the record's value is added; pending says what slot it is */
	/* of the call, or jump to another function, that it ends in, and of what an entry of a linkage table that
	 * it called jumped to: the arc, if that leads to this module << 32 | function; 0: none is known */
	uint32_t arc, forwarded;
	uint64_t callee, forwarded_callee;
	uint16_t length;
	/* begins: its function begins with it; linkage: CALLS_LINKAGE; branches: its first value says where it
	 * went (quiet); quiet: as trace_block.quiet; nameless: of code in no function */
	uint8_t values, value, pending, begins, conditional, linkage, branches, quiet, nameless;
};

struct calls { /* of a process; the memory that it points to is the caller's, zeroed */
	struct record_calls *record;
	uint32_t *slots; /* hash of arcs: numbers + 1; a power of two, twice most_arcs or more */
	uint32_t n_slots;
	struct calls_functions functions;
	struct calls_kept *kept; /* [kept_most], each with room for CALLS_KEPT_FRAMES */
	uint32_t n_kept, kept_most;
	const struct calls_block *blocks;
	struct calls_step *steps; /* by block; NULL: every record takes all steps */
	bool quiet;               /* there is one event, and quiet blocks have no record (engine/wire/trace.h) */
	int8_t taken[RECORD_CALL_EVENTS]; /* what a conditional branch that is taken adds */
	bool counts_taken;                /* one of these is not 0 */
	calls_partial *partial;
	calls_place *place;
	calls_model *model; /* NULL: no event is a model's */
	void *model_context;
};

enum calls_frame_kind { CALLS_FRAME, CALLS_SIGNAL };

struct calls_frame {
	uint64_t slot, site;
	uint32_t site_module, function, module, arc;
	/* of a linkage table's entry: the block that called it, plus one; 0: not known */
	uint32_t call;
	/* nameless: of code in no function; first: of a signal's, it came before the stack had a slot */
	uint8_t kind, resolves, nameless, first, linkage, outermost;
	uint64_t entry[RECORD_CALL_EVENTS]; /* the thread's totals when it began */
	uint64_t low,
		bytes; /* of a signal's: the stack that its handler is on, if it is one of its own; bytes 0 */
};

enum calls_pending { CALLS_NOTHING, CALLS_CALL, CALLS_RETURN, CALLS_JUMP, CALLS_HANDLER };

struct calls_stack { /* of a thread */
	struct calls_frame *frames;
	uint32_t n, most;
	uint32_t *active; /* by function: frames of it */
	uint32_t active_most;
	uint64_t totals[RECORD_CALL_EVENTS];
	uint64_t high; /* the highest slot of this stack; 0: none yet */
	/* what the block before ended with */
	uint32_t pending, site_module;
	uint64_t site, behind, slot, low, bytes;
	uint32_t last;        /* its number */
	bool conditional;     /* a conditional branch, not to `behind` if it is taken */
	uint64_t went;        /* where a return or an indirect branch went, if quiet blocks have no record */
	uint64_t quiet;       /* what quiet blocks had counted at the newest record */
	uint32_t spans_block; /* number plus one of one that reads or writes spans; 0: none did so far */
};

/* The number of the function that begins there; 0: there is no room. */
uint32_t calls_function(struct calls *calls, uint64_t begins);

/* quick.c: calls->steps[number], from its template and calls->blocks[number]. */
void calls_describe_step(const struct calls *calls, const struct trace_program *program, uint32_t number,
			 struct calls_step *out);

/* The arcs are others: what steps [0, n) know of them is forgotten. */
void calls_forget_arcs(struct calls *calls, uint32_t n);

/* How many frames a run of n words may begin, at most: calls_run() is called with as much room. */
static inline uint64_t calls_frames_most(const struct calls_stack *stack, size_t n)
{
	return stack->n + 2 * n + 2;
}

/* Runs entries [0, n) of one thread. stack->most and active_most are large enough. */
void calls_run(struct calls *calls, struct calls_stack *stack, const struct trace_program *program,
	       const uint64_t *entries, size_t n);

/* What took place so far is added to the arcs of the frames that go on. */
void calls_settle(struct calls *calls, struct calls_stack *stack);

/* The record is another one, empty: the frames that go on have arcs in it, without a call. What took place before
 * this is not in it. */
void calls_move(struct calls *calls, struct calls_stack *stack);
void calls_move_kept(struct calls *calls); /* likewise of stacks that no thread is on */

#endif
