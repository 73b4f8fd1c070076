#include "trust/verdict_fit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/student.h"

/* Integers of a count that varies are not better known than this. */
static const double SPREAD_LEAST = 0.5;

static int by_prediction(const void *a, const void *b)
{
	const struct fit_point *p = a, *q = b;
	if (p->x != q->x && !isnan(p->x) && !isnan(q->x))
		return p->x < q->x ? -1 : 1;
	return p->index < q->index ? -1 : p->index > q->index;
}

/* Mean, extremes and own spread, around the first value: sums of large counts would lose the spread. */
static struct fit_point point_of(const struct judged_event *event, size_t index)
{
	const struct judged_point *p = &event->points[index];
	struct fit_point out = {.index = index,
				.x = p->predicted,
				.n = (double)p->n,
				.least = p->observed[0],
				.most = p->observed[0]};
	double sum = 0, squares = 0;
	for (size_t i = 0; i < p->n; i++) {
		double y = p->observed[i], d = y - p->observed[0];
		out.least = fmin(out.least, y);
		out.most = fmax(out.most, y);
		sum += d;
		squares += d * d;
	}
	out.mean = p->observed[0] + sum / out.n;
	out.sd = p->n > 1 ? sqrt(fmax(squares - sum * sum / out.n, 0) / (out.n - 1)) : 0;
	return out;
}

/* Pool adjacent violators (Ayer et al. 1955): variances that do not fall, each with its degrees of freedom. */
static bool pool(struct fit *fit, double *freedom)
{
	struct variance_block {
		double variance, df;
		size_t points;
	} *blocks = calloc(fit->n + 1, sizeof *blocks);
	size_t n = 0;
	if (!blocks)
		return false;
	for (size_t i = 0; i < fit->n; i++) {
		const struct fit_point *p = &fit->points[i];
		blocks[n++] = (struct variance_block){p->sd * p->sd, p->n - 1, 1};
		while (n > 1 && (blocks[n - 2].variance > blocks[n - 1].variance || blocks[n - 2].df == 0)) {
			struct variance_block *a = &blocks[n - 2], *b = &blocks[n - 1];
			double df = a->df + b->df;
			a->variance = df > 0 ? (a->variance * a->df + b->variance * b->df) / df : 0;
			a->df = df;
			a->points += b->points;
			n--;
		}
	}
	for (size_t b = 0, i = 0; b < n; b++)
		for (size_t k = 0; k < blocks[b].points; k++, i++) {
			fit->points[i].sd = sqrt(blocks[b].variance);
			freedom[i] = blocks[b].df;
		}
	free(blocks);
	return true;
}

static bool weigh_points(struct fit *fit)
{
	double *freedom = calloc(fit->n + 1, sizeof *freedom);
	if (!freedom || !pool(fit, freedom)) {
		free(freedom);
		return false;
	}
	for (size_t i = 0; i < fit->n; i++) {
		struct fit_point *p = &fit->points[i];
		if (fit->varies)
			p->sd = fmax(p->sd, SPREAD_LEAST);
		p->se = p->sd / sqrt(p->n);
		double df = fmax(freedom[i], 1);
		p->t = student_two_sided(1 - VERDICT_ALPHA / (double)fit->n, df);
		p->t95 = student_two_sided(0.95, df);
	}
	free(freedom);
	return true;
}

bool fit_new(const struct judged_event *event, bool predicted, struct fit *out)
{
	*out = (struct fit){.event = event, .points = calloc(event->n_points + 1, sizeof *out->points)};
	if (!out->points)
		return false;
	for (size_t i = 0; i < event->n_points; i++) {
		const struct judged_point *p = &event->points[i];
		if (p->n == 0 || (predicted && !isfinite(p->predicted)))
			continue;
		struct fit_point point = point_of(event, i);
		out->varies |= point.least < point.most;
		out->points[out->n++] = point;
	}
	qsort(out->points, out->n, sizeof *out->points, by_prediction);
	return weigh_points(out);
}

void fit_free(struct fit *fit)
{
	free(fit->points);
	*fit = (struct fit){0};
}

bool fit_holds(const struct fit *fit, const double *form, double rounding)
{
	for (size_t i = 0; i < fit->n; i++) {
		const struct fit_point *p = &fit->points[i];
		/* a scaled count is a product of doubles */
		double tolerance = p->t * p->se + (rounding > 0 ? rounding + 4 * DBL_EPSILON * fabs(form[i]) : 0);
		if (!(fabs(p->mean - form[i]) <= tolerance))
			return false;
	}
	return fit->n > 0;
}

static double weight_of(const struct fit *fit, size_t i)
{
	double se = fit->points[i].se;
	return se > 0 ? 1 / (se * se) : 1;
}

bool fit_line(const struct fit *fit, const double *z, bool fixed_o, bool fixed_k, struct fitted_line *line)
{
	double w = 0, wz = 0, wy = 0, zz = 0, zy = 0;
	for (size_t i = 0; i < fit->n; i++)
		w += weight_of(fit, i), wz += weight_of(fit, i) * z[i],
			wy += weight_of(fit, i) * fit->points[i].mean;
	if (!(w > 0))
		return false;
	double mid_z = fixed_o ? 0 : wz / w, mid_y = fixed_o ? line->o : wy / w;
	for (size_t i = 0; i < fit->n; i++) {
		double dz = z[i] - mid_z, dy = fit->points[i].mean - mid_y;
		zz += weight_of(fit, i) * dz * dz;
		zy += weight_of(fit, i) * dz * dy;
	}
	if (!fixed_k && !(zz > 0))
		return false;
	if (!fixed_k)
		line->k = zy / zz;
	if (!fixed_o)
		line->o = mid_y - line->k * mid_z;
	line->se_k = fit->varies && !fixed_k ? sqrt(1 / zz) : 0;
	line->se_o = fit->varies && !fixed_o ? sqrt(1 / w + (fixed_k ? 0 : mid_z * mid_z / zz)) : 0;
	return true;
}

bool fit_differs(const struct fit *fit, double parameter, double se, double value)
{
	double t = 0;
	for (size_t i = 0; i < fit->n; i++)
		t = fmax(t, fit->points[i].t);
	return fabs(parameter - value) > t * se;
}

bool fit_differs_within_kernel(const struct fit *fit, const double *form)
{
	const struct judged_point *points = fit->event->points;
	for (size_t i = 0; i < fit->n; i++)
		for (size_t k = 0; k < i; k++) {
			const struct fit_point *p = &fit->points[i], *q = &fit->points[k];
			if (form[i] - p->x != form[k] - q->x &&
			    strcmp(points[p->index].kernel, points[q->index].kernel) == 0)
				return true;
		}
	return false;
}
