/* The page around the blocks: head, policy, style, script; and what stands where. What has to be acted on comes
 * before the tables, other notes behind them. */
#include <stdarg.h>
#include <string.h>

#include "base/embedded.h"
#include "base/sha256.h"
#include "report/build.h"
#include "report/columns.h"
#include "report/export_names.h"
#include "report/html/html.h"
#include "report/profile.h"

enum { HTML_COLUMNS = 200 }; /* a listing shows all that it has */

extern const struct embedded_file html_files[]; /* report.css, report.js */

void html_text(struct html *html, const char *text)
{
	html->text.length = 0;
	export_append_markup(&html->text, text ? text : "", 0);
	fwrite(html->text.text ? html->text.text : "", 1, html->text.length, html->out);
}

void html_markup(struct html *html, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vfprintf(html->out, format, arguments);
	va_end(arguments);
}

/* ---- head and foot ---- */

static void put_policy(struct html *html)
{
	char style[SHA256_BASE64], script[SHA256_BASE64];
	sha256_base64(html_files[0].text, html_files[0].length, style);
	sha256_base64(html_files[1].text, html_files[1].length, script);
	html_markup(html,
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n",
		    style, script);
}

static void put_head(struct html *html, const char *name)
{
	html_markup(html, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	put_policy(html);
	html_markup(html, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			  "<meta name=\"color-scheme\" content=\"light dark\">\n"
			  "<meta name=\"referrer\" content=\"no-referrer\">\n"
			  "<meta name=\"generator\" content=\"tare " TARE_VERSION "\">\n<title>");
	html_text(html, name);
	html_markup(html, "</title>\n<style>%s</style>\n</head>\n<body>\n", html_files[0].text);
}

static void put_foot(struct html *html)
{
	html_markup(html, "<footer>tare " TARE_VERSION "</footer>\n<script>%s</script>\n</body>\n</html>\n",
		    html_files[1].text);
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

static void put_heading(struct html *html, int level, const char *class, const struct document_block *block)
{
	html_markup(html, "<h%d class=\"%s\">", level, class);
	html_text(html, block->label);
	if (block->text && block->text[0]) {
		html_markup(html, " <span>");
		html_text(html, block->text);
		html_markup(html, "</span>");
	}
	html_markup(html, "</h%d>\n", level);
}

static void put_block(struct html *html, const struct document_block *block)
{
	static const int gross[] = {CELL_GROSS, CELL_TARE, CELL_NET},
			 statistics[] = {CELL_MIN, CELL_MEDIAN, CELL_MAX, CELL_SD};
	switch (block->kind) {
	case BLOCK_GAP:
	case BLOCK_TITLE: break; /* put_title() */
	case BLOCK_SUBTITLE: put_heading(html, 2, "sub", block); break;
	case BLOCK_HEADING: put_heading(html, 3, "head", block); break;
	case BLOCK_PARAGRAPH:
	case BLOCK_LINE: put_labelled(html, "p", NULL, block); break;
	case BLOCK_NOTE:
	case BLOCK_REMARK: put_labelled(html, "p", "remark", block); break;
	case BLOCK_WARNING: put_labelled(html, "p", "act", block); break;
	case BLOCK_COUNTS: html_counts(html, &block->table); break;
	case BLOCK_GROSS: html_numbers(html, &block->table, gross, 3); break;
	case BLOCK_STATISTICS: html_numbers(html, &block->table, statistics, 4); break;
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
	html_text(html, title ? title->label : "tare");
	html_markup(html, "</p>\n<h1>");
	html_text(html, title && title->text && title->text[0] ? title->text : name);
	html_markup(html, "</h1>\n<div id=\"tools\"></div>\n</header>\n");
}

static bool has_notes(const struct document *document, bool act)
{
	for (size_t i = 0; i < document->blocks.count; i++) {
		const struct document_block *block = &document->blocks.items[i];
		if (block->ranked && (block->rank == NOTE_ACT) == act)
			return true;
	}
	return false;
}

static void put_notes(struct html *html, enum note_rank rank, const char *element, const char *class)
{
	for (size_t i = 0; i < html->document->blocks.count; i++) {
		const struct document_block *block = &html->document->blocks.items[i];
		if (block->ranked && block->rank == rank)
			put_labelled(html, element, class, block);
	}
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

void report_document_html(FILE *out, const struct document *document, const char *name)
{
	struct html html = {.out = out, .document = document};
	put_head(&html, name);
	put_title(&html, name);
	html_markup(&html, "<main>\n");
	put_trouble(&html);
	put_notes(&html, NOTE_ACT, "p", "act");
	for (size_t i = 0; i < document->blocks.count; i++)
		if (!document->blocks.items[i].ranked)
			put_block(&html, &document->blocks.items[i]);
	if (has_notes(document, false)) {
		html_markup(&html, "<section class=\"notes\">\n<h2>Notes</h2>\n<ul>\n");
		put_notes(&html, NOTE_READ, "li", NULL);
		put_notes(&html, NOTE_DETAIL, "li", "detail");
		html_markup(&html, "</ul>\n</section>\n");
	}
	html_markup(&html, "</main>\n");
	put_foot(&html);
	str_free(&html.text);
}

void report_html(FILE *out, const struct result *result, const struct report_options *options)
{
	struct document document = {0};
	struct str name = {0};
	report_build(&document, result, options);
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
	all.text.width = HTML_COLUMNS;
	all.annotate = true;
	report_build_profile(&document, named, &all);
	export_append_command(&name, named->profile);
	report_document_html(out, &document, name.text ? name.text : "tare");
	str_free(&name);
	document_free(&document);
}
