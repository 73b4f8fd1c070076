/* Outliers among the repetitions, each with what the operating system's account of that execution shows beside the
 * others: it was put off the CPU, it faulted, the hypervisor took time. "No cause seen" is also an answer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/str.h"
#include "measure/measurement.h"
#include "stats/stats.h"

/* A deviation below a thousandth of the median is not worth a name even where all others are equal. */
static const double FLOOR_SHARE = 0.001;

static double steal_ms(const struct account *a) { return (double)a->steal_ns / 1e6; }

static double involuntary(const struct account *a) { return (double)a->involuntary_switches; }

static double voluntary(const struct account *a) { return (double)a->voluntary_switches; }

static double minor(const struct account *a) { return (double)a->minor_faults; }

static double major(const struct account *a) { return (double)a->major_faults; }

/* floor: the least MAD that is assumed, so that 2 switches beside a median of 1 are not a cause. Steal is kept
 * in ticks of 10 ms. */
static const struct {
	const char *what;
	double (*of)(const struct account *);
	double floor, floor_share;
} suspects[] = {
	{"involuntary context switches", involuntary, 2, 0.02}, {"major page faults", major, 0.25, 0.02},
	{"ms stolen by the hypervisor", steal_ms, 4, 0.02},     {"minor page faults", minor, 5, 0.02},
	{"voluntary context switches", voluntary, 2, 0.02},
};
enum { SUSPECTS = sizeof suspects / sizeof *suspects };

struct finding_cause {
	size_t suspect;
	double score, value, median;
};

static int compare_scores(const void *a, const void *b)
{
	double x = ((const struct finding_cause *)a)->score, y = ((const struct finding_cause *)b)->score;
	return (x < y) - (x > y);
}

static void describe_status(struct str *text, int status)
{
	if (WIFSIGNALED(status))
		str_appendf(text, "the program was killed by signal %d", WTERMSIG(status));
	else
		str_appendf(text, "the program ended with exit status %d", WEXITSTATUS(status));
}

/* Did less than half of the other executions end like this one? */
static bool ended_differently(const struct measurement *s, size_t pass, size_t repetition)
{
	size_t same = 0, others = 0;
	int status = measurement_account(s, pass, repetition)->wait_status;
	for (size_t r = 0; r < s->options.repetitions; r++) {
		if (r == repetition || !measurement_account(s, pass, r)->complete)
			continue;
		others++;
		same += measurement_account(s, pass, r)->wait_status == status;
	}
	return others > 0 && same * 2 < others;
}

/* scratch has room for all repetitions. NULL when memory ran out. */
static const char *find_cause(struct measurement *s, size_t pass, size_t repetition, double *scratch)
{
	struct finding_cause causes[SUSPECTS];
	size_t n_causes = 0;
	const struct account *account = measurement_account(s, pass, repetition);
	for (size_t i = 0; i < SUSPECTS && account->known; i++) {
		size_t others = 0;
		for (size_t r = 0; r < s->options.repetitions; r++)
			if (r != repetition && measurement_account(s, pass, r)->complete)
				scratch[others++] = suspects[i].of(measurement_account(s, pass, r));
		double value = suspects[i].of(account), median = stats_median(scratch, others);
		double spread = fmax(stats_mad(scratch, others),
				     fmax(suspects[i].floor, suspects[i].floor_share * median));
		double score = (value - median) / spread;
		if (score > 3.5) /* as for outliers; NAN (no others) is not */
			causes[n_causes++] = (struct finding_cause){i, score, value, median};
	}
	qsort(causes, n_causes, sizeof *causes, compare_scores);

	struct str text = {0};
	if (ended_differently(s, pass, repetition))
		describe_status(&text, account->wait_status);
	for (size_t i = 0; i < n_causes; i++)
		str_appendf(&text, "%s%.0f %s (median %.0f)", text.length ? ", " : "", causes[i].value,
			    suspects[causes[i].suspect].what, causes[i].median);
	if (text.length == 0 && repetition == 0 && account->shown && s->options.program_output == OUTPUT_FIRST)
		str_append(&text, "only this run's output was shown");
	if (text.length == 0)
		str_append(&text, "no cause seen");
	char *cause = text.failed ? NULL : arena_strdup(&s->result->arena, text.text);
	str_free(&text);
	return cause;
}

struct outlier_work {
	double *values, *scratch;
	size_t *repetition_of;
	bool *marks;
};

static bool name_event(struct measurement *s, size_t event, struct estimate *e, struct outlier_work *work,
		       size_t *capacity)
{
	struct result *result = s->result;
	size_t pass = s->pass_of[event] == PASS_NONE ? 0 : s->pass_of[event], n = 0;
	for (size_t r = 0; r < s->options.repetitions; r++) {
		if (!measurement_value(s, event, pass, r, &work->values[n]))
			continue;
		work->repetition_of[n++] = r;
	}
	double floor = fmax(1, FLOOR_SHARE * fabs(stats_median(work->values, n)));
	if (n == 0 || stats_outliers(work->values, n, floor, work->marks) == 0)
		return true;
	size_t found = 0, first = 0;
	const char *first_cause = NULL;
	for (size_t i = 0; i < n; i++) {
		if (!work->marks[i])
			continue;
		if (result->n_outliers == *capacity) { /* the arena cannot give back: double, and copy */
			size_t wanted = *capacity ? *capacity * 2 : 16;
			struct outlier *grown = arena_alloc(&result->arena, wanted * sizeof *grown);
			if (!grown)
				return false;
			if (result->n_outliers)
				memcpy(grown, result->outliers, result->n_outliers * sizeof *grown);
			result->outliers = grown;
			*capacity = wanted;
		}
		const char *cause = find_cause(s, pass, work->repetition_of[i], work->scratch);
		if (!cause)
			return false;
		result->outliers[result->n_outliers++] = (struct outlier){work->repetition_of[i], e->event, cause};
		if (found++ == 0) {
			first = work->repetition_of[i] + 1;
			first_cause = cause;
		}
	}
	if (found == 0 || e->note)
		return true;
	e->note = found == 1 ? arena_printf(&result->arena, "run %zu is an outlier: %s", first, first_cause)
			     : arena_printf(&result->arena, "%zu runs are outliers, the first is run %zu: %s",
					    found, first, first_cause);
	return e->note != NULL;
}

bool measurement_name_outliers(struct measurement *s)
{
	size_t n = s->options.repetitions, capacity = 0;
	bool done = false;
	if (n < 5)
		return true;
	struct outlier_work work = {calloc(n, sizeof(double)), calloc(n, sizeof(double)),
				    calloc(n, sizeof(size_t)), calloc(n, sizeof(bool))};
	if (!work.values || !work.scratch || !work.repetition_of || !work.marks)
		goto out;
	struct estimate *e = s->result->estimates;
	for (size_t event = 0; event < s->n_events; event++) {
		if (e->known && !name_event(s, event, e, &work, &capacity))
			goto out;
		e++;
		for (size_t row = s->n_events; row < s->series.count; row++)
			e += s->series.items[row].event == event;
	}
	done = true;
out:
	free(work.values);
	free(work.scratch);
	free(work.repetition_of);
	free(work.marks);
	return done;
}
