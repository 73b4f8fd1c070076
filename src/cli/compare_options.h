/* What `tare compare` was asked for, as far as the command line alone says it. */
#ifndef TARE_CLI_COMPARE_OPTIONS_H
#define TARE_CLI_COMPARE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "cli/command_line.h"
#include "measure/measure.h"
#include "session/gate.h"
#include "session/keep.h"

enum compare_format { COMPARE_TEXT, COMPARE_JSON, COMPARE_CSV, COMPARE_MARKDOWN, COMPARE_JUNIT, COMPARE_HTML };

/* -L NAME VALUE,VALUE */
struct parameter_list {
	const char *name;
	const char *values; /* comma-separated */
};

struct compare_request {
	VEC(const char *) event_lists; /* -e, borrowed from argv, as all strings here */
	VEC(const char *) metric_lists;
	VEC(const char *) event_files;
	VEC(const char *) regions;
	VEC(const char *) names;
	VEC(struct gate) gates;
	VEC(const char *) prepares, concludes; /* one for all commands, or one for each */
	VEC(struct parameter_list) lists;
	VEC(const char *) flags;
	const char *git, *build, *compilers; /* NULL */
	struct keeping keeping;
	const char *setup, *cleanup, *on, *shell, *input;
	enum shell_use use;
	size_t repetitions, warm_ups;
	bool has_warm_ups;
	double confidence;
	uint64_t seed;
	const char *shown_cpu; /* of reproducible; NULL else */
	bool reproducible, ignore_failure, randomise_layout, no_children;
	enum program_output program_output;
	enum compare_format format;
	const char *output;
	const char *json_file, *csv_file, *markdown_file, *junit_file, *html_file; /* beside the report; NULL */
	bool verbose, quiet, statistics, help;
	VEC(char *) commands; /* each a command line */
	VEC(char *) program;  /* the words behind "--" */
	struct arena arena;
};

/* Parses and checks what contradicts itself. On failure nothing is to be freed. */
bool compare_request_parse(struct compare_request *request, int argc, char **argv, struct error *err);
void compare_request_free(struct compare_request *request);

#endif
