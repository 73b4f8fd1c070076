/* The host's hand-over: the runtime's own memory, the first thread, and the program's first block. */
#include "engine/runtime/stream/stream.h"

#define AT(member, offset)                                                                                        \
	_Static_assert(__builtin_offsetof(struct thread, member) == (offset),                                     \
		       "entry.S and emit.h have this offset")
AT(self, 0x00);
AT(spill_rax, 0x08);
AT(spill_rcx, 0x10);
AT(spill_operand, 0x20);
AT(spill_second, 0x28);
AT(target, 0x30);
AT(exit_id, 0x38);
AT(runtime_rsp, 0x40);
AT(exit_entry, 0x48);
AT(miss_entry, 0x50);
AT(reg, 0x58);
AT(flags, 0xd8);
AT(resume, 0xe0);
AT(attention, 0xe8);
AT(where, 0xec);
AT(app_gs, 0xf0);
AT(second_table, 0xf8);
AT(trace, 0x100);
AT(spill_trace, 0x108);
AT(spill_trace2, 0x110);
AT(last_indirect, 0x118);
AT(context, 0x11c);
AT(region_miss, 0x120);
AT(region_tail, 0x128);
AT(region_low, 0x130);
AT(region_span, 0x138);
AT(region_key, 0x140);
AT(region_table, 0x148);
AT(region_salt, 0x150);
AT(last_linkage, 0x158);
AT(inline_entry, 0x160);
AT(stack_left, 0x168);
AT(spill_third, 0x178);
AT(spill_flags, 0x180);
AT(apart, 0x188);
AT(behind, 0x190);
AT(misses_left, 0x3c);
AT(spill_rdx, 0x18);
_Static_assert(sizeof(struct thread) <= THREAD_BYTES - 0, "the counters follow");

void runtime_init(const struct start *start);

static void look_at_processor(void)
{
	uint32_t a = 0, b, c = 0, d, tsc = 0;
	rt.no_tsc = failed(sys2(SYS_prctl, 25, &tsc)) || tsc != 1; /* PR_GET_TSC: PR_TSC_ENABLE */
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	rt.no_sysenter = b == 0x68747541 || b == 0x6f677948; /* "Auth"enticAMD, "Hygo"nGenuine */
	a = 7, c = 0;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	rt.has_bmi2 = b >> 8 & 1;
	fp_look();
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
	rt.session = (struct record_session *)start->session;
	rt.setup = (const struct record_session *)start->setup;
	rt.image = start->image;
	rt.image_bytes = start->image_bytes;
	own_add(start->session, RECORD_SPACE_OFFSET);
	own_add(start->image, start->image_bytes);
	own_add(start->stack, start->stack_bytes);
	struct record_process *process = (struct record_process *)(start->session + RECORD_PROCESSES_OFFSET) +
					 start->process;
	rt.process = process;
	memcpy(rt.path, process->path, sizeof rt.path - 1);
	choose_sizes();
	look_at_processor();
	if (!record_open(process, &start->modules))
		die("no memory for the record", start->pc);
	rt.trace = (rt.setup->flags & RECORD_TRACE) != 0;
	if (rt.trace && !stream_open(process))
		die("no memory for the access stream", start->pc);
	if (!regions_start())
		die("no memory for the record of regions", start->pc);
	if (!cache_start())
		die("no room below 2 GB for the tables of indirect branches", start->pc);
	rt.threads = memory_private(rt.slots_max * sizeof *rt.threads);
	rt.slot_state = memory_private(rt.slots_max * sizeof *rt.slot_state);
	struct thread *t = thread_new(process);
	if (!t)
		die("no memory for the first thread", start->pc);
	sys2(SYS_arch_prctl, 0x1001, t);
	t->tid = t->record->tid = (uint32_t)sys0(SYS_gettid);
	t->reg[X86_RSP] = start->rsp;
	stacks_thread(t, start->rsp);
	t->pc = start->pc;
	t->leader = 1;
	sys4(SYS_rt_sigprocmask, 0, 0, &t->mask, 8);
	(void)none;
	cache_arena(start->pc);
	memory_start();
	signals_thread(t);
	signals_start(t);
	signal_set_mask(t, t->mask);
	process->pid = (uint32_t)sys0(SYS_getpid);
	__atomic_store_n(&process->state, RECORD_RUNNING, __ATOMIC_RELEASE);
	rt.started = 1;
}
