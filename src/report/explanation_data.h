/* An explanation as a part of a larger JSON or CSV. */
#ifndef TARE_REPORT_EXPLANATION_DATA_H
#define TARE_REPORT_EXPLANATION_DATA_H

#include <stdio.h>

#include "report/json_writer.h"
#include "result/explanation.h"

/* The object, as docs/explanation.schema.json has it; key NULL: in an array, or at the top. */
void explanation_write_json(struct json *json, const char *key, const struct explanation *e);

/* with_value: there is a last column for a parameter's value. */
void explanation_write_csv_head(FILE *out, bool with_value);
/* value NULL: there is no such column. */
void explanation_write_csv(FILE *out, const struct explanation *e, const char *value);

#endif
