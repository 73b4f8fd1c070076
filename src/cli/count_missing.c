/* --require and --strict: what was asked for and is not counted is an error, not only a row without a value. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/count_events.h"
#include "cli/say.h"

/* What is said of one estimate; false when it is counted. */
static bool lacks(const struct result *result, const char *label, const char *region, const struct estimate *e)
{
	char why[512], name[256], of[256] = "";
	/* runs that gave nothing are not in the mean */
	bool some = e->known && e->n_runs && e->n_runs < result->repetitions_done;
	if (e->known && !some)
		return false;
	str_escape_to(name, sizeof name, label ? label : e->event);
	str_escape_to(why, sizeof why, some ? e->note ? e->note : "not in all of the runs" : e->why ? e->why : "no reason is known");
	if (region) {
		char shown[200];
		str_escape_to(shown, sizeof shown, region);
		snprintf(of, sizeof of, " of region '%s'", shown);
	}
	struct error err = { 0 };
	error_set(&err, ERROR_UNSUPPORTED, "asked for, but not counted: %s%s: %s", name, of, why);
	say_error(&err);
	return true;
}

static const struct estimate *total_at(const struct result *result, long event)
{
	for (size_t i = 0; i < result->n_estimates; i++)
		if (estimate_is_total(&result->estimates[i]) && event-- == 0)
			return &result->estimates[i];
	return NULL;
}

/* Nobody asked for one event of a default set, but for something. */
static size_t missing_default(const struct result *result)
{
	for (size_t i = 0; i < result->n_estimates; i++)
		if (result->estimates[i].known && strcmp(result->estimates[i].event, "elapsed-time") != 0)
			return 0;
	struct error err = { 0 };
	error_set(&err, ERROR_UNSUPPORTED, "nothing was counted");
	say_error(&err);
	return 1;
}

static size_t missing_regions(const struct selection *selection, const struct result *result, bool strict)
{
	size_t missing = 0;
	for (size_t i = 0; i < result->n_regions; i++) {
		const struct region_row *row = &result->regions[i];
		for (size_t j = 0; j < row->n_estimates; j++) {
			bool asked = strict && !selection->defaults;
			for (size_t k = 0; k < selection->n_slots && !asked; k++)
				asked = selection->slots[k].required && selection->slots[k].event != SLOT_NO_EVENT &&
					strcmp(selection->events[selection->slots[k].event].label, row->estimates[j].event) == 0;
			missing += asked && lacks(result, NULL, row->name, &row->estimates[j]);
		}
	}
	return missing;
}

size_t selection_missing(const struct selection *selection, const struct result *result, bool strict)
{
	size_t missing = 0;
	for (size_t i = 0; i < selection->n_slots; i++) {
		const struct slot *slot = &selection->slots[i];
		const struct estimate none = { .event = slot->label, .why = slot->why, .cpu = -1 };
		const struct estimate *e = slot->event == SLOT_NO_EVENT ? &none : total_at(result, slot->event);
		if (e && (slot->required || (strict && !selection->defaults)))
			missing += lacks(result, slot->label, NULL, e);
	}
	for (size_t i = 0; strict && !selection->defaults && i < result->n_metrics; i++)
		if (estimate_is_total(&result->metrics[i]))
			missing += lacks(result, NULL, NULL, &result->metrics[i]);
	if (strict && selection->defaults)
		missing += missing_default(result);
	return missing + missing_regions(selection, result, strict);
}
