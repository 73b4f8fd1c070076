#include "cli/export_options.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/say.h"
#include "session/profile.h"
#include "session/profile_read.h"

bool export_apply(struct export_request *request, int id, const char *value, struct error *err)
{
	switch (id) {
	case EXPORT_AS:
		if (!(request->format = export_find(value))) {
			error_set(err, ERROR_USAGE, "'%s' is not a format", value);
			return error_hint(err, "formats: " EXPORT_FORMATS);
		}
		return true;
	case EXPORT_INVERTED: request->inverted = true; return true;
	case EXPORT_BEFORE: request->before = value; return true;
	default: return true;
	}
}

bool export_check(const struct export_request *request, bool has_output, FILE *out, struct error *err)
{
	const struct export_format *format = request->format;
	if (request->inverted && !(format && format->flame))
		return error_set(err, ERROR_USAGE, "--inverted is for --as flamegraph");
	if (request->before && format && !format->flame)
		return error_set(err, ERROR_USAGE, "--before is for --as flamegraph");
	if (request->event && format && !format->one_event)
		return error_set(err, ERROR_USAGE, "remove --event: the format '%s' has all events", format->name);
	if (format && format->binary && !has_output && isatty(fileno(out)))
		return error_set(err, ERROR_USAGE, "the format '%s' is not text: give -o FILE", format->name);
	return true;
}

/* The event that is asked for, else the first with counts. False with *err. */
static bool choose_event(const struct named_profile *named, const char *label, const char *name, size_t *event,
			 struct error *err)
{
	const struct profile *p = named->profile;
	for (*event = 0; *event < p->n_events; ++*event)
		if (label ? strcmp(p->events[*event].label, label) == 0 : named->sums[*event] > 0)
			break;
	if (*event < p->n_events && p->events[*event].why)
		return error_set(err, ERROR_UNSUPPORTED, "no profile of '%s' in %s: %s", p->events[*event].label,
				 name, p->events[*event].why);
	if (*event < p->n_events && named->sums[*event])
		return true;
	if (*event < p->n_events || !label)
		return error_set(err, ERROR_UNSUPPORTED, "%s has no counts%s%s", name, label ? " of " : "",
				 label ? label : "");
	error_set(err, ERROR_NOT_FOUND, "%s has no event '%s'", name, label);
	return p->n_events ? error_hint(err, "it has '%s'%s", p->events[0].label, p->n_events > 1 ? ", …" : "")
			   : false;
}

struct earlier { /* what a differential flame graph compares with */
	struct profile *profile;
	struct named_profile *named;
};

static bool open_earlier(struct earlier *e, const struct named_profile *named,
			 const struct export_request *request, struct export_options *options, struct error *err)
{
	const char *label = named->profile->events[options->event].label;
	if (!request->before)
		return true;
	if (!session_read_profile(request->before, NULL, &e->profile, err) ||
	    !session_name_profile(e->profile, 0.95, &e->named, err) ||
	    !choose_event(e->named, label, request->before, &options->event_before, err))
		return false;
	options->before = e->named;
	return true;
}

static bool write_format(FILE *out, const struct named_profile *named, const struct export_request *request,
			 struct error *err)
{
	struct export_options options = {.inverted = request->inverted};
	struct earlier earlier = {0};
	bool done = choose_event(named, request->event, "the profile", &options.event, err) &&
		    open_earlier(&earlier, named, request, &options, err) &&
		    request->format->write(out, named, &options, err);
	const char *remark = export_remark(request->format, named);
	if (done && remark)
		say_warning("%s", remark);
	if (done && request->format->one_event && !request->event && named->profile->n_events > 1)
		say_warning("the file has '%s' alone; another event: 'tare report --as %s --event EVENT'",
			    named->profile->events[options.event].label, request->format->name);
	session_free_named(earlier.named, earlier.profile);
	return done;
}

int export_profile(const struct profile *profile, const struct export_request *request, double confidence,
		   FILE *out, const char *name)
{
	struct named_profile *named;
	struct error err = {0};
	if (!session_name_profile(profile, confidence, &named, &err)) {
		file_abandon(out, name);
		return say_failed(&err, TARE_CANNOT_MEASURE);
	}
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error to be told */
	bool done = write_format(out, named, request, &err);
	named_profile_free(named);
	free(named);
	if (!done) {
		file_abandon(out, name);
		return say_failure(&err);
	}
	return file_finish(out, name, &err) ? TARE_DONE : say_failed(&err, TARE_CANNOT_MEASURE);
}
