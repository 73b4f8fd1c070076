#include "report/document.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "report/columns.h"

static bool add(struct document *document, const struct document_block *block)
{
	bool added = vec_push(&document->blocks, *block);
	document->failed |= !added;
	return added;
}

void document_add(struct document *document, enum document_kind kind, const char *label, const char *text)
{
	add(document, &(struct document_block){.kind = kind, .label = label, .text = text});
}

void document_note(struct document *document, enum note_rank rank, const char *label, const char *text)
{
	enum document_kind kind = label ? BLOCK_NOTE : BLOCK_PARAGRAPH;
	if (text)
		add(document, &(struct document_block){
				      .kind = kind, .ranked = true, .rank = rank, .label = label, .text = text});
}

void document_add_str(struct document *document, enum document_kind kind, const char *label, struct str *text,
		      const char *otherwise)
{
	const char *kept = document_str(document, text);
	if (kept || otherwise)
		document_add(document, kind, label, kept ? kept : otherwise);
}

struct document_table *document_add_table(struct document *document, enum document_kind kind)
{
	if (!add(document, &(struct document_block){.kind = kind}))
		return NULL;
	return &document->blocks.items[document->blocks.count - 1].table;
}

struct columns *document_add_columns(struct document *document, size_t n)
{
	struct columns *columns = arena_alloc(&document->arena, sizeof *columns);
	if (columns)
		*columns = (struct columns){.n = n, .flexible = n - 1};
	document->failed |= !columns;
	return columns && add(document, &(struct document_block){.kind = BLOCK_COLUMNS, .columns = columns})
		       ? columns
		       : NULL;
}

void document_add_flame(struct document *document, const struct named_profile *named, size_t event)
{
	add(document, &(struct document_block){.kind = BLOCK_FLAME, .named = named, .event = event});
}

void document_add_figure(struct document *document, const struct paper_figure *figure)
{
	add(document, &(struct document_block){.kind = BLOCK_FIGURE, .figure = figure});
}

void document_add_stacked(struct document *document, const struct stacked_figure *figure)
{
	if (figure)
		add(document, &(struct document_block){.kind = BLOCK_STACKED, .stacked = figure});
	document->failed |= !figure;
}

const char *document_trouble(const struct document *document)
{
	return document->failed ? "out of memory: a part of the report is not shown" : NULL;
}

const char *document_str(struct document *document, struct str *text)
{
	const char *kept = NULL;
	if (!text->failed && text->length) {
		kept = arena_strdup(&document->arena, text->text);
		document->failed |= !kept;
	}
	document->failed |= text->failed;
	str_free(text);
	return kept;
}

const char *document_printf(struct document *document, const char *format, ...)
{
	va_list arguments;
	char text[1024];
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	const char *kept = arena_strdup(&document->arena, text);
	document->failed |= !kept;
	return kept;
}

const char *document_escaped(struct document *document, const char *text)
{
	char shown[DOCUMENT_CELL_BYTES];
	str_escape_to(shown, sizeof shown, text);
	const char *kept = arena_strdup(&document->arena, shown);
	document->failed |= !kept;
	return kept;
}

const char *document_escaped_whole(struct document *document, const struct str *text)
{
	size_t size = 4 * text->length + 1; /* \xNN */
	char *shown = text->failed ? NULL : arena_alloc(&document->arena, size);
	document->failed |= !shown;
	if (shown)
		str_escape_to(shown, size, text->text ? text->text : "");
	return shown;
}

const char *document_double(struct document *document, const char *format, double value)
{
	char number[64];
	if (isnan(value))
		return "\u2013";
	snprintf(number, sizeof number, format, value);
	return document_printf(document, "%s", number);
}

void document_free(struct document *document)
{
	for (size_t i = 0; i < document->blocks.count; i++) {
		vec_free(&document->blocks.items[i].table.rows);
		if (document->blocks.items[i].columns)
			vec_free(&document->blocks.items[i].columns->rows);
	}
	vec_free(&document->blocks);
	arena_free(&document->arena);
}
