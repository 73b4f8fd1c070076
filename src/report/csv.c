/* A result as CSV (RFC 4180: a header line, CRLF, quotes doubled). The first column, "tare", is the format's
 * version; columns are only ever added at the end within a version. A field is empty where it has no meaning:
 * "value" when nothing was counted ("why" says the reason), "low" and "high" without an interval or bound.
 *
 * kind: event, metric, region (an event in a region, whose name, entries and exits are in the last columns), or
 * run (one repetition's value of the row above, with all_repetitions). With `statistics` the last columns are min,
 * median, max and sd of the repetitions. */
#include <math.h>
#include <string.h>

#include "report/number.h"
#include "report/report.h"

static void field(FILE *out, const char *text)
{
	if (!text)
		text = "";
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void number(FILE *out, bool known, double value)
{
	char text[NUMBER_BYTES];
	fputc(',', out);
	if (!known || !isfinite(value))
		return;
	number_exact(text, value);
	fputs(text, out);
}

static void text(FILE *out, const char *value)
{
	fputc(',', out);
	field(out, value);
}

/* The columns of a region; NULL: the row is of none. */
static void region_columns(FILE *out, const struct region_row *region)
{
	if (!region) {
		fputs(",,,", out);
		return;
	}
	text(out, region->name);
	if (region->why)
		fputs(",,", out);
	else
		fprintf(out, ",%llu,%llu", (unsigned long long)region->entries, (unsigned long long)region->exits);
}

/* repetition: 1-based; 0 for the summary. */
static void row(FILE *out, const struct estimate *e, const char *kind, size_t repetition, double value,
		const struct region_row *region, bool statistics)
{
	bool summary = repetition == 0, interval = summary && e->known && e->has_interval;
	fprintf(out, "1,%s", kind);
	text(out, e->event);
	text(out, e->level);
	fputc(',', out);
	if (e->pid)
		fprintf(out, "%d", (int)e->pid);
	fputc(',', out);
	if (e->tid)
		fprintf(out, "%d", (int)e->tid);
	fputc(',', out);
	if (e->cpu >= 0)
		fprintf(out, "%d", e->cpu);
	fputc(',', out);
	if (!summary)
		fprintf(out, "%zu", repetition);
	number(out, e->known, value);
	number(out, interval, e->low);
	number(out, interval, e->high);
	number(out, interval, e->confidence);
	text(out, e->unit);
	fprintf(out, ",%zu", summary ? e->n_runs : 1);
	text(out, source_name(e->source));
	text(out, trust_name(e->trust));
	number(out, summary && e->known, e->share_running);
	text(out, e->known ? "" : e->why);
	text(out, summary ? e->note : "");
	text(out, e->machine);
	region_columns(out, region);
	number(out, summary && e->has_tare, e->gross);
	number(out, summary && e->has_tare, e->tare);
	number(out, summary && e->known && !e->has_tare && e->evidence, e->bound);
	text(out, summary ? e->evidence : "");
	number(out, summary && !e->known && e->has_least, e->least);
	text(out, e->command);
	if (statistics) {
		bool runs = summary && e->known && e->n_runs;
		number(out, runs, e->run_min);
		number(out, runs, e->run_median);
		number(out, runs, e->run_max);
		number(out, runs, e->run_sd);
	}
	fputs("\r\n", out);
}

static void rows(FILE *out, const struct estimate *e, const char *kind, const struct report_options *options,
		 const struct region_row *region)
{
	row(out, e, kind, 0, e->value, region, options->statistics);
	for (size_t i = 0; options->all_repetitions && i < e->n_runs; i++)
		row(out, e, "run", i + 1, e->runs[i], region, options->statistics);
}

void report_csv(FILE *out, const struct result *result, const struct report_options *options)
{
	fputs("tare,kind,event,level,pid,tid,cpu,repetition,value,low,high,confidence,unit,runs,source,trust,"
	      "share_running,why,note,machine,region,entries,exits,gross,overhead,bound,evidence,at_least,command",
	      out);
	fputs(options->statistics ? ",min,median,max,sd\r\n" : "\r\n", out);
	for (size_t i = 0; i < result->n_estimates; i++)
		rows(out, &result->estimates[i], "event", options, NULL);
	for (size_t i = 0; i < result->n_metrics; i++)
		rows(out, &result->metrics[i], "metric", options, NULL);
	for (size_t i = 0; i < result->n_regions; i++)
		for (size_t j = 0; j < result->regions[i].n_estimates; j++)
			rows(out, &result->regions[i].estimates[j], "region", options, &result->regions[i]);
}
