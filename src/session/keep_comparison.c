#include "session/keep_comparison.h"

#include <stdlib.h>
#include <string.h>

#include "session/compare.h"

enum { SIDES_MOST = 1000 };

struct kept_side *keep_side(struct arena *arena, const struct comparison *c, size_t at)
{
	struct kept_side *side = arena_alloc(arena, sizeof *side);
	struct kept_compared *rows = arena_alloc(arena, (c->n_rows + 1) * sizeof *rows);
	if (!side || !rows)
		return NULL;
	for (size_t i = 0; i < c->n_rows; i++)
		rows[i] = (struct kept_compared){c->rows[i].event, c->rows[i].commands[at]};
	*side = (struct kept_side){.name = c->names[at],
				   .at = at,
				   .of = c->n,
				   .seed = c->seed,
				   .repetitions = c->repetitions,
				   .tests = c->tests,
				   .interrupted = c->interrupted,
				   .shows_misleading = c->shows_misleading,
				   .apart = !c->interleaved,
				   .layout = c->layout,
				   .rows = rows,
				   .n_rows = c->n_rows};
	if (at == 0) {
		side->gates = c->gates;
		side->n_gates = c->n_gates;
		side->notes = c->notes;
		side->n_notes = c->n_notes;
	}
	return side;
}

void keep_comparison_free(struct kept_comparison *kept)
{
	comparison_free(kept->comparison);
	for (size_t i = 0; i < kept->n; i++)
		kept_run_free(&kept->runs[i]);
	free(kept->runs);
	*kept = (struct kept_comparison){0};
}

/* Are the runs all of the comparison's, in its order? */
static bool is_whole(const struct kept_comparison *kept)
{
	for (size_t i = 0; i < kept->n; i++) {
		const struct kept_side *side = kept->runs[i].side;
		if (!side || side->at != i || side->of != kept->n || side->n_rows != kept->runs[0].side->n_rows)
			return false;
	}
	return kept->n >= 2;
}

static bool damaged(struct error *err)
{
	return error_set(err, ERROR_SYNTAX, "damaged: what a comparison found does not go with its runs");
}

/* What was found then stands in the place of what would be found now. */
static bool put_back(struct comparison *c, const struct kept_comparison *kept, struct error *err)
{
	const struct kept_side *first = kept->runs[0].side;
	if (c->n_rows != first->n_rows)
		return damaged(err);
	for (size_t i = 0; i < c->n; i++)
		for (size_t r = 0; r < c->n_rows; r++) {
			const struct kept_compared *row = &kept->runs[i].side->rows[r];
			struct compared *to = &c->rows[r].commands[i];
			const struct estimate *estimate = to->estimate;
			bool both = estimate && estimate->known && c->rows[r].commands[0].estimate &&
				    c->rows[r].commands[0].estimate->known;
			if (strcmp(row->event, c->rows[r].event) != 0 || (row->found.has_numbers && !both))
				return damaged(err);
			*to = row->found;
			to->estimate = estimate;
		}
	for (size_t i = 0; i < first->n_gates; i++)
		if (first->gates[i].command >= c->n)
			return damaged(err);
	c->seed = first->seed;
	c->repetitions = first->repetitions;
	c->tests = first->tests;
	c->interrupted = first->interrupted;
	c->interleaved = !first->apart;
	c->layout = first->layout;
	c->shows_misleading = first->shows_misleading;
	c->gates = first->gates;
	c->n_gates = first->n_gates;
	c->notes = first->notes;
	c->n_notes = first->n_notes;
	return true;
}

/* Of another version's comparison its first note, as keep_load() has it of a run. */
static bool tell_version(struct kept_comparison *kept)
{
	struct comparison *c = kept->comparison;
	const struct kept_run *first = &kept->runs[0];
	struct result_note *notes = arena_alloc(&c->arena, (c->n_notes + 1) * sizeof *notes);
	if (strcmp(first->tare_version, TARE_VERSION) == 0)
		return true;
	if (!notes)
		return false;
	notes[0] = (struct result_note){keep_version_text(&c->arena, first->tare_version), NOTE_ACT};
	if (c->n_notes)
		memcpy(notes + 1, c->notes, c->n_notes * sizeof *notes);
	c->notes = notes;
	c->n_notes++;
	return notes[0].text != NULL;
}

static bool put_together(struct kept_comparison *kept, struct error *err)
{
	const struct result **results = calloc(kept->n, sizeof(struct result *));
	const char **names = calloc(kept->n, sizeof *names);
	bool done = (results && names) || error_no_memory(err);
	for (size_t i = 0; i < kept->n && done; i++) {
		results[i] = kept->runs[i].result;
		names[i] = kept->runs[i].side->name;
	}
	if (done)
		kept->comparison = session_compare_results(results, names, kept->n,
							   kept->runs[0].result->confidence, err);
	done = done && kept->comparison && put_back(kept->comparison, kept, err) &&
	       (tell_version(kept) || error_no_memory(err));
	free(results);
	free(names);
	return done;
}

static bool load_runs(struct runs *runs, const struct kept_run *run, struct kept_comparison *out,
		      struct error *err)
{
	int64_t ids[SIDES_MOST];
	size_t n;
	if (!runs_of_comparison(runs, run->comparison, ids, SIDES_MOST, &n, err))
		return false;
	if (!(out->runs = calloc(n + 1, sizeof *out->runs)))
		return error_no_memory(err);
	for (; out->n < n; out->n++)
		if (!runs_load(runs, ids[out->n], &out->runs[out->n], err))
			return false;
	return true;
}

bool keep_load_comparison(const struct keeping *keeping, const struct kept_run *run, struct kept_comparison *out,
			  struct error *err)
{
	struct runs *runs;
	*out = (struct kept_comparison){0};
	if (!run->side || !run->comparison)
		return true;
	if (!keep_open(keeping, RUNS_READ, &runs, err))
		return false;
	bool done = load_runs(runs, run, out, err), whole = done && is_whole(out);
	keep_close(keeping, runs);
	if (whole && put_together(out, err))
		return true;
	keep_comparison_free(out);
	return done && !whole;
}
