/* Counters that run and count nothing. The guest's kernel accepts the numbers of events that its PMU does not have (issued instructions and
 * branches, accesses, misses): each would be 0, of any program. None of them may be reported as a count, or listed as one. */
#include <stdlib.h>

#include "tap.h"
#include "vm/counted.h"

static const char *const silent[] = {"instructions-issued", "branches-issued", "loads-issued", "stores-issued"};
enum { SILENT = sizeof silent / sizeof *silent };

/* The value is missing, and the reason is that the counter is not known to count (or that the kernel refuses it). */
static void is_no_count(const struct counted *c, const char *event, const char *where)
{
	struct row row = event_row(c, event);
	ok(!row.known, "%s, %s: a counter that nothing was seen to move gives no count", where, event);
	if (row.known)
		printf("# %s: %.0f, %s\n", event, row.value, row.source);
	else
		printf("# %s: %s\n", event, row.why);
}

int main(void)
{
	if (!in_guest()) {
		skip("what this machine's PMU counts is not known", "counters that count nothing are found out");
		return done();
	}
	struct counted *c = tare_run(
		"count", "-e", "instructions:u,instructions-issued,branches-issued,loads-issued,stores-issued",
		kernel("loop"), "1000", NULL);
	for (size_t i = 0; i < SILENT; i++)
		is_no_count(c, silent[i], "one run");
	struct row counted = event_row(c, "instructions:u");
	ok(counted.known && agrees(counted.value, (double)predicted("loop", "instructions", 1000)),
	   "and what counts beside them is counted");
	counted_free(c);

	c = tare_run("count", "-r", "2", "-e", "instructions-issued:u,branches-issued:u", kernel("loop"), "1000",
		     NULL);
	is_no_count(c, "instructions-issued:u", "two runs");
	is_no_count(c, "branches-issued:u", "two runs");
	counted_free(c);

	/* perfex's 32 events */
	c = tare_run("count", "-e",
		     "instructions-issued:u,branches-issued:u,l1d-misses:u,l1i-misses:u,loads:u,stores:u,branches:"
		     "u,branch-misses:u,"
		     "l2-misses:u,tlb-misses:u",
		     kernel("loop"), "1000", NULL);
	size_t index, zeros = 0;
	json_t *row;
	json_array_foreach(json_object_get(c->report, "results"), index, row)
	{
		json_t *value = json_object_get(row, "value");
		const char *source = json_string_value(json_object_get(row, "source"));
		if (json_is_number(value) && json_number_value(value) == 0 && source &&
		    strcmp(source, "hw") == 0) {
			zeros++;
			printf("# %s is 0, hw\n", json_string_value(json_object_get(row, "event")));
		}
	}
	ok(index >= 10 && zeros == 0, "of perfex's events none is a hardware zero (%zu rows)", index);
	counted_free(c);

	/* the list agrees with the counts */
	char command[512];
	snprintf(command, sizeof command, "%s list events --json issued", getenv("TARE"));
	FILE *list = popen(command, "r");
	json_t *root = list ? json_loadf(list, 0, NULL) : NULL;
	unsigned listed = 0;
	json_array_foreach(json_object_get(root, "events"), index, row)
	{
		const char *name = json_string_value(json_object_get(row, "event"));
		if (!name || !strstr(name, "-issued"))
			continue;
		listed++;
		ok(!json_is_true(json_object_get(row, "works")), "list events: %s is not said to work", name);
	}
	ok(listed >= SILENT, "list events has rows of what is issued (%u)", listed);
	json_decref(root);
	if (list)
		pclose(list);
	return done();
}
