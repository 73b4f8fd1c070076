#include "cli/list_regions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/list_runs.h"
#include "cli/store_options.h"
#include "cli/words.h"
#include "report/columns.h"
#include "report/table.h"

enum { NAME, PLACE, RUN, COLUMNS };

static const char *kind_name(enum region_kind kind)
{
	return kind == REGION_FUNCTION ? "function" : kind == REGION_CODE ? "code" : "libtare";
}

static const char *escaped(struct arena *arena, const char *text)
{
	size_t size = 4 * strlen(text) + 1; /* \xNN */
	char *out = arena_alloc(arena, size);
	if (out)
		str_escape_to(out, size, text);
	return out;
}

/* One that the program names itself is counted without being asked for; a name with a line's end in it would be
 * two. */
static bool can_be_asked_for(const struct listed_region *row)
{
	return row->kind != REGION_LIBRARY && !row->text[strcspn(row->text, "\n\r")];
}

static bool is_wanted(const struct region_listing *l, const struct listed_region *row)
{
	const char *texts[] = {row->name, row->text, NULL};
	return has_words(l->words, l->n_words, texts);
}

static bool seen_before(const struct region_listing *l, const struct region_list *list, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(list->rows.items[k].text, list->rows.items[i].text) == 0 &&
		    is_wanted(l, &list->rows.items[k]) && can_be_asked_for(&list->rows.items[k]))
			return true;
	return false;
}

static void write_json(struct json *json, const struct listed_region *row)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, "region", row->name);
	json_write_text(json, "place", row->kind == REGION_LIBRARY ? NULL : row->text);
	json_write_text(json, "kind", kind_name(row->kind));
	json_write_integer(json, "run", row->run);
	json_write_close(json, '}');
}

static bool show(const struct region_listing *l, struct region_list *list, size_t *shown, struct error *err)
{
	struct style style = style_of(&(struct report_options){.colour = l->colour});
	struct columns columns = {.n = COLUMNS,
				  .headings = {"region", "place", "run"},
				  .left = {true, true, false},
				  .flexible = PLACE};
	bool done = true;
	for (size_t i = 0; i < list->rows.count && done; i++) {
		const struct listed_region *row = &list->rows.items[i];
		if (!is_wanted(l, row))
			continue;
		++*shown;
		if (l->json) {
			write_json(l->json, row);
		} else if (l->names) {
			if (can_be_asked_for(row) && !seen_before(l, list, i))
				puts(row->text);
		} else {
			struct columns_row out = {
				.cells = {list_name_cell(&list->arena, escaped(&list->arena, row->name), l->width),
					  escaped(&list->arena, row->text),
					  arena_printf(&list->arena, "%" PRId64, row->run)}};
			done = vec_push(&columns.rows, out);
		}
	}
	if (done && columns.rows.count)
		columns_print(stdout, &columns, 0, l->width, &style);
	vec_free(&columns.rows);
	return done || error_no_memory(err);
}

bool list_regions(const struct region_listing *l, size_t *shown, struct error *err)
{
	struct runs *runs;
	struct region_list list = {0};
	bool done = true, there = store_open(&l->keeping, RUNS_READ, &runs, err);
	/* a store that is not there has no runs */
	if (!there && err->code != ERROR_NOT_FOUND)
		return false;
	if (there) {
		done = runs_regions(runs, &list, err) && show(l, &list, shown, err);
		runs_close(runs);
	}
	if (done && !list.rows.count && !l->json && !l->names)
		puts("no run with regions was kept yet");
	region_list_free(&list);
	return done;
}
