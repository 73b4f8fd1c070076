/*
 * A figure of stacked bars. Horizontal places are percents of the drawing's width, vertical ones pixels: letters
 * are as large on a phone as on a wide screen.
 *
 * What always holds:
 *  1. A part's height is its value on the axis beside it; its tip (<title>) has the number itself.
 *  2. A value that is not known has no part.
 *  3. The legend has the parts in the order in which they stand on each other, the lowest first. */
#include <math.h>
#include <string.h>

#include "report/axis.h"
#include "report/html/html.h"
#include "report/stacked.h"

enum { HEIGHT = 320, TOP = 8, BOTTOM = 40, TICKS = 4, LABEL_BYTES = 24, PHONE_LETTERS = 40 };
/* of lying bars: a name above each, unless there is one bar alone */
enum { LINE = 40, LINE_ALONE = 26, NAME_AT = 14, THICK = 18 };

static double value_of(const struct stacked_figure *f, size_t category, size_t part)
{
	double value = f->values[category * f->n_parts + part];
	return isfinite(value) && value > 0 ? value : 0;
}

static double highest(const struct stacked_figure *f)
{
	double most = 0;
	for (size_t i = 0; i < f->n; i++) {
		double sum = 0;
		for (size_t k = 0; k < f->n_parts; k++)
			sum += value_of(f, i, k);
		most = fmax(most, sum);
		if (f->marks && isfinite(f->marks[i]))
			most = fmax(most, f->marks[i]);
	}
	return most;
}

static double place_y(double value, double high)
{
	return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / high;
}

static void put_axis(struct html *html, const struct stacked_figure *f, double high)
{
	for (int i = 0; i <= TICKS; i++) {
		double value = high * i / TICKS, y = place_y(value, high);
		html_markup(html,
			    "<line class=\"%s\" x1=\"0\" x2=\"100%%\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"-6\" "
			    "y=\"%.1f\" text-anchor=\"end\">%.3g %s</text>\n",
			    i ? "grid" : "zero", y, y, y + 4, value, f->unit);
	}
}

static void put_tip(struct html *html, const struct stacked_figure *f, size_t category, const char *name,
		    double value)
{
	html_markup(html, "<title>");
	if (f->x_label) {
		html_text(html, f->x_label);
		html_markup(html, " = ");
	}
	html_text(html, f->categories[category]);
	html_markup(html, ", ");
	html_text(html, name);
	html_markup(html, ": %.4g %s</title>", value, f->unit);
}

static void put_stack(struct html *html, const struct stacked_figure *f, size_t category, double high)
{
	double slot = 100 / (double)f->n, left = slot * ((double)category + 0.12), width = slot * 0.76, below = 0;
	for (size_t k = 0; k < f->n_parts; k++) {
		double value = value_of(f, category, k);
		if (!(value > 0))
			continue;
		double top = place_y(below + value, high);
		html_markup(html, "<rect class=\"k%u\" x=\"%.2f%%\" width=\"%.2f%%\" y=\"%.2f\" height=\"%.2f\">",
			    f->parts[k].look, left, width, top, place_y(below, high) - top);
		put_tip(html, f, category, f->parts[k].name, value);
		html_markup(html, "</rect>\n");
		below += value;
	}
	if (!f->marks || !isfinite(f->marks[category]))
		return;
	double y = place_y(f->marks[category], high);
	html_markup(html, "<line class=\"mark\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%.2f\" y2=\"%.2f\">",
		    left - slot * 0.08, left + width + slot * 0.08, y, y);
	put_tip(html, f, category, f->mark_name, f->marks[category]);
	html_markup(html, "</line>\n");
}

/* As many as a phone has room for, at a like distance; the tips have all. */
static void put_names(struct html *html, const struct stacked_figure *f)
{
	size_t longest = 1;
	for (size_t i = 0; i < f->n; i++) {
		size_t length = strnlen(f->categories[i], LABEL_BYTES);
		longest = length > longest ? length : longest;
	}
	size_t most = PHONE_LETTERS / (longest + 1);
	size_t step = most ? (f->n + most - 1) / most : f->n;
	double slot = 100 / (double)f->n;
	for (size_t i = 0; i < f->n; i += step) {
		struct str name = {0};
		str_append_bytes(&name, f->categories[i], strnlen(f->categories[i], LABEL_BYTES));
		html_markup(html, "<text x=\"%.2f%%\" y=\"%d\" text-anchor=\"middle\">", slot * ((double)i + 0.5),
			    HEIGHT - BOTTOM + 16);
		html_text(html, name.text);
		html_markup(html, "</text>\n");
		str_free(&name);
	}
	html_markup(html, "<text x=\"50%%\" y=\"%d\" text-anchor=\"middle\">", HEIGHT - 4);
	html_text(html, f->x_label);
	html_markup(html, "</text>\n");
}

static void put_legend(struct html *html, const struct stacked_figure *f)
{
	html_markup(html, "<figcaption>");
	html_text(html, f->y_label);
	html_markup(html, "<br>\n");
	for (size_t k = 0; k < f->n_parts; k++) {
		html_markup(html,
			    "<span><svg width=\"14\" height=\"10\"><rect class=\"k%u\" width=\"14\" "
			    "height=\"10\"/></svg> ",
			    f->parts[k].look);
		html_text(html, f->parts[k].name);
		html_markup(html, "</span>\n");
	}
	if (f->marks) {
		html_markup(html, "<span><svg width=\"14\" height=\"10\"><line class=\"mark\" x1=\"0\" x2=\"14\" "
				  "y1=\"5\" y2=\"5\"/></svg> ");
		html_text(html, f->mark_name);
		html_markup(html, "</span>\n");
	}
	html_markup(html, "</figcaption>\n");
}

static void put_lying(struct html *html, const struct stacked_figure *f, size_t category, double high)
{
	double line = f->n > 1 ? LINE : LINE_ALONE, y = line * (double)(category + 1) - THICK - 2, sum = 0;
	if (f->n > 1) {
		html_markup(html, "<text x=\"0\" y=\"%.0f\">", line * (double)category + NAME_AT);
		html_name(html, f->categories[category]);
		html_markup(html, "</text>\n");
	}
	for (size_t k = 0; k < f->n_parts; k++) {
		double value = value_of(f, category, k);
		if (!(value > 0))
			continue;
		html_markup(html, "<rect class=\"k%u\" x=\"%.3f%%\" width=\"%.3f%%\" y=\"%.0f\" height=\"%d\">",
			    f->parts[k].look, 100 * sum / high, 100 * value / high, y, THICK);
		put_tip(html, f, category, f->parts[k].name, value);
		html_markup(html, "</rect>\n");
		sum += value;
	}
	if (!f->marks || !isfinite(f->marks[category]))
		return;
	double x = 100 * f->marks[category] / high;
	html_markup(html, "<line class=\"mark\" x1=\"%.3f%%\" x2=\"%.3f%%\" y1=\"%.0f\" y2=\"%.0f\">", x, x, y - 3,
		    y + THICK + 3);
	put_tip(html, f, category, f->mark_name, f->marks[category]);
	html_markup(html, "</line>\n");
}

static void put_rows(struct html *html, const struct stacked_figure *f)
{
	double high = highest(f);
	html_markup(html, "<figure class=\"lying\">\n<svg height=\"%d\" role=\"img\" aria-label=\"",
		    (int)f->n * (f->n > 1 ? LINE : LINE_ALONE));
	html_text(html, f->title);
	html_markup(html, "\">\n");
	for (size_t i = 0; i < f->n && high > 0; i++)
		put_lying(html, f, i, high);
	html_markup(html, "</svg>\n");
	put_legend(html, f);
	html_markup(html, "</figure>\n");
}

void html_stacked(struct html *html, const struct stacked_figure *figure)
{
	if (figure->lying) {
		put_rows(html, figure);
		return;
	}
	double high = axis_top(highest(figure));
	html_markup(html, "<figure class=\"stack\">\n<svg height=\"%d\" role=\"img\" aria-label=\"", HEIGHT);
	html_text(html, figure->title);
	html_markup(html, "\">\n");
	put_axis(html, figure, high);
	for (size_t i = 0; i < figure->n; i++)
		put_stack(html, figure, i, high);
	if (figure->n)
		put_names(html, figure);
	html_markup(html, "</svg>\n");
	put_legend(html, figure);
	html_markup(html, "</figure>\n");
}
