#include "cli/profile_options.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/say.h"
#include "session/profile.h"

bool show_apply(struct show_request *show, int id, const char *value, struct error *err)
{
	unsigned long long number;
	switch (id) {
	case SHOW_LINES: show->by = PROFILE_BY_LINE; return true;
	case SHOW_BY:
		if (strcmp(value, "function") != 0 && strcmp(value, "line") != 0)
			return error_set(err, ERROR_USAGE, "'%s' is not function or line", value);
		show->by = value[0] == 'l' ? PROFILE_BY_LINE : PROFILE_BY_FUNCTION;
		return true;
	case SHOW_TOP:
		if (!options_number(value, 1, 1000000000, &number, err))
			return false;
		show->top = number;
		return true;
	case SHOW_CONFIDENCE:
		if (strcmp(value, "95") != 0 && strcmp(value, "99") != 0)
			return error_set(err, ERROR_USAGE, "'%s' is not 95 or 99", value);
		show->confidence = value[1] == '5' ? 0.95 : 0.99;
		return true;
	default: return true;
	}
}

int show_profile(const struct profile *profile, const struct show_request *show, FILE *out, const char *name)
{
	struct named_profile *named;
	struct error err = {0};
	const struct profile_report_options options = {
		.text = {.colour = say_in_colour(out), .width = say_width(out)}, .by = show->by, .top = show->top};
	if (!session_name_profile(profile, show->confidence, &named, &err))
		return say_failed(&err, TARE_CANNOT_MEASURE);
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error to be told */
	report_profile_text(out, named, &options);
	named_profile_free(named);
	free(named);
	return file_finish(out, name, &err) ? TARE_DONE : say_failed(&err, TARE_CANNOT_MEASURE);
}
