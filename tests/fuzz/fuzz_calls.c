/* Bytes choose a program and a walk through it: the plain way and the quick way have the same call graph, with and without quiet blocks,
 * and it is what the walk knows of its calls. */
#include <stdio.h>
#include <string.h>

#include "unit/call_walk.h"

static const uint8_t *next;
static size_t left;

static unsigned from_bytes(unsigned n)
{
	if (!left)
		return 0;
	left--;
	return *next++ % n;
}

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct walk w;
	memset(&w, 0, sizeof w);
	w.choose = from_bytes;
	next = bytes, left = size;
	bool signals = from_bytes(2);
	walk(&w, 1 + (unsigned)(size < 500 ? size : 500), signals);
	for (unsigned i = 1; i < WALK_STREAMS; i++)
		check(walk_same(w.stream[0], w.stream[i]), "two ways have different graphs");
	check(!w.known || walk_right(&w, w.stream[0]), "the graph is not what the walk knows");
	walk_free(&w);
	return 0;
}
