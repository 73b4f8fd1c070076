/* libhpm's calls (IBM's HPM Toolkit) over tare's regions: a program that is instrumented with hpmInit(),
 * hpmStart(), hpmStop() and hpmTerminate() is recompiled with this header instead of libhpm.h, and linked with
 * -ltare.
 *
 * What differs from libhpm:
 * - Events come from TARE_EVENTS, not from HPM_EVENT_SET; without it nothing is counted. The report is written at
 *   exit, not by hpmTerminate(): see tare.h.
 * - A region is its label: what is started by the same label under two numbers is one region. hpmStop() ends what
 * was started last by its number; threads that are in different regions at the same time want numbers of their
 * own, as with libhpm.
 * - A region's instructions have what hpmStop() does before it ends, an instruction or two.
 * - hpmStop() of a number that was not started is a region "hpmStop(N)" in the report, left and never entered.
 *
 * GNU C99 and C++. */
/* SPDX-License-Identifier: MIT */
#ifndef TARE_HPM_H
#define TARE_HPM_H

#include <stdio.h>

#include "tare.h"

enum { TARE_HPM_MOST = 1000 }; /* numbers of regions: 0 to 999 */

#ifdef __cplusplus
extern "C" {
#endif
/* What was started by each number. One for all files of the program that include this. */
__attribute__((weak)) struct tare_region *tare_hpm_started_[TARE_HPM_MOST];
#ifdef __cplusplus
}
#endif

static inline void hpmInit(int task, const char *program)
{
	(void)task;
	(void)program;
}

static inline void hpmTerminate(int task) { (void)task; }

TARE_INLINE_ void hpmStart(int number, const char *label)
{
	struct tare_region *region;
	if (!TARE_REGIONS_ON_(-1))
		return;
	region = tare_region(label, NULL);
	if (number >= 0 && number < TARE_HPM_MOST)
		__atomic_store_n(&tare_hpm_started_[number], region, __ATOMIC_RELEASE);
	tare_region_begin(region);
}

TARE_INLINE_ void hpmStop(int number)
{
	struct tare_region *region = NULL;
	if (number >= 0 && number < TARE_HPM_MOST)
		TARE_MARK_LEAVE_(tare_hpm_started_[number]);
	if (!TARE_REGIONS_ON_(-1))
		return;
	if (number >= 0 && number < TARE_HPM_MOST)
		region = __atomic_load_n(&tare_hpm_started_[number], __ATOMIC_ACQUIRE);
	if (region && !TARE_REGIONS_ON_(TARE_REGIONS_HERE_))
		return; /* the mark did it */
	if (!region) {
		char name[32];
		snprintf(name, sizeof name, "hpmStop(%d)", number);
		region = tare_region(name, NULL);
	}
	tare_region_leave(region);
}

/* libhpm's for threads: each thread has its own counters anyway. */
TARE_INLINE_ void hpmTstart(int number, const char *label) { hpmStart(number, label); }

TARE_INLINE_ void hpmTstop(int number) { hpmStop(number); }

#endif
