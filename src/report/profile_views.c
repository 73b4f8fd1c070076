/* What stands below a profile's listing: source, instructions, callers and callees, as far as they are asked for.
 * */
#include "report/build.h"
#include "report/profile.h"
#include "report/profile_rows.h"

enum { BUTTERFLIES_MOST = 64 };

static void add_butterflies(struct document *document, const struct named_profile *named,
			    const struct profile_report_options *options)
{
	uint32_t rows[BUTTERFLIES_MOST];
	size_t n = profile_hottest_functions(named, options, named->has_inclusive, rows, BUTTERFLIES_MOST);
	if (!named->has_inclusive) {
		document_add(document, BLOCK_GAP, NULL, NULL);
		document_add(
			document, BLOCK_PARAGRAPH, NULL,
			"no callers and callees: the profile has no call stacks. Record them: tare profile -g, or "
			"--call-graph dwarf for programs without frame pointers");
		return;
	}
	for (size_t i = 0; i < n; i++)
		build_profile_butterfly(document, named, rows[i], options);
}

void build_profile_views(struct document *document, const struct named_profile *named,
			 const struct profile_report_options *options)
{
	bool one = options->only && options->only[0];
	if (options->annotate)
		build_profile_source(document, named, options);
	for (size_t i = 0; i < options->n_code; i++)
		build_profile_disassembly(document, named, &options->code[i], one, options);
	if (options->butterfly)
		add_butterflies(document, named, options);
}
