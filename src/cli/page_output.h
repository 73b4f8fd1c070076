/* What commands share that write a report as a page: where pages may go, and where their numbers come from. */
#ifndef TARE_CLI_PAGE_OUTPUT_H
#define TARE_CLI_PAGE_OUTPUT_H

#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"
#include "report/origin.h"
#include "session/keep.h"

/* A page on a terminal is of use to nobody: false. path: -o's file; NULL: the report goes to `standard`. */
bool page_check(const char *path, FILE *standard, struct error *err);

/* Of a kept run: texts are the run's and the arena's. */
void page_origin_of(const struct kept_run *run, struct arena *arena, struct report_origin *origin);
/* Of what was measured now. */
void page_origin_here(struct arena *arena, struct report_origin *origin);

#endif
