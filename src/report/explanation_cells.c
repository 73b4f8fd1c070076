#include "report/explanation_cells.h"

#include <math.h>

#include "report/profile_rows.h"

void explained_push(struct document *d, struct columns *columns, const struct columns_row *row)
{
	if (!vec_push(&columns->rows, *row))
		d->failed = true;
}

double explained_time(const struct bounded *seconds)
{
	if (!isnan(seconds->typical))
		return seconds->typical;
	return !isnan(seconds->most) ? seconds->most : seconds->least;
}

const char *explained_time_cell(struct document *d, double seconds)
{
	static const struct {
		double least, factor;
		const char *unit;
	} units[] = {{1, 1, "s"}, {1e-3, 1e3, "ms"}, {1e-6, 1e6, "\u00b5s"}, {0, 1e9, "ns"}};
	if (isnan(seconds))
		return "-";
	if (seconds == 0)
		return "0 s";
	size_t i = 0;
	while (seconds < units[i].least * 0.9995)
		i++;
	double shown = seconds * units[i].factor;
	return document_printf(d, "%.*f %s", shown < 9.995 ? 2 : shown < 99.95 ? 1 : 0, shown, units[i].unit);
}

const char *explained_percent(struct document *d, double part)
{
	if (isnan(part))
		return "-";
	return document_printf(d, "%.*f %%", part < 0.0995 ? 1 : 0, 100 * part);
}

bool explained_lacks_cost(const struct explanation *e, enum cause cause)
{
	bool waits = cause == CAUSE_L2 || cause == CAUSE_L3 || cause == CAUSE_MEMORY || cause == CAUSE_TLB ||
		     cause == CAUSE_BRANCHES;
	for (size_t i = 0; waits && i < e->causes[cause].n_parts; i++) {
		const struct explained_part *part = &e->causes[cause].parts[i];
		if (part->counted && part->count > 0 && isnan(explained_time(&part->cost)))
			return true;
	}
	return false;
}

bool explained_sum_lacks_costs(const struct explanation *e)
{
	for (unsigned c = 0; c < CAUSES_COUNTED; c++)
		if (explained_lacks_cost(e, (enum cause)c))
			return !e->has_measured;
	return false;
}

double explained_whole(const struct explanation *e) { return e->has_measured ? e->total_s : e->sum_typical; }

void explained_append_command(struct str *out, const char *const *command)
{
	for (const char *const *word = command; *word; word++) {
		str_append(out, word == command ? "" : " ");
		profile_append_escaped(out, *word);
	}
}
