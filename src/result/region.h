/*
 * Regions of a program that was not compiled for it: what was asked for (places of code), and what a backend
 * counted in each.
 *
 * What a region is: a thread is in it from the first instruction of a pass to the last, with everything that is
 * called from there.
 *  - REGION_FUNCTION: from the function's first instruction to its return, whoever executes it (also after a tail
 *    call). Recursion: from the outermost entry to the outermost return, once.
 *  - REGION_CODE (lines, addresses): from the first instruction executed in one of the ranges until control leaves
 *    them other than by a call; calls made from there belong to it. A recursion that comes by is part of the pass
 *    that is open.
 *  - REGION_LIBRARY: named by the program itself (tare_region_begin(), tare_asm_begin_N): under the engine only.
 * A thread that ends inside, a longjmp or an exception out of it: entered, and left without its end being seen:
 * `unbalanced`; the pass is not in the counts unless the backend saw the exact instruction at which it was left. A
 * thread that goes to another stack inside (a coroutine): the engine does not count the region, and says why.
 */
#ifndef TARE_RESULT_REGION_H
#define TARE_RESULT_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reading;
struct estimate;

enum region_kind { REGION_FUNCTION, REGION_CODE, REGION_LIBRARY };

struct region_range {
	const char *module; /* path of the file, as /proc/PID/maps will name it */
	uint64_t low, high; /* [low, high): offsets in that file; FUNCTION: low is its entry */
};

/* Where a pass can be seen to begin and end by stopping the program at single instructions (probes), as a look at
 * the code finds it. The frame of an instruction is its function's canonical frame address (DWARF 5, 6.4): a
 * register plus frame_offset. */
enum region_edge_kind {
	EDGE_ENTER, /* a pass begins before this instruction, unless one is open */
	EDGE_LEAVE, /* the open pass ends before this instruction, if it is of the same frame */
	EDGE_JUMP,  /* an indirect jump: in or out, as its register says */
};

enum { EDGE_NO_REGISTER = -1 };

/* What the kernel may do itself in the place of an instruction that is probed, so that the counters miss it; by
 * kernel and machine. */
enum edge_class {
	EDGE_STEPPED, /* executed, in a page of the kernel's */
	EDGE_BRANCH,
	EDGE_NOTHING, /* nop, and marks of branch targets: endbr64, bti, paciasp */
	EDGE_PUSH,    /* of one register; arm64: of x29 and x30 */
	EDGE_CLASSES,
};

struct region_edge {
	const char *module; /* as of ranges */
	uint64_t offset;
	enum region_edge_kind kind;
	/* DWARF's number; EDGE_NO_REGISTER: the region has no calls, by which it could come again */
	short frame_register;
	short jump_register; /* of EDGE_JUMP, likewise */
	int64_t frame_offset;
	/* LEAVE of a function: its own return, not that of one to which it leaves by a jump */
	bool own;
	/* ENTER: also reached from within: then it is of the open pass, if that is of the same frame */
	bool again;
	/* LEAVE: reached by an exception or a longjmp only, so that the end of the pass was not seen */
	bool lost;
	bool counts; /* LEAVE: its instruction is the region's still (a return) */
	enum edge_class class;
	/* JUMP of a function: to within these it stays; to elsewhere, its end will not be seen */
	uint64_t low, high;
};

struct region_asked {
	const char *name; /* the user's */
	const char *text; /* what was asked: "sort", "sort.c:10-20" */
	enum region_kind kind;
	const struct region_range *ranges; /* all copies: of an inlined function, of a line in several places */
	size_t n_ranges;
	const char *note;                /* "2 inlined copies included", or NULL */
	const struct region_edge *edges; /* for backends that probe; those that see every instruction do without */
	size_t n_edges;
	const char *no_edges; /* why it cannot be probed; NULL */
};

/* One region of one run, all threads and processes together. */
struct run_region {
	const char *name;
	const char *text; /* as asked; of REGION_LIBRARY "libtare" */
	enum region_kind kind;
	uint64_t entries, exits;  /* outermost ones */
	uint64_t unbalanced;      /* threads with entries ≠ exits, or that left it when they were not in it */
	uint64_t threads;         /* that entered it */
	const char *why;          /* the numbers above are not known, and why; NULL: they are */
	uint64_t least;           /* with why: entries that were seen; 0: nobody looked */
	struct reading *readings; /* [run->n_events], of the passes that ended */
	bool exclusive;           /* … without what took place in regions that were entered in it */
};

/* What the name of an exclusive one ends in. */
#define REGION_EXCLUSIVE " (exclusive)"

/* One region of a result. */
struct region_row {
	const char *name, *text;
	enum region_kind kind;
	uint64_t entries, exits, unbalanced, threads; /* of the first counted execution of the first group */
	struct estimate *estimates; /* [n_estimates], as result->estimates without rows of threads or CPUs */
	size_t n_estimates;
	const char *why; /* as of run_region */
	uint64_t least;
	const char *note;
};

#endif
