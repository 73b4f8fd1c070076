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
 *     region/enter_leave.c    entering and leaving them
 *     region/stacks.c         which stack a thread is on, where regions are asked for
 *     os/thread.c             clone, fork, exit, stopping the others
 *     os/syscall.c            system calls that need more than to be passed on
 *     os/written.c            which memory a system call may write
 *     os/signal.c             arrival, frames, return, masks, alternate stacks
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
 *     record/record.c         the shared record: areas, blocks, reasons
 *     record/part.c           going on in another entry of the record
 *
 * What always holds:
 *  1. In the cache all of the program's registers are in place but gs's base, which is struct thread; a register
 *     that an emitted sequence borrows is in a spill slot, and cache/recover.c knows which at each byte.
 *  2. rt.lock is held by who writes struct runtime or the cache. A signal's arrival (runtime_signal) takes no
 *     lock: it notes the signal and lets the thread go on to runtime_again, where locks may be taken.
 *  3. While a signal is noted and not delivered, the kernel blocks every other for that thread.
 *  4. Nothing is written below the program's stack pointer but a signal's frame, where the kernel would have.
 */
#ifndef TARE_ENGINE_RUNTIME_RUNTIME_H
#define TARE_ENGINE_RUNTIME_RUNTIME_H

#include "engine/runtime/os/sys.h"
#include "engine/wire/record.h"
#include "engine/wire/region.h"
#include "engine/wire/start.h"
#include "engine/x86/decode.h"
#include "engine/x86/served.h"
#include "engine/x86/xstate.h"

#define WRITTEN_MAX 24
struct written {
	uint64_t start, end;
}; /* the kernel may write there: see os/written.c */

#define THREAD_BYTES 8192u /* struct thread, in front of its counters */
#define STACK_BYTES 65536u
#define SIGNAL_STACK_BYTES 65536u
#define TABLE_SLOTS 65536u
#define NONE 0xffffffffu
#define ABORTED (-100000L) /* a system call that a signal prevented */
/* ILL TRAP BUS FPE SEGV: never blocked in the kernel */
#define SYNCHRONOUS_MASK ((1ull << 3) | (1ull << 4) | (1ull << 6) | (1ull << 7) | (1ull << 10))

enum { ATTENTION_SIGNAL = 1, ATTENTION_STOP = 2 };
enum { EXIT_LOOKUP = 0 }; /* number of no exit: the target is in thread.target */

struct inline_site;
struct model_counts;
struct stream_models;
struct trace_block;
struct trace_item;
struct translation;

struct siginfo {
	int32_t signo, error, code, pad;
	uint64_t field[14];
}; /* 128 bytes */

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

struct signal_action {
	uint64_t handler, flags, restorer, mask;
};
#define SIGNALS 65
/* not for the engine's own code */
enum { FLAG_TF = 0x100, FLAG_DF = 0x400, FLAG_AC = 0x40000 };
#define UNSAFE_FLAGS (FLAG_AC | FLAG_DF | FLAG_TF)

struct thread { /* entry.S has offsets of it by offsets.c, emitted code by translate/emit.h */
	struct thread *self;
	uint64_t spill_rax, spill_rcx;
	uint64_t spill_rdx;
	uint64_t spill_operand;
	uint64_t spill_second;
	uint64_t target;
	uint32_t exit_id, misses_left;
	uint64_t runtime_rsp;
	uint64_t exit_entry;
	uint64_t miss_entry;
	uint64_t reg[16];
	uint64_t flags;
	uint64_t resume;           /* in the cache */
	uint32_t attention, where; /* where is 1 in the cache */
	uint64_t app_gs;
	uint64_t second_table; /* rt.second */
	uint64_t *trace;       /* of the access stream, where the next record begins */
	uint64_t quiet;        /* what quiet blocks have counted: see stream/calls.c */
	uint64_t spill_trace, spill_trace2;
	/* the block whose ret or jmp was executed last, see cache/wild.c; context: see region/region.c */
	uint32_t last_indirect, context;
	uint64_t region_miss, region_tail; /* runtime_region_miss, runtime_miss_tail */
	/* a stack pointer not in [low, low + span] has left what the innermost frame is about */
	uint64_t region_low, region_span;
	uint64_t region_key, region_table; /* of the context; rt.second_regions */
	uint32_t region_salt, frame_count;
	/* the block whose jump by way of a word was executed last, and is all of it
	 * (region/enter_leave.c) */
	uint32_t last_linkage, pad7;
	uint64_t inline_entry; /* runtime_inline */
	/* rsp before the instruction that has just loaded it, where regions are asked for */
	uint64_t stack_left;
	uint32_t second_mask, pad6; /* rt.second_mask */
	uint64_t spill_third, spill_flags;
	uint64_t apart;  /* buffer for the values of a block that has no plan */
	uint64_t behind; /* pc behind the last byte executed, where machines ask for it */
	/* from here on of the C files alone */
	uint64_t pc; /* where the program goes on when resume is not known yet */
	struct record_process *process;
	struct record_thread *record;
	uint64_t *counters;
	uint32_t tid, slot;
	uint64_t mask;           /* the program's signal mask */
	uint64_t temporary_mask; /* of sigsuspend and its kin, while has_temporary */
	uint32_t has_temporary, syscall_retired;
	uint64_t altstack_sp, altstack_size;
	uint32_t altstack_flags;
	uint32_t pending_count; /* 0 or 1 at rest; a second one may be a synchronous fault */
	struct siginfo pending[2];
	uint64_t pending_trapno[2], pending_error[2], pending_cr2[2];
	uint64_t held; /* synchronous signals sent by kill() while the program blocks them */
	struct siginfo held_info[32];
	uint64_t rseq;                 /* the program's area, 0 without */
	uint64_t fault_from, fault_to; /* a fault in the runtime between these continues at fault_landing */
	uint64_t fault_landing;
	/* the kernel writes there at the thread's end; a write to a page that code was translated from */
	uint64_t clear_tid, code_fault;
	uint64_t robust_list;
	/* syscall user dispatch: outside of these bytes a call is a signal, if the selector says so */
	uint64_t dispatch_from, dispatch_bytes, dispatch_selector;
	uint32_t dispatched;
	uint32_t shown; /* the kernel blocks what the program blocks, faults' signals too: see signals_show() */
	/* registers at a signal's arrival in the cache, rip last but one, flags last */
	uint64_t raw[18];
	uint32_t raw_valid, step_once;
	uint32_t trace_skip, forked;
	uint32_t recovered; /* by recover_thread: 1 at t->pc, 2 at left_by */
	uint32_t left_id, left_generation;
	struct exit left_by;
	uint64_t retried;
	uint64_t stepping;
	uint32_t forced, pad5; /* a fault that was sent to itself */
	/* a following block's number plus one, whose count already has the entry that is about to be made */
	uint32_t entering;
	/* of the process: rt.action but for a child that shares memory and not these */
	struct signal_action *actions, own_actions[SIGNALS];
	uint32_t entered; /* the block that resume leads to, or NONE */
	uint32_t leader;  /* t->pc begins a basic block: the program's first, a handler's */
	uint64_t *trace_base, *trace_start, *trace_end; /* of the buffer; where records begin; its guard page */
	uint64_t *trace_ran;   /* where the records that were run last ended: for tests/engine/trace/oracle.c */
	uint64_t *trace_stood; /* while it stays here no thread waits for it (stream/turns.c) */
	uint64_t fs_base;      /* at the records that the buffer holds */
	/* what the last inline check that was not found has counted would be counted again */
	uint32_t inline_once, pad9;
	/* inline checks: from there on the buffer holds headers of blocks only, one word each */
	uint64_t *behind_at;
	uint64_t behind_before; /* the pc behind what was executed before that, or bit 63 */
	struct model_counts *model_counts;
	struct stream_models *models;
	uint32_t in_call, parked; /* see record/part.c */
	uint32_t corrections_used, pad10;
	/* of a vfork child's process, which has no other area; NULL: none yet */
	struct record_correction *corrections;
	/* of the system call that is being made: what is corrected should it not happen */
	uint32_t call_block, call_done;
	struct written written[WRITTEN_MAX]; /* by the call that is being made */
	uint32_t changed, pad13; /* a child in its parent's memory changed what it may do: see record/own.c */
	uint32_t written_count, clear_actions; /* it begins without the handlers of who made it */
	struct region_frame *frames;           /* [frame_count], see region/enter_leave.c; NULL: never any */
	/* of the thread's own stack: its highest address, and where it was left; see region/stacks.c */
	uint64_t stack_base, stack_base_left;
	uint64_t stack_high, stack_arrived;
	uint64_t *counted;         /* model_counts when the context began; NULL: never any */
	struct calls_stack *calls; /* see stream/calls.c; NULL: no call graph */
	uint64_t fp_features;      /* of the kernel's last signal frame of this thread; 0: there was none */
	uint32_t fp_bytes;
	uint32_t own_region; /* plus one; 0: it has made no call of libtare's counters (region/counters.c) */
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
	SPAN_INLINE /* way out of line of an inline check, by its site */
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
#define INLINE_SEEN 512u
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

struct page {
	uint64_t number;
	uint32_t first;
	uint8_t state, faults;
	uint16_t pad;
};
enum page_state {
	PAGE_CLEAN,
	PAGE_PROTECTED,
	PAGE_CHECKED,
	PAGE_OPEN /* as checked, while the kernel may write there */
};

/* written: see cache/files.c */
struct watched_mapping {
	uint64_t start, end;
	uint32_t protection, shared, module, written;
	uint64_t device, inode;
};
#define MAPPINGS_MAX 16384u
enum area { AREA_CODE, AREA_MODULES, AREA_SITES, AREA_CORRECTIONS, AREAS };

#define OPENED_MAX 256u
struct code_file {
	uint64_t device, inode;
	bool mapped; /* shared, from a descriptor that may write: no descriptor is needed any more */
};

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

struct block_key {
	uint64_t pc;
	uint32_t id, context;
}; /* id: a block's number plus one */

/* of code that is a region asked for; FUNCTION: low */
struct region_place {
	uint64_t low, high;
	uint32_t region, kind;
};
struct region_tables;

struct runtime {
	struct record_session *session;
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
	uint32_t foreign_writes; /* io_uring or /proc/self/mem may write code unseen */
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
	int32_t copy_fault;  /* the last signal that a safe_copy met */
	uint32_t closing;    /* futex, see record/part.c */
	struct own own[OWN_MAX];
	/* forks_differ: a child may not have all that its parent has (madvise) */
	uint32_t own_count, forks_differ;
	struct code_file opened[OPENED_MAX];
	uint32_t opened_count, code_files_seen;
	uint32_t user_faults, has_forked; /* there is a userfaultfd; other processes have this one's descriptors */
	uint32_t alone, leaving;          /* no other process is in the record; it is being left: record/own.c */
	struct record_process *before;    /* the part before this one */
	const struct record_process *waited_alone; /* the part in which a child that shares memory did not go */
	/* a page of the record, from which the next areas are mapped; 0: none yet */
	uint64_t base, base_offset;
	uint64_t stride; /* see limits_stride */
	struct record_limit limits[RECORD_LIMITS];
	/* the session as the host wrote it: what is read of it is read there, as others may write over
	 * rt.session */
	const struct record_session *setup;
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
};

/* else the addresses of entry.S's labels would go through a table that nobody relocates */
#pragma GCC visibility push(hidden)
extern struct runtime rt;

/* entry.S */
void runtime_exit(void);
void runtime_miss(void);
void runtime_exit_saved(void);
void runtime_miss_check(void);
void runtime_miss_found(void);
void runtime_miss_jump(void);
void runtime_miss_slow(void);
void runtime_miss_tail(void);
void runtime_inline(void);
void runtime_inline_careful(void);
void runtime_inline_checked(void);
void runtime_inline_end(void);
void runtime_inline_leave(void);
void runtime_region_miss(void);
void runtime_region_found(void);
void runtime_region_jump(void);
void runtime_region_slow(void);
void runtime_resume_checked(void);
void runtime_resume_end(void);
void runtime_recovered(void);
void runtime_signal_entry(void);
void runtime_restorer(void);
void runtime_clone_child(void);
void runtime_syscall_begin(void);
void runtime_syscall_insn(void);
void runtime_syscall_end(void);
void runtime_program_end(void);
void runtime_int80_end(void);
void runtime_clone_end(void);
void runtime_final_end(void);
void runtime_syscall_abort(void);
long runtime_app_syscall(long nr, const uint64_t args[6]);
long runtime_program_call(long nr, const uint64_t args[6]);
long runtime_app_int80(const uint64_t reg[16]);
long runtime_clone(long nr, const uint64_t args[6], struct thread *child);
void runtime_final_exit(uint32_t *slot_state, long status);
/* Copies; false if memory faulted. Any of the two may be the program's. */
bool safe_copy(void *to, const void *from, size_t n);
bool safe_write(void *at);
bool safe_read(const void *at);
void safe_copy_fault(void);
void safe_copy_end(void);
bool fp_save(void *area, uint64_t features); /* by xsave, or without features by fxsave */
void fp_save_end(void);
bool fp_restore(const void *area, uint64_t features);
enum fp_form { FP_XSAVE, FP_XSAVE64, FP_XSAVEOPT, FP_XSAVEOPT64, FP_XSAVEC, FP_XSAVEC64, FP_XRSTOR, FP_XRSTOR64 };
bool fp_served(void *area, uint64_t features, enum fp_form form);
void fp_restore_end(void);
void fp_restore_fault(void);

/* translate/fetch.c: not under rt.lock */
void fetch_wait(uint64_t pc);

/* cache/dispatch.c */
void runtime_dispatch(struct thread *t);
void runtime_again(struct thread *t);

/* translate/translate.c: under rt.lock */
/* thunk_exit: a taken branch's exit whose counter is put in front, or NONE. before: the block whose last jump it
   replaces, or NONE. parent: the block that it is to follow, or NONE; whether it does is in the result's
   `follows` */
enum translate_mode {
	TRANSLATE_BLOCK,
	TRANSLATE_SINGLE, /* one instruction, not to be found again */
	/* of a loop's block: the same counter in every turn would be a chain of stores and loads */
	TRANSLATE_COPY,
};
uint32_t translate(struct thread *t, uint64_t pc, bool indirect, enum translate_mode mode, uint32_t thunk_exit,
		   uint32_t before, uint32_t parent);
struct state_mark {
	uint32_t offset;
	uint8_t kind, spills, reg, counted;
	uint16_t insn;
	int16_t rsp;
	uint8_t stream_spills, stream_regs; /* as struct stream_group's spills: pointer | temporary << 4 */
	/* so many are complete; the third register of inline checks | flags' state << 4 (enum mark_flags) */
	uint8_t stream_groups, stream_third;
	uint8_t recency, pad; /* register that has the models' clock, plus one; 0 */
};
enum mark_kind {
	MARK_INSN,
	MARK_REP,
	MARK_TARGET,
	MARK_EXIT0,
	MARK_EXIT1,
	MARK_CALL /* as EXIT0, the target in rcx */
};
enum mark_flags { FLAGS_REAL, FLAGS_IN_AX, FLAGS_IN_AH /* and the overflow flag is the real one */ };
/* spills: which registers are in which slot */
enum { SPILLED_RAX = 1, SPILLED_RCX = 2, SPILLED_OPERAND = 4, SPILLED_SECOND = 8 };
/* *next: where the block goes on if it has no branch */
unsigned translate_marks(struct translation *tr, const struct block *block, uint32_t id, struct state_mark *marks,
			 unsigned most, uint64_t *next);
bool target_table(const struct block *block, uint64_t *slot[3]);
uint8_t *emit_thunk(struct code_arena *arena, uint32_t exit_id, const struct block *target, uint8_t *to);
uint8_t *emit_indirect_entry(struct code_arena *arena, uint32_t id);

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

/* os/fpstate.c */
void fp_look(void);
/* components that are not in their initial state, as the processor says */
uint64_t fp_in_use(void);
void fp_learn(struct thread *t, uint64_t frame);          /* frame: the kernel's, its fpstate */
uint32_t fp_frame_bytes(const struct thread *t);          /* of the area in a frame … */
uint32_t fp_frame_room(const struct thread *t);           /* … and with the magic word behind it */
bool fp_frame_write(const struct thread *t, uint64_t at); /* false: memory faulted */
/* false: memory faulted, or the processor refuses what is there */
bool fp_frame_read(const struct thread *t, uint64_t at);
void fp_initial(void);   /* a handler begins */
void *fp_area_new(void); /* for fp_save(…, rt.fp_features) */

/* os/state.c */
void state_moved(struct thread *t, uint32_t block);
bool state_served(struct thread *t, const struct x86_insn *in, uint64_t at);

/* os/served_start.c: where the stack pointer is then */
uint64_t served_start(uint64_t rsp);
uint64_t served_vector(const void **vector); /* the auxiliary vector that is shown: its bytes */

/* os/served.c: not under rt.lock. The others: the exit's instruction faults, and is not done */
enum served_end { SERVED_DONE, SERVED_PROTECTION, SERVED_READ_FAULT, SERVED_WRITE_FAULT };
void served_look(void);
static inline bool is_served(const struct x86_insn *in)
{
	return rt.served && x86_is_served(in, rt.served, (rt.xstate.enabled & ~rt.shown_state) != 0);
}
enum served_end served_instruction(struct thread *t, uint32_t block, const struct x86_insn *in, uint64_t pc,
				   uint64_t *fault);
void served_exec(struct record_process *process); /* it is about to execute another program */
void served_saw(enum record_saw kind, uint64_t value);
void served_saw_bytes(enum record_saw kind, const uint8_t *bytes, uint64_t n);
uint64_t served_random(void);

/* os/served_calls.c */
#define SERVED_PARENT 0x400000u /* the kernel gives only lower ids (PID_MAX_LIMIT) */
typedef long served_call_maker(struct thread *t, uint64_t nr, uint64_t next);
long served_call(struct thread *t, uint64_t nr, uint64_t next, served_call_maker *make);
long served_vsyscall(struct thread *t, uint64_t nr, long result);

/* os/served_places.c: under rt.lock, after the call. Where what was mapped or moved is now */
uint64_t served_mapped(const struct thread *t, uint64_t at);
uint64_t served_moved(const struct thread *t, uint64_t to);
void served_unmapped(uint64_t at, uint64_t bytes);

/* os/served_attributes.c: of a call that was made. Its result, where file systems differ in what they know */
void served_attributes(const struct thread *t, uint64_t nr);
long served_unsupported(uint64_t nr, long result);
uint64_t served_number(uint64_t inode); /* as it is shown */

/* os/served_read.c: after the call */
void served_give_random(uint64_t to, uint64_t bytes);
void served_look_at_bytes(enum record_saw kind, uint64_t at, uint64_t bytes);
void served_was_read(struct thread *t, uint64_t nr, uint64_t bytes);

/* os/served_self.c: written to a descriptor, not under rt.lock */
void served_maps(uint64_t fd);

/* os/served_directory.c, os/served_files.c. False: the call is made as ever */
bool served_directory(const struct thread *t, uint64_t nr, long *result);
void served_entries(uint64_t at, uint64_t bytes); /* of directories, as the kernel gave them */
bool served_file(const struct thread *t, uint64_t nr, long *result);
uint64_t served_clock_ns(void); /* … which the question moves on */

/* os/signal.c */
void runtime_signal(int signo, struct siginfo *info, void *context);
void signals_start(struct thread *t);
void signals_thread(struct thread *t);
void signal_ignore_in_kernel(int signo);
void signals_clear(struct thread *t); /* as CLONE_CLEAR_SIGHAND */
void signal_deliver(struct thread *t);
void signal_force(struct thread *t, int signo, int code, uint64_t address);
/* by its default action, whatever the program's is */
void signal_end(struct thread *t, int signo) __attribute__((noreturn));
uint64_t signals_held(const struct thread *t); /* sent to it or to its process, and blocked when they came */
void signal_release_held(struct thread *t);
void signal_requeue_held(struct thread *t); /* the kernel blocks them now */
enum signals_shown {
	SIGNALS_AS_EVER,
	SIGNALS_SHOWN /* signals_hide() */,
	SIGNALS_CAME /* the call is not made */
};
enum signals_shown signals_show(struct thread *t, uint64_t nr);
void signals_hide(struct thread *t);
void signals_as_sent(const struct thread *t, uint64_t nr, long result);
long signal_action(struct thread *t, uint64_t signo, uint64_t new, uint64_t old, uint64_t size);
long signal_mask(struct thread *t, uint64_t how, uint64_t set, uint64_t old, uint64_t size);
long signal_altstack(struct thread *t, uint64_t new, uint64_t old);
void signal_return(struct thread *t);
void signal_set_mask(struct thread *t, uint64_t mask);

/* os/syscall.c */
void system_call(struct thread *t, uint32_t block, uint64_t next);
void rseq_library(long fd);
void system_call_32(struct thread *t, uint32_t block, uint64_t next);

/* os/thread.c */
struct thread *thread_new(struct record_process *process);
long thread_clone(struct thread *t, uint64_t nr, uint64_t next);
long thread_fork(struct thread *t, long nr, const uint64_t args[6]);
void thread_exit(struct thread *t, uint64_t status);
void process_over(struct thread *t); /* all that is counted of its process is in the record */
void process_exit(struct thread *t, uint64_t status);
void process_inherits(struct record_process *process);
/* Every other thread is out of the cache, and waits before it enters it again; rt.lock is held. False: not within
 * the time. */
bool world_stop(struct thread *t, bool forever);
void lock(void);
void unlock(void);
void lock_word(uint32_t *word);
void unlock_word(uint32_t *word);
static inline struct thread *current(void)
{
	struct thread *t;
	__asm__("mov %%gs:0, %0" : "=r"(t));
	return t;
}

void thread_leaves_record(struct thread *t, bool moves);
struct record_process *thread_part(struct record_process *old);
bool thread_fresh_records(struct record_process *old, struct record_process *process);

/* region/region.c: under rt.lock. Contexts are sets of regions */
/* no address of a program's has such a bit */
static inline uint64_t context_key(uint32_t context) { return (uint64_t)context << 47; }
static inline uint32_t context_salt(uint32_t context) { return context * 0x85ebca6bu; }
/* it is in ranges at their own level: calls leave for another context */
bool context_calls(uint32_t context);
bool context_named(uint32_t context); /* it is in a region of libtare's */
bool context_has(uint32_t context, uint32_t region);
bool region_is_asked(uint32_t region); /* else it is one of libtare's */
uint32_t context_with(uint32_t context, uint32_t region, bool own_level);
uint32_t context_without(uint32_t context, uint32_t region);
uint32_t context_called(uint32_t context);
uint32_t context_members(uint32_t context, const uint32_t **members);
bool regions_event(uint32_t context, uint64_t pc); /* a pass begins or ends in front of pc */
bool regions_contain(uint32_t region, uint64_t pc);
uint64_t regions_cut(uint64_t pc); /* where a block that begins at pc ends at the latest */
bool regions_start(void);
bool regions_ready(void);  /* makes the record of regions, if there is none */
void regions_mapped(void); /* rt.mappings was read anew */
void regions_unmapped(uint64_t start, uint64_t end);
/* by the address of its name, whose bytes these are if it is not `fixed`; NONE */
uint32_t region_named(uint64_t pointer, const char *fixed);
/* by its name: up to a 0 byte, or `most` bytes without the blanks at their end; NONE */
uint32_t region_of_text(uint64_t text, uint64_t most);
struct record_pass *region_pass(struct thread *t, uint32_t region);
void regions_lost(uint32_t what);
bool regions_child(struct thread *t, struct record_process *process);
bool regions_moved(struct record_process *process);
/* what the models counted since the context began is its regions' */
void regions_counted(struct thread *t);
void regions_recounted(struct thread *t);                /* … begins now, or with other counts */
static inline uint32_t region_magic(const uint8_t *code) /* what libtare asks for there; 0 */
{
	static const uint8_t nop[5] = {0x66, 0x0f, 0x1f, 0x84, 0};
	uint32_t magic;
	memcpy(&magic, code + 5, 4);
	if (memcmp(code, nop, 5))
		return 0;
	return (magic > REGION_CALL_MAGIC && magic <= (REGION_CALL_MAGIC | REGION_CALL_ASK)) ||
			       (magic >= REGION_STUB_MAGIC && magic <= REGION_STUB_INIT)
		       ? magic
		       : 0;
}

/* region/mark.c: the magic of the mark that begins with this instruction; 0. truncated: what comes behind it is
 * not among the bytes */
uint32_t mark_behind(const struct x86_insn *in, const uint8_t *code, unsigned available, bool *truncated);
uint32_t mark_at(const struct thread *t, uint64_t *rdi, uint64_t *behind);

/* region/enter_leave.c: the same; regions_signal and regions_return take it themselves */
void regions_thread(struct thread *t);                              /* a thread begins, in none */
void regions_inherit(struct thread *child, const struct thread *t); /* a vfork's child */
void regions_inherited(struct thread *t);                           /* … runs */
void regions_at(struct thread *t, uint32_t block);                  /* t->pc is where a pass begins or ends */
void regions_call(struct thread *t, uint64_t back);
void regions_branched(struct thread *t); /* t->pc was reached by a branch that may be a return */
/* t->reg's stack pointer is a handler's frame; what it was */
void regions_signal(struct thread *t, uint64_t interrupted);
void regions_return(struct thread *t, uint64_t frame);
void regions_end(struct thread *t);   /* after stream_end */
void regions_stack(struct thread *t); /* rsp was loaded, and was t->stack_left before */

/* region/stacks.c: the same, but for stack_loaded */
bool stack_loaded(const struct x86_insn *in);                   /* it may lead to another stack */
void stacks_thread(struct thread *t, uint64_t sp);              /* a thread begins there */
void stacks_same(struct thread *child, const struct thread *t); /* … on the stack that t is on */
/* a frame, by a longjmp or the like */
void stacks_give_up(uint64_t low, uint64_t top, uint64_t back, uint32_t region);
bool stacks_moved(struct thread *t, uint64_t from, uint64_t to); /* true: to another stack */

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

/* record/part.c. part_continue: under rt.lock, where the thread's last exit is settled */
bool part_is_due(const struct thread *t);
void part_continue(struct thread *t);
/* part_exclusively: under rt.lock, in a system call before it is made; false: a child shares the memory. The
 * others: of who closes a part */
bool part_exclusively(struct thread *t, void (*change)(struct thread *t));
void part_ends(struct thread *t);
void part_begins(struct thread *t, struct record_process *old, struct record_process *fresh, bool read);
void part_calls_move(bool away);
/* record/own.c: before a system call of the program, and in a child that a clone put into new namespaces */
void own_record_before(struct thread *t, uint64_t nr);
void own_record_child(struct thread *t);
bool own_record_flags(uint64_t clone_flags);
void call_begin(struct thread *t, uint64_t nr);
void call_end(struct thread *t);

/* os/seccomp.c */
bool filter_call(struct thread *t, uint64_t nr, long *result);

/* os/limits.c */
bool limits_start(void); /* true: there is little address space */
void limits_grew(void);
uint64_t limits_stride(void); /* how much may be mapped for nothing for a moment */
bool limits_call(struct thread *t, uint64_t nr, long *result);

/* cache/memory.c: under rt.lock */
void memory_modules_unknown(void);

/* os/maps.c, under rt.lock. False: there is no /proc */
struct mapping {
	uint64_t start, end, offset, device, inode;
	uint32_t protection, shared;
	const char *path;
};
bool maps_read(void (*each)(const struct mapping *m, void *context), void *context);
void memory_start(void);

/* os/mapping.c; own_add: under rt.lock, or before there are threads */
long mapping_call(struct thread *t, uint64_t nr);
long heap_call(struct thread *t);
void own_add(uint64_t start, uint64_t bytes);
bool own_any(uint64_t start, uint64_t end); /* is something of it the engine's? Under rt.lock */

/* cache/files.c; not under rt.lock but for file_mapped and file_written */
void file_opened(long fd);
void file_opened_how(long fd, uint64_t flags);    /* as open(2) has them */
uint32_t file_memory_of(long fd, uint64_t flags); /* the number of the process whose memory it is, or 0 */
void file_mapped(long fd, bool shared);
bool file_written(uint64_t device, uint64_t inode, const char *path);
bool mapping_is_of(const struct watched_mapping *region, const struct code_file *file);
void files_look(void);

void memory_rescan(void);
const struct watched_mapping *memory_executable(uint64_t pc);
void memory_mapped(uint64_t start, uint64_t length, uint32_t protection, bool shared, long fd, uint64_t offset);
void memory_forgotten(uint64_t start, uint64_t length);
bool memory_any(uint64_t start, uint64_t length); /* something there is executable, or shared */
/* NULL: any may be. True: it was code, and not known to be written */
bool memory_file_written(const struct code_file *file);
void memory_forked(void); /* the child has not all that its parent has */
void memory_unmapped(uint64_t start, uint64_t length);
void memory_protected(uint64_t start, uint64_t length, uint32_t protection);
/* before its bytes are read. True: to be checked instead */
bool memory_watch(uint64_t pc, uint64_t length, const struct watched_mapping *region);
bool memory_write_fault(struct thread *t, uint64_t address);
void memory_foreign(void); /* from now on writable code is always compared */
/* before the kernel writes there. True: something was protected */
bool memory_release(uint64_t start, uint64_t length);
void memory_pin(uint64_t at, uint64_t bytes); /* no page there is protected from now on */
/* True: nothing writes there any more, and what was translated meanwhile is gone */
bool memory_settle(uint64_t pc, uint64_t length);

/* os/own_status.c; not under rt.lock */
void own_status_opened(long fd);
void own_status_read(const struct thread *t, uint64_t nr, long result);

/* os/written.c. Between begin and end no page that the call may write is protected; not under rt.lock */
void written_begin(struct thread *t, uint64_t nr);
/* more than the call's number says; then written_open() */
void written_add(struct thread *t, uint64_t at, uint64_t bytes);
void written_everything(struct thread *t);
void written_open(struct thread *t);
void written_end(struct thread *t);
void written_last(struct thread *t);
bool written_now(uint64_t start, uint64_t end); /* under rt.lock */

/* translate/unknown.c, under rt.lock. processor_try() runs what is at `at` with all registers zero, until it
 * faults;
   runtime_signal() fills the trial and comes back. processor_refuses: the bytes are no instruction of this
   processor's; else the program ends with a message. */
struct processor_trial {
	struct thread *thread;
	uint64_t rip, cr2, trapno;
};
struct processor_trial *processor_trial(void);
void processor_try(const void *at);
void processor_tried(void);
bool processor_refuses(const uint8_t *bytes, unsigned available, const char *why, uint64_t pc);

/* record/record.c */
void inexact(const char *why);
void inexact_process(struct record_process *process, const char *why);
void inexact_at(const char *why, uint64_t pc);
void die(const char *why, uint64_t pc) __attribute__((noreturn));
bool attendant_lives(void);
void *memory_private(uint64_t bytes);
/* All of it will be written: its pages at once cost less than a fault for each. Only a wish. */
void memory_fill(void *at, uint64_t bytes);
/* It grows from one end, or from both: behind the first megabyte it is in huge pages, which cost a fifth. Only a
   wish. */
void memory_huge(void *at, uint64_t bytes);
uint64_t memory_place(uint64_t bytes);
void *record_map(uint64_t offset, uint64_t bytes, void *at);
void record_near(void); /* what is mapped next, here or in a child, is near by then */
uint64_t record_reserve(uint64_t bytes);
/* modules: that the host has filled, or NULL */
bool record_open(struct record_process *process, const struct record_area *modules);
bool record_is_short(enum area which, uint64_t entry); /* of room for what one exit may translate */
bool record_reopen(struct record_process *process);
bool record_part(struct record_process *process, bool remove);
void record_leave(void *area, uint64_t bytes, bool remove);
void request(struct record_process *process);
uint32_t record_block_begin(uint64_t pc);
const uint8_t *record_block_end(uint32_t id, const uint8_t *bytes, uint32_t length, uint32_t insns,
				bool conditional, uint32_t follows);
uint32_t record_block_module(uint32_t id);
void record_leader(uint32_t id);
void record_edge(uint32_t id, enum edge edge);
void record_site(uint32_t block, uint32_t insn, enum record_site_kind kind, uint32_t counter);
/* bytes; of one that shares its parent's memory */
#define CORRECTIONS_OF_CHILD (4096u * sizeof(struct record_correction))
void record_correct(struct thread *t, uint32_t block, uint32_t done);
void *record_area(struct record_area *area, uint64_t bytes, uint32_t inherited);
uint32_t record_module(uint64_t start, uint64_t length, uint64_t offset, const char *path);

static inline uint64_t *counter_of(const struct thread *t, uint32_t index) { return t->counters + index; }

#pragma GCC visibility pop
#endif
