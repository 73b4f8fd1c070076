/* A metric at one level ("ipc:u"): its formula over its events at that level. So a user who may not count the
 * kernel still gets rates of the program's own part, under a name that says so. */
#ifndef TARE_SESSION_METRIC_LEVEL_H
#define TARE_SESSION_METRIC_LEVEL_H

#include <stddef.h>

#include "base/error.h"
#include "event/metric.h"

/* The length of the name before ":u", ":k", ":uk" or ":ku"; the whole name's where it has no level. */
size_t metric_level_at(const char *name);

/* Adds the metric under the name with the level (":u"); requests[i] stands in its formula where the metric has
 * metric_event(metric, i). NULL on failure. */
const struct metric *metric_at_level(struct metric_table *table, const struct metric *metric, const char *level,
				     const char *const *requests, struct error *err);

/* The same under any name. */
const struct metric *metric_renamed(struct metric_table *table, const struct metric *metric, const char *name,
				    const char *const *requests, struct error *err);

#endif
