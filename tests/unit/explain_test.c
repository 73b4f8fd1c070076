/* Costs and causes: the text of a table, what times of experiments mean, counts × costs. No time is measured. */
#include <stdlib.h>

#include "explain/causes.h"
#include "explain/measure.h"
#include "report/explanation.h"
#include "tap.h"

static bool close_to(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

/* ---- tables ---- */

static const char table[] =
	"[costs]\nmachine = lab\ntitle = The lab's\nclock_hz = 1e9\nsource = made up\n"
	"\n[cost]\nof = l2-hit\nunit = cycles\nminimum = 2\ntypical = 10\nmaximum = 12\n"
	"source = made up\n"
	"\n[cost]\nof = memory\nunit = ns\nmaximum = 100\nsource = made up\n"
	"\n[cost]\nof = tlb-walk\nunit = cycles\nclock_hz = 5e8\ntypical = 30\nsource = made up\n";

static bool parse(const char *text, struct costs *costs, struct error *err)
{
	return costs_parse(text, strlen(text), "test.costs", costs, err);
}

static void tables(void)
{
	struct costs c;
	struct error err = {0};
	ok(parse(table, &c, &err), "a table is read: %s", err.text);
	const struct cost *l2 = &c.of[OPERATION_L2_HIT];
	ok(close_to(l2->least, 2e-9) && close_to(l2->typical, 10e-9) && close_to(l2->most, 12e-9),
	   "cycles are of the machine's clock");
	ok(close_to(c.of[OPERATION_TLB_WALK].typical, 60e-9), "or of the row's own");
	ok(close_to(c.of[OPERATION_MEMORY].most, 100e-9) && isnan(c.of[OPERATION_MEMORY].typical) &&
		   isnan(c.of[OPERATION_MEMORY].least),
	   "what a source does not say is not known");
	ok(!c.of[OPERATION_L3_HIT].known && !c.measured, "what has no row is not known");
	costs_free(&c);
}

static void refused(const char *from, const char *to, const char *expected, const char *fact)
{
	char text[sizeof table + 200];
	struct costs c;
	struct error err = {0};
	const char *at = strstr(table, from);
	snprintf(text, sizeof text, "%.*s%s%s", (int)(at - table), table, to, at + strlen(from));
	ok(!parse(text, &c, &err) && strstr(err.text, expected) && !c.arena.blocks, "%s: %s", fact, err.text);
}

static void refusals(void)
{
	refused("of = l2-hit", "of = l9-hit", "is not an operation", "an unknown operation is refused");
	refused("of = memory", "of = l2-hit", "is there twice", "an operation has one row");
	refused("minimum = 2", "minimum = 11", "ascending order", "a minimum above the typical cost is refused");
	refused("unit = ns", "unit = us", "neither ns nor cycles", "an unknown unit is refused");
	refused("minimum = 2", "minimum = -2", "not a valid number", "a cost below 0 is refused");
	refused("minimum = 2", "minimum = nan", "not a valid number", "so is one that is no number");
	refused("maximum = 100\n", "", "are missing", "a row without a time is refused");
	refused("unit = ns\n", "unit = ns\nlatency = 3\n", "does not know", "an unknown key is refused");
	refused("clock_hz = 1e9\n", "", "cycles of which clock", "cycles need a clock");
	refused("unit = ns\nmaximum = 100\nsource = made up\n", "unit = ns\nmaximum = 100\n", "source is missing",
		"a number without a source is refused");
	refused("[costs]", "[cost]", "where [costs] has to begin", "the table begins with whose it is");
}

static void papers(void)
{
	static const char *const machines[] = {"pentium", "r10000", "power3"};
	struct costs c;
	struct error err = {0};
	for (size_t m = 0; m < 3; m++) {
		bool cited = costs_named(machines[m], &c, &err);
		for (unsigned i = 0; cited && i < OPERATIONS; i++)
			cited = !c.of[i].known || strstr(c.of[i].source, "Safford 1997") ||
				strstr(c.of[i].source, "Zagha et al. 1996") ||
				strstr(c.of[i].source, "Nieto et al.");
		ok(cited, "each cost of %s names its paper", machines[m]);
		costs_free(&c);
	}
	ok(costs_named("pentium", &c, &err), "the Pentium has costs");
	/* Safford 1997, Table 5.5: 3-1-1-1 and 10-3-3-3 at 66 MHz; 100 MHz */
	ok(close_to(c.of[OPERATION_L2_HIT].least, 3 / 66e6) &&
		   close_to(c.of[OPERATION_L2_HIT].most, (3 + 1 + 1 + 1) / 66e6),
	   "its L2 gives the first piece after 3 bus clocks, a line after 6");
	ok(close_to(c.of[OPERATION_MEMORY].least, 10 / 66e6) &&
		   close_to(c.of[OPERATION_MEMORY].most, (10 + 3 + 3 + 3) / 66e6),
	   "its memory after 10 and 19");
	ok(close_to(c.of[OPERATION_INSTRUCTION].least, 0.5 / 100e6) && isnan(c.of[OPERATION_INSTRUCTION].typical),
	   "it executes two instructions a clock at most");
	costs_free(&c);
	ok(!costs_named("vax", &c, &err) && err.code == ERROR_NOT_FOUND && strstr(err.hint, "pentium"),
	   "a machine without costs is an error that names the others: %s", err.hint);
}

/* ---- from times to costs ---- */

static void plant(struct cost_times *t, enum cost_experiment e, double ns)
{
	for (size_t i = 0; i < t->sweeps; i++)
		t->ns[e][i] = ns;
}

static struct cost_times *planted(void)
{
	static const double ns[EXPERIMENTS] = {
		[EXPERIMENT_DEPENDENT] = 1,          [EXPERIMENT_TWO_CHAINS] = 0.5,
		[EXPERIMENT_INDEPENDENT] = 0.25,     [EXPERIMENT_MIXED] = 0.2,
		[EXPERIMENT_DIVIDES] = 10.25,        [EXPERIMENT_DIVIDES_APART] = 4.25,
		[EXPERIMENT_ROOTS] = 20.25,          [EXPERIMENT_ROOTS_APART] = 8.25,
		[EXPERIMENT_L1_CHASE] = 4.25,        [EXPERIMENT_L1_STREAM] = 0.75,
		[EXPERIMENT_L2_CHASE] = 14,          [EXPERIMENT_L2_STREAM] = 2,
		[EXPERIMENT_L3_CHASE] = 50,          [EXPERIMENT_L3_STREAM] = 5,
		[EXPERIMENT_MEMORY_CHASE] = 100,     [EXPERIMENT_MEMORY_STREAM] = 8,
		[EXPERIMENT_NEAR_PACKED] = 4,        [EXPERIMENT_NEAR_SPREAD] = 11,
		[EXPERIMENT_FAR_PACKED] = 14,        [EXPERIMENT_FAR_SPREAD] = 44,
		[EXPERIMENT_BRANCH_PREDICTABLE] = 2, [EXPERIMENT_BRANCH_RANDOM] = 10,
		[EXPERIMENT_TOUCH_FIRST] = 501,      [EXPERIMENT_TOUCH_AGAIN] = 1,
		[EXPERIMENT_SYSTEM_CALL] = 90,
	};
	struct cost_times *t = calloc(1, sizeof *t);
	t->sweeps = 11;
	for (unsigned e = 0; e < EXPERIMENTS; e++)
		plant(t, (enum cost_experiment)e, ns[e]);
	return t;
}

static bool is(const struct costs *c, enum cost_operation o, double least, double typical, double most)
{
	const struct cost *cost = &c->of[o];
	return cost->known && close_to(cost->least, least * 1e-9) && close_to(cost->typical, typical * 1e-9) &&
	       close_to(cost->most, most * 1e-9);
}

/* The typical cost of a calibration lies in the interval of another one, as often as that says: 15 sweeps each, of
 * times that are skewed as measured ones are. */
static void reproducible(void)
{
	enum { PAIRS = 2000 };
	static const double confidences[] = {0.95, 0.99};
	struct cost_times *t = planted();
	struct error err = {0};
	uint64_t x = 88172645463325252u;
	t->sweeps = 15;
	for (size_t k = 0; k < 2; k++) {
		unsigned inside = 0;
		double low = NAN, high = NAN;
		for (unsigned run = 0; run <= PAIRS; run++) {
			struct costs c = {0};
			for (size_t i = 0; i < t->sweeps; i++) {
				x ^= x << 13, x ^= x >> 7, x ^= x << 17;
				t->ns[EXPERIMENT_SYSTEM_CALL][i] = 80 -
								   10 * log(((double)(x >> 11) + 1) * 0x1p-53);
			}
			costs_derive(t, confidences[k], &c, &err);
			const struct cost *call = &c.of[OPERATION_SYSTEM_CALL];
			inside += run && call->typical >= low && call->typical <= high;
			low = call->low, high = call->high;
			costs_free(&c);
		}
		/* four standard deviations of a binomial share */
		double spread = 4 * sqrt(confidences[k] * (1 - confidences[k]) / PAIRS);
		ok(inside >= (confidences[k] - spread) * PAIRS,
		   "%u of %d times the next typical cost is in the interval of %g %%", inside, PAIRS,
		   100 * confidences[k]);
	}
	free(t);
}

static void planned(void)
{
	const struct cost_plan plan = {.sweeps = 15, .rounds = 3, .pause_s = 1, .least = 9, .most_s = 52};
	ok(costs_next(&plan, 1, 2) == COST_REST && costs_next(&plan, 14, 28) == COST_REST,
	   "sweeps of 2 s are 30 s in all: there is time to rest");
	ok(costs_next(&plan, 1, 4) == COST_GO_ON && costs_next(&plan, 12, 48) == COST_GO_ON,
	   "of 4 s they are too many: no rest");
	ok(costs_next(&plan, 13, 52) == COST_ENOUGH, "and enough, when the next would not fit");
	ok(costs_next(&plan, 8, 80) == COST_GO_ON && costs_next(&plan, 9, 90) == COST_ENOUGH,
	   "as many as an interval needs there are in any case");
}

static void derivations(void)
{
	struct cost_times *t = planted();
	struct costs c = {0};
	struct error err = {0};
	ok(costs_derive(t, 0.95, &c, &err), "costs come of times: %s", err.text);
	ok(is(&c, OPERATION_INSTRUCTION, 0.2, 0.5, 1), "an instruction: eight chains with loads, two, one");
	ok(is(&c, OPERATION_DIVIDE, 3.75, 3.75, 9.25), "a division, beyond an instruction of that kind");
	ok(is(&c, OPERATION_SQUARE_ROOT, 7.75, 7.75, 19.25), "a square root, likewise");
	ok(is(&c, OPERATION_L1_HIT, 0, 0.25, 3.25),
	   "a hit in L1, beyond an instruction: loads that additions hide cost nothing");
	ok(is(&c, OPERATION_L2_HIT, 2, 14, 14), "L2: a stream, a chase");
	ok(is(&c, OPERATION_L3_HIT, 5, 50, 50), "L3");
	ok(is(&c, OPERATION_MEMORY, 8, 100, 100), "memory");
	ok(is(&c, OPERATION_L2_STREAM, 2, 2, 2) && is(&c, OPERATION_L3_STREAM, 5, 5, 5) &&
		   is(&c, OPERATION_MEMORY_STREAM, 8, 8, 8),
	   "lines in order: the streams");
	ok(is(&c, OPERATION_TLB_HIT, 7, 7, 7), "the second TLB: spread less packed");
	ok(is(&c, OPERATION_TLB_WALK, 30, 30, 30), "a walk, likewise");
	ok(is(&c, OPERATION_BRANCH_MISS, 16, 16, 16), "two random branches are one misprediction");
	ok(is(&c, OPERATION_PAGE_FAULT, 500, 500, 500), "a page fault: the first touch less the second");
	ok(is(&c, OPERATION_SYSTEM_CALL, 90, 90, 90), "a system call");
	ok(close_to(c.clock_hz, 1e9), "an addition is a cycle");
	const struct cost *l2 = &c.of[OPERATION_L2_HIT];
	ok(close_to(l2->low, 14e-9 * 0.98) && close_to(l2->high, 14e-9 * 1.02),
	   "sweeps that agree exactly are of one clock: another's may differ by 2 %%");
	costs_free(&c);

	/* one sweep of eleven at nine tenths of the clock, another at twice the time */
	t->ns[EXPERIMENT_DEPENDENT][2] = 1.1;
	t->ns[EXPERIMENT_L2_CHASE][3] = t->ns[EXPERIMENT_L2_CHASE][4] = 28;
	c = (struct costs){0};
	ok(costs_derive(t, 0.95, &c, &err) && close_to(c.clock_part, 0.1) && close_to(l2->typical, 14e-9) &&
		   close_to(l2->low, 14e-9 * 0.9) && close_to(l2->high, 28e-9 * 1.1),
	   "a clock that differs more widens the interval, and so do slow sweeps");
	costs_free(&c);
	free(t);
	t = planted();

	/* a narrow core: two instructions a cycle, one of them a load */
	plant(t, EXPERIMENT_INDEPENDENT, 0.5);
	plant(t, EXPERIMENT_MIXED, 0.6);
	c = (struct costs){0};
	ok(costs_derive(t, 0.95, &c, &err) && is(&c, OPERATION_INSTRUCTION, 0.5, 0.5, 1),
	   "where loads add time, an instruction's least cost is that of additions");
	ok(is(&c, OPERATION_L1_HIT, 0.25, 0.25, 3.25) && close_to(c.of[OPERATION_L1_HIT].low, 0.235e-9) &&
		   close_to(c.of[OPERATION_L1_HIT].high, 0.265e-9),
	   "a load's least is what they do not hide; and the clock may differ in all of the time that a "
	   "difference is taken of");
	costs_free(&c);
	free(t);
	t = planted();

	/* a slow sweep hits both parts of a difference: its median does not see it */
	t->ns[EXPERIMENT_NEAR_SPREAD][3] = 1011;
	t->ns[EXPERIMENT_NEAR_PACKED][3] = 1004;
	plant(t, EXPERIMENT_L3_CHASE, NAN);
	plant(t, EXPERIMENT_L3_STREAM, NAN);
	plant(t, EXPERIMENT_TOUCH_AGAIN, 600);
	c = (struct costs){0};
	ok(costs_derive(t, 0.95, &c, &err) && is(&c, OPERATION_TLB_HIT, 7, 7, 7),
	   "differences are taken within a sweep");
	ok(!c.of[OPERATION_L3_HIT].known, "a level that is not there has no cost");
	ok(is(&c, OPERATION_PAGE_FAULT, 0, 0, 0), "no cost is below 0");

	/* 11 values: another median lies in an interval of 99.44 %, from the 1st to the 11th (binomial, 0.9990); and
	 * the clock may differ by 2 % */
	for (size_t i = 0; i < t->sweeps; i++)
		t->ns[EXPERIMENT_SYSTEM_CALL][i] = (double)(100 + 10 * ((i * 7) % 11));
	struct costs again = {0};
	ok(costs_derive(t, 0.95, &again, &err), "sweeps may differ");
	const struct cost *call = &again.of[OPERATION_SYSTEM_CALL];
	ok(close_to(call->typical, 150e-9) && close_to(call->low, 0.98 * 100e-9) &&
		   close_to(call->high, 1.02 * 200e-9) && call->n == 11,
	   "the interval for the median of 11 others is from the 1st to the 11th, and 2 %% of the clock beyond");
	ok(close_to(call->least, 110e-9) && close_to(call->most, 190e-9),
	   "least and most are the deciles where no experiment gives them");

	/* kept and read again */
	struct str text = {0}, second = {0};
	struct costs read = {0};
	again.machine = "host";
	again.title = again.cpu = "A CPU";
	again.kernel = "Linux 1";
	again.tare_version = "0";
	again.made_unix = 5;
	again.seconds = 3;
	ok(costs_write(&again, &text, &err) && costs_parse(text.text, text.length, "kept", &read, &err),
	   "what was measured is kept and read again: %s", err.text);
	ok(costs_write(&read, &second, &err) && strcmp(text.text, second.text) == 0, "and is the same");
	char why[256];
	ok(costs_fit(&read, "A CPU", "Linux 1", why, sizeof why), "it fits its machine");
	ok(!costs_fit(&read, "B CPU", "Linux 1", why, sizeof why) && strstr(why, "A CPU"), "no other CPU: %s",
	   why);
	ok(!costs_fit(&read, "A CPU", "Linux 2", why, sizeof why) && strstr(why, "Linux 1"), "no other kernel: %s",
	   why);
	costs_free(&read);
	text.text[strstr(text.text, "typical = ") - text.text + 10] = '9';
	err = (struct error){0};
	ok(!costs_parse(text.text, text.length, "kept", &read, &err) && strstr(err.text, "sum"),
	   "a file that was changed is refused: %s", err.text);
	err = (struct error){0};
	ok(!costs_parse(text.text, text.length / 2, "kept", &read, &err), "so is one that was cut short: %s",
	   err.text);
	str_free(&text);
	str_free(&second);
	costs_free(&again);
	costs_free(&c);
	free(t);
}

/* ---- counts × costs ---- */

static void count(struct result *r, const char *event, double value)
{
	r->estimates = realloc(r->estimates, (r->n_estimates + 1) * sizeof *r->estimates);
	r->estimates[r->n_estimates++] = (struct estimate){.event = event,
							   .known = !isnan(value),
							   .value = value,
							   .cpu = -1,
							   .source = SOURCE_MODEL,
							   .machine = "lab",
							   .why = isnan(value) ? "planted" : NULL};
}

static struct result *counts(double misses)
{
	struct result *r = result_new();
	count(r, "instructions:u", 1000);
	count(r, "fp-divides:u", 10);
	count(r, "fp-square-roots:u", 0);
	count(r, "l1d-hits:u", 400);
	count(r, "l2-hits:u", 50);
	count(r, "l2-misses:u", misses);
	count(r, "l3-hits:u", 20);
	count(r, "l3-misses:u", misses);
	count(r, "dtlb-misses:u", 9);
	count(r, "dtlb-walks:u", 4);
	count(r, "itlb-walks:u", 1);
	count(r, "branch-misses:u", 6);
	count(r, "system-calls:u", 3);
	return r;
}

static struct costs planted_costs(void)
{
	struct costs c = {0};
	struct error err = {0};
	struct cost_times *t = planted();
	costs_derive(t, 0.95, &c, &err);
	c.title = "planted";
	free(t);
	return c;
}

static void drop(struct explanation *e)
{
	free(e->result->estimates);
	e->result->estimates = NULL;
	e->result->n_estimates = 0;
	explanation_free(e);
}

static bool takes(const struct explanation *e, enum cause cause, double ns)
{
	return e->causes[cause].known && close_to(e->causes[cause].seconds.typical, ns * 1e-9);
}

static void causes(void)
{
	struct costs c = planted_costs();
	struct explanation e = {.confidence = 0.95, .result = counts(100)};
	struct error err = {0};
	ok(causes_explain(&e, 3, &c, NULL, &err), "without a measured time: %s", err.text);
	ok(takes(&e, CAUSE_COMPUTING, 1000 * 0.5 + 10 * 3.75 + 0), "computing: instructions and divisions");
	ok(takes(&e, CAUSE_L1, 400 * 0.25), "L1: its hits");
	ok(takes(&e, CAUSE_L2, 50 * 14) && takes(&e, CAUSE_L3, 20 * 50), "L2 and L3: their hits");
	ok(takes(&e, CAUSE_MEMORY, 100 * 100.0), "memory: what L3 misses");
	ok(takes(&e, CAUSE_TLB, (9 - 4) * 7 + 4 * 30 + 1 * 30), "TLB: hits of the second, and walks");
	ok(takes(&e, CAUSE_BRANCHES, 6 * 16), "mispredictions");
	ok(takes(&e, CAUSE_CALLS, 3 * 90), "system calls");
	ok(!e.causes[CAUSE_FAULTS].known && e.causes[CAUSE_FAULTS].why, "page faults: not known without a run");
	double sum = 537.5 + 100 + 700 + 1000 + 10000 + 185 + 96 + 270;
	ok(close_to(e.sum_typical, sum * 1e-9) && isnan(e.unexplained_s) && isnan(e.overlap_s),
	   "the sum; nothing to compare it with");
	double least = 1000 * 0.2 + 10 * 3.75 + 400 * 0 + 50 * 2 + 20 * 5 + 100 * 8 + 185 + 96 + 270;
	double most = 1000 * 1 + 10 * 9.25 + 400 * 3.25 + 50 * 14 + 20 * 50 + 100 * 100 + 185 + 96 + 270;
	ok(close_to(e.sum_least, least * 1e-9) && close_to(e.sum_most, most * 1e-9),
	   "least and most are sums of their own");
	drop(&e);

	/* in order: of 50, 20 and 100 are 30, 20 and 90, which cost 2, 5 and 8 */
	e = (struct explanation){.confidence = 0.95, .result = counts(100)};
	count(e.result, "l2-hits-in-order:u", 30);
	count(e.result, "l3-hits-in-order:u", 20);
	count(e.result, "l3-misses-in-order:u", 90);
	ok(causes_explain(&e, 3, &c, NULL, &err) && takes(&e, CAUSE_L2, 20 * 14 + 30 * 2) &&
		   takes(&e, CAUSE_L3, 20 * 5) && takes(&e, CAUSE_MEMORY, 10 * 100 + 90 * 8),
	   "lines in order have their own cost, in L2, L3 and memory");
	ok(e.causes[CAUSE_MEMORY].n_parts == 2 &&
		   strcmp(e.causes[CAUSE_MEMORY].parts[0].event, "l3-misses:u \u2212 l3-misses-in-order:u") == 0,
	   "each is a part");
	/* a counter of the hardware has them all in one: a model's are not of the same execution */
	for (size_t i = 0; i < e.result->n_estimates; i++)
		if (strcmp(e.result->estimates[i].event, "l3-misses:u") == 0)
			e.result->estimates[i].source = SOURCE_HW;
	struct explanation mixed = {.confidence = 0.95, .result = e.result};
	e.result = result_new();
	drop(&e);
	e = mixed;
	ok(causes_explain(&e, 3, &c, NULL, &err) && takes(&e, CAUSE_MEMORY, 100 * 100.0) &&
		   e.causes[CAUSE_MEMORY].n_parts == 1 && takes(&e, CAUSE_L2, 20 * 14 + 30 * 2),
	   "nothing is taken off a count of another source");
	drop(&e);
	struct costs without = c;
	without.of[OPERATION_MEMORY_STREAM].known = false;
	e = (struct explanation){.confidence = 0.95, .result = counts(100)};
	count(e.result, "l3-misses-in-order:u", 90);
	ok(causes_explain(&e, 3, &without, NULL, &err) && takes(&e, CAUSE_MEMORY, 100 * 100.0),
	   "without a cost of theirs they cost what all do");
	drop(&e);
	struct str asked = {0};
	causes_events(3, &without, &asked);
	ok(strstr(asked.text, "l3-hits-in-order:u") && !strstr(asked.text, "l3-misses-in-order"),
	   "and are not counted apart");
	str_free(&asked);

	/* two levels: what L2 misses is memory's, and L3 has no part */
	e = (struct explanation){.confidence = 0.95, .result = counts(100)};
	ok(causes_explain(&e, 2, &c, NULL, &err) && takes(&e, CAUSE_MEMORY, 10000) && !e.causes[CAUSE_L3].known,
	   "of two levels memory has what L2 misses");
	drop(&e);

	/* what is not counted is not 0 */
	e = (struct explanation){.confidence = 0.95, .result = counts(NAN)};
	ok(causes_explain(&e, 3, &c, NULL, &err) && !e.causes[CAUSE_MEMORY].known &&
		   strcmp(e.causes[CAUSE_MEMORY].why, "planted") == 0,
	   "what is not counted has no time, and says why");
	drop(&e);

	/* a count without a cost has no time, a count of 0 has 0 */
	c.of[OPERATION_L3_HIT].known = c.of[OPERATION_SQUARE_ROOT].known = false;
	e = (struct explanation){.confidence = 0.95, .result = counts(100)};
	ok(causes_explain(&e, 3, &c, NULL, &err) && !e.causes[CAUSE_L3].known &&
		   strstr(e.causes[CAUSE_L3].why, "no cost"),
	   "a count without a cost has no time");
	ok(takes(&e, CAUSE_COMPUTING, 537.5), "but 0 of an event takes none");
	drop(&e);
	c.of[OPERATION_INSTRUCTION].known = false;
	e = (struct explanation){.confidence = 0.95, .result = counts(100)};
	ok(causes_explain(&e, 3, &c, NULL, &err) && takes(&e, CAUSE_COMPUTING, 37.5) &&
		   isnan(e.causes[CAUSE_COMPUTING].seconds.most) && e.causes[CAUSE_COMPUTING].why,
	   "of a cause that lacks a cost the rest is known, and nothing bounds it");
	drop(&e);
	c.of[OPERATION_DIVIDE].known = false;
	e = (struct explanation){.confidence = 0.95, .result = counts(100)};
	ok(causes_explain(&e, 3, &c, NULL, &err) && !e.causes[CAUSE_COMPUTING].known,
	   "0 square roots do not make computing free where instructions have no cost");
	drop(&e);
	costs_free(&c);
}

static void compared(void)
{
	struct costs c = planted_costs();
	struct error err = {0};
	/* one thread: 20 us elapsed, 14 us CPU, 1 us ready; of 100 looks 75 in a lock, 25 asleep */
	struct native_times native = {.elapsed_s = 20e-6,
				      .user_s = 12e-6,
				      .system_s = 2e-6,
				      .not_running_s = 1e-6,
				      .page_faults = 2,
				      .threads_most = 1,
				      .looks = 100};
	native.waits[CAUSE_LOCKS] = 75;
	native.waits[CAUSE_SLEEPING] = 25;
	struct explanation e = {.confidence = 0.95, .result = counts(50)};
	ok(causes_explain(&e, 3, &c, &native, &err), "with a measured time: %s", err.text);
	ok(takes(&e, CAUSE_FAULTS, 2 * 500), "page faults are the system's count");
	ok(close_to(e.causes[CAUSE_FAULTS].seconds.most, 1e-6) && !e.causes[CAUSE_FAULTS].why, "with both bounds");
	ok(takes(&e, CAUSE_CALLS, 2000 - 1000) && close_to(e.causes[CAUSE_CALLS].seconds.least, 270e-9) &&
		   close_to(e.causes[CAUSE_CALLS].seconds.most, 2e-6),
	   "system calls: the rest of the kernel's time, their ways at least");
	ok(takes(&e, CAUSE_NOT_RUNNING, 1000), "ready without a CPU");
	ok(takes(&e, CAUSE_LOCKS, 0.75 * 5000) && takes(&e, CAUSE_SLEEPING, 0.25 * 5000) && takes(&e, CAUSE_IO, 0),
	   "waiting is divided by the looks");
	ok(e.causes[CAUSE_LOCKS].seconds.least < 3.75e-6 && e.causes[CAUSE_LOCKS].seconds.most > 3.75e-6,
	   "with their interval");
	double cpu = 537.5 + 100 + 700 + 1000 + 5000 + 185 + 96 + 1000 + 1000;
	ok(close_to(e.counted.typical, cpu * 1e-9), "causes on the CPU");
	ok(close_to(e.unexplained_s, (14000 - cpu) * 1e-9) && e.overlap_s == 0,
	   "what is left is unexplained, and no cause has it");
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	e.command = (const char *const[]){"./prog", NULL};
	report_explanation_text(out, &e, &(struct report_options){.width = 80});
	fclose(out);
	ok(strstr(text, "\n  unexplained") && strstr(text, "\n  waiting for locks"),
	   "the text has a row for what is unexplained");
	ok(strstr(text, "so short a run"), "and says how coarse the kernel's division of a short run is");
	free(text);
	drop(&e);

	e = (struct explanation){.confidence = 0.95, .result = counts(200)};
	ok(causes_explain(&e, 3, &c, &native, &err) && e.unexplained_s == 0 &&
		   close_to(e.overlap_s, (cpu + 15000 - 14000) * 1e-9),
	   "above the measured time, causes overlap");
	ok(takes(&e, CAUSE_MEMORY, 20000), "and none is scaled down");
	drop(&e);

	/* several threads: their times, not the clock's */
	native.threads_most = 3;
	native.dt_waiting = 30e-6;
	e = (struct explanation){.confidence = 0.95, .result = counts(50)};
	ok(causes_explain(&e, 3, &c, &native, &err) && close_to(e.total_s, 14e-6 + 1e-6 + 30e-6) &&
		   takes(&e, CAUSE_LOCKS, 0.75 * 30000),
	   "of several threads it is the sum of theirs");
	drop(&e);

	/* over before a look: waiting is waiting, of no kind */
	native = (struct native_times){.elapsed_s = 3e-6, .user_s = 1e-6, .not_running_s = NAN, .threads_most = 1};
	e = (struct explanation){.confidence = 0.95, .result = counts(50)};
	ok(causes_explain(&e, 3, &c, &native, &err) && !e.causes[CAUSE_NOT_RUNNING].known &&
		   !e.causes[CAUSE_LOCKS].known && takes(&e, CAUSE_WAITING, 2000),
	   "a program that ended before a look waited, and it is not said for what");
	drop(&e);

	/* without costs there are counts, and no time */
	e = (struct explanation){.confidence = 0.95, .result = counts(50)};
	ok(causes_explain(&e, 3, NULL, &native, &err) && !e.causes[CAUSE_MEMORY].known &&
		   e.causes[CAUSE_MEMORY].parts[0].counted,
	   "without costs the counts are there");
	drop(&e);
	costs_free(&c);
}

/* ---- what a reader is told ---- */

static char *shown(struct explanation *e, int width)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	e->command = (const char *const[]){"./prog", NULL};
	report_explanation_text(out, e, &(struct report_options){.width = width});
	fclose(out);
	return text;
}

static void told(void)
{
	struct costs c = planted_costs();
	struct error err = {0};
	const struct native_times native = {
		.elapsed_s = 20e-6, .user_s = 12e-6, .system_s = 2e-6, .page_faults = 2, .threads_most = 2};
	struct explanation e = {.confidence = 0.95, .result = counts(50)};
	count(e.result, "l2-hits-in-order:u", 30);
	count(e.result, "l3-hits-in-order:u", 20);
	count(e.result, "l3-misses-in-order:u", 40);
	ok(causes_explain(&e, 3, &c, &native, &err), "with lines in order: %s", err.text);
	e.has_waits = true;
	e.waits_s = 0.25;
	e.preempted_s = 0.5;
	ok(vec_push(&e.faults,
		    ((struct explained_fault){.function = "", .file = "/s/m.c", .line = 7, .faults = 3})) &&
		   vec_push(&e.faults,
			    ((struct explained_fault){.function = "f", .file = "a.c", .line = 9, .faults = 2})) &&
		   vec_push(&e.advice, ((struct explained_advice){.rule = "r", .text = "Do.", .evidence = "E."})),
	   "with faults and advice");
	char *text = shown(&e, 55);
	ok(strstr(text, "\n  l2-hits:u") && strstr(text, "\n  l2-hits-in") && strstr(text, "\n  l3-misses:u") &&
		   strstr(text, "\n  l3-misses-in"),
	   "where names are cut, those of different events still differ");
	ok(strstr(text, "  m.c:7\n") && strstr(text, "  a.c:9 (f)\n"),
	   "a function without a name is not shown as ()");
	ok(!strstr(text, " \n"), "no line ends in a space, that of a heading neither");
	free(text);
	struct explained_place place = {.name = "f", .sum = 1e-3};
	place.seconds[CAUSE_BRANCHES] = 0.98e-3;
	e.by = BREAKDOWN_BY_FUNCTION;
	e.places = &place;
	e.n_places = 1;
	text = shown(&e, 60);
	ok(strstr(text, "  mispredictions 98 %\n"),
	   "on 60 columns there is room for the longest name of a place's cause");
	free(text);
	text = shown(&e, 200);
	ok(strstr(text, "\u2265 270 ns  model\n"), "system calls have the least time that they take");
	ok(strstr(text, "all threads together waited 250 ms, and were ready for another 500 ms"),
	   "waiting and being ready are told apart");
	ok(strstr(text, "up to 2 threads at once, of all its processes"), "threads are those of all processes");
	ok(strstr(text, "The causes on the CPU add up to"), "the causes are compared with the CPU time");
	free(text);
	drop(&e);

	e = (struct explanation){.confidence = 0.95, .result = counts(50), .why_no_costs = "planted"};
	ok(causes_explain(&e, 3, NULL, &native, &err), "without costs: %s", err.text);
	text = shown(&e, 200);
	ok(!strstr(text, "add up to"), "without costs there is no sum to compare");
	free(text);
	drop(&e);
	costs_free(&c);
}

int main(void)
{
	tables();
	refusals();
	papers();
	planned();
	derivations();
	reproducible();
	causes();
	compared();
	told();
	return done();
}
