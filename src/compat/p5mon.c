/* run_p5mon's report and parseable file (Safford, Figures 4.2 to 4.4, 4.7 and 4.8).
 *
 * An estimate belongs to a Pentium event when it is labelled "p5mon:<parameter>" (the command labels so what a
 * parameter file asked for) or when its canonical event has such a paper's name. Others, and metrics, appear under
 * their own names. Events that were not counted are said to be so: the thesis has no line for them. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "report/modelled.h"
#include "compat/p5mon_events.h"
#include "report/region.h"
#include "compat/reports.h"
#include "stats/stats.h"

static const char PREFIX[] = "p5mon:";
static const char ERRATA[] =
	"Data Read and Data Write count a misaligned access twice, as the Pentium did (errata = yes).";

static const struct p5mon_event *event_of(const struct estimate *e, const struct event_table *table)
{
	char name[128];
	if (strncmp(e->event, PREFIX, strlen(PREFIX)) == 0)
		return p5mon_event_named(e->event + strlen(PREFIX));
	if (!table)
		return NULL;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(e->event, ":"), e->event);
	const struct event_definition *row = event_table_find(table, name);
	for (const char *const *paper = row ? row->paper_names : NULL; paper && *paper; paper++)
		if (strncmp(*paper, PREFIX, strlen(PREFIX)) == 0)
			return p5mon_event_named(*paper + strlen(PREFIX));
	return NULL;
}

struct summary {
	double mean, half_width;
	char percent[32]; /* of the mean; "NaN" when that is 0 */
};

static struct summary summarise(const struct estimate *e)
{
	struct summary s = {.mean = e->value};
	struct interval interval;
	if (e->n_runs && stats_mean_interval_p5mon(e->runs, e->n_runs, e->confidence, &interval)) {
		s.mean = interval.value;
		s.half_width = (interval.high - interval.low) / 2;
	}
	if (s.mean == 0)
		snprintf(s.percent, sizeof s.percent, "NaN");
	else
		snprintf(s.percent, sizeof s.percent, "%.3f", 100 * s.half_width / s.mean);
	return s;
}

static void print_escaped(FILE *out, const char *text)
{
	char shown[4096];
	str_escape_to(shown, sizeof shown, text);
	fputs(shown, out);
}

static void print_command(FILE *out, const char *const *command)
{
	/* what the parameter file says; how it was started, too, because it is counted */
	bool shell = false;
	if (command && command[0] && command[1] && command[2] && !command[3] &&
	    strcmp(command[0], "/bin/sh") == 0 && strcmp(command[1], "-c") == 0)
		command += 2, shell = true;
	for (size_t i = 0; command && command[i]; i++) {
		fputs(i ? " " : "", out);
		print_escaped(out, command[i]);
	}
	if (shell)
		fputs("\n  (run by /bin/sh -c; the shell is counted as well)", out);
}

static void print_header(FILE *out, const struct result *result, const struct p5mon_header *header)
{
	char when[64] = "an unknown time";
	time_t started = (time_t)result->started_unix;
	struct tm local;
	if (localtime_r(&started, &local))
		strftime(when, sizeof when, "%a %b %e %H:%M:%S %Y", &local);
	fprintf(out, "run_p5mon started at %s\n current directory: ", when);
	print_escaped(out, header->directory);
	fputs("\n parameter file: ", out);
	print_escaped(out, header->parameter_file);
	fputs("\n arguments: ", out);
	print_escaped(out, header->arguments);
	fputs("\n command: ", out);
	print_command(out, result->command);
	fputs("\n\n", out);
}

static bool is_stub(const struct region_row *row)
{
	return row->kind == REGION_LIBRARY && strncmp(row->name, "asm_", 4) == 0 && row->name[4] &&
	       !row->name[4 + strspn(row->name + 4, "0123456789")];
}

/* The stubs' regions have numbers, as libp5mon's had. */
static const char *region_name(const struct region_row *row) { return is_stub(row) ? row->name + 4 : row->name; }

/* Regions of assembly alone, which is what run_p5mon has: their report is that of Figures 4.5, 4.6 and 4.9. */
static bool are_stubs(const struct result *result)
{
	for (size_t i = 0; i < result->n_regions; i++)
		if (!is_stub(&result->regions[i]))
			return false;
	return result->n_regions > 0;
}

/* Where a line of an event stands, and how. */
struct layout {
	const char *indent;
	bool figures;     /* as Figures 4.5 and 4.6: an event by its title alone, repetitions from 1 */
	uint64_t entries; /* of the region that it is of; 0: of none, or never entered */
};
static const struct layout plain = {.indent = "  "};

static void print_name(FILE *out, const struct estimate *e, const struct event_table *table, bool title_alone)
{
	const struct p5mon_event *event = event_of(e, table);
	print_escaped(out, event ? event->title : e->event);
	/* of tare's own names several can be of one title: at user level, at kernel level, at both */
	if (event && !title_alone && strncmp(e->event, PREFIX, strlen(PREFIX)) != 0) {
		fputs(" (", out);
		print_escaped(out, e->event);
		fputc(')', out);
	}
}

static void print_event(FILE *out, const struct estimate *e, const struct event_table *table, bool all_results,
			const struct layout *layout)
{
	char each[64] = "";
	fprintf(out, "%s%s", layout->indent, all_results ? "Event: " : "");
	print_name(out, e, table, layout->figures);
	if (!e->known) {
		if (all_results)
			fprintf(out, "\n%s  ", layout->indent);
		else
			fputs(": ", out);
		if (e->has_least)
			fprintf(out, "at least %.0f (", e->least);
		else
			fputs("not counted (", out);
		print_escaped(out, e->why ? e->why : "no reason is known");
		fputs(")\n", out);
		return;
	}
	struct summary s = summarise(e);
	if (layout->entries)
		snprintf(each, sizeof each,
			 layout->figures && all_results ? " %.1f per time region entered" : " [%.1f]",
			 s.mean / (double)layout->entries);
	if (all_results) {
		const char *deeper = layout->figures ? "    " : "  ";
		fputc('\n', out);
		for (size_t r = 0; r < e->n_runs; r++) {
			char label[32];
			snprintf(label, sizeof label, "rep %zu:", r + layout->figures);
			fprintf(out, "%s%s%-12s %6.0f\n", layout->indent, deeper, label, e->runs[r]);
		}
		fprintf(out, "%s%s%-12s ", layout->indent, deeper, "Average:");
	} else {
		fputs(": ", out);
	}
	/* one repetition says nothing of the spread: its 0 is none */
	if (e->n_runs < 2)
		fprintf(out, "%.1f +/- unknown%s\n", s.mean, each);
	else
		fprintf(out, "%.1f +/- %.1f (%s%%)%s\n", s.mean, s.half_width, s.percent, each);
}

static void print_regions(FILE *out, const struct result *result, const struct event_table *table,
			  bool all_results)
{
	bool stubs = are_stubs(result);
	for (size_t i = 0; i < result->n_regions; i++) {
		const struct region_row *r = &result->regions[i];
		const struct layout layout = {
			.indent = stubs ? "        " : "  ", .figures = stubs, .entries = r->why ? 0 : r->exits};
		fputs(stubs ? "    Region " : "\nRegion ", out);
		print_escaped(out, region_name(r));
		if (r->why && r->least)
			fprintf(out, ", entered at least %llu times:\n", (unsigned long long)r->least);
		else if (r->why)
			fputs(", how often it was entered is not known:\n", out);
		else
			fprintf(out, ", entered %llu times and exited %llu times:\n",
				(unsigned long long)r->entries, (unsigned long long)r->exits);
		for (size_t j = 0; j < r->n_estimates; j++)
			print_event(out, &r->estimates[j], table, all_results, &layout);
		struct str trouble = {0};
		region_append_trouble(&trouble, r);
		if (trouble.text)
			fprintf(out, "%swarning: %s\n", layout.indent, trouble.text);
		str_free(&trouble);
	}
}

/* The title of a Pentium event; another event's own name. */
static const char *name_of(const struct estimate *e, const struct event_table *table, bool title)
{
	const struct p5mon_event *event = event_of(e, table);
	return event && (title || strncmp(e->event, PREFIX, strlen(PREFIX)) == 0) ? event->title : e->event;
}

/* Of the means of two events, as report_perfex() has it; nothing where there are more, or one is not known. */
static void print_ratio(FILE *out, const struct estimate *estimates, size_t n, const struct event_table *table,
			const struct region_row *region)
{
	const struct estimate *pair[2] = {NULL, NULL};
	size_t found = 0;
	for (size_t i = 0; i < n; i++)
		if (region || estimate_is_total(&estimates[i])) {
			if (found < 2)
				pair[found] = &estimates[i];
			found++;
		}
	if (found != 2 || !pair[0]->known || !pair[1]->known)
		return;
	bool stub = region && is_stub(region);
	double above = summarise(pair[0]).mean, below = summarise(pair[1]).mean;
	if (below == 0 || strcmp(name_of(pair[0], table, stub), name_of(pair[1], table, stub)) == 0)
		return;
	fputs("Ratio", out);
	if (region) {
		fputs(" in region ", out);
		print_escaped(out, region_name(region));
	}
	fputs(": ", out);
	print_escaped(out, name_of(pair[0], table, stub));
	fputs(" / ", out);
	print_escaped(out, name_of(pair[1], table, stub));
	fprintf(out, " = %.6f\n", above / below);
}

/* Behind the lines of the thesis, whose figures have no such line. */
static void print_ratios(FILE *out, const struct result *result, const struct event_table *table)
{
	if (!are_stubs(result))
		print_ratio(out, result->estimates, result->n_estimates, table, NULL);
	for (size_t i = 0; i < result->n_regions; i++)
		print_ratio(out, result->regions[i].estimates, result->regions[i].n_estimates, table,
			    &result->regions[i]);
}

void report_p5mon(FILE *out, const struct result *result, const struct event_table *table,
		  const struct p5mon_header *header, bool all_results)
{
	bool stubs = are_stubs(result);
	print_header(out, result, header);
	if (stubs)
		fprintf(out, "Results (for %zu regions, %zu repetitions, %.0f%% confidence level):\n",
			result->n_regions, result->repetitions, result->confidence * 100);
	else
		fprintf(out, "Results (for %zu repetitions with a %.0f%% confidence level):\n",
			result->repetitions, result->confidence * 100);
	if (result->interrupted)
		fprintf(out, "(interrupted: %zu repetitions complete)\n", result->repetitions_done);
	for (size_t i = 0; !stubs && i < result->n_estimates; i++)
		if (estimate_is_total(&result->estimates[i]))
			print_event(out, &result->estimates[i], table, all_results, &plain);
	for (size_t i = 0; !stubs && i < result->n_metrics; i++) {
		const struct estimate *e = &result->metrics[i];
		if (!estimate_is_total(e))
			continue;
		fputs("  ", out);
		print_escaped(out, e->event);
		if (e->known) {
			fprintf(out, ": %.6g", e->value);
		} else {
			fputs(": not counted (", out);
			print_escaped(out, e->why ? e->why : "no reason is known");
			fputc(')', out);
		}
		fputc('\n', out);
	}
	print_regions(out, result, table, all_results);
	size_t counted = result->executions > result->warm_ups ? result->executions - result->warm_ups : 0;
	fprintf(out, "\nTotal elapsed time: %.1f seconds\n", result->elapsed_seconds);
	if (counted)
		fprintf(out, "(program executed %zu times, with an average execution time of %.1fs%s)\n", counted,
			result->elapsed_seconds / (double)result->executions,
			result->under_engine ? ", including tare's engine"
			: result->n_regions  ? ", including the regions' probes"
					     : "");
	print_ratios(out, result, table);
	fputs("The intervals are run_p5mon's (population standard deviation, n degrees of freedom): they are too\n"
	      "narrow, and here only for comparison with its reports.\n",
	      out);
	if (header->errata)
		fprintf(out, "%s\n", ERRATA);
	notes_print(out, result, "");
	modelled_print(out, result, "");
}

/* Lines of one event: "[region] code repetition value", then with repetition -1 the mean, its interval and, of a
 * region, the mean for each time that it was entered. A region's name has its blanks as \x20. */
static void file_event(FILE *out, const struct estimate *e, const struct event_table *table, bool all_results,
		       const struct region_row *region)
{
	const struct p5mon_event *event = event_of(e, table);
	char code[256];
	struct str name = {0};
	if (event && event->code != P5MON_CLOCKS)
		snprintf(code, sizeof code, "0x%x", (unsigned)event->code);
	else
		str_escape_to(code, sizeof code, event ? event->parameter : e->event);
	for (const char *at = region ? region_name(region) : ""; *at; at++) {
		if (*at == ' ')
			str_append(&name, "\\x20");
		else
			str_append_char(&name, *at);
	}
	if (region)
		str_append_char(&name, ' ');
	const char *shown = name.text && !name.failed ? name.text : "";
	if (!e->known) {
		fprintf(out, "# ");
		print_escaped(out, shown);
		fprintf(out, "%s not counted: ", code);
		print_escaped(out, e->why ? e->why : "no reason is known");
		fputc('\n', out);
	} else {
		for (size_t r = 0; all_results && r < e->n_runs; r++) {
			print_escaped(out, shown);
			fprintf(out, "%s %zu %.0f\n", code, r, e->runs[r]);
		}
		struct summary s = summarise(e);
		if (event && !(region && is_stub(region)) && strncmp(e->event, PREFIX, strlen(PREFIX)) != 0) {
			fprintf(out, "# %s is ", code); /* several can be of one code */
			print_escaped(out, e->event);
			fputc('\n', out);
		}
		print_escaped(out, shown);
		if (e->n_runs < 2)
			fprintf(out, "%s -1 %.1f NaN NaN", code, s.mean);
		else
			fprintf(out, "%s -1 %.1f %.1f %s", code, s.mean, s.half_width, s.percent);
		if (region && !region->why && region->exits)
			fprintf(out, " %.1f", s.mean / (double)region->exits);
		fputc('\n', out);
	}
	str_free(&name);
}

void report_p5mon_file(FILE *out, const struct result *result, const struct event_table *table,
		       const struct p5mon_header *header, bool all_results)
{
	fputs("# run_p5mon results file\n", out);
	bool stubs = are_stubs(result);
	if (stubs)
		fprintf(out, "# Results (for %zu regions, %zu repetitions, %.0f%% confidence level):\n",
			result->n_regions, result->repetitions, result->confidence * 100);
	else
		fprintf(out, "# Results (%zu repetitions, %.0f%% confidence level):\n", result->repetitions,
			result->confidence * 100);
	if (header->errata)
		fprintf(out, "# %s\n", ERRATA);
	modelled_print(out, result, "# ");
	notes_print(out, result, "# ");
	fprintf(out, "#%s Event Repetition Value [conf.int] [percentage]\n", stubs ? " Region" : "");
	for (size_t i = 0; !stubs && i < result->n_estimates; i++)
		if (estimate_is_total(&result->estimates[i]))
			file_event(out, &result->estimates[i], table, all_results, NULL);
	for (size_t i = 0; i < result->n_regions; i++) {
		const struct region_row *r = &result->regions[i];
		fputs("# Region ", out);
		print_escaped(out, region_name(r));
		if (r->why)
			fprintf(out, ", entered at least %llu times\n", (unsigned long long)r->least);
		else if (stubs)
			fprintf(out, ": entered %llu exited %llu\n", (unsigned long long)r->entries,
				(unsigned long long)r->exits);
		else
			fprintf(out, ", entered %llu times and exited %llu times\n",
				(unsigned long long)r->entries, (unsigned long long)r->exits);
		for (size_t j = 0; j < r->n_estimates; j++)
			file_event(out, &r->estimates[j], table, all_results, r);
	}
}
