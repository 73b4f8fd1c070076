/*
 * The Firefox Profiler's processed profile format, version 60 (its changelog of formats is in
 * github.com/firefox-devtools/profiler), which later versions of that program read.
 *
 * What always holds:
 *  1. Each thread of the program is a thread there once for each event, in a process of each event (PID.1). A
 *     sample is a different stack, its weight is the stack's count.
 *  2. All samples have time 0: a profile of tare does not say when they were taken.
 *  3. A frame's address is the offset in its file; inlined functions are frames of the same address.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "report/export.h"
#include "report/export_names.h"
#include "report/json_writer.h"
#include "report/profile_rows.h"

enum { FORMAT_VERSION = 60, GECKO_VERSION = 30, RESOURCE_LIBRARY = 1 };

struct firefox_file {
	struct json json;
	const struct named_profile *named;
	uint32_t *last_stack; /* [n_nodes]: of its innermost frame */
	uint32_t *module_of;  /* [n_functions] */
	uint32_t *place_of_frame;
	size_t n_stacks;
	struct hash_index texts;
	VEC(const char *) strings; /* borrowed; shared.stringArray */
	VEC(uint32_t) sources;     /* strings */
	struct hash_index source_index;
	bool failed;
};

static int64_t string(struct firefox_file *f, const char *text)
{
	uint64_t hash = hash_text(HASH_BEGIN, text);
	struct hash_search search = hash_find(&f->texts, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (strcmp(f->strings.items[i], text) == 0)
			return i;
	if (!vec_push(&f->strings, text) || !hash_add(&f->texts, hash, (uint32_t)f->strings.count - 1))
		f->failed = true;
	return (int64_t)f->strings.count - 1;
}

static int64_t source(struct firefox_file *f, const char *file)
{
	uint32_t text = (uint32_t)string(f, file);
	uint64_t hash = hash_number(HASH_BEGIN, text);
	struct hash_search search = hash_find(&f->source_index, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (f->sources.items[i] == text)
			return i;
	if (!vec_push(&f->sources, text) || !hash_add(&f->source_index, hash, (uint32_t)f->sources.count - 1))
		f->failed = true;
	return (int64_t)f->sources.count - 1;
}

static void write_escaped(struct firefox_file *f, const char *key, const char *text)
{
	struct str escaped = {0};
	profile_append_escaped(&escaped, text);
	json_write_text(&f->json, key, escaped.text ? escaped.text : "");
	f->failed |= escaped.failed;
	str_free(&escaped);
}

static const char *module_name(const struct profile_module *m)
{
	return m->kind == MODULE_ANONYMOUS ? "[anonymous]" : m->path;
}

/* A column of a table: `value` of each of n rows, INT64_MIN is null. */
static void write_column(struct firefox_file *f, const char *key, size_t n,
			 int64_t (*value)(struct firefox_file *, size_t))
{
	json_write_open(&f->json, key, '[');
	for (size_t i = 0; i < n; i++) {
		int64_t v = value(f, i);
		if (v == INT64_MIN)
			json_write_null(&f->json, NULL);
		else
			json_write_integer(&f->json, NULL, v);
	}
	json_write_close(&f->json, ']');
}

static void write_falses(struct firefox_file *f, const char *key, size_t n)
{
	json_write_open(&f->json, key, '[');
	for (size_t i = 0; i < n; i++)
		json_write_bool(&f->json, NULL, false);
	json_write_close(&f->json, ']');
}

static int64_t null_value(struct firefox_file *f, size_t i) { return (void)f, (void)i, INT64_MIN; }
static int64_t zero(struct firefox_file *f, size_t i) { return (void)f, (void)i, 0; }
static int64_t itself(struct firefox_file *f, size_t i) { return (void)f, (int64_t)i; }

/* ---- functions, frames ---- */

static int64_t function_name(struct firefox_file *f, size_t i)
{
	const char *name = f->named->functions[i].name;
	return string(f, name[0] ? name : "[unknown]");
}

static int64_t function_resource(struct firefox_file *f, size_t i) { return f->module_of[i]; }

static int64_t function_source(struct firefox_file *f, size_t i)
{
	const char *file = f->named->functions[i].file;
	return file ? source(f, file) : INT64_MIN;
}

static int64_t function_line(struct firefox_file *f, size_t i)
{
	const struct named_function *function = &f->named->functions[i];
	return function->file && function->line ? (int64_t)function->line : INT64_MIN;
}

static int64_t frame_function(struct firefox_file *f, size_t i) { return f->named->frames[i].function; }

static int64_t frame_line(struct firefox_file *f, size_t i)
{
	unsigned line = f->named->frames[i].line;
	return line ? (int64_t)line : INT64_MIN;
}

static int64_t resource_name(struct firefox_file *f, size_t i)
{
	return string(f, module_name(&f->named->profile->modules[i]));
}

static int64_t resource_type(struct firefox_file *f, size_t i) { return (void)f, (void)i, RESOURCE_LIBRARY; }
static int64_t source_file(struct firefox_file *f, size_t i) { return f->sources.items[i]; }

static void write_functions(struct firefox_file *f)
{
	size_t n = f->named->n_functions;
	json_write_open(&f->json, "funcTable", '{');
	write_column(f, "name", n, function_name);
	write_falses(f, "isJS", n);
	write_falses(f, "relevantForJS", n);
	write_column(f, "resource", n, function_resource);
	write_column(f, "source", n, function_source);
	write_column(f, "lineNumber", n, function_line);
	write_column(f, "columnNumber", n, null_value);
	json_write_integer(&f->json, "length", (int64_t)n);
	json_write_close(&f->json, '}');
	n = f->named->profile->n_modules;
	json_write_open(&f->json, "resourceTable", '{');
	write_column(f, "lib", n, itself);
	write_column(f, "name", n, resource_name);
	write_column(f, "host", n, null_value);
	write_column(f, "type", n, resource_type);
	json_write_integer(&f->json, "length", (int64_t)n);
	json_write_close(&f->json, '}');
}

static int64_t frame_address(struct firefox_file *f, size_t i)
{
	uint64_t offset = f->named->places[f->place_of_frame[i]].offset;
	return offset > INT32_MAX ? -1 : (int64_t)offset; /* it can be an Int32Array there */
}

/* A place's frames begin with what is inlined deepest. */
static int64_t frame_depth(struct firefox_file *f, size_t i)
{
	const struct named_place *place = &f->named->places[f->place_of_frame[i]];
	return (int64_t)(place->first_frame + place->n_frames - 1) - (int64_t)i;
}

static void write_frames(struct firefox_file *f)
{
	size_t n = f->named->n_frames;
	json_write_open(&f->json, "frameTable", '{');
	write_column(f, "address", n, frame_address);
	write_column(f, "inlineDepth", n, frame_depth);
	write_column(f, "category", n, zero);
	write_column(f, "subcategory", n, zero);
	write_column(f, "func", n, frame_function);
	write_column(f, "nativeSymbol", n, null_value);
	write_column(f, "innerWindowID", n, null_value);
	write_column(f, "line", n, frame_line);
	write_column(f, "column", n, null_value);
	json_write_integer(&f->json, "length", (int64_t)n);
	json_write_close(&f->json, '}');
}

/* ---- stacks ---- */

static const struct named_place *place_of(const struct firefox_file *f, size_t node)
{
	return &f->named->places[f->named->place_of_node[node]];
}

static void count_stacks(struct firefox_file *f)
{
	for (size_t i = 1; i < f->named->profile->n_nodes; i++) {
		f->n_stacks += place_of(f, i)->n_frames;
		f->last_stack[i] = (uint32_t)f->n_stacks - 1;
	}
}

static void write_stacks(struct firefox_file *f)
{
	const struct profile *p = f->named->profile;
	json_write_open(&f->json, "stackTable", '{');
	json_write_open(&f->json, "frame", '[');
	for (size_t i = 1; i < p->n_nodes; i++)
		for (uint32_t level = place_of(f, i)->n_frames; level-- > 0;)
			json_write_integer(&f->json, NULL, place_of(f, i)->first_frame + level);
	json_write_close(&f->json, ']');
	json_write_open(&f->json, "prefix", '[');
	for (size_t i = 1; i < p->n_nodes; i++) {
		uint32_t n = place_of(f, i)->n_frames, parent = p->nodes[i].parent;
		for (uint32_t level = 0; level < n; level++) {
			if (level)
				json_write_integer(&f->json, NULL, f->last_stack[i] - n + level);
			else if (parent)
				json_write_integer(&f->json, NULL, f->last_stack[parent]);
			else
				json_write_null(&f->json, NULL);
		}
	}
	json_write_close(&f->json, ']');
	json_write_integer(&f->json, "length", (int64_t)f->n_stacks);
	json_write_close(&f->json, '}');
}

/* ---- threads ---- */

static size_t write_cells(struct firefox_file *f, const char *key, size_t event, uint32_t task,
			  int64_t (*value)(const struct firefox_file *, const struct profile_cell *))
{
	const struct profile *p = f->named->profile;
	size_t n = 0;
	json_write_open(&f->json, key, '[');
	for (size_t i = 0; i < p->n_cells; i++) {
		const struct profile_cell *c = &p->cells[i];
		if (c->event != event || c->task != task || !c->node)
			continue;
		json_write_integer(&f->json, NULL, value(f, c));
		n++;
	}
	json_write_close(&f->json, ']');
	return n;
}

static int64_t cell_stack(const struct firefox_file *f, const struct profile_cell *c)
{
	return f->last_stack[c->node];
}
static int64_t cell_count(const struct firefox_file *f, const struct profile_cell *c)
{
	(void)f;
	return c->count > INT64_MAX ? INT64_MAX : (int64_t)c->count;
}
/* Without times each cell is one sample, at the beginning; its weight is its count. */
static size_t write_cell_samples(struct firefox_file *f, size_t event, uint32_t task)
{
	size_t n = write_cells(f, "stack", event, task, cell_stack);
	json_write_open(&f->json, "time", '[');
	for (size_t i = 0; i < n; i++)
		json_write_integer(&f->json, NULL, 0);
	json_write_close(&f->json, ']');
	return write_cells(f, "weight", event, task, cell_count);
}

/* Samples in order of time, in milliseconds since the profile began. */
static size_t write_moments(struct firefox_file *f, size_t event, uint32_t task)
{
	static const char *const columns[] = {"stack", "time", "weight"};
	const struct profile *p = f->named->profile;
	size_t n = 0;
	for (size_t column = 0; column < 3; column++) {
		n = 0;
		json_write_open(&f->json, columns[column], '[');
		for (size_t i = 0; i < p->n_moments; i++) {
			const struct profile_moment *m = &p->moments[i];
			if (m->event != event || m->task != task || !m->node)
				continue;
			double ms = m->time_ns > p->first_ns ? (double)(m->time_ns - p->first_ns) / 1e6 : 0;
			if (column == 1)
				json_write_number(&f->json, NULL, ms);
			else
				json_write_integer(&f->json, NULL, column ? 1 : (int64_t)f->last_stack[m->node]);
			n++;
		}
		json_write_close(&f->json, ']');
	}
	return n;
}

static void write_no_markers(struct firefox_file *f)
{
	static const char *const columns[] = {"data", "name", "startTime", "endTime", "phase", "category"};
	json_write_open(&f->json, "markers", '{');
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		json_write_open(&f->json, columns[i], '[');
		json_write_close(&f->json, ']');
	}
	json_write_integer(&f->json, "length", 0);
	json_write_close(&f->json, '}');
}

static void write_thread(struct firefox_file *f, size_t event, uint32_t number)
{
	const struct profile *p = f->named->profile;
	const struct profile_task *task = &p->tasks[number];
	struct str name = {0}, pid = {0};
	str_appendf(&name, "%s, %s (%s)", task->name && task->name[0] ? task->name : "thread",
		    p->events[event].label, export_unit(&p->events[event]));
	str_appendf(&pid, "%u", task->pid);
	if (event)
		str_appendf(&pid, ".%zu", event);
	json_write_open(&f->json, NULL, '{');
	json_write_text(&f->json, "processType", "default");
	json_write_integer(&f->json, "processStartupTime", 0);
	json_write_null(&f->json, "processShutdownTime");
	json_write_integer(&f->json, "registerTime", 0);
	json_write_null(&f->json, "unregisterTime");
	json_write_open(&f->json, "pausedRanges", '[');
	json_write_close(&f->json, ']');
	write_escaped(f, "name", name.text ? name.text : "");
	json_write_bool(&f->json, "isMainThread", number == 0 || task->pid == task->tid);
	json_write_text(&f->json, "pid", pid.text ? pid.text : "");
	json_write_integer(&f->json, "tid", task->tid);
	json_write_open(&f->json, "samples", '{');
	bool timed = p->n_moments && p->events[event].gaps != GAPS_NONE;
	size_t n = timed ? write_moments(f, event, number) : write_cell_samples(f, event, number);
	json_write_text(&f->json, "weightType", "samples");
	json_write_integer(&f->json, "length", (int64_t)n);
	json_write_close(&f->json, '}');
	write_no_markers(f);
	json_write_close(&f->json, '}');
	f->failed |= name.failed || pid.failed;
	str_free(&name);
	str_free(&pid);
}

/* Those that have samples of an event. */
static bool write_threads(struct firefox_file *f)
{
	const struct profile *p = f->named->profile;
	bool *has = calloc(p->n_events * p->n_tasks + 1, sizeof *has);
	if (!has)
		return false;
	for (size_t i = 0; i < p->n_cells; i++)
		if (p->cells[i].node && !p->events[p->cells[i].event].why)
			has[p->cells[i].event * p->n_tasks + p->cells[i].task] = true;
	json_write_open(&f->json, "threads", '[');
	for (size_t event = 0; event < p->n_events; event++)
		for (uint32_t task = 0; task < p->n_tasks; task++)
			if (has[event * p->n_tasks + task])
				write_thread(f, event, task);
	json_write_close(&f->json, ']');
	free(has);
	return true;
}

/* ---- the file ---- */

static void write_meta(struct firefox_file *f)
{
	static const char *const empty[] = {"id", "name", "baseURL"};
	const struct profile *p = f->named->profile;
	struct str command = {0};
	export_append_command(&command, p);
	json_write_open(&f->json, "meta", '{');
	/* milliseconds between two samples of one thread; 1 where that is not known */
	bool clock = p->n_events && p->events[0].gap && strcmp(p->events[0].unit, "ns") == 0;
	json_write_number(&f->json, "interval", clock ? (double)p->events[0].gap / 1e6 : 1);
	json_write_number(&f->json, "startTime", 1000.0 * (double)p->started_unix);
	json_write_text(&f->json, "product", command.text ? command.text : "");
	json_write_text(&f->json, "importedFrom", "tare");
	json_write_integer(&f->json, "processType", 0);
	json_write_integer(&f->json, "stackwalk", 1);
	json_write_integer(&f->json, "version", GECKO_VERSION);
	json_write_integer(&f->json, "preprocessedProfileVersion", FORMAT_VERSION);
	json_write_bool(&f->json, "symbolicated", true);
	json_write_open(&f->json, "markerSchema", '[');
	json_write_close(&f->json, ']');
	json_write_open(&f->json, "categories", '[');
	json_write_open(&f->json, NULL, '{');
	json_write_text(&f->json, "name", "Other");
	json_write_text(&f->json, "color", "grey");
	json_write_open(&f->json, "subcategories", '[');
	json_write_text(&f->json, NULL, "Other");
	json_write_close(&f->json, ']');
	json_write_close(&f->json, '}');
	json_write_close(&f->json, ']');
	json_write_open(&f->json, "extensions", '{');
	for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
		json_write_open(&f->json, empty[i], '[');
		json_write_close(&f->json, ']');
	}
	json_write_integer(&f->json, "length", 0);
	json_write_close(&f->json, '}');
	json_write_close(&f->json, '}');
	f->failed |= command.failed;
	str_free(&command);
}

static void write_libraries(struct firefox_file *f)
{
	const struct profile *p = f->named->profile;
	json_write_open(&f->json, "libs", '[');
	for (size_t i = 0; i < p->n_modules; i++) {
		const struct profile_module *m = &p->modules[i];
		char id[2 * sizeof m->build_id + 1] = "";
		for (size_t k = 0; k < m->build_id_bytes && k < sizeof m->build_id; k++)
			snprintf(id + 2 * k, 3, "%02x", m->build_id[k]);
		json_write_open(&f->json, NULL, '{');
		json_write_text(&f->json, "arch", "");
		write_escaped(f, "name", profile_base_name(module_name(m)));
		write_escaped(f, "path", module_name(m));
		write_escaped(f, "debugName", profile_base_name(module_name(m)));
		write_escaped(f, "debugPath", module_name(m));
		json_write_text(&f->json, "breakpadId", "");
		json_write_text(&f->json, "codeId", id[0] ? id : NULL);
		json_write_close(&f->json, '}');
	}
	json_write_close(&f->json, ']');
}

static void write_shared(struct firefox_file *f)
{
	json_write_open(&f->json, "shared", '{');
	write_stacks(f);
	write_frames(f);
	write_functions(f);
	json_write_open(&f->json, "nativeSymbols", '{');
	static const char *const columns[] = {"libIndex", "address", "name", "functionSize"};
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		json_write_open(&f->json, columns[i], '[');
		json_write_close(&f->json, ']');
	}
	json_write_integer(&f->json, "length", 0);
	json_write_close(&f->json, '}');
	json_write_open(&f->json, "sources", '{');
	write_column(f, "id", f->sources.count, null_value);
	write_column(f, "filename", f->sources.count, source_file);
	json_write_integer(&f->json, "length", (int64_t)f->sources.count);
	json_write_close(&f->json, '}');
	json_write_open(&f->json, "stringArray", '['); /* all strings are known now */
	for (size_t i = 0; i < f->strings.count; i++)
		write_escaped(f, NULL, f->strings.items[i]);
	json_write_close(&f->json, ']');
	json_write_close(&f->json, '}');
}

static void find_places(struct firefox_file *f)
{
	for (size_t i = 0; i < f->named->n_places; i++) {
		const struct named_place *place = &f->named->places[i];
		for (uint32_t at = place->first_frame; at < place->first_frame + place->n_frames; at++) {
			f->place_of_frame[at] = (uint32_t)i;
			f->module_of[f->named->frames[at].function] = place->module;
		}
	}
}

bool export_firefox(FILE *out, const struct named_profile *named, const struct export_options *options,
		    struct error *err)
{
	struct firefox_file f = {.json = {.out = out, .lines = 1}, .named = named};
	(void)options;
	f.last_stack = calloc(named->profile->n_nodes + 1, sizeof *f.last_stack);
	f.module_of = calloc(named->n_functions + 1, sizeof *f.module_of);
	f.place_of_frame = calloc(named->n_frames + 1, sizeof *f.place_of_frame);
	bool done = f.last_stack && f.module_of && f.place_of_frame;
	if (done) {
		count_stacks(&f);
		find_places(&f);
		json_write_open(&f.json, NULL, '{');
		write_meta(&f);
		write_libraries(&f);
		write_shared(&f);
		done = write_threads(&f);
		json_write_close(&f.json, '}');
	}
	free(f.last_stack);
	free(f.module_of);
	free(f.place_of_frame);
	vec_free(&f.strings);
	vec_free(&f.sources);
	hash_free(&f.texts);
	hash_free(&f.source_index);
	return (done && !f.failed) || error_no_memory(err);
}
