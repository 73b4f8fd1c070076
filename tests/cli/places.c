/*
 * Maps, moves, grows and unmaps memory at random, in three processes, and looks at every page's contents as it goes: an
 * engine that chooses places (src/engine/runtime/os/served_places.c) must never put one mapping over another. Prints where the
 * mappings are at the end, and how many wrong pages there were.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 200, STEPS = 700, PAGE = 4096 };
static struct { uint64_t *at; size_t pages; uint64_t seed; } have[MOST];
static uint64_t state = 88172645463325252ull;
static unsigned long wrong;

static uint64_t chance(uint64_t below)
{
	state ^= state << 13, state ^= state >> 7, state ^= state << 17;
	return state % below;
}

static void fill(unsigned i, size_t from)
{
	for (size_t p = from; p < have[i].pages; p++)
		have[i].at[p * (PAGE / 8)] = have[i].seed + p;
}

static void look(unsigned i)
{
	for (size_t p = 0; p < have[i].pages; p++)
		wrong += have[i].at[p * (PAGE / 8)] != have[i].seed + p;
}

static void map(unsigned i)
{
	static const size_t sizes[] = {1, 2, 3, 16, 511, 512, 513, 1024, 1300};
	size_t pages = sizes[chance(sizeof sizes / sizeof *sizes)];
	int flags = MAP_ANONYMOUS | (chance(4) ? MAP_PRIVATE : MAP_SHARED);
	void *hint = chance(8) ? NULL : (char *)0x7f5000000000 + chance(64) * 0x10000;
	void *at = mmap(hint, pages * PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (at == MAP_FAILED)
		return;
	have[i].at = at, have[i].pages = pages, have[i].seed = chance(1u << 30) << 20;
	fill(i, 0);
}

static void change(unsigned i)
{
	size_t pages = 1 + chance(1500), before = have[i].pages;
	if (chance(3) == 0) { /* a hole, filled again at that very place */
		size_t from = chance(before), n = 1 + chance(before - from);
		munmap((char *)have[i].at + from * PAGE, n * PAGE);
		if (mmap((char *)have[i].at + from * PAGE, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		    MAP_FAILED)
			abort();
		fill(i, 0);
		munmap(have[i].at, before * PAGE);
		have[i].at = NULL;
		return;
	}
	void *at = mremap(have[i].at, before * PAGE, pages * PAGE, MREMAP_MAYMOVE);
	if (at == MAP_FAILED)
		return;
	have[i].at = at, have[i].pages = pages < before ? pages : before;
	if (pages > before) {
		/* shared memory has no pages behind its end */
		munmap((char *)at + before * PAGE, (pages - before) * PAGE);
	}
	look(i);
}

static void steps(void)
{
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned i = (unsigned)chance(MOST);
		if (!have[i].at)
			map(i);
		else if (chance(3)) {
			look(i);
			munmap(have[i].at, have[i].pages * PAGE);
			have[i].at = NULL;
		} else
			change(i);
	}
	uint64_t sum = 0;
	for (unsigned i = 0; i < MOST; i++)
		if (have[i].at) {
			look(i);
			sum = sum * 31 + (uint64_t)have[i].at + have[i].pages;
		}
	printf("places %016llx wrong %lu\n", (unsigned long long)sum, wrong);
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	steps();
	for (int child = 0; child < 2; child++) {
		if (fork() == 0) {
			steps();
			_exit(0);
		}
		wait(NULL);
	}
	return 0;
}
