/*
 * Figure 1: shares of samples and of executed instructions, of the instructions that were sampled most. Figures 2
 * to 4: NRMSE, sample coverage and order deviation, a cluster of bars for each program, order deviation
 * logarithmic.
 *
 * What always holds:
 *  1. A bar's height is its value on the axis beside it; its tip (<title>) has the number itself.
 *  2. Where the measure does not exist, or a logarithm does not, there is no bar; the tip of its place says so.
 */
#include "report/study_figures.h"

#include <math.h>
#include <stdlib.h>

#include "base/str.h"
#include "report/axis.h"
#include "report/export_names.h"

enum { WIDTH = 1200, LEFT = 70, RIGHT = 20, PLOT = 220, PANEL = 350, TOP = 60 };
static const double INNER = WIDTH - LEFT - RIGHT;

static const char LOOK[] =
	"svg { background: #fff; font: 12px ui-monospace, \"DejaVu Sans Mono\", Menlo, Consolas, monospace; }\n"
	"text { fill: #1b1b1b; }\n.page { fill: #fff; }\n.title { font-weight: bold; font-size: 14px; }\n"
	".axis { stroke: #777; }\n.grid { stroke: #ddd; }\n.sampled { fill: #c8553d; }\n.executed { fill: "
	"#3a6ea5; }\n"
	".p0 { fill: #c6dbef; }\n.p1 { fill: #a6c8e4; }\n.p2 { fill: #85b3d8; }\n.p3 { fill: #649ecb; }\n"
	".p4 { fill: #4889bd; }\n.p5 { fill: #3073ac; }\n.p6 { fill: #1c5d98; }\n.p7 { fill: #0d4781; }\n"
	".p8 { fill: #063367; }\n.none { fill: none; }\n"
	"@media (prefers-color-scheme: dark) {\nsvg { background: #16181c; }\ntext { fill: #e8e8e8; }\n"
	".page { fill: #16181c; }\n.axis { stroke: #999; }\n.grid { stroke: #333; }\n.sampled { fill: #f08a6e; }\n"
	".executed { fill: #7db3e8; }\n.p0 { fill: #16395c; }\n.p1 { fill: #1d4a75; }\n.p2 { fill: #265c8f; }\n"
	".p3 { fill: #3170a8; }\n.p4 { fill: #4485bf; }\n.p5 { fill: #5f9bd0; }\n.p6 { fill: #80b2df; }\n"
	".p7 { fill: #a5caec; }\n.p8 { fill: #cde3f7; }\n}\n";

/* An axis upwards from y; of a logarithmic one low and high are powers of ten. */
struct axis {
	double y, low, high;
	bool logarithmic;
};

static double at(const struct axis *a, double value)
{
	double part = a->logarithmic ? (log10(value) - log10(a->low)) / (log10(a->high) - log10(a->low))
				     : (value - a->low) / (a->high - a->low);
	return a->y - PLOT * fmin(fmax(part, 0), 1);
}

static void draw_tick(FILE *out, const struct axis *a, double value)
{
	fprintf(out,
		"<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
		"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
		LEFT, WIDTH - RIGHT, at(a, value), at(a, value), LEFT - 6, at(a, value) + 4, value);
}

static void draw_axis(FILE *out, const struct axis *a)
{
	if (a->logarithmic)
		for (double value = a->low; value <= a->high * 1.001; value *= 10)
			draw_tick(out, a, value);
	else
		for (int i = 0; i <= 4; i++)
			draw_tick(out, a, a->low + (a->high - a->low) * i / 4);
	fprintf(out, "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LEFT, WIDTH - RIGHT,
		a->y, a->y);
}

static void draw_bar(FILE *out, const struct axis *a, const char *look, double x, double width, double value,
		     const char *tip)
{
	bool drawn = !isnan(value) && (!a->logarithmic || value > 0);
	double top = drawn ? at(a, value) : a->y - 3;
	fprintf(out,
		"<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" data-v=\"%.9g\">"
		"<title>%s</title></rect>\n",
		drawn ? look : "none", x, top, width, a->y - top, value, tip);
}

static void draw_title(FILE *out, int panel, const char *text)
{
	fprintf(out, "<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>\n", LEFT, TOP + panel * PANEL - 12, text);
}

/* ---- Figure 1 ---- */

static void draw_places(FILE *out, const struct studied_program *program)
{
	const struct sampling_study *s = &program->study;
	double most = 0, slot = INNER / (double)(s->n_places ? s->n_places : 1), thick = slot * 0.4;
	for (size_t i = 0; i < s->n_places; i++)
		most = fmax(most, 100 * fmax(s->places[i].sampled, s->places[i].executed));
	const struct axis axis = {.y = TOP + PLOT, .high = axis_top(most)};
	struct str title = {0};
	str_appendf(&title, "Figure 1: %% of samples and of executed instructions, of the %zu instructions of ",
		    s->n_places);
	export_append_markup(&title, program->name, 60);
	str_append(&title, " that were sampled most, at the shortest period");
	draw_title(out, 0, title.text ? title.text : "");
	str_free(&title);
	draw_axis(out, &axis);
	fputs("<g id=\"figure1\">\n", out);
	for (size_t i = 0; i < s->n_places; i++) {
		const struct study_place *p = &s->places[i];
		struct str tip = {0};
		export_append_markup(&tip, p->name, 0);
		str_appendf(&tip, ": %.3f%% of samples, %.3f%% of executed instructions", 100 * p->sampled,
			    100 * p->executed);
		double x = LEFT + slot * (double)i;
		draw_bar(out, &axis, "sampled", x + slot * 0.1, thick, 100 * p->sampled, tip.text ? tip.text : "");
		draw_bar(out, &axis, "executed", x + slot * 0.5, thick, 100 * p->executed,
			 tip.text ? tip.text : "");
		str_free(&tip);
	}
	fprintf(out,
		"</g>\n<rect class=\"sampled\" x=\"%d\" y=\"%.0f\" width=\"10\" height=\"10\"/><text x=\"%d\" "
		"y=\"%.0f\">samples</text><rect class=\"executed\" x=\"%d\" y=\"%.0f\" width=\"10\" "
		"height=\"10\"/><text x=\"%d\" y=\"%.0f\">executed instructions</text>\n",
		LEFT, axis.y + 14, LEFT + 16, axis.y + 23, LEFT + 100, axis.y + 14, LEFT + 116, axis.y + 23);
}

/* ---- Figures 2 to 4 ---- */

struct figure {
	int number;
	const char *name;
	bool logarithmic;
};

static const struct figure figures[] = {
	{2, "NRMSE", false}, {3, "sample coverage", false}, {4, "order deviation (logarithmic)", true}};

static double value_of(const struct sampling_accuracy *a, int number)
{
	return a->judged == 0 ? NAN
	       : number == 2  ? a->nrmse
	       : number == 3  ? a->sample_coverage
			      : a->order_deviation;
}

static struct axis axis_of(const struct studied_program *programs, size_t n, const struct figure *f)
{
	struct axis axis = {.y = TOP + (f->number - 1) * PANEL + PLOT, .logarithmic = f->logarithmic};
	double most = 0, least = INFINITY;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; !programs[i].why && k < programs[i].study.n_periods; k++) {
			double value = value_of(&programs[i].study.periods[k], f->number);
			if (isnan(value) || (f->logarithmic && !(value > 0)))
				continue;
			most = fmax(most, value);
			least = fmin(least, value);
		}
	if (!f->logarithmic) {
		axis.high = f->number == 3 ? 1 : axis_top(most);
		return axis;
	}
	axis.low = most > 0 ? pow(10, floor(log10(least))) : 0.1;
	axis.high = most > 0 ? pow(10, ceil(log10(most))) : 10;
	if (axis.high <= axis.low)
		axis.high = axis.low * 10;
	return axis;
}

static void draw_cluster(FILE *out, const struct axis *axis, const struct figure *f,
			 const struct studied_program *program, double x, double slot)
{
	const struct sampling_study *s = &program->study;
	double thick = slot * 0.86 / (double)(s->n_periods ? s->n_periods : 1);
	struct str name = {0};
	export_append_markup(&name, program->name, 40);
	for (size_t i = 0; i < s->n_periods; i++) {
		double value = value_of(&s->periods[i], f->number);
		struct str tip = {0};
		char look[8];
		snprintf(look, sizeof look, "p%zu", i % 9);
		str_appendf(&tip, "%s, period %llu%s%s: ", name.text ? name.text : "",
			    (unsigned long long)s->periods[i].period, s->unit[0] ? " " : "", s->unit);
		if (isnan(value))
			str_append(&tip, "no samples");
		else
			str_appendf(&tip, "%.4f (%llu sample%s)", value, (unsigned long long)s->periods[i].judged,
				    s->periods[i].judged == 1 ? "" : "s");
		draw_bar(out, axis, look, x + slot * 0.07 + thick * (double)i, thick, value,
			 tip.text ? tip.text : "");
		str_free(&tip);
	}
	fprintf(out,
		"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" transform=\"rotate(-35 %.1f %.1f)\">%s</text>\n",
		x + slot / 2 + 4, axis->y + 16, x + slot / 2 + 4, axis->y + 16, name.text ? name.text : "");
	str_free(&name);
}

static void draw_measure(FILE *out, const struct studied_program *programs, size_t n, const struct figure *f)
{
	const struct axis axis = axis_of(programs, n, f);
	size_t shown = 0, drawn = 0;
	char title[200];
	for (size_t i = 0; i < n; i++)
		shown += !programs[i].why;
	snprintf(title, sizeof title, "Figure %d: %s; in each cluster from the shortest period to the longest",
		 f->number, f->name);
	draw_title(out, f->number - 1, title);
	draw_axis(out, &axis);
	fprintf(out, "<g id=\"figure%d\">\n", f->number);
	for (size_t i = 0; i < n; i++) {
		if (programs[i].why)
			continue;
		double slot = INNER / (double)shown;
		draw_cluster(out, &axis, f, &programs[i], LEFT + slot * (double)drawn++, slot);
	}
	fputs("</g>\n", out);
}

void report_study_figures(FILE *out, const struct studied_program *programs, size_t n, size_t first)
{
	int height = TOP + 4 * PANEL;
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
		"<title>Sampling against exact counts</title>\n<style><![CDATA[\n%s]]></style>\n"
		"<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n",
		WIDTH, height, WIDTH, height, LOOK, WIDTH, height);
	draw_places(out, &programs[first]);
	for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
		draw_measure(out, programs, n, &figures[i]);
	fputs("</svg>\n", out);
}
