#include "backend/perf/sample/tell.h"

static bool tell_sample(struct sampling *s, struct stream *stream, struct record *r, struct error *err)
{
	struct sampled_track *track = &s->tracks[stream->event];
	if (s->bounds && !bounds_keep(s->bounds, &r->sample))
		return true;
	r->sample.event = stream->event;
	if (!(track->layout.sample_type & PERF_SAMPLE_PERIOD))
		r->sample.gap = gap_mean(track->asked.gaps, track->asked.gap);
	track->account.samples++;
	return s->sink.sample(s->sink.context, &r->sample, err);
}

static bool bound_task(struct sampling *s, const struct record *r)
{
	bool forked = r->kind == RECORD_START && r->pid != r->task.parent_pid;
	if (r->kind == RECORD_NAME && r->task.by_exec)
		bounds_exec(s->bounds, r->tid);
	else if (r->kind == RECORD_END)
		bounds_ended(s->bounds, r->tid);
	if (r->kind != RECORD_START || s->heirs == HEIRS_NONE || (forked && s->heirs == HEIRS_THREADS))
		return true;
	return bounds_started(s->bounds, r->tid, r->task.parent_tid, forked);
}

static bool tell_task(struct sampling *s, const struct record *r, struct error *err)
{
	const struct sampled_task task = {.time_ns = r->time_ns,
					  .pid = r->pid,
					  .tid = r->tid,
					  .parent_pid = r->task.parent_pid,
					  .parent_tid = r->task.parent_tid,
					  .name = r->task.name};
	const struct sampling_sink *sink = &s->sink;
	if (s->bounds && !bound_task(s, r))
		return error_no_memory(err);
	if (r->kind == RECORD_NAME)
		return sink->named(sink->context, &task, r->task.by_exec, err);
	return (r->kind == RECORD_START ? sink->started : sink->ended)(sink->context, &task, err);
}

static bool tell_switch(struct sampling *s, const struct record *r, struct error *err)
{
	const struct sampled_switch change = {.time_ns = r->time_ns,
					      .pid = r->pid,
					      .tid = r->tid,
					      .in = r->change.in,
					      .preempted = r->change.preempted};
	return !s->sink.switched || s->sink.switched(s->sink.switched_context, &change, err);
}

bool sampling_malformed(const struct perf_event_header *record, struct error *err)
{
	return error_set(err, ERROR_SYSTEM, "the kernel's record of type %u with %u bytes is not as documented",
			 record->type, record->size);
}

const struct record_layout tracking_layout = {.sample_type = RECORD_COMMON | PERF_SAMPLE_IP};

bool sampling_tell(struct sampling *s, const struct perf_event_header *record, struct error *err)
{
	struct record r;
	struct stream *stream = stream_find(s, record_id(record));
	const struct record_layout probes = {.sample_type = bounds_layout.sample_type,
					     .registers = record_registers()};
	bool tracks = stream && !stream_samples(stream);
	if (!stream)
		return sampling_malformed(record, err);
	if (!record_decode(record,
			   stream_probes(stream) ? &probes
			   : tracks              ? &tracking_layout
						 : &s->tracks[stream->event].layout,
			   &r))
		return sampling_malformed(record, err);
	switch (r.kind) {
	case RECORD_SAMPLE:
		if (stream_probes(stream))
			return bounds_hit(s->bounds, stream->event - STREAM_PROBES, &r) || error_no_memory(err);
		return tracks ? sampling_malformed(record, err) : tell_sample(s, stream, &r, err);
	case RECORD_MAPPING: return s->sink.mapping(s->sink.context, &r.mapping, err);
	case RECORD_NAME:
	case RECORD_START:
	case RECORD_END: return tell_task(s, &r, err);
	case RECORD_SWITCH: return tell_switch(s, &r, err);
	case RECORD_LOST:
		/* their event is not known: read(2) says it on kernels since 6.0 */
		if (!s->lost_counts && stream_probes(stream))
			s->lost_hits += r.lost;
		else if (!s->lost_counts && tracks)
			s->lost_facts += r.lost;
		else if (!s->lost_counts)
			s->tracks[stream->event].account.lost += r.lost;
		return true;
	case RECORD_THROTTLE:
		if (!tracks)
			s->tracks[stream->event].account.throttled++;
		return true;
	case RECORD_OTHER: return true;
	}
	return true;
}
