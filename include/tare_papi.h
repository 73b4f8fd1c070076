/* PAPI's low-level calls over libtare: a program that uses event sets is recompiled with this header instead of
 * papi.h, and linked with -ltare. PAPI_hl_region_begin() and PAPI_hl_region_end() are in tare_papi_hl.h.
 *
 *     int set = PAPI_NULL;
 *     long long values[2];
 *     PAPI_library_init(PAPI_VER_CURRENT);
 *     PAPI_create_eventset(&set);
 *     PAPI_add_event(set, PAPI_TOT_INS);
 *     PAPI_add_named_event(set, "PAPI_LD_INS");
 *     PAPI_start(set);
 *     work();
 *     PAPI_stop(set, values);
 *
 * What differs from PAPI:
 * - Events are PAPI's presets, and any event of tare's by its name, for which PAPI_event_name_to_code() gives a
 *   code. Natively both levels are counted where the name says none; under tare's engine it is the user level.
 * - Events that do not fit the counters at once are PAPI_ECNFLCT: counts are never scaled. A count that is not all
 *   there was is -1, and the call returns PAPI_ECLOST.
 * - One component. No overflow, profiling, multiplexing, attaching or inheriting: these calls are not there, so
 *   that a program that needs them does not compile.
 * - A set is started, read and stopped by one thread; it may be made by another.
 *
 * Under tare's engine ('tare count --on exact PROGRAM') the engine answers, without hardware counters; the calls
 * themselves are in no count (libtare(3), UNDER THE ENGINE).
 *
 * C99 and C++. */
/* SPDX-License-Identifier: MIT */
#ifndef TARE_PAPI_H
#define TARE_PAPI_H

#include "tare.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version whose calls these are. */
#define PAPI_VERSION_NUMBER(major, minor, revision, patch)                                                        \
	(((major) << 24) | ((minor) << 16) | ((revision) << 8) | (patch))
#define PAPI_VERSION PAPI_VERSION_NUMBER(7, 0, 0, 0)
#define PAPI_VER_CURRENT (PAPI_VERSION & 0xffff0000)

/* What the calls return. */
#define PAPI_OK 0
#define PAPI_EINVAL (-1)      /* an argument is wrong */
#define PAPI_ENOMEM (-2)      /* no memory */
#define PAPI_ESYS (-3)        /* a system call failed */
#define PAPI_ECMP (-4)        /* not supported by the component */
#define PAPI_ECLOST (-5)      /* others had the counters for a part of the time */
#define PAPI_EBUG (-6)        /* a defect */
#define PAPI_ENOEVNT (-7)     /* there is no such event, or it is not counted here */
#define PAPI_ECNFLCT (-8)     /* the set's events cannot be counted at once */
#define PAPI_ENOTRUN (-9)     /* the set is not started */
#define PAPI_EISRUN (-10)     /* the set is started */
#define PAPI_ENOEVST (-11)    /* there is no such set */
#define PAPI_ENOTPRESET (-12) /* the event is not a preset */
#define PAPI_ENOCNTR (-13)    /* there are no counters */
#define PAPI_EMISC (-14)      /* any other failure */
#define PAPI_EPERM (-15)      /* this user may not */
#define PAPI_ENOINIT (-16)    /* PAPI_library_init() was not called */
#define PAPI_ENOCMP (-17)     /* there is no such component */
#define PAPI_ENOSUPP (-18)    /* not supported */
#define PAPI_ENOIMPL (-19)    /* not implemented */
#define PAPI_EBUF (-20)       /* a buffer is too small */

#define PAPI_NULL (-1) /* no set */
#define PAPI_NOT_INITED 0
#define PAPI_LOW_LEVEL_INITED 1
#define PAPI_STOPPED 0x01
#define PAPI_RUNNING 0x02
#define PAPI_MAX_STR_LEN 128
#define PAPI_HUGE_STR_LEN 1024
#define PAPI_PRESET_MASK ((int)0x80000000)
#define PAPI_NATIVE_MASK ((int)0x40000000)

/* Codes of presets: those that have an event of tare's. The others are known by name. */
#define PAPI_L1_DCM (PAPI_PRESET_MASK | 0x00)
#define PAPI_L1_ICM (PAPI_PRESET_MASK | 0x01)
#define PAPI_L2_DCM (PAPI_PRESET_MASK | 0x02)
#define PAPI_L2_ICM (PAPI_PRESET_MASK | 0x03)
#define PAPI_L1_TCM (PAPI_PRESET_MASK | 0x06)
#define PAPI_L2_TCM (PAPI_PRESET_MASK | 0x07)
#define PAPI_L3_TCM (PAPI_PRESET_MASK | 0x08)
#define PAPI_TLB_DM (PAPI_PRESET_MASK | 0x14)
#define PAPI_TLB_IM (PAPI_PRESET_MASK | 0x15)
#define PAPI_BR_UCN (PAPI_PRESET_MASK | 0x2a)
#define PAPI_BR_CN (PAPI_PRESET_MASK | 0x2b)
#define PAPI_BR_TKN (PAPI_PRESET_MASK | 0x2c)
#define PAPI_BR_NTK (PAPI_PRESET_MASK | 0x2d)
#define PAPI_BR_MSP (PAPI_PRESET_MASK | 0x2e)
#define PAPI_FMA_INS (PAPI_PRESET_MASK | 0x30)
#define PAPI_TOT_IIS (PAPI_PRESET_MASK | 0x31)
#define PAPI_TOT_INS (PAPI_PRESET_MASK | 0x32)
#define PAPI_INT_INS (PAPI_PRESET_MASK | 0x33)
#define PAPI_FP_INS (PAPI_PRESET_MASK | 0x34)
#define PAPI_LD_INS (PAPI_PRESET_MASK | 0x35)
#define PAPI_SR_INS (PAPI_PRESET_MASK | 0x36)
#define PAPI_BR_INS (PAPI_PRESET_MASK | 0x37)
#define PAPI_VEC_INS (PAPI_PRESET_MASK | 0x38)
#define PAPI_RES_STL (PAPI_PRESET_MASK | 0x39)
#define PAPI_TOT_CYC (PAPI_PRESET_MASK | 0x3b)
#define PAPI_LST_INS (PAPI_PRESET_MASK | 0x3c)
#define PAPI_FDV_INS (PAPI_PRESET_MASK | 0x63)
#define PAPI_FSQ_INS (PAPI_PRESET_MASK | 0x64)
#define PAPI_FP_OPS (PAPI_PRESET_MASK | 0x66)
#define PAPI_SP_OPS (PAPI_PRESET_MASK | 0x67)
#define PAPI_DP_OPS (PAPI_PRESET_MASK | 0x68)
#define PAPI_REF_CYC (PAPI_PRESET_MASK | 0x6b)

#define PAPI_library_init tare_papi_library_init
#define PAPI_is_initialized tare_papi_is_initialized
#define PAPI_shutdown tare_papi_shutdown
#define PAPI_num_components tare_papi_num_components
#define PAPI_num_cmp_hwctrs tare_papi_num_cmp_hwctrs
#define PAPI_strerror tare_papi_strerror
#define PAPI_event_name_to_code tare_papi_event_name_to_code
#define PAPI_event_code_to_name tare_papi_event_code_to_name
#define PAPI_query_event tare_papi_query_event
#define PAPI_query_named_event tare_papi_query_named_event
#define PAPI_create_eventset tare_papi_create_eventset
#define PAPI_add_event tare_papi_add_event
#define PAPI_add_named_event tare_papi_add_named_event
#define PAPI_add_events tare_papi_add_events
#define PAPI_num_events tare_papi_num_events
#define PAPI_list_events tare_papi_list_events
#define PAPI_start tare_papi_start
#define PAPI_read tare_papi_read
#define PAPI_accum tare_papi_accum
#define PAPI_stop tare_papi_stop
#define PAPI_reset tare_papi_reset
#define PAPI_state tare_papi_state
#define PAPI_cleanup_eventset tare_papi_cleanup_eventset
#define PAPI_destroy_eventset tare_papi_destroy_eventset

/* PAPI_VER_CURRENT; PAPI_EINVAL for another version. */
TARE_API int PAPI_library_init(int version);
TARE_API int PAPI_is_initialized(void);
/* Ends all sets. */
TARE_API void PAPI_shutdown(void);
TARE_API int PAPI_num_components(void);
/* How many events a set may have. */
TARE_API int PAPI_num_cmp_hwctrs(int component);
/* NULL: there is no such code. */
TARE_API char *PAPI_strerror(int code);
TARE_API int PAPI_event_name_to_code(const char *name, int *code);
/* name[PAPI_MAX_STR_LEN] */
TARE_API int PAPI_event_code_to_name(int code, char *name);
/* PAPI_OK: it is counted here, for this thread; tried. */
TARE_API int PAPI_query_event(int code);
TARE_API int PAPI_query_named_event(const char *name);
/* *set is PAPI_NULL before. */
TARE_API int PAPI_create_eventset(int *set);
TARE_API int PAPI_add_event(int set, int code);
TARE_API int PAPI_add_named_event(int set, const char *name);
/* How many of the first were added, when not all could be; or a code. */
TARE_API int PAPI_add_events(int set, int *codes, int n);
TARE_API int PAPI_num_events(int set);
/* *n: room in codes[], then how many there are. */
TARE_API int PAPI_list_events(int set, int *codes, int *n);
/* From 0. */
TARE_API TARE_LOOKED_UP int PAPI_start(int set);
/* values[] in the order of adding. */
TARE_API TARE_LOOKED_UP int PAPI_read(int set, long long *values);
/* Adds to values[], and sets the counters to 0. */
TARE_API TARE_LOOKED_UP int PAPI_accum(int set, long long *values);
/* values may be NULL. */
TARE_API TARE_LOOKED_UP int PAPI_stop(int set, long long *values);
TARE_API int PAPI_reset(int set);
TARE_API int PAPI_state(int set, int *status);
/* Removes the events of a set that is stopped. */
TARE_API int PAPI_cleanup_eventset(int set);
/* An empty set; *set becomes PAPI_NULL. */
TARE_API int PAPI_destroy_eventset(int *set);
/* Why the calling thread's last call failed and what can be done, in words; "" when it did not. Not PAPI's. */
TARE_API const char *tare_papi_error(void);

#ifdef __cplusplus
}
#endif
#endif
