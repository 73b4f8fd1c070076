/* From the points to verdicts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "session/counters_inside.h"
#include "store/runs/verdicts.h"
#include "trust/verdict.h"

enum { TEXT_BYTES = 300 };

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool same_event(const struct kept_point *a, const struct kept_point *b)
{
	return strcmp(a->event, b->event) == 0 && strcmp(a->interface, b->interface) == 0 &&
	       a->source == b->source && same_text(a->machine, b->machine);
}

/* The row that predicts the event of the point; NULL. */
static const struct kernel_prediction *row_of(const struct kernel *kernel, const char *label)
{
	size_t length = strcspn(label, ":");
	for (size_t i = 0; i < kernel->n_predictions; i++)
		if (strlen(kernel->predictions[i].event) == length &&
		    strncmp(kernel->predictions[i].event, label, length) == 0)
			return &kernel->predictions[i];
	return NULL;
}

/* Points of one event by one interface, as the judge takes them. */
struct case_of_event {
	struct judged_event event;
	struct judged_point *points;
	const char **others; /* "stores:u" */
	double *predictions; /* n_points × n_others */
	unsigned witnesses;
	size_t kernels; /* those with at least one count */
};

static void drop(struct case_of_event *of)
{
	free(of->points);
	free(of->others);
	free(of->predictions);
}

static double other_prediction(const struct kernel *kernel, const struct kept_point *p, const char *name)
{
	double value;
	const struct kernel_prediction *row = row_of(kernel, name);
	bool region = strcmp(p->interface, "region") == 0;
	if (!row || row->beyond_start)
		return NAN;
	return (region ? kernel_predict_region(kernel, name, p->size, NULL, &value, NULL)
		       : kernel_predict(kernel, name, p->size, NULL, &value, NULL))
		       ? value
		       : NAN;
}

static void take_point(struct counters_study *c, struct case_of_event *of, const struct kept_point *p)
{
	struct judged_event *e = &of->event;
	const struct kernel *kernel = kernels_find(&c->kernels, p->kernel);
	double *others = of->predictions + e->n_points * c->names.count;
	bool seen = false;
	if (!kernel)
		return;
	for (size_t i = 0; i < c->names.count; i++)
		others[i] = other_prediction(kernel, p, c->names.items[i]);
	for (size_t i = 0; i < e->n_points; i++)
		seen |= of->points[i].n && strcmp(of->points[i].kernel, p->kernel) == 0;
	of->kernels += !seen && p->n_observed;
	of->witnesses |= p->n_observed ? p->witnesses : 0;
	of->points[e->n_points++] = (struct judged_point){
		.kernel = p->kernel,
		.size = (double)p->size,
		.predicted = p->predicted,
		.n = p->n_observed,
		.observed = p->observed,
		.refused = p->refused,
		.why_refused = p->refused_why,
		.interrupts = p->n_interrupts == p->n_observed ? p->interrupts : NULL,
		.cpu_seconds = p->n_cpu_seconds == p->n_observed ? p->cpu_seconds : NULL,
		.others = others};
}

/* What nine of ten executions show, or all of them on average: one that was disturbed does not move it. */
static double usual_of(const struct judged_point *p)
{
	double sum = 0;
	for (size_t i = 0; i < p->n; i++) {
		size_t same = 0;
		for (size_t k = 0; k < p->n; k++)
			same += p->observed[k] == p->observed[i];
		if (10 * same >= 9 * p->n)
			return p->observed[i];
		sum += p->observed[i];
	}
	return sum / (double)p->n;
}

/* The smallest size of the same kernel; NULL: there is no other size. */
static const struct judged_point *smallest(const struct case_of_event *of, const struct judged_point *p)
{
	const struct judged_point *least = p;
	bool others = false;
	for (size_t i = 0; i < of->event.n_points; i++) {
		const struct judged_point *q = &of->points[i];
		if (strcmp(q->kernel, p->kernel) != 0 || q->n == 0)
			continue;
		others |= q->size != p->size;
		if (q->size < least->size)
			least = q;
	}
	return others && least->n ? least : NULL;
}

/* Where a prediction is of what comes on top of a program's start (page faults), the smallest size says what the
 * start counts. Of one size alone nothing is predicted then. */
static bool add_starts(struct counters_study *c, struct case_of_event *of, const char *label, struct error *err)
{
	double *starts = calloc(of->event.n_points + 1, sizeof *starts);
	if (!starts)
		return error_no_memory(err);
	for (size_t i = 0; i < of->event.n_points; i++) {
		const struct judged_point *p = &of->points[i];
		const struct kernel_prediction *row = row_of(kernels_find(&c->kernels, p->kernel), label);
		if (!row || !row->beyond_start)
			continue;
		const struct judged_point *least = smallest(of, p);
		starts[i] = least ? usual_of(least) - least->predicted : NAN;
	}
	for (size_t i = 0; i < of->event.n_points; i++)
		of->points[i].predicted += starts[i];
	free(starts);
	return true;
}

static bool collect(struct counters_study *c, const struct kept_point *first, struct case_of_event *of,
		    struct error *err)
{
	size_t n = c->found.points.count, names = c->names.count;
	*of = (struct case_of_event){.points = calloc(n + 1, sizeof *of->points),
				     .others = calloc(names + 1, sizeof *of->others),
				     .predictions = calloc((n + 1) * (names + 1), sizeof *of->predictions)};
	if (!of->points || !of->others || !of->predictions)
		return error_no_memory(err);
	of->event = (struct judged_event){.event = first->event,
					  .points = of->points,
					  .others = of->others,
					  .n_others = names,
					  .source = first->source};
	for (size_t i = 0; i < names; i++)
		if (!(of->others[i] = arena_printf(&c->found.arena, "%s:u", c->names.items[i])))
			return error_no_memory(err);
	for (size_t i = 0; i < n; i++)
		if (same_event(&c->found.points.items[i], first))
			take_point(c, of, &c->found.points.items[i]);
	return add_starts(c, of, first->event, err);
}

/* What else says that the count is reasonable (Nieto, phase 7). */
static const char *witness_of(const char *event)
{
	if (strncmp(event, "cycles", 6) == 0)
		return "elapsed time, and the clock's rate";
	if (strstr(event, ":k"))
		return "user + kernel = both";
	return NULL;
}

/* Says of the engine what it means that it is not exact. */
static bool is_fault(enum source source, const struct verdict *v)
{
	if (source == SOURCE_EXACT)
		return v->kind != VERDICT_EXACT && v->kind != VERDICT_UNJUDGED &&
		       v->kind != VERDICT_UNPREDICTABLE && v->kind != VERDICT_NOT_COUNTED;
	return verdict_accuses(v->kind);
}

static bool judge_one(struct counters_study *c, const struct kept_point *first, struct error *err)
{
	struct case_of_event of;
	struct verdict v;
	char text[TEXT_BYTES];
	bool done = collect(c, first, &of, err);
	of.event.witness = witness_of(first->event);
	if (done && !verdict_judge(&of.event, &v))
		done = error_no_memory(err);
	if (done) {
		verdict_text(&of.event, &v, text, sizeof text);
		struct kept_verdict row = {.event = first->event,
					   .interface = first->interface,
					   .source = first->source,
					   .machine = first->machine,
					   .kind = verdict_kind_name(v.kind),
					   .shape = verdict_shape_name(v.shape),
					   .text = arena_strdup(&c->found.arena, text),
					   .factor = v.factor,
					   .offset = v.offset,
					   .half_width = v.half_width,
					   .usable_from = v.usable_from,
					   .error = v.error,
					   .least = v.least,
					   .most = v.most,
					   .witnesses = of.witnesses,
					   .kernels = of.kernels,
					   .points = v.points,
					   .executions = v.executions,
					   .refused = v.refused,
					   .refused_of = v.refused_of,
					   .refused_why = v.why_refused,
					   .fault = is_fault(first->source, &v)};
		bool moved = v.kind == VERDICT_UNJUDGED ? !v.why || strcmp(v.why, "no kernel moves it") != 0
							: v.kind != VERDICT_UNPREDICTABLE || of.event.witness;
		done = row.text && (moved ? vec_push(&c->found.verdicts, row)
					  : vec_push(&c->found.without_stimulus, first->event));
		if (!done)
			error_no_memory(err);
	}
	drop(&of);
	return done;
}

static struct kept_verdict not_measured(const char *event, enum source source, enum verdict_kind kind,
					const char *why)
{
	return (struct kept_verdict){.event = event,
				     .interface = counters_interface_name(KERNEL_COMMAND),
				     .source = source,
				     .kind = verdict_kind_name(kind),
				     .shape = "",
				     .text = why,
				     .usable_from = INFINITY,
				     .error = NAN,
				     .least = NAN,
				     .most = NAN};
}

/* What the backend's own trials say of counters that never move. */
static bool add_silent(struct counters_study *c, const struct counters_backend *b, struct error *err)
{
	for (size_t i = 0; i < b->not_measured.count; i++) {
		const struct counters_not_measured *silent = &b->not_measured.items[i];
		if (!silent->silent)
			continue;
		struct kept_verdict row = not_measured(silent->label, SOURCE_HW, VERDICT_NOTHING, silent->why);
		row.witnesses = WITNESS_ARITHMETIC;
		if (!vec_push(&c->found.verdicts, row))
			return error_no_memory(err);
	}
	return true;
}

static bool is_told(const struct counters_study *c, const char *event)
{
	for (size_t i = 0; i < c->found.verdicts.count; i++)
		if (strcmp(c->found.verdicts.items[i].event, event) == 0)
			return true;
	for (size_t i = 0; i < c->found.without_stimulus.count; i++)
		if (strcmp(c->found.without_stimulus.items[i], event) == 0)
			return true;
	return false;
}

/* An event that was asked for, and that none of the backends counts here: the reason of each. */
static bool add_refused(struct counters_study *c, const struct counters_backend *b, struct error *err)
{
	for (size_t i = 0; i < b->not_measured.count; i++) {
		const struct counters_not_measured *refused = &b->not_measured.items[i];
		struct str why = {0};
		if (refused->silent || is_told(c, refused->label))
			continue;
		for (const struct counters_backend *by = c->backends; by < c->backends + c->n_backends; by++)
			for (size_t k = 0; k < by->not_measured.count; k++)
				if (strcmp(by->not_measured.items[k].label, refused->label) == 0)
					str_appendf(&why, "%s%s: %s", why.length ? "; " : "", by->on,
						    by->not_measured.items[k].why);
		const char *text = why.failed ? NULL : arena_strdup(&c->found.arena, why.text);
		str_free(&why);
		if (!text || !vec_push(&c->found.verdicts,
				       not_measured(refused->label, SOURCE_NONE, VERDICT_NOT_COUNTED, text)))
			return error_no_memory(err);
	}
	return true;
}

/* Each event once, and none that was judged through the other interface. */
static void tidy_without_stimulus(struct counters_study *c)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->found.without_stimulus.count; i++) {
		const char *event = c->found.without_stimulus.items[i];
		bool known = false;
		for (size_t k = 0; k < kept; k++)
			known |= strcmp(c->found.without_stimulus.items[k], event) == 0;
		for (size_t k = 0; k < c->found.verdicts.count; k++)
			known |= c->found.verdicts.items[k].executions &&
				 strcmp(c->found.verdicts.items[k].event, event) == 0;
		if (!known)
			c->found.without_stimulus.items[kept++] = event;
	}
	c->found.without_stimulus.count = kept;
}

bool counters_judge(struct counters_study *c, struct error *err)
{
	bool done = true;
	for (size_t i = 0; done && i < c->found.points.count; i++) {
		const struct kept_point *p = &c->found.points.items[i];
		bool seen = false;
		for (size_t k = 0; k < i && !seen; k++)
			seen = same_event(&c->found.points.items[k], p);
		done = seen || judge_one(c, p, err);
	}
	for (size_t b = 0; done && b < c->n_backends; b++)
		done = add_silent(c, &c->backends[b], err);
	tidy_without_stimulus(c);
	for (size_t b = 0; done && b < c->n_backends; b++)
		done = add_refused(c, &c->backends[b], err);
	c->found.finished = done;
	return done && (!c->runs || runs_end_verification(c->runs, &c->found, err));
}
