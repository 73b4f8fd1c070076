/*
 * record_seeds FOLDER          writes the corpus of fuzz_record
 * record_seeds --check FOLDER  TAP: is it what this writes? (A changed layout of the record makes other seeds of it: write them again.)
 *
 * Each seed is one program that ran a loop of four blocks, 60 instructions and 50 iterations of rep, as a runtime would have recorded it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/wire/called.h"
#include "engine/wire/record.h"
#include "engine/wire/region.h"
#include "tap.h"

// clang-format off: a table, a row a line
enum {
	PAGES = 12,
	BLOCKS = 1,
	CODE,
	MODULES,
	SITES,
	CORRECTIONS,
	COUNTERS,
	REGIONS,
	THREAD,
	MODELS,
	CHILD,
	CHILD_COUNTERS,
	CALLED = CHILD_COUNTERS /* there is no child then */
};
// clang-format on
enum { PAGE_MOST = 255 * 4 };

struct seed {
	struct record_process process[3];
	uint32_t n_processes;
	struct {
		uint8_t bytes[PAGE_MOST];
		size_t used;
	} pages[PAGES];
};

static void put(struct seed *s, unsigned page, size_t at, const void *bytes, size_t n)
{
	if (at + n > PAGE_MOST)
		abort();
	memcpy(s->pages[page].bytes + at, bytes, n);
	if (at + n > s->pages[page].used)
		s->pages[page].used = at + n;
}

static uint64_t at_page(unsigned page) { return RECORD_SPACE_OFFSET + page * (uint64_t)RECORD_PAGE; }

/* In an entry: the target makes an offset of it. */
static struct record_area area(unsigned page, uint32_t count, uint32_t inherited)
{
	return (struct record_area){.offset = page, .count = count, .inherited = inherited, .bytes = RECORD_PAGE};
}

static void put_thread(struct seed *s, unsigned page, uint32_t tid, unsigned counters, unsigned models)
{
	// clang-format off: a table, a row a line
	struct record_thread thread = {.counters = at_page(counters),
				       .counters_most = 7,
				       .tid = tid,
				       .state = RECORD_THREAD_EXITED,
				       .models = models ? at_page(models) : 0};
	// clang-format on
	thread.syscalls[1] = 1;
	put(s, page, 0, &thread, offsetof(struct record_thread, syscalls[2])); /* holes behind */
}

/* xor %eax, %eax; mov (%rdi), %rcx; rep movsb; 2: dec %ecx; jne; ret. context: in which the loop's blocks are. */
static struct seed one(uint32_t context)
{
	static const uint8_t code[] = {0x31, 0xc0, 0x48, 0x8b, 0x0f, 0xf3, 0xa4, 0xff, 0xc9, 0x75, 0xf7, 0xc3};
	const uint32_t in = context << RECORD_BLOCK_CONTEXT_SHIFT;
	const struct record_block blocks[] = {
		{0x1000, 0, 7, 3, 0, RECORD_NONE, 0, RECORD_BLOCK_LEADER | in},
		{0x1007, 7, 4, 2, 2, 3, 0, in},
		{0x1002, 2, 5, 2, 4, RECORD_NONE, 0, RECORD_BLOCK_LEADER | in},
		{0x100b, 11, 1, 1, 6, RECORD_NONE, 0, RECORD_BLOCK_LEADER},
	};
	const struct record_site sites[] = {{.block = 0, .insn = 2, .counter = 1},
					    {.block = 2, .insn = 1, .counter = 5}};
	const struct record_module module = {.address = 0x1000, .length = 0x1000, .path = "/bin/x"};
	const uint64_t counters[] = {1, 10, 5, 4, 4, 40, 1};
	struct seed s = {.n_processes = 1};
	// clang-format off: a table, a row a line
	s.process[0] = (struct record_process){.state = RECORD_EXITED,
					       .pid = 1000,
					       .parent = RECORD_NONE,
					       .thread_count = 1,
					       .first_thread = THREAD,
					       .blocks = area(BLOCKS, 4, 0),
					       .code = area(CODE, sizeof code, 0),
					       .modules = area(MODULES, 1, 0),
					       .sites = area(SITES, 2, 0),
					       .corrections = area(CORRECTIONS, 0, 0),
					       .path = "/bin/x"};
	// clang-format on
	put(&s, BLOCKS, 0, blocks, sizeof blocks);
	put(&s, CODE, 0, code, sizeof code);
	put(&s, MODULES, 0, &module, sizeof module);
	put(&s, SITES, 0, sites, sizeof sites);
	put(&s, COUNTERS, 0, counters, sizeof counters);
	put_thread(&s, THREAD, 7, COUNTERS, 0);
	return s;
}

static struct seed corrected(void)
{
	const struct record_correction correction = {.block = 0, .done = 1, .tid = 7, .times = 1};
	struct seed s = one(0);
	s.process[0].corrections.count = 1;
	put(&s, CORRECTIONS, 0, &correction, sizeof correction);
	return s;
}

/* A child that goes on in its parent's blocks, and has one of its own. */
static struct seed forked(uint32_t context)
{
	const struct record_block own = {
		0x100b, 11, 1, 1, 7, RECORD_NONE, 0, RECORD_BLOCK_LEADER | context << RECORD_BLOCK_CONTEXT_SHIFT};
	const uint64_t counters[] = {0, 0, 3, 2, 2, 9, 1, 2};
	struct seed s = one(context);
	s.n_processes = 2;
	s.process[1] = s.process[0];
	s.process[1].pid = 1001, s.process[1].parent = 0, s.process[1].forked = 1,
	s.process[1].first_thread = CHILD;
	s.process[1].blocks = area(CORRECTIONS, 5, 4);
	s.process[1].sites = area(SITES, 2, 2), s.process[1].modules = area(MODULES, 1, 1);
	put(&s, CORRECTIONS, 0, &own, sizeof own);
	put(&s, CHILD_COUNTERS, 0, counters, sizeof counters);
	put_thread(&s, CHILD, 8, CHILD_COUNTERS, 0);
	return s;
}

/* The loop is in "sort" and in the second region asked for; context 1 of these: both. */
static void put_regions(struct seed *s, uint32_t lost, unsigned models)
{
	const struct record_region regions[] = {{.name_bytes = 4}, {.asked = 2}, {.name = 4, .name_bytes = 3}};
	const struct record_context contexts[] = {{0, 0}, {0, 2}};
	const uint32_t members[] = {0 << 1, 1 << 1 | 1};
	const struct record_pass passes[] = {{.region = 0, .tid = 7, .entries = 1, .exits = 1, .moved = 2},
					     {.region = 1, .tid = 7, .entries = 1, .depth = 1},
					     {.region = 0, .tid = 8, .entries = 3, .exits = 4, .strays = 1}};
	// clang-format off: a table, a row a line
	struct record_regions header = {.n_regions = 3,
					.n_contexts = 2,
					.n_members = 2,
					.n_passes = 3,
					.names_used = 7,
					.lost = lost,
					.regions = 128,
					.contexts = 192,
					.members = 256,
					.passes = 320,
					.names = 512,
					.models = models};
	// clang-format on
	put(s, REGIONS, 0, &header, sizeof header);
	put(s, REGIONS, 128, regions, sizeof regions);
	put(s, REGIONS, 192, contexts, sizeof contexts);
	put(s, REGIONS, 256, members, sizeof members);
	put(s, REGIONS, 320, passes, sizeof passes);
	put(s, REGIONS, 512, "sortnew", 7);
	for (uint32_t i = 0; i < s->n_processes; i++)
		s->process[i].regions = REGIONS;
}

static struct seed regions(void)
{
	struct seed s = one(1);
	put_regions(&s, 0, 0);
	return s;
}

static struct seed regions_lost(void)
{
	struct seed s = forked(1);
	put_regions(&s, RECORD_LOST_ENDS | RECORD_LOST_REGIONS, 0);
	return s;
}

/* With what a machine counted, in all and in the regions: 5 of its first cache's accesses, but an access stream of no instruction. */
static struct seed regions_modelled(void)
{
	const uint64_t counts[] = {5};
	struct seed s = one(1);
	put_regions(&s, 0, MODELS);
	put_thread(&s, THREAD, 7, COUNTERS, MODELS);
	put(&s, MODELS, 0, counts, sizeof counts);
	return s;
}

static struct seed regions_damaged(void)
{
	struct seed s = one(2); /* there is no such context */
	put_regions(&s, 0, 0);
	return s;
}

/* Two stacks of the same calls: from a file, where the thread's last one is that did not come back, and from memory of no file; and calls that
 * there was no room for. */
static struct seed called(void)
{
	const struct record_called header = {.n_modules = 1,
					     .n_stacks = 2,
					     .most_stacks = 2,
					     .lost_calls = 3,
					     .lost_ticks = 300,
					     .modules = 128,
					     .stacks = 512};
	const struct record_module module = {.address = 0x1000, .length = 0x1000, .path = "/bin/x"};
	const struct record_stack stacks[] = {
		{.number = 39, .frames = 2, .calls = 5, .ticks = 50, .at = {0x1004, 0x1100}},
		{.number = 39, .frames = 1, .calls = 7, .ticks = 70, .at = {0x9000}, .module = {RECORD_NONE}}};
	const uint32_t call = 39 + 1;
	const uint64_t began = 500, place = 1;
	struct seed s = one(0);
	s.process[0].called = CALLED;
	put(&s, THREAD, offsetof(struct record_thread, call), &call, sizeof call);
	put(&s, THREAD + 1, offsetof(struct record_thread, call_began) - RECORD_PAGE, &began, sizeof began);
	put(&s, THREAD + 1, offsetof(struct record_thread, call_place) - RECORD_PAGE, &place, sizeof place);
	put(&s, CALLED, 0, &header, sizeof header);
	put(&s, CALLED, 128, &module, sizeof module);
	put(&s, CALLED, 512, stacks, sizeof stacks);
	return s;
}

static size_t written(const struct seed *s, uint8_t *out)
{
	uint8_t *to = out;
	*to++ = (uint8_t)s->n_processes;
	for (uint32_t i = 0; i < s->n_processes; i++, to += sizeof s->process[i])
		memcpy(to, &s->process[i], sizeof s->process[i]);
	for (unsigned page = 0; page < PAGES; page++) {
		size_t words = (s->pages[page].used + 3) / 4;
		*to++ = (uint8_t)words;
		memcpy(to, s->pages[page].bytes, words * 4);
		to += words * 4;
	}
	return (size_t)(to - out);
}

int main(int argc, char **argv)
{
	const bool check = argc == 3 && strcmp(argv[1], "--check") == 0;
	// clang-format off: a table, a row a line
	const struct {
		const char *name;
		struct seed seed;
	} seeds[] = {
		{"one", one(0)},
		{"corrected", corrected()},
		{"forked", forked(0)},
		{"regions", regions()},
		{"regions-lost", regions_lost()},
		{"regions-modelled", regions_modelled()},
		{"regions-damaged", regions_damaged()},
		{"called", called()},
	};
	// clang-format on
	if (argc != 2 + check)
		return 2;
	for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
		static uint8_t bytes[sizeof(struct seed)], there[sizeof bytes + 1];
		char path[4096];
		size_t n = written(&seeds[i].seed, bytes);
		snprintf(path, sizeof path, "%s/%s", argv[argc - 1], seeds[i].name);
		FILE *file = fopen(path, check ? "rb" : "wb");
		if (check) {
			size_t got = file ? fread(there, 1, sizeof there, file) : 0;
			ok(got == n && memcmp(bytes, there, n) == 0 && n <= 4096,
			   "the seed '%s' is of today's layout of the record", seeds[i].name);
		} else if (!file || fwrite(bytes, 1, n, file) != n) {
			perror(path);
			return 1;
		}
		if (file && fclose(file) != 0)
			return 1;
	}
	return check ? done() : 0;
}
