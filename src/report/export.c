#include "report/export.h"

#include <string.h>

#include "report/profile.h"

static bool export_callgrind(FILE *out, const struct named_profile *named, const struct export_options *options,
			     struct error *err)
{
	(void)options;
	return report_profile_callgrind(out, named) || error_no_memory(err);
}

static bool export_speedscope(FILE *out, const struct named_profile *named, const struct export_options *options,
			      struct error *err)
{
	(void)options;
	return report_profile_speedscope(out, named) || error_no_memory(err);
}

static const struct export_format formats[] = {
	{.name = "flamegraph",
	 .suffix = ".svg",
	 .what = "a flame graph",
	 .one_event = true,
	 .flame = true,
	 .write = export_flame},
	{.name = "folded",
	 .suffix = ".folded",
	 .what = "folded stacks",
	 .one_event = true,
	 .write = export_folded},
	{.name = "callgrind", .suffix = ".callgrind", .what = "callgrind's format", .write = export_callgrind},
	{.name = "speedscope",
	 .suffix = ".speedscope.json",
	 .what = "speedscope's format",
	 .write = export_speedscope},
};

const struct export_format *export_find(const char *name)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

bool export_has_stacks(const struct named_profile *named)
{
	for (size_t i = 1; i < named->profile->n_nodes; i++)
		if (named->profile->nodes[i].parent)
			return true;
	return false;
}

const char *export_remark(const struct export_format *format, const struct named_profile *named)
{
	if (strcmp(format->name, "callgrind") == 0 || export_has_stacks(named))
		return NULL;
	return named->profile->n_arcs
		       ? "calls were counted one by one, not as stacks: each function stands alone here "
			 "(the callgrind format has the calls)"
		       : "no call stacks were recorded: each function stands alone";
}
