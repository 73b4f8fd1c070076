#include "backend/perf/sample/round.h"

#include <stdlib.h>
#include <time.h>

#include "backend/perf/sample/births.h"
#include "backend/perf/sample/existing.h"
#include "backend/perf/sample/tell.h"

/* False: the sample is of the setting of a gap, and is not to be kept (streams.h). */
static bool note_sample(struct sampling *s, struct stream *stream, uint64_t time_ns)
{
	if ((s->alike && !s->turns.n_sets) || !stream_samples(stream))
		return true;
	if (stream_restarts(stream, time_ns))
		return false;
	stream->since++;
	if (s->turns.n_sets)
		s->turns.samples[stream->event]++;
	return true;
}

static void note_disturbance(struct sampling *s, const struct perf_event_header *record)
{
	struct stream *stream = s->alike ? NULL : stream_find(s, record_id(record));
	if (stream)
		stream->disturbed = true;
}

static bool is_disturbance(uint32_t type)
{
	return type == PERF_RECORD_LOST || type == PERF_RECORD_LOST_SAMPLES || type == PERF_RECORD_THROTTLE ||
	       type == PERF_RECORD_UNTHROTTLE;
}

/* As soon as samples arrive, and not when they are given out, a round later. */
static void redraw(struct sampling *s)
{
	for (size_t i = 0; !s->alike && i < s->streams.count; i++) {
		struct stream *stream = &s->streams.items[i];
		const struct sampled_track *track = !stream_samples(stream) ? NULL : &s->tracks[stream->event];
		if (track && track->redrawn && stream->since >= track->account.redraw)
			stream_redraw(s, stream);
	}
}

/* Which tasks there are, as long as it matters. Records of two CPUs may come out of order: then a task that has
 * ended stays in the list, and opening its events says so. */
static bool note_task(struct sampling *s, const struct perf_event_header *record, struct error *err)
{
	struct record r;
	if (s->alike || s->heirs == HEIRS_NONE)
		return true;
	if (!record_decode(record, &tracking_layout, &r))
		return sampling_malformed(record, err);
	if (r.kind == RECORD_END) {
		for (size_t i = 0; i < s->tasks.count; i++)
			if (s->tasks.items[i] == (pid_t)r.tid)
				s->tasks.items[i--] = s->tasks.items[--s->tasks.count];
		return true;
	}
	/* a process of its own, while threads alone are followed */
	if (s->heirs == HEIRS_THREADS && r.pid != r.task.parent_pid)
		return true;
	s->born++;
	return vec_push(&s->tasks, (pid_t)r.tid) || error_no_memory(err);
}

static bool empty_ring(struct sampling *s, struct sample_buffer *buffer, struct error *err)
{
	const struct perf_event_header *record;
	bool done = true;
	ring_begin(&buffer->ring);
	while (done && (record = ring_next(&buffer->ring))) {
		uint64_t time_ns = record_time(record);
		struct stream *stream = record->type == PERF_RECORD_SAMPLE ? stream_of(s, buffer, record, &time_ns)
									   : NULL;
		if (stream && !note_sample(s, stream, time_ns))
			continue;
		if (is_disturbance(record->type))
			note_disturbance(s, record);
		struct perf_event_header *kept = window_add(&s->window, time_ns, record);
		done = kept || error_no_memory(err);
		if (kept && stream)
			record_rename(kept, stream->id, time_ns);
		if (done && (record->type == PERF_RECORD_FORK || record->type == PERF_RECORD_EXIT))
			done = note_task(s, record, err);
	}
	ring_end(&buffer->ring);
	if (done && buffer->ring.broken)
		return error_set(err, ERROR_SYSTEM,
				 "the ring buffer of CPU %d is corrupt: cannot read its samples", buffer->cpu);
	return done;
}

bool sampling_empty_rings(struct sampling *s, struct error *err)
{
	bool done = true;
	for (size_t b = 0; done && b < s->n_buffers; b++)
		if (s->buffers[b].ring.page)
			done = empty_ring(s, &s->buffers[b], err);
	return done;
}

/* Waits until each birth that was under way is told of, and no longer than a second. False: an error. */
static bool await_births(struct sampling *s, struct error *err)
{
	enum { MOMENTS_MOST = 500 };
	static const struct timespec moment = {.tv_nsec = 2000000};
	const uint64_t born = s->born;
	struct births births;
	bool done = births_note(&births, s->tasks.items, s->tasks.count) || error_no_memory(err);
	for (int i = 0; done && i < MOMENTS_MOST; i++) {
		bool over = births_over(&births); /* before their records are read */
		done = sampling_empty_rings(s, err);
		if (over || s->born != born)
			break;
		nanosleep(&moment, NULL);
	}
	births_free(&births);
	return done;
}

/* A task was born that has the gap of the moment for good: from now on all have the mean one (streams.h). One that
 * is born while the events are opened may have them or not, and would have no samples: so it is done again until
 * none is (births.h). A program that starts tasks all the time has them from these events nearly always: after a
 * few times it is left at that. */
static bool make_alike(struct sampling *s, struct error *err)
{
	enum { ATTEMPTS = 50, LATE_MOST = 10 };
	s->alike_ns = record_now_ns();
	for (int attempt = 0, late = 0; !s->alike && attempt < ATTEMPTS; attempt++) {
		uint64_t born = s->born;
		size_t first = s->streams.count;
		if (!sample_streams_again(s, err) || !sampling_empty_rings(s, err))
			return false;
		if (s->born != born) {
			sample_streams_retire(s, first, s->streams.count);
			continue;
		}
		sample_streams_retire(s, 0, first);
		if (s->on && !sample_streams_switch(s, false, true, err))
			return false;
		if (!await_births(s, err))
			return false;
		s->alike = s->born == born || late++ == LATE_MOST;
	}
	if (s->alike)
		return true;
	error_set(err, ERROR_BUSY, "the program starts tasks faster than events can be opened for them");
	return error_hint(err, "use --gaps fixed");
}

static bool change_turns(struct sampling *s, struct error *err)
{
	if (!sampling_turns_over(s))
		return true;
	if (!sample_streams_switch(s, false, false, err) || !sampling_empty_rings(s, err) ||
	    !sampling_turns_end(s, err))
		return false;
	sampling_turns_next(s);
	sampling_turns_begin(s);
	return sample_streams_switch(s, false, true, err);
}

bool sampling_round(struct sampling *s, bool all, struct error *err)
{
	uint64_t before = s->round_ns, begin = record_now_ns();
	bool done = !s->failed;
	if (!done)
		return error_set(err, ERROR_SYSTEM, "sampling failed earlier");
	if (s->existing) {
		done = existing_tell(s->existing, &s->sink, err);
		existing_free(s->existing);
		free(s->existing);
		s->existing = NULL;
	}
	done = done && sampling_empty_rings(s, err);
	if (done && s->born && !s->alike && !all)
		done = make_alike(s, err);
	done = done && (all || change_turns(s, err));
	redraw(s);
	window_sort(&s->window);
	for (const struct perf_event_header *record;
	     done && (record = window_next(&s->window, all ? UINT64_MAX : before));)
		done = sampling_tell(s, record, err);
	window_drop(&s->window);
	s->round_ns = begin;
	s->failed = !done;
	return done;
}
