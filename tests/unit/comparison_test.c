/* Comparisons: intervals, corrected p-values, verdicts; and by simulation (seeded) how often commands that are equal are told to differ,
 * and how often a planted difference is found.
 *
 * Noise shapes, as counts have them: `exact` has no spread; `jumpy` is exact counts that depend on an address (a few values, unequally
 * often); `model` is a small number of values around one; `os` is times: a floor, an exponential tail, and now and then an interrupt
 * that is many times as long; `drift` is os with a slow change of the machine that all commands see alike. */
#include <gsl/gsl_cdf.h>
#include <stdlib.h>

#include "base/random.h"
#include "stats/stats.h"
#include "tap.h"
#include "trust/comparison.h"

enum { COMPARISONS = 1000, EVENTS = 8, RUNS_MOST = 40 };
enum shape { EXACT, JUMPY, MODEL, OS, DRIFT, SHAPES };
static const char *const shape_names[] = {"exact", "jumpy", "model", "os", "drift"};

static double normal(struct random *r) { return gsl_cdf_ugaussian_Pinv(random_unit(r) + 0x1.0p-54); }

static double draw(struct random *r, enum shape shape, double mean, size_t run)
{
	double u = random_unit(r);
	switch (shape) {
	case EXACT: return mean;
	case JUMPY: return mean + (u < 0.6 ? 0 : u < 0.9 ? 1 : 64);
	case MODEL: return round(mean + 3 * normal(r));
	case OS: return mean * (1 - 0.02 * log(1 - u) + (random_unit(r) < 0.03 ? 0.5 : 0));
	case DRIFT: return mean * (1 + 0.01 * (double)run - 0.02 * log(1 - u));
	default: return 0;
	}
}

/* ---- results, made up ---- */

struct made {
	struct result result;
	struct estimate estimates[EVENTS];
	double runs[EVENTS][RUNS_MOST];
};

static const char *const names[] = {"A", "B", "C"};
static const char *const event_names[EVENTS] = {"e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7"};

static void settle(struct made *m, size_t events, size_t n, enum source source)
{
	m->result.estimates = m->estimates;
	m->result.n_estimates = events;
	m->result.repetitions = m->result.repetitions_done = n;
	for (size_t e = 0; e < events; e++)
		// clang-format off: a table, a row a line
		m->estimates[e] = (struct estimate){.event = event_names[e],
						    .unit = "events",
						    .level = "user",
						    .known = n > 0,
						    .value = n ? stats_mean(m->runs[e], n) : 0,
						    .n_runs = n,
						    .runs = m->runs[e],
						    .source = source,
						    .confidence = 0.95,
						    .cpu = -1};
	// clang-format on
}

static void make(struct made *m, struct random *r, enum shape shape, double mean, size_t n)
{
	for (size_t e = 0; e < EVENTS; e++)
		for (size_t i = 0; i < n; i++)
			m->runs[e][i] = draw(r, shape, mean, i);
	settle(m, EVENTS, n,
	       shape == EXACT || shape == JUMPY ? SOURCE_EXACT
	       : shape == MODEL                 ? SOURCE_MODEL
						: SOURCE_OS);
}

static struct comparison *compare(const struct made *made, size_t n)
{
	const struct result *results[3];
	for (size_t i = 0; i < n; i++)
		results[i] = &made[i].result;
	return trust_compare(results, names, n, 0.95, NULL, NULL);
}

/* One event, a and b, both of the same source. */
static struct comparison *compare_runs(struct made *made, const double *a, size_t na, const double *b, size_t nb)
{
	memset(made, 0, 2 * sizeof *made);
	for (size_t i = 0; i < na; i++)
		made[0].runs[0][i] = a[i];
	for (size_t i = 0; i < nb; i++)
		made[1].runs[0][i] = b[i];
	settle(&made[0], 1, na, SOURCE_EXACT);
	settle(&made[1], 1, nb, SOURCE_EXACT);
	return compare(made, 2);
}

/* ---- one difference ---- */

static void test_difference(void)
{
	static const double x[] = {10, 11, 12, 11, 10}, y[] = {12.5, 13, 14, 12, 12.5};
	struct stats_difference d;
	ok(stats_difference(x, 5, y, 5, 0.95, &d), "two samples have a difference");
	/* by hand: the variances are 0.7 and 0.575, so that df = 0.255² / (0.14² + 0.115²) · 4 */
	double error = sqrt(0.255), df = 0.065025 * 4 / (0.0196 + 0.013225), t = gsl_cdf_tdist_Pinv(0.975, df);
	near(d.absolute.low, 2 - t * error, 1e-12, "the difference's interval is Welch's: low");
	near(d.absolute.high, 2 + t * error, 1e-12, "… and high");
	near(d.p_value, fmax(2 * gsl_cdf_tdist_Q(2 / error, df), d.p_least), 1e-12,
	     "its p-value is Welch's, where that is above the least");
	near(d.effect, 2 / sqrt(0.6375) * (1 - 3 / 31.0), 1e-12,
	     "the size of the effect is Hedges' g: in standard deviations of runs, for 8 degrees of freedom");
	near(d.superiority, 24.5 / 25, 1e-12, "24 of 25 pairs have y above x, one is a tie: a half");
	/* (b ± √(b² − ac))/a by hand: a = 10.8² − t²·vx and so on satisfy (my − ρ·mx)² = t²(vy + ρ²·vx) */
	for (int end = 0; end < 2; end++) {
		double rho = 1 + (end ? d.relative.high : d.relative.low);
		double vx = pow(stats_sd(x, 5), 2) / 5, vy = pow(stats_sd(y, 5), 2) / 5;
		near(pow(d.mean_y - rho * d.mean_x, 2), d.t * d.t * (vy + rho * rho * vx), 1e-9,
		     "Fieller's equation holds at both ends");
	}
	struct random r = {7};
	int differ = 0;
	for (int i = 0; i < 2000; i++) {
		double a[6], b[6];
		for (int k = 0; k < 6; k++) {
			a[k] = 20 + normal(&r);
			b[k] = 21 + normal(&r);
		}
		stats_difference(a, 6, b, 6, 0.95, &d);
		differ += (d.relative.low <= 0 && d.relative.high >= 0) !=
			  (d.absolute.low <= 0 && d.absolute.high >= 0);
	}
	equal_u64((uint64_t)differ, 0,
		  "the relative interval contains 0 if and only if the absolute one does (2000 draws)");
	near(stats_least_p(2, 2), 2.0 / 16, 1e-12, "2 against 2 constant runs: 2/4² at least");
	near(stats_least_p(5, 5), 2.0 / 1024, 1e-12, "5 against 5: 2/4⁵");
	near(stats_least_p(1, 3), 2.0 * 27 / 256, 1e-12, "1 against 3: 2·27/256");
}

static void test_holm(void)
{
	/* Holm 1979's rule by hand: 0.01·4, 0.02·3, 0.03·2, max with the ones before */
	static const double p[] = {0.03, 0.01, 0.9, 0.02};
	double adjusted[4];
	ok(stats_adjust_holm(p, 4, adjusted), "four p-values are adjusted");
	near(adjusted[1], 0.04, 1e-12, "the least is multiplied by 4");
	near(adjusted[3], 0.06, 1e-12, "the next by 3");
	near(adjusted[0], 0.06, 1e-12, "the third by 2; none is below the one before");
	near(adjusted[2], 0.9, 1e-12, "the largest stays");
}

/* ---- verdicts ---- */

static const struct compared *first(const struct comparison *c) { return &c->rows[0].commands[1]; }

static void test_verdicts(void)
{
	static struct made made[3];
	static const double same[] = {100, 100, 100, 100, 100}, more[] = {101, 101, 101, 101, 101},
			    none[] = {0, 0, 0, 0, 0};
	struct comparison *c = compare_runs(made, same, 5, same, 5);
	ok(first(c)->verdict == COMPARISON_EQUAL && first(c)->relative_high == 0,
	   "equal exact counts are equal, and the interval is 0 wide");
	comparison_free(c);
	c = compare_runs(made, same, 5, more, 5);
	ok(first(c)->verdict == COMPARISON_MORE, "one instruction more in each of 5 runs is more");
	near(first(c)->relative, 0.01, 1e-12, "… by 1 %");
	comparison_free(c);
	c = compare_runs(made, same, 1, more, 1);
	ok(first(c)->verdict == COMPARISON_UNKNOWN && !first(c)->has_interval && strstr(first(c)->why, "-r 3"),
	   "one run of each decides nothing, whatever it counted: %s", first(c)->why);
	comparison_free(c);
	c = compare_runs(made, same, 2, same, 2);
	ok(first(c)->verdict == COMPARISON_UNKNOWN && !first(c)->has_interval,
	   "two equal runs of each do not show that they are equal");
	comparison_free(c);
	c = compare_runs(made, none, 5, none, 5);
	ok(first(c)->verdict == COMPARISON_EQUAL && first(c)->has_relative && first(c)->relative_high == 0,
	   "0 against 0 is equal: no change");
	comparison_free(c);
	c = compare_runs(made, none, 5, more, 5);
	ok(first(c)->verdict == COMPARISON_MORE && isinf(first(c)->relative),
	   "0 against 101 is more, by no finite share");
	comparison_free(c);
	c = compare_runs(made, same, 5, same, 0);
	ok(first(c)->verdict == COMPARISON_UNKNOWN && !first(c)->has_numbers &&
		   strstr(first(c)->why, "not counted"),
	   "what is not counted is not compared: %s", first(c)->why);
	comparison_free(c);
	c = compare_runs(made, same, 0, same, 5);
	ok(first(c)->verdict == COMPARISON_UNKNOWN && strstr(first(c)->why, "the baseline is not counted"),
	   "… nor is what the baseline lacks");
	comparison_free(c);

	comparison_free(compare_runs(made, same, 5, more, 5));
	made[1].estimates[0].source = SOURCE_HW;
	c = compare(made, 2);
	ok(first(c)->verdict == COMPARISON_UNKNOWN && strstr(first(c)->why, "exact and hw"),
	   "counts of different sources are not compared: %s", first(c)->why);
	comparison_free(c);
	made[1].estimates[0].source = SOURCE_EXACT;
	made[1].estimates[0].trust = TRUST_REFUTED;
	c = compare(made, 2);
	ok(first(c)->verdict == COMPARISON_UNKNOWN, "a refuted count is not compared");
	comparison_free(c);
	made[1].estimates[0].trust = TRUST_UNVERIFIED;
	made[1].estimates[0].event = "other";
	c = compare(made, 2);
	ok(c->n_rows == 2 && first(c)->verdict == COMPARISON_UNKNOWN &&
		   c->rows[1].commands[1].verdict == COMPARISON_UNKNOWN,
	   "events that only one has are rows that are not compared");
	comparison_free(c);
}

static void test_floor(void)
{
	static struct made made[2];
	struct calibration calibration = {0};
	// clang-format off: a table, a row a line
	struct noise_floor floor = {.event = "e0",
				    .unit = "events",
				    .n = 20,
				    .mean = 100,
				    .relative_sd = 0.01,
				    .seen = 0.02,
				    .floor = 0.02};
	// clang-format on
	static const double a[] = {100, 100.1, 99.9, 100, 100}, b[] = {101, 101.1, 100.9, 101, 101};
	const struct result *results[] = {&made[0].result, &made[1].result};
	comparison_free(compare_runs(made, a, 5, b, 5));
	if (!ok(vec_push(&calibration.floors, floor), "a calibration has a noise floor of 2 %%"))
		return;
	struct comparison *c = trust_compare(results, names, 2, 0.95, &calibration, NULL);
	ok(first(c)->verdict == COMPARISON_MORE,
	   "an exact count's difference of 1 %% is above any machine's noise");
	comparison_free(c);
	made[0].estimates[0].source = made[1].estimates[0].source = SOURCE_OS;
	c = trust_compare(results, names, 2, 0.95, &calibration, NULL);
	ok(first(c)->verdict == COMPARISON_WITHIN_FLOOR, "of a time it is within the floor, however sure");
	near(first(c)->detectable, 0.02, 1e-12, "… and nothing below the floor could have been seen");
	comparison_free(c);
	c = trust_compare(results, names, 2, 0.95, NULL, NULL);
	ok(first(c)->verdict == COMPARISON_MORE, "without a calibration the runs' own spread decides");
	comparison_free(c);
	vec_free(&calibration.floors);
}

/* ---- simulation ---- */

static bool any_difference(const struct comparison *c)
{
	for (size_t i = 0; i < c->n_rows; i++)
		for (size_t k = 1; k < c->n; k++)
			if (c->rows[i].commands[k].verdict == COMPARISON_LESS ||
			    c->rows[i].commands[k].verdict == COMPARISON_MORE)
				return true;
	return false;
}

/* The rule's own rate is 4.9 % where noise is normal and events are independent (Holm: 1 − (1 − 0.05/8)^8), and less elsewhere. Of 1000
 * comparisons 5 % are 50 ± 7: a cell may be 3 such errors above, all cells of a shape together may not be above 5 %. */
static void test_equal_commands(void)
{
	static const size_t runs[] = {3, 5, 10, 30};
	const uint64_t cell_most = COMPARISONS / 20 + 21;
	for (int shape = 0; shape < SHAPES; shape++) {
		uint64_t all = 0, cells = 0;
		for (size_t k = 0; k < sizeof runs / sizeof *runs; k++)
			for (size_t n = 2; n <= 3; n++, cells++) {
				struct random r = {(uint64_t)(shape * 100 + (int)k * 10) + n};
				static struct made made[3];
				uint64_t wrong = 0;
				for (int i = 0; i < COMPARISONS; i++) {
					for (size_t m = 0; m < n; m++)
						make(&made[m], &r, (enum shape)shape, 1e6, runs[k]);
					struct comparison *c = compare(made, n);
					wrong += any_difference(c);
					comparison_free(c);
				}
				all += wrong;
				ok(wrong <= cell_most,
				   "%s counts of equal commands: %" PRIu64
				   " of %d comparisons tell a difference (%zu runs, %zu commands, %d events)",
				   shape_names[shape], wrong, COMPARISONS, runs[k], n, EVENTS);
			}
		ok(all * 20 <= cells * COMPARISONS,
		   "%s counts of equal commands are told to differ in %.1f %% of all, at most 5 %%",
		   shape_names[shape], 100.0 * (double)all / (double)(cells * COMPARISONS));
	}
}

/* A difference of what one comparison says that it could have seen, planted in normal noise, is found in 4 of 5. */
static void test_power(void)
{
	static struct made made[2];
	for (size_t n = 5; n <= 20; n *= 2) {
		struct random r = {n};
		uint64_t found = 0;
		const int times = 4000;
		/* the true spread: sd 1 of 100, so that the test's own statement can be computed */
		struct stats_difference truth = {
			.error = sqrt(2.0 / (double)n), .df = 2 * (double)n - 2, .p_least = stats_least_p(n, n)};
		double planted = stats_detectable(&truth, 0.05, COMPARISON_POWER);
		for (int i = 0; i < times; i++) {
			double a[RUNS_MOST], b[RUNS_MOST];
			for (size_t k = 0; k < n; k++) {
				a[k] = 100 + normal(&r);
				b[k] = 100 + planted + normal(&r);
			}
			struct comparison *c = compare_runs(made, a, n, b, n);
			found += first(c)->verdict == COMPARISON_MORE;
			comparison_free(c);
		}
		/* ± 3 standard errors of 4000 draws are 1.9 % */
		ok(fabs((double)found / times - COMPARISON_POWER) < 0.025,
		   "of planted differences of %.2f sd, %.1f %% are found with %zu runs (80 %% stated)", planted,
		   100.0 * (double)found / times, n);
	}
	struct random r = {3};
	uint64_t found = 0;
	static struct made three[3];
	for (int i = 0; i < COMPARISONS; i++) {
		make(&three[0], &r, EXACT, 1e6, 5);
		make(&three[1], &r, EXACT, 1e6 + 1, 5);
		struct comparison *c = compare(three, 2);
		found += c->rows[0].commands[1].verdict == COMPARISON_MORE &&
			 c->rows[EVENTS - 1].commands[1].verdict == COMPARISON_MORE;
		comparison_free(c);
	}
	equal_u64(found, COMPARISONS,
		  "of exact counts one event more in a million is always found (5 runs, 8 events)");
}

/* How many of the 95 % intervals of mean(B)/mean(A) hold the truth. */
static void test_coverage(void)
{
	static const struct {
		enum shape shape;
		double mean; /* of draw() of 1 */
	} rows[] = {{MODEL, 1}, {OS, 1 + 0.02 + 0.015}};
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		for (size_t n = 5; n <= 20; n *= 2) {
			struct random r = {11 + n};
			const int times = 4000;
			uint64_t held = 0;
			for (int i = 0; i < times; i++) {
				double a[RUNS_MOST], b[RUNS_MOST];
				for (size_t j = 0; j < n; j++) {
					a[j] = draw(&r, rows[k].shape, 1000, j);
					b[j] = draw(&r, rows[k].shape, 1100, j);
				}
				struct stats_difference d;
				stats_difference(a, n, b, n, 0.95, &d);
				held += d.relative.low <= 0.1 && d.relative.high >= 0.1;
			}
			ok((double)held / times >= 0.94,
			   "%.1f %% of the intervals of a %s ratio hold it (%zu runs each; 94 %% or more)",
			   100.0 * (double)held / times, shape_names[rows[k].shape], n);
		}
}

/* ---- why exact counts of one command differ ---- */

static const struct {
	const char *a, *b, *says, *fact;
} causes[] = {
	{"code\t1\ntasks\tone\n", "code\t2\ntasks\tone\n",
	 "B executes other code than A: another build of the program or of a library",
	 "of other code nothing is said of threads"},
	{"f\t1\t1\ncode\t1\ntasks\tseveral\n", "f\t1\t2\ncode\t2\ntasks\tseveral\n",
	 "B executes other code than A: another build of the program or of a library; besides, it was not given "
	 "the same: f",
	 "nor is a cause of what else differs"},
	{"f\t1\t1\ncode\t1\n", "f\t1\t2\ncode\t1\n", "B was not given the same as A: f",
	 "of the same code it is what differs"},
	{"signals that came\t1\t1\nthe time\t1\t1\ncode\t1\n",
	 "signals that came\t1\t2\nthe time\t1\t2\ncode\t1\n",
	 "B was not given the same as A: signals that came, the time. For the first: wait for one process after "
	 "the other, without pipelines",
	 "of several things that differ the first has its remedy"},
	{"code\t1\ntasks\tseveral\n", "code\t1\ntasks\tone\n",
	 "B was seen to be given the same as A, and executes the same code: this is the order of its threads or "
	 "processes. Run it with one thread",
	 "the same code is no other build"},
	{"code\t1\n", "code\t1\n",
	 "B was seen to be given the same as A, and executes the same code: this is the order of its threads or "
	 "processes",
	 "nor where the number of threads is not known"},
	{"code\t1\ntasks\tone\n", "code\t1\ntasks\tone\n",
	 "B was seen to be given the same as A, and executes the same code in one thread: the cause is not known",
	 "one thread has no order of threads"},
	{"tasks\tone\n", "code\t1\ntasks\tone\n",
	 "B was seen to be given the same as A, and is one thread: this is another build of the program",
	 "nor has it where the code is not known"},
	{"", "",
	 "B was seen to be given the same as A: this is another build of the program, or the order of its threads",
	 "of what an older tare kept both are possible"},
};

static void test_causes(void)
{
	static const char *const command[] = {"./prog", NULL};
	static const double x[] = {10, 10, 10}, y[] = {12, 12, 12};
	struct made made[2];
	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
		comparison_free(compare_runs(made, x, 3, y, 3));
		for (int k = 0; k < 2; k++)
			made[k].result.command = command;
		made[0].result.given = causes[i].a;
		made[1].result.given = causes[i].b;
		struct comparison *c = compare(made, 2);
		const char *note = "no note";
		for (size_t k = 0; k < c->n_notes; k++)
			if (c->notes[k].text[0] == 'B' && strstr(c->notes[k].text, " A"))
				note = c->notes[k].text;
		equal_text(note, causes[i].says, causes[i].fact);
		comparison_free(c);
	}
}

int main(void)
{
	test_difference();
	test_causes();
	test_holm();
	test_verdicts();
	test_floor();
	test_equal_commands();
	test_power();
	test_coverage();
	return done();
}
