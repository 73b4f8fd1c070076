/* What the repetitions' values are beside their mean (`tare count --statistics`). */
#include <math.h>

#include "report/build.h"
#include "report/number.h"
#include "report/table.h"

static const char *cell(struct document *document, double value, const struct number_scale *scale, int decimals)
{
	char text[NUMBER_BYTES];
	if (isnan(value))
		return "-";
	number_group(text, value * scale->factor, decimals);
	return document_printf(document, "%s", text);
}

static struct document_row row_of(struct document *document, const struct number_units *units,
				  const struct estimate *e, bool is_metric)
{
	struct number_scale scale = number_scale_in(units, e, is_metric);
	struct document_row row = {.kind = ROW_COUNT, .known = true, .estimate = e};
	/* the deviation shows two digits or more */
	int decimals = scale.decimals;
	row.cells[CELL_NAME] = document_escaped(document, e->event);
	row.cells[CELL_MIN] = cell(document, e->run_min, &scale, decimals);
	row.cells[CELL_MEDIAN] = cell(document, e->run_median, &scale, decimals);
	row.cells[CELL_MAX] = cell(document, e->run_max, &scale, decimals);
	row.cells[CELL_SD] = cell(document, e->run_sd, &scale,
				  e->run_sd > 0 ? number_half_width_decimals(e->run_sd * scale.factor, decimals)
						: decimals);
	row.cells[CELL_UNIT] = document_escaped(document, scale.unit);
	return row;
}

static void add_rows(struct document *document, struct document_table *table, const struct number_units *units,
		     const struct estimate *estimates, size_t n, bool is_metric)
{
	for (size_t i = 0; i < n; i++) {
		const struct estimate *e = &estimates[i];
		if (!e->known || !e->n_runs || !estimate_is_total(e))
			continue;
		const char *name = document_escaped(document, e->event);
		if (name && text_columns(name) > table->name_least)
			table->name_least = text_columns(name);
		if (!vec_push(&table->rows, row_of(document, units, e, is_metric)))
			document->failed = true;
	}
}

static struct document_table *add_table(struct document *document)
{
	struct document_table *table = document_add_table(document, BLOCK_STATISTICS);
	if (table)
		*table = (struct document_table){.headings = {[CELL_NAME] = "event",
							      [CELL_MIN] = "min",
							      [CELL_MEDIAN] = "median",
							      [CELL_MAX] = "max",
							      [CELL_SD] = "\u03c3"}};
	return table;
}

void build_statistics(struct document *document, const struct result *result)
{
	struct number_units units = {0};
	for (size_t i = 0; i < result->n_estimates; i++)
		number_units_add(&units, &result->estimates[i]);
	for (size_t r = 0; r < result->n_regions; r++)
		for (size_t i = 0; i < result->regions[r].n_estimates; i++)
			number_units_add(&units, &result->regions[r].estimates[i]);
	document_add(document, BLOCK_GAP, NULL, NULL);
	struct document_table *table = add_table(document);
	if (table) {
		add_rows(document, table, &units, result->estimates, result->n_estimates, false);
		add_rows(document, table, &units, result->metrics, result->n_metrics, true);
	}
	for (size_t r = 0; r < result->n_regions; r++) {
		document_add(document, BLOCK_SUBTITLE, "region", result->regions[r].name);
		if ((table = add_table(document)))
			add_rows(document, table, &units, result->regions[r].estimates,
				 result->regions[r].n_estimates, false);
	}
}
