/* A calibration applied to a result: what becomes net, what is refused, what gets a bound, what stays gross. */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "trust/apply.h"

static const char *const command[] = {"/usr/bin/sort", "-n", NULL};

static struct estimate *add(struct result *r, const char *event, enum source source, double value,
			    double half_width)
{
	struct estimate *e = &r->estimates[r->n_estimates++];
	*e = (struct estimate){.event = event,
			       .unit = "instructions",
			       .level = "user+kernel",
			       .known = true,
			       .value = value,
			       .low = value - half_width,
			       .high = value + half_width,
			       .has_interval = half_width > 0,
			       .confidence = 0.95,
			       .n_runs = 2,
			       .source = source,
			       .share_running = 1,
			       .cpu = -1};
	e->runs = arena_alloc(&r->arena, 2 * sizeof *e->runs);
	e->runs[0] = value - 1;
	e->runs[1] = value + 1;
	return e;
}

static struct result *result_of_command(void)
{
	struct result *r = result_new();
	r->command = command;
	r->estimates = arena_alloc(&r->arena, 16 * sizeof *r->estimates);
	return r;
}

static void calibrate(struct calibration *c)
{
	*c = (struct calibration){.id = "0123456789abcdef", .confidence = 0.95};
	vec_push(&c->overheads, ((struct overhead){.event = "instructions",
						   .unit = "instructions",
						   .part = OVERHEAD_PROGRAM,
						   .constant = true,
						   .n = 100,
						   .mean = 50000,
						   .half_width = 198.4,
						   .sd = 1000,
						   .median = 50000,
						   .least = 49000,
						   .most = 53000}));
	vec_push(&c->overheads, ((struct overhead){.event = "instructions:u",
						   .unit = "instructions",
						   .part = OVERHEAD_PROGRAM,
						   .constant = true,
						   .n = 100}));
	vec_push(&c->overheads, ((struct overhead){.event = "page-faults",
						   .unit = "faults",
						   .part = OVERHEAD_PROGRAM,
						   .n = 100,
						   .mean = 2,
						   .sd = 0.5,
						   .half_width = 0.1,
						   .median = 2,
						   .least = 1,
						   .most = 3}));
	/* an interface that tare count is not */
	vec_push(&c->overheads, ((struct overhead){.event = "branches",
						   .unit = "branches",
						   .interface = INTERFACE_STUBS,
						   .part = OVERHEAD_REGION,
						   .constant = true,
						   .n = 100,
						   .mean = 7,
						   .median = 7,
						   .least = 7,
						   .most = 7}));
}

static void test_net(const struct calibration *c)
{
	struct result *r = result_of_command();
	struct estimate *both = add(r, "instructions", SOURCE_HW, 1e6, 300),
			*user = add(r, "instructions:u", SOURCE_HW, 5000, 0);
	ok(trust_apply(r, c), "a calibration is applied");
	ok(both->has_tare && both->gross == 1e6 && both->tare == 50000 && both->value == 950000,
	   "instructions of both levels: gross less the empty program is net");
	ok(both->runs[0] == 949999 && both->runs[1] == 950001, "and so is every run");
	near(both->high - both->value, sqrt(300.0 * 300 + 198.4 * 198.4), 1e-6,
	     "the interval has the calibration's uncertainty, too");
	near(both->value - both->low, both->high - both->value, 1e-6, "on both sides");
	equal_text(both->evidence, "0123456789abcdef", "the evidence is the calibration");
	ok(user->has_tare && user->value == 5000 && user->tare == 0 && !user->has_interval && user->known,
	   "at user level tare count adds nothing, and takes nothing off");
	result_free(r);
}

static void test_refused(const struct calibration *c)
{
	struct result *r = result_of_command();
	struct estimate *e = add(r, "instructions", SOURCE_HW, 51000, 0);
	trust_apply(r, c);
	ok(!e->known && e->source == SOURCE_NONE && e->n_runs == 0 && e->has_tare && e->gross == 51000,
	   "a program that is too small for the uncertainty is refused, and its gross count stays");
	equal_text(e->why,
		   "the program 'sort' is too small to measure: 1000 instructions against an overhead of 50000 ± "
		   "1993.9; repeat it "
		   "at least 1000 times",
		   "with the reason, and what to do");
	result_free(r);
}

static void test_rest(const struct calibration *c)
{
	struct result *r = result_of_command();
	struct estimate *faults = add(r, "page-faults", SOURCE_OS, 40, 1),
			*few = add(r, "page-faults", SOURCE_OS, 1, 0),
			*scaled = add(r, "instructions", SOURCE_SCALED, 1e6, 1e4),
			*exact = add(r, "instructions:u", SOURCE_EXACT, 777, 0),
			*model = add(r, "l1d-misses", SOURCE_MODEL, 77, 0),
			*none = add(r, "cycles", SOURCE_HW, 1e6, 0),
			*other = add(r, "branches", SOURCE_HW, 1e6, 0),
			*thread = add(r, "instructions", SOURCE_HW, 1e6, 0),
			*account = add(r, "page-faults", SOURCE_OS, 40, 0),
			*unknown = add(r, "instructions", SOURCE_NONE, 0, 0);
	thread->tid = 4;
	account->level = "";
	unknown->known = false;
	trust_apply(r, c);
	ok(!faults->has_tare && faults->value == 40 && faults->bound == 3 && faults->evidence,
	   "an event that depends on what ran before stays, with the most that an empty program counted as bound");
	ok(few->value == 1 && few->bound == 1, "a bound is not more than the count");
	ok(!scaled->has_tare && scaled->value == 1e6 && !scaled->evidence, "a scaled count stays gross");
	ok(exact->has_tare && exact->tare == 0 && exact->gross == 777 && exact->value == 777 && model->has_tare &&
		   model->tare == 0,
	   "in what the engine and models count is no measuring");
	ok(!none->has_tare && none->value == 1e6 && isnan(none->bound),
	   "an event that was not calibrated stays gross");
	ok(!other->has_tare && other->value == 1e6, "what other interfaces count is not taken off");
	ok(!thread->has_tare && thread->value == 1e6, "a thread's row stays gross");
	ok(isnan(account->bound), "the operating system's account has no bound");
	ok(!unknown->known && !unknown->has_tare && !unknown->why, "what is not known stays so");
	result_free(r);

	r = result_of_command();
	r->target = "process 4";
	struct estimate *attached = add(r, "instructions", SOURCE_HW, 1e6, 0);
	trust_apply(r, c);
	ok(!attached->has_tare && attached->value == 1e6, "of a process that ran already nothing is taken off");
	result_free(r);

	r = result_of_command();
	r->n_regions = 1;
	r->regions = arena_alloc(&r->arena, sizeof *r->regions);
	r->regions[0].estimates = arena_alloc(&r->arena, sizeof *r->regions[0].estimates);
	r->regions[0].n_estimates = 1;
	r->regions[0].estimates[0] = (struct estimate){.event = "instructions:u",
						       .level = "user",
						       .known = true,
						       .value = 9,
						       .source = SOURCE_EXACT,
						       .cpu = -1};
	struct estimate *probed = add(r, "instructions", SOURCE_HW, 1e6, 0);
	trust_apply(r, c);
	ok(!probed->has_tare && probed->value == 1e6 && isnan(probed->bound),
	   "of a program whose regions are counted apart nothing is taken off: the probes are not in the "
	   "calibration");
	ok(r->regions[0].estimates[0].has_tare && r->regions[0].estimates[0].gross == 9,
	   "a region that the engine counted has a tare of 0");
	result_free(r);

	r = result_of_command();
	struct estimate *gross = add(r, "instructions", SOURCE_HW, 1e6, 0),
			*by_engine = add(r, "loads:u", SOURCE_EXACT, 5, 0);
	trust_apply(r, NULL);
	ok(!gross->has_tare && gross->value == 1e6 && isnan(gross->bound) && by_engine->has_tare,
	   "without a calibration hardware counts are gross, the engine's are net");
	result_free(r);
}

/* A region of probes, entered `passes` times, of which the backend knows that about its measuring. */
static struct estimate *probed_region(struct result **out, double value, uint64_t passes,
				      struct measuring measuring)
{
	struct result *r = *out = result_of_command();
	r->n_regions = 1;
	r->regions = arena_alloc(&r->arena, sizeof *r->regions);
	// clang-format off: a table, a row a line
	r->regions[0] = (struct region_row){.name = "x",
					    .entries = passes,
					    .exits = passes,
					    .n_estimates = 1,
					    .estimates = arena_alloc(&r->arena, sizeof *r->regions[0].estimates)};
	r->regions[0].estimates[0] = (struct estimate){.event = "task-clock",
						       .unit = "ns",
						       .level = "user+kernel",
						       .known = true,
						       .value = value,
						       .low = value,
						       .high = value,
						       .n_runs = 1,
						       .source = SOURCE_OS,
						       .cpu = -1,
						       .measuring = measuring};
	// clang-format on
	return &r->regions[0].estimates[0];
}

static void test_probed_regions(const struct calibration *c)
{
	struct result *r;
	struct estimate *e = probed_region(&r, 1000, 10,
					   (struct measuring){.state = MEASURING_TAKEN_OFF, .count = 19});
	ok(trust_apply(r, c) && e->known && e->value == 1000 && e->has_tare && e->tare == 19 && e->gross == 1019,
	   "what the backend took off a region is its tare, the value stays net");
	result_free(r);

	e = probed_region(&r, 1000, 10, (struct measuring){.state = MEASURING_TAKEN_OFF, .count = -5});
	ok(trust_apply(r, c) && e->has_tare && e->tare == -5 && e->gross == 995,
	   "also where probes hide more than they add");
	result_free(r);

	e = probed_region(&r, 21000, 1,
			  (struct measuring){.state = MEASURING_INCLUDED, .count = 1000, .half_width = 30});
	ok(trust_apply(r, c) && e->known && e->value == 21000 && !e->has_tare && e->bound == 1030 && e->evidence,
	   "of a time nothing is taken off: it stays, with a bound, when its own part is twenty times the "
	   "overhead");
	result_free(r);

	e = probed_region(&r, 20999, 1,
			  (struct measuring){.state = MEASURING_INCLUDED, .count = 1000, .half_width = 30});
	ok(trust_apply(r, c) && !e->known && e->source == SOURCE_NONE && e->n_runs == 0 && !e->has_tare &&
		   e->gross == 20999,
	   "just below that it is refused");
	equal_text(e->why,
		   "region 'x' is too small to measure: 19999 ns against an overhead of 1000 ± 30; repeat it at "
		   "least 2 times inside the region",
		   "with how often it has to be repeated");
	result_free(r);

	e = probed_region(&r, 104000, 100,
			  (struct measuring){.state = MEASURING_INCLUDED, .count = 100000, .half_width = 3000});
	ok(trust_apply(r, c) && !e->known, "so is one of many passes that are too small, each");
	equal_text(e->why,
		   "region 'x' is too small to measure: 40 ns against an overhead of 1000 ± 30 in each pass; "
		   "repeat it at least 500 times inside the region",
		   "and a pass is what is spoken of");
	result_free(r);

	e = probed_region(&r, 900, 1,
			  (struct measuring){.state = MEASURING_INCLUDED, .count = 1000, .half_width = 30});
	ok(trust_apply(r, c) && !e->known && strstr(e->why, "fewer ns than an overhead of 1000 ± 30"),
	   "and one that has less than the overhead");
	result_free(r);

	e = probed_region(
		&r, 104000, 100,
		(struct measuring){
			.state = MEASURING_INCLUDED, .count = 100000, .half_width = 3000, .inside = 90000});
	ok(trust_apply(r, c) && !e->known, "one that has other regions' probes inside is refused");
	equal_text(e->why,
		   "region 'x' is too small to measure: 40 ns against an overhead of 1000 ± 30 in each pass; most "
		   "of that is of probes inside it: ask for fewer "
		   "regions at once, or for one without recursion",
		   "and is not told to repeat them");
	result_free(r);

	e = probed_region(&r, 0, 0, (struct measuring){.state = MEASURING_INCLUDED});
	ok(trust_apply(r, c) && e->known && e->value == 0 && e->bound == 0,
	   "a region that was never entered has 0");
	result_free(r);

	e = probed_region(&r, 7, 1, (struct measuring){.state = MEASURING_UNKNOWN});
	ok(trust_apply(r, c) && e->known && !e->has_tare && isnan(e->bound) && !e->evidence,
	   "what the backend found nothing out of stays gross");
	result_free(r);

	e = probed_region(&r, 7, 1, (struct measuring){.state = MEASURING_INCLUDED, .count = 1000});
	e->source = SOURCE_EXACT;
	ok(trust_apply(r, c) && e->known && e->has_tare && e->tare == 0 && e->gross == 7,
	   "the engine's regions have a tare of 0 always");
	result_free(r);
}

int main(void)
{
	struct calibration c;
	calibrate(&c);
	test_net(&c);
	test_refused(&c);
	test_rest(&c);
	test_probed_regions(&c);
	calibration_free(&c);
	return done();
}
