/* The passes by which the calls' own counts are found: by `tare calibrate` (kernels/regions.c) and again in each
 * process that is counted (calibration.c). One text for both, so that what the compiler puts around the calls is
 * the same. */
#ifndef TARE_API_CALIBRATION_PASSES_H
#define TARE_API_CALIBRATION_PASSES_H

#include "tare.h"

static struct tare_region *around, *other;

/* once in the program, as they are called */
#if defined(__clang__)
#define PASS __attribute__((noinline)) static void
#else
#define PASS __attribute__((noinline, noclone)) static void
#endif

PASS empty_pass(void)
{
	tare_region_begin(around);
	tare_region_end(around);
}

PASS enter_pass(void)
{
	tare_region_begin(around);
	tare_region_begin(other);
	tare_region_end(around);
	tare_region_end(other);
}

PASS leave_pass(void)
{
	tare_region_begin(other);
	tare_region_begin(around);
	tare_region_end(other);
	tare_region_end(around);
}

#endif
