/*
 *     text ──► layers (the file, what it extends, …) ──► values, merged from the last layer to the first
 *          ──► conf_assemble.c
 *
 * Only values that hold at the end are interpreted: an extended file's `size` that was replaced is never compared
 * with anything.
 */
#include "model/declare/conf.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "model/declare/conf_reader.h"

enum {
	CONTINUED_LINES_MAX = 32, /* of one value */
	STANZAS_MAX = 64,         /* of one file */
};

bool conf_wrong(const struct conf_reader *r, const char *file, unsigned line, const char *what, ...)
{
	char text[400];
	va_list list;
	va_start(list, what);
	vsnprintf(text, sizeof text, what, list);
	va_end(list);
	return error_set(r->err, ERROR_SYNTAX, "%.100s:%u: %s", file, line, text);
}

/* ---- text ---- */

/* What base/stanza.h would take and a machine file never has. */
static bool lines_are_sane(const struct conf_reader *r, const struct conf_text *text)
{
	const char *at = text->text, *end = at + text->length;
	unsigned continued = 0;
	if (text->length > MACHINE_FILE_BYTES_MAX)
		return error_set(r->err, ERROR_LIMIT, "%.100s: more than %d bytes", text->shown,
				 MACHINE_FILE_BYTES_MAX);
	for (unsigned line = 1; at < end; line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
		if (memchr(at, '\0', (size_t)(stop - at)))
			return conf_wrong(r, text->shown, line, "a NUL byte in a text file") ||
			       error_hint(r->err,
					  "is it a machine file? they are plain text: see tare-machines(5)");
		for (const char *c = at; c < stop; c++)
			if (((unsigned char)*c < ' ' && *c != '\t' && !(*c == '\r' && c + 1 == stop)) ||
			    *c == 0x7f)
				return conf_wrong(r, text->shown, line,
						  "a control character (byte %#x in column %zu)",
						  (unsigned char)*c, (size_t)(c - at) + 1) ||
				       error_hint(
					       r->err,
					       "is it a machine file? they are plain text: see tare-machines(5)");
		if (stop - at > MACHINE_LINE_BYTES_MAX)
			return conf_wrong(r, text->shown, line, "a line of %zu bytes: at most %d",
					  (size_t)(stop - at), MACHINE_LINE_BYTES_MAX) ||
			       error_hint(r->err, "a value may go on in indented lines");
		continued = at < stop && isspace((unsigned char)*at) ? continued + 1 : 0;
		if (continued > CONTINUED_LINES_MAX)
			return conf_wrong(r, text->shown, line, "a value that goes on for more than %d lines",
					  CONTINUED_LINES_MAX);
		at = stop + 1;
	}
	return true;
}

static bool names_are_known(const struct conf_reader *r, const struct layer *layer)
{
	if (layer->n_stanzas > STANZAS_MAX)
		return conf_wrong(r, layer->text.shown, layer->stanzas[STANZAS_MAX].line, "more than %d stanzas",
				  STANZAS_MAX);
	for (size_t i = 0; i < layer->n_stanzas; i++) {
		const struct stanza *s = &layer->stanzas[i];
		const char *file = layer->text.shown;
		for (size_t k = 0; k < i; k++)
			if (strcmp(layer->stanzas[k].name, s->name) == 0)
				return conf_wrong(r, file, s->line, "a second [%.20s]; the first is in line %u",
						  s->name, layer->stanzas[k].line) ||
				       error_hint(r->err, "put the keys of both into one stanza");
		enum conf_stanza kind = conf_stanza_of(s->name);
		if (kind == STANZA_UNKNOWN)
			return conf_wrong(r, file, s->line, "no component is called '%.40s'", s->name) ||
			       error_hint(
				       r->err,
				       "there are [machine], caches such as [L1D] and [L2], TLBs such as [DTLB], "
				       "[branches] and [targets]");
		if ((kind == STANZA_CACHE || kind == STANZA_TLB) &&
		    strlen(s->name) >= sizeof((struct machine_cache *)0)->name)
			return conf_wrong(r, file, s->line, "'%.40s' is too long a name: at most 7 characters",
					  s->name);
	}
	return true;
}

const struct conf_key *conf_key_named(enum conf_stanza kind, const char *name)
{
	const struct conf_key *key = conf_keys(kind);
	while (key->name && strcmp(key->name, name) != 0)
		key++;
	return key->name ? key : NULL;
}

/* Keys that any component has beside its own. */
static bool is_common(enum conf_stanza kind, const char *name)
{
	return strcmp(name, "source") == 0 || (kind != STANZA_MACHINE && strcmp(name, "drop") == 0);
}

static bool keys_are_known(const struct conf_reader *r, const char *file, const struct stanza *s)
{
	enum conf_stanza kind = conf_stanza_of(s->name);
	for (size_t i = 0; i < s->n_keys; i++) {
		const struct stanza_key *k = &s->keys[i];
		if (!is_common(kind, k->key) && !conf_key_named(kind, k->key)) {
			struct nearest found = {0};
			for (const struct conf_key *key = conf_keys(kind); key->name; key++)
				nearest_consider(&found, k->key, key->name);
			conf_wrong(r, file, k->line, "%s has no key '%.40s'", conf_stanza_name(kind), k->key);
			return error_hint(r->err, "did you mean '%s'%s%s%s? tare-machines(5) has all keys",
					  found.names[0], found.names[1] ? " or '" : "",
					  found.names[1] ? found.names[1] : "", found.names[1] ? "'" : "");
		}
		if (!*k->value)
			return conf_wrong(r, file, k->line, "no value for '%s'", k->key);
		if (strcmp(k->key, "source") == 0) {
			if (i == 0 || strcmp(s->keys[i - 1].key, "source") == 0)
				return conf_wrong(r, file, k->line, "'source' without a key before it") ||
				       error_hint(r->err,
						  "'source' comes after the keys that it is the source of");
			continue;
		}
		for (size_t n = 0; n < i; n++)
			if (strcmp(s->keys[n].key, k->key) == 0)
				return conf_wrong(r, file, k->line, "'%s' a second time; the first is in line %u",
						  k->key, s->keys[n].line);
	}
	return true;
}

/* ---- layers ---- */

static const struct stanza_key *extends_of(const struct layer *layer)
{
	for (size_t i = 0; i < layer->n_stanzas; i++)
		for (size_t k = 0; strcmp(layer->stanzas[i].name, "machine") == 0 && k < layer->stanzas[i].n_keys;
		     k++)
			if (strcmp(layer->stanzas[i].keys[k].key, "extends") == 0)
				return &layer->stanzas[i].keys[k];
	return NULL;
}

static bool is_circle(const struct conf_reader *r, const struct layer *from, const struct stanza_key *extends,
		      const struct conf_text *text)
{
	for (size_t i = 0; i < r->n_layers; i++) {
		if (strcmp(r->layers[i].text.identity, text->identity) != 0)
			continue;
		conf_wrong(r, from->text.shown, extends->line,
			   "'extends = %.60s' goes round in a circle: %.100s %s", extends->value, text->shown,
			   i + 1 == r->n_layers ? "would extend itself" : "extends this file");
		error_hint(r->err, "remove one of the 'extends'");
		return true;
	}
	return false;
}

static bool read_layers(struct conf_reader *r, const struct conf_text *first)
{
	struct conf_text text = *first;
	for (;;) {
		struct layer *layer = &r->layers[r->n_layers++];
		layer->text = text;
		if (!lines_are_sane(r, &text) ||
		    !stanza_parse(text.text, text.length, text.shown, r->arena, &layer->stanzas, &layer->n_stanzas,
				  r->err) ||
		    !names_are_known(r, layer))
			return false;
		for (size_t i = 0; i < layer->n_stanzas; i++)
			if (!keys_are_known(r, text.shown, &layer->stanzas[i]))
				return false;
		const struct stanza_key *extends = extends_of(layer);
		if (!extends)
			return true;
		if (r->n_layers == MACHINE_EXTENDS_MAX)
			return conf_wrong(r, text.shown, extends->line, "more than %d files extend one another",
					  MACHINE_EXTENDS_MAX) ||
			       error_hint(r->err, "extend one that is nearer to the end of the chain");
		struct error inner = {0};
		if (!conf_text_extended(extends->value, &layer->text, r->arena, &text, &inner)) {
			conf_wrong(r, layer->text.shown, extends->line, "cannot extend '%.60s': %.250s",
				   extends->value, inner.text);
			if (r->err)
				r->err->code = inner.code;
			return inner.hint[0] ? error_hint(r->err, "%s", inner.hint) : false;
		}
		if (is_circle(r, layer, extends, &text))
			return false;
	}
}

/* ---- values ---- */

struct machine_value *conf_value_of(const struct conf_reader *r, const char *stanza, const char *key)
{
	for (size_t i = 0; i < r->values.count; i++)
		if (strcmp(r->values.items[i].stanza, stanza) == 0 && strcmp(r->values.items[i].key, key) == 0)
			return &r->values.items[i];
	return NULL;
}

/* The end of the stanza's values, or of all. */
static size_t place_for(const struct conf_reader *r, const char *stanza)
{
	size_t place = r->values.count;
	for (size_t i = 0; i < r->values.count; i++)
		if (strcmp(r->values.items[i].stanza, stanza) == 0)
			place = i + 1;
	return place;
}

static void forget_stanza(struct conf_reader *r, const char *stanza)
{
	size_t kept = 0;
	for (size_t i = 0; i < r->values.count; i++)
		if (strcmp(r->values.items[i].stanza, stanza) != 0)
			r->values.items[kept++] = r->values.items[i];
	r->values.count = kept;
}

static bool put_value(struct conf_reader *r, const struct machine_value *value)
{
	struct machine_value *there = conf_value_of(r, value->stanza, value->key);
	if (there) {
		*there = *value;
		return true;
	}
	size_t place = place_for(r, value->stanza);
	if (!vec_push(&r->values, *value))
		return error_no_memory(r->err);
	memmove(&r->values.items[place + 1], &r->values.items[place],
		(r->values.count - 1 - place) * sizeof *r->values.items);
	r->values.items[place] = *value;
	return true;
}

/* The source that covers a key: the first `source` after it. */
static const char *source_of(const struct stanza *s, size_t key)
{
	for (; key < s->n_keys; key++)
		if (strcmp(s->keys[key].key, "source") == 0)
			return s->keys[key].value;
	return NULL;
}

static bool merge_stanza(struct conf_reader *r, const struct layer *layer, const struct stanza *s)
{
	for (size_t i = 0; i < s->n_keys; i++) {
		const struct stanza_key *k = &s->keys[i];
		if (strcmp(k->key, "drop") == 0) {
			size_t others = 0;
			for (size_t n = 0; n < s->n_keys; n++)
				others += !is_common(STANZA_CACHE, s->keys[n].key);
			if (strcmp(k->value, "yes") != 0 || others)
				return conf_wrong(r, layer->text.shown, k->line,
						  "'drop' is 'yes', and alone in its stanza");
			if (place_for(r, s->name) == r->values.count &&
			    (r->values.count == 0 ||
			     strcmp(r->values.items[r->values.count - 1].stanza, s->name) != 0))
				return conf_wrong(r, layer->text.shown, k->line, "there is no '%s' to drop",
						  s->name);
			forget_stanza(r, s->name);
			return true;
		}
	}
	/* another predictor has other properties: none of the old one's stay behind */
	if (strcmp(s->name, "branches") == 0)
		for (size_t i = 0; i < s->n_keys; i++)
			if (strcmp(s->keys[i].key, "predictor") == 0)
				forget_stanza(r, s->name);
	for (size_t i = 0; i < s->n_keys; i++) {
		const struct stanza_key *k = &s->keys[i];
		if (is_common(STANZA_CACHE, k->key) || strcmp(k->key, "extends") == 0)
			continue;
		struct machine_value value = {s->name,           k->key,  k->value,
					      layer->text.shown, k->line, source_of(s, i)};
		if (!put_value(r, &value))
			return false;
	}
	return true;
}

static bool merge_layers(struct conf_reader *r)
{
	for (size_t n = r->n_layers; n-- > 0;)
		for (size_t i = 0; i < r->layers[n].n_stanzas; i++)
			if (!merge_stanza(r, &r->layers[n], &r->layers[n].stanzas[i]))
				return false;
	return true;
}

/* ---- entries ---- */

static bool keep(struct conf_reader *r, struct machine_description *out)
{
	const char **files = arena_alloc(r->arena, (r->n_layers + 1) * sizeof *files);
	struct machine_value *values = arena_alloc(r->arena, r->values.count * sizeof *values + 1);
	if (!files || !values)
		return error_no_memory(r->err);
	for (size_t i = 0; i < r->n_layers; i++)
		files[i] = r->layers[i].text.shown;
	if (r->values.count)
		memcpy(values, r->values.items, r->values.count * sizeof *values);
	out->files = files;
	out->values = values;
	out->n_values = r->values.count;
	return true;
}

/* text's strings are in out->arena, which is freed on failure. */
static bool read_text(const struct conf_text *text, struct machine_description *out, struct error *err)
{
	struct conf_reader r = {.arena = &out->arena, .err = err};
	bool done = read_layers(&r, text) && merge_layers(&r) && conf_assemble(&r, &out->machine) && keep(&r, out);
	vec_free(&r.values);
	return done;
}

void machine_description_free(struct machine_description *description)
{
	arena_free(&description->arena);
	*description = (struct machine_description){0};
}

bool machine_parse(const char *text, size_t length, const char *source, const char *folder, const char *name,
		   struct machine_description *out, struct error *err)
{
	*out = (struct machine_description){0};
	struct conf_text first = {text, length, source, source, folder, name};
	bool done = read_text(&first, out, err);
	if (!done)
		machine_description_free(out);
	return done;
}

bool machine_read_description(const char *path, struct machine_description *out, struct error *err)
{
	struct conf_text text;
	*out = (struct machine_description){0};
	bool done = conf_text_of_file(path, &out->arena, &text, err) && read_text(&text, out, err);
	if (!done)
		machine_description_free(out);
	return done;
}

bool machine_named_description(const char *name, struct machine_description *out, struct error *err)
{
	struct conf_text text;
	*out = (struct machine_description){0};
	bool done = conf_text_named(name, &out->arena, &text, err) && read_text(&text, out, err);
	if (!done)
		machine_description_free(out);
	return done;
}
