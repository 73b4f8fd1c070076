#include "report/profile_check.h"

#include "report/profile_rows.h"

static const struct {
	const char *text, *name;
} verdicts[] = {
	[VERDICT_NONE] = {"", NULL},           [VERDICT_AGREES] = {"yes", "agrees"},
	[VERDICT_DEPENDS] = {"no", "depends"}, [VERDICT_VARIES] = {"runs differ", "varies"},
	[VERDICT_FEW] = {"too few", "few"},
};

const char *profile_verdict_text(enum named_verdict verdict) { return verdicts[verdict].text; }
const char *profile_verdict_name(enum named_verdict verdict) { return verdicts[verdict].name; }

void profile_append_runs(struct str *text, const struct profile *p, size_t event,
			 void (*append_amount)(struct str *text, double value, const char *unit))
{
	if (p->n_runs < 2)
		return;
	str_appendf(text, "%zu runs", p->n_runs);
	if (p->checks_gaps) {
		str_append(text, ", in turn with gaps of ");
		append_amount(text, (double)p->runs[0].gaps[event], p->events[event].unit);
		str_append(text, " and ");
		append_amount(text, (double)p->runs[1].gaps[event], p->events[event].unit);
	}
	str_append(text, ": ");
}

/* The first letter of a count's sentence: "1 line agrees", "3 lines agree" */
static void append_rows(struct str *text, size_t n, const char *what, const char *one, const char *many)
{
	if (n)
		str_appendf(text, "%s%zu %s%s %s", text->length ? "; " : "", n, what, n == 1 ? "" : "s",
			    n == 1 ? one : many);
}

static void add_dependent(struct document *d, const struct named_row *row, const struct named_check *check)
{
	struct str text = {0};
	profile_append_row_name(&text, row);
	str_appendf(&text, ": the share depends on the gap: %.1f%% at the first, %.1f%% at the second (p = %.2g)",
		    100 * check->first, 100 * check->second, check->p);
	document_add_str(d, BLOCK_NOTE, "!", &text, NULL);
}

void build_profile_check(struct document *d, size_t event, const struct named_row *const *rows, size_t n,
			 bool by_line)
{
	size_t counts[VERDICT_FEW + 1] = {0};
	const char *what = by_line ? "line" : "function";
	for (size_t i = 0; i < n; i++) {
		const struct named_check *check = rows[i]->counts[event].check;
		if (!check)
			continue;
		counts[check->verdict]++;
		if (check->verdict == VERDICT_DEPENDS)
			add_dependent(d, rows[i], check);
	}
	struct str text = {0};
	append_rows(&text, counts[VERDICT_AGREES], what, "agrees", "agree");
	append_rows(&text, counts[VERDICT_DEPENDS], what, "depends on the gap", "depend on the gap");
	append_rows(&text, counts[VERDICT_VARIES], what, "differs between runs with the same gap",
		    "differ between runs with the same gap");
	append_rows(&text, counts[VERDICT_FEW], what, "has too few samples to tell",
		    "have too few samples to tell");
	if (text.length)
		document_add_str(d, BLOCK_NOTE, "check", &text, NULL);
	else
		document_add(d, BLOCK_NOTE, "check",
			     "not possible: it takes two runs with samples at each of the two gaps");
	if (counts[VERDICT_DEPENDS])
		document_add(d, BLOCK_NOTE, "-",
			     "A loop in step with the gap is sampled at the same place each time. Sample with "
			     "random gaps (--gaps exponential), or with other gaps.");
}
