/* A result as a table for a reader: what was run where, the events, the metrics, and what has to be known of them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "report/breakdown.h"
#include "report/gross.h"
#include "report/number.h"
#include "report/region.h"
#include "report/report.h"
#include "report/table.h"

enum { OUTLIERS_SHOWN = 8, COMMAND_SHOWN_BYTES = 300 };

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

static void append_command(struct str *text, const char *const *command)
{
	for (size_t i = 0; command[i]; i++) {
		char word[COMMAND_SHOWN_BYTES];
		str_escape_to(word, sizeof word, command[i]);
		bool plain = word[0] && !word[strcspn(word, " \t\"'\\$&|;<>*?()")];
		if (text->length + strlen(word) > COMMAND_SHOWN_BYTES) {
			str_append(text, " \u2026");
			return;
		}
		str_appendf(text, plain ? "%s%s" : "%s'%s'", i ? " " : "", word);
	}
}

static void print_heading(FILE *out, const struct result *result, const struct style *style, size_t width)
{
	struct str text = {0};
	fprintf(out, "\n%stare count:%s ", style->bold, style->off);
	if (result->target)
		str_appendf(&text, "%s%s", result->target, result->command ? ", while running " : "");
	if (result->command)
		append_command(&text, result->command);
	if (!text.failed && text.text)
		text_wrap(out, text.text, strlen("tare count: "), 2, width);
	else
		fputc('\n', out);
	str_free(&text);
}

static void print_machine(FILE *out, const struct machine_facts *machine, size_t width)
{
	struct str text = {0};
	bool none = !machine->pmu || strcmp(machine->pmu, "none") == 0;
	str_appendf(&text, "%s, %d CPU%s, ", machine->cpu ? machine->cpu : "unknown CPU", machine->cpus,
		    plural((size_t)machine->cpus));
	if (machine->hypervisor && machine->hypervisor[0])
		str_appendf(&text, "a guest of %s, ", machine->hypervisor);
	if (none)
		str_append(&text, "no hardware counters, ");
	else
		str_appendf(&text, "PMU %s, ", machine->pmu);
	str_append(&text, machine->kernel ? machine->kernel : "unknown kernel");
	fputs("  ", out);
	if (!text.failed)
		text_wrap(out, text.text, 2, 2, width);
	str_free(&text);
}

static void append_seconds(struct str *text, double seconds)
{
	struct estimate e = {.event = "", .unit = "ns", .value = seconds * 1e9};
	struct number_scale scale = number_scale_of(&e, false);
	char number[NUMBER_BYTES];
	number_group(number, e.value * scale.factor, scale.factor == 1e-9 && seconds < 100 ? 2 : 1);
	str_appendf(text, "%s %s", number, scale.unit);
}

static void print_runs(FILE *out, const struct result *result, size_t width)
{
	struct str text = {0};
	if (result->interrupted)
		str_appendf(&text, "interrupted: %zu of %zu repetition%s complete, ", result->repetitions_done,
			    result->repetitions, plural(result->repetitions));
	if (!result->command || result->executions <= 1) {
		str_append(&text, result->command ? "1 execution in " : "counted for ");
	} else {
		str_appendf(&text, "%zu repetition%s", result->repetitions, plural(result->repetitions));
		if (result->passes > 1)
			str_appendf(&text, " of %zu groups of events", result->passes);
		if (result->warm_ups)
			str_appendf(&text, " after %zu warm-up%s", result->warm_ups, plural(result->warm_ups));
		str_appendf(&text, ": %zu executions in ", result->executions);
	}
	append_seconds(&text, result->elapsed_seconds);
	if (result->under_engine)
		str_append(&text, result->executions > 1 ? ", some or all under the engine" : " under the engine");
	fputs("  ", out);
	if (!text.failed)
		text_wrap(out, text.text, 2, 2, width);
	str_free(&text);
}

static bool trust_differs(const struct result *result, enum trust *common)
{
	bool found = false;
	*common = TRUST_UNVERIFIED;
	for (size_t i = 0; i < result->n_estimates + result->n_metrics; i++) {
		const struct estimate *e = i < result->n_estimates ? &result->estimates[i]
								   : &result->metrics[i - result->n_estimates];
		if (!e->known)
			continue;
		if (found && e->trust != *common)
			return true;
		*common = e->trust;
		found = true;
	}
	return false;
}

static bool any_known(const struct estimate *estimates, size_t n, bool without_interval)
{
	for (size_t i = 0; i < n; i++)
		if (estimates[i].known && !(without_interval && estimates[i].has_interval))
			return true;
	return false;
}

static void remark(FILE *out, const char *mark, const char *text, size_t width)
{
	size_t indent = 2 + text_columns(mark) + 1;
	fprintf(out, "  %s ", mark);
	text_wrap(out, text, indent, indent, width);
}

static void footnote(FILE *out, size_t number, const struct footnote *note, size_t width)
{
	char mark[32];
	struct str both = {0};
	snprintf(mark, sizeof mark, "[%zu]", number);
	if (note->more)
		str_appendf(&both, "%s; %s", note->text, note->more);
	remark(out, mark, both.text ? both.text : note->text, width);
	str_free(&both);
}

/* The same run stands out in several events: one line for the run. (Without all repetitions the rows' footnotes,
 * which name the first outlier of each event, are enough.) */
static void print_outliers(FILE *out, const struct result *result, size_t width)
{
	size_t shown = 0, runs = 0;
	for (size_t r = 0; r < result->repetitions; r++) {
		struct str events = {0}, causes = {0};
		const char *last = NULL;
		for (size_t i = 0; i < result->n_outliers; i++) {
			const struct outlier *o = &result->outliers[i];
			if (o->repetition != r)
				continue;
			str_appendf(&events, "%s%s", events.length ? ", " : "", o->event);
			if (!last || strcmp(last, o->cause) != 0)
				str_appendf(&causes, "%s%s", causes.length ? "; " : "", o->cause);
			last = o->cause;
		}
		if (last && runs++ < OUTLIERS_SHOWN && !events.failed && !causes.failed) {
			struct str line = {0};
			str_appendf(&line, "run %zu stands out in %s: %s", r + 1, events.text, causes.text);
			if (!line.failed)
				remark(out, "-", line.text, width);
			str_free(&line);
			shown++;
		}
		str_free(&events);
		str_free(&causes);
	}
	if (runs > shown)
		fprintf(out, "  - and %zu more runs (--json has them all)\n", runs - shown);
}

/* "region hot (sort.c:10-20): entered 100 times, by 4 threads" */
static char *region_title(const struct region_row *row)
{
	struct str text = {0};
	str_appendf(&text, "region %s", row->name);
	if (strcmp(row->name, row->text) != 0)
		str_appendf(&text, " (%s)", row->text);
	str_append(&text, ": ");
	region_append_passes(&text, row);
	if (row->threads > 1 && !row->why)
		str_appendf(&text, ", by %llu threads", (unsigned long long)row->threads);
	return str_take(&text);
}

static void region_remarks(FILE *out, const struct region_row *row, size_t width)
{
	struct str text = {0};
	if (row->note) {
		str_appendf(&text, "region %s: %s", row->name, row->note);
		remark(out, "-", text.text ? text.text : row->note, width);
		str_free(&text);
	}
	str_appendf(&text, "region %s: ", row->name);
	size_t before = text.length;
	region_append_trouble(&text, row);
	if (!text.failed && text.length > before)
		remark(out, "!", text.text, width);
	str_free(&text);
}

/* The tables: of the program, its metrics, and each region. */
static void print_tables(FILE *out, const struct result *result, bool differs,
			 const struct report_options *options, struct footnotes *notes)
{
	size_t n = 2 + result->n_regions;
	struct table_block *blocks = calloc(n, sizeof *blocks);
	if (!blocks) {
		fputs("  (out of memory: the table is not shown)\n", out);
		return;
	}
	blocks[0] = (struct table_block){
		.heading = "event", .estimates = result->estimates, .n = result->n_estimates};
	blocks[1] = (struct table_block){
		.heading = "metric", .estimates = result->metrics, .n = result->n_metrics, .is_metric = true};
	for (size_t i = 0; i < result->n_regions; i++) {
		const struct region_row *row = &result->regions[i];
		char *title = region_title(row);
		blocks[2 + i] = (struct table_block){.heading = "event",
						     .estimates = row->estimates,
						     .n = row->n_estimates,
						     .title = title ? title : row->name};
	}
	table_print(out, blocks, n, differs, options, notes);
	for (size_t i = 0; i < result->n_regions; i++)
		if (blocks[2 + i].title != result->regions[i].name)
			free((char *)blocks[2 + i].title);
	free(blocks);
}

/* No error bar and no bound is of what others' interrupts do in a region. */
static bool kernel_in_regions(const struct result *result)
{
	for (size_t r = 0; r < result->n_regions; r++)
		for (size_t i = 0; i < result->regions[r].n_estimates; i++) {
			const struct estimate *e = &result->regions[r].estimates[i];
			if (e->known && (e->source == SOURCE_HW || e->source == SOURCE_SCALED) && e->level &&
			    strstr(e->level, "kernel"))
				return true;
		}
	return false;
}

void report_text(FILE *out, const struct result *result, const struct report_options *options)
{
	struct style style = style_of(options);
	size_t width = (size_t)table_width(options);
	struct footnotes notes = {0};
	enum trust trust;
	bool differs = trust_differs(result, &trust),
	     single = any_known(result->estimates, result->n_estimates, true);

	print_heading(out, result, &style, width);
	print_machine(out, &result->machine, width);
	print_runs(out, result, width);
	print_tables(out, result, differs, options, &notes);
	bool any = any_known(result->estimates, result->n_estimates, false);
	if (notes.items.count || result->n_notes || result->n_regions ||
	    (options->all_repetitions && result->n_outliers) ||
	    (any && !differs && (single || trust != TRUST_UNVERIFIED)))
		fputc('\n', out);
	for (size_t i = 0; i < notes.items.count; i++)
		footnote(out, i + 1, &notes.items.items[i], width);
	for (size_t i = 0; i < result->n_regions; i++)
		region_remarks(out, &result->regions[i], width);
	if (kernel_in_regions(result))
		remark(out, "-",
		       "regions' counts with the kernel's part have the interrupts that came in them, too, "
		       "whatever they were for",
		       width);
	if (options->all_repetitions)
		print_outliers(out, result, width);
	for (size_t i = 0; i < result->n_notes; i++)
		remark(out, "-", result->notes[i], width);
	if (any && !differs && trust != TRUST_UNVERIFIED) {
		char text[64];
		snprintf(text, sizeof text, "%s: all of these numbers", trust_name(trust));
		remark(out, "-", text, width);
	}
	if (any && !differs && single)
		remark(out, "-",
		       result->command ? "\u00b1? because one execution says nothing of the spread (try -r 5)"
				       : "\u00b1? because one measurement says nothing of the spread",
		       width);
	vec_free(&notes.items);
	if (options->gross)
		gross_text(out, result, options);
	if (result->breakdown)
		breakdown_text(out, result->breakdown, options);
}
