/* Which members of which records the store keeps, and in which columns. A member that is new in a record is added
 * here and in schema.c, in a migration of its own. */
#ifndef TARE_STORE_RUNS_RECORDS_H
#define TARE_STORE_RUNS_RECORDS_H

#include "result/result.h"
#include "store/runs/fields.h"

struct record_fields {
	const struct field *fields;
	size_t n;
};

/* What a run's row has of its breakdown. */
struct breakdown_head {
	enum breakdown_by by;
	size_t run, runs;
	bool inclusive;
};

/* A row of a breakdown, and how many counts it has: one for each event. So are its inclusive counts, or there
 * are 0. */
struct kept_breakdown_row {
	struct breakdown_row row;
	size_t n_counts, n_inclusive;
};

/* of the table `runs` */
extern const struct record_fields kept_run_fields, result_fields, breakdown_head_fields,
	side_fields /* struct kept_side */;
/* of `machines` */
extern const struct record_fields machine_fields;
/* of the tables of their names */
extern const struct record_fields estimate_fields, outlier_fields, note_fields, region_fields,
	breakdown_event_fields, breakdown_row_fields /* struct kept_breakdown_row */, breakdown_frame_fields,
	compared_fields /* struct kept_compared */, gate_fields;

#endif
