#include "cli/explain_costs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli/calibrate_costs.h"
#include "measure/measure.h"

static bool is_file(const char *name)
{
	static const char suffix[] = ".costs";
	size_t length = strlen(name);
	return strchr(name, '/') ||
	       (length >= sizeof suffix - 1 && strcmp(name + length - (sizeof suffix - 1), suffix) == 0);
}

/* Of those that were kept, only this CPU's and kernel's count. False: there are none; why says it, or is "". */
static bool load_kept(struct costs_found *out, bool *off)
{
	struct arena arena = {0};
	struct machine_facts facts;
	*off = false;
	bool done = measure_machine_facts(&arena, &facts) &&
		    costs_kept(facts.cpu, facts.kernel, &out->costs, off, out->why, sizeof out->why);
	arena_free(&arena);
	return done;
}

static bool find_here(double confidence, bool tell, struct costs_found *out, struct error *err)
{
	bool off;
	char old[200];
	if ((out->known = load_kept(out, &off)) || off)
		return true;
	snprintf(old, sizeof old, "%.190s", out->why);
	if (tell && isatty(STDERR_FILENO))
		fputs("tare: measuring what events cost here, a few seconds ('tare calibrate --costs' keeps "
		      "them)\n",
		      stderr);
	if (!calibrate_costs_take(true, confidence, &out->costs, err))
		return false;
	out->known = true;
	snprintf(out->why, sizeof out->why,
		 "Costs were measured just now%s%s%s. 'tare calibrate --costs' measures them better, and keeps "
		 "them.",
		 *old ? " (those that were kept: " : "", old, *old ? ")" : "");
	return true;
}

bool explain_find_costs(const char *asked, const char *machine, bool here, double confidence, bool tell,
			struct costs_found *out, struct error *err)
{
	*out = (struct costs_found){0};
	if (asked)
		return out->known = is_file(asked) ? costs_load(asked, &out->costs, err)
						   : costs_named(asked, &out->costs, err);
	if (here)
		return find_here(confidence, tell, out, err);
	struct error missing = {0};
	out->known = costs_named(machine, &out->costs, &missing);
	if (!out->known)
		snprintf(out->why, sizeof out->why, "%.250s; %.250s", missing.text, missing.hint);
	return true;
}
