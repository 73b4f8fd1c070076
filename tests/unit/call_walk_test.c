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

int main(void)
{
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
