/* See paper.h: the papers by name, and the blocks of a study. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "session/paper_inside.h"

static const struct {
	const char *name, *title;
	bool (*run)(struct paper_work *w);
} papers[] = {
	{"korn", "Korn, Teller and Castillo: Just how accurate are performance counters? (2001)", paper_korn},
	{"nieto",
	 "Nieto, Bayona, Salayandia, Teller and DeRose: Hardware performance metrics and compiler switches",
	 paper_nieto},
	{"safford", "Safford: A framework for using the Pentium's performance monitoring hardware (1997)",
	 paper_safford},
	{"wu", "Wu and Mencer: Evaluating sampling based hotspot detection (2009)", paper_wu},
	{"zagha",
	 "Zagha, Larson, Turner and Itzkowitz: Performance analysis using the MIPS R10000 performance counters "
	 "(1996)",
	 paper_zagha},
};
enum { PAPERS = sizeof papers / sizeof *papers };

/* ---- texts ---- */

static const char *text_of(struct paper_work *w, const char *format, va_list arguments)
{
	char *text = NULL;
	const char *kept = NULL;
	if (vasprintf(&text, format, arguments) >= 0) {
		kept = arena_strdup(&w->study->arena, text);
		free(text);
	}
	if (!kept)
		error_no_memory(w->err);
	return kept;
}

const char *paper_printf(struct paper_work *w, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	const char *text = text_of(w, format, arguments);
	va_end(arguments);
	return text ? text : "";
}

static struct paper_block *add(struct paper_work *w, enum paper_block_kind kind, const char *text)
{
	struct paper_block block = {.kind = kind, .text = text};
	if (!vec_push(&w->study->blocks, block)) {
		error_no_memory(w->err);
		return NULL;
	}
	return &w->study->blocks.items[w->study->blocks.count - 1];
}

bool paper_heading(struct paper_work *w, const char *text, const char *detail)
{
	struct paper_block *block = add(w, PAPER_HEADING, text);
	if (block)
		block->detail = detail;
	return block != NULL;
}

bool paper_text(struct paper_work *w, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	const char *text = text_of(w, format, arguments);
	va_end(arguments);
	return text && add(w, PAPER_TEXT, text);
}

bool paper_missing(struct paper_work *w, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	const char *text = text_of(w, format, arguments);
	va_end(arguments);
	return text && add(w, PAPER_MISSING, text);
}

const char *paper_count_text(struct paper_work *w, double value)
{
	char digits[64], grouped[96];
	size_t length = 0;
	if (!isfinite(value))
		return "–";
	snprintf(digits, sizeof digits, "%.*f", value == floor(value) ? 0 : 2, fabs(value));
	size_t whole = strcspn(digits, ".");
	if (value < 0)
		grouped[length++] = '-';
	for (size_t i = 0; digits[i]; i++) {
		if (i && i < whole && (whole - i) % 3 == 0)
			grouped[length++] = ',';
		grouped[length++] = digits[i];
	}
	grouped[length] = '\0';
	return paper_printf(w, "%s", grouped);
}

const char *paper_percent_text(struct paper_work *w, double ratio)
{
	double percent = 100 * ratio;
	if (!isfinite(percent))
		return "–";
	if (percent == 0)
		return "0 %";
	return paper_printf(w,
			    fabs(percent) < 0.01  ? "%+.1e %%"
			    : fabs(percent) < 100 ? "%+.2f %%"
						  : "%+.0f %%",
			    percent);
}

/* ---- tables and figures ---- */

struct paper_block *paper_table_block(struct paper_work *w, const char *const *columns)
{
	struct paper_block *block = add(w, PAPER_TABLE, NULL);
	for (size_t i = 0; block && columns[i] && i < PAPER_CELLS_MOST; i++)
		block->columns[block->n_columns++] = columns[i];
	return block;
}

bool paper_row_of(struct paper_work *w, struct paper_block *block, const char *const *cells)
{
	struct paper_row row = {0};
	memcpy(row.cells, cells, block->n_columns * sizeof *cells);
	return vec_push(&block->rows, row) || error_no_memory(w->err);
}

bool paper_printed(struct paper_work *w, const struct paper_table *table)
{
	if (!paper_heading(w, table->number, paper_printf(w, "%s, as printed", table->title)))
		return false;
	const char *columns[PAPER_COLUMNS_MOST + 1] = {0};
	memcpy(columns, table->columns, table->n_columns * sizeof *columns);
	struct paper_block *block = paper_table_block(w, columns);
	for (size_t i = 0; block && i < table->n_rows; i++)
		if (!paper_row_of(w, block, table->cells[i]))
			return false;
	return block && (!table->note || paper_text(w, "%s", table->note));
}

struct paper_block *paper_figure_block(struct paper_work *w, const char *title, const char *x_label,
				       const char *y_label)
{
	struct paper_block *block = add(w, PAPER_FIGURE, NULL);
	if (block) {
		block->figure.title = title;
		block->figure.x_label = x_label;
		block->figure.y_label = y_label;
	}
	return block;
}

struct paper_series *paper_series_of(struct paper_work *w, struct paper_block *block, const char *name,
				     const char *source, size_t n)
{
	struct paper_series series = {.name = name, .source = source};
	series.x = arena_alloc(&w->study->arena, (n + 1) * sizeof *series.x);
	series.y = arena_alloc(&w->study->arena, (n + 1) * sizeof *series.y);
	if (!series.x || !series.y || !vec_push(&block->figure.series, series)) {
		error_no_memory(w->err);
		return NULL;
	}
	return &block->figure.series.items[block->figure.series.count - 1];
}

bool paper_find(struct paper_work *w, const char *name, struct paper_table *out)
{
	return paper_table_find(name, &w->study->arena, out, w->err);
}

/* ---- a study ---- */

void session_paper_free(struct paper_study *study)
{
	for (size_t i = 0; i < study->blocks.count; i++) {
		vec_free(&study->blocks.items[i].rows);
		vec_free(&study->blocks.items[i].figure.series);
	}
	vec_free(&study->blocks);
	arena_free(&study->arena);
	*study = (struct paper_study){0};
}

static size_t index_of(const char *name)
{
	size_t i = 0;
	while (i < PAPERS && strcmp(papers[i].name, name) != 0)
		i++;
	return i;
}

bool session_paper(const struct paper_asked *asked, struct paper_study *out, struct error *err)
{
	size_t at = index_of(asked->paper);
	*out = (struct paper_study){0};
	if (at == PAPERS) {
		error_set(err, ERROR_USAGE, "'%s' is not a paper whose experiments are run", asked->paper);
		return error_hint(err, "korn, nieto, safford, wu and zagha are");
	}
	struct paper_work work = {.asked = asked, .study = out, .err = err};
	if (!kernels_load(NULL, &work.kernels, err))
		return false;
	out->paper = papers[at].name;
	out->title = papers[at].title;
	bool done = papers[at].run(&work);
	kernels_free(&work.kernels);
	if (!done)
		session_paper_free(out);
	return done;
}
