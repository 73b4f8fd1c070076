/* Places by name, from records written by hand: sums, namesakes, what is wrong and what is not there. */
#include <stdlib.h>

#include "profile/breakdown.h"
#include "report/report.h"
#include "tap.h"

static struct symbols *symbols;
static uint64_t counts[][2] = {{5, 1}, {7, 0}, {3, 9}, {0, 0}};

static struct breakdown *broken_down(struct locations *l, enum breakdown_by by)
{
	struct breakdown *b = NULL;
	struct error err;
	if (!breakdown_new(l, symbols, by, false, &b, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	return b;
}

static void free_breakdown(struct breakdown *b)
{
	breakdown_free(b);
	free(b);
}

static char *printed(void (*print)(FILE *out, const struct breakdown *b), const struct breakdown *b)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	if (!out)
		exit(2);
	print(out, b);
	fclose(out);
	return text;
}

static void as_text(FILE *out, const struct breakdown *b)
{
	const struct report_options options = {0};
	// clang-format off: a table, a row a line
	struct result result = {.breakdown = (struct breakdown *)b,
				.machine = {.cpu = "",
					    .kernel = "",
					    .hostname = "",
					    .architecture = "",
					    .pmu = "none",
					    .hypervisor = ""}};
	// clang-format on
	report_text(out, &result, &options);
}

int main(void)
{
	struct location code[] = {
		{.kind = LOCATION_CODE, .module = "/nowhere/prog", .offset = 0x10, .counts = counts[0]},
		{.kind = LOCATION_CODE, .module = "", .offset = 0x7f0000000000, .counts = counts[1]},
		{.kind = LOCATION_CODE, .module = "", .offset = 0x7f0000001000, .counts = counts[2]},
		{.kind = LOCATION_CODE, .module = "/nowhere/other", .offset = 0x10, .counts = counts[3]},
	};
	struct located_event events[] = {{.event = 0, .label = "first", .unit = "", .total = 15},
					 {.event = 1, .label = "second", .unit = "", .total = 10}};
	struct locations l = {.of = LOCATIONS_OF_CODE, .events = events, .n_events = 2, .all = code, .n = 4};
	if (!symbols_new(NULL, &symbols, NULL))
		return 2;

	struct breakdown *b = broken_down(&l, BREAKDOWN_BY_FUNCTION);
	ok(b->n_rows == 2 && !strcmp(b->rows[0].name, "[anonymous]") && b->rows[0].counts[0] == 10 &&
		   b->rows[0].counts[1] == 9,
	   "places of one function are one row, the largest first");
	ok(!strcmp(b->rows[1].name, "prog+0x10") && b->rows[1].counts[0] == 5,
	   "a place without a name is a row of its own");
	ok(b->events[0].sum == 15 && !b->events[0].defect && b->events[1].sum == 10 && !b->events[1].defect,
	   "sums that are right are no defect");
	ok(b->n_notes == 1 && strstr(b->notes[0], "/nowhere/prog"),
	   "a file that cannot be read is mentioned, if anything of it is counted");
	char *text = printed(report_breakdown_tsv, b);
	ok(strstr(text,
		  "first\t\t10\t0.6666666666666666\t0.6666666666666666\tfunction\t[anonymous]\t\t\t\t\t\t\n") &&
		   strstr(text, "second\t\t10\t1\t1\ttotal\t\t\t\t\t\t\t\n"),
	   "lines have count, shares, kind and name, and a total ends an event");
	free(text);
	free_breakdown(b);

	events[0].total = 16;
	b = broken_down(&l, BREAKDOWN_BY_LINE);
	ok(b->events[0].defect && strstr(b->events[0].defect, "15") && strstr(b->events[0].defect, "16") &&
		   !b->events[1].defect,
	   "a sum that is not the count is a defect, of that event alone");
	text = printed(as_text, b);
	ok(strstr(text, "WRONG: its places have 15 and its count is 16"), "the report says so");
	free(text);
	free_breakdown(b);

	counts[2][0] = UINT64_MAX - 3;
	b = broken_down(&l, BREAKDOWN_BY_FUNCTION);
	ok(b->events[0].defect && strstr(b->events[0].defect, "64 bits"),
	   "a count below 0, or too large, is a defect");
	free_breakdown(b);
	counts[2][0] = 3;

	uint64_t whole[] = {15, 10}, part[] = {10, 9};
	struct location_arc arcs[] = {
		{.callee = "/nowhere/prog", .callee_offset = 0x10, .calls = 1, .inclusive = whole},
		{.caller = "/nowhere/prog", .caller_offset = 0x10, .callee = "", .calls = 2, .inclusive = part}};
	l.arcs = arcs, l.n_arcs = 2, events[0].total = 15;
	char why[320];
	ok(!breakdown_arcs_wrong(&l, why, sizeof why), "arcs without a caller have the whole count");
	struct error err;
	ok(breakdown_new(&l, symbols, BREAKDOWN_BY_FUNCTION, true, &b, &err) && b->inclusive && b->n_rows == 2 &&
		   b->rows[1].counts[0] == 5 && b->rows[1].inclusive[0] == 15 && b->rows[1].inclusive[1] == 10 &&
		   b->rows[0].inclusive[0] == 10 && b->rows[0].inclusive[1] == 9,
	   "a function has its own count and that of what it calls");
	text = printed(report_breakdown_tsv, b);
	ok(strstr(text, "\t15\t1\n") && strstr(text, "stack\tinclusive\tinclusive_share\n"),
	   "which is in two columns more");
	free(text);
	free_breakdown(b);
	whole[1] = 11;
	const char *wrong = breakdown_arcs_wrong(&l, why, sizeof why);
	ok(wrong && strstr(wrong, "calls have 11 second and the count is 10"),
	   "arcs that are not the whole count are said");
	l.arcs = NULL, l.n_arcs = 0, events[0].total = 16;

	events[0].why = "it rained";
	b = broken_down(&l, BREAKDOWN_BY_FUNCTION);
	ok(b->events[0].why && !b->events[0].defect && b->events[1].sum == 10 && b->rows[0].counts[0] == 0,
	   "an event without places has none, and is no defect");
	text = printed(as_text, b);
	ok(strstr(text, "not broken down: it rained") && strstr(text, "second by function"),
	   "the report says why, and has the others");
	free(text);
	free_breakdown(b);

	const struct location_frame here[] = {{"/nowhere/prog", 0x20}, {"", 0x7f0000000005}},
				    there[] = {{"/nowhere/prog", 0x30}};
	// clang-format off: a table, a row a line
	struct location data[] = {
		{.kind = LOCATION_HEAP,
		 .module = "",
		 .frames = here,
		 .n_frames = 2,
		 .blocks = 2,
		 .bytes = 300,
		 .counts = counts[0]},
		{.kind = LOCATION_HEAP,
		 .module = "",
		 .frames = there,
		 .n_frames = 1,
		 .blocks = 1,
		 .bytes = 8,
		 .counts = counts[1]},
		{.kind = LOCATION_STACK, .module = "", .counts = counts[2]},
	};
	// clang-format on
	events[0] = (struct located_event){.label = "first", .unit = "", .machine = "lab", .total = 15};
	const char *notes[] = {"room ran out"};
	// clang-format off: a table, a row a line
	l = (struct locations){.of = LOCATIONS_OF_DATA,
			       .events = events,
			       .n_events = 1,
			       .all = data,
			       .n = 3,
			       .notes = notes,
			       .n_notes = 1};
	// clang-format on
	b = broken_down(&l, BREAKDOWN_BY_OBJECT);
	ok(b->n_rows == 3 && b->rows[0].counts[0] == 7 && b->rows[1].blocks == 2 && b->rows[1].bytes == 300 &&
		   b->rows[1].n_frames == 2,
	   "each allocation site is an object of its own");
	ok(!strcmp(b->rows[1].frames[0].function, "prog+0x1f") &&
		   !strcmp(b->rows[1].frames[1].function, "[anonymous]"),
	   "a return address is named by the call in front of it");
	ok(!strcmp(b->rows[2].kind, "stack") && !strcmp(b->notes[b->n_notes - 1], "room ran out"),
	   "the stack is one, and notes come along");
	free_breakdown(b);
	symbols_free(symbols);
	return done();
}
