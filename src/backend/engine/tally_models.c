/* The access stream's part of a tally: what each thread's models counted, if the stream is that of the
 * instructions counted. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/engine/tally_inside.h"

void tally_mark_models(struct tally *t, const char *format, ...)
{
	va_list args;
	if (t->models_why)
		return;
	va_start(args, format);
	vsnprintf(t->models_text, sizeof t->models_text, format, args);
	va_end(args);
	t->models_why = t->models_text;
}

bool tally_add_models(struct model_counts *to, const struct model_counts *from, size_t machines)
{
	uint64_t *sum = (uint64_t *)to;
	const uint64_t *words = (const uint64_t *)from;
	bool fits = true;
	for (size_t i = 0; i < machines * sizeof *to / sizeof *sum; i++)
		fits &= !__builtin_add_overflow(sum[i], words[i], &sum[i]);
	return fits;
}

/* What a thread's models counted is added to its row's. */
static void copy_models(struct tally *t, size_t machines, const struct seat *seat)
{
	size_t bytes = machines * sizeof *seat->row->models;
	uint64_t words, offset = seat->thread->record->models;
	uint64_t *copy;
	struct model_counts *whole;
	if (offset == 0)
		return; /* nothing came of it: the instructions will tell */
	copy = injection_copy_words(seat->thread->injection, offset, bytes / sizeof *copy, &words);
	whole = copy ? calloc(1, bytes) : NULL;
	if (whole)
		memcpy(whole, copy, words * sizeof *copy);
	if (!whole)
		tally_mark_models(t, "the record of the access stream's counts is damaged or too large");
	else if (!tally_add_models(seat->row->models, whole, machines))
		tally_mark_models(t, "a count of the access stream does not fit in 64 bits");
	free(whole);
	free(copy);
}

/* Of one row: is the stream that of the instructions counted? */
static void check_stream(struct tally *t, const struct tally_options *options, const struct tally_row *row)
{
	for (size_t m = 0; m < options->machines - options->sampled; m++)
		if (row->models[m].stream[STREAM_INSTRUCTIONS] != row->count[COUNT_INSTRUCTIONS])
			tally_mark_models(t,
					  "the access stream of thread %u of process %u has %llu instructions, "
					  "and it executed %llu",
					  row->tid, row->pid,
					  (unsigned long long)row->models[m].stream[STREAM_INSTRUCTIONS],
					  (unsigned long long)row->count[COUNT_INSTRUCTIONS]);
}

const struct tally_stream tally_streams[TALLY_STREAMS] = {
	{COUNT_MISALIGNED, STREAM_MISALIGNED},
	{COUNT_LINE_CROSSING, STREAM_LINE_CROSSING},
	{COUNT_LINE_CROSSING_READS, STREAM_LINE_CROSSING_READS},
	{COUNT_LINE_CROSSING_WRITES, STREAM_LINE_CROSSING_WRITES},
	{COUNT_PAGE_CROSSING, STREAM_PAGE_CROSSING},
	{COUNT_PENTIUM_MISALIGNED, STREAM_PENTIUM_MISALIGNED},
	{COUNT_PENTIUM_MISALIGNED_READS, STREAM_PENTIUM_MISALIGNED_READS},
};

static void count_stream(struct tally *t, uint64_t count[COUNTS], const struct model_counts *models)
{
	for (size_t i = 0; i < TALLY_STREAMS; i++)
		tally_add(t, &count[tally_streams[i].count], models[0].stream[tally_streams[i].stream], 1);
}

/* Of each region, likewise. */
static void check_regions(struct tally *t, const struct tally_options *options)
{
	struct execution_regions *r = options->regions;
	for (size_t i = 0; r && r->models && i < r->n; i++) {
		struct counted_region *region = &r->all[i];
		size_t machines = r->machines - options->sampled;
		for (size_t m = 0; m < machines && !options->still_running && !r->models_why; m++)
			if (region->models[m].stream[STREAM_INSTRUCTIONS] !=
			    region->count[COUNT_INSTRUCTIONS] + region->moved)
				r->models_why = "the access stream's instructions of a region are not those that "
						"were executed in it";
		bool right = !t->why;
		count_stream(t, region->count, region->models);
		if (region->models_alone) {
			/* what led to the end of a pass is in the stream of the region, and not in its blocks */
			if (region->models_alone[0].stream[STREAM_INSTRUCTIONS] !=
			    region->alone[COUNT_INSTRUCTIONS])
				r->alone_why = "the access stream's instructions of a region alone are not those "
					       "that were executed in it";
			count_stream(t, region->alone, region->models_alone);
		}
		tally_of_region(t, r, right);
	}
}

void tally_models(struct tally *t, const struct tally_options *options, const struct seat *seats, size_t n_seats)
{
	size_t machines = options->machines;
	if (machines == 0)
		return;
	if (t->why)
		tally_mark_models(t, "%s", t->why);
	for (size_t i = 0; i < n_seats; i++)
		copy_models(t, machines, &seats[i]);
	if (options->part && !options->still_running)
		/* the next part's threads have what their models count, and the events are made of all of it */
		return;
	for (size_t r = 0; r < t->n_rows; r++) {
		if (!options->still_running)
			check_stream(t, options, &t->rows[r]);
		count_stream(t, t->rows[r].count, t->rows[r].models);
		if (!tally_add_models(t->models, t->rows[r].models, machines))
			tally_mark_models(t, "a count of the access stream does not fit in 64 bits");
	}
	check_regions(t, options);
	for (unsigned e = COUNT_STREAM; t->models_why && e < COUNT_STREAM_END; e++)
		t->unknown[e] = t->models_why;
}
