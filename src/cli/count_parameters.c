/* -P and -F: run_p5mon's parameters, read, and what they say of the options of `tare count`. */
#include "cli/count_parameters.h"

#include <stdlib.h>
#include <string.h>

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"

static FILE *message_stream(const char *name, struct error *err)
{
	if (strcmp(name, "stderr") == 0)
		return stderr;
	return file_create(strcmp(name, "stdout") == 0 ? "-" : name, err);
}

static bool write_messages(const struct parameters *p, struct error *err)
{
	FILE *out = message_stream(p->parm_warn_file_name, err);
	if (!out)
		return false;
	parameters_warn(p, out);
	if (!file_finish(out, p->parm_warn_file_name, err))
		return false;
	if (!p->dump_parms)
		return true;
	if (!(out = message_stream(p->parm_dump_file_name, err)))
		return false;
	parameters_dump(p, out);
	return file_finish(out, p->parm_dump_file_name, err);
}

bool count_parameters_read(struct count_request *r, struct parameters *p, struct error *err)
{
	for (size_t i = 0; i < r->overrides.count; i++)
		if (!parameters_override(p, r->overrides.items[i], err))
			return false;
	if (r->parameter_file) {
		size_t length;
		char *text = file_read(r->parameter_file, PARAMETERS_MOST_BYTES, &length, err);
		if (!text)
			return false;
		bool read = parameters_read(p, text, length, r->parameter_file, err);
		free(text);
		if (!read)
			return false;
	}
	if (!parameters_check(p, r->on, err))
		return false;
	if (p->use_assembly_regions && strcmp(r->on, "auto") == 0)
		r->on = "model:host"; /* the engine, with what auto would model */

	/* options of the command line are said last, and win */
	if (!r->has_repetitions)
		r->repetitions = (size_t)p->repetitions;
	if (!r->has_confidence)
		r->confidence = p->confidence_level_99 ? 0.99 : 0.95;
	if (!r->has_warm_ups)
		r->warm_ups = (size_t)!p->skip_initialization_run + (size_t)p->repeat_first_run;
	r->has_warm_ups = true;
	r->several_runs = true;
	r->all_repetitions |= p->output_all_results;
	if (p->verbose_level > r->verbose)
		r->verbose = (unsigned)p->verbose_level;
	return write_messages(p, err);
}

static bool is_in_path(const char *name)
{
	const char *at = getenv("PATH");
	char path[4096];
	while (at && *at) {
		size_t bytes = strcspn(at, ":");
		int n = snprintf(path, sizeof path, "%.*s/%s", bytes ? (int)bytes : 1, bytes ? at : ".", name);
		if (n > 0 && (size_t)n < sizeof path && access(path, X_OK) == 0)
			return true;
		at += bytes + (at[bytes] == ':');
	}
	return false;
}

char *const *count_parameters_program(struct parameters *p)
{
	char *const *words = parameters_command(p);
	if (!words || strchr(words[0], '/') || access(words[0], X_OK) != 0 || is_in_path(words[0]))
		return words;
	size_t bytes = strlen(words[0]) + 3;
	char *here = arena_alloc(&p->arena, bytes);
	if (!here)
		return words;
	snprintf(here, bytes, "./%s", words[0]);
	((char **)words)[0] = here;
	return words;
}
