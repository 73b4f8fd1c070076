/* Experiments on memory: chases, streams, first touches. See measure.h.
 *
 * A chase goes once around a circle of all its lines in a random order (Sattolo's algorithm), so that neither a
 * prefetcher nor an out-of-order core has the next address before the load is done. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "explain/measure.h"

enum { HUGE_PAGE_BYTES = 2 << 20, PARTS = 25 };

struct cost_chase {
	char *mapping, *memory, *at;
	const char *next_read;
	size_t bytes, n, stride;
	size_t line_bytes, page_lines; /* page_lines 0: packed; else a line's place varies from page to page */
};

/* Lines one a page would all have the place 0 in it, and share few sets of a cache. */
static char *line_of(const struct cost_chase *c, size_t i)
{
	return c->memory + i * c->stride + (c->page_lines ? i % c->page_lines * c->line_bytes : 0);
}

static bool link_lines(struct cost_chase *c)
{
	uint32_t *order = malloc(c->n * sizeof *order);
	uint64_t x = 88172645463325252u;
	if (!order)
		return false;
	for (size_t i = 0; i < c->n; i++)
		order[i] = (uint32_t)i;
	for (size_t i = c->n - 1; i > 0; i--) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		size_t j = x % i;
		uint32_t kept = order[i];
		order[i] = order[j];
		order[j] = kept;
	}
	for (size_t i = 0; i < c->n; i++)
		*(char **)line_of(c, i) = line_of(c, order[i]);
	free(order);
	return true;
}

struct cost_chase *cost_chase_new(size_t n, size_t stride, size_t line_bytes, bool small_pages)
{
	struct cost_chase *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	*c = (struct cost_chase){.n = n, .stride = stride, .line_bytes = line_bytes};
	c->page_lines = stride > line_bytes ? stride / line_bytes : 0;
	/* whole large pages, wherever the mapping begins */
	c->bytes = (n * stride + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES + HUGE_PAGE_BYTES;
	c->mapping = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c->mapping == MAP_FAILED) {
		free(c);
		return NULL;
	}
	c->memory = c->mapping + (HUGE_PAGE_BYTES - (uintptr_t)c->mapping % HUGE_PAGE_BYTES) % HUGE_PAGE_BYTES;
	/* a wish: whether it is granted, the machine decides */
	madvise(c->mapping, c->bytes, small_pages ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	if (!link_lines(c)) {
		cost_chase_free(c);
		return NULL;
	}
	c->next_read = c->at = c->memory;
	if (c->page_lines)
		c->at = line_of(c, 0);
	return c;
}

static char *follow(char *at, size_t steps)
{
	for (size_t i = 0; i < steps; i++) {
		at = *(char *volatile *)at;
	}
	return at;
}

static int compare_ticks(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* The median of the parts: what interrupts one of them, and what it evicted, is in few. */
static double middle(uint64_t ticks[PARTS], const struct cost_timer *timer, size_t steps)
{
	qsort(ticks, PARTS, sizeof *ticks, compare_ticks);
	return (double)ticks[PARTS / 2] * timer->ns_per_tick / (double)(steps / PARTS);
}

double cost_chase_run(struct cost_chase *c, const struct cost_timer *timer, size_t steps, bool warm)
{
	uint64_t ticks[PARTS];
	if (warm)
		c->at = follow(c->at, c->n);
	for (size_t i = 0; i < PARTS; i++) {
		uint64_t begin = cost_ticks();
		c->at = follow(c->at, steps / PARTS);
		ticks[i] = cost_ticks() - begin;
	}
	return middle(ticks, timer, steps);
}

/* Reads a word of each line, in their order. Four sums: an addition does not wait for the one before. */
static void read_lines(struct cost_chase *c, size_t steps)
{
	const char *end = c->memory + c->n * c->stride, *at = c->next_read;
	size_t line = c->line_bytes;
	/* the place is in a register: kept in memory, each four loads would wait for a store */
	for (size_t i = 0; i < steps; i += 4, at += 4 * line) {
		if (at + 4 * line > end)
			at = c->memory;
		(void)*(const volatile uint64_t *)at;
		(void)*(const volatile uint64_t *)(at + line);
		(void)*(const volatile uint64_t *)(at + 2 * line);
		(void)*(const volatile uint64_t *)(at + 3 * line);
	}
	c->next_read = at;
}

double cost_chase_stream(struct cost_chase *c, const struct cost_timer *timer, size_t steps, bool warm)
{
	uint64_t ticks[PARTS];
	if (warm)
		read_lines(c, c->n);
	for (size_t i = 0; i < PARTS; i++) {
		uint64_t begin = cost_ticks();
		read_lines(c, steps / PARTS);
		ticks[i] = cost_ticks() - begin;
	}
	return middle(ticks, timer, steps);
}

void cost_chase_free(struct cost_chase *c)
{
	if (!c)
		return;
	munmap(c->mapping, c->bytes);
	free(c);
}

static double touch(volatile char *memory, size_t page_bytes, size_t n, const struct cost_timer *timer)
{
	uint64_t begin = cost_ticks();
	for (size_t i = 0; i < n; i++)
		memory[i * page_bytes] = 1;
	return (double)(cost_ticks() - begin) * timer->ns_per_tick / (double)n;
}

void cost_touch(const struct cost_timer *timer, size_t page_bytes, size_t n, double *first, double *again)
{
	*first = *again = NAN;
	char *memory = mmap(NULL, n * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	madvise(memory, n * page_bytes, MADV_NOHUGEPAGE);
	*first = touch(memory, page_bytes, n, timer);
	*again = touch(memory, page_bytes, n, timer);
	munmap(memory, n * page_bytes);
}
