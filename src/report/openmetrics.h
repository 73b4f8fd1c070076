/* Counts as text for Prometheus and what reads its formats: OpenMetrics 1.0 (openmetrics.io), and the older
 * text format 0.0.4 (prometheus.io, "Exposition formats").
 *
 *     # TYPE tare_page_faults counter
 *     # HELP tare_page_faults page-faults, in faults
 *     tare_page_faults_total{event="page-faults",source="os"} 17
 *     # TYPE tare_event_counted gauge
 *     tare_event_counted{event="cycles",source="none",why="…"} 0
 *     # EOF
 *
 * 1. What was not counted has no sample: it is not 0. Its tare_event_counted is 0, with the reason.
 * 2. A family has one name, TYPE, UNIT and HELP, and its samples stand together; no two have the same
 *    labels. Events whose names become the same (what is neither letter nor digit becomes '_') are told
 *    apart by the label "event".
 * 3. Times are in seconds, shares are ratios (base units of both formats): the family's name ends in its
 *    unit.
 * 4. Events are counters, but for a peak and for means of several repetitions, which are gauges. Metrics
 *    are gauges (tare_metric_…). Counts of regions are families of their own (tare_region_…): they are part
 *    of the program's.
 * 5. Where there are rows of CPUs, processes or threads, the total is left out: the rows add up to it.
 * 6. A label's value is UTF-8: other bytes become U+FFFD.
 */
#ifndef TARE_REPORT_OPENMETRICS_H
#define TARE_REPORT_OPENMETRICS_H

#include <stdbool.h>
#include <stdio.h>

#include "result/result.h"

enum metrics_dialect { METRICS_OPEN, METRICS_TEXT_004 };

/* False when memory ran out: then nothing was written. */
bool report_openmetrics(FILE *out, const struct result *result, enum metrics_dialect dialect);

#endif
