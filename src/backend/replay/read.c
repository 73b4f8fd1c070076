/* Reading a recording: jansson parses, and what it means is checked here. See read_values.h. */
#include <inttypes.h>
#include <string.h>

#include "backend/replay/read_values.h"

/* Readings that name no time were counting all of it, this long. */
static const uint64_t ENABLED_DEFAULT_NS = 1000000000;

/* in the order of enum reading_state */
static const char *const state_names[] = {"counted", "never-ran", "unsupported", "denied",
					  "failed",  "unproven",  NULL};

/* What a backend can say of itself: a scaled or sampled number is made by measure/. */
static const char *const source_names[] = {"hw", "os", "exact", "model", NULL};
static const enum source sources[] = {SOURCE_HW, SOURCE_OS, SOURCE_EXACT, SOURCE_MODEL};

static bool get_source(struct recording_reader *r, const json_t *object, const struct json_place *place,
		       enum source *out)
{
	unsigned choice = sizeof sources / sizeof *sources;
	if (!read_choice(r, object, place, "source", source_names, &choice))
		return false;
	if (choice < sizeof sources / sizeof *sources)
		*out = sources[choice];
	return true;
}

/* ---- events ---- */

static bool read_counters_of(struct recording_reader *r, const json_t *value, const struct json_place *place,
			     struct recorded_event *event)
{
	event->takes_counter = event->availability.source == SOURCE_HW;
	event->on_counters = UINT64_MAX;
	if (!value)
		return true;
	if (json_is_string(value) && strcmp(json_string_value(value), "none") == 0) {
		event->takes_counter = false;
		return true;
	}
	if (json_is_string(value) && strcmp(json_string_value(value), "any") == 0) {
		event->takes_counter = true;
		return true;
	}
	if (!json_is_array(value) || json_array_size(value) == 0)
		return read_refuse(r, place, "'counter' is 'any', 'none' or an array of numbers of counters");
	if (!r->out->limited)
		return read_refuse(r, place, "numbers of counters need 'counters', their number, at the top");
	event->takes_counter = true;
	event->on_counters = 0;
	for (size_t i = 0; i < json_array_size(value); i++) {
		uint64_t counter;
		struct json_place where = read_item(place, i);
		if (!read_check_u64(r, json_array_get(value, i), &where, RECORDING_COUNTERS_MOST, &counter))
			return false;
		if (counter >= r->out->counters)
			return read_refuse(r, &where, "there is no counter %" PRIu64 ": 'counters' is %zu",
					   counter, r->out->counters);
		event->on_counters |= (uint64_t)1 << counter;
	}
	return true;
}

static bool read_event(struct recording_reader *r, const json_t *value, const struct json_place *place,
		       struct recorded_event *event)
{
	static const char *const keys[] = {"name", "state", "source", "why", "remedy", "counter", NULL};
	struct availability *a = &event->availability;
	const char *name = NULL;
	unsigned state = READING_COUNTED;
	struct json_place where = read_member(place, "name");
	if (!read_is_object(r, value, place, keys) || !read_text(r, value, place, "name", &name))
		return false;
	if (!name)
		return read_refuse(r, place, "the event has no 'name'");
	for (const struct recorded_event *other = r->out->events; other < event; other++)
		if (strcmp(other->name, name) == 0)
			return read_refuse(r, &where, "a second event is named '%s'", name);
	event->name = arena_strdup(&r->out->arena, name);
	if (!event->name)
		return error_no_memory(r->err);
	if (!read_choice(r, value, place, "state", state_names, &state) ||
	    !get_source(r, value, place, &a->source) ||
	    !read_short_text(r, value, place, "why", a->why, sizeof a->why) ||
	    !read_short_text(r, value, place, "remedy", a->remedy, sizeof a->remedy))
		return false;
	a->state = (enum reading_state)state;
	bool readable = a->state == READING_COUNTED || a->state == READING_UNPROVEN;
	if (readable && a->source == SOURCE_NONE)
		return read_refuse(r, place, "'%s' is counted, but has no 'source'", name);
	if (a->state == READING_COUNTED && (a->why[0] || a->remedy[0]))
		return read_refuse(r, place, "'%s' is counted: 'why' and 'remedy' have no meaning", name);
	if (!readable && a->source != SOURCE_NONE)
		return read_refuse(r, place, "'%s' is not counted: 'source' has no meaning", name);
	if (a->state != READING_COUNTED && !a->why[0])
		return read_refuse(r, place, "'%s' is not counted, but has no 'why'", name);
	struct json_place counter = read_member(place, "counter");
	return read_counters_of(r, json_object_get(value, "counter"), &counter, event);
}

static bool read_events(struct recording_reader *r, const json_t *root, const struct json_place *top)
{
	const json_t *array;
	size_t n;
	struct json_place list = read_member(top, "events");
	if (!read_array(r, root, top, "events", RECORDING_EVENTS_MOST, &array, &n))
		return false;
	if (!array)
		return read_refuse(r, top, "the recording has no 'events'");
	struct recorded_event *events = read_room(r, n, sizeof *events);
	if (!events)
		return false;
	r->out->events = events;
	for (size_t i = 0; i < n; i++) {
		struct json_place where = read_item(&list, i);
		if (!read_event(r, json_array_get(array, i), &where, &events[i]))
			return false;
		r->out->n_events = i + 1;
	}
	return true;
}

/* ---- readings ---- */

struct execution_context {
	uint64_t enabled_ns;
	const struct recorded_execution *execution;
};

static bool read_reading(struct recording_reader *r, const json_t *value, const struct json_place *place,
			 const struct recorded_event *event, const struct execution_context *context,
			 struct reading *out)
{
	static const char *const keys[] = {"count", "enabled_ns", "running_ns", "state", "source", "why", NULL};
	unsigned state = READING_COUNTED;
	const char *why = NULL;
	*out = (struct reading){.source = event->availability.source,
				.enabled_ns = context->enabled_ns,
				.cpu = -1,
				.unproven = event->availability.state == READING_UNPROVEN};
	if (json_is_integer(value)) {
		out->running_ns = out->enabled_ns;
		return read_check_u64(r, value, place, INT64_MAX, &out->count_raw);
	}
	if (!json_is_object(value))
		return read_refuse(r, place, "expected a count or an object");
	if (!read_is_object(r, value, place, keys) ||
	    !read_choice(r, value, place, "state", state_names, &state) ||
	    !get_source(r, value, place, &out->source) || !read_text(r, value, place, "why", &why) ||
	    !read_u64(r, value, place, "enabled_ns", INT64_MAX, &out->enabled_ns))
		return false;
	out->state = (enum reading_state)state;
	if (out->state == READING_UNPROVEN)
		return read_refuse(r, place, "an event can be 'unproven', a reading cannot");
	if (out->state != READING_COUNTED) {
		if (json_object_get(value, "count") || json_object_get(value, "running_ns"))
			return read_refuse(r, place, "a reading that is '%s' has no 'count' and no 'running_ns'",
					   state_names[state]);
		if (!why && out->state != READING_NEVER_RAN)
			return read_refuse(r, place, "a reading that is '%s' needs a 'why'", state_names[state]);
		out->source = SOURCE_NONE;
		out->why = why ? arena_strdup(&r->out->arena, why) : NULL;
		return !why || out->why || error_no_memory(r->err);
	}
	if (why)
		return read_refuse(r, place, "a reading that is 'counted' has no 'why'");
	if (!json_object_get(value, "count"))
		return read_refuse(r, place, "the reading has no 'count'");
	/* running longer than enabled is let through: kernels have said so, and measure/ must stand it */
	out->running_ns = out->enabled_ns;
	return read_u64(r, value, place, "count", INT64_MAX, &out->count_raw) &&
	       read_u64(r, value, place, "running_ns", INT64_MAX, &out->running_ns);
}

/* An object: event → reading, or with rows event → array of readings. */
static bool read_moment(struct recording_reader *r, const json_t *value, const struct json_place *place,
			const struct execution_context *context, bool rows_allowed, struct recorded_moment *out)
{
	const char *name;
	json_t *each;
	const struct recorded_execution *x = context->execution;
	if (!json_is_object(value))
		return read_refuse(r, place, "expected an object of events and their readings");
	struct recorded_reading *readings = read_room(r, json_object_size(value), sizeof *readings);
	if (!readings)
		return false;
	out->readings = readings;
	json_object_foreach((json_t *)value, name, each)
	{
		struct recorded_reading *reading = &readings[out->n_readings];
		struct json_place where = read_member(place, name);
		bool in_rows = rows_allowed && x->n_rows > 0;
		if (!read_find_event(r->out, name, &reading->event))
			return read_refuse(r, &where, "'%s' is not one of the recording's events", name);
		const struct recorded_event *event = &r->out->events[reading->event];
		if (event->availability.state != READING_COUNTED && event->availability.state != READING_UNPROVEN)
			return read_refuse(r, &where, "'%s' has a reading, but is not counted", name);
		if (in_rows && json_array_size(each) != x->n_rows)
			return read_refuse(r, &where, "'%s' needs an array of %zu readings, one for each row",
					   name, x->n_rows);
		if (!in_rows && json_is_array(each))
			return read_refuse(r, &where, "'%s' needs one reading here, not an array", name);
		reading->n_rows = in_rows ? x->n_rows : 1;
		struct reading *rows = read_room(r, reading->n_rows, sizeof *rows);
		if (!rows)
			return false;
		reading->rows = rows;
		for (size_t i = 0; i < reading->n_rows; i++) {
			struct json_place row = read_item(&where, i);
			if (!read_reading(r, in_rows ? json_array_get(each, i) : each, in_rows ? &row : &where,
					  event, context, &rows[i]))
				return false;
			if (in_rows) {
				rows[i].tid = x->rows[i].tid;
				rows[i].cpu = x->rows[i].cpu;
			}
		}
		out->n_readings++;
	}
	return true;
}

/* ---- executions ---- */

static bool read_rows(struct recording_reader *r, const json_t *value, const struct json_place *place,
		      struct recorded_execution *x)
{
	static const char *const keys[] = {"tid", "cpu", NULL};
	const json_t *array;
	size_t n;
	struct json_place list = read_member(place, "rows");
	if (!read_array(r, value, place, "rows", RECORDING_ROWS_MOST, &array, &n))
		return false;
	struct recorded_row *rows = read_room(r, n, sizeof *rows);
	if (!rows)
		return false;
	for (size_t i = 0; i < n; i++) {
		const json_t *row = json_array_get(array, i);
		struct json_place where = read_item(&list, i);
		uint64_t tid = 0, cpu = 0;
		if (!read_is_object(r, row, &where, keys) || !read_u64(r, row, &where, "tid", INT32_MAX, &tid) ||
		    !read_u64(r, row, &where, "cpu", INT32_MAX, &cpu))
			return false;
		if (json_object_size(row) != 1)
			return read_refuse(r, &where, "a row is of one 'tid' or of one 'cpu'");
		rows[i] = json_object_get(row, "cpu") ? (struct recorded_row){.cpu = (int)cpu}
						      : (struct recorded_row){.tid = (pid_t)tid, .cpu = -1};
	}
	x->rows = rows;
	x->n_rows = n;
	return true;
}

static bool read_failure(struct recording_reader *r, const json_t *value, const struct json_place *place,
			 struct recorded_execution *x)
{
	static const char *const keys[] = {"at", "code", "text", "hint", NULL};
	static const char *const steps[] = {"", "prepare", "go", "sample", "stop", NULL};
	/* in the order of enum error_code */
	static const char *const codes[] = {"",     "usage", "syntax",    "not-found", "unsupported", "permission",
					    "busy", "limit", "no-memory", "io",        "system",      NULL};
	unsigned step = FAILS_NEVER, code = ERROR_NONE;
	const char *text = NULL, *hint = "";
	if (!value)
		return true;
	if (!read_is_object(r, value, place, keys) || !read_choice(r, value, place, "at", steps + 1, &step) ||
	    !read_choice(r, value, place, "code", codes + 1, &code) ||
	    !read_text(r, value, place, "text", &text) || !read_text(r, value, place, "hint", &hint))
		return false;
	if (!json_object_get(value, "at") || !json_object_get(value, "code") || !text)
		return read_refuse(r, place, "a failure needs 'at', 'code' and 'text'");
	x->fails_at = (enum recorded_step)(step + 1);
	error_set(&x->failure, (enum error_code)(code + 1), "%s", text);
	error_hint(&x->failure, "%s", hint);
	return true;
}

static bool read_execution(struct recording_reader *r, const json_t *value, const struct json_place *place,
			   struct recorded_execution *x)
{
	static const char *const keys[] = {"about", "rows", "enabled_ns", "readings", "samples", "fails", NULL};
	struct execution_context context = {.enabled_ns = ENABLED_DEFAULT_NS, .execution = x};
	struct json_place readings = read_member(place, "readings"), samples = read_member(place, "samples"),
			  fails = read_member(place, "fails");
	const json_t *end = json_object_get(value, "readings"), *series;
	const char *about = NULL;
	size_t n;
	if (!read_is_object(r, value, place, keys) || !read_text(r, value, place, "about", &about) ||
	    !read_rows(r, value, place, x) ||
	    !read_u64(r, value, place, "enabled_ns", INT64_MAX, &context.enabled_ns) ||
	    !read_failure(r, json_object_get(value, "fails"), &fails, x) ||
	    !read_array(r, value, place, "samples", SIZE_MAX, &series, &n))
		return false;
	if (end && !read_moment(r, end, &readings, &context, true, &x->end))
		return false;
	struct recorded_moment *moments = read_room(r, n, sizeof *moments);
	if (!moments)
		return false;
	x->samples = moments;
	x->n_samples = n;
	for (size_t i = 0; i < n; i++) {
		struct json_place where = read_item(&samples, i);
		if (!read_moment(r, json_array_get(series, i), &where, &context, false, &moments[i]))
			return false;
	}
	return true;
}

static bool read_executions(struct recording_reader *r, const json_t *root, const struct json_place *top)
{
	const json_t *array;
	size_t n;
	struct json_place list = read_member(top, "executions");
	if (!read_array(r, root, top, "executions", SIZE_MAX, &array, &n))
		return false;
	struct recorded_execution *executions = read_room(r, n, sizeof *executions);
	if (!executions)
		return false;
	r->out->executions = executions;
	r->out->n_executions = n;
	for (size_t i = 0; i < n; i++) {
		struct json_place where = read_item(&list, i);
		if (!read_execution(r, json_array_get(array, i), &where, &executions[i]))
			return false;
	}
	return true;
}

/* ---- what `tare doctor` would print ---- */

static bool read_findings(struct recording_reader *r, const json_t *root, const struct json_place *top)
{
	static const char *const keys[] = {"state", "what", "detail", "step", NULL};
	/* in the order of enum finding_state */
	static const char *const states[] = {"works", "partly", "no", NULL};
	const json_t *array;
	size_t n;
	struct json_place list = read_member(top, "findings");
	if (!read_array(r, root, top, "findings", RECORDING_EVENTS_MOST, &array, &n))
		return false;
	struct finding *findings = read_room(r, n, sizeof *findings);
	if (!findings)
		return false;
	r->out->findings = findings;
	r->out->n_findings = n;
	for (size_t i = 0; i < n; i++) {
		const json_t *value = json_array_get(array, i);
		struct json_place where = read_item(&list, i);
		struct finding *f = &findings[i];
		unsigned state = FINDING_WORKS;
		if (!read_is_object(r, value, &where, keys) ||
		    !read_choice(r, value, &where, "state", states, &state) ||
		    !read_short_text(r, value, &where, "what", f->what, sizeof f->what) ||
		    !read_short_text(r, value, &where, "detail", f->detail, sizeof f->detail) ||
		    !read_short_text(r, value, &where, "step", f->step, sizeof f->step))
			return false;
		if (!json_object_get(value, "state") || !f->what[0])
			return read_refuse(r, &where, "a finding needs 'state' and 'what'");
		f->state = (enum finding_state)state;
	}
	return true;
}

static bool read_top(struct recording_reader *r, const json_t *root)
{
	static const char *const keys[] = {"tare_recording", "about",      "counters", "after_last", "corrupt",
					   "events",         "executions", "findings", NULL};
	static const char *const ends[] = {"error", "repeat", NULL};
	struct json_place top = {0}, version_place = read_member(&top, "tare_recording");
	uint64_t version = 0, counters = 0;
	unsigned end = 0;
	const char *about = NULL;
	/* the version first: another one may have other keys */
	if (!json_is_object(root))
		return read_refuse(r, &top, "expected an object");
	if (!json_object_get(root, "tare_recording"))
		return read_refuse(r, &top, "this is not a recording: it has no 'tare_recording'");
	if (!read_u64(r, root, &top, "tare_recording", INT64_MAX, &version))
		return false;
	if (version != RECORDING_VERSION)
		return read_refuse(r, &version_place, "the recording's version is %" PRIu64 ", this tare reads %d",
				   version, RECORDING_VERSION);
	if (!read_is_object(r, root, &top, keys) || !read_text(r, root, &top, "about", &about) ||
	    !read_u64(r, root, &top, "counters", RECORDING_COUNTERS_MOST, &counters) ||
	    !read_choice(r, root, &top, "after_last", ends, &end))
		return false;
	r->out->limited = json_object_get(root, "counters") != NULL;
	r->out->counters = (size_t)counters;
	r->out->repeats = end == 1;
	return read_events(r, root, &top) && read_corruptions(r, root, &top) && read_executions(r, root, &top) &&
	       read_findings(r, root, &top);
}

bool recording_parse(const char *text, size_t length, const char *path, struct recording *out, struct error *err)
{
	json_error_t parse;
	bool done = false;
	*out = (struct recording){0};
	struct recording_reader r = {.text = text, .length = length, .out = out, .err = err};
	out->path = arena_strdup(&out->arena, path);
	json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &parse);
	if (!out->path) {
		error_no_memory(err);
		goto out;
	}
	if (!root) {
		/* jansson's column is that of the last character it took; 0 before the first */
		error_set(err, ERROR_SYNTAX, "%s:%d:%d: %s", path, parse.line > 0 ? parse.line : 1,
			  parse.column > 0 ? parse.column : 1, parse.text);
		goto out;
	}
	done = read_top(&r, root);
out:
	json_decref(root);
	if (!done)
		recording_free(out);
	return done;
}
