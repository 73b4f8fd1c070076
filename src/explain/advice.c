#include "explain/advice_rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of all instructions: events whose cost is not known are worth a word from here on. */
static const double OFTEN = 0.01;
static const double FAULTS_OF_A_PAGE = 2;

const char *advice_grouped(double count, char text[COUNT_BYTES])
{
	char digits[COUNT_BYTES];
	int n = snprintf(digits, sizeof digits, "%.0f", fmin(count, 1e18)), at = 0;
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	return text;
}

double advice_typical(const struct giving *g, enum cost_operation operation)
{
	const struct cost *cost = g->facts->costs ? &g->facts->costs->of[operation] : NULL;
	if (!cost || !cost->known)
		return NAN;
	return !isnan(cost->typical) ? cost->typical : !isnan(cost->most) ? cost->most : cost->least;
}

double advice_count(const struct giving *g, enum evidence kind)
{
	return evidence_count(g->evidence, g->row, kind);
}

bool advice_is_worth(double seconds, double of)
{
	return seconds >= ADVICE_SHARE * of && seconds >= ADVICE_SECONDS;
}

bool advice_is_often(const struct giving *g, double count) { return count >= OFTEN * g->instructions; }

static const char no_lines[] = "its code has no line numbers: compile it with -g";

void advice_say_at(struct giving *g, const char *rule, double seconds, const char *text, const char *evidence,
		   const struct advice_line *line)
{
	struct arena *arena = &g->e->arena;
	struct explained_advice new = {
		.rule = rule, .seconds = seconds, .share = seconds / g->whole, .text = text};
	new.evidence = evidence;
	new.of_function = g->row && !g->row->line;
	if (g->row && *g->row->function)
		new.function = arena_strdup(arena, g->row->function);
	if (line->file && line->line) {
		new.line = line->line;
		new.file = arena_strdup(arena, line->file);
	} else {
		new.why_no_line = arena_strdup(arena, line->why_none ? line->why_none : no_lines);
	}
	if (!text || !evidence || (g->row && *g->row->function && !new.function) ||
	    (!new.file && !new.why_no_line) || !vec_push(&g->e->advice, new))
		g->failed = true;
}

struct advice_line advice_line_of(const struct evidence_row *row)
{
	return row ? (struct advice_line){row->file, row->line, NULL} : (struct advice_line){0};
}

void advice_say(struct giving *g, const char *rule, double seconds, const char *text, const char *evidence)
{
	const struct advice_line line = advice_line_of(g->row);
	advice_say_at(g, rule, seconds, text, evidence, &line);
}

const struct evidence_row *advice_most(const struct giving *g, enum evidence kind, const char *function)
{
	const struct evidence_row *most = NULL;
	double of_most = 0;
	for (size_t i = 0; i < g->evidence->rows.count; i++) {
		const struct evidence_row *row = &g->evidence->rows.items[i];
		double of = evidence_count(g->evidence, row, kind);
		if (!row->file || !row->line || !(of > of_most) ||
		    (function && strcmp(row->function, function) != 0))
			continue;
		most = row;
		of_most = of;
	}
	return most;
}

/* ---- of the whole program ---- */

static double cause_seconds(const struct explanation *e, enum cause cause)
{
	return e->causes[cause].known ? e->causes[cause].seconds.typical : NAN;
}

static double whole_of(const struct explanation *e) { return e->has_measured ? e->total_s : e->sum_typical; }
static double busy_of(const struct explanation *e) { return e->has_measured ? e->cpu_s : e->sum_typical; }

bool advice_wants_waits(const struct explanation *e)
{
	return advice_is_worth(cause_seconds(e, CAUSE_LOCKS), whole_of(e)) ||
	       advice_is_worth(cause_seconds(e, CAUSE_FAULTS), busy_of(e));
}

/* Is the same memory faulted in again and again? Each page may fault twice: it is read first, which maps the
 * kernel's page of zeroes, and written then. */
enum touching { TOUCHED_ONCE, TOUCHED_AGAIN, TOUCHED_UNKNOWN };

static enum touching touching(const struct memory_seen *m, double faults, double page)
{
	/* what came after the last look may be anything */
	if (!(m->faults >= ADVICE_MOST * faults))
		return TOUCHED_UNKNOWN;
	if (m->faults * page > FAULTS_OF_A_PAGE * m->mapped_most_bytes)
		return TOUCHED_AGAIN;
	/* tables that map little say little */
	bool dense = m->faults * page >= ADVICE_MOST * m->tables_bytes;
	double seen = dense ? fmax(m->resident_most_bytes, m->tables_bytes) : m->resident_most_bytes;
	return m->faults * page <= FAULTS_OF_A_PAGE * seen ? TOUCHED_ONCE : TOUCHED_UNKNOWN;
}

static void faults(struct giving *g)
{
	const struct explained_cause *cause = &g->e->causes[CAUSE_FAULTS];
	const struct memory_seen *memory = &g->facts->memory;
	double seconds = cause_seconds(g->e, CAUSE_FAULTS), page = g->facts->page_bytes;
	if (!advice_is_worth(seconds, g->busy) || cause->n_parts == 0 || isnan(memory->faults))
		return;
	double count = cause->parts[0].count;
	const char *evidence = arena_printf(&g->e->arena,
					    "%s page faults, for %.1f MB; at most %.1f MB were resident at once "
					    "(pages that are only read are not), of %.1f MB of addresses.",
					    GROUPED(count), count * page / 1e6, memory->resident_most_bytes / 1e6,
					    memory->mapped_most_bytes / 1e6);
	switch (touching(memory, count, page)) {
	case TOUCHED_AGAIN:
		advice_say_at(
			g, "memory-again", seconds,
			"Reuse the memory instead of giving it back: the kernel clears and maps the same pages "
			"again and again.",
			evidence, &g->facts->faulting);
		break;
	case TOUCHED_ONCE:
		advice_say_at(g, "first-touch", seconds,
			      "Touch less memory, or ask for huge pages (madvise(2), MADV_HUGEPAGE): the time is "
			      "that of first touches.",
			      evidence, &g->facts->faulting);
		break;
	case TOUCHED_UNKNOWN:
		advice_say_at(g, "page-faults", seconds,
			      "Find the lines that touch memory ('tare explain --waits' has page faults by line). "
			      "Whether they touch new memory or the same again, these counts do not tell: reuse "
			      "memory that is given back; touch less, or ask for huge pages (madvise(2), "
			      "MADV_HUGEPAGE).",
			      evidence, &g->facts->faulting);
		break;
	}
}

static void locks(struct giving *g)
{
	double seconds = cause_seconds(g->e, CAUSE_LOCKS);
	if (advice_is_worth(seconds, g->whole))
		advice_say_at(
			g, "lock-waiting", seconds,
			"Hold the lock for a shorter time, or divide what it protects: threads wait for each "
			"other.",
			arena_printf(&g->e->arena,
				     "Threads waited %.3g s for locks, of %.3g s of all threads together.",
				     seconds, g->whole),
			&g->facts->waiting);
}

static int by_time(const void *a, const void *b)
{
	const struct explained_advice *x = a, *y = b;
	/* what has no time comes last */
	double a_s = isnan(x->seconds) ? -1 : x->seconds, b_s = isnan(y->seconds) ? -1 : y->seconds;
	return (a_s < b_s) - (a_s > b_s);
}

static double instructions_of(const struct explanation *e)
{
	const struct explained_cause *computing = &e->causes[CAUSE_COMPUTING];
	return computing->n_parts && computing->parts[0].counted ? computing->parts[0].count : NAN;
}

bool advice_wants_locking(const struct explanation *e, const struct evidence_rows *evidence)
{
	double all = evidence_sum(evidence, EVIDENCE_LOCKED);
	return all > 0 && all >= OFTEN * instructions_of(e);
}

/* Does it have a first part without a cost, that is often enough to be worth a word? */
static bool often_without_cost(const struct explanation *e, enum cause cause)
{
	const struct explained_cause *of = &e->causes[cause];
	return of->n_parts && of->parts[0].counted && isnan(of->parts[0].seconds.typical) &&
	       of->parts[0].count >= OFTEN * instructions_of(e);
}

struct evidence_wish advice_wish(const struct explanation *e, unsigned levels)
{
	double least = fmax(ADVICE_SHARE * busy_of(e), ADVICE_SECONDS), data = 0;
	struct evidence_wish wish = {.levels = levels};
	for (unsigned c = CAUSE_L2; c <= CAUSE_MEMORY; c++)
		data += e->causes[c].known ? cause_seconds(e, (enum cause)c) : 0;
	wish.caches = data >= least;
	wish.tlb = cause_seconds(e, CAUSE_TLB) >= least;
	wish.computing = cause_seconds(e, CAUSE_COMPUTING) >= least;
	wish.branches = cause_seconds(e, CAUSE_BRANCHES) >= least || often_without_cost(e, CAUSE_BRANCHES);
	wish.sharing = wish.caches && (!e->has_measured || e->threads_most > 1);
	return wish;
}

bool advice_give(struct explanation *e, const struct evidence_rows *evidence,
		 const struct evidence_rows *functions, const struct advice_facts *facts, struct error *err)
{
	struct giving g = {.e = e,
			   .evidence = evidence,
			   .functions = functions,
			   .facts = facts,
			   .whole = whole_of(e),
			   .busy = busy_of(e),
			   .instructions = instructions_of(e)};
	for (size_t i = 0; i < evidence->rows.count; i++) {
		g.row = &evidence->rows.items[i];
		advice_on_memory(&g);
		advice_on_branches(&g);
		advice_on_conversions(&g);
	}
	g.row = NULL;
	faults(&g);
	locks(&g);
	advice_on_computing(&g);
	if (!e->advice.count)
		advice_on_most_work(&g);
	if (e->advice.count)
		qsort(e->advice.items, e->advice.count, sizeof *e->advice.items, by_time);
	return !g.failed || error_no_memory(err);
}
