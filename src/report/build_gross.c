/* Gross, tare and net of each event (`tare count --gross`), and in a sentence what the tare is. */
#include <math.h>
#include <string.h>

#include "report/build.h"
#include "report/number.h"
#include "report/table.h"

static int decimals_of(double value, const struct number_scale *scale)
{
	return scale->factor != 1 || value != round(value) ? 2 : 0;
}

static const char *cell(struct document *document, const char *before, double value,
			const struct number_scale *scale)
{
	char text[NUMBER_BYTES];
	number_group(text, value * scale->factor, decimals_of(value, scale));
	return document_printf(document, "%s%s", before, text);
}

static struct document_row row_of(struct document *document, const struct number_units *units,
				  const struct estimate *estimate)
{
	struct estimate e = *estimate;
	if (!e.known)
		e.value = e.gross;
	struct number_scale scale = number_scale_in(units, &e, false);
	struct document_row row = {.kind = ROW_COUNT, .known = e.known, .estimate = estimate};
	row.cells[CELL_NAME] = document_escaped(document, e.event);
	row.cells[CELL_GROSS] = cell(document, "", e.has_tare ? e.gross : e.value, &scale);
	if (!e.has_tare && e.evidence && isfinite(e.bound))
		row.cells[CELL_TARE] = cell(document, "\u2264 ", e.bound, &scale);
	else
		row.cells[CELL_TARE] = e.has_tare ? cell(document, "", e.tare, &scale) : "not known";
	row.cells[CELL_NET] = e.known && e.has_tare ? cell(document, "", e.value, &scale) : "-";
	row.cells[CELL_UNIT] = document_escaped(document, scale.unit);
	if (!e.known)
		row.cells[CELL_REMARK] = "too small to measure";
	return row;
}

/* Of a whole result, or of a region. */
static void add_table(struct document *document, const struct estimate *estimates, size_t n)
{
	struct document_table *table = document_add_table(document, BLOCK_GROSS);
	if (!table)
		return;
	*table = (struct document_table){
		.headings = {
			[CELL_NAME] = "event", [CELL_GROSS] = "gross", [CELL_TARE] = "tare", [CELL_NET] = "net"}};
	struct number_units units = {0};
	for (size_t i = 0; i < n; i++)
		number_units_add(&units, &estimates[i]);
	for (size_t i = 0; i < n; i++) {
		const struct estimate *e = &estimates[i];
		const char *name = document_escaped(document, e->event);
		if (name && text_columns(name) > table->name_least)
			table->name_least = text_columns(name);
		if (!e->known && !e->has_tare && e->measuring.state != MEASURING_INCLUDED)
			continue;
		if (!vec_push(&table->rows, row_of(document, &units, e)))
			document->failed = true;
	}
}

/* Did the backend find out what its probes count? */
static bool probes_known(const struct result *result)
{
	for (size_t r = 0; r < result->n_regions; r++)
		for (size_t i = 0; i < result->regions[r].n_estimates; i++)
			if (result->regions[r].estimates[i].measuring.state != MEASURING_UNKNOWN)
				return true;
	return false;
}

/* Evidence begins with the calibration's id, where one was used (16 hexadecimal digits). */
static bool is_calibrated(const struct estimate *e)
{
	return e->evidence && strspn(e->evidence, "0123456789abcdef") == 16 &&
	       e->measuring.state == MEASURING_UNKNOWN;
}

static const char *what_tare_is(struct document *document, const struct result *result)
{
	const char *evidence = NULL;
	bool any = false, by_construction = true; /* all of it was counted by the engine or a model */
	for (size_t i = 0; i < result->n_estimates; i++) {
		const struct estimate *e = &result->estimates[i];
		if (is_calibrated(e))
			evidence = e->evidence;
		any |= e->known;
		by_construction = by_construction && (!e->known || e->has_tare);
	}
	if (evidence)
		return document_printf(
			document,
			"tare: the counts of an empty program (calibration %.8s). \u2264: up to so much of "
			"the count may come from the measuring; it depends on what ran before, and is not "
			"subtracted",
			evidence);
	if (any && by_construction)
		return "tare: 0, because counts of the engine and the models do not include the measuring";
	if (probes_known(result))
		return "tare: the counts of a region's probes, measured on this machine (below 0: they hide more "
		       "than "
		       "they add). \u2264: up to so much of the count may come from the measuring; it differs "
		       "from "
		       "pass to pass, and is not subtracted";
	if (result->n_regions)
		return "the overhead of the regions' probes is not known: the counters' counts are gross";
	return "no calibration is used here ('tare doctor' says why): the counters' counts are gross";
}

void build_gross(struct document *document, const struct result *result)
{
	document_add(document, BLOCK_GAP, NULL, NULL);
	add_table(document, result->estimates, result->n_estimates);
	for (size_t r = 0; r < result->n_regions; r++) {
		document_add(document, BLOCK_SUBTITLE, "region", result->regions[r].name);
		add_table(document, result->regions[r].estimates, result->regions[r].n_estimates);
	}
	document_add(document, BLOCK_REMARK, "-", what_tare_is(document, result));
}
