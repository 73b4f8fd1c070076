/* Reports of results made by hand, so that every digit is known beforehand. */
#include <math.h>
#include <stdlib.h>

#include "report/breakdown.h"
#include "report/build.h"
#include "report/number.h"
#include "compat/perfex_events.h"
#include "compat/reports.h"
#include "report/report.h"
#include "tap.h"

static const char *const gzip[] = {"gzip", "-k", "a file", NULL};

static struct estimate counted(const char *event, const char *unit, double *runs, size_t n)
{
	// clang-format off: a table, a row a line
	struct estimate e = {.event = event,
			     .unit = unit,
			     .level = "user",
			     .known = true,
			     .confidence = 0.95,
			     .n_runs = n,
			     .runs = runs,
			     .source = SOURCE_HW,
			     .share_running = 1,
			     .cpu = -1};
	// clang-format on
	for (size_t i = 0; i < n; i++)
		e.value += runs[i] / (double)n;
	e.low = e.high = e.value;
	return e;
}

static struct result of(struct estimate *estimates, size_t n)
{
	return (struct result){
		.machine = {.cpu = "A CPU",
			    .kernel = "Linux 6.1",
			    .hostname = "host",
			    .architecture = "x86_64",
			    .cpus = 2,
			    .pmu = "none",
			    .hypervisor = ""},
		.command = gzip,
		.started_unix = 854640140,
		.repetitions = 1,
		.repetitions_done = 1,
		.executions = 1,
		.passes = 1,
		.elapsed_seconds = 1.3,
		.confidence = 0.95,
		.estimates = estimates,
		.n_estimates = n,
	};
}

// clang-format off: a table, a row a line
enum writer {
	TEXT,
	TEXT_WIDE,
	TEXT_NARROW,
	CSV,
	CSV_ALL,
	JSON,
	P5MON,
	P5MON_ALL,
	P5MON_FILE,
	P5MON_FILE_ALL,
	PERFEX
};
// clang-format on

static char *write_with(enum writer writer, const struct result *result)
{
	static const struct p5mon_header header = {"./STD_PARMS", "-Frepetitions=5", "/home/safford", false};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct report_options options = {.all_repetitions = writer == CSV_ALL};
	switch (writer) {
	case TEXT_NARROW: options.width = 50;                                /* fall through */
	case TEXT_WIDE: options.width = options.width ? options.width : 120; /* fall through */
	case TEXT: report_text(out, result, &options); break;
	case CSV:
	case CSV_ALL: report_csv(out, result, &options); break;
	case JSON: report_json(out, result, &options); break;
	case P5MON:
	case P5MON_ALL: report_p5mon(out, result, NULL, &header, writer == P5MON_ALL); break;
	case P5MON_FILE:
	case P5MON_FILE_ALL: report_p5mon_file(out, result, NULL, &header, writer == P5MON_FILE_ALL); break;
	case PERFEX: report_perfex(out, result, NULL); break;
	}
	fclose(out);
	return text;
}

static void has(const char *text, const char *part, const char *fact)
{
	if (!ok(text && strstr(text, part), "%s", fact)) {
		printf("# '%s' is not in:\n", part);
		for (const char *line = text; line && *line;) {
			int length = (int)strcspn(line, "\n");
			printf("#   %.*s\n", length, line);
			line += length + (line[length] == '\n');
		}
	}
}

static void has_not(const char *text, const char *part, const char *fact)
{
	ok(text && !strstr(text, part), "%s", fact);
}

/* ---- numbers ---- */

static void test_numbers(void)
{
	char out[NUMBER_BYTES];
	number_group(out, 1234567.25, 1);
	equal_text(out, "1,234,567.2", "digits are grouped by threes");
	number_group(out, 999, 0);
	equal_text(out, "999", "three digits have no comma");
	number_group(out, -1000, 0);
	equal_text(out, "-1,000", "the sign stands before the first group");
	number_group(out, -0.0004, 2);
	equal_text(out, "0.00", "what rounds to zero has no sign");
	number_group(out, 18446744073709551615.0, 0);
	equal_text(out, "18,446,744,073,709,551,616", "the largest counter is shown whole");
	number_group(out, INFINITY, 0);
	equal_text(out, "\u221e", "an infinite bound is a symbol, not a number");
	number_compact(out, 11987654321.0);
	equal_text(out, "11.99 G", "compact numbers have four digits");
	number_compact(out, 999960);
	equal_text(out, "1.000 M", "compact numbers do not round up to 1000 k");
	number_exact(out, 0.1);
	equal_text(out, "0.1", "the shortest text that reads back is chosen");
	number_exact(out, 9007199254740993.0);
	near(strtod(out, NULL), 9007199254740992.0, 0, "large doubles read back exactly");
	equal_u64((uint64_t)number_half_width_decimals(0.0021, 1), 4, "a half-width shows two significant digits");
	struct estimate e = {.event = "task-clock", .unit = "ns", .value = 999999999};
	equal_text(number_scale_of(&e, false).unit, "ms", "just below a second is in ms");
	e = (struct estimate){.event = "peak-memory", .unit = "bytes", .value = 1048575};
	equal_text(number_scale_of(&e, false).unit, "KiB", "just below 2^20 bytes is in KiB");
	e.value = 1048576;
	equal_text(number_scale_of(&e, false).unit, "MiB", "2^20 bytes are a MiB");
	e = (struct estimate){.event = "page-faults", .unit = "faults", .value = 3};
	equal_text(number_scale_of(&e, false).unit, "", "a unit that the name says is not repeated");
	e.unit = "pages";
	equal_text(number_scale_of(&e, false).unit, "pages", "another unit is shown");
}

/* ---- regions ---- */

static void test_interrupts_in_regions(void)
{
	// clang-format off: a table, a row a line
	static const struct {
		enum source source;
		const char *level;
		bool known, said;
		const char *fact;
	} rows[] = {
		{SOURCE_HW, "user+kernel", true, true,
		 "a region's hardware count of both levels has interrupts in it, and the report says so"},
		{SOURCE_HW, "kernel", true, true, "one of the kernel's, too"},
		{SOURCE_HW, "user", true, false, "one at user level has none"},
		{SOURCE_HW, "user+kernel", false, false, "of what was not counted nothing is said"},
		{SOURCE_OS, "user+kernel", true, false, "nor of page faults, which interrupts have none of"},
	};
	// clang-format on
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double run = 96634;
		struct estimate whole = counted("instructions:u", "instructions", &run, 1),
				inside = counted("instructions", "instructions", &run, 1);
		inside.source = rows[i].source;
		inside.level = rows[i].level;
		inside.known = rows[i].known;
		// clang-format off: a table, a row a line
		struct region_row region = {.name = "sort",
					    .text = "sort",
					    .entries = 1,
					    .exits = 1,
					    .threads = 1,
					    .estimates = &inside,
					    .n_estimates = 1};
		// clang-format on
		struct result result = of(&whole, 1);
		result.regions = &region;
		result.n_regions = 1;
		char *text = write_with(TEXT_WIDE, &result);
		(rows[i].said ? has : has_not)(text, "include interrupts that came in them", rows[i].fact);
		free(text);
	}
}

/* ---- run_p5mon ---- */

/* The seven raw examples of the thesis, in Figures 4.4, 4.6 and 4.7: raw values in, printed digits out. */
static void test_p5mon(void)
{
	struct {
		const char *event, *printed, *parsed;
		double runs[5];
		size_t n;
	} examples[] = {
		{"data_read",
		 "201903.0 +/- 2.3 (0.001%)",
		 "0x0 -1 201903.0 2.3 0.001",
		 {201902, 201902, 201902, 201902, 201907},
		 5},
		{"data_tlb_miss",
		 "269.4 +/- 0.9 (0.341%)",
		 "0x2 -1 269.4 0.9 0.341",
		 {269, 269, 269, 269, 271},
		 5},
		{"btb_hits", "502.3 +/- 11.3 (2.241%)", "0x13 -1 502.3 11.3 2.241", {498, 498, 511}, 3},
		{"btb_hits", "2993.0 +/- 6.5 (0.218%)", "0x13 -1 2993.0 6.5 0.218", {2995, 2996, 2988}, 3},
		{"btb_hits", "57.3 +/- 3.1 (5.446%)", "0x13 -1 57.3 3.1 5.446", {59, 58, 55}, 3},
		{"data_read_miss",
		 "11006.4 +/- 63.2 (0.574%)",
		 "0x3 -1 11006.4 63.2 0.574",
		 {11113, 11003, 10962, 10975, 10979},
		 5},
		{"data_write_miss",
		 "8848.6 +/- 22.3 (0.252%)",
		 "0x4 -1 8848.6 22.3 0.252",
		 {8856, 8876, 8816, 8850, 8845},
		 5},
	};
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		char name[64], fact[128];
		snprintf(name, sizeof name, "p5mon:%s", examples[i].event);
		struct estimate e = counted(name, "events", examples[i].runs, examples[i].n);
		struct result r = of(&e, 1);
		r.repetitions = examples[i].n;
		char *report = write_with(P5MON, &r), *file = write_with(P5MON_FILE, &r);
		snprintf(fact, sizeof fact, "raw example %zu of the thesis is printed as there", i + 1);
		has(report, examples[i].printed, fact);
		snprintf(fact, sizeof fact, "raw example %zu is in the parseable file as there", i + 1);
		has(file, examples[i].parsed, fact);
		free(report);
		free(file);
	}

	double reads[] = {201902, 201902, 201902, 201902, 201907}, zeros[] = {0, 0, 0, 0, 0};
	struct estimate e[] = {
		counted("p5mon:data_read", "events", reads, 5),
		counted("p5mon:count_clocks", "events", zeros, 5),
		{.event = "p5mon:external_snoops", .unit = "events", .why = "it has no meaning here", .cpu = -1},
	};
	struct result r = of(e, 3);
	r.repetitions = 5;
	r.executions = 6;
	r.warm_ups = 1;
	char *report = write_with(P5MON, &r), *all = write_with(P5MON_ALL, &r);
	char *file = write_with(P5MON_FILE, &r), *file_all = write_with(P5MON_FILE_ALL, &r);
	has(report,
	    " current directory: /home/safford\n parameter file: ./STD_PARMS\n arguments: -Frepetitions=5\n "
	    "command: gzip -k a file\n",
	    "the header is that of Figure 4.2");
	has(report,
	    "Results (for 5 repetitions with a 95% confidence level):\n  Data Read: 201903.0 +/- 2.3 (0.001%)\n",
	    "the results are those of Figure 4.3");
	has(report, "Clock cycles: 0.0 +/- 0.0 (NaN%)\n", "a mean of 0 has a percentage of NaN");
	has(report, "External Snoops: not counted (it has no meaning here)\n", "what was not counted is not 0");
	has(report,
	    "Total elapsed time: 1.3 seconds\n(program executed 5 times, with an average execution time of "
	    "0.2s)\n",
	    "the initialization run is not among the executions");
	has(report, "too\nnarrow", "the report says that its intervals are too narrow");
	has(all, "  Event: Data Read\n    rep 0:       201902\n    rep 1:       201902\n",
	    "repetitions are as in Figure 4.4");
	has(all, "    rep 4:       201907\n    Average:     201903.0 +/- 2.3 (0.001%)\n",
	    "and end in the average");
	has(file_all,
	    "# run_p5mon results file\n# Results (5 repetitions, 95% confidence level):\n"
	    "# Event Repetition Value [conf.int] [percentage]\n0x0 0 201902\n",
	    "the parseable file begins as Figure 4.7");
	has(file_all, "0x0 4 201907\n0x0 -1 201903.0 2.3 0.001\n", "its repetitions end in a line with -1");
	has(file, "percentage]\n0x0 -1 201903.0 2.3 0.001\ncount_clocks -1 0.0 0.0 NaN\n",
	    "the summary file has summary lines only");
	has(file, "# 0x7 not counted: it has no meaning here\n", "a comment says what was not counted");
	free(report);
	free(all);
	free(file);
	free(file_all);

	double inside[] = {600, 600, 600};
	struct estimate in_region = counted("p5mon:data_read", "events", inside, 3);
	// clang-format off: a table, a row a line
	struct region_row region = {.name = "sort",
				    .text = "sort",
				    .entries = 4,
				    .exits = 4,
				    .threads = 1,
				    .estimates = &in_region,
				    .n_estimates = 1};
	// clang-format on
	r = of(e, 1);
	r.regions = &region;
	r.n_regions = 1;
	file = write_with(P5MON_FILE, &r);
	has(file, "entered 4 times and exited 4 times\nsort 0x0 -1 600.0 0.0 0.000 150.0\n",
	    "a region's line ends in the mean for each time that it was left");
	free(file);
}

/* Of two events, behind the lines of the thesis, which has none: Figures 4.4 to 4.6 stay as printed. */
static void test_p5mon_ratio(void)
{
	double branches[] = {797, 797, 797}, hits[] = {498, 498, 511}, zeros[] = {0, 0, 0};
	double region_branches[] = {3900, 3900, 3900}, region_hits[] = {2995, 2996, 2988};
	struct estimate e[] = {
		counted("p5mon:branches", "events", branches, 3),
		counted("p5mon:btb_hits", "events", hits, 3),
		counted("p5mon:data_read", "events", hits, 3),
	};
	struct estimate inside[] = {
		counted("p5mon:branches", "events", region_branches, 3),
		counted("p5mon:btb_hits", "events", region_hits, 3),
	};
	struct region_row region = {.name = "asm_1",
				    .text = "asm_1",
				    .entries = 100,
				    .exits = 100,
				    .threads = 1,
				    .kind = REGION_LIBRARY,
				    .estimates = inside,
				    .n_estimates = 2};
	struct result r = of(e, 2);
	r.repetitions = 3;
	r.executions = 3;
	r.regions = &region;
	r.n_regions = 1;
	char *report = write_with(P5MON, &r), *file = write_with(P5MON_FILE, &r);
	has(report,
	    "Results (for 1 regions, 3 repetitions, 95% confidence level):\n"
	    "    Region 1, entered 100 times and exited 100 times:\n"
	    "        Branches: 3900.0 +/- 0.0 (0.000%) [39.0]\n"
	    "        BTB Hits: 2993.0 +/- 6.5 (0.218%) [29.9]\n\nTotal elapsed time",
	    "regions of assembly have the lines of Figure 4.5, and no other among them");
	has(report, "regions' probes)\nRatio in region 1: Branches / BTB Hits = 1.303040\n",
	    "the ratio of two events' means follows");
	has(file,
	    "# run_p5mon results file\n# Results (for 1 regions, 3 repetitions, 95% confidence level):\n"
	    "# Region Event Repetition Value [conf.int] [percentage]\n# Region 1: entered 100 exited 100\n"
	    "1 0x12 -1 3900.0 0.0 0.000 39.0\n1 0x13 -1 2993.0 6.5 0.218 29.9\n",
	    "the parseable file is that of Figure 4.9");
	ok(!strstr(file, "Ratio"), "the parseable file has no ratio");
	free(report);
	free(file);
	report = write_with(P5MON_ALL, &r);
	file = write_with(P5MON_FILE_ALL, &r);
	has(report,
	    "        Event: BTB Hits\n            rep 1:         2995\n            rep 2:         2996\n"
	    "            rep 3:         2988\n            Average:     2993.0 +/- 6.5 (0.218%) 29.9 per time "
	    "region "
	    "entered\n",
	    "repetitions in a region are those of Figure 4.6");
	has(file, "\n1 0x13 0 2995\n1 0x13 1 2996\n1 0x13 2 2988\n1 0x13 -1 2993.0 6.5 0.218 29.9\n",
	    "and of Figure 4.9");
	free(report);
	free(file);
	r.n_regions = 0;
	r.n_estimates = 3;
	report = write_with(P5MON, &r);
	ok(!strstr(report, "Ratio"), "three events have no ratio");
	free(report);
	r.n_estimates = 2;
	e[1] = counted("p5mon:btb_hits", "events", zeros, 3);
	report = write_with(P5MON, &r);
	ok(!strstr(report, "Ratio"), "nothing is divided by 0");
	free(report);
	e[1] = (struct estimate){.event = "p5mon:btb_hits", .unit = "events", .why = "not here", .cpu = -1};
	report = write_with(P5MON, &r);
	ok(!strstr(report, "Ratio"), "nor by what was not counted");
	free(report);
	e[1] = counted("p5mon:branches", "events", branches, 3);
	report = write_with(P5MON, &r);
	ok(!strstr(report, "Ratio"), "an event has no ratio to itself");
	free(report);
}

/* ---- perfex ---- */

static void test_perfex(void)
{
	double cycles[] = {7945053664}, first[] = {8975754960}, second[] = {8847468640};
	struct estimate e[] = {
		counted("r10000:Cycles", "cycles", cycles, 1),
		counted("r10000:Graduated instructions", "instructions", first, 1),
		counted("r10000:Cycles", "cycles", cycles, 1),
		counted("r10000:Graduated instructions", "instructions", second, 1),
		{.event = "r10000:TLB misses", .unit = "events", .why = "not counted here", .cpu = -1},
	};
	e[1].source = e[3].source = SOURCE_SCALED;
	struct result r = of(e, 5);
	char *text = write_with(PERFEX, &r), *at;
	has(text, "Cycles..........................................................      7945053664\n",
	    "a line is the name, dots and the count");
	at = strstr(text, "8975754960");
	ok(at && strstr(at, "8847468640"), "counter 0's graduated instructions come before counter 1's");
	has(text, "Graduated instructions: the two counts differ by 1.44 % (the error of multiplexing)\n",
	    "the disagreement of the doubled events is printed");
	has(text, "Cycles: the two counts differ by 0.00 %\n", "also where there is none");
	has(text,
	    "TLB misses......................................................"
	    " not counted: not counted here\n",
	    "what was not counted is not 0");
	free(text);
	/* perfex -e: there is no second count of the event to compare with */
	double tlb[] = {1000}, l1[] = {2000};
	struct estimate two[] = {counted("r10000:TLB misses", "misses", tlb, 1),
				 counted("r10000:Primary data cache misses", "misses", l1, 1)};
	two[0].source = two[1].source = SOURCE_SCALED;
	two[0].has_interval = two[1].has_interval = true;
	two[0].share_running = 0.5, two[0].low = 900.4, two[0].high = 1100;
	two[1].share_running = 0.25, two[1].low = 500, two[1].high = INFINITY;
	r = of(two, 2);
	text = write_with(PERFEX, &r);
	has(text, "\nTLB misses: counted 50 % of the time; between 900 and 1100\n",
	    "of a scaled count the listing has both ends");
	has(text, "\nPrimary data cache misses: counted 25 % of the time; at least 500\n",
	    "or the one that there is");
	free(text);
	two[0].source = two[1].source = SOURCE_HW;
	r = of(two, 2);
	text = write_with(PERFEX, &r);
	ok(!strstr(text, "of the time"), "what had its counter all the time has no such line");
	free(text);
	equal_text(perfex_event_at(15)->listed, "Graduated instructions", "event 15 is counter 0's last");
	equal_text(perfex_event_at(16)->listed, "Cycles", "event 16 is counter 1's first");
	ok(!perfex_event_at(32), "there are 32 events");
}

/* ---- text ---- */

static void test_text(void)
{
	double faults[] = {100, 102, 104}, scaled[] = {1e10}, clock[] = {1234567};
	struct estimate e[] = {
		counted("page-faults", "faults", faults, 3),
		counted("cycles", "cycles", scaled, 1),
		counted("task-clock", "ns", clock, 1),
		{.event = "instructions", .unit = "instructions", .why = "the machine has no PMU", .cpu = -1},
	};
	e[0].low = 97;
	e[0].high = 107;
	e[0].has_interval = true;
	e[0].note = e[2].note = "a remark";
	e[1].source = SOURCE_SCALED;
	e[1].share_running = 0.99999;
	e[1].low = 9e9;
	e[1].high = INFINITY;
	e[1].has_interval = true;
	e[1].trust = TRUST_BIASED;
	struct result r = of(e, 4);
	char *text = write_with(TEXT, &r);
	has(text, "tare count: gzip -k 'a file'\n", "the command is shown, words with spaces quoted");
	has(text, " 102.0  ", "the mean is shown");
	has(text, "\u00b1 5.0", "a symmetric interval is its half-width");
	has(text, "9.000 G \u2026 \u221e", "an interval without upper bound says so");
	has(text, "99.99 %", "a counter that ran nearly always is not shown as always");
	has(text, "scaled", "the source is in the row");
	has(text, "scaled~", "what is biased is marked behind its source");
	has(text, "1.235 ms", "times have readable units");
	has(text, "\u00b1?", "one run has no interval");
	has(text, "not counted: the machine has no PMU", "a row without a count says why");
	char *first = strstr(text, "[1] a remark");
	ok(first && !strstr(first + strlen("[1] a remark"), "a remark"), "a remark on two rows is printed once");
	free(text);

	/* one reason for several rows */
	struct estimate missing[] = {
		{.event = "cycles", .unit = "cycles", .why = "no PMU", .note = "buy one", .cpu = -1},
		{.event = "branches", .unit = "branches", .why = "no PMU", .note = "buy one", .cpu = -1},
		{.event = "flops", .unit = "operations", .why = "no such event", .cpu = -1},
	};
	struct result none = of(missing, 3);
	text = write_with(TEXT, &none);
	has(text,
	    "  cycles    not counted [1]\n  branches  not counted [1]\n  flops     not counted: no such event\n",
	    "a reason that several rows share is a footnote");
	has(text, "\n  [1] no PMU; buy one\n", "with what to do");
	free(text);

	/* 507,029,123 ± 2,474,000 ns; 2,244,000 ± 2,300 bytes; 1.4, 0 … 4.6 */
	double time[] = {507029123}, memory[] = {2244000}, moves[] = {1.4};
	struct estimate digits[] = {
		counted("task-clock", "ns", time, 1),
		counted("peak-memory", "bytes", memory, 1),
		counted("cpu-migrations", "migrations", moves, 1),
	};
	double half_widths[] = {2474000, 2300, 3.2};
	for (size_t i = 0; i < 3; i++) {
		digits[i].has_interval = true;
		digits[i].low = digits[i].value - half_widths[i];
		digits[i].high = digits[i].value + half_widths[i];
	}
	digits[2].low = 0;
	digits[2].n_runs = 5;
	double several[] = {0, 0, 1, 1, 5};
	digits[2].runs = several;
	struct result precise = of(digits, 3);
	text = write_with(TEXT, &precise);
	has(text, "507.0    ms     \u00b1 2.5 ", "a time has no more digits than its interval makes meaningful");
	has(text, "  2.1400 MiB    \u00b1 0.0022", "and no fewer");
	has(text, "0 \u2026 4.6", "an interval of small numbers is shown in full, with the value's digits");
	has_not(text, "0.49 %", "80 columns have no room for intervals in percent");
	free(text);
	text = write_with(TEXT_WIDE, &precise);
	has(text, "507.0    ms     \u00b1 2.5    (0.49 %)", "a wide terminal has them");
	free(text);
	digits[1].low = digits[1].high = digits[1].value;
	text = write_with(TEXT, &precise);
	has(text, "  2.14 MiB    \u00b1 0    hw\n", "what did not vary at all is \u00b1 0");
	free(text);
	digits[2].event = "a-name-of-26-characters-xx";
	text = write_with(TEXT_NARROW, &precise);
	has(text, "  a-name-of-26-characters-xx\n                 1.4  migrations  0 \u2026 4.6  hw\n",
	    "on a narrow one a name that leaves no room for its numbers has a line of its own");
	free(text);

	e[1].trust = TRUST_UNVERIFIED;
	e[0].event = "evil\033[31m\nname";
	text = write_with(TEXT, &r);
	has_not(text, "\033", "control characters in names do not reach the terminal");
	has(text, "evil\\x1b[31m\\x0aname", "they are shown escaped");
	has_not(text, "unverified", "where nothing gave a verdict none is printed");
	size_t widest = 0;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		size_t columns = 0;
		for (; *line; line++)
			columns += ((unsigned char)*line & 0xc0) != 0x80;
		widest = columns > widest ? columns : widest;
	}
	ok(widest <= 80, "no line is longer than 80 columns (%zu)", widest);
	free(text);

	r.n_estimates = 0;
	r.command = NULL;
	r.target = "all CPUs";
	text = write_with(TEXT, &r);
	has(text, "tare count: all CPUs\n", "without a program the target is the heading");
	free(text);
}

/* ---- CSV and JSON ---- */

static void test_csv(void)
{
	double faults[] = {100, 102.5};
	struct estimate e[] = {
		counted("page-faults", "faults", faults, 2),
		{.event = "a,\"b\"", .unit = "events", .why = "no\nPMU", .cpu = -1},
	};
	e[0].has_interval = true;
	e[0].low = 90.5;
	e[0].high = INFINITY;
	struct result r = of(e, 2);
	char *text = write_with(CSV, &r), *all = write_with(CSV_ALL, &r);
	has(text,
	    "tare,kind,event,level,pid,tid,cpu,repetition,value,low,high,confidence,unit,runs,source,trust,"
	    "share_running,why,note,machine,region,entries,exits,gross,overhead,bound,evidence,at_least,"
	    "command\r\n",
	    "the first line names the columns");
	has(text, "\r\n1,event,page-faults,user,,,,,101.25,90.5,,0.95,faults,2,hw,unverified,1,,,,,,,,,,,,\r\n",
	    "numbers have full precision, an infinite bound is empty");
	has(text, "\r\n1,event,\"a,\"\"b\"\"\",,,,,,,,,,events,0,none,unverified,,\"no\nPMU\",,,,,,,,,,,\r\n",
	    "fields are quoted where they must be, a missing count is empty and says why");
	has(all, "\r\n1,run,page-faults,user,,,,2,102.5,,,,faults,1,hw,unverified,,,,,,,,,,,,,\r\n",
	    "repetitions are rows");
	free(text);
	free(all);
	e[0].machine = "r12000";
	text = write_with(CSV, &r);
	has(text, "faults,2,hw,unverified,1,,,r12000,,,,,,,,,\r\n", "a modelled row names its machine");
	free(text);
	text = write_with(JSON, &r);
	has(text, "\"trust\": \"unverified\", \"machine\": \"r12000\",", "so it does as JSON");
	free(text);
}

static void test_json(void)
{
	double faults[] = {100};
	struct estimate e[] = {
		counted("page-faults", "faults", faults, 1),
		{.event = "instructions", .unit = "instructions", .why = "no PMU", .cpu = -1},
		counted("cycles", "cycles", faults, 1),
	};
	static const char *const odd[] = {"a\"\\\n\001\177b", "\xc3\xa9", "\xe9",     "\xed\xa0\x80",
					  "\xf4\x90\x80\x80", "\xc0\x80", "\xe2\x82", NULL};
	e[2].has_interval = true;
	e[2].low = 1;
	e[2].high = INFINITY;
	struct result r = of(e, 3);
	r.command = odd;
	char *text = write_with(JSON, &r);
	has(text, "{\n  \"tare\": 1,\n", "the format's version comes first");
	has(text, "\"a\\\"\\\\\\n\\u0001\\u007fb\"", "quotes, backslashes and control characters are escaped");
	has(text, "\"\xc3\xa9\"", "valid UTF-8 passes");
	has(text, "\"\xc3\xa9\",\n    \"\\ufffd\"", "a byte that is not UTF-8 becomes U+FFFD");
	has(text, "\"\\ufffd\\ufffd\\ufffd\",\n", "so does each byte of a surrogate");
	has(text, "\"\\ufffd\\ufffd\\ufffd\\ufffd\",\n", "and of what is beyond Unicode");
	has(text, "\"\\ufffd\\ufffd\",\n    \"\\ufffd\\ufffd\"\n", "and of overlong and cut sequences");
	has(text,
	    "\"event\": \"page-faults\", \"value\": 100, \"low\": null, \"high\": null, \"confidence\": null,",
	    "without an interval there are no bounds");
	has(text,
	    "\"event\": \"instructions\", \"value\": null, \"low\": null, \"high\": null, \"confidence\": null, "
	    "\"why\": \"no PMU\"",
	    "a missing count is null and says why");
	has(text, "\"low\": 1, \"high\": null, \"confidence\": 0.95",
	    "an infinite bound is null, with a confidence");
	has(text, "\"exit\": {\"status\": 0}", "the program's exit status is there");
	free(text);
	r.wait_status = 9;
	text = write_with(JSON, &r);
	has(text, "\"exit\": {\"signal\": 9}", "or the signal that ended it");
	free(text);
}

/* Row i of 30 has i + 1 counts, in no order: together 465. */
static void test_breakdown(void)
{
	enum { ROWS = 30 };
	static struct breakdown_row rows[ROWS];
	static uint64_t counts[ROWS];
	static char names[ROWS][8];
	for (size_t i = 0; i < ROWS; i++) {
		counts[i] = (i * 7 + 3) % ROWS + 1;
		snprintf(names[i], sizeof names[i], "f%llu", (unsigned long long)counts[i]);
		rows[i] = (struct breakdown_row){.name = names[i], .module = "/bin/p", .counts = &counts[i]};
	}
	struct breakdown_event event = {.label = "loads", .unit = "loads", .total = 465, .sum = 465};
	// clang-format off: a table, a row a line
	struct breakdown b = {.by = BREAKDOWN_BY_FUNCTION,
			      .run = 1,
			      .runs = 1,
			      .events = &event,
			      .n_events = 1,
			      .rows = rows,
			      .n_rows = ROWS};
	// clang-format on
	struct report_options options = {.width = 100};
	struct result result = of(NULL, 0);
	result.breakdown = &b;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	report_text(out, &result, &options);
	fclose(out);
	has(text, "      30(  6.5%)     30(  6.5%)  f30 (p)\n      29(  6.2%)     59( 12.7%)  f29 (p)\n",
	    "the largest come first, with what they have together");
	has(text, "       6(  1.3%)    450( 96.8%)  f6 (p)\n      15(  3.2%)    465(100.0%)  5 others\n",
	    "what the others have is the rest");
	has(text, "     465(100.0%)    465(100.0%)  TOTAL\n", "the total is last");
	free(text);
	event.defect = "the rows do not add up";
	out = open_memstream(&text, &length);
	report_text(out, &result, &options);
	fclose(out);
	has(text, "WRONG: the rows do not add up", "rows that do not add up are said to be wrong");
	free(text);
}

/* ---- the report as data ---- */

static size_t blocks_with(const struct document *document, enum document_kind kind, const char *text)
{
	size_t n = 0;
	for (size_t i = 0; i < document->blocks.count; i++) {
		const struct document_block *block = &document->blocks.items[i];
		n += block->kind == kind && block->text && strcmp(block->text, text) == 0;
	}
	return n;
}

static const struct document_table *table_of(const struct document *document, enum document_kind kind)
{
	for (size_t i = 0; i < document->blocks.count; i++)
		if (document->blocks.items[i].kind == kind)
			return &document->blocks.items[i].table;
	return NULL;
}

static void test_document(void)
{
	double run = 1234;
	struct estimate rows[2] = {counted("loads:u", "loads", &run, 1), counted("a\033[1mb", "", &run, 1)};
	struct result_note notes[] = {
		{"a note that is longer than a line of a narrow terminal, and stays whole", NOTE_READ}};
	struct result result = of(rows, 2);
	rows[1].known = false;
	rows[1].why = "no counter";
	result.notes = notes;
	result.n_notes = 1;
	struct document document = {0};
	report_build(&document, &result, &(struct report_options){.gross = true, .width = 40});
	ok(!document_trouble(&document), "a whole document has no trouble");
	equal_u64(blocks_with(&document, BLOCK_PARAGRAPH, "A CPU, 2 CPUs, no hardware counters, Linux 6.1"), 1,
		  "the machine is one sentence");
	equal_u64(blocks_with(&document, BLOCK_NOTE, notes[0].text), 1,
		  "a note is one block, whole, at any width");
	const struct document_table *table = table_of(&document, BLOCK_COUNTS);
	if (ok(table && table->rows.count == 3, "a table has its headings and a row for each estimate")) {
		const struct document_row *row = table->rows.items;
		equal_text(row[1].cells[CELL_VALUE], "1,234", "a cell has the number as a reader sees it");
		ok(row[1].estimate == &rows[0], "a row knows its estimate");
		equal_text(row[2].text, "not counted: no counter", "a row without a count has a sentence");
	}
	document_free(&document);
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	rows[1].known = true;
	report_text(out, &result, &(struct report_options){.gross = true});
	fclose(out);
	has_not(text, "\033", "control characters of a name reach the terminal from no table");
	free(text);
	rows[0].evidence = rows[1].evidence = "release:0.1.0";
	out = open_memstream(&text, &length);
	report_text(out, &result, &(struct report_options){.gross = true});
	fclose(out);
	has_not(text, "calibration release", "what a count was verified by is not taken for a calibration");
	has(text, "no calibration is used here", "none was");
	free(text);
	rows[0].evidence = "0123456789abcdef verification:7";
	out = open_memstream(&text, &length);
	report_text(out, &result, &(struct report_options){.gross = true});
	fclose(out);
	has(text, "(calibration 01234567)", "a calibration is named by the first half of its id");
	free(text);
}

int main(void)
{
	test_document();
	test_breakdown();
	test_numbers();
	test_interrupts_in_regions();
	test_p5mon();
	test_p5mon_ratio();
	test_perfex();
	test_text();
	test_csv();
	test_json();
	return done();
}
