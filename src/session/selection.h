/*
 * Which events and metrics a session measures, and how each row of its report relates to them.
 *
 * What always holds:
 *  1. Rows are in the order of adding. An event that is added again is counted and shown once.
 *  2. An event without a level is counted at both where that works, else at user level, under a name that says so.
 *  3. With several machines, an event that a model counts is added once for each.
 */
#ifndef TARE_SESSION_SELECTION_H
#define TARE_SESSION_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/event.h"
#include "event/metric.h"

struct session;

enum { ROW_NO_EVENT = -1 };

/* A row that was asked for. */
struct asked_row {
	long event;        /* index into events; ROW_NO_EVENT: nothing here has its meaning, why says so */
	const char *label; /* shown instead of the event's own; NULL */
	const char *why;
	const char *unit; /* without an event; NULL: "events" */
	bool required;
};

struct selection {
	VEC(struct event) events;
	VEC(const struct metric *) metrics;
	VEC(struct asked_row) rows;
	VEC(size_t) asked; /* events in the order of asking, also of those that were there already */
	bool defaults;     /* nothing was asked for */
	bool required;     /* rows that are added now are */
	/* "user level only: cycles, branches (why); instructions", without the last reason */
	struct str user_only;
	char user_only_why[sizeof((struct availability *)0)->why];
	struct arena arena;
};

/* A list as -e has it. */
bool session_add_events(struct session *session, const char *list, struct error *err);
/* The same; session_missing() tells of those that are not counted. */
bool session_add_required(struct session *session, const char *list, struct error *err);
/* One event under a label of its own (NULL: its own), even if it is there already. label is copied. */
bool session_add_event_as(struct session *session, const char *request, const char *label, struct error *err);
/* A row for what nothing here counts, and why (copied). */
bool session_add_uncounted(struct session *session, const char *label, const char *why, struct error *err);
/* A list as -m has it; their events are also counted. */
bool session_add_metrics(struct session *session, const char *list, struct error *err);
/* What this machine can count of the standard set. */
bool session_add_defaults(struct session *session, struct error *err);

void selection_free(struct selection *selection);

#endif
