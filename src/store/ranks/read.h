/*
 * A result as JSON (`tare count --json`, docs/result.schema.json) becomes a record again, as far as results of
 * several processes are added up: estimates, metrics, regions, notes, the command, where and how it ran. Left out:
 * breakdowns, outliers, the values of single repetitions.
 *
 * The file may come from anywhere. What always holds of what is read:
 *  1. It is JSON (RFC 8259) of version 1; every member that is used has its type, and numbers are finite.
 *  2. Names of events, units and hosts have no control characters and at most READ_WORD_BYTES; there are at most
 *     READ_ROWS_MOST estimates.
 *  3. A count that is null is not known and has a reason; one that is known has a source.
 */
#ifndef TARE_STORE_RANKS_READ_H
#define TARE_STORE_RANKS_READ_H

#include "base/error.h"
#include "result/job.h"

enum {
	READ_BYTES_MOST = 64 << 20, /* of one file */
	READ_ROWS_MOST = 10000,     /* estimates of one result */
	READ_WORD_BYTES = 250,      /* a table's cell (report/document.h) */
};

/* name: of the file, for messages. On success *out is the caller's (result_free()), and place's texts are in its
 * arena; place->launcher is NULL for a result that is of no rank. ERROR_SYNTAX: it is not such a result. */
bool read_result(const char *text, size_t length, const char *name, struct result **out, struct rank_place *place,
		 struct error *err);

#endif
