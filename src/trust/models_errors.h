/* Errors of a model over programs, from what both counted. Pure: numbers in, numbers out. */
#ifndef TARE_TRUST_MODELS_ERRORS_H
#define TARE_TRUST_MODELS_ERRORS_H

#include "result/models_study.h"

/* Sets state and error of a pair whose counts are there; one that is MODELS_UNKNOWN stays as it is. */
void models_pair_judge(struct models_pair *pair);

/* Sums up the programs' pairs of each event: all but label and trust of study->events. False when memory ran
 * out. */
bool models_sum_up(struct models_study *study);

#endif
