#include "cli/calibrate_table.h"

#include <math.h>
#include <string.h>

#include "report/number.h"
#include "report/table.h"

static const char *const interface_titles[INTERFACES] = {
	"tare count of an empty program, less what it does itself",
	"libtare's regions, counters read by system call",
	"libtare's regions, counters read in user space",
	"assembly stubs",
};

static const char *part_title(const struct overhead *o)
{
	switch (o->part) {
	case OVERHEAD_PROGRAM: return "a program";
	case OVERHEAD_REGION: return o->cold ? "a region, the first" : "a region, later";
	case OVERHEAD_ENTER: return "an enter inside";
	default: return "a leave inside";
	}
}

static struct number_scale scale_of(const char *event, const char *unit, double most)
{
	struct estimate e = { .event = event, .unit = unit, .known = true, .value = most };
	return number_scale_of(&e, false);
}

static void cell(FILE *out, double value, const struct number_scale *scale, int decimals)
{
	char text[NUMBER_BYTES];
	number_group(text, value * scale->factor, decimals);
	fprintf(out, " %12s", text);
}

static int decimals_of(double half_width, const struct number_scale *scale)
{
	int least = scale->factor == 1 ? 0 : 2;
	if (!(half_width > 0))
		return least;
	int decimals = number_half_width_decimals(half_width * scale->factor, least);
	return decimals > 3 ? 3 : decimals;
}

static int widest_event(const struct calibration *c)
{
	size_t widest = strlen("event");
	for (size_t i = 0; i < c->overheads.count; i++)
		if (text_columns(c->overheads.items[i].event) > widest)
			widest = text_columns(c->overheads.items[i].event);
	for (size_t i = 0; i < c->floors.count; i++)
		if (text_columns(c->floors.items[i].event) > widest)
			widest = text_columns(c->floors.items[i].event);
	return (int)widest;
}

/* Does the event count nothing at all by the interface, in any process? */
static bool never(const struct calibration *c, const char *event, enum interface interface)
{
	for (size_t i = 0; i < c->overheads.count; i++) {
		const struct overhead *o = &c->overheads.items[i];
		if (o->interface == interface && strcmp(o->event, event) == 0 && (o->least != 0 || o->most != 0))
			return false;
	}
	return true;
}

/* "0 in every process: page-faults, minor-faults" */
static void never_line(FILE *out, const struct calibration *c, enum interface interface)
{
	const char *last = "", *before = "  0 in every process: ";
	for (size_t i = 0; i < c->overheads.count; i++) {
		const struct overhead *o = &c->overheads.items[i];
		if (o->interface != interface || strcmp(last, o->event) == 0 || !never(c, o->event, interface))
			continue;
		fprintf(out, "%s%s", before, o->event);
		last = o->event;
		before = ", ";
	}
	if (*last)
		fputc('\n', out);
}

static void overhead_table(FILE *out, const struct calibration *c, enum interface interface, int width)
{
	const char *last = "";
	bool any = false;
	for (size_t i = 0; i < c->overheads.count; i++) {
		const struct overhead *o = &c->overheads.items[i];
		if (o->interface != interface || (any && never(c, o->event, interface)))
			continue;
		if (!any)
			fprintf(out, "\n%s\n  %-*s  %-19s %12s %12s %12s %12s %12s\n", interface_titles[interface],
				width, "event", "", "median", "mean", "\u00b1", "least", "most");
		any = true;
		if (never(c, o->event, interface))
			continue;
		struct number_scale scale = scale_of(o->event, o->unit, fmax(fabs(o->most), fabs(o->least)));
		int decimals = decimals_of(o->half_width, &scale), whole = scale.factor == 1 ? 0 : 2;
		fprintf(out, "  %-*s  %-19s", width, strcmp(last, o->event) ? o->event : "", part_title(o));
		/* of an even number of processes the median may be a half */
		cell(out, o->median, &scale, whole ? whole : o->median != round(o->median));
		cell(out, o->mean, &scale, decimals);
		cell(out, o->half_width, &scale, decimals);
		cell(out, o->least, &scale, whole);
		cell(out, o->most, &scale, whole);
		fprintf(out, "%s%s\n", scale.unit[0] ? " " : "", scale.unit);
		last = o->event;
	}
	never_line(out, c, interface);
}

static void fit_table(FILE *out, const struct calibration *c, int width)
{
	for (size_t i = 0; i < c->fits.count; i++) {
		const struct overhead_fit *f = &c->fits.items[i];
		struct number_scale one = { .factor = 1, .unit = "" };
		if (i == 0)
			fprintf(out,
				"\nreported = o + c\u00b7B over 0 \u2026 10,000 blocks in line\n  %-*s  %-19s "
				"%12s %12s %12s %12s %12s "
				"%12s\n",
				width, "event", "", "o", "\u00b1", "c", "\u00b1", "by its code", "residual");
		fprintf(out, "  %-*s  %-19s", width, f->event, interface_name(f->interface));
		cell(out, f->o, &one, 2);
		cell(out, f->o_half_width, &one, 2);
		cell(out, f->c, &one, 2);
		cell(out, f->c_half_width, &one, 2);
		if (isnan(f->block))
			fprintf(out, " %12s", "-");
		else
			cell(out, f->block, &one, 2);
		cell(out, f->residual_most, &one, 1);
		fputc('\n', out);
	}
}

void calibrate_floor_table(FILE *out, const struct calibration *c)
{
	int width = widest_event(c);
	for (size_t i = 0; i < c->floors.count; i++) {
		const struct noise_floor *f = &c->floors.items[i];
		struct number_scale scale = scale_of(f->event, f->unit, f->mean),
				    percent = { .factor = 100, .unit = "" };
		if (i == 0) {
			char title[400];
			snprintf(title, sizeof title,
				 "The noise floor: '%s' against itself, %zu executions a side", c->floor_command,
				 f->n);
			fputc('\n', out);
			text_wrap(out, title, 0, 2, 80);
			fprintf(out, "  %-*s  %12s %12s %14s %12s\n", width, "event", "mean", "spread %",
				"differed by %", "floor %");
		}
		fprintf(out, "  %-*s ", width, f->event);
		cell(out, f->mean, &scale, scale.factor != 1 || f->mean < 100 ? 2 : 0);
		cell(out, f->relative_sd, &percent, 2);
		fputs("  ", out);
		cell(out, f->seen, &percent, 2);
		cell(out, f->floor, &percent, 2);
		fprintf(out, "%s%s\n", scale.unit[0] ? " " : "", scale.unit);
	}
	if (c->floors.count)
		fprintf(out, "  a difference below the floor is not one at %.0f %% confidence\n",
			100 * c->confidence);
}

static void missing_table(FILE *out, const struct calibrating *c)
{
	const char *last = NULL;
	enum interface last_interface = INTERFACE_COMMAND;
	for (size_t i = 0; i < c->missing.count; i++) {
		const struct not_calibrated *m = &c->missing.items[i];
		bool again = last && strcmp(last, m->why) == 0 && last_interface == m->interface;
		if (i == 0)
			fputs("\nNot calibrated\n", out);
		if (again)
			fprintf(out, ", %s", m->event ? m->event : "");
		else
			fprintf(out, "%s  %s: %s%s%s", i ? "\n" : "", interface_name(m->interface), m->why,
				m->event ? ": " : "", m->event ? m->event : "");
		last = m->why;
		last_interface = m->interface;
	}
	if (c->missing.count)
		fputc('\n', out);
}

void calibrate_table(FILE *out, const struct calibrating *c)
{
	int width = widest_event(&c->calibration);
	for (unsigned i = 0; i < INTERFACES; i++)
		overhead_table(out, &c->calibration, (enum interface)i, width);
	fit_table(out, &c->calibration, width);
	calibrate_floor_table(out, &c->calibration);
	missing_table(out, c);
}
