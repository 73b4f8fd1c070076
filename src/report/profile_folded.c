/* Folded stacks, one a line: "main;work;inner 12". What flamegraph.pl and many viewers read. */
#include <stdlib.h>
#include <string.h>

#include "report/profile.h"
#include "report/profile_rows.h"
#include "report/profile_tree.h"

/* ";" parts the names, and the last space comes before the number. */
static void put_name(FILE *out, const char *name)
{
	struct str shown = {0};
	profile_append_escaped(&shown, name);
	for (size_t i = 0; i < shown.length; i++)
		fputc(shown.text[i] == ';' ? ':' : shown.text[i], out);
	str_free(&shown);
}

bool report_profile_folded(FILE *out, const struct named_profile *named, size_t event)
{
	struct profile_tree tree;
	bool done = profile_tree_new(named, event, &tree);
	uint32_t *path = done ? calloc(tree.nodes.count, sizeof *path) : NULL;
	for (size_t i = 1; path && i < tree.nodes.count; i++) {
		const struct tree_node *node = &tree.nodes.items[i];
		size_t n = 0;
		if (!node->self)
			continue;
		for (uint32_t at = (uint32_t)i; at; at = tree.nodes.items[at].parent)
			path[n++] = at;
		while (n) {
			put_name(out, named->functions[tree.nodes.items[path[--n]].function].name);
			fputs(n ? ";" : "", out);
		}
		fprintf(out, " %llu\n", (unsigned long long)node->self);
	}
	done = path != NULL;
	free(path);
	profile_tree_free(&tree);
	return done;
}
