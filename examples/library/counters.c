/* A set of counters in C: what a piece of the program did is the difference of two readings.  ./counters [EVENTS]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tare.h>

enum { PAGE = 4096, PAGES = 100 };

static volatile char fresh[PAGES * PAGE];

int main(int n, char **arguments)
{
	const char *events = n > 1 ? arguments[1] : "page-faults:u,task-clock";
	struct tare_reading before[TARE_EVENTS_MOST], after[TARE_EVENTS_MOST], spent[TARE_EVENTS_MOST];
	struct tare_counters *counters;
	struct tare_error error;
	size_t i;
	if (!tare_open(NULL, &counters, &error) || !tare_add(counters, events, &error) ||
	    !tare_start(counters, &error) || !tare_read(counters, before, &error)) {
		fprintf(stderr, "%s\n%s\n", error.text, error.hint);
		tare_close(counters);
		return EXIT_FAILURE;
	}
	for (i = 0; i < sizeof fresh; i += PAGE)
		fresh[i] = 1;
	if (!tare_read(counters, after, &error)) {
		fprintf(stderr, "%s\n", error.text);
		tare_close(counters);
		return EXIT_FAILURE;
	}
	tare_difference(before, after, tare_event_count(counters), spent);
	for (i = 0; i < tare_event_count(counters); i++) {
		double value;
		if (tare_scaled(&spent[i], &value)) /* else there is no count, which is not 0 */
			printf("%s %.0f %s\n", tare_event_name(counters, i), value, tare_event_unit(counters, i));
		else
			printf("%s not counted\n", tare_event_name(counters, i));
	}
	tare_close(counters);
	return EXIT_SUCCESS;
}
