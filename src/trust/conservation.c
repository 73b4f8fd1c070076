#include "trust/conservation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "event/formula.h"
#include "event/rows.h"
#include "stats/stats.h"

enum relation { EQUAL, AT_MOST };

enum { OF_HW = 1, OF_OS = 2, OF_EXACT = 4, OF_MODEL = 8, OF_ALL = 15, OF_ESTIMATE = 16 /* no law is of these */ };

struct law {
	const char *name; /* first: event/rows.h */
	const char *text, *because;
	struct formula left, right;
	enum relation relation;
	unsigned of, computed;
};

struct laws {
	struct arena arena;
	struct rows rows; /* struct law */
	const struct law *levels, *twice;
};

/* One law with the counts that it is about. */
struct case_of_law {
	const struct law *law;
	struct estimate *left[FORMULA_INPUTS_MOST], *right[FORMULA_INPUTS_MOST];
};

/* What both sides are where a law is broken. */
struct sides {
	double left, right;
	size_t repetition; /* 1-based; 0: means of all */
};

/* Reading the rows. */

static bool read_law(struct law *law, struct arena *arena, struct error *why)
{
	const char *sign = strchr(law->text, '=');
	if (!sign)
		return error_set(why, ERROR_SYNTAX, "neither = nor <=");
	law->relation = sign > law->text && sign[-1] == '<' ? AT_MOST : EQUAL;
	char *left = arena_strdup(arena, law->text);
	if (!left)
		return error_no_memory(why);
	left[sign - law->text - (law->relation == AT_MOST)] = '\0';
	return formula_parse(left, arena, &law->left, why) && formula_parse(sign + 1, arena, &law->right, why);
}

static bool read_sources(const char *text, unsigned *of)
{
	static const char *const words[] = {"hw", "os", "exact", "model"};
	for (*of = 0; *text; text += strspn(text, " ")) {
		size_t length = strcspn(text, " "), i = 0;
		while (i < 4 && !(strlen(words[i]) == length && memcmp(words[i], text, length) == 0))
			i++;
		if (i == 4)
			return false;
		*of |= 1U << i;
		text += length;
	}
	return *of != 0;
}

static const void *read_row(struct arena *arena, const struct stanza *stanza, const char *source,
			    struct error *err)
{
	struct law *law = arena_alloc(arena, sizeof *law);
	struct error why;
	if (!law) {
		error_no_memory(err);
		return NULL;
	}
	*law = (struct law){.name = stanza->name, .of = OF_ALL};
	for (size_t i = 0; i < stanza->n_keys; i++) {
		const struct stanza_key *key = &stanza->keys[i];
		if (strcmp(key->key, "law") == 0 && !law->text) {
			law->text = key->value;
		} else if (strcmp(key->key, "because") == 0 && !law->because) {
			law->because = key->value;
		} else if (!(strcmp(key->key, "of") == 0 && read_sources(key->value, &law->of)) &&
			   !(strcmp(key->key, "computed") == 0 && read_sources(key->value, &law->computed))) {
			error_set(err, ERROR_SYNTAX, "%s:%u: '%s = %s' is not a line of a law", source, key->line,
				  key->key, key->value);
			return NULL;
		}
	}
	if (!law->text || !law->because) {
		error_set(err, ERROR_SYNTAX, "%s:%u: the law '%s' has no '%s'", source, stanza->line, law->name,
			  law->text ? "because" : "law");
		return NULL;
	}
	if (!read_law(law, arena, &why)) {
		error_set(err, why.code, "%s:%u: the law '%s', %s", source, stanza->line, law->name, why.text);
		return NULL;
	}
	return law;
}

/* A law of all events; its names are those of the counts. */
static const struct law *own_law(struct laws *laws, const char *name, const char *text, const char *because)
{
	struct law *law = arena_alloc(&laws->arena, sizeof *law);
	if (!law)
		return NULL;
	*law = (struct law){.name = name, .text = text, .because = because, .of = OF_ALL};
	return read_law(law, &laws->arena, NULL) ? law : NULL;
}

struct laws *laws_new(const struct embedded_file *files, struct error *err)
{
	struct laws *laws = calloc(1, sizeof *laws);
	if (!laws) {
		error_no_memory(err);
		return NULL;
	}
	laws->levels = own_law(laws, "levels", "user + kernel = both", "code runs at one of the two levels");
	laws->twice = own_law(laws, "twice", "once = again", "the same event was counted at the same time");
	if (!laws->levels || !laws->twice)
		error_no_memory(err);
	else if (rows_add_embedded(&laws->rows, read_row, &laws->arena, files, err))
		return laws;
	laws_free(laws);
	return NULL;
}

void laws_free(struct laws *laws)
{
	if (!laws)
		return;
	rows_free(&laws->rows);
	arena_free(&laws->arena);
	free(laws);
}

/* Judging one case. */

static unsigned kind_of(enum source source)
{
	return source == SOURCE_EXACT     ? OF_EXACT
	       : source == SOURCE_MODEL   ? OF_MODEL
	       : source == SOURCE_SAMPLED ? OF_ESTIMATE
	       : source == SOURCE_OS      ? OF_OS
					  : OF_HW;
}

/* One side in one repetition; SIZE_MAX: the estimates with their intervals. */
static bool side(const struct formula *formula, struct estimate *const *terms, size_t repetition,
		 struct metric_input *out)
{
	struct metric_input inputs[FORMULA_INPUTS_MOST];
	for (size_t i = 0; i < formula->n_inputs; i++) {
		const struct estimate *e = terms[i];
		double value = repetition == SIZE_MAX ? e->value : e->runs[repetition];
		inputs[i] = (struct metric_input){true, value, value, value};
		if (repetition == SIZE_MAX && e->has_interval) {
			inputs[i].low = e->low;
			inputs[i].high = e->high;
		}
	}
	return formula_evaluate(formula, inputs, out, NULL);
}

static bool both_sides(const struct case_of_law *c, size_t repetition, struct metric_input *left,
		       struct metric_input *right)
{
	return side(&c->law->left, c->left, repetition, left) && side(&c->law->right, c->right, repetition, right);
}

/* How far the left side is beyond what the law allows; negative: it is not. */
static double excess(const struct law *law, double left, double right)
{
	return law->relation == EQUAL ? fabs(left - right) : left - right;
}

static double slack(unsigned kinds, double left, double right)
{
	return LAW_SLACK * fmax(fabs(left), fabs(right)) + (kinds & OF_HW ? LAW_SLACK_EVENTS : 0);
}

/* Counts of the engine or of a model: of one and the same execution, to the last event. */
static bool broken_exactly(const struct case_of_law *c, size_t n, struct sides *out)
{
	struct metric_input left, right;
	for (size_t r = 0; r < n; r++) {
		if (both_sides(c, r, &left, &right) && excess(c->law, left.value, right.value) >= 0.5) {
			*out = (struct sides){left.value, right.value, r + 1};
			return true;
		}
	}
	return false;
}

/* Counters that count all the time, over several executions: are the sides apart in most of them, the left one
 * above (sign 1) or below (-1)? The execution in the middle is told. */
static bool broken_in_most(const struct case_of_law *c, size_t n, unsigned kinds, double sign, struct sides *out)
{
	struct metric_input left = {0}, right = {0};
	struct interval usual;
	bool broken = false;
	size_t middle = 0;
	double *beyond = calloc(n, sizeof *beyond); /* what the law does not allow */
	if (!beyond)
		return false;
	for (size_t r = 0; r < n; r++) {
		if (!both_sides(c, r, &left, &right))
			goto out;
		beyond[r] = sign * (left.value - right.value) - slack(kinds, left.value, right.value);
	}
	broken = (stats_median_interval(beyond, n, 0.95, &usual) ||
		  stats_mean_interval(beyond, n, 0.95, &usual)) &&
		 usual.low > 0;
	for (size_t r = 1; broken && r < n; r++)
		if (fabs(beyond[r] - usual.value) < fabs(beyond[middle] - usual.value))
			middle = r;
	broken = broken && both_sides(c, middle, &left, &right);
	*out = (struct sides){left.value, right.value, middle + 1};
out:
	free(beyond);
	return broken;
}

static bool broken_by_intervals(const struct case_of_law *c, unsigned kinds, struct sides *out)
{
	struct metric_input left, right;
	if (!both_sides(c, SIZE_MAX, &left, &right))
		return false;
	double allowed = slack(kinds, left.value, right.value);
	*out = (struct sides){left.value, right.value, 0};
	return left.low > right.high + allowed || (c->law->relation == EQUAL && right.low > left.high + allowed);
}

/* What is common to a case's counts. */
struct terms {
	unsigned kinds;    /* OF_… */
	size_t n;          /* repetitions that all of them have; 0: not the same */
	bool scaled, wide; /* one is scaled; all that are have intervals */
};

static struct terms terms_of(const struct case_of_law *c)
{
	struct terms t = {.n = c->left[0]->n_runs, .wide = true};
	for (int s = 0; s < 2; s++) {
		struct estimate *const *terms = s ? c->right : c->left;
		for (size_t i = 0; i < (s ? c->law->right : c->law->left).n_inputs; i++) {
			t.kinds |= kind_of(terms[i]->source);
			t.scaled |= terms[i]->source == SOURCE_SCALED;
			t.wide &= terms[i]->source != SOURCE_SCALED || terms[i]->has_interval;
			if (terms[i]->n_runs != t.n || !terms[i]->runs)
				t.n = 0;
		}
	}
	return t;
}

static bool broken(const struct case_of_law *c, size_t passes, struct sides *out)
{
	struct terms t = terms_of(c);
	if (t.kinds & ~c->law->of)
		return false;
	if (t.kinds == OF_EXACT || t.kinds == OF_MODEL)
		return broken_exactly(c, t.n, out);
	if (t.kinds & (OF_EXACT | OF_MODEL))
		return false; /* of different executions */
	if (t.scaled)
		return t.wide && broken_by_intervals(c, t.kinds, out);
	if (t.n > 1)
		return broken_in_most(c, t.n, t.kinds, 1, out) ||
		       (c->law->relation == EQUAL && broken_in_most(c, t.n, t.kinds, -1, out));
	return t.n == 1 && passes == 1 && broken_by_intervals(c, t.kinds, out);
}

/* Finding the counts that a law is about. */

/* Is the count of this event, at whichever level? The event's name is between "machine::" and ":level". */
static bool is_of(const struct estimate *e, const char *name, size_t length)
{
	const char *machine = strstr(e->event, "::"), *begin = machine ? machine + 2 : e->event;
	return strcspn(begin, ":") == length && memcmp(begin, name, length) == 0;
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool is_count(const struct estimate *e) { return e->known && estimate_is_total(e) && e->event; }

/* The count of `name` at the level and of the machine that `like` is of. NULL: there is none. */
static struct estimate *find(struct estimate *all, size_t n, const char *name, const char *level,
			     const struct estimate *like)
{
	for (size_t i = 0; i < n; i++)
		if (is_count(&all[i]) && is_of(&all[i], name, strlen(name)) && same_text(all[i].level, level) &&
		    same_text(all[i].machine, like->machine))
			return &all[i];
	return NULL;
}

static bool find_side(const struct formula *formula, struct estimate *all, size_t n, const struct estimate *like,
		      struct estimate **terms)
{
	for (size_t i = 0; i < formula->n_inputs; i++)
		if (!(terms[i] = find(all, n, formula->inputs[i], like->level, like)))
			return false;
	return true;
}

/* Telling. */

static bool add_note(struct result *result, const char *text)
{
	struct result_note *notes = arena_alloc(&result->arena, (result->n_notes + 1) * sizeof *notes);
	if (!notes || !text)
		return false;
	if (result->n_notes)
		memcpy(notes, result->notes, result->n_notes * sizeof *notes);
	notes[result->n_notes++] = (struct result_note){text, NOTE_ACT};
	result->notes = notes;
	return true;
}

/* A whole number with its digits in threes. */
static const char *grouped(struct arena *arena, double value)
{
	char plain[400], *out = arena_alloc(arena, sizeof plain * 2), *to = out;
	snprintf(plain, sizeof plain, "%.0f", value);
	for (size_t i = 0, n = strlen(plain); out && i <= n; i++) {
		if (i > 0 && i < n && (n - i) % 3 == 0 && plain[i - 1] != '-')
			*to++ = ',';
		*to++ = plain[i];
	}
	return out;
}

/* law: in words, with the events' names. */
static bool refute(struct result *result, const struct case_of_law *c, const char *law, const struct sides *sides)
{
	const char *evidence = arena_printf(&result->arena, "law:%s", c->law->name);
	const char *when = sides->repetition == 0 || result->repetitions == 1
				   ? ""
				   : arena_printf(&result->arena, " in run %zu", sides->repetition);
	const char *left = grouped(&result->arena, sides->left), *right = grouped(&result->arena, sides->right);
	/* a counter that was taken away once, or was disturbed, looks the same */
	unsigned kinds = terms_of(c).kinds;
	bool alone = result->repetitions == 1 && kinds & (OF_HW | OF_OS), own = !(kinds & ~c->law->computed);
	if (!evidence || !when || !law || !left || !right)
		return false;
	for (int s = 0; s < 2; s++) {
		for (size_t i = 0; i < (s ? c->law->right : c->law->left).n_inputs; i++) {
			struct estimate *e = (s ? c->right : c->left)[i];
			e->trust = TRUST_REFUTED;
			e->evidence = evidence;
		}
	}
	return add_note(result,
			arena_printf(&result->arena,
				     "one of these counts is wrong: %s must hold, because %s, but the left side "
				     "is %s and the right side %s%s%s%s",
				     law, c->law->because, left, right, when,
				     alone ? " (in this one execution: -r 6 or more shows whether in most)" : "",
				     own ? " (tare computes one side from the other: a defect of tare, please "
					   "report it)"
					 : ""));
}

/* Judges a case and tells what is broken. False when memory ran out. */
static bool judge(struct result *result, const struct case_of_law *c, const char *law, size_t *n_broken)
{
	struct sides sides;
	if (!broken(c, result->passes, &sides))
		return true;
	++*n_broken;
	return refute(result, c, law, &sides);
}

/* For each count of the law's first event. */
static bool check_law(struct result *result, const struct law *law, struct estimate *all, size_t n,
		      size_t *n_broken)
{
	const char *first = law->left.inputs[0];
	for (size_t i = 0; i < n; i++) {
		struct case_of_law c = {.law = law};
		if (is_count(&all[i]) && is_of(&all[i], first, strlen(first)) &&
		    find_side(&law->left, all, n, &all[i], c.left) &&
		    find_side(&law->right, all, n, &all[i], c.right) && c.left[0] == &all[i] &&
		    !judge(result, &c, arena_printf(&result->arena, "'%s'", law->text), n_broken))
			return false;
	}
	return true;
}

/* The laws of all events, for the event of one count. */
static bool check_event(const struct laws *laws, struct result *result, struct estimate *e, struct estimate *all,
			size_t n, size_t *n_broken)
{
	struct arena *arena = &result->arena;
	const char *machine = strstr(e->event, "::"), *begin = machine ? machine + 2 : e->event;
	const char *name = arena_printf(arena, "%.*s", (int)strcspn(begin, ":"), begin);
	if (!name)
		return false;
	struct case_of_law levels = {.law = laws->levels,
				     .left = {e, find(all, n, name, "kernel", e)},
				     .right = {find(all, n, name, "user+kernel", e)}};
	if (same_text(e->level, "user") && levels.left[1] && levels.right[0] &&
	    !judge(result, &levels, arena_printf(arena, "'%s:u + %s:k = %s'", name, name, name), n_broken))
		return false;
	struct case_of_law twice = {.law = laws->twice, .left = {find(all, n, name, e->level, e)}, .right = {e}};
	return !twice.left[0] || twice.left[0] == e ||
	       judge(result, &twice, arena_printf(arena, "'%s = %s'", e->event, e->event), n_broken);
}

static bool check_counts(const struct laws *laws, struct result *result, struct estimate *all, size_t n,
			 size_t *n_broken)
{
	bool done = true;
	for (size_t i = 0; done && i < laws->rows.all.count; i++)
		done = check_law(result, laws->rows.all.items[i], all, n, n_broken);
	for (size_t i = 0; done && i < n; i++)
		done = !is_count(&all[i]) || check_event(laws, result, &all[i], all, n, n_broken);
	return done;
}

size_t laws_check(const struct laws *laws, struct result *result)
{
	size_t n_broken = 0;
	bool done = check_counts(laws, result, result->estimates, result->n_estimates, &n_broken);
	for (size_t r = 0; done && r < result->n_regions; r++)
		done = check_counts(laws, result, result->regions[r].estimates, result->regions[r].n_estimates,
				    &n_broken);
	return done ? n_broken : (size_t)-1;
}
