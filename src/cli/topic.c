#include "cli/topic.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "report/table.h"

enum { CELLS_MOST = 4, GAP = 2, INDENT = 2 };

struct topic_page {
	FILE *out;
	size_t width;
	const char *bold, *off;
	struct str text; /* of the paragraph or the item that is being read */
	size_t hang;     /* of its second line */
	bool lists;      /* it is an item of a list */
};

const struct embedded_file *topic_find(const char *name)
{
	size_t length = strlen(name);
	for (const struct embedded_file *file = topic_files; file->name; file++)
		if (strncmp(file->name, name, length) == 0 && strcmp(file->name + length, ".md") == 0)
			return file;
	return NULL;
}

void topic_print_name(FILE *out, const struct embedded_file *topic)
{
	const char *heading = topic->text + strspn(topic->text, "# ");
	fprintf(out, "  %-16.*s %.*s\n", (int)(strlen(topic->name) - strlen(".md")), topic->name,
		(int)strcspn(heading, "\n"), heading);
}

/* Appends Markdown without its marks: [text](where), and `code`, which `quote` marks. */
static void append_plain(struct str *out, const char *from, size_t length, const char *quote)
{
	for (const char *end = from + length; from < end; from++) {
		const char *close = *from == '[' ? memchr(from, ']', (size_t)(end - from)) : NULL;
		if (close && close + 1 < end && close[1] == '(' && memchr(close, ')', (size_t)(end - close))) {
			append_plain(out, from + 1, (size_t)(close - from - 1), quote);
			from = memchr(close, ')', (size_t)(end - close));
		} else if (*from == '\\' && from + 1 < end && ispunct((unsigned char)from[1])) {
			str_appendf(out, "%c", *++from);
		} else if (*from == '`') {
			str_append(out, quote);
		} else {
			str_appendf(out, "%c", *from);
		}
	}
}

/* Ends the paragraph or item. */
static void end_text(struct topic_page *page)
{
	if (page->text.length) {
		fprintf(page->out, "%*s", (int)INDENT, "");
		if (page->lists)
			fputs("- ", page->out);
		text_wrap(page->out, page->text.text, INDENT + page->hang, INDENT + page->hang, page->width);
	}
	str_free(&page->text);
	page->text = (struct str){0};
	page->lists = false;
	page->hang = 0;
}

/* ---- tables ---- */

struct topic_table {
	const char *begin, *end; /* its lines, the first the headings */
	size_t n, widths[CELLS_MOST];
};

/* Splits "| a | b |" into cells without Markdown's marks; how many there are. */
static size_t split(const char *line, size_t length, struct str cells[CELLS_MOST])
{
	const char *end = line + length;
	size_t n = 0;
	line++;
	while (n < CELLS_MOST && line < end) {
		const char *bar = line;
		while (bar < end && (*bar != '|' || bar[-1] == '\\'))
			bar++;
		const char *from = line, *to = bar;
		if (bar == end)
			break;
		while (from < to && *from == ' ')
			from++;
		while (to > from && to[-1] == ' ')
			to--;
		append_plain(&cells[n++], from, (size_t)(to - from), "");
		line = bar + 1;
	}
	return n;
}

static bool is_rule(const char *line) { return strncmp(line, "|---", 4) == 0; }

static void each_row(const struct topic_table *table, void (*visit)(void *, const struct str *, size_t, bool),
		     void *context)
{
	bool first = true;
	for (const char *line = table->begin; line < table->end; line += strcspn(line, "\n") + 1) {
		struct str cells[CELLS_MOST] = {0};
		if (is_rule(line))
			continue;
		size_t n = split(line, strcspn(line, "\n"), cells);
		visit(context, cells, n, first);
		first = false;
		for (size_t i = 0; i < CELLS_MOST; i++)
			str_free(&cells[i]);
	}
}

static const char *cell(const struct str *cells, size_t i) { return cells[i].length ? cells[i].text : ""; }

static void measure(void *context, const struct str *cells, size_t n, bool heading)
{
	struct topic_table *table = context;
	(void)heading;
	table->n = n > table->n ? n : table->n;
	for (size_t i = 0; i < n; i++)
		if (text_columns(cell(cells, i)) > table->widths[i])
			table->widths[i] = text_columns(cell(cells, i));
}

struct topic_row {
	struct topic_page *page;
	const struct topic_table *table;
	struct str headings[CELLS_MOST];
};

/* Cells beside each other, the last one broken. */
static void print_beside(void *context, const struct str *cells, size_t n, bool heading)
{
	const struct topic_row *p = context;
	size_t at = INDENT;
	fprintf(p->page->out, "%*s%s", (int)at, "", heading ? p->page->bold : "");
	for (size_t i = 0; i + 1 < n; i++) {
		fprintf(p->page->out, "%s%*s", cell(cells, i),
			(int)(p->table->widths[i] - text_columns(cell(cells, i)) + GAP), "");
		at += p->table->widths[i] + GAP;
	}
	text_wrap(p->page->out, n ? cell(cells, n - 1) : "", at, at, p->page->width);
	fputs(heading ? p->page->off : "", p->page->out);
}

/* Each cell below the one before, deeper; of more than two with the column's heading. */
static void print_below(void *context, const struct str *cells, size_t n, bool heading)
{
	struct topic_row *p = context;
	for (size_t i = 0; i < n; i++) {
		size_t at = INDENT + (i ? 2 * INDENT : 0);
		struct str shown = {0};
		if (heading) {
			str_append(&p->headings[i], cell(cells, i));
			continue;
		}
		if (i && n > 2)
			str_appendf(&shown, "%s: ", p->headings[i].text);
		str_append(&shown, cell(cells, i));
		fprintf(p->page->out, "%*s", (int)at, "");
		text_wrap(p->page->out, cell(&shown, 0), at, at + INDENT, p->page->width);
		str_free(&shown);
	}
}

/* The last column has at least as much room as the others, and 30 columns; else cells are put below each other. */
static void print_table(struct topic_page *page, const char *begin, const char *end)
{
	struct topic_table table = {.begin = begin, .end = end};
	struct topic_row printer = {.page = page, .table = &table};
	size_t before = INDENT;
	each_row(&table, measure, &table);
	for (size_t i = 0; i + 1 < table.n; i++)
		before += table.widths[i] + GAP;
	size_t last = table.n ? table.widths[table.n - 1] : 0;
	bool fits = before + last < page->width || (table.n > 2 ? before + 24 : before + before) < page->width;
	each_row(&table, fits ? print_beside : print_below, &printer);
	for (size_t i = 0; i < CELLS_MOST; i++)
		str_free(&printer.headings[i]);
}

/* ---- the page ---- */

static const char *code(struct topic_page *page, const char *line)
{
	for (line += strcspn(line, "\n") + 1; *line && strncmp(line, "```", 3) != 0;
	     line += strcspn(line, "\n") + 1)
		fprintf(page->out, "%*s%.*s\n", (int)(2 * INDENT), "", (int)strcspn(line, "\n"), line);
	return line;
}

static void read_text(struct topic_page *page, const char *line, size_t length)
{
	if (strncmp(line, "- ", 2) == 0) {
		end_text(page);
		page->lists = true;
		page->hang = 2;
		line += 2, length -= 2;
	}
	while (length && *line == ' ')
		line++, length--;
	if (page->text.length)
		str_append(&page->text, " ");
	append_plain(&page->text, line, length, "'");
}

void topic_print(FILE *out, const struct embedded_file *topic, size_t width, bool colour)
{
	struct topic_page page = {
		.out = out, .width = width, .bold = colour ? "\033[1m" : "", .off = colour ? "\033[0m" : ""};
	for (const char *line = topic->text, *next; *line; line = next) {
		size_t length = strcspn(line, "\n");
		next = line + length + (line[length] == '\n');
		if (length == 0) {
			end_text(&page);
			fputc('\n', out);
		} else if (*line == '#') {
			const char *heading = line + strspn(line, "# ");
			end_text(&page);
			fprintf(out, "%s%.*s%s\n", page.bold, (int)(line + length - heading), heading, page.off);
		} else if (strncmp(line, "```", 3) == 0) {
			end_text(&page);
			next = code(&page, line);
			next += strcspn(next, "\n") + (*next != '\0');
		} else if (*line == '|') {
			end_text(&page);
			while (*next == '|')
				next += strcspn(next, "\n") + 1;
			print_table(&page, line, next);
		} else {
			read_text(&page, line, length);
		}
	}
	end_text(&page);
}
