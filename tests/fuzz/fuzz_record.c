/*
 * libFuzzer target: a record of the engine that a program has written over. Whatever is in it, the host reads inside the file only,
 * ends, and gives no sum of blocks that differs from the sum of threads. Regions take nothing from these sums and add nothing.
 *
 * Input: number of processes, then their entries, cut or not, then what the pages from RECORD_SPACE_OFFSET on begin with: a byte n and 4 n
 * bytes for each. Offsets in entries are taken modulo the number of pages, so that many of them hit; so are those of a record of regions and of one
 * of calls' stacks, and their numbers modulo 64, unless their highest bit is set.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/engine/blocks.h"
#include "backend/engine/called.h"
#include "backend/engine/regions.h"
#include "backend/engine/tally.h"
#include "engine/inject/injection.h"
#include "engine/wire/called.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_at(int fd, uint64_t offset, const void *bytes, size_t length)
{
	if (length && pwrite(fd, bytes, length, (off_t)offset) != (ssize_t)length)
		abort();
}

static uint64_t inside(uint64_t offset, uint64_t pages)
{
	return offset >> 63 ? offset : RECORD_SPACE_OFFSET + offset % pages * RECORD_PAGE; /* some stay wild */
}

static uint32_t few(uint32_t number) { return number >> 31 ? number : number % 64; }

/* The header of a record of regions at the offset, whatever is there: pages that can be read follow. */
static void make_regions(int fd, uint64_t offset, uint64_t pages)
{
	struct record_regions r;
	if (offset >= RECORD_SPACE_OFFSET + pages * RECORD_PAGE ||
	    pread(fd, &r, sizeof r, (off_t)offset) != (ssize_t)sizeof r)
		return;
	r.n_regions = few(r.n_regions), r.n_contexts = few(r.n_contexts), r.n_members = few(r.n_members),
	r.n_passes = few(r.n_passes);
	uint64_t *offsets[] = {&r.regions, &r.contexts, &r.members, &r.passes, &r.names};
	for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
		if (!(*offsets[i] >> 63))
			*offsets[i] %= pages * RECORD_PAGE;
	r.models = r.models ? inside(r.models, pages) : 0;
	write_at(fd, offset, &r, sizeof r);
	for (uint32_t i = 0; i < r.n_regions && i < 64 && r.regions < pages * RECORD_PAGE;
	     i++) { /* names of megabytes are slow, and no news */
		struct record_region region;
		uint64_t at = offset + r.regions + i * sizeof region;
		if (pread(fd, &region, sizeof region, (off_t)at) != (ssize_t)sizeof region)
			return;
		region.name_bytes = few(region.name_bytes);
		write_at(fd, at, &region, sizeof region);
	}
}

/* Likewise of calls' stacks. */
static void make_called(int fd, uint64_t offset, uint64_t pages)
{
	struct record_called c;
	if (offset >= RECORD_SPACE_OFFSET + pages * RECORD_PAGE ||
	    pread(fd, &c, sizeof c, (off_t)offset) != (ssize_t)sizeof c)
		return;
	c.n_modules = few(c.n_modules), c.n_stacks = few(c.n_stacks);
	c.modules = c.modules >> 63 ? c.modules : c.modules % (pages * RECORD_PAGE);
	c.stacks = c.stacks >> 63 ? c.stacks : c.stacks % (pages * RECORD_PAGE);
	write_at(fd, offset, &c, sizeof c);
}

/* "call TAB count TAB seconds", and below it not more frames than a stack has: "TAB offset TAB file"? */
static void check_called(const struct view *view)
{
	const struct syscall_clock clock = {.ns_per_tick = 0.5, .ended = 1000};
	struct str text = {0};
	unsigned frames = RECORD_STACK_FRAMES + 1;
	if (!called_write(view, true, &clock, &text) || (text.length && text.text[0] != '\n'))
		abort();
	for (const char *line = text.length ? text.text + 1 : ""; *line; line = strchr(line, '\n') + 1) {
		const char *first = strchr(line, '\t'), *second = first ? strchr(first + 1, '\t') : NULL,
			   *third = second ? strchr(second + 1, '\t') : NULL, *end = strchr(line, '\n');
		frames = first == line ? frames + 1 : 0;
		if (!second || !end || second > end || (third && third < end) || frames > RECORD_STACK_FRAMES)
			abort();
	}
	str_free(&text);
}

/* The same counts with regions as without? */
static void check_regions(const struct view *view, const struct tally *without)
{
	struct tally_options options = {.children = true, .blocks = true, .code_lines = true, .machines = 2};
	struct tally *with = NULL;
	struct error err;
	if (!regions_new(view, 3, true, 2, &options.regions, &err))
		return;
	if (tally_new(view, &options, &with, &err)) {
		if (!with->why != !without->why ||
		    (!with->why && memcmp(with->total, without->total, sizeof with->total) != 0))
			abort();
		for (size_t i = 0; i < options.regions->n && !with->why && !options.regions->why; i++)
			if (!options.regions->all[i].asked && !options.regions->all[i].name &&
			    options.regions->all[i].name_bytes)
				abort();
	}
	tally_free(with);
	regions_free(options.regions);
}

/* The same counts by shapes of instructions as by vectors of blocks? */
static void check_shapes(const struct view *view, const struct tally *by_vectors)
{
	struct tally_options options = {.children = true, .code_lines = true, .machines = 2};
	struct tally *tally = NULL;
	struct error err;
	if (!tally_new(view, &options, &tally, &err))
		return;
	if (tally->why && !by_vectors->why)
		abort();
	for (unsigned c = 0; !by_vectors->why && c < COUNTS; c++)
		if (c != COUNT_BASIC_BLOCKS &&
		    (tally->total[c] != by_vectors->total[c] || !tally->unknown[c] != !by_vectors->unknown[c]))
			abort();
	tally_free(tally);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct record_head header = {.magic = RECORD_MAGIC};
	struct injection *injection;
	struct view *view = NULL;
	struct tally *tally = NULL;
	struct tally_options options = {.children = true, .blocks = true, .code_lines = true, .machines = 2};
	struct error err;
	uint64_t regions[4] = {0}, called[4] = {0};
	struct record_regions layout = {0};
	if (fd < 0)
		fd = memfd_create("fuzz-record", MFD_CLOEXEC);
	if (size == 0 || size > 8192)
		return 0;
	header.process_count = data[0] % 4;
	data++, size--;
	const uint64_t pages = 12;
	record_regions_lay_out(
		&layout); /* behind the pages there is room for a record of regions in any of them: holes */
	if (ftruncate(fd, 0) || ftruncate(fd, (off_t)(RECORD_SPACE_OFFSET + pages * RECORD_PAGE + layout.bytes)))
		abort();
	write_at(fd, 0, &header, sizeof header);
	for (uint32_t i = 0; i < header.process_count; i++) {
		struct record_process p = {0};
		size_t part = size < sizeof p ? size : sizeof p;
		memcpy(&p, data, part);
		data += part, size -= part;
		p.first_thread = p.first_thread ? inside(p.first_thread, pages) : 0;
		struct record_area *areas[] = {&p.blocks, &p.code, &p.modules, &p.sites, &p.corrections};
		for (size_t a = 0; a < sizeof areas / sizeof *areas; a++) {
			areas[a]->offset = inside(areas[a]->offset, pages);
			if (!(areas[a]->bytes >>
			      63)) /* none of the room for regions: millions of blocks are slow, and no news */
				areas[a]->bytes %= pages * RECORD_PAGE + 1;
		}
		p.inexact &= 1;
		regions[i] = p.regions = p.regions ? inside(p.regions, pages) : 0;
		called[i] = p.called = p.called ? inside(p.called, pages) : 0;
		write_at(fd, RECORD_PROCESSES_OFFSET + i * sizeof p, &p, sizeof p);
	}
	for (uint64_t page = 0; page < pages && size; page++) {
		size_t part = data[0] * 4u < size - 1 ? data[0] * 4u : size - 1;
		write_at(fd, RECORD_SPACE_OFFSET + page * RECORD_PAGE, data + 1, part);
		data += 1 + part, size -= 1 + part;
	}
	for (size_t i = 0; i < sizeof regions / sizeof *regions; i++)
		if (regions[i])
			make_regions(fd, regions[i], pages);
	for (size_t i = 0; i < sizeof called / sizeof *called; i++)
		if (called[i])
			make_called(fd, called[i], pages);
	if (!injection_read(fd, &injection, &err))
		return 0;
	if (view_new(injection, &view, &err) && tally_new(view, &options, &tally, &err)) {
		check_regions(view, tally);
		check_shapes(view, tally);
		check_called(view);
		for (enum blocks_groups groups = BLOCKS_TOGETHER; groups <= BLOCKS_BY_THREAD; groups++) {
			struct blocks *blocks;
			struct str text = {0};
			if (!blocks_new(view, true, groups, &blocks, &err))
				continue;
			if (!blocks->why && blocks->instructions != tally->total[COUNT_INSTRUCTIONS])
				abort();
			blocks_write(blocks, groups, &text);
			str_free(&text);
			blocks_free(blocks);
		}
	}
	tally_free(tally);
	view_free(view);
	injection_free(injection);
	return 0;
}
