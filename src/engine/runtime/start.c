/* The host's hand-over: the runtime's own memory, the first thread, and the program's first block. */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/kept/kept.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/os/signal.h"
#include "engine/runtime/os/state.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/stream/stream.h"
#include "engine/runtime/thread.h"

_Static_assert(sizeof(struct thread) <= THREAD_BYTES - 0, "the counters follow");

void runtime_init(const struct start *start);

static void look_at_processor(void)
{
	uint32_t a = 0, b, c = 0, d, tsc = 0;
	rt.no_tsc = failed(sys2(SYS_prctl, PR_GET_TSC_, &tsc)) || tsc != PR_TSC_ENABLE_;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	rt.no_sysenter = b == 0x68747541 || b == 0x6f677948; /* "Auth"enticAMD, "Hygo"nGenuine */
	a = 7, c = 0;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	rt.has_bmi2 = b >> 8 & 1;
	fp_look();
	served_look();
}

#define BLOCKS_LEAST 1024u
#define ITEMS_LEAST (1u << 16)

static void choose_sizes(void)
{
	rt.limited = limits_start();
	rt.blocks_max = RECORD_BLOCKS_MOST;
	rt.arena_bytes = rt.setup->cache_bytes ? rt.setup->cache_bytes : 64u << 20;
	rt.slots_max = 16384;
	if (rt.limited) {
		rt.blocks_max = 1u << 15;
		if (!rt.setup->cache_bytes)
			rt.arena_bytes = 4u << 20;
		rt.slots_max = 1024;
	}
	if (rt.setup->blocks_most && rt.setup->blocks_most < rt.blocks_max)
		rt.blocks_max = rt.setup->blocks_most < BLOCKS_LEAST ? BLOCKS_LEAST : rt.setup->blocks_most;
	rt.blocks_max &= ~255u; /* counters are whole pages */
	if (rt.arena_bytes < 1u << 18)
		rt.arena_bytes = 1u << 18;
	rt.arena_bytes &= ~4095ull;
	rt.counters_most = rt.blocks_max * 2;
	rt.items_max = rt.blocks_max < ITEMS_LEAST / 4 ? ITEMS_LEAST : rt.blocks_max * 4;
}

void runtime_init(const struct start *start)
{
	uint64_t none = 0;
	rt.record = (struct record_head *)start->record;
	rt.setup = (const struct record_head *)start->setup;
	rt.image = start->image;
	rt.image_bytes = start->image_bytes;
	own_add(start->record, RECORD_SPACE_OFFSET);
	own_add(start->image, start->image_bytes);
	own_add(start->stack, start->stack_bytes);
	struct record_process *process = (struct record_process *)(start->record + RECORD_PROCESSES_OFFSET) +
					 start->process;
	rt.process = process;
	rt.code_files_begun = __atomic_load_n(&rt.record->code_file_claims, __ATOMIC_ACQUIRE);
	memcpy(rt.path, process->path, sizeof rt.path - 1);
	choose_sizes();
	look_at_processor();
	if (!record_open(process, &start->modules))
		die("no memory for the record, or mremap(2) or munmap(2) is refused", start->pc);
	rt.trace = (rt.setup->flags & RECORD_TRACE) != 0;
	if (rt.trace && !stream_open(process))
		die("no memory for the access stream", start->pc);
	if (!called_open(process))
		die("no memory for the record of system calls", start->pc);
	if (!regions_start())
		die("no memory for the record of regions", start->pc);
	if (!cache_start())
		die("no room below 2 GB for the tables of indirect branches", start->pc);
	rt.threads = memory_private(rt.slots_max * sizeof *rt.threads);
	rt.slot_state = memory_private(rt.slots_max * sizeof *rt.slot_state);
	struct thread *t = thread_new(process);
	if (!t)
		die("no memory for the first thread", start->pc);
	sys2(SYS_arch_prctl, ARCH_SET_GS_, t);
	t->tid = t->record->tid = (uint32_t)sys0(SYS_gettid);
	t->reg[X86_RSP] = rt.served ? served_start(start->rsp) : start->rsp;
	stacks_thread(t, t->reg[X86_RSP]);
	t->pc = start->pc;
	t->leader = 1;
	sys4(SYS_rt_sigprocmask, SIG_BLOCK_, 0, &t->mask, MASK_BYTES);
	(void)none;
	cache_arena(start->pc);
	memory_start();
	signals_thread(t);
	signals_start(t);
	signal_set_mask(t, t->mask);
	own_status_opened(0);
	process->pid = (uint32_t)sys0(SYS_getpid);
	__atomic_store_n(&process->state, RECORD_RUNNING, __ATOMIC_RELEASE);
	rt.started = 1;
	if (rt.setup->make)
		kept_make(t);
}
