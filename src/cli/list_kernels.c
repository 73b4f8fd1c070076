#include "cli/list_kernels.h"

#include <stdio.h>
#include <string.h>

#include "cli/words.h"
#include "report/table.h"
#include "trust/kernel_formula.h"

enum { NAME_COLUMNS = 15, TEXT_AT = 2 + NAME_COLUMNS + 2, WHY_AT = 6 };

static bool moves(const struct kernel_prediction *row) { return kernel_formula_names(row->formula, "n"); }

const char *const *kernels_that_move(const struct kernels *kernels, const char *event, struct arena *arena)
{
	const char **names = arena_alloc(arena, (kernels->count + 1) * sizeof *names);
	size_t n = 0;
	for (size_t i = 0; names && i < kernels->count; i++) {
		bool found = false;
		for (size_t r = 0; r < kernels->all[i].n_predictions; r++)
			found |= moves(&kernels->all[i].predictions[r]) &&
				 strcmp(kernels->all[i].predictions[r].event, event) == 0;
		if (found)
			names[n++] = kernels->all[i].name;
	}
	return (const char *const *)names;
}

static const char *ways(const struct kernel_prediction *row)
{
	static const char *const texts[] = {"", "command", "region", "command and region"};
	return texts[row->interfaces & 3];
}

/* What is to be known of the row besides its formula; "" when nothing. */
static const char *remark(const struct kernel_prediction *row)
{
	return row->beyond_start    ? "plus a number that does not depend on n"
	       : row->first_process ? "without the processes that it starts"
				    : "";
}

/* ---- JSON ---- */

static void json_sizes(struct json *json, const char *key, const uint64_t *sizes, size_t count)
{
	json_write_open(json, key, '[');
	for (size_t i = 0; i < count; i++)
		json_write_integer(json, NULL, (int64_t)sizes[i]);
	json_write_close(json, ']');
}

static void json_prediction(struct json *json, const struct kernel_prediction *row)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, "event", row->event);
	json_write_text(json, "formula", row->formula);
	json_write_bool(json, "command", row->interfaces & 1 << KERNEL_COMMAND);
	json_write_bool(json, "region", row->interfaces & 1 << KERNEL_REGION);
	json_write_text(json, "start_command", row->start[KERNEL_COMMAND]);
	json_write_text(json, "start_region", row->start[KERNEL_REGION]);
	json_write_bool(json, "moves", moves(row));
	json_write_bool(json, "plus_a_constant", row->beyond_start);
	json_write_bool(json, "first_process_only", row->first_process);
	json_write_text(json, "why", *row->why ? row->why : NULL);
	json_write_close(json, '}');
}

static void json_kernel(struct json *json, const struct kernel *k)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, "kernel", k->name);
	json_write_text(json, "about", k->sentence);
	json_write_text(json, "paper", k->paper);
	json_write_bool(json, "works", !k->why_not);
	json_write_text(json, "why", k->why_not);
	json_write_text(json, "path", k->path);
	json_write_text(json, "region_path", k->region_path);
	json_write_text(json, "region", k->region);
	json_write_integer(json, "most", (int64_t)k->n_most);
	json_sizes(json, "sizes", k->sizes, k->n_sizes);
	json_sizes(json, "quick", k->quick, k->n_quick);
	json_write_open(json, "predictions", '[');
	for (size_t i = 0; i < k->n_predictions; i++)
		json_prediction(json, &k->predictions[i]);
	json_write_close(json, ']');
	json_write_close(json, '}');
}

/* ---- text ---- */

static void print_line(const struct kernel_listing *l, const struct kernel *k)
{
	printf("  %-*s  ", NAME_COLUMNS, k->name);
	text_wrap(stdout, k->sentence, TEXT_AT, TEXT_AT, l->width);
	if (k->why_not) {
		printf("%*snot here: ", TEXT_AT, "");
		text_wrap(stdout, k->why_not, TEXT_AT + 10, TEXT_AT, l->width);
	}
}

static void print_prediction(const struct kernel_listing *l, const struct kernel_prediction *row)
{
	char text[1200];
	printf("  %s", row->event);
	printf("%*s", strlen(row->event) < 28 ? (int)(28 - strlen(row->event)) : 1, "");
	printf("  %s\n", ways(row));
	snprintf(text, sizeof text, "= %s%s%s%s%s", row->formula, *row->why ? "    # " : "", row->why,
		 *remark(row) ? "; " : "", remark(row));
	printf("%*s", WHY_AT, "");
	text_wrap(stdout, text, WHY_AT, WHY_AT + 2, l->width);
}

static void print_sizes(const char *what, const uint64_t *sizes, size_t count)
{
	printf("  %s: %zu, from %llu to %llu\n", what, count, (unsigned long long)sizes[0],
	       (unsigned long long)sizes[count - 1]);
}

/* What the kernel moves, with reasons; what it leaves alone in a line. */
static void print_kernel(const struct kernel_listing *l, const struct kernel *k)
{
	size_t still = 0;
	print_line(l, k);
	if (k->paper)
		printf("  after: %s\n", k->paper);
	if (k->path)
		printf("  program: %s\n", k->path);
	if (k->region_path)
		printf("  as a region: %s, function %s\n", k->region_path, k->region);
	print_sizes("sizes", k->sizes, k->n_sizes);
	putchar('\n');
	for (size_t i = 0; i < k->n_predictions; i++) {
		bool shown = l->verbose || moves(&k->predictions[i]);
		if (shown)
			print_prediction(l, &k->predictions[i]);
		still += !shown;
	}
	if (still)
		printf("\n  %zu more event%s not depend on n (-v shows %s).\n", still,
		       still == 1 ? " does" : "s do", still == 1 ? "it" : "them");
	puts("\n  n: the argument; start: what runs before and after the kernel's own instructions");
}

/* ---- all together ---- */

static const struct kernel *chosen(const struct kernel_listing *l, const struct kernels *kernels)
{
	return l->n_words == 1 ? kernels_find(kernels, l->words[0]) : NULL;
}

bool list_kernels(const struct kernel_listing *l, size_t *shown, struct error *err)
{
	struct kernels kernels;
	if (!kernels_load(NULL, &kernels, err))
		return false;
	const struct kernel *one = chosen(l, &kernels);
	for (size_t i = 0; i < kernels.count; i++) {
		const struct kernel *k = &kernels.all[i];
		const char *texts[] = {k->name, k->sentence, k->paper, NULL};
		if (one ? k != one : !has_words(l->words, l->n_words, texts))
			continue;
		++*shown;
		if (l->names)
			puts(k->name);
		else if (l->json)
			json_kernel(l->json, k);
		else if (one)
			print_kernel(l, k);
		else
			print_line(l, k);
	}
	kernels_free(&kernels);
	return true;
}
