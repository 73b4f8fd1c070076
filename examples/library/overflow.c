/* A handler of overflows in C: called each so many page faults, with the place that was interrupted.  ./overflow
 * [PERIOD] */
#include <stdio.h>
#include <stdlib.h>
#include <tare.h>

enum { PAGE = 4096, PAGES = 100 };

static volatile char fresh[PAGES * PAGE];

struct places {
	const void *place[PAGES];
	size_t n;
};

/* In a signal handler: it notes, and does nothing else. */
static void note(const struct tare_overflow *overflow, void *data)
{
	struct places *places = data;
	if (places->n < PAGES)
		places->place[places->n++] = overflow->address;
}

int main(int n, char **arguments)
{
	uint64_t period = n > 1 ? strtoull(arguments[1], NULL, 10) : 10;
	static struct places places;
	struct tare_counters *counters;
	struct tare_error error;
	size_t i, same = 0;
	if (!tare_open(NULL, &counters, &error) || !tare_add(counters, "page-faults:u", &error) ||
	    !tare_overflow(counters, 0, period, note, &places, &error) || !tare_start(counters, &error)) {
		fprintf(stderr, "%s\n%s\n", error.text, error.hint);
		tare_close(counters);
		return EXIT_FAILURE;
	}
	for (i = 0; i < sizeof fresh; i += PAGE)
		fresh[i] = 1;
	tare_close(counters);
	/* the loop's one instruction that writes */
	for (i = 0; i < places.n; i++)
		same += places.place[i] == places.place[places.n - 1];
	printf("overflows %zu\nat one place %zu\n", places.n, same);
	return EXIT_SUCCESS;
}
