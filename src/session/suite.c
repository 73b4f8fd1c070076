#include "session/suite.h"

#include <stdlib.h>
#include <string.h>

#include "profile/study.h"

static bool study(struct suite_programs *programs, size_t index, const struct verify_sampling *asked,
		  struct studied_program *out, struct error *err)
{
	struct suite_program program;
	struct verify_sampling one = *asked;
	struct error own = {0};
	suite_programs_at(programs, index, &program);
	out->name = program.name;
	one.program = program.argv;
	one.silent = true;
	if (program.why)
		out->why = strdup(program.why);
	else if (asked->quick && !program.quick)
		out->why = strdup("left out by --quick");
	else if (session_verify_sampling(&one, &out->study, &own))
		return true;
	else if (own.code == ERROR_NO_MEMORY || own.code == ERROR_USAGE || (asked->interrupt && *asked->interrupt))
		return *err = own, false;
	else
		out->why = strdup(own.text);
	return out->why || error_no_memory(err);
}

bool session_verify_suite(const struct verify_sampling *asked, suite_progress *progress, void *context,
			  struct sampling_suite *out, struct error *err)
{
	struct suite_programs *programs = NULL;
	size_t studied = 0, all = suite_programs_count();
	*out = (struct sampling_suite){.programs = calloc(all, sizeof *out->programs)};
	bool done = out->programs ? suite_programs_begin(&programs, err) : error_no_memory(err);
	while (done && out->n < all) {
		struct studied_program *program = &out->programs[out->n];
		struct suite_program next;
		suite_programs_at(programs, out->n, &next);
		progress(context, next.name, out->n, all);
		done = study(programs, out->n++, asked, program, err);
		studied += done && !program->why;
	}
	suite_programs_end(programs);
	if (done && !studied)
		done = error_set(err, ERROR_UNSUPPORTED, "none of the suite's programs could be studied: %s: %s",
				 out->programs[0].name, out->programs[0].why);
	if (done)
		study_add_findings(out);
	else
		session_suite_free(out);
	return done;
}

void session_suite_free(struct sampling_suite *suite)
{
	for (size_t i = 0; i < suite->n; i++) {
		if (!suite->programs[i].why)
			sampling_study_free(&suite->programs[i].study);
		free(suite->programs[i].why);
	}
	free(suite->programs);
	*suite = (struct sampling_suite){0};
}
