#include "event/perfex_event.h"

static const struct perfex_event events[PERFEX_EVENTS] = {
	{"Cycles", "Cycles"},
	{"Issued instructions", "Instructions issued"},
	{"Issued loads", "Load/prefetch/sync/CacheOp issued"},
	{"Issued stores", "Stores issued"},
	{"Issued store conditionals", "Store conditionals issued"},
	{"Failed store conditionals", "Failed store conditionals"},
	{"Decoded branches", "Branches decoded"},
	{"Quadwords written back from scache", "Quadwords written back from secondary cache"},
	{"Correctable scache data array ECC errors", "Correctable ECC errors on secondary cache data"},
	{"Primary instruction cache misses", "Instruction cache misses"},
	{"Secondary instruction cache misses", "Secondary cache misses (instruction)"},
	{"Instruction misprediction from scache way prediction table",
	 "Secondary cache bank mispredictions (instructions)"},
	{"External interventions", "External intervention requests"},
	{"External invalidations", "External invalidate requests"},
	{"Virtual coherency conditions", "Virtual coherency conditions"},
	{"Graduated instructions", "Instructions graduated"},
	{"Cycles", "Cycles"},
	{"Graduated instructions", "Instructions graduated"},
	{"Graduated loads", "Load/prefetch/sync/CacheOp graduated"},
	{"Graduated stores", "Stores graduated"},
	{"Graduated store conditionals", "Store conditionals graduated"},
	{"Graduated floating point instructions", "Floating-point instructions graduated"},
	{"Quadwords written back from primary data cache", "Quadwords written back from primary data cache"},
	{"TLB misses", "TLB refill exceptions"},
	{"Mispredicted branches", "Branches mispredicted"},
	{"Primary data cache misses", "Data cache misses"},
	{"Secondary data cache misses", "Secondary cache misses (data)"},
	{"Data misprediction from scache way prediction table", "Secondary cache bank mispredictions (data)"},
	{"External intervention hits in scache", "External intervention request hits"},
	{"External invalidation hits in scache", "External invalidate request hits"},
	{"Store/prefetch exclusive to clean block in scache",
	 "Stores or prefetch-exclusives to Clean Exclusive secondary cache blocks"},
	{"Store/prefetch exclusive to shared block in scache",
	 "Stores or prefetch-exclusives to Shared secondary cache blocks"},
};

/* What the R12000 counts under these numbers instead. */
static const struct perfex_event others[PERFEX_EVENTS] = {
	[1] = {"Decoded instructions", NULL},
	[2] = {"Decoded loads", NULL},
	[3] = {"Decoded stores", NULL},
	[4] = {"Miss handling table occupancy", NULL},
	[6] = {"Resolved conditional branches", NULL},
	[14] = {"ALU/FPU progress cycles", NULL},
	[16] = {"Executed prefetch instructions", NULL},
	[17] = {"Prefetch primary data cache misses", NULL},
	[28] = {"State of intervention hits in scache", NULL},
	[29] = {"State of invalidation hits in scache", NULL},
};

const struct perfex_event *perfex_event_at(size_t index) { return perfex_event_of(PERFEX_R10000, index); }

const struct perfex_event *perfex_event_of(enum perfex_machine machine, size_t index)
{
	if (index >= PERFEX_EVENTS)
		return NULL;
	return machine == PERFEX_R12000 && others[index].listed ? &others[index] : &events[index];
}

const char *perfex_machine_name(enum perfex_machine machine)
{
	return machine == PERFEX_R12000 ? "r12000" : "r10000";
}
