#include "report/export.h"

#include <string.h>

#include "report/profile_rows.h"

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
	{.name = "callgrind",
	 .suffix = ".callgrind",
	 .what = "callgrind's format",
	 .calls_only = true,
	 .write = export_callgrind},
	{.name = "speedscope",
	 .suffix = ".speedscope.json",
	 .what = "speedscope's format",
	 .write = export_speedscope},
	{.name = "firefox",
	 .suffix = ".json",
	 .what = "the Firefox Profiler's format",
	 .times = true,
	 .write = export_firefox},
	{.name = "pprof", .suffix = ".pb.gz", .what = "pprof's format", .binary = true, .write = export_pprof},
	{.name = "html", .suffix = ".html", .what = "a page for a browser", .write = export_html},
	{.name = "json", .suffix = ".json", .what = "JSON", .calls_only = true, .write = export_json},
	{.name = "csv", .suffix = ".csv", .what = "CSV", .calls_only = true, .write = export_csv},
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
	if (named->profile->n_arcs && !format->calls_only)
		return "calls that were counted one by one are not in this file: each function stands alone";
	if (format->calls_only || export_has_stacks(named))
		return profile_stacks_remark(named);
	return "no call stacks were recorded: each function stands alone";
}
