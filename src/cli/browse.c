#include "cli/browse.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cli/browse_terminal.h"
#include "cli/browse_views.h"
#include "report/columns.h"
#include "report/number.h"
#include "report/profile_rows.h"
#include "report/table.h"

enum {
	VIEWS_MOST = 64, /* that Escape goes back through */
	FRAME_LINES = 3, /* title, headings, last line */
	PATTERN_BYTES = 128,
	NAME_LEAST = 8,
	TITLE_LEAST = 24, /* of a name in the first line, before something else makes room */
};

/* A row with this share of the event is hot. */
static const double SHARE_HOT = 0.05;

struct browser {
	const struct named_profile *named;
	struct screen screen;
	struct browse_view views[VIEWS_MOST];
	size_t n; /* the last one is shown */
	char pattern[PATTERN_BYTES];
	int count_columns;   /* of the largest number */
	const char *message; /* instead of the help; NULL */
	bool helps;
};

static struct browse_view *shown(struct browser *b) { return &b->views[b->n - 1]; }

/* ---- drawing ---- */

static const char *const help_lines[] = {
	"",
	"  up, down, Page Up, Page Down, Home, End   move",
	"  Enter, right      its source; a caller or callee: to it",
	"  a                 source (annotated)",
	"  d                 instructions",
	"  c                 callers and callees",
	"  l                 functions, or source lines",
	"  e                 the next event",
	"  s                 sort: own count, count with calls, name",
	"  /                 search; n, N: next, previous match",
	"  Escape, left, q   back; from the first list: end",
	"  Q, Ctrl-C         end",
	"",
	"  any key goes on",
};

static void draw_help(struct browser *b)
{
	screen_begin(&b->screen);
	screen_line(&b->screen, LOOK_TITLE, "tare report --browse: keys");
	for (size_t i = 0; i < sizeof help_lines / sizeof *help_lines; i++)
		screen_line(&b->screen, LOOK_PLAIN, help_lines[i]);
	screen_end(&b->screen);
}

/* What the last line offers, the most needed first. */
static const char *const offers[] = {
	"?: keys",    "Q: end",        "Enter: source", "/: search",     "d: instructions",
	"c: callers", "l: other list", "s: sort",       "e: next event", "n, N: next, previous match"};

/* As many as fit. */
static void append_offers(struct str *text, size_t width)
{
	size_t used = 0;
	for (size_t i = 0; i < sizeof offers / sizeof *offers; i++) {
		const char *gap = i ? "  " : "";
		used += strlen(gap) + strlen(offers[i]);
		if (used > width)
			break;
		str_appendf(text, "%s%s", gap, offers[i]);
	}
}

static const char *text_of(const struct str *text) { return text->text && !text->failed ? text->text : ""; }

/* On a narrow terminal without the count (rows have theirs), then without the event's number, before the name is
 * shortened to less than TITLE_LEAST. */
static void append_title(struct browser *b, struct str *text)
{
	static const char *const orders[] = {"own count", "count with calls", "name"};
	const struct browse_view *v = shown(b);
	const struct profile_event *event = &b->named->profile->events[v->event];
	const char *what = v->kind == VIEW_CODE    ? "instructions of "
			   : v->kind == VIEW_CALLS ? "callers and callees of "
						   : "";
	char number[NUMBER_BYTES], count[NUMBER_BYTES + 16], place[64] = "";
	struct str label = {0}, name = {0};
	profile_append_escaped(&label, event->label);
	number_group(number, (double)b->named->sums[v->event], 0);
	snprintf(count, sizeof count, "%s %s  ", number, event->gaps == GAPS_NONE ? "counts" : "samples");
	str_append(&name, v->title);
	if (v->kind == VIEW_FUNCTIONS || v->kind == VIEW_LINES)
		str_appendf(&name, " by %s", orders[v->order]);
	if (b->named->profile->n_events > 1)
		snprintf(place, sizeof place, "  (event %zu of %zu)", v->event + 1, b->named->profile->n_events);
	size_t width = b->screen.width, have = text_columns(text_of(&name));
	size_t least = have < TITLE_LEAST ? have : TITLE_LEAST;
	size_t others = text_columns(text_of(&label)) + strlen(": ") + strlen(what);
	if (others + strlen(count) + strlen(place) + least > width)
		count[0] = '\0';
	if (others + strlen(count) + strlen(place) + least > width)
		place[0] = '\0';
	others += strlen(count) + strlen(place);
	str_appendf(text, "%s: %s%s", text_of(&label), count, what);
	columns_shorten(text, text_of(&name), others + least < width ? width - others : least);
	str_append(text, place);
	str_free(&label);
	str_free(&name);
}

static void append_headings(struct browser *b, struct str *text)
{
	const struct browse_view *v = shown(b);
	bool calls = b->named->has_inclusive && v->kind != VIEW_CODE;
	str_appendf(text, " %7s  %*s", "share", b->count_columns, "count");
	if (calls)
		str_appendf(text, "  %10s", "with calls");
	str_appendf(text, "  %s", v->kind == VIEW_SOURCE ? "  line" : v->kind == VIEW_CODE ? "   address" : "");
	str_append(text, v->kind == VIEW_FUNCTIONS ? "function (module:file:line)"
			 : v->kind == VIEW_LINES   ? "line (module)"
						   : "");
}

static void append_row(struct browser *b, struct str *text, const struct browse_row *row)
{
	const struct browse_view *v = shown(b);
	uint64_t sum = b->named->sums[v->event];
	bool calls = b->named->has_inclusive && v->kind != VIEW_CODE;
	char number[NUMBER_BYTES];
	if (!row->counts && !row->named && !*row->mark) { /* a remark */
		str_append_char(text, ' ');
		columns_shorten(text, row->text, b->screen.width - 1);
		return;
	}
	number_group(number, (double)row->self, 0);
	if (row->counts)
		str_appendf(text, " %6.1f%%  %*s", 100 * profile_share(row->self, sum), b->count_columns, number);
	else
		str_appendf(text, " %7s  %*s", "", b->count_columns, "");
	if (calls && row->nested)
		str_appendf(text, "  %10s", PROFILE_NESTED);
	else if (calls && row->counts)
		str_appendf(text, "  %9.1f%%", 100 * profile_share(row->inclusive, sum));
	else if (calls)
		str_appendf(text, "  %10s", "");
	str_append(text, "  ");
	if (v->kind == VIEW_SOURCE)
		str_appendf(text, "%6s  ", row->mark);
	else if (v->kind == VIEW_CODE)
		str_appendf(text, "%10s  ", row->mark);
	else if (v->kind == VIEW_CALLS)
		str_appendf(text, "%-8s  ", row->mark);
	size_t used = text_columns(text_of(text));
	if (v->kind == VIEW_SOURCE || v->kind == VIEW_CODE || used + NAME_LEAST > b->screen.width)
		str_append(text, row->text);
	else
		columns_shorten(text, row->text, b->screen.width - used);
}

static void draw_text(struct browser *b, enum screen_look look, struct str *text)
{
	screen_line(&b->screen, look, text_of(text));
	str_free(text);
}

/* The selected row is in sight. */
static void scroll(struct browse_view *v, size_t room)
{
	if (v->selected < v->top)
		v->top = v->selected;
	if (room && v->selected >= v->top + room)
		v->top = v->selected - room + 1;
	if (v->top + room > v->rows.count)
		v->top = v->rows.count > room ? v->rows.count - room : 0;
}

static void draw(struct browser *b, const char *last_line)
{
	struct browse_view *v = shown(b);
	struct str text = {0};
	screen_begin(&b->screen);
	size_t room = b->screen.height > FRAME_LINES ? b->screen.height - FRAME_LINES : 1;
	scroll(v, room);
	append_title(b, &text);
	draw_text(b, LOOK_TITLE, &text);
	append_headings(b, &text);
	draw_text(b, LOOK_HEADING, &text);
	for (size_t i = v->top; i < v->top + room; i++) {
		if (i >= v->rows.count) {
			screen_line(&b->screen, LOOK_PLAIN, "");
			continue;
		}
		const struct browse_row *row = &v->rows.items[i];
		bool hot = row->counts && profile_share(row->self, b->named->sums[v->event]) >= SHARE_HOT;
		append_row(b, &text, row);
		draw_text(b, i == v->selected ? LOOK_SELECTED : hot ? LOOK_HOT : LOOK_PLAIN, &text);
	}
	if (last_line || b->message)
		str_append(&text, last_line ? last_line : b->message);
	else
		append_offers(&text, b->screen.width);
	draw_text(b, LOOK_DIM, &text);
	screen_end(&b->screen);
	b->message = NULL;
}

/* ---- going ---- */

/* False with *err when memory ran out. */
static bool open_view(struct browser *b, enum browse_kind kind, const struct named_row *of, struct error *err)
{
	if (b->n == VIEWS_MOST) { /* forgets the oldest but the first */
		browse_view_free(&b->views[1]);
		memmove(&b->views[1], &b->views[2], (VIEWS_MOST - 2) * sizeof *b->views);
		b->n--;
	}
	b->views[b->n] = (struct browse_view){.kind = kind, .of = of, .event = b->n ? shown(b)->event : 0};
	b->n++;
	return browse_view_fill(shown(b), b->named, err);
}

static const struct browse_row *selected(struct browser *b)
{
	struct browse_view *v = shown(b);
	return v->rows.count ? &v->rows.items[v->selected] : NULL;
}

/* The function that is meant: the selected one, or the one that is shown. */
static const struct named_row *function_of(struct browser *b)
{
	const struct browse_row *row = selected(b);
	const struct browse_view *v = shown(b);
	if (row && row->function != VIEW_NO_ROW)
		return row->named;
	return v->kind == VIEW_CODE || v->kind == VIEW_CALLS || (v->kind == VIEW_SOURCE && v->of->name[0]) ? v->of
													   : NULL;
}

static bool open_function(struct browser *b, enum browse_kind kind, struct error *err)
{
	const struct named_row *function = function_of(b);
	if (!function)
		b->message = "choose a function first (l lists them)";
	return !function || open_view(b, kind, function, err);
}

static bool open_source(struct browser *b, struct error *err)
{
	const struct browse_row *row = selected(b);
	const struct named_row *of = row && row->named ? row->named : function_of(b);
	if (!of)
		b->message = "there is no source of this row";
	return !of || shown(b)->kind == VIEW_SOURCE || open_view(b, VIEW_SOURCE, of, err);
}

static bool enter(struct browser *b, struct error *err)
{
	const struct browse_view *v = shown(b);
	const struct browse_row *row = selected(b);
	if (v->kind == VIEW_CALLS && row && row->named && row->named != v->of)
		return open_view(b, VIEW_CALLS, row->named, err);
	return open_source(b, err);
}

/* All of them: one goes back to what stands below. */
static bool refill(struct browser *b, struct error *err)
{
	bool done = true;
	for (size_t i = 0; done && i < b->n; i++) {
		struct browse_view *v = &b->views[i];
		if (v->kind == VIEW_FUNCTIONS || v->kind == VIEW_LINES)
			v->selected = v->top = 0;
		done = browse_view_fill(v, b->named, err);
	}
	return done;
}

static bool next_event(struct browser *b, struct error *err)
{
	size_t event = (shown(b)->event + 1) % b->named->profile->n_events;
	if (b->named->profile->n_events == 1)
		b->message = "the profile has one event";
	for (size_t i = 0; i < b->n; i++)
		b->views[i].event = event;
	return refill(b, err);
}

static bool other_list(struct browser *b, struct error *err)
{
	while (b->n > 1)
		browse_view_free(&b->views[--b->n]);
	b->views[0].kind = b->views[0].kind == VIEW_LINES ? VIEW_FUNCTIONS : VIEW_LINES;
	return refill(b, err);
}

static bool sort(struct browser *b, struct error *err)
{
	struct browse_view *v = shown(b);
	if (v->kind != VIEW_FUNCTIONS && v->kind != VIEW_LINES) {
		b->message = "only lists are sorted";
		return true;
	}
	v->order = (enum browse_order)((v->order + 1) % 3);
	return refill(b, err);
}

/* ---- searching ---- */

static bool contains(const char *text, const char *pattern)
{
	size_t n = strlen(pattern);
	for (; *text; text++)
		if (strncasecmp(text, pattern, n) == 0)
			return true;
	return false;
}

static void find(struct browser *b, bool forwards)
{
	struct browse_view *v = shown(b);
	size_t n = v->rows.count;
	for (size_t i = 1; b->pattern[0] && i <= n; i++) {
		size_t at = forwards ? (v->selected + i) % n : (v->selected + n - i) % n;
		if (!contains(v->rows.items[at].text, b->pattern))
			continue;
		v->selected = at;
		return;
	}
	b->message = b->pattern[0] ? "not found" : "nothing to search for: / asks";
}

/* The end of what is asked for is in sight. */
static void draw_question(struct browser *b, const char *asked)
{
	struct str escaped = {0}, line = {0};
	profile_append_escaped(&escaped, asked);
	const char *end = text_of(&escaped);
	size_t have = strlen("search: _") + text_columns(end);
	if (have > b->screen.width)
		end += text_behind(end, have - b->screen.width);
	str_appendf(&line, "search: %s_", end);
	draw(b, text_of(&line));
	str_free(&escaped);
	str_free(&line);
}

/* Reads a pattern on the last line, and finds it; an empty one is the last one again. Escape leaves all as it was.
 * False: the terminal is gone. */
static bool ask(struct browser *b)
{
	char asked[PATTERN_BYTES] = "";
	size_t n = 0;
	for (;;) {
		draw_question(b, asked);
		int key = screen_key(&b->screen);
		if (key == KEY_FINISH)
			return false;
		if (key == KEY_ESCAPE)
			return true;
		if (key == KEY_ENTER)
			break;
		if (key == KEY_BACKSPACE && n) {
			while (--n && (asked[n] & 0xc0) == 0x80) /* the bytes of one character */
				;
			asked[n] = '\0';
		} else if (key >= ' ' && key < 256 && n + 1 < PATTERN_BYTES) {
			asked[n++] = (char)key;
			asked[n] = '\0';
		}
	}
	if (n)
		memcpy(b->pattern, asked, sizeof asked);
	find(b, true);
	return true;
}

/* ---- keys ---- */

static void move(struct browser *b, long by)
{
	struct browse_view *v = shown(b);
	long last = v->rows.count ? (long)v->rows.count - 1 : 0, at = (long)v->selected + by;
	v->selected = (size_t)(at < 0 ? 0 : at > last ? last : at);
}

/* *ends: the user ends it. False with *err when memory ran out. */
static bool act(struct browser *b, int key, bool *ends, struct error *err)
{
	long page = b->screen.height > FRAME_LINES + 1 ? (long)b->screen.height - FRAME_LINES - 1 : 1;
	switch (key) {
	case KEY_UP:
	case 'k': move(b, -1); return true;
	case KEY_DOWN:
	case 'j': move(b, 1); return true;
	case KEY_PAGE_UP: move(b, -page); return true;
	case ' ':
	case KEY_PAGE_DOWN: move(b, page); return true;
	case KEY_HOME:
	case 'g': shown(b)->selected = 0; return true;
	case KEY_END:
	case 'G': move(b, (long)shown(b)->rows.count); return true;
	case KEY_RIGHT:
	case KEY_ENTER: return enter(b, err);
	case 'a': return open_source(b, err);
	case 'd': return shown(b)->kind == VIEW_CODE || open_function(b, VIEW_CODE, err);
	case 'c': return open_function(b, VIEW_CALLS, err);
	case 'l': return other_list(b, err);
	case 'e': return next_event(b, err);
	case 's': return sort(b, err);
	case '/': *ends = !ask(b); return true;
	case 'n': find(b, true); return true;
	case 'N': find(b, false); return true;
	case 'h':
	case '?': b->helps = true; return true;
	case 'q':
	case KEY_LEFT:
	case KEY_BACKSPACE:
	case KEY_ESCAPE:
		if (b->n > 1)
			browse_view_free(&b->views[--b->n]);
		else
			*ends = key == 'q' || key == KEY_ESCAPE;
		return true;
	case 'Q':
	case KEY_FINISH: *ends = true; return true;
	default: return true;
	}
}

bool browse_profile(const struct named_profile *named, enum profile_by by, size_t event, bool colour,
		    struct error *err)
{
	struct browser b = {.named = named};
	bool ends = false;
	if (!screen_open(&b.screen, colour, err))
		return false;
	b.n = 1;
	b.views[0] = (struct browse_view){.kind = by == PROFILE_BY_LINE ? VIEW_LINES : VIEW_FUNCTIONS,
					  .event = event};
	bool done = browse_view_fill(shown(&b), named, err);
	b.count_columns = (int)strlen("count");
	for (size_t i = 0; i < named->profile->n_events; i++) {
		char number[NUMBER_BYTES];
		number_group(number, (double)named->sums[i], 0);
		if ((int)strlen(number) > b.count_columns)
			b.count_columns = (int)strlen(number);
	}
	while (done && !ends) {
		if (b.helps)
			draw_help(&b);
		else
			draw(&b, NULL);
		int key = screen_key(&b.screen);
		if (b.helps && key != KEY_NONE && key != KEY_FINISH)
			b.helps = false;
		else
			done = act(&b, key, &ends, err);
	}
	while (b.n > 0)
		browse_view_free(&b.views[--b.n]);
	screen_close(&b.screen);
	return done;
}
