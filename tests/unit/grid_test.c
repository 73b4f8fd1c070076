/* Numbers in columns, to the letter. */
#include <stdlib.h>
#include <string.h>

#include "cli/grid.h"
#include "tap.h"

static void add(struct grid *grid, const char *first, const char *second, const char *unit, const char *a,
		const char *b)
{
	struct grid_row *row = grid_add(grid, first, second, unit);
	strcpy(row->numbers[0], a);
	strcpy(row->numbers[1], b);
}

static char *printed(size_t width, bool second)
{
	struct grid grid = {.first_heading = "event", .headings = {"mean", "\u00b1"}, .n_numbers = 2};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	add(&grid, "task-clock", second ? "a region" : "", "\u00b5s", "1,234.5", "1");
	add(&grid, "task-clock", second ? "an enter" : "", "", "3", "0.25");
	add(&grid, "loads", second ? "a region" : "", "", "4", "0");
	grid_print(out, &grid, width);
	grid_print(out, &grid, width);
	fclose(out);
	return text;
}

static void prints(size_t width, bool second, const char *expected, const char *fact)
{
	char *text = printed(width, second);
	if (!ok(strcmp(text, expected) == 0, "%s", fact))
		printf("# printed:\n%s# expected:\n%s", text, expected);
	free(text);
}

int main(void)
{
	static const char wide[] = "  event                    mean     \u00b1\n"
				   "  task-clock  a region  1,234.5     1 \u00b5s\n"
				   "              an enter        3  0.25\n"
				   "  loads       a region        4     0\n";
	prints(80, true, wide, "columns are as wide as their contents, a text that comes again is printed once");
	prints(40, true, wide, "a line that just fits stays one");
	prints(39, true,
	       "                 mean     \u00b1\n"
	       "  task-clock\n"
	       "    a region  1,234.5     1 \u00b5s\n"
	       "    an enter        3  0.25\n"
	       "  loads\n"
	       "    a region        4     0\n",
	       "one that does not has the first text above its rows");
	prints(80, false,
	       "  event          mean     \u00b1\n"
	       "  task-clock  1,234.5     1 \u00b5s\n"
	       "                    3  0.25\n"
	       "  loads             4     0\n",
	       "a second text that no row has takes no room");
	return done();
}
