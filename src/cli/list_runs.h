/* tare list runs: the runs that were kept, the newest first. */
#ifndef TARE_CLI_LIST_RUNS_H
#define TARE_CLI_LIST_RUNS_H

#include <stdbool.h>
#include <stdio.h>

#include "report/json_writer.h"
#include "session/keep.h"

struct run_listing {
	struct keeping keeping;
	bool verbose, names, all;
	struct json *json;  /* NULL: text */
	char *const *words; /* a row must have each of them */
	int n_words;
	bool colour;
	size_t width;
};

/* Prints; *shown: how many rows. */
bool list_runs(const struct run_listing *listing, size_t *shown, struct error *err);

/* Columns of standard output; where it is not a terminal, commands are not shortened. */
size_t list_runs_width(void);

/* A name as a table of that width has it. NULL: there is none, or memory ran out. */
const char *list_name_cell(struct arena *arena, const char *name, size_t width);

/* The table alone, of rows[n]. False: memory ran out. */
bool list_runs_table(FILE *out, const struct listed_run *rows, size_t n, size_t width, bool colour);

/* "12 runs, 3.4 MB" */
void list_runs_sum(char *text, size_t size, size_t runs, uint64_t bytes);

#endif
