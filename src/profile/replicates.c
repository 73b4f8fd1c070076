#include "profile/replicates.h"

#include <math.h>
#include <stdlib.h>

#include "stats/stats.h"

/* Rows with fewer samples than this, in all runs together, are not tested: no difference could be shown. */
enum { SAMPLES_LEAST = 10 };

/* Differences that matter: of a part of the share, and in points. */
static const double MARGIN_PART = 0.25, MARGIN_POINTS = 0.01;

/* Of one event: samples of each row in each run. Runs without samples are left out. */
struct run_counts {
	const struct profile *profile;
	size_t n_runs;
	uint32_t *used;  /* the run's column; UINT32_MAX: left out */
	uint64_t *n;     /* [n_runs] samples of the column's run */
	uint64_t *k;     /* [rows][n_runs] */
	size_t n_used;   /* columns */
	size_t of_first; /* … of those at the first gap: they come first */
};

static bool open_counts(struct run_counts *c, const struct profile *p, size_t event, size_t rows)
{
	*c = (struct run_counts){.profile = p, .n_runs = p->n_runs};
	c->used = calloc(p->n_runs + 1, sizeof *c->used);
	c->n = calloc(p->n_runs + 1, sizeof *c->n);
	c->k = calloc(rows * p->n_runs + 1, sizeof *c->k);
	if (!c->used || !c->n || !c->k)
		return false;
	for (size_t second = 0; second < 2; second++) {
		for (size_t r = 0; r < p->n_runs; r++) {
			if (second != (p->checks_gaps && r % 2))
				continue;
			uint64_t samples = p->runs[r].samples[event];
			c->used[r] = samples ? (uint32_t)c->n_used : UINT32_MAX;
			if (samples)
				c->n[c->n_used++] = samples;
		}
		if (!second)
			c->of_first = c->n_used;
	}
	return true;
}

static void close_counts(struct run_counts *c)
{
	free(c->used);
	free(c->n);
	free(c->k);
}

/* by_line: rows of lines, else of functions; as named.c sums up `self`. */
static void count(struct run_counts *c, const struct named_profile *named, size_t event, bool by_line)
{
	const struct profile *p = c->profile;
	for (size_t i = 0; i < p->n_cells; i++) {
		const struct profile_cell *cell = &p->cells[i];
		uint32_t at = named->place_of_node[cell->node], column = c->used[p->tasks[cell->task].run];
		if (cell->event != event || at == UINT32_MAX || column == UINT32_MAX)
			continue;
		const struct named_place *place = &named->places[at];
		const struct named_frame *leaf = &named->frames[place->first_frame];
		uint32_t row = by_line ? leaf->line_row : named->functions[leaf[place->n_frames - 1].function].row;
		c->k[row * c->n_runs + column] += cell->count;
	}
}

static void add_interval(struct named_count *row, const struct run_counts *c, const uint64_t *k, double confidence)
{
	struct interval interval;
	if (!(row->has_interval = stats_replicated_share(k, c->n, c->n_used, confidence, &interval)))
		return;
	row->low = interval.low;
	row->high = interval.high;
}

/* ---- two gaps ---- */

/* A row of the table that is tested. */
struct tested {
	bool apart;  /* the gaps' shares differ */
	bool spread; /* runs with the same gap differ more than samples do */
};

static enum named_verdict judge(const struct share_agreement *a, double share, const struct tested *tested)
{
	double margin = fmax(MARGIN_POINTS, MARGIN_PART * share);
	if (tested->apart)
		return VERDICT_DEPENDS;
	if (a->difference.low >= -margin && a->difference.high <= margin)
		return VERDICT_AGREES;
	return tested->spread ? VERDICT_VARIES : VERDICT_FEW;
}

static bool compare(const struct run_counts *c, const uint64_t *k, double confidence, struct share_agreement *out)
{
	const struct share_runs first = {k, c->n, c->of_first};
	const struct share_runs second = {k + c->of_first, c->n + c->of_first, c->n_used - c->of_first};
	return first.runs >= 2 && second.runs >= 2 && stats_shares_agree(&first, &second, confidence, out);
}

/* Rows with enough samples, tested together. */
struct checked_rows {
	struct share_agreement *all; /* of the tested ones, in the table's order */
	double *p;
	bool *apart, *spread;
	size_t n;
};

/* Holm's procedure, which needs no independence: shares of one profile are not independent. */
static bool reject(const double *p, size_t n, double error_rate, bool *rejected)
{
	double *adjusted = calloc(n + 1, sizeof *adjusted);
	bool done = adjusted && (n == 0 || stats_adjust_holm(p, n, adjusted));
	for (size_t i = 0; done && i < n; i++)
		rejected[i] = adjusted[i] <= error_rate;
	free(adjusted);
	return done;
}

static bool is_tested(const struct named_count *row) { return row->self >= SAMPLES_LEAST; }

static bool test_rows(struct checked_rows *t, const struct named_table *table, size_t event,
		      const struct run_counts *c, double confidence)
{
	t->all = calloc(table->n + 1, sizeof *t->all);
	t->p = calloc(table->n + 1, sizeof *t->p);
	t->apart = calloc(table->n + 1, sizeof *t->apart);
	t->spread = calloc(table->n + 1, sizeof *t->spread);
	if (!t->all || !t->p || !t->apart || !t->spread)
		return false;
	for (size_t i = 0; i < table->n; i++)
		t->n += is_tested(&table->rows[i].counts[event]) &&
			compare(c, c->k + i * c->n_runs, confidence, &t->all[t->n]);
	for (size_t i = 0; i < t->n; i++)
		t->p[i] = t->all[i].p_spread;
	if (!reject(t->p, t->n, 1 - confidence, t->spread))
		return false;
	for (size_t i = 0; i < t->n; i++)
		t->p[i] = t->all[i].p;
	return reject(t->p, t->n, 1 - confidence, t->apart);
}

static void fill(struct named_check *check, const struct share_agreement *a)
{
	*check = (struct named_check){.verdict = VERDICT_FEW,
				      .first = a->first,
				      .second = a->second,
				      .low = a->difference.low,
				      .high = a->difference.high,
				      .p = NAN};
}

static bool check_rows(struct named_profile *named, struct named_table *table, size_t event,
		       const struct run_counts *c, double confidence)
{
	struct checked_rows t = {0};
	bool done = test_rows(&t, table, event, c, confidence);
	for (size_t i = 0, at = 0; done && i < table->n; i++) {
		struct named_count *row = &table->rows[i].counts[event];
		struct share_agreement agreement;
		struct named_check *check;
		if (!row->self || !compare(c, c->k + i * c->n_runs, confidence, &agreement))
			continue;
		if (!(done = (check = arena_alloc(&named->arena, sizeof *check)) != NULL))
			break;
		fill(check, &agreement);
		if (is_tested(row)) {
			const struct tested tested = {t.apart[at], t.spread[at]};
			double share = (double)row->self / (double)named->sums[event];
			check->verdict = judge(&agreement, share, &tested);
			check->p = agreement.p;
			at++;
		}
		row->check = check;
	}
	free(t.all);
	free(t.p);
	free(t.apart);
	free(t.spread);
	return done;
}

static bool add(struct named_profile *named, struct named_table *table, size_t event, bool by_line,
		double confidence)
{
	struct run_counts counts;
	bool done = open_counts(&counts, named->profile, event, table->n);
	if (done) {
		count(&counts, named, event, by_line);
		for (size_t i = 0; i < table->n; i++)
			add_interval(&table->rows[i].counts[event], &counts, counts.k + i * counts.n_runs,
				     confidence);
		done = !named->profile->checks_gaps || check_rows(named, table, event, &counts, confidence);
	}
	close_counts(&counts);
	return done;
}

bool replicates_add(struct named_profile *named, size_t event, double confidence)
{
	return add(named, &named->by_function, event, false, confidence) &&
	       add(named, &named->by_line, event, true, confidence);
}
