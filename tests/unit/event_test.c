/* Events: the rows of data/events/, and the grammar of requests. What becomes of them for a kernel is in event_encode_test.c. */
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "event/event.h"
#include "compat/p5mon_events.h"
#include "compat/perfex_events.h"
#include "tap.h"

static struct event_table *table;

/* Rows of our own. */
static bool add(const char *text, struct error *err)
{
	return event_table_add(table, text, strlen(text), "my.events", err);
}

/* ---- rows ---- */

/* Every name of every kind of a row. */
static size_t names_of(const struct event_definition *row, const char **names, size_t most)
{
	size_t n = 0;
	names[n++] = row->name;
	for (const char *const *alias = row->aliases; *alias && n < most; alias++)
		names[n++] = *alias;
	for (const char *const *paper = row->paper_names; *paper && n < most; paper++)
		names[n++] = *paper;
	return n;
}

static void test_rows(void)
{
	enum { NAMES_MOST = 2048 };
	static const char *names[NAMES_MOST];
	static const struct event_definition *owner[NAMES_MOST];
	size_t n = 0, rows = event_table_count(table);
	bool sentences = true, parse_all = true, unique = true;
	for (size_t i = 0; i < rows; i++) {
		const struct event_definition *row = event_table_at(table, i);
		size_t length = strlen(row->definition);
		/* one sentence: ends in a full stop and has no other before a capital */
		bool sentence = length > 20 && row->definition[length - 1] == '.' && row->definition[0] >= 'A' &&
				row->definition[0] <= 'Z';
		for (const char *stop = row->definition; (stop = strstr(stop, ". ")); stop++)
			sentence = false;
		if (!sentence)
			printf("# '%s': %s\n", row->name, row->definition);
		sentences &= sentence;
		size_t more = names_of(row, names + n, NAMES_MOST - n);
		for (size_t k = 0; k < more; k++)
			owner[n + k] = row;
		n += more;
	}
	ok(rows > 150, "there are more than 150 canonical events");
	ok(sentences, "every definition is one sentence");
	for (size_t i = 0; i < n; i++) {
		struct event event;
		bool parsed = event_parse(table, names[i], &event, NULL) && event.definition == owner[i];
		if (!parsed)
			printf("# '%s' is not the event '%s'\n", names[i], owner[i]->name);
		parse_all &= parsed;
		for (size_t k = 0; k < i; k++) {
			if (strcmp(names[i], names[k]) == 0) {
				printf("# '%s' names '%s' and '%s'\n", names[i], owner[i]->name, owner[k]->name);
				unique = false;
			}
		}
	}
	ok(unique, "no two events share a name of any kind");
	ok(parse_all, "every name of every kind parses to its own event");
	ok(event_table_find(table, "instructions") && !event_table_find(table, "TOT_INS"),
	   "event_table_find() knows canonical names only");
	ok(event_table_at(table, rows) == NULL, "there is no event behind the last");
}

static void test_paper_names(void)
{
	bool known = true;
	for (size_t i = 0; i < event_table_count(table); i++) {
		const struct event_definition *row = event_table_at(table, i);
		for (const char *const *paper = row->paper_names; *paper; paper++) {
			bool found = strncmp(*paper, "p5mon:", 6) == 0 && p5mon_event_named(*paper + 6);
			for (size_t k = 0; k < PERFEX_EVENTS && !found; k++)
				found = (strncmp(*paper, "r10000:", 7) == 0 &&
					 (strcmp(perfex_event_at(k)->listed, *paper + 7) == 0 ||
					  strcmp(perfex_event_at(k)->appendix, *paper + 7) == 0)) ||
					(strncmp(*paper, "r12000:", 7) == 0 &&
					 !perfex_event_of(PERFEX_R12000, k)->appendix &&
					 strcmp(perfex_event_of(PERFEX_R12000, k)->listed, *paper + 7) == 0);
			if (!found)
				printf("# '%s' of '%s'\n", *paper, row->name);
			known &= found;
		}
	}
	ok(known, "every paper's name in the tables is one that the paper has");

	unsigned missing = 0;
	for (size_t i = 0; i < P5MON_EVENTS; i++)
		missing += !paper_event_find(table, "p5mon", p5mon_event_at(i)->parameter);
	equal_u64(missing, 0, "each of the Pentium's events has a canonical event");
	missing = 0;
	for (size_t i = 0; i < PERFEX_EVENTS; i++)
		missing += !perfex_event_definition(table, PERFEX_R10000, i) ||
			   !perfex_event_definition(table, PERFEX_R12000, i);
	equal_u64(missing, 0, "each of the R10000's events has a canonical event");
	/* what has no meaning for a program's own accesses has a row that says why */
	// clang-format off: a table, a row a line
	static const char *const without[] = {"p5mon:external_snoops",
					      "p5mon:data_cache_snooping_hits",
					      "p5mon:breakpoint_match_DR3",
					      "p5mon:IO_read_or_write_cycle",
					      "p5mon:non_cacheable_memory_reads",
					      "p5mon:pipeline_flushes",
					      "r10000:Virtual coherency conditions",
					      "r10000:External interventions"};
	// clang-format on
	for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
		struct event event;
		ok(event_parse(table, without[i], &event, NULL) && !event.definition->model &&
			   event.definition->no_model,
		   "'%s' is not modelled, and its row says why", without[i]);
	}
	struct event stall;
	ok(event_parse(table, "address-stall-cycles", &stall, NULL) && stall.definition->no_model &&
		   strstr(stall.definition->no_model, "a timing event: it needs the pipeline model"),
	   "a duration that machines have, and no model counts, is a timing event without a word in its row");
	ok(event_parse(table, "elapsed-time", &stall, NULL) && !stall.definition->no_model,
	   "what no model is said to count has no such reason");
	const struct event_definition *row = perfex_event_definition(table, PERFEX_R10000, 15);
	ok(row && strcmp(row->name, "instructions") == 0, "perfex's event 15 is instructions");
	row = paper_event_find(table, "p5mon", "data_read_miss");
	ok(row && strcmp(row->name, "l1d-read-misses") == 0,
	   "the Pentium's data_read_miss is l1d-read-misses, whatever perf's generic name means here");
	// clang-format off: a table, a row a line
	static const struct {
		enum perfex_machine machine;
		unsigned number;
		const char *row;
	} perfex[] = {
		{PERFEX_R10000, 6, "branches-issued"},
		{PERFEX_R12000, 6, "conditional-branches"},
		{PERFEX_R10000, 16, "cycles"},
		{PERFEX_R12000, 16, "prefetch-instructions"},
		{PERFEX_R10000, 18, "loads-and-prefetches"},
		{PERFEX_R12000, 18, "loads-and-prefetches"},
		{PERFEX_R10000, 24, "conditional-branch-misses"},
		{PERFEX_R12000, 24, "conditional-branch-misses"},
		/* Korn, Table 1 */
		{PERFEX_R12000, 1, "instructions-issued"},
		{PERFEX_R12000, 2, "loads-issued"},
		{PERFEX_R12000, 3, "stores-issued"},
		{PERFEX_R12000, 25, "l1d-misses"},
		{PERFEX_R12000, 9, "l1i-load-misses"},
		{PERFEX_R12000, 26, "l2-data-misses"},
		{PERFEX_R12000, 10, "l2-code-misses"},
		{PERFEX_R12000, 23, "tlb-misses"},
	};
	// clang-format on
	for (size_t i = 0; i < sizeof perfex / sizeof *perfex; i++) {
		row = perfex_event_definition(table, perfex[i].machine, perfex[i].number);
		ok(row && strcmp(row->name, perfex[i].row) == 0, "perfex's event %u of the %s is %s",
		   perfex[i].number, perfex_machine_name(perfex[i].machine), perfex[i].row);
	}
}

static void test_papi_names(void)
{
	static const char *const names[] = {"TOT_CYC", "TOT_INS", "TOT_IIS", "LD_INS",  "SR_INS", "LST_INS",
					    "BR_INS",  "BR_CN",   "BR_TKN",  "BR_MSP",  "FP_INS", "FP_OPS",
					    "FMA_INS", "FDV_INS", "FSQ_INS", "INT_INS", "L1_DCM", "L1_ICM",
					    "L2_DCM",  "L2_ICM",  "L3_TCM",  "TLB_DM",  "TLB_IM", "RES_STL",
					    "STL_ICY", "HW_INT",  "REF_CYC", "SP_OPS",  "DP_OPS", "VEC_INS"};
	bool all = true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct event bare, prefixed;
		char full[32];
		snprintf(full, sizeof full, "PAPI_%s", names[i]);
		bool found = event_parse(table, names[i], &bare, NULL) &&
			     event_parse(table, full, &prefixed, NULL) && bare.definition &&
			     bare.definition == prefixed.definition && bare.naming == NAMED_PAPI &&
			     prefixed.naming == NAMED_PAPI;
		if (!found)
			printf("# %s\n", full);
		all &= found;
	}
	ok(all, "the presets of the papers are known with and without PAPI_");
	struct event event;
	ok(event_parse(table, "PAPI_TOT_INS:u", &event, NULL) &&
		   strcmp(event.definition->name, "instructions") == 0 &&
		   strcmp(event.label, "PAPI_TOT_INS:u") == 0,
	   "PAPI_TOT_INS:u is instructions, and reports show the name that was asked for");
}

static void test_account_names(void)
{
	/* src/measure/account.c finds them by these names */
	static const char *const names[] = {"elapsed-time",       "user-time",           "system-time",
					    "cpu-time",           "peak-memory",         "page-faults",
					    "minor-faults",       "major-faults",        "context-switches",
					    "voluntary-switches", "involuntary-switches"};
	bool all = true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct event_definition *row = event_table_find(table, names[i]);
		all &= row && (row->counted_by & COUNTED_BY_PROCESS);
	}
	ok(all, "what the operating system keeps an account of is counted by process");
	const struct event_definition *time = event_table_find(table, "user-time");
	const struct event_definition *memory = event_table_find(table, "peak-memory");
	equal_text(time->unit, "ns", "times are in ns");
	equal_text(memory->unit, "bytes", "memory is in bytes");
	ok(time->kind == EVENT_DURATION && memory->kind == EVENT_LEVEL &&
		   event_table_find(table, "page-faults")->kind == EVENT_OCCURRENCE,
	   "a time is a duration, a peak is a level, a fault is an occurrence");
}

/* ---- adding rows ---- */

static void refuses_rows(const char *text, const char *message)
{
	struct error err = {0};
	size_t before = event_table_count(table);
	bool done = add(text, &err);
	if (done || !strstr(err.text, message))
		printf("# %s: %s\n", done ? "accepted" : "refused", err.text);
	ok(!done && strstr(err.text, message) && event_table_count(table) == before, "refused: %s", message);
}

static void test_adding(void)
{
	static const char good[] =
		"[my-event]\ndefinition = Mine.\nunit = mines\nscope = thread\ncounted_by = perf\n"
		"encoding = intel:r1a8*4\nencoding = amd,other:r76\nalias = mine\npapi = MY_EVT MY_EV2\n"
		"paper = p5mon:my\ndefault = yes\nkind = duration\n";
	struct error err = {0};
	struct event event;
	size_t before = event_table_count(table);
	ok(add(good, &err), "a row of the user's is added");
	const struct event_definition *row = event_table_find(table, "my-event");
	ok(row && row->in_default_set && row->kind == EVENT_DURATION && row->counted_by == COUNTED_BY_PERF &&
		   strcmp(row->papi, "MY_EVT") == 0 && strcmp(row->encodings[1], "amd,other:r76") == 0 &&
		   !row->encodings[2],
	   "its keys are in the row");
	ok(event_parse(table, "mine:u", &event, NULL) && event.definition == row &&
		   strcmp(event.label, "my-event:u") == 0,
	   "its alias names it, and reports show the canonical name");
	ok(event_parse(table, "MY_EV2", &event, NULL) && event.definition == row, "its second PAPI name names it");

	char again[512];
	snprintf(again, sizeof again, "%s%s", good,
		 "[second]\ndefinition = Two.\nunit = x\nscope = core\ncounted_by = exact\n");
	ok(add(again, &err) && event_table_count(table) == before + 2,
	   "a known name is replaced, a new one is added");
	ok(event_table_find(table, "my-event") != row && strcmp(row->definition, "Mine.") == 0,
	   "a row that was handed out stays as it was");

	refuses_rows("[x y]\ndefinition = D.\n", "not a name: 'x y'");
	refuses_rows("[x]\nunit = u\nscope = thread\ncounted_by = exact\n", "'x' has no definition");
	refuses_rows("[x]\ndefinition = D.\nunit = u\nscope = thread\n", "'x' has no counted_by");
	refuses_rows("[x]\ndefinition = D.\nunit = u\nscope = thread\ncounted_by = perf\n", "has no encoding");
	refuses_rows(
		"[x]\ndefinition = D.\nunit = u\nscope = thread\ncounted_by = exact\nencoding = generic:cycles\n",
		"does not name perf");
	refuses_rows("[x]\nencoding = mips:r1\n", "my.events:2: not a kind of encoding: 'mips:r1'");
	refuses_rows("[x]\nencoding = intel,mips:r1\n", "not a kind of encoding");
	refuses_rows("[x]\nencoding = intel:\n", "not a kind of encoding");
	refuses_rows("[x]\nscope = galaxy\n", "not a scope");
	refuses_rows("[x]\ncounted_by = perf, magic\n", "not perf, process, exact or model: 'magic'");
	refuses_rows("[x]\nkind = sometimes\n", "not occurrence, duration or level");
	refuses_rows("[x]\ncolour = red\n", "unknown key 'colour'");
	refuses_rows("[x]\nunit = u\nunit = v\n", "my.events:3: given twice: 'unit'");
	refuses_rows("[good]\ndefinition = D.\nunit = u\nscope = thread\ncounted_by = exact\n[bad]\nunit = u\n",
		     "'bad' has no definition");
	ok(!event_table_find(table, "good"), "a text with one bad row adds none");
}

/* ---- the grammar ---- */

static void parses(const char *request, enum event_naming naming, const char *label, unsigned levels,
		   uint64_t period)
{
	struct event event;
	struct error err = {0};
	bool done = event_parse(table, request, &event, &err);
	if (!done)
		printf("# %s\n", err.text);
	else if (event.naming != naming || strcmp(event.label, label) != 0 || event.levels != levels ||
		 event.period != period || strcmp(event.text, request) != 0)
		printf("# naming %d, label '%s', levels %u, period %" PRIu64 ", text '%s'\n", event.naming,
		       event.label, event.levels, event.period, event.text);
	ok(done && event.naming == naming && strcmp(event.label, label) == 0 && event.levels == levels &&
		   event.period == period && strcmp(event.text, request) == 0,
	   "'%s' is shown as '%s'", request, label);
}

static void refuses(const char *request, const char *text, const char *hint)
{
	struct event event = {.period = 77};
	struct error err = {0};
	bool done = event_parse(table, request, &event, &err);
	if (done || !strstr(err.text, text) || !strstr(err.hint, hint))
		printf("# %s: %s (%s)\n", done ? "accepted" : "refused", err.text, err.hint);
	char shown[60];
	str_escape_to(shown, sizeof shown, request);
	ok(!done && err.code == ERROR_USAGE && strstr(err.text, text) && strstr(err.hint, hint) &&
		   event.period == 77,
	   "'%s' is refused: %s", shown, text);
}

enum { BOTH = LEVEL_USER | LEVEL_KERNEL };

static void test_grammar(void)
{
	parses("instructions", NAMED_CANONICAL, "instructions", BOTH, 0);
	parses("instructions:u", NAMED_CANONICAL, "instructions:u", LEVEL_USER, 0);
	parses("instructions:k", NAMED_CANONICAL, "instructions:k", LEVEL_KERNEL, 0);
	parses("instructions:uk", NAMED_CANONICAL, "instructions:uk", BOTH, 0);
	parses("instructions:ku", NAMED_CANONICAL, "instructions:uk", BOTH, 0);
	parses("cycles@1000003", NAMED_CANONICAL, "cycles", BOTH, 1000003);
	parses("cycles:u@1000003", NAMED_CANONICAL, "cycles:u", LEVEL_USER, 1000003);
	parses("cpu-cycles", NAMED_CANONICAL, "cycles", BOTH, 0);
	parses("faults", NAMED_CANONICAL, "page-faults", BOTH, 0);
	parses("cs", NAMED_CANONICAL, "context-switches", BOTH, 0);
	parses("L1-dcache-load-misses:u", NAMED_CANONICAL, "l1d-load-misses:u", LEVEL_USER, 0);
	parses("TOT_CYC:k", NAMED_PAPI, "TOT_CYC:k", LEVEL_KERNEL, 0);
	parses("r1a8", NAMED_RAW, "r1a8", BOTH, 0);
	parses("r1A8:u@7", NAMED_RAW, "r1A8:u", LEVEL_USER, 7);
	parses("msr/tsc/", NAMED_SYSFS, "msr/tsc/", BOTH, 0);
	parses("cpu/event=0x3c,umask=0/:u", NAMED_SYSFS, "cpu/event=0x3c,umask=0/:u", LEVEL_USER, 0);
	parses("p5mon:data_read_miss:u", NAMED_PAPER, "p5mon:data_read_miss:u", LEVEL_USER, 0);
	parses("r10000:Graduated floating point instructions", NAMED_PAPER,
	       "r10000:Graduated floating point instructions", BOTH, 0);
	parses("r10000:Instructions graduated", NAMED_PAPER, "r10000:Instructions graduated", BOTH, 0);
	parses("r10000:load/prefetch/sync/CacheOp graduated:u", NAMED_PAPER,
	       "r10000:load/prefetch/sync/CacheOp graduated:u", LEVEL_USER, 0);
	parses("Branches mispredicted", NAMED_PAPER, "Branches mispredicted", BOTH, 0);
	parses("data_tlb_miss:u", NAMED_PAPER, "data_tlb_miss:u", LEVEL_USER, 0);
	parses("pentium::data_tlb_miss", NAMED_PAPER, "pentium::data_tlb_miss", BOTH, 0);
	parses("skl::INST_RETIRED:ANY_P", NAMED_PFM, "skl::INST_RETIRED:ANY_P", BOTH, 0);
	parses("skl::INST_RETIRED:ANY_P:u", NAMED_PFM, "skl::INST_RETIRED:ANY_P:u", LEVEL_USER, 0);
	parses("skl::INST_RETIRED:ANY_P:u@9", NAMED_PFM, "skl::INST_RETIRED:ANY_P:u", LEVEL_USER, 9);
	parses("no_such_pmu::EVENT", NAMED_PFM, "no_such_pmu::EVENT", BOTH, 0);

	refuses("instrctions", "unknown event 'instrctions'", "'instructions'");
	refuses("branch_mises", "unknown event", "'branch-misses'");
	refuses("PAPI_TOT_INZ", "unknown event", "'PAPI_TOT_INS'");
	refuses("TOT_INZ", "unknown event", "'TOT_INS'");
	refuses("DATA_TLB_MISS", "unknown event", "");
	refuses("p5mon:data_raed", "unknown event", "'p5mon:data_read'");
	refuses("instructions:x", "'x' is not a level", "':u'");
	refuses("instructions:uu", "'uu' is not a level", "':u'");
	refuses("instructions:u:k", "'u' is not a level", "':u'");
	refuses("instructions:", "'' is not a level", "':u'");
	refuses(":u", "names no event", "");
	refuses("", "names no event", "");
	refuses("@5", "names no event", "");
	refuses("cycles@", "not a whole number above 0", "");
	refuses("cycles@0", "not a whole number above 0", "");
	refuses("cycles@-5", "not a whole number above 0", "");
	refuses("cycles@0x10", "not a whole number above 0", "");
	refuses("cycles@99999999999999999999", "not a whole number above 0", "");
	refuses("cycles@5:u", "not a whole number above 0", "");
	refuses("cyc\nles", "'cyc\\x0ales' has a control character", "");
	refuses("\x1b[31mcycles", "has a control character", "");
	refuses("cpu/event=0x3c", "not of the form", "cpu/");
	refuses("cpu//", "is not a term", "");
	refuses("cpu/event=/", "is not a term", "");
	refuses("../etc/passwd/", "not of the form", "");
	refuses("cpu/../", "is not a term", "");
	refuses("cpu/event=1/x", "not of the form", "");
	refuses("r", "unknown event", "");
	refuses("r12345678123456781", "unknown event", "");
	refuses("skl::INST@RETIRED::ANY@5", "unknown event", "");
	refuses("a:b::C", "unknown event", "");

	char longest[5000];
	memset(longest, 'a', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	refuses(longest, "longer than 500 characters", "");

	struct error err = {0};
	struct event event;
	unsigned quoted = 0;
	event_parse(table, "cache-mises", &event, &err);
	for (const char *c = err.hint; (c = strchr(c, '\'')); c++)
		quoted++;
	equal_u64(quoted, 8, "the hint has three nearest names, and the command that lists all");

	if (event_parse(table, "INST_RETIRED:ANY_P", &event, NULL)) {
		ok(event.naming == NAMED_PFM, "libpfm4's names need no PMU in front");
		refuses("INST_RETRIED:ANY_P", "unknown event", "");
	} else {
		skip("libpfm4 was built without Intel's tables", "libpfm4's names need no PMU in front");
	}
}

static void test_lists(void)
{
	struct event *events = NULL;
	size_t n = 0;
	struct error err = {0};
	ok(event_parse_list(table, "cycles,cpu/event=0x3c,umask=0/:u, instructions:k ,cycles", &events, &n,
			    &err) &&
		   n == 4,
	   "commas inside pmu/…/ do not separate, and spaces around a name do not matter");
	ok(n == 4 && strcmp(events[1].label, "cpu/event=0x3c,umask=0/:u") == 0 && events[2].levels == LEVEL_KERNEL,
	   "each request of a list is its own");
	ok(n == 4 && strcmp(events[3].label, "cycles") == 0, "a request that comes twice is kept twice");
	ok(event_parse_list(table, "task-clock", &events, &n, &err) && n == 5 &&
		   strcmp(events[4].text, "task-clock") == 0,
	   "a second list is appended");
	ok(event_parse_list(table, "r10000:Store/prefetch exclusive,cycles", &events, &n, &err) == false &&
		   n == 5 && strstr(err.text, "'r10000:Store/prefetch exclusive'"),
	   "a slash in a paper's name does not swallow the comma behind it");

	const struct event *before = events;
	ok(!event_parse_list(table, "cycles,nonsense", &events, &n, &err) && n == 5 && events == before,
	   "a list with an unknown event appends nothing");
	ok(!event_parse_list(table, "cycles,,instructions", &events, &n, &err) &&
		   strstr(err.text, "an empty name"),
	   "an empty name in a list is an error");
	ok(!event_parse_list(table, "cycles,", &events, &n, &err) && strstr(err.text, "an empty name"),
	   "… at its end too");
	ok(!event_parse_list(table, "", &events, &n, &err) && n == 5, "an empty list is an error");

	size_t many = 100000, length = 0;
	char *list = malloc(many * 7 + 1);
	for (size_t i = 0; list && i < many; i++, length += 7)
		memcpy(list + length, "cycles,", 8);
	ok(list && !event_parse_list(table, list, &events, &n, &err) && err.code == ERROR_LIMIT && n == 5 &&
		   strstr(err.text, "more than 4096 events"),
	   "a list of 100,000 events is refused");
	/* 5 are there already */
	if (list)
		list[(EVENT_LIST_MOST - 5) * 7 - 1] = '\0';
	ok(list && event_parse_list(table, list, &events, &n, &err) && n == EVENT_LIST_MOST,
	   "4096 events are accepted");
	ok(!event_parse_list(table, "cycles", &events, &n, &err) && err.code == ERROR_LIMIT, "… and not one more");
	free(list);
	free(events);
}

int main(void)
{
	struct error err = {0};
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* read by libpfm4 when it starts */
	if (!(table = event_table_new(&err))) {
		ok(false, "the embedded tables parse");
		printf("# %s\n", err.text);
		return done();
	}
	test_rows();
	test_paper_names();
	test_papi_names();
	test_account_names();
	test_grammar();
	test_lists();
	test_adding();
	event_table_free(table);
	return done();
}
