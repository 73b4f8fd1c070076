/*
 * A figure: lines over a logarithmic axis, each with marks at its points, and a legend below.
 *
 * What always holds:
 *  1. A point stands at its x and y; its tip (<title>) has both numbers. A value that is not known has no
 *     point, and the line is interrupted there.
 *  2. A percent axis is linear from -1 to 1 and logarithmic beyond, on both sides of 0 (asinh): an error of 0
 *     has a place.
 *  3. No line is told from another by its colour alone: each has its own dashes and marks. */
#include <math.h>
#include <string.h>

#include "report/html/html.h"
#include "report/number.h"
#include "result/paper_study.h"

enum { WIDTH = 800, HEIGHT = 330, LEFT = 78, RIGHT = 16, TOP = 12, BOTTOM = 46, LOOKS = 6 };

struct axes {
	double x_low, x_high, y_low, y_high; /* scaled */
	bool percent, logarithmic;           /* of y */
};

static double scale_x(double x) { return log10(fmax(x, 1e-9)); }

static double scale_y(const struct axes *a, double y)
{
	return a->percent ? asinh(y) : a->logarithmic ? log10(y) : y;
}

static double place_x(const struct axes *a, double x)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * (scale_x(x) - a->x_low) / (a->x_high - a->x_low);
}

static double place_y(const struct axes *a, double y)
{
	return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (scale_y(a, y) - a->y_low) / (a->y_high - a->y_low);
}

static bool is_drawn(const struct axes *a, double y)
{
	return isfinite(y) && (!a->logarithmic || a->percent || y > 0);
}

/* ---- axes ---- */

static struct axes axes_of(const struct paper_figure *figure)
{
	struct axes a = {INFINITY, -INFINITY, INFINITY, -INFINITY, figure->percent, figure->logarithmic};
	for (size_t s = 0; s < figure->series.count; s++)
		for (size_t i = 0; i < figure->series.items[s].n; i++) {
			double y = figure->series.items[s].y[i];
			a.x_low = fmin(a.x_low, scale_x(figure->series.items[s].x[i]));
			a.x_high = fmax(a.x_high, scale_x(figure->series.items[s].x[i]));
			if (!is_drawn(&a, y))
				continue;
			a.y_low = fmin(a.y_low, scale_y(&a, y));
			a.y_high = fmax(a.y_high, scale_y(&a, y));
		}
	if (!(a.x_low < a.x_high))
		a.x_high = (a.x_low = isfinite(a.x_low) ? a.x_low : 0) + 1;
	if (a.percent) { /* from -1 % to 10 % at least: nearly nothing does not fill the drawing */
		a.y_low = fmin(a.y_low, asinh(-1));
		a.y_high = fmax(a.y_high, asinh(10));
	} else if (!figure->logarithmic) {
		a.y_low = fmin(a.y_low, 0);
	}
	if (!(a.y_low < a.y_high))
		a.y_high = (a.y_low = isfinite(a.y_low) ? a.y_low : 0) + 1;
	double margin = 0.04 * (a.y_high - a.y_low);
	a.y_high += margin;
	a.y_low -= a.percent || figure->logarithmic ? margin : 0;
	return a;
}

static void put_tick_y(struct html *html, const struct axes *a, double y)
{
	double at = place_y(a, y);
	if (at < TOP || at > HEIGHT - BOTTOM + 0.5)
		return;
	html_markup(html,
		    "<line class=\"%s\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" y=\"%.1f\" "
		    "text-anchor=\"end\">%g%s</text>\n",
		    y == 0 ? "zero" : "grid", LEFT, WIDTH - RIGHT, at, at, LEFT - 6, at + 4, y,
		    a->percent ? " %" : "");
}

static void put_tick_x(struct html *html, const struct axes *a, double x, double power)
{
	char text[NUMBER_BYTES];
	double at = place_x(a, x);
	if (scale_x(x) < a->x_low - 1e-9 || scale_x(x) > a->x_high + 1e-9)
		return;
	number_group(text, x, power < 0 ? (int)-power : 0);
	html_markup(html,
		    "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/><text x=\"%.1f\" "
		    "y=\"%d\" "
		    "text-anchor=\"middle\">%s</text>\n",
		    at, at, TOP, HEIGHT - BOTTOM, at, HEIGHT - BOTTOM + 16, text);
}

/* Each power of ten; where there are few of them, also twice and five times it. */
static void put_axis_x(struct html *html, const struct axes *a)
{
	bool few = a->x_high - a->x_low < 2;
	for (double power = floor(a->x_low); power <= a->x_high + 1e-9; power++)
		for (int times = 1; times <= (few ? 5 : 1); times += times == 2 ? 3 : 1)
			put_tick_x(html, a, times * pow(10, power), power);
}

static void put_axes(struct html *html, const struct axes *a, const struct paper_figure *figure)
{
	put_axis_x(html, a);
	if (a->percent) {
		put_tick_y(html, a, 0);
		for (double y = 1; y < 1e9; y *= 10) {
			put_tick_y(html, a, y);
			put_tick_y(html, a, -y);
		}
	} else if (a->logarithmic) {
		for (double power = ceil(a->y_low - 1e-9); power <= a->y_high + 1e-9; power++)
			put_tick_y(html, a, pow(10, power));
	} else {
		double step = html_step(a->y_high - a->y_low);
		for (double i = ceil(a->y_low / step - 1e-9) + 0.0 /* no -0 */; i * step <= a->y_high; i++)
			put_tick_y(html, a, i * step);
	}
	html_markup(html, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2,
		    HEIGHT - 8);
	html_text(html, figure->x_label);
	html_markup(html, "</text>\n");
}

/* ---- lines ---- */

/* A mark of its own for each line: circle, square, triangle, diamond, cross, bar. */
static void put_mark(struct html *html, size_t look, double x, double y)
{
	switch (look) {
	case 0: html_markup(html, "<circle class=\"s0\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\">", x, y); break;
	case 1: html_markup(html, "<path class=\"s1\" d=\"M%.1f %.1fh6v6h-6z\">", x - 3, y - 3); break;
	case 2: html_markup(html, "<path class=\"s2\" d=\"M%.1f %.1fl4 7h-8z\">", x, y - 4); break;
	case 3: html_markup(html, "<path class=\"s3\" d=\"M%.1f %.1fl4 4l-4 4l-4 -4z\">", x, y - 4); break;
	case 4: html_markup(html, "<path class=\"s4\" d=\"M%.1f %.1fl6 6m0 -6l-6 6\">", x - 3, y - 3); break;
	default: html_markup(html, "<path class=\"s5\" d=\"M%.1f %.1fh8\">", x - 4, y); break;
	}
}

static void close_mark(struct html *html, size_t look, const struct paper_figure *figure, double x, double y)
{
	char number[NUMBER_BYTES];
	number_group(number, x, 0);
	html_markup(html, "<title>%s ", number);
	html_text(html, figure->x_label);
	html_markup(html, ": %.6g%s</title></%s>\n", y, figure->percent ? " %" : "",
		    look == 0 ? "circle" : "path");
}

static void put_line(struct html *html, const struct axes *a, const struct paper_figure *figure, size_t look)
{
	const struct paper_series *line = &figure->series.items[look];
	bool open = false;
	html_markup(html, "<g>\n<path class=\"line s%zu\" d=\"", look % LOOKS);
	for (size_t i = 0; i < line->n; i++) {
		bool drawn = is_drawn(a, line->y[i]);
		if (drawn)
			html_markup(html, "%c%.1f %.1f", open ? 'L' : 'M', place_x(a, line->x[i]),
				    place_y(a, line->y[i]));
		open = drawn;
	}
	html_markup(html, "\"/>\n");
	for (size_t i = 0; i < line->n; i++) {
		if (!is_drawn(a, line->y[i]))
			continue;
		put_mark(html, look % LOOKS, place_x(a, line->x[i]), place_y(a, line->y[i]));
		close_mark(html, look % LOOKS, figure, line->x[i], line->y[i]);
	}
	html_markup(html, "</g>\n");
}

static void put_legend(struct html *html, const struct paper_figure *figure)
{
	html_markup(html, "<figcaption>");
	html_text(html, figure->y_label);
	html_markup(html, "<br>\n");
	for (size_t s = 0; s < figure->series.count; s++) {
		const struct paper_series *line = &figure->series.items[s];
		html_markup(
			html,
			"<span><svg width=\"34\" height=\"10\" viewBox=\"0 0 34 10\"><path class=\"line s%zu\" "
			"d=\"M0 5h34\"/>",
			s % LOOKS);
		put_mark(html, s % LOOKS, 17, 5);
		html_markup(html, "</%s></svg> ", s % LOOKS == 0 ? "circle" : "path");
		html_text(html, line->name);
		html_markup(html, ": ");
		html_text(html, line->source);
		html_markup(html, "</span>\n");
	}
	html_markup(html, "</figcaption>\n");
}

void html_figure(struct html *html, const struct paper_figure *figure)
{
	if (figure->bars) {
		html_bars(html, figure);
		return;
	}
	struct axes a = axes_of(figure);
	html_markup(html, "<figure>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, HEIGHT);
	html_text(html, figure->title);
	html_markup(html, "\">\n");
	put_axes(html, &a, figure);
	for (size_t s = 0; s < figure->series.count; s++)
		put_line(html, &a, figure, s);
	html_markup(html, "</svg>\n");
	put_legend(html, figure);
	html_markup(html, "</figure>\n");
}
