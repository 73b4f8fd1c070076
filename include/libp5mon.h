/* libp5mon's calls (Safford 1997, section 3.3) over libtare: two counters with events of the Pentium, of the
 * calling thread.
 *
 *     CNT_CONFIG config = {.event0 = data_read, .ctrl0 = evt_user, .event1 = branches, .ctrl1 = evt_user};
 *     unsigned long long values[3];
 *     config.clr = clr_0_1;
 *     if (p5mon_init() || p5mon_config(&config))
 *             fprintf(stderr, "%s\n", p5mon_error());
 *     work();
 *     p5mon_read(values);
 *     p5mon_close();
 *
 * Link with -lp5mon, as the thesis does. Each event is counted by the event of this machine that has its meaning
 * (`tare list events -v`), or under the engine: tare count --on model:pentium PROGRAM. What cannot be counted
 * makes p5mon_config() fail: it is never 0.
 *
 * Counters have 40 bits, as the Pentium's: they begin at 0 or at a preset value, and go on behind 2^40 - 1 at 0. A
 * call returns 0, or -1 with p5mon_error(). Not in signal handlers; after fork(2) the child begins with
 * p5mon_init().
 *
 * Regions in assembly, as the thesis's (section 4.2.2): `call p5mon_asm_init` at the program's start, and
 * p5mon_asm_begreg_X and p5mon_asm_endreg_X around region X, 0 to 99. They preserve all registers and the flags.
 * They are libtare's stubs (tare_asm.h) under other names; `run_p5mon -Fuse_assembly_regions=yes` counts them.
 * x86-64.
 *
 * C99 and C++. */
/* SPDX-License-Identifier: MIT */
#ifndef TARE_LIBP5MON_H
#define TARE_LIBP5MON_H

/* the thesis's programs print and exit without including these */
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define P5MON_COUNTER_BITS 40

typedef unsigned long long ULONG;

/* Table 3.2: numbers are the codes of the control register. */
typedef enum {
	data_read = 0x00,
	data_write = 0x01,
	data_tlb_miss = 0x02,
	data_read_miss = 0x03,
	data_write_miss = 0x04,
	write_to_M_or_E_lines = 0x05,
	data_cache_lines_written_back = 0x06,
	external_snoops = 0x07,
	data_cache_snooping_hits = 0x08,
	memory_accesses_in_both_pipes = 0x09,
	bank_conflicts = 0x0a,
	misaligned_data_memory_or_IO_references = 0x0b,
	code_read = 0x0c,
	code_tlb_miss = 0x0d,
	code_cache_miss = 0x0e,
	segment_register_loaded = 0x0f,
	branches = 0x12,
	btb_hits = 0x13,
	taken_branch_or_btb_hit = 0x14,
	pipeline_flushes = 0x15,
	instructions_executed = 0x16,
	instructions_executed_in_v_pipe = 0x17,
	clocks_while_bus_cycle_in_progress = 0x18,
	clocks_stalled_full_write_buffers = 0x19,
	clocks_stalled_waiting_data_read = 0x1a,
	clocks_stalled_write_to_M_or_E_line = 0x1b,
	locked_bus_cycle = 0x1c,
	IO_read_or_write_cycle = 0x1d,
	non_cacheable_memory_reads = 0x1e,
	pipeline_stalled_address_generation_interlock = 0x1f,
	flops = 0x22,
	breakpoint_match_DR0 = 0x23,
	breakpoint_match_DR1 = 0x24,
	breakpoint_match_DR2 = 0x25,
	breakpoint_match_DR3 = 0x26,
	hardware_interrupts = 0x27,
	data_read_or_write = 0x28,
	data_read_or_write_miss = 0x29,
	count_clocks = 0x40,  /* no code: clock cycles */
	event_disable = 0x41, /* no code: nothing */
} EVENT;

/* Table 3.3; numbers are the control register's (Table 2.2). */
typedef enum {
	evt_disable = 0,
	evt_kernel = 1,
	evt_user = 2,
	evt_all = 3,
	clk_kernel = 5,
	clk_user = 6,
	clk_all = 7,
} CNT_CTRL;

/* Table 3.4 */
typedef enum {
	clr_none = 0,
	clr_0 = 1,
	clr_1 = 2,
	clr_0_1 = 3,
	init_0_clr_1 = 4,
	init_1_clr_0 = 5,
	init_0 = 6,
	init_1 = 7,
	init_0_1 = 8,
	clear_only = 9, /* both to 0; events stay */
} CNT_CLR;

/* Table 3.5 */
typedef struct {
	EVENT event0, event1;
	CNT_CTRL ctrl1, ctrl0;
	CNT_CLR clr;
	ULONG init0, init1; /* 40 bits: the values that init_... begins with */
} CNT_CONFIG;

int p5mon_init(void);
int p5mon_close(void);
/* Both counters to 0; events stay. */
int p5mon_clear(void);
int p5mon_config(CNT_CONFIG *config);
/* result[3]: counter 0, counter 1, the control register. */
int p5mon_read(ULONG *result);
/* What a value of the control register means; clr is clr_none. */
void p5mon_gen_config(ULONG cesr, CNT_CONFIG *config);

/* The event's name ("data_read"); NULL: there is none of that number. */
const char *p5mon_event_name(EVENT event);
/* Why the calling thread's last call failed; "" when none did. Valid until its next call. */
const char *p5mon_error(void);

#ifdef __cplusplus
}
#endif
#endif
