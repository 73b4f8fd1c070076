#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "store/profile/profile_file.h"
#include "store/profile/record.h"

struct profile_reader {
	const char *name;
	const struct profile_read_options *options;
	const uint8_t *at, *end; /* of the block */
	struct profile_builder builder;
	VEC(uint16_t) depths; /* of the nodes */
	VEC(struct profile_moment) moments;
	VEC(struct profile_mark) marks;
	uint64_t last_mark;
	uint64_t last_offset, last_time, first_time;
	uint32_t last_task, last_cpu;
	bool has_header, has_end, has_first;
	const char *wrong; /* what is, a constant; NULL */
	bool no_memory;
};

/* ---- records ---- */

static bool wrong(struct profile_reader *r, const char *what)
{
	r->wrong = what;
	return false;
}

static bool get(struct profile_reader *r, uint64_t *out)
{
	*out = 0;
	for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
		uint8_t byte = *r->at++;
		if (shift == 63 && byte > 1)
			break;
		*out |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return wrong(r, "a number is cut or too large");
}

/* Below `below`, which is at most 2^32. */
static bool get_below(struct profile_reader *r, uint64_t below, uint32_t *out)
{
	uint64_t number;
	if (!get(r, &number))
		return false;
	*out = (uint32_t)number;
	return number < below || wrong(r, "a number is out of range");
}

static bool get_signed(struct profile_reader *r, uint64_t *out)
{
	uint64_t number;
	if (!get(r, &number))
		return false;
	*out = number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
	return true;
}

static bool get_bytes(struct profile_reader *r, const uint8_t **bytes, size_t *n)
{
	uint64_t length;
	if (!get(r, &length))
		return false;
	if (length > (uint64_t)(r->end - r->at))
		return wrong(r, "a text is cut");
	*bytes = r->at;
	*n = (size_t)length;
	r->at += length;
	return true;
}

/* A copy in the profile's arena. */
static bool get_text(struct profile_reader *r, const char **out)
{
	const uint8_t *bytes;
	size_t n;
	if (!get_bytes(r, &bytes, &n))
		return false;
	if (memchr(bytes, 0, n))
		return wrong(r, "a text has a zero in it");
	*out = arena_strndup(&r->builder.out->arena, (const char *)bytes, n);
	r->no_memory |= !*out;
	return *out != NULL;
}

/* "" becomes NULL. */
static bool get_optional(struct profile_reader *r, const char **out)
{
	if (!get_text(r, out))
		return false;
	if (!**out)
		*out = NULL;
	return true;
}

/* ---- the header ---- */

static bool get_event(struct profile_reader *r, struct profile_event *e)
{
	uint32_t source, gaps;
	uint64_t rate;
	if (!get_text(r, &e->label) || !get_text(r, &e->unit) || !get_optional(r, &e->machine) ||
	    !get_below(r, SOURCE_SAMPLED + 1, &source) || !get_below(r, GAPS_RATE + 1, &gaps) ||
	    !get(r, &e->gap) || !get(r, &rate) || !get_below(r, (uint64_t)1 << 32, &e->redraw) ||
	    !get(r, &e->seed))
		return false;
	e->source = (enum source)source;
	e->gaps = (enum profile_gaps)gaps;
	e->rate = (double)rate / 1e6;
	return true;
}

static bool get_command(struct profile_reader *r)
{
	struct profile *p = r->builder.out;
	uint32_t words;
	if (!get_below(r, (uint64_t)(r->end - r->at) + 1, &words) || words == 0)
		return !r->wrong;
	char const **command = arena_alloc(&p->arena, words * sizeof *command);
	p->command = command;
	r->no_memory |= !command;
	for (uint32_t i = 0; command && i + 1 < words; i++)
		if (!get_text(r, &command[i]))
			return false;
	return command != NULL;
}

static bool get_header(struct profile_reader *r)
{
	struct profile *p = r->builder.out;
	uint32_t cpus, stacks, events;
	if (r->has_header)
		return wrong(r, "there is a second header");
	if (!get_text(r, &p->tare_version) || !get_text(r, &p->machine.cpu) || !get_text(r, &p->machine.kernel) ||
	    !get_text(r, &p->machine.hostname) || !get_text(r, &p->machine.architecture) ||
	    !get_below(r, INT32_MAX, &cpus) || !get_text(r, &p->machine.pmu) ||
	    !get_text(r, &p->machine.hypervisor) || !get(r, &p->started_unix) ||
	    !get_below(r, STACKS_EXACT + 1, &stacks) || !get_optional(r, &p->target) || !get_command(r) ||
	    !get_below(r, (uint64_t)(r->end - r->at) + 1, &events))
		return false;
	p->machine.cpus = (int)cpus;
	p->stacks = (enum profile_stacks)stacks;
	if (!(p->events = arena_alloc(&p->arena, (events + (size_t)1) * sizeof *p->events))) {
		r->no_memory = true;
		return false;
	}
	for (uint32_t i = 0; i < events; i++)
		if (!get_event(r, &p->events[i]))
			return false;
	p->n_events = events;
	return r->has_header = true;
}

/* ---- places ---- */

static bool kept(struct profile_reader *r, bool done)
{
	r->no_memory |= !done;
	return done;
}

static bool get_module(struct profile_reader *r)
{
	struct profile *p = r->builder.out;
	struct profile_module m = {0};
	uint32_t kind;
	const uint8_t *id;
	size_t bytes, before = p->n_modules;
	if (!get_below(r, MODULE_UNKNOWN + 1, &kind) || !get_below(r, (uint64_t)1 << 32, &m.pid) ||
	    !get_bytes(r, &id, &bytes) || !get_text(r, &m.path))
		return false;
	if (bytes > sizeof m.build_id)
		return wrong(r, "a build ID is too long");
	m.kind = (enum profile_module_kind)kind;
	m.build_id_bytes = (uint8_t)bytes;
	memcpy(m.build_id, id, bytes);
	uint32_t index = profile_builder_module(&r->builder, &m);
	return kept(r, index != PROFILE_NO_INDEX) && (index == before || wrong(r, "a module is there twice"));
}

static bool get_task(struct profile_reader *r)
{
	uint32_t pid, tid;
	size_t before = r->builder.out->n_tasks;
	if (!get_below(r, (uint64_t)1 << 32, &pid) || !get_below(r, (uint64_t)1 << 32, &tid))
		return false;
	uint32_t index = profile_builder_task(&r->builder, pid, tid);
	return kept(r, index != PROFILE_NO_INDEX) && (index == before || wrong(r, "a task is there twice"));
}

static bool get_name(struct profile_reader *r)
{
	uint32_t task;
	const char *name;
	if (!get_below(r, r->builder.out->n_tasks, &task) || !get_text(r, &name))
		return false;
	r->builder.out->tasks[task].name = name;
	return true;
}

static bool get_node(struct profile_reader *r)
{
	struct profile *p = r->builder.out;
	size_t own = p->n_nodes;
	uint32_t up, module;
	uint64_t offset;
	if (!get_below(r, own + 1, &up) || !get_below(r, p->n_modules, &module) || !get_signed(r, &offset))
		return false;
	if (up == 0)
		return wrong(r, "a node is its own parent");
	uint32_t parent = (uint32_t)(own - up);
	uint16_t depth = (uint16_t)(r->depths.items[parent] + 1);
	if (depth > PROFILE_DEPTH_MOST)
		return wrong(r, "a stack is too deep");
	r->last_offset += offset;
	uint32_t index = profile_builder_node(&r->builder, parent, module, r->last_offset);
	return kept(r, index != PROFILE_NO_INDEX && vec_push(&r->depths, depth)) &&
	       (index == own || wrong(r, "a node is there twice"));
}

/* ---- counts ---- */

static bool is_part(const struct profile_read_options *options)
{
	return options && (options->from_ns || options->to_ns || options->after_ns || options->before_ns);
}

static bool is_asked_for(const struct profile_reader *r, uint64_t time)
{
	uint64_t since = time - r->first_time;
	if (!r->options)
		return true;
	return time >= r->first_time && since >= r->options->from_ns &&
	       (!r->options->to_ns || since < r->options->to_ns) && time >= r->options->after_ns &&
	       (!r->options->before_ns || time < r->options->before_ns);
}

static bool get_sample(struct profile_reader *r, bool elsewhere)
{
	struct profile *p = r->builder.out;
	uint64_t passed, gap;
	uint32_t node, event;
	if (!get_signed(r, &passed) || !get_below(r, p->n_nodes, &node) || !get_below(r, p->n_events, &event) ||
	    !get(r, &gap))
		return false;
	if (elsewhere &&
	    (!get_below(r, p->n_tasks, &r->last_task) || !get_below(r, (uint64_t)1 << 32, &r->last_cpu)))
		return false;
	struct profile_event *e = &p->events[event];
	if (node == 0 || r->last_task >= p->n_tasks || e->gaps == GAPS_NONE)
		return wrong(r, "a sample has no place, no task or no gap");
	r->last_time += passed;
	if (!r->has_first) {
		r->first_time = r->last_time;
		r->has_first = true;
	}
	if (!is_asked_for(r, r->last_time))
		return true;
	e->samples++;
	const struct profile_moment moment = {
		.time_ns = r->last_time, .node = node, .task = r->last_task, .event = event};
	if (r->options && r->options->moments && !kept(r, vec_push(&r->moments, moment)))
		return false;
	return kept(r, profile_builder_add(&r->builder, node, r->last_task, event, 1));
}

static bool get_cell(struct profile_reader *r)
{
	struct profile *p = r->builder.out;
	uint32_t node, task, event;
	uint64_t count;
	size_t before = p->n_cells;
	if (!get_below(r, p->n_nodes, &node) || !get_below(r, p->n_tasks, &task) ||
	    !get_below(r, p->n_events, &event) || !get(r, &count))
		return false;
	if (node == 0 || count == 0 || p->events[event].gaps != GAPS_NONE)
		return wrong(r, "a count has no place, or is of a sampled event");
	return kept(r, profile_builder_add(&r->builder, node, task, event, count)) &&
	       (p->n_cells == before + 1 || wrong(r, "a count is there twice"));
}

static bool get_arc(struct profile_reader *r)
{
	struct profile *p = r->builder.out;
	struct profile_arc arc = {0};
	if (!get_below(r, p->n_modules + 1, &arc.caller_module) || !get(r, &arc.caller_offset) ||
	    !get_below(r, p->n_modules, &arc.callee_module) || !get(r, &arc.callee_offset) || !get(r, &arc.calls))
		return false;
	arc.caller_module = arc.caller_module ? arc.caller_module - 1 : PROFILE_NO_CALLER;
	if (!kept(r, (arc.inclusive = arena_alloc(&p->arena, (p->n_events + 1) * sizeof *arc.inclusive)) != NULL))
		return false;
	for (size_t i = 0; i < p->n_events; i++)
		if (!get(r, &arc.inclusive[i]))
			return false;
	if (!kept(r, vec_grow((void **)&p->arcs, &r->builder.arc_capacity, p->n_arcs, sizeof arc)))
		return false;
	p->arcs[p->n_arcs++] = arc;
	return true;
}

static bool get_account(struct profile_reader *r)
{
	struct profile *p = r->builder.out;
	uint32_t event, redraw;
	uint64_t samples, lost, throttled, total;
	const char *why;
	if (!get_below(r, p->n_events, &event) || !get_optional(r, &why) || !get(r, &samples) || !get(r, &lost) ||
	    !get(r, &throttled) || !get_below(r, (uint64_t)1 << 32, &redraw) || !get(r, &total))
		return false;
	struct profile_event *e = &p->events[event];
	bool all = !is_part(r->options);
	e->why = why;
	e->lost = lost;
	e->throttled = throttled;
	e->redraw = redraw;
	e->has_total = total && all;
	e->total = e->has_total ? total - 1 : 0;
	if (all && e->gaps != GAPS_NONE && samples != e->samples)
		return wrong(r, "it has not as many samples as it says");
	return true;
}

static bool get_cost(struct profile_reader *r)
{
	uint32_t event;
	uint64_t ps;
	if (!get_below(r, r->builder.out->n_events, &event) || !get(r, &ps))
		return false;
	r->builder.out->events[event].cost_ns = (double)ps / 1000;
	return true;
}

static bool get_clock(struct profile_reader *r)
{
	uint64_t khz;
	if (!get(r, &khz))
		return false;
	r->builder.out->clock_mhz = (double)khz / 1000;
	return true;
}

static bool get_turns(struct profile_reader *r)
{
	uint32_t event, part, scaled;
	uint64_t samples, value = 0, low = 0, high = 0;
	bool all = !is_part(r->options);
	if (!get_below(r, r->builder.out->n_events, &event) || !get_below(r, 1000000001, &part) ||
	    !get(r, &samples) || !get_below(r, 2, &scaled) ||
	    (scaled && (!get(r, &value) || !get(r, &low) || !get(r, &high))))
		return false;
	struct profile_event *e = &r->builder.out->events[event];
	if (part == 0 || e->gaps == GAPS_NONE || low > value || (high && high - 1 < value))
		return wrong(r, "an event's turns are impossible");
	e->part = part / 1e9;
	e->turn_samples = (double)samples / 1e9;
	e->has_scaled = scaled && all;
	e->scaled = (double)value;
	e->scaled_low = (double)low;
	e->scaled_high = high ? (double)(high - 1) : INFINITY;
	return true;
}

static bool get_mark(struct profile_reader *r)
{
	struct profile_mark mark;
	uint64_t passed;
	uint32_t end;
	if (!get_signed(r, &passed) || !get_below(r, (uint64_t)1 << 32, &mark.thread) || !get_below(r, 2, &end) ||
	    !get_text(r, &mark.region))
		return false;
	mark.time_ns = r->last_mark + passed;
	if (mark.time_ns < r->last_mark)
		return wrong(r, "its marks are not in order of time");
	mark.end = end;
	r->last_mark = mark.time_ns;
	return kept(r, vec_push(&r->marks, mark));
}

static bool get_note(struct profile_reader *r)
{
	const char *note;
	return get_text(r, &note) && kept(r, profile_builder_note(&r->builder, note));
}

static bool get_end(struct profile_reader *r)
{
	struct profile *p = r->builder.out;
	uint32_t status;
	if (!get(r, &p->first_ns) || !get(r, &p->last_ns) || !get(r, &p->user_ns) || !get(r, &p->system_ns) ||
	    !get_below(r, (uint64_t)1 << 32, &status))
		return false;
	p->wait_status = (int)status;
	return r->has_end = true;
}

static bool get_record(struct profile_reader *r)
{
	uint8_t kind = *r->at++;
	if (!r->has_header && kind != RECORD_HEADER)
		return wrong(r, "it does not begin with a header");
	if (r->has_end)
		return wrong(r, "it goes on behind its end");
	switch (kind) {
	case RECORD_HEADER: return get_header(r);
	case RECORD_MODULE: return get_module(r);
	case RECORD_TASK: return get_task(r);
	case RECORD_NAME: return get_name(r);
	case RECORD_NODE: return get_node(r);
	case RECORD_SAMPLE: return get_sample(r, false);
	case RECORD_SAMPLE_ELSEWHERE: return get_sample(r, true);
	case RECORD_CELL: return get_cell(r);
	case RECORD_ARC: return get_arc(r);
	case RECORD_ACCOUNT: return get_account(r);
	case RECORD_NOTE: return get_note(r);
	case RECORD_COST: return get_cost(r);
	case RECORD_TURNS: return get_turns(r);
	case RECORD_MARK: return get_mark(r);
	case RECORD_CLOCK: return get_clock(r);
	case RECORD_END: return get_end(r);
	default: return wrong(r, "it has a record that this tare does not know: a newer one may have made it");
	}
}

/* ---- blocks ---- */

static uint32_t little(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Their vector's memory is freed with the reader; the profile's arena has a copy. */
static bool take_moments(struct profile_reader *r)
{
	struct profile *p = r->builder.out;
	size_t bytes = r->moments.count * sizeof *p->moments;
	if (!bytes)
		return true;
	if (!(p->moments = arena_alloc(&p->arena, bytes)))
		return false;
	memcpy(p->moments, r->moments.items, bytes);
	p->n_moments = r->moments.count;
	return true;
}

static bool take_marks(const struct profile_reader *r)
{
	struct profile *p = r->builder.out;
	size_t bytes = r->marks.count * sizeof *p->marks;
	if (!bytes)
		return true;
	if (!(p->marks = arena_alloc(&p->arena, bytes)))
		return false;
	memcpy(p->marks, r->marks.items, bytes);
	p->n_marks = r->marks.count;
	return true;
}

/* No block is as long as the next run's magic says, read as a length. */
size_t profile_file_run(const uint8_t *bytes, size_t length)
{
	size_t at = PROFILE_FILE_HEAD;
	while (at < length && length - at >= PROFILE_BLOCK_HEAD) {
		if (memcmp(bytes + at, PROFILE_FILE_MAGIC, 8) == 0)
			return at;
		uint32_t n = little(bytes + at);
		if (n > length - at - PROFILE_BLOCK_HEAD)
			break;
		at += PROFILE_BLOCK_HEAD + (size_t)n;
	}
	return length;
}

/* Until the end, or what is wrong. */
static void get_blocks(struct profile_reader *r, const uint8_t *bytes, size_t length, bool checksums)
{
	for (size_t at = PROFILE_FILE_HEAD; at < length && !r->wrong && !r->no_memory;) {
		uint32_t n = length - at < PROFILE_BLOCK_HEAD ? 0 : little(bytes + at);
		if (length - at < PROFILE_BLOCK_HEAD || n > length - at - PROFILE_BLOCK_HEAD) {
			wrong(r, "its end is missing");
			return;
		}
		r->at = bytes + at + PROFILE_BLOCK_HEAD;
		r->end = r->at + n;
		if (checksums && profile_checksum(r->at, n) != little(bytes + at + 4)) {
			wrong(r, "a checksum is wrong");
			return;
		}
		while (r->at < r->end && get_record(r))
			;
		at += PROFILE_BLOCK_HEAD + (size_t)n;
	}
	if (!r->wrong && !r->no_memory && !r->has_end)
		wrong(r, "its end is missing");
}

static bool note_what_is_missing(struct profile_reader *r)
{
	struct profile *p = r->builder.out;
	uint64_t samples = 0;
	for (size_t i = 0; i < p->n_events; i++)
		samples += p->events[i].samples;
	const char *note = arena_printf(&p->arena,
					"this profile is incomplete: %s. It has what could be read, %llu sample%s "
					"and %zu count%s; totals and lost samples are not known",
					r->wrong, (unsigned long long)samples, samples == 1 ? "" : "s", p->n_cells,
					p->n_cells == 1 ? "" : "s");
	return note && profile_builder_note(&r->builder, note);
}

/* Counted events have all of their counts or none. */
static bool drop_partial_counts(struct profile_reader *r)
{
	struct profile *p = r->builder.out;
	size_t kept_cells = 0;
	for (size_t i = 0; i < p->n_cells; i++)
		if (p->events[p->cells[i].event].gaps != GAPS_NONE)
			p->cells[kept_cells++] = p->cells[i];
	p->n_cells = kept_cells;
	p->n_arcs = 0;
	for (size_t i = 0; i < p->n_events; i++)
		if (p->events[i].gaps == GAPS_NONE && !p->events[i].why)
			p->events[i].why = "the file is incomplete: not all of its counts are there";
	return note_what_is_missing(r);
}

/* Of a complete file: each counted event's cells are its total, as its header says. */
static bool check_totals(struct profile_reader *r)
{
	struct profile *p = r->builder.out;
	uint64_t *sums = calloc(p->n_events + 1, sizeof *sums);
	bool right = sums != NULL;
	for (size_t i = 0; sums && i < p->n_cells; i++)
		if (__builtin_add_overflow(sums[p->cells[i].event], p->cells[i].count, &sums[p->cells[i].event]))
			right = wrong(r, "its counts do not fit in 64 bits");
	for (size_t i = 0; right && i < p->n_events; i++) {
		const struct profile_event *e = &p->events[i];
		if (e->gaps == GAPS_NONE && !e->why && (!e->has_total || sums[i] != e->total))
			right = wrong(r, "its counts are not as many as it says");
	}
	free(sums);
	r->no_memory |= !sums;
	return right;
}

static bool has_no_times(const struct profile_reader *r, struct error *err)
{
	const struct profile *p = r->builder.out;
	for (size_t i = 0; i < p->n_events; i++)
		if (p->events[i].gaps == GAPS_NONE) {
			error_set(err, ERROR_USAGE,
				  "'%s' has counts without times: no part of its time can be shown", r->name);
			return true;
		}
	return false;
}

bool profile_file_parse(const uint8_t *bytes, size_t length, const char *name, bool checksums,
			const struct profile_read_options *options, struct profile **out, struct error *err)
{
	struct profile_reader r = {.name = name, .options = options};
	bool done = false;
	*out = NULL;
	if (length < PROFILE_FILE_HEAD || memcmp(bytes, PROFILE_FILE_MAGIC, 8) != 0) {
		error_set(err, ERROR_SYNTAX, "'%s' is not a profile of tare", name);
		return error_hint(err, "'tare profile -o FILE PROGRAM' makes one");
	}
	if (little(bytes + 8) != PROFILE_FILE_VERSION)
		return error_set(err, ERROR_UNSUPPORTED,
				 "'%s' is a profile of version %u, and this tare reads version %d", name,
				 little(bytes + 8), PROFILE_FILE_VERSION);
	if (!profile_builder_open(&r.builder) || !vec_push(&r.depths, 0)) {
		error_no_memory(err);
		goto out;
	}
	get_blocks(&r, bytes, length, checksums);
	bool part = is_part(options);
	if (!r.has_header && !r.no_memory) {
		error_set(err, ERROR_SYNTAX, "'%s' is damaged: %s", name, r.wrong ? r.wrong : "it is empty");
		goto out;
	}
	if (r.has_header && part && has_no_times(&r, err))
		goto out;
	if (!r.wrong && !r.no_memory)
		check_totals(&r);
	if (r.no_memory || (r.wrong && !drop_partial_counts(&r))) {
		error_no_memory(err);
		goto out;
	}
	if (!r.builder.out->first_ns)
		r.builder.out->first_ns = r.first_time;
	if (!r.builder.out->last_ns)
		r.builder.out->last_ns = r.last_time;
	if (!take_moments(&r) || !take_marks(&r)) {
		error_no_memory(err);
		goto out;
	}
	*out = profile_builder_finish(&r.builder);
	done = *out || error_no_memory(err);
out:
	vec_free(&r.depths);
	vec_free(&r.moments);
	vec_free(&r.marks);
	profile_builder_close(&r.builder);
	return done;
}
