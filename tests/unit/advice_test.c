/* Advice: each rule at planted numbers that it speaks of, and at the nearest ones that it is silent about. */
#include <stdlib.h>

#include "explain/advice.h"
#include "explain/causes.h"
#include "tap.h"

/* What a rule sees: a line's counts, and what the program is otherwise. */
struct planted {
	double counts[EVIDENCES];
	bool not_counted[EVIDENCES];
	double functions[EVIDENCES]; /* of the one function that there is */
	const char *function;
	double instructions, branches; /* of the program; branches: those that were mispredicted */
	double faults, faults_s, seen, resident, tables, mapped, locks_s, total_s, cpu_s;
	bool no_costs, no_branch_cost;
};

static const struct planted nothing = {.seen = NAN, .total_s = 0.09999, .cpu_s = 0.09999};

static void has_text(const char *whole, const char *part, const char *fact)
{
	if (!ok(strstr(whole, part) != NULL, "%s", fact))
		printf("# seen: %s\n", whole);
}

/* The rules that speak, "a b"; the first one's evidence and seconds. */
static char rules[200], evidence[300], text[300], place[300]; /* FILE:LINE, or why there is none */
static double seconds;

static void give(const struct planted *p)
{
	static const double ns[OPERATIONS] = {
		[OPERATION_L2_HIT] = 10,      [OPERATION_L3_HIT] = 50, [OPERATION_MEMORY] = 100,
		[OPERATION_INSTRUCTION] = 1,  [OPERATION_TLB_HIT] = 5, [OPERATION_TLB_WALK] = 40,
		[OPERATION_BRANCH_MISS] = 20,
	};
	struct costs costs = {0};
	for (unsigned o = 0; o < OPERATIONS && !p->no_costs; o++)
		costs.of[o] = (struct cost){
			.known = ns[o] > 0, .typical = ns[o] * 1e-9, .least = NAN, .most = NAN};
	struct advice_facts facts = {.levels = 3,
				     .costs = &costs,
				     .line_bytes = 64,
				     .shared_bytes = 128,
				     .cache_bytes = {32768, 1048576, 8388608},
				     .page_bytes = 4096,
				     .way_bytes = {4096, 65536},
				     .tlb_entries = 64,
				     .memory = {p->seen, p->resident, p->tables, p->mapped}};
	facts.waiting = (struct advice_line){"/src/w.c", 1, NULL};
	facts.faulting = (struct advice_line){.why_none = "not sampled"};
	facts.locking = (struct advice_line){"/src/l.c", 3, NULL};
	struct explained_part part = {.count = p->faults};
	costs.of[OPERATION_BRANCH_MISS].known &= !p->no_branch_cost;
	struct explained_part instructions = {.counted = p->instructions > 0, .count = p->instructions};
	struct explanation e = {.has_measured = true, .total_s = p->total_s, .cpu_s = p->cpu_s};
	e.causes[CAUSE_FAULTS] = (struct explained_cause){
		.known = p->faults > 0, .seconds = {.typical = p->faults_s}, .parts = &part, .n_parts = 1};
	e.causes[CAUSE_COMPUTING] = (struct explained_cause){.parts = &instructions, .n_parts = 1};
	e.causes[CAUSE_LOCKS] = (struct explained_cause){.known = p->locks_s > 0,
							 .seconds = {.typical = p->locks_s}};
	struct evidence_rows rows = {0}, functions = {0};
	struct evidence_row function = {.function = p->function ? p->function : "g"};
	struct evidence_row row = {.file = "/src/a.c", .function = "f", .line = 7};
	for (unsigned k = 0; k < EVIDENCES; k++) {
		rows.taken[k] = !p->not_counted[k];
		row.counts[k] = p->counts[k];
		functions.taken[k] = true;
		function.counts[k] = p->functions[k];
	}
	struct error err = {0};
	bool done = vec_push(&rows.rows, row) && vec_push(&functions.rows, function) &&
		    advice_give(&e, &rows, &functions, &facts, &err);
	*rules = *evidence = *text = *place = '\0';
	seconds = NAN;
	for (size_t i = 0; done && i < e.advice.count; i++)
		snprintf(rules + strlen(rules), sizeof rules - strlen(rules), "%s%s", i ? " " : "",
			 e.advice.items[i].rule);
	if (done && e.advice.count) {
		snprintf(evidence, sizeof evidence, "%s", e.advice.items[0].evidence);
		snprintf(text, sizeof text, "%s", e.advice.items[0].text);
		snprintf(place, sizeof place, "%s:%u",
			 e.advice.items[0].file ? e.advice.items[0].file : e.advice.items[0].why_no_line,
			 e.advice.items[0].line);
		seconds = e.advice.items[0].seconds;
	}
	evidence_free(&rows);
	evidence_free(&functions);
	explanation_free(&e);
}

static bool about(double expected) { return fabs(seconds - expected) < 1e-12; }

static void conflicts(void)
{
	struct planted p = nothing;
	p.counts[EVIDENCE_L1_MISSES] = 1e6;
	p.counts[EVIDENCE_L1_CONFLICTS] = 5e5;
	give(&p);
	equal_text(rules, "conflict-misses", "half of the L1 misses are conflicts: pad");
	ok(about(5e5 * 10e-9), "each costs a hit of L2");
	has_text(evidence, "500,000 of 1,000,000 L1 misses", "with both numbers");
	has_text(text, "a multiple of 4,096 bytes", "and how far apart lines of a set are");
	p.counts[EVIDENCE_L1_CONFLICTS] = 499999;
	give(&p);
	equal_text(rules, "", "less than half: nothing");
	p = nothing;
	p.counts[EVIDENCE_L1_MISSES] = p.counts[EVIDENCE_L2_MISSES] = 1e6;
	p.counts[EVIDENCE_L2_CONFLICTS] = 9e5;
	give(&p);
	equal_text(rules, "conflict-misses", "likewise of L2");
	ok(about(9e5 * 50e-9), "each costs a hit of L3");
	has_text(text, "65,536 bytes", "and L2's sets");
	p.not_counted[EVIDENCE_L2_CONFLICTS] = true;
	give(&p);
	equal_text(rules, "", "conflicts that were not counted are not none, nor all");
}

static void pages(void)
{
	struct planted p = nothing;
	p.counts[EVIDENCE_L1_MISSES] = 1e6;
	p.counts[EVIDENCE_TLB_MISSES] = 250000;
	p.counts[EVIDENCE_TLB_WALKS] = 100000;
	p.counts[EVIDENCE_STRIDE_USED] = 600;
	p.counts[EVIDENCE_STRIDE_MISSES] = 400;
	p.counts[EVIDENCE_READ_BYTES] = 8e6;
	give(&p);
	equal_text(rules, "stride-of-pages", "a page for each fourth line, along a stride: interchange");
	ok(about(150000 * 5e-9 + 100000 * 40e-9 + 1e6 * 10e-9), "hits of the second TLB, walks, and misses of L1");
	p.counts[EVIDENCE_L1_COMPULSORY] = 500001;
	give(&p);
	equal_text(rules, "one-field", "most lines come for the first time: there is nothing to interchange");
	p.counts[EVIDENCE_TLB_MISSES] = 3e6;
	give(&p);
	equal_text(rules, "stride-of-pages", "but if each page is needed more often than the lines: interchange");
	p.counts[EVIDENCE_L1_COMPULSORY] = 0;
	p.counts[EVIDENCE_TLB_MISSES] = 249999;
	give(&p);
	equal_text(rules, "one-field", "fewer pages: a matter of the line's bytes");
	p.counts[EVIDENCE_TLB_MISSES] = 1e6;
	p.counts[EVIDENCE_STRIDE_USED] = 0;
	give(&p);
	equal_text(rules, "too-much-for-l1 pages-in-no-order", "in no order: less data, huge pages");
	ok(about(1e6 * 10e-9), "the lines that L1 did not keep, each a hit of L2");
	p.counts[EVIDENCE_L1_COMPULSORY] = 1e6;
	give(&p);
	equal_text(rules, "pages-in-no-order", "lines that come for the first time: pages alone");
	ok(about(900000 * 5e-9 + 100000 * 40e-9), "by the TLB's time alone");
	p.counts[EVIDENCE_STRIDE_USED] = 150;
	give(&p);
	equal_text(rules, "", "neither a stride nor none: nothing");
	p.counts[EVIDENCE_STRIDE_MISSES] = 0;
	p.not_counted[EVIDENCE_STRIDE_USED] = true;
	give(&p);
	equal_text(rules, "", "strides were not counted: nothing");
}

static void fields(void)
{
	struct planted p = nothing;
	p.counts[EVIDENCE_L1_MISSES] = 1e6;
	p.counts[EVIDENCE_L2_MISSES] = 5e5;
	p.counts[EVIDENCE_L3_MISSES] = 1e5;
	p.counts[EVIDENCE_READ_BYTES] = 8e6;
	p.counts[EVIDENCE_WRITTEN_BYTES] = 8e6;
	p.counts[EVIDENCE_STRIDE_USED] = p.counts[EVIDENCE_STRIDE_MISSES] = 1e6;
	give(&p);
	equal_text(rules, "one-field", "16 of 64 bytes along a stride: a shadow array");
	ok(about(5e5 * 10e-9 + 4e5 * 50e-9 + 1e5 * 100e-9), "each miss costs the level that had the line");
	has_text(evidence, "16 bytes are used of each line of 64 bytes", "with the bytes");
	p.counts[EVIDENCE_READ_BYTES] = 9e6;
	give(&p);
	equal_text(rules, "", "17 bytes: nothing");
	p.counts[EVIDENCE_READ_BYTES] = 0;
	p.counts[EVIDENCE_STRIDE_USED] = 999999;
	give(&p);
	equal_text(rules, "", "less than half along a stride: nothing");
}

static void again(void)
{
	struct planted p = nothing;
	p.counts[EVIDENCE_L1_MISSES] = 4e6;
	p.counts[EVIDENCE_L2_MISSES] = 1e6;
	p.counts[EVIDENCE_L3_MISSES] = 2e5;
	p.counts[EVIDENCE_L1_COMPULSORY] = p.counts[EVIDENCE_L2_COMPULSORY] = p.counts[EVIDENCE_L3_COMPULSORY] =
		1e5;
	p.counts[EVIDENCE_STRIDE_USED] = 200;
	p.counts[EVIDENCE_STRIDE_MISSES] = 800;
	give(&p);
	equal_text(rules, "too-much-for-l2 too-much-for-l1 too-much-for-l3", "in no order: no level keeps it");
	ok(about((1e6 - 1e5 - 2e5) * 50e-9), "of L2 what L3 had, and what was there before");
	has_text(text, "L2 (1,048,576 bytes)", "with the level's size");
	has_text(evidence, "900,000 of 1,000,000 L2 misses", "and its misses on lines that came before");
	p.counts[EVIDENCE_FALSE_SHARING] = 1e5;
	p.counts[EVIDENCE_TRUE_SHARING] = 2e5;
	give(&p);
	ok(about((4e6 - 1e5 - 3e5 - 1e6) * 10e-9), "what other threads took is not charged to a cache's size");
	p.counts[EVIDENCE_FALSE_SHARING] = p.counts[EVIDENCE_TRUE_SHARING] = 0;
	p.counts[EVIDENCE_L3_COMPULSORY] = 100001;
	give(&p);
	equal_text(rules, "too-much-for-l2 too-much-for-l1",
		   "most of L3's come for the first time: L3 is large enough");
	p.counts[EVIDENCE_STRIDE_USED] = 201;
	give(&p);
	equal_text(rules, "", "a fifth and more along a stride: nothing");
}

static void first_passes(void)
{
	struct planted p = nothing;
	p.counts[EVIDENCE_L1_MISSES] = 1e6;
	p.counts[EVIDENCE_READ_BYTES] = 4e6;
	p.counts[EVIDENCE_STRIDE_USED] = 1;
	p.counts[EVIDENCE_L1_COMPULSORY] = 4e5;
	give(&p);
	equal_text(rules, "one-field", "a field, read again and again: a shadow array");
	ok(about(6e5 * 10e-9), "it is about the lines that came before");
	p.counts[EVIDENCE_L1_COMPULSORY] = 1e6;
	give(&p);
	equal_text(rules, "", "one pass: to fill a shadow array would be another one");
}

static void computing(void)
{
	struct planted p = nothing;
	p.instructions = 2e7;
	p.counts[EVIDENCE_CONVERSIONS] = 5e6;
	p.counts[EVIDENCE_FP_OPERATIONS] = 1e7;
	give(&p);
	equal_text(rules, "conversions", "a conversion for two operations: keep to one precision");
	ok(about(5e6 * 1e-9), "each is an instruction");
	p.counts[EVIDENCE_FP_OPERATIONS] = 1e7 + 2;
	give(&p);
	equal_text(rules, "", "fewer: nothing");
	p = nothing;
	p.instructions = 2e7;
	p.functions[EVIDENCE_INSTRUCTIONS] = 4e7; /* of an execution that did twice as much */
	p.functions[EVIDENCE_FP_OPERATIONS] = 2e7;
	give(&p);
	equal_text(rules, "arithmetic", "half of a function's instructions are arithmetic");
	has_text(place, "compile it with -g", "no line of that function is known");
	p.counts[EVIDENCE_FP_OPERATIONS] = 1;
	give(&p);
	equal_text(place, "/src/a.c:7",
		   "inlined, it has another name: a line that has more than all other functions is in this one");
	p.function = "f";
	give(&p);
	equal_text(place, "/src/a.c:7", "the line of that function that has most");
	p.function = NULL;
	p.counts[EVIDENCE_FP_OPERATIONS] = 0;
	ok(about(1e7 * 1e-9), "its share is of the execution that is explained");
	p.functions[EVIDENCE_FP_OPERATIONS] = 4e7 + 1;
	give(&p);
	equal_text(rules, "most-work", "more operations than instructions: they are vectors already");
	p.functions[EVIDENCE_FP_OPERATIONS] = 2e7 - 1;
	give(&p);
	equal_text(rules, "most-work", "less than half: the function is named, and no more is said");
	p.counts[EVIDENCE_CONVERSIONS] = 5e6;
	give(&p);
	equal_text(rules, "conversions", "where another rule speaks, it is not");
}

static void long_numbers(void)
{
	static const char *const software[] = {"__multf3",      "__addtf3", "__extenddftf2", "__trunctfdf2",
					       "__floatunsitf", "__letf2",  "__fixtfdi"},
				 *const others[] = {"__add",  "__muldf3", "__divti3",      "__fixup",
						    "printf", "multf3",   "__multf3_mine", "__addtf3@plt"};
	struct planted p = nothing;
	p.instructions = p.functions[EVIDENCE_INSTRUCTIONS] = 2e7;
	for (size_t i = 0; i < sizeof software / sizeof *software; i++) {
		p.function = software[i];
		give(&p);
		equal_text(rules, "long-numbers", software[i]);
		has_text(place, "compile it with -g", "no line has calls: what gives lines");
	}
	p.counts[EVIDENCE_CALLS] = 7;
	give(&p);
	has_text(evidence, "a.c:7 (7)", "with the line that calls most");
	equal_text(place, "/src/a.c:7", "which is the advice's");
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		p.function = others[i];
		give(&p);
		equal_text(rules, "most-work", others[i]);
	}
}

/* Events that no table has a cost of. */
static void without_cost(void)
{
	struct planted p = nothing;
	p.instructions = 1e7;
	p.counts[EVIDENCE_LOCKED] = 1e5;
	p.counts[EVIDENCE_TRUE_SHARING] = 5e4;
	give(&p);
	equal_text(rules, "locked-often", "one instruction of a hundred is locked: take locks less often");
	ok(isnan(seconds), "how much time that is, nobody knows");
	equal_text(place, "/src/l.c:3", "at the line that they are called from");
	has_text(evidence, "one in 100 instructions. 50,000 accesses missed",
		 "with the accesses that missed by it");
	p.counts[EVIDENCE_LOCKED] = 99999;
	give(&p);
	equal_text(rules, "", "fewer: nothing");
	p = nothing;
	p.instructions = 1e7;
	p.no_branch_cost = true;
	p.counts[EVIDENCE_CONDITIONAL] = 2e5;
	p.counts[EVIDENCE_TAKEN] = 1e5;
	p.counts[EVIDENCE_STATIC_MISSES] = 1e5;
	p.counts[EVIDENCE_MISPREDICTED] = 1e5;
	give(&p);
	equal_text(rules, "unpredictable-branch",
		   "one instruction of a hundred is mispredicted, at a cost that is not known");
	ok(isnan(seconds), "nor is its time");
	p.counts[EVIDENCE_MISPREDICTED] = 99999;
	give(&p);
	equal_text(rules, "", "fewer: nothing");
	p.counts[EVIDENCE_MISPREDICTED] = 1e5;
	p.counts[EVIDENCE_L1_MISSES] = p.counts[EVIDENCE_L1_CONFLICTS] = 1e6;
	give(&p);
	equal_text(rules, "conflict-misses unpredictable-branch", "what has no time comes last");
}

static void branches(void)
{
	struct planted p = nothing;
	p.counts[EVIDENCE_CONDITIONAL] = 1e6;
	p.counts[EVIDENCE_TAKEN] = 75e4;
	p.counts[EVIDENCE_STATIC_MISSES] = 25e4; /* wrong when it was not taken: backward */
	p.counts[EVIDENCE_MISPREDICTED] = 251000;
	give(&p);
	equal_text(rules, "short-loop", "a backward branch that is left after 4 turns, mispredicted: unroll");
	ok(about(251000 * 20e-9), "each costs a misprediction");
	has_text(text, "4.0 turns", "with its turns");
	p.counts[EVIDENCE_MISPREDICTED] = 275001;
	give(&p);
	equal_text(rules, "unpredictable-branch", "mispredicted more often than it is left: it goes by data");
	p.counts[EVIDENCE_STATIC_MISSES] = 75e4;
	give(&p);
	equal_text(rules, "unpredictable-branch", "the same counts of a forward branch: arithmetic");
	p.counts[EVIDENCE_MISPREDICTED] = 251000;
	give(&p);
	equal_text(rules, "unpredictable-branch",
		   "a forward branch ends no loop, mispredicted as often as it falls through");
	p.counts[EVIDENCE_CONDITIONAL] = 96e5;
	p.counts[EVIDENCE_TAKEN] = 9e6;
	p.counts[EVIDENCE_STATIC_MISSES] = 6e5;
	p.counts[EVIDENCE_MISPREDICTED] = 6e5;
	give(&p);
	equal_text(rules, "short-loop", "16 turns: unroll");
	p.counts[EVIDENCE_CONDITIONAL] = 102e5;
	p.counts[EVIDENCE_TAKEN] = 96e5;
	give(&p);
	equal_text(rules, "", "17 turns: nothing");
	p.counts[EVIDENCE_TAKEN] = 94e4;
	p.counts[EVIDENCE_STATIC_MISSES] = 94e4;
	p.counts[EVIDENCE_MISPREDICTED] = 99999 * 2.6;
	p.counts[EVIDENCE_CONDITIONAL] = 2.7e6;
	give(&p);
	equal_text(rules, "", "a forward branch that is predicted nine times of ten: nothing");
}

static void sharing(void)
{
	struct planted p = nothing;
	p.counts[EVIDENCE_FALSE_SHARING] = 1e5;
	give(&p);
	equal_text(rules, "false-sharing", "bytes of other threads' lines: pad them");
	ok(about(1e5 * 50e-9), "each costs the shared level");
	has_text(text, "to 128 bytes", "as far apart as the longest line of a cache");
	p.counts[EVIDENCE_FALSE_SHARING] = 99980;
	give(&p);
	equal_text(rules, "", "below 5 % of the CPU time: nothing");
}

static void whole(void)
{
	struct planted p = nothing;
	p.faults = p.seen = 2001;
	p.faults_s = 0.01;
	p.resident = 900 * 4096;
	p.tables = 512 * 4096;
	p.mapped = 1000 * 4096;
	give(&p);
	equal_text(rules, "memory-again", "more than twice of all that was ever mapped: reuse it");
	equal_text(place, "not sampled:0", "without a line that is known: why not");
	p.seen = 1800;
	give(&p);
	equal_text(rules, "first-touch",
		   "not more than twice what was resident: each page may be read first and written then");
	p.seen = 1801;
	give(&p);
	equal_text(rules, "page-faults", "between the two, nobody knows: both are named");
	has_text(text, "--waits", "and where to look");
	/* read, never written: mapped, but not resident */
	p.faults = p.seen = 100000;
	p.resident = 500 * 4096;
	p.tables = 105000 * 4096.0;
	p.mapped = 200000 * 4096.0;
	give(&p);
	equal_text(rules, "first-touch", "memory that is only read is in no one's resident memory: not 'again'");
	p.tables = 200001 * 4096.0;
	give(&p);
	equal_text(rules, "page-faults", "tables that map less than half of what they can prove nothing");
	p.tables = 49999 * 4096.0;
	give(&p);
	equal_text(rules, "page-faults", "nor do tables for less than half of the faults");
	/* what grows after the last look was not seen */
	p.tables = 60000 * 4096.0;
	p.seen = 50000;
	give(&p);
	equal_text(rules, "first-touch", "half of the faults were seen: they tell");
	p.seen = 49999;
	give(&p);
	equal_text(rules, "page-faults", "most faults came after the last look: nobody knows");
	p.seen = NAN;
	give(&p);
	equal_text(rules, "", "nobody looked: nothing");
	p = nothing;
	p.locks_s = 0.02;
	p.total_s = 0.39999;
	p.cpu_s = 0.1;
	give(&p);
	equal_text(rules, "lock-waiting", "5 % of all time is waiting for locks");
	equal_text(place, "/src/w.c:1", "at the line that waits longest");
	p.locks_s = 0.0199;
	give(&p);
	equal_text(rules, "", "less: nothing, however much it is of the CPU's");
}

static void worth(void)
{
	struct planted p = nothing;
	p.counts[EVIDENCE_L1_MISSES] = p.counts[EVIDENCE_L1_CONFLICTS] = 100001;
	p.total_s = p.cpu_s = 0.001;
	give(&p);
	equal_text(rules, "conflict-misses", "a millisecond is worth it");
	p.counts[EVIDENCE_L1_MISSES] = p.counts[EVIDENCE_L1_CONFLICTS] = 99999;
	give(&p);
	equal_text(rules, "", "less is not, whatever its share");
	p.counts[EVIDENCE_L1_MISSES] = p.counts[EVIDENCE_L1_CONFLICTS] = 1e6;
	p.no_costs = true;
	give(&p);
	equal_text(rules, "", "without costs no rule speaks");
	p = nothing;
	p.faults = p.seen = 10000;
	p.faults_s = 0.02;
	p.resident = p.mapped = 4096 * 10000.0;
	p.counts[EVIDENCE_L1_MISSES] = p.counts[EVIDENCE_L1_CONFLICTS] = 1e6;
	give(&p);
	equal_text(rules, "first-touch conflict-misses", "the longest time comes first");
}

/* ---- which executions are needed ---- */

static void wishes(void)
{
	struct explanation e = {.has_measured = true, .total_s = 1, .cpu_s = 0.09999, .threads_most = 2};
	struct evidence_wish wish = advice_wish(&e, 3);
	ok(!wish.caches && !wish.tlb && !wish.branches && !wish.sharing, "no cause is known: nothing is counted");
	e.causes[CAUSE_TLB] = (struct explained_cause){.known = true, .seconds = {.typical = 0.005}};
	e.causes[CAUSE_L3] = (struct explained_cause){.known = true, .seconds = {.typical = 0.0049}};
	wish = advice_wish(&e, 3);
	ok(wish.tlb && !wish.caches, "5 %% of the CPU time is worth it");
	e.causes[CAUSE_MEMORY] = (struct explained_cause){.known = true, .seconds = {.typical = 0.0001}};
	wish = advice_wish(&e, 3);
	ok(wish.caches && wish.sharing && !wish.computing, "of caches, all levels together");
	struct explained_part instructions = {.counted = true, .count = 1e6},
			      misses = {.counted = true, .count = 1e4, .seconds = {NAN, NAN, NAN}};
	e.causes[CAUSE_COMPUTING] = (struct explained_cause){
		.known = true, .seconds = {.typical = 0.005}, .parts = &instructions, .n_parts = 1};
	e.causes[CAUSE_BRANCHES] = (struct explained_cause){.parts = &misses, .n_parts = 1};
	ok(advice_wish(&e, 3).computing && advice_wish(&e, 3).branches,
	   "mispredictions without a cost are counted where they are one instruction of a hundred");
	misses.count = 9999;
	ok(!advice_wish(&e, 3).branches, "and not where they are fewer");
	misses.count = 1e4;
	misses.seconds.typical = 1e-4;
	ok(!advice_wish(&e, 3).branches, "nor where their cost says that they are not worth it");
	struct evidence_rows rows;
	struct str events = {0};
	evidence_want(&rows, &wish);
	evidence_events(&rows, true, &events);
	equal_text(events.text, "l1d-misses:u,l1d-prefetches-used:u", "of the variant: what shows strides");
	str_free(&events);
	evidence_free(&rows);
}

static void gathering(void)
{
	uint64_t first[] = {5}, second[] = {7};
	struct breakdown_row lines[] = {{.name = "f", .file = "a.c", .line = 3, .counts = first},
					{.name = "g", .file = "a.c", .line = 3, .counts = second}};
	struct breakdown_event events[] = {{.label = "branch-misses:u"}};
	struct breakdown b = {
		.by = BREAKDOWN_BY_LINE, .events = events, .n_events = 1, .rows = lines, .n_rows = 2};
	struct evidence_rows rows;
	bool more;
	evidence_want(&rows, &(struct evidence_wish){.levels = 3, .branches = true});
	ok(evidence_add(&rows, false, &b, &more) && more && rows.rows.count == 1, "copies of a line are one");
	const struct evidence_row *row = &rows.rows.items[0];
	ok(evidence_count(&rows, row, EVIDENCE_MISPREDICTED) == 12, "with the sum of their counts");
	ok(isnan(evidence_count(&rows, row, EVIDENCE_STATIC_MISSES)) &&
		   isnan(evidence_count(&rows, row, EVIDENCE_TAKEN)),
	   "what was not counted is not known");
	ok(evidence_add(&rows, false, &b, &more) && !more &&
		   evidence_count(&rows, row, EVIDENCE_MISPREDICTED) == 12,
	   "what was counted is not counted again");
	events[0].defect = "wrong";
	ok(evidence_add(&rows, true, &b, &more) && !more &&
		   isnan(evidence_count(&rows, row, EVIDENCE_STATIC_MISSES)),
	   "counts that do not add up are not taken");
	evidence_free(&rows);
}

int main(void)
{
	conflicts();
	pages();
	fields();
	first_passes();
	again();
	computing();
	long_numbers();
	without_cost();
	branches();
	sharing();
	whole();
	worth();
	wishes();
	gathering();
	return done();
}
