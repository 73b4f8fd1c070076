/* The manual's table of perfex's numbers is what they count. */
#include <stdio.h>
#include <string.h>

#include "compat/perfex_events.h"
#include "tap.h"

#ifndef MANUAL
#error "MANUAL is docs/man/tare-perfex.3.scd"
#endif

int main(void)
{
	static char manual[20000];
	struct error error = {0};
	struct event_table *table = event_table_new(&error);
	FILE *file = fopen(MANUAL, "r");
	size_t bytes = file ? fread(manual, 1, sizeof manual - 1, file) : 0, right = 0;
	if (file)
		fclose(file);
	ok(table && bytes > 0 && bytes < sizeof manual - 1, "the manual is there");
	for (size_t i = 0; table && i < PERFEX_EVENTS; i++) {
		const struct event_definition *row = perfex_event_definition(table, PERFEX_R10000, i);
		char line[200];
		snprintf(line, sizeof line, "\n%2zu  %-62s  %s\n", i, perfex_event_at(i)->listed,
			 row ? row->name : "-");
		if (strstr(manual, line))
			right++;
		else
			printf("# not there:%s", line);
	}
	equal_u64(right, PERFEX_EVENTS, "it has the 32 numbers, with perfex's name and the event that counts it");
	event_table_free(table);
	return done();
}
