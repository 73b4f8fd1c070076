/* Verdicts on differences.
 *
 * 1. A difference is told only when its p-value, corrected for all rows of all commands (Holm), is below
 *    1 − confidence: of comparisons of a command with itself at most that share tells any difference at all.
 * 2. Rows whose values are all one number take no part in the correction: they can never be told to differ
 *    (Tarone, A modified Bonferroni method for discrete data, Biometrics 46, 1990).
 * 3. Where the A/A run of this machine's calibration was as far apart, a difference is the machine's as likely as
 *    the commands' (of what the kernel or hardware counts; exact counts and models have no noise). */
#include "trust/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "result/given.h"
#include "stats/stats.h"
#include "trust/noise.h"

struct comparing {
	struct comparison *c;
	const struct calibration *calibration;
	VEC(struct comparison_row) rows;
	VEC(struct result_note) notes;
};

static bool equal(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool is_row_of(const struct comparison_row *row, const struct estimate *e, const char *region,
		      bool is_metric)
{
	return row->is_metric == is_metric && equal(row->event, e->event) && equal(row->region, region);
}

/* Puts an estimate of command `which` into its row. False when memory ran out. */
static bool place(struct comparing *x, size_t which, const struct estimate *e, const char *region, bool is_metric)
{
	struct comparison_row *row = NULL;
	if (!estimate_is_total(e))
		return true;
	/* several rows may have one name (a default set on several machines): the first that is free */
	for (size_t i = 0; i < x->rows.count && !row; i++)
		if (is_row_of(&x->rows.items[i], e, region, is_metric) &&
		    !x->rows.items[i].commands[which].estimate)
			row = &x->rows.items[i];
	if (!row) {
		struct comparison_row new = {.event = e->event, .region = region, .is_metric = is_metric};
		new.commands = arena_alloc(&x->c->arena, x->c->n * sizeof *new.commands);
		if (!new.commands || !vec_push(&x->rows, new))
			return false;
		row = &x->rows.items[x->rows.count - 1];
	}
	row->commands[which].estimate = e;
	return true;
}

static bool collect_rows(struct comparing *x)
{
	for (size_t i = 0; i < x->c->n; i++) {
		const struct result *r = x->c->results[i];
		for (size_t j = 0; j < r->n_estimates; j++)
			if (!place(x, i, &r->estimates[j], NULL, false))
				return false;
	}
	for (size_t i = 0; i < x->c->n; i++)
		for (size_t j = 0; j < x->c->results[i]->n_metrics; j++)
			if (!place(x, i, &x->c->results[i]->metrics[j], NULL, true))
				return false;
	for (size_t i = 0; i < x->c->n; i++)
		for (size_t j = 0; j < x->c->results[i]->n_regions; j++) {
			const struct region_row *region = &x->c->results[i]->regions[j];
			for (size_t k = 0; k < region->n_estimates; k++)
				if (!place(x, i, &region->estimates[k], region->name, false))
					return false;
		}
	return true;
}

/* Why two estimates cannot be compared; NULL: they can. `first`: of the baseline. */
static const char *why_not(struct arena *arena, const struct estimate *e, bool first)
{
	const char *who = first ? "the baseline" : "it";
	if (!e)
		return arena_printf(arena, "%s has no such count", who);
	if (!e->known)
		return arena_printf(arena, "%snot counted: %s", first ? "the baseline is " : "",
				    e->why ? e->why : "no reason is known");
	if (e->n_runs == 0 && !e->has_interval)
		return arena_printf(arena, "%s keeps no value of each run", who);
	if (e->source == SOURCE_SAMPLED)
		return arena_printf(arena,
				    "%s is estimated from some of the caches' sets: repeated runs do not show "
				    "by how much it is off",
				    who);
	if (e->trust == TRUST_REFUTED)
		return arena_printf(arena, "%s is refuted: this counter was seen to count wrongly", who);
	return NULL;
}

static const char *differ_in_kind(struct arena *arena, const struct estimate *a, const struct estimate *b)
{
	if (a->source != b->source)
		return arena_printf(arena, "counted in different ways: %s and %s", source_name(a->source),
				    source_name(b->source));
	if (!equal(a->level, b->level))
		return arena_printf(arena, "counted at different levels: %s and %s", a->level, b->level);
	if (!equal(a->machine, b->machine))
		return arena_printf(arena, "modelled on different machines: %s and %s",
				    a->machine ? a->machine : "-", b->machine ? b->machine : "-");
	return NULL;
}

/* Counts of a program under other conditions are other counts. */
static const char *differ_in_conditions(struct arena *arena, const struct result *a, const struct result *b)
{
	if (!a->conditions || !b->conditions || strcmp(a->conditions, b->conditions) == 0)
		return NULL;
	return arena_printf(arena, "counted under other conditions: %s and %s",
			    *a->conditions ? a->conditions : "none", *b->conditions ? b->conditions : "none");
}

static bool has_noise(const struct estimate *e)
{
	return e->source == SOURCE_HW || e->source == SOURCE_OS || e->source == SOURCE_SCALED;
}

static double floor_of(const struct comparing *x, const struct estimate *e)
{
	const struct noise_floor *floor = x->calibration && has_noise(e)
						  ? calibration_floor(x->calibration, e->event)
						  : NULL;
	return floor ? floor->seen : NAN;
}

/* A metric over events of different executions has an interval, and no value of each run. */
static bool differ(double confidence, const struct estimate *a, size_t n_a, const struct estimate *b, size_t n_b,
		   struct stats_difference *d)
{
	if (a->n_runs && b->n_runs)
		return stats_difference(a->runs, a->n_runs, b->runs, b->n_runs, confidence, d);
	const struct interval x = {a->value, a->low, a->high}, y = {b->value, b->low, b->high};
	return a->has_interval && b->has_interval && stats_difference_of_means(&x, n_a, &y, n_b, confidence, d);
}

static size_t runs_of(const struct comparing *x, const struct estimate *e, size_t which)
{
	return e->n_runs ? e->n_runs : x->c->results[which]->repetitions_done;
}

/* Fills the numbers of command `which`. */
static bool compare(struct comparing *x, size_t which, struct compared *out, const struct estimate *base,
		    struct stats_difference *d)
{
	struct arena *arena = &x->c->arena;
	const struct estimate *e = out->estimate;
	out->verdict = COMPARISON_UNKNOWN;
	out->detectable = out->floor = out->effect = NAN;
	bool neither = base && e && !base->known && !e->known;
	const char *why = neither ? NULL : why_not(arena, base, true);
	why = why ? why : why_not(arena, e, false);
	why = why ? why : differ_in_kind(arena, base, e);
	why = why ? why : differ_in_conditions(arena, x->c->results[0], x->c->results[which]);
	if (why) {
		out->why = why;
		return false;
	}
	if (!differ(x->c->confidence, base, runs_of(x, base, 0), e, runs_of(x, e, which), d)) {
		out->why = "its values are not finite";
		return false;
	}
	out->has_numbers = true;
	out->has_interval = d->has_interval;
	out->difference = d->absolute.value;
	out->low = d->absolute.low;
	out->high = d->absolute.high;
	out->has_relative = d->has_relative;
	out->relative = d->relative.value;
	out->relative_low = d->relative.low;
	out->relative_high = d->relative.high;
	out->p_value = out->p_adjusted = d->p_value;
	out->effect = d->effect;
	out->superiority = d->superiority;
	out->floor = floor_of(x, e);
	return true;
}

/* Runs of each that a difference would need to be told, however small its spread; 0: no bound found. */
static size_t runs_needed(double alpha)
{
	for (size_t n = 2; n < 100; n++)
		if (stats_least_p(n, n) <= alpha)
			return n;
	return 0;
}

static void judge(struct comparing *x, struct compared *out, const struct stats_difference *d)
{
	double level = 1 - x->c->confidence, alpha = level / (double)(x->c->tests ? x->c->tests : 1);
	double base = fabs(d->mean_x);
	double detectable = stats_detectable(d, alpha, COMPARISON_POWER);
	out->detectable = base > 0 ? detectable / base : isinf(detectable) ? detectable : NAN;
	if (isfinite(out->floor) && isfinite(out->detectable))
		out->detectable = fmax(out->detectable, out->floor);
	if (!d->has_interval) {
		size_t need = runs_needed(level);
		out->why = arena_printf(
			&x->c->arena, "%s say too little of the spread: -r %zu or more",
			d->constant && out->estimate->n_runs != 1 ? "so few equal runs" : "single runs", need);
		return;
	}
	if (d->all_equal) {
		out->verdict = COMPARISON_EQUAL;
	} else if (out->p_adjusted > level && d->p_least > alpha) {
		out->why = arena_printf(&x->c->arena, "too few runs for %zu comparison%s: -r %zu or more",
					x->c->tests, x->c->tests == 1 ? "" : "s", runs_needed(alpha));
	} else if (out->p_adjusted > level) {
		out->verdict = COMPARISON_NONE_SEEN;
	} else if (isfinite(out->floor) && fabs(out->relative) <= out->floor) {
		out->verdict = COMPARISON_WITHIN_FLOOR;
	} else {
		out->verdict = out->difference < 0 ? COMPARISON_LESS : COMPARISON_MORE;
	}
}

static bool compare_all(struct comparing *x)
{
	struct comparison *c = x->c;
	size_t others = c->n - 1, most = c->n_rows * others, tests = 0;
	struct stats_difference *d = calloc(most + 1, sizeof *d);
	bool *filled = calloc(most + 1, sizeof *filled);
	double *p = calloc(most + 1, sizeof *p), *adjusted = calloc(most + 1, sizeof *adjusted);
	bool done = d && filled && p && adjusted;
	for (size_t i = 0; done && i < most; i++) {
		struct comparison_row *row = &c->rows[i / others];
		filled[i] = compare(x, 1 + i % others, &row->commands[1 + i % others], row->commands[0].estimate,
				    &d[i]);
		if (filled[i] && !d[i].all_equal)
			p[tests++] = d[i].p_value;
	}
	done = done && stats_adjust_holm(p, tests, adjusted);
	c->tests = tests;
	tests = 0;
	for (size_t i = 0; done && i < most; i++) {
		struct compared *out = &c->rows[i / others].commands[1 + i % others];
		if (filled[i] && !d[i].all_equal)
			out->p_adjusted = adjusted[tests++];
		if (filled[i])
			judge(x, out, &d[i]);
		done = out->verdict != COMPARISON_UNKNOWN || out->why;
	}
	free(d);
	free(filled);
	free(p);
	free(adjusted);
	return done;
}

/* ---- what is to be known of the results ---- */

static bool note(struct comparing *x, enum note_rank rank, const char *text)
{
	for (size_t i = 0; text && i < x->notes.count; i++)
		if (strcmp(x->notes.items[i].text, text) == 0)
			return true;
	return text && vec_push(&x->notes, ((struct result_note){text, rank}));
}

static bool same_in_all(const struct comparison *c, const char *text)
{
	for (size_t i = 0; i < c->n; i++) {
		bool found = false;
		for (size_t j = 0; j < c->results[i]->n_notes && !found; j++)
			found = strcmp(c->results[i]->notes[j].text, text) == 0;
		if (!found)
			return false;
	}
	return true;
}

/* The results' own notes, under the commands' names where not all have them. */
static bool carry_notes(struct comparing *x)
{
	struct comparison *c = x->c;
	for (size_t i = 0; i < c->n; i++)
		for (size_t j = 0; j < c->results[i]->n_notes; j++) {
			const struct result_note *own = &c->results[i]->notes[j];
			const char *text = same_in_all(c, own->text)
						   ? own->text
						   : arena_printf(&c->arena, "%s: %s", c->names[i], own->text);
			if (!note(x, own->rank, text))
				return false;
		}
	return true;
}

/* An exact count that is not the same in all runs of one command: the program, not the machine, varies. */
static bool remark_varying(struct comparing *x)
{
	struct comparison *c = x->c;
	for (size_t i = 0; i < c->n; i++) {
		const struct result *r = c->results[i];
		const struct estimate *most = NULL;
		for (size_t j = 0; j < r->n_estimates; j++) {
			const struct estimate *e = &r->estimates[j];
			if (e->known && e->source == SOURCE_EXACT && e->n_runs > 1 && estimate_is_total(e) &&
			    e->run_min < e->run_max && (!most || e->run_sd > most->run_sd))
				most = e;
		}
		if (most && !note(x, NOTE_ACT,
				  arena_printf(&c->arena,
					       "%s does not do the same in each run (%s by %.0f): it depends on "
					       "addresses, the time, threads or random numbers; --reproducible "
					       "removes what it can",
					       c->names[i], most->event, most->run_max - most->run_min)))
			return false;
	}
	return true;
}

static const struct estimate *exact_total(const struct result *r, const char *event)
{
	for (size_t i = 0; i < r->n_estimates; i++) {
		const struct estimate *e = &r->estimates[i];
		if (e->known && e->source == SOURCE_EXACT && estimate_is_total(e) &&
		    (!event || strcmp(e->event, event) == 0))
			return e;
	}
	return NULL;
}

static bool same_words(const char *const *a, const char *const *b)
{
	while (*a && *b && strcmp(*a, *b) == 0) {
		a++;
		b++;
	}
	return !*a && !*b;
}

/* Of two that were given the same: what else it can be. */
static const char *left_as_cause(enum given_fact same_code, enum given_fact several)
{
	static const char *const causes[2][3] = {
		{[GIVEN_UNKNOWN] = ": this is another build of the program, or the order of its threads",
		 [GIVEN_NO] = ", and is one thread: this is another build of the program",
		 [GIVEN_YES] = ": this is another build of the program, or the order of its threads"},
		{[GIVEN_UNKNOWN] = ", and executes the same code: this is the order of its threads or processes",
		 [GIVEN_NO] = ", and executes the same code in one thread: the cause is not known",
		 [GIVEN_YES] = ", and executes the same code: this is the order of its threads or processes. "
			       "Run it with one thread"},
	};
	return causes[same_code == GIVEN_YES][several];
}

/* Of one command whose counts differ although --reproducible made alike what it can: what it could not. */
static bool remark_given(struct comparing *x)
{
	struct comparison *c = x->c;
	const struct result *first = c->results[0];
	const struct estimate *e = first->given && first->command ? exact_total(first, NULL) : NULL;
	bool done = true;
	for (size_t i = 1; e && done && i < c->n; i++) {
		const struct result *other = c->results[i];
		const struct estimate *o = other->given && other->command ? exact_total(other, e->event) : NULL;
		const char *fix, *const texts[] = {first->given, other->given};
		struct str names = {0};
		if (!o || o->value == e->value || !same_words(first->command, other->command))
			continue;
		size_t n = given_differing(texts, 2, &names, &fix);
		enum given_fact same_code = given_same_code(texts[0], texts[1]);
		if (same_code == GIVEN_NO)
			done = note(x, NOTE_READ,
				    arena_printf(&c->arena,
						 "%s executes other code than %s: another build of the program or "
						 "of a library%s%s",
						 c->names[i], c->names[0],
						 n ? "; besides, it was not given the same: " : "",
						 names.text ? names.text : ""));
		else if (n == 0)
			done = note(x, NOTE_ACT,
				    arena_printf(&c->arena, "%s was seen to be given the same as %s%s",
						 c->names[i], c->names[0],
						 left_as_cause(same_code, given_several_tasks(texts, 2))));
		else
			done = note(x, NOTE_ACT,
				    arena_printf(&c->arena, "%s was not given the same as %s: %s%s%s", c->names[i],
						 c->names[0], names.text ? names.text : "",
						 !fix     ? ""
						 : n == 1 ? "; "
							  : ". For the first: ",
						 fix ? fix : ""));
		done = done && !names.failed;
		str_free(&names);
	}
	return done;
}

/* "host (a, b), kernel (6.1, 6.2)": in what two machines differ; how much that is. */
static size_t differing_machines(struct str *out, const struct machine_facts *a, const struct machine_facts *b)
{
	const struct {
		const char *what, *a, *b;
	} facts[] = {{"host", a->hostname, b->hostname},
		     {"CPU", a->cpu, b->cpu},
		     {"hypervisor", a->hypervisor, b->hypervisor},
		     {"kernel", a->kernel, b->kernel}};
	size_t n = 0;
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
		if (facts[i].a && facts[i].b && strcmp(facts[i].a, facts[i].b) != 0)
			str_appendf(out, "%s%s (%s, %s)", n++ ? ", " : "", facts[i].what,
				    *facts[i].a ? facts[i].a : "none", *facts[i].b ? facts[i].b : "none");
	if (a->cpus > 0 && b->cpus > 0 && a->cpus != b->cpus)
		str_appendf(out, "%snumber of CPUs (%d, %d)", n++ ? ", " : "", a->cpus, b->cpus);
	return n;
}

/* Runs that were kept may be of several machines. Exact counts under --reproducible do not show it. */
static bool tell_machines(struct comparison *c)
{
	struct str text = {0};
	for (size_t i = 1; i < c->n; i++) {
		const struct result *first = c->results[0], *other = c->results[i];
		bool alike = other->conditions && strstr(other->conditions, "--reproducible"), noisy = false;
		struct str facts = {0};
		for (size_t r = 0; r < c->n_rows; r++)
			noisy |= c->rows[r].commands[i].has_numbers && has_noise(c->rows[r].commands[i].estimate);
		if (differing_machines(&facts, &first->machine, &other->machine) && (noisy || !alike))
			str_appendf(&text, "%s%s was counted on another machine than %s: %s; %s",
				    text.text ? "; " : "", c->names[i], c->names[0], facts.text ? facts.text : "",
				    noisy ? "what differs may be the machine"
					  : "programs may choose other code there; --reproducible shows both the "
					    "same machine");
		text.failed |= facts.failed;
		str_free(&facts);
	}
	c->machines = text.text ? arena_strdup(&c->arena, text.text) : NULL;
	bool done = !text.failed && (c->machines || !text.text);
	str_free(&text);
	return done;
}

static bool remark_floor(struct comparing *x)
{
	bool noisy = false, floor = false;
	for (size_t i = 0; i < x->c->n_rows; i++)
		for (size_t j = 1; j < x->c->n; j++) {
			const struct compared *one = &x->c->rows[i].commands[j];
			noisy |= one->has_numbers && !x->c->rows[i].is_metric && has_noise(one->estimate);
			floor |= isfinite(one->floor);
		}
	if (!noisy || floor)
		return true;
	return note(x, NOTE_DETAIL,
		    "no noise floor of this machine is kept, so that only the spread of these runs decides: "
		    "'tare calibrate' measures it");
}

static bool keep(struct comparing *x)
{
	struct comparison *c = x->c;
	struct result_note *notes = arena_alloc(&c->arena, (x->notes.count + 1) * sizeof *notes);
	if (!notes)
		return false;
	if (x->notes.count)
		memcpy(notes, x->notes.items, x->notes.count * sizeof *notes);
	c->notes = notes;
	c->n_notes = x->notes.count;
	return true;
}

static bool take_over(struct comparison *c, const struct result *const *results, const char *const *names,
		      size_t n)
{
	const struct result **own_results = arena_alloc(&c->arena, n * sizeof *own_results);
	const char **own_names = arena_alloc(&c->arena, n * sizeof *own_names);
	if (!own_results || !own_names)
		return false;
	memcpy(own_results, results, n * sizeof *results);
	for (size_t i = 0; i < n; i++)
		if (!(own_names[i] = arena_strdup(&c->arena, names[i])))
			return false;
	c->n = n;
	c->names = own_names;
	c->results = own_results;
	return true;
}

struct comparison *trust_compare(const struct result *const *results, const char *const *names, size_t n,
				 double confidence, const struct calibration *calibration, struct error *err)
{
	struct comparison *c = calloc(1, sizeof *c);
	struct comparing x = {.c = c, .calibration = calibration};
	bool done = c != NULL && take_over(c, results, names, n);
	if (done) {
		c->confidence = confidence;
		done = collect_rows(&x);
	}
	if (done && (c->rows = arena_alloc(&c->arena, (x.rows.count + 1) * sizeof *c->rows))) {
		c->n_rows = x.rows.count;
		if (c->n_rows)
			memcpy(c->rows, x.rows.items, c->n_rows * sizeof *c->rows);
		done = compare_all(&x) && remark_varying(&x) && remark_given(&x) && tell_machines(c) &&
		       carry_notes(&x) && remark_floor(&x) && keep(&x);
	} else {
		done = false;
	}
	vec_free(&x.rows);
	vec_free(&x.notes);
	if (done)
		return c;
	comparison_free(c);
	error_no_memory(err);
	return NULL;
}
