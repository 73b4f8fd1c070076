/* speedscope's own format (speedscope.app/file-format-schema.json): of each event and thread a profile of the
 * type "sampled", a sample of each different stack with its count as weight. Their order says nothing: a profile
 * of tare does not have one. */
#include <stdlib.h>

#include "report/export.h"
#include "report/export_names.h"
#include "report/export_tree.h"
#include "report/json_writer.h"
#include "report/profile_rows.h"

static void write_escaped(struct json *json, const char *key, const char *text)
{
	struct str escaped = {0};
	profile_append_escaped(&escaped, text);
	json_write_text(json, key, escaped.text ? escaped.text : "");
	str_free(&escaped);
}

static void write_frames(struct json *json, const struct named_profile *named)
{
	json_write_open(json, "shared", '{');
	json_write_open(json, "frames", '[');
	for (size_t i = 0; i < named->n_functions; i++) {
		const struct named_function *f = &named->functions[i];
		json_write_open(json, NULL, '{');
		write_escaped(json, "name", f->name[0] ? f->name : "[unknown]");
		write_escaped(json, "file", f->file ? f->file : f->module);
		if (f->file && f->line)
			json_write_integer(json, "line", f->line);
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
	json_write_close(json, '}');
}

static void write_samples(struct json *json, const struct export_tree *tree, uint32_t *path)
{
	json_write_open(json, "samples", '[');
	for (size_t i = 1; i < tree->n; i++) {
		size_t n = 0;
		if (!tree->nodes[i].self[0])
			continue;
		for (uint32_t at = (uint32_t)i; at; at = tree->nodes[at].parent)
			path[n++] = tree->nodes[at].frame;
		json_write_open(json, NULL, '[');
		while (n)
			json_write_integer(json, NULL, path[--n]);
		json_write_close(json, ']');
	}
	json_write_close(json, ']');
	json_write_open(json, "weights", '[');
	for (size_t i = 1; i < tree->n; i++)
		if (tree->nodes[i].self[0])
			json_write_integer(json, NULL, (int64_t)tree->nodes[i].self[0]);
	json_write_close(json, ']');
}

static bool write_profile(struct json *json, const struct named_profile *named, size_t event, uint32_t task)
{
	const struct profile *p = named->profile;
	const struct profile_task *of = &p->tasks[task];
	struct export_tree tree = {0};
	struct str name = {0};
	uint32_t *path = NULL;
	bool done = export_tree_add_task(&tree, named, event, task);
	if (done) {
		export_tree_total(&tree);
		done = (path = calloc(tree.depth + 1, sizeof *path)) != NULL;
	}
	str_appendf(&name, "%s (%s)", p->events[event].label, export_unit(&p->events[event]));
	if (of->tid)
		str_appendf(&name, ", %s %u", of->name && of->name[0] ? of->name : "thread", of->tid);
	if (done && tree.nodes[0].total[0]) {
		json_write_open(json, NULL, '{');
		json_write_text(json, "type", "sampled");
		write_escaped(json, "name", name.text ? name.text : "");
		json_write_text(json, "unit", "none");
		json_write_integer(json, "startValue", 0);
		json_write_integer(json, "endValue", (int64_t)tree.nodes[0].total[0]);
		write_samples(json, &tree, path);
		json_write_close(json, '}');
	}
	done &= !name.failed;
	free(path);
	str_free(&name);
	export_tree_free(&tree);
	return done;
}

bool export_speedscope(FILE *out, const struct named_profile *named, const struct export_options *options,
		       struct error *err)
{
	const struct profile *p = named->profile;
	struct json json = {.out = out, .lines = 1};
	struct str name = {0};
	bool done = true;
	(void)options;
	export_append_command(&name, p);
	json_write_open(&json, NULL, '{');
	json_write_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_write_text(&json, "exporter", "tare");
	json_write_text(&json, "name", name.text ? name.text : "");
	write_frames(&json, named);
	json_write_open(&json, "profiles", '[');
	for (size_t event = 0; done && event < p->n_events; event++)
		for (uint32_t task = 0; done && task < p->n_tasks && !p->events[event].why; task++)
			done = write_profile(&json, named, event, task);
	json_write_close(&json, ']');
	json_write_close(&json, '}');
	str_free(&name);
	return done || error_no_memory(err);
}
