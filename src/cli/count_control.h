/* The FIFOs of `tare count --control`. */
#ifndef TARE_CLI_COUNT_CONTROL_H
#define TARE_CLI_COUNT_CONTROL_H

#include "base/error.h"
#include "measure/control.h"

/* text: "[fifo:]COMMANDS[,ANSWERS]", the paths of two FIFOs. Sets the descriptors; control_close() closes them. */
bool control_open(struct switching *control, const char *text, struct error *err);
void control_close(struct switching *control);

#endif
