/* libp5mon's calls over tare.h: see libp5mon.h.
 *
 *     counter i: base[i] + what libtare's set has counted since, modulo 2^40
 *
 * What always holds:
 *  1. A set is open for the events that are configured, or `set` is NULL and neither counter counts.
 *  2. Configuring reads the counters first, so that one that is left alone goes on from its value.
 *  3. After a failure the counters are as before, but for p5mon_close(). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/counters_call.h"
#include "libp5mon.h"
#include "tare.h"

enum { COUNTERS = 2, EVENT_BYTES = 96 };

#define MODULUS_MASK ((1ull << P5MON_COUNTER_BITS) - 1)

static const char *const names[] = {
	[data_read] = "data_read",
	[data_write] = "data_write",
	[data_tlb_miss] = "data_tlb_miss",
	[data_read_miss] = "data_read_miss",
	[data_write_miss] = "data_write_miss",
	[write_to_M_or_E_lines] = "write_to_M_or_E_lines",
	[data_cache_lines_written_back] = "data_cache_lines_written_back",
	[external_snoops] = "external_snoops",
	[data_cache_snooping_hits] = "data_cache_snooping_hits",
	[memory_accesses_in_both_pipes] = "memory_accesses_in_both_pipes",
	[bank_conflicts] = "bank_conflicts",
	[misaligned_data_memory_or_IO_references] = "misaligned_data_memory_or_IO_references",
	[code_read] = "code_read",
	[code_tlb_miss] = "code_tlb_miss",
	[code_cache_miss] = "code_cache_miss",
	[segment_register_loaded] = "segment_register_loaded",
	[branches] = "branches",
	[btb_hits] = "btb_hits",
	[taken_branch_or_btb_hit] = "taken_branch_or_btb_hit",
	[pipeline_flushes] = "pipeline_flushes",
	[instructions_executed] = "instructions_executed",
	[instructions_executed_in_v_pipe] = "instructions_executed_in_v_pipe",
	[clocks_while_bus_cycle_in_progress] = "clocks_while_bus_cycle_in_progress",
	[clocks_stalled_full_write_buffers] = "clocks_stalled_full_write_buffers",
	[clocks_stalled_waiting_data_read] = "clocks_stalled_waiting_data_read",
	[clocks_stalled_write_to_M_or_E_line] = "clocks_stalled_write_to_M_or_E_line",
	[locked_bus_cycle] = "locked_bus_cycle",
	[IO_read_or_write_cycle] = "IO_read_or_write_cycle",
	[non_cacheable_memory_reads] = "non_cacheable_memory_reads",
	[pipeline_stalled_address_generation_interlock] = "pipeline_stalled_address_generation_interlock",
	[flops] = "flops",
	[breakpoint_match_DR0] = "breakpoint_match_DR0",
	[breakpoint_match_DR1] = "breakpoint_match_DR1",
	[breakpoint_match_DR2] = "breakpoint_match_DR2",
	[breakpoint_match_DR3] = "breakpoint_match_DR3",
	[hardware_interrupts] = "hardware_interrupts",
	[data_read_or_write] = "data_read_or_write",
	[data_read_or_write_miss] = "data_read_or_write_miss",
	[count_clocks] = "count_clocks",
	[event_disable] = "event_disable",
};

/* The calling thread's counters. */
static __thread struct {
	bool initialised;
	pid_t process;
	struct tare_counters *set;
	int index[COUNTERS]; /* in the set; -1: the counter does not count */
	ULONG base[COUNTERS], cesr;
	char why[sizeof(((struct tare_error *)0)->text) + sizeof(((struct tare_error *)0)->hint) + 2];
} here;

static int failed(const char *text)
{
	snprintf(here.why, sizeof here.why, "%s", text);
	return -1;
}

static int failed_as(const struct tare_error *error)
{
	snprintf(here.why, sizeof here.why, "%s%s%s", error->text, *error->hint ? "; " : "", error->hint);
	return -1;
}

static int is_ready(void)
{
	*here.why = 0;
	if (!here.initialised || here.process != getpid())
		return failed("this thread has not called p5mon_init()");
	return 0;
}

/* What the counters show now. */
static int values_now(ULONG values[COUNTERS])
{
	struct tare_reading readings[COUNTERS];
	struct tare_error error;
	if (here.set && !tare_read(here.set, readings, &error))
		return failed_as(&error);
	for (int i = 0; i < COUNTERS; i++) {
		ULONG more = 0;
		if (here.index[i] >= 0) {
			if (readings[here.index[i]].state != TARE_COUNTED)
				return failed("an event was counted only part of the time: other programs used "
					      "the counters");
			more = readings[here.index[i]].count;
		}
		values[i] = (here.base[i] + more) & MODULUS_MASK;
	}
	return 0;
}

/* The event as tare_add() has it; 0: the counter does not count. -1: there is no such event, or level. */
static int event_text(EVENT event, CNT_CTRL ctrl, char text[EVENT_BYTES])
{
	static const char *const levels[] = {"", ":k", ":u", ":uk"};
	bool clocks = event == count_clocks || ctrl >= clk_kernel;
	if (!p5mon_event_name(event) || (unsigned)ctrl > clk_all || ctrl == 4)
		return failed("the event or its control is unknown: see libp5mon(3)");
	if (event == event_disable || ctrl == evt_disable)
		return 0;
	snprintf(text, EVENT_BYTES, "p5mon:%s%s", clocks ? "count_clocks" : names[event], levels[ctrl & 3]);
	return 1;
}

static ULONG cesr_of(EVENT event, CNT_CTRL ctrl)
{
	ULONG code = event < count_clocks ? (ULONG)event : 0, control = (ULONG)ctrl;
	if (event == count_clocks && control)
		control |= 4;
	if (event == event_disable)
		control = 0;
	return code | control << 6;
}

/* A set of the events, started. The same event twice is one of the set. */
static int open_set(const CNT_CONFIG *config, struct tare_counters **set, int index[COUNTERS])
{
	const EVENT events[COUNTERS] = {config->event0, config->event1};
	const CNT_CTRL controls[COUNTERS] = {config->ctrl0, config->ctrl1};
	char text[COUNTERS][EVENT_BYTES] = {"", ""};
	struct tare_error error;
	int n = 0;
	*set = NULL;
	for (int i = 0; i < COUNTERS; i++) {
		int counts = event_text(events[i], controls[i], text[i]);
		if (counts < 0)
			return -1;
		bool second = i && counts && strcmp(text[0], text[1]) == 0;
		index[i] = !counts ? -1 : second ? index[0] : n++;
	}
	if (!n)
		return 0;
	if (!tare_open(NULL, set, &error))
		return failed_as(&error);
	for (int i = 0, added = 0; i < COUNTERS; i++)
		if (index[i] == added && (added++, !tare_add(*set, text[i], &error))) {
			tare_close(*set);
			*set = NULL;
			return failed_as(&error);
		}
	return 0;
}

static void preset(const CNT_CONFIG *config, const ULONG now[COUNTERS], ULONG base[COUNTERS])
{
	static const struct {
		char of[COUNTERS]; /* 'k' keep, 'c' clear, 'i' initial value */
	} does[] = {[clr_none] = {{'k', 'k'}},  [clr_0] = {{'c', 'k'}},        [clr_1] = {{'k', 'c'}},
		    [clr_0_1] = {{'c', 'c'}},   [init_0_clr_1] = {{'i', 'c'}}, [init_1_clr_0] = {{'c', 'i'}},
		    [init_0] = {{'i', 'k'}},    [init_1] = {{'k', 'i'}},       [init_0_1] = {{'i', 'i'}},
		    [clear_only] = {{'c', 'c'}}};
	const ULONG initial[COUNTERS] = {config->init0, config->init1};
	for (int i = 0; i < COUNTERS; i++) {
		char what = does[config->clr].of[i];
		base[i] = what == 'k' ? now[i] : what == 'i' ? initial[i] & MODULUS_MASK : 0;
	}
}

static int clear(void)
{
	struct tare_error error;
	if (here.set && !tare_reset(here.set, &error))
		return failed_as(&error);
	here.base[0] = here.base[1] = 0;
	return 0;
}

COUNTERS_CALL(int, p5mon_init, p5mon_init_body, void)
{
	*here.why = 0;
	if (here.initialised && here.process != getpid())
		here.set = NULL; /* the parent's */
	if (here.set)
		tare_close(here.set);
	here.set = NULL;
	here.index[0] = here.index[1] = -1;
	here.base[0] = here.base[1] = here.cesr = 0;
	here.process = getpid();
	here.initialised = true;
	return 0;
}

COUNTERS_CALL(int, p5mon_close, p5mon_close_body, void)
{
	if (is_ready() != 0)
		return -1;
	tare_close(here.set);
	here.set = NULL;
	here.initialised = false;
	return 0;
}

COUNTERS_CALL(int, p5mon_clear, p5mon_clear_body, void) { return is_ready() != 0 ? -1 : clear(); }

COUNTERS_CALL(int, p5mon_config, p5mon_config_body, CNT_CONFIG *config)
{
	struct tare_counters *set;
	struct tare_error error;
	ULONG now[COUNTERS];
	int index[COUNTERS];
	if (is_ready() != 0)
		return -1;
	if (!config || (unsigned)config->clr > clear_only)
		return failed("p5mon_config(): the configuration is NULL, or its 'clr' is unknown");
	if (config->clr == clear_only)
		return clear();
	if (values_now(now) != 0 || open_set(config, &set, index) != 0)
		return -1;
	if (set && !tare_start(set, &error)) {
		tare_close(set);
		return failed_as(&error);
	}
	tare_close(here.set);
	here.set = set;
	memcpy(here.index, index, sizeof index);
	preset(config, now, here.base);
	here.cesr = cesr_of(config->event0, config->ctrl0) | cesr_of(config->event1, config->ctrl1) << 16;
	return 0;
}

COUNTERS_CALL(int, p5mon_read, p5mon_read_body, ULONG *result)
{
	ULONG now[COUNTERS];
	if (is_ready() != 0 || values_now(now) != 0)
		return -1;
	if (!result)
		return failed("p5mon_read(): the place for the counts is NULL");
	result[0] = now[0];
	result[1] = now[1];
	result[2] = here.cesr;
	return 0;
}

static void read_half(ULONG half, EVENT *event, CNT_CTRL *ctrl)
{
	*event = (EVENT)(half & 0x3f);
	*ctrl = (CNT_CTRL)(half >> 6 & 7);
	if (*ctrl == 4 || *ctrl == evt_disable) {
		*event = event_disable;
		*ctrl = evt_disable;
	}
}

void p5mon_gen_config(ULONG cesr, CNT_CONFIG *config)
{
	*config = (CNT_CONFIG){.clr = clr_none};
	read_half(cesr, &config->event0, &config->ctrl0);
	read_half(cesr >> 16, &config->event1, &config->ctrl1);
}

const char *p5mon_event_name(EVENT event)
{
	return (unsigned)event < sizeof names / sizeof *names ? names[event] : NULL;
}

const char *p5mon_error(void) { return here.why; }
