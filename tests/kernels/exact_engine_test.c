/* The third witness of the kernels' predicted counts: tare's exact engine. Equality, for every row of every
 * NAME.truth.
 *
 *     exact_engine_test NAME...
 *
 * A row that the engine says it does not count is skipped with its reason; those of `must` may not be. */
#include <stdlib.h>

#include "kernels/truth.h"
#include "tap.h"
#include "vm/counted.h"

static const char *const must[] = {
	"instructions",      "loads",          "stores", "branches", "conditional-branches",
	"conditional-taken", "taken-branches", "calls",  "returns",  "system-calls"
};
static const uint64_t arguments[] = { 1, 2, 10, 999, 4000 };

static bool is_must(const char *event)
{
	for (size_t i = 0; i < sizeof must / sizeof *must; i++)
		if (strcmp(must[i], event) == 0)
			return true;
	return false;
}

static bool is_self(const char *event)
{
	size_t length = strlen(event);
	return length > 5 && strcmp(event + length - 5, "-self") == 0;
}

static void judge(const struct counted *c, const char *kernel, const char *argument, const char *event,
		  double truth)
{
	char name[80], fact[200];
	snprintf(name, sizeof name, "%s:u", event);
	struct row row = event_row(c, name);
	snprintf(fact, sizeof fact, "%s %s: the engine counts the predicted %s, %.0f", kernel, argument, event,
		 truth);
	if (!row.known && row.why[0] && !is_must(event)) {
		skip(row.why, fact);
		return;
	}
	if (row.value != truth || strcmp(row.source, "exact") != 0)
		printf("# is %.0f (source '%s'), why '%s', status %d: %s\n", row.value, row.source, row.why,
		       c->status, c->said);
	ok(row.value == truth && strcmp(row.source, "exact") == 0, "%s", fact);
}

/* Counts all rows of a kind (of the first process alone, or of all) in one execution. */
static void check(const char *name, const struct truth *rows, size_t n_rows, uint64_t n, bool self)
{
	char list[1024] = "", argument[24], event[64];
	snprintf(argument, sizeof argument, "%" PRIu64, n);
	for (size_t i = 0; i < n_rows; i++) {
		if (is_self(rows[i].event) != self || strstr(rows[i].event, "-faults-more"))
			continue;
		size_t at = strlen(list);
		snprintf(list + at, sizeof list - at, "%s%.*s:u", at ? "," : "",
			 (int)(strlen(rows[i].event) - (self ? 5 : 0)), rows[i].event);
	}
	if (!list[0])
		return;
	struct counted *c =
	    self ? tare_run("count", "--on", "exact", "--no-children", "-e", list, kernel(name), argument, NULL)
		 : tare_run("count", "--on", "exact", "-e", list, kernel(name), argument, NULL);
	for (size_t i = 0; i < n_rows; i++) {
		uint64_t truth;
		if (is_self(rows[i].event) != self || strstr(rows[i].event, "-faults-more") ||
		    !truth_value(&rows[i], n, &truth, NULL))
			continue;
		snprintf(event, sizeof event, "%.*s", (int)(strlen(rows[i].event) - (self ? 5 : 0)),
			 rows[i].event);
		judge(c, name, argument, event, (double)truth);
	}
	counted_free(c);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct arena arena = { 0 };
		struct error err;
		const struct truth *rows;
		size_t n_rows;
		char path[4096];
		snprintf(path, sizeof path, "%s/%s.truth", getenv("TARE_TRUTHS"), argv[i]);
		if (truth_missing(path, &arena)) {
			skip("this CPU cannot run it", argv[i]);
		} else if (!truth_read(path, &arena, &rows, &n_rows, &err)) {
			ok(false, "%s: its truth can be read (%s)", argv[i], err.text);
		} else {
			for (size_t a = 0; a < sizeof arguments / sizeof *arguments; a++) {
				check(argv[i], rows, n_rows, arguments[a], false);
				check(argv[i], rows, n_rows, arguments[a], true);
			}
		}
		arena_free(&arena);
	}
	return done();
}
