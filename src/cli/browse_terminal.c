#include "cli/browse_terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text_columns.h"

enum { ESCAPE_WAIT_MS = 50, WIDTH_MOST = 1000, HEIGHT_MOST = 1000 };

/* Signals have nothing else to reach. */
static volatile sig_atomic_t asked_to_end;

static void on_resize(int signal) { (void)signal; } /* it ends poll() */
static void on_end(int signal) { asked_to_end = signal; }

static void put(struct screen *screen, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t n = write(screen->fd, text, length);
		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			text += n;
			length -= (size_t)n;
		}
	}
}

static void put_text(struct screen *screen, const char *text) { put(screen, text, strlen(text)); }

static void measure(struct screen *screen)
{
	struct winsize size = {0};
	bool known = ioctl(screen->fd, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row;
	screen->width = known ? size.ws_col : 80;
	screen->height = known ? size.ws_row : 24;
	if (screen->width > WIDTH_MOST)
		screen->width = WIDTH_MOST;
	if (screen->height > HEIGHT_MOST)
		screen->height = HEIGHT_MOST;
}

static void catch_signals(bool catch)
{
	struct sigaction resize = {.sa_handler = catch ? on_resize : SIG_DFL};
	struct sigaction end = {.sa_handler = catch ? on_end : SIG_DFL};
	asked_to_end = 0;
	sigaction(SIGWINCH, &resize, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGHUP, &end, NULL);
	sigaction(SIGINT, &end, NULL);
}

bool screen_open(struct screen *screen, bool colour, struct error *err)
{
	const char *name = getenv("TERM");
	*screen = (struct screen){.colour = colour, .fd = open("/dev/tty", O_RDWR | O_CLOEXEC)};
	if (screen->fd < 0 || !name || !*name || strcmp(name, "dumb") == 0 ||
	    tcgetattr(screen->fd, &screen->before) != 0) {
		if (screen->fd >= 0)
			close(screen->fd);
		error_set(err, ERROR_UNSUPPORTED, "--browse needs a terminal that can be drawn on");
		return error_hint(err, "without --browse the report is text");
	}
	struct termios raw = screen->before;
	cfmakeraw(&raw);
	catch_signals(true);
	tcsetattr(screen->fd, TCSAFLUSH, &raw);
	put_text(screen, "\033[?1049h\033[?25l"); /* the other screen, no cursor */
	measure(screen);
	return true;
}

void screen_close(struct screen *screen)
{
	put_text(screen, "\033[0m\033[?25h\033[?1049l");
	tcsetattr(screen->fd, TCSAFLUSH, &screen->before);
	catch_signals(false);
	close(screen->fd);
	str_free(&screen->frame);
}

/* ---- drawing ---- */

void screen_begin(struct screen *screen)
{
	measure(screen);
	screen->frame.length = 0;
	screen->line = 0;
	str_append(&screen->frame, "\033[H");
}

void screen_line(struct screen *screen, enum screen_look look, const char *text)
{
	static const char *const looks[] = {
		[LOOK_PLAIN] = "",           [LOOK_TITLE] = "\033[1m", [LOOK_HEADING] = "\033[4m",
		[LOOK_SELECTED] = "\033[7m", [LOOK_HOT] = "\033[31m",  [LOOK_DIM] = "\033[2m"};
	if (screen->line >= screen->height)
		return;
	if (screen->line++)
		str_append(&screen->frame, "\r\n");
	str_append(&screen->frame, look == LOOK_HOT && !screen->colour ? "" : looks[look]);
	str_append_bytes(&screen->frame, text, text_fitting(text, screen->width));
	size_t used = text_columns(text);
	if (look == LOOK_SELECTED && used < screen->width)
		str_appendf(&screen->frame, "%*s", (int)(screen->width - used), "");
	str_append(&screen->frame, "\033[0m");
	if (used < screen->width) /* a full line leaves the cursor on its last column, which this would clear */
		str_append(&screen->frame, "\033[K");
}

void screen_end(struct screen *screen)
{
	/* Below a full screen is nothing, and "J" would clear the character that the cursor is on. */
	if (screen->line < screen->height)
		str_append(&screen->frame, "\r\n\033[J");
	if (screen->frame.text && !screen->frame.failed)
		put(screen, screen->frame.text, screen->frame.length);
}

/* ---- keys ---- */

/* A byte; -1: none came in that time (-1: for ever); -2: the terminal is gone or a signal came. */
static int get(struct screen *screen, int wait_ms)
{
	struct pollfd what = {.fd = screen->fd, .events = POLLIN};
	unsigned char byte;
	int n = poll(&what, 1, wait_ms);
	if (n == 0)
		return -1;
	if (n < 0 || read(screen->fd, &byte, 1) != 1)
		return -2;
	return byte;
}

/* What follows "ESC [" or "ESC O": digits, then a letter or '~'. */
static int sequence(struct screen *screen)
{
	int number = 0, byte = get(screen, ESCAPE_WAIT_MS);
	while (byte >= '0' && byte <= '?') {
		number = byte <= '9' && number < 1000 ? 10 * number + byte - '0' : number;
		byte = get(screen, ESCAPE_WAIT_MS);
	}
	switch (byte) {
	case 'A': return KEY_UP;
	case 'B': return KEY_DOWN;
	case 'C': return KEY_RIGHT;
	case 'D': return KEY_LEFT;
	case 'H': return KEY_HOME;
	case 'F': return KEY_END;
	case '~':
		return number == 5                  ? KEY_PAGE_UP
		       : number == 6                ? KEY_PAGE_DOWN
		       : number == 1 || number == 7 ? KEY_HOME
		       : number == 4 || number == 8 ? KEY_END
						    : KEY_OTHER;
	default: return KEY_OTHER;
	}
}

int screen_key(struct screen *screen)
{
	int byte = get(screen, -1);
	if (asked_to_end)
		return KEY_FINISH;
	if (byte == -2) {
		bool interrupted = errno == EINTR;
		errno = 0;
		return interrupted ? KEY_NONE : KEY_FINISH;
	}
	switch (byte) {
	case 3: return KEY_FINISH; /* Ctrl-C */
	case '\n': return KEY_ENTER;
	case 8:
	case 127: return KEY_BACKSPACE;
	case KEY_ESCAPE:
		byte = get(screen, ESCAPE_WAIT_MS);
		return byte < 0 || byte == KEY_ESCAPE ? KEY_ESCAPE
		       : byte == '[' || byte == 'O'   ? sequence(screen)
						      : KEY_OTHER;
	default: return byte;
	}
}
