/* Of perfex's listing: what perfex.c and perfex_statistics.c share. */
#ifndef TARE_COMPAT_PERFEX_LISTING_H
#define TARE_COMPAT_PERFEX_LISTING_H

#include <stdio.h>
#include <sys/types.h>

#include "event/perfex_event.h"
#include "explain/event_costs.h"
#include "result/result.h"

/* The rows of one listing: of the whole, or of one thread. */
struct perfex_rows {
	const struct result *result;
	enum perfex_machine machine;
	pid_t pid, tid; /* 0: the whole */
};

/* The row of perfex's event; NULL: it was not asked for. */
const struct estimate *perfex_row(const struct perfex_rows *rows, size_t event);
/* The name and its dots. */
void perfex_dots(FILE *out, const char *name);

/* ---- perfex_statistics.c ---- */

void perfex_print_statistics(FILE *out, const struct perfex_rows *rows);

#endif
