/* What selection.c, selection_defaults.c and selection_metrics.c share. */
#ifndef TARE_SESSION_SELECTION_INSIDE_H
#define TARE_SESSION_SELECTION_INSIDE_H

#include "session/selection.h"

/* Does the backend count it? Always fills *answer. */
bool selection_counted(const struct session *session, const struct event *event, struct availability *answer);
void selection_settle_level(struct session *session, struct event *event);
bool selection_add_row(struct session *session, long event, const char *label, const char *why, struct error *err);
bool selection_add_event(struct session *session, const struct event *event, const char *label, bool again,
			 struct error *err);
long selection_find(const struct session *session, const char *label); /* its index; ROW_NO_EVENT */
/* Is it to be asked of each machine? What the engine counts by itself is the same on all. */
bool selection_is_of_each_machine(struct session *session, const struct event *event);
/* "r12000::l1d-misses", at the level at which it can be counted. */
bool selection_event_of_machine(struct session *session, const struct event *event, size_t machine,
				struct event *out, struct error *err);
bool selection_add_of_each_machine(struct session *session, const struct event *event, struct error *err);
bool selection_add_default_metrics(struct session *session, struct error *err);

#endif
