#include "symbol/ranges.h"

#include <stdlib.h>

static int by_place(const void *a, const void *b)
{
	const struct range *x = a, *y = b;
	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

/* Appends [from, to) of the range, unless it is empty. */
static bool piece(struct ranges *out, const struct range *of, uint64_t from, uint64_t to)
{
	struct range p = *of;
	p.low = from, p.high = to;
	return from >= to || vec_push(&out->all, p);
}

bool ranges_flatten(struct ranges *ranges)
{
	struct ranges out = {0};
	VEC(struct range) open = {0}; /* those that began and did not end, in the order of their beginnings */
	uint64_t at = 0;
	bool done = false;
	if (ranges->all.count)
		qsort(ranges->all.items, ranges->all.count, sizeof *ranges->all.items, by_place);
	for (size_t i = 0; i <= ranges->all.count; i++) {
		uint64_t next = i < ranges->all.count ? ranges->all.items[i].low : UINT64_MAX;
		while (open.count && open.items[open.count - 1].high <= next) {
			const struct range *top = &open.items[open.count - 1];
			if (!piece(&out, top, at, top->high))
				goto out;
			at = top->high > at ? top->high : at;
			open.count--;
		}
		if (open.count && !piece(&out, &open.items[open.count - 1], at, next))
			goto out;
		at = next > at ? next : at;
		if (i < ranges->all.count && ranges->all.items[i].high > next &&
		    !vec_push(&open, ranges->all.items[i]))
			goto out;
	}
	ranges_free(ranges);
	*ranges = out;
	out = (struct ranges){0};
	done = true;
out:
	ranges_free(&out);
	vec_free(&open);
	return done;
}

/* The number of pieces that begin at or below the address. */
static size_t begun(const struct ranges *ranges, uint64_t address)
{
	size_t low = 0, high = ranges->all.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ranges->all.items[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct range *ranges_find(const struct ranges *ranges, uint64_t address)
{
	size_t n = begun(ranges, address);
	return n && address < ranges->all.items[n - 1].high ? &ranges->all.items[n - 1] : NULL;
}

const struct range *ranges_above(const struct ranges *ranges, uint64_t address)
{
	size_t n = begun(ranges, address);
	return n < ranges->all.count ? &ranges->all.items[n] : NULL;
}

void ranges_free(struct ranges *ranges) { vec_free(&ranges->all); }
