#include "backend/perf/sample/streams.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backend/perf/counter/pmu.h"
#include "backend/perf/sample/trial.h"

/* PERF_FORMAT_LOST, Linux 6.0; not in the headers of Debian 12's kernel 5.x builds. */
enum { FORMAT_LOST = 1 << 4 };

/* Of the user's stack that is copied: perf's default; and what still fits a record of 64 KB with its callers. */
enum { STACK_BYTES = 8192, STACK_BYTES_MOST = 57344 };

/* With frame pointers: for the first caller, where code has no frame (profile/collect.c). Such code has little on
 * the stack. Where it has more, the chain stays as the kernel found it. */
enum { STACK_BYTES_FIRST = 256 };

/* A ring of each CPU: kernel.perf_event_mlock_kb's default allows 512 KB (and its page of facts). With first
 * callers a sample is four times as long. Whole stacks fill 512 KB in 60 samples: so they have what few CPUs can
 * spare, and of many each less. What the user may not lock is halved until it fits (ring_map()). */
enum {
	RING_BYTES = 512 << 10,
	RING_BYTES_FIRST = 2 << 20,
	RING_BYTES_PROBES = 8 << 20, /* 0.1 s of a loop that does nothing but come by */
	RING_BYTES_STACKS_LEAST = 4 << 20,
	RING_BYTES_STACKS_MOST = 32 << 20,
	RING_BYTES_STACKS_ALL = 128 << 20,
};

static int open_attr(struct perf_event_attr *attr, pid_t task, int cpu)
{
	attr->size = sizeof *attr;
	return (int)syscall(SYS_perf_event_open, attr, task, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_in_cgroup(struct perf_event_attr *attr, int folder, int cpu)
{
	attr->size = sizeof *attr;
	return (int)syscall(SYS_perf_event_open, attr, folder, cpu, -1,
			    PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP);
}

/* ---- attributes ---- */

static struct perf_event_attr common_attr(const struct sampling *s)
{
	return (struct perf_event_attr){
		.sample_type = RECORD_COMMON | PERF_SAMPLE_IP,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.disabled = 1,
		.inherit = s->heirs != HEIRS_NONE,
		.inherit_thread = s->heirs == HEIRS_THREADS,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			       (s->lost_counts ? FORMAT_LOST : 0),
	};
}

/* 1 as long as there are none. */
static size_t rings_of_cpu(const struct sampling *s) { return s->n_cpus ? s->n_buffers / s->n_cpus : 1; }

static struct perf_event_attr tracking_attr(const struct sampling *s)
{
	struct perf_event_attr attr = common_attr(s);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.exclude_kernel = attr.exclude_hv = 1;
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
	attr.mmap_data = s->request.data_addresses;
	attr.context_switch = s->sink.switched != NULL;
	attr.build_id = s->build_ids;
	attr.enable_on_exec = s->kind == TARGET_COMMAND;
	attr.watermark = 1;
	/* a part of each of a CPU's rings: one that is as large as a ring is never passed (perf_output_begin()) */
	attr.wakeup_watermark = (uint32_t)(RING_BYTES / 4 / rings_of_cpu(s));
	return attr;
}

static bool has_own_period(const struct sampled_track *track)
{
	return track->asked.gaps == GAPS_RATE || track->answer->availability.source == SOURCE_HW;
}

static uint64_t sample_type(const struct sampling *s, const struct sampled_track *track)
{
	uint64_t type = RECORD_COMMON | PERF_SAMPLE_IP;
	if (s->request.data_addresses)
		type |= PERF_SAMPLE_ADDR;
	if (has_own_period(track))
		type |= PERF_SAMPLE_PERIOD;
	if (s->request.stacks != STACKS_NONE)
		type |= PERF_SAMPLE_CALLCHAIN;
	/* of regions, for the stack pointer */
	if (s->request.places && s->request.places->n_inside)
		type |= PERF_SAMPLE_REGS_USER;
	if (s->request.stacks == STACKS_DWARF || (s->request.stacks == STACKS_FRAME_POINTER && record_registers()))
		type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	return type;
}

uint32_t streams_stack_bytes(enum profile_stacks stacks, uint32_t asked)
{
	uint32_t bytes = stacks == STACKS_FRAME_POINTER ? STACK_BYTES_FIRST : asked ? asked : STACK_BYTES;
	return (bytes < STACK_BYTES_MOST ? bytes : STACK_BYTES_MOST) & ~7u;
}

static bool has_turn(const struct sampling *s, const struct sampled_track *track)
{
	return !s->turns.n_sets || track->asked.set == s->turns.current;
}

static struct perf_event_attr stream_attr(const struct sampling *s, const struct sampled_track *track,
					  const struct event_encoding *encoding)
{
	struct perf_event_attr attr = common_attr(s);
	unsigned levels = track->answer->levels;
	attr.type = encoding->type;
	attr.config = encoding->config;
	attr.config1 = encoding->config1;
	attr.config2 = encoding->config2;
	attr.exclude_user = !(levels & LEVEL_USER);
	attr.exclude_kernel = !(levels & LEVEL_KERNEL);
	attr.exclude_hv = levels != (LEVEL_USER | LEVEL_KERNEL);
	attr.enable_on_exec = s->kind == TARGET_COMMAND && !s->request.disabled && !s->alike_ns &&
			      has_turn(s, track);
	attr.sample_type = track->layout.sample_type;
	attr.sample_regs_user = track->layout.registers;
	if (attr.sample_type & PERF_SAMPLE_STACK_USER)
		attr.sample_stack_user = streams_stack_bytes(s->request.stacks, s->request.stack_bytes);
	attr.exclude_callchain_user = s->request.stacks == STACKS_DWARF;
	attr.freq = track->asked.gaps == GAPS_RATE;
	if (attr.freq)
		attr.sample_freq = (uint64_t)(track->asked.rate + 0.5);
	else
		attr.sample_period = track->asked.gap;
	if (track->redrawn && !s->alike_ns)
		attr.wakeup_events = track->account.redraw;
	else
		attr.watermark = 1; /* half of the ring */
	return attr;
}

/* ---- opening ---- */

/* What this kernel has, asked of a tracking event of tare's own. */
static void find_features(struct sampling *s)
{
	struct perf_event_attr attr;
	s->build_ids = s->lost_counts = true;
	attr = tracking_attr(s);
	attr.enable_on_exec = 0;
	attr.read_format &= ~(uint64_t)FORMAT_LOST;
	int fd = open_attr(&attr, 0, -1);
	s->build_ids = fd >= 0;
	if (fd >= 0)
		close(fd);
	attr = tracking_attr(s);
	attr.enable_on_exec = 0;
	attr.build_id = 0;
	fd = open_attr(&attr, 0, -1);
	s->lost_counts = fd >= 0;
	if (fd >= 0)
		close(fd);
}

static bool cannot_open(const struct sampling *s, enum counter_action action, const struct sampled_track *track,
			pid_t task, int cpu, int os_errno, struct error *err)
{
	struct attempt attempt = {.action = action,
				  .event = track ? track->answer->label : "mappings and names",
				  .how = track ? track->answer->how : NULL,
				  .levels = track ? track->answer->levels : LEVEL_USER,
				  .type = track ? track->answer->encoding.type : PERF_TYPE_SOFTWARE,
				  .task = s->kind == TARGET_COMMAND ? COUNTER_SELF : task,
				  .cpu = s->kind == TARGET_CPUS ? cpu : COUNTER_ANY_CPU,
				  .threads_only = s->heirs == HEIRS_THREADS,
				  .of_cgroup = s->cgroup >= 0 && (track || s->own.path[0]),
				  .counters = s->targets.list.count * s->n_buffers * (s->request.n_events + 1)};
	return failure_explain(os_errno, &attempt, machine_state(s->backend), err);
}

/* Notes an opened event as a stream of a buffer; its ring is the buffer's. */
static bool add_stream(struct sampling *s, int fd, uint32_t event, size_t buffer, struct error *err)
{
	struct stream stream = {.fd = fd, .event = event, .buffer = (uint32_t)buffer};
	int owner = s->buffers[buffer].fd;
	if (event < s->request.n_events && s->tracks[event].bursts)
		s->buffers[buffer].hit = (uint32_t)s->streams.count;
	bool done = ioctl(fd, PERF_EVENT_IOC_ID, &stream.id) == 0 &&
		    (fd == owner || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, owner) == 0);
	if (!done)
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot direct an event's records to a buffer");
	else if (!vec_push(&s->streams, stream) ||
		 !hash_add(&s->ids, hash_number(HASH_BEGIN, stream.id), (uint32_t)s->streams.count - 1))
		done = error_no_memory(err);
	else
		return true;
	if (s->streams.count && s->streams.items[s->streams.count - 1].fd == fd)
		s->streams.count--;
	close(fd);
	return done;
}

/* What one ring of a CPU would have is shared by all of its rings. */
static size_t ring_bytes(const struct sampling *s)
{
	size_t rings = rings_of_cpu(s);
	if (s->request.buffer_bytes)
		return s->request.buffer_bytes;
	if (s->bounds) /* a user who may probe may lock it */
		return RING_BYTES_PROBES / rings;
	if (s->request.stacks != STACKS_DWARF)
		return (s->request.stacks == STACKS_FRAME_POINTER ? RING_BYTES_FIRST : RING_BYTES) / rings;
	size_t bytes = RING_BYTES_STACKS_ALL / s->n_cpus;
	bytes = bytes < RING_BYTES_STACKS_LEAST  ? RING_BYTES_STACKS_LEAST
		: bytes > RING_BYTES_STACKS_MOST ? RING_BYTES_STACKS_MOST
						 : bytes;
	return bytes / rings;
}

static bool map_buffer(struct sampling *s, struct sample_buffer *buffer, int fd, struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = 1;
	while (pages * 2 * page <= ring_bytes(s))
		pages *= 2;
	struct epoll_event wakes = {.events = EPOLLIN, .data.fd = fd};
	if (epoll_ctl(s->wakes, EPOLL_CTL_ADD, fd, &wakes) != 0)
		return error_set_errno(err, ERROR_SYSTEM, errno, "cannot wait for samples");
	buffer->fd = fd;
	if (ring_map(&buffer->ring, fd, pages))
		return true;
	return cannot_open(s, COUNTER_MMAP, NULL, COUNTER_SELF, COUNTER_ANY_CPU, errno, err);
}

static int open_dummy(const struct sampling *s, struct perf_event_attr *attr, pid_t task, int cpu,
		      struct error *err)
{
	int fd = s->own.path[0] ? open_in_cgroup(attr, s->cgroup, cpu) : open_attr(attr, task, cpu);
	if (fd < 0)
		cannot_open(s, COUNTER_OPEN, NULL, task, cpu, errno, err);
	return fd;
}

static bool open_tracking(struct sampling *s, pid_t task, size_t b, struct error *err)
{
	struct sample_buffer *buffer = &s->buffers[b];
	struct perf_event_attr attr = tracking_attr(s);
	int fd = open_dummy(s, &attr, task, buffer->cpu, err);
	if (fd < 0)
		return false;
	if (buffer->fd < 0 && !map_buffer(s, buffer, fd, err)) {
		buffer->fd = -1;
		close(fd);
		return false;
	}
	bool owner = buffer->fd == fd;
	if (add_stream(s, fd, STREAM_TRACKS, b, err))
		return true;
	if (owner)
		buffer->fd = -1;
	return false;
}

/* A ring that no tracking event holds, for one event's samples. */
static bool open_ring(struct sampling *s, pid_t task, struct sample_buffer *buffer, struct error *err)
{
	struct perf_event_attr attr = tracking_attr(s);
	attr.mmap = attr.mmap2 = attr.mmap_data = attr.build_id = attr.comm = attr.comm_exec = attr.task = 0;
	attr.context_switch = attr.enable_on_exec = 0;
	int fd = open_dummy(s, &attr, task, buffer->cpu, err);
	if (fd < 0)
		return false;
	if (map_buffer(s, buffer, fd, err))
		return true;
	buffer->fd = -1;
	close(fd);
	return false;
}

/* The encoding of an event that this CPU's kind of core has; NULL: none. */
static const struct event_encoding *encoding_on(const struct answer *answer, int cpu)
{
	for (size_t v = 0; v < answer->variants.n; v++) {
		const struct variant *variant = &answer->variants.items[v];
		if (!variant->cpus[0] || pmu_list_has(variant->cpus, cpu))
			return &variant->encoding;
	}
	return NULL;
}

static bool open_stream(struct sampling *s, uint32_t event, pid_t task, size_t b, struct error *err)
{
	const struct sampled_track *track = &s->tracks[event];
	int cpu = s->buffers[b].cpu;
	b += track->ring * s->n_cpus;
	/* of a clock's levels the counting backend knows nothing: the encoding is the one that was tried */
	const struct event_encoding *encoding = encoding_on(track->answer, cpu);
	if (!encoding)
		return true;
	if (s->buffers[b].fd < 0 && !open_ring(s, task, &s->buffers[b], err))
		return false;
	struct perf_event_attr attr = stream_attr(s, track, encoding);
	int fd = s->cgroup >= 0 ? open_in_cgroup(&attr, s->cgroup, cpu) : open_attr(&attr, task, cpu);
	if (fd < 0)
		return cannot_open(s, COUNTER_OPEN, track, task, cpu, errno, err);
	return add_stream(s, fd, event, b, err);
}

static bool open_streams(struct sampling *s, pid_t task, size_t b, struct error *err)
{
	bool done = true;
	for (uint32_t i = 0; done && i < s->request.n_events; i++)
		if (s->tracks[i].account.state == READING_COUNTED)
			done = open_stream(s, i, task, b, err);
	return done;
}

/* Everything of one task. *gone: it had ended. */
static bool open_task(struct sampling *s, pid_t task, size_t first, size_t last, bool *gone, struct error *err)
{
	*gone = false;
	for (size_t b = first; b < last; b++) {
		bool done = open_tracking(s, task, b, err) && open_streams(s, task, b, err);
		*gone = !done && task > 0 && err->os_errno == ESRCH;
		if (!done)
			return false;
	}
	return true;
}

static bool find_buffers(struct sampling *s, struct error *err)
{
	struct counter_targets online;
	struct target all = {.kind = TARGET_CPUS};
	const struct counter_targets *cpus = &s->targets;
	if (s->kind != TARGET_CPUS) {
		if (!counter_targets_find(&online, &all, err))
			return false;
		cpus = &online;
	}
	uint32_t rings = 0;
	for (size_t i = 0; i < s->request.n_events; i++)
		if (s->tracks[i].account.state == READING_COUNTED && s->tracks[i].bursts)
			s->tracks[i].ring = rings++;
	s->n_cpus = cpus->list.count;
	s->n_buffers = s->n_cpus * (rings ? rings : 1);
	s->buffers = calloc(s->n_buffers + 1, sizeof *s->buffers);
	for (size_t b = 0; s->buffers && b < s->n_buffers; b++)
		s->buffers[b] = (struct sample_buffer){
			.cpu = cpus->list.items[b % s->n_cpus].cpu, .fd = -1, .hit = NO_STREAM};
	if (s->kind != TARGET_CPUS)
		counter_targets_free(&online);
	return s->buffers || error_no_memory(err);
}

/* Of all that runs on a CPU: each record has the task. */
static bool open_probes(struct sampling *s, struct error *err)
{
	for (size_t b = 0; s->bounds && b < s->n_cpus; b++)
		for (uint32_t i = 0; i < s->bounds->places.n; i++) {
			int fd = bounds_open_probe(s->bounds, i, s->cgroup, s->buffers[b].cpu,
						   s->lost_counts ? FORMAT_LOST : 0);
			if (fd < 0)
				return error_set_errno(err, ERROR_SYSTEM, errno, "cannot open a probe on CPU %d",
						       s->buffers[b].cpu);
			if (!add_stream(s, fd, STREAM_PROBES + i, b, err))
				return false;
		}
	return true;
}

static bool open_tasks(struct sampling *s, struct error *err)
{
	bool gone, any = false;
	if (s->kind == TARGET_CPUS) {
		for (size_t b = 0; b < s->n_cpus; b++)
			if (!open_task(s, COUNTER_ANY_TASK, b, b + 1, &gone, err))
				return false;
		return true;
	}
	for (size_t p = 0; p < s->targets.list.count; p++) {
		if (open_task(s, s->targets.list.items[p].task, 0, s->n_cpus, &gone, err))
			any = true;
		else if (!gone)
			return false;
	}
	return any;
}

bool sample_streams_open(struct sampling *s, struct error *err)
{
	struct descriptor_limit limit;
	struct error own = {0};
	find_features(s);
	if (!s->buffers && !find_buffers(s, err))
		return false;
	if (s->wakes < 0 && (s->wakes = epoll_create1(EPOLL_CLOEXEC)) < 0)
		return error_set_errno(err, ERROR_SYSTEM, errno, "cannot wait for samples");
	for (size_t i = 0; i < s->request.n_events; i++) {
		struct sampled_track *track = &s->tracks[i];
		track->layout.sample_type = sample_type(s, track);
		track->layout.registers = track->layout.sample_type & PERF_SAMPLE_REGS_USER ? record_registers()
											    : 0;
	}
	limit_raise(&limit, s->targets.list.count * s->n_buffers * (s->request.n_events + 1) +
				    s->n_buffers * (s->bounds ? s->bounds->places.n : 0));
	bool done = open_tasks(s, &own) && open_probes(s, &own);
	limit_restore(&limit);
	if (!done && err)
		*err = own;
	return done;
}

void sample_streams_close(struct sampling *s)
{
	for (size_t i = 0; i < s->streams.count; i++)
		if (s->streams.items[i].fd >= 0)
			close(s->streams.items[i].fd);
	for (size_t b = 0; s->buffers && b < s->n_buffers; b++) {
		ring_unmap(&s->buffers[b].ring);
		if (b >= s->n_cpus && s->buffers[b].fd >= 0)
			close(s->buffers[b].fd);
	}
	vec_free(&s->streams);
	hash_free(&s->ids);
	free(s->buffers);
	if (s->wakes >= 0)
		close(s->wakes);
	s->buffers = NULL;
	s->wakes = -1;
	s->n_buffers = s->n_cpus = 0;
}

/* ---- using them ---- */

struct stream *stream_find(struct sampling *s, uint64_t id)
{
	struct hash_search search = hash_find(&s->ids, hash_number(HASH_BEGIN, id));
	for (uint32_t i; hash_next(&search, &i);)
		if (s->streams.items[i].id == id)
			return &s->streams.items[i];
	return NULL;
}

/* Its task is not asked for: which of several streams of the event it is matters to drawn gaps alone. */
struct stream *stream_of(struct sampling *s, struct sample_buffer *buffer, const struct perf_event_header *sample,
			 uint64_t *time_ns)
{
	struct stream *stream = stream_find(s, record_id(sample));
	uint64_t now_ns = record_now_ns();
	bool own = stream && (!stream_samples(stream) || !s->tracks[stream->event].bursts ||
			      &s->buffers[stream->buffer] == buffer);
	*time_ns = record_time(sample);
	if (!own && buffer->hit != NO_STREAM) {
		stream = &s->streams.items[buffer->hit];
		if (*time_ns < buffer->time_ns || *time_ns > now_ns) /* of another clock */
			*time_ns = buffer->time_ns ? buffer->time_ns : now_ns;
	}
	buffer->time_ns = *time_ns;
	return stream;
}

bool sample_streams_switch(struct sampling *s, bool tracking, bool on, struct error *err)
{
	for (size_t i = 0; i < s->streams.count; i++) {
		const struct stream *stream = &s->streams.items[i];
		if (stream->fd < 0 || stream_samples(stream) == tracking)
			continue;
		if (on && !tracking && stream_samples(stream) && !has_turn(s, &s->tracks[stream->event]))
			continue;
		if (ioctl(stream->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) != 0)
			return error_set_errno(err, ERROR_SYSTEM, errno, "cannot %s sampling",
					       on ? "start" : "stop");
		if (!on && stream_samples(stream) && has_turn(s, &s->tracks[stream->event]))
			s->tracks[stream->event].switched_off++;
	}
	return true;
}

bool sample_streams_probe(struct sampling *s, struct error *err)
{
	for (size_t i = 0; i < s->streams.count; i++)
		if (stream_probes(&s->streams.items[i]) &&
		    ioctl(s->streams.items[i].fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
			return error_set_errno(err, ERROR_SYSTEM, errno, "cannot start a probe");
	return true;
}

static void fail_account(struct sampling_account *account, const char *why)
{
	account->state = READING_FAILED;
	snprintf(account->why, sizeof account->why, "%s", why);
}

struct stream_values {
	uint64_t count, enabled_ns, running_ns, lost;
};

static bool read_values(const struct sampling *s, const struct stream *stream, struct stream_values *out)
{
	size_t wanted = (s->lost_counts ? 4 : 3) * sizeof(uint64_t);
	ssize_t got;
	*out = (struct stream_values){0};
	while ((got = read(stream->fd, out, sizeof *out)) < 0 && errno == EINTR)
		;
	return got == (ssize_t)wanted;
}

static void read_stream(struct sampling *s, const struct stream *stream)
{
	struct stream_values values;
	bool done = read_values(s, stream, &values);
	if (stream_probes(stream)) {
		/* a probe that cannot be read has lost everything */
		s->probe_hits += done ? values.count : UINT32_MAX;
		s->lost_hits += values.lost;
		return;
	}
	if (!stream_samples(stream)) {
		s->lost_facts += done ? values.lost : 0;
		s->tracked_ns += values.running_ns;
		return;
	}
	struct sampling_account *account = &s->tracks[stream->event].account;
	if (!done) {
		fail_account(account, "its counter could not be read");
		return;
	}
	account->count += values.count;
	account->enabled_ns += values.enabled_ns;
	account->running_ns += values.running_ns;
	account->lost += values.lost;
}

void sample_streams_read(struct sampling *s)
{
	for (size_t i = 0; i < s->streams.count; i++)
		if (s->streams.items[i].fd >= 0)
			read_stream(s, &s->streams.items[i]);
}

uint64_t sample_streams_time(const struct sampling *s)
{
	uint64_t time_ns = 0;
	struct stream_values values;
	for (size_t i = 0; i < s->streams.count; i++) {
		const struct stream *stream = &s->streams.items[i];
		if (stream->fd >= 0 && stream->event == STREAM_TRACKS && read_values(s, stream, &values))
			time_ns += values.running_ns;
	}
	return time_ns;
}

uint64_t sample_streams_now(const struct sampling *s, struct sampled_turn *events)
{
	struct stream_values values;
	for (size_t i = 0; i < s->request.n_events; i++) /* of streams that were closed */
		events[i] = (struct sampled_turn){.count = s->tracks[i].account.count,
						  .running_ns = s->tracks[i].account.running_ns};
	for (size_t i = 0; i < s->streams.count; i++) {
		const struct stream *stream = &s->streams.items[i];
		if (stream->fd < 0 || !stream_samples(stream) || !read_values(s, stream, &values))
			continue;
		events[stream->event].count += values.count;
		events[stream->event].running_ns += values.running_ns;
	}
	return sample_streams_time(s);
}

bool sample_streams_again(struct sampling *s, struct error *err)
{
	struct error own = {0};
	struct descriptor_limit limit;
	bool done = true;
	limit_raise(&limit, s->streams.count + s->tasks.count * s->n_buffers * s->request.n_events);
	for (size_t t = 0; done && t < s->tasks.count; t++)
		for (size_t b = 0; done && b < s->n_cpus; b++)
			done = open_streams(s, s->tasks.items[t], b, &own) || own.os_errno == ESRCH;
	limit_restore(&limit);
	if (!done && err)
		*err = own;
	return done;
}

void sample_streams_retire(struct sampling *s, size_t first, size_t last)
{
	for (size_t i = first; i < last; i++) {
		struct stream *stream = &s->streams.items[i];
		if (stream->fd < 0 || !stream_samples(stream))
			continue;
		ioctl(stream->fd, PERF_EVENT_IOC_DISABLE, 0);
		read_stream(s, stream);
		close(stream->fd);
		stream->fd = -1;
	}
}

/* ---- gaps ---- */

/* How many samples a clock of one level would have had of all levels: its count is of these. */
static uint64_t ticks_of(const struct stream *stream, uint64_t counted)
{
	return counted /
	       (stream->course.gap < SAMPLING_CLOCK_LEAST_NS ? SAMPLING_CLOCK_LEAST_NS : stream->course.gap);
}

static void end_gap(const struct sampled_track *track, struct stream *stream, uint64_t count)
{
	uint64_t counted = count - stream->counted;
	uint64_t samples = track->account.has_count ? stream->since : ticks_of(stream, counted);
	gap_end(&stream->course, &track->plan, counted, samples, !stream->disturbed);
}

/* Did it run while its gap was set, between two readings? */
static bool ran_between(const struct stream_values *before, const struct stream_values *after, uint64_t passed_ns)
{
	return after->running_ns - before->running_ns > passed_ns / 2;
}

void stream_redraw(struct sampling *s, struct stream *stream)
{
	struct sampled_track *track = &s->tracks[stream->event];
	struct stream_values before, after;
	if (stream->fd < 0 || !read_values(s, stream, &before))
		return;
	uint64_t begin = record_now_ns();
	if (stream->course.gap == 0)
		gap_begin(&stream->course, &track->plan);
	else
		end_gap(track, stream, before.count);
	uint64_t gap = gap_next(&stream->course, &track->plan, &s->random);
	stream->counted = before.count;
	stream->since = 0;
	stream->disturbed = false;
	/* what it refuses (a task that has ended) stays at the gap it has */
	if (ioctl(stream->fd, PERF_EVENT_IOC_PERIOD, &gap) != 0)
		return;
	track->account.redraws++;
	if (track->bursts && read_values(s, stream, &after) &&
	    ran_between(&before, &after, record_now_ns() - begin))
		stream->restart_ns = begin;
}

bool stream_restarts(struct stream *stream, uint64_t time_ns)
{
	bool restarts = stream->restart_ns && time_ns >= stream->restart_ns;
	if (restarts)
		stream->restart_ns = 0;
	return restarts;
}

void stream_end_course(struct sampling *s, struct stream *stream)
{
	struct sampled_track *track = &s->tracks[stream->event];
	double since = stream->since;
	track->run_samples += stream->course.samples + since;
	track->run_squares += stream->course.squares + since * since;
}
