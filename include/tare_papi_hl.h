/* PAPI's high-level regions (PAPI 6 and later) over tare's: a program that is instrumented with
 * PAPI_hl_region_begin("name") and PAPI_hl_region_end("name") is recompiled with this header instead of papi.h,
 * and linked with -ltare.
 *
 * What differs from PAPI:
 * - Events come from TARE_EVENTS ("PAPI_TOT_INS,PAPI_TOT_CYC" are also names of tare's), not from PAPI_EVENTS;
 * without it nothing is counted. The report goes where TARE_OUTPUT says.
 * - Regions may overlap, and entries that do not match exits are in the report, not in what the calls return.
 * - A name that is a constant text is looked up once at each place; others at each call, at the end inside of the
 *   region (not under tare's engine). A name is an expression that may be evaluated twice.
 * - PAPI_hl_read() is not there: tare_region_read() reads passes that have ended, which is something else.
 *
 * GNU C99 and C++. */
/* SPDX-License-Identifier: MIT */
#ifndef TARE_PAPI_HL_H
#define TARE_PAPI_HL_H

#include "tare.h"

#ifndef PAPI_OK
#define PAPI_OK 0
#define PAPI_EINVAL (-1)
#endif

/* PAPI_OK; PAPI_EINVAL for a region that cannot be had (no name, no memory): it is not counted. */
#define PAPI_hl_region_begin(name)                                                                                \
	(__extension__({                                                                                          \
		int tare_done_ = PAPI_OK;                                                                         \
		if (TARE_REGIONS_ON_(TARE_REGIONS_HERE_))                                                         \
			TARE_PAPI_HL_(tare_region_enter, name);                                                   \
		else                                                                                              \
			TARE_MARK_ENTER_NAME_(name);                                                              \
		tare_done_;                                                                                       \
	}))
#define PAPI_hl_region_end(name)                                                                                  \
	(__extension__({                                                                                          \
		int tare_done_;                                                                                   \
		TARE_MARK_LEAVE_NAME_(name);                                                                      \
		tare_done_ = PAPI_OK;                                                                             \
		if (TARE_REGIONS_ON_(TARE_REGIONS_HERE_))                                                         \
			TARE_PAPI_HL_(tare_region_leave, name);                                                   \
		tare_done_;                                                                                       \
	}))

/* The report is written at exit. */
#define PAPI_hl_stop() PAPI_OK

#define TARE_PAPI_HL_(pass, name)                                                                                 \
	do {                                                                                                      \
		static struct tare_region *tare_here_;                                                            \
		struct tare_region *tare_found_ = __builtin_constant_p(name)                                      \
							  ? __atomic_load_n(&tare_here_, __ATOMIC_ACQUIRE)        \
							  : NULL;                                                 \
		if (!tare_found_) {                                                                               \
			const char *tare_name_;                                                                   \
			TARE_ADDRESS_(tare_name_, name);                                                          \
			tare_found_ = tare_region(tare_name_, NULL);                                              \
			if (__builtin_constant_p(name))                                                           \
				__atomic_store_n(&tare_here_, tare_found_, __ATOMIC_RELEASE);                     \
		}                                                                                                 \
		pass(tare_found_);                                                                                \
		tare_done_ = tare_found_ ? PAPI_OK : PAPI_EINVAL;                                                 \
	} while (0)

#endif
