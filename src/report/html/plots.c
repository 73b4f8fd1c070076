/* Drawings of a page: intervals on a common axis (a forest plot when they are differences), and the repetitions of
 * a count. Each is an <svg> without a viewBox: horizontal places are percents of its width, vertical ones pixels,
 * so that it fills its cell on a phone and on paper, and its points stay round. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "report/html/html.h"
#include "report/number.h"

enum {
	RANGE_HEIGHT = 18,
	RUNS_HEIGHT = 40,
	RUNS_TOP = 3,
	RUNS_BOTTOM = 27, /* of the dots; below them the mean with its interval */
	MEAN_AT = 35,
	BINS = 48,       /* bars, where there are … */
	DOTS_MOST = 300, /* … more repetitions than this */
};
/* percents that are left free on both sides, for half a point and half a label */
static const double MARGIN = 5;
/* Differences that are so many times another are drawn on a logarithmic axis. */
static const double LINEAR_MOST = 20;

/* ---- axes ---- */

static void include(struct html_axis *axis, double value)
{
	if (!isfinite(value))
		return;
	axis->low = fmin(axis->low, value);
	axis->high = fmax(axis->high, value);
}

struct html_axis html_axis_of(const struct columns *columns)
{
	struct html_axis axis = {.kind = columns->axis};
	double least = INFINITY;
	for (size_t i = 0; i < columns->rows.count; i++) {
		const struct columns_range *range = &columns->rows.items[i].range;
		if (!range->known)
			continue;
		include(&axis, range->at);
		include(&axis, range->low);
		include(&axis, range->high);
		double size = fmax(fabs(range->at), isfinite(range->low) ? fabs(range->low) : 0);
		size = fmax(size, isfinite(range->high) ? fabs(range->high) : 0);
		if (size > 0)
			least = fmin(least, size);
	}
	double most = fmax(-axis.low, axis.high);
	if (axis.kind == AXIS_DIFFERENCE && most > LINEAR_MOST * least)
		axis.unit = fmax(least, most / 1e5);
	if (axis.kind == AXIS_DIFFERENCE && axis.low == 0 && axis.high == 0)
		axis.low = -(axis.high = 1);
	return axis;
}

static double scaled(const struct html_axis *axis, double value)
{
	return axis->unit > 0 ? asinh(value / axis->unit) : value;
}

/* In percent of the drawing's width. */
static double place(const struct html_axis *axis, double value)
{
	double low = scaled(axis, axis->low), high = scaled(axis, axis->high);
	if (!isfinite(value))
		return value > 0 ? 100 : 0;
	if (axis->kind == AXIS_SHARE) /* from the edge on */
		return high > 0 ? 100 * scaled(axis, value) / high : 0;
	return high > low ? MARGIN + (100 - 2 * MARGIN) * (scaled(axis, value) - low) / (high - low) : 50;
}

static void put_tick(struct html *html, const struct html_axis *axis, double value)
{
	char number[NUMBER_BYTES];
	double x = place(axis, value);
	number_exact(number, fabs(value));
	html_markup(
		html,
		"<line x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"14\" y2=\"18\"/><text x=\"%.2f%%\" y=\"11\">%s%s%s</text>",
		x, x, x,
		value < 0   ? "\u2212"
		: value > 0 ? "+"
			    : "",
		number, value == 0 ? " %" : "");
}

double html_step(double most)
{
	most /= 2;
	double power = pow(10, floor(log10(most)));
	return most / power >= 5 ? 5 * power : most / power >= 2 ? 2 * power : power;
}

/* Labels that would be too near to one another are left out. */
void html_axis(struct html *html, const struct html_axis *axis)
{
	enum { APART = 12 }; /* percent */
	double last[2] = {place(axis, 0), place(axis, 0)};
	if (axis->kind != AXIS_DIFFERENCE)
		return;
	html_markup(html, "<svg class=\"range axis\" height=\"%d\" aria-hidden=\"true\">", RANGE_HEIGHT);
	put_tick(html, axis, 0);
	double most = fmax(-axis->low, axis->high), step = html_step(most);
	double first = axis->unit > 0 ? pow(10, ceil(log10(axis->unit))) : step;
	for (double value = first; value <= most * 1.0001 && value > 0;
	     value = axis->unit > 0 ? value * 10 : value + step)
		for (int side = 0; side < 2; side++) {
			double at = side ? -value : value, x = place(axis, at);
			if (at < axis->low * 1.0001 || at > axis->high * 1.0001 || fabs(x - last[side]) < APART)
				continue;
			put_tick(html, axis, at);
			last[side] = x;
		}
	html_markup(html, "</svg>");
}

static void put_bar(struct html *html, const char *class, double from, double to, double y, double height)
{
	html_markup(html, "<rect class=\"%s\" x=\"%.2f%%\" y=\"%g\" width=\"%.2f%%\" height=\"%g\"/>", class, from,
		    y, fmax(to - from, 0), height);
}

static void put_line(struct html *html, const char *class, double from, double to, double y1, double y2)
{
	html_markup(html, "<line class=\"%s\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%g\" y2=\"%g\"/>", class, from, to,
		    y1, y2);
}

static void put_difference(struct html *html, const struct html_axis *axis, const struct columns_range *range)
{
	double zero = place(axis, 0), at = place(axis, range->at);
	if (isfinite(range->floor) && range->floor > 0) {
		double low = fmax(place(axis, -range->floor), 0), high = fmin(place(axis, range->floor), 100);
		put_bar(html, "floor", low, high, 1, RANGE_HEIGHT - 2);
	}
	put_line(html, "zero", zero, zero, 0, RANGE_HEIGHT);
	put_line(html, "whisker", place(axis, range->low), place(axis, range->high), 9, 9);
	html_markup(html, "<circle cx=\"%.2f%%\" cy=\"9\" r=\"4\"/>", at);
}

static void put_share(struct html *html, const struct html_axis *axis, const struct columns_range *range)
{
	double low = place(axis, range->low), high = place(axis, range->high);
	put_bar(html, "share", 0, place(axis, range->at), 4, 10);
	if (high > low)
		put_line(html, "whisker", low, high, 9, 9);
}

void html_range(struct html *html, const struct html_axis *axis, const struct columns_range *range)
{
	html_markup(html, "<svg class=\"range%s\" height=\"%d\" aria-hidden=\"true\">",
		    range->sign < 0   ? " less"
		    : range->sign > 0 ? " more"
				      : "",
		    RANGE_HEIGHT);
	if (axis->kind == AXIS_DIFFERENCE)
		put_difference(html, axis, range);
	else
		put_share(html, axis, range);
	html_markup(html, "</svg>");
}

/* ---- repetitions ---- */

/* Of sorted values, between neighbours in proportion (Hyndman and Fan 1996, definition 7). */
static double quantile(const double *sorted, size_t n, double part)
{
	double at = part * (double)(n - 1);
	size_t below = (size_t)at;
	return below + 1 < n ? sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below])
			     : sorted[n - 1];
}

static void put_dots(struct html *html, const struct html_axis *axis, const struct estimate *e)
{
	for (size_t i = 0; i < e->n_runs; i++) {
		double part = e->n_runs > 1 ? (double)i / (double)(e->n_runs - 1) : 0.5;
		if (isfinite(e->runs[i]))
			html_markup(html, "<circle cx=\"%.2f%%\" cy=\"%.1f\" r=\"2.5\"/>", place(axis, e->runs[i]),
				    RUNS_TOP + part * (RUNS_BOTTOM - RUNS_TOP));
	}
}

static void put_bars(struct html *html, const struct html_axis *axis, const double *sorted, size_t n)
{
	size_t counts[BINS] = {0}, most = 0;
	double width = (100 - 2 * MARGIN) / BINS;
	for (size_t i = 0; i < n; i++) {
		double part = (sorted[i] - axis->low) / (axis->high - axis->low);
		size_t bin = (size_t)fmin(BINS - 1, fmax(0, part * BINS));
		if (++counts[bin] > most)
			most = counts[bin];
	}
	for (size_t bin = 0; bin < BINS; bin++) {
		double height = (RUNS_BOTTOM - RUNS_TOP) * (double)counts[bin] / (double)most;
		if (counts[bin])
			put_bar(html, "bin", MARGIN + (double)bin * width, MARGIN + (double)(bin + 1) * width,
				RUNS_BOTTOM - height, height);
	}
}

void html_runs(struct html *html, const struct estimate *e)
{
	double *sorted = e->n_runs ? malloc(e->n_runs * sizeof *sorted) : NULL;
	size_t n = 0;
	for (size_t i = 0; sorted && i < e->n_runs; i++)
		if (isfinite(e->runs[i]))
			sorted[n++] = e->runs[i];
	if (n < 2) {
		free(sorted);
		return;
	}
	qsort(sorted, n, sizeof *sorted, order_doubles);
	struct html_axis axis = {.low = sorted[0], .high = sorted[n - 1]};
	html_markup(html, "<svg class=\"runs\" height=\"%d\" aria-hidden=\"true\">", RUNS_HEIGHT);
	put_bar(html, "box", place(&axis, quantile(sorted, n, 0.25)), place(&axis, quantile(sorted, n, 0.75)),
		RUNS_TOP - 3, RUNS_BOTTOM - RUNS_TOP + 6);
	double median = place(&axis, quantile(sorted, n, 0.5));
	put_line(html, "median", median, median, RUNS_TOP - 3, RUNS_BOTTOM + 3);
	if (n > DOTS_MOST && axis.high > axis.low)
		put_bars(html, &axis, sorted, n);
	else
		put_dots(html, &axis, e);
	if (e->has_interval && axis.high > axis.low)
		put_line(html, "whisker", fmax(place(&axis, e->low), 0), fmin(place(&axis, e->high), 100), MEAN_AT,
			 MEAN_AT);
	double mean = place(&axis, e->value);
	html_markup(html, "<circle class=\"mean\" cx=\"%.2f%%\" cy=\"%d\" r=\"3\"/></svg>",
		    fmin(fmax(mean, 0), 100), MEAN_AT);
	free(sorted);
}
