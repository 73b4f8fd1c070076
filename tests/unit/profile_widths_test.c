/* Listings and annotated source on terminals: with all columns that a profile may have no line is wider than the
 * terminal, and what has no room is said. */
#include "report/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_columns.h"
#include "tap.h"

enum { EVENTS = 5 };

static struct profile_event events[EVENTS];
static struct named_count counts[3][EVENTS];
static struct named_check check = {.verdict = VERDICT_FEW, .first = 1, .second = 0.123};
static struct named_row rows[3], lines[3];
static uint64_t sums[EVENTS];
static struct named_arc arc;
static struct profile profile;
static struct named_profile named;

/* Two functions or lines, and one that was called; of each event counts of eleven digits. */
static void plant(bool counted, bool checked, const char *label)
{
	static const char *const places[] = {"/a/directory/with/a/long/name/below/another/one/of/such/a/name/f.c",
					     "/nowhere/g.c", "/nowhere/h.c"};
	profile = (struct profile){.events = events, .n_events = EVENTS, .checks_gaps = checked};
	for (size_t e = 0; e < EVENTS; e++) {
		events[e] = (struct profile_event){.label = label, .unit = "loads", .gaps = GAPS_NONE};
		if (!counted)
			events[e].gaps = GAPS_EXPONENTIAL, events[e].gap = 1000, events[e].redraw = 1;
		sums[e] = 0;
	}
	for (size_t i = 0; i < 3; i++) {
		for (size_t e = 0; e < EVENTS; e++) {
			counts[i][e] = (struct named_count){.self = 98765432u >> i, .inclusive = 98765432u};
			counts[i][e].nested = counted && i == 1;
			counts[i][e].check = checked ? &check : NULL;
			counts[i][e].has_interval = !counted;
			counts[i][e].low = 0.101, counts[i][e].high = 1;
			counts[i][e].first_rank = counted ? 0 : 1, counts[i][e].last_rank = counted ? 0 : 339;
			sums[e] += counts[i][e].self;
		}
		rows[i] = (struct named_row){
			.name = "a_function_with_a_name_that_has_no_room_on_any_terminal_at_all",
			.module = "/usr/lib/libthing.so.1.2.3",
			.file = places[i],
			.line = 1234,
			.calls = counted,
			.counts = counts[i]};
		lines[i] = rows[i];
		lines[i].name = "";
	}
	named = (struct named_profile){.profile = &profile,
				       .by_function = {rows, 3},
				       .by_line = {lines, 3},
				       .arcs = &arc,
				       .n_arcs = counted,
				       .sums = sums,
				       .has_inclusive = !checked,
				       .confidence = 0.95};
}

static char *shown(int width, bool annotate, bool prof)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	const struct profile_report_options options = {.text = {.width = width}, .annotate = annotate};
	if (!out) {
		printf("Bail out! no memory\n");
		exit(1);
	}
	(prof ? report_profile_prof : report_profile_text)(out, &named, &options);
	fclose(out);
	return text;
}

static size_t widest(char *text)
{
	size_t most = 0;
	for (char *line = text, *end; *line; line = end + (end[0] != '\0')) {
		end = line + strcspn(line, "\n");
		bool more = *end == '\n';
		*end = '\0';
		most = text_columns(line) > most ? text_columns(line) : most;
		*end = more ? '\n' : '\0';
	}
	return most;
}

static void fits(const char *what, bool annotate, bool prof)
{
	static const int widths[] = {60, 80, 200};
	for (size_t i = 0; i < 3; i++) {
		char *text = shown(widths[i], annotate, prof);
		if (!ok(widest(text) <= (size_t)widths[i], "%s: on %d columns no line is wider (%zu)", what,
			widths[i], widest(text)))
			printf("# %s\n", text);
		free(text);
	}
}

static bool says(int width, bool annotate, const char *part)
{
	char *text = shown(width, annotate, false);
	bool found = strstr(text, part) != NULL;
	free(text);
	return found;
}

int main(void)
{
	plant(false, false, "cpu-clock");
	fits("intervals, calls and ranks", false, false);
	fits("… and source", true, false);
	fits("… as prof lists them", false, true);
	ok(says(60, false, " 95 %  incl. ") && says(80, false, " 95 % interval  with calls "),
	   "where names would have no room, headings are shorter");
	plant(false, true, "cpu-clock");
	fits("the same of two gaps", false, false);
	ok(says(60, false, "too few") && !says(60, false, " gap 1 ") &&
		   says(200, false, " gap 1  gap 2    agree "),
	   "a narrow one leaves out the shares at each gap, and has the verdict");
	plant(true, false, "loads:u");
	fits("counts, with calls", false, false);
	fits("… and source with a column for each event", true, false);
	ok(says(200, true, "[5] share of loads:u, + with calls") && says(200, true, " [4]+calls  [5]+calls  line"),
	   "a wide one has what calls did of each event");
	ok(says(80, true, "[1] share of loads:u, + with calls") && says(80, true, " [5]  [1]+calls  line") &&
		   says(80, true, "[2] to [5] with calls: no room; -e EVENT shows it of one event, and a"),
	   "with less room shares go first, and what is left out is said");
	ok(says(60, true, "[5]: no room for a column; -e EVENT shows one event"),
	   "with too little for all shares that is said, too");
	plant(true, false, "an_event_of_a_long_name_that_has_no_room_in_a_heading:u");
	profile.n_events = 2;
	fits("two events of long names", true, false);
	profile.n_events = 1;
	fits("one", true, false);
	return done();
}
