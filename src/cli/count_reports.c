/* What `tare count` writes: the report, in the format asked for, and the files of blocks, system calls and
 * places. */
#include <stdlib.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/count.h"
#include "cli/page_output.h"
#include "cli/say.h"
#include "compat/reports.h"
#include "report/report.h"

struct rendering {
	const struct count_command *count;
	struct report_options options;
	struct p5mon_header header;
};

static void render_perfex(FILE *out, const struct count_command *count)
{
	const struct costs_found *found = &count->costs;
	struct perfex_costs costs = {&found->costs, found->costs.title ? found->costs.title : ""};
	report_perfex(out, count->session.result, count->request.costs && found->known ? &costs : NULL);
	if (count->request.costs && *found->why)
		fprintf(out, "%s%s\n", found->known ? "" : "No times: ", found->why);
}

static void render(FILE *out, void *context)
{
	const struct rendering *rendering = context;
	const struct count_command *count = rendering->count;
	bool all = count->request.all_repetitions;
	if (count->request.format == FORMAT_JSON)
		report_json(out, count->session.result, &rendering->options);
	else if (count->request.format == FORMAT_HTML)
		report_html(out, count->session.result, &rendering->options);
	else if (count->request.format == FORMAT_CSV)
		report_csv(out, count->session.result, &rendering->options);
	else if (count->request.compat == COMPAT_P5MON)
		report_p5mon(out, count->session.result, count->session.events, &rendering->header, all);
	else if (count->request.compat == COMPAT_PERFEX)
		render_perfex(out, count);
	else
		report_text(out, count->session.result, &rendering->options);
}

static void render_p5mon_file(FILE *out, void *context)
{
	const struct rendering *rendering = context;
	const struct count_command *count = rendering->count;
	report_p5mon_file(out, count->session.result, count->session.events, &rendering->header,
			  count->request.all_repetitions);
}

/* "-Fa=1 -Fb=2" */
static const char *joined_overrides(struct count_command *count)
{
	struct str text = {0};
	for (size_t i = 0; i < count->request.overrides.count; i++)
		str_appendf(&text, "%s-F%s", i ? " " : "", count->request.overrides.items[i]);
	const char *joined = text.failed || !text.text ? "" : arena_strdup(&count->arena, text.text);
	str_free(&text);
	return joined ? joined : "";
}

bool count_write_report(struct count_command *count)
{
	const struct count_request *r = &count->request;
	struct rendering rendering = {
		.count = count,
		.options = {.all_repetitions = r->all_repetitions,
			    .verbose = r->verbose > 0,
			    .quiet = r->quiet,
			    .gross = r->gross,
			    .statistics = r->statistics,
			    .one_line = r->interval_ns > 0 || r->control != NULL,
			    .standard = count->session.selection.defaults ? count->session.events : NULL,
			    .rank = &count->launched.place,
			    .colour = say_in_colour(count->output.stream),
			    .width = say_width(count->output.stream)},
		.header = {.parameter_file = r->parameter_file ? r->parameter_file : "",
			   .directory = "?",
			   .errata = count->has_parameters && count->parameters.errata},
	};
	struct error err = {0};
	struct report_origin origin;
	bool done = true;
	if (r->format == FORMAT_HTML) {
		page_origin_here(&count->arena, &origin);
		rendering.options.origin = &origin;
	}
	if (r->compat == COMPAT_P5MON) {
		char *directory = getcwd(NULL, 0);
		if (directory)
			rendering.header.directory = arena_strdup(&count->arena, directory);
		if (!rendering.header.directory)
			rendering.header.directory = "?";
		free(directory);
		rendering.header.arguments = joined_overrides(count);
	}
	done = output_write(&count->output, render, &rendering);
	if (count->has_parameters && count->parameters.output_file[0]) {
		struct output file;
		if (!output_open(&file, count->parameters.output_file, &err)) {
			say_error(&err);
			fputs("tare: the report follows here instead:\n", stderr);
			file = (struct output){NULL, stderr};
			done = false;
		}
		done = output_write(&file, render_p5mon_file, &rendering) && done;
	}
	return done;
}

static void render_lines(FILE *out, void *context) { fputs(context, out); }

/* A file of the engine's: opened before the measurement, as the report's is. */
static bool write_lines(struct count_command *count, struct output *output, const char *path, const char *what,
			char *lines)
{
	const struct result *result = count->session.result;
	struct error err = {0};
	if (!path)
		return true;
	if (lines)
		return output_write(output, render_lines, lines);
	output_abandon(output);
	error_set(&err, ERROR_UNSUPPORTED, "no %s in '%s': %s", what, path,
		  result->blocks_why ? result->blocks_why : "no execution ran under the engine");
	error_hint(&err, "ask for an event that the engine counts: -e instructions:u --on exact");
	say_error(&err);
	return false;
}

static void render_breakdown(FILE *out, void *context) { report_breakdown_tsv(out, context); }

static bool write_breakdown(struct count_command *count)
{
	if (count->request.by_file && count->session.result->breakdown)
		return output_write(&count->by_file, render_breakdown, count->session.result->breakdown);
	output_abandon(&count->by_file);
	return true;
}

bool count_write_files(struct count_command *count)
{
	const struct count_request *r = &count->request;
	const struct result *result = count->session.result;
	bool done = write_breakdown(count);
	done = openmetrics_finish(&count->openmetrics, result) && done;
	done = write_lines(count, &count->blocks, r->blocks, "basic blocks", result->blocks) && done;
	return write_lines(count, &count->system_calls, r->system_calls, "system calls", result->system_calls) &&
	       done;
}

bool count_write_reports(struct count_command *count)
{
	bool done = count_write_report(count);
	return count_write_files(count) && done;
}
