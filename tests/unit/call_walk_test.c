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

/* ---- returns and calls that random walks do not have ---- */

/* A block is executed: it goes to `went`, with its slot there. */
struct move {
	unsigned function, block;
	uint64_t went, slot;
};

static const uint64_t TOP = 0x7fff00000000u;

/* Functions of four blocks: the first calls `to[f]`, directly or by a pointer; the third returns. */
static struct walk *small_program(const uint8_t to[WALK_FUNCTIONS], bool pointers)
{
	static struct walk w;
	memset(&w, 0, sizeof w);
	w.choose = none;
	walk_program(&w);
	memset(w.linkage, 0, sizeof w.linkage);
	for (unsigned f = 0; f < WALK_FUNCTIONS; f++) {
		w.ending[f][0] = pointers ? WALK_POINTER : WALK_CALL, w.to[f][0] = to[f];
		w.ending[f][1] = WALK_ON;
		w.ending[f][2] = WALK_RETURN, w.ending[f][3] = WALK_SYSTEM;
	}
	return &w;
}

/* The four graphs of n moves, which begin in function 0, are the same. more: a word behind move `at`, in the buffer; if
 * not `inside`, what is run ends before it. */
static bool same_graphs(const struct walk *w, const struct move *moves, unsigned n, unsigned at, uint64_t more,
			bool inside)
{
	struct walk_stream *stream[WALK_STREAMS];
	bool same = true;
	for (unsigned i = 0; i < WALK_STREAMS; i++) {
		struct walk_stream *s = stream[i] = walk_stream_new(w, i / 2, i & 1);
		for (unsigned k = 0; k < n; k++) {
			walk_execute(s, walk_number(moves[k].function, moves[k].block, 0), UINT32_MAX,
				     moves[k].went, moves[k].slot);
			if (k + 1 != at)
				continue;
			if (inside) {
				walk_put(s, more);
			} else {
				s->words[s->n] = more;
				walk_run(s);
			}
		}
		walk_break(s, walk_pc(moves[n - 1].function, 3, 0));
		walk_run(s);
		same &= walk_same(stream[0], s);
	}
	for (unsigned i = 0; i < WALK_STREAMS; i++)
		walk_stream_free(stream[i]);
	return same;
}

#define CALLS(f, slot)                                                                                            \
	{                                                                                                         \
		f, 0, 0, slot                                                                                     \
	}
#define RETURNS(f, slot, into, block)                                                                             \
	{                                                                                                         \
		f, 2, walk_pc(into, block, 0), slot                                                               \
	}
#define SAME(w, moves) same_graphs(w, moves, sizeof(moves) / sizeof *(moves), 0, 0, false)

static void strange_returns(void)
{
	static const uint8_t to[WALK_FUNCTIONS] = {1, 2, 1, 4};
	const struct walk *w = small_program(to, false);
	/* 0 calls 1 calls 2 calls 1 calls 2, which returns from the inner 2 and 1 as well, into the outer 1 */
	const struct move skips[] = {CALLS(0, TOP - 8),
				     CALLS(1, TOP - 16),
				     CALLS(2, TOP - 24),
				     CALLS(1, TOP - 32),
				     RETURNS(2, TOP - 32, 1, 3),
				     {1, 3, 0, 0},
				     CALLS(1, TOP - 32),
				     RETURNS(2, TOP - 16, 1, 3),
				     {1, 3, 0, 0},
				     RETURNS(1, TOP - 8, 0, 3),
				     {0, 3, 0, 0}};
	ok(SAME(w, skips), "a return out of several functions, into the one that the newest frame is of");
	/* the second time, 1 pushes an address and returns to it */
	const struct move pushed[] = {CALLS(0, TOP - 8), RETURNS(1, TOP - 8, 0, 3),  {0, 3, 0, 0},
				      CALLS(0, TOP - 8), RETURNS(1, TOP - 16, 0, 3), {0, 3, 0, 0}};
	ok(SAME(w, pushed), "a return from a slot below the newest one");
	/* the second time, 1 returns to where nobody called */
	const struct move away[] = {CALLS(0, TOP - 8),    RETURNS(1, TOP - 8, 0, 3), {0, 3, 0, 0},
				    CALLS(0, TOP - 8),    RETURNS(1, TOP - 8, 3, 3), {3, 3, 0, 0},
				    RETURNS(3, TOP, 0, 3)};
	ok(SAME(w, away), "a return into a function that did not call");
	ok(same_graphs(w, away, 7, 5, walk_number(0, 3, 0), false), "so where the buffer ends behind the return");
	ok(same_graphs(w, away, 7, 5, trace_mark(TRACE_PARTIAL, walk_number(0, 1, 0)), true),
	   "so where a mark is behind the return");
	/* the second call has a slot above that of the function that makes it */
	const struct move above[] = {CALLS(0, TOP - 8), CALLS(1, TOP - 16),        RETURNS(2, TOP - 16, 1, 3),
				     {1, 3, 0, 0},      CALLS(1, TOP - 8),         RETURNS(2, TOP - 8, 1, 3),
				     {1, 3, 0, 0},      RETURNS(1, TOP - 4, 0, 3), {0, 3, 0, 0}};
	ok(SAME(w, above), "a call whose slot is its own function's");
}

/* A call by a pointer goes to its own function, then to the next instruction, which returns. */
static void pointer_to_next(void)
{
	static const uint8_t to[WALK_FUNCTIONS] = {1, 1};
	struct walk *w = small_program(to, true);
	w->ending[1][1] = WALK_RETURN;
	const struct move moves[] = {{0, 0, walk_pc(1, 0, 0), TOP - 8},  {1, 0, walk_pc(1, 0, 0), TOP - 16},
				     {1, 2, walk_pc(1, 3, 0), TOP - 16}, {1, 3, 0, 0},
				     {1, 0, walk_pc(1, 1, 0), TOP - 16}, {1, 1, walk_pc(1, 1, 0), TOP - 16},
				     {1, 1, walk_pc(0, 3, 0), TOP - 8},  {0, 3, 0, 0}};
	ok(SAME(w, moves), "a call by a pointer to the next instruction, which is a return, is no call");
}

int main(void)
{
	handler_before_first_call();
	strange_returns();
	pointer_to_next();
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
