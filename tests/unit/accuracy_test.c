/* Measures of a sampled profile against the exact one: the golden vector, cases by hand, and what holds for all profiles. */
#include "profile/accuracy.h"

#include <stdlib.h>

#include "base/random.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Blocks of (executions, instructions): B1 (1000, 3), B2 (500, 4), B3 (1000, 2), B4 (10, 10), B5 (2000, 1), at places 100, 200 … */
static const struct placed_count golden_ran[] = {{100, 1000}, {101, 1000}, {102, 1000}, {200, 500},  {201, 500},
						 {202, 500},  {203, 500},  {300, 1000}, {301, 1000}, {400, 10},
						 {401, 10},   {402, 10},   {403, 10},   {404, 10},   {405, 10},
						 {406, 10},   {407, 10},   {408, 10},   {409, 10},   {500, 2000}};
static const struct placed_count golden_samples[] = {{100, 40}, {102, 10}, {201, 40}, {300, 8}, {405, 2}};

/* By hand: NI = 3000 + 2000 + 2000 + 100 + 2000 = 9100, NS = 100; sampled ranks 1 2 1 3 4, of the executions 2 2 3 2 4 (levels 2000 1000
 * 500 10): Σ c/NS·d² = 0.4·1 + 0.4·4 + 0.08·1 = 2.08, √2.08/5 = 0.288444. SC: (1000 + 1000 + 500 + 1000 + 10)/9100 = 0.385714. */
static void golden(void)
{
	struct wu_mencer is = {0};
	ok(accuracy_wu_mencer(golden_samples, COUNT(golden_samples), golden_ran, COUNT(golden_ran), &is),
	   "the golden vector is measured");
	near(is.nrmse, 0.715140, 5e-7, "its NRMSE");
	near(is.sample_coverage, 0.385714, 5e-7, "its sample coverage");
	near(is.order_deviation, 0.288444, 5e-7, "its order deviation, m outside the root");
	ok(is.samples == 100 && is.places == 5 && is.apart == 0, "100 samples at 5 places");

	struct placed_count more[COUNT(golden_samples) + 2] = {{7, 50}};
	memcpy(more + 1, golden_samples, sizeof golden_samples);
	more[COUNT(more) - 1] = (struct placed_count){0xffffffff81000000u, 1000};
	struct wu_mencer with = {0};
	accuracy_wu_mencer(more, COUNT(more), golden_ran, COUNT(golden_ran), &with);
	ok(with.apart == 1050 && with.samples == 100, "samples where nothing ran are apart");
	ok(with.nrmse == is.nrmse && with.sample_coverage == is.sample_coverage &&
		   with.order_deviation == is.order_deviation,
	   "… and change no measure");
}

static void limits(void)
{
	const struct placed_count ran[] = {{0, 10}, {1, 10}, {2, 15}, {3, 15}};
	struct wu_mencer is = {0};
	accuracy_wu_mencer((struct placed_count[]){{3, 1}}, 1, ran, COUNT(ran), &is);
	near(is.sample_coverage, 15 / 50.0, 1e-15, "a sample covers its place's executions");
	near(is.nrmse, 1, 1e-15, "one place: its error is the whole range");
	near(is.order_deviation, 0, 0, "it is one of the most executed");
	accuracy_wu_mencer((struct placed_count[]){{3, 1}}, 1, ran, 0, &is);
	ok(is.nrmse == 0 && is.sample_coverage == 0 && is.order_deviation == 0 && is.apart == 1,
	   "nothing ran: 0/0 is 0");
	const struct placed_count one = {4, 9};
	accuracy_wu_mencer(&one, 1, &one, 1, &is);
	ok(is.nrmse == 0 && is.sample_coverage == 1 && is.order_deviation == 0,
	   "one instruction, which is sampled: no error, and 0/0 is 0");
	/* shares 0.9 0.1 against 0.5 0.5: √(0.9·0.16 + 0.1·0.16)/(0.9 - 0.1) */
	accuracy_wu_mencer((struct placed_count[]){{1, 9}, {2, 1}}, 2, (struct placed_count[]){{1, 7}, {2, 7}}, 2,
			   &is);
	near(is.nrmse, 0.5, 1e-15, "NRMSE's range is that of both sets of shares");
	accuracy_wu_mencer(NULL, 0, &one, 1, &is);
	ok(is.nrmse == 0 && is.sample_coverage == 0 && is.order_deviation == 0 && is.samples == 0,
	   "no samples: 0");
}

static void shares(void)
{
	/* 0.5 0.3 0.2 0 against 0.4 0.4 0.1 0.1 */
	const double sampled[] = {5, 3, 2, 0}, exact[] = {40, 40, 10, 10};
	near(accuracy_overlap(sampled, exact, 4), 0.8, 1e-15, "overlap 0.4 + 0.3 + 0.1");
	const double other[] = {0, 0, 0, 1}, zero[] = {0, 0, 0, 0};
	near(accuracy_overlap(sampled, other, 4), 0, 0, "different places do not overlap");
	ok(isnan(accuracy_overlap(sampled, zero, 4)) && isnan(accuracy_weight_matching(zero, exact, 4, 2)) &&
		   isnan(accuracy_key_matching(sampled, zero, 4, 2)) &&
		   isnan(accuracy_earth_mover(zero, exact, (uint64_t[]){1, 2, 3, 4}, 4)),
	   "there are no measures of shares of nothing");
}

static void matching(void)
{
	/* the sampled first two are a, b (60 + 5 exact); the exact ones a, c (60 + 30) */
	const double sampled[] = {50, 30, 20, 0, 0}, exact[] = {60, 5, 30, 4, 1};
	near(accuracy_weight_matching(sampled, exact, 5, 2), 65 / 90.0, 1e-15, "weight matching(2) is 65 of 90");
	near(accuracy_key_matching(sampled, exact, 5, 2), 0.5, 1e-15, "key matching(2) is 1 of 2");
	near(accuracy_weight_matching(sampled, exact, 5, 10), 95 / 100.0, 1e-15,
	     "of ten, of which three were sampled: 95 of 100");
	near(accuracy_key_matching(sampled, exact, 5, 10), 3 / 5.0, 1e-15, "… 3 of the 5 that there are");
	/* b and c tie for the second line: half of each is on the list: 60 + (5 + 30)/2 of 90; c is exact's second: 1 + 1/2 */
	const double ties[] = {50, 20, 20, 10, 0};
	near(accuracy_weight_matching(ties, exact, 5, 2), 77.5 / 90, 1e-15,
	     "places that tie share the last line: 77.5 of 90");
	near(accuracy_key_matching(ties, exact, 5, 2), 0.75, 1e-15, "… and the last key: 1.5 of 2");
	/* exact ties b and c for the second place: either is right */
	const double exact_ties[] = {60, 20, 20, 0, 0};
	near(accuracy_key_matching(sampled, exact_ties, 5, 2), 1, 0,
	     "of places that tie in the exact list each is right");
}

static void kendall(void)
{
	/* pairs of 1 2 3 4 against 1 3 2 4: five agree, one does not: 4/6 */
	const double a[] = {1, 2, 3, 4}, b[] = {1, 3, 2, 4}, down[] = {9, 7, 5, 3}, flat[] = {2, 2, 2, 2};
	near(accuracy_kendall(a, b, NULL, 4), 4 / 6.0, 1e-15, "one of six pairs exchanged: tau 4/6");
	near(accuracy_kendall(a, a, NULL, 4), 1, 1e-15, "the same order: 1");
	near(accuracy_kendall(a, down, NULL, 4), -1, 1e-15, "the reverse: -1");
	ok(isnan(accuracy_kendall(a, flat, NULL, 4)) && isnan(accuracy_kendall(a, b, NULL, 1)),
	   "no order, no tau");
	/* Kendall (1945) by hand: x 1 2 2 3, y 1 2 3 3: pairs 6; concordant 4 (12 13 14 24), tied in x (23), in y (34):
	 * 4/√(5·5) */
	const double x[] = {1, 2, 2, 3}, y[] = {1, 2, 3, 3};
	near(accuracy_kendall(x, y, NULL, 4), 0.8, 1e-15, "ties: 4/√(5·5)");
	/* weights 4 3 2 1: pairs 12 8 4 6 3 2 = 35; the exchanged one is (2, 3) with 3·2 = 6: (35 - 12)/35 */
	const double weights[] = {4, 3, 2, 1};
	near(accuracy_kendall(a, b, weights, 4), 23 / 35.0, 1e-15, "weighted: the exchanged pair weighs 6 of 35");
}

static void distance(void)
{
	const uint64_t position[] = {1000, 1003, 1010, 1020};
	const double exact[] = {1, 2, 1, 0}, later[] = {0, 1, 2, 1}, same[] = {3, 6, 3, 0};
	/* 1 from 1000 to 1003, 2 from 1003 to 1010, 1 from 1010 to 1020: (3 + 14 + 10)/4 */
	near(accuracy_earth_mover(later, exact, position, 4), 6.75, 1e-12,
	     "each a place later: the mean distance, 27/4");
	near(accuracy_earth_mover(exact, later, position, 4), 6.75, 1e-12, "… the same backwards");
	near(accuracy_earth_mover(same, exact, position, 4), 0, 1e-12, "equal shares: 0");
	/* straight code of 100 instructions of 4 bytes, each run once; a skid of 3 instructions at every one but the last three */
	double ran[103], skidded[103];
	uint64_t at[103];
	for (size_t i = 0; i < 103; i++) {
		ran[i] = i < 100;
		skidded[i] = i >= 3;
		at[i] = 0x401000 + 4 * i;
	}
	near(accuracy_earth_mover(skidded, ran, at, 103), 12, 1e-9,
	     "a skid of three instructions of 4 bytes is 12 bytes");
}

/* ---- what holds for all ---- */

enum { PLACES = 60 };

struct profile_pair {
	double sampled[PLACES], exact[PLACES], weight[PLACES];
	uint64_t position[PLACES];
};

static struct profile_pair draw(struct random *r)
{
	struct profile_pair p;
	for (size_t i = 0; i < PLACES; i++) {
		p.exact[i] = (double)random_below(r, 12); /* many ties, and places without weight */
		p.sampled[i] = (double)random_below(r, 12);
		p.weight[i] = 0.1 + random_unit(r);
		p.position[i] = 16 * i + random_below(r, 16);
	}
	p.exact[0] = p.sampled[1] = 3;
	return p;
}

static void shuffle(struct random *r, struct profile_pair *p)
{
	for (size_t i = PLACES; i-- > 1;) {
		size_t j = random_below(r, i + 1);
		struct profile_pair old = *p;
		p->sampled[i] = old.sampled[j], p->sampled[j] = old.sampled[i];
		p->exact[i] = old.exact[j], p->exact[j] = old.exact[i];
		p->weight[i] = old.weight[j], p->weight[j] = old.weight[i];
		p->position[i] = old.position[j], p->position[j] = old.position[i];
	}
}

static double kendall_by_pairs(const struct profile_pair *p)
{
	double agree = 0, sampled = 0, exact = 0;
	for (size_t i = 0; i < PLACES; i++)
		for (size_t j = 0; j < i; j++) {
			double w = p->weight[i] * p->weight[j];
			int a = (p->sampled[i] > p->sampled[j]) - (p->sampled[i] < p->sampled[j]);
			int b = (p->exact[i] > p->exact[j]) - (p->exact[i] < p->exact[j]);
			agree += w * a * b;
			sampled += w * abs(a);
			exact += w * abs(b);
		}
	return agree / sqrt(sampled * exact);
}

enum { MEASURES = 5 };

static void measures(const struct profile_pair *p, double out[MEASURES])
{
	out[0] = accuracy_overlap(p->sampled, p->exact, PLACES);
	out[1] = accuracy_weight_matching(p->sampled, p->exact, PLACES, 10);
	out[2] = accuracy_key_matching(p->sampled, p->exact, PLACES, 10);
	out[3] = accuracy_kendall(p->sampled, p->exact, p->weight, PLACES);
	out[4] = accuracy_earth_mover(p->sampled, p->exact, p->position, PLACES);
}

static void for_all(void)
{
	struct random r = {.state = 9};
	bool invariant = true, bounded = true, equal = true, as_pairs = true;
	for (int round = 0; round < 300; round++) {
		struct profile_pair p = draw(&r), same = p;
		double before[MEASURES], after[MEASURES];
		measures(&p, before);
		as_pairs = as_pairs && fabs(before[3] - kendall_by_pairs(&p)) < 1e-12;
		for (int i = 0; i < 3; i++)
			bounded = bounded && before[i] >= 0 && before[i] <= 1;
		bounded = bounded && fabs(before[3]) <= 1 && before[4] >= 0 && before[4] <= 16 * PLACES;
		shuffle(&r, &p);
		measures(&p, after);
		for (int i = 0; i < MEASURES; i++)
			invariant = invariant && fabs(before[i] - after[i]) < 1e-9;
		for (size_t i = 0; i < PLACES; i++)
			same.sampled[i] = 7 * same.exact[i];
		measures(&same, after);
		for (int i = 0; i < 4; i++)
			equal = equal && fabs(after[i] - 1) < 1e-12;
		equal = equal && fabs(after[4]) < 1e-9;
	}
	ok(invariant, "the order of places changes no measure (300 profiles)");
	ok(bounded, "overlap and matching are 0 … 1, tau -1 … 1, the distance within the code");
	ok(equal, "equal profiles agree wholly, at a distance of 0");
	ok(as_pairs, "tau by sorting is tau by all pairs");
}

/* Samples that are in proportion to the executions, every place sampled: the three have no error. */
static void no_error(void)
{
	struct random r = {.state = 10};
	bool none = true, bounds = true;
	for (int round = 0; round < 300; round++) {
		struct placed_count ran[40], sampled[40];
		size_t n = 2 + random_below(&r, 39), m = 0;
		for (size_t i = 0; i < n; i++) {
			ran[i] = (struct placed_count){8 * i, 10 * (1 + random_below(&r, 9))};
			sampled[i] = (struct placed_count){8 * i, ran[i].count / 10};
		}
		struct wu_mencer is = {0};
		accuracy_wu_mencer(sampled, n, ran, n, &is);
		none = none && is.nrmse < 1e-12 && is.sample_coverage == 1 && is.order_deviation == 0;
		for (size_t i = 0; i < n; i++)
			if (random_unit(&r) < 0.5)
				sampled[m++] = (struct placed_count){8 * i, 1 + random_below(&r, 9)};
		accuracy_wu_mencer(sampled, m, ran, n, &is);
		bounds = bounds && is.nrmse >= 0 && is.nrmse <= 1 && is.sample_coverage >= 0 &&
			 is.sample_coverage <= 1 && is.order_deviation >= 0 && is.order_deviation < 40 &&
			 is.places == m;
	}
	ok(none, "samples in proportion to executions have NRMSE 0, coverage 1, order deviation 0");
	ok(bounds, "NRMSE and coverage are 0 … 1 (300 profiles)");
}

int main(void)
{
	golden();
	limits();
	shares();
	matching();
	kendall();
	distance();
	for_all();
	no_error();
	return done();
}
