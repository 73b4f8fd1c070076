/*
 * The access stream: what one thread executed and which memory it touched, in program order. The runtime writes
 * it, a model reads it; neither knows the other.
 *
 *     entries:  header, values… , header, values… , …      64 bits each
 *
 * A header below TRACE_MARK is the number of a block that was executed, whole. All that is static about the block
 * is in its template (struct trace_block and its items, written once, when the block was translated); what is
 * dynamic are `values` register values that follow the header and that the items name. Where control went is the
 * next header; so are the outcome of a conditional branch and the target of an indirect one.
 *
 * Where only the call graph of one event is wanted, blocks that stay in their function have no record: they are
 * quiet. (One that may leave it by a conditional branch has a record when it does.) The thread adds up what they
 * count, and each record has that sum (struct trace_block, quiet). A block that ends in a return or an indirect
 * branch says where that went: by its first value.
 *
 * What always holds:
 *  1. Templates [0, count) are complete before an entry names them, and never change. A number means the same
 *     block for ever.
 *  2. Entries are of one thread. A buffer ends between two headers' records; the next buffer goes on where it
 *     ended.
 *  3. Every data access of the program's instructions in user mode is an item; what the kernel, or the engine,
 *     touches is none.
 */
#ifndef TARE_ENGINE_WIRE_TRACE_H
#define TARE_ENGINE_WIRE_TRACE_H

#include <stdint.h>

/* ---- static: templates ---- */

enum trace_ending {                        /* how the block's last instruction transfers control */
		    TRACE_END_NONE,        /* it does not: the next instruction follows (a block that was cut) */
		    TRACE_END_CONDITIONAL, /* jcc, loop, jrcxz: to `target` or on */
		    TRACE_END_JUMP,
		    TRACE_END_CALL, /* direct: to `target` */
		    TRACE_END_INDIRECT_JUMP,
		    TRACE_END_INDIRECT_CALL,
		    TRACE_END_RETURN,
		    TRACE_END_SYSTEM, /* syscall, int: goes on behind it (but for sigreturn, see TRACE_BREAK) */
};

struct trace_block {     /* 40 bytes */
	uint64_t pc;     /* of its first instruction, in the program's address space */
	uint64_t target; /* of a direct branch; else 0 */
	uint32_t first_item;
	uint16_t items;
	uint16_t values; /* entries behind the header */
	uint16_t length; /* bytes */
	uint16_t insns;
	uint8_t ending;        /* enum trace_ending */
	uint8_t ending_length; /* bytes of the last instruction: its address is pc + length - ending_length */
	uint8_t flags;         /* enum trace_block_flag */
	uint8_t quiet;         /* which value says what quiet blocks have counted, plus one; 0: none does */
	uint32_t module;       /* as record_block.module */
};

enum trace_block_flag {
	/* Generated code has done the block's fetches and accesses in the models already
	   (model/core/fast/inline.h): its records are the header alone (values is 0), and what its items say of
	   values means nothing. */
	TRACE_INLINED = 1,
};

enum trace_kind { /* of an item */
		  TRACE_READ,
		  /* an instruction that reads and writes its operand has two items, the read first */
		  TRACE_WRITE,
		  TRACE_PREFETCH, /* prefetch*: no access; a model may bring the line in */
		  /* string instruction with a rep prefix: see struct trace_item, `second` */
		  TRACE_REP_READ,
		  TRACE_REP_WRITE,
		  TRACE_GATHER,
		  TRACE_SCATTER,
		  /* no access: a register's value before its instruction, only with RECORD_OBJECTS; see enum
		   * trace_value */
		  TRACE_VALUE,
		  /* one access (xsave and its kin, a tile), whose bytes are said behind the block by a mark
		   * TRACE_SPANS */
		  TRACE_SPANS_READ,
		  TRACE_SPANS_WRITE,
};

/* Items of kind TRACE_VALUE: `lanes` says which value, in this order; `scale` the function, where the block is
 * one's first. */
enum trace_value {
	TRACE_VALUE_FIRST,
	TRACE_VALUE_SECOND,
	TRACE_VALUE_THIRD,  /* arguments */
	TRACE_VALUE_STACK,  /* where its return address is */
	TRACE_VALUE_RESULT, /* of a block that returns: the result, should it be such a function's */
	/* in posix_memalign(): what a register's store writes, and where */
	TRACE_VALUE_STORED,
	TRACE_VALUE_STORED_AT,
	TRACE_VALUE_JUMP, /* the stack pointer at an indirect jump: a block's last item, with RECORD_CALLS */
};
enum trace_allocation {
	TRACE_MALLOC,
	TRACE_CALLOC,
	TRACE_REALLOC,
	TRACE_FREE,
	TRACE_ALIGNED, /* (alignment, bytes) */
	/* (where to store the block's address, alignment, bytes); the result is 0, or an error */
	TRACE_POSIX_MEMALIGN,
};

enum trace_item_flag {
	TRACE_LOCKED = 1, /* the read and the write are one atomic access */
	TRACE_FS = 2,     /* the thread's fs base is to be added */
	/* bt and its kin: second is a bit offset: bytes * floor((int64)values[second] / (8 * bytes)) is added */
	TRACE_BIT = 4,
	TRACE_STACK = 8,         /* an implicit push or pop */
	TRACE_NON_TEMPORAL = 16, /* movnt */
};

#define TRACE_NO_VALUE 0xff

/*
 * One access of one execution. Its address is
 *     (value == TRACE_NO_VALUE ? 0 : values[value]) + displacement (+ fs base) (+ bit offset)
 * and it touches `bytes` from there. Items are in program order.
 *
 * REP: values[value] is the address before the first iteration, values[second] that of the same register behind
 * the last: iterations = |second - value| / bytes, downwards if second < value. movs has two such items (read,
 * then write) and cmps two reads: their iterations alternate, the first item's access first.
 *
 * GATHER, SCATTER: lane i is at values[value] + displacement + scale * index(i), index(i) the i-th signed integer
 * of index_bytes in the words from values[second]; `bytes` is one lane's. A lane is accessed if mask is
 * TRACE_MASK_NONE, or bit i of values[mask_at] (TRACE_MASK_BITS), or the top bit of the i-th element of `bytes` in
 * the words from values[mask_at] (TRACE_MASK_ELEMENTS).
 */
enum trace_mask { TRACE_MASK_NONE, TRACE_MASK_BITS, TRACE_MASK_ELEMENTS };

struct trace_item {           /* 24 bytes */
	int64_t displacement; /* or the whole address */
	uint16_t bytes;
	/* where its instruction begins in the block, in bytes: fetched before the access is made */
	uint16_t offset;
	uint8_t kind, flags;
	uint8_t value, second;             /* indices among the block's values, or TRACE_NO_VALUE */
	uint8_t insn;                      /* number of the instruction in the block */
	uint8_t lanes, index_bytes, scale; /* of GATHER, SCATTER */
	uint8_t mask, mask_at;
	uint8_t unused[2];
};

struct trace_program { /* the templates of one process */
	const struct trace_block *blocks;
	const struct trace_item *items;
};

/* ---- dynamic: headers that are not a block's ---- */

#define TRACE_MARK (1ull << 63)

enum trace_mark_kind {
	/* [mark, argument = instructions done] [block's header] [its values]: a fault or a signal ended the block
	   after so many of its instructions: accesses of later instructions were not made, and their values mean
	   nothing; its ending did not take place. An item of a rep instruction that was interrupted has its second
	   value right: the iterations that were made. */
	TRACE_PARTIAL = 1,
	/* [mark] [address]: control left the program's own path (a signal is delivered, a handler returns): had
	   the block before a branch, this is where it went. What follows is not a consequence of that block. Argument
	   1: but it is; all that is said is where the branch went, before that is executed. */
	TRACE_BREAK = 2,
	/* [mark] [start] [length] [page bytes]: from here on that memory is in pages of that size (4096 else) */
	TRACE_PAGES = 3,
	/* [mark] [start] [length] [site]: a heap block begins to live; site: number of an allocation site. Only if
	 * objects are asked for */
	TRACE_ALLOCATED = 4,
	TRACE_FREED = 5, /* [mark] [start] */
	/* [mark] [address] [slot]: the function that was called last, and that control has come to at that
	   address, returned there and then, by no instruction (libtare's calls, region.h): slot is where its
	   return address was. A return stack has one entry less; nothing is counted. */
	TRACE_RETURNED = 6,
	/* [mark, argument = item] [count] then count times [address] [bytes | TRACE_SPAN]: what the one access of
	   that item (TRACE_SPANS_READ, TRACE_SPANS_WRITE), an instruction's of the block before, touched. It
	   crosses a line's or a page's end if one of its spans does. */
	TRACE_SPANS = 7,
	/* [mark] [address] [slot] [stack] [bytes]: what comes is a signal's handler, called before the instruction
	   at that address; slot is where its return address is; the stack that it is on if it is one of its own,
	   bytes 0: it is not. Behind a TRACE_BREAK; only if the call graph is asked for */
	TRACE_HANDLER = 8,
	/* [mark] [count] [address]: what quiet blocks have counted so far; control is at that address */
	TRACE_QUIET = 9,
};
#define TRACE_SPAN (1ull << 62) /* no block's number */
#define TRACE_SPAN_BYTES 0xffffffffu

static inline uint64_t trace_mark(enum trace_mark_kind kind, uint32_t argument)
{
	return TRACE_MARK | (uint64_t)kind << 32 | argument;
}
static inline enum trace_mark_kind trace_mark_kind(uint64_t header)
{
	return (enum trace_mark_kind)(header >> 32 & 0xff);
}
static inline uint32_t trace_mark_argument(uint64_t header) { return (uint32_t)header; }

_Static_assert(sizeof(struct trace_block) == 40, "as it says");
_Static_assert(sizeof(struct trace_item) == 24, "as it says");
#endif
