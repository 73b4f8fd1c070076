#include "cli/say.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "report/table.h"

/* Behind `before`: on a terminal in lines of its width; in files a line stays one. */
static void put_error(const char *before, const char *text)
{
	size_t columns = strlen(before), width = (size_t)say_width(stderr);
	fputs(before, stderr);
	if (width > 2 * columns && columns + text_columns(text) > width)
		text_wrap(stderr, text, columns, columns, width);
	else
		fprintf(stderr, "%s\n", text);
}

void say_error(const struct error *err)
{
	put_error("tare: ", err->text);
	if (err->hint[0])
		put_error("      ", err->hint);
}

void say_warning(const char *format, ...)
{
	char text[1024], shown[4096];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	str_escape_to(shown, sizeof shown, text);
	put_error("tare: warning: ", shown);
}

int say_failed(const struct error *err, int code)
{
	say_error(err);
	return code;
}

int say_failure(const struct error *err)
{
	bool usage = err->code == ERROR_USAGE || err->code == ERROR_SYNTAX;
	return say_failed(err, usage ? TARE_USAGE : TARE_CANNOT_MEASURE);
}

static bool reader_is_gone(int fd)
{
	struct pollfd end = {.fd = fd, .events = POLLOUT};
	return poll(&end, 1, 0) == 1 && (end.revents & POLLERR);
}

void say_begin_output(void) { signal(SIGPIPE, SIG_IGN); }

int say_end_output(void)
{
	struct error err = {0};
	if (file_finish(stdout, "standard output", &err))
		return TARE_DONE;
	if (reader_is_gone(STDOUT_FILENO)) { /* it has seen enough: end silently, as other tools do */
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	return say_failed(&err, TARE_CANNOT_MEASURE);
}

bool say_in_colour(FILE *stream)
{
	const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
	if (no_colour && no_colour[0])
		return false;
	return isatty(fileno(stream)) && terminal && strcmp(terminal, "dumb") != 0;
}

int say_width(FILE *stream)
{
	struct winsize size;
	if (!isatty(fileno(stream)) || ioctl(fileno(stream), TIOCGWINSZ, &size) != 0)
		return 0;
	return size.ws_col;
}
