/* The page around the blocks: head, policy, style, script; and what stands where. What has to be acted on comes
 * before the tables, other notes behind them. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "base/sha256.h"
#include "report/build.h"
#include "report/columns.h"
#include "report/compare.h"
#include "report/export_flame.h"
#include "report/export_names.h"
#include "report/html/html.h"
#include "report/origin.h"
#include "report/profile.h"

enum {
	HTML_COLUMNS = 200, /* a listing shows all that it has */
	ROWS_MOST = 200,
	NAME_BYTES = 500, /* names of templates have thousands */
};

extern const struct embedded_file html_files[]; /* report.css, report.js */

/* What is the page's own: what the policy allows. */
struct page_files {
	struct str style, script;
};

static void put_text(struct html *html, const char *text, size_t most)
{
	html->text.length = 0;
	export_append_markup(&html->text, text ? text : "", most);
	fwrite(html->text.text ? html->text.text : "", 1, html->text.length, html->out);
}

void html_text(struct html *html, const char *text) { put_text(html, text, 0); }

void html_name(struct html *html, const char *text) { put_text(html, text, NAME_BYTES); }

void html_markup(struct html *html, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vfprintf(html->out, format, arguments);
	va_end(arguments);
}

/* ---- head and foot ---- */

static bool draws_flame(const struct document *document)
{
	for (size_t i = 0; i < document->blocks.count; i++)
		if (document->blocks.items[i].kind == BLOCK_FLAME)
			return true;
	return false;
}

static void fill_page(struct page_files *page, const struct document *document)
{
	str_append(&page->style, html_files[0].text);
	str_append(&page->script, html_files[1].text);
	if (!draws_flame(document))
		return;
	flame_write_page_colours(&page->style);
	str_append(&page->script, flame_files[1].text);
}

static void put_policy(struct html *html, const struct page_files *page)
{
	char style[SHA256_BASE64], script[SHA256_BASE64];
	sha256_base64(page->style.text, page->style.length, style);
	sha256_base64(page->script.text, page->script.length, script);
	html_markup(html,
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n",
		    style, script);
}

static void put_head(struct html *html, const struct page_files *page, const char *name)
{
	html_markup(html, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	put_policy(html, page);
	html_markup(html, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			  "<meta name=\"color-scheme\" content=\"light dark\">\n"
			  "<meta name=\"referrer\" content=\"no-referrer\">\n"
			  "<meta name=\"generator\" content=\"tare " TARE_VERSION "\">\n<title>");
	html_text(html, name);
	html_markup(html, "</title>\n<style>%s</style>\n</head>\n<body>\n", page->style.text);
}

static void put_foot(struct html *html, const struct page_files *page)
{
	html_markup(html, "<footer>tare " TARE_VERSION "</footer>\n<script>%s</script>\n</body>\n</html>\n",
		    page->script.text);
}

/* ---- blocks ---- */

static bool is_footnote(const char *label) { return label && label[0] == '['; }

/* "[1]": where rows point to. */
static void put_footnote(struct html *html, const char *label)
{
	html_markup(html, " id=\"n%.*s\"", (int)strcspn(label + 1, "]"), label + 1);
}

/* A label that is a sign ("-", "!") is the list's. */
static void put_labelled(struct html *html, const char *element, const char *class,
			 const struct document_block *block)
{
	const char *label = block->label && strcmp(block->label, "-") != 0 && strcmp(block->label, "!") != 0
				    ? block->label
				    : NULL;
	html_markup(html, "<%s", element);
	if (is_footnote(label))
		put_footnote(html, label);
	html_markup(html, "%s%s%s>", class ? " class=\"" : "", class ? class : "", class ? "\"" : "");
	if (label) {
		html_markup(html, "<b>");
		html_text(html, label);
		html_markup(html, "</b> ");
	}
	html_text(html, block->text);
	html_markup(html, "</%s>\n", element);
}

/* What begins a line of text with a colon stands on a line of its own here. */
static void put_label(struct html *html, const char *label)
{
	struct str text = {0};
	size_t length = label ? strlen(label) : 0;
	str_append_bytes(&text, label ? label : "", length && label[length - 1] == ':' ? length - 1 : length);
	html_text(html, text.text);
	str_free(&text);
}

static void put_heading(struct html *html, int level, const char *class, const struct document_block *block)
{
	html_markup(html, "<h%d class=\"%s\">", level, class);
	put_label(html, block->label);
	if (block->text && block->text[0]) {
		html_markup(html, " <span>");
		html_text(html, block->text);
		html_markup(html, "</span>");
	}
	html_markup(html, "</h%d>\n", level);
}

static void put_part(struct html *html, const char *name) { html_markup(html, "<h2>%s</h2>\n", name); }

/* Its remarks are the report's already. */
static void put_flame(struct html *html, const struct document_block *block)
{
	struct export_options options = {.event = block->event, .inverted = true};
	char *text = NULL;
	size_t length = 0;
	struct error err = {0};
	FILE *memory = open_memstream(&text, &length);
	bool done = memory && export_flame_embedded(memory, block->named, &options, &err);
	if (memory && fclose(memory) == 0 && done) {
		put_part(html, "Flame graph");
		html_markup(html, "<div class=\"drawing\">\n");
		fwrite(text, 1, length, html->out);
		html_markup(html, "</div>\n");
	} else {
		html_markup(html, "<p class=\"act\">");
		html_text(html, err.text);
		html_markup(html, "</p>\n");
	}
	free(text);
}

static void put_block(struct html *html, const struct document_block *block)
{
	static const int gross[] = {CELL_GROSS, CELL_TARE, CELL_NET},
			 statistics[] = {CELL_MIN, CELL_MEDIAN, CELL_MAX, CELL_SD};
	switch (block->kind) {
	case BLOCK_GAP:
	case BLOCK_TITLE: break; /* put_title() */
	case BLOCK_SUBTITLE:
		if (html->names)
			put_labelled(html, "p", "named", block);
		else
			put_heading(html, 2, "sub", block);
		break;
	case BLOCK_HEADING: put_heading(html, 3, "head", block); break;
	case BLOCK_PARAGRAPH:
	case BLOCK_LINE: put_labelled(html, "p", NULL, block); break;
	case BLOCK_NOTE:
	case BLOCK_REMARK: put_labelled(html, "p", "remark", block); break;
	case BLOCK_WARNING: put_labelled(html, "p", "act", block); break;
	case BLOCK_COUNTS: html_counts(html, &block->table); break;
	case BLOCK_GROSS: html_numbers(html, &block->table, gross, 3, false); break;
	case BLOCK_STATISTICS: html_numbers(html, &block->table, statistics, 4, true); break;
	case BLOCK_FLAME: put_flame(html, block); break;
	case BLOCK_FIGURE: html_figure(html, block->figure); break;
	case BLOCK_STACKED: html_stacked(html, block->stacked); break;
	case BLOCK_FACT: break; /* put_facts() */
	case BLOCK_BREAKDOWN: html_breakdown(html, &block->table); break;
	case BLOCK_COLUMNS: html_columns(html, block->columns); break;
	}
}

static const struct document_block *title_of(const struct document *document)
{
	for (size_t i = 0; i < document->blocks.count; i++)
		if (document->blocks.items[i].kind == BLOCK_TITLE)
			return &document->blocks.items[i];
	return NULL;
}

static void put_title(struct html *html, const char *name)
{
	const struct document_block *title = title_of(html->document);
	html_markup(html, "<header>\n<p class=\"what\">");
	put_label(html, title ? title->label : "tare");
	html_markup(html, "</p>\n<h1>");
	html_text(html, title && title->text && title->text[0] ? title->text : name);
	html_markup(html, "</h1>\n<div id=\"tools\"></div>\n</header>\n");
}

static bool has_notes(const struct document *document)
{
	for (size_t i = 0; i < document->blocks.count; i++) {
		const struct document_block *block = &document->blocks.items[i];
		if (block->ranked && block->rank != NOTE_ACT && !block->answer)
			return true;
	}
	return false;
}

static void put_notes(struct html *html, enum note_rank rank, const char *element, const char *class)
{
	for (size_t i = 0; i < html->document->blocks.count; i++) {
		const struct document_block *block = &html->document->blocks.items[i];
		if (block->ranked && block->rank == rank && !block->answer)
			put_labelled(html, element, class, block);
	}
}

static void put_answers(struct html *html)
{
	for (size_t i = 0; i < html->document->blocks.count; i++)
		if (html->document->blocks.items[i].answer)
			put_labelled(html, "p", "answer", &html->document->blocks.items[i]);
}

/* The kind of the table that a block is, or is the heading of. */
static enum document_kind table_below(const struct document *document, size_t at)
{
	const struct document_block *block = &document->blocks.items[at];
	if (block->kind == BLOCK_SUBTITLE && at + 1 < document->blocks.count) {
		enum document_kind next = document->blocks.items[++at].kind;
		while (next == BLOCK_GAP && at + 1 < document->blocks.count)
			next = document->blocks.items[++at].kind;
		return next;
	}
	return block->kind == BLOCK_STATISTICS && !block->table.rows.count ? BLOCK_GAP : block->kind;
}

/* The first table of its kind in a row of them has a heading. */
static void put_blocks(struct html *html)
{
	enum document_kind before = BLOCK_GAP;
	for (size_t i = 0; i < html->document->blocks.count; i++) {
		const struct document_block *block = &html->document->blocks.items[i];
		if (block->ranked || block->answer)
			continue;
		enum document_kind table = table_below(html->document, i);
		if (table != before && (table == BLOCK_STATISTICS || table == BLOCK_GROSS))
			put_part(html, table == BLOCK_GROSS ? "Gross, tare and net" : "Repetitions");
		/* names of what is compared stand below the title */
		html->names = block->kind == BLOCK_TITLE || (html->names && block->kind == BLOCK_SUBTITLE);
		put_block(html, block);
		if (block->kind != BLOCK_GAP)
			before = table;
	}
}

static void put_facts(struct html *html)
{
	const char *before = "";
	bool any = false;
	for (size_t i = 0; i < html->document->blocks.count; i++) {
		const struct document_block *block = &html->document->blocks.items[i];
		if (block->kind != BLOCK_FACT)
			continue;
		if (!any)
			html_markup(html, "<section class=\"facts\">\n<h2>Where it was measured</h2>\n<dl>\n");
		if (strcmp(before, block->label) != 0) {
			html_markup(html, "<dt>");
			html_text(html, block->label);
			html_markup(html, "</dt>");
		}
		html_markup(html, "<dd>");
		html_text(html, block->text);
		html_markup(html, "</dd>\n");
		before = block->label;
		any = true;
	}
	if (any)
		html_markup(html, "</dl>\n</section>\n");
}

static void put_act_notes(struct html *html)
{
	bool any = false;
	for (size_t i = 0; i < html->document->blocks.count; i++)
		any |= html->document->blocks.items[i].ranked && html->document->blocks.items[i].rank == NOTE_ACT;
	if (!any)
		return;
	html_markup(html, "<div class=\"act\">\n");
	put_notes(html, NOTE_ACT, "p", NULL);
	html_markup(html, "</div>\n");
}

static void put_trouble(struct html *html)
{
	const char *trouble = document_trouble(html->document);
	if (!trouble)
		return;
	html_markup(html, "<p class=\"act\">");
	html_text(html, trouble);
	html_markup(html, "</p>\n");
}

/* The largest share beside a text: colours of all of them are by this. */
static double hottest_of(const struct document *document)
{
	double hottest = 0;
	for (size_t i = 0; i < document->blocks.count; i++) {
		const struct columns *columns = document->blocks.items[i].columns;
		if (document->blocks.items[i].kind == BLOCK_COLUMNS && columns->axis == AXIS_HEAT)
			hottest = fmax(hottest, html_axis_of(columns).high);
	}
	return hottest;
}

void report_document_html(FILE *out, const struct document *document, const char *name)
{
	struct html html = {.out = out, .document = document, .hottest = hottest_of(document)};
	struct page_files page = {0};
	fill_page(&page, document);
	if (page.style.failed || page.script.failed || !page.style.text || !page.script.text) {
		fputs("<!DOCTYPE html>\n<title>out of memory</title>\n", out);
		str_free(&page.style);
		str_free(&page.script);
		return;
	}
	put_head(&html, &page, name);
	put_title(&html, name);
	html_markup(&html, "<main>\n");
	put_trouble(&html);
	put_answers(&html);
	put_act_notes(&html);
	put_blocks(&html);
	if (has_notes(document)) {
		html_markup(&html, "<section class=\"notes\">\n<h2>Notes</h2>\n<ul>\n");
		put_notes(&html, NOTE_READ, "li", NULL);
		put_notes(&html, NOTE_DETAIL, "li", "detail");
		html_markup(&html, "</ul>\n</section>\n");
	}
	put_facts(&html);
	html_markup(&html, "</main>\n");
	put_foot(&html, &page);
	str_free(&html.text);
	str_free(&page.style);
	str_free(&page.script);
}

void report_html(FILE *out, const struct result *result, const struct report_options *options)
{
	struct document document = {0};
	struct str name = {0};
	struct report_options all = *options;
	all.statistics = result->repetitions > 1;
	all.gross = result->n_estimates > 0;
	report_build(&document, result, &all);
	for (size_t i = 0; result->command && result->command[i]; i++)
		str_appendf(&name, "%s%s", i ? " " : "", result->command[i]);
	report_document_html(out, &document, name.text ? name.text : result->target ? result->target : "tare");
	str_free(&name);
	document_free(&document);
}

void report_profile_html(FILE *out, const struct named_profile *named,
			 const struct profile_report_options *options)
{
	struct document document = {0};
	struct str name = {0};
	struct profile_report_options all = *options;
	const struct report_origin origin = {.tare_version = named->profile->tare_version};
	all.text.width = HTML_COLUMNS;
	if (!all.text.origin)
		all.text.origin = &origin;
	all.annotate = all.draw = true;
	all.butterfly = named->has_inclusive;
	all.rows_most = ROWS_MOST;
	report_build_profile(&document, named, &all);
	export_append_command(&name, named->profile);
	report_document_html(out, &document, name.text ? name.text : "tare");
	str_free(&name);
	document_free(&document);
}

void report_comparison_html(FILE *out, const struct comparison *comparison, const struct report_options *options)
{
	struct document document = {0};
	struct str name = {0};
	struct report_options all = *options;
	all.statistics = true;
	report_build_comparison(&document, comparison, &all);
	for (size_t i = 0; i < comparison->n; i++)
		str_appendf(&name, "%s%s", i ? ", " : "", comparison->names[i]);
	report_document_html(out, &document, name.text ? name.text : "tare");
	str_free(&name);
	document_free(&document);
}

bool export_html(FILE *out, const struct named_profile *named, const struct export_options *options,
		 struct error *err)
{
	(void)options;
	(void)err;
	report_profile_html(out, named, &(struct profile_report_options){0});
	return true;
}
