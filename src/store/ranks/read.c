#include "store/ranks/read.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

struct result_reader {
	const char *name; /* of the file */
	struct result *result;
	struct arena *arena; /* the result's */
	struct error *err;
	size_t n_rows;
};

static bool wrong(struct result_reader *r, const char *where, const char *what)
{
	error_set(r->err, ERROR_SYNTAX, "'%.200s' is not a result of tare count --json: %s %s", r->name, where,
		  what);
	return error_hint(r->err, "'tare count --json -o FILE' writes one");
}

static bool no_memory(struct result_reader *r) { return error_no_memory(r->err); }

/* ---- single members; absent ones and null leave *out as it is ---- */

static bool get_text(struct result_reader *r, json_t *object, const char *key, bool must, const char **out)
{
	json_t *value = json_object_get(object, key);
	if (!value || json_is_null(value))
		return !must || wrong(r, key, "is missing");
	if (!json_is_string(value))
		return wrong(r, key, "is not a text");
	return (*out = arena_strdup(r->arena, json_string_value(value))) != NULL || no_memory(r);
}

/* A text that stands in a table's cell. */
static bool get_word(struct result_reader *r, json_t *object, const char *key, bool must, const char **out)
{
	const char *word = NULL;
	if (!get_text(r, object, key, must, &word))
		return false;
	if (!word)
		return true;
	if (strlen(word) > READ_WORD_BYTES)
		return wrong(r, key, "is too long");
	if (must && !*word)
		return wrong(r, key, "is empty");
	for (const char *c = word; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return wrong(r, key, "has control characters");
	*out = word;
	return true;
}

static bool get_number(struct result_reader *r, json_t *object, const char *key, double *out, bool *is_there)
{
	json_t *value = json_object_get(object, key);
	if (is_there)
		*is_there = value && !json_is_null(value);
	if (!value || json_is_null(value))
		return true;
	if (!json_is_number(value) || !isfinite(json_number_value(value)))
		return wrong(r, key, "is not a number");
	*out = json_number_value(value);
	return true;
}

/* 0 … most; exact as a double. */
static bool get_integer(struct result_reader *r, json_t *object, const char *key, double most, uint64_t *out,
			bool *is_there)
{
	double value = 0;
	bool there;
	if (!get_number(r, object, key, &value, &there))
		return false;
	if (is_there)
		*is_there = there;
	if (!there)
		return true;
	if (value < 0 || value > most || value != floor(value))
		return wrong(r, key, "is out of range");
	*out = (uint64_t)value;
	return true;
}

/* Of names[n]; absent: 0. */
static bool get_name(struct result_reader *r, json_t *object, const char *key, const char *(*name)(int), int n,
		     int *out)
{
	const char *text = NULL;
	if (!get_text(r, object, key, false, &text))
		return false;
	for (int i = 0; text && i < n; i++)
		if (strcmp(name(i), text) == 0) {
			*out = i;
			return true;
		}
	return !text || wrong(r, key, "has a value that is not known");
}

static const char *source_of(int i) { return source_name((enum source)i); }
static const char *trust_of(int i) { return trust_name((enum trust)i); }

/* ---- estimates ---- */

static const double exact_most = 9007199254740992.0; /* 2^53: integers up to it are exact */

static bool read_value(struct result_reader *r, json_t *object, struct estimate *e)
{
	bool low = false, high = false, confident = false;
	if (!get_number(r, object, "value", &e->value, &e->known) ||
	    !get_number(r, object, "low", &e->low, &low) || !get_number(r, object, "high", &e->high, &high) ||
	    !get_number(r, object, "confidence", &e->confidence, &confident) ||
	    !get_number(r, object, "at_least", &e->least, &e->has_least))
		return false;
	if (!e->known) {
		e->source = SOURCE_NONE;
		e->has_least &= e->least >= 0;
		return e->why || wrong(r, "a result", "is null without a reason (\"why\")");
	}
	if (e->source == SOURCE_NONE)
		return wrong(r, "a result", "has a value and no source");
	e->has_least = false;
	e->has_interval = confident;
	if (!confident)
		e->low = e->high = e->value;
	else if (!low)
		return wrong(r, "a result", "has a confidence and no lower bound");
	else if (!high)
		e->high = INFINITY;
	if (e->low > e->value || e->high < e->value)
		return wrong(r, "a result", "is outside of its interval");
	return true;
}

static bool read_estimate(struct result_reader *r, json_t *object, struct estimate *e)
{
	int source = 0, trust = 0;
	uint64_t pid = 0, tid = 0, cpu = 0;
	bool of_cpu = false;
	*e = (struct estimate){.level = "",
			       .run_min = NAN,
			       .run_median = NAN,
			       .run_max = NAN,
			       .run_sd = NAN,
			       .bound = NAN,
			       .share_running = 1};
	if (!json_is_object(object))
		return wrong(r, "a result", "is not an object");
	if (++r->n_rows > READ_ROWS_MOST)
		return wrong(r, "it", "has more results than tare counts");
	if (!get_word(r, object, "event", true, &e->event) || !get_word(r, object, "unit", true, &e->unit) ||
	    !get_word(r, object, "level", false, &e->level) ||
	    !get_word(r, object, "machine", false, &e->machine) || !get_text(r, object, "why", false, &e->why) ||
	    !get_text(r, object, "note", false, &e->note) ||
	    !get_name(r, object, "source", source_of, SOURCE_SAMPLED + 1, &source) ||
	    !get_name(r, object, "trust", trust_of, TRUST_REFUTED + 1, &trust) ||
	    !get_integer(r, object, "pid", INT32_MAX, &pid, NULL) ||
	    !get_integer(r, object, "tid", INT32_MAX, &tid, NULL) ||
	    !get_integer(r, object, "cpu", INT32_MAX, &cpu, &of_cpu))
		return false;
	e->source = (enum source)source;
	e->trust = (enum trust)trust;
	e->pid = (pid_t)pid;
	e->tid = (pid_t)tid;
	e->cpu = of_cpu ? (int)cpu : -1;
	return read_value(r, object, e);
}

/* An array's length, at most READ_ROWS_MOST; absent: 0. */
static bool get_array(struct result_reader *r, json_t *object, const char *key, bool must, json_t **array,
		      size_t *n)
{
	*array = json_object_get(object, key);
	*n = 0;
	if (!*array)
		return !must || wrong(r, key, "is missing");
	if (!json_is_array(*array))
		return wrong(r, key, "is not an array");
	*n = json_array_size(*array);
	return *n <= READ_ROWS_MOST || wrong(r, key, "is too long");
}

static bool read_estimates(struct result_reader *r, json_t *object, const char *key, struct estimate **out,
			   size_t *n)
{
	json_t *array;
	if (!get_array(r, object, key, true, &array, n))
		return false;
	if (!(*out = arena_alloc(r->arena, (*n + 1) * sizeof **out)))
		return no_memory(r);
	for (size_t i = 0; i < *n; i++)
		if (!read_estimate(r, json_array_get(array, i), &(*out)[i]))
			return false;
	return true;
}

static bool read_regions(struct result_reader *r, json_t *root)
{
	json_t *array;
	struct result *result = r->result;
	if (!get_array(r, root, "regions", false, &array, &result->n_regions))
		return false;
	if (!(result->regions = arena_alloc(r->arena, (result->n_regions + 1) * sizeof *result->regions)))
		return no_memory(r);
	for (size_t i = 0; i < result->n_regions; i++) {
		struct region_row *region = &result->regions[i];
		json_t *object = json_array_get(array, i);
		bool entered = false;
		if (!json_is_object(object))
			return wrong(r, "a region", "is not an object");
		if (!get_word(r, object, "name", true, &region->name) ||
		    !get_text(r, object, "place", true, &region->text) ||
		    !get_text(r, object, "why", false, &region->why) ||
		    !get_integer(r, object, "entries", exact_most, &region->entries, &entered) ||
		    !read_estimates(r, object, "results", &region->estimates, &region->n_estimates))
			return false;
		if (!entered && !region->why)
			region->why = "not known";
		/* two of one name would be added up */
		for (size_t j = 0; j < i; j++)
			if (strcmp(result->regions[j].name, region->name) == 0)
				return wrong(r, "a region", "is there twice");
	}
	return true;
}

/* ---- what it is of ---- */

static bool read_texts(struct result_reader *r, json_t *root, const char *key, const char ***out, size_t *n)
{
	json_t *array = json_object_get(root, key);
	*out = NULL;
	*n = 0;
	if (!array || json_is_null(array))
		return true;
	if (!get_array(r, root, key, false, &array, n))
		return false;
	if (!(*out = arena_alloc(r->arena, (*n + 1) * sizeof **out)))
		return no_memory(r);
	for (size_t i = 0; i < *n; i++) {
		const char *text = json_string_value(json_array_get(array, i));
		if (!text)
			return wrong(r, key, "has something that is not a text");
		if (!((*out)[i] = arena_strdup(r->arena, text)))
			return no_memory(r);
	}
	return true;
}

static bool read_notes(struct result_reader *r, json_t *root)
{
	const char **texts;
	size_t n;
	if (!read_texts(r, root, "notes", &texts, &n))
		return false;
	struct result_note *notes = arena_alloc(r->arena, (n + 1) * sizeof *notes);
	if (!notes)
		return no_memory(r);
	for (size_t i = 0; i < n; i++)
		notes[i] = (struct result_note){texts[i], NOTE_READ};
	r->result->notes = notes;
	r->result->n_notes = n;
	return true;
}

static bool read_ending(struct result_reader *r, json_t *root)
{
	json_t *ending = json_object_get(root, "exit");
	uint64_t number = 0;
	bool there = false;
	r->result->wait_status = -1; /* neither exited nor killed */
	if (!ending || json_is_null(ending))
		return true;
	if (!json_is_object(ending))
		return wrong(r, "exit", "is not an object");
	if (!get_integer(r, ending, "signal", 126, &number, &there))
		return false;
	if (there) {
		r->result->wait_status = (int)number;
		return number > 0 || wrong(r, "signal", "is out of range");
	}
	if (!get_integer(r, ending, "status", 255, &number, &there))
		return false;
	r->result->wait_status = there ? (int)(number << 8) : -1;
	return true;
}

static bool read_place(struct result_reader *r, json_t *root, struct rank_place *place)
{
	json_t *rank = json_object_get(root, "rank");
	uint64_t number = 0, size = 0, pid = 0;
	bool has_number = false, has_size = false;
	*place = (struct rank_place){0};
	if (!rank)
		return true;
	if (!json_is_object(rank))
		return wrong(r, "rank", "is not an object");
	if (!get_integer(r, rank, "rank", JOB_RANKS_MOST - 1, &number, &has_number) ||
	    !get_integer(r, rank, "size", JOB_RANKS_MOST, &size, &has_size) ||
	    !get_integer(r, rank, "pid", INT32_MAX, &pid, NULL) ||
	    !get_word(r, rank, "launcher", true, &place->launcher) || !get_word(r, rank, "job", true, &place->job))
		return false;
	if (!has_number || !has_size || number >= size)
		return wrong(r, "rank", "is not below its size");
	place->rank = number;
	place->size = size;
	place->pid = (int64_t)pid;
	return true;
}

static bool read_root(struct result_reader *r, json_t *root, struct rank_place *place)
{
	struct result *result = r->result;
	json_t *machine = json_object_get(root, "machine");
	const char **command;
	size_t words;
	uint64_t version = 0;
	if (!get_integer(r, root, "tare", exact_most, &version, NULL))
		return false;
	if (version != 1)
		return wrong(r, "\"tare\"", "is not 1");
	if (!json_is_object(machine))
		return wrong(r, "machine", "is missing");
	if (!get_word(r, machine, "hostname", false, &result->machine.hostname) ||
	    !read_texts(r, root, "command", &command, &words) ||
	    !get_text(r, root, "target", false, &result->target) ||
	    !get_number(r, root, "confidence", &result->confidence, NULL) || !read_ending(r, root) ||
	    !read_notes(r, root) || !read_place(r, root, place) ||
	    !read_estimates(r, root, "results", &result->estimates, &result->n_estimates) ||
	    !read_estimates(r, root, "metrics", &result->metrics, &result->n_metrics) || !read_regions(r, root))
		return false;
	result->command = command;
	result->interrupted = json_is_true(json_object_get(root, "interrupted"));
	if (result->confidence != 0.95 && result->confidence != 0.99)
		return wrong(r, "confidence", "is neither 0.95 nor 0.99");
	return true;
}

bool read_result(const char *text, size_t length, const char *name, struct result **out, struct rank_place *place,
		 struct error *err)
{
	struct result_reader reader = {.name = name, .err = err};
	json_error_t error;
	bool done = false;
	*out = NULL;
	json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
	if (!root) {
		error_set(err, ERROR_SYNTAX, "'%.200s' is not JSON: line %d, column %d: %.200s", name, error.line,
			  error.column, error.text);
		return error_hint(err, "'tare count --json -o FILE' writes it; an empty or cut file is of a tare "
				       "that was ended");
	}
	if (!(reader.result = result_new())) {
		error_no_memory(err);
	} else {
		reader.arena = &reader.result->arena;
		done = json_is_object(root) ? read_root(&reader, root, place)
					    : wrong(&reader, "it", "is not an object");
	}
	json_decref(root);
	if (done)
		*out = reader.result;
	else
		result_free(reader.result);
	return done;
}
