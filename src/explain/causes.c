#include "explain/causes.h"

#include <math.h>
#include <string.h>

#include "explain/causes_rules.h"
#include "stats/stats.h"

static const char *const names[CAUSES] = {
	[CAUSE_COMPUTING] = "computing",
	[CAUSE_L1] = "L1 cache",
	[CAUSE_L2] = "L2 cache",
	[CAUSE_L3] = "L3 cache",
	[CAUSE_MEMORY] = "memory",
	[CAUSE_TLB] = "TLB",
	[CAUSE_BRANCHES] = "mispredictions",
	[CAUSE_FAULTS] = "page faults",
	[CAUSE_CALLS] = "system calls",
	[CAUSE_LOCKS] = "waiting for locks",
	[CAUSE_IO] = "input/output",
	[CAUSE_SLEEPING] = "sleeping",
	[CAUSE_WAITING] = "waiting otherwise",
	[CAUSE_NOT_RUNNING] = "not running",
};

const char *cause_name(enum cause cause) { return names[cause]; }

void explanation_free(struct explanation *e)
{
	vec_free(&e->advice);
	vec_free(&e->waits);
	vec_free(&e->faults);
	vec_free(&e->calls);
	vec_free(&e->call_places);
	vec_free(&e->notes);
	result_free(e->result);
	arena_free(&e->arena);
	*e = (struct explanation){0};
}

/* ---- which events are which cause's ---- */

enum { ONE = 1 << 1, TWO = 1 << 2, THREE = 1 << 3, ANY = ONE | TWO | THREE };

static const struct cause_rule cause_rules[] = {
	{CAUSE_COMPUTING, OPERATION_INSTRUCTION, "instructions:u", NULL, ANY, false},
	{CAUSE_COMPUTING, OPERATION_DIVIDE, "fp-divides:u", NULL, ANY, false},
	{CAUSE_COMPUTING, OPERATION_SQUARE_ROOT, "fp-square-roots:u", NULL, ANY, false},
	{CAUSE_L1, OPERATION_L1_HIT, "l1d-hits:u", NULL, ANY, false},
	{CAUSE_L2, OPERATION_L2_HIT, "l2-hits:u", "l2-hits-in-order:u", TWO | THREE, true},
	{CAUSE_L2, OPERATION_L2_STREAM, "l2-hits-in-order:u", NULL, TWO | THREE, false},
	{CAUSE_L3, OPERATION_L3_HIT, "l3-hits:u", "l3-hits-in-order:u", THREE, true},
	{CAUSE_L3, OPERATION_L3_STREAM, "l3-hits-in-order:u", NULL, THREE, false},
	{CAUSE_MEMORY, OPERATION_MEMORY, "l1d-misses:u", "l1d-misses-in-order:u", ONE, true},
	{CAUSE_MEMORY, OPERATION_MEMORY_STREAM, "l1d-misses-in-order:u", NULL, ONE, false},
	{CAUSE_MEMORY, OPERATION_MEMORY, "l2-misses:u", "l2-misses-in-order:u", TWO, true},
	{CAUSE_MEMORY, OPERATION_MEMORY_STREAM, "l2-misses-in-order:u", NULL, TWO, false},
	{CAUSE_MEMORY, OPERATION_MEMORY, "l3-misses:u", "l3-misses-in-order:u", THREE, true},
	{CAUSE_MEMORY, OPERATION_MEMORY_STREAM, "l3-misses-in-order:u", NULL, THREE, false},
	{CAUSE_TLB, OPERATION_TLB_HIT, "dtlb-misses:u", "dtlb-walks:u", ANY, false},
	{CAUSE_TLB, OPERATION_TLB_WALK, "dtlb-walks:u", NULL, ANY, false},
	{CAUSE_TLB, OPERATION_TLB_WALK, "itlb-walks:u", NULL, ANY, false},
	{CAUSE_BRANCHES, OPERATION_BRANCH_MISS, "branch-misses:u", NULL, ANY, false},
	{CAUSE_CALLS, OPERATION_SYSTEM_CALL, "system-calls:u", NULL, ANY, false},
};
_Static_assert(sizeof cause_rules / sizeof *cause_rules == CAUSE_RULES, "one number for all that go through them");

size_t cause_rules_of(unsigned levels, const struct costs *costs, struct cause_rule out[CAUSE_RULES])
{
	size_t n = 0;
	for (size_t i = 0; i < CAUSE_RULES; i++) {
		struct cause_rule rule = cause_rules[i];
		if (!(rule.levels >> levels & 1))
			continue;
		if (rule.orders && (!costs || !costs->of[cause_rules[i + 1].operation].known)) {
			rule.less = NULL;
			rule.orders = false;
			i++; /* nor a rule of theirs */
		}
		out[n++] = rule;
	}
	return n;
}

void causes_events(unsigned levels, const struct costs *costs, struct str *out)
{
	struct cause_rule rules[CAUSE_RULES];
	size_t n = cause_rules_of(levels, costs, rules);
	for (size_t i = 0; i < n; i++)
		str_appendf(out, "%s%s", out->length ? "," : "", rules[i].event);
	/* what advice needs besides */
	str_append(out, ",branches:u");
}

/* ---- arithmetic ---- */

static const struct bounded unknown = {NAN, NAN, NAN};

static struct bounded times(double count, const struct bounded *cost)
{
	return (struct bounded){count * cost->typical, count * cost->least, count * cost->most};
}

/* A bound that is not known is the nearest one that is: a cost that has a minimum alone is that or more. */
static double first_known(double a, double b, double c) { return !isnan(a) ? a : !isnan(b) ? b : c; }

static struct bounded cost_of(const struct cost *cost)
{
	return cost->known ? (struct bounded){cost->typical, cost->least, cost->most} : unknown;
}

/* Adds what is known. */
static void add(struct bounded *sum, const struct bounded *more)
{
	double typical = first_known(more->typical, more->most, more->least);
	double least = first_known(more->least, more->typical, more->most);
	double most = first_known(more->most, more->typical, more->least);
	sum->typical = isnan(sum->typical) ? typical : sum->typical + typical;
	sum->least = isnan(sum->least) ? least : sum->least + least;
	sum->most = isnan(sum->most) ? most : sum->most + most;
}

static const struct estimate *estimate_of(const struct result *result, const char *event)
{
	for (size_t i = 0; i < result->n_estimates; i++)
		if (estimate_is_total(&result->estimates[i]) && strcmp(result->estimates[i].event, event) == 0)
			return &result->estimates[i];
	return NULL;
}

static const char *why_of(const struct estimate *e)
{
	return !e ? "not counted" : e->why ? e->why : "not counted";
}

/* Fills in the event's count; false: memory ran out. */
static bool count_part(struct explanation *e, const struct cause_rule *rule, struct explained_part *part)
{
	const struct estimate *of = estimate_of(e->result, rule->event),
			      *less = rule->less ? estimate_of(e->result, rule->less) : NULL;
	part->event = rule->less ? arena_printf(&e->arena, "%s \u2212 %s", rule->event, rule->less) : rule->event;
	if (!of || !of->known || (rule->less && (!less || !less->known))) {
		const char *why = why_of(!of || !of->known ? of : less);
		part->why = arena_strdup(&e->arena, why);
		return part->event && part->why;
	}
	part->counted = true;
	part->count = of->value - (less ? less->value : 0);
	part->source = of->source;
	part->machine = of->machine;
	/* counters of the hardware that count separately may cross; a model's never do */
	if (part->count < 0)
		part->count = 0;
	e->modelled |= of->source == SOURCE_MODEL;
	e->exact |= of->source == SOURCE_EXACT;
	e->hardware |= of->source == SOURCE_HW;
	return part->event != NULL;
}

static bool price_part(struct explanation *e, enum cost_operation operation, const struct costs *costs,
		       struct explained_part *part)
{
	part->operation = operation_name(operation);
	part->cost = part->seconds = unknown;
	if (costs && costs->of[operation].known) {
		part->cost = cost_of(&costs->of[operation]);
		part->cost_source = arena_strdup(&e->arena, costs->of[operation].source);
		if (!part->cost_source)
			return false;
	}
	if (!part->counted)
		return true;
	if (part->count == 0)
		part->seconds = (struct bounded){0, 0, 0};
	else if (!part->cost_source)
		part->why = costs ? "no cost is known" : "there are no costs";
	else
		part->seconds = times(part->count, &part->cost);
	return true;
}

static bool has_seconds(const struct explained_part *part)
{
	return !isnan(first_known(part->seconds.typical, part->seconds.least, part->seconds.most));
}

/* Sums up a cause's parts. Of one that lacks a part, the others are its least; if they are 0, nothing is known. */
static void sum_parts(struct explained_cause *cause)
{
	cause->seconds = unknown;
	for (size_t i = 0; i < cause->n_parts; i++) {
		if (has_seconds(&cause->parts[i]))
			add(&cause->seconds, &cause->parts[i].seconds);
		else if (!cause->why)
			cause->why = cause->parts[i].why;
	}
	cause->known = !isnan(cause->seconds.typical) && (!cause->why || cause->seconds.typical > 0);
	if (!cause->known)
		cause->seconds = unknown;
	else if (cause->why)
		cause->seconds.most = NAN;
}

/* Are misses in order told from the others, by the same model? A counter of the hardware has all in one. */
static bool tells_order(const struct explanation *e, const struct cause_rule *rule)
{
	const struct estimate *all = estimate_of(e->result, rule->event),
			      *ordered = estimate_of(e->result, rule->less);
	return all && ordered && all->known && ordered->known && all->source == ordered->source;
}

static bool counted_causes(struct explanation *e, unsigned levels, const struct costs *costs)
{
	struct cause_rule rules[CAUSE_RULES];
	size_t n = cause_rules_of(levels, costs, rules);
	for (unsigned c = 0; c < CAUSES_COUNTED; c++) {
		struct explained_cause *cause = &e->causes[c];
		cause->cause = (enum cause)c;
		cause->parts = arena_alloc(&e->arena, CAUSE_RULES * sizeof *cause->parts);
		if (!cause->parts)
			return false;
		for (size_t i = 0; i < n; i++) {
			struct cause_rule rule = rules[i];
			if (rule.cause != cause->cause)
				continue;
			if (rule.orders && !tells_order(e, &rule)) {
				rule.less = NULL;
				i++;
			}
			struct explained_part *part = &cause->parts[cause->n_parts++];
			if (!count_part(e, &rule, part) || !price_part(e, rule.operation, costs, part))
				return false;
		}
		sum_parts(cause);
		if (!cause->n_parts)
			cause->why = "the machine has no such level";
	}
	return true;
}

/* ---- what the system accounts for ---- */

/* The faults are the operating system's count of the execution that was not under an engine. */
static bool faults(struct explanation *e, const struct costs *costs, const struct native_times *native)
{
	struct explained_cause *cause = &e->causes[CAUSE_FAULTS];
	struct explained_part *part = arena_alloc(&e->arena, sizeof *part);
	if (!part)
		return false;
	*part = (struct explained_part){.event = "minor-faults",
					.counted = native != NULL,
					.count = native ? native->page_faults : NAN,
					.source = SOURCE_OS,
					.why = native ? NULL : "the program was not executed on this machine"};
	cause->parts = part;
	cause->n_parts = 1;
	cause->why = NULL;
	if (!price_part(e, OPERATION_PAGE_FAULT, costs, part))
		return false;
	sum_parts(cause);
	return true;
}

/* Time in the kernel that page faults do not explain. The ways there and back are its least. Costs of another
 * machine do not fit this one's kernel. */
static void system_calls(struct explanation *e, const struct native_times *native)
{
	struct explained_cause *cause = &e->causes[CAUSE_CALLS];
	const struct explained_cause *faults = &e->causes[CAUSE_FAULTS];
	if (!native)
		return;
	double ways = cause->known ? cause->seconds.least : 0, fault = faults->known ? faults->seconds.typical : 0;
	double least = fmin(ways, native->system_s), rest = fmax(native->system_s - fault, 0);
	cause->seconds = (struct bounded){.typical = fmax(rest, least), .least = least, .most = native->system_s};
	cause->known = cause->measured = true;
	cause->why = NULL;
}

/* Waiting, by looks at the threads: the share of the looks, with its interval. */
static void waits(struct explanation *e, const struct native_times *native)
{
	uint64_t looks = 0;
	for (unsigned c = CAUSE_LOCKS; c < CAUSE_NOT_RUNNING; c++)
		looks += native->waits[c];
	for (unsigned c = CAUSE_LOCKS; c < CAUSE_NOT_RUNNING; c++) {
		struct explained_cause *cause = &e->causes[c];
		struct interval share;
		*cause = (struct explained_cause){.cause = (enum cause)c, .measured = true, .seconds = unknown};
		if (isnan(e->waiting_s)) {
			cause->why = "the time of waiting is not known";
		} else if (!looks || !stats_share(native->waits[c], looks, e->confidence, &share)) {
			/* too short to be looked at: whatever it was, it is this */
			cause->known = c == CAUSE_WAITING;
			cause->why = cause->known ? NULL : "the program ended before a look at its threads";
			if (cause->known)
				cause->seconds = (struct bounded){e->waiting_s, 0, e->waiting_s};
		} else {
			cause->known = true;
			cause->seconds = (struct bounded){share.value * e->waiting_s, share.low * e->waiting_s,
							  share.high * e->waiting_s};
		}
	}
}

static void not_running(struct explanation *e)
{
	struct explained_cause *cause = &e->causes[CAUSE_NOT_RUNNING];
	*cause = (struct explained_cause){.cause = CAUSE_NOT_RUNNING,
					  .measured = true,
					  .known = !isnan(e->not_running_s),
					  .seconds = {e->not_running_s, e->not_running_s, e->not_running_s}};
	if (!cause->known)
		cause->why = "this kernel does not say how long threads waited for a CPU";
}

static void take_measured(struct explanation *e, const struct native_times *n)
{
	e->has_measured = true;
	e->elapsed_s = n->elapsed_s;
	e->user_s = n->user_s;
	e->system_s = n->system_s;
	e->cpu_s = n->user_s + n->system_s;
	e->threads_most = n->threads_most;
	double off = fmax(n->elapsed_s - e->cpu_s, 0);
	/* of one thread the clock tells all; a tick's worth of what the kernel says may be missing */
	if (n->threads_most <= 1) {
		e->not_running_s = isnan(n->not_running_s) ? NAN : fmin(n->not_running_s, off);
		e->waiting_s = off - (isnan(e->not_running_s) ? 0 : e->not_running_s);
		e->total_s = n->elapsed_s > e->cpu_s ? n->elapsed_s : e->cpu_s;
	} else {
		e->not_running_s = n->not_running_s;
		e->waiting_s = n->dt_waiting;
		e->total_s = e->cpu_s + e->waiting_s + (isnan(e->not_running_s) ? 0 : e->not_running_s);
	}
}

/* ---- all together ---- */

static void sum_up(struct explanation *e)
{
	struct bounded sum = unknown;
	for (unsigned c = 0; c < CAUSES; c++) {
		if (c == CAUSES_COUNTED)
			e->counted = sum;
		if (e->causes[c].known)
			add(&sum, &e->causes[c].seconds);
	}
	e->sum_typical = sum.typical;
	e->sum_least = sum.least;
	e->sum_most = sum.most;
	e->unexplained_s = e->overlap_s = NAN;
	if (!e->has_measured || isnan(sum.typical))
		return;
	e->unexplained_s = fmax(e->total_s - sum.typical, 0);
	e->overlap_s = fmax(sum.typical - e->total_s, 0);
}

bool causes_explain(struct explanation *e, unsigned levels, const struct costs *costs,
		    const struct native_times *native, struct error *err)
{
	e->elapsed_s = e->user_s = e->system_s = e->cpu_s = e->not_running_s = e->waiting_s = e->total_s = NAN;
	if (native)
		take_measured(e, native);
	if (!counted_causes(e, levels, costs) || !faults(e, costs, native))
		return error_no_memory(err);
	system_calls(e, native);
	if (native) {
		waits(e, native);
		not_running(e);
	} else {
		for (unsigned c = CAUSES_COUNTED; c < CAUSES; c++)
			e->causes[c] = (struct explained_cause){
				.cause = (enum cause)c,
				.seconds = unknown,
				.why = "the program was not executed on this machine"};
	}
	sum_up(e);
	return true;
}
