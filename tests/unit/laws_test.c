/* Laws of conservation: each law of data/laws/ accepts counts that obey it and finds one event too many; what
 * counters and their start cannot tell is not held against them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/engine/events.h"
#include "base/stanza.h"
#include "event/formula.h"
#include "tap.h"
#include "trust/conservation.h"

enum { MOST = 64 };

static struct result *new_result(void)
{
	struct result *r = result_new();
	r->estimates = arena_alloc(&r->arena, MOST * sizeof *r->estimates);
	r->passes = r->repetitions = 1;
	return r;
}

/* One row; values[n] are its repetitions. */
static struct estimate *add(struct result *r, const char *event, const char *level, enum source source,
			    const double *values, size_t n)
{
	struct estimate *e = &r->estimates[r->n_estimates++];
	*e = (struct estimate){.event = event,
			       .unit = "events",
			       .level = level,
			       .known = true,
			       .n_runs = n,
			       .source = source,
			       .machine = source == SOURCE_MODEL ? "lab" : NULL,
			       .share_running = 1,
			       .cpu = -1};
	e->runs = arena_alloc(&r->arena, n * sizeof *e->runs);
	memcpy(e->runs, values, n * sizeof *values);
	for (size_t i = 0; i < n; i++)
		e->value += values[i] / (double)n;
	e->low = e->high = e->value;
	r->repetitions = r->repetitions_done = n;
	return e;
}

static struct estimate *one(struct result *r, const char *event, const char *level, enum source source,
			    double value)
{
	return add(r, event, level, source, &value, 1);
}

static size_t check(struct result *r)
{
	struct laws *laws = laws_new(law_files, NULL);
	size_t n = laws_check(laws, r);
	laws_free(laws);
	return n;
}

static bool noted(const struct result *r, const char *text)
{
	for (size_t i = 0; i < r->n_notes; i++)
		if (r->notes[i].rank == NOTE_ACT && strstr(r->notes[i].text, text))
			return true;
	return false;
}

/* The value of a sum where each name has the value v. */
static double sum_of(const struct formula *f, double v)
{
	struct metric_input inputs[FORMULA_INPUTS_MOST], out = {0};
	for (size_t i = 0; i < f->n_inputs; i++)
		inputs[i] = (struct metric_input){true, v, v, v};
	formula_evaluate(f, inputs, &out, NULL);
	return out.value;
}

/* A law's sides with values that make both equal; the right side is as many events as the left, times its factor. */
static struct result *obeying(const char *text, enum source source, double extra)
{
	struct result *r = new_result();
	struct formula left, right;
	char *sides = arena_strdup(&r->arena, text), *sign = strchr(sides, '=');
	sign[sign[-1] == '<' ? -1 : 0] = '\0';
	formula_parse(sides, &r->arena, &left, NULL);
	formula_parse(sign + 1, &r->arena, &right, NULL);
	double each = 1e6 * sum_of(&right, 1), v = sum_of(&left, each) / sum_of(&right, 1);
	for (size_t i = 0; i < left.n_inputs; i++)
		one(r, left.inputs[i], "user", source, each + (i == 0 ? extra : 0));
	for (size_t i = 0; i < right.n_inputs; i++)
		one(r, right.inputs[i], "user", source, v);
	return r;
}

/* By the sources that a law may be of, the first one that it is looked at for. */
static enum source source_of(const char *text)
{
	static const enum source all[] = {SOURCE_EXACT, SOURCE_MODEL, SOURCE_HW};
	for (int i = 0; i < 3; i++) {
		struct result *r = obeying(text, all[i], 1e8);
		size_t n = check(r);
		result_free(r);
		if (n)
			return all[i];
	}
	return SOURCE_NONE;
}

static void one_law(const char *name, const char *text)
{
	enum source source = source_of(text);
	double too_many = source == SOURCE_HW ? 1e8 : 1;
	struct result *good = obeying(text, source, 0), *bad = obeying(text, source, too_many);
	ok(source != SOURCE_NONE, "%s is looked at", name);
	ok(check(good) == 0 && good->n_notes == 0 && good->estimates[0].trust == TRUST_UNVERIFIED,
	   "%s: counts that obey are left alone", name);
	ok(check(bad) >= 1, "%s: one event too many is found", name);
	ok(noted(bad, text), "%s: the note quotes the law", name);
	bool all = true;
	for (size_t k = 0; k < bad->n_estimates; k++)
		all &= bad->estimates[k].trust == TRUST_REFUTED && bad->estimates[k].evidence &&
		       strncmp(bad->estimates[k].evidence, "law:", 4) == 0;
	ok(all, "%s: all of its counts are refuted", name);
	result_free(good);
	result_free(bad);
}

/* ---- what cannot fail ---- */

enum { NAMES_MOST = 64, COMPONENTS_MOST = 256 };

/* What an event of models or of the engine adds up: components[i] events of it for one of the i-th of `names`. */
struct added_up {
	const char *names[COMPONENTS_MOST];
	size_t n;
};

static size_t component(struct added_up *all, const char *name)
{
	size_t i = 0;
	while (i < all->n && strcmp(all->names[i], name) != 0)
		i++;
	if (i == all->n)
		all->names[all->n++] = name;
	return i;
}

/* False: that source does not count it. */
static bool add_model(const struct event *event, struct added_up *all, double *components)
{
	const struct formula *f = event->definition->model;
	struct metric_input inputs[FORMULA_INPUTS_MOST], out;
	for (size_t i = 0; f && i < f->n_inputs; i++) {
		for (size_t k = 0; k < f->n_inputs; k++)
			inputs[k] = (struct metric_input){true, k == i, k == i, k == i};
		formula_evaluate(f, inputs, &out, NULL);
		components[component(all, f->inputs[i])] += out.value;
	}
	return f;
}

static bool add_exact(const struct event *event, double *components)
{
	const struct exact_event *e = exact_event_find(event);
	for (const uint8_t *p = e ? e->plus : NULL; p && *p; p++)
		components[*p]++;
	if (e && e->minus)
		components[e->minus]--;
	return e;
}

static bool add_side(const struct formula *side, enum source source, struct event_table *table,
		     struct added_up *all, double *components)
{
	for (size_t i = 0; i < side->n_inputs; i++) {
		double own[COMPONENTS_MOST] = {0}, factor;
		struct metric_input inputs[FORMULA_INPUTS_MOST], out;
		struct event event;
		for (size_t k = 0; k < side->n_inputs; k++)
			inputs[k] = (struct metric_input){true, k == i, k == i, k == i};
		formula_evaluate(side, inputs, &out, NULL);
		factor = out.value;
		if (!event_parse(table, side->inputs[i], &event, NULL) || !event.definition ||
		    !(source == SOURCE_MODEL ? add_model(&event, all, own) : add_exact(&event, own)))
			return false;
		for (size_t k = 0; k < COMPONENTS_MOST; k++)
			components[k] += factor * own[k];
	}
	return true;
}

/* Do the sides hold whatever the source counts, as one is computed from the other? */
static bool cannot_fail(const char *text, enum source source, struct event_table *table)
{
	struct arena arena = {0};
	struct added_up all = {0};
	struct formula left, right;
	double of_left[COMPONENTS_MOST] = {0}, of_right[COMPONENTS_MOST] = {0};
	char *sides = arena_strdup(&arena, text), *sign = strchr(sides, '=');
	bool at_most = sign[-1] == '<', same = true;
	sign[at_most ? -1 : 0] = '\0';
	formula_parse(sides, &arena, &left, NULL);
	formula_parse(sign + 1, &arena, &right, NULL);
	bool counts = add_side(&left, source, table, &all, of_left) &&
		      add_side(&right, source, table, &all, of_right);
	for (size_t i = 0; i < COMPONENTS_MOST; i++)
		same &= at_most ? of_left[i] <= of_right[i] : of_left[i] == of_right[i];
	arena_free(&arena);
	return counts && same;
}

/* A law that cannot fail is not evidence: it says so. */
static void what_cannot_fail(const char *name, const char *text, const char *of, const char *computed,
			     struct event_table *table)
{
	static const struct {
		enum source source;
		const char *word;
	} sources[] = {{SOURCE_EXACT, "exact"}, {SOURCE_MODEL, "model"}};
	for (size_t i = 0; i < 2; i++) {
		bool is = (!of || strstr(of, sources[i].word)) && cannot_fail(text, sources[i].source, table);
		ok(is == (computed && strstr(computed, sources[i].word)),
		   "%s: by %s it %s fail, and its row says so", name, sources[i].word, is ? "cannot" : "can");
	}
}

static void each_law(void)
{
	struct event_table *table = event_table_new(NULL);
	struct arena arena = {0};
	size_t laws = 0;
	for (const struct embedded_file *file = law_files; file->name; file++) {
		struct stanza *stanzas;
		size_t n;
		if (!ok(stanza_parse(file->text, file->length, file->name, &arena, &stanzas, &n, NULL),
			"%s is read", file->name))
			continue;
		for (size_t i = 0; i < n; i++) {
			const char *law = stanza_get(&stanzas[i], "law");
			one_law(stanzas[i].name, law);
			what_cannot_fail(stanzas[i].name, law, stanza_get(&stanzas[i], "of"),
					 stanza_get(&stanzas[i], "computed"), table);
		}
		laws += n;
	}
	ok(laws >= 20, "there are laws");
	arena_free(&arena);
	event_table_free(table);
}

/* Who is at fault where a law is broken that cannot be. */
static void own_defects(void)
{
	static const char own[] = "tare computes one side from the other: a defect of tare, please report it";
	struct result *r = obeying("l1d-hits + l1d-misses = l1d-accesses", SOURCE_MODEL, 1);
	ok(check(r) == 1 && noted(r, own), "hits that a model does not count apart: what is broken is tare");
	result_free(r);
	r = obeying("l1d-hits + l1d-misses = l1d-accesses", SOURCE_HW, 1e8);
	ok(check(r) == 1 && !noted(r, own), "a counter of hits is one of its own");
	result_free(r);
	r = obeying("branch-misses <= branches", SOURCE_MODEL, 1);
	ok(check(r) == 1 && !noted(r, own), "and so are a model's mispredictions");
	result_free(r);
}

/* An event too few breaks an equation, not an inequality. */
static void too_few(void)
{
	struct result *r = obeying("data-reads + data-writes = data-accesses", SOURCE_EXACT, -1);
	ok(check(r) == 1, "an equation is broken from below too");
	result_free(r);
	r = obeying("loads <= instructions", SOURCE_EXACT, -1);
	ok(check(r) == 0, "an inequality is not");
	result_free(r);
}

static void levels(void)
{
	static const struct {
		double user, kernel, both;
		size_t broken;
	} cases[] = {{1e9, 1e7, 1.01e9, 0}, {1e9, 1e7, 1.0102e9, 0}, {1e9, 1e7, 1.2e9, 1}, {1e9, 1e9, 1e9, 1}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct result *r = new_result();
		one(r, "instructions:u", "user", SOURCE_HW, cases[i].user);
		one(r, "instructions:k", "kernel", SOURCE_HW, cases[i].kernel);
		one(r, "instructions", "user+kernel", SOURCE_HW, cases[i].both);
		ok(check(r) == cases[i].broken, "levels, case %zu", i);
		ok(noted(r, "'instructions:u + instructions:k = instructions'") == (cases[i].broken > 0),
		   "levels, case %zu: the note", i);
		result_free(r);
	}
}

static void twice(void)
{
	struct result *r = new_result();
	one(r, "cycles:u", "user", SOURCE_HW, 1e9);
	one(r, "cycles:u", "user", SOURCE_HW, 1.001e9);
	ok(check(r) == 0, "twice the same event within what starting counters takes");
	one(r, "cycles:u", "user", SOURCE_HW, 1.1e9);
	ok(check(r) == 1 && noted(r, "the same event was counted"), "perfex's disagreement is told");
	ok(r->estimates[1].trust == TRUST_UNVERIFIED && r->estimates[2].trust == TRUST_REFUTED,
	   "… of the counts that disagree");
	result_free(r);
}

/* Repetitions: the mean difference is judged with its spread. */
static void repetitions(void)
{
	static const double steady[] = {1.1e9, 1.1e9 + 2, 1.1e9 + 1}, wild[] = {0.2e9, 1.9e9, 1.4e9},
			    whole[] = {1e9, 1e9, 1e9};
	struct result *r = new_result();
	add(r, "branches", "user", SOURCE_HW, steady, 3);
	add(r, "instructions", "user", SOURCE_HW, whole, 3);
	ok(check(r) == 1, "a steady excess is found");
	result_free(r);
	r = new_result();
	add(r, "branches", "user", SOURCE_HW, wild, 3);
	add(r, "instructions", "user", SOURCE_HW, whole, 3);
	ok(check(r) == 0, "one that the spread explains is not");
	result_free(r);
	r = new_result();
	add(r, "branches", "user", SOURCE_EXACT, (double[]){5, 6, 5}, 3);
	add(r, "instructions", "user", SOURCE_EXACT, (double[]){5, 5, 5}, 3);
	ok(check(r) == 1 && noted(r, "in run 2"), "the engine's counts are compared run by run");
	result_free(r);
}

/* user + kernel = both, where some of the executions were disturbed. */
static void most_executions(void)
{
	enum { N = 9 };
	static const struct {
		double both, disturbed;
		size_t n_disturbed, broken;
		const char *what;
	} cases[] = {
		{1e7, 5e6, 1, 0, "one of nine, whose counter was taken away, breaks no law"},
		{1e7, 5e6, 4, 0, "nor do four of nine"},
		{1e7, 1.1e7, 4, 0, "nor do interrupts in four of nine"},
		{1.2e7, 1.2e7, 0, 1, "nine of nine break it"},
		{1.2e7, 1e6, 1, 1, "eight of nine break it, whatever the ninth shows"},
		{9e6, 4e7, 1, 1, "… on the other side, too"},
		{1.0001e7, 1e7, 0, 0, "what starting counters takes breaks none, though each time"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double user[N], kernel[N], both[N];
		struct result *r = new_result();
		for (size_t k = 0; k < N; k++) {
			user[k] = 9e6, kernel[k] = 1e6;
			both[k] = k % 2 && k / 2 < cases[i].n_disturbed ? cases[i].disturbed : cases[i].both;
		}
		add(r, "instructions:u", "user", SOURCE_HW, user, N);
		add(r, "instructions:k", "kernel", SOURCE_HW, kernel, N);
		add(r, "instructions", "user+kernel", SOURCE_HW, both, N);
		ok(check(r) == cases[i].broken, "%s", cases[i].what);
		ok(noted(r, "in run 1") == (cases[i].broken > 0) && r->n_notes == cases[i].broken,
		   "… and an undisturbed run is quoted where it is broken");
		result_free(r);
	}
}

/* One execution is judged as it is: a count of it is wrong, and several tell whether of the counter. */
static void one_execution(void)
{
	static const char hint[] = "in this one execution: -r 6 or more shows whether in most";
	struct result *r = new_result();
	one(r, "branches", "user", SOURCE_HW, 2e6);
	one(r, "instructions", "user", SOURCE_HW, 1e6);
	ok(check(r) == 1 && r->estimates[0].trust == TRUST_REFUTED && noted(r, hint),
	   "one execution of counters breaks a law, and the note says that it was one");
	result_free(r);
	r = new_result();
	one(r, "branches", "user", SOURCE_EXACT, 6);
	one(r, "instructions", "user", SOURCE_EXACT, 5);
	ok(check(r) == 1 && !noted(r, hint), "the engine's are the same each time");
	result_free(r);
	r = new_result();
	add(r, "branches", "user", SOURCE_HW, (double[]){2e6, 2e6, 2e6, 2e6, 2e6, 2e6}, 6);
	add(r, "instructions", "user", SOURCE_HW, (double[]){1e6, 1e6, 1e6, 1e6, 1e6, 1e6}, 6);
	ok(check(r) == 1 && !noted(r, hint), "six executions of counters tell");
	result_free(r);
	r = new_result();
	one(r, "branches", "user", SOURCE_HW, 2000);
	one(r, "instructions", "user", SOURCE_HW, 1000);
	ok(check(r) == 0, "what starting counters takes breaks none in one execution either");
	result_free(r);
}

/* What is not comparable is not judged. */
static void not_judged(void)
{
	struct result *r = new_result();
	r->passes = 2;
	one(r, "branches", "user", SOURCE_HW, 2e9);
	one(r, "instructions", "user", SOURCE_HW, 1e9);
	ok(check(r) == 0, "one run in each of two passes");
	r->passes = 1;
	ok(check(r) == 1, "… but in one pass");
	result_free(r);

	r = new_result();
	one(r, "branches", "user", SOURCE_EXACT, 2e9);
	one(r, "instructions", "user", SOURCE_HW, 1e9);
	ok(check(r) == 0, "the engine's count with the hardware's");
	result_free(r);

	r = new_result();
	one(r, "branches", "user", SOURCE_HW, 2e9);
	one(r, "instructions", "user+kernel", SOURCE_HW, 1e9);
	ok(check(r) == 0, "counts of other levels");
	result_free(r);

	r = new_result();
	one(r, "lab::l1d-reads", "user", SOURCE_MODEL, 10);
	one(r, "lab::l1d-writes", "user", SOURCE_MODEL, 10);
	one(r, "pentium::l1d-accesses", "user", SOURCE_MODEL, 25)->machine = "pentium";
	ok(check(r) == 0, "counts of two machines");
	one(r, "lab::l1d-accesses", "user", SOURCE_MODEL, 21);
	ok(check(r) == 1, "… but of one");
	result_free(r);

	r = new_result();
	one(r, "branches", "user", SOURCE_HW, 2e9)->known = false;
	one(r, "instructions", "user", SOURCE_HW, 1e9);
	ok(check(r) == 0, "a count that is not known");
	result_free(r);

	r = new_result();
	one(r, "branches", "user", SOURCE_HW, 2e9)->tid = 5;
	one(r, "instructions", "user", SOURCE_HW, 1e9);
	ok(check(r) == 0, "a thread's row with the total");
	result_free(r);
}

static void scaled(void)
{
	struct result *r = new_result();
	struct estimate *e = one(r, "branches", "user", SOURCE_SCALED, 1.2e9);
	one(r, "instructions", "user", SOURCE_HW, 1e9);
	ok(check(r) == 0, "a scaled count without an interval says too little");
	e->has_interval = true;
	e->low = 0.9e9;
	e->high = 1.5e9;
	ok(check(r) == 0, "an interval that allows the law");
	e->low = 1.1e9;
	ok(check(r) == 1, "an interval that does not");
	result_free(r);
}

static void regions(void)
{
	struct result *r = new_result();
	struct result *inside = new_result();
	one(inside, "branches", "user", SOURCE_EXACT, 6);
	one(inside, "instructions", "user", SOURCE_EXACT, 5);
	struct region_row row = {.name = "inner", .estimates = inside->estimates, .n_estimates = 2};
	r->regions = &row;
	r->n_regions = 1;
	ok(check(r) == 1 && row.estimates[0].trust == TRUST_REFUTED, "a region's counts obey the laws too");
	result_free(r);
	result_free(inside);
}

static void bad_files(void)
{
	static const char *const bad[] = {
		"[a]\nlaw = x y\nbecause = b\n",
		"[a]\nlaw = x = \nbecause = b\n",
		"[a]\nlaw = x <= y\n",
		"[a]\nbecause = b\n",
		"[a]\nlaw = x = y\nbecause = b\nof = paper\n",
		"[a]\nlaw = x = y\nbecause = b\nwhy = c\n",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		const struct embedded_file files[] = {{"bad.laws", bad[i], strlen(bad[i])}, {0}};
		struct error err = {0};
		ok(!laws_new(files, &err) && strstr(err.text, "bad.laws:"), "a wrong law is refused: %s",
		   err.text);
	}
}

int main(void)
{
	each_law();
	own_defects();
	too_few();
	levels();
	twice();
	repetitions();
	most_executions();
	one_execution();
	not_judged();
	scaled();
	regions();
	bad_files();
	return done();
}
