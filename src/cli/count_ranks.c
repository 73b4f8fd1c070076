#include "cli/count_ranks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/say.h"
#include "report/job.h"
#include "session/job.h"
#include "session/output_name.h"
#include "session/ranks.h"

/* ---- what goes with ranks ---- */

/* place: this rank's, also where ranks report apart. */
static bool fill_name(struct count_command *count, const struct rank_place *place, const char **name,
		      bool one_for_all, struct error *err)
{
	if (!*name)
		return true;
	if (count->launched.place.launcher && !one_for_all && !output_name_is_own(*name)) {
		error_set(err, ERROR_USAGE, "%zu ranks would write the same file '%s'", count->launched.place.size,
			  *name);
		return error_hint(err, "put %%r (the rank) or %%p (the process) into its name");
	}
	return (*name = output_name(*name, place, &count->arena, err)) != NULL;
}

/* What one report of all ranks cannot show. */
static bool check(const struct count_request *r, struct error *err)
{
	const char *lost = r->compat                  ? "--compat"
			   : r->interval_ns           ? "-I"
			   : r->control               ? "--control"
			   : r->by                    ? "--by"
			   : r->format == FORMAT_HTML ? "--html"
						      : NULL;
	if (!lost)
		return true;
	error_set(err, ERROR_USAGE, "%s is not in the report of several ranks", lost);
	return error_hint(err, "-o 'FILE-%%r' gives each rank a report of its own");
}

/* MPI_Init works once in a process that the launcher started, or a child of it: the next execution fails or hangs.
 * Who gives ranks by tare's own variables (TARE_RANK) knows what the program is. */
static bool check_runs(const struct count_request *r, const struct rank_place *place, struct error *err)
{
	const char *more = r->repetitions > 1 ? "-r"
			   : r->several_runs  ? "--several-runs"
			   : r->warm_ups      ? "--warm-up"
					      : NULL;
	if (!more || !place->launcher || strcmp(place->launcher, "tare") == 0)
		return true;
	error_set(err, ERROR_USAGE,
		  "%s runs the program more than once, and a rank of %s can call MPI_Init only once", more,
		  place->launcher);
	return error_hint(err,
			  "repeat the launcher's whole command; --ranks off, if the program does not use MPI");
}

/* Ranks that somebody numbered by tare's own variables are nobody's to kill. */
static bool stand_apart(struct count_command *count, struct rank_place *here, struct error *err)
{
	if (strcmp(here->launcher, "tare") == 0)
		return true;
	bool done = apart_begin(&count->apart, err);
	here->pid = count->launched.place.pid = getpid();
	return done;
}

bool count_ranks_find(struct count_command *count, struct error *err)
{
	struct count_request *r = &count->request;
	struct launched here = {0};
	if (!launcher_find(&launcher_world_here, &count->arena, &here, err) && !r->ranks_off)
		return false;
	if (!r->ranks_off)
		count->launched = here;
	if (!check_runs(r, &count->launched.place, err))
		return false;
	count->joint = count->launched.place.launcher && !output_name_is_own(r->output);
	if (r->per_rank && !count->joint) {
		error_set(err, ERROR_USAGE, "--per-rank is for one report of several ranks");
		return error_hint(err, count->launched.place.launcher
					       ? "with %%r or %%p in -o, each rank has a report of its own"
					       : "mpirun, srun and the like start ranks");
	}
	return (!count->joint || (check(r, err) && stand_apart(count, &here.place, err))) &&
	       fill_name(count, &here.place, &r->output, count->joint, err) &&
	       fill_name(count, &here.place, &r->blocks, false, err) &&
	       fill_name(count, &here.place, &r->system_calls, false, err) &&
	       fill_name(count, &here.place, &r->by_file, false, err) &&
	       (openmetrics_is_served(r->openmetrics) ||
		fill_name(count, &here.place, &r->openmetrics, false, err));
}

bool count_ranks_begin(struct count_command *count, struct error *err)
{
	if (!count->joint)
		return true;
	char *base = launcher_folder(&launcher_world_here, count->request.ranks_folder, count->launched.many_hosts,
				     err);
	bool done = base && ranks_begin(base, &count->launched.place, &count->ranks, err);
	free(base);
	return done;
}

/* ---- the report of all ---- */

struct job_rendering {
	const struct job *job;
	enum format format;
	bool per_rank;
	struct report_options options;
};

static void render(FILE *out, void *context)
{
	const struct job_rendering *r = context;
	if (r->format == FORMAT_JSON)
		report_job_json(out, r->job);
	else if (r->format == FORMAT_CSV)
		report_job_csv(out, r->job, r->per_rank);
	else
		report_job_text(out, r->job, r->per_rank, &r->options);
}

bool count_ranks_write(struct output *output, const struct job *job, enum format format, bool per_rank,
		       struct report_options options)
{
	struct job_rendering rendering = {job, format, per_rank, options};
	rendering.options.colour = say_in_colour(output->stream);
	rendering.options.width = say_width(output->stream);
	return output_write(output, render, &rendering);
}

static bool write_job(struct count_command *count, const struct job *job)
{
	const struct count_request *r = &count->request;
	struct report_options options = {.verbose = r->verbose > 0, .quiet = r->quiet};
	struct error err = {0};
	struct output output;
	if (output_open(&output, r->output, &err))
		return count_ranks_write(&output, job, r->format, r->per_rank, options);
	say_error(&err);
	fputs("tare: the report follows here instead:\n", stderr);
	output = (struct output){NULL, stderr};
	count_ranks_write(&output, job, r->format, r->per_rank, options);
	return false;
}

/* What started the ranks may end them at once: Open MPI does after MPI_Abort, 60 ms after its SIGTERM. */
static void tell_interim(void *context, const struct job *job)
{
	struct count_command *count = context;
	const struct count_request *r = &count->request;
	struct stat status;
	/* the whole report takes its place; what a pipe was given stays */
	bool to_file = r->output && strcmp(r->output, "-") != 0 &&
		       (stat(r->output, &status) != 0 || S_ISREG(status.st_mode));
	bool data = r->format != FORMAT_TEXT && !r->output;
	char *files = to_file ? NULL : ranks_files(count->ranks);
	if (to_file)
		write_job(count, job);
	count->told_files = files && !r->quiet && !data;
	if (count->told_files)
		fprintf(stderr,
			"tare: interrupted, and ranks are at work; if all are killed now: tare report --merge "
			"%s\n",
			files);
	free(files);
}

static void tell_waiting(void *context, const char *at_work, const char *never_began)
{
	const struct count_command *count = context;
	/* data on standard error stay data */
	if (count->request.quiet || (count->request.format != FORMAT_TEXT && !count->request.output))
		return;
	fprintf(stderr, "tare: rank %zu has counted, and waits for ranks %s%s%s%s (at most %.0f s)\n",
		count->launched.place.rank, at_work, *at_work && *never_began ? "; " : "", never_began,
		*never_began ? ", which have not begun" : "", (double)count->request.ranks_timeout_ns / 1e9);
	if (*never_began)
		fputs("tare: --ranks off: ranks do not wait for each other\n", stderr);
}

/* This rank's counts as JSON; to be freed. NULL: out of memory. */
static char *own_result(const struct count_command *count, size_t *length)
{
	struct report_options options = {.one_line = true, .rank = &count->launched.place};
	struct result *result = count->session.result;
	struct result_note *notes = arena_alloc(&result->arena, (result->n_notes + 1) * sizeof *notes);
	char *text = NULL;
	FILE *memory = notes ? open_memstream(&text, length) : NULL;
	size_t n = 0;
	if (!memory)
		return NULL;
	/* what each rank would say of itself alone */
	for (size_t i = 0; i < result->n_notes; i++)
		if (result->notes[i].rank != NOTE_DETAIL || count->request.verbose)
			notes[n++] = result->notes[i];
	result->notes = notes;
	result->n_notes = n;
	report_json(memory, result, &options);
	if (fclose(memory) == 0)
		return text;
	free(text);
	return NULL;
}

int count_ranks_finish(struct count_command *count, int code)
{
	const struct count_request *r = &count->request;
	const struct result *result = count->session.result;
	struct ranks_waiting waiting = {.timeout_ns = r->ranks_timeout_ns,
					.interrupt = count->interrupt,
					.apart = &count->apart,
					.failed = count->program && result->wait_status != 0 &&
						  !result->interrupted,
					.tell = tell_waiting,
					.interim = tell_interim,
					.context = count};
	struct error err = {0};
	struct job *job = NULL;
	size_t length = 0;
	char *text = own_result(count, &length);
	bool done = text ? ranks_end(count->ranks, &count->launched.place, text, length, &waiting, &job, &err)
			 : error_no_memory(&err);
	free(text);
	if (!done) {
		say_error(&err);
		fputs("tare: this rank's own report follows:\n", stderr);
		count->output = (struct output){NULL, stderr};
		count_write_report(count);
		return code == TARE_DONE ? TARE_CANNOT_MEASURE : code;
	}
	if (!job)
		return code;
	done = write_job(count, job);
	int worst = job_worst_status(job);
	if (code == TARE_DONE)
		code = worst ? worst : job->n_reported < job->n_members ? TARE_CANNOT_MEASURE : code;
	/* if it did not arrive in its file, it is on standard error: the next rank would do no better. Open MPI's
	 * mpirun ends about a second after it has killed ranks, and does not show what comes later */
	ranks_reported(count->ranks, count->told_files);
	job_free(job);
	return done ? code : TARE_CANNOT_MEASURE;
}
