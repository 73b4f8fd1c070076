#include "cli/progress_line.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/say.h"

/* Of a terminal that does not tell, and the most that is used of a wide one. */
enum { COLUMNS_UNKNOWN = 80, LINE_BYTES = 256 };
/* Less of a name says nothing. */
enum { NAME_LEAST = 4 };

static void left_text(char *out, size_t bytes, double seconds)
{
	out[0] = '\0';
	if (seconds >= 6000)
		snprintf(out, bytes, ", about %.0f h left", seconds / 3600);
	else if (seconds >= 100)
		snprintf(out, bytes, ", about %.0f min left", seconds / 60);
	else if (seconds >= 0)
		snprintf(out, bytes, ", about %.0f s left", seconds < 1 ? 1 : seconds);
}

/* Cuts a text to `most` bytes, not within a character of UTF-8. */
static void cut(char *text, size_t most)
{
	if (strlen(text) <= most)
		return;
	while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
		most--;
	text[most] = '\0';
}

void progress_line_text(char *text, size_t bytes, size_t columns, const char *what, size_t number, size_t of,
			double left_seconds, const char *name)
{
	/* the last column stays free: some terminals wrap when it is written */
	size_t most = columns < 2 ? 0 : columns - 1 < bytes - 1 ? columns - 1 : bytes - 1;
	char left[48], shown[LINE_BYTES];
	left_text(left, sizeof left, left_seconds);
	snprintf(text, bytes, "tare: %s %zu of %zu", what, number, of);
	if (strlen(text) + strlen(left) <= most)
		strcat(text, left);
	size_t used = strlen(text);
	if (name && name[0] && used + strlen(": ") + NAME_LEAST <= most) {
		str_escape_to(shown, sizeof shown, name);
		cut(shown, most - used - strlen(": "));
		strcat(strcat(text, ": "), shown);
	}
	cut(text, most);
}

void progress_line_show(struct progress_line *line, const char *what, size_t number, size_t of,
			double left_seconds, const char *name)
{
	char text[LINE_BYTES];
	int columns = say_width(stderr);
	progress_line_text(text, sizeof text, columns > 0 ? (size_t)columns : COLUMNS_UNKNOWN, what, number, of,
			   left_seconds, name);
	fprintf(stderr, "\r\033[K%s", text);
	fflush(stderr);
	line->shown = true;
}

void progress_line_end(struct progress_line *line)
{
	if (line->shown)
		fputs("\r\033[K", stderr);
	line->shown = false;
}

struct progress_steps progress_steps_begin(void)
{
	struct progress_steps steps = {.terminal = isatty(STDERR_FILENO), .clock = clock_monotonic()};
	steps.began_ns = clock_now_ns(&steps.clock);
	return steps;
}

void progress_steps_show(struct progress_steps *steps, const char *what, size_t done, size_t of, const char *name)
{
	double seconds = 1e-9 * (double)(clock_now_ns(&steps->clock) - steps->began_ns);
	if (steps->terminal)
		progress_line_show(&steps->line, what, done + 1, of,
				   done ? seconds / (double)done * (double)(of - done) : -1, name);
}

void progress_steps_end(struct progress_steps *steps) { progress_line_end(&steps->line); }
