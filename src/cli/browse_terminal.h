/*
 * A terminal that is drawn on as a whole and read key by key: plain escape sequences of ECMA-48, which every
 * terminal of Debian's terminfo that shows colours understands.
 *
 * What always holds: after screen_close() the terminal is as it was, also when a signal ended the loop. A line is
 * never longer than the terminal is wide, and nothing is drawn but what screen_line() gets, whose text has no
 * control characters (callers escape names).
 */
#ifndef TARE_CLI_BROWSE_TERMINAL_H
#define TARE_CLI_BROWSE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "base/error.h"
#include "base/str.h"

enum screen_key {
	KEY_NONE = 0, /* only the size has changed */
	KEY_ENTER = '\r',
	KEY_ESCAPE = 27,
	KEY_UP = 256, /* below: the byte itself */
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
	KEY_BACKSPACE,
	KEY_OTHER,  /* a key that means nothing here */
	KEY_FINISH, /* the terminal is gone, or a signal asks to end */
};

enum screen_look { LOOK_PLAIN, LOOK_TITLE, LOOK_HEADING, LOOK_SELECTED, LOOK_HOT, LOOK_DIM };

struct screen {
	int fd;
	struct termios before;
	size_t width, height;
	bool colour;
	struct str frame; /* that is being drawn */
	size_t line;
};

/* Takes the terminal (/dev/tty). False with *err: there is none, or it cannot be drawn on. */
bool screen_open(struct screen *screen, bool colour, struct error *err);
void screen_close(struct screen *screen);

/* A frame: begin, lines from the top, end. Lines below the last one are empty; those that do not fit are dropped.
 * */
void screen_begin(struct screen *screen);
void screen_line(struct screen *screen, enum screen_look look, const char *text);
void screen_end(struct screen *screen);

/* Waits for a key, or a change of size. */
int screen_key(struct screen *screen);

#endif
