/* Hits become passes: recursion, ends that were never seen, jumps, corrections. Without a kernel: the hits are made here. */
#include "backend/perf/probe/pass.h"
#include "tap.h"

enum { SP = 7, JUMP = 0, BASE = 0x1000 };

static uint64_t registers[16];

static uint64_t reg(const void *context, int number)
{
	(void)context;
	return registers[number];
}

/* Edges of one region: 0 enters, 1 leaves (its own return), 2 leaves (another's return), 3 jumps. */
// clang-format off: a table, a row a line
static struct region_edge edges[] = {
	{.module = "/p", .offset = 0x100, .kind = EDGE_ENTER, .frame_register = SP, .frame_offset = 8},
	{.module = "/p",
	 .offset = 0x140,
	 .kind = EDGE_LEAVE,
	 .frame_register = SP,
	 .frame_offset = 8,
	 .own = true,
	 .counts = true},
	{.module = "/p", .offset = 0x240, .kind = EDGE_LEAVE, .frame_register = SP, .frame_offset = 8},
	{.module = "/p",
	 .offset = 0x120,
	 .kind = EDGE_JUMP,
	 .frame_register = SP,
	 .frame_offset = 8,
	 .jump_register = JUMP,
	 .low = 0x100,
	 .high = 0x150},
};
// clang-format on
static const struct region_range ranges[] = {{"/p", 0x100, 0x150}};
static struct region_asked asked = {
	.name = "f", .kind = REGION_FUNCTION, .ranges = ranges, .n_ranges = 1, .edges = edges, .n_edges = 4};

struct bench {
	struct pass_sum sum;
	uint64_t count;
	int64_t correction;
	struct pass_sums sums;
	struct thread_passes *passes;
};

static struct bench *begin(enum region_kind kind, bool again)
{
	static struct bench b;
	b = (struct bench){0};
	asked.kind = kind;
	edges[0].again = again;
	// clang-format off: a table, a row a line
	b.sums = (struct pass_sums){.n_regions = 1,
				    .n_events = 1,
				    .regions = &b.sum,
				    .counts = &b.count,
				    .corrections = &b.correction};
	// clang-format on
	b.passes = passes_new(&asked, &b.sums);
	return &b;
}

/* The edge's instruction is executed with that stack pointer, when the counter is at count. */
static void at(struct bench *b, uint32_t edge, uint64_t sp, uint64_t count)
{
	struct edge_ref ref = {0, edge};
	// clang-format off: a table, a row a line
	struct hit hit = {.enabled_ns = count,
			  .running_ns = count,
			  .values = &count,
			  .ip = BASE + edges[edge].offset,
			  .reg = reg};
	// clang-format on
	registers[SP] = sp;
	passes_hit(b->passes, &ref, 1, &hit);
}

/* ---- hits and what they come to ---- */

enum { STEPS = 8 };

enum edge { ENTER, OWN_RETURN, OTHER_RETURN, JUMPED, EXECUTES /* another program: no edge */ };

struct step {
	enum edge edge;
	uint64_t sp, count; /* 0: no more steps */
	uint64_t to;        /* of JUMPED: the offset in the module */
};

static const struct script {
	enum region_kind kind;
	bool again, lost; /* of edges 0 and 2 */
	struct step steps[STEPS];
	uint64_t entries, exits, unbalanced, count;
	const char *fact;
} scripts[] = {
	{REGION_FUNCTION,
	 false,
	 false,
	 {{ENTER, 800, 10}, {OWN_RETURN, 800, 25}, {ENTER, 800, 30}, {OWN_RETURN, 800, 31}},
	 2,
	 2,
	 0,
	 16,
	 "passes are added up"},
	{REGION_FUNCTION,
	 false,
	 false,
	 {{ENTER, 800, 10},
	  {ENTER, 750, 11},
	  {ENTER, 700, 12},
	  {OWN_RETURN, 700, 98},
	  {OWN_RETURN, 750, 99},
	  {OWN_RETURN, 800, 100}},
	 1,
	 1,
	 0,
	 90,
	 "recursion is one pass, from the outermost entry to the outermost return"},
	{REGION_FUNCTION,
	 false,
	 false,
	 {{ENTER, 800, 10}, {ENTER, 700, 11 /* a longjmp from here to 800's frame */}, {OWN_RETURN, 800, 20}},
	 1,
	 1,
	 0,
	 10,
	 "a longjmp within the recursion ends no pass"},
	{REGION_FUNCTION,
	 false,
	 false,
	 {{ENTER, 800, 10 /* a longjmp out of it */}, {ENTER, 900, 20}, {OWN_RETURN, 900, 23}},
	 2,
	 1,
	 1,
	 3,
	 "a pass whose frame is gone is not counted, and said to be unbalanced"},
	{REGION_FUNCTION,
	 false,
	 false,
	 {{ENTER, 800, 10}, {ENTER, 800, 20}, {OWN_RETURN, 800, 23}},
	 2,
	 1,
	 1,
	 3,
	 "so is one that is followed by another of the same frame"},
	{REGION_FUNCTION,
	 true,
	 false,
	 {{ENTER, 800, 10}, {ENTER, 800, 20}, {OWN_RETURN, 800, 23}},
	 1,
	 1,
	 0,
	 13,
	 "but where the function calls itself by a jump, that is the same pass"},
	{REGION_FUNCTION,
	 false,
	 false,
	 {{ENTER, 800, 10}, {OTHER_RETURN, 700, 12}, {OTHER_RETURN, 800, 15}, {OTHER_RETURN, 800, 30}},
	 1,
	 1,
	 0,
	 5,
	 "a return of what it left to by a jump ends it, when it is of its frame; others are nothing"},
	{REGION_FUNCTION,
	 false,
	 false,
	 {{OWN_RETURN, 800, 12}},
	 0,
	 0,
	 1,
	 0,
	 "its own return without an entry is unbalanced"},
	{REGION_FUNCTION, false, false, {{ENTER, 800, 10}}, 1, 0, 1, 0, "a thread that ends inside is unbalanced"},
	{REGION_FUNCTION,
	 false,
	 false,
	 {{ENTER, 800, 10}, {EXECUTES, 0, 15}, {ENTER, 700, 20}, {OWN_RETURN, 700, 21}},
	 2,
	 1,
	 1,
	 1,
	 "a pass that executes another program has no end"},
	{REGION_FUNCTION,
	 false,
	 false,
	 {{ENTER, 800, 10}, {JUMPED, 760, 11, 0x130}, {OWN_RETURN, 800, 15}},
	 1,
	 1,
	 0,
	 5,
	 "a jump within the function is nothing"},
	{REGION_FUNCTION,
	 false,
	 false,
	 {{ENTER, 800, 10}, {JUMPED, 800, 11, 0x900}},
	 1,
	 0,
	 1,
	 0,
	 "a jump to where no return is looked for loses the pass"},

	{REGION_CODE,
	 true,
	 false,
	 {{ENTER, 800, 10},
	  {ENTER, 800, 12},
	  {ENTER, 700, 13},
	  {OTHER_RETURN, 700, 14},
	  {OTHER_RETURN, 800, 17},
	  {OTHER_RETURN, 800, 19}},
	 1,
	 1,
	 0,
	 7,
	 "code that is reached from within stays in its pass; deeper frames are part of it"},
	{REGION_CODE,
	 false,
	 false,
	 {{ENTER, 800, 10}, {ENTER, 800, 12}, {OTHER_RETURN, 800, 13}},
	 2,
	 1,
	 1,
	 1,
	 "an entry that is reached from outside only ends a pass that is open: its end was not seen"},
	{REGION_CODE,
	 true,
	 true,
	 {{ENTER, 800, 10}, {OTHER_RETURN, 700, 12}, {OTHER_RETURN, 800, 15}, {ENTER, 800, 20}},
	 2,
	 0,
	 1,
	 0,
	 "where only exceptions and longjmps lead, the pass of that frame has no end that was seen"},
	{REGION_CODE,
	 true,
	 false,
	 {{JUMPED, 800, 10, 0x130}, {JUMPED, 800, 15, 0x700}},
	 1,
	 1,
	 0,
	 5,
	 "jumps by register enter and leave where they lead to"},
	{REGION_CODE,
	 true,
	 false,
	 {{JUMPED, 800, 10, 0x100}, {ENTER, 800, 11}, {OTHER_RETURN, 800, 15}},
	 1,
	 1,
	 0,
	 4,
	 "where they lead to an edge, it is seen there"},
};

static void run(const struct script *script)
{
	struct bench *b = begin(script->kind, script->again);
	edges[2].lost = script->lost;
	for (const struct step *step = script->steps; step < script->steps + STEPS && step->count; step++) {
		registers[JUMP] = BASE + step->to;
		if (step->edge == EXECUTES)
			passes_exec(b->passes);
		else
			at(b, step->edge, step->sp, step->count);
	}
	passes_end(b->passes);
	edges[2].lost = false;
	bool holds = b->sum.entries == script->entries && b->sum.exits == script->exits &&
		     b->sum.unbalanced == script->unbalanced && b->count == script->count;
	if (!holds)
		printf("# entries %" PRIu64 ", exits %" PRIu64 ", unbalanced %" PRIu64 ", count %" PRIu64 "\n",
		       b->sum.entries, b->sum.exits, b->sum.unbalanced, b->count);
	ok(holds, "%s", script->fact);
}

static void corrections(void)
{
	struct bench *b = begin(REGION_FUNCTION, false);
	b->sums.bias = (struct probe_bias){.known = true, .trap = 1, .missed = {[EDGE_PUSH] = 1}};
	edges[0].class = EDGE_PUSH;
	at(b, 0, 800, 100);
	at(b, 0, 700, 110);
	at(b, 1, 700, 120);
	at(b, 1, 800, 130);
	edges[0].class = EDGE_STEPPED;
	/* three traps behind the first reading, two pushes, the last return */
	ok(b->correction == -3 + 2 + 1, "what probes add to and take from instructions is known of each pass (%d)",
	   (int)b->correction);
	passes_end(b->passes);
}

static void traps(void)
{
	struct bench *b = begin(REGION_FUNCTION, false);
	at(b, 0, 800, 100);
	at(b, 1, 800, 110);
	ok(b->sum.hits == 1, "an empty pass has one trap: the end of the first, the begin of the second");
	at(b, 2, 900, 115); /* outside */
	at(b, 0, 800, 120);
	at(b, 0, 700, 130);
	at(b, 1, 700, 140);
	at(b, 1, 800, 150);
	ok(b->sum.hits == 1 + 3, "others' traps within a pass are its own, too, those outside are not (%d)",
	   (int)b->sum.hits);
	at(b, 0, 800, 160);
	passes_end(b->passes);
	ok(b->sum.hits == 4, "and those of a pass whose end was not seen are not counted, as its events are not");
}

int main(void)
{
	for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
		run(&scripts[i]);
	corrections();
	traps();
	return done();
}
