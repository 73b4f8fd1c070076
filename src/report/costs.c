#include "report/costs.h"

#include <math.h>

#include "report/build.h"
#include "report/columns.h"
#include "report/number.h"
#include "report/profile_rows.h"

static const char *time_cell(struct document *d, double seconds)
{
	if (isnan(seconds))
		return "-";
	return document_printf(d, "%.*f", seconds < 99.95e-9 ? 2 : 0, seconds * 1e9);
}

/* Of the clock that is shown below the table. */
static const char *cycles_cell(struct document *d, const struct costs *costs, double seconds)
{
	double cycles = seconds * costs->clock_hz;
	return isnan(cycles) ? "-" : document_printf(d, "%.*f", cycles < 99.95 ? 1 : 0, cycles);
}

/* "±0.02": the farther end of the interval. */
static const char *interval_cell(struct document *d, const struct cost *cost)
{
	if (isnan(cost->low))
		return "-";
	return time_cell(d, fmax(cost->high - cost->typical, cost->typical - cost->low));
}

static void add_table(struct document *d, const struct costs *costs)
{
	static const char *const headings[] = {"cost, ns", "typical", "\u00b1",     "cycles",
					       "least",    "most",    "measured as"};
	struct columns *columns = document_add_columns(d, costs->measured ? 7 : 5);
	if (!columns)
		return;
	size_t skip = costs->measured ? 0 : 2, last = columns->n - 1;
	for (size_t i = 0; i < columns->n; i++)
		columns->headings[i] = headings[i >= 2 ? i + skip : i];
	columns->headings[last] = costs->measured ? "measured as" : "source";
	columns->left[0] = columns->left[last] = true;
	columns->flexible = last;
	columns->cut_at_end = true;
	for (unsigned i = 0; i < OPERATIONS; i++) {
		const struct cost *cost = &costs->of[i];
		if (!cost->known)
			continue;
		struct columns_row row = {
			.cells = {operation_name((enum cost_operation)i), time_cell(d, cost->typical)}};
		size_t at = 2;
		if (costs->measured) {
			row.cells[at++] = interval_cell(d, cost);
			row.cells[at++] = cycles_cell(d, costs, cost->typical);
		}
		row.cells[at++] = time_cell(d, cost->least);
		row.cells[at++] = time_cell(d, cost->most);
		row.cells[at] = document_escaped(d, cost->source);
		if (!vec_push(&columns->rows, row))
			d->failed = true;
	}
}

void report_costs_text(FILE *out, const struct costs *costs, const struct report_options *options)
{
	struct document d = {0};
	struct str title = {0};
	profile_append_escaped(&title, costs->title);
	document_add(&d, BLOCK_GAP, NULL, NULL);
	document_add_str(&d, BLOCK_TITLE, "costs:", &title, "");
	document_add(&d, BLOCK_GAP, NULL, NULL);
	add_table(&d, costs);
	document_add(&d, BLOCK_GAP, NULL, NULL);
	if (!isnan(costs->clock_hz))
		document_add(&d, BLOCK_NOTE, "-",
			     document_printf(&d,
					     costs->measured
						     ? "one dependent addition a cycle: %.0f MHz; another time "
						       "the clock may differ by %.0f %%"
						     : "clock: %.0f MHz",
					     costs->clock_hz * 1e-6, ceil(100 * costs->clock_part)));
	if (costs->measured)
		document_add(
			&d, BLOCK_NOTE, "-",
			document_printf(
				&d,
				"measured in %.0f s; ±: another calibration's lies within, at %.0f %% confidence",
				ceil(costs->seconds), 100 * costs->confidence));
	report_document_text(out, &d, options);
	document_free(&d);
}
