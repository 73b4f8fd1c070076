#include "report/build.h"

#include <stdlib.h>
#include <string.h>

#include "report/number.h"
#include "report/origin.h"
#include "report/region.h"

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

static void add_title(struct document *document, const struct result *result)
{
	struct str text = {0};
	if (result->target)
		str_appendf(&text, "%s%s", result->target, result->command ? ", while running " : "");
	if (result->command)
		append_command(&text, result->command);
	document_add(document, BLOCK_GAP, NULL, NULL);
	document_add_str(document, BLOCK_TITLE, "tare count:", &text, "");
}

/* Which machine it was: of interest when a report is kept. */
static void add_machine(struct document *document, const struct machine_facts *machine)
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
	document_note(document, NOTE_DETAIL, NULL, document_str(document, &text));
}

static void append_seconds(struct str *text, double seconds)
{
	struct estimate e = {.event = "", .unit = "ns", .value = seconds * 1e9};
	struct number_scale scale = number_scale_of(&e, false);
	char number[NUMBER_BYTES];
	number_group(number, e.value * scale.factor, scale.factor == 1e-9 && seconds < 100 ? 2 : 1);
	str_appendf(text, "%s %s", number, scale.unit);
}

/* How the program was run, and for how long; what a value's "±?" means. */
static void add_runs(struct document *document, const struct result *result, bool no_spread)
{
	struct str text = {0};
	if (result->timed_out)
		str_append(&text, "ended by --timeout: ");
	else if (result->interrupted)
		str_append(&text, "interrupted: ");
	if (result->interrupted)
		str_appendf(&text, "%zu of %zu repetition%s complete, ", result->repetitions_done,
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
	if (no_spread)
		str_append(&text, result->command ? "; ±? needs more runs (-r 5)"
						  : "; ±?: one measurement has no spread");
	document_note(document, result->interrupted ? NOTE_ACT : NOTE_READ, NULL, document_str(document, &text));
}

static bool any_known(const struct estimate *estimates, size_t n, bool without_interval)
{
	for (size_t i = 0; i < n; i++)
		if (estimates[i].known && !(without_interval && estimates[i].has_interval))
			return true;
	return false;
}

static void add_footnote(struct document *document, size_t number, const struct footnote *note)
{
	struct str both = {0};
	if (note->more)
		str_appendf(&both, "%s; %s", note->text, note->more);
	const char *text = document_str(document, &both);
	document_note(document, NOTE_READ, document_printf(document, "[%zu]", number), text ? text : note->text);
}

/* In which events a repetition stands out, and why. false: in none. */
static bool outlier_of(const struct result *result, size_t repetition, struct str *line)
{
	struct str causes = {0};
	const char *last = NULL;
	str_appendf(line, "run %zu stands out in ", repetition + 1);
	for (size_t i = 0; i < result->n_outliers; i++) {
		const struct outlier *o = &result->outliers[i];
		if (o->repetition != repetition)
			continue;
		str_appendf(line, "%s%s", last ? ", " : "", o->event);
		if (!last || strcmp(last, o->cause) != 0)
			str_appendf(&causes, "%s%s", last ? "; " : "", o->cause);
		last = o->cause;
	}
	if (last)
		str_appendf(line, ": %s", causes.text ? causes.text : "");
	line->failed |= causes.failed;
	str_free(&causes);
	return last != NULL;
}

/* The same run stands out in several events: one line for the run. (Without all repetitions the rows' footnotes,
 * which name the first outlier of each event, are enough.) */
static void add_outliers(struct document *document, const struct result *result)
{
	size_t runs = 0;
	for (size_t r = 0; r < result->repetitions; r++) {
		struct str line = {0};
		if (outlier_of(result, r, &line) && runs++ < OUTLIERS_SHOWN)
			document_note(document, NOTE_READ, "-", document_str(document, &line));
		str_free(&line);
	}
	if (runs > OUTLIERS_SHOWN)
		document_note(document, NOTE_READ, "-",
			      document_printf(document, "%zu more run%s (--json has them all)",
					      runs - OUTLIERS_SHOWN,
					      runs - OUTLIERS_SHOWN == 1 ? " is an outlier" : "s are outliers"));
}

/* "region hot (sort.c:10-20): entered 100 times, by 4 threads" */
static const char *region_title(struct document *document, const struct region_row *row)
{
	struct str text = {0};
	str_appendf(&text, "region %s", row->name);
	if (strcmp(row->name, row->text) != 0)
		str_appendf(&text, " (%s)", row->text);
	str_append(&text, ": ");
	region_append_passes(&text, row);
	if (row->threads > 1 && !row->why)
		str_appendf(&text, ", by %llu threads", (unsigned long long)row->threads);
	const char *kept = document_str(document, &text);
	return kept ? kept : row->name;
}

/* A region that was not left as it was entered: its counts are of less than a reader expects. */
static void add_region_trouble(struct document *document, const struct region_row *row)
{
	struct str text = {0};
	str_appendf(&text, "region %s: ", row->name);
	size_t before = text.length;
	region_append_trouble(&text, row);
	if (text.length > before)
		document_note(document, NOTE_ACT, "!", document_str(document, &text));
	str_free(&text);
}

static void add_region_note(struct document *document, const struct region_row *row)
{
	struct str text = {0};
	if (!row->note)
		return;
	str_appendf(&text, "region %s: %s", row->name, row->note);
	const char *kept = document_str(document, &text);
	document_note(document, NOTE_READ, "-", kept ? kept : row->note);
}

/* The counts: of the program, its metrics, and each region. */
static void add_counts(struct document *document, const struct result *result, bool all_repetitions,
		       struct footnotes *notes)
{
	struct counts_section *sections = calloc(2 + result->n_regions, sizeof *sections);
	if (!sections) {
		document->failed = true;
		return;
	}
	sections[0] = (struct counts_section){
		.heading = "event", .estimates = result->estimates, .n = result->n_estimates};
	sections[1] = (struct counts_section){
		.heading = "metric", .estimates = result->metrics, .n = result->n_metrics, .is_metric = true};
	for (size_t i = 0; i < result->n_regions; i++) {
		const struct region_row *row = &result->regions[i];
		sections[2 + i] = (struct counts_section){.heading = "event",
							  .estimates = row->estimates,
							  .n = row->n_estimates,
							  .title = region_title(document, row)};
	}
	build_counts(document, sections, 2 + result->n_regions, all_repetitions, notes);
	free(sections);
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

static void add_result_notes(struct document *document, const struct result *result, enum note_rank rank)
{
	for (size_t i = 0; i < result->n_notes; i++)
		if (result->notes[i].rank == rank)
			document_note(document, rank, rank == NOTE_ACT ? "!" : "-", result->notes[i].text);
}

/* What has to be known of the counts, in the order in which a reader needs it: what something follows from, what
 * the numbers mean, where they come from. */
static void add_notes(struct document *document, const struct result *result, const struct footnotes *notes,
		      const struct report_options *options)
{
	bool any = any_known(result->estimates, result->n_estimates, false),
	     no_spread = any && any_known(result->estimates, result->n_estimates, true);
	if (result->interrupted)
		add_runs(document, result, no_spread);
	add_result_notes(document, result, NOTE_ACT);
	for (size_t i = 0; i < result->n_regions; i++)
		add_region_trouble(document, &result->regions[i]);
	if (!result->interrupted)
		add_runs(document, result, no_spread);
	for (size_t i = 0; i < notes->items.count; i++)
		add_footnote(document, i + 1, &notes->items.items[i]);
	for (size_t i = 0; i < result->n_regions; i++)
		add_region_note(document, &result->regions[i]);
	if (kernel_in_regions(result))
		document_note(
			document, NOTE_READ, "-",
			"kernel-level counts of regions include interrupts that came in them, whatever they were "
			"for");
	add_result_notes(document, result, NOTE_READ);
	if (options->all_repetitions)
		add_outliers(document, result);
	add_result_notes(document, result, NOTE_DETAIL);
	add_machine(document, &result->machine);
}

void report_build(struct document *document, const struct result *result, const struct report_options *options)
{
	struct footnotes notes = {0};
	add_title(document, result);
	add_counts(document, result, options->all_repetitions, &notes);
	if (options->statistics)
		build_statistics(document, result);
	if (options->gross)
		build_gross(document, result);
	if (result->breakdown)
		build_breakdown(document, result->breakdown, options->standard && !options->verbose);
	add_notes(document, result, &notes, options);
	if (options->origin) {
		build_sources(document, &result, 1);
		build_origin(document, &result->machine, result->started_unix, options->origin);
	}
	vec_free(&notes.items);
}
