/* Call graphs of random walks through random programs: the plain way and the quick way, with and without quiet blocks, against what the
 * walk itself knows of its calls. */
#include <stdio.h>
#include <string.h>

#include "unit/call_walk.h"
#include "tap.h"

static uint64_t state = 88172645463325252u;

static unsigned below(unsigned n)
{
	state ^= state << 13, state ^= state >> 7, state ^= state << 17; /* Marsaglia's xorshift */
	return (unsigned)(state >> 33) % n;
}

struct found {
	unsigned same, known, right, arcs, quiet;
};

/* same: walks whose four graphs are the same; right: … and of those that are known, what must be. */
static struct found walks(unsigned n, bool signals)
{
	static struct walk w;
	struct found found = {0};
	for (unsigned i = 0; i < n; i++) {
		memset(&w, 0, sizeof w);
		w.choose = below;
		walk(&w, 1 + below(600), signals);
		bool same = true;
		for (unsigned k = 1; k < WALK_STREAMS; k++)
			same &= walk_same(w.stream[0], w.stream[k]);
		bool right = w.known && walk_right(&w, w.stream[0]);
		found.same += same, found.known += w.known, found.right += right;
		found.arcs += w.stream[0]->record->n_arcs, found.quiet += w.stream[3]->sum != 0;
		if (!same || right != w.known)
			printf("# walk %u of those %s signals is another\n", i, signals ? "with" : "without");
		walk_free(&w);
	}
	return found;
}

static unsigned none(unsigned n)
{
	(void)n;
	return 0;
}

/* A signal comes before the first call, its frame is as large as with AMX, and the handler calls. Then the function
 * jumps within itself: its stack pointer is far above all slots that there were, and is no other stack's. */
static void handler_before_first_call(void)
{
	enum { SIGNAL_FRAME = 12288 };
	const uint64_t top = 0x7fff00000000u, slot = top - SIGNAL_FRAME;
	static struct walk w;
	memset(&w, 0, sizeof w);
	w.choose = none;
	walk_program(&w);
	memset(w.linkage, 0, sizeof w.linkage);
	w.ending[0][0] = WALK_ON, w.ending[0][1] = WALK_SWITCH, w.ending[0][2] = WALK_ON;
	w.ending[1][0] = WALK_CALL, w.to[1][0] = 2, w.ending[1][1] = WALK_RETURN;
	w.ending[2][0] = WALK_RETURN;
	for (unsigned i = 0; i < WALK_STREAMS; i++) {
		struct walk_stream *s = walk_stream_new(&w, i / 2, i & 1);
		walk_execute(s, walk_number(0, 0, 0), UINT32_MAX, 0, 0);
		walk_break(s, walk_pc(0, 1, 0));
		walk_put(s, trace_mark(TRACE_HANDLER, 0));
		walk_put(s, walk_pc(0, 1, 0)), walk_put(s, slot), walk_put(s, 0), walk_put(s, 0);
		walk_execute(s, walk_number(1, 0, 0), UINT32_MAX, 0, slot - 8);
		walk_execute(s, walk_number(2, 0, 0), UINT32_MAX, walk_pc(1, 1, 0), slot - 8);
		walk_execute(s, walk_number(1, 1, 0), UINT32_MAX, walk_pc(WALK_FUNCTIONS, 0, 0), slot);
		walk_execute(s, WALK_RESTORER, UINT32_MAX, 0, 0);
		walk_break(s, walk_pc(0, 1, 0));
		walk_execute(s, walk_number(0, 1, 0), UINT32_MAX, walk_pc(0, 2, 0), top - 8);
		walk_execute(s, walk_number(0, 3, 0), UINT32_MAX, 0, top - 8);
		walk_break(s, walk_pc(0, 4, 0));
		walk_run(s);
		const struct record_call_arc *first = walk_found(s, RECORD_NO_SITE, walk_pc(0, 0, 0));
		ok(first && first->calls == 1 && first->inclusive[0] == s->stack.totals[0] && !s->record->lost,
		   "way %u: a function goes on after a handler that called before it did: on the same stack", i);
		walk_stream_free(s);
	}
}

int main(void)
{
	handler_before_first_call();
	struct found found = walks(1500, false);
	equal_u64(found.same, 1500,
		  "the plain way and the quick way have the same graph, with and without quiet blocks");
	ok(found.known > 1400 && found.right == found.known, "it is what the walk knows of its calls");
	ok(found.arcs > 4000 && found.quiet > 700, "the walks have calls, and blocks that are quiet");
	found = walks(1500, true);
	equal_u64(found.same, 1500, "so they have where signals come between blocks and in their middle");
	ok(found.arcs > 15000, "and handlers, which call");
	return done();
}
