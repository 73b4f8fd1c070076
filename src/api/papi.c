/* PAPI's low-level calls over tare.h: see tare_papi.h.
 *
 *     PAPI's set (a number) ──► struct papi_set: codes, and a set of libtare's of the same events in the same order
 *
 * What always holds:
 * 1. libtare's set is open for all codes of the set, or it is NULL and there are none.
 * 2. A value is handed out when it is all there was (TARE_COUNTED); else it is -1, and the call fails.
 * 3. The table of sets and names is changed under `lock`; a set is its thread's, and is not locked. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/counters_call.h"
#include "tare.h"
#include "tare_papi.h"

enum { SETS_MOST = 1024, NAMES_MOST = 4096, NAME_BYTES = PAPI_MAX_STR_LEN };

struct papi_set {
	struct tare_counters *counters; /* NULL: it has no events, or starting it opens it */
	int codes[TARE_EVENTS_MOST];
	int n;
	pid_t process, thread; /* of counters */
	bool running;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct papi_set *sets[SETS_MOST];
/* of events that are not presets: code - PAPI_NATIVE_MASK is the index */
static char (*names)[NAME_BYTES];
static int n_names;
static bool initialized;
static __thread char why[sizeof(((struct tare_error *)0)->text) + sizeof(((struct tare_error *)0)->hint) + 2];

/* By the code's low byte. */
static const char *const presets[] = {
	[0x00] = "PAPI_L1_DCM",  [0x01] = "PAPI_L1_ICM",  [0x02] = "PAPI_L2_DCM",  [0x03] = "PAPI_L2_ICM",
	[0x06] = "PAPI_L1_TCM",  [0x07] = "PAPI_L2_TCM",  [0x08] = "PAPI_L3_TCM",  [0x14] = "PAPI_TLB_DM",
	[0x15] = "PAPI_TLB_IM",  [0x2a] = "PAPI_BR_UCN",  [0x2b] = "PAPI_BR_CN",   [0x2c] = "PAPI_BR_TKN",
	[0x2d] = "PAPI_BR_NTK",  [0x2e] = "PAPI_BR_MSP",  [0x30] = "PAPI_FMA_INS", [0x31] = "PAPI_TOT_IIS",
	[0x32] = "PAPI_TOT_INS", [0x33] = "PAPI_INT_INS", [0x34] = "PAPI_FP_INS",  [0x35] = "PAPI_LD_INS",
	[0x36] = "PAPI_SR_INS",  [0x37] = "PAPI_BR_INS",  [0x38] = "PAPI_VEC_INS", [0x39] = "PAPI_RES_STL",
	[0x3b] = "PAPI_TOT_CYC", [0x3c] = "PAPI_LST_INS", [0x63] = "PAPI_FDV_INS", [0x64] = "PAPI_FSQ_INS",
	[0x66] = "PAPI_FP_OPS",  [0x67] = "PAPI_SP_OPS",  [0x68] = "PAPI_DP_OPS",  [0x6b] = "PAPI_REF_CYC",
};

static int failed(int code, const char *text)
{
	snprintf(why, sizeof why, "%s", text);
	return code;
}

static int failed_as(const struct tare_error *error)
{
	snprintf(why, sizeof why, "%s%s%s", error->text, *error->hint ? "; " : "", error->hint);
	switch (error->code) {
	case TARE_ERROR_USAGE:
	case TARE_ERROR_SYNTAX:
	case TARE_ERROR_NOT_FOUND:
	case TARE_ERROR_UNSUPPORTED: return PAPI_ENOEVNT;
	case TARE_ERROR_PERMISSION: return PAPI_EPERM;
	case TARE_ERROR_BUSY:
	case TARE_ERROR_LIMIT: return PAPI_ECNFLCT;
	case TARE_ERROR_NO_MEMORY: return PAPI_ENOMEM;
	default: return PAPI_ESYS;
	}
}

/* ---- names and codes ---- */

static const char *name_of(int code)
{
	unsigned low = (unsigned)code & 0x3fffffffu;
	if ((unsigned)code & 0x80000000u)
		return low < sizeof presets / sizeof *presets ? presets[low] : NULL;
	return ((unsigned)code & 0x40000000u) && low < (unsigned)n_names ? names[low] : NULL;
}

/* 0: it is not one of the table's. */
static int preset_of(const char *name)
{
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
		if (presets[i] && strcmp(presets[i], name) == 0)
			return PAPI_PRESET_MASK | (int)i;
	return 0;
}

/* Under `lock`. 0: there is no room. */
static int native_of(const char *name)
{
	for (int i = 0; i < n_names; i++)
		if (strcmp(names[i], name) == 0)
			return PAPI_NATIVE_MASK | i;
	if (!names && !(names = calloc(NAMES_MOST, sizeof *names)))
		return 0;
	if (n_names == NAMES_MOST)
		return 0;
	snprintf(names[n_names], NAME_BYTES, "%s", name);
	return PAPI_NATIVE_MASK | n_names++;
}

/* A set of libtare's with that event alone, closed again: is it counted here? */
static int try_event(const char *name)
{
	struct tare_counters *counters;
	struct tare_error error;
	if (!tare_open(NULL, &counters, &error))
		return failed_as(&error);
	bool done = tare_add(counters, name, &error) && tare_event_count(counters) == 1;
	tare_close(counters);
	return done ? PAPI_OK : failed_as(&error);
}

COUNTERS_CALL(int, tare_papi_event_name_to_code, papi_name_to_code, const char *name, int *code)
{
	*why = 0;
	if (!name || !*name || !code || strlen(name) >= NAME_BYTES || strchr(name, ','))
		return failed(PAPI_EINVAL, "the event's name is missing, too long, or of several events");
	int found = preset_of(name); /* a preset has its code, whether it is counted here or not */
	int done = found ? PAPI_OK : try_event(name);
	if (done != PAPI_OK)
		return done;
	pthread_mutex_lock(&lock);
	found = found ? found : native_of(name);
	pthread_mutex_unlock(&lock);
	if (!found)
		return failed(PAPI_ENOMEM, "no room for another event's name");
	*code = found;
	return PAPI_OK;
}

COUNTERS_CALL(int, tare_papi_event_code_to_name, papi_code_to_name, int code, char *name)
{
	*why = 0;
	pthread_mutex_lock(&lock);
	const char *found = name_of(code);
	pthread_mutex_unlock(&lock);
	if (!name)
		return failed(PAPI_EINVAL, "there is no room for the name");
	if (!found)
		return failed(PAPI_ENOEVNT, "no event has this code");
	snprintf(name, PAPI_MAX_STR_LEN, "%s", found);
	return PAPI_OK;
}

COUNTERS_CALL(int, tare_papi_query_named_event, papi_query_name, const char *name)
{
	int code;
	*why = 0;
	if (!name)
		return failed(PAPI_EINVAL, "the event's name is missing");
	int done = papi_name_to_code(name, &code);
	return done != PAPI_OK ? done : try_event(name);
}

COUNTERS_CALL(int, tare_papi_query_event, papi_query_code, int code)
{
	char name[PAPI_MAX_STR_LEN];
	int done = papi_code_to_name(code, name);
	return done != PAPI_OK ? done : try_event(name);
}

/* ---- the library ---- */

COUNTERS_CALL(int, tare_papi_library_init, papi_init, int version)
{
	*why = 0;
	if (version != PAPI_VER_CURRENT)
		return failed(PAPI_EINVAL, "the program was compiled for another version of tare_papi.h");
	initialized = true;
	return PAPI_VER_CURRENT;
}

int tare_papi_is_initialized(void) { return initialized ? PAPI_LOW_LEVEL_INITED : PAPI_NOT_INITED; }

COUNTERS_CALL(void, tare_papi_shutdown, papi_shutdown, void)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < SETS_MOST; i++)
		if (sets[i]) {
			tare_close(sets[i]->counters);
			free(sets[i]);
			sets[i] = NULL;
		}
	initialized = false;
	pthread_mutex_unlock(&lock);
}

int tare_papi_num_components(void) { return 1; }

int tare_papi_num_cmp_hwctrs(int component) { return component == 0 ? TARE_EVENTS_MOST : PAPI_ENOCMP; }

char *tare_papi_strerror(int code)
{
	static char texts[][56] = {"No error",
				   "Invalid argument",
				   "Insufficient memory",
				   "A System/C library call failed",
				   "Not supported by component",
				   "Access to the counters was lost or interrupted",
				   "Internal error, please send mail to the developers",
				   "Event does not exist",
				   "Event exists, but cannot be counted due to hardware",
				   "EventSet is currently not running",
				   "EventSet is currently counting",
				   "No such EventSet available",
				   "Event in argument is not a valid preset",
				   "Hardware does not support performance counters",
				   "Unknown error code",
				   "Permission level does not permit operation",
				   "PAPI hasn't been initialized yet",
				   "Component Index isn't set",
				   "Not supported",
				   "Not implemented",
				   "Buffer size exceeded"};
	return code <= 0 && code > -(int)(sizeof texts / sizeof *texts) ? texts[-code] : NULL;
}

const char *tare_papi_error(void) { return why; }

/* ---- sets ---- */

/* NULL with *code. */
static struct papi_set *set_of(int set, int *code)
{
	struct papi_set *found = set >= 0 && set < SETS_MOST ? sets[set] : NULL;
	*why = 0;
	*code = PAPI_OK;
	if (!initialized)
		*code = failed(PAPI_ENOINIT, "PAPI_library_init() was not called");
	else if (!found)
		*code = failed(PAPI_ENOEVST, "there is no set of this number");
	return *code == PAPI_OK ? found : NULL;
}

COUNTERS_CALL(int, tare_papi_create_eventset, papi_create, int *set)
{
	int found = PAPI_NULL;
	*why = 0;
	if (!initialized)
		return failed(PAPI_ENOINIT, "PAPI_library_init() was not called");
	if (!set || *set != PAPI_NULL)
		return failed(PAPI_EINVAL, "the set's number is to be PAPI_NULL before");
	pthread_mutex_lock(&lock);
	for (int i = 0; i < SETS_MOST && found == PAPI_NULL; i++)
		if (!sets[i] && (sets[i] = calloc(1, sizeof *sets[i])))
			found = i;
	pthread_mutex_unlock(&lock);
	if (found == PAPI_NULL)
		return failed(PAPI_ENOMEM, "no room for another set");
	*set = found;
	return PAPI_OK;
}

/* Opens libtare's set for n codes, in the calling thread, instead of the one that there was. */
static int open_counters(struct papi_set *s, int n)
{
	struct tare_counters *counters;
	struct tare_error error;
	if (!tare_open(NULL, &counters, &error))
		return failed_as(&error);
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&lock);
		const char *name = name_of(s->codes[i]);
		pthread_mutex_unlock(&lock);
		if (!name || !tare_add(counters, name, &error)) {
			tare_close(counters);
			return name ? failed_as(&error) : failed(PAPI_ENOEVNT, "no event has this code");
		}
	}
	tare_close(s->counters);
	s->counters = counters;
	s->process = getpid();
	s->thread = gettid();
	return PAPI_OK;
}

static int add(struct papi_set *s, int code)
{
	if (s->running)
		return failed(PAPI_EISRUN, "events are added to a set that is stopped");
	if (s->n == TARE_EVENTS_MOST)
		return failed(PAPI_ECNFLCT, "the set has as many events as it can have");
	for (int i = 0; i < s->n; i++)
		if (s->codes[i] == code)
			return failed(PAPI_ECNFLCT, "the set has this event already");
	s->codes[s->n] = code;
	int done = open_counters(s, s->n + 1);
	s->n += done == PAPI_OK;
	return done;
}

COUNTERS_CALL(int, tare_papi_add_event, papi_add, int set, int code)
{
	int done;
	struct papi_set *s = set_of(set, &done);
	return s ? add(s, code) : done;
}

COUNTERS_CALL(int, tare_papi_add_named_event, papi_add_name, int set, const char *name)
{
	int code, done;
	struct papi_set *s = set_of(set, &done);
	if (!s)
		return done;
	done = papi_name_to_code(name, &code);
	return done == PAPI_OK ? add(s, code) : done;
}

COUNTERS_CALL(int, tare_papi_add_events, papi_add_all, int set, int *codes, int n)
{
	int done;
	struct papi_set *s = set_of(set, &done);
	if (s && (!codes || n < 1))
		return failed(PAPI_EINVAL, "no event is named");
	for (int i = 0; s && i < n; i++)
		if ((done = add(s, codes[i])) != PAPI_OK)
			return i ? i : done;
	return done;
}

COUNTERS_CALL(int, tare_papi_num_events, papi_events, int set)
{
	int done;
	const struct papi_set *s = set_of(set, &done);
	return s ? s->n : done;
}

COUNTERS_CALL(int, tare_papi_list_events, papi_list, int set, int *codes, int *n)
{
	int done;
	const struct papi_set *s = set_of(set, &done);
	if (!s)
		return done;
	if (!n || *n < 0 || (*n > 0 && !codes))
		return failed(PAPI_EINVAL, "there is no room for the events");
	for (int i = 0; i < s->n && i < *n; i++)
		codes[i] = s->codes[i];
	*n = s->n;
	return PAPI_OK;
}

COUNTERS_CALL(int, tare_papi_state, papi_state, int set, int *status)
{
	int done;
	const struct papi_set *s = set_of(set, &done);
	if (!s)
		return done;
	if (!status)
		return failed(PAPI_EINVAL, "there is no room for the state");
	*status = s->running ? PAPI_RUNNING : PAPI_STOPPED;
	return PAPI_OK;
}

COUNTERS_CALL(int, tare_papi_cleanup_eventset, papi_cleanup, int set)
{
	int done;
	struct papi_set *s = set_of(set, &done);
	if (!s)
		return done;
	if (s->running)
		return failed(PAPI_EISRUN, "stop the set before");
	tare_close(s->counters);
	*s = (struct papi_set){0};
	return PAPI_OK;
}

COUNTERS_CALL(int, tare_papi_destroy_eventset, papi_destroy, int *set)
{
	int done;
	if (!set)
		return failed(PAPI_EINVAL, "no set is named");
	struct papi_set *s = set_of(*set, &done);
	if (!s)
		return done;
	if (s->running)
		return failed(PAPI_EISRUN, "stop the set before");
	if (s->n)
		return failed(PAPI_EINVAL, "the set has events: PAPI_cleanup_eventset() removes them");
	pthread_mutex_lock(&lock);
	sets[*set] = NULL;
	pthread_mutex_unlock(&lock);
	free(s);
	*set = PAPI_NULL;
	return PAPI_OK;
}

/* ---- counting ---- */

COUNTERS_CALL(int, tare_papi_start, papi_start, int set)
{
	struct tare_error error;
	int done;
	struct papi_set *s = set_of(set, &done);
	if (!s)
		return done;
	if (s->running && s->process == getpid())
		return failed(PAPI_EISRUN, "the set is started");
	if (!s->n)
		return failed(PAPI_EINVAL, "the set has no events");
	if ((s->process != getpid() || s->thread != gettid()) && (done = open_counters(s, s->n)) != PAPI_OK)
		return done;
	s->running = false;
	if (!tare_reset(s->counters, &error) || !tare_start(s->counters, &error))
		return failed_as(&error);
	s->running = true;
	return PAPI_OK;
}

/* What was read, in the order of adding. */
static int hand_out(const struct papi_set *s, const struct tare_reading *readings, long long *values, bool more)
{
	int done = PAPI_OK;
	for (int i = 0; i < s->n; i++)
		if (readings[i].state != TARE_COUNTED)
			done = failed(PAPI_ECLOST, "an event was not counted all the time");
	for (int i = 0; i < s->n && values; i++)
		values[i] = done != PAPI_OK ? -1 : (more ? values[i] : 0) + (long long)readings[i].count;
	return done;
}

static int running(int set, struct papi_set **s)
{
	int done;
	*s = set_of(set, &done);
	if (*s && !((*s)->running && (*s)->process == getpid()))
		return failed(PAPI_ENOTRUN, "the set is not started");
	return done;
}

COUNTERS_CALL(int, tare_papi_read, papi_read, int set, long long *values)
{
	struct tare_reading readings[TARE_EVENTS_MOST];
	struct tare_error error;
	int done;
	struct papi_set *s = set_of(set, &done);
	if (!s)
		return done;
	if (!values || !s->n || !s->counters)
		return failed(PAPI_EINVAL, "there are no events, or no room for their values");
	return tare_read(s->counters, readings, &error) ? hand_out(s, readings, values, false) : failed_as(&error);
}

COUNTERS_CALL(int, tare_papi_accum, papi_accum, int set, long long *values)
{
	struct tare_reading readings[TARE_EVENTS_MOST];
	struct tare_error error;
	struct papi_set *s;
	int done = running(set, &s);
	if (done != PAPI_OK)
		return done;
	if (!values)
		return failed(PAPI_EINVAL, "there is no room for the values");
	if (!tare_read(s->counters, readings, &error) || !tare_reset(s->counters, &error))
		return failed_as(&error);
	return hand_out(s, readings, values, true);
}

COUNTERS_CALL(int, tare_papi_stop, papi_stop, int set, long long *values)
{
	struct tare_reading readings[TARE_EVENTS_MOST];
	struct tare_error error;
	struct papi_set *s;
	int done = running(set, &s);
	if (done != PAPI_OK)
		return done;
	if (!tare_stop(s->counters, readings, &error))
		return failed_as(&error);
	s->running = false;
	return hand_out(s, readings, values, false);
}

COUNTERS_CALL(int, tare_papi_reset, papi_reset, int set)
{
	struct tare_error error;
	int done;
	struct papi_set *s = set_of(set, &done);
	if (!s)
		return done;
	if (!s->counters)
		return failed(PAPI_EINVAL, "the set has no events");
	return tare_reset(s->counters, &error) ? PAPI_OK : failed_as(&error);
}
