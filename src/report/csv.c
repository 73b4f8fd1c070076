/* A result as CSV (RFC 4180: a header line, CRLF, quotes doubled). The first column, "tare", is the format's
 * version; columns are only ever added at the end within a version. A field is empty where it has no meaning:
 * "value" when nothing was counted ("why" says the reason), "low" and "high" without an interval or bound.
 *
 * kind: event, metric, region (an event in a region, whose name, entries and exits are in the last columns), or
 * run (one repetition's value of the row above, with all_repetitions). With `statistics` the last columns are min,
 * median, max and sd of the repetitions. */
#include <math.h>
#include <string.h>

#include "report/csv_columns.h"
#include "report/report.h"

/* The columns of a region; NULL: the row is of none. */
static void region_columns(FILE *out, const struct region_row *region)
{
	if (!region) {
		fputs(",,,", out);
		return;
	}
	csv_text(out, region->name);
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
	csv_text(out, e->event);
	csv_text(out, e->level);
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
	csv_number(out, e->known, value);
	csv_number(out, interval, e->low);
	csv_number(out, interval, e->high);
	csv_number(out, interval, e->confidence);
	csv_text(out, e->unit);
	fprintf(out, ",%zu", summary ? e->n_runs : 1);
	csv_text(out, source_name(e->source));
	csv_text(out, trust_name(e->trust));
	csv_number(out, summary && e->known, e->share_running);
	csv_text(out, e->known ? "" : e->why);
	csv_text(out, summary ? e->note : "");
	csv_text(out, e->machine);
	region_columns(out, region);
	csv_number(out, summary && e->has_tare, e->gross);
	csv_number(out, summary && e->has_tare, e->tare);
	csv_number(out, summary && e->known && !e->has_tare && e->evidence, e->bound);
	csv_text(out, summary ? e->evidence : "");
	csv_number(out, summary && !e->known && e->has_least, e->least);
	csv_text(out, e->command);
	if (statistics) {
		bool runs = summary && e->known && e->n_runs;
		csv_number(out, runs, e->run_min);
		csv_number(out, runs, e->run_median);
		csv_number(out, runs, e->run_max);
		csv_number(out, runs, e->run_sd);
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
