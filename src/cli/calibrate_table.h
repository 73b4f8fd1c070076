/* A calibration for a reader: Safford's Tables D.1 (the command) and D.2 (the library), the fits of Nieto's
 * section 4.5, the noise floors. */
#ifndef TARE_CLI_CALIBRATE_TABLE_H
#define TARE_CLI_CALIBRATE_TABLE_H

#include <stdio.h>

#include "trust/measure.h"

/* width: the terminal's columns, or what stands for them. */
void calibrate_table(FILE *out, const struct calibrating *c, size_t width);

/* The noise floors alone. */
void calibrate_floor_table(FILE *out, const struct calibration *c, size_t width);

#endif
