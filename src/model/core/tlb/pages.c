/* Which memory is in pages of which size: struct tlb_map (tlb.h), a process's ranges in ascending order. */
#include "model/core/tlb/level.h"

uint32_t tlb_map_shift(const struct tlb_map *map, uint64_t address)
{
	uint32_t low = 0, high = map->count;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (address >= map->ranges[middle].end)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->count && address >= map->ranges[low].start ? map->ranges[low].shift : tlb_ordinary(map);
}

static uint32_t append(struct tlb_range *to, uint32_t n, uint64_t start, uint64_t end, uint32_t shift,
		       uint32_t ordinary)
{
	uint64_t page = 1ull << shift;
	start = (start + page - 1) & ~(page - 1);
	end &= ~(page - 1);
	if (start >= end || shift <= ordinary)
		return n;
	if (n && to[n - 1].end == start && to[n - 1].shift == shift)
		to[n - 1].end = end;
	else
		to[n++] = (struct tlb_range){start, end, shift, 0};
	return n;
}

bool tlb_map_set(struct tlb_map *map, uint64_t start, uint64_t length, uint64_t page_bytes)
{
	/* what is left of the old ones in front, the new one, what is left behind: at most two more than before */
	struct tlb_range now[TLB_RANGES + 2];
	uint64_t end = start + length;
	uint32_t n = 0, shift = page_bytes ? log2_up(page_bytes) : 0, ordinary = tlb_ordinary(map);
	if (end < start || shift < TLB_PAGE_SHIFT || shift > 40 || page_bytes & (page_bytes - 1)) {
		map->dropped++;
		return false;
	}
	uint32_t i = 0;
	for (; i < map->count && map->ranges[i].start < start; i++) {
		const struct tlb_range *r = &map->ranges[i];
		n = append(now, n, r->start, r->end < start ? r->end : start, r->shift, ordinary);
	}
	n = append(now, n, start, end, shift, ordinary);
	for (i = i ? i - 1 : 0; i < map->count; i++) {
		const struct tlb_range *r = &map->ranges[i];
		if (r->end > end)
			n = append(now, n, r->start > end ? r->start : end, r->end, r->shift, ordinary);
	}
	if (n > TLB_RANGES) {
		map->dropped++;
		return false;
	}
	for (i = 0; i < n; i++)
		map->ranges[i] = now[i];
	map->count = n;
	return true;
}
