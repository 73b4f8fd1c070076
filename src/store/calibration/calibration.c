/* The text of a kept calibration: written, read, checked. See calibration.h. */
#include "store/calibration/calibration.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/stanza.h"

/* Bounds what a reader takes of memory. */
enum { FORMAT = 1, ROWS_MOST = 20000, TEXT_MOST = 1000, CPUS_MOST = 1 << 20 };

static const char *const interface_names[INTERFACES] = {"command", "library", "library-user", "stubs"};
static const char *const part_names[OVERHEAD_PARTS] = {"program", "region", "enter", "leave"};

const char *interface_name(enum interface interface) { return interface_names[interface]; }

const char *overhead_part_name(enum overhead_part part) { return part_names[part]; }

void calibration_free(struct calibration *c)
{
	vec_free(&c->overheads);
	vec_free(&c->fits);
	vec_free(&c->floors);
	arena_free(&c->arena);
	*c = (struct calibration){0};
}

/* ---- writing ---- */

/* What a line can hold and give back: no control byte, no space at the ends. */
static bool fits_line(const char *text)
{
	size_t length = strlen(text);
	if (length > TEXT_MOST || (length && (text[0] == ' ' || text[length - 1] == ' ')))
		return false;
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

static bool put_text(struct str *out, const char *key, const char *value, struct error *err)
{
	if (!fits_line(value))
		return error_set(err, ERROR_SYNTAX, "a calibration's %s cannot be saved: '%s'", key, value);
	str_appendf(out, "%s = %s\n", key, value);
	return true;
}

/* 17 digits give every double back. */
static void put_number(struct str *out, const char *key, double value)
{
	str_appendf(out, "%s = %.17g\n", key, value);
}

static bool put_overhead(struct str *out, const struct overhead *o, struct error *err)
{
	str_append(out, "\n[overhead]\n");
	if (!put_text(out, "event", o->event, err) || !put_text(out, "unit", o->unit, err))
		return false;
	str_appendf(out, "interface = %s\npart = %s\npass = %s\nconstant = %s\nn = %zu\n",
		    interface_name(o->interface), overhead_part_name(o->part), o->cold ? "cold" : "warm",
		    o->constant ? "yes" : "no", o->n);
	put_number(out, "mean", o->mean);
	put_number(out, "half_width", o->half_width);
	put_number(out, "sd", o->sd);
	put_number(out, "median", o->median);
	put_number(out, "least", o->least);
	put_number(out, "most", o->most);
	return true;
}

static bool put_fit(struct str *out, const struct overhead_fit *f, struct error *err)
{
	str_append(out, "\n[fit]\n");
	if (!put_text(out, "event", f->event, err))
		return false;
	str_appendf(out, "interface = %s\nn = %zu\n", interface_name(f->interface), f->n);
	put_number(out, "o", f->o);
	put_number(out, "o_half_width", f->o_half_width);
	put_number(out, "c", f->c);
	put_number(out, "c_half_width", f->c_half_width);
	put_number(out, "residual_most", f->residual_most);
	if (!isnan(f->block))
		put_number(out, "block", f->block);
	return true;
}

static bool put_floor(struct str *out, const struct noise_floor *f, struct error *err)
{
	str_append(out, "\n[floor]\n");
	if (!put_text(out, "event", f->event, err) || !put_text(out, "unit", f->unit, err))
		return false;
	str_appendf(out, "n = %zu\n", f->n);
	put_number(out, "mean", f->mean);
	put_number(out, "relative_sd", f->relative_sd);
	put_number(out, "seen", f->seen);
	put_number(out, "floor", f->floor);
	return true;
}

bool calibration_write(struct calibration *c, struct str *out, struct error *err)
{
	str_append(out,
		   "# What measuring itself counts here; written by 'tare calibrate', see tare-calibrate(1).\n"
		   "# Valid for this machine, kernel and version of tare alone.\n"
		   "[calibration]\n");
	str_appendf(out, "format = %d\n", FORMAT);
	if (!put_text(out, "tare", c->tare_version, err) || !put_text(out, "cpu", c->cpu, err) ||
	    !put_text(out, "architecture", c->architecture, err) || !put_text(out, "kernel", c->kernel, err) ||
	    !put_text(out, "floor_command", c->floor_command ? c->floor_command : "", err))
		return false;
	str_appendf(out, "cpus = %d\nmade = %" PRIu64 "\nprocesses = %zu\n", c->cpus, c->made_unix, c->processes);
	put_number(out, "confidence", c->confidence);
	for (size_t i = 0; i < c->overheads.count; i++)
		if (!put_overhead(out, &c->overheads.items[i], err))
			return false;
	for (size_t i = 0; i < c->fits.count; i++)
		if (!put_fit(out, &c->fits.items[i], err))
			return false;
	for (size_t i = 0; i < c->floors.count; i++)
		if (!put_floor(out, &c->floors.items[i], err))
			return false;
	str_append(out, "\n");
	if (out->failed)
		return error_no_memory(err);
	snprintf(c->id, sizeof c->id, "%016" PRIx64, hash_bytes(HASH_BEGIN, out->text, out->length));
	str_appendf(out, "[end]\nsum = %s\n", c->id);
	return !out->failed || error_no_memory(err);
}

/* ---- reading ---- */

struct calibration_reader {
	const char *source;
	struct calibration *c;
	const struct stanza *stanza;
	struct error *err;
	bool failed;  /* the first failure is in err; what is read after it means nothing */
	size_t taken; /* keys of the stanza that were asked for and there */
};

static void fail(struct calibration_reader *r, const char *key, const char *what)
{
	if (!r->failed)
		error_set(r->err, ERROR_SYNTAX, "%s:%u: [%s] %s %s", r->source, r->stanza->line, r->stanza->name,
			  key, what);
	r->failed = true;
}

static const char *take(struct calibration_reader *r, const char *key)
{
	const char *value = stanza_get(r->stanza, key);
	if (value)
		r->taken++;
	else
		fail(r, key, "is missing");
	return value;
}

static const char *take_text(struct calibration_reader *r, const char *key, bool may_be_empty)
{
	const char *value = take(r, key);
	if (value && (!fits_line(value) || (!*value && !may_be_empty)))
		fail(r, key, "is not a valid text");
	return value;
}

static double take_number(struct calibration_reader *r, const char *key, double least)
{
	const char *value = take(r, key);
	double number = 0;
	if (value && (!str_to_double(value, &number) || number < least))
		fail(r, key, "is not a valid number");
	return number;
}

static uint64_t take_whole(struct calibration_reader *r, const char *key, uint64_t least, uint64_t most)
{
	const char *value = take(r, key);
	unsigned long long number = 0;
	if (value && (!str_to_u64(value, &number) || number < least || number > most))
		fail(r, key, "is not a valid number");
	return number;
}

/* The index of the word in words[n]. */
static unsigned take_word(struct calibration_reader *r, const char *key, const char *const *words, unsigned n)
{
	const char *value = take(r, key);
	for (unsigned i = 0; value && i < n; i++)
		if (strcmp(value, words[i]) == 0)
			return i;
	if (value)
		fail(r, key, "is not a valid word");
	return 0;
}

static bool end_stanza(struct calibration_reader *r)
{
	if (!r->failed && r->taken != r->stanza->n_keys)
		fail(r, "has a key", "that this version does not know, or one twice");
	return !r->failed;
}

static bool read_head(struct calibration_reader *r)
{
	struct calibration *c = r->c;
	if (take_whole(r, "format", 1, UINT64_MAX) != FORMAT)
		fail(r, "format", "is of another version of tare");
	c->tare_version = take_text(r, "tare", false);
	c->cpu = take_text(r, "cpu", false);
	c->architecture = take_text(r, "architecture", false);
	c->kernel = take_text(r, "kernel", false);
	c->floor_command = take_text(r, "floor_command", true);
	c->cpus = (int)take_whole(r, "cpus", 1, CPUS_MOST);
	c->made_unix = take_whole(r, "made", 0, INT64_MAX);
	c->processes = take_whole(r, "processes", 1, 1000000000);
	c->confidence = take_number(r, "confidence", 0);
	if (!(c->confidence > 0 && c->confidence < 1))
		fail(r, "confidence", "is not between 0 and 1");
	return end_stanza(r);
}

static bool read_overhead(struct calibration_reader *r)
{
	static const char *const passes[] = {"warm", "cold"}, *const no_yes[] = {"no", "yes"};
	struct overhead o = {
		.event = take_text(r, "event", false),
		.unit = take_text(r, "unit", false),
		.interface = (enum interface)take_word(r, "interface", interface_names, INTERFACES),
		.part = (enum overhead_part)take_word(r, "part", part_names, OVERHEAD_PARTS),
		.cold = take_word(r, "pass", passes, 2),
		.constant = take_word(r, "constant", no_yes, 2),
		.n = take_whole(r, "n", 1, 1000000000),
		.mean = take_number(r, "mean", -HUGE_VAL),
		.half_width = take_number(r, "half_width", 0),
		.sd = take_number(r, "sd", 0),
		.median = take_number(r, "median", -HUGE_VAL),
		.least = take_number(r, "least", -HUGE_VAL),
		.most = take_number(r, "most", -HUGE_VAL),
	};
	/* a mean of equal numbers may be off by their rounding */
	double slack = 1e-9 * (fabs(o.least) + fabs(o.most));
	if (!(o.least <= o.median && o.median <= o.most && o.least - slack <= o.mean && o.mean <= o.most + slack))
		fail(r, "mean and median", "are not between least and most");
	return end_stanza(r) && (vec_push(&r->c->overheads, o) || error_no_memory(r->err));
}

static bool read_fit(struct calibration_reader *r)
{
	struct overhead_fit f = {
		.event = take_text(r, "event", false),
		.interface = (enum interface)take_word(r, "interface", interface_names, INTERFACES),
		.n = take_whole(r, "n", 2, 1000000000),
		.o = take_number(r, "o", -HUGE_VAL),
		.o_half_width = take_number(r, "o_half_width", 0),
		.c = take_number(r, "c", -HUGE_VAL),
		.c_half_width = take_number(r, "c_half_width", 0),
		.residual_most = take_number(r, "residual_most", 0),
		.block = NAN,
	};
	if (stanza_get(r->stanza, "block"))
		f.block = take_number(r, "block", -HUGE_VAL);
	return end_stanza(r) && (vec_push(&r->c->fits, f) || error_no_memory(r->err));
}

static bool read_floor(struct calibration_reader *r)
{
	struct noise_floor f = {
		.event = take_text(r, "event", false),
		.unit = take_text(r, "unit", false),
		.n = take_whole(r, "n", 2, 1000000000),
		.mean = take_number(r, "mean", -HUGE_VAL),
		.relative_sd = take_number(r, "relative_sd", 0),
		.seen = take_number(r, "seen", 0),
		.floor = take_number(r, "floor", 0),
	};
	return end_stanza(r) && (vec_push(&r->c->floors, f) || error_no_memory(r->err));
}

/* "[end]\nsum = 0123456789abcdef\n" and nothing behind it. */
static bool check_sum(struct calibration_reader *r, const char *text, size_t length)
{
	static const char end[] = "[end]\nsum = ";
	enum { END = sizeof end - 1, DIGITS = 16, ALL = END + DIGITS + 1 };
	char sum[DIGITS + 1];
	if (length < ALL || memcmp(text + length - ALL, end, END) != 0 || text[length - 1] != '\n')
		return error_set(r->err, ERROR_SYNTAX, "%s: it is cut short: its sum is missing", r->source);
	snprintf(sum, sizeof sum, "%016" PRIx64, hash_bytes(HASH_BEGIN, text, length - ALL));
	if (memcmp(text + length - 1 - DIGITS, sum, DIGITS) != 0)
		return error_set(r->err, ERROR_SYNTAX, "%s: it was changed after it was written: its sum is wrong",
				 r->source);
	memcpy(r->c->id, sum, sizeof sum);
	return true;
}

static bool read_stanza(struct calibration_reader *r, bool first, bool last)
{
	const char *name = r->stanza->name;
	r->taken = 0;
	if (first)
		return strcmp(name, "calibration") == 0 ? read_head(r)
							: (fail(r, "stands", "where [calibration] has to"), false);
	if (last)
		return strcmp(name, "end") == 0 || (fail(r, "stands", "where [end] has to"), false);
	if (strcmp(name, "overhead") == 0)
		return read_overhead(r);
	if (strcmp(name, "fit") == 0)
		return read_fit(r);
	if (strcmp(name, "floor") == 0)
		return read_floor(r);
	fail(r, "is", "not a part of a calibration that this version knows");
	return false;
}

bool calibration_parse(const char *text, size_t length, const char *source, struct calibration *c,
		       struct error *err)
{
	struct error unused;
	struct calibration_reader r = {.source = source, .c = c, .err = err ? err : &unused};
	struct stanza *stanzas;
	size_t count = 0;
	*c = (struct calibration){0};
	bool done = check_sum(&r, text, length) &&
		    stanza_parse(text, length, source, &c->arena, &stanzas, &count, r.err);
	if (done && (count < 2 || count > ROWS_MOST))
		done = error_set(r.err, ERROR_SYNTAX, "%s: %zu stanzas are not a calibration", source, count);
	for (size_t i = 0; done && i < count; i++) {
		r.stanza = &stanzas[i];
		done = read_stanza(&r, i == 0, i + 1 == count);
	}
	if (!done)
		calibration_free(c);
	return done;
}

/* ---- asking ---- */

bool calibration_fits(const struct calibration *c, const struct calibrated_machine *m, char *why, size_t why_bytes)
{
	const struct {
		const char *what, *made, *now;
	} texts[] = {
		{"on the CPU", c->cpu, m->cpu},
		{"on the architecture", c->architecture, m->architecture},
		{"under the kernel", c->kernel, m->kernel},
		{"by the version of tare", c->tare_version, m->tare_version},
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		if (strcmp(texts[i].made, texts[i].now) == 0)
			continue;
		snprintf(why, why_bytes, "made %s '%s', this is '%s'", texts[i].what, texts[i].made, texts[i].now);
		return false;
	}
	if (c->cpus != m->cpus) {
		snprintf(why, why_bytes, "made with %d CPU%s, this machine has %d", c->cpus,
			 c->cpus == 1 ? "" : "s", m->cpus);
		return false;
	}
	return true;
}

const struct overhead *calibration_overhead(const struct calibration *c, const char *event,
					    enum interface interface, enum overhead_part part, bool cold)
{
	for (size_t i = 0; i < c->overheads.count; i++) {
		const struct overhead *o = &c->overheads.items[i];
		if (o->interface == interface && o->part == part && o->cold == cold &&
		    strcmp(o->event, event) == 0)
			return o;
	}
	return NULL;
}

const struct noise_floor *calibration_floor(const struct calibration *c, const char *event)
{
	for (size_t i = 0; i < c->floors.count; i++)
		if (strcmp(c->floors.items[i].event, event) == 0)
			return &c->floors.items[i];
	return NULL;
}
