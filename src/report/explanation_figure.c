#include "report/explanation_figure.h"

#include <math.h>

#include "report/explanation_cells.h"
#include "report/stacked.h"

const char *explained_part_name(unsigned part)
{
	return part == EXPLAINED_UNEXPLAINED ? "unexplained" : cause_name((enum cause)part);
}

double explained_part_seconds(const struct explanation *e, unsigned part)
{
	double seconds = part == EXPLAINED_UNEXPLAINED ? e->unexplained_s
			 : e->causes[part].known       ? explained_time(&e->causes[part].seconds)
						       : 0;
	return seconds > 0 ? seconds : 0;
}

struct explained_unit explained_unit_of(double most)
{
	static const struct explained_unit units[] = {{1, "s"}, {1e3, "ms"}, {1e6, "\u00b5s"}, {1e9, "ns"}};
	size_t i = 0;
	while (i < 3 && most * units[i].factor < 0.9995)
		i++;
	return units[i];
}

/* n lines of all parts, those that are nowhere among them left out later. NULL: memory ran out. */
static struct stacked_figure *new_figure(struct document *d, const char *title, const char *const *names,
					 const double *seconds, size_t n)
{
	struct stacked_figure *f = arena_alloc(&d->arena, sizeof *f);
	struct stacked_part *parts = arena_alloc(&d->arena, EXPLAINED_PARTS * sizeof *parts);
	double *values = arena_alloc(&d->arena, (n ? n : 1) * EXPLAINED_PARTS * sizeof *values), most = 0;
	size_t n_parts = 0;
	if (!f || !parts || !values)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		double sum = 0;
		for (unsigned p = 0; p < EXPLAINED_PARTS; p++)
			sum += seconds[i * EXPLAINED_PARTS + p];
		most = fmax(most, sum);
	}
	for (unsigned p = 0; p < EXPLAINED_PARTS; p++) {
		bool somewhere = false;
		for (size_t i = 0; i < n; i++)
			somewhere |= seconds[i * EXPLAINED_PARTS + p] > 0;
		if (somewhere)
			parts[n_parts++] = (struct stacked_part){explained_part_name(p), p};
	}
	struct explained_unit unit = explained_unit_of(most);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n_parts; k++)
			values[i * n_parts + k] = unit.factor * seconds[i * EXPLAINED_PARTS + parts[k].look];
	*f = (struct stacked_figure){.title = title,
				     .y_label = title,
				     .unit = unit.name,
				     .categories = names,
				     .n = n,
				     .parts = parts,
				     .n_parts = n_parts,
				     .values = values,
				     .mark_name = "measured time",
				     .lying = true};
	return f;
}

void explained_add_causes_figure(struct document *d, const struct explanation *e)
{
	static const char *const names[] = {"all"};
	double seconds[EXPLAINED_PARTS], *mark = arena_alloc(&d->arena, sizeof *mark);
	for (unsigned p = 0; p < EXPLAINED_PARTS; p++)
		seconds[p] = explained_part_seconds(e, p);
	struct stacked_figure *f = mark ? new_figure(d, "Time by cause", names, seconds, 1) : NULL;
	if (f && e->has_measured) {
		*mark = e->total_s * explained_unit_of(fmax(e->total_s, e->sum_typical)).factor;
		f->marks = mark;
	}
	document_add_stacked(d, f);
}

void explained_add_places_figure(struct document *d, const struct explanation *e, const char *const *names,
				 size_t n)
{
	double seconds[EXPLAINED_PLACES_DRAWN * EXPLAINED_PARTS] = {0};
	const char **kept = arena_alloc(&d->arena, EXPLAINED_PLACES_DRAWN * sizeof *kept);
	if (n > EXPLAINED_PLACES_DRAWN)
		n = EXPLAINED_PLACES_DRAWN;
	for (size_t i = 0; kept && i < n; i++) {
		kept[i] = names[i];
		for (unsigned c = 0; c < CAUSES_COUNTED; c++)
			if (e->places[i].seconds[c] > 0)
				seconds[i * EXPLAINED_PARTS + c] = e->places[i].seconds[c];
	}
	document_add_stacked(d, kept ? new_figure(d, "Time by place and cause", kept, seconds, n) : NULL);
}
