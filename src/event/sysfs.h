/* The kernel's own tables of PMUs, /sys/bus/event_source/devices; for the files of src/event/ only. */
#ifndef TARE_EVENT_SYSFS_H
#define TARE_EVENT_SYSFS_H

#include <stdbool.h>

#include "event/event.h"

/* Is name "pmu/term,term=value/" in form? The PMU and the terms may be unknown here. */
bool sysfs_check_form(const char *name, struct error *err);

/* Encodes such a name by the files under root. ERROR_UNSUPPORTED when this kernel has no such PMU or event. */
bool sysfs_encode(const char *name, const char *root, struct event_encoding *out, struct error *err);

#endif
