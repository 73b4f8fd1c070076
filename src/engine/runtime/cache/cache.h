/* The code cache: blocks, their exits and links, the tables of indirect branches; from a position in it
 * back to the program's. What the memory that code was translated from is, see cache/memory.h. */
#ifndef TARE_ENGINE_RUNTIME_CACHE_CACHE_H
#define TARE_ENGINE_RUNTIME_CACHE_CACHE_H

#include "engine/x86/decode.h"

struct thread;

#define TABLE_SLOTS 65536u
enum { EXIT_LOOKUP = 0 }; /* number of no exit: the target is in thread.target */

enum exit_kind {
	EXIT_NEXT,
	EXIT_TAKEN,
	EXIT_SYSCALL,
	EXIT_INT80,
	EXIT_FAR,
	EXIT_X87,
	EXIT_FS,
	EXIT_REGION,  /* a pass begins or ends at the target, which goes on in another context */
	EXIT_CALL,    /* a call out of ranges that are a region; target 0: an indirect one, to thread.target */
	EXIT_PRESENT, /* behind libtare's question */
	/* behind an instruction that loads rsp: the thread may be on another stack (region/stacks.c) */
	EXIT_STACK,
	/* behind an instruction whose bytes or operations depend on the processor's state (os/state.c) */
	EXIT_STATE,
	EXIT_SERVED, /* at an instruction that the engine does itself (os/served.c); target: behind it */
};

struct exit {
	uint64_t target;
	/* the 4-byte displacement that leads to the stub or, linked, to the code; NULL: not linkable */
	uint8_t *patch;
	uint8_t *stub, *thunk;
	uint32_t block, next; /* next: in the target's incoming list */
	uint32_t linked;      /* block, or NONE */
	uint8_t kind, pad[3];
};

enum block_flag {
	BLOCK_LIVE = 1,    /* translated, in the map */
	BLOCK_CHECKED = 2, /* its bytes are compared before each execution, and it is never linked to */
	BLOCK_LEADER = 4,
	BLOCK_TAIL = 8,            /* its last jump was replaced by what follows it */
	BLOCK_ENTRY_IN_FRONT = 16, /* the entry for indirect branches lies in front of the code */
	BLOCK_EVENT = 64,          /* no instruction: a pass begins or ends here (region/region.c) */
	BLOCK_LISTED = 128,        /* in its page's list, live or not */
	/* dropped, and a thread may still run its code: the number is not used again before a flush */
	BLOCK_STALE = 32,
};

/* the way that is left by first is thought the hot one, and the other is counted */
enum edge { EDGE_OPEN, EDGE_TAKEN, EDGE_FALL };

struct block { /* by number, as in the record */
	uint64_t pc;
	uint8_t *code;        /* main entry; NULL: not translated */
	uint8_t *indirect;    /* entry for indirect branches, or NULL */
	const uint8_t *bytes; /* the instructions it was translated from */
	uint32_t code_bytes;
	uint32_t incoming; /* first exit that is linked to it */
	uint32_t exit[2];
	uint32_t page_next;
	uint16_t length, insns;
	/* branch: it ends with a control transfer, 2: a call */
	uint8_t flags, entry_flags_live, conditional, branch;
	uint8_t misses, copy; /* copy: of a loop's block, 0 the first */
	uint8_t edge;         /* enum edge: which way out of a conditional branch is counted */
	uint8_t scratch;      /* a register whose reload the block does not wait for */
	uint32_t depth : 8, no_follower : 1, context : 17; /* depth: how many blocks it follows in a row */
	uint32_t follows, follower;                        /* RECORD_BLOCK_FOLLOWS: see translate/translate.c */
	uint32_t tail_from;                                /* the block that falls into this one's code, or NONE */
};

enum span_kind {
	SPAN_BLOCK,
	SPAN_THUNK,
	SPAN_INDIRECT,
	SPAN_STUB,
	SPAN_INLINE, /* way out of line of an inline check, by its site */
	SPAN_AWAY    /* the record of a quiet block that leaves its function, by that exit */
};
struct code_span {
	uint32_t offset, kind_id;
}; /* kind in the top 3 bits */

struct code_arena {
	uint8_t *base, *end;
	uint8_t *hot, *cold; /* hot grows up, cold down */
	uint8_t *miss_check; /* a trampoline */
	struct code_span *hot_spans, *cold_spans;
	uint32_t hot_count, cold_count, spans_max;
	uint32_t hot_reserved;
};

#define ARENAS 2
/* Trampolines at an arena's beginning: of the indirect entries' misses, of those in a context of regions, of
   inline checks (cache/cache.c) */
#define ARENA_MISS 0u
#define ARENA_REGION 16u
#define ARENA_INLINE 24u
#define ARENA_FIRST 64u /* where blocks begin */
#define DEPTH_MAX 24    /* blocks that follow each other without a counter */
/* Indirect branches, by the whole address; see runtime_miss. The table of context 0 begins small, so that a short
   program touches few of its pages, and grows in place while there is one thread (second_grow). */
#define SECOND_SLOTS (1u << 18)
#define SECOND_FIRST (1u << 11)
struct second {
	uint64_t pc, entry;
};

struct block_key {
	uint64_t pc;
	uint32_t id, context;
}; /* id: a block's number plus one */

#pragma GCC visibility push(hidden)

/* cache/dispatch.c */
void runtime_dispatch(struct thread *t);
void runtime_again(struct thread *t);
/* It has left the cache by an exit: t->pc is where that leads, and what it counts is not counted yet. */
void dispatch_leaves(struct thread *t, uint32_t exit);
/* It is out of the cache; under rt.lock: what it has counted is what it has executed. It may go on. */
void dispatch_settle(struct thread *t);
/* under rt.lock: finds or makes the code for t->pc, where that exit leads (NULL: none), and links it */
bool dispatch_enter(struct thread *t, uint32_t id, const struct exit *exit);

/* cache/cache.c: under rt.lock */
bool cache_start(void);
uint32_t cache_find(uint32_t context, uint64_t pc);  /* NONE, or a translated block */
uint32_t cache_known(uint32_t context, uint64_t pc); /* a block of this address, translated or not */
void cache_enter(uint32_t id, bool in_map);
struct code_arena *cache_arena(uint64_t pc);
struct code_arena *arena_of(const uint8_t *code);
void cache_span(struct code_arena *arena, uint8_t *at, bool cold, enum span_kind kind, uint32_t id);
uint32_t cache_exit(uint64_t target, uint32_t block, enum exit_kind kind, struct code_arena *arena);
void cache_link(uint32_t exit, uint32_t block, const uint8_t *to);
void cache_table(uint32_t id, unsigned which);
void cache_drop(uint32_t id);
void cache_drop_range(uint64_t from, uint64_t to);
void cache_flush(struct thread *t);
/* false: nothing of it is there, or it cannot be elsewhere */
bool cache_move(struct thread *t, uint64_t start, uint64_t end);
void cache_forget(void);
void cache_unlink_all(void);
bool cache_room(const struct code_arena *arena);
void second_grow(uint32_t slots); /* the caller is not in the cache */
struct page *cache_page(uint64_t number, bool make);
enum { TABLE_RETURN, TABLE_JUMP, TABLE_CALL };
static inline uint32_t call_index(uint64_t pc) { return (uint32_t)(pc >> 4) & 0xffff; }

/* cache/recover.c: sets t->reg, t->pc, t->flags from t->raw, and corrects the counts. False: the position is the
 * exit t->exit_id */
bool recover(struct thread *t);
void recover_thread(struct thread *t);
bool recover_at_step(const struct thread *t);
void recover_x87_address(const struct thread *t, const struct block *b);
void recover_x87_word(uint64_t at, bool wide); /* the address that was stored there, under rt.lock */
bool stores_x87_address(const struct x86_insn *in);

/* cache/wild.c: under rt.lock. wild_undo: t->pc is such an address, by an indirect branch. True: t is as before
 * that, which is not counted */
bool wild(uint64_t pc);
/* The block's last instruction, and its address; 0: its bytes are none */
uint64_t last_instruction(const struct block *b, struct x86_insn *in);
/* The address of the explicit operand in memory of the instruction at pc, for registers as they are; rsp as it
 * was. */
uint64_t address_of_operand(const struct thread *t, const struct x86_insn *in, uint64_t pc, uint64_t rsp);
/* What the operand of an indirect jump or call is, or of a mov from r/m64; likewise. */
bool branch_operand(const struct thread *t, const struct x86_insn *in, uint64_t pc, uint64_t rsp, uint64_t *value);
bool wild_undo(struct thread *t);

#pragma GCC visibility pop
#endif
