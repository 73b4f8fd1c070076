/* The kept calibration, where it is one of this machine. */
#ifndef TARE_TRUST_CALIBRATION_HERE_H
#define TARE_TRUST_CALIBRATION_HERE_H

#include "result/result.h"
#include "store/calibration/calibration.h"

/* False: there is none that counts here. why[] says it ("" when none was ever made), and *c holds nothing. */
bool calibration_here(const struct machine_facts *facts, struct calibration *c, char *why, size_t why_bytes);

struct calibrated_machine calibrated_machine_of(const struct machine_facts *facts);

#endif
