/*
 * Places with names: events by function, by source line or by data object, sorted, with the check that nothing is
 * missing.
 *
 * What always holds:
 *  1. Every place is in exactly one row; a place without a name is in the row of its place ("prog+0x1149"), not in
 *     a neighbour's.
 *  2. An event's rows sum up to its total; if they do not, its `defect` says so: reports show it, and nothing is
 *     scaled to fit.
 *  3. By function: machine code's functions, so that what was inlined counts where it runs; by line: where it was
 *     written. Two functions of one name (static ones, in different files or modules) are two rows.
 */
#ifndef TARE_PROFILE_BREAKDOWN_H
#define TARE_PROFILE_BREAKDOWN_H

#include <stdbool.h>

#include "base/error.h"
#include "result/breakdown.h"
#include "result/locations.h"
#include "symbol/symbol.h"

/* *out is the caller's, to be freed by breakdown_free() and free(). Nothing of the locations or the symbols is
 * borrowed. inclusive: with what was called, by the locations' arcs. By function or line, and the locations have
 * arcs: breakdown_arcs_wrong() is NULL. */
bool breakdown_new(const struct locations *locations, struct symbols *symbols, enum breakdown_by by,
		   bool inclusive, struct breakdown **out, struct error *err);

/* Why there can be no inclusive counts: the arcs are not known, or those without a caller do not add up to an
 * event's total. A constant, the locations' own, or in text. NULL: there can. */
const char *breakdown_arcs_wrong(const struct locations *locations, char *text, size_t bytes);

#endif
