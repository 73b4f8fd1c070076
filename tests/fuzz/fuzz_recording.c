/* Recordings of any content: no crash, an error always has its place, and what is read answers every question
 * about its events consistently.
 *
 *     clang -g -O1 -D_GNU_SOURCE -Isrc -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_recording.c \
 *         src/backend/replay/{locate,read,read_corruptions,read_values,recording}.c src/base/{arena,error,str}.c -ljansson */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/replay/recording.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void check_moment(const struct recording *r, const struct recorded_moment *m, size_t rows)
{
	for (size_t i = 0; i < m->n_readings; i++) {
		const struct recorded_reading *reading = &m->readings[i];
		check(reading->event < r->n_events, "a reading of no event");
		check(reading->n_rows == (rows ? rows : 1), "a reading without its rows");
		for (size_t row = 0; row < reading->n_rows; row++) {
			const struct reading *one = &reading->rows[row];
			check((one->state == READING_COUNTED) == (one->source != SOURCE_NONE),
			      "a count without a source, or a source without a count");
			check(one->state == READING_COUNTED || (one->count_raw == 0 && one->running_ns == 0),
			      "a count that was not counted");
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recording r;
	struct error err = {0};
	if (!recording_parse((const char *)data, size, "f", &r, &err)) {
		unsigned line = 0, column = 0;
		int used = 0;
		check(sscanf(err.text, "f:%u:%u: %n", &line, &column, &used) == 2 && used > 0 && err.text[used],
		      "an error without a place or a reason");
		check(line >= 1 && column >= 1, "a place before the beginning");
		return 0;
	}
	size_t *all = malloc((r.n_events + 1) * sizeof *all), fit = 0;
	check(all != NULL, "no memory");
	for (size_t i = 0; i < r.n_events; i++) {
		const struct recorded_event *e = &r.events[i];
		check((e->availability.state == READING_COUNTED) == (e->availability.source != SOURCE_NONE),
		      "an event that counts without a source");
		check((e->availability.state == READING_COUNTED) == (e->availability.why[0] == '\0'),
		      "an event that does not count without a reason");
		/* room only shrinks: an event that does not fit alone fits in no company */
		if (recording_fits(&r, &i, 1))
			all[fit++] = i;
	}
	if (fit < r.n_events)
		check(r.limited && r.counters < r.n_events + RECORDING_COUNTERS_MOST, "no room without a limit");
	(void)recording_fits(&r, all, fit);
	for (size_t i = 0; i < r.n_executions; i++) {
		const struct recorded_execution *x = &r.executions[i];
		check_moment(&r, &x->end, x->n_rows);
		for (size_t j = 0; j < x->n_samples; j++)
			check_moment(&r, &x->samples[j], 0);
		check((x->fails_at == FAILS_NEVER) == (x->failure.code == ERROR_NONE), "a failure without a code");
	}
	free(all);
	recording_free(&r);
	return 0;
}
