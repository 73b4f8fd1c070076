/* perfex -y's statistics of counts (IRIX perfex(1)). Its times are in explain/event_costs.c.
 *
 * An event is looked for by its number, so that the R12000's other names do not matter. What one needs and was not
 * counted is named; nothing is taken for 0. */
#include <stdio.h>
#include <string.h>

#include "compat/perfex_listing.h"

enum { TERMS = 2 };
struct statistic {
	const char *name;
	/* (over[0] + over[1] - less) / (below[0] + below[1]): numbers of events plus one; 0: none */
	unsigned over[TERMS], less, below[TERMS];
};

/* In perfex's words. Lines are reused (L + S - M) / M times; the second level's accesses are the first level's
 * misses. */
static const struct statistic statistics[] = {
	{"Graduated instructions/cycle", {16}, 0, {1}},
	{"Graduated floating point instructions/cycle", {22}, 0, {1}},
	{"Graduated loads & stores/cycle", {19, 20}, 0, {1}},
	{"Graduated loads & stores/floating point instruction", {19, 20}, 0, {22}},
	{"Mispredicted branches/Decoded branches", {25}, 0, {7}},
	{"Graduated loads/Issued loads", {19}, 0, {3}},
	{"Graduated stores/Issued stores", {20}, 0, {4}},
	{"L1 Cache Line Reuse", {19, 20}, 26, {26}},
	{"L2 Cache Line Reuse", {26}, 27, {27}},
	{"L1 Data Cache Hit Rate", {19, 20}, 26, {19, 20}},
	{"L2 Data Cache Hit Rate", {26}, 27, {26}},
};

/* The event's count; false: not known. */
static bool count_of(const struct perfex_rows *rows, unsigned number, double *count)
{
	const struct estimate *e = perfex_row(rows, number - 1);
	*count = e && e->known ? e->value : 0;
	return e && e->known;
}

static const char *missing_of(const struct perfex_rows *rows, unsigned number)
{
	double count;
	return number && !count_of(rows, number, &count) ? perfex_event_of(rows->machine, number - 1)->listed
							 : NULL;
}

static void print_statistic(FILE *out, const struct perfex_rows *rows, const struct statistic *s)
{
	double over = 0, below = 0, count;
	const char *missing = missing_of(rows, s->less);
	for (unsigned i = 0; i < TERMS && !missing; i++) {
		missing = missing_of(rows, s->over[i]);
		missing = missing ? missing : missing_of(rows, s->below[i]);
		if (!missing && s->over[i] && count_of(rows, s->over[i], &count))
			over += count;
		if (!missing && s->below[i] && count_of(rows, s->below[i], &count))
			below += count;
	}
	if (!missing && s->less && count_of(rows, s->less, &count))
		over -= count;
	perfex_dots(out, s->name);
	if (missing)
		fprintf(out, " not known: '%s' was not counted\n", missing);
	else if (below == 0)
		fputs(" not known: a division by 0\n", out);
	else
		fprintf(out, " %15.6f\n", over / below);
}

void perfex_print_statistics(FILE *out, const struct perfex_rows *rows)
{
	fputs("\nStatistics\n", out);
	for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++)
		print_statistic(out, rows, &statistics[i]);
}
