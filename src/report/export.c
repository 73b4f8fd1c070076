#include "report/export.h"

#include <string.h>

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
