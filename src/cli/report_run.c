#include "cli/report_run.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/page_output.h"
#include "cli/say.h"
#include "report/compare.h"

bool report_is_run(const char *word) { return word[0] == '@' || (!strchr(word, '/') && access(word, F_OK) != 0); }

void report_options_of(const struct kept_run *run, struct report_options *options)
{
	options->verbose |= (run->shown & SHOWN_VERBOSE) && !options->quiet;
	options->quiet |= (run->shown & SHOWN_QUIET) && !options->verbose;
	options->all_repetitions |= (run->shown & SHOWN_ALL_REPETITIONS) != 0;
	options->gross |= (run->shown & SHOWN_GROSS) != 0;
	options->statistics |= (run->shown & SHOWN_STATISTICS) != 0;
}

void report_show_of(const struct kept_run *run, struct show_request *show)
{
	if (run->shown & SHOWN_BY_LINE)
		show->by = PROFILE_BY_LINE;
	show->annotate |= (run->shown & SHOWN_ANNOTATE) != 0;
	show->prof |= (run->shown & SHOWN_PROF) != 0;
	if (!show->top)
		show->top = run->top;
}

int report_result(const struct kept_run *run, enum show_format format, struct report_options options, FILE *out,
		  const char *name)
{
	struct error err = {0};
	struct arena arena = {0};
	struct report_origin origin;
	struct event_table *standard = run->shown & SHOWN_STANDARD_SET ? event_table_new(NULL) : NULL;
	options.standard = standard;
	options.colour = say_in_colour(out);
	options.width = say_width(out);
	if (out == stdout)
		say_begin_output();
	if (format == SHOW_JSON)
		report_json(out, run->result, &options);
	else if (format == SHOW_CSV)
		report_csv(out, run->result, &options);
	else if (format == SHOW_HTML) {
		page_origin_of(run, &arena, &origin);
		options.origin = &origin;
		report_html(out, run->result, &options);
	} else
		report_text(out, run->result, &options);
	event_table_free(standard);
	arena_free(&arena);
	if (out == stdout)
		return say_end_output();
	return file_finish(out, name, &err) ? TARE_DONE : say_failed(&err, TARE_CANNOT_MEASURE);
}

int report_comparison(const struct kept_run *run, const struct comparison *comparison, enum show_format format,
		      struct report_options options, FILE *out, const char *name)
{
	struct error err = {0};
	struct arena arena = {0};
	struct report_origin origin;
	options.colour = say_in_colour(out);
	options.width = say_width(out);
	if (out == stdout)
		say_begin_output();
	switch (format) {
	case SHOW_TEXT: report_comparison_text(out, comparison, &options); break;
	case SHOW_JSON: report_comparison_json(out, comparison); break;
	case SHOW_CSV: report_comparison_csv(out, comparison); break;
	case SHOW_HTML:
		page_origin_of(run, &arena, &origin);
		options.origin = &origin;
		report_comparison_html(out, comparison, &options);
		break;
	}
	arena_free(&arena);
	if (out == stdout)
		return say_end_output();
	return file_finish(out, name, &err) ? TARE_DONE : say_failed(&err, TARE_CANNOT_MEASURE);
}
