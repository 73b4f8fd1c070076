#include "backend/engine/available.h"

#include <stdio.h>
#include <string.h>

bool exact_event_level(const struct event *event, struct availability *out)
{
	*out = (struct availability){.state = READING_UNSUPPORTED};
	if (event->levels == LEVEL_USER)
		return true;
	if (event->levels == LEVEL_KERNEL) {
		snprintf(out->why, sizeof out->why, "the engine counts user mode only");
		return false;
	}
	/* no level asked for means both: a part is not a count of that */
	snprintf(out->why, sizeof out->why, "the engine counts user mode only, and both levels were asked for");
	size_t length = strlen(event->label);
	bool said = length > 3 && (strcmp(event->label + length - 3, ":uk") == 0 ||
				   strcmp(event->label + length - 3, ":ku") == 0);
	snprintf(out->remedy, sizeof out->remedy, "ask for it at user level: %.*s:u",
		 (int)(said           ? length - 3
		       : length < 100 ? length
				      : 100),
		 event->label);
	return false;
}

void exact_event_available(const struct event *event, struct engine_trial *trial, struct availability *out)
{
	const struct exact_event *exact = exact_event_find(event);
	const char *no_model = event->definition ? event->definition->no_model : NULL;
	*out = (struct availability){.state = READING_UNSUPPORTED};
	if (!exact)
		snprintf(out->why, sizeof out->why,
			 "the engine does not count '%.60s': it counts what instructions do, in user mode%s%s",
			 event->label, no_model ? "; " : "", no_model ? no_model : "");
	else if (!exact_event_level(event, out))
		return;
	else if (exact->why_not)
		snprintf(out->why, sizeof out->why, "%s", exact->why_not);
	else if (!trial_passed(trial)) {
		out->prevented = true;
		snprintf(out->why, sizeof out->why, "%.250s", trial->why);
		snprintf(out->remedy, sizeof out->remedy, "%.250s", trial->remedy);
	} else if (!trial_counts(trial, exact))
		snprintf(out->why, sizeof out->why,
			 "the engine counts '%.100s' wrongly here: its count of a small known program is wrong",
			 event->label);
	else
		*out = (struct availability){.state = READING_COUNTED, .source = SOURCE_EXACT};
}
