/* A rank's result of any content: it is refused with a reason that names the file, or what is read keeps the promises of
 * store/ranks/read.h, adds up with itself, and can be reported in every format. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/job.h"
#include "session/job.h"
#include "store/ranks/read.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void check_word(const char *word)
{
	check(word != NULL && strlen(word) <= READ_WORD_BYTES, "a word that is missing or too long");
	for (; *word; word++)
		check((unsigned char)*word >= ' ' && *word != 0x7f, "a control character in a table's cell");
}

static void check_estimates(const struct estimate *estimates, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct estimate *e = &estimates[i];
		check_word(e->event);
		check_word(e->unit);
		check(e->known == (e->source != SOURCE_NONE),
		      "a count without a source, or a source without a count");
		check(e->known || e->why, "not counted, and no reason");
		check(!e->known || (isfinite(e->value) && e->low <= e->value && e->value <= e->high),
		      "a count outside of its interval");
	}
}

static void check_result(const struct result *r, const struct rank_place *place)
{
	check(r->n_estimates + r->n_metrics <= 2 * READ_ROWS_MOST, "more rows than there may be");
	check_estimates(r->estimates, r->n_estimates);
	check_estimates(r->metrics, r->n_metrics);
	for (size_t i = 0; i < r->n_regions; i++) {
		check_word(r->regions[i].name);
		check_estimates(r->regions[i].estimates, r->regions[i].n_estimates);
	}
	check(!place->launcher || (place->job && place->rank < place->size), "a rank beyond its job");
}

/* A known sum is of all, and a missing member leaves none. */
static void check_sums(const struct job *job)
{
	for (size_t i = 0; i < job->rows.count; i++) {
		const struct job_row *row = &job->rows.items[i];
		check(!row->sum.known, "a sum without the member that died");
		check(row->n_known <= 2, "more counts than members");
		if (row->n_known == 2)
			check(row->is_metric || row->sum.least == row->cells[0].value + row->cells[1].value ||
				      !isfinite(row->sum.least),
			      "at least what the two counted");
		if (row->n_known)
			check(row->least.value <= row->most.value, "a minimum above the maximum");
	}
}

static void report(const struct job *job)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	struct report_options options = {.verbose = true};
	check(out != NULL, "no memory");
	report_job_text(out, job, true, &options);
	report_job_csv(out, job, true);
	report_job_json(out, job);
	fclose(out);
	for (size_t i = 0; i < length; i++)
		check(text[i] != '\x1b', "an escape sequence in a report");
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct result *result;
	struct rank_place place;
	struct error err = {0};
	if (!read_result((const char *)data, size, "f", &result, &place, &err)) {
		check(strncmp(err.text, "'f' is not ", 11) == 0, "an error that does not name the file");
		return 0;
	}
	check_result(result, &place);
	struct job *job = job_new(3);
	struct job_builder *builder = job ? job_begin(job) : NULL;
	check(builder != NULL, "no memory");
	check(job_add(builder, 0, result, &place, "f", &err) && job_add(builder, 1, result, &place, "f", &err),
	      "a result that was read does not add up");
	check(job_lose(builder, 2, MEMBER_DIED, "h", 1, NULL, NULL) && job_sum(builder), "no memory");
	check_sums(job);
	report(job);
	job_builder_free(builder);
	job_free(job);
	result_free(result);
	return 0;
}
