#include "cli/report_merge.h"

#include "cli/count_ranks.h"
#include "cli/say.h"
#include "session/job.h"
#include "session/ranks.h"

int report_merge(char *const *paths, size_t n, enum show_format format, bool per_rank, const char *output,
		 const struct report_options *options)
{
	struct error err = {0};
	struct job *job;
	struct output out;
	if (format != SHOW_TEXT && format != SHOW_JSON && format != SHOW_CSV) {
		error_set(&err, ERROR_USAGE, "merged results are text, JSON or CSV");
		return say_failed(&err, TARE_USAGE);
	}
	if (!ranks_merge((const char *const *)paths, n, &job, &err))
		return say_failed(&err, err.code == ERROR_USAGE || err.code == ERROR_SYNTAX ? TARE_USAGE
											    : TARE_CANNOT_MEASURE);
	bool complete = job->n_reported == job->n_members, done = output_open(&out, output ? output : "-", &err);
	if (done)
		done = count_ranks_write(&out, job,
					 format == SHOW_JSON  ? FORMAT_JSON
					 : format == SHOW_CSV ? FORMAT_CSV
							      : FORMAT_TEXT,
					 per_rank, *options);
	else
		say_error(&err);
	job_free(job);
	return done && complete ? TARE_DONE : TARE_CANNOT_MEASURE;
}
