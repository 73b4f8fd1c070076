/* The CPU that --reproducible shows to a program: --cpu LEVEL. */
#ifndef TARE_CLI_SHOWN_CPU_H
#define TARE_CLI_SHOWN_CPU_H

#include <stdbool.h>

#include "base/error.h"

#define SHOWN_CPU "x86-64-v3" /* what most machines in use have: the same counts on all of them */

/* *out: one of the levels, or "host"; static. */
bool shown_cpu_parse(const char *value, const char **out, struct error *err);

#endif
