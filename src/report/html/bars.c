/*
 * A figure of bars: a cluster for each category, in it a bar of each series, in their order.
 *
 * What always holds:
 *  1. A bar's height is its value on the axis beside it; its tip (<title>) has the number itself.
 *  2. A value that is not known has no bar. On a logarithmic axis 0 has none either.
 *  3. The series' shades ascend from light to dark, in the order of the bars: the legend also has that order. */
#include <math.h>

#include "report/axis.h"
#include "report/html/html.h"
#include "result/paper_study.h"

enum { WIDTH = 800, HEIGHT = 340, LEFT = 62, RIGHT = 16, TOP = 12, BOTTOM = 92, SHADES = 9 };

struct bar_axis {
	double low, high; /* of a logarithmic axis powers of ten */
	bool logarithmic;
};

static bool is_drawn(const struct bar_axis *s, double value)
{
	return isfinite(value) && (!s->logarithmic || value > 0);
}

static double height_of(const struct bar_axis *s, double value)
{
	double part = s->logarithmic ? log10(value / s->low) / log10(s->high / s->low)
				     : (value - s->low) / (s->high - s->low);
	return (HEIGHT - TOP - BOTTOM) * fmin(fmax(part, 0), 1);
}

static struct bar_axis scale_of(const struct paper_figure *figure)
{
	struct bar_axis s = {.logarithmic = figure->logarithmic};
	double most = 0, least = INFINITY;
	for (size_t k = 0; k < figure->series.count; k++)
		for (size_t i = 0; i < figure->series.items[k].n; i++) {
			double value = figure->series.items[k].y[i];
			if (!is_drawn(&s, value))
				continue;
			most = fmax(most, value);
			least = fmin(least, value);
		}
	if (!s.logarithmic) {
		s.high = axis_top(most);
		return s;
	}
	s.low = most > 0 ? pow(10, floor(log10(least))) : 0.1;
	s.high = most > 0 ? pow(10, ceil(log10(most))) : 10;
	s.high = s.high > s.low ? s.high : 10 * s.low;
	return s;
}

static void put_tick(struct html *html, const struct bar_axis *s, double value)
{
	double y = HEIGHT - BOTTOM - height_of(s, value);
	html_markup(html,
		    "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" y=\"%.1f\" "
		    "text-anchor=\"end\">%.3g</text>\n",
		    LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4, value);
}

static void put_axis(struct html *html, const struct bar_axis *s)
{
	if (s->logarithmic)
		for (double value = s->low; value <= s->high * 1.001; value *= 10)
			put_tick(html, s, value);
	else
		for (int i = 0; i <= 4; i++)
			put_tick(html, s, s->high * i / 4);
	html_markup(html, "<line class=\"zero\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n", LEFT, WIDTH - RIGHT,
		    HEIGHT - BOTTOM, HEIGHT - BOTTOM);
}

static const char *category(const struct paper_figure *figure, double x)
{
	size_t at = (size_t)x - 1;
	return x >= 1 && at < figure->n_categories ? figure->categories[at] : "";
}

static size_t shade_of(const struct paper_figure *figure, size_t series)
{
	return figure->series.count > SHADES ? series * SHADES / figure->series.count : series;
}

static void put_bars(struct html *html, const struct bar_axis *s, const struct paper_figure *figure, size_t series)
{
	const struct paper_series *bars = &figure->series.items[series];
	double slot = (double)(WIDTH - LEFT - RIGHT) / (double)figure->n_categories;
	double thick = 0.86 * slot / (double)figure->series.count;
	for (size_t i = 0; i < bars->n; i++) {
		if (!is_drawn(s, bars->y[i]))
			continue;
		double height = height_of(s, bars->y[i]);
		html_markup(
			html, "<rect class=\"p%zu\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><title>",
			shade_of(figure, series), LEFT + slot * (bars->x[i] - 1 + 0.07) + thick * (double)series,
			HEIGHT - BOTTOM - height, thick, height);
		html_text(html, category(figure, bars->x[i]));
		html_markup(html, ", ");
		html_text(html, bars->name);
		html_markup(html, ": %.6g</title></rect>\n", bars->y[i]);
	}
}

static void put_names(struct html *html, const struct paper_figure *figure)
{
	double slot = (double)(WIDTH - LEFT - RIGHT) / (double)figure->n_categories;
	for (size_t i = 0; i < figure->n_categories; i++) {
		double x = LEFT + slot * ((double)i + 0.5) + 4, y = HEIGHT - BOTTOM + 15;
		html_markup(html,
			    "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" transform=\"rotate(-35 %.1f %.1f)\">",
			    x, y, x, y);
		html_text(html, figure->categories[i]);
		html_markup(html, "</text>\n");
	}
	html_markup(html, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2,
		    HEIGHT - 6);
	html_text(html, figure->x_label);
	html_markup(html, "</text>\n");
}

static void put_legend(struct html *html, const struct paper_figure *figure)
{
	html_markup(html, "<figcaption>");
	html_text(html, figure->y_label);
	html_markup(html, "<br>\n");
	for (size_t k = 0; k < figure->series.count; k++) {
		html_markup(html,
			    "<span><svg width=\"34\" height=\"10\" viewBox=\"0 0 34 10\"><rect class=\"p%zu\" "
			    "width=\"34\" "
			    "height=\"10\"/></svg> ",
			    shade_of(figure, k));
		html_text(html, figure->series.items[k].name);
		html_markup(html, ": ");
		html_text(html, figure->series.items[k].source);
		html_markup(html, "</span>\n");
	}
	html_markup(html, "</figcaption>\n");
}

void html_bars(struct html *html, const struct paper_figure *figure)
{
	struct bar_axis scale = scale_of(figure);
	html_markup(html, "<figure>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, HEIGHT);
	html_text(html, figure->title);
	html_markup(html, "\">\n");
	put_axis(html, &scale);
	for (size_t k = 0; figure->n_categories && k < figure->series.count; k++)
		put_bars(html, &scale, figure, k);
	put_names(html, figure);
	html_markup(html, "</svg>\n");
	put_legend(html, figure);
	html_markup(html, "</figure>\n");
}
