/* Which members of which records the store keeps, and in which columns. A member that is new in a record is added
 * here and in schema.c, in a migration of its own. */
#ifndef TARE_STORE_RUNS_RECORDS_H
#define TARE_STORE_RUNS_RECORDS_H

#include "store/runs/fields.h"

struct record_fields {
	const struct field *fields;
	size_t n;
};

extern const struct record_fields kept_run_fields, /* of runs: struct kept_run … */
	result_fields,                             /* … and struct result */
	machine_fields,                            /* struct machine_facts */
	estimate_fields,                           /* struct estimate */
	outlier_fields,                            /* struct outlier */
	note_fields;                               /* struct result_note */

#endif
