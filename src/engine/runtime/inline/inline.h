/*
 * Inline checks: the accesses that generated code decides itself (model/core/fast/inline.h), runtime side.
 *
 *     template ──model_inline_plan()──► sites (plan.c) ──► checks in the block's code (code.c)
 *                                                                    │ not found
 *                   the program's registers kept ◄── stub (out.c) ◄┘ entry.S ──► model_inline_miss() (run.c) ──► back into the block
 *
 * What always holds:
 *  1. They are on (rt.inline_on) while one thread runs, alone or with a vfork's child, no region is known, and
 *     every machine can; once off, they stay off, and no block that has them is run again: numbers whose templates
 *     say TRACE_INLINED are not used again.
 *  2. A block's sites are a function of its template and the machines: planned once for its number, they serve
 *     those of forked children.
 *  3. A core of the thread's is at the same distance below it in every thread: gs with a constant.
 *  4. A check changes registers and flags as marks say; flags that the block overwrites before it reads them are
 *     not kept, not even for the handler of a fault between.
 *  5. Each record of the access stream is a header alone, then. The models have what lies between two headers
 *     before the next block's instruction that it belongs to is executed; what is not executed after all is made
 *     again, which moves nothing (model/core/fast/inline.h, 4).
 *  6. An access that faults is not made: what a mapping's change may forbid is found no more (inline_forget()),
 *     and what is not found is asked for first (a page once between two system calls: inline_unseen()). Not so: a
 *     write to a page that may be read, and was (its line is left dirty); a read whose instruction writes
 *     elsewhere and faults there; one behind the end of a file that was cut. Each, also of a merged check's later
 *     parts, matters only if a handler jumps away, so that it is never repeated.
 */
#ifndef TARE_ENGINE_RUNTIME_INLINE_INLINE_H
#define TARE_ENGINE_RUNTIME_INLINE_INLINE_H

#include "engine/runtime/stream/stream.h"
#include "engine/runtime/thread.h"
#include "model/core/fast/inline.h"

#pragma GCC visibility push(hidden)

#define INLINE_MACHINES 8u /* of one record, see MACHINES_MOST */
#define INLINE_SITES 128u  /* of a block: records of all machines, and one for what is apart */
#define INLINE_APART 0xffu /* in rt.inline_count: the block has no plan */

enum inline_operand_flag { INLINE_FS = 1, INLINE_GS = 2, INLINE_NARROW = 4, INLINE_CONSTANT = 8 };

struct inline_site {
	struct inline_record record;
	uint8_t *back;        /* where its block goes on behind it; NULL: not translated */
	int64_t displacement; /* of the operand, the record's included; or the whole address */
	uint32_t block;
	uint8_t machine;
	uint8_t base, index, scale, flags; /* of the operand; flags: enum inline_operand_flag */
	uint8_t stack; /* register that has the program's stack pointer in the stub, or X86_NO_REG */
	uint8_t apart; /* the whole block, whose values are in thread.apart */
	uint8_t parts; /* records that this check stands for: see merge.c; else 0 */
	uint8_t part;  /* the first of them, counted from the first behind the block's checks */
	/* from displacement: of the lowest byte, which is to be in the same granule; or the last record's, if
	 * two */
	int8_t other;
	uint8_t two;       /* granules are asked for: the first's and the last's */
	uint8_t same_page; /* of a fetch: as the one before, always */
	/* of such a check: none is left between its parts, as some count themselves */
	uint8_t is_part;
};

/* What a stub says of its site, behind its jmp: see out.c */
struct inline_out {      /* 16 bytes */
	uint32_t record; /* inline_record.record: bits 0 … 24, and above those 57 … 63 */
	uint32_t pc;     /* of the block, the lower half */
	uint16_t last;   /* data: bytes - 1 */
	uint8_t odd;     /* any of these bits in the address: counts itself */
	uint8_t machine;
	uint8_t address, stack, recency; /* registers */
	uint8_t flags;                   /* enum inline_out_flag */
} __attribute__((packed));
enum inline_out_flag {
	INLINE_OUT_READS = 1,
	INLINE_OUT_WRITES = 2,
	INLINE_OUT_ONCE = 4,
	INLINE_OUT_BEHIND = 8,
	INLINE_OUT_PART = 16
};
#define INLINE_OUT_CALL ENCODE_CALL /* of a stub's instructions only the call begins like this */
#define INLINE_OUT_JMP ENCODE_JUMP  /* … and jumps like this */

struct stream_machine {
	struct model *model;
	void *memory;
	uint64_t bytes, core_bytes;
	uint64_t below; /* the core is so many bytes below its thread; 0: anywhere */
	void *core[MODEL_CORES_MAX];
};

struct stream_models {
	uint64_t bytes; /* of this itself */
	uint32_t n;
	uint32_t quiet;                               /* runs since threads met last */
	uint64_t meetings;                            /* then */
	uint64_t *site_items, *site_blocks;           /* or NULL */
	struct model_counts *counts[MODEL_CORES_MAX]; /* whose a core is: where it counts now */
	struct stream_machine machine[];
};

/* Sites that share registers: a for addresses, i for indices, t for the clock. The program's values of them are in
 * spill slots meanwhile. */
struct inline_segment {
	/* opened before instruction `from`, closed before `to` (whose sites are in it) */
	uint8_t from, to;
	uint8_t first, n;        /* sites */
	uint8_t reg[3];          /* a, i, t */
	uint8_t spills, reloads; /* bits as e->stream_spills: 1 a, 2 i, 4 t */
	/* … that are in their slots already: the block that this one follows has put them there */
	uint8_t kept;
};

/* Of a block; see inline_plan() */
struct inlining {
	struct inline_site *site; /* [n], in program order */
	unsigned n, n_segments;
	bool inlined, apart;
	uint8_t *way_back, *way_past; /* displacements of the last stub's jmp, and of a part's other one */
	uint16_t fresh;               /* time has no record of that machine's side yet: see take_time() */
	uint8_t live[INSNS_MAX + 1];  /* flags that matter before instruction k */
	struct inline_segment segment[INSNS_MAX + 1];
};
extern struct model_inline inline_where[INLINE_MACHINES]; /* displacements from gs */

/* plan.c. inline_start: machines are there; false: not here */
bool inline_start(struct stream_models *models);
/* before that, when the block is translated: what comes behind it, as the program's memory is */
void inline_behold(const struct translation *tr, uint32_t id);
void inline_plan(struct translation *tr,
		 uint32_t id); /* from `decoded`, `plan` and the template; then `inlining` is complete */

/* merge.c */
unsigned inline_merge(const struct translation *tr, struct inline_site *sites, unsigned *n);
void inline_place_parts(struct inline_site *sites, unsigned n);

bool inline_is_full(void);  /* another part of the record is due */
void inline_renumber(void); /* blocks' numbers begin at 0 again */

/* code.c */
void inline_store(struct emit *e, unsigned at, struct counter_place place);
void inline_address(struct emit *e, const struct inline_site *site, const struct inline_segment *s);
/* that instruction was emitted: registers that it was to overwrite are */
void inline_made(struct emit *e, unsigned at);

/* out.c. inline_out: where it is; NULL in a probe. s: none for a site that is apart. inline_in: it comes back
 * here */
uint8_t *inline_out(struct emit *e, struct inline_site *site, const struct inline_segment *s);
/* its address; kept: flags are in ax */
void inline_operand(struct emit *e, const struct inline_site *site, const struct inline_segment *s, bool kept);
void inline_in(struct emit *e, struct inline_site *site);
void inline_jump_here(const struct emit *e, uint8_t *from);

/* run.c */
void inline_off(struct thread *t); /* under rt.lock, t in the runtime */
void inline_core(struct model *model, unsigned core, unsigned machine, uint64_t below);
void inline_recency(struct thread *t, uint64_t now);
/* t->inline_once, and a signal has come: it is noticed where the code leaves its block */
void inline_put_off(void);
void inline_careful(void); /* the program may have flags, or keys of pages, that are not asked for else */
void inline_unseen(void);  /* memory may have changed: what is not found is asked for again */
void inline_forget(const struct thread *t, uint64_t start, uint64_t length);
/* an apart block: what was done is made now */
void inline_left(struct thread *t, uint32_t id, const uint64_t *values, unsigned done);
/* of the block that was executed last, as behind a mark TRACE_SPANS */
void inline_spans(struct thread *t, uint32_t item, const uint64_t *words);
/* what was executed before the block of that header, in the buffer */
uint64_t inline_behind(const struct thread *t, const uint64_t *header);
void inline_began(struct thread *t,
		  uint64_t behind); /* the buffer is empty, or its last record is not a block's */

#pragma GCC visibility pop
#endif
