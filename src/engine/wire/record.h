/*
 * What the runtime writes and the host reads: one shared file (a memfd, sparse) for a whole measurement.
 *
 *     offset 0            struct record_head
 *     RECORD_PROCESSES_OFFSET   struct record_process [RECORD_PROCESSES_MAX]   one a process *image*: exec starts another
 *     RECORD_SPACE_OFFSET …     areas handed out by head->next_offset, never given back:
 *                         blocks, code bytes, modules, sites, corrections (one of each a process), threads
 *
 * What always holds:
 *  1. Offsets are from the start of the file and multiples of 4096; 0 means "none". No address of any process is
 *     in it, but for the application's own (block, module).
 *  2. An area's entries [0, count) are complete before count includes them (store-release) and never change
 *     afterwards, the 64-bit counters and a correction's times excepted. They outlive the process.
 *  3. A counter is written by one thread only (or in one thread's name), and only grows.
 *  4. Entries [0, inherited) of a forked child's blocks, modules and sites are its parent's (and so on upwards):
 *     the child appends from there on; its own area's entry 0 is number `inherited`. Numbers are never used twice,
 *     so that a number means the same block for ever. When numbers or areas run short, the runtime closes the
 *     entry (RECORD_CONTINUED) and goes on in another for the same process, with areas and counters of its own: a
 *     part. A thread that waits in a system call meanwhile has that one instruction counted in the new part, and
 *     corrected in the old. What a thread's models count moves on with it: record_thread.models of the old part
 *     becomes 0.
 *  5. A finished part may be folded by the host: its counts become totals, of a form that is the host's own, and
 *     its areas are holes. The runtime waits for the answer (RECORD_ASK_FOLD) before it closes the next part: at
 *     most two of a process are whole, and those that forked children still name. A process that is about to
 *     change its rights goes on in entry 0 of a file of this form of its own (runtime/record/own.c); its old entry
 *     says `left`.
 *  6. inexact is non-zero as soon as the counts may differ from what the program did; reason says why, complete
 *     before inexact is set. The first reason stays.
 */
#ifndef TARE_ENGINE_WIRE_RECORD_H
#define TARE_ENGINE_WIRE_RECORD_H

#include <stdint.h>

#define RECORD_MAGIC 0x41524154u /* "TARA"; a change of layout changes it */
#define RECORD_FILE_BYTES (1ull << 44)
#define RECORD_PAGE 4096u
#define RECORD_PROCESSES_MAX 65536u
#define RECORD_PROCESSES_OFFSET 4096ull
#define RECORD_PROCESS_BYTES 896u
#define RECORD_SPACE_OFFSET (RECORD_PROCESSES_OFFSET + (uint64_t)RECORD_PROCESSES_MAX * RECORD_PROCESS_BYTES)
#define RECORD_QUEUE 512u /* requests that can wait at once */
#define RECORD_NONE 0xffffffffu
#define RECORD_DIED 0x40000000u /* FUTEX_OWNER_DIED */
/* system calls by number; larger numbers, and those of int 0x80, have counters of their own */
#define RECORD_SYSCALLS 512u

/* head->flags, set by the host before the start */
enum {
	RECORD_FOLLOW = 1, /* children that exec are to be taken over: ask the attendant before an execve */
	/* the access stream is wanted (wire/trace.h): it is run through head->machines, and its own counts
	 * (misaligned, line- and page-crossing accesses) are kept, even with no machine */
	RECORD_TRACE = 2,
	RECORD_OBJECTS = 8, /* … and by the data object that was touched (wire/objects.h) */
	/* the models see every access by way of the stream: none is decided by generated code
	 * (runtime/inline/inline.h) */
	RECORD_NOT_INLINE = 16,
	/* the call graph is wanted (wire/calls.h): the access stream is, too, with as much of it as that needs
	 * unless RECORD_ACCESSES is set as well. */
	RECORD_CALLS = 32,
	RECORD_ACCESSES = 64,
	RECORD_CALLS_PLAIN = 128, /* … each block by all steps: for tests */
	/* A vfork's child is in its parent's graph, as it is in its memory; with this its calls are in none. */
	RECORD_CALLS_ALONE = 256,
	RECORD_SITES = 4, /* and counted by instruction, for head->watches */
	/* what a region counts outside of those entered in it is wanted, too (wire/region.h) */
	RECORD_EXCLUSIVE = 512,
	RECORD_CALL_TIMES = 1024, /* record_thread.call_ticks is kept */
	RECORD_CALLED = 2048,     /* … and where the calls were made (wire/called.h) */
};

/* An event of the call graph: a sum of what the encodings of instructions, taken branches and iterations tell
 * (enum exact_count of x86/vector.h), or of what the first machine's watches count. */
#define RECORD_CALL_EVENTS 8u
struct record_call_event {
	uint8_t plus[12]; /* enum exact_count + 1, ended by 0 */
	uint8_t minus;    /* likewise, of taken branches only; 0: none */
	/* bit w: watches[w] is a part of it; 0: none is, it is of the encodings. Those in parts_minus are
	 * subtracted */
	uint8_t parts, parts_minus;
	uint8_t unused;
};

#define RECORD_CODE_FILES 16u
struct record_code_file {
	uint64_t device, inode;
};

struct record_head {
	uint32_t magic;
	uint32_t flags;
	uint64_t next_offset;   /* atomic fetch-add, in multiples of RECORD_PAGE; begins at RECORD_SPACE_OFFSET */
	uint32_t process_count; /* atomic fetch-add: the adder owns the entry */
	/* futex, shared: atomic fetch-add gives the request's ticket; then queue, then wake */
	uint32_t requests;
	uint32_t attendant_pid; /* it serves requests; PR_SET_PTRACER before asking. 0: nobody */
	/* its thread's number; the kernel makes it RECORD_DIED when it ends, by whatever signal (a robust
	 * futex) */
	uint32_t attendant_life;
	uint64_t token;       /* random: tells a process that has this record mapped from every other */
	uint64_t cache_bytes; /* largest code cache of a process; 0: the runtime's default */
	/* offset in the engine's image (wire/start.h) of struct model_setup [machine_count]
	 * (model/core/options.h), written by the host before the start */
	uint64_t machines;
	uint32_t machine_count, watch_count;
	uint8_t watches[8][4]; /* struct model_watch: of machine 0 */
	/* not 0: site_items has no counts but a log of each overflow_period-th watched event, found overflow_skid
	 * instructions later (model/core/overflow/overflow.h); with RECORD_SITES and RECORD_NOT_INLINE */
	uint64_t overflow_period;
	uint32_t overflow_skid, overflow_unused;
	/* of a thread's buffer: how long a thread runs on before another's accesses are seen; 0: the default */
	uint64_t trace_bytes;
	uint32_t blocks_most;  /* of one process entry; 0: the runtime's default */
	uint32_t models_bytes; /* of a thread's record_thread.models, whole pages; set by the runtime */
	/* offset in the engine's image of struct record_region_range [region_ranges] (wire/region.h): regions
	 * asked for */
	uint64_t regions;
	uint32_t region_ranges, region_count;
	/* atomic fetch-add: a place is claimed, then filled, then counted */
	uint32_t code_file_claims, code_file_count;
	uint32_t served; /* enum served_cpu (x86/served.h): what programs are shown of the machine */
	uint32_t call_event_count;
	struct record_call_event call_events[RECORD_CALL_EVENTS]; /* with RECORD_CALLS */
	/* the last ones: files that are code and may be written (runtime/cache/files.c) */
	struct record_code_file code_files[RECORD_CODE_FILES];
	/* [ticket % RECORD_QUEUE] = process index + 1 (store-release); the attendant sets it to 0 */
	uint32_t queue[RECORD_QUEUE];
	/* offsets in the engine's image (wire/kept.h): pieces that may be used; what pieces are to be made of:
	 * struct kept_module [make_modules], struct kept_hint [make_hints]. 0: none */
	uint64_t kept, kept_bytes, make;
	uint32_t make_modules, make_hints;
};

enum record_process_state {
	RECORD_FREE,     /* never started (a fork that failed) */
	RECORD_RESERVED, /* a fork or an injection is under way */
	RECORD_RUNNING,
	RECORD_EXITED, /* its last instruction is counted: set before the exit system call, or a fatal signal
	                     whose position in its block was accounted for */
	/* another entry, of the same pid, goes on; or the program there runs natively (inexact) */
	RECORD_EXECED,
	RECORD_CONTINUED, /* a finished part: the entry whose `continues` is this one goes on, see 4 */
};

/*
 * process->ask, a futex, shared. The runtime sets ask_tid and ask = RECORD_ASK_EXEC, takes a ticket from
 * head->requests, stores its index in the queue, wakes head->requests (FUTEX_WAKE 1, not private), and waits
 * on ask for the answer, with a time-out after which it looks whether head->attendant_pid became 0, or
 * attendant_life says that it died: then nobody answers any more. One request of a process at a time.
 */
enum record_ask {
	RECORD_ASK_NONE,
	RECORD_ASK_EXEC, /* thread ask_tid is about to call execve */
	/* it is traced now: its very next execve will be taken over, or, should it fail, left alone */
	RECORD_ASK_GRANTED,
	/* the program after the execve will run natively; the host has set inexact and the reason */
	RECORD_ASK_REFUSED,
	/* own_fd is a record that the process is about to go on in, alone; the answers are GRANTED and REFUSED */
	RECORD_ASK_OWN,
	/* this entry is RECORD_CONTINUED and may be folded; the answer, RECORD_ASK_NONE, is waited for by the next
	 * part */
	RECORD_ASK_FOLD,
	/* `functions` is to become where the functions of module ask_module of `calls` are (wire/calls.h); 0: not
	 * known. The answer is NONE */
	RECORD_ASK_FUNCTIONS,
	/* struct question at `question` (wire/question.h) is to be answered. The answer is NONE */
	RECORD_ASK_COUNTS,
	/* `caller` is to become the rule (struct record_caller of wire/called.h) of the byte at ask_offset of the
	 * file of module ask_module of `called`. The answer is NONE */
	RECORD_ASK_CALLER,
};

enum record_fold {
	RECORD_WHOLE,
	RECORD_FOLDED, /* its counts are in `totals`; counters and corrections are holes */
	/* and its blocks, code, templates, sites and (but with RECORD_OBJECTS) modules, which no other entry
	 * inherits any more */
	RECORD_GONE,
};

enum record_stat {
	RECORD_STAT_TRANSLATED_INSNS, /* instructions translated, repeated translations included */
	RECORD_STAT_TRANSLATE_TSC,    /* time-stamp counter ticks spent translating */
	RECORD_STAT_DISPATCHES,       /* times that a thread left the code cache for the runtime */
	RECORD_STAT_LOOKUP_MISSES,    /* indirect branches that the inline lookups did not find */
	RECORD_STAT_FLUSHES,          /* of the code cache, in whole or part */
	RECORD_STAT_CACHE_BYTES,      /* code cache used, most at any time */
	RECORD_STAT_KEPT_BLOCKS,      /* blocks that were kept from an earlier run (wire/kept.h) */
	RECORD_STATS
};

/* No entry of the record has more; see area_bytes() in runtime/record/record.c. A reader of the record
 * takes more for damage. */
#define RECORD_BLOCKS_MOST (1u << 21)
#define RECORD_CODE_MOST (RECORD_BLOCKS_MOST * 64)
#define RECORD_MODULES_MOST 16384u
#define RECORD_SITES_MOST (RECORD_BLOCKS_MOST / 4)
#define RECORD_CORRECTIONS_MOST (RECORD_BLOCKS_MOST / 16)
#define RECORD_COUNTERS_MOST (RECORD_BLOCKS_MOST * 2)
#define RECORD_THREADS_MOST (1u << 20)

struct record_area {
	uint64_t offset; /* of the first own entry */
	uint32_t count;  /* entries, inherited ones included; for code: bytes, nothing is inherited */
	uint32_t inherited;
	uint64_t bytes; /* room; for the host: how much to map at most */
};

/* A limit on the process's memory that the program set: what it asked for, and the kernel's hard limit
 * (runtime/os/limits.c). */
struct record_limit {
	uint64_t soft, hard, kernels, set;
};
#define RECORD_LIMITS 2u /* RLIMIT_AS, RLIMIT_DATA */

struct record_process { /* RECORD_PROCESS_BYTES each */
	uint32_t state;
	uint32_t pid;    /* as the process itself sees it */
	uint32_t parent; /* index of the one that forked, exec'ed or continued; RECORD_NONE for the first */
	uint32_t inexact;
	uint32_t ask, ask_tid;
	uint32_t thread_count; /* ever */
	uint32_t forked;       /* 1: a fork's child (inherits), 0: a fresh image */
	/* the newest: struct record_thread.next leads to older ones; pushed by compare-and-swap */
	uint64_t first_thread;
	struct record_area blocks, code, modules, sites, corrections;
	/* struct trace_block by block number, struct trace_item: RECORD_TRACE */
	struct record_area templates, items;
	/* offsets of uint64_t [item or block][watch_count], sparse; 0 without RECORD_SITES */
	uint64_t site_items, site_blocks;
	/* enum record_stat: where the engine's time goes; not exact under several threads */
	uint64_t stats[RECORD_STATS];
	/* where the image of an exec goes on, with head->served: the clock, the random numbers */
	uint64_t clock_ns, chance;
	/* host: where the record is mapped in this image; 0 in a fork's child: as in its parent */
	uint64_t record_at;
	char reason[160];
	/* of the program (/proc/pid/exe); empty: the parent's. Set by the host or by an exec */
	char path[184];
	uint32_t continues; /* index + 1 of the part before this one; 0: there is none */
	uint32_t folded;    /* enum record_fold; the host's */
	/* of a folded one: offset; its counts and those of all that it continues. 0: moved on to the next */
	uint64_t totals, totals_bytes;
	uint64_t objects; /* offset of struct record_objects (wire/objects.h); 0: none */
	uint64_t regions; /* offset of struct record_regions (wire/region.h); 0: the image has entered none */
	struct record_limit limits[RECORD_LIMITS]; /* the next image of an exec begins with them */
	uint32_t own_fd;                           /* of the asking process; see RECORD_ASK_OWN */
	uint32_t left;                       /* 1: it is RECORD_CONTINUED, in entry 0 of a record of its own */
	uint64_t calls;                      /* offset of struct record_calls (wire/calls.h); 0: none */
	uint64_t functions, functions_bytes; /* of struct record_functions; see RECORD_ASK_FUNCTIONS */
	uint32_t ask_module;
	uint32_t outer_parent; /* with head->served: the id of the first program's parent */
	uint64_t question;     /* offset of struct question; see RECORD_ASK_COUNTS */
	uint64_t kept,
		kept_bytes; /* offset of the pieces that were made, with head->make (wire/kept.h); 0: none */
	uint64_t called;    /* offset of struct record_called (wire/called.h); 0: none */
	uint64_t ask_offset, caller[2]; /* see RECORD_ASK_CALLER */
	uint64_t unused2[6];
};

/* One straight run of instructions: a basic block or part of one, entered at its start only. Runs of one
   superblock may share a counter. 32 bytes */
struct record_block {
	uint64_t address; /* of the first instruction, in the process */
	uint32_t code;    /* where its bytes begin in the code area of the process that owns this entry */
	uint16_t length_bytes;
	uint16_t insns;
	uint32_t counter; /* index into every thread's counters: how often it was entered */
	/* how often its last instruction, a conditional branch, was taken; RECORD_NONE: it has none */
	uint32_t taken;
	uint32_t module; /* RECORD_NONE: unknown memory */
	uint32_t flags;  /* enum record_block_flag; the one field that changes: bits are or-ed atomically */
};

enum record_block_flag {
	/* a control transfer entered it at least once, or it is the first of the program. Without it, it was only
	 * ever entered from the instruction before (or by a sigreturn) */
	RECORD_BLOCK_LEADER = 1,
	/* counters[taken] is how often the branch was *not* taken: taken is what remains of the entries that
	 * reached it. Set before that counter first counts */
	RECORD_BLOCK_COUNTS_FALL = 2,
	/* it is entered only by the uncounted way out of another block, and always: `counter` is that block's
	 * number p, and this one was entered as often as p was passed: entered(p) - corrections of p -
	 * counters[taken of p] if p has a conditional branch. Fixed from the start */
	RECORD_BLOCK_FOLLOWS = 4,
	/* the bits from here on: the context (wire/region.h) that it is executed in. Fixed from the start */
	RECORD_BLOCK_CONTEXT_SHIFT = 8,
};

struct record_module { /* a mapping of a file, or of memory, that code ran from */
	uint64_t address, length;
	uint64_t file_offset;
	char path[232]; /* as /proc/pid/maps: "/usr/bin/true", "[vdso]", "" for memory without a file */
};

enum record_site_kind {
	RECORD_SITE_ITERATIONS, /* of the rep string instruction */
	/* how often that instruction was left before its end (fault, signal) and later resumed: the block's count
	 * is not to hold the resumption twice; informative */
	RECORD_SITE_REP_PARTS,
	RECORD_SITE_LANES, /* gather, scatter, masked: lanes that were accessed */
	/* of an instruction whose encoding does not say it (x86/xstate.h): bytes that were stored, or of one that
	 * does not store read; of a product of tiles FP operations */
	RECORD_SITE_AMOUNT,
};

struct record_site { /* something counted at one instruction */
	uint32_t block;
	uint16_t insn; /* 0: the block's first */
	uint16_t kind;
	uint32_t counter; /* index into every thread's counters */
	uint32_t unused;
};

/* The block was entered and left (fault, signal) after `done` of its instructions: the rest is not to be counted,
   nor its branch. Several entries may name the same pair. */
struct record_correction {
	uint32_t block;
	uint32_t done; /* < insns */
	uint32_t tid;  /* record_thread.tid of the thread whose execution it was */
	uint32_t unused;
	uint64_t times; /* may grow */
};

/* What a program was given that may differ from run to run, or between machines: kept where tare chooses what it
 * is shown (head->served) */
enum record_saw {
	RECORD_SAW_CPU,         /* cpuid */
	RECORD_SAW_CLOCK,       /* the served clock, however it was read */
	RECORD_SAW_LATE,        /* … which was set to the real time, as the program read it often */
	RECORD_SAW_RANDOM,      /* served random numbers */
	RECORD_SAW_ID,          /* process and thread ids */
	RECORD_SAW_ADDRESS,     /* where the kernel has mapped memory */
	RECORD_SAW_FILE,        /* bytes read of files, … */
	RECORD_SAW_SYSTEM_FILE, /* … of those that the kernel writes: /proc, /sys */
	RECORD_SAW_PIPE,
	RECORD_SAW_SOCKET,
	RECORD_SAW_DEVICE,
	RECORD_SAW_DIRECTORY,  /* entries of directories */
	RECORD_SAW_WAITED,     /* children's ends */
	RECORD_SAW_SIGNAL,     /* signals that came by themselves */
	RECORD_SAW_EXCEEDS,    /* code for registers that the CPU shown lacks */
	RECORD_SAW_ATTRIBUTES, /* of files: number, device, owner, times */
	RECORD_SAW_USER,       /* the process's user and groups */
	RECORD_SAW_LIMITS,     /* … its resource limits */
	RECORD_SAW_SPACE,      /* file systems: their kind, size, room */
	RECORD_SAW_KINDS
};

struct record_input {
	uint64_t times, sum; /* sum: of all values in order */
};

enum record_thread_state { RECORD_THREAD_RUNNING = 1, RECORD_THREAD_EXITED };

/* A thread's counters. The runtime may use an area again for a later thread; tids_folded > 0 then and the counters
 * are the sum. */
struct record_thread {
	uint64_t next;          /* offset of the next older one; 0 */
	uint64_t counters;      /* offset of uint64_t [counters_most] */
	uint32_t counters_most; /* room; those never used are 0 (sparse) */
	uint32_t tid;           /* the first or only one's */
	uint32_t state;
	uint32_t tids_folded;
	/* number plus one of the system call that it is in: counted as an instruction, not yet in syscalls; 0 */
	uint32_t call;
	/* 1: that call only waits. A thread that is killed in it has changed nothing by it, begun or not: it is
	 * counted whole */
	uint32_t waits;
	/* offset of struct model_counts [machine_count, at least 1] (model/core/counts.h); 0 without RECORD_TRACE,
	 * and in a finished part if the thread goes on in the next */
	uint64_t models;
	uint64_t syscalls[RECORD_SYSCALLS]; /* by number, those of the syscall instruction */
	uint64_t syscalls_other;
	uint64_t syscalls_32; /* int 0x80 */
	struct record_input inputs[RECORD_SAW_KINDS];
	/* With RECORD_CALL_TIMES, in ticks of the time stamp counter: how long calls took that came back, by
	 * number; when the one that it is in began; and calls that could not be timed (the program forbids rdtsc),
	 * whose number then has RECORD_UNTIMED set */
	uint64_t call_began, calls_untimed;
	uint64_t call_place; /* of that one: the number of its stack in `called`, plus one; 0: it has none */
	uint64_t call_ticks[RECORD_SYSCALLS];
};
#define RECORD_UNTIMED (1ull << 63)
#define RECORD_THREAD_BYTES 12288u /* whole pages */

_Static_assert(sizeof(struct record_thread) <= RECORD_THREAD_BYTES, "a thread's record has its room");
_Static_assert(sizeof(struct record_head) <= RECORD_PROCESSES_OFFSET, "the head is one page");
_Static_assert(sizeof(struct record_process) == RECORD_PROCESS_BYTES, "the table is an array of process entries");
_Static_assert(sizeof(struct record_block) == 32, "blocks are packed");
#endif
