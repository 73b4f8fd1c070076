#include "event/perfex_event.h"

static const struct perfex_event events[PERFEX_EVENTS] = {
	{ "Cycles", "Cycles" },
	{ "Issued instructions", "Instructions issued" },
	{ "Issued loads", "Load/prefetch/sync/CacheOp issued" },
	{ "Issued stores", "Stores issued" },
	{ "Issued store conditionals", "Store conditionals issued" },
	{ "Failed store conditionals", "Failed store conditionals" },
	{ "Decoded branches", "Branches decoded" },
	{ "Quadwords written back from scache", "Quadwords written back from secondary cache" },
	{ "Correctable scache data array ECC errors", "Correctable ECC errors on secondary cache data" },
	{ "Primary instruction cache misses", "Instruction cache misses" },
	{ "Secondary instruction cache misses", "Secondary cache misses (instruction)" },
	{ "Instruction misprediction from scache way prediction table",
	  "Secondary cache bank mispredictions (instructions)" },
	{ "External interventions", "External intervention requests" },
	{ "External invalidations", "External invalidate requests" },
	{ "Virtual coherency conditions", "Virtual coherency conditions" },
	{ "Graduated instructions", "Instructions graduated" },
	{ "Cycles", "Cycles" },
	{ "Graduated instructions", "Instructions graduated" },
	{ "Graduated loads", "Load/prefetch/sync/CacheOp graduated" },
	{ "Graduated stores", "Stores graduated" },
	{ "Graduated store conditionals", "Store conditionals graduated" },
	{ "Graduated floating point instructions", "Floating-point instructions graduated" },
	{ "Quadwords written back from primary data cache", "Quadwords written back from primary data cache" },
	{ "TLB misses", "TLB refill exceptions" },
	{ "Mispredicted branches", "Branches mispredicted" },
	{ "Primary data cache misses", "Data cache misses" },
	{ "Secondary data cache misses", "Secondary cache misses (data)" },
	{ "Data misprediction from scache way prediction table", "Secondary cache bank mispredictions (data)" },
	{ "External intervention hits in scache", "External intervention request hits" },
	{ "External invalidation hits in scache", "External invalidate request hits" },
	{ "Store/prefetch exclusive to clean block in scache",
	  "Stores or prefetch-exclusives to Clean Exclusive secondary cache blocks" },
	{ "Store/prefetch exclusive to shared block in scache",
	  "Stores or prefetch-exclusives to Shared secondary cache blocks" },
};

const struct perfex_event *perfex_event_at(size_t index)
{
	return index < PERFEX_EVENTS ? &events[index] : NULL;
}
