/* Which vectors the processor that runs the model has, and the system keeps. Counts do not depend on it. */
#ifndef TARE_MODEL_CORE_FAST_PROCESSOR_H
#define TARE_MODEL_CORE_FAST_PROCESSOR_H

/* Each has what those before it have. */
enum vectors { VECTORS_NONE, VECTORS_AVX2, VECTORS_AVX512 /* F, DQ, BW, VL; BMI1 and 2 */ };

enum vectors vectors_here(void);

#endif
