/* Folded stacks, flamegraph.pl's input: of each path of functions with counts of its own a line "outer;inner
 * COUNT". In names ';' is ':', as in stackcollapse-perf.pl. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/export.h"
#include "report/export_names.h"
#include "report/export_tree.h"

static char *folded_name(const char *name)
{
	struct str text = {0};
	export_append_cut(&text, name[0] ? name : "[unknown]", 0);
	for (size_t i = 0; i < text.length; i++)
		if (text.text[i] == ';')
			text.text[i] = ':';
	return str_take(&text);
}

static void write_path(FILE *out, const struct export_tree *tree, char **names, uint32_t *path, uint32_t leaf)
{
	size_t n = 0;
	for (uint32_t at = leaf; at; at = tree->nodes[at].parent)
		path[n++] = tree->nodes[at].frame;
	while (n--)
		fprintf(out, "%s%s", names[path[n]], n ? ";" : "");
	fprintf(out, " %" PRIu64 "\n", tree->nodes[leaf].self[0]);
}

bool export_folded(FILE *out, const struct named_profile *named, const struct export_options *options,
		   struct error *err)
{
	struct export_tree tree = {0};
	char **names = calloc(named->n_functions + 1, sizeof *names);
	uint32_t *path = NULL;
	bool done = names && export_tree_add(&tree, named, options->event, 0, NULL);
	if (done) {
		export_tree_total(&tree);
		done = (path = calloc(tree.depth + 1, sizeof *path)) != NULL;
	}
	for (size_t i = 0; done && i < named->n_functions; i++)
		done = (names[i] = folded_name(named->functions[i].name)) != NULL;
	for (size_t i = 1; done && i < tree.n; i++)
		if (tree.nodes[i].self[0])
			write_path(out, &tree, names, path, (uint32_t)i);
	for (size_t i = 0; names && i < named->n_functions; i++)
		free(names[i]);
	free(names);
	free(path);
	export_tree_free(&tree);
	return done || error_no_memory(err);
}
