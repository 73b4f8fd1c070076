/* Any bytes as a client's request: it comes whole or in two parts, with the same answer, and asks for nothing that is not in it. The same
 * bytes as names of events and values of labels: the text keeps the grammar of its lines. */
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/openmetrics.h"
#include "session/scrape.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void check_request(const char *bytes, size_t size)
{
	struct scrape_request whole = scrape_request_parse(bytes, size);
	bool has_path = false;
	for (size_t i = 0; i + 8 <= size; i++)
		has_path |= strncasecmp(bytes + i, "/metrics", 8) == 0;
	check(whole.asked != SCRAPE_METRICS || has_path, "metrics that nobody asked for");
	for (size_t part = 0; part < size; part += 1 + size / 16) {
		struct scrape_request first = scrape_request_parse(bytes, part);
		check(first.asked == SCRAPE_INCOMPLETE ||
			      (first.asked == whole.asked && first.openmetrics == whole.openmetrics &&
			       first.head_only == whole.head_only),
		      "what came later changes what was asked");
	}
}

/* name{label="value",…} number */
static void check_sample(const char *line, const char *end)
{
	const char *s = line;
	check(isalpha((unsigned char)*s) || *s == '_', "a name that begins with no letter");
	while (s < end && (isalnum((unsigned char)*s) || *s == '_'))
		s++;
	check(s < end && *s++ == '{', "no labels");
	while (s < end && *s != '}') {
		while (s < end && (isalnum((unsigned char)*s) || *s == '_'))
			s++;
		check(s + 1 < end && s[0] == '=' && s[1] == '"', "a label without a value");
		for (s += 2; s < end && *s != '"'; s++)
			if (*s == '\\') {
				s++;
				check(s < end && (*s == '\\' || *s == '"' || *s == 'n'), "an escape that is none");
			}
		check(s < end && *s++ == '"', "a value without its end");
		if (s < end && *s == ',')
			s++;
	}
	check(s + 1 < end && s[0] == '}' && s[1] == ' ', "no number");
	char *rest;
	strtod(s + 2, &rest);
	check(rest == end, "a number that is none");
}

static void check_text(const struct result *r, enum metrics_dialect dialect)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	check(out && report_openmetrics(out, r, dialect) && fclose(out) == 0, "memory ran out");
	check(length == strlen(text), "a NUL");
	for (const char *line = text, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		check(end != NULL, "a line without its end");
		if (*line != '#')
			check_sample(line, end);
	}
	check(dialect != METRICS_OPEN || (length >= 6 && strcmp(text + length - 6, "# EOF\n") == 0), "no EOF");
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const units[] = {"ns", "bytes", "faults", "%", "joules", ""};
	enum { ROWS = 6 };
	struct estimate rows[ROWS] = {0};
	char words[3 * ROWS][64] = {{0}};
	check_request((const char *)data, size);
	for (size_t i = 0; i < 3 * ROWS; i++) {
		for (size_t n = 0; n + 1 < sizeof words[i] && size && *data; n++, data++, size--)
			words[i][n] = (char)*data;
		if (size) { /* what ends a word: a NUL, or its length */
			data++;
			size--;
		}
	}
	for (size_t i = 0; i < ROWS; i++) {
		bool known = words[3 * i + 2][0] & 1;
		rows[i] = (struct estimate){.event = words[3 * i],
					    .unit = units[(unsigned char)words[3 * i + 2][0] % 6],
					    .level = i % 2 ? "user" : "",
					    .known = known,
					    .value = known ? (double)words[3 * i + 2][0] * 1e9 : NAN,
					    .source = known ? SOURCE_OS : SOURCE_NONE,
					    .machine = words[3 * i + 1],
					    .cpu = (int)i - 1,
					    .command = words[3 * i + 2],
					    .why = words[3 * i + 1]};
	}
	struct region_row region = {.name = words[0], .estimates = rows + 3, .n_estimates = 1};
	const struct result r = {.estimates = rows,
				 .n_estimates = 3,
				 .metrics = rows + 4,
				 .n_metrics = 2,
				 .regions = &region,
				 .n_regions = 1,
				 .target = words[1],
				 .repetitions = 1 + size % 2};
	check_text(&r, METRICS_OPEN);
	check_text(&r, METRICS_TEXT_004);
	return 0;
}
