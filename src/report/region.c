#include "report/region.h"
#include "result/result.h"

static const char *times(uint64_t n) { return n == 1 ? "" : "s"; }

const char *region_kind_name(enum region_kind kind)
{
	static const char *const names[] = {"function", "code", "library"};
	return names[kind];
}

void region_append_passes(struct str *text, const struct region_row *row)
{
	if (row->why && row->least)
		str_appendf(text, "entered at least %llu time%s", (unsigned long long)row->least,
			    times(row->least));
	else if (row->why)
		str_append(text, "how often it was entered is not known");
	else if (row->entries == 0 && row->exits == 0)
		str_append(text, "never entered");
	else if (row->entries == row->exits)
		str_appendf(text, "entered %llu time%s", (unsigned long long)row->entries, times(row->entries));
	else
		str_appendf(text, "entered %llu time%s and left %llu time%s", (unsigned long long)row->entries,
			    times(row->entries), (unsigned long long)row->exits, times(row->exits));
}

/* The engine sees at which instruction a region was left, however; probes see only the ends that they are at. "":
 * nothing is counted. */
static const char *what_counts(const struct region_row *row)
{
	for (size_t i = 0; i < row->n_estimates; i++)
		if (row->estimates[i].known)
			return row->estimates[i].source == SOURCE_EXACT || row->estimates[i].source == SOURCE_MODEL
				       ? ": the counts include what ran up to there"
				       : ": the counts include only passes whose end was seen";
	return "";
}

void region_append_trouble(struct str *text, const struct region_row *row)
{
	if (row->why || !row->unbalanced)
		return;
	if (row->exits > row->entries) { /* some thread's: it ended what it had not begun */
		str_appendf(
			text,
			"it was left more often than it was entered: an end without a beginning counts nothing");
		return;
	}
	str_appendf(text,
		    "in %llu of %llu thread%s it was not left as it was entered (a longjmp, an exception, a "
		    "thread's end inside)%s",
		    (unsigned long long)row->unbalanced,
		    (unsigned long long)(row->threads > row->unbalanced ? row->threads : row->unbalanced),
		    times(row->threads > row->unbalanced ? row->threads : row->unbalanced), what_counts(row));
}
