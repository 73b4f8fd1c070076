/* The facts of this machine as members of the JSON object that is open. */
#ifndef TARE_REPORT_MACHINE_JSON_H
#define TARE_REPORT_MACHINE_JSON_H

#include "report/json_writer.h"
#include "result/result.h"

void machine_json(struct json *json, const struct machine_facts *facts);

#endif
