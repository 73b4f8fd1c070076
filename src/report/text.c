/* A report as text for a reader: line breaks, colours, aligned columns. What it says is built in build.c. */
#include <string.h>

#include "report/build.h"
#include "report/columns.h"
#include "report/report.h"
#include "report/table.h"

/* A label, then text that is broken at `hang`. */
static void put_labelled(FILE *out, const struct document_block *block, size_t indent, size_t hang,
			 const struct report_options *options)
{
	struct style style = style_of(options);
	bool bold = block->kind == BLOCK_TITLE;
	size_t at = indent;
	fprintf(out, "%*s", (int)indent, "");
	if (block->label) {
		fprintf(out, "%s%s%s ", bold ? style.bold : "", block->label, bold ? style.off : "");
		at += text_columns(block->label) + 1;
	}
	text_wrap(out, block->text ? block->text : "", at, hang ? hang : at, (size_t)table_width(options));
}

static void put_block(FILE *out, const struct document_block *block, const struct report_options *options)
{
	struct style style = style_of(options);
	switch (block->kind) {
	case BLOCK_GAP: fputc('\n', out); break;
	case BLOCK_TITLE: put_labelled(out, block, 0, 2, options); break;
	case BLOCK_SUBTITLE: put_labelled(out, block, 2, 4, options); break;
	case BLOCK_PARAGRAPH:
	case BLOCK_NOTE: put_labelled(out, block, 2, 0, options); break;
	case BLOCK_LINE: fprintf(out, "  %s\n", block->text ? block->text : ""); break;
	case BLOCK_HEADING:
		fprintf(out, "%s%s%s%s\n", style.bold, block->label ? block->label : "", style.off, block->text);
		break;
	case BLOCK_WARNING: fprintf(out, "  %s%s%s\n", style.warn, block->text, style.off); break;
	case BLOCK_COUNTS: table_print_counts(out, &block->table, options); break;
	case BLOCK_GROSS: table_print_gross(out, &block->table, options); break;
	case BLOCK_STATISTICS: table_print_statistics(out, &block->table, options); break;
	case BLOCK_BREAKDOWN: table_print_breakdown(out, &block->table, options); break;
	case BLOCK_COLUMNS: columns_print(out, block->columns, 2, (size_t)table_width(options), &style); break;
	}
}

void report_document_text(FILE *out, const struct document *document, const struct report_options *options)
{
	for (size_t i = 0; i < document->blocks.count; i++)
		put_block(out, &document->blocks.items[i], options);
	const char *trouble = document_trouble(document);
	if (trouble)
		fprintf(out, "  (%s)\n", trouble);
}

void report_text(FILE *out, const struct result *result, const struct report_options *options)
{
	struct document document = {0};
	report_build(&document, result, options);
	report_document_text(out, &document, options);
	document_free(&document);
}
