/* -P and -F of `tare count`. */
#ifndef TARE_CLI_COUNT_PARAMETERS_H
#define TARE_CLI_COUNT_PARAMETERS_H

#include "cli/count_options.h"
#include "compat/parameters.h"

/* Reads the file and the assignments that are asked for into parameters (parameters_init() was called); what the
 * command line does not say, they decide in *request. Writes their warnings and their dump. */
bool count_parameters_read(struct count_request *request, struct parameters *parameters, struct error *err);

/* The words of the parameter `command`, as parameters_command() has them. A program without a slash in its name
 * that is not in PATH and is in the current directory is that one: run_p5mon found it there (Safford, 5.2). */
char *const *count_parameters_program(struct parameters *parameters);

#endif
