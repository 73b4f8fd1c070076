/* The models behind the backend's contract: names of counters on declared machines, rows of data/events on them, what a record's access
 * stream gives and when nothing of it may be used. The records are written by hand: no program runs but for the last test. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "backend/engine/counting.h"
#include "backend/engine/events.h"
#include "backend/engine/tally.h"
#include "backend/model/components.h"
#include "backend/model/events.h"
#include "backend/model/model.h"
#include "model/declare/machines.h"
#include "event/formula.h"
#include "tap.h"
#include "unit/exact_record.h"

static struct event_table *table;

/* Split first level, unified second and third; one TLB for small pages, one for large, one behind; no prediction. */
static struct machine three_levels(void)
{
	// clang-format off: a table, a row a line
	struct machine m = {.name = "three",
			    .n_caches = 4,
			    .n_tlbs = 4,
			    .first_instruction = 0,
			    .first_data = 1,
			    .first_instruction_tlb = 0,
			    .first_data_tlb = 1,
			    .coherent = 1,
			    .fetch_bytes = 16};
	// clang-format on
	m.caches[0] = (struct machine_cache){
		.name = "L1I", .line_bytes = 64, .sets = 64, .ways = 8, .holds = 1, .next = 2};
	m.caches[1] = (struct machine_cache){
		.name = "L1D", .line_bytes = 32, .sets = 64, .ways = 8, .holds = 2, .next = 2};
	m.caches[2] = (struct machine_cache){
		.name = "L2", .line_bytes = 128, .sets = 64, .ways = 8, .holds = 3, .next = 3};
	// clang-format off: a table, a row a line
	m.caches[3] = (struct machine_cache){.name = "L3",
					     .line_bytes = 128,
					     .sets = 64,
					     .ways = 8,
					     .holds = 3,
					     .shared = 1,
					     .next = MACHINE_NONE};
	// clang-format on
	m.tlbs[0] = (struct machine_tlb){.name = "ITLB", .sets = 1, .ways = 64, .holds = 1, .next = 3};
	m.tlbs[1] = (struct machine_tlb){
		.name = "DTLB", .sets = 1, .ways = 64, .page_bytes = 4096, .holds = 2, .next = 2};
	m.tlbs[2] = (struct machine_tlb){
		.name = "DTLB2M", .sets = 1, .ways = 8, .page_bytes = 2097152, .holds = 2, .next = 3};
	m.tlbs[3] = (struct machine_tlb){.name = "STLB", .sets = 8, .ways = 64, .holds = 3, .next = MACHINE_NONE};
	return m;
}

/* One unified first level, memory behind it; one TLB for all. */
static struct machine one_level(void)
{
	// clang-format off: a table, a row a line
	struct machine m = {.name = "one",
			    .n_caches = 1,
			    .n_tlbs = 1,
			    .direction = {.kind = PREDICT_BIMODAL},
			    .targets = {.btb_sets = 4, .btb_ways = 1}};
	// clang-format on
	m.caches[0] = (struct machine_cache){
		.name = "L1", .line_bytes = 32, .sets = 64, .ways = 1, .holds = 3, .next = MACHINE_NONE};
	m.tlbs[0] = (struct machine_tlb){.name = "TLB", .sets = 1, .ways = 64, .holds = 3, .next = MACHINE_NONE};
	return m;
}

static bool at(const struct machine *m, const char *name, uint8_t part, uint8_t index, uint8_t count)
{
	struct component_place p;
	char why[256] = "";
	if (!component_find(m, name, &p, why, sizeof why))
		printf("# %s: %s\n", name, why);
	return !why[0] && !p.constant && p.component == part && p.index == index && p.count == count;
}

static const char *lacks(const struct machine *m, const char *name)
{
	static char why[256];
	struct component_place p;
	why[0] = '\0';
	return component_find(m, name, &p, why, sizeof why) ? "" : why;
}

static bool means_nothing(const struct machine *m, const char *name)
{
	return strstr(lacks(m, name), "no machine has") != NULL;
}

static void test_roles(void)
{
	struct machine m = three_levels(), one = one_level();
	ok(at(&m, "l1d.read_misses", MODEL_CACHE, 1, CACHE_READ_MISSES), "l1d is where data accesses go first");
	ok(at(&m, "l1i.fetch_misses", MODEL_CACHE, 0, CACHE_FETCH_MISSES) &&
		   at(&m, "l1i.fills", MODEL_CACHE, 0, CACHE_FILLS),
	   "l1i is where fetches go first, whatever is counted of it");
	ok(at(&m, "l2.writes", MODEL_CACHE, 2, CACHE_WRITES) &&
		   at(&m, "l3.write_backs", MODEL_CACHE, 3, CACHE_WRITE_BACKS) &&
		   at(&m, "llc.fetches", MODEL_CACHE, 3, CACHE_FETCHES),
	   "l2 and l3 are one and two behind it, llc is the last");
	ok(at(&m, "private.invalidations", MODEL_CACHE, 2, CACHE_INVALIDATIONS),
	   "private is the last level that cores do not share");
	m.caches[2].next = MACHINE_NONE, m.caches[0].next = 3;
	ok(at(&m, "l2.read_misses", MODEL_CACHE, 2, CACHE_READ_MISSES) &&
		   at(&m, "l2.fetch_misses", MODEL_CACHE, 3, CACHE_FETCH_MISSES),
	   "where code and data have a second level each, fetches are those of the code's");
	m = three_levels();
	ok(at(&m, "stlb.read_misses", MODEL_TLB, 3, TLB_READ_MISSES) &&
		   at(&m, "dwalk.write_misses", MODEL_TLB, 3, TLB_WRITE_MISSES),
	   "a TLB of large pages on the way is no level of its own");
	struct component_place p;
	struct model_counts c = {0};
	char why[256];
	c.tlb[1][TLB_READS] = 1000, c.tlb[2][TLB_READS] = 20, c.tlb[3][TLB_READS] = 4;
	ok(component_find(&m, "dtlb.reads", &p, why, sizeof why) && component_value(&p, &c) == 1020,
	   "but a part of the level that its twin for small pages is in: counts are those of both");
	m.tlbs[1].page_bytes = 2097152, m.tlbs[2].page_bytes = 4096;
	ok(component_find(&m, "dtlb.reads", &p, why, sizeof why) && component_value(&p, &c) == 1020 &&
		   component_find(&m, "stlb.reads", &p, why, sizeof why) && component_value(&p, &c) == 4,
	   "whichever of them comes first");
	m.tlbs[1].page_bytes = 0, m.tlbs[2].page_bytes = 2097152;
	ok(component_find(&m, "dtlb.reads", &p, why, sizeof why) && component_value(&p, &c) == 1000 &&
		   component_find(&m, "stlb.reads", &p, why, sizeof why) && component_value(&p, &c) == 4,
	   "behind a TLB of pages of any size it is not");
	m = three_levels();
	ok(at(&one, "l1i.fetches", MODEL_CACHE, 0, CACHE_FETCHES) &&
		   at(&one, "l1d.reads", MODEL_CACHE, 0, CACHE_READS) &&
		   at(&one, "dwalk.read_misses", MODEL_TLB, 0, TLB_READ_MISSES) &&
		   at(&one, "iwalk.fetch_misses", MODEL_TLB, 0, TLB_FETCH_MISSES),
	   "one cache and one TLB for all play every role, reads, writes and fetches apart");
	ok(strstr(lacks(&one, "l2.reads"), "'one' as declared has no second-level cache"),
	   "what a machine lacks is named");
	ok(strstr(lacks(&one, "stlb.reads"), "second-level TLB") &&
		   strstr(lacks(&one, "l1d.victim_hits"), "victim buffer") &&
		   strstr(lacks(&one, "l1d.invalidations"), "coherence") &&
		   strstr(lacks(&m, "l3.invalidations"), "share"),
	   "so are its missing TLB level, victim buffer and coherence");
	ok(strstr(lacks(&m, "branch.mispredicted"), "branch prediction") &&
		   strstr(lacks(&m, "btb.hits"), "branch target buffer"),
	   "and its missing predictor and branch target buffer");
	ok(at(&m, "branch.taken", MODEL_BRANCH, 0, BRANCH_TAKEN) &&
		   at(&one, "btb.hits", MODEL_BRANCH, 0, BRANCH_BTB_HITS),
	   "what needs no predictor is counted without one");
	ok(means_nothing(&m, "l1d.bogus") && means_nothing(&m, "l9.reads") && means_nothing(&m, "l1d") &&
		   means_nothing(&m, "l1d."),
	   "a name that means nothing is none on any machine");
	m.first_data = MACHINE_NONE;
	ok(strstr(lacks(&m, "l1d.reads"), "first-level data cache") &&
		   strstr(lacks(&m, "l2.reads"), "second-level"),
	   "without a data cache there is no level behind it on the data's way");
}

/* ---- rows ---- */

static bool is_family(const char *name)
{
	for (int family = FAMILY_OTHER; family <= FAMILY_POWER4; family++) {
		const struct machine m = {.family = (uint8_t)family};
		if (model_family(&m) && !strcmp(model_family(&m), name))
			return true;
	}
	return false;
}

static void test_rows(void)
{
	const struct machine machine = three_levels();
	bool names = true, reasons = true;
	unsigned modelled = 0;
	for (size_t i = 0; i < event_table_count(table); i++) {
		const struct event_definition *row = event_table_at(table, i);
		struct event event = {.definition = row, .levels = LEVEL_USER, .label = row->name};
		for (size_t k = 0; row->model && k < row->model->n_inputs; k++)
			if (means_nothing(&machine, row->model->inputs[k])) {
				printf("# %s: %s\n", row->name, row->model->inputs[k]);
				names = false;
			}
		modelled += row->model != NULL;
		if (!(row->counted_by & COUNTED_BY_MODEL) || row->model || exact_event_find(&event))
			continue;
		if (!row->no_model && row->kind != EVENT_DURATION) {
			printf("# %s\n", row->name);
			reasons = false;
		}
	}
	ok(modelled > 100 && names, "every formula of %u rows is over counters that there are", modelled);
	ok(reasons, "every other row of a model is timing, or says why it is not modelled");

	/* distinct counts: a formula that confuses two of them gives another value */
	struct machine m = three_levels();
	struct model_counts c = {0};
	m.direction.kind = PREDICT_BIMODAL;
	m.targets.btb_sets = 4;
	c.cache[1][CACHE_READS] = 1000, c.cache[1][CACHE_WRITES] = 200, c.cache[1][CACHE_READ_MISSES] = 30;
	c.cache[1][CACHE_WRITE_MISSES] = 4, c.cache[1][CACHE_WRITE_BACKS] = 3, c.cache[1][CACHE_UPGRADES] = 5;
	c.cache[0][CACHE_FETCHES] = 50000, c.cache[0][CACHE_FETCH_MISSES] = 600;
	c.cache[2][CACHE_READS] = 30, c.cache[2][CACHE_WRITES] = 4, c.cache[2][CACHE_FETCHES] = 600;
	c.cache[2][CACHE_READ_MISSES] = 7, c.cache[2][CACHE_WRITE_MISSES] = 2, c.cache[2][CACHE_FETCH_MISSES] = 90;
	c.cache[2][CACHE_WRITE_BACKS] = 11, c.cache[2][CACHE_COHERENCE_MISSES] = 6,
	c.cache[2][CACHE_FALSE_SHARING_MISSES] = 4;
	c.tlb[1][TLB_READ_MISSES] = 8, c.tlb[1][TLB_WRITE_MISSES] = 1, c.tlb[2][TLB_READ_MISSES] = 7,
	c.tlb[3][TLB_READ_MISSES] = 2, c.tlb[3][TLB_FETCH_MISSES] = 5;
	c.branch[BRANCH_CONDITIONAL] = 100, c.branch[BRANCH_CONDITIONAL_MISPREDICTED] = 9,
	c.branch[BRANCH_MISPREDICTED] = 12;
	c.branch[BRANCH_BTB_HITS] = 70, c.branch[BRANCH_BTB_MISSES] = 60, c.branch[BRANCH_BTB_MISSES_TAKEN] = 20;
	// clang-format off: a table, a row a line
	static const struct {
		const char *name;
		uint64_t truth;
	} truths[] = {
		{"l1d-misses", 34},
		{"l1d-load-misses", 30},
		{"l1d-store-misses", 4},
		{"l1d-hits", 1166},
		{"l1d-accesses", 1200},
		{"l1i-misses", 600},
		{"l1-misses", 634},
		{"l1-hits", 51200 - 634},
		{"l2-misses", 99},
		{"l2-hits", 634 - 99},
		{"l2-data-misses", 9},
		{"l2-code-misses", 90},
		{"cache-misses", 0},
		{"l1d-write-backs", 3},
		{"l2-write-backs", 11},
		{"dtlb-misses", 16},
		{"tlb-misses", 7},
		{"itlb-walks", 5},
		{"branch-misses", 12},
		{"conditional-branch-hits", 91},
		{"btb-misses", 20},
		{"taken-branches-or-btb-hits", 90},
		{"l1d-write-hits-owned", 191},
		{"true-sharing-misses", 2},
		{"l2-quadwords-written-back", 11 * 128 / 16},
		{"l1d-quadwords-written-back", 3 * 32 / 16},
		{"r10000:Secondary data cache misses", 9},
		{"p5mon:data_cache_lines_written_back", 3},
	};
	// clang-format on
	for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
		struct event event;
		struct model_event bound;
		char why[256] = "";
		const char *no = "";
		uint64_t value = 0;
		bool good = event_parse(table, truths[i].name, &event, NULL) &&
			    model_event_bind(event.definition, &m, &bound, why, sizeof why) &&
			    model_event_value(&bound, &c, &value, &no);
		if (!good || value != truths[i].truth)
			printf("# %llu %s%s\n", (unsigned long long)value, why, no);
		ok(good && value == truths[i].truth, "%s of known counts is %llu", truths[i].name,
		   (unsigned long long)truths[i].truth);
	}

	struct model_event bound;
	struct model_watch watches[8];
	uint8_t minus;
	char why[256];
	uint64_t value;
	const char *no = NULL;
	struct event filter, misses, quads, cycles;
	event_parse(table, "l1d-hits", &filter, NULL);
	event_parse(table, "l1d-misses", &misses, NULL);
	event_parse(table, "l2-quadwords-written-back", &quads, NULL);
	event_parse(table, "cycles", &cycles, NULL);
	ok(model_event_bind(misses.definition, &m, &bound, why, sizeof why) &&
		   model_event_watches(&bound, watches, 8, &minus) == 2 && watches[0].component == MODEL_CACHE &&
		   watches[0].index == 1 && watches[0].count == CACHE_READ_MISSES &&
		   watches[1].count == CACHE_WRITE_MISSES && !minus,
	   "a sum of counts can be watched by instruction");
	ok(model_event_watches(&bound, watches, 1, &minus) == 0, "but not with fewer watches than counts");
	struct event pages;
	event_parse(table, "dtlb-misses", &pages, NULL);
	ok(model_event_bind(pages.definition, &m, &bound, why, sizeof why) &&
		   model_event_watches(&bound, watches, 8, &minus) == 4 && watches[0].index == 1 &&
		   watches[1].index == 2 && watches[2].index == 1 && watches[3].index == 2 &&
		   watches[1].count == TLB_READ_MISSES && watches[3].count == TLB_WRITE_MISSES && !minus,
	   "of a level of two TLBs both are watched");
	ok(model_event_watches(&bound, watches, 3, &minus) == 0, "or neither");
	ok(model_event_bind(filter.definition, &m, &bound, why, sizeof why) &&
		   model_event_watches(&bound, watches, 8, &minus) == 4 && watches[0].count == CACHE_READS &&
		   watches[2].count == CACHE_READ_MISSES && minus == 12,
	   "so can a difference, of which some are to be subtracted");
	c.cache[1][CACHE_READ_MISSES] = 5000;
	ok(!model_event_value(&bound, &c, &value, &no) && strstr(no, "negative"),
	   "a formula that comes out negative is no count");
	ok(model_event_bind(quads.definition, &m, &bound, why, sizeof why) &&
		   model_event_watches(&bound, watches, 8, &minus) == 0,
	   "nor can a multiple");
	c.cache[2][CACHE_WRITE_BACKS] = 1ull << 60;
	ok(!model_event_value(&bound, &c, &value, &no) && strstr(no, "too large"),
	   "a count beyond the doubles' integers is no count");
	ok(!model_event_bind(cycles.definition, &m, &bound, why, sizeof why) && strstr(why, "timing"),
	   "cycles are a timing event");
}

/* ---- perf's generic names: on each declared machine what its own counter counts ---- */

static const char *const generic_machines[] = {"lab",    "pentium",         "power3", "alpha21264", "r10000",
					       "power4", "sapphire-rapids", "zen4",   "neoverse-v2"};

/* By hand from the kernel's tables (Linux 6.1: p4_generic_events and power4_cache_events, spr_hw_cache_event_ids, amd_f17h_perfmon_event_map
   and amd_hw_cache_event_ids_f17h, armv8_pmuv3_perf_map and armv8_pmuv3_perf_cache_map) and, where the kernel knows no such machine or
   no such event of it, from tare's sentence. r w f: accesses, R W F: misses, X: fills; minus with a - in front; C: conditional
   mispredictions, M: all. NULL: the machine has no such thing. */
// clang-format off: a table, a row a line
static const struct {
	const char *event, *on[9];
} generic_truths[] = {
	{"cache-references",
	 {"L1D rw L1I f", "L2 rwf", "L2 rwf", "L2 rwf", "L2 rwf", "L1D r", "L3 rwf", "L2 rwf", "L1D rw"}},
	{"cache-misses",
	 {"L1D RW L1I F", "L2 RWF", "L2 RWF", "L2 RWF", "L2 RWF", "L1D R", "L3 RWF", "L2 RWF", "L1D RW"}},
	{"branch-misses",
	 {"branch M", "branch M", "branch M", "branch M", "branch C", "branch C", "branch M", "branch M",
	  "branch M"}},
	{"L1-dcache-loads", {"L1D r", "L1D r", "L1D r", "L1D r", "L1D r", "L1D r", "L1D r", "L1D rw", "L1D rw"}},
	{"L1-dcache-load-misses",
	 {"L1D R", "L1D R", "L1D R", "L1D R", "L1D R", "L1D R", "L1D R", "L1D RW", "L1D RW"}},
	{"L1-dcache-stores", {"L1D w", "L1D w", "L1D w", "L1D w", "L1D w", "L1D w", "L1D w", "L1D w", "L1D rw"}},
	{"L1-dcache-store-misses",
	 {"L1D W", "L1D W", "L1D W", "L1D W", "L1D W", "L1D W", "L1D W", "L1D W", "L1D RW"}},
	{"L1-icache-loads", {"L1I f", "L1I f", "L1I f", "L1I f", "L1I f", "L1I f", "L1I f", "L1I f", "L1I f"}},
	{"L1-icache-load-misses",
	 {"L1I F", "L1I F", "L1I F", "L1I F", "L1I F", "L1I F", "L1I F", "L1I F", "L1I F"}},
	{"LLC-loads", {"L1D r", "L2 r", "L2 r", "L2 r", "L2 r", "L3 r", "L3 r", "L3 r", "L3 r"}},
	{"LLC-load-misses", {"L1D R", "L2 R", "L2 R", "L2 R", "L2 R", "L3 R", "L3 R", "L3 R", "L3 R"}},
	{"LLC-stores", {"L1D w", "L2 w", "L2 w", "L2 w", "L2 w", "L3 w", "L3 w", "L3 w", "L3 w"}},
	{"LLC-store-misses", {"L1D W", "L2 W", "L2 W", "L2 W", "L2 W", "L3 W", "L3 W", "L3 W", "L3 W"}},
	{"dTLB-loads",
	 {"TLB r", "DTLB r", "DTLB r", "DTLB r", "TLB r", "DTLB r", "DTLB r DTLB2M r", "L2DTLB rw", "DTLB rw"}},
	{"dTLB-load-misses",
	 {"TLB R", "DTLB R", "DTLB R", "DTLB R", "TLB R", "TLB RW", "STLB R", "L2DTLB RW", "DTLB RW"}},
	{"dTLB-stores",
	 {"TLB w", "DTLB w", "DTLB w", "DTLB w", "TLB w", "DTLB w", "DTLB w DTLB2M w", "DTLB w", "DTLB w"}},
	{"dTLB-store-misses",
	 {"TLB W", "DTLB W", "DTLB W", "DTLB W", "TLB W", "DTLB W", "STLB W", "DTLB W", "DTLB W"}},
	{"iTLB-loads",
	 {"TLB f", "ITLB f", "ITLB f", "ITLB f", "ITLB f", "ITLB f", "STLB f-F", "L2ITLB f-F", "ITLB f"}},
	{"iTLB-load-misses",
	 {"TLB F", "ITLB F", "ITLB F", "ITLB F", "ITLB F", "TLB F", "STLB F", "L2ITLB F", "ITLB F"}},
};
// clang-format on

static uint64_t *count_named(struct model_counts *c, const struct machine *m, const char *component, char letter)
{
	static const char letters[] = "rwfRWFX";
	unsigned count = (unsigned)(strchr(letters, letter) - letters);
	if (letter == 'C' || letter == 'M')
		return &c->branch[letter == 'C' ? BRANCH_CONDITIONAL_MISPREDICTED : BRANCH_MISPREDICTED];
	for (unsigned i = 0; i < m->n_caches; i++)
		if (!strcmp(m->caches[i].name, component))
			return &c->cache[i][count];
	for (unsigned i = 0; i < m->n_tlbs; i++)
		if (!strcmp(m->tlbs[i].name, component))
			return &c->tlb[i][count];
	return NULL;
}

/* "L1D RW L1I F" */
static bool truth_of(struct model_counts *c, const struct machine *m, const char *text, uint64_t *sum)
{
	char copy[100], *rest = copy;
	snprintf(copy, sizeof copy, "%s", text);
	*sum = 0;
	for (const char *component; (component = strsep(&rest, " "));) {
		const char *letters = strsep(&rest, " ");
		for (bool minus = false; *letters; letters++) {
			uint64_t *count = *letters == '-' ? NULL : count_named(c, m, component, *letters);
			if (*letters == '-')
				minus = true;
			else if (!count)
				return false;
			else
				*sum += minus ? 0 - *count : *count;
		}
	}
	return true;
}

/* Each of them another one, misses fewer than accesses. */
static void fill_counts(struct model_counts *c)
{
	uint64_t next = 1;
	memset(c, 0, sizeof *c);
	for (unsigned i = 0; i < MACHINE_CACHES; i++)
		for (unsigned k = CACHE_COUNTS; k-- > 0; next = next * 3 / 2 + 7)
			c->cache[i][k] = next % 1000003 + (k < CACHE_READ_MISSES ? 1u << 30 : 0);
	for (unsigned i = 0; i < MACHINE_TLBS; i++)
		for (unsigned k = TLB_COUNTS; k-- > 0; next = next * 3 / 2 + 7)
			c->tlb[i][k] = next % 1000003 + (k < TLB_READ_MISSES ? 1u << 30 : 0);
	for (unsigned k = 0; k < BRANCH_COUNTS; k++)
		c->branch[k] = 5000 + 17 * k * k;
}

static void test_generic_names(void)
{
	for (size_t i = 0; i < sizeof generic_truths / sizeof *generic_truths; i++)
		for (size_t k = 0; k < sizeof generic_machines / sizeof *generic_machines; k++) {
			static struct machine m;
			static struct model_counts c;
			struct event event;
			struct model_event bound;
			struct error err = {0};
			char why[256] = "";
			const char *no = "";
			uint64_t value = 0, truth = 1;
			fill_counts(&c);
			bool good = machine_find(generic_machines[k], &m, &err) &&
				    truth_of(&c, &m, generic_truths[i].on[k], &truth) &&
				    event_parse(table, generic_truths[i].event, &event, &err) &&
				    model_event_bind(event.definition, &m, &bound, why, sizeof why) &&
				    model_event_value(&bound, &c, &value, &no);
			ok(good && value == truth, "%s on %s is %s", generic_truths[i].event, generic_machines[k],
			   generic_truths[i].on[k]);
			if (!good || value != truth)
				printf("# %llu, not %llu: %s%s%s\n", (unsigned long long)value,
				       (unsigned long long)truth, why, no, err.text);
		}
	/* and no generic cache name that a model counts is left out */
	unsigned left_out = 0;
	for (size_t i = 0; i < event_table_count(table); i++) {
		const struct event_definition *row = event_table_at(table, i);
		bool generic = false, found = false, families = true;
		for (const char *const *e = row->encodings; *e; e++)
			generic |= !strncmp(*e, "generic:", 8);
		for (const struct event_model *m = row->models; m && m->family; m++)
			families &= is_family(m->family);
		for (size_t k = 0; k < sizeof generic_truths / sizeof *generic_truths; k++) {
			struct event event;
			found |= event_parse(table, generic_truths[k].event, &event, NULL) &&
				 event.definition == row;
		}
		if (!families ||
		    ((row->models || (generic && row->model)) && !found && strcmp(row->name, "l1d-prefetches"))) {
			printf("# %s\n", row->name);
			left_out++;
		}
	}
	equal_u64(left_out, 0, "every generic name that a model counts is among these, and every family is one");
}

/* ---- the rows' new keys ---- */

static bool refused(const char *keys, const char *reason)
{
	char text[512];
	struct error err = {0};
	int n = snprintf(text, sizeof text,
			 "[x]\ndefinition = X.\nunit = x\nkind = occurrence\nscope = thread\n%s", keys);
	struct event_table *own = event_table_new(NULL);
	bool added = event_table_add(own, text, (size_t)n, "own", &err);
	event_table_free(own);
	if (added || !strstr(err.text, reason))
		printf("# %s\n", added ? "accepted" : err.text);
	return !added && strstr(err.text, reason);
}

static void test_keys(void)
{
	ok(refused("counted_by = model\nmodel = l1d.reads +\n", "own:7: model: column"),
	   "a broken formula is refused with its line and column");
	ok(refused("counted_by = exact\nmodel = l1d.reads\n", "does not name model"),
	   "so is one of a row that no model counts");
	ok(refused("counted_by = model\nmodel = l1d.reads\nno_model = never\n", "both"),
	   "and a row that is modelled and is not");
	ok(refused("counted_by = model\nmodel = l1d.reads\nmodel = l1d.reads\n", "twice"),
	   "and one with two formulas");
	ok(refused("counted_by = model\nmodel = l1d.reads\nmodel = amd:l1d.reads\nmodel = amd:l1d.fills\n",
		   "own:9: given twice: 'amd'"),
	   "or two of one family");
	ok(refused("counted_by = model\nmodel = amd:l1d.reads\n", "none for all other machines"),
	   "or of families alone");
	ok(refused("counted_by = model\nmodel = l1d.reads\nmodel = a b:l1d.reads\n", "not a family"),
	   "or of what is no family's name");
	struct event event;
	struct event_encoding encoding;
	struct event_machine host = event_machine_host();
	ok(event_parse(table, "r12000::l1d-misses:u", &event, NULL) && event.machine &&
		   !strcmp(event.machine, "r12000") && !strcmp(event.label, "r12000::l1d-misses:u") &&
		   event.levels == LEVEL_USER && event.definition,
	   "a row that a model counts can be asked of a machine");
	ok(!event_encode(&event, &host, 0, &encoding, NULL), "no hardware counter has a modelled machine's event");
	ok(event_parse(table, "r12000::L1-dcache-loads", &event, NULL) &&
		   !strcmp(event.label, "r12000::l1d-loads"),
	   "an alias is shown by the row's name there too");
	ok(event_parse(table, "perf::branches", &event, NULL) && !event.machine && event.naming == NAMED_PFM,
	   "what libpfm4 has a PMU for stays libpfm4's");
	ok(event_parse(table, "r12000::page-faults", &event, NULL) && !event.machine,
	   "what no model counts is not a machine's");
}

/* ---- records ---- */

/* 0x1000: xor %eax,%eax; mov (%rdi),%rcx: entered twice in one thread, 3 times in the other: 4 and 6 instructions */
static const uint8_t code[] = {0x31, 0xc0, 0x48, 0x8b, 0x0f};
// clang-format off: a table, a row a line
static const struct record_block block = {.address = 0x1000,
					  .length_bytes = 5,
					  .insns = 2,
					  .counter = 0,
					  .taken = RECORD_NONE,
					  .module = RECORD_NONE,
					  .flags = 1};
// clang-format on

static struct hand two_threads(uint64_t first, uint64_t second, uint32_t machines)
{
	struct hand h = hand_new();
	uint32_t index = hand_process(&h, RECORD_NONE, false);
	struct record_process *p = injection_process(h.injection, index);
	uint64_t entered[] = {2, 3};
	p->blocks = hand_area(&h, &block, sizeof block, 1, 0);
	p->code = hand_area(&h, code, 1, sizeof code, 0);
	for (uint32_t t = 0; t < 2; t++) {
		struct model_counts counts[4] = {0};
		hand_thread(&h, index, 100 + t, &entered[t], 1);
		for (uint32_t m = 0; m < machines; m++) {
			counts[m].stream[STREAM_INSTRUCTIONS] = t ? second : first;
			counts[m].stream[STREAM_MISALIGNED] = t + 1;
			counts[m].stream[STREAM_LINE_CROSSING_READS] = 10 * (t + 1);
			counts[m].cache[0][CACHE_READS] = 7 + t + 100 * m;
		}
		if (machines)
			hand_models(&h, index, counts, machines * sizeof *counts);
	}
	return h;
}

static struct tally *tally_of(struct hand *h, size_t machines, struct view **view)
{
	struct tally_options options = {.children = true, .machines = machines};
	struct tally *tally = NULL;
	if (!view_new(h->injection, view, &h->err) || !tally_new(*view, &options, &tally, &h->err))
		printf("# %s\n", h->err.text);
	return tally;
}

static const struct exact_event *exact(const char *request)
{
	struct event event;
	return event_parse(table, request, &event, NULL) ? exact_event_find(&event) : NULL;
}

static void test_records(void)
{
	struct view *view;
	uint64_t value;
	struct hand h = two_threads(4, 6, 2);
	struct tally *t = tally_of(&h, 2, &view);
	ok(t && !t->why && !t->models_why && t->n_rows == 2,
	   "a record whose stream has the instructions that were executed is good");
	ok(t && t->models[0].cache[0][CACHE_READS] == 15 && t->models[1].cache[0][CACHE_READS] == 215,
	   "each machine's counts are the sum over threads");
	ok(t && t->rows[0].models[1].cache[0][CACHE_READS] == 107 &&
		   t->rows[1].models[0].cache[0][CACHE_READS] == 8,
	   "and each thread's are its own");
	ok(t && exact_event_value(exact("misaligned-accesses:u"), t->total, &value) && value == 3 &&
		   exact_event_value(exact("line-crossing-loads:u"), t->total, &value) && value == 30 &&
		   exact_event_value(exact("misaligned-accesses:u"), t->rows[1].count, &value) && value == 2,
	   "what the stream alone tells is counted, of all and of a thread");
	ok(t && tally_join(t, false, 2) && t->n_rows == 1 && t->rows[0].models[1].cache[0][CACHE_READS] == 215 &&
		   t->rows[0].count[COUNT_MISALIGNED] == 3,
	   "a process's row is its threads' sum");
	tally_free(t), view_free(view), hand_free(&h);

	h = two_threads(4, 5, 2);
	t = tally_of(&h, 2, &view);
	ok(t && !t->why && t->models_why && strstr(t->models_why, "thread 101") &&
		   strstr(t->models_why, "5 instructions") && strstr(t->models_why, "executed 6"),
	   "a stream of another number of instructions is not used, and the thread is named");
	ok(t && exact_event_unknown(exact("misaligned-accesses:u"), t) &&
		   !exact_event_unknown(exact("instructions:u"), t),
	   "then the counts of the stream are not known, and the others are");
	tally_free(t), view_free(view), hand_free(&h);

	h = two_threads(4, 6, 0);
	t = tally_of(&h, 1, &view);
	ok(t && t->models_why && strstr(t->models_why, "0 instructions"),
	   "a thread that handed in no stream is no thread without accesses");
	tally_free(t), view_free(view);
	t = tally_of(&h, 0, &view);
	ok(t && !t->models_why && !t->models, "where no stream was asked for nothing is missed");
	tally_free(t), view_free(view), hand_free(&h);

	h = two_threads(4, 6, 1);
	snprintf(injection_process(h.injection, 0)->reason, 20, "a test");
	injection_process(h.injection, 0)->inexact = 1;
	t = tally_of(&h, 1, &view);
	ok(t && t->why && t->models_why && strstr(t->models_why, "a test"),
	   "a record that is not exact gives no count of the stream either");
	tally_free(t), view_free(view), hand_free(&h);
}

/* A process in two parts: one thread goes on in the second, another begins there. */
static void test_parts(void)
{
	struct hand h = hand_new();
	uint64_t entered[] = {2, 3, 4};
	for (uint32_t part = 0; part < 2; part++) {
		uint32_t index = hand_process(&h, RECORD_NONE, false);
		struct record_process *p = injection_process(h.injection, index);
		p->pid = 1000;
		p->state = part ? RECORD_EXITED : RECORD_CONTINUED;
		p->continues = part;
		p->blocks = hand_area(&h, &block, sizeof block, 1, 0);
		p->code = hand_area(&h, code, 1, sizeof code, 0);
		for (uint32_t t = 0; t <= part; t++) {
			struct model_counts counts = {0};
			counts.stream[STREAM_INSTRUCTIONS] = 2 * entered[part + t];
			counts.cache[0][CACHE_READS] = 10 * (part + 1) + t;
			hand_thread(&h, index, 100 + t, &entered[part + t], 1);
			hand_models(&h, index, &counts, sizeof counts);
		}
	}
	struct view *view;
	struct tally *t = tally_of(&h, 1, &view);
	ok(t && !t->why && !t->models_why && t->n_rows == 2,
	   "a process in two parts has a row for each thread: %s", t && t->why ? t->why : "");
	bool rows = t && t->n_rows == 2;
	for (size_t r = 0; rows && r < 2; r++)
		rows = t->rows[r].models->cache[0][CACHE_READS] == (t->rows[r].tid == 100 ? 10 + 20 : 21);
	ok(rows && t->models->cache[0][CACHE_READS] == 51, "what a thread's models counted in both is in its row");
	tally_free(t), view_free(view), hand_free(&h);
}

/* ---- the backend ---- */

static bool opens(const char *argument, struct backend **backend, struct error *err)
{
	*err = (struct error){0};
	return model_backend.open(argument, backend, err);
}

static struct availability answer_of(struct backend *backend, const char *request)
{
	struct availability answer;
	struct event event;
	event_parse(table, request, &event, NULL);
	model_backend.available(backend, &event, &answer);
	return answer;
}

static void test_backend(void)
{
	struct backend *backend;
	struct error err;
	size_t n;
	ok(!opens(NULL, &backend, &err) && err.code == ERROR_USAGE && strstr(err.hint, "host"),
	   "without a name it is asked which machine");
	ok(!opens("", &backend, &err) && !opens("r12000,", &backend, &err) && err.code == ERROR_USAGE,
	   "an empty name is none");
	ok(!opens("r1200", &backend, &err) && err.code == ERROR_USAGE && strstr(err.hint, "r12000"),
	   "a mistyped name gets the nearest ones");
	ok(!opens("r12000,model:r12000", &backend, &err) && strstr(err.text, "twice"), "a machine is named once");
	ok(opens("r12000,model:host", &backend, &err),
	   "several machines are named with commas, with or without the prefix");
	const char *const *names = model_backend.machines(backend, &n);
	ok(n == 2 && !strcmp(names[0], "r12000") && !strcmp(names[1], "host"),
	   "they are listed in the order of asking");
	struct availability a = answer_of(backend, "l3-misses:u");
	ok(a.state == READING_UNSUPPORTED && strstr(a.why, "r12000") && strstr(a.why, "third-level"),
	   "an event whose component the first machine lacks is unsupported there, with the reason");
	a = answer_of(backend, "cycles:u");
	ok(a.state == READING_UNSUPPORTED && strstr(a.why, "timing"), "a timing event says that it is one");
	a = answer_of(backend, "power3::l1d-misses:u");
	names = model_backend.machines(backend, &n);
	ok(a.state == READING_COUNTED && n == 3 && !strcmp(names[2], "power3"),
	   "a machine that an event names is one more");
	a = answer_of(backend, "power33::l1d-misses:u");
	names = model_backend.machines(backend, &n);
	ok(a.state == READING_UNSUPPORTED && strstr(a.why, "power33") && n == 3,
	   "one that nobody declared is none");
	a = answer_of(backend, "page-faults:u");
	ok(a.state == READING_UNSUPPORTED && a.why[0], "what neither engine nor model counts is unsupported");
	a = answer_of(backend, "instructions:u");
	ok(a.state == READING_COUNTED && a.source == SOURCE_EXACT,
	   "what the engine counts is exact on every machine");
	ok(model_backend.native(backend, NULL, 0), "with no event the program runs natively");
	struct target target = {.kind = TARGET_PROCESSES};
	struct counting *counting;
	err = (struct error){0};
	ok(!model_backend.prepare(backend, &target, NULL, 0, &counting, &err) && strstr(err.text, "starts"),
	   "a running process is refused");
	model_backend.close(backend);
}

static struct run count(struct backend *backend, char *const *argv, const char *const *requests, size_t n)
{
	struct run run = {0};
	struct event events[8];
	const struct event *pointers[8];
	struct counting *counting = NULL;
	struct error err = {0};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), status;
	struct command command = {
		.argv = argv, .stdin_fd = null, .stdout_fd = null, .stderr_fd = null, .reproducible = true};
	struct target target = {.kind = TARGET_COMMAND, .command = &command, .follow_children = true};
	for (size_t i = 0; i < n; i++) {
		event_parse(table, requests[i], &events[i], &err);
		pointers[i] = &events[i];
	}
	if (model_backend.prepare(backend, &target, pointers, n, &counting, &err) &&
	    model_backend.go(counting, &err)) {
		while (waitpid(model_backend.process(counting), &status, 0) < 0 && errno == EINTR)
			continue;
		model_backend.stop(counting, &run, &err);
	}
	if (err.text[0])
		printf("# %s\n", err.text);
	for (size_t i = 0; run.readings && i < n; i++)
		if (run.readings[i].state != READING_COUNTED)
			printf("# %s: %s\n", requests[i], run.readings[i].why);
	if (counting)
		model_backend.end(counting);
	close(null);
	return run;
}

static void test_program(void)
{
	char *const argv[] = {"true", NULL};
	const char *const requests[] = {"instructions:u", "r12000::l1d-misses:u", "host::l1d-misses:u",
					"r12000::l1d-accesses:u"};
	struct backend *backend;
	struct error err;
	if (!opens("r12000,host", &backend, &err)) {
		ok(false, "two machines run: %s", err.text);
		return;
	}
	struct availability a = answer_of(backend, "l1d-misses:u");
	ok(a.state == READING_COUNTED && a.source == SOURCE_MODEL, "a miss is counted by a model, by trial: %s",
	   a.why);
	struct run run = count(backend, argv, requests, 4);
	bool counted = run.readings != NULL;
	for (size_t i = 0; counted && i < 4; i++)
		counted = run.readings[i].state == READING_COUNTED;
	ok(counted && run.readings[0].source == SOURCE_EXACT && !run.readings[0].machine &&
		   run.readings[1].source == SOURCE_MODEL && !strcmp(run.readings[1].machine, "r12000") &&
		   !strcmp(run.readings[2].machine, "host"),
	   "one execution counts exactly what can be, and each machine's by its model, under its name");
	ok(counted && run.readings[1].count_raw > 100 && run.readings[3].count_raw > run.readings[1].count_raw &&
		   run.readings[2].count_raw != run.readings[1].count_raw,
	   "the machines differ, and neither misses always");
	ok(counted && run.n_remarks >= 3, "what is to be known of it is remarked");
	struct run again = count(backend, argv, requests, 4);
	bool same = counted && again.readings != NULL;
	for (size_t i = 0; same && i < 4; i++)
		same = again.readings[i].count_raw == run.readings[i].count_raw;
	ok(same, "a reproducible run counts the same again");
	run_free(&run);
	run_free(&again);
	model_backend.close(backend);
}

/* ---- a model that breaks a law of its own ---- */

/* The linker gives the backend this in the place of model_conserves(): what a broken model's counts would get. */
static const char *broken_law;
bool __real_model_conserves(const struct machine *machine, const struct model_options *options,
			    const struct model_counts *counts, const char **why);
bool __wrap_model_conserves(const struct machine *machine, const struct model_options *options,
			    const struct model_counts *counts, const char **why);
bool __wrap_model_conserves(const struct machine *machine, const struct model_options *options,
			    const struct model_counts *counts, const char **why)
{
	bool lawful = __real_model_conserves(machine, options, counts, why);
	if (broken_law && !strcmp(machine->name, "r12000"))
		*why = broken_law, lawful = false;
	return lawful;
}

static void test_asked(void)
{
	char *const argv[] = {"true", NULL};
	const char *const requests[] = {"instructions:u", "r12000::l1d-misses:u"};
	struct backend *backend;
	struct error err;
	if (!opens("zen4,r12000", &backend, &err)) {
		ok(false, "two machines run: %s", err.text);
		return;
	}
	broken_law = "what is read was written";
	struct run run = count(backend, argv, requests, 2);
	broken_law = NULL;
	const struct reading *r = run.readings;
	ok(r && r[0].state == READING_COUNTED, "what no model counts is counted, whatever the models do");
	ok(r && r[1].state == READING_FAILED && strstr(r[1].why, "'r12000'") &&
		   strstr(r[1].why, "what is read was written"),
	   "the backend asks for the laws of every machine: a machine whose counts break one has none");
	run_free(&run);
	model_backend.close(backend);
}

static unsigned released;

static bool seven(void *context, const void *modelled, const struct model_counts *counts, uint64_t *out,
		  const char **why)
{
	(void)context, (void)modelled, (void)counts, (void)why;
	*out = 7;
	return true;
}

static bool breaks(void *context, size_t machine, const struct model_counts *counts, const char **why)
{
	(void)machine, (void)counts;
	*why = "hits and misses are accesses";
	return *(const bool *)context;
}

static const char *called(void *context, size_t machine)
{
	(void)context, (void)machine;
	return "broken";
}

static void release(void *context)
{
	(void)context;
	released++;
}

/* The reading of a modelled event of `true` by a model that is lawful, or is not. */
static struct reading by_law(bool lawful, char *why, size_t size)
{
	struct machine machine = three_levels();
	// clang-format off: a table, a row a line
	struct counting_models models = {.machines = &machine,
					 .n = 1,
					 .bytes = sizeof machine,
					 .context = &lawful,
					 .value = seven,
					 .conserves = breaks,
					 .name = called,
					 .release = release};
	// clang-format on
	struct counting_options options = {.models = &models};
	struct execution_event event = {.modelled = &machine};
	char *const argv[] = {"true", NULL};
	struct command command = {.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	struct target target = {.kind = TARGET_COMMAND, .command = &command};
	struct counting *counting = NULL;
	struct run run = {0};
	struct reading reading = {.state = READING_NEVER_RAN};
	struct error err = {0};
	int status;
	machine.n_tlbs = 0, machine.first_data_tlb = machine.first_instruction_tlb = MACHINE_NONE,
	machine.seed = 1;
	if (counting_start(&target, &event, 1, &options, &counting, &err) && counting_go(counting, &err)) {
		while (waitpid(counting_process(counting), &status, 0) < 0 && errno == EINTR)
			continue;
		if (counting_stop(counting, &run, &err))
			reading = run.readings[0];
	}
	if (err.text[0])
		printf("# %s\n", err.text);
	snprintf(why, size, "%s", reading.why ? reading.why : "");
	reading.why = reading.machine = NULL;
	if (counting)
		counting_end(counting);
	run_free(&run);
	return reading;
}

static void test_laws(void)
{
	char why[400];
	struct reading r = by_law(true, why, sizeof why);
	ok(r.state == READING_COUNTED && r.source == SOURCE_MODEL && r.count_raw == 7,
	   "lawful counts are a reading %s", why);
	r = by_law(false, why, sizeof why);
	ok(r.state == READING_FAILED && strstr(why, "broken") && strstr(why, "hits and misses") &&
		   strstr(why, "defect of tare"),
	   "counts that break a law of the model are none, and the law is named");
	ok(released == 2, "what a model holds is released with its execution, once");
	struct counting_models models = {.release = release};
	struct counting_options options = {.models = &models};
	struct target target = {.kind = TARGET_CPUS};
	struct counting *counting;
	ok(!counting_start(&target, NULL, 0, &options, &counting, NULL) && released == 3,
	   "and where none begins, too");
}

int main(void)
{
	table = event_table_new(NULL);
	test_roles();
	test_rows();
	test_generic_names();
	test_keys();
	test_records();
	test_parts();
	test_backend();
	test_program();
	test_asked();
	test_laws();
	event_table_free(table);
	return done();
}
