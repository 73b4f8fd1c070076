/* The text of a table of costs: read, checked, written. See costs.h. */
#include "explain/costs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/stanza.h"

/* A cost above this is a mistake in its unit: 1000 s. */
enum { TEXT_MOST = 1000, SECONDS_MOST = 1000 };

static const char *const names[OPERATIONS] = {
	[OPERATION_INSTRUCTION] = "instruction", [OPERATION_DIVIDE] = "divide",
	[OPERATION_SQUARE_ROOT] = "square-root", [OPERATION_L1_HIT] = "l1-hit",
	[OPERATION_MISALIGNED] = "misaligned",   [OPERATION_L2_HIT] = "l2-hit",
	[OPERATION_L3_HIT] = "l3-hit",           [OPERATION_MEMORY] = "memory",
	[OPERATION_TLB_HIT] = "tlb-hit",         [OPERATION_TLB_WALK] = "tlb-walk",
	[OPERATION_BRANCH_MISS] = "branch-miss", [OPERATION_PAGE_FAULT] = "page-fault",
	[OPERATION_SYSTEM_CALL] = "system-call", [OPERATION_L2_STREAM] = "l2-stream",
	[OPERATION_L3_STREAM] = "l3-stream",     [OPERATION_MEMORY_STREAM] = "memory-stream",
};

const char *operation_name(enum cost_operation operation) { return names[operation]; }

void costs_free(struct costs *costs)
{
	arena_free(&costs->arena);
	*costs = (struct costs){0};
}

/* What a line can hold and give back. */
static bool fits_line(const char *text)
{
	size_t length = strlen(text);
	if (length > TEXT_MOST || !length || text[0] == ' ' || text[length - 1] == ' ')
		return false;
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

/* ---- reading ---- */

struct costs_reader {
	const char *source;
	struct costs *costs;
	const struct stanza *stanza;
	struct error *err;
	bool failed; /* the first failure is in err */
	size_t taken;
};

static void fail(struct costs_reader *r, const char *key, const char *what)
{
	if (!r->failed)
		error_set(r->err, ERROR_SYNTAX, "%s:%u: [%s] %s %s", r->source, r->stanza->line, r->stanza->name,
			  key, what);
	r->failed = true;
}

/* NULL: it is not there. */
static const char *take_optional(struct costs_reader *r, const char *key)
{
	const char *value = stanza_get(r->stanza, key);
	r->taken += value != NULL;
	return value;
}

static const char *take_text(struct costs_reader *r, const char *key)
{
	const char *value = take_optional(r, key);
	if (!value)
		fail(r, key, "is missing");
	else if (!fits_line(value))
		fail(r, key, "is not a valid text");
	const char *copy = value && !r->failed ? arena_strdup(&r->costs->arena, value) : "";
	if (!copy && !r->failed) {
		error_no_memory(r->err);
		r->failed = true;
	}
	return copy ? copy : "";
}

/* NAN: it is not there. */
static double take_number(struct costs_reader *r, const char *key, double least, double most)
{
	const char *value = take_optional(r, key);
	double number = NAN;
	if (value && (!str_to_double(value, &number) || number < least || number > most))
		fail(r, key, "is not a valid number");
	return r->failed ? NAN : number;
}

static uint64_t take_whole(struct costs_reader *r, const char *key, uint64_t least)
{
	const char *value = take_optional(r, key);
	unsigned long long number = 0;
	if (!value)
		fail(r, key, "is missing");
	else if (!str_to_u64(value, &number) || number < least)
		fail(r, key, "is not a valid number");
	return number;
}

static bool end_stanza(struct costs_reader *r)
{
	if (!r->failed && r->taken != r->stanza->n_keys)
		fail(r, "has a key", "that this version does not know, or one twice");
	return !r->failed;
}

static bool read_head(struct costs_reader *r)
{
	struct costs *c = r->costs;
	c->machine = take_text(r, "machine");
	c->title = take_text(r, "title");
	c->clock_hz = take_number(r, "clock_hz", 1, 1e12);
	c->measured = stanza_get(r->stanza, "made") != NULL;
	c->confidence = NAN;
	if (c->measured) {
		c->cpu = take_text(r, "cpu");
		c->kernel = take_text(r, "kernel");
		c->tare_version = take_text(r, "tare");
		c->made_unix = take_whole(r, "made", 0);
		c->seconds = take_number(r, "seconds", 0, 1e9);
		c->confidence = take_number(r, "confidence", 0.5, 1);
		if (isnan(c->seconds) || isnan(c->confidence))
			fail(r, "seconds or confidence", "is missing");
	} else {
		take_text(r, "source");
	}
	return end_stanza(r);
}

/* Seconds of one unit: "ns", or "cycles" of the row's own clock_hz or the machine's. */
static double unit_seconds(struct costs_reader *r)
{
	const char *unit = take_optional(r, "unit");
	double hz = take_number(r, "clock_hz", 1, 1e12);
	if (unit && strcmp(unit, "ns") == 0)
		return 1e-9;
	if (!unit || strcmp(unit, "cycles") != 0) {
		fail(r, "unit", "is neither ns nor cycles");
		return NAN;
	}
	if (isnan(hz))
		hz = r->costs->clock_hz;
	if (isnan(hz))
		fail(r, "clock_hz", "is missing, here and in [costs]: cycles of which clock?");
	return 1 / hz;
}

static bool above(double a, double b) { return !isnan(a) && !isnan(b) && a > b; }

static bool read_cost(struct costs_reader *r)
{
	const char *of = take_optional(r, "of");
	unsigned operation = 0;
	while (of && operation < OPERATIONS && strcmp(of, names[operation]) != 0)
		operation++;
	if (!of || operation == OPERATIONS) {
		fail(r, "of", of ? "is not an operation" : "is missing");
		return false;
	}
	double second = unit_seconds(r), most = SECONDS_MOST / second;
	struct cost cost = {.known = true};
	cost.typical = take_number(r, "typical", 0, most) * second;
	cost.least = take_number(r, "minimum", 0, most) * second;
	cost.most = take_number(r, "maximum", 0, most) * second;
	cost.low = take_number(r, "low", 0, most) * second;
	cost.high = take_number(r, "high", 0, most) * second;
	if (r->costs->measured)
		cost.n = take_whole(r, "n", 1);
	cost.source = take_text(r, "source");
	if (isnan(cost.typical) && isnan(cost.least) && isnan(cost.most))
		fail(r, "typical, minimum, maximum", "are missing");
	if (above(cost.least, cost.typical) || above(cost.typical, cost.most) || above(cost.least, cost.most))
		fail(r, "minimum, typical, maximum", "are not in ascending order");
	if (r->costs->of[operation].known)
		fail(r, "of", "is there twice");
	r->costs->of[operation] = cost;
	return end_stanza(r);
}

static bool read_stanza(struct costs_reader *r, bool first)
{
	r->taken = 0;
	if ((strcmp(r->stanza->name, "costs") == 0) != first) {
		fail(r, "stands", first ? "where [costs] has to begin" : "in the wrong place");
		return false;
	}
	if (first)
		return read_head(r);
	if (strcmp(r->stanza->name, "cost") == 0)
		return read_cost(r);
	fail(r, "is", "not a stanza of costs");
	return false;
}

/* The end that a measured table has: its sum has to be that of the bytes before "[end]". */
static bool check_sum(struct costs_reader *r, const char *text, size_t length)
{
	static const char mark[] = "\n[end]\n";
	const char *end = memmem(text, length, mark, sizeof mark - 1);
	const char *value = take_optional(r, "sum");
	char sum[17];
	if (!end || !value) {
		fail(r, "sum", "is missing");
		return false;
	}
	snprintf(sum, sizeof sum, "%016" PRIx64, hash_bytes(HASH_BEGIN, text, (size_t)(end + 1 - text)));
	if (strcmp(sum, value) != 0)
		fail(r, "sum", "is not that of the file: it was changed or cut short");
	memcpy(r->costs->id, sum, sizeof sum);
	return end_stanza(r);
}

static bool read_all(struct costs_reader *r, const char *text, size_t length)
{
	struct arena arena = {0};
	struct stanza *stanzas;
	size_t n;
	bool done = stanza_parse(text, length, r->source, &arena, &stanzas, &n, r->err);
	if (done && n == 0)
		done = error_set(r->err, ERROR_SYNTAX, "%s: is empty: no [costs]", r->source);
	r->stanza = stanzas;
	done = done && read_stanza(r, true);
	/* a measured table that was changed is refused as such, before its rows are */
	if (done && r->costs->measured && strcmp(stanzas[n - 1].name, "end") == 0) {
		r->stanza = &stanzas[--n];
		r->taken = 0;
		done = check_sum(r, text, length);
	} else if (done && r->costs->measured) {
		done = error_set(r->err, ERROR_SYNTAX, "%s: [end] is missing: the file was cut short", r->source);
	}
	for (size_t i = 1; done && i < n; i++) {
		r->stanza = &stanzas[i];
		done = read_stanza(r, false);
	}
	arena_free(&arena);
	return done;
}

bool costs_parse(const char *text, size_t length, const char *source, struct costs *out, struct error *err)
{
	*out = (struct costs){0};
	struct costs_reader r = {.source = source, .costs = out, .err = err};
	if (read_all(&r, text, length))
		return true;
	costs_free(out);
	return false;
}

/* ---- writing ---- */

static bool put_text(struct str *out, const char *key, const char *value, struct error *err)
{
	if (!value || !fits_line(value))
		return error_set(err, ERROR_SYNTAX, "the costs' %s cannot be saved: '%s'", key,
				 value ? value : "");
	str_appendf(out, "%s = %s\n", key, value);
	return true;
}

/* In ns; 12 digits survive the way from ns to seconds and back. */
static void put_time(struct str *out, const char *key, double seconds)
{
	if (!isnan(seconds))
		str_appendf(out, "%s = %.12g\n", key, seconds * 1e9);
}

static bool put_cost(struct str *out, enum cost_operation operation, const struct cost *cost, struct error *err)
{
	str_appendf(out, "\n[cost]\nof = %s\nunit = ns\n", names[operation]);
	put_time(out, "typical", cost->typical);
	put_time(out, "minimum", cost->least);
	put_time(out, "maximum", cost->most);
	put_time(out, "low", cost->low);
	put_time(out, "high", cost->high);
	str_appendf(out, "n = %zu\n", cost->n);
	return put_text(out, "source", cost->source, err);
}

bool costs_write(struct costs *costs, struct str *out, struct error *err)
{
	str_append(
		out,
		"# What events cost on this machine; written by 'tare calibrate --costs', see tare-calibrate(1).\n"
		"[costs]\n");
	if (!put_text(out, "machine", costs->machine, err) || !put_text(out, "title", costs->title, err) ||
	    !put_text(out, "cpu", costs->cpu, err) || !put_text(out, "kernel", costs->kernel, err) ||
	    !put_text(out, "tare", costs->tare_version, err))
		return false;
	str_appendf(out, "made = %" PRIu64 "\nseconds = %.17g\nconfidence = %.17g\n", costs->made_unix,
		    costs->seconds, costs->confidence);
	if (!isnan(costs->clock_hz))
		str_appendf(out, "clock_hz = %.17g\n", costs->clock_hz);
	for (unsigned i = 0; i < OPERATIONS; i++)
		if (costs->of[i].known && !put_cost(out, (enum cost_operation)i, &costs->of[i], err))
			return false;
	str_append(out, "\n");
	if (out->failed)
		return error_no_memory(err);
	snprintf(costs->id, sizeof costs->id, "%016" PRIx64, hash_bytes(HASH_BEGIN, out->text, out->length));
	str_appendf(out, "[end]\nsum = %s\n", costs->id);
	return !out->failed || error_no_memory(err);
}

bool costs_fit(const struct costs *costs, const char *cpu, const char *kernel, char *why, size_t why_bytes)
{
	if (!costs->measured || strcmp(costs->cpu, cpu) != 0) {
		snprintf(why, why_bytes, "measured on '%s', this is '%s'",
			 costs->measured ? costs->cpu : costs->machine, cpu);
		return false;
	}
	if (strcmp(costs->kernel, kernel) != 0) {
		snprintf(why, why_bytes, "measured under kernel '%s', this is '%s'", costs->kernel, kernel);
		return false;
	}
	if (costs->of[OPERATION_L2_HIT].known && !costs->of[OPERATION_L2_STREAM].known) {
		snprintf(why, why_bytes, "an older tare measured them: they have no costs of lines in order");
		return false;
	}
	return true;
}
