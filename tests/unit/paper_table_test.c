/* The papers' printed tables (trust/paper_table.h): all of them can be read, cells are as they are printed,
 * and bad files are refused with the line. */
#include <math.h>
#include <string.h>

#include "base/embedded.h"
#include "tap.h"
#include "trust/paper_table.h"

extern const struct embedded_file paper_files[];

static struct arena arena;

#define HEAD "[t]\npaper = korn\nnumber = Table 9\ntitle = a title\n"

static bool read(const char *text, struct paper_table *table, struct error *err)
{
	return paper_table_read(text, strlen(text), "t.table", &arena, table, err);
}

static void reading(void)
{
	struct paper_table t;
	struct error err;
	ok(read("# of a drawing\n" HEAD
		"note = a note\ncolumns = event | a b|c\n\nrow =  x y | 1,234 |\nrow = z | | 3",
		&t, &err),
	   "a table with a comment, a note and an empty line can be read (%s)", err.text);
	ok(strcmp(t.name, "t") == 0 && strcmp(t.paper, "korn") == 0 && strcmp(t.number, "Table 9") == 0 &&
		   strcmp(t.title, "a title") == 0 && strcmp(t.note, "a note") == 0,
	   "its name, paper, number, title and note are known");
	ok(t.n_columns == 3 && t.n_rows == 2, "it has three columns and two rows");
	ok(strcmp(paper_cell(&t, "x y", "a b"), "1,234") == 0, "a cell is without the blanks around it");
	ok(strcmp(paper_cell(&t, "x y", "c"), "") == 0, "an empty cell is empty, not missing");
	ok(!paper_cell(&t, "x", "a b") && !paper_cell(&t, "x y", "a"),
	   "a row or column that is not there has no cell");
}

static void refusals(void)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"paper = korn\n", "t.table:1: a table begins with [NAME]"},
		{"[t]\n[u]\n", "t.table:2: a table begins with one [NAME]"},
		{"[]\n", "t.table:1: a table begins with one [NAME]"},
		{"[t]\nsomething\n", "t.table:2: neither KEY = VALUE nor a comment"},
		{"[t]\ncolour = red\n", "t.table:2: not a key"},
		{"[t]\npaper = \n", "t.table:2: the key has no value"},
		{"[t]\npaper = a\npaper = b\n", "t.table:3: the key is given twice"},
		{HEAD "row = a\n", "t.table:5: a row stands before the columns"},
		{HEAD "columns = a | b\nrow = 1\n", "t.table:6: the row has another number of cells"},
		{HEAD "columns = a | b\nrow = 1 | 2 | 3\n", "t.table:6: the row has another number of cells"},
		{HEAD "columns = a | a\n", "t.table:5: two columns have the same name"},
		{HEAD "columns = a | \n", "t.table:5: a column has no name"},
		{HEAD "columns = a\ncolumns = b\n", "t.table:6: the columns are given twice"},
		{HEAD "columns = a\nrow = x\nrow = x\n", "t.table:7: two rows begin with the same cell"},
		{HEAD "columns = 1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16|17\n", "t.table:5: too many columns"},
		{HEAD "columns = a\n", "t.table:5: the table has no name, paper, number, title or row"},
		{"", "t.table:0: the table has no name"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct paper_table t;
		struct error err = {0};
		bool read_it = read(bad[i].text, &t, &err);
		ok(!read_it && strncmp(err.text, bad[i].says, strlen(bad[i].says)) == 0, "refused: %s (%s)",
		   bad[i].says, err.text);
	}
	struct paper_table t;
	struct error err = {0};
	ok(!paper_table_read("[t]\n\0", 5, "t.table", &arena, &t, &err) && strstr(err.text, "NUL"),
	   "a NUL character is refused");
}

static void numbers(void)
{
	static const struct {
		const char *cell;
		double value;
	} cells[] = {
		{"3,996,245,279.00", 3996245279.0},
		{"7535.2 ± 869.2", 7535.2},
		{"~100", 100},
		{"-42% to -50%", -42},
		{"0.3%", 0.3},
		{"9.7-1086%", 9.7},
		{"18,62", 18.62},
		{"1,000", 1000},
		{"5.80 Sec.", 5.8},
		{"306", 306},
	};
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
		ok(paper_number(cells[i].cell) == cells[i].value, "the number of '%s' is %g (%g)", cells[i].cell,
		   cells[i].value, paper_number(cells[i].cell));
	ok(isnan(paper_number("NA")) && isnan(paper_number("")), "a cell without a number has none");
}

static const char *cell(const char *table, const char *row, const char *column)
{
	static struct paper_table t;
	struct error err;
	const char *found = paper_table_find(table, &arena, &t, &err) ? paper_cell(&t, row, column) : NULL;
	return found ? found : "(none)";
}

/* Looked up in the papers by hand. */
static void printed(void)
{
	static const struct {
		const char *table, *row, *column, *is;
	} cells[] = {
		{"korn-1", "primary (L1) data cache (D-cache) misses", "number", "25"},
		{"korn-2", "Decoded Stores", "perfex within 10%", "5,000"},
		{"korn-2", "Conditional Resolved Branches", "perfex overhead, 10,000 iterations", "219,000"},
		{"nieto-1", "PM_INST_CMPL", "SwimR8D0", "3,996,245,279.00"},
		{"nieto-2", "Mean FP", "1000", "2,002.0"},
		{"nieto-4", "Mean FMA", "100", "1,241.12"},
		{"nieto-7", "XLC no flags: Mean-Reported Count", "1,000,000", "100,000,042"},
		{"nieto-8", "GCC no flags: Mean", "10,000", "1,500,002"},
		{"nieto-10", "Mean Reported Count", "0", "139.00"},
		{"nieto-11", "32768", "hits counted", "3866.57"},
		{"safford-5.3", "Instructions Executed", "corrected", "306"},
		{"safford-5.4", "Data Read", "theoretical", "4"},
		{"safford-5.6", "Data read miss", "difference", "1588"},
		{"safford-5.8", "BTB Hits", "value", "4,109,481,354"},
		{"safford-d.1", "clock cycles", "user and kernel", "2515425.1 ± 60414.0"},
		{"safford-d.2", "code cache miss", "in cache, both", "14.0 ± 0.0"},
		{"safford-5.8", "Clock cycles", "value", "90,949,512,186"},
		{"zagha-findings", "Figure 8", "printed", "34%"},
	};
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
		const char *is = cell(cells[i].table, cells[i].row, cells[i].column);
		ok(strcmp(is, cells[i].is) == 0, "%s, '%s', '%s' is printed as '%s' ('%s')", cells[i].table,
		   cells[i].row, cells[i].column, cells[i].is, is);
	}
}

static void carried(void)
{
	size_t n = 0;
	for (const struct embedded_file *file = paper_files; file->name; file++, n++) {
		struct paper_table t;
		struct error err = {0};
		char name[64];
		snprintf(name, sizeof name, "%.*s", (int)strlen(file->name) - 6, file->name);
		bool found = paper_table_find(name, &arena, &t, &err);
		ok(found && strcmp(t.name, name) == 0 && strncmp(name, t.paper, strlen(t.paper)) == 0,
		   "%s can be read, and has its file's name and paper %s", name, err.text);
	}
	ok(n >= 24, "tare carries the papers' tables (%zu)", n);
	struct paper_table t;
	struct error err = {0};
	ok(!paper_table_find("korn-9", &arena, &t, &err) && err.code == ERROR_NOT_FOUND,
	   "a table that is not there is told");
	ok(!paper_table_find("korn", &arena, &t, &err), "a part of a name is not a name");
}

int main(void)
{
	reading();
	refusals();
	numbers();
	printed();
	carried();
	arena_free(&arena);
	return done();
}
