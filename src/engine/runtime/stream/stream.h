/*
 * The access stream (wire/trace.h), runtime side. All but run.c under rt.lock.
 *
 *     decoded ──plan.c──► plan: values, items, where which value is stored ──code.c──► the stores in the block's code
 *                                  └──► templates (plan.c)                 ──run.c──► buffers, models, partial blocks
 *
 * What always holds:
 *  1. A plan is a function of the block's bytes and address: translate_marks comes to the same one.
 *  2. A block's record is published (thread.trace moved behind it) by one store, in the block's first group; what
 *     is stored before or behind that store of the block's other values finds room: the group's first store goes
 *     to the record's last word.
 *  3. A value that is not stored yet is in a register, the plan knows in which: a block that is left early is
 *     completed from them.
 */
#ifndef TARE_ENGINE_RUNTIME_STREAM_STREAM_H
#define TARE_ENGINE_RUNTIME_STREAM_STREAM_H

#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/translate.h"
#include "engine/wire/trace.h"

#pragma GCC visibility push(hidden)

#define STREAM_VALUES 160u
#define STREAM_ITEMS 512u
#define STREAM_GROUPS (INSNS_MAX + 8)
#define STREAM_GATHERS 8u /* of a block; see stream_ends_block */
#define STREAM_RECORD_WORDS 256u
#define STREAM_DEFAULT_BYTES (256u << 10)
#define STREAM_SHARED_BYTES (16u << 10) /* of each of several threads … */
/* … and when in the last STREAM_QUIET runs of buffers no thread met another (model_meetings) */
#define STREAM_QUIET_BYTES (64u << 10)
#define STREAM_QUIET 16u

enum capture {              /* what is stored for a value, and from when to when it can be */
	       CAPTURE_REG, /* a register that holds `a` */
	       CAPTURE_SUM, /* a + b * scale */
	       /* at their instruction only: */
	       CAPTURE_ADDRESS, /* its operand's, by the operand itself: 67h, gs, xlat */
	       CAPTURE_BIT,     /* a bit offset, sign-extended */
	       CAPTURE_VECTOR,
	       CAPTURE_OPMASK,
	       CAPTURE_LOW, /* esi, edi of a string instruction with 67h */
	       /* anywhere in the block: what quiet blocks have counted */
	       CAPTURE_QUIET,
	       /* behind it: */
	       CAPTURE_AFTER,
	       CAPTURE_AFTER_LOW,
	       CAPTURE_TARGET, /* where it goes: the block's end stores it (stream_target()) */
};

struct stream_value {
	uint8_t kind, reg, scale, words;  /* reg: of CAPTURE_BIT and those behind it */
	uint16_t a, b;                    /* origins, see follow.c */
	uint8_t insn, first, last, group; /* can be stored before any of the instructions first … last */
	uint8_t index;                    /* among the record's values */
	uint8_t vex;                      /* CAPTURE_VECTOR: not EVEX */
	int64_t constant;                 /* the value is its origins' plus this */
};

struct stream_group {
	uint8_t at;                 /* stored before this instruction; decoded.count: behind the last */
	uint8_t pointer, temporary; /* registers; X86_NO_REG */
	uint8_t spills;             /* 1 the pointer, 2 the temporary */
	uint8_t probe;              /* value that is stored first; 0xff: the header itself, 0xfe: an empty store */
};

enum stream_origin {
	ORIGIN_CONSTANT = 0,
	ORIGIN_START = 1 /* … 16: of register 0 … 15 at the start */,
	ORIGIN_NEW = 17
};
struct stream_register {
	uint16_t origin;
	int64_t constant;
};

struct stream_plan {
	struct stream_value values[STREAM_VALUES];
	struct trace_item items[STREAM_ITEMS];
	struct stream_group groups[STREAM_GROUPS];
	struct stream_register state[INSNS_MAX + 1][16]; /* before instruction k */
	uint16_t dead[INSNS_MAX + 1];                    /* before instruction k */
	unsigned n_values, n_items, n_groups, words;     /* words: of values */
	/* of the items: index of their instruction's memory operand; 0xff: of none alone */
	uint8_t operand[STREAM_ITEMS];
	/* of the items, while the plan is made: numbers of values; the constant of an address that is a value's */
	uint16_t item_value[STREAM_ITEMS], item_second[STREAM_ITEMS], item_mask[STREAM_ITEMS];
	int64_t item_sum[STREAM_ITEMS];
	uint8_t ending, ending_length;
	bool rep;
};

/* of a thread in a region so many records are not run before it is known whether they are its own
 * (region/way.c) */
#define STREAM_TAIL 8u
#define STREAM_TAIL_WORDS 128u /* … unless they are larger */
struct stream_tail {
	uint64_t words[STREAM_TAIL_WORDS];
	uint16_t at[STREAM_TAIL];
	unsigned n;
};

/* plan.c: from `decoded` */
void stream_plan(struct translation *tr);
bool stream_ends_block(const struct x86_insn *in, unsigned gathers); /* besides what ends one anyway */
void stream_template(const struct translation *tr, uint32_t id, uint32_t module);

/* follow.c */
void stream_follow_begin(struct translation *tr);
/* plan.state[k + 1], from that before it; next: where it ends */
void stream_follow(struct translation *tr, const struct x86_insn *in, unsigned k, uint64_t next);
bool stream_is_enter(const struct x86_insn *in);

/* code.c */
void lea_sum(struct emit *e, unsigned reg, unsigned base, unsigned index, unsigned scale, int32_t displacement,
	     bool narrow);
void stream_store(struct emit *e, unsigned at, struct counter_place place);
void stream_count_quietly(struct emit *e, unsigned k); /* with an add, before instruction k */
/* The record of a quiet block that leaves its function by its branch, instruction k (stream_leaves()), in front of
 * the jump there. With that, so many bytes at most. */
#define STREAM_AWAY_BYTES 160u
void stream_away(struct emit *e, unsigned k);
/* The newest record's block goes to what is in rcx; rax is lost. */
void stream_target(struct emit *e);

/* run.c */
bool stream_open(struct record_process *process);
bool stream_reopen(struct record_process *process); /* in a forked child */
void stream_inherit(struct record_process *child);  /* a vfork's */
void stream_part_ends(void);                        /* record/part.c */
bool stream_part(struct record_process *old, struct record_process *fresh, bool remove);
/* the record that they are in is left: see record/own.c; the new offset, 0: no memory */
uint64_t stream_counts_moved(struct thread *t);
bool stream_record_left(struct record_process *fresh);
bool stream_thread(struct thread *t); /* a thread begins, or its record is another */
void stream_fs_changed(struct thread *t);
void stream_flush(struct thread *t);
/* Before a system call: it may hand something over to another thread, or be the last. */
void stream_call(struct thread *t, bool only_waits);
uint64_t stream_counts(void); /* words of a thread's model_counts */
/* the thread ends, and unless it is a vfork's child its process; the others are stopped */
void stream_end(struct thread *t);
void stream_orphan(struct thread *t); /* a child that has no record */
void stream_vfork_done(struct thread *child);
/* the fault was the buffer's end */
bool stream_full(struct thread *t, uint64_t address, const uint8_t *ip, uint64_t *reg[16]);
/* after translate_marks; t->reg are the program's */
void stream_left(const struct translation *tr, struct thread *t, uint32_t id, unsigned done, unsigned groups);
/* of the block's that was executed last, of those that have records; NONE: it was run already */
uint32_t stream_newest(const struct thread *t);
/* the newest record: the block's last instruction was not executed */
void stream_undo(struct thread *t, uint32_t id, unsigned done);
void stream_break(struct thread *t, uint64_t pc);
/* the runtime returned from what was called, at its address pc */
void stream_returned(struct thread *t, uint64_t pc, uint64_t slot);
void stream_block(struct thread *t, uint32_t id); /* the runtime executed it, which accesses no memory */
/* What the block's last instruction, just executed, has touched: spans, all read or all written. */
void stream_spans(struct thread *t, uint32_t id, uint64_t address, const struct x86_span *spans, unsigned n);
/* the newest records are of these: taken off */
bool stream_tail(struct thread *t, const uint32_t *blocks, unsigned n, struct stream_tail *tail);
/* records that the runtime made, n at most STREAM_TAIL_WORDS */
void stream_words(struct thread *t, const uint64_t *words, unsigned n);
void stream_mapped(struct thread *t, uint64_t start, uint64_t length, uint64_t flags);
void stream_unmapped(struct thread *t, uint64_t start, uint64_t length);

/* A record of a block has so many values behind its header. */
static inline unsigned stream_values(uint32_t id)
{
	return rt.templates[id].flags & TRACE_INLINED ? 0 : rt.templates[id].values;
}

/* Where the record, or the mark, at `at` ends. */
static inline uint64_t *stream_record_end(uint64_t *at)
{
	enum trace_mark_kind kind = *at & TRACE_MARK ? trace_mark_kind(*at) : 0;
	if (kind == TRACE_HANDLER)
		return at + 5;
	if (kind == TRACE_SPANS)
		return at + 2 + 2 * at[1];
	if (kind && kind != TRACE_PARTIAL)
		return at + (kind == TRACE_BREAK || kind == TRACE_FREED      ? 2
			     : kind == TRACE_RETURNED || kind == TRACE_QUIET ? 3
									     : 4);
	return at + 1 + (kind != 0) + stream_values((uint32_t)at[kind != 0]);
}

/* for calls.c, under models_lock: the models run entries; what the first machine's watches have counted so far */
void stream_run_models(struct thread *t, const uint64_t *from, size_t n);
void stream_watched(const struct thread *t, uint64_t watched[]);

/* turns.c: a thread's buffer, and what the others have written, in turns. models_lock is held */
/* until the other threads have come as far, as far as they run; without any lock */
void stream_wait(const struct thread *t);
void stream_turns(struct thread *t, void (*run)(struct thread *t, const uint64_t *from, size_t n));

/* objects.c: counts by data object (model/core/objects/objects.h), only with RECORD_OBJECTS; else they do
 * nothing */
struct model;
bool stream_objects_open(struct record_process *process);
bool stream_objects_reopen(struct record_process *process);
void stream_objects_core(struct model *model, unsigned core, bool fresh);
void stream_objects_mapped(struct thread *t, uint64_t start, uint64_t length, uint32_t protection, uint64_t flags,
			   long fd, uint64_t offset);
void stream_objects_unmapped(struct thread *t, uint64_t start, uint64_t length);
void stream_objects_moved(struct thread *t, uint64_t from, uint64_t from_bytes, uint64_t to, uint64_t to_bytes);
void stream_objects_break(struct thread *t, uint64_t end);
void stream_objects_stack(struct thread *t, uint64_t top, uint64_t bytes);
void stream_objects_module(uint64_t start, uint64_t offset, const char *path);
int stream_objects_function(uint64_t pc); /* enum trace_allocation, or -1 */
bool stream_objects_stores(uint64_t pc);  /* of a function that stores its result's address (posix_memalign) */
bool stream_objects_wanted(void);
void stream_objects_thread(struct thread *t); /* its pointer (fs base) is another */

/* calls.c: the call graph, only with RECORD_CALLS; else they do nothing */
bool stream_calls_open(struct record_process *process);
bool stream_calls_reopen(struct record_process *process, const struct thread *t);
void stream_calls_fork(struct thread *t); /* before */
/* Where the function, or what lies between two, ends that pc in this module of the record is in. */
uint64_t stream_calls_cut(uint32_t module, uint64_t pc);
void stream_calls_part(struct record_process *old, struct record_process *fresh);
bool stream_calls_thread(struct thread *t); /* memory for its stack */
/* What a quiet block counts; 0: it is none, and has a record. */
unsigned stream_quiet(uint32_t id);
/* … and has a record when its branch is taken, which leads into another function. */
bool stream_leaves(uint32_t id);
static inline uint64_t stream_quiet_sum(const struct thread *t)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < QUIET_SUMS; i++)
		sum += t->quiet[i];
	return sum;
}
void stream_calls_begin(struct thread *t); /* another thread in it: without a caller … */
void stream_calls_copy(struct thread *child, const struct thread *t); /* … or in its parent's frames */
void stream_calls_block(const struct translation *tr, uint32_t id, uint32_t module);
void stream_calls_run(struct thread *t, const uint64_t *from, size_t n);
/* Only `done` instructions of the block that was run last were executed. rt.models_lock is held. */
void stream_calls_undo(struct thread *t, uint32_t block, unsigned done);
/* The instruction's items are wanted for the graph's events, though nothing else asks for accesses. */
bool stream_calls_needs_items(const struct x86_insn *insn);
bool stream_calls_run_models(const struct thread *t); /* stream_calls_run() does so: an event is a model's */
/* Before the instruction at `interrupted` a handler is called, which t->reg is for. */
void stream_handler(struct thread *t, uint64_t interrupted, uint64_t stack, uint64_t stack_bytes);

/* tls.c: thread-local variables, for objects.c */
struct elf_view;
struct objects;
void stream_tls_module(const struct elf_view *elf);
void stream_tls_look(struct objects *objects, uint64_t pointer);
void stream_tls_thread(struct objects *objects, uint64_t pointer);

#pragma GCC visibility pop
#endif
