/*
 * pprof's format: the message perftools.profiles.Profile (profile.proto of github.com/google/pprof) in Protocol
 * Buffers' encoding, compressed by gzip.
 *
 * What always holds:
 *  1. A sampled event has two values: its samples, and with a known gap the events that they stand for (samples
 *     × gap). A counted event has one.
 *  2. Addresses are offsets in the module: each mapping begins at 0 of its file.
 *  3. A location's lines begin with what is inlined deepest.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/hash.h"
#include "base/vec.h"
#include "report/export.h"
#include "report/export_names.h"
#include "report/profile_rows.h"

enum { /* numbers of fields */
       PROFILE_SAMPLE_TYPE = 1,
       PROFILE_SAMPLE = 2,
       PROFILE_MAPPING = 3,
       PROFILE_LOCATION = 4,
       PROFILE_FUNCTION = 5,
       PROFILE_STRING_TABLE = 6,
       PROFILE_TIME_NANOS = 9,
       PROFILE_DURATION_NANOS = 10,
       PROFILE_PERIOD_TYPE = 11,
       PROFILE_PERIOD = 12,
       PROFILE_COMMENT = 13,
       VALUE_TYPE = 1,
       VALUE_UNIT = 2,
       SAMPLE_LOCATION = 1,
       SAMPLE_VALUE = 2,
       SAMPLE_LABEL = 3,
       LABEL_KEY = 1,
       LABEL_STR = 2,
       LABEL_NUM = 3,
       MAPPING_ID = 1,
       MAPPING_LIMIT = 3,
       MAPPING_FILENAME = 5,
       MAPPING_BUILD_ID = 6,
       MAPPING_HAS_FUNCTIONS = 7,
       MAPPING_HAS_FILENAMES = 8,
       MAPPING_HAS_LINE_NUMBERS = 9,
       MAPPING_HAS_INLINE_FRAMES = 10,
       LOCATION_ID = 1,
       LOCATION_MAPPING_ID = 2,
       LOCATION_ADDRESS = 3,
       LOCATION_LINE = 4,
       LINE_FUNCTION = 1,
       LINE_LINE = 2,
       FUNCTION_ID = 1,
       FUNCTION_NAME = 2,
       FUNCTION_SYSTEM_NAME = 3,
       FUNCTION_FILENAME = 4,
       FUNCTION_START_LINE = 5,
};

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

struct pprof_file {
	const struct named_profile *named;
	struct str out, part, inner; /* part, inner: a message within it, and one within that */
	struct hash_index texts;
	VEC(char *) strings; /* owned; [0] is "" */
	bool failed;
};

/* ---- encoding ---- */

static void put_varint(struct str *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		str_append_char(out, (char)(value | 0x80));
	str_append_char(out, (char)value);
}

static void put_number(struct str *out, unsigned field, uint64_t value)
{
	if (!value)
		return; /* the default */
	put_varint(out, field << 3 | WIRE_VARINT);
	put_varint(out, value);
}

static void put_bytes(struct str *out, unsigned field, const char *bytes, size_t n)
{
	put_varint(out, field << 3 | WIRE_BYTES);
	put_varint(out, n);
	if (n)
		str_append_bytes(out, bytes, n);
}

/* Ends a message: it becomes a field of the outer one. */
static void put_message(struct str *out, unsigned field, struct str *message)
{
	put_bytes(out, field, message->text, message->length);
	out->failed |= message->failed;
	message->length = 0;
}

/* The number of a text in the string table; escaped. */
static uint64_t string(struct pprof_file *f, const char *text)
{
	struct str escaped = {0};
	profile_append_escaped(&escaped, text ? text : "");
	char *kept = str_take(&escaped);
	uint64_t hash = hash_text(HASH_BEGIN, kept);
	struct hash_search search = hash_find(&f->texts, hash);
	for (uint32_t i; kept && hash_next(&search, &i);)
		if (strcmp(f->strings.items[i], kept) == 0) {
			free(kept);
			return i;
		}
	if (!kept || !vec_push(&f->strings, kept) || !hash_add(&f->texts, hash, (uint32_t)f->strings.count - 1)) {
		if (!kept || !f->strings.count || f->strings.items[f->strings.count - 1] != kept)
			free(kept);
		f->failed = true;
		return 0;
	}
	return f->strings.count - 1;
}

/* ---- its parts ---- */

static bool has_events_value(const struct profile_event *e) { return e->gaps != GAPS_NONE && e->gap; }

static void put_value_type(struct pprof_file *f, unsigned field, const char *type, const char *suffix,
			   const char *unit)
{
	struct str text = {0};
	str_appendf(&text, "%s%s", type, suffix);
	put_number(&f->part, VALUE_TYPE, string(f, text.text));
	put_number(&f->part, VALUE_UNIT, string(f, unit));
	f->failed |= text.failed;
	str_free(&text);
	put_message(&f->out, field, &f->part);
}

/* pprof scales units that it knows. */
static const char *unit_of(const struct profile_event *e)
{
	return !e->unit || !e->unit[0] ? "count" : strcmp(e->unit, "ns") == 0 ? "nanoseconds" : e->unit;
}

static void put_sample_types(struct pprof_file *f)
{
	const struct profile *p = f->named->profile;
	const struct profile_event *first = NULL;
	for (size_t i = 0; i < p->n_events; i++) {
		const struct profile_event *e = &p->events[i];
		if (e->why)
			continue;
		if (e->gaps != GAPS_NONE)
			put_value_type(f, PROFILE_SAMPLE_TYPE, e->label, " samples", "count");
		if (e->gaps == GAPS_NONE || has_events_value(e))
			put_value_type(f, PROFILE_SAMPLE_TYPE, e->label, "", unit_of(e));
		if (!first && has_events_value(e))
			first = e;
	}
	if (first) {
		put_value_type(f, PROFILE_PERIOD_TYPE, first->label, "", unit_of(first));
		put_number(&f->out, PROFILE_PERIOD, first->gap);
	}
}

static void put_mappings(struct pprof_file *f)
{
	const struct profile *p = f->named->profile;
	for (size_t i = 0; i < p->n_modules; i++) {
		const struct profile_module *m = &p->modules[i];
		uint64_t limit = 0;
		char id[2 * sizeof m->build_id + 1] = "";
		bool files = false;
		for (size_t k = 0; k < f->named->n_places; k++) {
			const struct named_place *place = &f->named->places[k];
			if (place->module == i && place->offset >= limit)
				limit = place->offset + (place->offset < UINT64_MAX);
			files |= place->module == i && f->named->frames[place->first_frame].file;
		}
		for (size_t k = 0; k < m->build_id_bytes && k < sizeof m->build_id; k++)
			snprintf(id + 2 * k, 3, "%02x", m->build_id[k]);
		put_number(&f->part, MAPPING_ID, i + 1);
		put_number(&f->part, MAPPING_LIMIT, limit);
		put_number(&f->part, MAPPING_FILENAME,
			   string(f, m->kind == MODULE_ANONYMOUS ? "[anonymous]" : m->path));
		put_number(&f->part, MAPPING_BUILD_ID, string(f, id));
		put_number(&f->part, MAPPING_HAS_FUNCTIONS, 1); /* pprof asks for no symbols then */
		put_number(&f->part, MAPPING_HAS_FILENAMES, files);
		put_number(&f->part, MAPPING_HAS_LINE_NUMBERS, files);
		put_number(&f->part, MAPPING_HAS_INLINE_FRAMES, files);
		put_message(&f->out, PROFILE_MAPPING, &f->part);
	}
}

static void put_locations(struct pprof_file *f)
{
	for (size_t i = 0; i < f->named->n_places; i++) {
		const struct named_place *place = &f->named->places[i];
		put_number(&f->part, LOCATION_ID, i + 1);
		put_number(&f->part, LOCATION_MAPPING_ID, (uint64_t)place->module + 1);
		put_number(&f->part, LOCATION_ADDRESS, place->offset);
		for (uint32_t level = 0; level < place->n_frames; level++) {
			const struct named_frame *frame = &f->named->frames[place->first_frame + level];
			put_number(&f->inner, LINE_FUNCTION, (uint64_t)frame->function + 1);
			put_number(&f->inner, LINE_LINE, frame->line);
			put_message(&f->part, LOCATION_LINE, &f->inner);
		}
		put_message(&f->out, PROFILE_LOCATION, &f->part);
	}
}

/* An inlined function has no file of its own here: that of one of its frames. */
static bool put_functions(struct pprof_file *f)
{
	const struct named_profile *n = f->named;
	const char **files = calloc(n->n_functions + 1, sizeof *files);
	if (!files)
		return false;
	for (size_t i = 0; i < n->n_frames; i++)
		if (!files[n->frames[i].function])
			files[n->frames[i].function] = n->frames[i].file;
	for (size_t i = 0; i < n->n_functions; i++) {
		const struct named_function *function = &n->functions[i];
		uint64_t name = string(f, function->name);
		put_number(&f->part, FUNCTION_ID, i + 1);
		put_number(&f->part, FUNCTION_NAME, name);
		put_number(&f->part, FUNCTION_SYSTEM_NAME, name);
		put_number(&f->part, FUNCTION_FILENAME, string(f, function->file ? function->file : files[i]));
		put_number(&f->part, FUNCTION_START_LINE, function->line);
		put_message(&f->out, PROFILE_FUNCTION, &f->part);
	}
	free(files);
	return true;
}

static uint64_t signed_most(uint64_t value) { return value > INT64_MAX ? INT64_MAX : value; }

static void put_values(struct pprof_file *f, const uint64_t *counts)
{
	const struct profile *p = f->named->profile;
	for (size_t e = 0; e < p->n_events; e++) {
		const struct profile_event *event = &p->events[e];
		uint64_t events;
		if (event->why)
			continue;
		put_varint(&f->inner, signed_most(counts[e]));
		if (!has_events_value(event))
			continue;
		if (__builtin_mul_overflow(counts[e], event->gap, &events))
			events = UINT64_MAX;
		if (event->part > 0) /* of the whole time */
			events = events / event->part < 9e18 ? (uint64_t)((double)events / event->part + 0.5)
							     : INT64_MAX;
		put_varint(&f->inner, signed_most(events));
	}
	put_message(&f->part, SAMPLE_VALUE, &f->inner);
}

static void put_label(struct pprof_file *f, const char *key, const char *text, uint64_t number)
{
	put_number(&f->inner, LABEL_KEY, string(f, key));
	if (text)
		put_number(&f->inner, LABEL_STR, string(f, text));
	else
		put_number(&f->inner, LABEL_NUM, number);
	put_message(&f->part, SAMPLE_LABEL, &f->inner);
}

static void put_sample(struct pprof_file *f, const struct profile_cell *cell, const uint64_t *counts)
{
	const struct profile *p = f->named->profile;
	const struct profile_task *task = &p->tasks[cell->task];
	for (uint32_t node = cell->node; node; node = p->nodes[node].parent)
		put_varint(&f->inner, (uint64_t)f->named->place_of_node[node] + 1);
	put_message(&f->part, SAMPLE_LOCATION, &f->inner);
	put_values(f, counts);
	if (task->name && task->name[0])
		put_label(f, "thread", task->name, 0);
	if (task->pid)
		put_label(f, "pid", NULL, task->pid);
	if (task->tid)
		put_label(f, "tid", NULL, task->tid);
	put_message(&f->out, PROFILE_SAMPLE, &f->part);
}

/* Cells of one node and task are side by side: they are one sample. */
static bool put_samples(struct pprof_file *f)
{
	const struct profile *p = f->named->profile;
	uint64_t *counts = calloc(p->n_events + 1, sizeof *counts);
	if (!counts)
		return false;
	for (size_t i = 0; i < p->n_cells;) {
		const struct profile_cell *first = &p->cells[i];
		bool any = false;
		memset(counts, 0, p->n_events * sizeof *counts);
		for (; i < p->n_cells && p->cells[i].node == first->node && p->cells[i].task == first->task; i++) {
			counts[p->cells[i].event] += p->cells[i].count;
			any |= !p->events[p->cells[i].event].why;
		}
		if (any && first->node)
			put_sample(f, first, counts);
	}
	free(counts);
	return true;
}

static void put_comments(struct pprof_file *f)
{
	const struct profile *p = f->named->profile;
	struct str text = {0};
	put_number(&f->out, PROFILE_TIME_NANOS, p->started_unix * 1000000000u);
	if (p->last_ns > p->first_ns)
		put_number(&f->out, PROFILE_DURATION_NANOS, p->last_ns - p->first_ns);
	export_append_command(&text, p);
	put_number(&f->out, PROFILE_COMMENT, string(f, text.text));
	for (size_t i = 0; i < p->n_events; i++) {
		text.length = 0;
		export_append_event(&text, &p->events[i]);
		put_number(&f->out, PROFILE_COMMENT, string(f, text.text));
	}
	f->failed |= text.failed;
	str_free(&text);
}

/* ---- the file ---- */

static bool write_gzip(FILE *out, const struct str *text)
{
	z_stream z = {0};
	unsigned char buffer[1 << 16];
	size_t at = 0;
	int state = Z_OK;
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK) /* 16: gzip */
		return false;
	while (state == Z_OK) {
		if (!z.avail_in) {
			size_t n = text->length - at > 1 << 30 ? 1 << 30 : text->length - at;
			z.next_in = (unsigned char *)text->text + at;
			z.avail_in = (unsigned)n;
			at += n;
		}
		z.next_out = buffer;
		z.avail_out = sizeof buffer;
		state = deflate(&z, at == text->length ? Z_FINISH : Z_NO_FLUSH);
		fwrite(buffer, 1, sizeof buffer - z.avail_out, out);
	}
	deflateEnd(&z);
	return state == Z_STREAM_END;
}

bool export_pprof(FILE *out, const struct named_profile *named, const struct export_options *options,
		  struct error *err)
{
	struct pprof_file f = {.named = named};
	(void)options;
	string(&f, "");
	put_sample_types(&f);
	put_mappings(&f);
	put_locations(&f);
	put_comments(&f);
	bool done = put_functions(&f) && put_samples(&f);
	for (size_t i = 0; i < f.strings.count; i++)
		put_bytes(&f.out, PROFILE_STRING_TABLE, f.strings.items[i], strlen(f.strings.items[i]));
	done = done && !f.failed && !f.out.failed && !f.part.failed && !f.inner.failed && write_gzip(out, &f.out);
	for (size_t i = 0; i < f.strings.count; i++)
		free(f.strings.items[i]);
	vec_free(&f.strings);
	hash_free(&f.texts);
	str_free(&f.out);
	str_free(&f.part);
	str_free(&f.inner);
	return done || error_no_memory(err);
}
