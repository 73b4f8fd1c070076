/*
 * Regions under the engine: what the host asks for, what libtare says, and what the runtime writes.
 *
 * A region is a *context of translation*: a block executed inside of regions is another block (own number, own
 * counters) than the same code outside. So everything that is known of blocks is known of regions. Contexts are
 * numbered as they come up; context 0 is "in no region". A block's context is in its record_block's flags, from
 * RECORD_BLOCK_CONTEXT_SHIFT on.
 *
 * With RECORD_EXCLUSIVE a context's members are in the order in which they were entered, the engine's own first:
 * what is executed in the context is the last one's alone (exclusive), and all members' (inclusive).
 *
 * libtare's side: an instruction that does nothing on any CPU (a 9-byte nop whose displacement is a magic number),
 * right where the runtime is to act:
 *
 *     displacement                      rax before    rdi                          what the engine does
 *     REGION_CALL_MAGIC | PRESENT       0             table of the stubs' regions, rax = 1
 *                                                     by number, or 0
 *     REGION_CALL_MAGIC | ENTER         -             address of a word that is    the thread is in it; returns to the caller (as by ret)
 *                                                     the address of the name
 *     REGION_CALL_MAGIC | LEAVE         -             likewise                     … no longer; likewise
 *     REGION_STUB_MAGIC | 2 * N (+ 1)   -             -                            the same for stub N: entered (+ 1: left)
 *
 *     REGION_STUB_INIT                  -             -                            returns to the caller
 *     REGION_CALL_MAGIC | ENTER_TEXT    -             characters of the name, rsi  as ENTER, LEAVE; blanks at the end are not of the name
 *     … | LEAVE_TEXT                                  of them
 *
 *     REGION_CALL_MAGIC | COUNTERS    -             -                            the calls of counters, below; goes on behind it
 *     REGION_CALL_MAGIC | ASK         -             struct question (question.h) answers it; returns to the caller, rax = 1
 *
 * and marks in the text of a program (tare.h): an instruction that sets rdi, `mov` or `lea`, and behind it the nop
 * 66 0f 1f 87 disp32 (nopw disp32(%rdi)):
 *
 *     REGION_CALL_MAGIC | ENTER, LEAVE                as above
 *     … | ENTER_NAME, LEAVE_NAME                      the name, up to a 0 byte
 *
 * The engine does what they say in the place of both instructions, and goes on behind them. Neither is counted: a
 * pass begins behind the one mark and ends before the other. Reached otherwise than by way of its first
 * instruction a nop is a nop.
 *
 * ENTER, LEAVE and the stubs' stand at the first instruction of a function (behind endbr64). Under the engine that
 * function ends there: neither the nop nor the return is counted. The call that came to it, and what lies between
 * (a jump of the PLT), are of the program and not of the region: a pass begins behind the call that enters and
 * ends before the call that leaves. The access stream has it the same way, and that the engine returned
 * (TRACE_RETURNED). Only where the call's record cannot be divided (record_pass.moved: its operand has a 32-bit
 * address or gs, or what lies between writes a register that the operand is of, or more addresses are in front of
 * it in its block than are looked through, or a signal came in between) the models still count it in the region;
 * the blocks' counts are also right there.
 *
 * Calls of counters (tare_read() and the like) have COUNTERS at their first instruction. What a thread executes
 * is in one of two regions of the engine's own from its first such call on: `calls`, one for a process, from
 * there to the return, with what led there as above and what put the arguments into their registers directly
 * before it; and outside `own`, one for each thread. Both end and begin at the same instant, so that a set of
 * counters has no instruction of libtare in it. They are not regions of a report: their names begin with
 * REGION_HIDDEN.
 *
 * What always holds:
 *  1. One struct record_regions is a process image's, from its first region on; its parts and vfork's children
 *     share it, a forked child has a copy that goes on by itself: numbers of contexts and regions below the
 *     parent's counts mean the same there.
 *  2. Entries [0, count) are complete before the count includes them, and never change, but for passes.
 */
#ifndef TARE_ENGINE_WIRE_REGION_H
#define TARE_ENGINE_WIRE_REGION_H

#include <stdint.h>

/* nopw disp32(%rax,%rax,1): 66 0f 1f 84 00 disp32 */
#define REGION_CALL_MAGIC 0x54415200u /* | code */
#define REGION_STUB_MAGIC 0x54416000u /* | 2 * number, + 1: the end */
#define REGION_STUBS 100u
/* tare_asm_init: makes names, which the engine has anyway */
#define REGION_STUB_INIT (REGION_STUB_MAGIC + 2 * REGION_STUBS)
#define REGION_CALL_BYTES 9u

/* No region of a program's has a name that begins so. */
#define REGION_HIDDEN '\001'

#define REGION_MARK_BYTES 8u /* of the nop */

enum region_call {
	REGION_CALL_PRESENT = 1,
	REGION_CALL_ENTER = 2,
	REGION_CALL_LEAVE = 3,
	REGION_CALL_ENTER_NAME = 4,
	REGION_CALL_LEAVE_NAME = 5, /* marks only */
	REGION_CALL_ENTER_TEXT = 6,
	REGION_CALL_LEAVE_TEXT = 7, /* functions only */
	REGION_CALL_COUNTERS = 8,
	REGION_CALL_ASK = 10,
};
static inline int region_call_leaves(uint32_t magic) { return (int)(magic & 1); }

/* At head->regions: what is asked for, [head->region_ranges]. */
enum record_region_kind { RECORD_REGION_FUNCTION, RECORD_REGION_CODE };
struct record_region_range {
	uint64_t low, high; /* offsets in the file; FUNCTION: low is the entry */
	/* index of the region asked for, < head->region_count; enum record_region_kind */
	uint32_t asked, kind;
	char path[232]; /* as record_module.path */
};

#define RECORD_REGIONS_MOST (1u << 17)
#define RECORD_CONTEXTS_MOST (1u << 17)
#define RECORD_MEMBERS_MOST (1u << 21)
#define RECORD_PASSES_MOST (1u << 19)
#define RECORD_NAMES_BYTES (64u << 20)
#define RECORD_REGIONS_OPEN 64u /* that a thread is in at once */

enum record_region_lost {                           /* bits of record_regions.lost: room ran out */
			  RECORD_LOST_REGIONS = 1,  /* some have no number, and were not counted */
			  RECORD_LOST_CONTEXTS = 2, /* what was executed is not known of every region */
			  RECORD_LOST_PASSES = 4,   /* entries and exits are not complete */
			  /* the end of a pass was reached by an unknown way: what led to it could not be taken
			   * out */
			  RECORD_LOST_ENDS = 8,
};

struct record_regions {
	uint32_t n_regions, n_contexts, n_members, n_passes; /* n_contexts: with context 0 */
	uint64_t names_used;
	uint32_t lost, unused;
	uint64_t regions, contexts, members, passes, names; /* offsets from here */
	uint64_t bytes;
	/* offset in the file of struct model_counts [region][machines, at least 1], sparse; 0 without
	 * RECORD_TRACE. With RECORD_EXCLUSIVE those of regions alone follow, from RECORD_REGIONS_MOST on */
	uint64_t models;
};

struct record_region {
	uint32_t asked; /* index + 1 of the region asked for; 0: libtare's */
	uint32_t name_bytes;
	uint64_t name; /* from names on */
};

/* members: regions' numbers << 1, + 1: not at its own level (of REGION_CODE: in a call) */
struct record_context {
	uint32_t first, n;
};

struct record_pass { /* what one thread did with one region */
	uint32_t region, tid;
	uint64_t entries, exits; /* outermost ones */
	uint32_t strays, depth;  /* left when it was not in it; entered and not yet left (libtare's) */
	uint32_t inherited;      /* of depth: what the process or thread was in when it came into being */
	/* asked for: the thread went to another stack while it was in it, so where its passes end is not known */
	uint32_t switched;
	/* instructions that led to its ends, in the access stream's counts of the region and not in its blocks */
	uint64_t moved;
};

static inline void record_regions_lay_out(struct record_regions *r)
{
	r->regions = 4096;
	r->contexts = r->regions + RECORD_REGIONS_MOST * sizeof(struct record_region);
	r->members = r->contexts + RECORD_CONTEXTS_MOST * sizeof(struct record_context);
	r->passes = r->members + RECORD_MEMBERS_MOST * sizeof(uint32_t);
	r->names = r->passes + RECORD_PASSES_MOST * sizeof(struct record_pass);
	r->bytes = r->names + RECORD_NAMES_BYTES;
}

_Static_assert(sizeof(struct record_region_range) == 256, "as it says");
_Static_assert(sizeof(struct record_pass) == 48, "as it says");
#endif
