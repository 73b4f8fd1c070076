#include "profile/accuracy.h"

#include <math.h>
#include <stdlib.h>

/* ---- Wu and Mencer ---- */

static int by_place(const void *a, const void *b)
{
	uint64_t x = ((const struct placed_count *)a)->place, y = ((const struct placed_count *)b)->place;
	return (x > y) - (x < y);
}

static int descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x < y) - (x > y);
}

/* The different counts, the most first: a count's dense rank is its number here, from 1. NULL without memory. */
static uint64_t *levels_of(const struct placed_count *counts, size_t n, size_t *n_levels)
{
	uint64_t *levels = malloc((n ? n : 1) * sizeof *levels);
	if (!levels)
		return NULL;
	for (size_t i = 0; i < n; i++)
		levels[i] = counts[i].count;
	qsort(levels, n, sizeof *levels, descending);
	*n_levels = 0;
	for (size_t i = 0; i < n; i++)
		if (i == 0 || levels[i] != levels[i - 1])
			levels[(*n_levels)++] = levels[i];
	return levels;
}

static double rank_of(uint64_t count, const uint64_t *levels, size_t n_levels)
{
	const uint64_t *level = bsearch(&count, levels, n_levels, sizeof *levels, descending);
	return (double)(level - levels) + 1;
}

/* Sampled places that ran, with their executions. Returns how many; what is not among them is in out->apart. */
static size_t match(const struct placed_count *sampled, size_t n_sampled, const struct placed_count *ran,
		    size_t n_ran, struct placed_count *c, struct placed_count *r, struct wu_mencer *out)
{
	size_t m = 0;
	for (size_t i = 0; i < n_sampled; i++) {
		const struct placed_count *found = n_ran ? bsearch(&sampled[i], ran, n_ran, sizeof *ran, by_place)
							 : NULL;
		if (!found) {
			out->apart += sampled[i].count;
			continue;
		}
		c[m] = sampled[i];
		r[m++] = *found;
		out->samples += sampled[i].count;
	}
	return m;
}

static double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

static void measure(const struct placed_count *c, const struct placed_count *r, size_t m, double instructions,
		    const uint64_t *sampled_levels, size_t n_sampled_levels, const uint64_t *ran_levels,
		    size_t n_ran_levels, struct wu_mencer *out)
{
	double squares = 0, rank_squares = 0, executions = 0, least = INFINITY, most = -INFINITY;
	for (size_t i = 0; i < m; i++) {
		double sampled = (double)c[i].count / (double)out->samples;
		double share = (double)r[i].count / instructions;
		double ranks = rank_of(c[i].count, sampled_levels, n_sampled_levels) -
			       rank_of(r[i].count, ran_levels, n_ran_levels);
		squares += sampled * (sampled - share) * (sampled - share);
		rank_squares += sampled * ranks * ranks;
		executions += (double)r[i].count;
		least = fmin(least, fmin(sampled, share));
		most = fmax(most, fmax(sampled, share));
	}
	out->nrmse = ratio(sqrt(squares), most - least);
	out->sample_coverage = ratio(executions, instructions);
	out->order_deviation = ratio(sqrt(rank_squares), (double)m);
}

bool accuracy_wu_mencer(const struct placed_count *sampled, size_t n_sampled, const struct placed_count *ran,
			size_t n_ran, struct wu_mencer *out)
{
	*out = (struct wu_mencer){0};
	size_t n_sampled_levels = 0, n_ran_levels = 0;
	uint64_t *sampled_levels = NULL, *ran_levels = levels_of(ran, n_ran, &n_ran_levels);
	struct placed_count *both = malloc((n_sampled ? n_sampled : 1) * 2 * sizeof *both), *r = both + n_sampled;
	bool done = false;
	if (!ran_levels || !both)
		goto out;
	out->places = match(sampled, n_sampled, ran, n_ran, both, r, out);
	sampled_levels = levels_of(both, out->places, &n_sampled_levels);
	if (!sampled_levels)
		goto out;
	double instructions = 0;
	for (size_t i = 0; i < n_ran; i++)
		instructions += (double)ran[i].count;
	measure(both, r, out->places, instructions, sampled_levels, n_sampled_levels, ran_levels, n_ran_levels,
		out);
	done = true;
out:
	free(sampled_levels);
	free(ran_levels);
	free(both);
	return done;
}

/* ---- shares ---- */

static double sum_of(const double *weights, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += weights[i];
	return sum;
}

double accuracy_overlap(const double *sampled, const double *exact, size_t n)
{
	double of_sampled = sum_of(sampled, n), of_exact = sum_of(exact, n), overlap = 0;
	if (!(of_sampled > 0 && of_exact > 0))
		return NAN;
	for (size_t i = 0; i < n; i++)
		overlap += fmin(sampled[i] / of_sampled, exact[i] / of_exact);
	return fmin(overlap, 1);
}

static int descending_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x < y) - (x > y);
}

/* The first `top` of a list by weight, heaviest first. */
struct hot_list {
	double last;  /* the weight of the last one on it */
	double part;  /* places that have that weight share its last lines: which part of each is on it */
	double lines; /* at most `top`; places without weight are on no list */
	double weight;
};

static bool list_of(const double *weights, size_t n, size_t top, struct hot_list *out)
{
	double *sorted = malloc((n ? n : 1) * sizeof *sorted);
	if (!sorted)
		return false;
	*out = (struct hot_list){.part = 1};
	size_t lines = 0, above = 0, ties = 0;
	for (size_t i = 0; i < n; i++)
		if (weights[i] > 0)
			sorted[lines++] = weights[i];
	qsort(sorted, lines, sizeof *sorted, descending_doubles);
	size_t have = lines;
	lines = lines < top ? lines : top;
	for (size_t i = 0; i < lines; i++)
		out->weight += sorted[i];
	out->lines = (double)lines;
	if (lines > 0) {
		out->last = sorted[lines - 1];
		for (size_t i = 0; i < have; i++) {
			above += sorted[i] > out->last;
			ties += sorted[i] == out->last;
		}
		out->part = (double)(lines - above) / (double)ties;
	}
	free(sorted);
	return true;
}

static double on_list(const struct hot_list *list, double weight)
{
	return list->lines == 0 || weight < list->last ? 0 : weight > list->last ? 1 : list->part;
}

double accuracy_weight_matching(const double *sampled, const double *exact, size_t n, size_t top)
{
	struct hot_list of_sampled, of_exact;
	if (!list_of(sampled, n, top, &of_sampled) || !list_of(exact, n, top, &of_exact) ||
	    of_sampled.lines == 0 || of_exact.lines == 0)
		return NAN;
	double weight = 0;
	for (size_t i = 0; i < n; i++)
		weight += on_list(&of_sampled, sampled[i]) * exact[i];
	return fmin(weight / of_exact.weight, 1);
}

double accuracy_key_matching(const double *sampled, const double *exact, size_t n, size_t top)
{
	struct hot_list of_sampled, of_exact;
	if (!list_of(sampled, n, top, &of_sampled) || !list_of(exact, n, top, &of_exact) ||
	    of_sampled.lines == 0 || of_exact.lines == 0)
		return NAN;
	double keys = 0;
	for (size_t i = 0; i < n; i++)
		if (exact[i] >= of_exact.last)
			keys += on_list(&of_sampled, sampled[i]);
	return fmin(keys / of_exact.lines, 1);
}

/* ---- order ---- */

struct pair {
	double sampled, exact, weight;
};

static int by_sampled(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int order = (x->sampled > y->sampled) - (x->sampled < y->sampled);
	return order ? order : (x->exact > y->exact) - (x->exact < y->exact);
}

/* Pairs' weight within a group of ties: Σ_{i<j} w_i w_j. */
struct group {
	long double sum, squares;
};

static long double within(struct group group) { return (group.sum * group.sum - group.squares) / 2; }

static void join(struct group *group, double weight)
{
	group->sum += weight;
	group->squares += (long double)weight * weight;
}

/* Sorts pairs[from … to) by exact; returns Σ w_i w_j of those that were in the other order (not of ties). */
static long double sort_counting(struct pair *pairs, struct pair *space, size_t from, size_t to)
{
	if (to - from < 2)
		return 0;
	size_t middle = from + (to - from) / 2;
	long double swapped = sort_counting(pairs, space, from, middle) + sort_counting(pairs, space, middle, to);
	long double left_weight = 0; /* of what is left on the left */
	for (size_t i = from; i < middle; i++)
		left_weight += pairs[i].weight;
	for (size_t i = from, left = from, right = middle; i < to; i++)
		if (left < middle && (right == to || pairs[left].exact <= pairs[right].exact)) {
			left_weight -= pairs[left].weight;
			space[i] = pairs[left++];
		} else {
			swapped += left_weight * pairs[right].weight;
			space[i] = pairs[right++];
		}
	for (size_t i = from; i < to; i++)
		pairs[i] = space[i];
	return swapped;
}

double accuracy_kendall(const double *sampled, const double *exact, const double *weights, size_t n)
{
	struct pair *pairs = malloc((n ? n : 1) * 2 * sizeof *pairs);
	if (!pairs)
		return NAN;
	struct group all = {0}, tie = {0}, tie_both = {0};
	long double in_sampled = 0, in_exact = 0, in_both = 0;
	for (size_t i = 0; i < n; i++)
		pairs[i] = (struct pair){sampled[i], exact[i], weights ? weights[i] : 1};
	qsort(pairs, n, sizeof *pairs, by_sampled);
	for (size_t i = 0; i < n; i++) {
		bool same = i > 0 && pairs[i].sampled == pairs[i - 1].sampled;
		if (!same) {
			in_sampled += within(tie);
			tie = (struct group){0};
		}
		if (!same || pairs[i].exact != pairs[i - 1].exact) {
			in_both += within(tie_both);
			tie_both = (struct group){0};
		}
		join(&tie, pairs[i].weight);
		join(&tie_both, pairs[i].weight);
		join(&all, pairs[i].weight);
	}
	in_sampled += within(tie);
	in_both += within(tie_both);
	long double swapped = sort_counting(pairs, pairs + n, 0, n);
	tie = (struct group){0};
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && pairs[i].exact != pairs[i - 1].exact) {
			in_exact += within(tie);
			tie = (struct group){0};
		}
		join(&tie, pairs[i].weight);
	}
	in_exact += within(tie);
	free(pairs);

	/* rounding leaves about 1e-19 of all where a side is all ties */
	long double pairs_weight = within(all), none = pairs_weight * 1e-15L;
	long double sampled_apart = pairs_weight - in_sampled, exact_apart = pairs_weight - in_exact;
	if (!(sampled_apart > none && exact_apart > none))
		return NAN;
	long double agree = pairs_weight - in_sampled - in_exact + in_both - 2 * swapped;
	return fmax(-1, fmin(1, (double)(agree / sqrtl(sampled_apart * exact_apart))));
}

/* ---- distance ---- */

struct placed_difference {
	uint64_t position;
	double difference;
};

static int by_position(const void *a, const void *b)
{
	uint64_t x = ((const struct placed_difference *)a)->position,
		 y = ((const struct placed_difference *)b)->position;
	return (x > y) - (x < y);
}

double accuracy_earth_mover(const double *sampled, const double *exact, const uint64_t *position, size_t n)
{
	double of_sampled = sum_of(sampled, n), of_exact = sum_of(exact, n), work = 0, carried = 0;
	struct placed_difference *places = malloc((n ? n : 1) * sizeof *places);
	if (!places || !(of_sampled > 0 && of_exact > 0)) {
		free(places);
		return NAN;
	}
	for (size_t i = 0; i < n; i++)
		places[i] = (struct placed_difference){position[i], sampled[i] / of_sampled - exact[i] / of_exact};
	qsort(places, n, sizeof *places, by_position);
	for (size_t i = 0; i + 1 < n; i++) {
		carried += places[i].difference;
		work += fabs(carried) * (double)(places[i + 1].position - places[i].position);
	}
	free(places);
	return work;
}
