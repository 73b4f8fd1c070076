/* perfex -t and -T: the table of costs that -y multiplies with. */
#ifndef TARE_CLI_PERFEX_COSTS_H
#define TARE_CLI_PERFEX_COSTS_H

#include <stdbool.h>

#include "base/error.h"

/* The machine of `--on model:NAME,...`, borrowed from a static buffer of its own; NULL: it is this one. */
const char *perfex_costs_machine(const char *on);

/* Prints the costs of a file, or (NULL) of the machine that would be counted: as a file for -c, or by event. */
bool perfex_print_costs(const char *file, const char *on, bool by_event, struct error *err);

#endif
