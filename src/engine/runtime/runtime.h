/*
 * The runtime's own state, and what its files ask of each other.
 *
 *     start.c                 the host's hand-over, first thread
 *     cache/dispatch.c        from an exit of the cache to the next code
 *     cache/cache.c           blocks, exits, links, lookup tables
 *     cache/memory.c          what is executable, what changed it
 *     cache/files.c           files that are code and may be written
 *     cache/recover.c         a position in the cache → the program's
 *     cache/wild.c            branches to non-canonical addresses
 *     translate/translate.c   instructions → a block's code
 *     stream/                 the access stream (stream/stream.h), only with RECORD_TRACE
 *     inline/                 accesses that generated code decides itself (inline/inline.h)
 *     region/region.c         contexts: which regions a thread is in
 *     region/enter_leave.c    entering and leaving them: frames
 *     region/library.c        … where the program says so
 *     region/way.c            what led there belongs outside of them
 *     region/stacks.c         which stack a thread is on, where regions are asked for
 *     os/thread.c             threads' memory, exit, stopping the others
 *     os/clone.c              clone, fork, vfork
 *     os/exec.c               execve
 *     os/syscall.c            system calls that need more than to be passed on
 *     os/syscall_32.c         … by int $0x80
 *     os/rseq.c               restartable sequences
 *     os/user_dispatch.c      syscall user dispatch
 *     os/timed.c              how long system calls take
 *     os/called.c             … and from which stacks they are made
 *     os/written.c            which memory a system call may write
 *     os/signal.c             signals: handlers, masks, alternate stacks
 *     os/signal_arrival.c     … from the kernel to the thread
 *     os/signal_delivery.c    … frames, handlers, return
 *     os/signal_held.c        … of faults, that the program blocks
 *     os/foreign.c            a process that writes into another's memory
 *     os/fpstate.c            vector and x87 registers, in signal frames
 *     os/state.c              what xsave and its kin, and tiles, have touched
 *     os/mapping.c            calls that change mappings; what is its own
 *     os/limits.c             limits that the program sets on its memory
 *     os/seccomp.c            its seccomp filters
 *     os/served.c             what it sees of the machine, where that is chosen: instructions
 *     os/served_calls.c       … system calls
 *     os/served_directory.c   … directories
 *     os/served_files.c       … files of /proc and /sys
 *     os/served_attributes.c  … what file systems say of files
 *     os/served_places.c      … where its memory is mapped
 *     os/served_read.c        … in files, pipes and devices
 *     os/served_self.c        … of itself, in /proc
 *     os/served_start.c       … and what is on its stack when it begins
 *     kept/make.c             translations that are kept: making them
 *     kept/install.c          … and putting them into the cache
 *     record/record.c         the shared record: areas, blocks, reasons
 *     record/part.c           going on in another entry of the record
 *
 * What always holds:
 *  1. In the cache all of the program's registers are in place but gs's base, which is struct thread; a register
 *     that an emitted sequence borrows is in a spill slot, and cache/recover.c knows which at each byte.
 *  2. rt.lock is held to write struct runtime or the cache. A signal's arrival (runtime_signal) takes no
 *     lock: it notes the signal and lets the thread go on to runtime_again, where locks may be taken.
 *  3. While a signal is noted and not delivered, the kernel blocks every other for that thread.
 *  4. Nothing is written below the program's stack pointer but a signal's frame, where the kernel would have.
 */
#ifndef TARE_ENGINE_RUNTIME_RUNTIME_H
#define TARE_ENGINE_RUNTIME_RUNTIME_H

#include "engine/runtime/cache/cache.h"
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/thread.h"
#include "engine/wire/record.h"
#include "engine/wire/start.h"
#include "engine/x86/xstate.h"

struct inline_site;
struct model_counts;
struct question;
struct region_tables;
struct stream_models;
struct trace_block;
struct trace_item;

#define INLINE_SEEN 512u
/* Where the engine asks for its mappings; the rest of what it has is in rt.own, the cache and the tables */
#define OWN_WINDOW 0x7ee000000000ull
#define OWN_MAX 64u
#define TABLES_USED (3 * TABLE_SLOTS * 8)
#define TABLES_BYTES (2u << 20) /* as large as a huge page */
_Static_assert(TABLES_USED <= TABLES_BYTES, "they are in it");
#define HEAP_GAP 0x200000u /* the kernel leaves so much, and less, between the heap and what is above */
struct own {
	uint64_t start, end;
};

/* of code that is a region asked for; FUNCTION: low */
struct region_place {
	uint64_t low, high;
	uint32_t region, kind;
};

struct runtime {
	struct record_head *record;
	struct record_process *process; /* of the process; a vfork child's is in its thread */
	struct block *blocks;
	uint32_t block_count, blocks_max;
	struct block_key *map;
	uint32_t map_mask, map_count;
	struct exit *exits;
	uint32_t exit_count, exits_max;
	struct page *pages;
	uint32_t page_mask, page_count;
	struct second *second;
	uint32_t second_used, second_mask; /* pairs that are there, in context 0 about; its slots - 1 */
	uint64_t *tables;                  /* three of TABLE_SLOTS, below 2 GB: returns, jumps, calls */
	struct code_arena arena[ARENAS];
	uint32_t arena_count;
	uint64_t arena_bytes;
	uint32_t lock, stopping;
	uint32_t generation, unused; /* of the cache: a flush ends one */
	uint32_t has_bmi2, thread_total;
	struct x86_xstate xstate;
	uint64_t fp_features;       /* of xstate, all but tiles; 0: the processor, or the system, has no xsave */
	uint32_t fp_bytes, limited; /* of an area for them */
	uint32_t pkru, unused7;     /* that a handler begins with */
	struct signal_action action[SIGNALS];
	uint32_t action_lock, live_threads;
	struct thread **threads; /* by slot */
	uint32_t *slot_state;
	uint32_t slots_max;
	/* record */
	struct record_block *record_blocks;
	uint8_t *record_code;
	struct record_module *record_modules;
	struct record_site *record_sites;
	struct record_correction *record_corrections;
	uint32_t blocks_inherited, sites_inherited, modules_inherited, corrections_lock;
	/* the access stream */
	uint64_t placed; /* bytes: see memory_place */
	uint32_t trace, items_max, item_count, huge_pages;
	/* of the access stream only what the call graph needs; … without blocks that stay in their function */
	uint32_t trace_calls_only, trace_quiet;
	struct trace_block *templates; /* all, by number: private, so that a forked child has its own */
	struct trace_item *items;
	struct trace_block *record_templates;
	struct trace_item *record_items;
	struct stream_models *models;      /* of the process; a vfork child's are in its thread */
	struct inline_site *inline_sites;  /* see inline/inline.h */
	uint32_t *inline_first;            /* by block: its first site */
	uint8_t *inline_live;              /* by block: flags that matter behind it */
	uint64_t inline_seen[INLINE_SEEN]; /* see inline/run.c */
	uint64_t inline_break;             /* the heap's end, as the kernel said last */
	uint32_t inline_seen_any, inline_careful;
	uint32_t *inline_ends; /* by block: the address behind it, the lower half */
	uint8_t *inline_count; /* by block: sites, INLINE_APART, or 0: not planned yet */
	/* by block: registers whose values are in the slots behind it: 4 bits each, and above 1 for each that
	 * is */
	uint16_t *inline_slots;
	uint64_t inline_front;           /* bytes below each thread's stacks, for its cores */
	uint32_t inline_used, inline_on; /* sites; blocks that are translated now have inline checks */
	uint32_t models_lock, unused4;
	/* memory */
	struct watched_mapping *mappings;
	uint32_t mapping_count;
	uint64_t image, image_bytes;
	uint32_t counters_most, protected_pages;
	uint32_t started, unused8;
	uint32_t rseq_sections;  /* 0 not looked at, 1 none, 2 some */
	uint32_t rseq_given;     /* an area was registered by a thread of this image */
	uint32_t foreign_writes; /* what may write code unseen: FOREIGN_… of cache/memory.h */
	uint32_t traced;         /* by a program, which is to see faults that the engine finds out itself */
	uint64_t held;           /* faults' signals for the process that came to a thread which blocks them */
	struct siginfo held_info[32];
	uint32_t signal_descriptors; /* the program has some */
	uint32_t no_sysenter;        /* the processor has none in 64-bit mode */
	uint32_t local_segments;     /* the program has made some */
	uint32_t no_tsc;             /* rdtsc may fault: strict seccomp, or PR_SET_TSC */
	/* a filter may end the process for a call of the engine's: see os/seccomp.c */
	uint32_t calls_denied;
	uint32_t reads_proc; /* the process has opened a file in /proc: see os/own_status.c */
	/* the last signal that a safe_copy met, and its code */
	int32_t copy_fault, copy_fault_code;
	uint32_t closing; /* futex, see record/part.c */
	struct own own[OWN_MAX];
	/* forks_differ: a child may not have all that its parent has (madvise) */
	uint32_t own_count, forks_differ;
	struct code_file opened[OPENED_MAX];
	/* of what processes have said of files and memory: looked at; said before this program began */
	uint32_t opened_count, code_files_seen, code_files_begun;
	uint32_t user_faults;          /* there is a userfaultfd */
	uint32_t has_forked;           /* other processes have this one's descriptors */
	uint32_t alone, leaving;       /* no other process is in the record; it is being left: record/own.c */
	struct record_process *before; /* the part before this one */
	const struct record_process *waited_alone; /* the part in which a child that shares memory did not go */
	/* a page of the record, from which the next areas are mapped; 0: none yet */
	uint64_t base, base_offset;
	uint64_t stride; /* see limits_stride */
	struct record_limit limits[RECORD_LIMITS];
	/* the record's head as the host wrote it: what is read of it is read there, as others may write over
	 * rt.record */
	const struct record_head *setup;
	struct record_area areas[AREAS]; /* of rt.process, likewise */
	char path[184];                  /* of the program */
	/* the blocks' bytes, which struct block points to; in the record there is a copy for the host */
	uint8_t *code;
	uint32_t code_used, items_inherited, templates_inherited, unused3;
	/* regions, see region/region.c */
	uint64_t *region_models;               /* of the access stream: model_counts by region and machine */
	struct record_regions *record_regions; /* NULL: none was entered, and none is asked for */
	struct region_tables *region_tables;
	struct second *second_regions; /* indirect branches of contexts but 0 */
	struct region_place *places;
	uint32_t place_count, unused5;
	uint64_t places_low, places_high; /* what all of them lie between */
	uint64_t stub_regions;            /* libtare's, by the stub's number; 0: unknown */
	/* of the last instruction behind a stub's call: its block, context and generation */
	uint64_t red_zone_at;
	uint32_t red_zone_block[2], red_zone_generation;
	uint32_t calls_region;     /* plus one: what is executed in calls of counters (region/counters.c); 0 */
	struct question *question; /* the record's, at question_offset; NULL: nothing was asked yet */
	uint64_t question_offset;
	uint32_t served;      /* enum served_cpu */
	uint32_t exceeds;     /* the program has code for registers that the processor that it is shown lacks */
	uint64_t shown_state; /* components of the saved state that the program is shown; ~0: all that there are */
	uint64_t chance;      /* state of what is served for random numbers */
	uint64_t clock_ns;    /* the served clock, since the first program began */
	uint64_t clock_began; /* when the real one stood so */
	uint32_t clock_reads;
	uint32_t outer_parent; /* the first program's parent, which is shown as SERVED_PARENT */
	uint32_t making;       /* translations are made to be kept: see kept/make.c */
};

/* else the addresses of labels would go through a table that nobody relocates */
#pragma GCC visibility push(hidden)
extern struct runtime rt;
#pragma GCC visibility pop
#endif
