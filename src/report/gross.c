#include "report/gross.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/number.h"
#include "report/table.h"

static void cell(FILE *out, double value, const struct number_scale *scale, int decimals)
{
	char text[NUMBER_BYTES];
	number_group(text, value * scale->factor, decimals);
	fprintf(out, " %16s", text);
}

static int decimals_of(double value, const struct number_scale *scale)
{
	return scale->factor != 1 || value != round(value) ? 2 : 0;
}

/* Of a whole result, or of a region. */
static void rows(FILE *out, const struct estimate *estimates, size_t n, const struct style *style)
{
	size_t widest = strlen("event");
	for (size_t i = 0; i < n; i++)
		if (text_columns(estimates[i].event) > widest)
			widest = text_columns(estimates[i].event);
	fprintf(out, "  %s%-*s %16s %16s %16s%s\n", style->bold, (int)widest, "event", "gross", "tare", "net",
		style->off);
	for (size_t i = 0; i < n; i++) {
		struct estimate e = estimates[i];
		if (!e.known && !e.has_tare && e.measuring.state != MEASURING_INCLUDED)
			continue;
		if (!e.known)
			e.value = e.gross;
		struct number_scale scale = number_scale_of(&e, false);
		fprintf(out, "  %-*s", (int)(widest + strlen(e.event) - text_columns(e.event)), e.event);
		cell(out, e.has_tare ? e.gross : e.value, &scale,
		     decimals_of(e.has_tare ? e.gross : e.value, &scale));
		if (!e.has_tare && e.evidence && isfinite(e.bound)) {
			char text[NUMBER_BYTES], bound[NUMBER_BYTES + 8];
			number_group(text, e.bound * scale.factor, decimals_of(e.bound, &scale));
			snprintf(bound, sizeof bound, "\u2264 %s", text);
			fprintf(out, " %*s", 16 + (int)(strlen(bound) - text_columns(bound)), bound);
		} else if (e.has_tare) {
			cell(out, e.tare, &scale, decimals_of(e.tare, &scale));
		} else {
			fprintf(out, " %16s", "not known");
		}
		if (estimates[i].known && e.has_tare)
			cell(out, e.value, &scale, decimals_of(e.value, &scale));
		else
			fprintf(out, " %16s", "-");
		fprintf(out, "%s%s%s\n", scale.unit[0] ? " " : "", scale.unit,
			estimates[i].known ? "" : "  too small to measure");
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

void gross_text(FILE *out, const struct result *result, const struct report_options *options)
{
	struct style style = style_of(options);
	size_t width = (size_t)table_width(options);
	const char *evidence = NULL;
	bool any = false, by_construction = true; /* all of it was counted by the engine or a model */
	for (size_t i = 0; i < result->n_estimates; i++) {
		const struct estimate *e = &result->estimates[i];
		if (e->evidence && e->measuring.state == MEASURING_UNKNOWN) /* a calibration's */
			evidence = e->evidence;
		any |= e->known;
		by_construction = by_construction && (!e->known || e->has_tare);
	}
	fputc('\n', out);
	rows(out, result->estimates, result->n_estimates, &style);
	for (size_t r = 0; r < result->n_regions; r++) {
		fputs("  region ", out);
		text_wrap(out, result->regions[r].name, strlen("  region "), 4, width);
		rows(out, result->regions[r].estimates, result->regions[r].n_estimates, &style);
	}
	char text[400];
	if (evidence)
		snprintf(text, sizeof text,
			 "tare: what an empty program counts, by calibration %.8s; \u2264: up to so much of the "
			 "count may be the "
			 "measuring, which cannot be taken off because it depends on what ran before",
			 evidence);
	else if (any && by_construction)
		snprintf(text, sizeof text,
			 "tare: nothing of the measuring is in what the engine and the models count");
	else if (probes_known(result))
		snprintf(text, sizeof text,
			 "tare: what the probes of a region count, found by trial on this machine (below 0: they "
			 "hide more than they add); "
			 "\u2264: up to so much of the count may be the measuring, which differs from pass to "
			 "pass and cannot be taken off");
	else if (result->n_regions)
		snprintf(text, sizeof text,
			 "what the probes of regions count is not calibrated: counts of counters are gross");
	else
		snprintf(text, sizeof text,
			 "no calibration counts here ('tare doctor' says why): counts of counters are gross");
	fputs("  - ", out);
	text_wrap(out, text, 4, 4, width);
}
