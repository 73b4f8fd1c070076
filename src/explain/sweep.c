#include <math.h>

#include "result/explained_sweep.h"

void explained_sweep_free(struct explained_sweep *sweep)
{
	for (size_t i = 0; i < sweep->n; i++)
		explanation_free(&sweep->points[i].explanation);
	arena_free(&sweep->arena);
	*sweep = (struct explained_sweep){0};
}

double explained_sweep_speedup(const struct explained_sweep *sweep, size_t point)
{
	const struct explanation *first = &sweep->points[0].explanation, *e = &sweep->points[point].explanation;
	if (!first->has_measured || !e->has_measured || !(e->elapsed_s > 0))
		return NAN;
	return first->elapsed_s / e->elapsed_s;
}
