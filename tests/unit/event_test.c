/* Events: the rows of data/events/, the grammar of requests, and encodings by every naming. */
#include <ftw.h>
#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "event/event.h"
#include "report/p5mon_events.h"
#include "report/perfex_events.h"
#include "tap.h"

static struct event_table *table;

/* ---- a kernel's tables of PMUs of our own ---- */

static char root[] = "/tmp/tare-event-test-XXXXXX";

static void put(const char *path, const char *text)
{
	char whole[256];
	snprintf(whole, sizeof whole, "%s/%s", root, path);
	for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(whole, 0700);
		*slash = '/';
	}
	FILE *file = fopen(whole, "w");
	if (file) {
		fputs(text, file);
		fclose(file);
	}
}

static void make_sysfs(void)
{
	if (!mkdtemp(root))
		return;
	put("cpu/type", "4\n");
	put("cpu/format/event", "config:0-7\n");
	put("cpu/format/umask", "config:8-15\n");
	put("cpu/format/edge", "config:18\n");
	put("cpu/format/split", "config:0-3,32-35\n");
	put("cpu/format/ldlat", "config1:0-15\n");
	put("cpu/format/whole", "config2:0-63\n");
	put("cpu/format/odd", "config3:0-7\n");
	put("cpu/format/broken", "config:7-0\n");
	put("cpu/events/cpu-cycles", "event=0x3c\n");
	put("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	put("cpu/events/parametric", "event=0x24,umask=?\n");
	put("msr/type", "10\n");
	put("msr/format/event", "config:0-63\n");
	put("msr/events/tsc", "event=0x00\n");
	put("power/type", "14\n");
	put("power/format/event", "config:0-7\n");
	put("power/events/energy-pkg", "event=0x02\n");
	put("power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
	put("power/events/energy-pkg.unit", "Joules\n");
	put("power/events/energy-cores", "event=0x01\n");
	put("power/events/energy-cores.scale", "no number\n");
	put("typeless/format/event", "config:0-7\n");
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
	(void)info, (void)kind, (void)at;
	return remove(path);
}

static void remove_sysfs(void)
{
	if (nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0)
		printf("# %s stays\n", root);
}

static struct event_machine machine_of(const char *family)
{
	return (struct event_machine){ .sysfs_root = root, .family = family, .absent_pmus = true };
}

/* The index-th encoding of a request on a machine of the family; err may be NULL. */
static bool encode(const char *request, const char *family, size_t index, struct event_encoding *out,
		   struct error *err)
{
	struct event event;
	struct event_machine machine = machine_of(family);
	return event_parse(table, request, &event, err) && event_encode(&event, &machine, index, out, err);
}

static void encodes(const char *request, const char *family, uint32_t type, uint64_t config, uint64_t config1,
		    uint64_t config2)
{
	struct event_encoding is;
	struct error err = { 0 };
	bool done = encode(request, family, 0, &is, &err);
	if (!done)
		printf("# %s\n", err.text);
	else if (is.type != type || is.config != config || is.config1 != config1 || is.config2 != config2)
		printf("# is %u %#" PRIx64 " %#" PRIx64 " %#" PRIx64 "\n", is.type, is.config, is.config1,
		       is.config2);
	ok(done && is.type == type && is.config == config && is.config1 == config1 && is.config2 == config2,
	   "'%s' is type %u, config %#" PRIx64 " %#" PRIx64 " %#" PRIx64, request, type, config, config1, config2);
}

static void does_not_encode(const char *request, enum error_code code, const char *part)
{
	struct event_encoding out;
	struct error err = { 0 };
	bool done = encode(request, "intel", 0, &out, &err);
	if (done || err.code != code || !strstr(err.text, part))
		printf("# %s, code %d: %s\n", done ? "encoded" : "refused", err.code, err.text);
	ok(!done && err.code == code && strstr(err.text, part), "'%s' is refused: %s", request, part);
}

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
				found = strncmp(*paper, "r10000:", 7) == 0 &&
					(strcmp(perfex_event_at(k)->listed, *paper + 7) == 0 ||
					 strcmp(perfex_event_at(k)->appendix, *paper + 7) == 0);
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
		missing += !perfex_event_definition(table, i);
	equal_u64(missing, 0, "each of the R10000's events has a canonical event");
	/* what has no meaning for a program's own accesses has a row that says why */
	static const char *const without[] = { "p5mon:external_snoops",        "p5mon:data_cache_snooping_hits",
					       "p5mon:breakpoint_match_DR3",   "p5mon:IO_read_or_write_cycle",
					       "p5mon:non_cacheable_memory_reads", "p5mon:pipeline_flushes",
					       "r10000:Virtual coherency conditions", "r10000:External interventions" };
	for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
		struct event event;
		ok(event_parse(table, without[i], &event, NULL) && !event.definition->model && event.definition->no_model,
		   "'%s' is not modelled, and its row says why", without[i]);
	}
	const struct event_definition *row = perfex_event_definition(table, 15);
	ok(row && strcmp(row->name, "instructions") == 0, "perfex's event 15 is instructions");
	row = paper_event_find(table, "p5mon", "data_read_miss");
	ok(row && strcmp(row->name, "l1d-load-misses") == 0, "the Pentium's data_read_miss is l1d-load-misses");
}

static void test_papi_names(void)
{
	static const char *const names[] = { "TOT_CYC", "TOT_INS", "TOT_IIS", "LD_INS",  "SR_INS", "LST_INS",
					     "BR_INS",  "BR_CN",   "BR_TKN",  "BR_MSP",  "FP_INS", "FP_OPS",
					     "FMA_INS", "FDV_INS", "FSQ_INS", "INT_INS", "L1_DCM", "L1_ICM",
					     "L2_DCM",  "L2_ICM",  "L3_TCM",  "TLB_DM",  "TLB_IM", "RES_STL",
					     "STL_ICY", "HW_INT",  "REF_CYC", "SP_OPS",  "DP_OPS", "VEC_INS" };
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
	       strcmp(event.definition->name, "instructions") == 0 && strcmp(event.label, "PAPI_TOT_INS:u") == 0,
	   "PAPI_TOT_INS:u is instructions, and reports show the name that was asked for");
}

static void test_account_names(void)
{
	/* src/measure/account.c finds them by these names */
	static const char *const names[] = { "elapsed-time",       "user-time",           "system-time",
					     "cpu-time",           "peak-memory",         "page-faults",
					     "minor-faults",       "major-faults",        "context-switches",
					     "voluntary-switches", "involuntary-switches" };
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
	struct error err = { 0 };
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
	struct error err = { 0 };
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
	encodes("my-event", "intel", 4, 0x1a8, 0, 0);

	struct event_encoding is;
	ok(encode("my-event", "intel", 0, &is, NULL) && is.scale == 4, "'*4' makes each count stand for 4");
	ok(!encode("my-event", "amd", 0, &is, &err) && err.code == ERROR_UNSUPPORTED,
	   "another family's encoding is unsupported");
	ok(encode("my-event", "amd", 1, &is, NULL) && is.config == 0x76 && is.scale == 1,
	   "an encoding may be for several families");
	ok(encode("my-event", "other", 1, &is, NULL), "… for each of them");
	ok(!encode("my-event", "armv8", 1, &is, &err) && err.code == ERROR_UNSUPPORTED, "… and for no others");
	ok(!encode("my-event", "amd", 2, &is, &err) && err.code == ERROR_NOT_FOUND,
	   "behind the last there is none");

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
	    "not counted by perf");
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
	struct error err = { 0 };
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
	struct event event = { .period = 77 };
	struct error err = { 0 };
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
	parses("skl::INST_RETIRED:ANY_P", NAMED_PFM, "skl::INST_RETIRED:ANY_P", BOTH, 0);
	parses("skl::INST_RETIRED:ANY_P:u", NAMED_PFM, "skl::INST_RETIRED:ANY_P:u", LEVEL_USER, 0);
	parses("skl::INST_RETIRED:ANY_P:u@9", NAMED_PFM, "skl::INST_RETIRED:ANY_P:u", LEVEL_USER, 9);
	parses("no_such_pmu::EVENT", NAMED_PFM, "no_such_pmu::EVENT", BOTH, 0);

	refuses("instrctions", "unknown event 'instrctions'", "'instructions'");
	refuses("branch_mises", "unknown event", "'branch-misses'");
	refuses("PAPI_TOT_INZ", "unknown event", "'PAPI_TOT_INS'");
	refuses("TOT_INZ", "unknown event", "'TOT_INS'");
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

	struct error err = { 0 };
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
	struct error err = { 0 };
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

/* ---- encodings ---- */

static void test_kernel_names(void)
{
	encodes("cycles", "intel", 0, 0, 0, 0);
	encodes("instructions", "other", 0, 1, 0, 0);
	encodes("cache-references", "intel", 0, 2, 0, 0);
	encodes("cache-misses", "intel", 0, 3, 0, 0);
	encodes("bus-cycles", "intel", 0, 6, 0, 0);
	encodes("stalled-cycles-frontend", "intel", 0, 7, 0, 0);
	encodes("stalled-cycles-backend", "intel", 0, 8, 0, 0);
	encodes("ref-cycles", "intel", 0, 9, 0, 0);
	encodes("task-clock", "intel", 1, 1, 0, 0);
	encodes("page-faults", "intel", 1, 2, 0, 0);
	encodes("context-switches", "intel", 1, 3, 0, 0);
	encodes("cpu-migrations", "intel", 1, 4, 0, 0);
	encodes("minor-faults", "intel", 1, 5, 0, 0);
	encodes("major-faults", "intel", 1, 6, 0, 0);
	/* cache | operation << 8 | result << 16; operations: read 0, write 1, prefetch 2 */
	encodes("l1d-loads", "intel", 3, 0, 0, 0);
	encodes("l1d-load-misses", "intel", 3, 0x10000, 0, 0);
	encodes("l1d-store-misses", "intel", 3, 0x10100, 0, 0);
	encodes("l1i-load-misses", "intel", 3, 0x10001, 0, 0);
	encodes("llc-loads", "intel", 3, 2, 0, 0);
	encodes("llc-prefetch-misses", "intel", 3, 0x10202, 0, 0);
	encodes("dtlb-load-misses", "intel", 3, 0x10003, 0, 0);
	encodes("itlb-load-misses", "intel", 3, 0x10004, 0, 0);
	encodes("branch-loads", "intel", 3, 5, 0, 0);
	encodes("node-store-misses", "intel", 3, 0x10106, 0, 0);
	encodes("r1a8", "intel", 4, 0x1a8, 0, 0);
	encodes("rFFFFffffFFFFffff:u", "intel", 4, UINT64_MAX, 0, 0);
	encodes("branches", "armv8", 4, 0x21, 0, 0);

	struct event_encoding is;
	struct error err = { 0 };
	ok(!encode("branches", "intel", 0, &is, &err) && err.code == ERROR_UNSUPPORTED,
	   "Arm's code of branches is for Arm");
	ok(encode("branches", "intel", 1, &is, &err) && is.type == 0 && is.config == 4 &&
	       strcmp(is.how, "intel,amd,other:branches") == 0,
	   "elsewhere branches is the kernel's generic event, and the encoding says how");
	ok(!encode("branches", "armv8", 1, &is, &err) && err.code == ERROR_UNSUPPORTED,
	   "the kernel's generic branches are not taken on Arm, where they may be taken branches only");
	ok(!encode("elapsed-time", "intel", 0, &is, &err) && err.code == ERROR_NOT_FOUND,
	   "what perf does not count has no encoding");
	ok(!encode("r1a8", "intel", 1, &is, &err) && err.code == ERROR_NOT_FOUND,
	   "a native name has one encoding");

	bool every = true;
	for (size_t i = 0; i < event_table_count(table); i++) {
		const struct event_definition *row = event_table_at(table, i);
		for (size_t k = 0; row->encodings[k]; k++) {
			if (strncmp(row->encodings[k], "generic:", 8) != 0 &&
			    strncmp(row->encodings[k], "software:", 9) != 0)
				continue;
			if (encode(row->name, "intel", k, &is, &err))
				continue;
			printf("# %s: %s\n", row->name, err.text);
			every = false;
		}
	}
	ok(every, "every generic and software name in the tables has a code");
}

static void test_sysfs(void)
{
	struct event_encoding is;
	encodes("cpu/event=0x3c,umask=0/", "intel", 4, 0x3c, 0, 0);
	encodes("cpu/event=0x3c,umask=0x41/:u", "intel", 4, 0x413c, 0, 0);
	encodes("cpu/edge,event=60/", "intel", 4, 0x4003c, 0, 0);
	encodes("cpu/event=1,event=2/", "intel", 4, 2, 0, 0);
	encodes("cpu/split=0xab/", "intel", 4, 0xa0000000bull, 0, 0);
	encodes("cpu/ldlat=3,event=0xcd/", "intel", 4, 0xcd, 3, 0);
	encodes("cpu/whole=0xffffffffffffffff/", "intel", 4, 0, 0, UINT64_MAX);
	encodes("cpu/config=0x123,config1=4,config2=5/", "intel", 4, 0x123, 4, 5);
	encodes("cpu/cpu-cycles/", "intel", 4, 0x3c, 0, 0);
	encodes("cpu/mem-loads/", "intel", 4, 0x1cd, 3, 0);
	encodes("cpu/mem-loads,ldlat=30/", "intel", 4, 0x1cd, 30, 0);
	encodes("msr/tsc/", "intel", 10, 0, 0, 0);
	encodes("power/energy-pkg/", "intel", 14, 2, 0, 0);
	ok(encode("power/energy-pkg/", "intel", 0, &is, NULL) && is.scale == 0x1p-32,
	   "the scale of events/energy-pkg.scale is taken");
	ok(encode("tsc", "other", 0, &is, NULL) && is.type == 10, "a row may have an encoding by sysfs");

	ok(add("[half]\ndefinition = D.\nunit = u\nscope = package\ncounted_by = perf\n"
	       "encoding = sysfs:power/energy-pkg/*2\n",
	       NULL) &&
		   encode("half", "other", 0, &is, NULL) && is.scale == 0x1p-31,
	   "a row's factor and the kernel's scale multiply");

	does_not_encode("nope/tsc/", ERROR_UNSUPPORTED, "this kernel has no PMU 'nope'");
	does_not_encode("typeless/event=1/", ERROR_UNSUPPORTED, "no PMU 'typeless'");
	does_not_encode("msr/tcs/", ERROR_UNSUPPORTED, "'msr' has no term or event 'tcs'");
	does_not_encode("cpu/event=0x100/", ERROR_USAGE, "0x100 does not fit the term 'event'");
	does_not_encode("cpu/edge=2/", ERROR_USAGE, "0x2 does not fit the term 'edge'");
	does_not_encode("cpu/split=0x100/", ERROR_USAGE, "0x100 does not fit");
	does_not_encode("cpu/event=many/", ERROR_USAGE, "'many' is not a number");
	does_not_encode("cpu/parametric/", ERROR_USAGE, "needs a value for its term 'umask'");
	does_not_encode("cpu/odd=1/", ERROR_UNSUPPORTED, "its format is 'config3:0-7'");
	does_not_encode("cpu/broken=1/", ERROR_UNSUPPORTED, "is not understood");
	does_not_encode("cpu/cpu-cycles,mem-loads/", ERROR_USAGE, "names more than one event");
	does_not_encode("power/energy-cores/", ERROR_UNSUPPORTED, "the scale 'no number'");

	struct error err = { 0 };
	struct event event;
	struct event_machine machine = machine_of("intel");
	event_parse(table, "cpu/evnet=1/", &event, NULL);
	ok(!event_encode(&event, &machine, 0, &is, &err) && strstr(err.hint, "'event'"),
	   "an unknown term is answered with the nearest ones");
}

static bool pfm_has_intel(void)
{
	struct event_encoding is;
	return encode("skl::INST_RETIRED:ANY_P", "intel", 0, &is, NULL);
}

/* Does libpfm4 have the name for some PMU of the vendor? */
static bool pfm_encodes_somewhere(const char *name)
{
	for (int pmu = 0; pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = { .size = sizeof info };
		char request[512];
		struct event_encoding is;
		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) != PFM_SUCCESS)
			continue;
		snprintf(request, sizeof request, "%s::%s", info.name, name);
		if (encode(request, "intel", 0, &is, NULL))
			return true;
	}
	return false;
}

static void test_pfm(void)
{
	if (!pfm_has_intel()) {
		skip("libpfm4 was built without Intel's tables", "libpfm4's names are encoded");
		return;
	}
	/* Intel SDM volume 3B, 19: event select, umask << 8, cmask << 24 */
	encodes("skl::INST_RETIRED:ANY_P", "intel", 4, 0xc0, 0, 0);
	encodes("skl::inst_retired:any_p", "intel", 4, 0xc0, 0, 0);
	encodes("skl::BR_INST_RETIRED:CONDITIONAL:u", "intel", 4, 0x1c4, 0, 0);
	encodes("skl::MEM_INST_RETIRED:ALL_LOADS", "intel", 4, 0x81d0, 0, 0);
	encodes("skl::INST_RETIRED:ANY_P:c=1", "intel", 4, 0x10000c0, 0, 0);
	encodes("amd64_fam17h_zen2::RETIRED_INSTRUCTIONS:k", "amd", 4, 0xc0, 0, 0);
	does_not_encode("skl::INST_RETIRED:ANY_P:u:c=1", ERROR_USAGE, "has a level inside");
	does_not_encode("skl::INST_RETIRED:ANY_P:k:c=1:u", ERROR_USAGE, "has a level inside");
	does_not_encode("skl::NO_SUCH_EVENT", ERROR_UNSUPPORTED, "'skl::NO_SUCH_EVENT'");
	does_not_encode("skll::INST_RETIRED:ANY_P", ERROR_UNSUPPORTED, "libpfm4 knows no PMU 'skll'");

	struct event event;
	struct event_encoding is;
	struct error err = { 0 };
	struct event_machine here = machine_of("intel");
	here.absent_pmus = false;
	/* a machine is one of the two at most */
	event_parse(table, "skl::INST_RETIRED:ANY_P", &event, NULL);
	bool skl = event_encode(&event, &here, 0, &is, &err);
	event_parse(table, "amd64_fam17h_zen2::RETIRED_INSTRUCTIONS", &event, NULL);
	bool zen = event_encode(&event, &here, 0, &is, &err);
	ok(!(skl && zen), "another CPU's event is not encoded for this one, even with LIBPFM_ENCODE_INACTIVE=1");
	ok(err.code == ERROR_UNSUPPORTED || zen, "… but unsupported");

	bool every = true;
	for (size_t i = 0; i < event_table_count(table); i++) {
		const struct event_definition *row = event_table_at(table, i);
		for (const char *const *encoding = row->encodings; *encoding; encoding++) {
			char name[256];
			if (strncmp(*encoding, "intel:", 6) != 0 && strncmp(*encoding, "amd:", 4) != 0)
				continue;
			snprintf(name, sizeof name, "%s", strchr(*encoding, ':') + 1);
			name[strcspn(name, "*")] = '\0';
			if (name[0] == 'r' || pfm_encodes_somewhere(name))
				continue;
			printf("# %s: %s\n", row->name, *encoding);
			every = false;
		}
	}
	ok(every, "every name of Intel's and AMD's in the tables is in libpfm4");
	ok(add("[x]\ndefinition = D.\nunit = u\nscope = thread\ncounted_by = perf\n"
	       "encoding = intel:skl::FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE*4\n",
	       &err) &&
	       encode("x:u", "intel", 0, &is, &err) && is.config == 0x10c7 && is.scale == 4,
	   "a row's name of libpfm4 may have a factor");
}

static void test_host(void)
{
	struct event_machine host = event_machine_host();
	equal_text(host.sysfs_root, "/sys/bus/event_source/devices", "the host's PMUs are where the kernel says");
	ok(!host.absent_pmus, "on the host only PMUs that are here are encoded for");
#if defined(__aarch64__)
	equal_text(host.family, "armv8", "an arm64 host is of the armv8 family");
#else
	ok(strcmp(host.family, "intel") == 0 || strcmp(host.family, "amd") == 0 ||
	       strcmp(host.family, "other") == 0,
	   "the host's family is known: %s", host.family);
#endif
}

int main(void)
{
	struct error err = { 0 };
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* read by libpfm4 when it starts */
	if (!(table = event_table_new(&err))) {
		ok(false, "the embedded tables parse");
		printf("# %s\n", err.text);
		return done();
	}
	make_sysfs();
	test_rows();
	test_paper_names();
	test_papi_names();
	test_account_names();
	test_kernel_names();
	test_grammar();
	test_lists();
	test_sysfs();
	test_pfm();
	test_host();
	test_adding();
	event_table_free(table);
	remove_sysfs();
	return done();
}
