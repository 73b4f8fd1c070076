#include "cli/calibrate_table.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "cli/grid.h"
#include "report/table.h"

static const char *const interface_titles[INTERFACES] = {
	"tare count of an empty program, minus the program's own work",
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
	struct estimate e = {.event = event, .unit = unit, .known = true, .value = most};
	return number_scale_of(&e, false);
}

static void cell(char out[NUMBER_BYTES], double value, const struct number_scale *scale, int decimals)
{
	number_group(out, value * scale->factor, decimals);
}

static int decimals_of(double half_width, const struct number_scale *scale)
{
	int least = scale->factor == 1 ? 0 : 2;
	if (!(half_width > 0))
		return least;
	int decimals = number_half_width_decimals(half_width * scale->factor, least);
	return decimals > 3 ? 3 : decimals;
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
static void never_line(FILE *out, const struct calibration *c, enum interface interface, size_t width)
{
	const char *last = "";
	struct str line = {0};
	for (size_t i = 0; i < c->overheads.count; i++) {
		const struct overhead *o = &c->overheads.items[i];
		if (o->interface != interface || strcmp(last, o->event) == 0 || !never(c, o->event, interface))
			continue;
		str_appendf(&line, "%s%s", *last ? ", " : "0 in every process: ", o->event);
		last = o->event;
	}
	if (*last && !line.failed) {
		fputs("  ", out);
		text_wrap(out, line.text, 2, 4, width);
	}
	str_free(&line);
}

static void overhead_table(FILE *out, const struct calibration *c, enum interface interface, size_t width)
{
	struct grid grid = {.first_heading = "event",
			    .headings = {"median", "mean", "\u00b1", "least", "most"},
			    .n_numbers = 5};
	bool any = false;
	for (size_t i = 0; i < c->overheads.count; i++) {
		const struct overhead *o = &c->overheads.items[i];
		any |= o->interface == interface;
		if (o->interface != interface || never(c, o->event, interface))
			continue;
		struct number_scale scale = scale_of(o->event, o->unit, fmax(fabs(o->most), fabs(o->least)));
		int decimals = decimals_of(o->half_width, &scale), whole = scale.factor == 1 ? 0 : 2;
		struct grid_row *row = grid_add(&grid, o->event, part_title(o), scale.unit);
		if (!row)
			break;
		/* of an even number of processes the median may be a half */
		cell(row->numbers[0], o->median, &scale, whole ? whole : o->median != round(o->median));
		cell(row->numbers[1], o->mean, &scale, decimals);
		cell(row->numbers[2], o->half_width, &scale, decimals);
		cell(row->numbers[3], o->least, &scale, whole);
		cell(row->numbers[4], o->most, &scale, whole);
	}
	if (any)
		fprintf(out, "\n%s\n", interface_titles[interface]);
	grid_print(out, &grid, width);
	never_line(out, c, interface, width);
}

static void fit_table(FILE *out, const struct calibration *c, size_t width)
{
	struct grid grid = {.first_heading = "event",
			    .headings = {"o", "\u00b1", "c", "\u00b1", "by its code", "residual"},
			    .n_numbers = 6};
	struct number_scale one = {.factor = 1, .unit = ""};
	for (size_t i = 0; i < c->fits.count; i++) {
		const struct overhead_fit *f = &c->fits.items[i];
		struct grid_row *row = grid_add(&grid, f->event, interface_name(f->interface), "");
		if (!row)
			break;
		cell(row->numbers[0], f->o, &one, 2);
		cell(row->numbers[1], f->o_half_width, &one, 2);
		cell(row->numbers[2], f->c, &one, 2);
		cell(row->numbers[3], f->c_half_width, &one, 2);
		if (isnan(f->block))
			strcpy(row->numbers[4], "-");
		else
			cell(row->numbers[4], f->block, &one, 2);
		cell(row->numbers[5], f->residual_most, &one, 1);
	}
	if (c->fits.count)
		fputs("\nreported = o + c\u00b7B over 0 \u2026 10,000 blocks in line\n", out);
	grid_print(out, &grid, width);
}

void calibrate_floor_table(FILE *out, const struct calibration *c, size_t width)
{
	struct grid grid = {.first_heading = "event",
			    .headings = {"mean", "spread %", "differed by %", "floor %"},
			    .n_numbers = 4};
	struct number_scale percent = {.factor = 100, .unit = ""};
	for (size_t i = 0; i < c->floors.count; i++) {
		const struct noise_floor *f = &c->floors.items[i];
		struct number_scale scale = scale_of(f->event, f->unit, f->mean);
		/* the unit is the mean's: beside it, behind the row it would seem the percentages' */
		struct grid_row *row = grid_add(&grid, f->event, "", "");
		if (!row)
			break;
		cell(row->numbers[0], f->mean, &scale, scale.factor != 1 || f->mean < 100 ? 2 : 0);
		size_t used = strlen(row->numbers[0]);
		if (*scale.unit)
			snprintf(row->numbers[0] + used, sizeof row->numbers[0] - used, " %s", scale.unit);
		cell(row->numbers[1], f->relative_sd, &percent, 2);
		cell(row->numbers[2], f->seen, &percent, 2);
		cell(row->numbers[3], f->floor, &percent, 2);
	}
	if (c->floors.count) {
		char title[400];
		snprintf(title, sizeof title, "The noise floor: '%s' against itself, %zu executions a side",
			 c->floor_command, c->floors.items[0].n);
		fputc('\n', out);
		text_wrap(out, title, 0, 2, width);
	}
	grid_print(out, &grid, width);
	if (c->floors.count)
		fprintf(out, "  a difference below the floor is not significant at %.0f %% confidence\n",
			100 * c->confidence);
}

/* "library: why: page-faults, task-clock": a line for each reason. */
static void missing_table(FILE *out, const struct calibrating *c, size_t width)
{
	if (c->missing.count)
		fputs("\nNot calibrated\n", out);
	for (size_t i = 0, next; i < c->missing.count; i = next) {
		const struct not_calibrated *m = &c->missing.items[i];
		struct str line = {0};
		str_appendf(&line, "%s: %s", interface_name(m->interface), m->why);
		for (next = i; next < c->missing.count; next++) {
			const struct not_calibrated *other = &c->missing.items[next];
			if (other->interface != m->interface || strcmp(other->why, m->why) != 0)
				break;
			if (other->event)
				str_appendf(&line, "%s%s", next == i ? ": " : ", ", other->event);
		}
		if (!line.failed) {
			fputs("  ", out);
			text_wrap(out, line.text, 2, 4, width);
		}
		str_free(&line);
	}
}

void calibrate_table(FILE *out, const struct calibrating *c, size_t width)
{
	for (unsigned i = 0; i < INTERFACES; i++)
		overhead_table(out, &c->calibration, (enum interface)i, width);
	fit_table(out, &c->calibration, width);
	calibrate_floor_table(out, &c->calibration, width);
	missing_table(out, c, width);
}
