/* A thread of the program: what the runtime knows of it, and what os/thread.c and os/clone.c do with threads. */
#ifndef TARE_ENGINE_RUNTIME_THREAD_H
#define TARE_ENGINE_RUNTIME_THREAD_H

#include "engine/runtime/cache/cache.h"
#include "engine/runtime/os/sys.h"

#define WRITTEN_MAX 24
struct written {
	uint64_t start, end;
}; /* the kernel may write there: see os/written.c */

#define THREAD_BYTES 8192u /* struct thread, in front of its counters */
#define STACK_BYTES 65536u
#define SIGNAL_STACK_BYTES 65536u
#define NONE 0xffffffffu
#define QUIET_SUMS 4u
#define ABORTED (-100000L) /* a system call that a signal prevented */
/* ILL TRAP BUS FPE SEGV: never blocked in the kernel */
#define SYNCHRONOUS_MASK ((1ull << 3) | (1ull << 4) | (1ull << 6) | (1ull << 7) | (1ull << 10))

enum { ATTENTION_SIGNAL = 1, ATTENTION_STOP = 2 };

struct inline_site;
struct model_counts;
struct record_process;
struct stream_models;

struct siginfo {
	int32_t signo, error, code, pad;
	uint64_t field[14];
}; /* 128 bytes */

struct signal_action {
	uint64_t handler, flags, restorer, mask;
};
#define SIGNALS 65
/* of rflags */
enum {
	FLAG_CF = 1,
	FLAG_ALWAYS = 2,
	FLAG_PF = 4,
	FLAG_AF = 0x10,
	FLAG_ZF = 0x40,
	FLAG_SF = 0x80,
	FLAG_TF = 0x100,
	FLAG_IF = 0x200,
	FLAG_DF = 0x400,
	FLAG_OF = 0x800,
	FLAG_NT = 0x4000,
	FLAG_RF = 0x10000,
	FLAG_AC = 0x40000,
	FLAG_ID = 0x200000
};
#define LOW_FLAGS (FLAG_SF | FLAG_ZF | FLAG_AF | FLAG_PF | FLAG_CF) /* in lahf's ah */
#define ARITHMETIC_FLAGS (FLAG_OF | LOW_FLAGS)
/* what the kernel takes from a signal's frame: its FIX_EFLAGS */
#define SIGNAL_FLAGS (ARITHMETIC_FLAGS | FLAG_TF | FLAG_DF | FLAG_RF | FLAG_AC)
#define IRET_FLAGS (SIGNAL_FLAGS | FLAG_NT | FLAG_ID) /* what iret takes at user level */
/* a program's, cleared where the engine's own code goes on */
#define PROGRAMS_FLAGS (FLAG_TF | FLAG_DF | FLAG_NT | FLAG_RF | FLAG_AC)
/* not for the engine's own code */
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
	/* what quiet blocks have counted, as sums of their numbers' remainders: see stream/code.c */
	uint64_t quiet[QUIET_SUMS];
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
	uint32_t altstack_flags; /* as they were set */
	uint32_t pending_count;  /* 0 or 1 at rest; a second one may be a synchronous fault */
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
	uint32_t shown; /* the kernel blocks what the program blocks, also faults' signals: see signals_show() */
	/* registers at a signal's arrival in the cache, rip last but one, flags last */
	uint64_t raw[18];
	uint32_t raw_valid, step_once;
	uint32_t trace_skip, forked;
	uint32_t recovered;                /* by recover_thread: 1 at t->pc, 2 at left_by */
	uint32_t left_id, left_generation; /* the exit, or EXIT_LOOKUP, that it has left the cache by */
	struct exit left_by;
	uint64_t retried;
	uint64_t stepping;
	uint32_t forced;    /* a fault that was sent to itself */
	uint32_t unsettled; /* what left_by counts is not counted yet */
	/* a following block's number plus one, whose count already has the entry that is about to be made, or that
	 * was made last */
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
	uint32_t in_call, parked;              /* see record/part.c */
	uint32_t corrections_used, call_place; /* see os/called.c */
	/* of a vfork child's process, which has no other area; NULL: none yet */
	struct record_correction *corrections;
	/* of the system call that is being made: what is corrected should it not happen */
	uint32_t call_block, call_done;
	struct written written[WRITTEN_MAX]; /* by the call that is being made */
	uint32_t changed, pad13; /* a child in its parent's memory changed what it may do: see record/own.c */
	uint32_t written_count, clear_actions; /* it begins without its maker's handlers */
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

#pragma GCC visibility push(hidden)

/* os/thread.c */
struct thread *thread_new(struct record_process *process);
/* A fresh area of counters, with the thread's record behind them, at the thread's place; so many bytes. */
bool thread_record(struct thread *t, struct record_process *process);
uint64_t thread_record_bytes(void);
/* The entry of a child; NULL: there are too many processes. */
struct record_process *process_reserve(const struct record_process *parent);
void thread_exit(struct thread *t, uint64_t status);
void process_over(struct thread *t); /* all that is counted of its process is in the record */
void process_exit(struct thread *t, uint64_t status);
void process_inherits(struct record_process *process);
/* Every other thread is out of the cache, and waits before it enters it again; rt.lock is held. False: not within
 * the time. */
bool world_stop(struct thread *t, bool forever);
/* The others end with what the thread is about to do, or go on if that fails: what they have executed is what is
 * counted. why: said if one does not stop. rt.lock is held. */
void others_end(struct thread *t, const char *why);
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

/* os/clone.c */
long thread_clone(struct thread *t, uint64_t nr, uint64_t next);
long thread_fork(struct thread *t, long nr, const uint64_t args[6]);

static inline uint64_t *counter_of(const struct thread *t, uint32_t index) { return t->counters + index; }

#pragma GCC visibility pop
#endif
