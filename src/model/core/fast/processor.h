/*
 * Which vectors the processor that runs the model has, and the system keeps.
 *
 * Equals   no plain file asks: counts do not depend on it
 * For      all machines
 * Test     tests/model/run_test.c, tests/model/inline_test.c, tests/model/branches_test.c: with and without
 *          vectors
 */
#ifndef TARE_MODEL_CORE_FAST_PROCESSOR_H
#define TARE_MODEL_CORE_FAST_PROCESSOR_H

/* Each has what those before it have. */
enum vectors { VECTORS_NONE, VECTORS_AVX2, VECTORS_AVX512 /* F, DQ, BW, VL; BMI1 and 2 */ };

enum vectors vectors_here(void);

#endif
