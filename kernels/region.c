/* Runs a kernel as a function, so that a region can count it: NAME-region is this with NAME.S (start_region.h).
 *
 *     NAME-region N            calls kernel_body once, for `tare count --region kernel_body`
 *     NAME-region N EVENT      counts EVENT of the call with libtare, and prints "count X"
 *
 * Exit status 3: the event cannot be counted; standard error says why. Another region is entered and left before: what
 * libtare does the first time is not in the count. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tare.h"

void kernel_call(uint64_t n);

static int not_counted(const char *why)
{
	fprintf(stderr, "%s\n", why);
	return 3;
}

static int count(const char *event, uint64_t n)
{
	struct tare_error error;
	struct tare_reading reading;
	struct tare_region *first, *body;
	if (!tare_regions_start(event, &error) || !(first = tare_region("first", &error)) ||
	    !(body = tare_region("body", &error)))
		return not_counted(error.text);
	tare_region_begin(first);
	tare_region_end(first);
	tare_region_begin(body);
	kernel_call(n);
	tare_region_end(body);
	if (!tare_region_read(body, TARE_THREAD, NULL, &reading, &error))
		return not_counted(error.text);
	if (reading.state == TARE_PARTLY)
		return not_counted("it was not counted all the time: others also had its counter");
	if (reading.state != TARE_COUNTED)
		return not_counted("the program has no count of it: its event had no counter; or tare's engine counts "
				   "the region from outside, and 'tare count' reports it");
	printf("count %" PRIu64 "\n", (uint64_t)reading.count);
	return 0;
}

int main(int argc, char **argv)
{
	char *end = NULL;
	errno = 0;
	unsigned long long n = argc > 1 ? strtoull(argv[1], &end, 10) : 0;
	if (argc < 2 || argc > 3 || errno || *end || n == 0) {
		fprintf(stderr, "usage: %s N [EVENT]\n", argv[0]);
		return 2;
	}
	if (argc == 3)
		return count(argv[2], n);
	kernel_call(n);
	return 0;
}
