/* Gross, tare and net of each event (`tare count --gross`), below the table. */
#ifndef TARE_REPORT_GROSS_H
#define TARE_REPORT_GROSS_H

#include <stdio.h>

#include "report/report.h"

void gross_text(FILE *out, const struct result *result, const struct report_options *options);

#endif
