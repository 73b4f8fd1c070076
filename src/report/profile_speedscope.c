/* speedscope's file format: a sampled profile of each event, a sample of each stack with its weight. */
#include <stdlib.h>
#include <string.h>

#include "report/json_writer.h"
#include "report/profile.h"
#include "report/profile_tree.h"

static void write_frames(struct json *json, const struct named_profile *named)
{
	json_write_open(json, "shared", '{');
	json_write_open(json, "frames", '[');
	for (size_t i = 0; i < named->n_functions; i++) {
		const struct named_function *f = &named->functions[i];
		json_write_open(json, NULL, '{');
		json_write_text(json, "name", f->name);
		json_write_text(json, "file", f->file ? f->file : f->module);
		if (f->file && f->line)
			json_write_integer(json, "line", f->line);
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
	json_write_close(json, '}');
}

static void write_stack(struct json *json, const struct profile_tree *tree, uint32_t node)
{
	uint32_t path[1 << 12];
	size_t n = 0;
	for (; node && n < sizeof path / sizeof *path; node = tree->nodes.items[node].parent)
		path[n++] = tree->nodes.items[node].function;
	json_write_open(json, NULL, '[');
	while (n)
		json_write_integer(json, NULL, path[--n]);
	json_write_close(json, ']');
}

static void write_event(struct json *json, const struct named_profile *named, size_t event,
			const struct profile_tree *tree)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, "type", "sampled");
	json_write_text(json, "name", named->profile->events[event].label);
	json_write_text(json, "unit", "none");
	json_write_integer(json, "startValue", 0);
	json_write_number(json, "endValue", (double)named->sums[event]);
	json_write_open(json, "samples", '[');
	for (size_t i = 1; i < tree->nodes.count; i++)
		if (tree->nodes.items[i].self)
			write_stack(json, tree, (uint32_t)i);
	json_write_close(json, ']');
	json_write_open(json, "weights", '[');
	for (size_t i = 1; i < tree->nodes.count; i++)
		if (tree->nodes.items[i].self)
			json_write_number(json, NULL, (double)tree->nodes.items[i].self);
	json_write_close(json, ']');
	json_write_close(json, '}');
}

bool report_profile_speedscope(FILE *out, const struct named_profile *named)
{
	struct json json = {.out = out, .lines = 2};
	bool done = true;
	json_write_open(&json, NULL, '{');
	json_write_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_write_text(&json, "exporter", "tare");
	json_write_text(&json, "name",
			named->profile->command ? named->profile->command[0] : named->profile->target);
	write_frames(&json, named);
	json_write_open(&json, "profiles", '[');
	for (size_t i = 0; done && i < named->profile->n_events; i++) {
		struct profile_tree tree;
		if (!named->sums[i])
			continue;
		if ((done = profile_tree_new(named, i, &tree)))
			write_event(&json, named, i, &tree);
		profile_tree_free(&tree);
	}
	json_write_close(&json, ']');
	json_write_close(&json, '}');
	return done;
}
