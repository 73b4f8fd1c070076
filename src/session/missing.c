/* What was asked for and is not counted, where that is an error and not only a row without a value. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "session/session.h"

struct telling {
	const struct result *result;
	void (*tell)(void *context, const struct error *missing);
	void *context;
};

/* Tells of one estimate; false when it is counted. */
static bool lacks(const struct telling *t, const char *label, const char *region, const struct estimate *e)
{
	char why[512], name[256], of[256] = "";
	/* runs that gave nothing are not in the mean */
	bool some = e->known && e->n_runs && e->n_runs < t->result->repetitions_done;
	if (e->known && !some)
		return false;
	str_escape_to(name, sizeof name, label ? label : e->event);
	str_escape_to(why, sizeof why,
		      some     ? e->note ? e->note : "not in all of the runs"
		      : e->why ? e->why
			       : "no reason is known");
	if (region) {
		char shown[200];
		str_escape_to(shown, sizeof shown, region);
		snprintf(of, sizeof of, " of region '%s'", shown);
	}
	struct error err = {0};
	error_set(&err, ERROR_UNSUPPORTED, "asked for, but not counted: %s%s: %s", name, of, why);
	t->tell(t->context, &err);
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
static size_t missing_default(const struct telling *t)
{
	const struct result *result = t->result;
	for (size_t i = 0; i < result->n_estimates; i++)
		if (result->estimates[i].known && strcmp(result->estimates[i].event, "elapsed-time") != 0)
			return 0;
	struct error err = {0};
	error_set(&err, ERROR_UNSUPPORTED, "nothing was counted");
	t->tell(t->context, &err);
	return 1;
}

static size_t missing_regions(const struct telling *t, const struct selection *selection, bool strict)
{
	const struct result *result = t->result;
	size_t missing = 0;
	for (size_t i = 0; i < result->n_regions; i++) {
		const struct region_row *row = &result->regions[i];
		for (size_t j = 0; j < row->n_estimates; j++) {
			bool asked = strict && !selection->defaults;
			for (size_t k = 0; k < selection->rows.count && !asked; k++)
				asked = selection->rows.items[k].required &&
					selection->rows.items[k].event != ROW_NO_EVENT &&
					strcmp(selection->events.items[selection->rows.items[k].event].label,
					       row->estimates[j].event) == 0;
			missing += asked && lacks(t, NULL, row->name, &row->estimates[j]);
		}
	}
	return missing;
}

size_t session_missing(const struct session *session, bool strict,
		       void (*tell)(void *context, const struct error *missing), void *context)
{
	const struct selection *selection = &session->events_of->selection;
	const struct result *result = session->result;
	const struct telling telling = {result, tell, context}, *t = &telling;
	size_t missing = 0;
	for (size_t i = 0; i < selection->rows.count; i++) {
		const struct asked_row *row = &selection->rows.items[i];
		const struct estimate none = {.event = row->label, .why = row->why, .cpu = -1};
		const struct estimate *e = row->event == ROW_NO_EVENT ? &none : total_at(result, row->event);
		if (e && (row->required || (strict && !selection->defaults)))
			missing += lacks(t, row->label, NULL, e);
	}
	for (size_t i = 0; strict && !selection->defaults && i < result->n_metrics; i++)
		if (estimate_is_total(&result->metrics[i]))
			missing += lacks(t, NULL, NULL, &result->metrics[i]);
	if (strict && selection->defaults)
		missing += missing_default(t);
	return missing + missing_regions(t, selection, strict);
}
