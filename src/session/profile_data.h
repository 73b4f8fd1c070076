/*
 * A data profile between its options and its report, without a terminal: an execution under the engine, whose
 * events are counted by the data that they touch.
 *
 *     session_open ──► session_add_data_events ──► session_profile_data ──► session->result, its breakdown by object
 */
#ifndef TARE_SESSION_PROFILE_DATA_H
#define TARE_SESSION_PROFILE_DATA_H

#include "session/profile.h"

/* A list as -e has it; NULL: misses of the first and second level, and accesses; where the backend has no machine,
 * reads and writes. ERROR_USAGE: the backend knows no data. */
bool session_add_data_events(struct session *session, const char *list, struct error *err);

/* Of the profiling its time-out and interrupt count. On success session->result has a breakdown by object whose
 * rows add up to the counts. */
bool session_profile_data(struct session *session, const struct profiling *profiling, struct error *err);

#endif
