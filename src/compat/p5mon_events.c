#include "compat/p5mon_events.h"

#include <string.h>

#include "base/str.h"

static const struct p5mon_event events[P5MON_EVENTS] = {
	/* a misaligned one counts twice: Safford 5.5.2, Table 5.4 */
	{0x00, "data_read", "Data Read", "pentium-data-reads"},
	{0x01, "data_write", "Data Write", "pentium-data-writes"},
	{0x28, "data_read_or_write", "Data Read or Write"},
	{0x02, "data_tlb_miss", "Data TLB Miss"},
	{0x03, "data_read_miss", "Data Read Miss"},
	{0x04, "data_write_miss", "Data Write Miss"},
	{0x29, "data_read_or_write_miss", "Data Read or Write Miss"},
	{0x05, "write_to_M_or_E_lines", "Write to M or E Lines"},
	{0x06, "data_cache_lines_written_back", "Data Cache Lines Written Back"},
	{0x07, "external_snoops", "External Snoops"},
	{0x08, "data_cache_snooping_hits", "Data Cache Snooping Hits"},
	{0x09, "memory_accesses_in_both_pipes", "Memory Accesses in Both Pipes"},
	{0x0A, "bank_conflicts", "Bank Conflicts"},
	{0x0B, "misaligned_data_memory_or_IO_references", "Misaligned Data Memory or I/O References"},
	{0x0C, "code_read", "Code Read"},
	{0x0D, "code_tlb_miss", "Code TLB Miss"},
	{0x0E, "code_cache_miss", "Code Cache Miss"},
	{0x0F, "segment_register_loaded", "Segment Register Loaded"},
	{0x12, "branches", "Branches"},
	{0x13, "btb_hits", "BTB Hits"},
	{0x14, "taken_branch_or_btb_hit", "Taken Branch or BTB Hit"},
	{0x15, "pipeline_flushes", "Pipeline Flushes"},
	{0x16, "instructions_executed", "Instructions Executed"},
	{0x17, "instructions_executed_in_v_pipe", "Instructions Executed in the v-pipe"},
	{0x18, "clocks_while_bus_cycle_in_progress", "Clocks While Bus Cycle in Progress"},
	{0x19, "clocks_stalled_full_write_buffers", "Clocks Stalled Full Write Buffers"},
	{0x1A, "clocks_stalled_waiting_data_read", "Clocks Stalled Waiting Data Read"},
	{0x1B, "clocks_stalled_write_to_M_or_E_line", "Clocks Stalled Write to M or E Line"},
	{0x1C, "locked_bus_cycle", "Locked Bus Cycle"},
	{0x1D, "IO_read_or_write_cycle", "I/O Read or Write Cycle"},
	{0x1E, "non_cacheable_memory_reads", "Non-cacheable Memory Reads"},
	{0x1F, "pipeline_stalled_address_generation_interlock", "Pipeline Stalled Address Generation Interlock"},
	{0x22, "flops", "FLOPs"},
	{0x23, "breakpoint_match_DR0", "Breakpoint Match DR0"},
	{0x24, "breakpoint_match_DR1", "Breakpoint Match DR1"},
	{0x25, "breakpoint_match_DR2", "Breakpoint Match DR2"},
	{0x26, "breakpoint_match_DR3", "Breakpoint Match DR3"},
	{0x27, "hardware_interrupts", "Hardware Interrupts"},
	{P5MON_CLOCKS, "count_clocks", "Clock cycles"},
};

const struct p5mon_event *p5mon_event_at(size_t index) { return index < P5MON_EVENTS ? &events[index] : NULL; }

const struct p5mon_event *p5mon_event_named(const char *parameter)
{
	for (size_t i = 0; i < P5MON_EVENTS; i++)
		if (strcmp(events[i].parameter, parameter) == 0)
			return &events[i];
	return NULL;
}

const struct event_definition *paper_event_find(const struct event_table *table, const char *prefix,
						const char *name)
{
	size_t length = strlen(prefix);
	for (size_t i = 0; i < event_table_count(table); i++) {
		const struct event_definition *row = event_table_at(table, i);
		for (const char *const *paper = row->paper_names; paper && *paper; paper++)
			if (strncmp(*paper, prefix, length) == 0 && (*paper)[length] == ':' &&
			    str_equal_nocase(*paper + length + 1, name))
				return row;
	}
	return NULL;
}
