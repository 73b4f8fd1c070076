#include "report/openmetrics.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "report/number.h"

/* One line, and what its family's head says. */
struct exposed {
	const char *family, *labels, *value;
	const char *unit;  /* the family's, which its name ends in; NULL */
	const char *event; /* of HELP */
	const char *counts_in;
	bool gauge;
	size_t place; /* in the order of the result */
};

struct exposition {
	struct arena arena;
	VEC(struct exposed) samples;
	VEC(struct exposed) states;
	enum metrics_dialect dialect;
	bool means, failed;
};

/* ---- text ---- */

/* Bytes of the UTF-8 character at s; 0: it is none (Unicode 15, table 3-7). */
static size_t character(const unsigned char *s)
{
	size_t n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	bool outside = (*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) || (*s == 0xf0 && s[1] < 0x90) ||
		       (*s == 0xf4 && s[1] > 0x8f);
	return outside ? 0 : n;
}

/* quotes: of labels, and of OpenMetrics' HELP; the older format's HELP has them as they are. */
static void escaped(struct str *out, const char *text, bool quotes)
{
	for (const unsigned char *s = (const unsigned char *)text; *s;) {
		size_t n = character(s);
		if (*s == '\n')
			str_append(out, "\\n");
		else if (*s == '\\' || (*s == '"' && quotes))
			str_appendf(out, "\\%c", *s);
		else if (n)
			str_append_bytes(out, (const char *)s, n);
		else
			str_append(out, "\xef\xbf\xbd");
		s += n ? n : 1;
	}
}

static void label(struct str *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	str_appendf(out, "%s%s=\"", out->length ? "," : "", name);
	escaped(out, value, true);
	str_append_char(out, '"');
}

static void number_label(struct str *out, const char *name, long value)
{
	str_appendf(out, "%s%s=\"%ld\"", out->length ? "," : "", name, value);
}

/* The text in the arena; marks what memory was missing for. */
static const char *kept(struct exposition *x, struct str *text)
{
	const char *copy = text->failed ? NULL
					: arena_strndup(&x->arena, text->text ? text->text : "", text->length);
	str_free(text);
	x->failed |= !copy;
	return copy ? copy : "";
}

/* ---- families ---- */

struct base_unit {
	const char *unit, *base; /* base NULL: the name does not say it */
	double divisor;
};

static struct base_unit base_unit_of(const char *unit)
{
	static const struct base_unit units[] = {
		{"ns", "seconds", 1e9}, {"seconds", "seconds", 1}, {"s", "seconds", 1},
		{"bytes", "bytes", 1},  {"joules", "joules", 1},   {"%", "ratio", 100},
	};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(units[i].unit, unit) == 0)
			return units[i];
	return (struct base_unit){unit, NULL, 1};
}

/* "cache-misses:u" at level "user" is cache-misses: the level is a label of its own. */
static size_t name_length(const struct estimate *e)
{
	const char *colon = strrchr(e->event, ':');
	return colon && *e->level && strspn(colon + 1, "ukh") == strlen(colon + 1) ? (size_t)(colon - e->event)
										   : strlen(e->event);
}

static bool ends_in(const struct str *s, const char *end)
{
	size_t n = strlen(end);
	return s->length >= n && memcmp(s->text + s->length - n, end, n) == 0;
}

/* Names of tare's own begin so; an event of the user's may not take one. */
static bool is_taken(const char *name)
{
	return strncmp(name, "metric_", 7) == 0 || strncmp(name, "region_", 7) == 0 ||
	       strncmp(name, "event_", 6) == 0 || strcmp(name, "info") == 0;
}

static const char *family_of(struct exposition *x, const struct estimate *e, const char *prefix,
			     const struct base_unit *unit)
{
	struct str text = {0}, name = {0};
	for (size_t i = 0, end = name_length(e); i < end; i++) {
		unsigned char c = (unsigned char)e->event[i];
		bool word = c < 0x80 && isalnum(c);
		/* one '_' for several bytes, and none at the end */
		if (word)
			str_append_char(&name, (char)tolower(c));
		else if (i + 1 < end && name.length && name.text[name.length - 1] != '_')
			str_append_char(&name, '_');
	}
	/* a counter's sample gets this suffix by itself, and a gauge must not have it */
	while (!name.failed && name.length > 6 && ends_in(&name, "_total"))
		name.text[name.length -= 6] = '\0';
	str_appendf(&text, "tare_%s%s%s", prefix, name.text && !*prefix && is_taken(name.text) ? "named_" : "",
		    name.text && *name.text ? name.text : "unnamed");
	if (unit->base && !ends_in(&text, arena_printf(&x->arena, "_%s", unit->base)))
		str_appendf(&text, "_%s", unit->base);
	text.failed |= name.failed;
	str_free(&name);
	return kept(x, &text);
}

/* A peak does not grow with what is done, but for the time that it was reached. */
static bool is_peak(const struct estimate *e) { return strncmp(e->event, "peak-memory", name_length(e)) == 0; }

static const char *why_absent(const struct estimate *e)
{
	if (!e->known)
		return e->why && *e->why ? e->why : "not counted";
	if (e->trust == TRUST_REFUTED)
		return "refuted: it cannot be right beside other counts";
	return isfinite(e->value) ? NULL : "it has no finite value";
}

static const char *labels_of(struct exposition *x, const struct estimate *e, const char *region, const char *why,
			     const char *note)
{
	struct str text = {0};
	char *event = arena_strndup(&x->arena, e->event, name_length(e));
	x->failed |= !event;
	label(&text, "event", event);
	label(&text, "level", e->level);
	label(&text, "region", region);
	label(&text, "machine", e->machine);
	if (e->cpu >= 0)
		number_label(&text, "cpu", e->cpu);
	if (e->pid)
		number_label(&text, "pid", e->pid);
	if (e->tid)
		number_label(&text, "tid", e->tid);
	label(&text, "command", e->command);
	label(&text, "source", source_name(e->source));
	label(&text, "why", why);
	label(&text, "note", note);
	return kept(x, &text);
}

/* Of the rows of one part, is there one of a CPU, process or thread for the event of this total? */
static bool has_parts(const struct estimate *rows, size_t n, const struct estimate *total)
{
	for (size_t i = 0; i < n; i++)
		if (!estimate_is_total(&rows[i]) && strcmp(rows[i].event, total->event) == 0)
			return true;
	return false;
}

static void add_row(struct exposition *x, const struct estimate *e, const char *prefix, const char *region)
{
	const char *why = why_absent(e);
	char number[NUMBER_BYTES];
	struct base_unit unit = base_unit_of(e->unit);
	struct exposed sample = {.family = "tare_event_counted",
				 .labels = labels_of(x, e, region, why, e->note),
				 .value = why ? "0" : "1",
				 .gauge = true,
				 .place = x->states.count};
	x->failed |= !vec_push(&x->states, sample);
	if (why)
		return;
	number_exact(number, e->value / unit.divisor);
	sample = (struct exposed){.family = family_of(x, e, prefix, &unit),
				  .labels = labels_of(x, e, region, NULL, NULL),
				  .value = arena_strdup(&x->arena, number),
				  .unit = unit.base,
				  .event = arena_strndup(&x->arena, e->event, name_length(e)),
				  .counts_in = unit.base ? unit.base : unit.unit,
				  .gauge = x->means || is_peak(e) || strcmp(prefix, "metric_") == 0,
				  .place = x->samples.count};
	x->failed |= !sample.value || !sample.event || !vec_push(&x->samples, sample);
}

static void add_rows(struct exposition *x, const struct estimate *rows, size_t n, const char *prefix,
		     const char *region)
{
	for (size_t i = 0; i < n; i++)
		if (!estimate_is_total(&rows[i]) || !has_parts(rows, n, &rows[i]))
			add_row(x, &rows[i], prefix, region);
}

/* ---- writing ---- */

/* Samples of a family together, those with the same labels beside each other. */
static int in_families(const void *left, const void *right)
{
	const struct exposed *a = left, *b = right;
	int order = strcmp(a->family, b->family);
	if (!order)
		order = strcmp(a->labels, b->labels);
	return order ? order : a->place < b->place ? -1 : 1;
}

static void put_head(struct str *out, const struct exposition *x, const struct exposed *s)
{
	bool open = x->dialect == METRICS_OPEN;
	const char *suffix = !open && !s->gauge ? "_total" : "";
	str_appendf(out, "# TYPE %s%s %s\n", s->family, suffix, s->gauge ? "gauge" : "counter");
	if (open && s->unit)
		str_appendf(out, "# UNIT %s %s\n", s->family, s->unit);
	str_appendf(out, "# HELP %s%s ", s->family, suffix);
	if (!s->event) {
		str_append(out, "1: the event is counted; 0: it is not, and why\n");
		return;
	}
	escaped(out, s->event, open);
	if (*s->counts_in) {
		str_append(out, ", in ");
		escaped(out, s->counts_in, open);
	}
	str_append(out, x->means ? ": mean of the repetitions\n" : "\n");
}

static void put_samples(struct str *out, const struct exposition *x, struct exposed *samples, size_t n)
{
	if (n)
		qsort(samples, n, sizeof *samples, in_families);
	for (size_t i = 0; i < n; i++) {
		const struct exposed *s = &samples[i];
		bool same = i && strcmp(s[-1].family, s->family) == 0;
		if (same && strcmp(s[-1].labels, s->labels) == 0)
			continue; /* the event was asked for twice */
		if (!same)
			put_head(out, x, s);
		str_appendf(out, "%s%s{%s} %s\n", s->family, s->gauge ? "" : "_total", s->labels, s->value);
	}
}

static void put_info(struct str *out, const struct exposition *x, const struct result *r)
{
	bool open = x->dialect == METRICS_OPEN;
	struct str labels = {0};
	label(&labels, "version", TARE_VERSION);
	label(&labels, "cpu", r->machine.cpu);
	label(&labels, "kernel", r->machine.kernel);
	label(&labels, "host", r->machine.hostname);
	label(&labels, "target", r->command ? r->command[0] : r->target);
	str_appendf(out,
		    "# TYPE tare%s\n# HELP tare%s what counts, and where\n"
		    "tare_info{%s} 1\n",
		    open ? " info" : "_info gauge", open ? "" : "_info", labels.text ? labels.text : "");
	out->failed |= labels.failed;
	str_free(&labels);
}

bool report_openmetrics(FILE *out, const struct result *r, enum metrics_dialect dialect)
{
	struct exposition x = {.dialect = dialect, .means = r->repetitions > 1};
	struct str text = {0};
	add_rows(&x, r->estimates, r->n_estimates, "", NULL);
	add_rows(&x, r->metrics, r->n_metrics, "metric_", NULL);
	for (size_t i = 0; i < r->n_regions; i++)
		add_rows(&x, r->regions[i].estimates, r->regions[i].n_estimates, "region_", r->regions[i].name);
	put_info(&text, &x, r);
	if (!x.failed) {
		put_samples(&text, &x, x.samples.items, x.samples.count);
		put_samples(&text, &x, x.states.items, x.states.count);
	}
	if (dialect == METRICS_OPEN)
		str_append(&text, "# EOF\n");
	bool done = !x.failed && !text.failed;
	if (done)
		fwrite(text.text, 1, text.length, out);
	str_free(&text);
	vec_free(&x.samples);
	vec_free(&x.states);
	arena_free(&x.arena);
	return done;
}
